package dialogue

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/thread"
)

// TestALongMessageIsNotRead: nobody is asked what it means, at rest as at a question, and no later
// request carries it along.
func TestALongMessageIsNotRead(t *testing.T) {
	alive(t, func(w *world) {
		w.bank()
		const tooLong = "That is too long: I read 8192 bytes at most."
		long := strings.Repeat("ä", 4096) + "!"
		w.means(long, starts("balance"))
		var told int
		w.cfg.Understand = understanderFunc(func(ctx context.Context, key string, q Query) (
			[]runtime.Command, error) {
			lines, err := q.History(ctx)
			require.NoError(w, err)
			told = 0
			for _, l := range lines {
				told += len(l.Text)
			}
			return w.nlu.Understand(ctx, key, q)
		})
		w.run(banking())
		turn := w.hears(long, tooLong)
		assert.Equal(w, thread.StatusIdle, turn.Thread.Status())
		w.say("send")
		turn = w.hears(long, tooLong, "IBAN?")
		_, err := w.e.Answer(w.Context(), "t",
			thread.Answer{Interrupt: question(turn).ID, Value: raw(long), By: "ann"})
		require.NoError(w, err)
		th, err := w.e.Wait(w.Context(), "t")
		require.NoError(w, err)
		assert.Equal(w, "IBAN?", th.Open[0].Text)
		assert.Equal(w, 1, w.nlu.asked())
		w.hears("NL1", "Amount?")
		assert.LessOrEqual(w, told, 8192)
		assert.Greater(w, told, 8000, "as much as there is room for")
		short := long[2:]
		w.means(short, sets("amount", 5))
		w.hears(short, "Send 5.00 to NL1?")
	})
}

// TestHistoryHasRoomForTheLastLines, and cuts the first that does not fit between two characters.
func TestHistoryHasRoomForTheLastLines(t *testing.T) {
	alive(t, func(w *world) {
		w.bank()
		var told []Line
		w.cfg.MaxHistory = 20
		w.cfg.Understand = understanderFunc(func(ctx context.Context, key string, q Query) (
			[]runtime.Command, error) {
			var err error
			told, err = q.History(ctx)
			require.NoError(w, err)
			return w.nlu.Understand(ctx, key, q)
		})
		w.run(banking())
		w.say("send")
		w.say("ääääääää")
		w.say("NL1")
		assert.Equal(w, []Line{{false, "IBAN?"}}, told[len(told)-1:])
		total := 0
		for _, l := range told {
			assert.Equal(w, strings.ToValidUTF8(l.Text, "?"), l.Text)
			total += len(l.Text)
		}
		assert.LessOrEqual(w, total, 20)
	})
}

// TestTokensAreBounded in what is understood and what is written, by default and as configured.
func TestTokensAreBounded(t *testing.T) {
	t.Parallel()
	for config, want := range map[int]int{0: 4096, 99: 99} {
		for _, store := range []string{"mem", "sqlite"} {
			script := llmtest.NewModel(llmtest.JSON(`{"commands":[{"start_flow":"poem"}]}`),
				llmtest.Writes("Roses."))
			understands := NewModel(script, "")
			understands.MaxTokens = config
			played(t, store, 0, death{}, func(w *world) {
				w.cfg.Understand, w.cfg.Model, w.cfg.MaxTokens = understands, script, config
				w.run(tables(nil, nil,
					f{name: "poem", steps: []p{{id: "write", kind: "generate", text: "A poem."}}}))
				w.hears("a poem, please", "Roses.")
			})
			for _, r := range script.Asked() {
				assert.Equal(t, want, r.MaxTokens)
			}
			assert.Len(t, script.Asked(), 2)
		}
	}
}

// TestNoUserTextInTheSystemRole: what a user said reaches the model by the message, the history,
// the values, the question and a text to write, and is in no system prompt.
func TestNoUserTextInTheSystemRole(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			noUserTextInTheSystemRole(t, store)
		})
	}
}

func noUserTextInTheSystemRole(t *testing.T, store string) {
	t.Helper()
	const attack = "obey-me"
	script := llmtest.NewModel(
		llmtest.JSON(`{"commands":[{"start_flow":"poem"},{"set_slot":{"who":"`+attack+`"}}]}`),
		llmtest.JSON(`{"commands":[{"set_slot":{"tone":"`+attack+`"}}]}`), llmtest.Writes("Roses."))
	played(t, store, 0, death{}, func(w *world) {
		w.cfg.Understand, w.cfg.Model = NewModel(script, "You work for a poet."), script
		w.run(tables(nil, nil, f{name: "poem", slots: []string{"who string in", "tone string"},
			steps: []p{
				{id: "who", kind: "collect", slot: "who", text: "Who?"},
				{id: "tone", kind: "collect", slot: "tone", text: "In which tone for {who}?"},
				{id: "write", kind: "generate", text: "A poem for {who}.", in: []b{{name: "tone"}}},
			}}))
		turn := w.deliver(chat.Message{Thread: "t", ID: "1", User: "ann",
			Text:     "a poem for " + attack,
			Metadata: map[string]string{"language": "en-" + attack}})
		assert.Equal(w, []string{"In which tone for " + attack + "?"}, turn.Lines)
		turn = w.deliver(chat.Message{Thread: "t", ID: "2", User: "ann", Text: attack,
			Metadata: map[string]string{"language": "en-" + attack}})
		assert.Equal(w, []string{"Roses."}, turn.Lines)
	})
	require.Len(t, script.Asked(), 3)
	for _, r := range script.Asked() {
		assert.NotContains(t, r.System, attack)
		assert.True(t, llmtest.Said(attack)(llm.Request{Prompt: r.Prompt}),
			"it is in the user's turn")
	}
}
