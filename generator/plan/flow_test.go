package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
)

// flowPlan is the plan of a spec with every kind of step.
func flowPlan(t *testing.T) *plan.Plan {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("..", "spec", "testdata", "flows.yaml"))
	require.NoError(t, err)
	sp, findings := spec.Parse("routes.yaml", src)
	require.NotNil(t, sp, "%+v", findings)
	p, more := plan.Build(sp)
	require.Empty(t, more)
	require.NotNil(t, p.Talk)
	return p
}

// TestFlowTargets: every step has a place in a flat list, and every way on is decided.
func TestFlowTargets(t *testing.T) {
	t.Parallel()
	var got []string
	f := &flowPlan(t).Talk.Flows[0]
	for _, s := range f.Steps {
		line := []string{s.ID, s.Kind, "->", f.TargetName(s.Next)}
		for _, to := range []struct {
			name string
			to   runtime.Target
		}{
			{"in", runtime.Target(s.Inside)}, {"body", s.Body}, {"else", s.Else}, {"yes", s.OnYes},
			{"no", s.OnNo}, {"change", s.OnChange}, {"invalid", s.OnInvalid},
			{"timeout", s.OnTimeout}, {"cancel", s.OnCancel}, {"error", s.OnError},
		} {
			if to.to != runtime.NoTarget {
				line = append(line, to.name, f.TargetName(to.to))
			}
		}
		for _, a := range s.Arms {
			line = append(line, "if", f.TargetName(a.To))
		}
		got = append(got, strings.Join(line, " "))
	}
	assert.Equal(t, []string{
		"hello say -> ask_iban",
		"ask_iban collect -> ask_name invalid end timeout end cancel cancel_flow",
		"ask_name collect -> check",
		"check collect -> read",
		"read call -> prepare error sorry",
		"prepare set -> size",
		"size branch -> too_much else pages if too_much if human",
		"too_much say -> end",
		"pages while -> tips body fetch",
		"fetch action -> show in pages",
		"show say -> leave in pages",
		"leave branch -> pages in pages else pages if tips",
		"tips generate -> say_tip error say_tip",
		"say_tip say -> sure",
		"sure confirm -> pay yes pay no cancel_flow change read invalid end timeout end cancel " +
			"cancel_flow",
		"pay action -> done error sorry",
		"done say -> end",
		"human handoff -> end",
		"sorry say -> error",
	}, got)
}

// TestFlowBinds: what a step takes and gives is complete, under the names that travel.
func TestFlowBinds(t *testing.T) {
	t.Parallel()
	talk := flowPlan(t).Talk
	transfer, balance := &talk.Flows[0], talk.Flow("check_balance")
	fetch := transfer.Step("fetch")
	assert.Equal(t, []string{"more to more", "lines to lines"}, bindTexts(transfer, fetch.Outputs),
		"the second goes to the slot of its name")
	get := balance.Step("get")
	assert.Equal(t, []string{"current_balance to current_balance",
		"currency_code to currency_code"}, bindTexts(balance, get.Outputs))
	size := transfer.Step("size")
	require.Len(t, size.Arms, 2)
	amount, balanced := size.Arms[0].If.Args[0], size.Arms[0].If.Args[1]
	assert.Equal(t, runtime.Expr{Op: runtime.OpGt, Args: []runtime.Expr{
		{Op: runtime.OpSlot, Slot: amount.Slot}, {Op: runtime.OpSlot, Slot: balanced.Slot}}},
		size.Arms[0].If)
	assert.Equal(t, []string{"amount", "balance"},
		[]string{transfer.SlotKey(amount.Slot), transfer.SlotKey(balanced.Slot)})
	last := transfer.Step("prepare").Set
	more := last[slices.IndexFunc(last, func(b runtime.Bind) bool { return b.Name == "more" })]
	assert.Contains(t, fmt.Sprintf("%+v", *more.Value), `["savings","investment"]`,
		"a list is one value")
	invalid := transfer.Step("ask_iban").Invalid
	assert.Equal(t, runtime.Template{{Var: "value"}, {Text: " is no IBAN: "}, {Var: "reason"}},
		invalid[0].Variants[0])
	assert.Equal(t, runtime.Template{{Text: "That did not work: "}, {Var: "error"}, {Text: " ("},
		{Var: "error_code"}, {Text: ")"}}, transfer.Step("sorry").Text[0].Variants[0])
	assert.Equal(t, &runtime.Retry{Attempts: 2, Backoff: "exponential", First: time.Second},
		transfer.Step("pay").Retry)
	assert.Equal(t, 50, transfer.Step("pages").Rounds)
	assert.Equal(t, time.Minute, talk.Action("execute_transfer").Timeout)
	assert.Equal(t, 10*time.Second, talk.Action("get_balance").Timeout)
}

// bindTexts writes binds that go to slots.
func bindTexts(f *plan.Flow, list []runtime.Bind) []string {
	var out []string
	for _, b := range list {
		out = append(out, b.Name+" to "+f.SlotKey(b.Slot))
	}
	return out
}

// TestFlowSlots: a slot is a pointer where a nil does not say already that it is empty, and is
// stored under its key.
func TestFlowSlots(t *testing.T) {
	t.Parallel()
	f := flowPlan(t).Talk.Flow("transfer_funds")
	assert.Equal(t, []string{"FlowTransfer", "TransferSlots"}, []string{f.Const, f.Struct},
		"go_name is part of every name")
	var got []string
	for _, s := range f.Slots {
		line := []string{s.Const, s.JSON, s.Type.String()}
		for _, flag := range []struct {
			set  bool
			name string
		}{{s.Pointer, "*"}, {s.Input, "in"}, {s.Output, "out"}, {s.Needed, "needed"},
			{s.Required, "required"}} {
			if flag.set {
				line = append(line, flag.name)
			}
		}
		got = append(got, strings.Join(line, " "))
	}
	assert.Equal(t, strings.Fields("iban beneficiary_name amount source_account balance "+
		"currency_code day wait tags extra confirmed page more lines tip note transaction_id"),
		column(f.Slots, func(s plan.FlowSlot) string { return s.Key }))
	assert.Contains(t, got, "SlotTransferIban iban Iban * in")
	assert.Contains(t, got, "SlotTransferTags tags []string")
	assert.Contains(t, got, "SlotTransferExtra extra json")
	assert.Contains(t, got, "SlotTransferTransactionID transaction_id string * out needed")
	assert.Contains(t, got, "SlotTransferNote note string * out")
	in := flowPlan(t).Talk.Flow("check_balance").Slot("account_type")
	assert.True(t, in.Input && in.Needed)
}

func column[T any](rows []T, pick func(T) string) []string {
	var out []string
	for _, r := range rows {
		out = append(out, pick(r))
	}
	return out
}

// TestFlowNamesCollide: one name for two things is refused where the second stands, and said once.
func TestFlowNamesCollide(t *testing.T) {
	t.Parallel()
	const base = `version: 1
go: {package: bank, out: bank}
enums:
  Kind: {doc: A kind., values: {one: One.}}
actions:
  look: {doc: Looks., outputs: {found: {type: string, doc: It.}}}
validators:
  good: {doc: Whether it is., type: string}
flows:
  send:
    doc: Sends.
    slots:
      found: {type: string, doc: It.}
      kind: {type: Kind, doc: Which.}
    steps:
      - {step: ask, type: collect, slot: kind, message: Which, validator: good_kind}
      - {step: find, type: action, call: look}
      - {step: say_it, type: say, message: "{found}"}
`
	for name, c := range map[string]struct{ text, with, says string }{
		"flow and type of the package": {"  send:\n", "  name:\n",
			`flow "name" becomes the name FlowName, which belongs to the generated package itself`},
		"slots and enum": {"  Kind: {",
			"  SendSlots: {doc: More., values: {two: Two.}}\n  Kind: {",
			`enum "SendSlots" and the slots of flow "send" both become the Go name SendSlots`},
		"step and enum": {"  Kind: {",
			"  StepSendAsk: {doc: More., values: {two: Two.}}\n  Kind: {",
			`enum "StepSendAsk" and step "ask" of flow "send" both become the Go name StepSendAsk`},
		"two steps": {"step: say_it",
			"step: as_k}\n      - {step: AsK, type: say, message: Hm}\n      - {step: say_it",
			`step "as_k" of flow "send" and step "AsK" of flow "send" both become the Go name StepSendAsK`},
		"two actions": {"  look: {",
			"  LOOK: {doc: Looks too., go_name: Look}\n  look: {",
			`action "LOOK" and action "look" both become the method Look of Actions`},
		"action and command": {"  look: {",
			"  deny: {doc: Refuses., go_name: Den}\n  look: {", ""},
		"output and enum": {"  Kind: {",
			"  LookOutput: {doc: More., values: {two: Two.}}\n  Kind: {",
			`enum "LookOutput" and the output of action "look" both become the Go name LookOutput`},
		"enum and command": {"  Kind: {",
			"  Deny: {doc: More., values: {two: Two.}}\n  Kind: {",
			`enum "Deny" becomes the name Deny, which belongs to the generated package itself`},
		"slot and method of its struct": {"      found: {type: string, doc: It.}\n",
			"      found: {type: string, doc: It.}\n      shape: {type: string, doc: Form.}\n",
			`field "shape" becomes the name Shape, which belongs to a generated method`},
		"two slots": {"      found: {type: string, doc: It.}\n",
			"      found: {type: string, doc: It.}\n      fo_und: {type: string, go_name: Found, " +
				"doc: Form.}\n", `field "found" and field "fo_und" both become the Go field Found`},
		"two validators": {"  good: {",
			"  fine: {doc: Too., type: string, go_name: Good}\n  good: {",
			`validator "fine" and validator "good" both become the method Good of Validators`},
		"stored shapes": {"  Kind: {",
			"  StoredShapes: {doc: More., values: {two: Two.}}\n  Kind: {",
			`enum "StoredShapes" becomes the name StoredShapes, which belongs to the generated package itself`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, 1, strings.Count(base, c.text))
			sp, _ := spec.Parse("routes.yaml", []byte(strings.Replace(base, c.text, c.with, 1)))
			require.NotNil(t, sp)
			_, findings := plan.Build(sp)
			var got []string
			for _, f := range findings {
				got = append(got, f.Message)
				assert.Equal(t, spec.RuleNameCollision, f.Rule)
				assert.Positive(t, f.At.Start.Line)
			}
			if c.says == "" {
				assert.Empty(t, got)
				return
			}
			assert.Equal(t, []string{c.says}, got)
		})
	}
}

// TestBrokenFlowsBuild: a spec that was found wrong is laid out without a panic, whatever is
// missing.
func TestBrokenFlowsBuild(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile(filepath.Join("..", "spec", "testdata", "flows.yaml"))
	require.NoError(t, err)
	lines := strings.SplitAfter(string(src), "\n")
	for i := range lines {
		rest := strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "")
		if sp, _ := spec.Parse("routes.yaml", []byte(rest)); sp != nil {
			assert.NotPanics(t, func() { plan.Build(sp) }, "without line %d", i+1)
		}
	}
}

// TestANullEmptiesASlot: it is a literal like any other in the plan, however it is written.
func TestANullEmptiesASlot(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile(filepath.Join("..", "spec", "testdata", "flows.yaml"))
	require.NoError(t, err)
	for _, null := range []string{"null", "~", "Null"} {
		text := strings.Replace(string(src), "          wait: 48h\n", "          wait: "+null+"\n",
			1)
		require.NotEqual(t, string(src), text)
		sp, findings := spec.Parse("routes.yaml", []byte(text))
		require.NotNil(t, sp)
		require.Empty(t, findings, null)
		p, more := plan.Build(sp)
		require.Empty(t, more)
		set := p.Talk.Flows[0].Step("prepare").Set
		wait := set[slices.IndexFunc(set, func(b runtime.Bind) bool {
			return b.Name == "wait"
		})]
		assert.Equal(t, "wait", p.Talk.Flows[0].SlotKey(wait.Slot))
		assert.Equal(t, &runtime.Expr{Op: runtime.OpValue, Value: "null"}, wait.Value)
	}
}
