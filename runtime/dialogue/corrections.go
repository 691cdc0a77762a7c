package dialogue

import (
	"encoding/json"
	"slices"

	"github.com/routegen/routegen/runtime"
)

// changeSlot gives a slot another value, and returns it, or nil if it is not valid. The flow goes
// back to where the slot got the first value.
func (h *messageHandler) changeSlot(s *slot, raw json.RawMessage) json.RawMessage {
	var from origin
	if h.st != nil {
		from = h.findOrigin(s)
	}
	by := h.collectStep(s, from)
	if h.isTooLate(s, from) {
		h.refuseChange(s, raw, reasonActedOn)
		return nil
	}
	v, wrong := h.checkValue(s, raw, by)
	if wrong != "" {
		h.refuseChange(s, raw, wrong)
		return nil
	}
	outside := h.s.of(s).fromOutside || by == nil && !h.isFilled(s)
	*h.s.of(s) = slotState{value: v, fromOutside: outside}
	h.changed = true
	if h.st != nil {
		h.corrections = append(h.corrections, correction{s, v, from})
	}
	return v
}

const reasonActedOn = "it has been acted on"

// collectStep returns the step that collected a slot, or will collect it, or nil.
func (h *messageHandler) collectStep(s *slot, from origin) *step {
	switch {
	case from.segment > 0 && from.done == 0:
		return h.collectStepOf(from.segment)
	case s.collect > 0:
		return &h.f.steps[s.collect-1]
	}
	return nil
}

// correctSlot changes the value of a filled slot. An invalid value leaves it as it is.
func (h *messageHandler) correctSlot(s *slot, raw json.RawMessage) {
	h.corrected = true
	if !h.f.isSettable(s) {
		h.refuseChange(s, raw, "it cannot be changed")
		return
	}
	if v := h.changeSlot(s, raw); v != nil {
		h.addResponse("corrected", "slot", spacedName(s.Name), "value", displayValue(v, s, 0))
	}
}

// reaskSlot clears a slot so that it is asked for again.
func (h *messageHandler) reaskSlot(name string) {
	s := h.f.findSlot(name)
	if s == nil || h.st == nil {
		h.rejectUnknownSlot(name)
		return
	}
	value, by, _ := h.earlierAnswer(s)
	from := h.findOrigin(s)
	switch {
	case s == h.expectedSlot() || !h.isFilled(s) && h.s.of(s).offer == nil && value == nil:
		// there is nothing to clear, and the question is asked again
		h.explained, h.rejected = true, true
	case s.collect == 0:
		h.refuseChange(s, nil, "it cannot be asked for again")
	case !h.isFilled(s): // it comes later, and is asked for then
		h.s.of(s).offer = nil
		if by != nil {
			h.s.keepResult(done{at: by.number})
		}
		h.changed, h.rejected = true, true
	case h.isTooLate(s, from):
		h.refuseChange(s, nil, reasonActedOn)
	default:
		// the flow has filled it, and may pass by the step that asks
		if from.done > 0 || from.segment == 0 && !h.s.of(s).fromOutside {
			from = origin{to: runtime.Target(s.collect), segment: len(h.s.trail)}
		}
		h.changed = true
		h.reasked = append(h.reasked, correction{slot: s, from: from})
	}
}

// applyChanges makes the flow go back as far as the changes of the message require.
func (h *messageHandler) applyChanges() move {
	changes := slices.Concat(h.corrections, h.reasked)
	for _, x := range changes {
		h.reviseValue(x.slot, x.from, x.value)
	}
	back := slices.MinFunc(changes, func(a, b correction) int {
		return a.from.segment - b.from.segment
	}).from
	if back.segment >= len(h.s.trail) {
		h.keepResultsOf(h.s.trail)
	}
	mv := h.rewindTo(back)
	if h.answer != nil {
		h.s.keepResult(done{at: h.st.number, out: []slotValue{{h.st.Slot, h.answer}}})
	}
	for _, x := range h.corrections {
		if x.from.segment == 0 && x.from.done == 0 && !h.s.of(x.slot).fromOutside {
			h.overrideSetSteps(x.slot, x.value)
		}
	}
	for _, x := range h.reasked {
		h.writeSlot(x.slot, nil)
		st := h.collectStep(x.slot, origin{})
		if x.from.to > 1 {
			st = &h.f.steps[x.from.to-1]
		}
		h.s.keepResult(done{at: st.number})
	}
	return mv
}
