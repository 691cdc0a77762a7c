package dialogue

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
)

// planned are the tables of flows as a spec writes them: what follows a step, and which loop it
// stands in, is decided by the generator's plan. It reads no more of them than tables does.
func planned(t *testing.T, flows string) *runtime.FlowTables {
	t.Helper()
	sp, findings := spec.Parse("routes.yaml",
		[]byte("version: 1\ngo: {package: p, out: p}\n"+flows))
	require.NotNil(t, sp, "%+v", findings)
	for i := range findings {
		require.NotEqual(t, report.Error, findings[i].Severity, "%s: %s", findings[i].Path,
			findings[i].Message)
	}
	made, findings := plan.Build(sp)
	require.Empty(t, findings)
	var actions []string
	for i := range made.Talk.Actions {
		name := made.Talk.Actions[i].Name
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
	out := f{name: in.Name, busy: !in.Interruptible, hidden: in.Hidden,
		onError: in.TargetName(in.OnError),
		planned: true}
	for i := range in.Slots {
		s := &in.Slots[i]
		words := []string{s.Key, s.Type.String()}
		if s.Default != nil {
			words = append(words, "default="+*s.Default)
		}
		// in any order
		for flag, set := range map[string]bool{"in": s.Input, "out": s.Output, "needed": s.Needed} {
			if set {
				words = append(words, flag)
			}
		}
		out.slots = append(out.slots, strings.Join(words, " "))
	}
	for i := range in.Steps {
		s := &in.Steps[i]
		step := p{
			id: s.ID, kind: s.Kind, when: plannedX(in, s.When), cond: plannedX(in, s.Cond),
			next: in.TargetName(s.Next), text: plannedText(in, s.Text), slot: in.SlotKey(s.Slot),
			orElse: in.TargetName(s.Else), body: in.TargetName(s.Body),
			inside: in.TargetName(runtime.Target(s.Inside)), rounds: s.Rounds, flow: s.Flow,
			action: s.Action, in: plannedBinds(in, s.Inputs),
			set: plannedBinds(in, s.Set), force: s.Force, onError: in.TargetName(s.OnError),
			onYes: in.TargetName(s.OnYes), onNo: in.TargetName(s.OnNo),
		}
		for _, o := range s.Outputs {
			step.out = append(step.out, b{name: o.Name, slot: in.SlotKey(o.Slot)})
		}
		for _, a := range s.Arms {
			step.arms = append(step.arms, arm{cond: *plannedX(in, &a.If), to: in.TargetName(a.To)})
		}
		out.steps = append(out.steps, step)
	}
	return out
}

func plannedBinds(f *plan.Flow, in []runtime.Bind) []b {
	var out []b
	for _, one := range in {
		bind := b{name: one.Name, text: plannedText(f, one.Text)}
		if one.Value != nil {
			bind.from, bind.lit = f.SlotKey(one.Value.Slot), one.Value.Value
		}
		out = append(out, bind)
	}
	return out
}

func plannedText(f *plan.Flow, in runtime.Texts) string {
	var out strings.Builder
	for _, w := range in {
		for _, part := range w.Variants[0] {
			out.WriteString(part.Text)
			if name := f.SlotKey(part.Slot) + part.Var; name != "" {
				out.WriteString("{" + name + "}")
			}
		}
	}
	return out.String()
}

func plannedX(f *plan.Flow, in *runtime.Expr) *x {
	if in == nil {
		return nil
	}
	out := &x{op: in.Op, slot: f.SlotKey(in.Slot), lit: in.Value}
	for i := range in.Args {
		out.args = append(out.args, *plannedX(f, &in.Args[i]))
	}
	return out
}
