package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
	"github.com/routegen/routegen/runtime/workflow"
	"github.com/routegen/routegen/templates"
)

// opening is the input of a thread of the shipped system.
const opening = `{"request":{"OrchestratorRequest":{"goal":"a change","phase":"DISCOVERY"}}}`

// flows is a rig with a real workflow, the machine of the shipped system behind its server: the
// orchestrator hands over to the discovery orchestrator, which asks a person as often as the goal
// says, when it is let; then the orchestrator stops.
type flows struct {
	*rig
	machine *workflow.Machine

	mu   sync.Mutex
	runs map[string][]string // nodes that ran, by thread
	here chan string         // a frame of the discovery orchestrator runs
	let  chan struct{}       // and may raise its interrupt
}

// shippedNodes are the handlers that a scenario needs.
type shippedNodes struct {
	routes.UnimplementedHandlers
	w *flows
}

func (h shippedNodes) Orchestrator(_ context.Context, call runtime.Call,
	q *routes.OrchestratorRequest) (*routes.OrchestratorRouting, error) {
	if h.w.ran(call.Thread, "orchestrator") == 1 {
		return &routes.OrchestratorRouting{
			DiscoveryOrchestratorRequest: &routes.DiscoveryOrchestratorRequest{Goal: q.Goal}}, nil
	}
	return &routes.OrchestratorRouting{InterruptRequest: &routes.OrchestratorInterruptRequest{
		Type: routes.InterruptTypeStop, Reason: "enough"}}, nil
}

func (h shippedNodes) DiscoveryOrchestrator(ctx context.Context, call runtime.Call,
	_ *routes.DiscoveryOrchestratorRequest,
) (*routes.DiscoveryOrchestratorRouting, error) {
	h.w.ran(call.Thread, "discoveryOrchestrator")
	h.w.here <- call.Frame
	select {
	case <-h.w.let:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	type interrupt = routes.DiscoveryOrchestratorInterruptRequest
	return &routes.DiscoveryOrchestratorRouting{InterruptRequest: &interrupt{
		Type: routes.InterruptTypeHumanReview, Reason: "Which part?",
	}}, nil
}

// ran notes a run of a node, and returns how many it had on its thread.
func (w *flows) ran(id, node string) (times int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs[id] = append(w.runs[id], node)
	for _, n := range w.runs[id] {
		if n == node {
			times++
		}
	}
	return times
}

func (w *flows) trail(id string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.runs[id], " ")
}

func flowing(t *testing.T, play func(w *flows)) {
	t.Helper()
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			play(newFlows(t, store))
		})
	}
}

func newFlows(t *testing.T, store string) *flows {
	t.Helper()
	w := &flows{runs: map[string][]string{}, here: make(chan string, 10),
		let: make(chan struct{}, 10)}
	p := routes.New(shippedNodes{w: w})
	prompts, err := prompt.New(&p, templates.Prompts(nil))
	require.NoError(t, err)
	w.machine, err = workflow.New(p, workflow.Config{Prompts: prompts})
	require.NoError(t, err)
	w.rig = newRig(t, store,
		web.Config{Doors: doors(w.machine),
			Programs: map[string]web.Program{"workflow": {Generated: p,
				Prompt: shown(&p, prompts)}}}, w.machine)
	return w
}

// shown renders the prompt of the node that a replayed frame was at, from the request it had.
func shown(p *runtime.Program, prompts *prompt.Prompts) func(*thread.Thread, *thread.Frame) (
	string, error) {
	return func(_ *thread.Thread, f *thread.Frame) (string, error) {
		var at struct {
			Node    string          `json:"node"`
			Request json.RawMessage `json:"request"`
		}
		if err := json.Unmarshal(f.Locals, &at); err != nil {
			return "", err
		}
		node := slices.IndexFunc(p.Tables.Nodes, func(n runtime.Node) bool {
			return n.Key == at.Node
		}) + 1
		return prompts.Node(prompt.View{Node: node, Request: at.Request})
	}
}

// begin starts a thread over HTTP and returns it with the frame of the discovery orchestrator,
// which runs.
func (w *flows) begin() (id, frame string) {
	w.Helper()
	id = decode[web.Thread](
		w.post("/v1/threads", `{"machine":"workflow","name":"OrchestratorRequest","input":`+opening+
			`}`).is(201)).ID
	return id, <-w.here
}

// event is a reroute event in the words of the contract.
func event(id, frame, target string) string {
	return fmt.Sprintf(
		`{"eventId":%q,"timestamp":"2026-01-02T03:04:05Z","nodeId":%q,"sourceAgentType":"DISCOVERY_ORCHESTRATOR","rerouteToAgentType":%q,
		"interruptType":"HUMAN_REVIEW","reason":"reason of %s"}`, id, frame, target, id)
}

// states are what became of an event, in order.
func (w *flows) states(threadID, id string) (states []string) {
	w.Helper()
	for _, row := range decode[struct{ Items []web.Row }](
		w.get("/v1/threads/" + threadID + "/history?limit=1000").is(200)).Items {
		if row.Type == thread.EntryReroute && row.Name == id {
			states = append(states, row.State)
		}
	}
	return states
}

// asked waits for the question of a thread.
func (w *flows) asked(id string) web.Interrupt {
	w.Helper()
	th := w.settled(id)
	require.Len(w, th.Open, 1, "%s %v", th.Status, th.Failure)
	require.Equal(w, thread.KindAgentQuestion, th.Open[0].Kind, th.Open[0].Text)
	return th.Open[0]
}

func (w *flows) reply(i *web.Interrupt, text string) *reply {
	w.Helper()
	return w.post("/v1/interrupts/"+i.ID+"/answer", `{"text":"`+text+`","by":"ann"}`)
}

// TestAWorkflowIsReroutedOverHTTP sends an event to a real workflow, through the contract's own
// body.
func TestAWorkflowIsReroutedOverHTTP(t *testing.T) {
	flowing(t, func(w *flows) {
		id, frame := w.begin()
		path := "/v1/interrupt-events?thread=" + id
		refused := w.post(path, strings.Replace(event("e0", frame, "ORCHESTRATOR"),
			"DISCOVERY_ORCHESTRATOR", "NOBODY", 1)).is(400, runtime.CodeInvalid)
		assert.Contains(t, string(refused.body), "there is no agent type")
		assert.NotEmpty(t, w.post(path, event("e0", frame, "DISCOVERY_AGENT")).
			is(422, runtime.CodeNoRoute).problem().Allowed)
		assert.JSONEq(t, `{"ack":"IGNORED_TARGET_NOT_ACTIVE"}`,
			string(w.post(path, event("e0", "f99", "ORCHESTRATOR")).is(200).body))

		first := w.post(path, event("e1", frame, "ORCHESTRATOR"), "Idempotency-Key", "k").is(200)
		assert.JSONEq(t, `{"ack":"REQUESTED"}`, string(first.body))
		assert.Equal(t, first.body, w.post(path, event("e1", frame, "ORCHESTRATOR"),
			"Idempotency-Key", "k").is(200).body)
		w.post(path, event("e2", frame, "ORCHESTRATOR"), "Idempotency-Key", "k").
			is(422, runtime.CodeConflict)
		assert.JSONEq(t, `{"ack":"QUEUED"}`,
			string(w.post(path, event("e2", frame, "ORCHESTRATOR")).is(200).body))
		w.let <- struct{}{}
		i := w.asked(id)
		assert.Equal(t, []string{"pending"}, w.states(id, "e1"),
			"it is used up by the commit that resolves, not before")
		at := decode[web.Moment](w.get("/v1/threads/" + id + "/at/" + jsonOf(w.settled(id).Seq)).
			is(200))
		assert.Equal(t, "discoveryOrchestrator", at.Frames[0].Node)
		assert.Equal(t, []string{"orchestrator", "discoveryOrchestrator"}, at.Frames[0].Visited)
		assert.Contains(t, at.Frames[0].Prompt, ">>> [Discovery Orchestrator] <<< YOU ARE HERE")
		w.reply(&i, "the parser").is(200)
		w.settled(id)
		assert.Equal(t, "orchestrator discoveryOrchestrator orchestrator", w.trail(id))
		assert.Equal(t, []string{"pending", "used"}, w.states(id, "e1"))
		assert.NotContains(t, w.states(id, "e2"), "used", "one interrupt uses one event")
	})
}

// TestEventBeforeDuringAndAfter has the event come while the node runs, while it raises its
// interrupt, and when that is open: it is used once in all three.
func TestEventBeforeDuringAndAfter(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "during", "after"} {
		t.Run(when, func(t *testing.T) {
			flowing(t, func(w *flows) {
				id, frame := w.begin()
				send := func() {
					assert.JSONEq(t, `{"ack":"REQUESTED"}`,
						string(w.post("/v1/interrupt-events?thread="+id,
							event("e", frame, "ORCHESTRATOR")).is(200).body))
				}
				var both sync.WaitGroup
				switch when {
				case "before":
					send()
					w.let <- struct{}{}
				case "during":
					both.Go(send)
					w.let <- struct{}{}
				case "after":
					w.let <- struct{}{}
					w.asked(id)
					send()
				}
				both.Wait()
				i := w.asked(id)
				assert.Contains(t, string(i.Reroute), "reason of e",
					"whoever answers sees why, and where it goes on")
				assert.Contains(t, string(decode[web.Interrupt](w.get("/v1/interrupts/"+i.ID).
					is(200)).Reroute), "reason of e")
				w.reply(&i, "go").is(200)
				w.settled(id)
				assert.Equal(t, []string{"pending", "used"}, w.states(id, "e"))
				assert.Equal(t, "orchestrator discoveryOrchestrator orchestrator", w.trail(id))
			})
		})
	}
	// the control: without an event the work goes on where it was
	t.Run("never", func(t *testing.T) {
		flowing(t, func(w *flows) {
			id, _ := w.begin()
			w.let <- struct{}{}
			i := w.asked(id)
			w.reply(&i, "go").is(200)
			<-w.here
			assert.Equal(t, "orchestrator"+strings.Repeat(" discoveryOrchestrator", 2), w.trail(id))
			w.post("/v1/threads/"+id+"/cancel", `{}`).is(200)
		})
	})
}

// TestTwoConsumersOfOneEvent has two interrupts that one event could serve, of two threads
// whose frames have the same id, and two servers of two processes on one store. Both answer both at
// once: of each interrupt one answer counts, the event serves the interrupt that it is for, once,
// and the other sees none.
func TestTwoConsumersOfOneEvent(t *testing.T) {
	flowing(t, func(w *flows) {
		_, caller := w.heir(append(machines(), w.machine)...)
		id, frame := w.begin()
		other, same := w.begin()
		require.Equal(t, frame, same)
		w.post("/v1/interrupt-events?thread="+id, event("e", frame, "ORCHESTRATOR")).is(200)
		w.let <- struct{}{}
		w.let <- struct{}{}
		asked := []web.Interrupt{w.asked(id), w.asked(other)}
		servers := []*client.Client{{Base: w.http.URL, Token: operator}, caller}
		refused := make([]error, len(asked)*len(servers))
		var all sync.WaitGroup
		for n := range refused {
			all.Go(func() {
				a := thread.Answer{Interrupt: asked[n%2].ID, Text: fmt.Sprintf("answer %d", n),
					By: "ann"}
				_, refused[n] = servers[n/2].Answer(t.Context(), a)
			})
		}
		all.Wait()
		for n := range asked {
			one, two := refused[n], refused[n+len(asked)]
			require.NotEqual(t, one == nil, two == nil, "one of two answers counts: %v, %v", one,
				two)
			assert.Equal(t, runtime.CodeAlreadyAnswered, runtime.CodeOf(errors.Join(one, two)))
		}
		close(w.let) // from here on it asks at once
		w.reaches(id, func(th web.Thread) bool { return th.Status == thread.StatusCancelled })
		assert.Equal(t, []string{"orchestrator", "discoveryOrchestrator", "orchestrator"},
			w.steps(id), "the event says where it goes on")
		assert.Equal(t, []string{"pending", "used"}, w.states(id, "e"), "once")
		again := w.reaches(other, func(th web.Thread) bool { return len(th.Open) == 1 }).Open[0]
		w.reply(&again, "once more").is(200)
		w.reaches(other, func(th web.Thread) bool {
			return len(th.Open) == 1 && th.Open[0].ID != again.ID
		})
		assert.Equal(t, append([]string{"orchestrator"},
			slices.Repeat([]string{"discoveryOrchestrator"}, 3)...), w.steps(other),
			"it goes on where it was, twice")
		assert.Empty(t, w.states(other, "e"))
	})
}

// steps are the nodes that a thread came to, as they are stored: of two runs of a step in two
// processes one counts.
func (w *flows) steps(id string) (nodes []string) {
	w.Helper()
	for _, row := range decode[struct{ Items []web.Row }](
		w.get("/v1/threads/" + id + "/history?limit=1000").is(200)).Items {
		if row.Type == thread.EntryStepped && !strings.HasPrefix(row.PC, "!") {
			nodes = append(nodes, row.PC)
		}
	}
	return nodes
}

// reaches waits for a thread to be so, whoever runs it.
func (w *flows) reaches(id string, is func(th web.Thread) bool) (th web.Thread) {
	w.Helper()
	require.Eventually(w, func() bool {
		th = decode[web.Thread](w.get("/v1/threads/" + id))
		return is(th)
	}, time.Minute, 5*time.Millisecond)
	return th
}
