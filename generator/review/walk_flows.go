package review

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
)

// talkOf is the flows of a plan; of one without any, none.
func talkOf(p *plan.Plan) *plan.Talk {
	if p.Talk == nil {
		return &plan.Talk{}
	}
	return p.Talk
}

// flowMatch pairs everything that flows are made of.
type flowMatch struct {
	flows      pairs[plan.Flow]
	actions    pairs[plan.Action]
	validators pairs[plan.Validator]
}

func newFlowMatch(old, now *plan.Talk) flowMatch {
	return flowMatch{
		flows:      follow(old.Flows, now.Flows, func(f *plan.Flow) string { return f.Key }, func(f *plan.Flow) []string { return f.Was }),
		actions:    follow(old.Actions, now.Actions, func(a *plan.Action) string { return a.Key }, func(a *plan.Action) []string { return a.Was }),
		validators: follow(old.Validators, now.Validators, func(v *plan.Validator) string { return v.Key }, func(v *plan.Validator) []string { return v.Was }),
	}
}

func stepPairs(o, n *plan.Flow) pairs[plan.FlowStep] {
	return follow(o.Steps, n.Steps, func(s *plan.FlowStep) string { return s.ID }, func(s *plan.FlowStep) []string { return s.Was })
}

func slotPairs(o, n *plan.Flow) pairs[plan.FlowSlot] {
	return follow(o.Slots, n.Slots, func(s *plan.FlowSlot) string { return s.Key }, func(s *plan.FlowSlot) []string { return s.Was })
}

// allFlows compares what flows are made of.
func (w *walker) allFlows() {
	old, now := talkOf(w.old), talkOf(w.now)
	if c := differences(talkSettings(old), talkSettings(now)); len(c) > 0 && w.old.Talk != nil && w.now.Talk != nil {
		w.at("setting dialogue", "setting", "dialogue", "dialogue", spec.Pos{Line: 1, Column: 1}, 0).hitf("FLOW_CHANGED", "%s", strings.Join(c, ", "))
	}
	for i := range now.Flows {
		n := &now.Flows[i]
		if o := w.flowsOf.flows.prev[n.Key]; o != nil {
			w.flow(o, n)
			continue
		}
		c := w.flowChange(nil, n)
		w.formerly(c, n.Was)
		c.detailf("%s, %s", counted(len(n.Steps), "step"), counted(len(n.Slots), "slot"))
		c.notef(callers, "%s, %s and the names of its steps and slots are new", n.Const, n.Struct)
		c.notef(stored, "none: nothing stored has it")
		if !n.Hidden {
			c.notef(models, "may start %s", n.Key)
		}
	}
	for i := range old.Flows {
		if o := &old.Flows[i]; w.flowsOf.flows.next[o.Key] == nil {
			c := w.flowChange(o, nil)
			c.hitf("GO_API_NO_DELETE", "%s, %s and the names of its steps and slots are gone", o.Const, o.Struct)
			c.unkept(o.Key, w.now.Reserved)
		}
	}
	w.flowOrder(old, now)
	w.allActions(old, now)
}

// flowOrder tells that the flows which may be started, before and now, stand in another order.
func (w *walker) flowOrder(old, now *plan.Talk) {
	var before, after []string
	for i := range old.Flows {
		if n := w.flowsOf.flows.next[old.Flows[i].Key]; n != nil && !n.Hidden && !old.Flows[i].Hidden {
			before = append(before, n.Key)
		}
	}
	for i := range now.Flows {
		if o := w.flowsOf.flows.prev[now.Flows[i].Key]; o != nil && !o.Hidden && !now.Flows[i].Hidden {
			after = append(after, now.Flows[i].Key)
		}
	}
	order(func() *change {
		return w.at("setting flows", "setting", "flows", "flows", spec.Pos{Line: 1, Column: 1}, 0)
	}, before, after, models, "are offered the flows in another order, and of two that a text would start the first is taken")
}

// talkSettings is what stands beside the flows.
func talkSettings(t *plan.Talk) map[string]json.RawMessage {
	return membersOf(t, "flows", "actions", "validators")
}

// flowChange is the change of a flow; o is nil for a new one, n for one that is gone.
func (w *walker) flowChange(o, n *plan.Flow) *change {
	if n == nil {
		return w.at("flow "+o.Key, "flow", o.Key, "", w.goneFlow(o), o.Line)
	}
	pos := spec.Pos{Line: n.Line, Column: n.Column}
	if o == nil {
		return w.at("flow "+n.Key, "flow", "", n.Key, pos, 0)
	}
	return w.at("flow "+n.Key, "flow", o.Key, n.Key, pos, o.Line)
}

// goneFlow is where a removed flow would stand: at the nearest flow before it that is still there.
func (w *walker) goneFlow(gone *plan.Flow) spec.Pos {
	pos := spec.Pos{Line: 1, Column: 1}
	for i := range w.old.Talk.Flows {
		o := &w.old.Talk.Flows[i]
		if o.Key == gone.Key {
			break
		}
		if n := w.flowsOf.flows.next[o.Key]; n != nil {
			pos = spec.Pos{Line: n.Line, Column: n.Column}
		}
	}
	return pos
}

func (w *walker) stepChange(f *plan.Flow, o, n *plan.FlowStep) *change {
	name := func(s *plan.FlowStep) string { return f.Key + "." + s.ID }
	if n == nil {
		return w.at("step "+name(o), "step", name(o), "", spec.Pos{Line: f.Line, Column: f.Column}, o.Line)
	}
	pos := spec.Pos{Line: n.Line, Column: n.Column}
	if o == nil {
		return w.at("step "+name(n), "step", "", name(n), pos, 0)
	}
	return w.at("step "+name(n), "step", name(o), name(n), pos, o.Line)
}

func (w *walker) flow(o, n *plan.Flow) {
	c := func() *change { return w.flowChange(o, n) }
	if o.Const != n.Const {
		c().hitf("GO_NAME_SAME", "%s is %s now, and so are %s and the names of its steps and slots", o.Const, n.Const, o.Struct)
	}
	if o.Key != n.Key {
		c().notef(stored, "none: the old name is read")
	}
	if o.DisplayName != n.DisplayName && o.Key == n.Key {
		c().hitf("DISPLAY_NAME_CHANGED", "%q is %q now", o.DisplayName, n.DisplayName)
	}
	pos := spec.Pos{Line: n.Line, Column: n.Column}
	w.text("flow "+n.Key, pos, o.Doc, n.Doc)
	if !slices.Equal(o.Intents, n.Intents) {
		c().hitf("DOC_CHANGED", "the phrases that start it were [%s] and are [%s]", strings.Join(o.Intents, ", "), strings.Join(n.Intents, ", "))
	}
	left := []string{"key", "const", "displayName", "doc", "was", "intents", "struct", "slots", "steps", "reserved"}
	was := *o
	was.OnError = renamer{to: stepPairs(o, n).next}.target(o.OnError)
	was.Trigger = renamer{w: w, slot: slotPairs(o, n).next}.expr(o.Trigger)
	if d := differences(membersOf(was, left...), membersOf(n, left...)); len(d) > 0 {
		c().hitf("FLOW_CHANGED", "%s", strings.Join(d, ", "))
	}
	freed(c, "name of a step or slot", o.Reserved, n.Reserved, n.Slots, func(s *plan.FlowSlot) []string { return s.Was })
	before, after := o.Record(), n.Record()
	w.seenByModel[after.Name] = true // understanding fills them
	w.fields(&before, &after, false)
	w.slotPorts(o, n)
	w.steps(o, n)
}

// slotPorts compares what a flow takes and gives, as its callers see it.
func (w *walker) slotPorts(o, n *plan.Flow) {
	both := slotPairs(o, n)
	rec := n.Record()
	for i := range n.Slots {
		is := &n.Slots[i]
		was := both.prev[is.Key]
		if was == nil || was.Input == is.Input && was.Output == is.Output && was.Needed == is.Needed {
			continue
		}
		w.fieldChange(&rec, &was.Field, &is.Field).hitf("FLOW_CHANGED", "it was %s and is %s", portText(was), portText(is))
	}
}

func portText(s *plan.FlowSlot) string {
	out := "kept inside"
	switch {
	case s.Input && s.Output:
		out = "taken and given"
	case s.Input:
		out = "taken"
	case s.Output:
		out = "given"
	}
	return ifElse(s.Needed, "always ", "") + out
}

func (w *walker) steps(o, n *plan.Flow) {
	old := *o
	old.Steps = w.renamed(o, n)
	both := stepPairs(&old, n)
	var before, after []string
	for i := range n.Steps {
		s := &n.Steps[i]
		was := both.prev[s.ID]
		if was == nil {
			c := w.stepChange(n, nil, s)
			w.formerly(c, s.Was)
			c.detailf("%s", s.Kind)
			c.notef(callers, "%s is new", s.Const)
			c.notef(stored, "none: nothing stored stands at it")
			continue
		}
		after = append(after, was.ID)
		w.step(n, was, s)
	}
	for i := range o.Steps {
		s := &o.Steps[i]
		if both.next[s.ID] != nil {
			before = append(before, s.ID)
			continue
		}
		c := w.stepChange(n, s, nil)
		c.hitf("GO_API_NO_DELETE", "%s is gone", s.Const)
		c.unkept(s.ID, n.Reserved)
	}
	if !slices.Equal(before, after) {
		w.flowChange(o, n).detailf("its steps stand in another order")
	}
}

func (w *walker) step(f *plan.Flow, o, n *plan.FlowStep) {
	c := func() *change { return w.stepChange(f, o, n) }
	for _, t := range [][2]plan.Words{{o.Text, n.Text}, {o.Invalid, n.Invalid}} {
		was, is := wordsText(t[0]), wordsText(t[1])
		switch {
		case was == is:
		case n.Kind == plan.StepGenerate:
			w.prompt("step "+f.Key+"."+n.ID, spec.Pos{Line: n.Line, Column: n.Column}, was, is)
		default:
			c().hitf("SAID_TEXT_CHANGED", "%s", wordDelta(was, is))
		}
	}
	if o.Const != n.Const && o.ID != n.ID {
		c().hitf("GO_NAME_SAME", "%s is %s now", o.Const, n.Const)
		c().notef(stored, "none: the old id is read")
	}
	left := []string{"id", "const", "was", "text", "invalid"}
	if d := differences(membersOf(o, left...), membersOf(n, left...)); len(d) > 0 {
		c().hitf("STEP_CHANGED", "%s", strings.Join(d, ", "))
	}
}

// wordsText is a text in every language and variation.
func wordsText(w plan.Words) string {
	var lines []string
	for _, in := range w {
		for _, v := range in.Variants {
			var b strings.Builder
			for _, p := range v {
				b.WriteString(p.Text)
				if name := p.Slot + p.Var; name != "" {
					b.WriteString("{" + name + "}")
				}
			}
			lines = append(lines, strings.TrimSpace(in.Language+" "+b.String()))
		}
	}
	return strings.Join(lines, "\n")
}

// membersOf is what the plan's JSON says of a thing, without the members named.
func membersOf(v any, without ...string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if text, err := json.Marshal(v); err == nil { // rows of a plan are plain data
		_ = json.Unmarshal(text, &out)
	}
	for _, name := range without {
		delete(out, name)
	}
	return out
}

// differences lists the members that changed, sorted by name.
func differences(was, is map[string]json.RawMessage) []string {
	names := map[string]bool{}
	for name := range was {
		names[name] = true
	}
	for name := range is {
		names[name] = true
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if a, b := string(was[name]), string(is[name]); a != b {
			out = append(out, name+" was "+nameOr(a, "not given")+" and is "+nameOr(b, "not given"))
		}
	}
	return out
}
