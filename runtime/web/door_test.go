package web_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/workflow"
)

// TestAStartIsCheckedAtTheDoor starts threads with inputs that their machine cannot begin with:
// each is refused with the field that is wrong, and makes no thread.
func TestAStartIsCheckedAtTheDoor(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			program := routes.New(routes.UnimplementedHandlers{})
			machine, err := workflow.New(program, workflow.Config{})
			require.NoError(t, err)
			r := newRig(t, store, web.Config{Programs: map[string]web.Program{
				"workflow": {Generated: program},
				"ask": {Starts: []web.Start{{Schema: json.RawMessage(
					`{"type":"string","minLength":1}`)}}},
			}}, machine)
			begin := func(machine, input string) *reply {
				return r.post("/v1/threads", fmt.Sprintf(`{"machine":%q,"input":%s}`, machine,
					input))
			}
			for input, pointer := range map[string]string{
				`null`:                       "/input/request",
				`{}`:                         "/input/request",
				`"a change"`:                 "/input",
				`{"request":null}`:           "/input/request",
				`{"OrchestratorRequest":{}}`: "/input/OrchestratorRequest",
				`{"request":{}}`:             "/input/request",
				`{"request":{"Nothing":{}}}`: "/input/request/Nothing",
				`{"request":{"OrchestratorRequest":{"goal":1,"phase":"DISCOVERY"}}}`: "/input/request/OrchestratorRequest/goal",
				`{"request":{"OrchestratorRequest":{"phase":"DISCOVERY"}}}`:          "/input/request/OrchestratorRequest/goal",
			} {
				p := begin("workflow", input).is(400, runtime.CodeInvalid).problem()
				require.NotEmpty(t, p.Problems, input)
				assert.Equal(t, pointer, p.Problems[0].Pointer, input)
			}
			missing := begin("workflow", `{}`).problem()
			assert.Contains(t, missing.Detail,
				`/input/request: is missing: write {"request": {"TYPE": {...}}}`)
			for _, input := range []string{`5`, `""`, `null`} {
				p := begin("ask", input).is(400, runtime.CodeInvalid).problem()
				assert.Equal(t, "/input", p.Problems[0].Pointer, input)
			}
			found := decode[struct{ Items []web.Thread }](r.get("/v1/threads").is(200)).Items
			assert.Empty(t, found, "nothing was begun")

			key := []string{"Idempotency-Key", "k"}
			body := `{"machine":"workflow","input":%s}`
			r.post("/v1/threads", fmt.Sprintf(body, `{}`), key...).is(400)
			// a refused call has not used its key
			r.post("/v1/threads", fmt.Sprintf(body, opening), key...).is(201)
			begin("ask", `"x"`).is(201)
		})
	}
}

// TestAnEventNeedsNoIDAndNoTime sends events without eventId and timestamp to a real workflow.
func TestAnEventNeedsNoIDAndNoTime(t *testing.T) {
	flowing(t, func(w *flows) {
		id, frame := w.begin()
		bare := fmt.Sprintf(`{"nodeId":%q,"sourceAgentType":"DISCOVERY_ORCHESTRATOR",
			"rerouteToAgentType":"ORCHESTRATOR","interruptType":"HUMAN_REVIEW","reason":"bare"}`, frame)
		path := "/v1/interrupt-events?thread=" + id
		before := time.Now().Add(-time.Minute)
		for range 2 { // the same call again is the same event
			told := w.post(path, bare, "Idempotency-Key", "k").is(200)
			assert.JSONEq(w, `{"ack":"REQUESTED"}`, string(told.body))
		}
		other := w.post(path, bare).is(200)
		assert.JSONEq(w, `{"ack":"QUEUED"}`, string(other.body),
			"without a key it is another event")
		th, err := w.engine.Thread(w.Context(), id)
		require.NoError(w, err)
		pending := th.Reroutes
		require.Len(w, pending, 2)
		var came workflow.Event
		require.NoError(w, json.Unmarshal(pending[0].Event, &came))
		assert.NotEmpty(w, came.EventID)
		assert.NotEqual(w, pending[0].ID, pending[1].ID)
		assert.True(w, came.Timestamp.After(before), "it has the time when it came")
		assert.Equal(w, "operator", came.RequestedBy)

		w.let <- struct{}{}
		i := w.asked(id)
		w.reply(&i, "go").is(200)
		w.settled(id)
		assert.Equal(w, []string{"pending", "used"}, w.states(id, came.EventID))
		assert.Equal(w, "orchestrator discoveryOrchestrator orchestrator", w.trail(id))
	})
}

// TestRerouteEvents sends events with everything that the contract has, and ones that are refused.
func TestRerouteEvents(t *testing.T) {
	flowing(t, func(w *flows) {
		id, frame := w.begin()
		path := "/v1/interrupt-events?thread=" + id
		full := strings.TrimSuffix(event("e1", frame, "ORCHESTRATOR"), "}") + `,
			"choices":[{"label":"Yes","value":"y","description":""}],
			"confirmationItems":[{"id":"c1","prompt":"Sure?"}],"contextForDecision":""}`
		w.post("/v1/interrupt-events", full).is(400)
		w.post(path, strings.Replace(full, `"label":"Yes"`, `"label":"Yes","Value":"c"`, 1)).is(400)
		w.post(path, strings.Replace(full, "HUMAN_REVIEW", "NOTHING", 1)).
			is(400, runtime.CodeInvalid)
		stranger := w.post(path, strings.Replace(full, "DISCOVERY_ORCHESTRATOR", "UNKNOWN", 1))
		assert.Contains(w, stranger.is(400, runtime.CodeInvalid).problem().Detail,
			"DISCOVERY_ORCHESTRATOR")
		nowhere := w.post(path, event("e1", frame, "DISCOVERY_AGENT")).is(422, runtime.CodeNoRoute)
		assert.Contains(w, nowhere.problem().Allowed, "ORCHESTRATOR")
		assert.JSONEq(w, `{"ack":"REQUESTED"}`, string(w.post(path, full).is(200).body))

		w.let <- struct{}{}
		w.asked(id)
		w.store.spoil(errors.New("foreign canary text"))
		foreign := w.post("/v1/interrupt-events?thread=elsewhere", full).
			is(500, runtime.CodeInternal)
		w.store.spoil(nil)
		assert.NotContains(w, string(foreign.body), "canary")
		assert.NotContains(w, w.logs.String(), "canary")
	})
}

// TestTheDocumentSaysWhatAnEventNeeds holds the document to what the server demands.
func TestTheDocumentSaysWhatAnEventNeeds(t *testing.T) {
	t.Parallel()
	r := newRig(t, "mem", web.Config{})
	op := r.contract.paths["/v1/interrupt-events"]["post"].(map[string]any)
	for _, param := range op["parameters"].([]any) {
		if p := param.(map[string]any); p["name"] == "thread" {
			assert.Equal(t, true, p["required"])
		}
	}
	schemas := r.contract.doc["components"].(map[string]any)["schemas"].(map[string]any)
	needed := schemas["Event"].(map[string]any)["required"]
	assert.Equal(t, []any{"nodeId", "sourceAgentType", "interruptType", "reason"}, needed)
}
