package spec

import (
	"slices"
	"strconv"
	"strings"
)

// stepForm says which keys a type of steps has, beside step, type, was, when and next, which all
// have.
type stepForm struct{ needs, takes []string }

func stepForms() map[string]stepForm {
	asks := []string{"max_attempts", "timeout", "on_invalid", "on_timeout", "on_cancel"}
	return map[string]stepForm{
		"say": {needs: []string{"message"}},
		"collect": {needs: []string{"slot", "message"},
			takes: append([]string{"validator", "force", "invalid_message"}, asks...)},
		"set":    {needs: []string{"values"}},
		"branch": {needs: []string{"cases"}, takes: []string{"else"}},
		"while":  {needs: []string{"condition", "do"}, takes: []string{"max_rounds"}},
		"action": {needs: []string{"call"}, takes: []string{"inputs", "outputs", "timeout",
			"retry", "on_error", "raise"}},
		"confirm": {needs: []string{"slot", "message"},
			takes: append([]string{"on_yes", "on_no", "on_change"}, asks...)},
		"call": {needs: []string{"flow"}, takes: []string{"inputs", "outputs", "on_error"}},
		"link": {needs: []string{"flow"}, takes: []string{"inputs"}},
		"generate": {needs: []string{"instruction", "slot"},
			takes: []string{"context", "on_error"}},
		"handoff": {takes: []string{"queue", "message"}},
	}
}

// ReservedSteps are targets that are no steps.
func ReservedSteps() []string { return []string{"end", "error", "continue", "cancel_flow"} }

// checkFlow looks at one flow.
func (s *flowScope) checkFlow() {
	f := s.flow
	for _, old := range f.Was {
		if other := s.flows[old.Value]; other != nil {
			s.reportStillDeclared(old, other.Key.At, s.path+"/was")
		}
	}
	s.checkMembers("flow "+strconv.Quote(f.Key.Value), s.path+"/slots/", f.Slots)
	for _, slot := range f.Slots {
		if slices.Contains(keywords(), slot.Key.Value) {
			s.fail(RuleNameReserved, s.path+"/slots/"+slot.Key.Value, slot.Key.At,
				"choose another name", "%q is a word of expressions", slot.Key.Value)
		}
		if slot.Type != nil && s.isKnown(slot.Type) {
			s.checkSlotType(slot.Type, s.path+"/slots/"+slot.Key.Value+"/type")
		}
	}
	s.checkGone()
	s.checkDoor("inputs", f.Inputs)
	s.checkDoor("outputs", f.Outputs)
	if f.Hidden && (len(f.Intents) > 0 || f.Trigger != nil) {
		s.fail(RuleConflict, s.path+"/trigger", f.Key.At, "remove trigger:, or hidden:",
			"flow %q is hidden, so nothing that a user says starts it", f.Key.Value)
	}
	if f.Trigger != nil {
		s.checkBool(f.Trigger, s.path+"/trigger/when")
		f.Trigger.each(func(e *Expr) {
			if t := e.Slot; s.slots[t.Value] != nil && !s.doors[f].takes[t.Value] {
				s.fail(RuleFlowRefSlot, s.path+"/trigger/when", t.At,
					"add "+strconv.Quote(t.Value+"?")+" to inputs",
					"slot %q is no input: nothing is in it before the flow begins", t.Value)
			}
		})
	}
	if len(f.Steps) == 0 {
		return // reported while reading
	}
	s.checkIDs()
	s.checkWay()
	for _, step := range s.steps {
		s.checkKeys(step)
		s.checkStep(step)
	}
}

// checkDoor looks at the lists of inputs and outputs.
func (s *flowScope) checkDoor(key string, names []Text) {
	seen := map[string]Text{}
	for i, t := range names {
		path := s.path + "/" + key + "/" + strconv.Itoa(i)
		name := strings.TrimSuffix(t.Value, "?")
		if first, again := seen[name]; again {
			s.fail(RuleDuplicateItem, path, t.At, "remove one of them", "%q is in the list twice",
				name).relatedf(first.At, "%q is first listed here", name)
			continue
		}
		seen[name] = t
		if s.slots[name] == nil {
			s.noSuch(RuleFlowRefSlot, "slot", Text{Value: name, At: t.At}, path, s.slotNames)
		}
		if key == "outputs" {
			s.read[name] = true
		}
	}
}

// checkGone refuses names of steps and slots that were removed or are still there.
func (s *flowScope) checkGone() {
	for _, name := range s.flow.Reserved {
		if slot := s.slots[name.Value]; slot != nil {
			s.reportRemoved(name, slot.Key.At, s.path+"/slots/"+name.Value)
		} else if step := s.byID[name.Value]; step != nil {
			s.reportRemoved(name, step.ID.At, step.path)
		}
	}
	for _, step := range s.steps {
		for _, old := range step.Was {
			if other := s.byID[old.Value]; other != nil {
				s.reportStillDeclared(old, other.ID.At, step.path+"/was")
			}
		}
	}
}

func (s *flowScope) checkIDs() {
	for _, step := range s.steps {
		id := step.ID
		switch first := s.byID[id.Value]; {
		case !id.Set():
		case slices.Contains(ReservedSteps(), id.Value):
			s.fail(RuleNameReserved, step.path+"/step", id.At, "choose another name",
				"%q is a target of its own", id.Value)
		case first != step:
			s.fail(RuleFlowStepDuplicate, step.path+"/step", id.At, "give it an id of its own",
				"step %q is there twice", id.Value).
				relatedf(first.ID.At, "%q is first here", id.Value)
		}
	}
}

// checkKeys compares the keys of a step with its type.
func (s *flowScope) checkKeys(step *flowStep) {
	form, known := s.forms[step.Kind.Value]
	if !known {
		return // reported as no type
	}
	common := []string{"step", "type", "was", "when", "next"}
	given, unknown := map[string]bool{}, false
	for _, k := range step.Keys {
		given[k.Value] = true
		unknown = unknown || !s.stepKeys[k.Value]
		if !s.stepKeys[k.Value] || slices.Contains(common, k.Value) ||
			slices.Contains(form.needs, k.Value) || slices.Contains(form.takes, k.Value) {
			continue
		}
		var kinds []string
		for _, kind := range stepKinds() {
			if slices.Contains(s.forms[kind].needs, k.Value) ||
				slices.Contains(s.forms[kind].takes, k.Value) {
				kinds = append(kinds, kind)
			}
		}
		s.fail(RuleFlowStepKey, step.path+"/"+k.Value, k.At,
			k.Value+" is for "+strings.Join(kinds, ", "), "a step of type %s has no %q",
			step.Kind.Value, k.Value)
	}
	for _, key := range form.needs {
		if !given[key] && !unknown { // an unknown key may well be the one that is missing
			s.fail(RuleFlowStepIncomplete, step.path, step.at(), "add "+key+":",
				"step %q is of type %s and has no %q", step.ID.Value, step.Kind.Value, key)
		}
	}
	for _, k := range step.Keys {
		empty := k.Value == "values" && len(step.Set) == 0 || k.Value == "cases" &&
			len(step.Arms) == 0 || k.Value == "do" && len(step.Do) == 0
		if empty && slices.Contains(form.needs, k.Value) {
			s.fail(RuleFlowStepIncomplete, step.path+"/"+k.Value, k.At, "write at least one",
				"there is nothing in %s of step %q", k.Value, step.ID.Value)
		}
	}
}

// checkStep looks at what a step refers to.
func (s *flowScope) checkStep(step *flowStep) {
	s.checkBool(step.When, step.path+"/when")
	s.checkBool(step.Cond, step.path+"/condition")
	for i, arm := range step.Arms {
		s.checkBool(arm.If, step.path+"/cases/"+strconv.Itoa(i)+"/if")
	}
	s.checkMost(step.Attempts, step.path+"/max_attempts", 100)
	s.checkMost(step.MaxRounds, step.path+"/max_rounds", 1_000_000)
	s.checkRetry(step.Retry, step.path+"/retry", RuleConstraintRange)
	key := "message"
	if step.Kind.Value == "generate" {
		key = "instruction"
	}
	s.checkWords(step.Text, step.path+"/"+key, s.variables(step))
	s.checkWords(step.Invalid, step.path+"/invalid_message", []string{"reason", "value"})
	if slot := s.slot(step.Slot, step.path+"/slot"); slot != nil && slot.Type != nil {
		s.set[step.Slot.Value] = true
		s.checkFills(step, slot)
	}
	for _, b := range step.Set {
		path := step.path + "/values/" + b.Name.Value
		if slot := s.slot(b.Name, path); slot != nil {
			if b.Value.isNull() {
				s.emptied[b.Name.Value] = true
			} else {
				s.set[b.Name.Value] = true
			}
			s.checkBind(b, slot, "slot", path)
		} else {
			s.checkBind(b, nil, "slot", path)
		}
	}
	switch step.Kind.Value {
	case "action":
		s.checkAction(step)
	case "call", "link":
		s.checkCall(step)
	case "generate":
		for i, b := range step.Inputs {
			s.exprType(b.Value, step.path+"/context/"+strconv.Itoa(i))
		}
	}
}

// checkFills compares the type of a slot with what a step puts into it.
func (s *flowScope) checkFills(step *flowStep, slot *Field) {
	wrong := func(t Text, path, hint, format string, args ...any) {
		s.fail(RuleFlowSlotType, step.path+path, t.At, hint, format, args...).
			relatedf(slot.Key.At, "%q is declared here", slot.Key.Value)
	}
	kind, enum := s.base(slot.Type)
	switch {
	case kind == "":
	case step.Kind.Value == "confirm" && kind != Bool:
		wrong(step.Slot, "/slot", "make it bool",
			"a confirm is answered with yes or no, and slot %q is %s", slot.Key.Value, slot.Type)
	case step.Kind.Value == "generate" && (kind != String || enum != nil):
		wrong(step.Slot, "/slot", "make it string", "a model writes a text, and slot %q is %s",
			slot.Key.Value, slot.Type)
	}
	v := ref(s.flowChecker, s.validators, s.checkNames, RuleFlowRefValidator, "validator",
		step.Validator, step.path+"/validator")
	if v == nil {
		return
	}
	s.used["validators/"+v.Key.Value] = true
	if v.Deprecated.Set() {
		s.warn(RuleDeprecatedUsed, step.path+"/validator", step.Validator.At, v.Deprecated.Value,
			"validator %q is deprecated", v.Key.Value).
			relatedf(v.Deprecated.At, "%q is deprecated here", v.Key.Value)
	}
	if v.Type != nil && s.isKnown(v.Type) && s.isKnown(slot.Type) &&
		s.typeOf(v.Type) != s.typeOf(slot.Type) {
		wrong(step.Validator, "/validator", "name another validator, or change its type",
			"validator %q takes %s, and slot %q is %s", v.Key.Value, v.Type, slot.Key.Value,
			slot.Type)
	}
}
