package review_test

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/review"
	"github.com/routegen/routegen/runtime/compat"
)

// flowBase has one of everything that flows are made of.
//
//go:embed testdata/flows.yaml
var flowBase string

// flowRuleCases are edits of flowBase: one that breaks the rule, and one like it that does not.
var flowRuleCases = []ruleCase{
	{"FLOW_NO_DELETE", []string{"dialogue: {max_depth: 6, welcome: greet}\n", "",
		"  greet:\n    doc: Says hello.\n    reserved: [late]\n    steps:\n      - {step: hello, " +
			"type: say, message: Hello.}\n", ""},
		[]string{"  greet:\n    doc", "  salute:\n    was: [greet]\n    doc", "welcome: greet",
			"welcome: salute"}},
	{"STEP_NO_DELETE", []string{"      - {step: ask_amount, type: collect, slot: amount, " +
		"message: \"How much?\"}\n", ""},
		[]string{"message: \"How much?\"}\n", "message: \"How much?\"}\n      - {step: aha, " +
			"type: say, message: Aha.}\n"}},
	{"STEP_SAME_KIND", []string{"{step: bye, type: say, message: \"{tip} {number}\"}",
		"{step: bye, type: handoff, queue: people, message: \"{tip} {number}\"}"},
		[]string{"message: \"{tip} {number}\"", "message: \"{number} {tip}\""}},
	{"SLOT_NO_DELETE", []string{"      number: {type: string, doc: Its number.}\n      source",
		"      source", ", outputs: {number: number}", ", outputs: {number: tip}", "{tip} {number}",
		"{tip}"}, []string{"      number: {type: string, doc: Its number.}\n      source",
		"      receipt: {type: string, was: [number], doc: Its number.}\n      source",
		", outputs: {number: number}", ", outputs: {number: receipt}", "{tip} {number}",
		"{tip} {receipt}"}},
	{"FLOW_CHANGED", []string{"    trigger: {intents: [send money]}\n",
		"    trigger: {intents: [send money]}\n    interruptible: false\n"},
		[]string{"doc: Sends money.", "doc: Sends some money."}},
	{"STEP_CHANGED", []string{"max_attempts: 3", "max_attempts: 4"},
		[]string{"How much?\"}", "How many?\"}"}},
	{"SAID_TEXT_CHANGED", []string{"How much?\"}", "How many?\"}"},
		[]string{"max_attempts: 3", "max_attempts: 4"}},
}

// TestFlowChanges says of edits which rule comes first, and of what is no break that none of stored
// data does.
func TestFlowChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit []string
		// rules of findings and what is related to them, the worst of each change first
		want []string
	}{
		"nothing": {nil, nil},
		"type of slot": {[]string{"amount: {type: float, min: 1,", "amount: {type: int, min: 1,"},
			[]string{"FIELD_SAME_TYPE"}},
		"tighter slot": {[]string{"amount: {type: float, min: 1,",
			"amount: {type: float, min: 2,"}, []string{"CONSTRAINT_NO_TIGHTEN"}},
		"new slot": {[]string{"      number: {type: string, doc: Its number.}\n      source",
			"      number: {type: string, doc: Its number.}\n      memo: {type: string, doc: A " +
				"note.}\n      source"}, []string{"FIELD_ADDED"}},
		"new flow": {[]string{"flows:\n", "flows:\n  help:\n    doc: Helps.\n    steps:\n   " +
			"   - {step: hint, type: say, message: Ask me.}\n"}, nil},
		"new action": {[]string{"validators:\n", "  look:\n    doc: Looks.\nvalidators:\n"},
			[]string{"METHOD_ADDED"}},
		"new validator": {[]string{"flows:\n", "  bic: {doc: Eight letters., type: " +
			"string}\nflows:\n"}, []string{"METHOD_ADDED"}},
		"action input": {[]string{"to: {type: string, doc: Where to.}}",
			"to: {type: int, doc: Where to.}}", "to: target}", "to: {expr: \"7\"}}"},
			[]string{"FIELD_SAME_GO_TYPE", "STEP_CHANGED"}},
		"once": {[]string{"    once: true\n", ""}, []string{"FLOW_CHANGED"}},
		"phrases": {[]string{"[send money]", "[send money, pay somebody]"},
			[]string{"DOC_CHANGED"}},
		"instruction": {[]string{"Say goodbye to {target}", "Say hello to {target}"},
			[]string{"PROMPT_TEXT_CHANGED"}},
		"depth": {[]string{"max_depth: 6", "max_depth: 7"}, []string{"FLOW_CHANGED"}},
		"given back": {[]string{"    inputs: [\"amount?\"]\n",
			"    inputs: [\"amount?\"]\n    outputs: [\"number?\"]\n"}, []string{"FLOW_CHANGED"}},
		"unreserved": {[]string{"    reserved: [late]\n", ""}, []string{"RESERVED_NO_DELETE"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := review.Breaking(planOf(t, flowBase), planOf(t, edited(t, flowBase, c.edit...)))
			var got []string
			for _, f := range found {
				got = append(got, f.Rule)
			}
			assert.Equal(t, c.want, got, "%+v", found)
		})
	}
}

// TestFlowRenamesAreOneChange: what was: says became of a flow or a slot is one change, and stored
// threads go on.
func TestFlowRenamesAreOneChange(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string][]string{
		"flow": {"  look_up:\n", "  find:\n    was: [look_up]\n", "flow: look_up",
			"flow: find"},
		"slot": {"      target: {type", "      payee: {was: [target], type", "slot: target",
			"slot: payee", "to {target}?", "to {payee}?", "to: target}", "to: payee}",
			"goodbye to {target}", "goodbye to {payee}"},
		"step": {"{step: pay, type", "{step: transfer_it, was: [pay], type", "else: pay}",
			"else: transfer_it}", "on_yes: pay", "on_yes: transfer_it"},
		"validator": {"  iban: {doc", "  account_number: {was: [iban], doc", "validator: iban",
			"validator: account_number"},
		"action": {"  transfer:\n", "  move:\n    was: [transfer]\n", "call: transfer",
			"call: move"},
		"called slot": {"      found: {type", "      result: {was: [found], type",
			"outputs: [found]", "outputs: [result]", "values: {found:", "values: {result:",
			"outputs: {found: tip}", "outputs: {result: tip}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, now := planOf(t, flowBase), planOf(t, edited(t, flowBase, edit...))
			r := review.Compare(old, now)
			require.Len(t, r.Changes, 1, r.Text())
			assert.Equal(t, "renamed", r.Changes[0].Op)
			assert.Empty(t, compat.Compare(plan.Shapes(old), plan.Shapes(now)),
				"stored threads are read")
			if strings.HasPrefix(name, "action") || strings.HasPrefix(name, "validator") {
				return // no thread names one
			}
			back := compat.Compare(plan.Shapes(now), plan.Shapes(old))
			assert.NotEmpty(t, back, "the control: the old program does not know the new name")
		})
	}
}

// TestFlowsComeAndGo: the first flow of a spec is no break, and the last one is.
func TestFlowsComeAndGo(t *testing.T) {
	t.Parallel()
	with := base + flowBase[len("version: 1\ngo: {package: bank, out: bank}\n"):]
	with = edited(t, with, "enums:\n  Account:\n    doc: Which account.\n    values: {checking: "+
		"For daily use., savings: To keep.}\n", "",
		"enums:\n", "enums:\n  Account:\n    doc: Which account.\n    values: {checking: For "+
			"daily use., savings: To keep.}\n")
	bare, full := planOf(t, base), planOf(t, with)
	for _, f := range review.Breaking(bare, full) {
		assert.Contains(t, []string{"METHOD_ADDED"}, f.Rule, "%+v", f)
	}
	assert.Empty(t, compat.Compare(plan.Shapes(bare), plan.Shapes(full)))
	var gone []string
	for _, f := range review.Breaking(full, bare) {
		if f.Rule == "FLOW_NO_DELETE" {
			gone = append(gone, f.Message)
		}
	}
	assert.Len(t, gone, 3)
}
