package spec

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/routegen/routegen/generator/report"
)

// The kinds that the engine raises itself. What else a spec lists is raised by machines.
const (
	kindUserEscape    = "user_escape"
	kindAgentQuestion = "agent_question"
	kindSystemError   = "system_error"
)

// The orders that have rules of their own here.
const (
	orderStatus = "status" // shows where the work is, and ends nothing
	orderEdit   = "edit"   // needs the input to continue with
	orderAbort  = "abort"
)

func (c *checker) checkKinds(kinds []*InterruptKind) {
	if len(kinds) == 0 {
		return // the shipped ones hold
	}
	c.checkEngineKinds(kinds)
	types, shipped := c.interruptTypes(), DefaultKinds()
	for _, k := range kinds {
		path := "/interrupts/kinds/" + k.Key.Value
		for _, old := range k.Was {
			if other := find(c, kinds, old.Value); other != nil {
				c.reportStillDeclared(old, other.Key.At, path+"/was")
			}
		}
		if k.Deadline != nil && !k.Deadline.None {
			c.checkDeadline(k.Deadline, "kind", k.Key, RuleKindPolicy, path+"/deadline")
		}
		c.checkAssignees(k.Assignees, k.Key, "kind", path+"/assignees")
		c.checkRetry(k.Retry, path+"/retry", RuleKindPolicy)
		// else it gets that name back
		if !slices.ContainsFunc(k.Was, func(old Text) bool {
			return find(c, shipped, old.Value) != nil
		}) {
			c.checkChoices(k, path+"/choices")
			c.checkUses(k, path)
		}
		if k.Auto == nil || len(types) == 0 || k.orders() != nil {
			continue
		}
		for i, t := range k.Auto.When {
			if !slices.Contains(types, t.Value) {
				c.unknown(RuleRefValue, "interrupt type", t.Value, t.At,
					path+"/auto/when/"+strconv.Itoa(i), types)
			}
		}
	}
}

// checkEngineKinds requires a row for every kind that the engine raises. A kind without a row would
// have the lowest priority, no deadline and no retry.
func (c *checker) checkEngineKinds(kinds []*InterruptKind) {
	var above *InterruptKind // the nearest one before it that is listed
	for _, line := range DefaultKindLines() {
		name, _, _ := strings.Cut(line, ":")
		if k := find(c, kinds, name); k != nil {
			above = k
			continue
		}
		at, hint := kinds[0].Key.At, "write before it: "+line
		if above != nil {
			at, hint = above.Key.At, "write after it: "+line
		}
		was := slices.IndexFunc(kinds, func(k *InterruptKind) bool { return hasText(k.Was, name) })
		if was >= 0 {
			at, hint = kinds[was].Key.At, "keep the name "+strconv.Quote(name)
		}
		c.fail(RuleKindMissing, "/interrupts/kinds", at, hint,
			"kinds: leaves out %q, which the engine raises whatever the spec says", name)
	}
}

func hasText(list []Text, word string) bool {
	return slices.ContainsFunc(list, func(t Text) bool { return t.Value == word })
}

// orders are the words that an answer to a question of this kind may order; nil where the engine
// asks none.
func (k *InterruptKind) orders() []string {
	name := k.Key.Value
	if name != kindUserEscape && name != kindSystemError {
		return nil
	}
	var words []string
	for _, shipped := range DefaultKinds() {
		if shipped.Key.Value == name {
			for _, c := range shipped.Choices {
				words = append(words, c.Value)
			}
		}
	}
	return words
}

// checkChoices requires orders that the engine knows, and one among them that a user can always
// give.
func (c *checker) checkChoices(k *InterruptKind, path string) {
	if len(k.Choices) == 0 {
		return
	}
	first, orders := k.Choices[0].At, k.orders()
	if orders == nil {
		c.fail(RuleKindChoices, path, first, "remove it: who asks says what may be chosen",
			"choices are those of %q and %q; on kind %q they have no effect",
			kindUserEscape, kindSystemError, k.Key.Value)
		return
	}
	sound := true
	for i, choice := range k.Choices {
		if !slices.Contains(orders, choice.Value) {
			c.failNear(RuleKindChoices, path+"/"+strconv.Itoa(i), choice, orders, "",
				"%q is no order of kind %q: use %s", choice.Value, k.Key.Value,
				strings.Join(orders, ", "))
			sound = false
		}
	}
	ends := func(t Text) bool { return t.Value != orderStatus }
	switch {
	case !sound: // one of them may be a slip of the word that is wanted
	case k.Key.Value == kindSystemError && !hasText(k.Choices, orderAbort):
		c.fail(RuleKindChoices, path, first, "add "+orderAbort,
			"the choices of %q lack %q: a step that nothing can repair must have an end",
			k.Key.Value, orderAbort)
	case k.Key.Value == kindUserEscape && !slices.ContainsFunc(k.Choices, ends):
		c.fail(RuleKindChoices, path, first, "add continue or cancel",
			"no choice of %q ends the pause", k.Key.Value)
	}
}

// checkUses refuses policies that have no effect on their kind, or none that could be meant.
func (c *checker) checkUses(k *InterruptKind, path string) {
	name := k.Key.Value
	if k.Retry != nil && name != kindSystemError {
		at := k.Retry.Attempts.At
		if at.Start.IsZero() {
			at = k.Key.At
		}
		c.fail(RuleKindPolicy, path+"/retry", at, "write it at "+kindSystemError,
			"retry says how often a failed step is tried; on kind %q it has no effect", name)
	}
	if k.RouteTo && name == kindUserEscape {
		c.fail(RuleKindPolicy, path+"/route_to", k.Key.At, "remove route_to",
			"a pause has no targets: kind %q cannot have route_to", name)
	}
	if len(k.Assignees) > 0 && name == kindUserEscape {
		c.fail(RuleAssignee, path+"/assignees", k.Assignees[0].At, "remove assignees",
			"who may operate a thread ends its pause: kind %q cannot have assignees", name)
	}
	if d := k.Deadline; d != nil && d.Then.Value == "reroute" && name == kindUserEscape {
		c.fail(RuleKindPolicy, path+"/deadline/then", d.Then.At,
			"write then: default, expire or cancel",
			"a pause has no targets: the deadline of kind %q cannot reroute", name)
	}
	if d := k.Deadline; d != nil && d.Answer.Set() {
		c.checkOrder(k, d.Answer, path+"/deadline/answer")
	}
	if a := k.Auto; a != nil {
		c.checkOrder(k, a.Answer, path+"/auto/answer")
		if len(a.When) > 0 && k.orders() != nil {
			c.fail(RuleKindPolicy, path+"/auto/when", a.When[0].At, "remove when",
				"what the engine asks has no interrupt type, so that kind %q is never answered",
				name)
		}
	}
}

// checkAssignees refuses a list that names no one: it looks as if no one could answer, or everybody
// could.
func (c *checker) checkAssignees(list []Text, of Text, noun, path string) {
	if list != nil && len(list) == 0 && !c.misread(path) {
		c.fail(RuleAssignee, path, of.At, "name people and groups, or remove assignees",
			"the assignees of %s %q are an empty list", noun, of.Value)
	}
}

// checkOrder holds the answer of a policy to what the engine's question offers.
func (c *checker) checkOrder(k *InterruptKind, answer Text, path string) {
	orders := k.orders()
	if orders == nil {
		return // who asks says what is an answer
	}
	if len(k.Choices) > 0 {
		orders = slices.DeleteFunc(orders, func(word string) bool {
			return !hasText(k.Choices, word)
		})
	}
	orders = slices.DeleteFunc(orders, func(word string) bool { return word == orderStatus })
	if k.Key.Value == kindSystemError {
		// of an effect that may or may not have happened
		orders = append(orders, "done", "run")
	}
	var order struct {
		Choice string          `json:"choice"`
		Input  json.RawMessage `json:"input"`
	}
	if json.Unmarshal([]byte(answer.Value), &order.Choice) != nil {
		_ = json.Unmarshal([]byte(answer.Value), &order) // what is no object orders nothing
	}
	switch {
	case !slices.Contains(orders, order.Choice):
		c.fail(RuleKindPolicy, path, answer.At, "use "+strings.Join(orders, ", "),
			"%s ends no question of kind %q", answer.Value, k.Key.Value)
	case order.Choice == orderEdit && order.Input == nil:
		c.fail(RuleKindPolicy, path, answer.At, "write {choice: edit, input: {...}}",
			"edit needs the input to run the step with")
	}
}

// checkRetry requires a bounded number of attempts, and pauses that grow.
func (c *checker) checkRetry(r *Retry, path, rule string) {
	if r == nil {
		return
	}
	if r.Attempts.Value < 1 || r.Attempts.Value > 1000 {
		c.fail(rule, path+"/attempts", r.Attempts.At, "write 1 to 1000", "retry.attempts is %v",
			r.Attempts.Value)
	}
	if longer(r.First, r.Max) {
		c.fail(rule, path+"/max", r.Max.At, "swap them",
			"the first pause %s is longer than the longest one %s", r.First.Value, r.Max.Value)
	}
}

// checkDeadline requires exactly the keys that its `then` needs.
// noun and of say whose it is.
func (c *checker) checkDeadline(d *Deadline, noun string, of Text, rule, path string) {
	bad := func(at report.Span, hint, format string, args ...any) {
		if at.Start.IsZero() {
			at = of.At
		}
		c.fail(rule, path, at, hint, format, args...)
	}
	if !d.After.Set() {
		bad(d.Then.At, "write deadline: none, or add after: 24h",
			"the deadline of %s %q does not say when", noun, of.Value)
	}
	if !d.Then.Set() {
		bad(d.After.At, "add then: expire",
			"the deadline of %s %q does not say what happens then", noun, of.Value)
		return
	}
	needs := map[string]string{"default": "answer", "escalate": "assignee",
		"reroute": "target"}[d.Then.Value]
	for _, given := range []struct {
		name string
		text Text
	}{{"answer", d.Answer}, {"assignee", d.Assignee}, {"target", d.Target}} {
		switch {
		case given.name == needs && !given.text.Set():
			bad(d.Then.At, "add "+given.name, "then: %s needs %s", d.Then.Value, given.name)
		case given.name != needs && given.text.Set():
			bad(given.text.At, "remove it", "then: %s has no use for %s", d.Then.Value, given.name)
		}
	}
	if n := c.nodeRef(d.Target, path+"/target"); n != nil && !n.HasRoute() {
		bad(d.Target.At, "name a node with a route", "node %q cannot be returned to", n.Key.Value)
	}
	if reaches(d.Reminder, d.After) {
		bad(d.Reminder.At, "make it shorter",
			"the reminder %s does not come after the interrupt: the deadline is %s",
			d.Reminder.Value, d.After.Value)
	}
}

// reaches reports whether both durations are given and the first is at least as long as the second.
func reaches(a, b Text) bool {
	x, errX := time.ParseDuration(a.Value)
	y, errY := time.ParseDuration(b.Value)
	return errX == nil && errY == nil && x >= y
}
