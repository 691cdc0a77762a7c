package edit_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/edit"
	"github.com/routegen/routegen/generator/spec"
)

// TestFlowsSpecIsSound: what other tests take for granted.
func TestFlowsSpecIsSound(t *testing.T) {
	t.Parallel()
	_, findings := spec.Parse("routes.yaml", []byte(flowsSpec(t)))
	assert.Empty(t, list(findings))
}

// TestRenameInFlows renames each flow, slot, step, action, validator, type and value of a spec with
// every kind of reference: the result has no errors, and renaming it back gives the old text but
// for the list of earlier names.
func TestRenameInFlows(t *testing.T) {
	t.Parallel()
	text := flowsSpec(t)
	parsed, _ := spec.Parse("routes.yaml", []byte(text))
	renamed := 0
	for _, at := range targets(parsed) {
		there, findings := edit.Rename("routes.yaml", []byte(text), at.kind, at.name,
			another(at.kind))
		require.NotNil(t, there, "%v: %s", at, list(findings))
		assert.Empty(t, list(errorsOf(string(there))), at)
		owner, old, dotted := strings.Cut(at.name, ".")
		back := another(at.kind)
		if dotted {
			back = owner + "." + back
		} else {
			old = at.name
		}
		again, findings := edit.Rename("routes.yaml", there, at.kind, back, old)
		require.NotNil(t, again, "%v: %s", at, list(findings))
		assert.Empty(t, list(errorsOf(string(again))), at)
		renamed++
	}
	assert.Greater(t, renamed, 50)
}

// TestRenameFindsEveryMention counts: after a rename the old name stands only where it is kept, or
// means something else.
func TestRenameFindsEveryMention(t *testing.T) {
	t.Parallel()
	text := flowsSpec(t)
	for _, c := range []struct {
		kind, from string
		// mentions of the old name as a word: in was, and of other things with that name
		left int
	}{
		{edit.KindSlot, "transfer_funds.beneficiary_name", 1},
		// the output of the action twice: where it is declared, and where it is taken over
		{edit.KindSlot, "transfer_funds.transaction_id", 3},
		// the input of the action, where it is declared and where it is given
		{edit.KindSlot, "check_balance.account_type", 3},
		{edit.KindStep, "transfer_funds.pages", 1},
		{edit.KindStep, "transfer_funds.sorry", 1},
		{edit.KindFlow, "check_balance", 1},
		{edit.KindAction, "get_balance", 1},
		{edit.KindValidator, "iban", 6},
		{edit.KindValue, "AccountType.savings", 1},
	} {
		r, findings := edit.Rename("routes.yaml", []byte(text), c.kind, c.from, "zebra")
		require.NotNil(t, r, list(findings))
		old := c.from[strings.LastIndexByte(c.from, '.')+1:]
		word := regexp.MustCompile(`\b` + old + `\b`)
		assert.Len(t, word.FindAllIndex(r, -1), c.left, "%s\n%s", c.from, r)
		assert.Regexp(t, `was: \[([a-z_]+, )*`+old, string(r))
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
	r, findings := edit.Rename("routes.yaml", []byte(before), edit.KindSlot, "f.sum", "total")
	require.NotNil(t, r, list(findings))
	assert.Equal(t, after, string(r))
}

// TestAddAndRemoveInFlows adds what has a name and takes it out again.
func TestAddAndRemoveInFlows(t *testing.T) {
	t.Parallel()
	text := flowsSpec(t)
	for _, what := range []edit.Addition{
		{Kind: edit.KindFlow, Name: "pay_bill",
			Set: []edit.KeyValue{{Key: "doc", Value: "Pays a bill."},
				{Key: "steps", Value: `[{step: hello, type: say, message: Hello.}]`}}},
		{Kind: edit.KindSlot, Name: "check_balance.month",
			Set: []edit.KeyValue{{Key: "type", Value: "int"}, {Key: "min", Value: "1"},
				{Key: "doc", Value: "Of the year."}}},
		{Kind: edit.KindAction, Name: "pay_bill",
			Set: []edit.KeyValue{{Key: "doc", Value: "Pays a bill."},
				{Key: "inputs.number", Value: "string"}, {Key: "once", Value: "true"}}},
		{Kind: edit.KindValidator, Name: "digits",
			Set: []edit.KeyValue{{Key: "doc", Value: "Four of them."},
				{Key: "type", Value: "string"}}},
	} {
		added, findings := edit.Add("routes.yaml", []byte(text), what)
		require.NotNil(t, added, "%s: %s", what.Name, list(findings))
		assert.Empty(t, list(errorsOf(string(added))))
		removed, findings := edit.Remove("routes.yaml", added, what.Kind, what.Name)
		require.NotNil(t, removed, "%s: %s", what.Name, list(findings))
		bare := what.Name[strings.LastIndexByte(what.Name, '.')+1:]
		assert.True(t, restored(string(removed), bare, text), "%s\n%s", what.Name,
			removed)
		_, findings = edit.Add("routes.yaml", removed, what)
		require.NotEmpty(t, findings)
		assert.Equal(t, spec.RuleNameTombstone, findings[0].Rule)
	}
}

// TestRemoveInFlowsRefuses what others refer to, at each place; and steps, whose order is their
// meaning.
func TestRemoveInFlowsRefuses(t *testing.T) {
	t.Parallel()
	text := flowsSpec(t)
	for _, c := range []struct {
		kind, name, rule string
		places           int
	}{
		{edit.KindFlow, "check_balance", spec.RuleRefInUse, 2},
		{edit.KindAction, "next_page", spec.RuleRefInUse, 1},
		{edit.KindValidator, "amount", spec.RuleRefInUse, 1},
		{edit.KindSlot, "transfer_funds.tip", spec.RuleRefInUse, 3},
		{edit.KindValue, "AccountType.savings", spec.RuleRefInUse, 2},
		{edit.KindStep, "transfer_funds.pay", spec.RuleEditArgument, 1},
		{edit.KindSlot, "transfer_funds.nothing", spec.RuleEditArgument, 1},
		{edit.KindSlot, "nothing.tip", spec.RuleEditArgument, 1},
	} {
		r, findings := edit.Remove("routes.yaml", []byte(text), c.kind, c.name)
		assert.Nil(t, r, c.name)
		require.Len(t, findings, c.places, "%s: %s", c.name, list(findings))
		assert.Equal(t, c.rule, findings[0].Rule, c.name)
	}
	_, findings := edit.Add("routes.yaml", []byte(text),
		edit.Addition{Kind: edit.KindStep, Name: "help.more"})
	require.Len(t, findings, 1)
	assert.Contains(t, findings[0].Hint, "by hand")
	_, findings = edit.Rename("routes.yaml", []byte(text), edit.KindStep, "help.lits", "more")
	require.Len(t, findings, 1)
	assert.Equal(t, `did you mean "list"?`, findings[0].Hint)
}

// TestRemoveSeesWhatIsGivenByName: an action that takes the slot of its input's name has no word of
// it in the spec.
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
	r, findings := edit.Remove("routes.yaml", []byte(text), edit.KindSlot, "f.note")
	assert.Nil(t, r)
	assert.Equal(t,
		`10:39 REF_IN_USE slot "f.note" is given to action "pay" here, by its name | say in inputs: what it is given | `+"\n", list(findings))
	r, findings = edit.Remove("routes.yaml",
		[]byte(strings.Replace(text, "call: pay", `call: pay, inputs: {note: "{{}}"}`, 1)),
		edit.KindSlot, "f.note")
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
	r, findings := edit.Format("routes.yaml", []byte(before))
	require.NotNil(t, r, list(findings))
	assert.Equal(t, after, string(r))
	r, findings = edit.Format("routes.yaml", []byte(flowsSpec(t)))
	require.NotNil(t, r, list(findings))
	again, _ := edit.Format("routes.yaml", r)
	require.NotNil(t, again)
	assert.Equal(t, string(r), string(again))
}
