package dialogue

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// segment is the part of a flow's path from one collect step to the next. The trail of a frame is
// the path so far, with each step at most once: when the flow reaches a step again, the earlier
// round is dropped, and only the slots that it changed are kept with the segment it began in.
type segment struct {
	at    int             // its collect step; 0: the flow's start
	value json.RawMessage // what the user gave there
	was   []slotValue     // written slots, as before; nil: empty
	done  []done
	past  bool // a once action ran that is not in done
}

// slotValue is the value of a slot, by its number.
type slotValue struct {
	slot  int
	value json.RawMessage
}

// done is a step that is not run again with the same inputs.
type done struct {
	at   int
	in   string      // a digest of what it was given
	out  []slotValue // the slots that it filled
	once bool        // a once action has run in it
}

// filled returns what the step has filled a slot with, or nil.
func (d *done) filled(s *slot) json.RawMessage {
	for _, v := range d.out {
		if v.slot == s.number {
			return v.value
		}
	}
	return nil
}

func (d *done) setValue(s *slot, v json.RawMessage) {
	for i := range d.out {
		if d.out[i].slot == s.number {
			d.out[i].value = v
			return
		}
	}
	d.out = append(slices.Clip(d.out), slotValue{s.number, v})
}

// origin is where a flow goes back to when a slot changes.
type origin struct {
	to      runtime.Target // the step
	segment int            // begins at the step
	// of the segment, counted from 1: the step that has filled the slot; 0: none
	done int
}

// findOrigin returns where a slot got its value: the collect step that took it first, else the
// segment with the step that filled it last, else the start of the flow.
func (w *work) findOrigin(s *slot) origin {
	for i := range w.s.trail {
		if st := w.collectStepOf(i); st != nil && st.Slot == s.number {
			return origin{to: runtime.Target(st.number), segment: i}
		}
	}
	for i, l := range slices.Backward(w.s.trail) {
		for n := range l.done {
			if l.done[n].filled(s) == nil {
				continue
			}
			if st := w.collectStepOf(i); st != nil {
				return origin{to: runtime.Target(st.number), segment: i, done: n + 1}
			}
			return origin{to: 1, done: n + 1}
		}
	}
	return origin{to: 1}
}

// collectStepOf returns the collect step that a segment begins with; nil for the first segment.
func (w *work) collectStepOf(i int) *step {
	if n := w.s.trail[i].at; n > 0 {
		return &w.f.steps[n-1]
	}
	return nil
}

// segmentsFrom returns the segments since an origin.
func (w *work) segmentsFrom(o origin) []segment {
	return w.s.trail[min(o.segment, len(w.s.trail)):]
}

// isTooLate reports whether a slot cannot be changed: a once action has used it, or ran in an
// earlier round of a loop that would restart.
func (w *work) isTooLate(s *slot, o origin) bool {
	for _, l := range w.segmentsFrom(o) {
		if l.past || slices.ContainsFunc(l.done, func(d done) bool {
			return d.once && w.f.steps[d.at-1].readsSlot(s)
		}) {
			return true
		}
	}
	return false
}

// readsSlot reports whether an input of the step depends on a slot.
func (st *step) readsSlot(s *slot) bool {
	for i := range st.Inputs {
		if readsSlot(st.Inputs[i].Value, s.number) {
			return true
		}
		for _, in := range st.Inputs[i].Text {
			for _, variant := range in.Variants {
				if slices.ContainsFunc(variant, func(p runtime.Part) bool {
					return p.Slot == s.number
				}) {
					return true
				}
			}
		}
	}
	return false
}

// rewindTo makes the flow continue at an origin with the slots as they were there. Answers since
// then are not asked for again, and steps since then keep their results while their inputs are the
// same.
func (w *work) rewindTo(o origin) move {
	for _, l := range slices.Backward(w.segmentsFrom(o)) {
		for _, was := range l.was {
			w.s.slots[was.slot-1] = slotState{value: was.value, offer: w.s.slots[was.slot-1].offer}
		}
	}
	w.keepResultsOf(w.segmentsFrom(o))
	w.s.trail = w.s.trail[:min(o.segment, len(w.s.trail))]
	return w.goTo(o.to)
}

// keepResultsOf keeps the results of the steps of segments.
func (w *work) keepResultsOf(segments []segment) {
	for _, l := range segments {
		if l.at > 0 && l.value != nil {
			w.s.keepResult(done{at: l.at, out: []slotValue{{w.f.steps[l.at-1].Slot, l.value}}})
		}
		for _, d := range l.done {
			w.s.keepResult(d)
		}
	}
}

// reviseValue replaces the value in the record of what filled a slot.
func (w *work) reviseValue(s *slot, o origin, v json.RawMessage) {
	switch {
	case o.done > 0:
		w.s.trail[o.segment].done[o.done-1].setValue(s, v)
	case o.segment > 0 && o.segment < len(w.s.trail):
		w.s.trail[o.segment].value = v
	}
}

// overrideSetSteps makes the set steps of a slot use the user's value.
func (w *work) overrideSetSteps(s *slot, v json.RawMessage) {
	for i := range w.f.steps {
		st := &w.f.steps[i]
		if slices.ContainsFunc(st.Set, func(b runtime.Bind) bool { return b.Slot == s.number }) {
			if w.s.findKept(st.number) == nil {
				w.s.keepResult(done{at: st.number})
			}
			w.s.findKept(st.number).setValue(s, v)
		}
	}
}

// earlierAnswer returns the user's value for a slot before the flow went back, and its collect
// step. asks: the user wants to be asked by that step.
func (w *work) earlierAnswer(s *slot) (v json.RawMessage, by *step, asks bool) {
	for i := range w.f.steps {
		st := &w.f.steps[i]
		if st.Kind != "collect" || st.Slot != s.number {
			continue
		}
		if d := w.s.findKept(st.number); d != nil {
			return d.filled(s), st, d.out == nil
		}
	}
	return nil, nil, false
}

// beginSegment begins a segment at a collect step. v is the user's value, nil if the slot was
// filled.
func (w *work) beginSegment(st *step, v json.RawMessage) {
	if w.currentSegment() == nil {
		return
	}
	if i := slices.IndexFunc(w.s.trail, func(l segment) bool { return l.at == st.number }); i > 0 {
		w.dropSegments(i)
	}
	w.s.dropKept(st.number)
	w.s.trail = appendFew(w.s.trail, segment{at: st.number, value: v})
}

// recordDone adds the result of a step to the trail.
func (w *work) recordDone(st *step, d done) {
	if w.currentSegment() == nil {
		return
	}
	for i := range w.s.trail {
		l := &w.s.trail[i]
		if n := slices.IndexFunc(l.done, func(d done) bool { return d.at == st.number }); n >= 0 {
			w.dropSegments(i + 1)
			l.past = l.past || hasOnce(l.done[n:])
			l.done = l.done[:n]
			break
		}
	}
	w.s.dropKept(st.number)
	d.at = st.number
	l := w.currentSegment()
	l.done = appendFew(l.done, d)
}

// forbidGoingBack prevents the flow from going back before this point.
func (w *work) forbidGoingBack() {
	if l := w.currentSegment(); l != nil {
		l.past = true
	}
}

// currentSegment returns the segment that the flow is on; nil if its users may not change anything.
func (w *work) currentSegment() *segment {
	if !w.f.editable {
		return nil
	}
	if len(w.s.trail) == 0 {
		w.s.trail = []segment{{}}
	}
	return &w.s.trail[len(w.s.trail)-1]
}

// dropSegments removes the segments from i on, which are an earlier round, from the trail.
func (w *work) dropSegments(i int) {
	into := &w.s.trail[i-1]
	for _, l := range w.s.trail[i:] {
		into.past = into.past || l.past || hasOnce(l.done)
		for _, was := range l.was {
			into.noteValue(was)
		}
	}
	w.s.trail = w.s.trail[:i]
}

func hasOnce(list []done) bool {
	return slices.ContainsFunc(list, func(d done) bool { return d.once })
}

// noteValue adds the value of a slot from before the segment, if there is none yet.
func (l *segment) noteValue(was slotValue) {
	if !slices.ContainsFunc(l.was, func(v slotValue) bool { return v.slot == was.slot }) {
		l.was = appendFew(l.was, was)
	}
}

// reuseResult keeps the result that a step had before the flow went back, if its inputs are the
// same, and goes on. A once action with other inputs fails with CodeConflict. ok is false if there
// is nothing to reuse.
func (w *work) reuseResult(st *step, in string) (mv move, ok bool) {
	kept := w.s.findKept(st.number)
	switch {
	case kept == nil || kept.in != in && !kept.once:
		return move{}, false
	case kept.in != in:
		return w.handleFailure(st.OnError, &thread.Failure{Code: runtime.CodeConflict,
			Text: "it has been done already, with other values"}, false), true
	}
	d := *kept
	for _, v := range d.out {
		w.writeSlot(&w.f.slots[v.slot-1], v.value)
	}
	w.recordDone(st, d)
	return w.goTo(st.Next), true
}

// shortDigest returns a short digest of a step's inputs.
func shortDigest(in []byte) string {
	sum := sha256.Sum256(in)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}
