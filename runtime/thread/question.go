package thread

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/brief"
)

// Check returns CodeInvalid if the question could not be answered, or is not what its asker meant:
// if the name is missing, the payload or the schema is not valid, the plain-text mode is unknown or
// lacks its language or its choices, the quorum exceeds the number of voters, the deadline is not
// one that an engine can follow, or the kind is the engine's own. The error says what to write
// instead. user is the user of the thread, who may not answer if NotOwn is set.
func (q *Question) Check(rules *Rules, user string) error {
	err := q.checkKind(rules)
	if err == nil {
		err = q.checkForm(rules)
	}
	if err == nil {
		err = q.checkPlain()
	}
	if err == nil {
		err = q.checkPeople(rules, user)
	}
	// without a time there is no deadline
	if err == nil && q.Deadline != nil && q.Deadline.After != 0 {
		err = checkDeadline(q.Deadline)
	}
	if err != nil {
		return runtime.Errorf(runtime.CodeInvalid, "ask "+q.Name, "%w", err)
	}
	return nil
}

func (q *Question) checkKind(rules *Rules) error {
	switch q.Kind {
	case "", KindAgentQuestion:
	case KindUserEscape, KindSystemError:
		return errors.New("only the engine raises " + q.Kind)
	default:
		named := func(k runtime.Kind) bool { return k.Name == q.Kind }
		if slices.ContainsFunc(rules.Kinds, named) {
			break
		}
		var legal []string
		for _, k := range rules.Kinds {
			if k.Name != KindUserEscape && k.Name != KindSystemError {
				legal = append(legal, k.Name)
			}
		}
		return fmt.Errorf("there is no kind %q: use %s", q.Kind, brief.JoinNames(legal))
	}
	if q.Name == "" {
		return errors.New("it needs a name, by which its answer is found again")
	}
	return nil
}

func (q *Question) checkForm(rules *Rules) error {
	if q.Payload != nil && !json.Valid(q.Payload) {
		return errors.New("its Payload is not valid JSON")
	}
	for n, c := range q.Choices {
		if c.Value != nil && !json.Valid(c.Value) {
			return fmt.Errorf("the Value of choice %d, %q, is not valid JSON", n+1,
				brief.Shorten(c.Label))
		}
	}
	switch {
	case q.Schema == nil:
		return nil
	case !json.Valid(q.Schema):
		return errors.New("its Schema is not valid JSON")
	case rules.Check == nil:
		return nil
	}
	return rules.Check(q.Schema, nil)
}

func (q *Question) checkPlain() error {
	switch q.Plain {
	case "", PlainText:
		return nil
	case PlainYesNo:
		if _, known := yesNo[tableOf(q.Language)]; !known {
			have := slices.Sorted(maps.Keys(yesNo))
			return fmt.Errorf(
				"no yes and no is known in the language %q: use one of %s, or give choices",
				q.Language, strings.Join(have, ", "))
		}
		return nil
	case PlainChoice:
		if len(q.Choices) == 0 ||
			slices.ContainsFunc(q.Choices, func(c Choice) bool { return c.Value == nil }) {
			return errors.New("plain text can name one of its choices only if it has some, each " +
				"with a Value")
		}
		return nil
	default:
		return checkOneOf("Plain", q.Plain, PlainText, PlainYesNo, PlainChoice)
	}
}

// checkPeople compares the quorum with the number of people who may answer, where no group is among
// them. The person a deadline escalates to decides alone.
func (q *Question) checkPeople(rules *Rules, user string) error {
	if q.Quorum < 0 {
		return fmt.Errorf("its Quorum is %d: use 0, or how many must agree", q.Quorum)
	}
	asks := Interrupt{Kind: q.Kind, Question: *q}
	if asks.Kind == "" {
		asks.Kind = KindAgentQuestion
	}
	asks.assign(rules)
	if policy := asks.policy(rules); len(asks.Assignees) == 0 || asks.asksGroup() ||
		policy != nil && policy.After > 0 && policy.Then == "escalate" {
		return nil
	}
	may := map[string]bool{}
	for _, who := range asks.Assignees {
		if who != "" && !(q.NotOwn && who == user) {
			may[who] = true
		}
	}
	if need := max(q.Quorum, 1); len(may) < need {
		return fmt.Errorf("%d must answer and %d of its Assignees may: name more of them, whom "+
			"NotOwn does not shut out", need, len(may))
	}
	return nil
}
