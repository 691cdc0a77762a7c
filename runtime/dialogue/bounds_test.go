package dialogue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// What goes on without a question comes to an end, and without an end nothing runs more often than
// its bound says.

const roundInCircles = "That went round in circles, so I stopped it."

// leavesAndComesBack is a loop whose round leads out and, over another step, in again. It never
// ends by its condition.
const leavesAndComesBack = `
actions: {ping: {doc: Counts.}}
flows:
  go:
    slots: {n: {type: int, default: 0}}
    steps:
      - step: w
        type: while
        condition: n < 3
        max_rounds: 5
        next: %s
        do:
          - {step: act, type: action, call: ping}
          - {step: b, type: branch, cases: [{if: n < 2, then: out}]}
      %s
      - {step: out, type: set, values: {n: 1}, next: w}
`

func TestRoundsCountAcrossLeaving(t *testing.T) {
	t.Parallel()
	for next, fin := range map[string]string{"fin": "- {step: fin, type: say, message: Done., " +
		"next: end}", "end": ""} {
		t.Run(next, func(t *testing.T) {
			scene(t, func(w *world) {
				w.means("go", starts("go"))
				w.run(planned(w.T, fmt.Sprintf(leavesAndComesBack, next, fin)))
				turn := w.hears("go", roundInCircles)
				assert.Equal(w, 5, w.done("ping"))
				assert.Contains(w, string(turn.Thread.Result), `"code":"loop"`)
			})
		})
	}
}

// TestRoundsCountAcrossOnError: a loop that has come to its rounds stays at its end when the flow's
// on_error leads back to it.
func TestRoundsCountAcrossOnError(t *testing.T) {
	alive(t, func(w *world) {
		w.means("go", starts("go"))
		spec := fmt.Sprintf(leavesAndComesBack, "fin",
			"- {step: fin, type: say, message: Done., next: end}")
		w.run(planned(w.T, strings.Replace(spec, "    slots:", "    on_error: out\n    slots:", 1)))
		w.hears("go", roundInCircles, roundInCircles)
		assert.Equal(w, 5, w.done("ping"))
	})
}

// TestRoundsBeginAnewAfterAQuestion asks on the way: in the loop, outside of it, or in a flow that
// the loop calls. Each time there are all rounds again.
func TestRoundsBeginAnewAfterAQuestion(t *testing.T) {
	t.Parallel()
	const ask, call = "{step: more, type: collect, slot: more, message: 'More?', force: true}",
		"{step: more, type: call, flow: asks}"
	for name, c := range map[string]struct{ inside, outside string }{
		"inside": {inside: ask}, "outside": {outside: ask}, "in a called flow": {inside: call},
		"in a flow called outside": {outside: call},
	} {
		t.Run(name, func(t *testing.T) {
			scene(t, func(w *world) {
				w.means("go", starts("go"))
				w.means("a", sets("more", "a"))
				var in, out string
				if c.inside != "" {
					in = "- " + c.inside
				}
				if c.outside != "" {
					out = "- " + c.outside
				}
				w.run(planned(w.T, fmt.Sprintf(`
actions: {ping: {doc: Counts.}}
flows:
  go:
    slots: {n: {type: int, default: 0}, more: {type: string}}
    steps:
      - step: w
        type: while
        condition: n < 3
        max_rounds: 1
        do:
          - {step: act, type: action, call: ping}
          %s
          - {step: leave, type: branch, cases: [{if: n < 2, then: out}]}
      - {step: fin, type: say, message: Done., next: end}
      - {step: out, type: set, values: {n: 1}}
      %s
      - {step: again, type: branch, cases: [{if: n < 3, then: w}]}
  asks:
    trigger: {intents: [ask me]}
    slots: {more: {type: string}}
    steps:
      - {step: more, type: collect, slot: more, message: 'More?', force: true}
`, in, out)))
				w.hears("go", "More?")
				for range 4 {
					w.hears("a", "More?")
				}
				assert.Equal(w, 5, w.done("ping"))
			})
		})
	}
}

// nested is a loop without an end around one that asks in every round, or, with a third, around one
// around one.
const nested = `
flows:
  go:
    slots: {more: {type: bool, default: true}, ever: {type: bool, default: true}}
    steps:
      - step: outer
        type: while
        condition: ever
        max_rounds: 3
        do:
          - {step: one, type: say, message: Outer.}
          - step: middle
            type: while
            condition: ever
            max_rounds: 2
            do:
              - {step: two, type: set, values: {more: true}}
              - step: inner
                type: while
                condition: more
                max_rounds: 4
                do:
                  - {step: ask, type: collect, slot: more, message: 'More?', force: true}
              - {step: leave, type: branch, cases: [{if: filled(more), then: %s}]}
`

// TestTheOuterLoopCounts: a question in a loop is one in all the loops around it, and none of them
// begins anew for that.
func TestTheOuterLoopCounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		to   string
		want []string // after each no
	}{
		"from the middle": {"middle", []string{"More?", roundInCircles}},
		"from the outer":  {"outer", []string{"Outer. More?", "Outer. More?", roundInCircles}},
	} {
		t.Run(name, func(t *testing.T) {
			scene(t, func(w *world) {
				w.means("go", starts("go"))
				w.means("yes", sets("more", true))
				w.means("no", sets("more", false))
				w.run(planned(w.T, fmt.Sprintf(nested, c.to)))
				w.hears("go", "Outer.", "More?")
				for _, want := range c.want {
					w.hears("yes", "More?")
					w.hears("yes", "More?")
					assert.Equal(w, want, strings.Join(w.say("no").Lines, " "))
				}
			})
		})
	}
}

// TestInnerLoopsBeginAnewInEachRound: nothing is asked, and the rounds of the innermost loop are
// those of one round of the others. It is left before its condition ends it.
func TestInnerLoopsBeginAnewInEachRound(t *testing.T) {
	scene(t, func(w *world) {
		w.does["inc"] = func(in map[string]any) (any, error) {
			return map[string]any{"n": in["n"].(float64) + 1}, nil
		}
		w.means("go", starts("go"))
		w.run(planned(w.T, `
actions: {inc: {doc: Adds one., inputs: {n: {type: int}}, outputs: {n: {type: int}}}}
flows:
  go:
    slots: {n: {type: int, default: 0}, ever: {type: bool, default: true}}
    steps:
      - step: outer
        type: while
        condition: n < 6
        max_rounds: 6
        do:
          - step: middle
            type: while
            condition: ever
            do:
              - step: inner
                type: while
                condition: ever
                max_rounds: 1
                do:
                  - {step: inc, type: action, call: inc, inputs: {n: n}, outputs: {n: n}}
                  - {step: leave, type: branch, cases: [{if: n > 0, then: outer}]}
      - {step: tell, type: say, message: "It is {n}."}
`))
		w.hears("go", "It is 6.")
	})
}

// TestEffectsWithoutAQuestion: a circle of actions ends at a hundred, whatever it is made of, and
// begins anew after a question.
func TestEffectsWithoutAQuestion(t *testing.T) {
	t.Parallel()
	const back = `
      - {step: act, type: action, call: ping}
      - {step: b, type: branch, cases: [{if: n < 2, then: act}]}`
	const sub = `
  sub:
    slots: {n: {type: int, default: 0}}
    steps:
      - {step: act, type: action, call: ping}
      %s
`
	for name, steps := range map[string]string{
		"a back jump": back,
		"on error":    "\n      - {step: act, type: action, call: fails, on_error: act}",
		"a call": "\n      - {step: call, type: call, flow: sub}\n      - {step: b, type: " +
			"branch, cases: [{if: n < 2, then: call}]}" + fmt.Sprintf(sub, ""),
		"links": "\n      - {step: to, type: link, flow: sub}" + fmt.Sprintf(sub,
			"- {step: more, type: action, call: ping}\n      - {step: to, type: link, flow: sub, "+
				"when: n < 2}"),
		"a loop": `
      - step: w
        type: while
        condition: n < 2
        max_rounds: 1000
        do: [{step: act, type: action, call: ping}]`,
	} {
		t.Run(name, func(t *testing.T) {
			alive(t, func(w *world) {
				w.means("go", starts("go"))
				w.does["fails"] = func(map[string]any) (any, error) {
					return nil, errors.New("it broke")
				}
				w.run(planned(w.T, "actions: {ping: {doc: Counts.}, fails: {doc: "+
					"Fails.}}\nflows:\n  go:\n    slots: {n: {type: int, default: 0}}\n    steps:"+
					steps))
				turn := w.say("go")
				assert.Equal(w, roundInCircles, turn.Lines[len(turn.Lines)-1])
				assert.Equal(w, thread.StatusIdle, turn.Thread.Status())
				assert.Equal(w, 100, w.done("ping")+w.done("fails"))
			})
		})
	}
}

func TestEffectsCountFromTheLastQuestion(t *testing.T) {
	alive(t, func(w *world) {
		w.means("go", starts("go"))
		w.means("a", sets("more", "a"))
		w.does["inc"] = func(in map[string]any) (any, error) {
			n := in["n"].(float64) + 1
			return map[string]any{"n": n, "full": int(n)%60 == 0}, nil
		}
		w.run(planned(w.T, `
actions: {inc: {doc: Adds one., inputs: {n: {type: int}}, outputs: {n: {type: int}, full: {type: bool}}}}
flows:
  go:
    slots: {n: {type: int, default: 0}, full: {type: bool}, more: {type: string}}
    steps:
      - {step: inc, type: action, call: inc, inputs: {n: n}, outputs: {n: n, full: full}}
      - {step: b, type: branch, cases: [{if: not full, then: inc}]}
      - {step: ask, type: collect, slot: more, message: "{n}?", force: true, next: inc}
`))
		w.hears("go", "60?")
		w.hears("a", "120?")
		w.hears("a", "180?")
		assert.Equal(w, 180, w.done("inc"))
	})
}

// TestATextThatGrows is refused before it fills the memory, as any failure of its step; slots and
// what is called keep what they had.
func TestATextThatGrows(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]string{
		"set":    `{step: grow, type: set, values: {s: "{s}{s}"}}`,
		"action": `{step: grow, type: action, call: keep, inputs: {text: "{s}{s}"}, outputs: {text: s}}`,
		"call":   `{step: grow, type: call, flow: same, inputs: {s: "{s}{s}"}, outputs: {s: s}}`,
	} {
		t.Run(name, func(t *testing.T) {
			alive(t, func(w *world) {
				w.does["keep"] = func(in map[string]any) (any, error) { return in, nil }
				w.means("go", starts("go"))
				w.run(planned(w.T, `
actions: {keep: {doc: Gives it back., inputs: {text: {type: string}}, outputs: {text: {type: string}}}}
flows:
  go:
    slots: {s: {type: string, default: "12345678"}}
    on_error: sorry
    steps:
      - `+step+`
      - {step: b, type: branch, cases: [{if: filled(s), then: grow}], else: end}
      - {step: sorry, type: say, message: "{error_code}, {error}.", next: end}
  same:
    slots: {s: {type: string}}
    inputs: [s]
    outputs: [s]
    steps: [{step: nothing, type: branch, cases: [{if: filled(s), then: end}]}]
`))
				what := map[bool]string{true: "text", false: "s"}[name == "action"]
				turn := w.hears("go", "invalid, "+what+": the text is longer than 1048576 bytes.")
				assert.Contains(w, string(turn.Thread.Result), `"outcome":"done"`)
			})
		})
	}
}

// TestLongRunDoesNotBlockItsCaller: a circle runs on by itself. Whose answer led into it is not
// held, and closing the engine is the end of it until another one goes on.
func TestLongRunDoesNotBlockItsCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const held = 5*stepsPerRun + 1
		var passed atomic.Int64
		reached, goOn := make(chan struct{}), make(chan struct{})
		steps := stepKinds()
		steps["set"] = func(w *work, st *step) move {
			if passed.Add(1) == held {
				close(reached)
				<-goOn
			}
			return runSet(w, st)
		}
		m, err :=
			newMachine(runtime.Dialogue{Tables: tables(nil, nil,
				f{name: "go", slots: []string{"n int", "s string"}, steps: []p{
					{id: "ask", kind: "collect", slot: "n", text: "N?"},
					{id: "grow", kind: "set", set: []b{{name: "s", text: "{s}x"}}, next: "grow"},
				}})}, Config{Understand: Scripted{"go": {starts("go")}}}, steps)
		require.NoError(t, err)
		store := mem.Open()
		e, err := thread.Open(t.Context(), store, thread.Config{}, m)
		require.NoError(t, err)
		turn, err := (&chat.Conversation{Engine: e, Machine: m}).
			Deliver(t.Context(), chat.Message{Thread: "t", Text: "go"})
		require.NoError(t, err)
		_, err = e.Answer(t.Context(), "t",
			thread.Answer{Interrupt: question(turn).ID, Value: []byte("5")})
		require.NoError(t, err, "it returns while the circle is held")
		<-reached
		ended := make(chan error)
		go func() { ended <- e.Close(context.Background()) }()
		synctest.Wait() // it waits for the run at hand
		close(goOn)
		require.NoError(t, <-ended)
		assert.GreaterOrEqual(t, passed.Load(), int64(held))
		assert.LessOrEqual(t, passed.Load(), int64(6*stepsPerRun), "the run at hand was the last")
		th, err := store.Load(t.Context(), "t")
		require.NoError(t, err)
		assert.Equal(t, thread.StatusRunning, th.Status())
		assert.Equal(t, "grow", th.Frames[1].PC)
		s := newState(&m.flows[0])
		require.NoError(t, s.decode(th.Frames[1].Locals))
		assert.Len(t, s.values()["s"], int(passed.Load())+len(`""`),
			"what was run is stored, and nothing twice")
		assert.Equal(t, int(passed.Load()), s.Moves-1, "they count on from the question")
	})
}

// TestALongRunEnds goes on over all its runs as one does: it is stopped at the hundred thousandth
// step, and was stored at each thousandth.
func TestALongRunEnds(t *testing.T) {
	alive(t, func(w *world) {
		w.means("go", starts("go"))
		w.run(tables(nil, nil, f{name: "go", slots: []string{"n int"}, steps: []p{
			{id: "hello", kind: "say", text: "Hello."},
			{id: "round", kind: "set", set: []b{{name: "n", lit: "1"}}, next: "round"},
		}}))
		turn := w.hears("go", "Hello.", roundInCircles)
		assert.Contains(w, string(turn.Thread.Result), `"code":"loop"`)
		assert.Equal(w, maxSteps/stepsPerRun, w.stepped("round"))
	})
}

// TestMuchTextIsALongRun stores its place when texts of a mebibyte are written, however few the
// steps were.
func TestMuchTextIsALongRun(t *testing.T) {
	alive(t, func(w *world) {
		w.means("go", starts("go"))
		w.run(tables(nil, nil, f{name: "go",
			slots: []string{"s string default=\"" + strings.Repeat("x", bytesPerRun*2/3) + "\"",
				"t string"}, steps: []p{
				{id: "w", kind: "while", cond: when(filledX("s")), body: "copy", rounds: 10,
					next: "end"},
				{id: "copy", kind: "set", set: []b{{name: "t", text: "{s}"}}, next: "w"},
			}}))
		w.hears("go", roundInCircles)
		assert.Equal(w, 5, w.stepped("w"), "after each second text")
	})
}

// TestAnEffectAfterALongRun has a key of the step it belongs to, and happens once, although the
// place of the run is stored on the way.
func TestAnEffectAfterALongRun(t *testing.T) {
	scene(t, func(w *world) {
		w.means("go", starts("go"))
		w.run(tables([]string{"ping"}, nil, f{name: "go", slots: []string{"n int"}, steps: []p{
			{id: "w", kind: "while", cond: when(compares("n", "!=", "2")), body: "n",
				rounds: stepsPerRun, onError: "ping", next: "end"},
			{id: "n", kind: "set", set: []b{{name: "n", lit: "1"}}, next: "w"},
			{id: "ping", kind: "action", action: "ping"},
			{id: "m", kind: "set", set: []b{{name: "n", lit: "2"}}},
			{id: "say", kind: "say", text: "It is {n}."},
		}}))
		w.hears("go", roundInCircles, "It is 2.")
		require.Equal(w, 1, w.done("ping"))
		assert.Regexp(w, `^t/[^/]+/ping/1/act$`, w.keys["ping"][0])
		assert.Equal(w, 2, w.stepped("w"))
	})
}

// stepped is how often a frame of thread t stored that it goes on at a step.
func (w *world) stepped(pc string) int {
	w.Helper()
	n := 0
	for _, e := range w.log("t") {
		if e.Type == thread.EntryStepped && e.PC == pc {
			n++
		}
	}
	return n
}

// TestASlotOfANamedTypeIsHeldToBothRules: to its own, and to those of its type, which are of the
// items where it is a list.
func TestASlotOfANamedTypeIsHeldToBothRules(t *testing.T) {
	t.Parallel()
	whole := runtime.SlotType{Kind: runtime.SlotInt}
	items := runtime.SlotType{Kind: runtime.SlotInt, List: true}
	percent := &runtime.Rule{Min: runtime.Bound(0.0), Max: runtime.Bound(150.0)}
	one := slot{FlowSlot: &runtime.FlowSlot{Name: "share", Type: whole,
		Rule: &runtime.Rule{Min: runtime.Bound(10.0)}, Of: percent}}
	bare := slot{FlowSlot: &runtime.FlowSlot{Name: "share", Type: whole, Of: percent}}
	many := slot{FlowSlot: &runtime.FlowSlot{Name: "shares", Type: items,
		Rule: &runtime.Rule{MinItems: runtime.Bound(1)}, Of: percent}}
	for _, c := range []struct {
		slot  slot
		value string
		wrong string
	}{
		{one, "20", ""},
		{one, "5", "it is 5: at least 10 is needed"},
		{one, "200", "it is 200: at most 150 is allowed"},
		{bare, "5", ""},
		{bare, "200", "it is 200: at most 150 is allowed"},
		{many, "[5, 150]", ""},
		{many, "[5, 151]", "it is 151: at most 150 is allowed"},
		{many, "[]", "it has 0 elements: at least 1 are needed"},
	} {
		_, wrong := c.slot.normalize(json.RawMessage(c.value))
		assert.Equal(t, c.wrong, wrong, "%s = %s", c.slot.Name, c.value)
	}
}
