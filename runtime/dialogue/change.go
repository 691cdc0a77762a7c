package dialogue

import (
	"encoding/json"
	"slices"

	"github.com/routegen/routegen/runtime"
)

// change gives a slot another value, if it does. The flow goes back to where it had the first one from.
func (h *hearing) change(s *slot, raw json.RawMessage) (v json.RawMessage, changed bool) {
	var from origin
	if h.st != nil {
		from = h.origin(s)
	}
	by := h.collects(s, from)
	if h.spent(s, from) {
		h.refuse(s, raw, tooLate)
		return nil, false
	}
	v, wrong := h.accept(s, raw, by)
	if wrong != "" {
		h.refuse(s, raw, wrong)
		return nil, false
	}
	outside := h.s.Given[s.Name] || by == nil && !h.filled(s)
	h.fill(s, v)
	if outside {
		put(&h.s.Given, s.Name, true)
	}
	h.changed = true
	if from.to != runtime.NoTarget {
		h.fixed = append(h.fixed, fix{s, v, from})
		h.backTo(from)
	}
	return v, true
}

const tooLate = "it has been acted on"

// backTo has the flow go back there, unless it goes back further.
func (h *hearing) backTo(o origin) {
	if o.before(h.back) {
		h.back = o
	}
}

// collects returns the step that collected a slot, or is to collect it; nil: none does.
func (h *hearing) collects(s *slot, from origin) *step {
	switch {
	case from.leg > 0 && from.done == 0:
		return h.begins(from.leg)
	case s.collect > 0:
		return &h.f.steps[s.collect-1]
	}
	return nil
}

// strangers says which offers no slot of the flow takes, in the order of their names.
func (h *hearing) strangers(offers map[string]json.RawMessage) {
	var names []string
	for name := range offers { // sorted below
		if h.f.slot(name) == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		h.respond("unknown_slot", "slot", words(name))
	}
}

// correct changes a value that is there. One that does not do leaves it as it is.
func (h *hearing) correct(s *slot, raw json.RawMessage) {
	h.corrected = true
	if !h.f.open(s) {
		h.refuse(s, raw, "it cannot be changed")
		return
	}
	if v, changed := h.change(s, raw); changed {
		h.respond("corrected", "slot", words(s.Name), "value", shown(v, s, 0))
	}
}

// reask empties a slot that is to be asked for again.
func (h *hearing) reask(name string) {
	s := h.f.slot(name)
	if s == nil || h.st == nil {
		h.unknown(name)
		return
	}
	value, by, _ := h.given(s)
	from := h.origin(s)
	switch {
	case s == h.expected() || !h.filled(s) && h.s.Offers[s.Name] == nil && value == nil:
		h.explained, h.untaken = true, true // there is nothing to clear, and the question is asked again
	case s.collect == 0:
		h.refuse(s, nil, "it cannot be asked for again")
	case !h.filled(s): // it comes later, and is asked for then
		delete(h.s.Offers, s.Name)
		if by != nil {
			put(&h.s.Kept, by.ID, done{At: by.ID})
		}
		h.changed, h.untaken = true, true
	case h.spent(s, from):
		h.refuse(s, nil, tooLate)
	default:
		if from.done > 0 || from.leg == 0 && !h.s.Given[s.Name] { // the flow has filled it, and may pass by the step that asks
			from = origin{to: runtime.Target(s.collect), leg: len(h.s.Trail)}
		}
		h.changed = true
		h.asked = append(h.asked, fix{slot: s, from: from})
		h.backTo(from)
	}
}

// goesBack has the flow go back as far as the changes of the message need.
func (h *hearing) goesBack() move {
	for _, x := range slices.Concat(h.fixed, h.asked) {
		h.revise(x.slot, x.from, x.value)
	}
	if h.back.leg >= len(h.s.Trail) {
		h.keep(h.s.Trail)
	}
	mv := h.goBack(h.back)
	if h.answer != nil {
		put(&h.s.Kept, h.st.ID, done{At: h.st.ID, Out: map[string]json.RawMessage{h.expected().Name: h.answer}})
	}
	for _, x := range h.fixed {
		if x.from.leg == 0 && x.from.done == 0 && !h.s.Given[x.slot.Name] {
			h.overrule(x.slot, x.value)
		}
	}
	for _, x := range h.asked {
		h.clear(x.slot)
		st := h.collects(x.slot, origin{})
		if x.from.to > 1 {
			st = &h.f.steps[x.from.to-1]
		}
		put(&h.s.Kept, st.ID, done{At: st.ID})
	}
	return mv
}
