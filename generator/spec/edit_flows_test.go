package spec_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/spec"
)

func flowsSpec(tb testing.TB) string {
	tb.Helper()
	text, err := os.ReadFile("testdata/flows.yaml")
	require.NoError(tb, err)
	return string(text)
}

// TestFlowsSpecIsSound: what other tests take for granted.
func TestFlowsSpecIsSound(t *testing.T) {
	t.Parallel()
	_, findings := spec.Parse("routes.yaml", []byte(flowsSpec(t)))
	assert.Empty(t, list(findings))
}

// TestRenameInFlows renames each flow, slot, step, action, validator, type and value of a spec with every kind of reference: the result
// has no errors, and renaming it back gives the old text but for the list of earlier names.
func TestRenameInFlows(t *testing.T) {
	t.Parallel()
	text := flowsSpec(t)
	parsed, _ := spec.Parse("routes.yaml", []byte(text))
	renamed := 0
	for _, at := range targets(parsed) {
		there, findings := spec.Rename("routes.yaml", []byte(text), at.kind, at.name, another(at.kind))
		require.NotNil(t, there, "%v: %s", at, list(findings))
		soundEdit(t, text, there)
		assert.Empty(t, list(errorsOf(string(there.Text))), at)
		owner, old, dotted := strings.Cut(at.name, ".")
		back := another(at.kind)
		if dotted {
			back = owner + "." + back
		} else {
			old = at.name
		}
		again, findings := spec.Rename("routes.yaml", there.Text, at.kind, back, old)
		require.NotNil(t, again, "%v: %s", at, list(findings))
		soundEdit(t, string(there.Text), again)
		assert.Empty(t, list(errorsOf(string(again.Text))), at)
		renamed++
	}
	assert.Greater(t, renamed, 50)
}

// TestRenameFindsEveryMention counts: after a rename the old name stands only where it is kept, or means something else.
func TestRenameFindsEveryMention(t *testing.T) {
	t.Parallel()
	text := flowsSpec(t)
	for _, c := range []struct {
		kind, from string
		left       int // mentions of the old name as a word: in was, and of other things with that name
	}{
		{spec.EditSlot, "transfer_funds.beneficiary_name", 1},
		{spec.EditSlot, "transfer_funds.transaction_id", 3}, // the output of the action twice: where it is declared, and where it is taken over
		{spec.EditSlot, "check_balance.account_type", 3},    // the input of the action, where it is declared and where it is given
		{spec.EditStep, "transfer_funds.pages", 1},
		{spec.EditStep, "transfer_funds.sorry", 1},
		{spec.EditFlow, "check_balance", 1},
		{spec.EditAction, "get_balance", 1},
		{spec.EditValidator, "iban", 6},
		{spec.EditValue, "AccountType.savings", 1},
	} {
		r, findings := spec.Rename("routes.yaml", []byte(text), c.kind, c.from, "zebra")
		require.NotNil(t, r, list(findings))
		old := c.from[strings.LastIndexByte(c.from, '.')+1:]
		word := regexp.MustCompile(`\b` + old + `\b`)
		assert.Len(t, word.FindAllIndex(r.Text, -1), c.left, "%s\n%s", c.from, r.Text)
		assert.Regexp(t, `was: \[([a-z_]+, )*`+old, string(r.Text))
	}
}

// TestRenameInTexts shows what is written inside of texts, whatever their quotes.
func TestRenameInTexts(t *testing.T) {
	t.Parallel()
	const before = `version: 1
go: {package: bank, out: generated/bank}
actions:
  pay: {doc: Pays., inputs: {sum: {type: float, doc: How much.}, note: {type: string, doc: A note., optional: true}}, outputs: {sum: {type: float, doc: What was left.}}}
flows:
  f:
    doc: Pays.
    slots:
      sum: {type: float, doc: How much.}
      note: {type: string, doc: A note.}
    inputs: ["sum?", note]
    steps:
      - {step: a, type: say, message: 'It''s {sum:2} for "{sum}" and {note}'}
      - {step: b, type: say, message: "\u00e9 \"{sum}\" {{sum}}", when: "sum > 1 and not (sum == 2) or note == 'sum'"}
      - step: c
        type: say
        message: >-
          A long text on {note}
          and {sum}.
      - step: d
        type: action
        call: pay
      - {step: e, type: action, call: pay, inputs: {note: "{sum}"}}
`
	const after = `version: 1
go: {package: bank, out: generated/bank}
actions:
  pay: {doc: Pays., inputs: {sum: {type: float, doc: How much.}, note: {type: string, doc: A note., optional: true}}, outputs: {sum: {type: float, doc: What was left.}}}
flows:
  f:
    doc: Pays.
    slots:
      total: {type: float, doc: How much., was: [sum]}
      note: {type: string, doc: A note.}
    inputs: ["total?", note]
    steps:
      - {step: a, type: say, message: 'It''s {total:2} for "{total}" and {note}'}
      - {step: b, type: say, message: "\u00e9 \"{total}\" {{sum}}", when: "total > 1 and not (total == 2) or note == 'sum'"}
      - step: c
        type: say
        message: >-
          A long text on {note}
          and {total}.
      - step: d
        type: action
        call: pay
        inputs: {sum: total}
        outputs: {sum: total}
      - {step: e, type: action, call: pay, inputs: {note: "{total}", sum: total}, outputs: {sum: total}}
`
	require.Empty(t, list(errorsOf(before)))
	r, findings := spec.Rename("routes.yaml", []byte(before), spec.EditSlot, "f.sum", "total")
	require.NotNil(t, r, list(findings))
	assert.Equal(t, after, string(r.Text))
	soundEdit(t, before, r)
}

// TestAddAndRemoveInFlows adds what has a name and takes it out again.
func TestAddAndRemoveInFlows(t *testing.T) {
	t.Parallel()
	text := flowsSpec(t)
	for _, what := range []spec.AddWhat{
		{Kind: spec.EditFlow, Name: "pay_bill", Set: []spec.KeyValue{{Key: "doc", Value: "Pays a bill."}, {Key: "steps", Value: `[{step: hello, type: say, message: Hello.}]`}}},
		{Kind: spec.EditSlot, Name: "check_balance.month", Set: []spec.KeyValue{{Key: "type", Value: "int"}, {Key: "min", Value: "1"}, {Key: "doc", Value: "Of the year."}}},
		{Kind: spec.EditAction, Name: "pay_bill", Set: []spec.KeyValue{{Key: "doc", Value: "Pays a bill."}, {Key: "inputs.number", Value: "string"}, {Key: "once", Value: "true"}}},
		{Kind: spec.EditValidator, Name: "digits", Set: []spec.KeyValue{{Key: "doc", Value: "Four of them."}, {Key: "type", Value: "string"}}},
	} {
		added, findings := spec.Add("routes.yaml", []byte(text), what)
		require.NotNil(t, added, "%s: %s", what.Name, list(findings))
		soundEdit(t, text, added)
		assert.Empty(t, list(errorsOf(string(added.Text))))
		removed, findings := spec.Remove("routes.yaml", added.Text, what.Kind, what.Name)
		require.NotNil(t, removed, "%s: %s", what.Name, list(findings))
		bare := what.Name[strings.LastIndexByte(what.Name, '.')+1:]
		assert.True(t, restored(string(removed.Text), bare, text), "%s\n%s", what.Name, removed.Text)
		_, findings = spec.Add("routes.yaml", removed.Text, what)
		require.NotEmpty(t, findings)
		assert.Equal(t, spec.RuleNameTombstone, findings[0].Rule)
	}
}

// TestRemoveInFlowsRefuses what others refer to, at each place; and steps, whose order is their meaning.
func TestRemoveInFlowsRefuses(t *testing.T) {
	t.Parallel()
	text := flowsSpec(t)
	for _, c := range []struct {
		kind, name, rule string
		places           int
	}{
		{spec.EditFlow, "check_balance", spec.RuleRefInUse, 2},
		{spec.EditAction, "next_page", spec.RuleRefInUse, 1},
		{spec.EditValidator, "amount", spec.RuleRefInUse, 1},
		{spec.EditSlot, "transfer_funds.tip", spec.RuleRefInUse, 3},
		{spec.EditValue, "AccountType.savings", spec.RuleRefInUse, 2},
		{spec.EditStep, "transfer_funds.pay", spec.RuleEditArgument, 1},
		{spec.EditSlot, "transfer_funds.nothing", spec.RuleEditArgument, 1},
		{spec.EditSlot, "nothing.tip", spec.RuleEditArgument, 1},
	} {
		r, findings := spec.Remove("routes.yaml", []byte(text), c.kind, c.name)
		assert.Nil(t, r, c.name)
		require.Len(t, findings, c.places, "%s: %s", c.name, list(findings))
		assert.Equal(t, c.rule, findings[0].Rule, c.name)
	}
	_, findings := spec.Add("routes.yaml", []byte(text), spec.AddWhat{Kind: spec.EditStep, Name: "help.more"})
	require.Len(t, findings, 1)
	assert.Contains(t, findings[0].Hint, "by hand")
	_, findings = spec.Rename("routes.yaml", []byte(text), spec.EditStep, "help.lits", "more")
	require.Len(t, findings, 1)
	assert.Equal(t, `did you mean "list"?`, findings[0].Hint)
}

// TestRemoveSeesWhatIsGivenByName: an action that takes the slot of its input's name has no word of it in the spec.
func TestRemoveSeesWhatIsGivenByName(t *testing.T) {
	t.Parallel()
	const text = `version: 1
go: {package: bank, out: generated/bank}
actions:
  pay: {doc: Pays., inputs: {note: {type: string, doc: A note., optional: true}}}
flows:
  f:
    doc: Pays.
    slots: {note: {type: string, doc: A note.}}
    steps:
      - {step: d, type: action, call: pay}
`
	require.Empty(t, list(errorsOf(text)))
	r, findings := spec.Remove("routes.yaml", []byte(text), spec.EditSlot, "f.note")
	assert.Nil(t, r)
	assert.Equal(t, `10:39 REF_IN_USE slot "f.note" is given to action "pay" here, by its name | say in inputs: what it is given | /flows/f/steps/0`+"\n", list(findings))
	r, findings = spec.Remove("routes.yaml", []byte(strings.Replace(text, "call: pay", `call: pay, inputs: {note: "{{}}"}`, 1)), spec.EditSlot, "f.note")
	assert.NotNil(t, r, list(findings))
}

// TestFormatOrdersFlows: the keys of flows have an order, steps and slots keep theirs.
func TestFormatOrdersFlows(t *testing.T) {
	t.Parallel()
	const before = `version: 1
flows:
  f:
    steps:
      - {message: "{n}", type: say, step: a}
      - step: b # behind a dash all stays where it is
        condition: n > 1
        type: while
        do:
          - {values: {n: 0}, step: c, type: set}
    slots: {n: {doc: A number., type: int}, m: {doc: Another., type: int}}
    inputs: [n]
    doc: Counts.
go: {package: bank, out: generated/bank}
`
	const after = `version: 1
go: {package: bank, out: generated/bank}
flows:
  f:
    doc: Counts.
    slots: {n: {type: int, doc: A number.}, m: {type: int, doc: Another.}}
    inputs: [n]
    steps:
      - {step: a, type: say, message: "{n}"}
      - step: b # behind a dash all stays where it is
        condition: n > 1
        type: while
        do:
          - {step: c, type: set, values: {n: 0}}
`
	r, findings := spec.Format("routes.yaml", []byte(before))
	require.NotNil(t, r, list(findings))
	assert.Equal(t, after, string(r.Text))
	r, findings = spec.Format("routes.yaml", []byte(flowsSpec(t)))
	require.NotNil(t, r, list(findings))
	again, _ := spec.Format("routes.yaml", r.Text)
	require.NotNil(t, again)
	assert.Empty(t, again.Edits)
}
