package plan

import (
	"path"
	"strings"
	"time"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
)

// Build decides the whole output of a spec. The findings are those that need final names:
// collisions over the package, and warnings about the schemas. The plan is complete only when
// neither the spec nor these findings hold an error; on a spec with errors Build still looks for
// collisions in what is there, and never panics.
func Build(sp *spec.Spec) (*Plan, []report.Finding) {
	b := &builder{spec: sp, symbols: map[string]symbol{}, plan: &Plan{
		Version: 1,
		Source:  path.Base(sp.Name),
		Package: sp.Go.Package.Value,
		Out:     sp.Go.Out.Value,
		Docs:    path.Join(path.Dir(sp.Go.Out.Value), "docs"),
		Convo: Convo{TurnStart: or(sp.Conversation.TurnStart, "entry"),
			PlainText: or(sp.Conversation.PlainText, "answer")},
		Reserved: values(sp.Reserved),
		Places:   sp.Places,
	}}
	if sp.Go.Docs.Set() {
		b.plan.Docs = path.Clean(sp.Go.Docs.Value)
	}
	if sp.Go.Prompts.Set() {
		b.plan.Prompts = path.Clean(sp.Go.Prompts.Value)
	}
	b.declareTypes()
	b.addEnums()
	b.addScalars()
	b.addRecords()
	b.plan.Index()
	b.resolveTypes()
	b.addInterrupts()
	b.addNodes()
	b.plan.Index()
	b.nameRerouteTargets()
	b.addRoutes()
	b.addRoutings()
	b.addFlows()
	b.markReached()
	return b.plan, collisions(sp, b.plan)
}

// builder carries what the steps of Build share.
type builder struct {
	spec    *spec.Spec
	plan    *Plan
	symbols map[string]symbol // by the name the spec uses
}

// symbol is what a type name of the spec stands for.
type symbol struct {
	kind TypeKind // EnumOf, ScalarOf or RecordOf
	name string   // final Go name
}

// or returns the text, or the default where the key was not given.
func or(t spec.Text, def string) string {
	if t.Value == "" {
		return def
	}
	return t.Value
}

func values(ts []spec.Text) []string {
	var out []string
	for _, t := range ts {
		out = append(out, t.Value)
	}
	return out
}

// declareTypes fills the symbol table with every name that a type expression or a branch may use.
func (b *builder) declareTypes() {
	for _, e := range b.spec.Enums {
		b.symbols[e.Key.Value] = symbol{EnumOf, or(e.GoName, e.Key.Value)}
	}
	for _, list := range [][]*spec.Type{b.spec.Types, b.spec.Results} {
		for _, t := range list {
			kind := RecordOf
			if t.Scalar != nil {
				kind = ScalarOf
			}
			b.symbols[t.Key.Value] = symbol{kind, or(t.GoName, t.Key.Value)}
		}
	}
	for _, n := range b.spec.Nodes {
		if n.Request != nil {
			b.symbols[n.RequestName()] = symbol{RecordOf, n.RequestName()}
		}
		if n.Interrupt != nil {
			b.symbols[n.InterruptName()] = symbol{RecordOf, n.InterruptName()}
		}
	}
}

func (b *builder) addEnums() {
	for _, e := range b.spec.Enums {
		name := or(e.GoName, e.Key.Value)
		out := Enum{Name: name, Doc: e.Doc.Value, Was: values(e.Was), Reserved: values(e.Reserved),
			Pos: e.Key.At.Start}
		for _, v := range e.Values {
			out.Values = append(out.Values, EnumValue{
				Wire: v.Key.Value, Const: or(v.GoName, name+spec.GoName(v.Key.Value)),
				Doc:    v.Doc.Value,
				Hidden: v.Hidden, Was: values(v.Was), Deprecated: v.Deprecated.Value,
				Pos: v.Key.At.Start,
			})
		}
		b.plan.Enums = append(b.plan.Enums, out)
	}
}

func (b *builder) addScalars() {
	for _, t := range b.spec.Types {
		if t.Scalar != nil {
			b.plan.Scalars = append(b.plan.Scalars, Scalar{
				Name: or(t.GoName, t.Key.Value), Doc: t.Doc.Value,
				Type: Type{Kind: TypeKind(t.Scalar.Kind)}, Constraints: constraints(t.Constraints),
				AcceptsOld: values(t.AcceptsOld), Was: values(t.Was), Pos: t.Key.At.Start,
			})
		}
	}
}

func (b *builder) addInterrupts() {
	in := b.spec.Interrupts
	if in == nil {
		in = &spec.Interrupts{At: report.Span{Start: report.Pos{Line: 1, Column: 1}}}
	}
	out := Interrupts{
		Interface:     or(in.Interface, "InterruptRequest"),
		DisplayName:   or(in.DisplayName, "Interrupt Request"),
		Routing:       or(in.Routing, "InterruptRouting"),
		Answer:        b.symbols[in.Answer.Value].name,
		Reserved:      values(in.Reserved),
		ReservedKinds: values(in.ReservedKinds),
		Pos:           in.At.Start,
		Handler: runtime.Handler{
			Name:        or(in.Handler.Name, "handleInterrupt"),
			DisplayName: or(in.Handler.DisplayName, "Interrupt Handler"),
			Guidance:    in.Handler.Guidance.Value,
		},
	}
	kinds := in.Kinds
	if len(kinds) == 0 {
		kinds = spec.DefaultKinds()
	}
	for _, k := range kinds {
		out.Kinds = append(out.Kinds, interruptKind(k))
	}
	b.plan.Interrupt = out
}

// choices are the orders that a question of a kind offers: the shipped ones where the spec names
// none.
func choices(k *spec.InterruptKind) []string {
	for _, shipped := range spec.DefaultKinds() {
		if len(k.Choices) == 0 && shipped.Key.Value == k.Key.Value {
			return values(shipped.Choices)
		}
	}
	return values(k.Choices)
}

func interruptKind(k *spec.InterruptKind) InterruptKind {
	out := InterruptKind{
		Kind: runtime.Kind{Name: k.Key.Value, Clash: or(k.Clash, "queue"), Choices: choices(k),
			RouteTo: k.RouteTo, Retry: retry(k.Retry), Assignees: values(k.Assignees)},
		Const: "Kind" + spec.GoName(k.Key.Value), Doc: k.Doc.Value, Was: values(k.Was),
		Pos: k.Key.At.Start,
	}
	if k.Deadline != nil && !k.Deadline.None {
		out.Deadline = deadline(k.Deadline)
	}
	if a := k.Auto; a != nil {
		out.AutoAnswer, out.AutoWhen = a.Answer.Value, values(a.When)
	}
	return out
}

// deadline is what a spec says of a deadline; without a time for `none`.
func deadline(d *spec.Deadline) *runtime.Deadline {
	if d.None {
		return &runtime.Deadline{}
	}
	return &runtime.Deadline{
		After: duration(d.After.Value), Then: or(d.Then, "expire"), Answer: d.Answer.Value,
		Assignee: d.Assignee.Value, Target: d.Target.Value, Reminder: duration(d.Reminder.Value),
	}
}

// duration reads a duration of the spec; 0 where it was not given. The spec has been checked.
func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}

// DurationText writes a duration as a spec does: without units that are zero.
func DurationText(d time.Duration) string {
	text := d.String()
	if d >= time.Minute && strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if d >= time.Hour && strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
