package review

import (
	"slices"

	"github.com/routegen/routegen/generator/plan"
)

// renamer writes the steps of an old flow with the names that flows and slots have now, so that a rename that the spec declares is one
// change and not one in every step that speaks of it.
type renamer struct {
	w    *walker
	slot map[string]*plan.FlowSlot // by old name
	to   map[string]*plan.FlowStep // by old id
}

func (w *walker) renamed(o, n *plan.Flow) []plan.FlowStep {
	r := renamer{w, slotPairs(o, n).next, stepPairs(o, n).next}
	out := slices.Clone(o.Steps)
	for i := range out {
		r.step(&out[i])
	}
	return out
}

func (r renamer) name(slot string) string {
	if s := r.slot[slot]; s != nil {
		return s.Key
	}
	return slot
}

// target is a step under its new id.
func (r renamer) target(id string) string {
	if s := r.to[id]; s != nil {
		return s.ID
	}
	return id
}

func (r renamer) step(s *plan.FlowStep) {
	s.When, s.Cond, s.Text, s.Invalid, s.Slot = r.expr(s.When), r.expr(s.Cond), r.words(s.Text), r.words(s.Invalid), r.name(s.Slot)
	for _, to := range []*string{
		&s.Next, &s.Else, &s.Body, &s.Inside, &s.OnInvalid, &s.OnTimeout, &s.OnCancel, &s.OnError, &s.OnYes, &s.OnNo, &s.OnChange,
	} {
		*to = r.target(*to)
	}
	s.Arms = slices.Clone(s.Arms)
	for i := range s.Arms {
		s.Arms[i].If, s.Arms[i].To = *r.expr(&s.Arms[i].If), r.target(s.Arms[i].To)
	}
	s.Set, s.Inputs, s.Outputs = r.binds(s.Set, r.name), r.binds(s.Inputs, same), r.binds(s.Outputs, same)
	if a := r.w.flowsOf.actions.next[s.Action]; a != nil {
		s.Action = a.Key
	}
	if v := r.w.flowsOf.validators.next[s.Validator]; v != nil {
		s.Validator = v.Key
	}
	called := r.w.flowsOf.flows.next[s.Flow]
	if called == nil {
		return
	}
	there := renamer{w: r.w, slot: slotPairs(talkOf(r.w.old).Flow(s.Flow), called).next}
	s.Flow = called.Key
	for _, list := range [][]plan.Bind{s.Inputs, s.Outputs} {
		for i := range list {
			list[i].Name = there.name(list[i].Name)
		}
	}
}

func same(name string) string { return name }

func (r renamer) binds(list []plan.Bind, name func(string) string) []plan.Bind {
	out := slices.Clone(list)
	for i := range out {
		b := &out[i]
		b.Name, b.Slot, b.Value, b.Text = name(b.Name), r.name(b.Slot), r.expr(b.Value), r.words(b.Text)
	}
	return out
}

func (r renamer) expr(e *plan.Expr) *plan.Expr {
	if e == nil {
		return nil
	}
	out := *e
	out.Slot, out.Args = r.name(e.Slot), slices.Clone(e.Args)
	for i := range out.Args {
		out.Args[i] = *r.expr(&out.Args[i])
	}
	return &out
}

func (r renamer) words(w plan.Words) plan.Words {
	out := slices.Clone(w)
	for i := range out {
		out[i].Variants = slices.Clone(out[i].Variants)
		for j := range out[i].Variants {
			parts := slices.Clone(out[i].Variants[j])
			for k := range parts {
				parts[k].Slot = r.name(parts[k].Slot)
			}
			out[i].Variants[j] = parts
		}
	}
	return out
}
