package dialogue

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/thread"
)

// TestNestedLoops counts the rounds of the inner loop anew in each round of the outer one.
func TestNestedLoops(t *testing.T) {
	scene(t, func(w *world) {
		inc := func(in map[string]any) (any, error) {
			return map[string]any{"n": in["n"].(float64) + 1}, nil
		}
		w.does["outer"], w.does["inner"] = inc, inc
		w.means("go", starts("nest"))
		w.run(tables([]string{"outer", "inner"}, nil,
			f{name: "nest", slots: []string{"i int default=0", "j int default=0"}, steps: []p{
				{id: "out", kind: "while", cond: when(compares("i", "<", "3")), body: "zero",
					rounds: 3,
					next:   "tell"},
				{id: "zero", kind: "set", set: []b{{name: "j", lit: "0"}}},
				{id: "in", kind: "while", cond: when(compares("j", "<", "2")), body: "j", rounds: 2,
					next: "i"},
				{id: "j", kind: "action", action: "inner", in: []b{{name: "n", from: "j"}},
					out: []b{{name: "n", slot: "j"}}, next: "in"},
				{id: "i", kind: "action", action: "outer", in: []b{{name: "n", from: "i"}},
					out: []b{{name: "n", slot: "i"}}, next: "out"},
				{id: "tell", kind: "say", text: "{i} {j}"},
			}}))
		w.hears("go", "3 2")
		assert.Equal(w, []int{3, 6}, []int{w.done("outer"), w.done("inner")})
	})
}

// TestLeavingALoop leaves from the middle of a round and comes back: the loop begins anew.
func TestLeavingALoop(t *testing.T) {
	scene(t, func(w *world) {
		w.means("go", starts("leave"))
		w.means("in", sets("way", "in"))
		w.means("out", sets("way", "out"))
		w.means("done", sets("way", "done"))
		w.run(tables(nil, nil, f{name: "leave",
			slots: []string{"way string", "on bool default=true"}, steps: []p{
				{id: "loop", kind: "while", cond: when(slotX("on")), body: "ask", rounds: 3,
					next: "bye"},
				{id: "ask", kind: "collect", slot: "way", text: "Way?", force: true},
				{id: "which", kind: "branch", arms: []arm{{compares("way", "==", `"out"`), "away"},
					{compares("way", "==", `"done"`), "off"}}, orElse: "loop", next: "loop"},
				{id: "off", kind: "set", set: []b{{name: "on", lit: "false"}}, next: "loop"},
				{id: "bye", kind: "say", text: "Bye.", next: "end"},
				{id: "away", kind: "say", text: "Away.", next: "loop"},
			}}))
		w.say("go")
		for range 3 {
			w.hears("in", "Way?")
			w.hears("in", "Way?")
			w.hears("out", "Away.", "Way?")
		}
		w.hears("in", "Way?")
		w.hears("in", "Way?")
		w.hears("in", "That went round in circles, so I stopped it.")
		w.hears("go", "Way?")
		w.hears("done", "Bye.")
	})
}

// TestConfirmInAWhile asks in every round.
func TestConfirmInAWhile(t *testing.T) {
	scene(t, func(w *world) {
		w.means("go", starts("rounds"))
		w.means("yes", yes)
		w.means("no", no)
		w.run(tables([]string{"do"}, nil,
			f{name: "rounds", slots: []string{"ok bool", "on bool default=true"}, steps: []p{
				{id: "loop", kind: "while", cond: when(slotX("on")), body: "sure", next: "end"},
				{id: "sure", kind: "confirm", slot: "ok", text: "Once more?", onYes: "act",
					onNo: "off"},
				{id: "act", kind: "action", action: "do", next: "loop"},
				{id: "off", kind: "set", set: []b{{name: "on", lit: "false"}}, next: "loop"},
			}}))
		w.hears("go", "Once more?")
		w.hears("yes", "Once more?")
		w.hears("yes", "Once more?")
		w.hears("no", "Is there anything else?")
		assert.Equal(w, 2, w.done("do"))
	})
}

// TestConfirmThatIsSet takes an arm without asking where a step has set its slot, and not where the
// value came from outside.
func TestConfirmThatIsSet(t *testing.T) {
	scene(t, func(w *world) {
		w.means("set", starts("by_step"))
		w.means("given", starts("given", "ok", true), sets("ok", true))
		w.run(tables(nil, nil, f{name: "by_step", slots: []string{"ok bool"}, steps: []p{
			{id: "pre", kind: "set", set: []b{{name: "ok", lit: "true"}}},
			{id: "sure", kind: "confirm", slot: "ok", text: "Sure?", onYes: "yes"},
			{id: "yes", kind: "say", text: "Yes."},
		}}, f{name: "given", slots: []string{"ok bool in default=true"}, steps: []p{
			{id: "sure", kind: "confirm", slot: "ok", text: "Sure?", onYes: "yes"},
			{id: "yes", kind: "say", text: "Yes."},
		}}))
		w.hears("set", "Yes.")
		w.hears("given", "There is nothing to confirm right now.", "Sure?")
	})
}

// TestOnChange goes where a confirm says after a correction, and asks again there.
func TestOnChange(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.means("actually 50", corrects("amount", 50))
		w.run(banking(func(transfer *f) {
			transfer.steps[2].onChange = "check"
			transfer.steps = append(transfer.steps, p{id: "check", kind: "say", text: "Checked.",
				next: "ask_sure"})
			transfer.steps[4].next = "end"
		}))
		w.say("send 20")
		w.say("NL1")
		w.hears("actually 50", "amount is now 50.", "Checked.", "Send 50.00 to NL1?")
		w.hears("yes", "Sent: T-50.")
	})
}

// TestPausedAtAQuestion asks again when a person has ended the pause.
func TestPausedAtAQuestion(t *testing.T) {
	alive(t, func(w *world) {
		w.bank()
		w.run(banking())
		first := question(w.hears("send", "IBAN?"))
		_, err := w.e.Escape(w.Context(), "t", thread.EscapeSafe, "boss", "wait")
		require.NoError(w, err)
		th, err := w.e.Wait(w.Context(), "t")
		require.NoError(w, err)
		require.Len(w, th.Open, 1)
		_, err = w.talk.Deliver(w.Context(), chat.Message{Thread: "t", User: "ann", Text: "NL1"})
		assert.Equal(w, runtime.CodeConflict, runtime.CodeOf(err))
		_, err = w.e.Answer(w.Context(), "t",
			thread.Answer{Interrupt: th.Open[0].ID, Value: []byte(`"continue"`), By: "boss"})
		require.NoError(w, err)
		th, err = w.e.Wait(w.Context(), "t")
		require.NoError(w, err)
		require.Len(w, th.Open, 1)
		assert.Equal(w, "IBAN?", th.Open[0].Text)
		assert.NotEqual(w, first.ID, th.Open[0].ID)
		w.hears("NL1", "Amount?")
	})
}
