package dialogue

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
)

// planned are the tables of flows as a spec writes them: what follows a step, and which loop it stands in, is decided by the generator's plan.
// It reads no more of them than tables does.
func planned(t *testing.T, flows string) *runtime.FlowTables {
	t.Helper()
	sp, findings := spec.Parse("routes.yaml", []byte("version: 1\ngo: {package: p, out: p}\n"+flows))
	require.NotNil(t, sp, "%+v", findings)
	for i := range findings {
		require.NotEqual(t, spec.Error, findings[i].Severity, "%s: %s", findings[i].Path, findings[i].Message)
	}
	made, findings := plan.Build(sp)
	require.Empty(t, findings)
	var actions []string
	for i := range made.Talk.Actions {
		name := made.Talk.Actions[i].Key
		if made.Talk.Actions[i].Once {
			name += " once"
		}
		actions = append(actions, name)
	}
	var all []f
	for i := range made.Talk.Flows {
		all = append(all, plannedFlow(&made.Talk.Flows[i]))
	}
	return tables(actions, nil, all...)
}

func plannedFlow(in *plan.Flow) f {
	out := f{name: in.Key, busy: !in.Interruptible, hidden: in.Hidden, onError: in.OnError, planned: true}
	for i := range in.Slots {
		s := &in.Slots[i]
		words := []string{s.Key, s.Type.String()}
		if s.Default != nil {
			words = append(words, "default="+*s.Default)
		}
		for flag, set := range map[string]bool{"in": s.Input, "out": s.Output, "needed": s.Needed} { // in any order
			if set {
				words = append(words, flag)
			}
		}
		out.slots = append(out.slots, strings.Join(words, " "))
	}
	for i := range in.Steps {
		s := &in.Steps[i]
		step := p{
			id: s.ID, kind: s.Kind, when: plannedX(s.When), cond: plannedX(s.Cond), next: s.Next, text: plannedText(s.Text), slot: s.Slot,
			orElse: s.Else, body: s.Body, inside: s.Inside, rounds: s.Rounds, flow: s.Flow, action: s.Action, in: plannedBinds(s.Inputs),
			set: plannedBinds(s.Set), force: s.Force, onError: s.OnError, onYes: s.OnYes, onNo: s.OnNo,
		}
		for _, o := range s.Outputs {
			step.out = append(step.out, b{name: o.Name, slot: o.Slot})
		}
		for n := range s.Arms {
			step.arms = append(step.arms, arm{cond: *plannedX(&s.Arms[n].If), to: s.Arms[n].To})
		}
		out.steps = append(out.steps, step)
	}
	return out
}

func plannedBinds(in []plan.Bind) []b {
	var out []b
	for _, one := range in {
		bind := b{name: one.Name, text: plannedText(one.Text)}
		if one.Value != nil {
			bind.from, bind.lit = one.Value.Slot, one.Value.Value
		}
		out = append(out, bind)
	}
	return out
}

func plannedText(in plan.Words) string {
	var out strings.Builder
	for _, w := range in {
		for _, part := range w.Variants[0] {
			out.WriteString(part.Text)
			if name := part.Slot + part.Var; name != "" {
				out.WriteString("{" + name + "}")
			}
		}
	}
	return out.String()
}

func plannedX(in *plan.Expr) *x {
	if in == nil {
		return nil
	}
	ops := map[string]runtime.ExprOp{
		"value": runtime.OpValue, "slot": runtime.OpSlot, "filled": runtime.OpFilled, "not": runtime.OpNot, "and": runtime.OpAnd, "or": runtime.OpOr,
		"==": runtime.OpEq, "!=": runtime.OpNe, "<": runtime.OpLt, "<=": runtime.OpLe, ">": runtime.OpGt, ">=": runtime.OpGe, "in": runtime.OpIn,
	}
	out := &x{op: ops[in.Op], slot: in.Slot, lit: in.Value}
	for i := range in.Args {
		out.args = append(out.args, *plannedX(&in.Args[i]))
	}
	return out
}
