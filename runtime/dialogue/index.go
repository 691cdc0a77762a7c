package dialogue

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// flow is a flow of the tables and where its slots and steps are by name.
type flow struct {
	*runtime.Flow
	number       int
	slots        []slot
	steps        []step
	bySlot       map[string]int // earlier names too
	byStep       map[string]int
	hasValidator bool // a validator is called, which is user code
	editable     bool // users may change a slot
}

// step is a row of a flow's steps and its number.
type step struct {
	*runtime.FlowStep
	number int
}

// slot is a row of a flow's slots and its number.
type slot struct {
	*runtime.FlowSlot
	number  int
	collect int  // the step that asks for it; 0 if no step does
	confirm bool // a confirm writes it
}

func (m *Machine) indexTables() error {
	t := m.tables
	m.flows = make([]flow, len(t.Flows))
	rows := indexNames(len(t.Flows), func(i int) (string, []string) {
		return t.Flows[i].Name, t.Flows[i].Was
	})
	for name, n := range rows { // into another map: the order does not show
		m.byName[name] = &m.flows[n-1]
	}
	for i := range m.flows {
		m.flows[i].Flow, m.flows[i].number = &t.Flows[i], i+1
		if err := m.indexFlow(&m.flows[i]); err != nil {
			return runtime.Errorf(runtime.CodeInvalid, "dialogue", "flow %s %w", t.Flows[i].Name,
				err)
		}
	}
	return nil
}

// indexNames returns the numbers of rows by their names. A current name wins over an earlier one.
func indexNames(rows int, names func(i int) (name string, was []string)) map[string]int {
	out := make(map[string]int, rows)
	for i := range rows {
		_, was := names(i)
		for _, name := range was {
			out[name] = i + 1
		}
	}
	for i := range rows {
		name, _ := names(i)
		out[name] = i + 1
	}
	return out
}

func (m *Machine) indexFlow(f *flow) error {
	f.slots, f.steps = make([]slot, len(f.Slots)), make([]step, len(f.Steps))
	f.bySlot = indexNames(len(f.Slots), func(i int) (string, []string) {
		return f.Slots[i].Name, f.Slots[i].Was
	})
	f.byStep = indexNames(len(f.Steps), func(i int) (string, []string) {
		return f.Steps[i].ID, f.Steps[i].Was
	})
	for i := range f.slots {
		f.slots[i] = slot{FlowSlot: &f.Slots[i], number: i + 1}
	}
	for i := range f.steps {
		f.steps[i] = step{FlowStep: &f.Steps[i], number: i + 1}
		st := &f.steps[i]
		if err := m.checkStep(f, st); err != nil {
			return fmt.Errorf("step %s: %w", st.ID, err)
		}
		switch {
		case st.Kind == "confirm":
			f.slots[st.Slot-1].confirm = true
		case st.Kind == "collect" && f.slots[st.Slot-1].collect == 0:
			f.slots[st.Slot-1].collect = st.number
		}
		f.hasValidator = f.hasValidator || st.Check > 0
	}
	f.editable = slices.ContainsFunc(f.slots, func(s slot) bool { return f.isSettable(&s) })
	return nil
}

// checkStep checks the kind of a step and the numbers of rows in it, where 0 stands for no row.
func (m *Machine) checkStep(f *flow, st *step) error {
	switch {
	case m.steps[st.Kind] == nil:
		return fmt.Errorf("there is no kind of step %q", st.Kind)
	case st.Kind == "generate" && m.cfg.Model == nil:
		return errors.New("there is no model: set Config.Model")
	}
	for _, r := range []struct {
		what    string
		n, rows int
		needed  bool
	}{
		{"flow", st.Flow, len(m.tables.Flows), st.Kind == "call" || st.Kind == "link"},
		{"action", st.Action, len(m.tables.Actions), st.Kind == "action"},
		{"slot", st.Slot, len(f.Slots), st.Kind == "collect" || st.Kind == "confirm"},
		{"validator", st.Check, len(m.tables.Validators), false},
		{"loop", st.Inside, st.number - 1, false},
	} {
		if r.n < 0 || r.n > r.rows || r.needed && r.n == 0 {
			return fmt.Errorf("there is no %s %d: there are %d", r.what, r.n, r.rows)
		}
	}
	for _, to := range []runtime.Target{st.Next, st.Else, st.Body, st.OnInvalid, st.OnTimeout,
		st.OnCancel, st.OnError, st.OnYes, st.OnNo, st.OnChange} {
		if to < runtime.TargetError || int(to) > len(f.Steps) {
			return fmt.Errorf("there is no target %d: there are %d steps", to, len(f.Steps))
		}
	}
	return nil
}

// isInside reports whether a step is in a loop, or in one inside it.
func (f *flow) isInside(step, loop int) bool {
	for at := f.steps[step-1].Inside; at > 0; at = f.steps[at-1].Inside {
		if at == loop {
			return true
		}
	}
	return false
}

// findSlot returns the slot of a name, or nil.
func (f *flow) findSlot(name string) *slot {
	if n := f.bySlot[name]; n > 0 {
		return &f.slots[n-1]
	}
	return nil
}

// spacedName returns a name with spaces, for people.
func spacedName(name string) string { return strings.ReplaceAll(name, "_", " ") }

// title returns the name of a flow for people.
func (f *flow) title() string {
	if f.DisplayName != "" {
		return f.DisplayName
	}
	return spacedName(f.Name)
}
