package plan

import (
	"fmt"

	"github.com/routegen/routegen/generator/spec"
)

// talkFixed are the identifiers that every generated package with flows declares.
var talkFixed = []string{
	"FlowName", "StepName", "SlotName", "Actions", "UnimplementedActions", "Validators",
	"UnimplementedValidators", "NewDialogue",
	"Command", "Commands", "StartFlow", "CancelFlow", "SetSlot", "CorrectSlot", "ClearSlot",
	"Affirm", "Deny", "Clarify", "Chitchat", "Handoff",
}

// addFlows checks the names that flows add to the package.
func (c *collider) talk() {
	t := c.plan.Talk
	if t == nil {
		return
	}
	actions := c.scope(spec.RuleNameCollision, "both become the method %s of Actions",
		"set go_name on one of them")
	for i, a := range c.spec.Actions {
		what, to := fmt.Sprintf("action %q", a.Key.Value), &t.Actions[i]
		if actions.add(to.Method, what, a.Key.At) { // else one mistake would be three findings
			c.idents.add(to.Input, "the input of "+what, a.Key.At)
			c.idents.add(to.Output, "the output of "+what, a.Key.At)
		}
		c.members(methods[RoleNested], nil, a.Inputs)
		c.members(methods[RoleNested], nil, a.Outputs)
	}
	validators := c.scope(spec.RuleNameCollision, "both become the method %s of Validators",
		"set go_name on one of them")
	for i, v := range c.spec.Validators {
		validators.add(t.Validators[i].Method, fmt.Sprintf("validator %q", v.Key.Value), v.Key.At)
	}
	for i, f := range c.spec.Flows {
		c.flow(f, &t.Flows[i])
	}
}

func (c *collider) flow(f *spec.Flow, to *Flow) {
	what := fmt.Sprintf("flow %q", f.Key.Value)
	if !c.idents.add(to.Const, what, f.Key.At) {
		return // its other names would clash as well
	}
	c.idents.add(to.Struct, "the slots of "+what, f.Key.At)
	c.members(methods[RoleNested], nil, f.Slots)
	for _, s := range f.Slots {
		if slot := to.Slot(s.Key.Value); slot != nil {
			c.idents.add(slot.Const, fmt.Sprintf("slot %q of %s", s.Key.Value, what), s.Key.At)
		}
	}
	ids := map[string]bool{}
	c.steps(f.Steps, to, what, ids)
}

// steps checks nested steps too. An id that is there twice has been found wrong already.
func (c *collider) steps(list []*spec.Step, to *Flow, what string, ids map[string]bool) {
	for _, s := range list {
		if step := to.Step(s.ID.Value); step != nil && !ids[s.ID.Value] {
			ids[s.ID.Value] = true
			c.idents.add(step.Const, fmt.Sprintf("step %q of %s", s.ID.Value, what), s.ID.At)
		}
		c.steps(s.Do, to, what, ids)
	}
}
