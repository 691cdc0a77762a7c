package dialogue

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/thread"
)

// charging says hello, charges, asks x, notifies, asks y and says goodbye.
func charging(once string) *runtime.FlowTables {
	return tables([]string{"charge" + once, "notify"}, nil, f{
		name: "buy", slots: []string{"x string", "y string", "charge_id string"}, steps: []p{
			{id: "hello", kind: "say", text: "Hello."},
			{id: "charge", kind: "action", action: "charge", out: []b{{name: "charge_id"}}},
			{id: "ask_x", kind: "collect", slot: "x", text: "X?"},
			{id: "notify", kind: "action", action: "notify", in: []b{{name: "x"}}},
			{id: "ask_y", kind: "collect", slot: "y", text: "Y?"},
			{id: "bye", kind: "say", text: "Bye, {charge_id}."},
		},
	})
}

func TestEffectsHappenOnceAcrossQuestions(t *testing.T) {
	scene(t, func(w *world) {
		w.does["charge"] = func(map[string]any) (any, error) {
			return map[string]any{"charge_id": "C1"}, nil
		}
		w.means("go", starts("buy"))
		w.means("vx", sets("x", "vx"))
		w.means("vy", sets("y", "vy"))
		w.run(charging(""))
		w.hears("go", "Hello.", "X?")
		w.hears("vx", "Y?")
		turn := w.hears("vy", "Bye, C1.")
		assert.Equal(w, thread.StatusIdle, turn.Thread.Status())
		assert.Equal(w, 1, w.done("charge"))
		assert.Equal(w, 1, w.done("notify"))
		assert.Equal(w, 3, w.nlu.asked())
		assert.JSONEq(w, `{"flow":"buy","outcome":"done"}`, string(turn.Thread.Result))
	})
}

func TestCrashBetweenEffectAndCommit(t *testing.T) {
	t.Parallel()
	for _, once := range []string{"", " once"} {
		t.Run("charge"+once, func(t *testing.T) {
			scene(t, func(w *world) {
				w.means("go", starts("buy"))
				w.means("vx", sets("x", "vx"))
				w.run(charging(once))
				w.say("go")
				w.say("vx")
				assert.Equal(w, 1, w.done("charge"), "all calls bear the same key")
				if once != "" {
					assert.Len(w, w.keys["charge"], 1, "it is not called again")
				}
			})
		})
	}
}

func TestEffectInDoubtWaitsForAnOperator(t *testing.T) {
	alive(t, func(w *world) {
		w.means("go", starts("buy"))
		// the process dies inside: its intention is stored, its end is not
		w.does["charge"] = func(map[string]any) (any, error) {
			w.way.Cut.Store(true)
			return map[string]any{}, nil
		}
		w.run(charging(" once"))
		_, err := w.talk.Deliver(w.Context(),
			chat.Message{Thread: "t", ID: "m1", User: "ann", Text: "go"})
		require.Equal(w, runtime.CodeUnavailable, runtime.CodeOf(err))
		w.reopen()
		turn, err := w.talk.Deliver(w.Context(),
			chat.Message{Thread: "t", ID: "m1", User: "ann", Text: "go"})
		require.NoError(w, err)
		require.Len(w, turn.Thread.Open, 1)
		assert.Equal(w, thread.KindSystemError, turn.Thread.Open[0].Kind)
		assert.Equal(w, "in_doubt/act", turn.Thread.Open[0].Name)
		assert.Nil(w, question(turn))
		assert.NotEmpty(w, turn.Lines, "the user reads that somebody has to look")
		assert.Len(w, w.keys["charge"], 1)
		_, err = w.talk.Deliver(w.Context(),
			chat.Message{Thread: "t", ID: "m2", User: "ann", Text: "hello?"})
		assert.Equal(w, runtime.CodeConflict, runtime.CodeOf(err))
		require.True(w, w.settle(turn.Thread))
		again, err := w.e.Thread(w.Context(), "t")
		require.NoError(w, err)
		assert.Equal(w, "X?", again.Open[0].Text)
		assert.Len(w, w.keys["charge"], 1)
		w.threads = []string{"t"}
	})
}
