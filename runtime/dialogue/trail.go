package dialogue

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/routegen/routegen/runtime"
)

// leg is the way of a flow from one collect step to the next. The trail of a frame is the way that it
// has come, no step twice on it: when the flow comes to a step again, the round before is taken off,
// and only what it changed is kept with the leg it began in.
type leg struct {
	At    string                     `json:"at,omitempty"`    // its collect step; "": the flow's start
	Value json.RawMessage            `json:"value,omitempty"` // what the user gave there
	Was   map[string]json.RawMessage `json:"was,omitempty"`   // written slots, as before; null: empty
	Done  []done                     `json:"done,omitempty"`
	Past  bool                       `json:"past,omitempty"` // a once action ran that is not in Done
}

// done is a step that need not run again as long as it is given the same.
type done struct {
	At   string                     `json:"at"`
	In   string                     `json:"in,omitempty"`   // a digest of what it was given
	Out  map[string]json.RawMessage `json:"out,omitempty"`  // the slots that it filled
	Once bool                       `json:"once,omitempty"` // a once action has run in it
}

// origin is where a flow goes back to when a slot changes.
type origin struct {
	to   runtime.Target // the step; NoTarget: nowhere
	leg  int            // begins at the step
	done int            // of the leg, counted from 1: the step that has filled the slot; 0: none
}

// before reports whether an origin comes before another one, or the other one is nowhere.
func (o origin) before(other origin) bool {
	return o.to != runtime.NoTarget && (other.to == runtime.NoTarget || o.leg < other.leg)
}

// origin finds where a slot got its value: at the collect step that took it first, or else at the leg
// with the step that filled it last, or else somewhere since the start of the flow.
func (w *work) origin(s *slot) origin {
	for i := range w.s.Trail {
		if st := w.begins(i); st != nil && st.Slot == s.number {
			return origin{to: runtime.Target(st.number), leg: i}
		}
	}
	for i, l := range slices.Backward(w.s.Trail) {
		for n := range l.Done {
			if l.Done[n].Out[s.Name] == nil {
				continue
			}
			if st := w.begins(i); st != nil {
				return origin{to: runtime.Target(st.number), leg: i, done: n + 1}
			}
			return origin{to: 1, done: n + 1}
		}
	}
	return origin{to: 1}
}

// begins returns the collect step that a leg begins with; nil for the first leg.
func (w *work) begins(leg int) *step {
	if n := w.f.byStep[w.s.Trail[leg].At]; n > 0 {
		return &w.f.steps[n-1]
	}
	return nil
}

// since returns the legs from an origin on.
func (w *work) since(o origin) []leg { return w.s.Trail[min(o.leg, len(w.s.Trail)):] }

// spent reports whether a change of a slot comes too late: a once action has worked with it, or ran in
// an earlier round of a loop that would begin anew.
func (w *work) spent(s *slot, o origin) bool {
	for _, l := range w.since(o) {
		if l.Past || slices.ContainsFunc(l.Done, func(d done) bool {
			n := w.f.byStep[d.At]
			return d.Once && (n == 0 || w.f.steps[n-1].reads(s))
		}) {
			return true
		}
	}
	return false
}

// reads reports whether an input of the step depends on a slot.
func (st *step) reads(s *slot) bool {
	for i := range st.Inputs {
		if e := st.inputs[i]; e != nil && e.reads(s) {
			return true
		}
		for _, in := range st.Inputs[i].Text {
			for _, variant := range in.Variants {
				if slices.ContainsFunc(variant, func(p runtime.Part) bool { return p.Slot == s.number }) {
					return true
				}
			}
		}
	}
	return false
}

// goBack has the flow run on from an origin. Slots are what they were there. What the user gave since
// then is not asked for again, and a step that did something since then keeps its result as long as it
// is given the same.
func (w *work) goBack(o origin) move {
	for _, l := range slices.Backward(w.since(o)) {
		for name, v := range l.Was { // each by itself
			delete(w.s.Given, name)
			delete(w.s.Sure, name)
			delete(w.s.Slots, name)
			if !isNull(v) {
				put(&w.s.Slots, name, v)
			}
		}
	}
	w.keep(w.since(o))
	w.s.Trail = w.s.Trail[:min(o.leg, len(w.s.Trail))]
	return w.leads(o.to)
}

// keep has the steps of legs find what they came to.
func (w *work) keep(legs []leg) {
	for _, l := range legs {
		if n := w.f.byStep[l.At]; n > 0 && l.Value != nil {
			s := &w.f.slots[w.f.steps[n-1].Slot-1]
			put(&w.s.Kept, l.At, done{At: l.At, Out: map[string]json.RawMessage{s.Name: l.Value}})
		}
		for _, d := range l.Done {
			put(&w.s.Kept, d.At, d)
		}
	}
}

// revise has what filled a slot have filled it with another value.
func (w *work) revise(s *slot, o origin, v json.RawMessage) {
	switch {
	case o.done > 0:
		w.s.Trail[o.leg].Done[o.done-1].Out[s.Name] = v
	case o.leg > 0 && o.leg < len(w.s.Trail):
		w.s.Trail[o.leg].Value = v
	}
}

// overrule has the set steps that fill a slot fill it with what the user says.
func (w *work) overrule(s *slot, v json.RawMessage) {
	for i := range w.f.steps {
		st := &w.f.steps[i]
		if slices.ContainsFunc(st.Set, func(b runtime.Bind) bool { return b.Slot == s.number }) {
			d := w.s.Kept[st.ID]
			put(&d.Out, s.Name, v)
			put(&w.s.Kept, st.ID, d)
		}
	}
}

// given returns what the user gave for a slot before the flow went back, and the collect step that took
// it. asks: the user wants to be asked by that step.
func (w *work) given(s *slot) (v json.RawMessage, by *step, asks bool) {
	for i := range w.f.steps {
		st := &w.f.steps[i]
		d, ok := w.s.Kept[st.ID]
		if ok && st.Kind == "collect" && st.Slot == s.number {
			return d.Out[s.Name], st, d.Out == nil
		}
	}
	return nil, nil, false
}

// begin begins a leg at a collect step. v is what the user gave, nil where the slot was filled.
func (w *work) begin(st *step, v json.RawMessage) {
	if !w.f.changes {
		return
	}
	w.root()
	if i := slices.IndexFunc(w.s.Trail, func(l leg) bool { return l.At == st.ID }); i > 0 {
		w.fold(i)
	}
	delete(w.s.Kept, st.ID)
	w.s.Trail = append(w.s.Trail, leg{At: st.ID, Value: v})
}

// did notes that a step has done something.
func (w *work) did(st *step, d done) {
	if !w.f.changes {
		return
	}
	w.root()
	for i := range w.s.Trail {
		l := &w.s.Trail[i]
		if n := slices.IndexFunc(l.Done, func(d done) bool { return d.At == st.ID }); n >= 0 {
			w.fold(i + 1)
			l.Past = l.Past || once(l.Done[n:])
			l.Done = l.Done[:n]
			break
		}
	}
	delete(w.s.Kept, st.ID)
	d.At = st.ID
	l := &w.s.Trail[len(w.s.Trail)-1]
	l.Done = append(l.Done, d)
}

// seal keeps the flow from going back before this place: what was done here stands.
func (w *work) seal() {
	if !w.f.changes {
		return
	}
	w.root()
	w.s.Trail[len(w.s.Trail)-1].Past = true
}

// root is the leg from the start of the flow.
func (w *work) root() {
	if len(w.s.Trail) == 0 {
		w.s.Trail = []leg{{}}
	}
}

// fold takes the legs from i on off the trail. They are an earlier round now.
func (w *work) fold(i int) {
	into := &w.s.Trail[i-1]
	for _, l := range w.s.Trail[i:] {
		into.Past = into.Past || l.Past || once(l.Done)
		for name, v := range l.Was { // each by itself
			if _, noted := into.Was[name]; !noted {
				put(&into.Was, name, v)
			}
		}
	}
	w.s.Trail = w.s.Trail[:i]
}

func once(list []done) bool { return slices.ContainsFunc(list, func(d done) bool { return d.Once }) }

// note notes what a slot is before a step of the flow writes it.
func (w *work) note(s *slot) {
	if !w.f.changes {
		return
	}
	w.root()
	l := &w.s.Trail[len(w.s.Trail)-1]
	if _, noted := l.Was[s.Name]; !noted {
		put(&l.Was, s.Name, w.s.Slots[s.Name])
	}
}

// again has a step that was done before the flow went back keep its result, if it is given the same. A
// once action that is given something else is refused: what it did stands.
func (w *work) again(st *step, in string) (kept bool, refused *runtime.Failure) {
	d, known := w.s.Kept[st.ID]
	switch {
	case !known:
		return false, nil
	case d.In == in:
		for name, v := range d.Out { // each by itself
			if s := w.f.slot(name); s != nil {
				w.put(s, v)
			}
		}
		w.did(st, d)
		return true, nil
	case d.Once:
		return false, &runtime.Failure{Code: runtime.CodeConflict, Text: "it has been done already, with other values"}
	}
	return false, nil
}

func isNull(v json.RawMessage) bool { return len(v) == 0 || string(v) == "null" }

// digest is a short form of what a step is given.
func digest(in []byte) string {
	sum := sha256.Sum256(in)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}
