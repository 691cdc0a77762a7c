package dialogue

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
)

// Each test fails if a known defect of other dialogue systems is present.

func TestEffectsBeforeAQuestionRunOnce(t *testing.T) {
	scene(t, func(w *world) {
		w.means("go", starts("two"))
		w.means("x", sets("x", "x"))
		w.run(tables([]string{"one", "other"}, nil,
			f{name: "two", slots: []string{"x string"}, steps: []p{
				{id: "a", kind: "action", action: "one"},
				{id: "said", kind: "say", text: "Once."},
				{id: "b", kind: "action", action: "other"},
				{id: "ask", kind: "collect", slot: "x", text: "X?"},
			}}))
		w.hears("go", "Once.", "X?")
		w.hears("x", "Is there anything else?")
		assert.Equal(w, []int{1, 1}, []int{w.done("one"), w.done("other")})
	})
}

func TestNoCancelsTheFlow(t *testing.T) {
	scene(t, func(w *world) {
		w.means("go", starts("block"))
		w.means("no", no)
		w.means("hm", runtime.Command{Type: "dance"})
		w.run(tables([]string{"block"}, nil,
			f{name: "block", slots: []string{"ok bool"}, steps: []p{
				{id: "sure", kind: "confirm", slot: "ok", text: "Block it?"},
				{id: "block", kind: "action", action: "block"},
			}}))
		w.hears("go", "Block it?")
		w.hears("hm", "I did not understand that.", "Block it?")
		w.hears("no", "Cancelled.")
		assert.Zero(w, w.done("block"))
	})
}

func TestReplyIsEitherSuccessOrCancelled(t *testing.T) {
	scene(t, func(w *world) {
		w.means("go", starts("quick"))
		w.means("yes", yes)
		w.run(tables([]string{"pay"}, nil, f{name: "quick", slots: []string{"ok bool"}, steps: []p{
			{id: "sure", kind: "confirm", slot: "ok", text: "Sure?", onYes: "pay", onNo: "sorry"},
			{id: "pay", kind: "action", action: "pay"},
			{id: "done", kind: "say", text: "Done.", next: "end"},
			{id: "sorry", kind: "say", text: "Transfer cancelled.", next: "cancel_flow"},
		}}))
		w.say("go")
		w.hears("yes", "Done.")
	})
}

func TestFailureIsReported(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.does["pay"] = func(map[string]any) (any, error) {
			return nil, errors.New("insufficient funds")
		}
		w.run(banking(func(transfer *f) {
			transfer.steps[3].onError = "sorry"
			transfer.steps = append(transfer.steps,
				p{id: "sorry", kind: "say", text: "Not sent: {error} ({error_code}).",
					next: "error"})
			transfer.steps[4].next = "end"
		}))
		w.say("send 20")
		w.say("NL1")
		turn := w.hears("yes", "Not sent: insufficient funds (internal).")
		assert.JSONEq(w,
			`{"flow":"transfer","outcome":"failed","failure":{"code":"internal","text":"insufficient funds"}}`, string(turn.Thread.Result))
	})
}

func TestValidatorsRun(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.means("send 20 to XX", starts("transfer", "iban", "XX"), sets("amount", -20))
		w.run(banking())
		w.hears("send 20 to XX", "That does not do: the check digits are wrong.", "IBAN?")
		w.hears("NL1", "That does not do: it is -20: at least 0.01 is needed.", "Amount?")
	})
}

func TestWhileWithAnActionEnds(t *testing.T) {
	scene(t, func(w *world) {
		w.means("alerts", starts("alerts"))
		w.does["next"] = func(in map[string]any) (any, error) {
			return map[string]any{"i": in["i"].(float64) + 1,
				"alert": "A" + string(rune('1'+int(in["i"].(float64))))}, nil
		}
		w.run(tables([]string{"next"}, nil,
			f{name: "alerts", slots: []string{"i int default=0", "alert string"}, steps: []p{
				{id: "loop", kind: "while", cond: when(compares("i", "<", "3")), body: "next",
					next: "end"},
				{id: "next", kind: "action", action: "next", in: []b{{name: "i"}},
					out: []b{{name: "i"}, {name: "alert"}}},
				{id: "show", kind: "say", text: "{alert}", next: "loop"},
			}}))
		w.hears("alerts", "A1", "A2", "A3")
	})
}

func TestPaginationGoesOnAfterPageOne(t *testing.T) {
	scene(t, func(w *world) {
		w.does["fetch"] = func(in map[string]any) (any, error) {
			return map[string]any{"page": in["page"].(float64) + 1}, nil
		}
		w.means("go", starts("list"))
		w.means("yes", yes)
		w.run(pages("collect"))
		w.hears("go", "Page 1.", "More?")
		w.hears("yes", "Page 2.", "More?")
	})
}

func TestYesAnswersOneOfTwoConfirms(t *testing.T) {
	scene(t, func(w *world) {
		confirm := func(name, action string) f {
			return f{name: name, slots: []string{"ok bool"}, steps: []p{
				{id: "sure", kind: "confirm", slot: "ok", text: name + "?", onYes: "act"},
				{id: "act", kind: "action", action: action},
			}}
		}
		w.means("par", starts("par"))
		w.means("kid", starts("kid"))
		w.means("yes", yes)
		w.run(tables([]string{"p", "k"}, nil, confirm("par", "p"), confirm("kid", "k")))
		w.hears("par", "par?")
		w.hears("kid", "kid?")
		w.hears("yes", "par?")
		assert.Equal(w, []int{0, 1}, []int{w.done("p"), w.done("k")})
	})
}

func TestValueFillsOneFrame(t *testing.T) {
	scene(t, func(w *world) {
		ask := func(name string) f {
			return f{name: name, slots: []string{"v string"}, steps: []p{
				{id: "ask", kind: "collect", slot: "v", text: name + "?"},
				{id: "tell", kind: "say", text: name + " {v}."},
			}}
		}
		w.means("f", starts("f"))
		w.means("g", starts("g"))
		for _, v := range []string{"1", "2", "3"} {
			w.means(v, sets("v", v))
		}
		w.run(tables(nil, nil, ask("f"), ask("g")))
		w.say("f")
		w.say("g")
		turn := w.hears("f", "f?")
		assert.Equal(w, []string{"f", "g", "f"}, w.stack(turn.Thread))
		w.hears("1", "f 1.", "g?")
		w.hears("2", "g 2.", "f?")
		w.hears("3", "f 3.")
	})
}

func TestFailedUnderstandingKeepsTheQuestionOpen(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.run(banking())
		w.nlu.fails.Store(true)
		w.hears("send", unavailable)
		w.nlu.fails.Store(false)
		w.hears("send", "IBAN?")
		w.nlu.fails.Store(true)
		for range 5 {
			w.hears("NL1", unavailable, "IBAN?")
		}
		w.nlu.fails.Store(false)
		turn := w.hears("balance", "You have 12.50.", "IBAN?")
		assert.Empty(w, w.slots(turn.Thread, "transfer"), "what failed is not processed later")
		w.hears("NL1", "Amount?")
	})
}

func TestCancelKeepsTheThread(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.means("fly", starts("fly"))
		w.run(banking())
		w.hears("cancel", "There is nothing to cancel.")
		w.hears("fly", "I cannot do that.")
		w.hears("balance", "You have 12.50.")
		w.hears("send", "IBAN?")
		w.hears("fly", "I cannot do that.", "IBAN?")
	})
}

func TestLinkToAnUnknownFlowIsRefused(t *testing.T) {
	t.Parallel()
	spec := tables(nil, nil, f{name: "a", steps: []p{{id: "go", kind: "link", flow: "nobody"}}})
	_, err := New(runtime.Dialogue{Tables: spec}, Config{})
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	require.ErrorContains(t, err, "flow a step go: there is no flow 0: there are 1")
}

func TestFailureStopsTheFollowingSteps(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.does["pay"] = func(map[string]any) (any, error) {
			return nil, errors.New("no route to host 10.0.0.1")
		}
		w.run(banking())
		w.say("kid")
		w.say("send 20")
		w.say("NL1")
		turn := w.hears("yes", "That did not work.", "Kid's name?")
		assert.Equal(w, []string{"kid"}, w.stack(turn.Thread), "its parent goes on")
	})
}

func TestUnusedCommandsGetAReply(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		for text, c := range map[string]runtime.Command{
			"clarify": says(runtime.CommandClarify, ""), "chat": says(runtime.CommandChitchat, ""),
			"wrong slot": sets("color", "red"),
			"yes":        yes, "no": no, "correct": corrects("iban", "NL2"),
			"own":   corrects("tid", "T-0"),
			"early": sets("sure", true),
		} {
			w.means(text, c)
		}
		w.run(banking())
		w.say("send")
		w.say("NL1")
		w.hears("clarify", "Sends money.", "Amount?")
		w.hears("chat", "I see.", "Amount?")
		w.hears("correct", "iban is now NL2.", "Amount?")
		w.hears("own", "I do not need tid here.", "Amount?")
		w.hears("early", "There is nothing to confirm right now.", "Amount?")
		w.hears("100", "Send 100.00 to NL2?")
		w.hears("no", "Cancelled.")
		w.hears("yes", "There is nothing to confirm right now.")
		w.hears("wrong slot", "I did not understand that.")
		w.hears("clarify", "I need this to go on.")
	})
}

func TestThreadOfAnotherUserIsRefused(t *testing.T) {
	alive(t, func(w *world) {
		w.bank()
		w.run(banking())
		w.to("a", "send")
		w.to("b", "balance")
		assert.Equal(w, []string{"Amount?"}, w.to("a", "NL1").Lines)
		assert.Equal(w, []string{"You have 12.50."}, w.to("b", "balance").Lines)
	})
}

func TestSameMessageIsHandledOnce(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.run(banking())
		w.say("send 20")
		w.say("NL1")
		m := chat.Message{Thread: "t", ID: "yes", User: "ann", Text: "yes"}
		first, second := w.deliver(m), w.deliver(m)
		assert.Equal(w, []string{"Sent: T-20."}, first.Lines)
		assert.Equal(w, first.Lines, second.Lines)
		assert.Equal(w, 1, w.done("pay"))
	})
}

func TestTwoStartsInOneMessageRunInOrder(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.means("send 20 and tell my balance", starts("transfer"), sets("amount", 20),
			starts("balance"))
		w.means("kid and balance", starts("kid"), starts("balance"))
		w.means("Bo", sets("name", "Bo"))
		w.run(banking())
		w.hears("send 20 and tell my balance", "IBAN?")
		w.hears("NL1", "Send 20.00 to NL1?")
		w.hears("kid and balance", "Kid's name?")
		w.hears("Bo", "Kid Bo, ok?")
		w.hears("yes", "You have 12.50.", "Send 20.00 to NL1?")
		w.hears("yes", "Sent: T-20.", "You have 12.50.")
	})
}

func TestValuesBeforeTheirFlow(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.means("20 euros to NL1, that is a transfer", sets("amount", 20), sets("iban", "NL1"),
			starts("transfer"))
		w.means("20 euros", sets("amount", 20))
		w.means("fly me, 20", starts("fly"), sets("amount", 20))
		w.run(banking())
		w.hears("20 euros to NL1, that is a transfer", "Send 20.00 to NL1?")
		turn := w.hears("fly me, 20", "I cannot do that.", "Send 20.00 to NL1?")
		assert.Equal(w, []string{"transfer"}, w.stack(turn.Thread))
		w.hears("yes", "Sent: T-20.")
		w.hears("20 euros", "I did not understand that.")
	})
}

func TestNothingIsKeptOfFlowsThatHaveEnded(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.run(banking())
		for range 3 {
			w.say("send 20")
			w.say("NL1")
			turn := w.say("yes")
			assert.Empty(w, turn.Thread.Frames)
			assert.Empty(w, turn.Thread.Open)
		}
	})
}
