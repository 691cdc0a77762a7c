package dialogue

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// TestAFlowIsCheckedBeforeItBegins starts threads, and turns of an idle one, with inputs that no
// frame can begin with: each is refused, and nothing is stored.
func TestAFlowIsCheckedBeforeItBegins(t *testing.T) {
	alive(t, func(w *world) {
		w.bank()
		w.run(tables(nil, nil, f{name: "form", slots: []string{"n int min=1 in", "word string in"},
			steps: []p{
				{id: "a", kind: "collect", slot: "n", text: "N?"},
				{id: "b", kind: "say", text: "{n}."},
			}}))
		idle, err := w.e.Start(w.Context(), thread.Begin{ID: "idle", Machine: Name, Input: "hello"})
		require.NoError(w, err)
		idle, err = w.e.Wait(w.Context(), idle.ID)
		require.NoError(w, err)
		for name, inputs := range map[string]map[string]string{
			"":     {`5`: "", `{"text":"hi"}`: ""},
			"none": {`{}`: ""},
			"form": {
				`"hi"`: "", `{"slots":{"n":0}}`: "/slots/n", `{"slots":{"n":"5"}}`: "/slots/n",
				`{"slots":{"m":1}}`: "/slots/m",
			},
		} {
			for input, pointer := range inputs {
				raw := json.RawMessage(input)
				_, started := w.e.Start(w.Context(),
					thread.Begin{Machine: Name, Name: name, Input: raw})
				_, went := w.e.Deliver(w.Context(), thread.Message{Thread: "idle", Machine: Name,
					Name: name, Input: raw})
				for _, err := range []error{started, went} {
					require.Equal(w, runtime.CodeInvalid, runtime.CodeOf(err), "%s %s: %v", name,
						input, err)
					var wrong *runtime.InvalidError
					if pointer != "" && assert.ErrorAs(w, err, &wrong) {
						assert.Equal(w, pointer, wrong.Problems[0].Pointer)
					}
				}
			}
		}
		found, err := w.e.Threads(w.Context(), thread.Query{})
		require.NoError(w, err)
		require.Len(w, found, 1)
		assert.Equal(w, idle.Version, found[0].Version)

		begin := thread.Begin{ID: "form", Machine: Name, Name: "form",
			Input: json.RawMessage(`{"slots":{"n":5}}`)}
		_, err = w.e.Start(w.Context(), begin)
		require.NoError(w, err)
		th, err := w.e.Wait(w.Context(), "form")
		require.NoError(w, err)
		assert.Equal(w, thread.StatusIdle, th.Status())
	})
}
