package dialogue

import (
	"encoding/json"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// runCall calls another flow and continues with its outputs. If the user cancels that flow, or it
// fails, the calling flow continues at on_error, and without one ends in the same way.
func runCall(w *work, st *step) move {
	if w.input.kind == inputChild {
		return finishCall(w, st, &w.input.child)
	}
	if w.s.depth >= w.m.maxDepth() {
		w.addResponse("too_deep")
		return w.handleFailure(st.OnError,
			&thread.Failure{Code: runtime.CodeLoop, Text: "too many flows are open"}, true)
	}
	f := &w.m.flows[st.Flow-1]
	slots, failure := w.callInputs(st, f)
	if failure != nil {
		return w.handleFailure(st.OnError, failure, false)
	}
	if mv, ok := w.reuseResult(st, slotsDigest(slots)); ok {
		return mv
	}
	input := &flowInput{Slots: slots, Depth: w.s.depth + 1, Said: w.hasReplied(),
		counters: counters{Moves: w.s.Moves, Acts: w.s.Acts}}
	return move{kind: moveCall, st: st,
		child: thread.Spawned{Machine: Name, Name: f.Name, Input: input}}
}

// slotsDigest returns the digest of the inputs of a call.
func slotsDigest(slots map[string]json.RawMessage) string {
	in, _ := runtime.Encode(slots) // cannot fail: they fit their slots
	return shortDigest(in)
}

func finishCall(w *work, st *step, r *flowResult) move {
	w.s.Once = w.s.Once || r.Once
	// its once effects cannot be undone
	if r.Outcome != outcomeDone && r.Once {
		w.forbidGoingBack()
	}
	switch {
	case r.Outcome == outcomeDone:
		// as it began: no slot has changed since
		slots, _ := w.callInputs(st, &w.m.flows[st.Flow-1])
		return w.storeOutputs(st, r.Outputs, done{in: slotsDigest(slots), once: r.Once})
	case r.Outcome == outcomeCancelled && st.OnError == runtime.NoTarget:
		return w.endFrame(runtime.TargetCancel)
	case r.Failure == nil:
		r.Failure = &thread.Failure{Code: runtime.CodeConflict, Text: "it was cancelled"}
	}
	return w.handleFailure(st.OnError, r.Failure, true)
}

// callInputs computes the slots that a call or link passes.
func (w *work) callInputs(st *step, f *flow) (map[string]json.RawMessage, *thread.Failure) {
	given, failure := w.evalBinds(st.Inputs)
	if failure != nil {
		return nil, failure
	}
	for i := range f.slots {
		s := &f.slots[i]
		v, ok := given[s.Name]
		switch {
		case !ok && s.Input && s.Required && s.Default == "":
			return nil, invalid("%s of %s is not known", spacedName(s.Name), f.title())
		case !ok:
			continue
		}
		fits, wrong := s.normalize(v)
		if wrong != "" {
			return nil, invalid("%s of %s: %s", spacedName(s.Name), f.title(), wrong)
		}
		given[s.Name] = fits
	}
	return given, nil
}

// storeOutputs fills slots with the outputs of an action or a flow and continues. If one value is
// invalid, no slot changes.
func (w *work) storeOutputs(st *step, out map[string]json.RawMessage, d done) move {
	fits := make([]json.RawMessage, len(st.Outputs))
	for i, b := range st.Outputs {
		v, ok := out[b.Name]
		if !ok || string(v) == "null" {
			continue
		}
		s := &w.f.slots[b.Slot-1]
		var wrong string
		if fits[i], wrong = s.normalize(v); wrong != "" {
			if d.once {
				w.forbidGoingBack()
			}
			return w.handleFailure(st.OnError, invalid("%s: %s", spacedName(s.Name), wrong), false)
		}
	}
	for i, b := range st.Outputs {
		if fits[i] != nil {
			s := &w.f.slots[b.Slot-1]
			d.setValue(s, fits[i])
			w.writeSlot(s, fits[i])
		}
	}
	w.recordDone(st, d)
	return w.goTo(st.Next)
}

// runLink continues with another flow and does not come back: the parent of this frame waits for
// that flow.
func runLink(w *work, st *step) move {
	f := &w.m.flows[st.Flow-1]
	slots, failure := w.callInputs(st, f)
	if failure != nil {
		return w.handleFailure(st.OnError, failure, false)
	}
	w.s.Moves += linkCost
	input := &flowInput{Slots: slots, Later: w.s.later, Depth: w.s.depth,
		Said: w.hasReplied(), counters: w.s.counters}
	return move{kind: moveJump, child: thread.Spawned{Machine: Name, Name: f.Name, Input: input}}
}
