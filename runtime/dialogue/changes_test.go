package dialogue

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// A value that changes takes the flow back to the step that collects it, and on from there.

// denies is a no to one value.
func denies(slot string) runtime.Command {
	return runtime.Command{Type: runtime.CommandDeny, Slot: slot}
}

// order is a flow with a check, a lookup that does not depend on it, an effect and a confirm.
const order = `
actions:
  find: {doc: Finds a shop., inputs: {shop: {type: string}}, outputs: {street: {type: string}}}
  limit: {doc: Says whether it is much., inputs: {amount: {type: int}}, outputs: {much: {type: bool}}}
  reserve: {doc: Reserves., inputs: {shop: {type: string}, amount: {type: int}}}
  pay: {doc: Pays., inputs: {shop: {type: string}, amount: {type: int}}, once: %t}
flows:
  order:
    slots:
      shop: {type: string}
      street: {type: string}
      amount: {type: int}
      much: {type: bool}
      code: {type: string}
      note: {type: string}
      sure: {type: bool}
      rating: {type: string}
    steps:
      - {step: ask_shop, type: collect, slot: shop, message: "Shop?"}
      - {step: find, type: action, call: find}
      - {step: where, type: say, message: "It is in {street}."}
      - {step: ask_amount, type: collect, slot: amount, message: "Amount?"}
      - {step: limit, type: action, call: limit}
      - {step: above, type: branch, cases: [{if: much, then: ask_code}], else: reserve}
      - {step: ask_code, type: collect, slot: code, message: "Code?", force: true}
      - {step: reserve, type: action, call: reserve}
      - {step: ask_note, type: collect, slot: note, message: "Note?"}
      - {step: sure, type: confirm, slot: sure, message: "{amount} at {shop}, {note}?", on_yes: pay}
      - {step: pay, type: action, call: pay}
      - {step: paid, type: say, message: "Paid {amount}."}
      - {step: ask_rating, type: collect, slot: rating, message: "Rating?"}
      - {step: bye, type: say, message: "Bye."}
`

// ordering is a world with that flow, and messages that name a slot and a value.
func (w *world) ordering(once bool) {
	w.does["find"] = func(in map[string]any) (any, error) {
		return map[string]any{"street": in["shop"].(string) + " Street"}, nil
	}
	w.does["limit"] = func(in map[string]any) (any, error) {
		return map[string]any{"much": in["amount"].(float64) > 100}, nil
	}
	w.means("go", starts("order"))
	w.means("yes", yes)
	w.means("no", no)
	for _, shop := range []string{"A", "B"} {
		w.means("shop "+shop, sets("shop", shop))
		w.means("rather "+shop, corrects("shop", shop))
	}
	for _, n := range []int{5, 6, 500, 600} {
		text := strconv.Itoa(n)
		w.means(text, sets("amount", n))
		w.means("rather "+text, corrects("amount", n))
		w.means("yes, but "+text, yes, corrects("amount", n))
	}
	w.means("x", sets("note", "x"))
	w.means("y", sets("note", "y"))
	w.means("x, and rather 500", sets("note", "x"), corrects("amount", 500))
	w.means("code", sets("code", "c"))
	w.means("another amount", clears("amount"))
	w.means("no, another amount", denies("amount"))
	w.means("another note", clears("note"))
	w.means("rather B, and another amount", corrects("shop", "B"), clears("amount"))
	w.means("good", sets("rating", "good"))
	w.run(planned(w.T, fmt.Sprintf(order, once)))
}

func TestAChangeRunsTheChecksAgain(t *testing.T) {
	scene(t, func(w *world) {
		w.ordering(false)
		w.hears("go", "Shop?")
		w.hears("shop A", "It is in A Street.", "Amount?")
		w.hears("5", "Note?")
		w.hears("rather 500", "amount is now 500.", "Code?")
		w.hears("rather 6", "amount is now 6.", "Note?")
		w.hears("another amount", "Amount?")
		w.hears("500", "Code?")
		w.hears("code", "Note?")
		w.hears("x", "500 at A, x?")
		w.hears("yes, but 600", "amount is now 600.", "600 at A, x?")
		assert.Equal(w, []int{1, 5, 4, 0}, []int{w.done("find"), w.done("limit"), w.done("reserve"),
			w.done("pay")})
		w.hears("rather B", "shop is now B.", "It is in B Street.", "600 at B, x?")
		w.hears("rather B", "shop is now B.", "600 at B, x?")
		assert.Equal(w, []int{2, 5, 5, 0}, []int{w.done("find"), w.done("limit"), w.done("reserve"),
			w.done("pay")})
		w.hears("no, another amount", "Amount?")
		w.hears("600", "600 at B, x?")
		assert.Equal(w, []int{2, 5, 5, 0}, []int{w.done("find"), w.done("limit"), w.done("reserve"),
			w.done("pay")})
		w.hears("yes", "Paid 600.", "Rating?")
		assert.Equal(w, 1, w.done("pay"))
	})
}

func TestAnAnswerAndAChangeInOneMessage(t *testing.T) {
	scene(t, func(w *world) {
		w.ordering(false)
		w.say("go")
		w.say("shop A")
		w.say("5")
		w.hears("x, and rather 500", "amount is now 500.", "Code?")
		w.hears("code", "500 at A, x?")
		w.hears("rather B, and another amount", "shop is now B.", "It is in B Street.", "Amount?")
		w.hears("5", "5 at B, x?")
	})
}

// TestWhatComesLaterCanBeChangedOnTheWay: the note was given, and is not asked for yet.
func TestWhatComesLaterCanBeChangedOnTheWay(t *testing.T) {
	scene(t, func(w *world) {
		w.ordering(false)
		for _, text := range []string{"go", "shop A", "5", "x"} {
			w.say(text)
		}
		w.hears("rather 500", "amount is now 500.", "Code?")
		w.hears("y", "Code?")
		w.hears("code", "500 at A, y?")
		w.hears("rather 5", "amount is now 5.", "5 at A, y?")
		w.hears("rather 600", "amount is now 600.", "600 at A, y?")
		w.hears("another amount", "Amount?")
		w.hears("another note", "Amount?")
		w.hears("5", "Note?")
	})
}

// TestAOnceActionStands: what has been paid is not paid again, whatever changes.
func TestAOnceActionStands(t *testing.T) {
	alive(t, func(w *world) {
		w.ordering(true)
		for _, text := range []string{"go", "shop A", "5", "x"} {
			w.say(text)
		}
		w.hears("yes", "Paid 5.", "Rating?")
		const late = "amount stays as it is: it has been acted on."
		w.hears("rather 500", late, "Rating?")
		w.hears("another amount", late, "Rating?")
		w.hears("rather B", "shop stays as it is: it has been acted on.", "Rating?")
		w.hears("another note", "Note?") // it was not paid with that
		w.hears("y", "5 at A, y?")
		w.hears("yes", "Rating?")
		assert.Equal(w, 1, w.done("pay"))
		w.hears("good", "Bye.")
		w.hears("go", "Shop?")
	})
}

// TestAOnceActionIsNotRepeatedWithOtherValues: what it was given depends on the change, and only
// the step that computes it knows.
func TestAOnceActionIsNotRepeatedWithOtherValues(t *testing.T) {
	alive(t, func(w *world) {
		w.does["price"] = func(in map[string]any) (any, error) {
			return map[string]any{"sum": in["n"].(float64) * 2}, nil
		}
		w.means("go", starts("buy"))
		w.means("yes", yes)
		w.means("3", sets("n", 3))
		w.means("rather 4", corrects("n", 4))
		w.run(planned(w.T, `
actions:
  price: {doc: The price., inputs: {n: {type: int}}, outputs: {sum: {type: int}}}
  pay: {doc: Pays., inputs: {sum: {type: int}}, once: true}
flows:
  buy:
    slots: {n: {type: int}, sum: {type: int}, sure: {type: bool}, note: {type: string}}
    steps:
      - {step: ask_n, type: collect, slot: n, message: "How many?"}
      - {step: price, type: action, call: price}
      - {step: sure, type: confirm, slot: sure, message: "Pay {sum}?", on_yes: pay}
      - {step: pay, type: action, call: pay, on_error: sorry}
      - {step: ask_note, type: collect, slot: note, message: "Note?", next: end}
      - {step: sorry, type: say, message: "Not paid: {error}.", next: sure}
`))
		w.say("go")
		w.say("3")
		w.hears("yes", "Note?")
		w.hears("rather 4", "n is now 4.", "Pay 8?")
		for range 2 {
			w.hears("yes", "Not paid: it has been done already, with other values.", "Pay 8?")
		}
		assert.Equal(w, 1, w.done("pay"))
	})
}

// TestAOnceActionOfAnEarlierRound: the loop would begin anew, and pay again.
func TestAOnceActionOfAnEarlierRound(t *testing.T) {
	alive(t, func(w *world) {
		w.does["pay"] = func(in map[string]any) (any, error) {
			return map[string]any{"n": in["n"].(float64) + 1}, nil
		}
		w.means("go", starts("buy"))
		w.means("to A", sets("who", "A"))
		w.means("rather B", corrects("who", "B"))
		w.means("rather A", corrects("who", "A"))
		w.means("red", sets("color", "red"))
		w.means("blue", sets("color", "blue"))
		w.means("big", sets("size", "big"))
		w.means("rather blue", corrects("color", "blue"))
		w.run(planned(w.T, `
actions:
  pay: {doc: Pays., inputs: {n: {type: int}}, outputs: {n: {type: int}}, once: true}
flows:
  buy:
    slots: {who: {type: string}, n: {type: int, default: 0}, color: {type: string}, size: {type: string}}
    steps:
      - {step: ask_who, type: collect, slot: who, message: "Who?"}
      - step: each
        type: while
        condition: n < 2
        do:
          - {step: ask_color, type: collect, slot: color, message: "Color {n}?", force: true}
          - {step: ask_size, type: collect, slot: size, message: "Size {n}?", force: true}
          - {step: pay, type: action, call: pay}
      - {step: tell, type: say, message: "{n} {color} for {who}."}
`))
		w.say("go")
		w.hears("to A", "Color 0?")
		w.hears("rather B", "who is now B.", "Color 0?")
		w.hears("red", "Size 0?")
		w.hears("rather blue", "color is now blue.", "Size 0?")
		w.hears("big", "Color 1?")
		w.hears("rather A", "who is now A.", "Color 1?") // the first round is known still
		w.hears("red", "Size 1?")
		w.hears("rather B", "who stays as it is: it has been acted on.", "Size 1?")
		w.hears("rather blue", "color is now blue.", "Size 1?")
		w.hears("big", "2 blue for A.")
		assert.Equal(w, 2, w.done("pay"))
	})
}

// TestAValueThatTheFlowFilled: an action or a set step has filled the slot, and no step has asked
// for it.
func TestAValueThatTheFlowFilled(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]string{
		"action": "{step: fill, type: action, call: lookup}",
		"set":    "{step: fill, type: set, values: {address: Main Street}}",
	} {
		t.Run(name, func(t *testing.T) {
			scene(t, func(w *world) {
				w.does["lookup"] = func(map[string]any) (any, error) {
					return map[string]any{"address": "Main Street"}, nil
				}
				w.does["far"] = func(in map[string]any) (any, error) {
					return map[string]any{"far": in["address"] == "Moon"}, nil
				}
				w.means("go", starts("ship"))
				w.means("yes", yes)
				w.means("blue", sets("color", "blue"))
				w.means("rather red", corrects("color", "red"))
				w.means("to the moon", corrects("address", "Moon"))
				w.means("elsewhere", denies("address"))
				w.means("Mars", sets("address", "Mars"))
				w.run(planned(w.T, `
actions:
  lookup: {doc: Finds it., outputs: {address: {type: string}}}
  far: {doc: Judges., inputs: {address: {type: string}}, outputs: {far: {type: bool}}}
flows:
  ship:
    slots: {color: {type: string}, address: {type: string}, far: {type: bool}, sure: {type: bool}}
    steps:
      - {step: ask_color, type: collect, slot: color, message: "Color?"}
      - `+step+`
      - {step: known, type: branch, cases: [{if: filled(address), then: far}], else: ask_address}
      - {step: ask_address, type: collect, slot: address, message: "Address?"}
      - {step: far, type: action, call: far}
      - {step: extra, type: say, message: "That costs more.", when: far}
      - {step: sure, type: confirm, slot: sure, message: "{color} to {address}?"}
`))
				w.say("go")
				w.hears("blue", "blue to Main Street?")
				w.hears("to the moon", "address is now Moon.", "That costs more.", "blue to Moon?")
				w.hears("rather red", "color is now red.", "red to Moon?")
				w.hears("elsewhere", "Address?")
				w.hears("Mars", "red to Mars?")
				w.hears("rather red", "color is now red.", "red to Mars?")
				assert.Equal(w, 3, w.done("far"))
			})
		})
	}
}

// TestInputWithoutACollectStep may have been looked at from the first step on.
func TestInputWithoutACollectStep(t *testing.T) {
	scene(t, func(w *world) {
		w.means("go", starts("send"))
		w.means("send 5", starts("send", "amount", 5))
		w.means("yes", yes)
		w.means("Ann", sets("who", "Ann"))
		w.means("500", sets("amount", 500))
		w.means("code", sets("code", "c"))
		w.means("yes, and make it 500", yes, sets("amount", 500))
		w.run(planned(w.T, `
flows:
  send:
    trigger: {intents: [send]}
    slots: {amount: {type: int}, who: {type: string}, code: {type: string}, sure: {type: bool}}
    inputs: ["amount?"]
    steps:
      - {step: above, type: branch, cases: [{if: amount > 100, then: ask_code}], else: ask_who}
      - {step: ask_code, type: collect, slot: code, message: "Code?"}
      - {step: ask_who, type: collect, slot: who, message: "Who?"}
      - {step: sure, type: confirm, slot: sure, message: "{amount} to {who}?", on_yes: end}
`))
		w.hears("go", "Who?")
		w.hears("500", "Code?")
		w.hears("code", "Who?")
		w.say("Ann")
		w.hears("yes", "Is there anything else?")
		w.hears("send 5", "Who?")
		w.hears("Ann", "5 to Ann?")
		w.hears("yes, and make it 500", "amount is now 500.", "Code?")
		w.hears("code", "500 to Ann?")
	})
}

// TestACalledFlowIsCalledAgain only when it is given something else, and not where it did what must
// not happen twice.
func TestACalledFlowIsCalledAgain(t *testing.T) {
	t.Parallel()
	for _, once := range []bool{false, true} {
		t.Run("once "+strconv.FormatBool(once), func(t *testing.T) {
			alive(t, func(w *world) {
				w.means("go", starts("shop"))
				w.means("3", sets("n", 3))
				w.means("rather 4", corrects("n", 4))
				w.means("A", sets("name", "A"))
				w.means("yes", yes)
				w.run(planned(w.T, `
actions: {pay: {doc: Pays., inputs: {n: {type: int}}, once: `+strconv.FormatBool(once)+`}}
flows:
  shop:
    slots: {n: {type: int}, name: {type: string}, note: {type: string}}
    steps:
      - {step: ask_n, type: collect, slot: n, message: "How many?"}
      - {step: paying, type: call, flow: paying, inputs: {n: n}, outputs: {name: name}}
      - {step: ask_note, type: collect, slot: note, message: "Note, {name}?"}
  paying:
    slots: {n: {type: int}, name: {type: string}}
    inputs: [n]
    outputs: [name]
    steps:
      - {step: ask_name, type: collect, slot: name, message: "Name?"}
      - {step: pay, type: action, call: pay}
`))
				w.say("go")
				w.hears("3", "Name?")
				w.hears("A", "Note, A?")
				if once {
					w.hears("rather 4", "n stays as it is: it has been acted on.", "Note, A?")
					assert.Equal(w, 1, w.done("pay"))
					return
				}
				w.hears("rather 4", "n is now 4.", "Name?")
				w.hears("A", "Note, A?")
				assert.Equal(w, 2, w.done("pay"))
			})
		})
	}
}

// TestAConfirmBeforeTheChangeStands, since it did not show what has changed.
func TestAConfirmBeforeTheChangeStands(t *testing.T) {
	scene(t, func(w *world) {
		w.means("go", starts("join"))
		w.means("yes", yes)
		w.means("5", sets("n", 5))
		w.means("rather 6", corrects("n", 6))
		w.run(planned(w.T, `
flows:
  join:
    slots: {terms: {type: bool}, n: {type: int}, fine: {type: bool}, sure: {type: bool}}
    steps:
      - {step: terms, type: confirm, slot: terms, message: "Terms?"}
      - {step: ask_n, type: collect, slot: n, message: "N?"}
      - {step: fine, type: confirm, slot: fine, message: "Is {n} fine?"}
      - {step: sure, type: confirm, slot: sure, message: "Sure?"}
      - {step: tell, type: say, message: "{n}, terms {terms}, fine {fine}."}
`))
		w.say("go")
		w.say("yes")
		w.say("5")
		w.hears("yes", "Sure?")
		w.hears("rather 6", "n is now 6.", "Is 6 fine?")
		w.hears("yes", "Sure?")
		w.hears("yes", "6, terms true, fine true.")
	})
}

// TestAFrameWithoutATrail was stored by a program that did not keep one: it begins at its first
// step.
func TestAFrameWithoutATrail(t *testing.T) {
	t.Parallel()
	w := at(t, "iban", "NL1", "amount", 5)
	require.Empty(t, w.s.trail)
	w.input = stepInput{kind: inputCommands, commands: []runtime.Command{corrects("amount", 7)}}
	mv := w.runSteps(w.f.byStep["ask_sure"])
	assert.Equal(t, "Send 7.00 to NL1?", mv.text)
	w.input = stepInput{kind: inputCommands, commands: []runtime.Command{clears("amount")}}
	mv = w.runSteps(w.f.byStep["ask_sure"])
	assert.Equal(t, "Amount?", mv.text)
}

// TestForceAsksForWhatWasOffered: what was said before the question is no answer to it.
func TestForceAsksForWhatWasOffered(t *testing.T) {
	scene(t, func(w *world) {
		w.means("lost, and nobody used it", starts("card"), sets("why", "lost"),
			sets("used", false))
		w.means("lost, nobody used it, with slots", starts("card", "why", "lost", "used", false))
		w.means("debit", sets("kind", "debit"))
		w.means("debit, used", sets("kind", "debit"), sets("used", true))
		w.means("no", no)
		w.run(planned(w.T, `
flows:
  card:
    slots: {kind: {type: string}, why: {type: string}, used: {type: bool}}
    inputs: ["why?", "used?"]
    steps:
      - {step: ask_kind, type: collect, slot: kind, message: "Kind?"}
      - {step: ask_why, type: collect, slot: why, message: "Why?"}
      - {step: ask_used, type: collect, slot: used, message: "Did somebody use it?", force: true}
      - {step: tell, type: say, message: "{kind}, {why}, used: {used}."}
`))
		for _, begin := range []string{"lost, and nobody used it",
			"lost, nobody used it, with slots"} {
			for _, kind := range []string{"debit", "debit, used"} {
				w.hears(begin, "Kind?")
				w.hears(kind, "Did somebody use it?")
				w.hears("no", "debit, lost, used: false.")
			}
		}
	})
}
