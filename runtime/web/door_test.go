package web_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

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

// TestAForeignErrorAtADoor has a store that fails under a reroute event: neither the caller nor the
// log is told its text.
func TestAForeignErrorAtADoor(t *testing.T) {
	flowing(t, func(w *flows) {
		id, frame := w.begin()
		w.let <- struct{}{}
		w.asked(id)
		w.store.spoil(errors.New("foreign canary text"))
		foreign := w.post("/v1/interrupt-events?thread=elsewhere",
			event("e1", frame, "ORCHESTRATOR")).is(500, runtime.CodeInternal)
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
