package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// broken are replies to a schema narrowed to discoveryOrchestratorRequest, each with what the
// repair must say of it.
func broken() map[string][2]string {
	const good = `"discoveryOrchestratorRequest":{"goal":"g"}`
	return map[string][2]string{
		"no field": {`{}`, "discoveryOrchestratorRequest"},
		"two fields": {`{` + good + `,"orchestratorRequest":{"goal":"g","phase":"p"}}`,
			"orchestratorRequest"},
		"not the target": {`{"orchestratorRequest":{"goal":"g","phase":"p"}}`,
			"discoveryOrchestratorRequest"},
		"hidden field": {`{"discoveryOrchestratorRequest":{"goal":"g","contextId":"ak:00000000000000000000000000"}}`, "/discoveryOrchestratorRequest/contextId"},
		"another case": {`{"DiscoveryOrchestratorRequest":{"goal":"g"}}`,
			"/DiscoveryOrchestratorRequest"},
		"twice":         {`{` + good + `,` + good + `}`, "/discoveryOrchestratorRequest"},
		"text after it": {`{` + good + `} I hope this helps`, "byte"},
		"prose":         {`I would go on with discovery.`, "byte"},
		"missing": {`{"discoveryOrchestratorRequest":{}}`,
			"/discoveryOrchestratorRequest/goal"},
		"too deep": {`{"discoveryOrchestratorRequest":` + strings.Repeat(`{"goal":`, 70) +
			`1` + strings.Repeat(`}`, 71), "64"},
		"of another type": {`{"discoveryOrchestratorRequest":{"goal":7}}`,
			"/discoveryOrchestratorRequest/goal"},
	}
}

func TestInvalidReplyGoesBackToTheModelOnce(t *testing.T) {
	onBoth(t, func(w *world) {
		for name, reply := range broken() {
			w := w.again()
			th := w.interrupted(func(th *thread.Thread) {
				w.model.says = []string{reply[0], w.routeTo("discoveryOrchestrator", "goal",
					"mended")}
				w.model.while = func(question) error {
					now, err := w.store.Load(w.Context(), th.ID)
					assert.NoError(w, err)
					assert.NotNil(w, now.PendingReroute(th.Root().ID),
						"%s: the event is pending until the commit", name)
					return nil
				}
			})
			require.Equal(w, 2, w.model.count(), name)
			for _, q := range w.model.asked {
				w.narrowed(q.Schema, "discoveryOrchestratorRequest")
			}
			first, second := w.model.asked[0].Prompt, w.model.asked[1].Prompt
			require.True(w, strings.HasPrefix(second, first), name)
			require.Contains(w, second[len(first):], reply[1], name)
			require.Empty(w, th.Reroutes)
			require.Equal(w, thread.StatusCancelled, th.Status())
			got, ok := w.took["discoveryOrchestrator"][0].(*routes.DiscoveryOrchestratorRequest)
			require.True(w, ok)
			require.Equal(w, "mended", got.Goal)
		}
	})
}

// interrupted brings an orchestrator to its interrupt with an event for the discovery orchestrator,
// and answers after more preparations.
func (w *world) interrupted(before func(th *thread.Thread)) *thread.Thread {
	w.Helper()
	w.on("orchestrator", w.publishes(w.asks("orchestrator", "HUMAN_REVIEW", "which way?"),
		event("e1", "", "ORCHESTRATOR", "DISCOVERY_ORCHESTRATOR")))
	w.on("discoveryOrchestrator", w.stops("discoveryOrchestrator"))
	w.open()
	th := w.start("OrchestratorRequest")
	w.asked(th, thread.KindAgentQuestion)
	before(th)
	return w.answer(th.ID, "go")
}

func TestSecondInvalidReplyAsksAPerson(t *testing.T) {
	onBoth(t, func(w *world) {
		for name, reply := range broken() {
			w := w.again()
			th := w.interrupted(func(*thread.Thread) {
				w.model.says = []string{reply[0], reply[0]}
			})
			i := w.asked(th, thread.KindSystemError)
			require.Equal(w, 2, w.model.count(), name)
			require.NotNil(w, th.PendingReroute(th.Root().ID), "nothing is lost")
			require.Equal(w, []string{"retry", "edit", "skip", "reroute", "abort"}, choices(i))
			require.Equal(w, []string{"ORCHESTRATOR"}, i.Targets, "only what ran can go on")

			// What the person edits is the interrupt request; the question is asked anew, and the
			// model too.
			th = w.order(th.ID, `{"choice":"edit","input":`+w.sample("OrchestratorInterruptRequest",
				"reason", "and now?")+`}`)
			require.Equal(w, "and now?", w.asked(th, thread.KindAgentQuestion).Text)
			require.NotNil(w, th.PendingReroute(th.Root().ID))
			th = w.answer(th.ID, "go")
			require.Equal(w, 3, w.model.count(), name)
			require.Equal(w, thread.StatusCancelled, th.Status())
			require.Equal(w, []string{"orchestrator", "discoveryOrchestrator"}, w.runs)
		}
	})
}

func choices(i *thread.Interrupt) []string {
	var out []string
	for _, c := range i.Choices {
		out = append(out, c.Label)
	}
	return out
}

// TestUnavailableModelAsksAPerson: a call that brought no reply is made again later, under the same
// key, and still sees the event.
func TestUnavailableModelAsksAPerson(t *testing.T) {
	onBoth(t, func(w *world) {
		tries := 0
		th := w.interrupted(func(*thread.Thread) {
			w.model.while = func(question) error {
				if tries++; tries == 1 {
					return &runtime.Error{Code: runtime.CodeUnavailable, Op: "ask",
						Err: errors.New("busy")}
				}
				return nil
			}
		})
		require.Equal(w, thread.StatusWaiting, th.Status())
		require.NotNil(w, th.PendingReroute(th.Root().ID))
		for th.Status() == thread.StatusWaiting { // until the time of the next try
			require.NoError(w, w.next(th))
			th = w.wait(th.ID)
		}
		require.Equal(w, 2, tries)
		w.narrowed(w.model.last().Schema, "discoveryOrchestratorRequest")
		require.Equal(w, thread.StatusCancelled, th.Status())
	})
}

// next waits for the next commit of a thread.
func (w *world) next(th *thread.Thread) error {
	for _, err := range w.e.Subscribe(w.Context(), thread.Filter{Thread: th.ID}, w.cursor(th)) {
		return err
	}
	return nil
}

// cursor is the place of the last entry of a thread.
func (w *world) cursor(th *thread.Thread) int64 {
	w.Helper()
	rows, err := w.store.Log(w.Context(), thread.LogQuery{Thread: th.ID, AfterSeq: th.Seq - 1})
	require.NoError(w, err)
	return rows[0].Cursor
}

func TestAgentReviewLeavesTheEvent(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.publishes(w.asks("orchestrator", "AGENT_REVIEW", "is this enough?"),
			event("e1", "", "ORCHESTRATOR", "PLANNING_ORCHESTRATOR")))
		w.on("planningOrchestrator", w.stops("planningOrchestrator"))
		w.model.says = []string{`{"approved":true}`,
			`{"approved":true,"feedback":"take the short way"}`}
		w.model.while = func(q question) error {
			rows, err := w.store.Threads(w.Context(),
				thread.Query{Statuses: []thread.Status{thread.StatusRunning}})
			assert.NoError(w, err)
			for _, row := range rows {
				th, err := w.store.Load(w.Context(), row.ID)
				assert.NoError(w, err)
				assert.NotNil(w, th.PendingReroute("f1"), q.Name)
			}
			return nil
		}
		w.open()
		th := w.start("OrchestratorRequest")
		require.Equal(w, thread.StatusCancelled, th.Status(), "%+v", th.Open)
		require.Equal(w, 3, w.model.count())
		var review map[string]any
		require.NoError(w, json.Unmarshal([]byte(w.model.asked[0].Schema), &review))
		require.Contains(w, review["properties"], "approved")
		require.Contains(w, w.model.asked[0].Prompt, "is this enough?")
		require.Contains(w, w.model.asked[1].Prompt, "/feedback", "its reply is repaired once too")
		w.narrowed(w.model.asked[2].Schema, "planningOrchestratorRequest")
		require.Contains(w, w.model.asked[2].Prompt, "take the short way")
		require.Equal(w, []string{"orchestrator", "planningOrchestrator"}, w.runs)
		w.inOrder(th.ID, "e1")
	})
}

func TestConfiguredReviewerIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "mem")
	reviewer := &model{world: w, says: []string{`{"approved":false,"feedback":"no"}`}}
	w.cfg.Reviewer = reviewer
	w.on("orchestrator", w.asks("orchestrator", "AGENT_REVIEW", "ok?"), w.stops("orchestrator"))
	w.open()
	w.start("OrchestratorRequest")
	require.Equal(t, 1, reviewer.count())
	require.Equal(t, 1, w.model.count())
	require.JSONEq(t, `{"approved":false,"feedback":"no"}`,
		string(w.calls["orchestrator"][1].Answer))
}

// chooses returns a turn in which the model chooses.
func chooses[T any, R interface {
	*T
	runtime.Routing
}](ctx context.Context, call runtime.Call, request runtime.Record) (string, error) {
	routing, err := workflow.Choose[T, R](ctx, call, request)
	if err != nil {
		return "", err
	}
	data, err := runtime.Encode(routing)
	return string(data), err
}

func TestHumanReviewWaitsForAPerson(t *testing.T) {
	onBoth(t, func(w *world) {
		w.model.says = []string{w.routing("orchestrator", "interruptRequest", "type",
			"HUMAN_REVIEW", "reason", "which modules?")}
		w.on("orchestrator", chooses[routes.OrchestratorRouting], w.stops("orchestrator"))
		w.open()
		th := w.start("OrchestratorRequest")
		w.asked(th, thread.KindAgentQuestion)
		require.Equal(w, 1, w.model.count(), "one call before the answer")
		require.NoError(w, w.e.RunDue(w.Context()))
		require.Equal(w, 1, w.model.count(), "none while it waits")
		_, err := w.e.Answer(w.Context(), th.ID, thread.Answer{RouteTo: "DISCOVERY_AGENT"})
		require.Equal(w, runtime.CodeNoRoute, runtime.CodeOf(err), "a leaf is no legal target")
		w.answer(th.ID, "only the three of the goal")
		require.Equal(w, 2, w.model.count())
		w.narrowed(w.model.last().Schema, "orchestratorRequest")
		require.Contains(w, w.model.last().Prompt, "only the three of the goal")
		require.Contains(w, w.model.last().Prompt, "which modules?")
		got, ok := w.took["orchestrator"][1].(*routes.OrchestratorRequest)
		require.True(w, ok)
		require.Equal(w, "only the three of the goal", got.Feedback)
		require.JSONEq(w, `"only the three of the goal"`, string(w.calls["orchestrator"][1].Answer))
	})
}

func TestPersonChoosesTheTarget(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("discoveryDispatch", w.says("discoveryDispatch", "collectorRequest"),
			w.stops("discoveryDispatch"))
		w.on("discoveryCollector", w.asks("discoveryCollector", "HUMAN_REVIEW", "enough?"))
		w.open()
		th := w.start("DiscoveryAgentRequests", "goal", "stored")
		th = w.answer(th.ID, "-> DISCOVERY_DISPATCH")
		require.Equal(w, 0, w.model.count(), "it is reused")
		require.Equal(w, []string{"discoveryDispatch", "discoveryCollector", "discoveryDispatch"},
			w.runs)
		got, ok := w.took["discoveryDispatch"][1].(*routes.DiscoveryAgentRequests)
		require.True(w, ok)
		require.Equal(w, "stored", got.Goal)
		require.JSONEq(w, `{"route_to":"DISCOVERY_DISPATCH"}`,
			string(w.calls["discoveryDispatch"][1].Answer))
		require.Equal(w, thread.StatusCancelled, th.Status())

		w = w.again() // a target that is not reused, or never ran, is written by the model
		w.on("discoveryCollector", w.asks("discoveryCollector", "HUMAN_REVIEW", "enough?"))
		w.on("planningOrchestrator", w.stops("planningOrchestrator"))
		w.open()
		w.answer(w.start("DiscoveryCollectorRequest").ID, "-> PLANNING_ORCHESTRATOR")
		w.narrowed(w.model.last().Schema, "planningOrchestratorRequest")
		require.Contains(w, w.model.last().Prompt, "PLANNING_ORCHESTRATOR")
		got2, ok := w.took["planningOrchestrator"][0].(*routes.PlanningOrchestratorRequest)
		require.True(w, ok)
		require.Empty(w, got2.Feedback, "a target is no note")

		w = w.again() // a person's target goes before that of an event
		w.on("orchestrator", w.publishes(w.asks("orchestrator", "HUMAN_REVIEW", "?"),
			event("e1", "", "ORCHESTRATOR", "MERGER_AGENT")))
		w.on("review", w.stops("review"))
		w.open()
		th = w.answer(w.start("OrchestratorRequest").ID, "-> REVIEW_AGENT")
		w.narrowed(w.model.last().Schema, "reviewRequest")
		require.Empty(w, th.Reroutes)

		w = w.again() // a kind that does not allow it
		w.program.Tables.Kinds = append([]runtime.Kind{}, w.program.Tables.Kinds...)
		for i := range w.program.Tables.Kinds {
			w.program.Tables.Kinds[i].RouteTo = false
		}
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "?"))
		w.open()
		th = w.start("OrchestratorRequest")
		_, err := w.e.Answer(w.Context(), th.ID, thread.Answer{RouteTo: "MERGER_AGENT"})
		require.Equal(w, runtime.CodeNoRoute, runtime.CodeOf(err))
	})
}

// TestInterruptIsResolvedWithoutAModel: what is stored goes on, and every node is offered.
func TestInterruptIsResolvedWithoutAModel(t *testing.T) {
	onBoth(t, func(w *world) {
		w.cfg = workflow.Config{}
		w.on("orchestrator", w.asks("orchestrator", "HUMAN_REVIEW", "?"),
			w.says("orchestrator", "discoveryOrchestratorRequest"), w.stops("orchestrator"))
		w.on("discoveryOrchestrator", w.asks("discoveryOrchestrator", "HUMAN_REVIEW", "?"))
		w.open()
		th := w.start("OrchestratorRequest", "goal", "stored")
		require.Len(w, w.asked(th, thread.KindAgentQuestion).Targets, 14)
		th = w.answer(th.ID, "a note")
		got, ok := w.took["orchestrator"][1].(*routes.OrchestratorRequest)
		require.True(w, ok)
		require.Equal(w, "stored", got.Goal)
		require.Equal(w, "a note", got.Feedback)
		require.Len(w, w.asked(th, thread.KindAgentQuestion).Targets, 14)
		th = w.answer(th.ID, "-> ORCHESTRATOR")
		require.Equal(w, thread.StatusCancelled, th.Status())

		_, err := workflow.New(w.program, workflow.Config{Model: w.model})
		require.Equal(w, runtime.CodeInvalid, runtime.CodeOf(err), "a model needs prompts")
	})
}

func TestPauseStopPruneAndBranch(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("orchestrator", w.asks("orchestrator", "PAUSE", "wait"), w.stops("orchestrator"))
		w.open()
		th := w.start("OrchestratorRequest")
		require.Equal(w, "PAUSE", w.asked(th, thread.KindAgentQuestion).Type)
		th = w.answer(th.ID, "continue")
		require.Equal(w, thread.StatusCancelled, th.Status(), "STOP of the root")
		require.Contains(w, th.Failure.Text, "enough")

		w = w.again()
		w.on("orchestrator", w.asks("orchestrator", "PRUNE", "not needed"))
		w.open()
		th = w.start("OrchestratorRequest")
		require.Equal(w, thread.StatusDone, th.Status())
		require.Empty(w, th.Result)

		w = w.again()
		w.always["ticketAgent"] = func(_ context.Context, _ runtime.Call, request runtime.Record) (
			string, error) {
			ticket, ok := request.(*routes.TicketAgentRequest)
			require.True(w, ok)
			if ticket.TicketDetails == "done" {
				return w.routing("ticketAgent", "agentResult", "output", "made"), nil
			}
			return w.routing("ticketAgent", "interruptRequest", "type", ticket.TicketDetails,
				"reason", "no use"), nil
		}
		var lost []thread.Child
		w.on("ticketDispatch", func(ctx context.Context, call runtime.Call,
			request runtime.Record) (string, error) {
			lost = workflow.Lost(ctx)
			return w.stops("ticketDispatch")(ctx, call, request)
		})
		w.open()
		var requests []json.RawMessage
		for _, details := range []string{"STOP", "done", "PRUNE"} {
			requests = append(requests,
				json.RawMessage(w.sample("TicketAgentRequest", "ticketDetails", details)))
		}
		w.start("TicketAgentRequests", "requests", requests)
		var got routes.TicketAgentResults
		require.NoError(w, runtime.Unmarshal(w.calls["ticketDispatch"][0].Results, &got))
		require.Len(w, got.TicketAgentResults, 1)
		require.Len(w, lost, 2)
		require.Contains(w, lost[0].Failure.Text, "no use", "STOP tells the parent")
		require.Nil(w, lost[1].Failure, "PRUNE does not")
	})
}

func TestBranchContinuesInTwoThreads(t *testing.T) {
	for _, tenant := range []string{"", "acme"} {
		t.Run("tenant "+tenant, func(t *testing.T) { branchInTwoThreads(t, tenant) })
	}
}

func branchInTwoThreads(t *testing.T, tenant string) {
	t.Helper()
	onBoth(t, func(w *world) {
		choice := map[string]any{"choiceId": "way", "question": "?", "context": "",
			"options": map[string]string{"B": "right", "A": "left"}, "recommended": "A"}
		w.on("orchestrator", w.publishes(w.asks("orchestrator", "BRANCH", "both", "choices",
			[]any{choice}), event("e1", "", "ORCHESTRATOR", "PLANNING_ORCHESTRATOR")))
		w.always["planningOrchestrator"] = w.says("planningOrchestrator", "collectorRequest")
		w.always["planningCollector"] = w.stops("planningCollector")
		w.open()
		var err error
		w.e, err = w.e.Tenant(tenant)
		require.NoError(w, err)
		th := w.start("OrchestratorRequest")
		rows, err := w.e.Threads(w.Context(), thread.Query{})
		require.NoError(w, err)
		require.Len(w, rows, 2)
		for _, row := range rows {
			other := w.wait(row.ID)
			require.Equal(w, thread.StatusCancelled, other.Status(), row.ID)
			require.Equal(w, "ann", other.User)
		}
		answers := map[string]string{}
		for _, call := range w.calls["planningOrchestrator"] {
			_, id := thread.SplitID(call.Thread)
			answers[id] = string(call.Answer)
		}
		require.Len(w, answers, 2)
		for id, answer := range answers {
			want := `{"selectedChoices":{"way":"B"}}`
			if id == th.ID {
				want = `{"selectedChoices":{"way":"A"}}`
			}
			require.JSONEq(w, want, answer, id)
		}
		require.Equal(w, 2, w.model.count(), "each thread goes on by itself")
		w.narrowed(w.model.last().Schema, "planningOrchestratorRequest")
	})
}

// A branch that was begun before a crash is taken as it is, although a reroute event has come
// since, with which it would begin otherwise.
func TestBranchThreadThatExistsIsNotStartedAgain(t *testing.T) {
	onBoth(t, func(w *world) {
		w.always["orchestrator"] = w.stops("orchestrator")
		w.open()
		begin := func(id, request string) *thread.Thread {
			record, err := w.program.DecodeRequest("OrchestratorRequest",
				[]byte(w.sample("OrchestratorRequest")))
			require.NoError(w, err)
			b, err := workflow.Begin(record)
			require.NoError(w, err)
			b.ID, b.User, b.Request = id, "ann", request
			th, err := w.e.Start(w.Context(), b)
			require.NoError(w, err)
			return w.wait(th.ID)
		}
		before := begin("t~f1.1.2", "branch/2") // another input than the branch would have now
		choice := map[string]any{"choiceId": "way", "question": "?", "context": "",
			"options": map[string]string{"B": "right", "A": "left"}, "recommended": "A"}
		w.on("orchestrator", w.asks("orchestrator", "BRANCH", "both", "choices", []any{choice}))
		th := begin("t", "")
		require.Equal(w, thread.StatusCancelled, th.Status(), "it went on: %v", th.Open)
		rows, err := w.e.Threads(w.Context(), thread.Query{})
		require.NoError(w, err)
		require.Len(w, rows, 2)
		require.Equal(w, before.Version, w.wait(before.ID).Version)
	})
}

func TestTargetWithoutARequestIsRefused(t *testing.T) {
	onBoth(t, func(w *world) {
		w.on("discoveryAgent", w.asks("discoveryAgent", "HUMAN_REVIEW", "?"))
		seen := &listening{}
		w.open()
		require.NoError(w, w.e.Close(w.Context()))
		seen.Machine = w.m
		e, err := thread.Open(w.Context(), w.store, thread.Config{}, seen)
		require.NoError(w, err)
		w.e = e
		th := w.start("DiscoveryAgentRequest")
		i := w.asked(th, thread.KindSystemError)
		require.Contains(w, i.Text, "discoveryDispatch")
		require.Contains(w, i.Text, "DiscoveryAgentRequests")
		require.NotContains(w, i.Text, "loop")
		require.Contains(w, choices(i), "retry")
		require.Equal(w, runtime.CodeNotFound, runtime.CodeOf(seen.err))
		require.NoError(w, e.Close(w.Context()))
	})
}

// listening keeps the last error of its machine.
type listening struct {
	*workflow.Machine
	err error
}

// Step notes the error.
func (l *listening) Step(ctx context.Context, a thread.Activation) (thread.Transition, error) {
	t, err := l.Machine.Step(ctx, a)
	if err != nil {
		l.err = fmt.Errorf("step %s: %w", a.Frame.PC, err)
	}
	return t, err
}

var _ llm.Model = (*model)(nil)
