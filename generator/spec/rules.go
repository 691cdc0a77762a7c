package spec

import "slices"

// Category says what a rule protects. MINIMAL is part of BASIC, BASIC of STANDARD; DOCS and LLM stand beside them.
type Category string

// The categories. Errors have their own: they cannot be turned off.
const (
	CategoryError    Category = "ERROR"
	CategoryMinimal  Category = "MINIMAL"
	CategoryBasic    Category = "BASIC"
	CategoryStandard Category = "STANDARD"
	CategoryDocs     Category = "DOCS"
	CategoryLLM      Category = "LLM"
)

// Rule explains one kind of finding: what it is, why it matters, and a snippet of YAML before and after.
type Rule struct {
	ID        string
	Severity  Severity
	Category  Category
	Summary   string
	Why       string
	Bad, Good string // empty where no snippet can show it
}

// Judges reports whether an error of a rule says that a spec is unwise and not that it has no meaning: what it describes can still be compared.
func Judges(rule string) bool {
	return slices.Contains([]string{
		RuleConstraintRange, RuleDefaultType, RuleDefaultRequired, RuleInterruptType, RuleKindMissing, RuleKindChoices, RuleKindPolicy,
	}, rule)
}

// Rules returns the catalogue: every id that a finding can carry, in the order in which a file is checked.
func Rules() []Rule {
	rules := slices.Concat(documentRules(), nameRules(), typeRules(), graphRules(), flowRules(), editRules(), outputRules())
	for i := range rules {
		if rules[i].Severity == "" {
			rules[i].Severity, rules[i].Category = Error, CategoryError
		}
	}
	return slices.Concat(rules, lintRules(), flowLintRules())
}

// FindRule returns the rule of an id. For an unknown id it returns false and the rule with the nearest one, or the zero Rule.
func FindRule(id string) (Rule, bool) {
	return findRule(Rules(), id, nearest)
}

func findRule(rules []Rule, id string, nearest func(word string, candidates []string) string) (Rule, bool) {
	is := func(id string) int { return slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id }) }
	if i := is(id); i >= 0 {
		return rules[i], true
	}
	ids := make([]string, len(rules))
	for i := range rules {
		ids[i] = rules[i].ID
	}
	if i := is(nearest(id, ids)); i >= 0 {
		return rules[i], false
	}
	return Rule{}, false
}
