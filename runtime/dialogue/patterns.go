package dialogue

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/routegen/routegen/runtime"
)

// Pattern is a rule: a message that matches has these commands.
type Pattern struct {
	Match string // a regular expression of Go, found anywhere in the message
	Flow  string // only while this flow is active; "" means always

	// Commands are what the message means. In their texts, and in values that are JSON strings, $1
	// and ${name} stand for what the groups of Match have found, and $$ for a dollar sign.
	Commands []runtime.Command
}

// Patterns understands messages by rules, the first that matches. Make one with [NewPatterns].
type Patterns struct {
	rules     []compiledPattern
	otherwise Understander
}

type compiledPattern struct {
	Pattern

	expr *regexp.Regexp
}

// NewPatterns compiles rules. A message that no rule matches goes to otherwise; nil means
// [Literal]. It returns CodeInvalid if a Match is not a regular expression.
func NewPatterns(rules []Pattern, otherwise Understander) (*Patterns, error) {
	if otherwise == nil {
		otherwise = Literal{}
	}
	p := &Patterns{otherwise: otherwise}
	for i := range rules {
		expr, err := regexp.Compile(rules[i].Match)
		if err != nil {
			return nil, runtime.Errorf(runtime.CodeInvalid, "patterns", "rule %d: %w", i+1, err)
		}
		p.rules = append(p.rules, compiledPattern{Pattern: rules[i], expr: expr})
	}
	return p, nil
}

// Understand returns the commands of the first rule that matches.
func (p *Patterns) Understand(ctx context.Context, key string, q Query) ([]runtime.Command, error) {
	for i := range p.rules {
		r := &p.rules[i]
		if r.Flow != "" && (q.Active == nil || q.Active.Name != r.Flow) {
			continue
		}
		found := r.expr.FindStringSubmatchIndex(q.Text)
		if found == nil {
			continue
		}
		fill := func(text string) string {
			return string(r.expr.ExpandString(nil, text, q.Text, found))
		}
		out := slices.Clone(r.Commands)
		for n := range out {
			out[n].Text = fill(out[n].Text)
			out[n].Value = expandGroups(out[n].Value, fill)
			if out[n].Slots != nil {
				slots := make(map[string]json.RawMessage, len(out[n].Slots))
				for name, v := range out[n].Slots { // into another map: the order does not show
					slots[name] = expandGroups(v, fill)
				}
				out[n].Slots = slots
			}
		}
		return out, nil
	}
	return p.otherwise.Understand(ctx, key, q)
}

// expandGroups expands the groups in a JSON string; other values stay.
func expandGroups(v json.RawMessage, fill func(string) string) json.RawMessage {
	var text string
	if len(v) == 0 || json.Unmarshal(v, &text) != nil {
		return v
	}
	out, _ := runtime.Encode(fill(text)) // cannot fail: a string
	return out
}
