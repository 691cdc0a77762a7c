package thread

import "slices"

// openIndex counts what the record of a [Change] has in Open, so that a change of many interrupts
// does not look through all of them for each. A nil index is that of a change of few: its methods
// look through Open.
type openIndex struct {
	kinds, frames map[string]int // open and queued interrupts of a kind, and of a frame
	queued        int
	holders       map[string]bool // interrupts that hold frames, or did
}

func newOpenIndex(t *Thread) *openIndex {
	x := &openIndex{
		kinds: map[string]int{}, frames: map[string]int{}, holders: map[string]bool{},
	}
	for _, i := range t.Open {
		x.addCount(i, 1)
	}
	for n := range t.Frames {
		x.holders[t.Frames[n].HeldBy] = true
	}
	return x
}

// addCount adds n interrupts like i.
func (x *openIndex) addCount(i *Interrupt, n int) {
	if x == nil {
		return
	}
	x.kinds[i.Kind] += n
	x.frames[i.Frame] += n
	if i.State == InterruptQueued {
		x.queued += n
	}
}

// hold notes that a frame waits for the end of an interrupt.
func (x *openIndex) hold(f *Frame, by string) {
	if f.HeldBy = by; x != nil {
		x.holders[by] = true
	}
}

// mayHold reports whether a frame may wait for the end of an interrupt.
func (x *openIndex) mayHold(interrupt string) bool { return x == nil || x.holders[interrupt] }

// mayHaveQueued reports whether an interrupt may be queued.
func (x *openIndex) mayHaveQueued() bool { return x == nil || x.queued > 0 }

// asksFor reports whether an interrupt of a frame is open or queued.
func (x *openIndex) asksFor(t *Thread, frame string) bool {
	if x != nil {
		return x.frames[frame] > 0
	}
	return slices.ContainsFunc(t.Open, func(i *Interrupt) bool { return i.Frame == frame })
}

// hasOtherKind reports whether an interrupt of another kind is open or queued.
func (x *openIndex) hasOtherKind(t *Thread, kind string) bool {
	if x != nil {
		return x.kinds[kind] < len(t.Open)
	}
	return slices.ContainsFunc(t.Open, func(i *Interrupt) bool { return i.Kind != kind })
}
