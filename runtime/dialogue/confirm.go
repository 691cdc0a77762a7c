package dialogue

import (
	"encoding/json"
	"strconv"

	"github.com/routegen/routegen/runtime"
)

// runConfirm asks for a yes or a no. If a step of this frame has set its slot it takes that arm
// without asking. An earlier answer to a confirm, or a value from outside, does not count.
func runConfirm(w *work, st *step) move {
	s := &w.f.slots[st.Slot-1]
	switch w.input.kind {
	case inputCommands:
		return w.handleAnswer(st)
	case inputTimeout:
		return w.goToOrCancel(st.OnTimeout, "timed_out")
	case inputChild: // the flow in between is over
		return w.askQuestion(st)
	default:
	}
	w.s.tries = 0
	if now := w.s.of(s); now.value != nil && !now.fromOutside && !now.confirmed {
		return w.followArm(st, string(now.value) == "true")
	}
	w.writeSlot(s, nil)
	return w.askQuestion(st)
}

// storeVerdict stores the user's yes or no and takes its arm.
func (w *work) storeVerdict(st *step, yes bool) move {
	s := &w.f.slots[st.Slot-1]
	w.writeSlot(s, json.RawMessage(strconv.FormatBool(yes)))
	w.s.of(s).confirmed = true
	return w.followArm(st, yes)
}

// followArm takes the arm of an answer. A no without a target cancels the flow.
func (w *work) followArm(st *step, yes bool) move {
	switch {
	case !yes && st.OnNo == runtime.TargetEnd: // the flow defines this as a normal end
		return w.endFrame(runtime.TargetEnd)
	case !yes:
		return w.goToOrCancel(st.OnNo, "cancelled")
	case st.OnYes == runtime.NoTarget:
		return w.goTo(st.Next)
	default:
		return w.goTo(st.OnYes)
	}
}
