package review

import (
	"slices"
	"sync"

	"github.com/routegen/routegen/generator/report"
)

// The categories of the rules: what a change breaks.
const (
	CategorySource   report.Category = "SOURCE"    // Go that uses the generated package
	CategoryWireJSON report.Category = "WIRE_JSON" // stored threads, and JSON on its way
	CategorySchema   report.Category = "SCHEMA"    // what models and other callers may send
	CategoryTopology report.Category = "TOPOLOGY"  // who can go where
	CategoryPrompt   report.Category = "PROMPT"    // what models are told
)

// rule is an entry of the catalogue.
type rule struct {
	report.Rule
	hint string // what to do next
	rank int    // the nearer to the cause, the lower
}

// Catalogue returns the catalogue: every id that a finding of Breaking can carry, those nearest
// to a cause first. Bad and Good are edits: what breaks, and how the same is done without.
func Catalogue() []report.Rule {
	var out []report.Rule
	for _, r := range allRules() {
		out = append(out, r.Rule)
	}
	return out
}

func allRules() []rule {
	return slices.Concat(thingRules(), flowRules(), moveRules(), additionRules(), fieldRules(),
		typeRules(), settingRules(), promptRules())
}

// catalogue is the rules by id. It is never written to.
var catalogue = sync.OnceValue(func() map[string]rule {
	out := map[string]rule{}
	for i, r := range allRules() {
		r.rank = i
		out[r.ID] = r
	}
	return out
})

// entry is one row of a table of rules.
type entry struct{ id, summary, why, bad, good, hint string }

func table(severity report.Severity, category report.Category, entries ...entry) []rule {
	out := make([]rule, 0, len(entries))
	for _, e := range entries {
		out = append(out, rule{Rule: report.Rule{
			ID: e.id, Severity: severity, Category: category, Summary: e.summary, Why: e.why,
			Bad: e.bad, Good: e.good,
		}, hint: e.hint})
	}
	return out
}
