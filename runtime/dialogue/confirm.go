package dialogue

import (
	"encoding/json"
	"strconv"

	"github.com/routegen/routegen/runtime"
)

// confirm asks for a yes or a no. Where a step of this frame has set its slot it takes that arm without asking; but not what the user said to
// a confirm, which was used up by that, and not a value from outside, which is no answer.
func confirm(w *work, st *step) move {
	s := &w.f.slots[st.Slot-1]
	switch w.came.kind {
	case cameCommands:
		return w.hear(st)
	case cameTimeout:
		return w.or(st.OnTimeout, "timed_out")
	case cameChild: // the flow in between is over
		return w.ask(st)
	default:
	}
	w.s.Tries = 0
	if v, filled := w.s.Slots[s.Name]; filled && !w.s.Given[s.Name] && !w.s.Sure[s.Name] {
		return w.arm(st, string(v) == "true")
	}
	w.clear(s)
	return w.ask(st)
}

// decided is the user's yes or no.
func (w *work) decided(st *step, yes bool) move {
	s := &w.f.slots[st.Slot-1]
	w.put(s, json.RawMessage(strconv.FormatBool(yes)))
	put(&w.s.Sure, s.Name, true)
	return w.arm(st, yes)
}

// arm takes the arm of an answer. A no that leads nowhere cancels the flow: what comes next may be what the user does not want.
func (w *work) arm(st *step, yes bool) move {
	switch {
	case !yes && st.OnNo == runtime.TargetEnd: // the flow says that this is an end like any other
		return w.finish(runtime.TargetEnd)
	case !yes:
		return w.or(st.OnNo, "cancelled")
	case st.OnYes == runtime.NoTarget:
		return w.next(st)
	default:
		return w.leads(st.OnYes)
	}
}
