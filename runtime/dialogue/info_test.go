package dialogue

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/thread"
)

func TestActionsAndValidatorsKnowWhoseConversationItIs(t *testing.T) {
	alive(t, func(w *world) {
		w.bank()
		w.run(banking())
		known := func(ctx context.Context, step string) {
			info, err := thread.InfoOf(ctx)
			require.NoError(w, err)
			assert.JSONEq(w, `{"language":"nl"}`, string(info.Metadata))
			assert.Contains(w, string(info.Previous), "balance")
			info.Metadata, info.Previous = nil, nil
			assert.Equal(w, thread.Info{
				Thread: "t", User: "ann", Turn: 2, Attempt: 1, Language: "nl", Node: "transfer",
				Step: step,
			}, info)
		}
		acts := w.dialogue
		acts.Act = func(ctx context.Context, action int, key string, input json.RawMessage) (
			json.RawMessage, error) {
			if w.dialogue.Tables.Actions[action-1].Name == "pay" {
				known(ctx, "pay")
			}
			return w.act(ctx, action, key, input)
		}
		acts.Validate = func(ctx context.Context, validator int, v json.RawMessage) (
			json.RawMessage, error) {
			known(ctx, "ask_iban")
			return w.validate(ctx, validator, v)
		}
		w.dialogue = acts
		w.reopen()
		for _, said := range [][2]string{
			{"balance", "You have 12.50."}, {"send", "IBAN?"}, {"NL1", "Amount?"},
			{"100", "Send 100.00 to NL1?"}, {"yes", "Sent: T-100."},
		} {
			turn, err := w.talk.Deliver(w.Context(),
				chat.Message{Thread: "t", User: "ann", Text: said[0],
					Metadata: map[string]string{"language": "nl"}})
			require.NoError(w, err)
			require.Equal(w, said[1], turn.Lines[len(turn.Lines)-1])
		}
		require.Equal(w, 1, w.done("pay"))
	})
}
