package workflow_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/threadtest"
	"github.com/routegen/routegen/runtime/thread"
)

// clockAt gives the world a clock that a test moves.
func (w *world) clockAt(now time.Time) *threadtest.Clock {
	c := threadtest.NewClock(now)
	w.clock = c
	return c
}

// kindDeadline sets the deadline of agent_question.
func (w *world) kindDeadline(d *runtime.Deadline) {
	w.Helper()
	kinds := slices.Clone(w.program.Tables.Kinds)
	at := slices.IndexFunc(kinds, func(k runtime.Kind) bool {
		return k.Name == thread.KindAgentQuestion
	})
	require.GreaterOrEqual(w, at, 0)
	kinds[at].Deadline = d
	w.program.Tables.Kinds = kinds
}

// due moves the clock and does what is due.
func (w *world) due(c *threadtest.Clock, by time.Duration, id string) *thread.Thread {
	w.Helper()
	c.Move(by)
	require.NoError(w, w.e.RunDue(w.Context()))
	return w.wait(id)
}

// reminded counts the reminders of a thread.
func (w *world) reminded(id string) int {
	w.Helper()
	n := 0
	for _, e := range w.log(id) {
		if e.Type == thread.EntryReminded {
			n++
		}
	}
	return n
}

var (
	noon      = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	ofTheKind = &runtime.Deadline{After: 24 * time.Hour, Then: "expire", Reminder: 2 * time.Hour}
	ofTheNode = &runtime.Deadline{After: 4 * time.Hour, Then: "default", Answer: `"go on"`,
		Reminder: time.Hour}
	soon = &runtime.Deadline{After: time.Hour, Then: "expire"}
)

// TestDeadlineOfANode: it fires in place of that of the kind, and so does its reminder. A node
// without one follows the kind.
func TestDeadlineOfANode(t *testing.T) {
	onBoth(t, func(w *world) {
		c := w.clockAt(noon)
		w.kindDeadline(ofTheKind)
		w.node("orchestrator").Deadline = ofTheNode
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "which way?"),
			w.says("orchestrator", "discoveryOrchestratorRequest"))
		w.on("discoveryOrchestrator", w.asks("discoveryOrchestrator", "HUMAN_REVIEW", "and now?"))
		w.open()
		th := w.start("OrchestratorRequest")
		i := w.asked(th, thread.KindAgentQuestion)
		require.Equal(w, noon.Add(4*time.Hour), i.Due)
		th = w.due(c, 2*time.Hour, th.ID)
		require.Zero(w, w.reminded(th.ID))
		th = w.due(c, time.Hour+time.Minute, th.ID)
		require.Equal(w, 1, w.reminded(th.ID), "an hour before")
		require.Len(w, th.Open, 1)

		th = w.due(c, time.Hour, th.ID)
		was, err := w.e.Interrupt(w.Context(), i.ID)
		require.NoError(w, err)
		require.Equal(w, "deadline", was.AnsweredBy)
		require.JSONEq(w, `"go on"`, string(w.calls["orchestrator"][1].Answer))
		i = w.asked(th, thread.KindAgentQuestion)
		require.Equal(w, "discoveryOrchestrator", i.Node)
		require.Equal(w, c.Now().Add(24*time.Hour), i.Due, "it has none of its own")
	})
}

// TestNodeWithoutADeadline: `deadline: none` lets a question wait, whatever its kind says.
func TestNodeWithoutADeadline(t *testing.T) {
	onBoth(t, func(w *world) {
		c := w.clockAt(noon)
		w.kindDeadline(ofTheKind)
		w.node("orchestrator").Deadline = &runtime.Deadline{}
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "which way?"),
			w.stops("orchestrator"))
		w.open()
		th := w.start("OrchestratorRequest")
		require.Zero(w, w.asked(th, thread.KindAgentQuestion).Due)
		th = w.due(c, 1000*time.Hour, th.ID)
		require.Len(w, th.Open, 1)
		require.Zero(w, w.reminded(th.ID))
		require.Equal(w, thread.StatusCancelled, w.answer(th.ID, "left").Status())
	})
}

// TestFormHasTheDeadlineOfTheNodeThatAsked: what a node asks on the way to another one is its own.
func TestFormHasTheDeadlineOfTheNodeThatAsked(t *testing.T) {
	onBoth(t, func(w *world) {
		w.clockAt(noon)
		w.kindDeadline(ofTheKind)
		w.node("orchestrator").Deadline = &runtime.Deadline{After: 5 * time.Hour, Then: "expire"}
		w.cfg.Model, w.cfg.Prompts = nil, nil
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "which way?"))
		w.open()
		th := w.sendTo(w.start("OrchestratorRequest").ID, "MERGER_AGENT", "a note")
		i := w.asked(th, thread.KindAgentQuestion)
		require.NotNil(w, i.Schema)
		require.Equal(w, noon.Add(5*time.Hour), i.Due)
	})
}

// TestWaitingThreadKeepsTheDeadlineItWasAskedWith: a program whose nodes have other deadlines takes
// the store over while a person is asked.
func TestWaitingThreadKeepsTheDeadlineItWasAskedWith(t *testing.T) {
	onBoth(t, func(old *world) {
		for name, tc := range map[string]struct {
			asked, now *runtime.Deadline // of the node
			due        time.Duration
			answered   bool // with the answer of ofTheNode; else it expires
		}{
			"changed": {ofTheNode, soon, 4 * time.Hour, true},
			"removed": {ofTheNode, nil, 4 * time.Hour, true},
			"none":    {ofTheNode, &runtime.Deadline{}, 4 * time.Hour, true},
			"added":   {nil, ofTheNode, 24 * time.Hour, false},
		} {
			w := bareWorld(old.T)
			w.store = old.store
			c := w.clockAt(noon)
			w.kindDeadline(ofTheKind)
			w.node("orchestrator").Deadline = tc.asked
			w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "which way?"))
			w.open()
			th := w.startAs(name, "OrchestratorRequest")
			require.Equal(w, noon.Add(tc.due), w.asked(th, thread.KindAgentQuestion).Due, name)
			require.NoError(w, w.e.Close(w.Context()))

			next := bareWorld(old.T)
			next.store, next.clock = w.store, c
			next.kindDeadline(ofTheKind)
			next.node("orchestrator").Deadline = tc.now
			next.on("orchestrator", next.stops("orchestrator"))
			next.open()
			th = next.due(c, tc.due-time.Minute, th.ID)
			require.Len(w, th.Open, 1, name)
			require.Equal(w, 1, next.reminded(th.ID), name)
			id := th.Open[0].ID
			th = next.due(c, 2*time.Minute, th.ID)
			require.Empty(w, th.Open, name)
			i, err := next.e.Interrupt(w.Context(), id)
			require.NoError(w, err)
			if tc.answered {
				assert.Equal(w, thread.InterruptAnswered, i.State, name)
				assert.JSONEq(w, `"go on"`, string(i.Answer), name)
			} else {
				assert.Equal(w, thread.InterruptExpired, i.State, name)
			}
			require.NoError(w, next.e.Close(w.Context()))
		}
	})
}

// TestApprovalHasTheDeadlineOfItsNode: a tool that waits for a person, too.
func TestApprovalHasTheDeadlineOfItsNode(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, finalReport("Klaar.")...)
		for n := range c.tables.Nodes {
			if c.tables.Nodes[n].Key == "reporting" {
				c.tables.Nodes[n].Deadline = &runtime.Deadline{After: 3 * time.Hour, Then: "expire"}
			}
		}
		c.run()
		i := c.question(c.say("m1", "maak rapport"))
		assert.Equal(s, "approval", i.Type)
		assert.Equal(s, i.Created.Add(3*time.Hour), i.Due)
		c.Pass(4 * time.Hour)
		s.Next()
		assert.Equal(s, thread.InterruptExpired, s.LoadInterrupt(i.ID).State)
		assert.Zero(s, s.Done("generate_final_report"))
	})
}
