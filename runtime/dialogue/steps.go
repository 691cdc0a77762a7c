package dialogue

import (
	"cmp"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// stepFunc implements a kind of step: it changes the state of the frame and returns where it
// continues. It has no effects.
type stepFunc func(w *work, st *step) move

// stepKinds returns the implementation of each kind of step.
func stepKinds() map[string]stepFunc {
	return map[string]stepFunc{
		"say": runSay, "collect": runCollect, "set": runSet, "branch": runBranch, "while": runWhile,
		"action": runAction, "confirm": runConfirm, "call": runCall,
		"link": runLink, "generate": runGenerate, "handoff": runHandoff,
	}
}

// runSay adds a text to the replies, unless it was said before the flow went back.
func runSay(w *work, st *step) move {
	text, key := w.flowText(st.Text), "" // of a text that has no values in it
	if in := w.findText(st.Text); in != nil && !isConstant(in.Variants[0]) {
		first := text
		if len(in.Variants) > 1 { // one for all of them
			first = w.flowText(runtime.Texts{{Variants: in.Variants[:1]}})
		}
		key = shortDigest([]byte(first))
	}
	if mv, ok := w.reuseResult(st, key); ok {
		return mv
	}
	w.recordDone(st, done{in: key})
	w.addLine(st.ID, text)
	return w.goTo(st.Next)
}

// runSet sets slots in order: later ones see earlier ones. Null clears a slot.
func runSet(w *work, st *step) move {
	var own done // with values that the user has changed since
	if d := w.s.findKept(st.number); d != nil && d.out != nil {
		own = done{out: d.out}
		w.recordDone(st, own)
	}
	for i := range st.Set {
		s := &w.f.slots[st.Set[i].Slot-1]
		v, failure := w.evalBind(&st.Set[i])
		if changed := own.filled(s); changed != nil {
			v, failure = changed, nil
		}
		if failure != nil {
			return w.handleFailure(st.OnError, failure, false)
		}
		if v != nil {
			var wrong string
			if v, wrong = s.normalize(v); wrong != "" {
				return w.handleFailure(st.OnError, invalid("%s: %s", spacedName(s.Name), wrong),
					false)
			}
		}
		w.writeSlot(s, v)
	}
	return w.goTo(st.Next)
}

// runBranch takes the first arm whose condition is true.
func runBranch(w *work, st *step) move {
	for i := range st.Arms {
		if w.s.isTrue(&st.Arms[i].If) {
			return w.goTo(st.Arms[i].To)
		}
	}
	if st.Else != runtime.NoTarget {
		return w.goTo(st.Else)
	}
	return w.goTo(st.Next)
}

// runWhile begins a round while its condition is true. Confirmations of the last round do not
// count, and inner loops start at their first round.
func runWhile(w *work, st *step) move {
	if !w.s.isTrue(st.Cond) {
		w.s.loops = slices.DeleteFunc(w.s.loops, func(l loop) bool { return l.at == st.number })
		return w.goTo(st.Next)
	}
	l := w.s.findLoop(st.number)
	if l.rounds >= cmp.Or(st.Rounds, 100) {
		w.s.Moves += linkCost
		w.addResponse("looped")
		return w.handleFailure(st.OnError,
			&thread.Failure{Code: runtime.CodeLoop, Text: "it went round in circles"}, true)
	}
	if l.rounds > 0 { // another round: earlier results are dropped
		w.s.kept = slices.DeleteFunc(w.s.kept, func(d done) bool {
			return w.f.isInside(d.at, st.number)
		})
	}
	l.rounds++
	w.s.loops = slices.DeleteFunc(w.s.loops, func(l loop) bool {
		return w.f.isInside(l.at, st.number)
	})
	return w.goTo(st.Body)
}

// handoffNote is stored when a thread is handed off.
type handoffNote struct {
	Flow   string `json:"flow,omitempty"`
	Step   string `json:"step,omitempty"`
	Queue  string `json:"queue,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// runHandoff hands the thread off to a person.
func runHandoff(w *work, st *step) move {
	if text := w.flowText(st.Text); text != "" {
		w.addLine(st.ID, text)
	} else {
		w.addResponse("handoff")
	}
	return move{kind: moveHandoff, note: handoffNote{Flow: w.f.Name, Step: st.ID, Queue: st.Queue}}
}
