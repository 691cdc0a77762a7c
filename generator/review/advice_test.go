package review_test

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/routegen/routegen/generator/review"
	"github.com/routegen/routegen/generator/spec"
)

// keyOf finds what an advice says to write at the thing that changed, as keys of the language.
var keyOf = regexp.MustCompile(`\b(json|was): |\b(go_name|accepts_old|display_name|aliases)\b|` +
	`\bmake it (optional)|(?:optional and |^)(hidden)|^(hid)e it|^(deprecate) it`)

// TestAdviceNamesKeysOfTheThing: what an advice says to write, the language has at what changed.
func TestAdviceNamesKeysOfTheThing(t *testing.T) {
	keys := map[string][]string{}
	var visit func(s *spec.Shape)
	visit = func(s *spec.Shape) {
		if s == nil || keys[s.Noun] != nil {
			return
		}
		keys[s.Noun] = []string{}
		for i := range s.Keys {
			keys[s.Noun] = append(keys[s.Noun], s.Keys[i].Name)
		}
		for i := range s.Keys {
			visit(s.Keys[i].Of)
		}
	}
	visit(spec.Language())
	for thing, noun := range map[string]string{"value": "enum value", "kind": "interrupt kind"} {
		keys[thing] = keys[noun]
	}
	more := []ruleCase{
		{"a branch renamed", []string{"      check: CheckRequest\n",
			"      verify: {type: CheckRequest, was: [check]}\n"}, nil},
		{"another JSON name", []string{"      check: CheckRequest\n",
			"      check: {type: CheckRequest, json: verify}\n"}, nil},
		{"a type renamed", []string{"  Summary:\n", "  Outcome:\n    was: [Summary]\n",
			"      done: Summary\n", "      done: Outcome\n"}, nil},
		{"an enum renamed", []string{"  Phase:\n", "  Stage:\n    was: [Phase]\n",
			"type: Phase", "type: Stage"}, nil},
	}
	told := 0
	for _, c := range slices.Concat(ruleCases, flowRuleCases, more) {
		from := base
		if !strings.Contains(base, c.bad[0]) {
			from = flowBase
		}
		now := planOf(t, strings.NewReplacer(c.bad...).Replace(from))
		for _, change := range review.Compare(planOf(t, from), now).Changes {
			for _, m := range keyOf.FindAllStringSubmatch(change.Advice, -1) {
				key := strings.Join(m[1:], "")
				key = cmp.Or(map[string]string{"hid": "hidden",
					"deprecate": "deprecated"}[key], key)
				told++
				assert.Contains(t, keys[change.Thing], key, "%s, %s %s: %s", c.rule,
					change.Thing, change.Name, change.Advice)
			}
		}
	}
	assert.Positive(t, told)
}
