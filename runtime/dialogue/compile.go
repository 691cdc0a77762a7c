package dialogue

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// flow is a flow, with what is decided of it once.
type flow struct {
	*runtime.Flow
	number  int
	slots   []slot
	steps   []step
	bySlot  map[string]int // earlier names too
	byStep  map[string]int
	trigger *expr
	renamed bool // some slot or step had another name
	checks  bool // a validator is asked: somebody else's code
	changes bool // users may change a slot
}

// step is a step, with what is decided of it once.
type step struct {
	*runtime.FlowStep
	number int
	when   *expr
	cond   *expr
	arms   []*expr
	set    []*expr
	inputs []*expr
	asks   asking // of a question
}

// slot is a slot, with what is decided of it once.
type slot struct {
	*runtime.FlowSlot
	number  int
	collect int  // the step that asks for it; 0: none
	confirm bool // a confirm writes it
	values  []runtime.EnumValue
	shape   *runtime.Shape
}

// compiler notes the first thing that does not fit.
type compiler struct {
	m   *Machine
	at  string
	err error
}

func (c *compiler) wrongf(format string, args ...any) {
	if c.err == nil {
		c.err = invalid("dialogue", "%s: %w", c.at, fmt.Errorf(format, args...))
	}
}

// row checks the number of a row; 0 is none.
func (c *compiler) row(what string, n, rows int, needed bool) bool {
	if n < 0 || n > rows || needed && n == 0 {
		c.wrongf("%s %d is none of %d", what, n, rows)
		return false
	}
	return n > 0
}

func (m *Machine) compile() error {
	c := &compiler{m: m, at: "tables"}
	t := m.tables
	m.flows = make([]flow, len(t.Flows))
	c.row("welcome flow", t.Welcome, len(t.Flows), false)
	c.row("fallback flow", t.Fallback, len(t.Flows), false)
	for i := range t.Flows {
		f := &m.flows[i]
		*f = flow{Flow: &t.Flows[i], number: i + 1, bySlot: map[string]int{}, byStep: map[string]int{}}
		for _, name := range append(slices.Clone(f.Was), f.Name) {
			m.byName[name] = f
		}
	}
	for i := range m.flows { // a name of today wins over an earlier one
		m.byName[m.flows[i].Name] = &m.flows[i]
	}
	for i := range m.flows {
		c.flow(&m.flows[i])
	}
	return c.err
}

func (c *compiler) flow(f *flow) {
	c.at = "flow " + f.Name
	if f.Name == "" || len(f.Steps) == 0 {
		c.wrongf("it has no name or no step")
		return
	}
	f.slots = make([]slot, len(f.Slots))
	for i := range f.slots {
		f.slots[i] = newSlot(&f.Slots[i], i+1)
		for _, was := range f.slots[i].Was {
			f.bySlot[was], f.renamed = i+1, true
		}
	}
	for i := range f.slots {
		f.bySlot[f.slots[i].Name] = i + 1
		if d := f.slots[i].Default; d != "" {
			if _, wrong := f.slots[i].fit(json.RawMessage(d)); wrong != "" {
				c.wrongf("the default of slot %s: %s", f.slots[i].Name, wrong)
			}
		}
	}
	f.trigger = c.expr(f, f.Trigger)
	c.target(f, f.OnError)
	f.steps = make([]step, len(f.Steps))
	for i := range f.steps {
		f.steps[i] = step{FlowStep: &f.Steps[i], number: i + 1}
		if f.byStep[f.steps[i].ID] != 0 || f.steps[i].ID == "" {
			c.wrongf("step %q is there twice, or has no id", f.steps[i].ID)
		}
		f.byStep[f.steps[i].ID] = i + 1
	}
	for i := range f.steps { // a name of today wins over an earlier one
		for _, was := range f.steps[i].Was {
			if f.byStep[was] == 0 {
				f.byStep[was], f.renamed = i+1, true
			}
		}
	}
	for i := range f.steps {
		c.at = "flow " + f.Name + " step " + f.steps[i].ID
		c.step(f, &f.steps[i])
	}
	f.changes = slices.ContainsFunc(f.slots, func(s slot) bool { return f.open(&s) })
}

// step checks a step and decides what can be decided of it. Fields that a kind does not use are empty and pass.
func (c *compiler) step(f *flow, st *step) {
	if c.m.steps[st.Kind] == nil {
		c.wrongf("there is no kind of step %q", st.Kind)
		return
	}
	t := c.m.tables
	asks := st.Kind == "collect" || st.Kind == "confirm"
	c.row("flow", st.Flow, len(t.Flows), st.Kind == "call" || st.Kind == "link")
	c.row("action", st.Action, len(t.Actions), st.Kind == "action")
	c.row("loop", st.Inside, st.number-1, false)
	f.checks = c.row("validator", st.Check, len(t.Validators), false) || f.checks
	for _, to := range []runtime.Target{st.Next, st.Else, st.Body, st.OnInvalid, st.OnTimeout, st.OnCancel, st.OnError, st.OnYes, st.OnNo, st.OnChange} {
		c.target(f, to)
	}
	c.texts(f, st.Text)
	c.texts(f, st.Invalid)
	st.when, st.cond = c.expr(f, st.When), c.expr(f, st.Cond)
	for i := range st.Arms {
		c.target(f, st.Arms[i].To)
		st.arms = append(st.arms, c.expr(f, &st.Arms[i].If))
	}
	st.set, st.inputs = c.binds(f, st.Set, true), c.binds(f, st.Inputs, false)
	for _, b := range st.Outputs {
		c.row("slot", b.Slot, len(f.slots), true)
	}
	switch {
	case st.Kind == "while" && (st.cond == nil || st.Body < 1):
		c.wrongf("it needs a condition and a first step")
	case st.Kind == "generate" && c.m.cfg.Model == nil:
		c.wrongf("there is no model: set Config.Model")
	}
	if c.row("slot", st.Slot, len(f.slots), asks) && asks && c.err == nil {
		s := &f.slots[st.Slot-1]
		s.confirm = s.confirm || st.Kind == "confirm"
		if st.Kind == "collect" && s.collect == 0 {
			s.collect = st.number
		}
		st.asks = ask(f, st, s)
	}
}

func (c *compiler) target(f *flow, to runtime.Target) {
	if to < runtime.TargetError || int(to) > len(f.Steps) {
		c.wrongf("target %d is none of %d steps", to, len(f.Steps))
	}
}

func (c *compiler) texts(f *flow, texts runtime.Texts) {
	for _, in := range texts {
		if len(in.Variants) == 0 {
			c.wrongf("a text has no words")
		}
		for _, variant := range in.Variants {
			for _, part := range variant {
				c.row("slot", part.Slot, len(f.slots), false)
			}
		}
	}
}

// binds compiles the values of binds, in their order; nil stands for a text.
func (c *compiler) binds(f *flow, binds []runtime.Bind, sets bool) []*expr {
	var out []*expr
	for i := range binds {
		c.row("slot", binds[i].Slot, len(f.slots), sets)
		c.texts(f, binds[i].Text)
		out = append(out, c.expr(f, binds[i].Value))
	}
	return out
}

// within reports whether a step belongs to a loop, or to one inside it.
func (f *flow) within(step, loop int) bool {
	for at := f.steps[step-1].Inside; at > 0; at = f.steps[at-1].Inside {
		if at == loop {
			return true
		}
	}
	return false
}

// rename gives what is stored the names that slots and steps have today.
func (f *flow) rename(s *state) {
	if !f.renamed {
		return
	}
	s.Slots, s.Given, s.Sure, s.Offers = renamed(s.Slots, f.slotNow), renamed(s.Given, f.slotNow), renamed(s.Sure, f.slotNow), renamed(s.Offers, f.slotNow)
	s.Rounds, s.Entered = renamed(s.Rounds, f.stepNow), renamed(s.Entered, f.stepNow)
	for i := range s.Trail {
		l := &s.Trail[i]
		l.At, l.Was = f.stepNow(l.At), renamed(l.Was, f.slotNow)
		for n := range l.Done {
			l.Done[n] = f.doneNow(l.Done[n])
		}
	}
	s.Kept = renamed(s.Kept, f.stepNow)
	for id, d := range s.Kept { // each by itself
		s.Kept[id] = f.doneNow(d)
	}
}

func (f *flow) doneNow(d done) done {
	d.At, d.Out = f.stepNow(d.At), renamed(d.Out, f.slotNow)
	return d
}

func (f *flow) slotNow(name string) string {
	if s := f.slot(name); s != nil {
		return s.Name
	}
	return name
}

func (f *flow) stepNow(id string) string {
	if n := f.byStep[id]; n > 0 {
		return f.steps[n-1].ID
	}
	return id
}

func renamed[T any](had map[string]T, now func(string) string) map[string]T {
	if had == nil {
		return nil
	}
	out := make(map[string]T, len(had))
	for name, v := range had { // into another map: the order does not show
		out[now(name)] = v
	}
	return out
}

// slot returns the slot of a name, or nil.
func (f *flow) slot(name string) *slot {
	if n := f.bySlot[name]; n > 0 {
		return &f.slots[n-1]
	}
	return nil
}

// words is a name as a person reads it.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// title is how a flow is called when one speaks of it.
func (f *flow) title() string {
	if f.DisplayName != "" {
		return f.DisplayName
	}
	return words(f.Name)
}

var errLiteral = errors.New("a literal is no JSON")
