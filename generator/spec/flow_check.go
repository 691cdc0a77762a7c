package spec

import (
	"strconv"
	"strings"

	"github.com/routegen/routegen/generator/report"
)

// flowChecker holds what the checks of all flows share.
type flowChecker struct {
	*checker

	flows       map[string]*Flow
	doors       map[*Flow]*door
	forms       map[string]stepForm
	stepKeys    map[string]bool // all that the language has
	actions     map[string]*Action
	validators  map[string]*Validator
	flowNames   []string
	actionNames []string
	checkNames  []string
	languages   []string        // the first is that of texts without one
	reached     map[string]bool // flows that something leads to: call, link, welcome, fallback
	used        map[string]bool // actions and validators, with their section in front
}

// door is what a flow takes and gives.
type door struct {
	slots        map[string]*Field
	takes, gives map[string]bool
	needs        []string // inputs that must be given
}

// flowScope is one flow while it is checked.
type flowScope struct {
	*flowChecker

	flow      *Flow
	path      string
	slots     map[string]*Field
	slotNames []string
	steps     []*flowStep // in the order of the file, the body of a loop behind its step
	byID      map[string]*flowStep
	targets   []string        // the names of its steps, and the words beside them
	read      map[string]bool // slots whose values are used
	set       map[string]bool // slots that a step fills
	emptied   map[string]bool // slots that a step empties
	// something in it was not understood, so it is not known where its steps lead
	vague bool
}

// checkFlows checks everything about dialogue flows.
func (c *checker) checkFlows() {
	if len(c.spec.Flows) == 0 {
		c.checkNoFlows()
		return
	}
	f := &flowChecker{
		checker: c, flows: map[string]*Flow{}, actions: map[string]*Action{},
		validators: map[string]*Validator{},
		reached:    map[string]bool{}, used: map[string]bool{}, languages: []string{"en"},
		doors: map[*Flow]*door{}, forms: stepForms(), stepKeys: map[string]bool{},
	}
	for _, k := range language().Follow("flows", "steps").Keys {
		f.stepKeys[k.Name] = true
	}
	f.index()
	f.checkTalk()
	f.checkActions()
	f.checkResponses()
	var scopes []*flowScope
	broken := f.brokenFlows()
	for _, flow := range c.spec.Flows {
		s := f.scope(flow)
		s.vague = broken[flow.Key.Value]
		s.checkFlow()
		scopes = append(scopes, s)
	}
	f.checkCallLoops(scopes)
	f.lint(scopes)
}

// checkNoFlows refuses what is of no use without flows.
func (c *checker) checkNoFlows() {
	none := func(key string, at report.Span) {
		c.fail(RuleFlowNone, "/"+key, at, "add flows:, or remove it", "there are %s, but no flows",
			key)
	}
	s := c.spec
	if s.Talk != nil {
		c.fail(RuleFlowNone, "/dialogue", s.Talk.At, "add flows:, or remove it",
			"there are settings of flows, but no flows")
	}
	if len(s.Actions) > 0 {
		none("actions", s.Actions[0].Key.At)
	}
	if len(s.Validators) > 0 {
		none("validators", s.Validators[0].Key.At)
	}
	if len(s.Responses) > 0 {
		none("responses", s.Responses[0].Key.At)
	}
}

// brokenFlows returns the flows in which there are errors.
func (f *flowChecker) brokenFlows() map[string]bool {
	broken := map[string]bool{}
	for i := range f.findings {
		if rest, ok := strings.CutPrefix(f.findings[i].Path, "/flows/"); ok &&
			f.findings[i].Severity == report.Error {
			name, _, _ := strings.Cut(rest, "/")
			broken[name] = true
		}
	}
	return broken
}

func (f *Flow) path() string { return "/flows/" + pointerEscape(f.Key.Value) }

func (f *flowChecker) index() {
	s := f.spec
	for _, flow := range s.Flows {
		f.flows[flow.Key.Value] = flow
		f.flowNames = append(f.flowNames, flow.Key.Value)
		f.doors[flow] = flow.door()
	}
	for _, a := range s.Actions {
		f.actions[a.Key.Value] = a
		f.actionNames = append(f.actionNames, a.Key.Value)
	}
	for _, v := range s.Validators {
		f.validators[v.Key.Value] = v
		f.checkNames = append(f.checkNames, v.Key.Value)
	}
	if t := s.Talk; t != nil {
		if t.Language.Set() {
			f.languages[0] = t.Language.Value
		}
		for _, l := range t.Languages {
			if l.Value == f.languages[0] {
				f.fail(RuleDuplicateItem, "/dialogue/languages", l.At, "remove it",
					"%q is the language already", l.Value)
			}
			f.languages = append(f.languages, l.Value)
		}
	}
	for _, name := range s.Reserved {
		switch {
		case f.flows[name.Value] != nil:
			f.reportRemoved(name, f.flows[name.Value].Key.At, f.flows[name.Value].path())
		case f.actions[name.Value] != nil:
			f.reportRemoved(name, f.actions[name.Value].Key.At, "/actions/"+name.Value)
		case f.validators[name.Value] != nil:
			f.reportRemoved(name, f.validators[name.Value].Key.At, "/validators/"+name.Value)
		}
	}
}

// ref looks up a name among those that are declared and reports when it is not there.
func ref[T any](f *flowChecker, declared map[string]*T, names []string, rule, what string, t Text,
	path string) *T {
	if !t.Set() {
		return nil
	}
	if found := declared[t.Value]; found != nil {
		return found
	}
	f.noSuch(rule, what, t, path, names)
	return nil
}

// noSuch reports a name that is not declared, with the nearest one.
func (f *flowChecker) noSuch(rule, what string, t Text, path string, names []string) {
	f.missing(rule, "there is no "+what, t, path, names)
}

// missing reports a name that is not there; the message ends with it.
func (f *flowChecker) missing(rule, message string, t Text, path string, names []string) {
	known := ""
	if len(names) > 0 && len(names) <= maxNamed {
		known = "there is " + strings.Join(names, ", ")
	}
	f.failNear(rule, path, t, names, known, "%s %q", message, t.Value)
}

func (f *flowChecker) checkTalk() {
	t := f.spec.Talk
	if t == nil {
		return
	}
	f.checkMost(t.MaxDepth, "/dialogue/max_depth", 32)
	f.checkMost(t.NoProgress, "/dialogue/no_progress/turns", 1000)
	for _, start := range []struct {
		key  string
		flow Text
	}{{"welcome", t.Welcome}, {"fallback", t.Fallback}} {
		flow := ref(f, f.flows, f.flowNames, RuleFlowRefFlow, "flow", start.flow,
			"/dialogue/"+start.key)
		if flow == nil {
			continue
		}
		f.reached[flow.Key.Value] = true
		if needed := f.doors[flow].needs; len(needed) > 0 {
			f.fail(RuleFlowInputMissing, "/dialogue/"+start.key, start.flow.At,
				"write "+needed[0]+"? in its inputs", "flow %q needs %s, and it is not given here",
				flow.Key.Value, needed[0]).
				relatedf(flow.Key.At, "%q is declared here", flow.Key.Value)
		}
	}
}

func (f *Flow) door() *door {
	d := &door{slots: map[string]*Field{}, takes: map[string]bool{}, gives: map[string]bool{}}
	for _, slot := range f.Slots {
		d.slots[slot.Key.Value] = slot
	}
	for _, in := range f.Inputs {
		name, optional := strings.CutSuffix(in.Value, "?")
		d.takes[name] = true
		if !optional {
			d.needs = append(d.needs, name)
		}
	}
	for _, out := range f.Outputs {
		d.gives[strings.TrimSuffix(out.Value, "?")] = true
	}
	return d
}

// params are the inputs or outputs of an action or a flow.
type params struct {
	what  string // action "pay"
	get   func(name string) *Field
	names func() []string
}

func (f *flowChecker) ofAction(a *Action, list []*Field) params {
	return params{
		"action " + strconv.Quote(a.Key.Value),
		func(name string) *Field { return find(f.checker, list, name) },
		func() []string { return names(list[:min(len(list), maxCandidates)]) },
	}
}

func (f *flowChecker) ofFlow(flow *Flow, legal map[string]bool) params {
	d := f.doors[flow]
	return params{
		"flow " + strconv.Quote(flow.Key.Value),
		func(name string) *Field {
			if !legal[name] {
				return nil
			}
			return d.slots[name]
		},
		func() (out []string) {
			for _, slot := range flow.Slots {
				if legal[slot.Key.Value] {
					out = append(out, slot.Key.Value)
				}
			}
			return out
		},
	}
}

// checkMost requires a number of at least 1.
func (f *flowChecker) checkMost(n *Number, path string, most float64) {
	if n != nil && (n.Value < 1 || n.Value > most) {
		f.fail(RuleConstraintRange, path, n.At, "write 1 to "+strconv.Itoa(int(most)), "%s is %v",
			path[strings.LastIndexByte(path, '/')+1:], n.Value)
	}
}

func (f *flowChecker) checkActions() {
	for _, a := range f.spec.Actions {
		path := "/actions/" + a.Key.Value
		f.checkMembers("inputs of action "+strconv.Quote(a.Key.Value), path+"/inputs/", a.Inputs)
		f.checkMembers("outputs of action "+strconv.Quote(a.Key.Value), path+"/outputs/", a.Outputs)
		f.checkRequired(path+"/outputs/", a.Outputs)
		f.checkRetry(a.Retry, path+"/retry", RuleConstraintRange)
		for _, old := range a.Was {
			if other := f.actions[old.Value]; other != nil {
				f.reportStillDeclared(old, other.Key.At, path+"/was")
			}
		}
	}
	for _, v := range f.spec.Validators {
		path := "/validators/" + v.Key.Value
		f.checkSlotType(v.Type, path+"/type")
		for _, old := range v.Was {
			if other := f.validators[old.Value]; other != nil {
				f.reportStillDeclared(old, other.Key.At, path+"/was")
			}
		}
	}
}

// checkSlotType refuses types that no slot can have.
func (f *flowChecker) checkSlotType(t *TypeExpr, path string) {
	if t == nil {
		return
	}
	one := t
	if t.Kind == List {
		one = t.Elem
	}
	if one.Kind == Named && f.byName[one.Name] == nil {
		f.fieldTypeRef(one, path)
		return
	}
	if leaf := t.Leaf(); leaf.Kind == Named && f.byName[leaf.Name] == nil {
		f.fieldTypeRef(leaf, path)
	}
	switch kind, _ := f.base(one); kind {
	case String, Int, Float, Bool, Time, Duration:
		return
	case JSON:
		if one == t {
			return
		}
	case Named, List, Map:
	}
	f.fail(RuleFlowSlotType, path, t.At,
		"a slot is string, int, float, bool, time, duration, json, an enum, a named scalar, or a "+
			"list of these", "a slot cannot hold %s", t)
}

// scope collects what a flow declares.
func (f *flowChecker) scope(flow *Flow) *flowScope {
	s := &flowScope{
		flowChecker: f, flow: flow, path: flow.path(), slots: f.doors[flow].slots,
		byID: map[string]*flowStep{},
		read: map[string]bool{}, set: map[string]bool{}, emptied: map[string]bool{},
	}
	for _, slot := range flow.Slots {
		s.slotNames = append(s.slotNames, slot.Key.Value)
	}
	s.flatten(flow.Steps, nil)
	for _, step := range s.steps {
		if _, again := s.byID[step.ID.Value]; !again && step.ID.Set() {
			s.byID[step.ID.Value] = step
			s.targets = append(s.targets, step.ID.Value)
		}
	}
	s.targets = append(s.targets, ReservedSteps()...)
	return s
}

// slot returns a slot, or reports that it is not declared.
func (s *flowScope) slot(t Text, path string) *Field {
	return ref(s.flowChecker, s.slots, s.slotNames, RuleFlowRefSlot, "slot", t, path)
}
