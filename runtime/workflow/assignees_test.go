package workflow_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/threadtest"
	"github.com/routegen/routegen/runtime/thread"
)

// kindAssignees sets who may answer an agent_question.
func (w *world) kindAssignees(who ...string) {
	kinds := slices.Clone(w.program.Tables.Kinds)
	for n := range kinds {
		if kinds[n].Name == thread.KindAgentQuestion {
			kinds[n].Assignees = who
		}
	}
	w.program.Tables.Kinds = kinds
}

// TestAssigneesOfANode: they stand in place of those of the kind. A node without any follows the
// kind, and a waiting thread keeps whom it asked.
func TestAssigneesOfANode(t *testing.T) {
	onBoth(t, func(w *world) {
		w.kindAssignees("group:support")
		w.node("orchestrator").Assignees = []string{"group:finance", "ann"}
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "which way?"),
			w.says("orchestrator", "discoveryOrchestratorRequest"))
		w.on("discoveryOrchestrator", w.asks("discoveryOrchestrator", "HUMAN_REVIEW", "and now?"))
		w.open()
		th := w.start("OrchestratorRequest")
		i := w.asked(th, thread.KindAgentQuestion)
		require.Equal(w, []string{"group:finance", "ann"}, i.Answerers())
		a := thread.Answer{Interrupt: i.ID, Text: "left", By: "mia"}
		_, err := w.e.Answer(thread.InGroups(w.Context(), "mia", "support"), th.ID, a)
		require.Equal(w, runtime.CodeForbidden, runtime.CodeOf(err))
		require.Len(w, w.wait(th.ID).Open, 1)
		_, err = w.e.Answer(thread.InGroups(w.Context(), "mia", "finance"), th.ID, a)
		require.NoError(w, err)
		i = w.asked(w.wait(th.ID), thread.KindAgentQuestion)
		require.Equal(w, "discoveryOrchestrator", i.Node)
		require.Equal(w, []string{"group:support"}, i.Answerers(), "it has none of its own")
	})
}

// TestFormIsForTheAssigneesOfTheNodeThatAsked: what a node asks on the way to another one is its
// own.
func TestFormIsForTheAssigneesOfTheNodeThatAsked(t *testing.T) {
	onBoth(t, func(w *world) {
		w.node("orchestrator").Assignees = []string{"bob", "ann"}
		w.node("merger").Assignees = []string{"eve"}
		w.cfg.Model, w.cfg.Prompts = nil, nil
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "which way?"))
		w.open()
		th := w.start("OrchestratorRequest")
		_, err := w.e.Answer(w.Context(), th.ID, thread.Answer{RouteTo: "MERGER_AGENT",
			Text: "a note", By: "bob"})
		require.NoError(w, err)
		i := w.asked(w.wait(th.ID), thread.KindAgentQuestion)
		require.NotNil(w, i.Schema)
		require.Equal(w, []string{"bob", "ann"}, i.Answerers())
	})
}

// TestApprovalIsForTheAssigneesOfItsNode, and for the user of the thread where the node has none.
func TestApprovalIsForTheAssigneesOfItsNode(t *testing.T) {
	for name, who := range map[string][]string{"own": {"group:leads"}, "none": nil} {
		t.Run(name, func(t *testing.T) {
			threadtest.PlayAll(t, func(s *threadtest.Stage) {
				c := chatting(s, finalReport("Klaar.")...)
				for n := range c.tables.Nodes {
					if c.tables.Nodes[n].Key == "reporting" {
						c.tables.Nodes[n].Assignees = who
					}
				}
				c.run()
				i := c.question(c.say("m1", "maak rapport"))
				assert.Equal(s, "approval", i.Type)
				if who == nil {
					assert.Equal(s, []string{i.AskedFor}, i.Answerers())
				} else {
					assert.Equal(s, who, i.Answerers())
				}
			})
		})
	}
}
