package review

import (
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/plan"
)

// symbol is one exported name of the generated package with what its users rely on.
type symbol struct{ name, typ string }

// The interfaces that consumers implement.
const (
	ifaceHandlers   = "Handlers"
	ifaceRequest    = "RequestVisitor"
	ifaceInterrupt  = "InterruptVisitor"
	ifaceActions    = "Actions"
	ifaceValidators = "Validators"
)

// symbols lists the exported names that a spec decides. What every generated package has is left
// out.
func symbols(p *plan.Plan) []symbol {
	var out []symbol
	add := func(name, typ string) { out = append(out, symbol{name, typ}) }
	for _, e := range p.Enums {
		add("type "+e.Name, "string")
		for _, v := range e.Values {
			add("const "+v.Const, e.Name+" "+v.Wire)
		}
	}
	for _, s := range p.Scalars {
		add("type "+s.Name, string(s.Type.Kind))
	}
	for i := range p.Records {
		r := &p.Records[i]
		add("type "+r.Name, "struct")
		for j := range r.Fields {
			add("field "+r.Name+"."+r.Fields[j].Go, goText(&r.Fields[j]))
		}
		switch r.Role {
		case plan.RoleRequest:
			add("method "+ifaceRequest+".Visit"+r.Name, r.Name)
		case plan.RoleInterrupt:
			add("method "+ifaceInterrupt+".Visit"+r.Name, r.Name)
		case plan.RoleResult, plan.RoleNested:
		}
	}
	for _, r := range p.Routings {
		add("type "+r.Name, "struct")
		for _, b := range r.Branches {
			add("field "+r.Name+"."+b.Go, "*"+b.Type)
		}
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		add("const "+n.Const, "NodeName")
		add("const "+n.AgentConst, "AgentType")
		if n.Method != "" {
			add("method "+ifaceHandlers+"."+n.Method, "(*"+n.Request+") *"+n.Routing)
		}
		if n.AdaptMethod != "" {
			add("method "+ifaceHandlers+"."+n.AdaptMethod, "(*"+n.Adapt+") *"+n.Request)
		}
	}
	for _, r := range p.Routes {
		add("const "+r.Const, "Route")
	}
	for _, k := range p.Interrupt.Kinds {
		add("const "+k.Const, "InterruptKind")
	}
	add("type "+p.Interrupt.Interface, "interface")
	flowSymbols(talkOf(p), add)
	slices.SortFunc(out, func(a, b symbol) int { return strings.Compare(a.name, b.name) })
	return slices.CompactFunc(out, func(a, b symbol) bool { return a.name == b.name })
}

// goText is the Go type of a field.
func goText(f *plan.Field) string {
	if f.Pointer {
		return "*" + goTypeText(f.Type)
	}
	return goTypeText(f.Type)
}

func goTypeText(t plan.Type) string {
	switch t.Kind {
	case plan.Int:
		return "int64"
	case plan.Float:
		return "float64"
	case plan.Time:
		return "time.Time"
	case plan.Duration:
		return "runtime.Duration"
	case plan.JSON:
		return "json.RawMessage"
	case plan.ListOf:
		return "[]" + goTypeText(*t.Elem)
	case plan.MapOf:
		return "map[string]" + goTypeText(*t.Elem)
	default:
		return t.String()
	}
}

// apiDelta merges two sorted lists.
func apiDelta(old, now []symbol) APIDelta {
	var d APIDelta
	for len(old)+len(now) > 0 {
		switch {
		case len(now) == 0 || len(old) > 0 && old[0].name < now[0].name:
			d.Removed = append(d.Removed, old[0].name)
			old = old[1:]
		case len(old) == 0 || now[0].name < old[0].name:
			d.Added = append(d.Added, now[0].name)
			now = now[1:]
		default:
			if old[0].typ != now[0].typ {
				d.Changed = append(d.Changed, old[0].name+": "+old[0].typ+" → "+now[0].typ)
			}
			old, now = old[1:], now[1:]
		}
	}
	return d
}

// interfaces is the part of the delta that implementers feel.
func interfaces(old, now []symbol) []InterfaceDelta {
	d := apiDelta(old, now)
	var out []InterfaceDelta
	for _, name := range []string{ifaceHandlers, ifaceRequest, ifaceInterrupt, ifaceActions,
		ifaceValidators} {
		i := InterfaceDelta{Name: name, Added: ofInterface(name, d.Added),
			Changed: ofInterface(name, d.Changed), Removed: ofInterface(name, d.Removed)}
		if len(i.Added)+len(i.Changed)+len(i.Removed) > 0 {
			out = append(out, i)
		}
	}
	return out
}

func ofInterface(name string, symbols []string) []string {
	var out []string
	for _, s := range symbols {
		if method, ok := strings.CutPrefix(s, "method "+name+"."); ok {
			out = append(out, method)
		}
	}
	return out
}

// flowSymbols lists the exported names that flows decide.
func flowSymbols(t *plan.Talk, add func(name, typ string)) {
	record := func(r plan.Record) {
		add("type "+r.Name, "struct")
		for i := range r.Fields {
			add("field "+r.Name+"."+r.Fields[i].Go, goText(&r.Fields[i]))
		}
	}
	for i := range t.Flows {
		f := &t.Flows[i]
		add("const "+f.Const, "FlowName")
		record(f.Record())
		for _, s := range f.Slots {
			add("const "+s.Const, "SlotName")
		}
		for _, s := range f.Steps {
			add("const "+s.Const, "StepName")
		}
	}
	for i := range t.Actions {
		in, out := t.Actions[i].Records()
		record(in)
		record(out)
		add("method "+ifaceActions+"."+t.Actions[i].Method, "(*"+in.Name+") *"+out.Name)
	}
	for _, v := range t.Validators {
		add("method "+ifaceValidators+"."+v.Method, goTypeText(v.Type))
	}
}
