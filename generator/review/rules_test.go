package review_test

import (
	_ "embed"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/review"
	"github.com/routegen/routegen/generator/spec"
)

// base has one of everything.
//
//go:embed testdata/base.yaml
var base string

// helperBlock is the last node of base.
const helperBlock = `  helper:
    doc: Finds what is lacking.
    request:
      fields:
        why: {type: string, doc: What is lacking.}
    adapt: {from: HelpRoutingRequest}
    branches:
      lead: LeadRequest
`

// ruleCase is an edit of base that breaks a rule, and one beside it that does not.
type ruleCase struct {
	rule      string
	bad, good []string // pairs: text, replacement
}

const mergerBlock = `  merger:
    doc: Joins the parts.
    request: {fields: {parts: {type: "[]string", doc: What to join.}}}
    branches: {done: Summary}
  helper:
`

var ruleCases = []ruleCase{
	{"NODE_NO_DELETE", []string{
		helperBlock, "", "      help: HelpRoutingRequest\n", "",
	}, []string{"      help: HelpRoutingRequest\n", ""}},
	{"ROUTE_NO_DELETE", []string{"  helper:\n", "  helper:\n    route: none\n"},
		[]string{"Finds what is lacking.", "Finds what is not there."}},
	{"BRANCH_NO_DELETE", []string{"      help: HelpRoutingRequest\n", ""},
		[]string{"      help: HelpRoutingRequest\n", "      assist: {type: HelpRoutingRequest, " +
			"was: [help]}\n"}},
	{"BRANCH_SAME_TARGET", []string{"      check: CheckRequest\n      help",
		"      check: HelperRequest\n      help"}, []string{"      help: HelpRoutingRequest\n",
		"      help: HelperRequest\n"}},
	{"ROUTE_SAME_TAG", []string{"  helper:\n", "  helper:\n    route: {tag: AidRoute}\n"},
		[]string{"  helper:\n", "  helper:\n    route: {tag: HelperRoute}\n"}},
	{"DISPATCH_SAME", []string{"    route: none\n    escalates: spread\n    result: Report\n    " +
		"branches:\n      ask: interrupt\n      done: Report\n      results: WorkResults\n",
		"    only: interrupt\n    escalates: spread\n",
		"    request:\n      fields:\n        part: {type: string, doc: What to do.}\n        " +
			"note: {type: Note, optional: true, doc: Something to know.}\n", "",
		"    dispatch: {each: parts, to: work, results: WorkResults}\n", "",
		"parts: {type: \"[]WorkRequest\"", "parts: {type: \"[]string\""},
		[]string{"each: parts", "each: pieces", "        parts: {type",
			"        pieces: {was: [parts], type"}},
	{"ENTRY_SAME", []string{"    entry: true\n", "", "    doc: Judges what came of it.\n",
		"    doc: Judges what came of it.\n    entry: true\n"},
		[]string{"Leads the work.", "Leads the whole work."}},
	{"COLLECT_CHANGED", []string{"PLAN: spread, WORK: lead", "PLAN: lead, WORK: spread"},
		[]string{"PLAN: spread, WORK: lead", "WORK: lead, PLAN: spread"}},
	{"NODE_SAME_RESULT", []string{"    result: Report\n    branches:\n      ask: interrupt\n     " +
		" done: Report\n", "    result: Summary\n    branches:\n      ask: interrupt\n      " +
		"done: Summary\n"}, []string{"Does one part.", "Does a part."}},
	{"ORIGIN_ROUTE_NO_DELETE", []string{"    escalates: spread\n", "    escalates: lead\n"},
		[]string{"Does one part.", "Does a part."}},
	{"ORIGIN_ROUTE_ADDED", []string{"    escalates: spread\n", "    escalates: lead\n"},
		[]string{"Does one part.", "Does a part."}},
	{"NODE_ADDED", []string{"  helper:\n", mergerBlock, "      help: HelpRoutingRequest\n",
		"      help: HelpRoutingRequest\n      join: MergerRequest\n"},
		[]string{"      help: HelpRoutingRequest\n", "      help: HelpRoutingRequest\n      " +
			"other: HelperRequest\n"}},
	{"METHOD_ADDED", []string{"    adapt: {from: HelpRoutingRequest}\n    branches:\n",
		"    adapt: {from: HelpRoutingRequest}\n    interrupt: {fields: {}}\n    branches:\n     " +
			" ask: interrupt\n"}, []string{"Finds what is lacking.", "Finds it."}},
	{"ROUTE_ADDED", []string{"    route: none\n    escalates: spread\n", ""},
		[]string{"Does one part.", "Does a part."}},
	{"BRANCH_ADDED", []string{"      help: HelpRoutingRequest\n",
		"      help: HelpRoutingRequest\n      other: HelperRequest\n"},
		[]string{"      help: HelpRoutingRequest\n", "      assist: {type: HelpRoutingRequest, " +
			"was: [help]}\n"}},
	{"KIND_ADDED", []string{"    failure: {doc", "    audit: {doc: Asked by law., clash: " +
		"queue}\n    failure: {doc"}, []string{"A step failed.", "Some step failed."}},
	{"KIND_CHANGED", []string{"after: 24h", "after: 1h"},
		[]string{"An agent asks.", "Some agent asks."}},
	{"NODE_POLICY_CHANGED", []string{"limit: 6", "limit: 3"},
		[]string{"Leads the work.", "Leads."}},
	{"MESSAGE_NO_DELETE", []string{"    interrupt:\n      fields: {where: {type: string, doc: " +
		"Where it stopped.}}\n    route: none\n    escalates: spread\n", "    route: none\n",
		"      ask: interrupt\n      done: Report\n", "      done: Report\n"},
		[]string{"  Decision:", "  Other:", "      verdict: ", "      verdict2: "}},
	{"NODE_SAME_REQUEST", []string{"  HelpRoutingRequest:\n    doc: Asks for help.\n    " +
		"fields:\n      why: {type: string, doc: What is lacking.}\n", "",
		"    request:\n      fields:\n        why: {type: string",
		"    request:\n      name: HelpRoutingRequest\n      fields:\n        why: {type: string",
		"    adapt: {from: HelpRoutingRequest}\n", ""},
		[]string{"    request:\n      fields:\n        why: {type: string",
			"    request:\n      name: AidRequest\n      fields:\n        why: {type: string"}},
	{"ROUTE_SAME_REQUEST", []string{"  helper:\n", "  helper:\n    route: {returns: " +
		"HelpRoutingRequest}\n"},
		[]string{"  helper:\n", "  helper:\n    route: {tag: AidRoute}\n"}},
	{"BRANCH_SAME_TYPE", []string{"      help: HelpRoutingRequest\n",
		"      help: HelperRequest\n"}, []string{"      help: HelpRoutingRequest\n",
		"      assist: {type: HelpRoutingRequest, was: [help]}\n"}},
	{"AGENT_TYPE_SAME", []string{"  helper:\n", "  helper:\n    agent_type: AID\n"},
		[]string{"  helper:\n", "  helper:\n    agent_type: AID\n    aliases: [HELPER]\n"}},
	{"WIRE_VALUE_SAME", []string{"WORK: Working.", "JOB: {doc: Working., was: [WORK]}",
		"WORK: lead", "JOB: lead"},
		[]string{"WORK: Working.", "WORK: {doc: Working., go_name: PhaseJob}"}},
	{"ENUM_VALUE_NO_DELETE", []string{"      SECRET: {doc: Kept back., hidden: true}\n", "",
		", SECRET: end", ""}, []string{"WORK: Working.", "WORK: {doc: Working., hidden: true}"}},
	{"KIND_NO_DELETE", []string{"    failure: {doc: A step failed., clash: queue}\n", ""},
		[]string{"A step failed.", "Some step failed."}},
	{"TYPE_NO_DELETE", []string{"  Decision:\n    doc: Another form of an answer.\n    fields:\n " +
		"     verdict: {type: string, doc: What was decided.}\n", ""},
		[]string{"  Decision:\n", "  Verdict:\n    was: [Decision]\n"}},
	{"ENUM_NO_DELETE", []string{"  Phase:\n    doc", "  Stage:\n    doc",
		"phase: {type: Phase, doc: How far it came.}",
		"phase: {type: Stage, doc: How far it came.}", "phase: {type: Phase, doc: How far it is.}",
		"phase: {type: Stage, doc: How far it is.}"},
		[]string{"  Phase:\n    doc", "  Stage:\n    was: [Phase]\n    doc",
			"phase: {type: Phase, doc: How far it came.}",
			"phase: {type: Stage, doc: How far it came.}",
			"phase: {type: Phase, doc: How far it is.}",
			"phase: {type: Stage, doc: How far it is.}"}},
	{"ROUTING_NO_DELETE", []string{"    route: none\n    escalates: spread\n    result: Report\n " +
		"   branches:\n      ask: interrupt\n      done: Report\n      results: WorkResults\n",
		"    only: interrupt\n    escalates: spread\n",
		"    request:\n      fields:\n        part: {type: string, doc: What to do.}\n        " +
			"note: {type: Note, optional: true, doc: Something to know.}\n", "",
		"    dispatch: {each: parts, to: work, results: WorkResults}\n", "",
		"parts: {type: \"[]WorkRequest\"", "parts: {type: \"[]string\""},
		[]string{"Does one part.", "Does a part."}},
	{"GO_NAME_SAME", []string{"  helper:\n", "  helper:\n    go_name: Aid\n"},
		[]string{"  helper:\n", "  helper:\n    go_name: Helper\n"}},
	{"BINDING_SAME", []string{"  Note:\n    doc: A note.\n",
		"  Note:\n    doc: A note.\n    go_type: example.com/app/notes.Note\n"},
		[]string{"A note.", "One note."}},
	{"GO_API_NO_DELETE",
		[]string{"      size: {type: int, min: 0, max: 10, doc: How long it is.}\n", ""},
		[]string{"How long it is.", "How wide it is."}},
	{"DEF_SAME_NAME", []string{"  Decision:\n    doc: Another form of an answer.\n",
		"  Verdict:\n    was: [Decision]\n    doc: Another form of an answer.\n",
		"  answer: Answer\n", "  answer: Verdict\n"},
		[]string{"Another form of an answer.", "One more."}},
	{"ENUM_VALUE_ADDED", []string{"WORK: Working.", "WORK: Working.\n      REST: Resting.",
		", SECRET: end", ", SECRET: end, REST: end"}, []string{"WORK: Working.", "WORK: At work."}},
	{"FIELD_NO_DELETE", []string{"      size: {type: int, min: 0, max: 10, doc: How long it is.}\n",
		""}, []string{"      size: {type: int,", "      size: {type: int, hidden: true, " +
		"optional: true,"}},
	{"FIELD_SAME_JSON_NAME",
		[]string{"      size: {type: int,", "      length: {type: int, was: [size],"},
		[]string{"      size: {type: int,", "      length: {type: int, was: [size], json: size,"}},
	{"FIELD_SAME_TYPE", []string{"size: {type: int, min: 0, max: 10,", "size: {type: string,"},
		[]string{"size: {type: int,", "size: {type: float,"}},
	{"FIELD_SAME_CARDINALITY", []string{"notes: {type: \"[]Note\"", "notes: {type: Note"},
		[]string{"note: {type: Note, optional: true, doc: Something to know.}",
			"note: {type: Note, doc: Something to know.}"}},
	{"FIELD_SAME_REQUIRED", []string{"depth: {type: int, optional: true, default: 3,",
		"depth: {type: int,"}, []string{"        part: {type: string,",
		"        part: {type: string, optional: true,"}},
	{"CONSTRAINT_NO_TIGHTEN", []string{"max: 10", "max: 9"}, []string{"max: 10", "max: 11"}},
	{"FIELD_SAME_GO_NAME", []string{"      size: {type: int,",
		"      size: {type: int, go_name: Length,"},
		[]string{"      size: {type: int,", "      size: {type: int, go_name: Size,"}},
	{"FIELD_SAME_GO_TYPE", []string{"depth: {type: int, optional: true,",
		"depth: {type: int, optional: true, presence: explicit,"},
		[]string{"        part: {type: string,", "        part: {type: string, optional: true,"}},
	{"SCHEMA_NO_TIGHTEN", []string{"comment: {type: string, optional: true, max_length: 100",
		"comment: {type: string, optional: true, max_length: 10"},
		[]string{"        part: {type: string,", "        part: {type: string, max_length: 10,"}},
	{"SCHEMA_SAME_TYPE", []string{"size: {type: int,", "size: {type: float,"},
		[]string{"hint: {type: string", "hint: {type: Key"}},
	{"SCHEMA_NO_LOOSEN", []string{"max: 10", "max: 11"}, []string{"max: 10", "max: 9"}},
	{"FIELD_SAME_DEFAULT", []string{"default: 3", "default: 4"},
		[]string{"How deep to go.", "How far to go."}},
	{"VISIBILITY_SAME", []string{"hint: {type: string, optional: true, hidden: true,",
		"hint: {type: string, optional: true,"}, []string{"Not for models.", "Not for any model."}},
	{"FIELD_ADDED", []string{"      text: {type: string, doc: What it says.}\n",
		"      text: {type: string, doc: What it says.}\n      mood: {type: string, optional: " +
			"true, doc: How it sounds.}\n"},
		[]string{"      text: {type: string, doc: What it says.}\n",
			"      text: {type: string, doc: What it says.}\n      mood: {type: string, " +
				"optional: true, hidden: true, doc: How it sounds.}\n"}},
	{"GO_PACKAGE_SAME", []string{"package: routes", "package: agents"},
		[]string{"A note.", "One note."}},
	{"ANSWER_SAME_TYPE", []string{"  answer: Answer\n", "  answer: Decision\n"},
		[]string{"  Answer:\n", "  Reply:\n    was: [Answer]\n", "  answer: Answer\n",
			"  answer: Reply\n"}},
	{"RESERVED_NO_DELETE", []string{"reserved: [former]", "reserved: [other]"},
		[]string{"reserved: [former]", "reserved: [former, other]"}},
	{"PROMPT_TEXT_CHANGED", []string{"Spread first. Then check.", "Check first."},
		[]string{"Leads the work.", "Leads."}},
	{"DOC_CHANGED", []string{"What it says.", "All it says."},
		[]string{"Not for models.", "Not for any model."}},
	{"TOOLS_CHANGED", []string{"tools: [search]", "tools: [{name: search, once: true}]"},
		[]string{"limit: 6", "limit: 5"}},
	{"DISPLAY_NAME_CHANGED", []string{"  helper:\n", "  helper:\n    display_name: Aid\n"},
		[]string{"  helper:\n", "  helper:\n    display_name: Helper\n"}},
}

// rulesOf are the ids that findings carry, as rule or among what is related.
func rulesOf(findings []report.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, f.Rule)
		for _, r := range f.Related {
			for i := range r.Message {
				if r.Message[i] == ':' {
					out = append(out, r.Message[:i])
					break
				}
			}
		}
	}
	return out
}

func TestEveryRuleHasTwoSides(t *testing.T) {
	tested := map[string]bool{"SPEC_VERSION_SAME": true} // below: the language has one version
	sides := func(base string, cases []ruleCase) {
		for _, c := range cases {
			t.Run(c.rule, func(t *testing.T) {
				tested[c.rule] = true
				old := planOf(t, base)
				assert.Contains(t, rulesOf(
					review.Breaking(old, planOf(t, edited(t, base, c.bad...)))), c.rule)
				assert.NotContains(t,
					rulesOf(review.Breaking(old, planOf(t, edited(t, base, c.good...)))), c.rule)
			})
		}
	}
	sides(base, ruleCases)
	sides(flowBase, flowRuleCases)
	for _, r := range review.Catalogue() {
		assert.True(t, tested[r.ID], "%s is not tested", r.ID)
	}
}

func TestVersionOfTheLanguage(t *testing.T) {
	old, now := planOf(t, base), planOf(t, base)
	assert.Empty(t, review.Breaking(old, now))
	now.Version++
	assert.Equal(t, []string{"SPEC_VERSION_SAME"}, rulesOf(review.Breaking(old, now)))
}

func TestCatalogue(t *testing.T) {
	known := []report.Category{review.CategorySource, review.CategoryWireJSON,
		review.CategorySchema,
		review.CategoryTopology, review.CategoryPrompt}
	seen := map[string]bool{}
	for _, r := range review.Catalogue() {
		assert.False(t, seen[r.ID], r.ID)
		seen[r.ID] = true
		assert.Regexp(t, `^[A-Z]+(_[A-Z]+)+$`, r.ID)
		assert.Contains(t, known, r.Category, r.ID)
		assert.Contains(t, []report.Severity{report.Error, report.Expected, report.Notice},
			r.Severity,
			r.ID)
		for _, text := range []string{r.Summary, r.Why, r.Bad, r.Good} {
			assert.NotEmpty(t, text, r.ID)
		}
		assert.NotEqual(t, r.Bad, r.Good, r.ID)
		_, taken := spec.FindRule(r.ID)
		assert.False(t, taken, "%s is a rule of the language, too", r.ID)
	}
}
