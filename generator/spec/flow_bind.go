package spec

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/report"
)

// checkBind looks at one value on its way to a slot or an input, which is nil when it is unknown.
func (s *flowScope) checkBind(b *Bind, to *Field, what, path string) {
	if len(b.Text) > 0 {
		s.checkText(b, to, what, path)
	}
	if b.Value == nil || b.Value.isNull() { // any slot can be empty
		return
	}
	t := s.exprType(b.Value, path)
	if to == nil || to.Type == nil || t.kind == "" || !s.isKnown(to.Type) {
		return
	}
	var x fault
	switch e := b.Value; {
	case e.Op == "value" && s.typeOf(to.Type).kind == JSON && !s.typeOf(to.Type).list:
	case e.Op == "value" && to.Type.Kind == List:
		x = fault{why: "is one value", hint: "write a list: [a, b]"}
	case e.Op == "value":
		x = s.literalFault(to.Type, &e.Value, &to.Constraints)
	case e.Op == "list":
		x = s.listFault(to, e)
	case !s.assignable(t, to.Type):
		x = fault{why: "is " + t.String(), hint: "give it a value of its type"}
	}
	s.reportMismatch(x, to, b.Value.At, what, path)
}

// reportMismatch reports a value that does not fit its target.
func (s *flowScope) reportMismatch(x fault, to *Field, at report.Span, what, path string) {
	if x.why == "" {
		return
	}
	f := s.fail(RuleFlowBind, path, at, x.hint, "%s %q is %s, and what it is given %s", what,
		to.Key.Value, to.Type, x.why)
	f.relatedf(to.Key.At, "%q is declared here", to.Key.Value)
	f.because(x)
}

// listFault says why a list of literals is not a value of its target.
func (s *flowScope) listFault(to *Field, e *Expr) fault {
	const why = "has a number of items outside min_items and max_items"
	switch n, k := float64(len(e.Args)), &to.Constraints; {
	case to.Type.Kind == JSON:
		return fault{}
	case to.Type.Kind != List:
		return fault{why: "is a list", hint: "write one value"}
	case k.MinItems != nil && n < k.MinItems.Value:
		return fault{why: why, hint: "write " + k.MinItems.String() + " or more"}
	case k.MaxItems != nil && n > k.MaxItems.Value:
		return fault{why: why, hint: "write " + k.MaxItems.String() + " or less"}
	}
	for _, item := range e.Args {
		if x := s.literalFault(to.Type.Elem, &item.Value, &Constraints{}); x.why != "" {
			x.why = "has an item that " + x.why
			return x
		}
	}
	return fault{}
}

// checkText looks at a text that is given. For what is no string it is a literal, such as a value
// of an enum.
func (s *flowScope) checkText(b *Bind, to *Field, what, path string) {
	template := b.Text[0].Variants[0]
	plain, whole := template.plain()
	if to == nil || to.Type == nil || !s.isKnown(to.Type) {
		s.checkWords(b.Text, path, nil)
		return
	}
	t := s.typeOf(to.Type)
	switch {
	case !whole && (t.kind != String || t.enum != nil || t.list):
		f := s.fail(RuleFlowBind, path, template.Source.At, "write {from: slot}, or {expr: ...}",
			"%s %q is %s, and a text with places goes to strings only", what, to.Key.Value, to.Type)
		f.relatedf(to.Key.At, "%q is declared here", to.Key.Value)
	case whole && (t.kind != String || t.enum != nil || t.list):
		b.Value = &Expr{Op: "value",
			Value: Scalar{Value: plain, Kind: "string", At: template.Source.At},
			At:    template.Source.At}
		b.Text = nil
	case whole:
		s.reportMismatch(s.literalFault(to.Type, &Scalar{Value: plain, Kind: "string"},
			&to.Constraints), to,
			template.Source.At, what, path)
	default:
		s.checkWords(b.Text, path, nil)
	}
}

// plain returns the text of a template; false when it has places.
func (t Template) plain() (string, bool) {
	var b strings.Builder
	for _, p := range t.Parts {
		if p.Name.Set() {
			return "", false
		}
		b.WriteString(p.Text)
	}
	return b.String(), true
}

// checkWords looks at the languages and places of a text. The variables are those of the machine
// that it may name beside slots.
func (s *flowScope) checkWords(w Words, path string, variables []string) {
	s.checkLanguages(w, path)
	w.eachPlace(func(p Part) { s.checkPlace(p, path, variables) })
}

// eachPlace visits the places for values in all languages and variations of a text.
func (w Words) eachPlace(visit func(Part)) {
	for _, in := range w {
		for _, t := range in.Variants {
			for _, p := range t.Parts {
				if p.Name.Set() {
					visit(p)
				}
			}
		}
	}
}

func (s *flowScope) checkPlace(p Part, path string, variables []string) {
	name := p.Name.Value
	if slices.Contains(variables, name) &&
		(s.slots[name] == nil || name == "reason" || name == "value") {
		s.checkDecimals(p, valueType{kind: String}, path)
		return
	}
	if slot := s.slots[name]; slot != nil {
		s.read[name] = true
		s.checkDecimals(p, s.typeOf(slot.Type), path)
		return
	}
	switch name {
	case "error", "error_code":
		s.fail(RuleFlowTemplateVar, path, p.Name.At,
			"it is known in steps that only on_error leads to",
			"nothing has failed when this is said, so {%s} is empty", name)
	case "reason", "value":
		s.fail(RuleFlowTemplateVar, path, p.Name.At, "it is known in invalid_message",
			"nothing was refused when this is said, so {%s} is empty", name)
	default:
		s.noSuch(RuleFlowTemplateVar, "slot", p.Name, path,
			append(slices.Clone(s.slotNames[:min(len(s.slotNames), s.candidates())]), variables...))
	}
}

func (f *flowChecker) checkDecimals(p Part, t valueType, path string) {
	if p.Decimals > 0 && t.kind != "" && !t.isNumber() {
		f.fail(RuleFlowTemplateVar, path, p.Name.At, "write {"+p.Name.Value+"}",
			"%q is %s, and only numbers have decimals", p.Name.Value, t)
	}
}

// checkLanguages requires languages of the dialogue, including the default one.
func (f *flowChecker) checkLanguages(w Words, path string) {
	if len(w) == 0 || !w[0].Language.Set() {
		return
	}
	found := false
	for _, in := range w {
		found = found || in.Language.Value == f.languages[0]
		if !slices.Contains(f.languages, in.Language.Value) {
			f.fail(RuleFlowLanguage, path+"/"+in.Language.Value, in.Language.At,
				"add it to dialogue.languages", "the dialogue does not speak %q", in.Language.Value)
		}
	}
	if !found {
		f.fail(RuleFlowLanguage, path, w[0].Language.At,
			"add "+f.languages[0]+":, or set dialogue.language",
			"there is no text in %s, the language of all others", f.languages[0])
	}
}

// responseNames are the texts that the machine says by itself, each with the places it may have.
func responseNames() map[string][]string {
	return map[string][]string{
		"cancelled": nil, "nothing_to_cancel": nil, "not_understood": nil, "unavailable": nil,
		"too_long": {"max"}, "busy": {"flow"}, "too_deep": nil,
		"corrected": {"slot", "value"}, "refused": {"slot", "value", "reason"},
		"invalid": {"reason", "value"}, "failed": {"error", "error_code"},
		"timed_out": nil, "handoff": nil, "chitchat": nil, "clarify": {"topic", "doc"},
		"no_progress": nil, "given_up": nil,
		"unknown_flow": {"flow"}, "unknown_slot": {"slot"}, "nothing_to_confirm": nil,
		"welcome": nil, "looped": nil, "anything_else": nil,
	}
}

func (f *flowChecker) checkResponses() {
	known := responseNames()
	names := slices.Sorted(maps.Keys(known))
	for _, r := range f.spec.Responses {
		path := "/responses/" + r.Key.Value
		variables, ok := known[r.Key.Value]
		if !ok {
			hint := cmp.Or(didYouMean(f.nearest(r.Key.Value, names)),
				"there is "+strings.Join(names, ", "))
			f.fail(RuleFlowResponse, path, r.Key.At, hint,
				"the machine says nothing that is called %q", r.Key.Value)
			continue
		}
		f.checkLanguages(r.Text, path)
		r.Text.eachPlace(func(p Part) {
			if !slices.Contains(variables, p.Name.Value) {
				f.noSuch(RuleFlowTemplateVar, "variable", p.Name, path, variables)
			} else {
				f.checkDecimals(p, valueType{kind: String}, path)
			}
		})
	}
}

// checkAction looks at the call of an action.
func (s *flowScope) checkAction(step *flowStep) {
	a := ref(s.flowChecker, s.actions, s.actionNames, RuleFlowRefAction, "action", step.Action,
		step.path+"/call")
	if a == nil {
		s.checkBlind(step)
		return
	}
	s.used["actions/"+a.Key.Value] = true
	takes, gives := s.ofAction(a, a.Inputs), s.ofAction(a, a.Outputs)
	given := s.checkInputs(step, takes)
	for _, in := range a.Inputs {
		slot := s.slots[in.Key.Value]
		switch {
		case given[in.Key.Value]:
		case slot != nil: // it is given the slot of its own name
			s.read[in.Key.Value] = true
			s.checkOwnName(step, slot, in)
		case !in.Optional && in.Default == nil:
			s.inputMissing(step, step.Action, in, takes.what)
		}
	}
	taken := s.checkOutputs(step, gives)
	for _, out := range a.Outputs {
		if taken[out.Key.Value] {
			continue
		}
		slot := s.slots[out.Key.Value]
		if slot == nil {
			f := s.fail(RuleFlowOutputDropped, step.path, step.Action.At,
				"add outputs: {"+out.Key.Value+": <slot>}, or a slot "+out.Key.Value,
				"output %q of action %q goes nowhere", out.Key.Value, a.Key.Value)
			f.relatedf(out.Key.At, "%q is declared here", out.Key.Value)
			continue
		}
		s.set[out.Key.Value] = true
		s.checkOutput(out, slot, step.Action, step.path)
	}
}

// checkOwnName compares an input with the slot of its own name, which it is given where inputs say
// nothing else.
func (s *flowScope) checkOwnName(step *flowStep, slot, in *Field) {
	if in.Type == nil || slot.Type == nil || s.assignable(s.typeOf(slot.Type), in.Type) {
		return
	}
	f := s.fail(RuleFlowBind, step.path, step.Action.At, "say in inputs what it is given",
		"input %q is %s, and the slot of that name is %s", in.Key.Value, in.Type, slot.Type)
	f.relatedf(in.Key.At, "%q is declared here", in.Key.Value)
}

// checkBlind looks at the values of a call to nothing: their slots are used all the same.
func (s *flowScope) checkBlind(step *flowStep) {
	for _, b := range step.Inputs {
		s.checkBind(b, nil, "input", step.path+"/inputs/"+b.Name.Value)
	}
	for _, b := range step.Outputs {
		if s.slot(b.To, step.path+"/outputs/"+b.Name.Value) != nil {
			s.set[b.To.Value] = true
		}
	}
}

// checkInputs compares what a call gives with what is taken, and returns what it gives.
func (s *flowScope) checkInputs(step *flowStep, takes params) map[string]bool {
	given := map[string]bool{}
	for _, b := range step.Inputs {
		given[b.Name.Value] = true
		path := step.path + "/inputs/" + b.Name.Value
		to := takes.get(b.Name.Value)
		if to == nil {
			s.missing(RuleFlowRefParam, takes.what+" has no input", b.Name, path, takes.names())
		}
		s.checkBind(b, to, "input", path)
	}
	return given
}

func (s *flowScope) inputMissing(step *flowStep, at Text, in *Field, what string) {
	hint := "add inputs: {" + in.Key.Value + ": <slot>}"
	if s.slots[in.Key.Value] != nil {
		hint = "add inputs: {" + in.Key.Value + ": " + in.Key.Value + "}"
	}
	s.fail(RuleFlowInputMissing, step.path, at.At, hint, "%s needs %q", what, in.Key.Value).
		relatedf(in.Key.At, "%q is declared here", in.Key.Value)
}

// checkOutputs compares what a call takes over with what is given, and returns the outputs that it
// names.
func (s *flowScope) checkOutputs(step *flowStep, gives params) map[string]bool {
	taken := map[string]bool{}
	for _, b := range step.Outputs {
		path := step.path + "/outputs/" + b.Name.Value
		taken[b.Name.Value] = true
		from := gives.get(b.Name.Value)
		if from == nil {
			s.missing(RuleFlowRefParam, gives.what+" has no output", b.Name, path, gives.names())
		}
		slot := s.slot(b.To, path)
		if slot == nil {
			continue
		}
		s.set[b.To.Value] = true
		if from != nil {
			s.checkOutput(from, slot, b.To, path)
		}
	}
	return taken
}

func (s *flowScope) checkOutput(from, slot *Field, at Text, path string) {
	if from.Type == nil || slot.Type == nil || s.assignable(s.typeOf(from.Type), slot.Type) {
		return
	}
	f := s.fail(RuleFlowBind, path, at.At, "give it to a slot of its type",
		"output %q is %s, and slot %q is %s", from.Key.Value, from.Type, slot.Key.Value, slot.Type)
	f.relatedf(slot.Key.At, "%q is declared here", slot.Key.Value)
}

// checkCall looks at a call of, or a link to, another flow.
func (s *flowScope) checkCall(step *flowStep) {
	flow := ref(s.flowChecker, s.flows, s.flowNames, RuleFlowRefFlow, "flow", step.Flow,
		step.path+"/flow")
	if flow == nil {
		s.checkBlind(step)
		return
	}
	s.reached[flow.Key.Value] = s.reached[flow.Key.Value] || flow != s.flow
	d := s.doors[flow]
	takes := s.ofFlow(flow, d.takes)
	given := s.checkInputs(step, takes)
	for _, name := range d.needs {
		if in := takes.get(name); in != nil && !given[name] {
			s.inputMissing(step, step.Flow, in, takes.what)
		}
	}
	s.checkOutputs(step, s.ofFlow(flow, d.gives))
}
