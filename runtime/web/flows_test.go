package web_test

import (
	"context"
	"encoding/json"
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
	"github.com/routegen/routegen/runtime/workflow"
	"github.com/routegen/routegen/templates"
)

// opening is the input of a thread of the shipped system.
const opening = `{"request":{"OrchestratorRequest":{"goal":"a change","phase":"DISCOVERY"}}}`

// flows is a rig with a real workflow, the machine of the shipped system behind its server: the orchestrator hands over to the discovery
// orchestrator, which asks a person as often as the goal says, when it is let; then the orchestrator stops.
type flows struct {
	*rig
	machine *workflow.Machine

	mu   sync.Mutex
	runs []string
	here chan string   // a frame of the discovery orchestrator runs
	let  chan struct{} // and may raise its interrupt
}

// shippedNodes are the handlers that a scenario needs.
type shippedNodes struct {
	routes.UnimplementedHandlers
	w *flows
}

func (h shippedNodes) Orchestrator(_ context.Context, _ runtime.Call, q *routes.OrchestratorRequest) (*routes.OrchestratorRouting, error) {
	if h.w.ran("orchestrator") == 1 {
		return &routes.OrchestratorRouting{DiscoveryOrchestratorRequest: &routes.DiscoveryOrchestratorRequest{Goal: q.Goal}}, nil
	}
	return &routes.OrchestratorRouting{InterruptRequest: &routes.OrchestratorInterruptRequest{Type: routes.InterruptTypeStop, Reason: "enough"}}, nil
}

func (h shippedNodes) DiscoveryOrchestrator(ctx context.Context, call runtime.Call, _ *routes.DiscoveryOrchestratorRequest,
) (*routes.DiscoveryOrchestratorRouting, error) {
	h.w.ran("discoveryOrchestrator")
	h.w.here <- call.Frame
	select {
	case <-h.w.let:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return &routes.DiscoveryOrchestratorRouting{InterruptRequest: &routes.DiscoveryOrchestratorInterruptRequest{
		Type: routes.InterruptTypeHumanReview, Reason: "Which part?",
	}}, nil
}

// ran notes a run of a node, and returns how many it had.
func (w *flows) ran(node string) (times int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = append(w.runs, node)
	for _, n := range w.runs {
		if n == node {
			times++
		}
	}
	return times
}

func (w *flows) trail() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.runs, " ")
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
	w := &flows{here: make(chan string, 10), let: make(chan struct{}, 10)}
	p := routes.New(shippedNodes{w: w})
	prompts, err := prompt.New(&p, templates.Prompts(nil))
	require.NoError(t, err)
	w.machine, err = workflow.New(p, workflow.Config{Prompts: prompts})
	require.NoError(t, err)
	w.rig = newRig(t, store, web.Config{Rerouter: w.machine, Programs: map[string]web.Program{"workflow": {Generated: p, Prompt: shown(&p, prompts)}}}, w.machine)
	return w
}

// shown renders the prompt of the node that a replayed frame was at, from the request it had.
func shown(p *runtime.Program, prompts *prompt.Prompts) func(*runtime.Thread, *runtime.Frame) (string, error) {
	return func(_ *runtime.Thread, f *runtime.Frame) (string, error) {
		var at struct {
			Node    string          `json:"node"`
			Request json.RawMessage `json:"request"`
		}
		if err := json.Unmarshal(f.Locals, &at); err != nil {
			return "", err
		}
		node := slices.IndexFunc(p.Tables.Nodes, func(n runtime.Node) bool { return n.Key == at.Node }) + 1
		return prompts.Node(prompt.View{Node: node, Request: at.Request})
	}
}

// begin starts a thread over HTTP and returns it with the frame of the discovery orchestrator, which runs.
func (w *flows) begin() (id, frame string) {
	w.Helper()
	id = decode[web.Thread](w.post("/v1/threads", `{"machine":"workflow","name":"OrchestratorRequest","input":`+opening+`}`).is(201)).ID
	return id, <-w.here
}

// event is a reroute event in the words of the contract.
func event(id, frame, target string) string {
	return fmt.Sprintf(`{"eventId":%q,"timestamp":"2026-01-02T03:04:05Z","nodeId":%q,"sourceAgentType":"DISCOVERY_ORCHESTRATOR","rerouteToAgentType":%q,
		"interruptType":"HUMAN_REVIEW","reason":"reason of %s"}`, id, frame, target, id)
}

// states are what became of an event, in order.
func (w *flows) states(thread, id string) (states []string) {
	w.Helper()
	for _, row := range decode[struct{ Items []web.Row }](w.get("/v1/threads/" + thread + "/history?limit=1000").is(200)).Items {
		if row.Type == runtime.EntryReroute && row.Name == id {
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
	require.Equal(w, runtime.KindAgentQuestion, th.Open[0].Kind, th.Open[0].Text)
	return th.Open[0]
}

func (w *flows) reply(i *web.Interrupt, text string) *reply {
	w.Helper()
	return w.post("/v1/interrupts/"+i.ID+"/answer", `{"text":"`+text+`","by":"ann"}`)
}

// TestAWorkflowIsReroutedOverHTTP sends an event to a real workflow, through the contract's own body.
func TestAWorkflowIsReroutedOverHTTP(t *testing.T) {
	flowing(t, func(w *flows) {
		id, frame := w.begin()
		path := "/v1/interrupt-events?thread=" + id
		refused := w.post(path, strings.Replace(event("e0", frame, "ORCHESTRATOR"), "DISCOVERY_ORCHESTRATOR", "NOBODY", 1)).is(400, runtime.CodeInvalid)
		assert.Contains(t, string(refused.body), "there is no agent type")
		assert.NotEmpty(t, w.post(path, event("e0", frame, "DISCOVERY_AGENT")).is(422, runtime.CodeNoRoute).problem().Allowed)
		assert.JSONEq(t, `{"ack":"IGNORED_TARGET_NOT_ACTIVE"}`, string(w.post(path, event("e0", "f99", "ORCHESTRATOR")).is(200).body))

		first := w.post(path, event("e1", frame, "ORCHESTRATOR"), "Idempotency-Key", "k").is(200)
		assert.JSONEq(t, `{"ack":"REQUESTED"}`, string(first.body))
		assert.Equal(t, first.body, w.post(path, event("e1", frame, "ORCHESTRATOR"), "Idempotency-Key", "k").is(200).body)
		w.post(path, event("e2", frame, "ORCHESTRATOR"), "Idempotency-Key", "k").is(422, runtime.CodeConflict)
		assert.JSONEq(t, `{"ack":"QUEUED"}`, string(w.post(path, event("e2", frame, "ORCHESTRATOR")).is(200).body))
		w.let <- struct{}{}
		i := w.asked(id)
		assert.Equal(t, []string{"pending"}, w.states(id, "e1"), "it is used up by the commit that resolves, not before")
		at := decode[web.Moment](w.get("/v1/threads/" + id + "/at/" + jsonOf(w.settled(id).Seq)).is(200))
		assert.Equal(t, "discoveryOrchestrator", at.Frames[0].Node)
		assert.Equal(t, []string{"orchestrator", "discoveryOrchestrator"}, at.Frames[0].Visited)
		assert.Contains(t, at.Frames[0].Prompt, ">>> [Discovery Orchestrator] <<< YOU ARE HERE")
		w.reply(&i, "the parser").is(200)
		w.settled(id)
		assert.Equal(t, "orchestrator discoveryOrchestrator orchestrator", w.trail())
		assert.Equal(t, []string{"pending", "used"}, w.states(id, "e1"))
		assert.NotContains(t, w.states(id, "e2"), "used", "one interrupt uses one event")
	})
}

// TestR27_EventBeforeDuringAndAfter has the event come while the node runs, while it raises its interrupt, and when that is open: it is used
// once in all three.
func TestR27_EventBeforeDuringAndAfter(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "during", "after"} {
		t.Run(when, func(t *testing.T) {
			flowing(t, func(w *flows) {
				id, frame := w.begin()
				send := func() {
					assert.JSONEq(t, `{"ack":"REQUESTED"}`, string(w.post("/v1/interrupt-events?thread="+id, event("e", frame, "ORCHESTRATOR")).is(200).body))
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
				w.reply(&i, "go").is(200)
				w.settled(id)
				assert.Equal(t, []string{"pending", "used"}, w.states(id, "e"))
				assert.Equal(t, "orchestrator discoveryOrchestrator orchestrator", w.trail())
			})
		})
	}
	t.Run("never", func(t *testing.T) { // the control: without an event the work goes on where it was
		flowing(t, func(w *flows) {
			id, _ := w.begin()
			w.let <- struct{}{}
			i := w.asked(id)
			w.reply(&i, "go").is(200)
			<-w.here
			assert.Equal(t, "orchestrator"+strings.Repeat(" discoveryOrchestrator", 2), w.trail())
			w.post("/v1/threads/"+id+"/cancel", `{}`).is(200)
		})
	})
}

// TestR28_TwoConsumersOfOneEvent answers two interrupts of a node, with one event for it, through two servers at once: the event serves one.
func TestR28_TwoConsumersOfOneEvent(t *testing.T) {
	flowing(t, func(w *flows) {
		other, err := thread.Open(t.Context(), w.store, thread.Config{Kinds: kinds(), Clock: w.time, Owner: "other"}, append(machines(), w.machine)...)
		require.NoError(t, err)
		w.Cleanup(func() { assert.NoError(t, other.Close(context.Background())) })
		id, frame := w.begin()
		w.post("/v1/interrupt-events?thread="+id, event("e", frame, "ORCHESTRATOR")).is(200)
		w.let <- struct{}{}
		i := w.asked(id)
		engines := []*thread.Engine{w.engine, other}
		won := make([]error, len(engines))
		var both sync.WaitGroup
		for n, e := range engines {
			both.Go(func() {
				_, won[n] = e.Answer(t.Context(), id, runtime.Answer{Interrupt: i.ID, Text: fmt.Sprintf("answer %d", n), By: "ann"})
			})
		}
		both.Wait()
		refused := 0
		for _, err := range won {
			if err != nil {
				assert.Equal(t, runtime.CodeAlreadyAnswered, runtime.CodeOf(err))
				refused++
			}
		}
		assert.Equal(t, 1, refused)
		w.settled(id)
		require.Eventually(t, func() bool { return decode[web.Thread](w.get("/v1/threads/"+id)).Status != runtime.StatusRunning }, 20*time.Second, 5*time.Millisecond)
		assert.Equal(t, []string{"pending", "used"}, w.states(id, "e"), "one gets it, the other sees none")
	})
}
