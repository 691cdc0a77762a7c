package spec

import (
	"slices"

	"github.com/routegen/routegen/generator/report"
)

// IsStyleRule reports whether an error of a rule says that a spec is unwise, and not that it has no
// meaning. A spec with such errors alone can still be compared.
func IsStyleRule(rule string) bool {
	return slices.Contains([]string{
		RuleConstraintRange, RuleDefaultType, RuleDefaultRequired, RuleDefaultHidden,
		RuleEnumHidden, RuleTypeTooDeep, RuleOldValues, RuleInterruptType,
		RuleKindMissing, RuleKindChoices, RuleKindPolicy, RuleNodeDeadline,
		RuleAssignee,
	}, rule)
}

// Rules returns the catalogue: every id that a finding can carry, in the order in which a file is
// checked.
func Rules() []report.Rule {
	rules := slices.Concat(documentRules(), includeRules(), nameRules(), typeRules(), graphRules(),
		flowRules(), editRules(), outputRules())
	for i := range rules {
		if rules[i].Severity == "" {
			rules[i].Severity, rules[i].Category = report.Error, report.CategoryError
		}
	}
	return slices.Concat(rules, lintRules(), modelLintRules(), flowLintRules())
}

// FindRule returns the rule of an id. For an unknown id it returns false and the rule with the
// nearest one, or the zero Rule.
func FindRule(id string) (report.Rule, bool) {
	return findRule(Rules(), id, Nearest)
}

func findRule(rules []report.Rule, id string,
	nearest func(word string, candidates []string) string) (report.Rule,
	bool) {
	is := func(id string) int {
		return slices.IndexFunc(rules, func(r report.Rule) bool { return r.ID == id })
	}
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
	return report.Rule{}, false
}
