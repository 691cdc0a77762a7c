package dialogue

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/thread"
)

func TestCrashAfterCommitBeforeReply(t *testing.T) {
	alive(t, func(w *world) {
		w.means("go", starts("buy"))
		w.run(charging(""))
		first := w.to("t", "go")
		w.reopen()
		again := w.deliver(chat.Message{Thread: "t", ID: "m1", User: "ann", Text: "go"})
		assert.Equal(w, []string{"Hello.", "X?"}, again.Lines)
		assert.Equal(w, question(first).ID, question(again).ID)
		var messages int
		for _, e := range w.log("t") {
			if e.Type == thread.EntryMessage {
				messages++
			}
		}
		assert.Equal(w, 1, messages, "the reply is in the outbox once")
		assert.Len(w, w.keys["charge"], 1)
		assert.Equal(w, 1, w.nlu.asked())
	})
}

// TestSameMessageAfterACrashInAnyCommit is the same message again after a death in any commit,
// stored or not.
func TestSameMessageAfterACrashInAnyCommit(t *testing.T) {
	scene(t, func(w *world) {
		w.means("go", starts("buy"))
		w.run(charging(""))
		first := w.say("go")
		again := w.deliver(chat.Message{Thread: "t", ID: "m1", User: "ann", Text: "go"})
		assert.Equal(w, []string{"Hello.", "X?"}, again.Lines)
		assert.Equal(w, question(first).ID, question(again).ID)
		assert.Equal(w, 1, w.done("charge"))
	})
}

// banking are a transfer and what one may ask beside it.
func banking(change ...func(transfer *f)) *runtime.FlowTables {
	transfer := f{
		name: "transfer", intents: "send money", doc: "Sends money.",
		slots: []string{"iban string in", "amount float min=0.01 in", "note string", "sure bool",
			"tid string out"},
		docs: map[string]string{"iban": "An IBAN is the number of an account."},
		steps: []p{
			{id: "ask_iban", kind: "collect", slot: "iban", text: "IBAN?", check: "iban"},
			{id: "ask_amount", kind: "collect", slot: "amount", text: "Amount?"},
			{id: "ask_sure", kind: "confirm", slot: "sure", text: "Send {amount:2} to {iban}?",
				onYes: "pay"},
			{id: "pay", kind: "action", action: "pay", in: []b{{name: "amount"}, {name: "iban"}},
				out: []b{{name: "tid"}}},
			{id: "done", kind: "say", text: "Sent: {tid}."},
		},
	}
	for _, c := range change {
		c(&transfer)
	}
	return tables([]string{"pay", "get_balance"}, []string{"iban"}, transfer, f{
		name: "balance", intents: "my balance", slots: []string{"current float out"}, steps: []p{
			{id: "get", kind: "action", action: "get_balance", out: []b{{name: "current"}}},
			{id: "tell", kind: "say", text: "You have {current:2}."},
		},
	}, f{
		name: "kid", slots: []string{"name string", "ok bool"}, steps: []p{
			{id: "k", kind: "collect", slot: "name", text: "Kid's name?"},
			{id: "c", kind: "confirm", slot: "ok", text: "Kid {name}, ok?", onYes: "end"},
		},
	})
}

// bank is a world with the tables of banking and messages that everybody understands.
func (w *world) bank() {
	w.does["get_balance"] = func(map[string]any) (any, error) {
		return map[string]any{"current": 12.5}, nil
	}
	w.does["pay"] = func(in map[string]any) (any, error) {
		return map[string]any{"tid": fmt.Sprintf("T-%v", in["amount"])}, nil
	}
	w.checks["iban"] = func(v any) (any, error) {
		if v != "NL1" && v != "NL2" {
			return nil, errors.New("the check digits are wrong")
		}
		return v, nil
	}
	w.means("send", starts("transfer"))
	w.means("send 20", starts("transfer"), sets("amount", 20))
	w.means("balance", starts("balance"))
	w.means("kid", starts("kid"))
	w.means("NL1", sets("iban", "NL1"))
	w.means("bad iban", sets("iban", "XX"))
	w.means("100", sets("amount", 100))
	w.means("-5", sets("amount", -5))
	w.means("yes", yes)
	w.means("no", no)
	w.means("cancel", cancels)
}

func TestDigressionReturnsToTheQuestion(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.run(banking())
		w.hears("send", "IBAN?")
		w.hears("NL1", "Amount?")
		turn := w.hears("balance", "You have 12.50.", "Amount?")
		assert.Equal(w, []string{"transfer"}, w.stack(turn.Thread))
		assert.Equal(w, `"NL1"`, string(w.slots(turn.Thread, "transfer")["iban"]))
		assert.Equal(w, 1, w.done("get_balance"))
	})
}

func TestSameSlotNamesInTwoFlows(t *testing.T) {
	scene(t, func(w *world) {
		w.means("par", starts("par"))
		w.means("kid", starts("kid"))
		w.means("Bo", sets("name", "Bo"))
		w.means("Al", sets("name", "Al"))
		same := []p{{id: "k", kind: "collect", slot: "name"}, {id: "end_it", kind: "say"}}
		flow := func(name string) f {
			steps := []p{same[0], same[1]}
			steps[0].text, steps[1].text = name+" name?", name+" is {name}."
			return f{name: name, slots: []string{"name string"}, steps: steps}
		}
		w.run(tables(nil, nil, flow("par"), flow("kid")))
		w.hears("par", "par name?")
		turn := w.hears("kid", "kid name?")
		assert.Equal(w, []string{"par", "kid"}, w.stack(turn.Thread))
		turn = w.hears("Bo", "kid is Bo.", "par name?")
		assert.Empty(w, w.slots(turn.Thread, "par"), "the answer filled the slot of one frame")
		w.hears("Al", "par is Al.")
	})
}

func TestStartOfTheActiveFlowAsksAgain(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.run(banking())
		w.say("send")
		w.say("NL1")
		turn := w.hears("send", "Amount?")
		assert.Equal(w, []string{"transfer"}, w.stack(turn.Thread))
		assert.Equal(w, `"NL1"`, string(w.slots(turn.Thread, "transfer")["iban"]))
		w.hears("send 20", "Send 20.00 to NL1?")
	})
}

func TestYesIsUsedOnce(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.means("Bo", sets("name", "Bo"))
		w.means("yes, and yes", yes, yes)
		w.run(banking())
		w.say("send 20")
		w.hears("NL1", "Send 20.00 to NL1?")
		w.hears("kid", "Kid's name?")
		w.hears("Bo", "Kid Bo, ok?")
		w.hears("yes, and yes", "There is nothing to confirm right now.", "Send 20.00 to NL1?")
		assert.Zero(w, w.done("pay"))
		w.hears("yes", "Sent: T-20.")
		assert.Equal(w, 1, w.done("pay"))
	})
}

func TestNoRunsNoAction(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.run(banking())
		w.say("send 20")
		w.say("NL1")
		turn := w.hears("no", "Cancelled.")
		assert.Equal(w, thread.StatusIdle, turn.Thread.Status())
		assert.JSONEq(w, `{"flow":"transfer","outcome":"cancelled"}`, string(turn.Thread.Result))
		assert.Zero(w, w.done("pay"))
	})
}

func TestCorrectionChangesASlot(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.means("actually 50", corrects("amount", 50))
		w.means("no, 60", no, corrects("amount", 60))
		w.means("yes but 70", yes, corrects("amount", 70))
		w.means("other iban", corrects("iban", "NL2"))
		w.means("wrong iban", corrects("iban", "XX"))
		w.run(banking())
		w.say("send")
		w.say("NL1")
		w.hears("other iban", "iban is now NL2.", "Amount?")
		turn := w.hears("wrong iban", "iban stays as it is: the check digits are wrong.", "Amount?")
		assert.Equal(w, `"NL2"`, string(w.slots(turn.Thread, "transfer")["iban"]))
		w.hears("100", "Send 100.00 to NL2?")
		w.hears("actually 50", "amount is now 50.", "Send 50.00 to NL2?")
		w.hears("no, 60", "amount is now 60.", "Send 60.00 to NL2?")
		w.hears("yes but 70", "amount is now 70.", "Send 70.00 to NL2?")
		assert.Zero(w, w.done("pay"))
		w.hears("yes", "Sent: T-70.")
	})
}

func TestClearedSlotIsAskedForAgain(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.means("change the amount", runtime.Command{Type: runtime.CommandDeny, Slot: "amount"})
		w.means("drop the iban", clears("iban"))
		w.run(banking())
		w.say("send 20")
		w.say("NL1")
		w.hears("change the amount", "Amount?")
		w.hears("100", "Send 100.00 to NL1?")
		w.hears("drop the iban", "IBAN?")
		w.hears("NL1", "Send 100.00 to NL1?")
		w.hears("yes", "Sent: T-100.")
	})
}

func TestInvalidAnswersAreLimited(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.run(banking(func(transfer *f) {
			transfer.steps[1].invalid, transfer.steps[1].onInvalid = "Not {value}: {reason}.",
				"done"
		}))
		w.say("send")
		w.hears("bad iban", "That does not do: the check digits are wrong.", "IBAN?")
		w.say("NL1")
		const wrong = "Not -5: it is -5: at least 0.01 is needed."
		turn := w.hears("-5", wrong, "Amount?")
		assert.NotContains(w, w.slots(turn.Thread, "transfer"), "amount")
		w.hears("-5", wrong, "Amount?")
		w.hears("-5", wrong, "Sent: .")
	})
}

func TestZeroAndFalseAreFilled(t *testing.T) {
	scene(t, func(w *world) {
		w.means("go", starts("zero"))
		w.means("0", sets("n", 0))
		w.means("off", sets("on", false))
		w.means("empty", sets("text", ""))
		w.run(tables(nil, nil, f{name: "zero",
			slots: []string{"n int", "on bool", "m int default=0"}, steps: []p{
				{id: "a", kind: "collect", slot: "n", text: "N?"},
				{id: "b", kind: "collect", slot: "on", text: "On?"},
				{id: "c", kind: "collect", slot: "m", text: "M?"},
				{id: "d", kind: "branch",
					arms: []arm{{both(filledX("n"), filledX("on"), filledX("m")), "e"}},
					next: "cancel_flow"},
				{id: "e", kind: "say", text: "{n} {on} {m}"},
			}}))
		w.say("go")
		w.hears("0", "On?")
		w.hears("off", "0 false 0")
	})
}
