package dialogue

import (
	"encoding/json"
	"fmt"

	"github.com/routegen/routegen/runtime"
)

// call runs another flow and goes on with what it gives back. Where the user cancels that flow, or it fails, the calling one does not go on
// as if it had been done: on_error says where it goes, and without it the calling flow ends in the same way.
func call(w *work, st *step) move {
	if w.came.kind == cameChild {
		return returned(w, st, &w.came.child)
	}
	if w.s.Depth >= w.m.depth() {
		w.respond("too_deep")
		return w.fail(st.OnError, &runtime.Failure{Code: runtime.CodeLoop, Text: "too many flows are open"}, true)
	}
	f := &w.m.flows[st.Flow-1]
	slots, failure := w.inputs(st, f)
	if failure != nil {
		return w.fail(st.OnError, failure, false)
	}
	kept, refused := w.again(st, givenIn(slots))
	switch {
	case kept:
		return w.next(st)
	case refused != nil:
		return w.fail(st.OnError, refused, false)
	}
	return move{verb: calls, st: st, child: w.m.spawn(f.Name, &opening{
		Slots: slots, Depth: w.s.Depth + 1, Said: w.s.Said || len(w.said) > 0, count: count{Moves: w.s.Moves, Acts: w.s.Acts},
	})}
}

// givenIn is the digest of the slots that a call gives.
func givenIn(slots map[string]json.RawMessage) string {
	in, _ := runtime.Encode(slots) // cannot fail: they fit their slots
	return digest(in)
}

func returned(w *work, st *step, r *result) move {
	w.s.Once = w.s.Once || r.Once
	if r.Outcome != outcomeDone && r.Once { // what it did stands, although it did not come to its end
		w.seal()
	}
	switch {
	case r.Outcome == outcomeDone:
		slots, _ := w.inputs(st, &w.m.flows[st.Flow-1]) // as it began: no slot has changed since
		return w.outputs(st, r.Outputs, done{In: givenIn(slots), Once: r.Once})
	case r.Outcome == outcomeCancelled && st.OnError == runtime.NoTarget:
		return w.finish(runtime.TargetCancel)
	case r.Failure == nil:
		r.Failure = &runtime.Failure{Code: runtime.CodeConflict, Text: "it was cancelled"}
	}
	return w.fail(st.OnError, r.Failure, true)
}

// inputs are the slots that a call or link gives.
func (w *work) inputs(st *step, f *flow) (map[string]json.RawMessage, *runtime.Failure) {
	given, failure := w.bind(st.Inputs, st.inputs)
	if failure != nil {
		return nil, failure
	}
	for i := range f.slots {
		s := &f.slots[i]
		v, ok := given[s.Name]
		switch {
		case !ok && s.Input && s.Required && s.Default == "":
			return nil, &runtime.Failure{Code: runtime.CodeInvalid, Text: fmt.Sprintf("%s of %s is not known", words(s.Name), f.title())}
		case !ok:
			continue
		}
		fits, wrong := s.fit(v)
		if wrong != "" {
			return nil, &runtime.Failure{Code: runtime.CodeInvalid, Text: fmt.Sprintf("%s of %s: %s", words(s.Name), f.title(), wrong)}
		}
		given[s.Name] = fits
	}
	return given, nil
}

// outputs fills slots with what an action or a flow gave back, and goes on: all of it, or nothing where one value does not fit.
func (w *work) outputs(st *step, out map[string]json.RawMessage, d done) move {
	fits := make([]json.RawMessage, len(st.Outputs))
	for i, b := range st.Outputs {
		v, ok := out[b.Name]
		if !ok || string(v) == "null" {
			continue
		}
		s := &w.f.slots[b.Slot-1]
		var wrong string
		if fits[i], wrong = s.fit(v); wrong != "" {
			if d.Once {
				w.seal()
			}
			return w.fail(st.OnError, &runtime.Failure{Code: runtime.CodeInvalid, Text: fmt.Sprintf("%s: %s", words(s.Name), wrong)}, false)
		}
	}
	for i, b := range st.Outputs {
		if fits[i] != nil {
			s := &w.f.slots[b.Slot-1]
			put(&d.Out, s.Name, fits[i])
			w.put(s, fits[i])
		}
	}
	w.did(st, d)
	return w.next(st)
}
