package emit

import (
	"reflect"
	"strings"
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// rowWriter writes rows of package runtime as Go: whatever a row's type has, without what is zero.
type rowWriter struct {
	p    *plan.Plan
	flow *plan.Flow // whose slots and steps are referred to
}

// code is what stands in a field in place of its value.
type code map[string]jen.Code

// cells are the members of a row: a struct of package runtime, or a part of the plan that embeds
// one. given stands in fields that refer to other declarations; a nil there leaves its field out.
func (w rowWriter) cells(row any, given code) []jen.Code {
	var out []jen.Code
	for _, c := range plan.Cells(reflect.ValueOf(row)) {
		value, isGiven := given[c.Name]
		switch {
		case c.Row == "", isGiven && value == nil, !isGiven && c.Value.IsZero():
			continue
		case isGiven:
		case c.Named:
			value = w.reference(c.Row+"."+c.Name, c.Value.String())
		default:
			value = w.cell(c)
		}
		out = append(out, jen.Id(c.Name).Op(":").Add(value))
	}
	return out
}

// line is a row on one line, without its type.
func (w rowWriter) line(row any, given code) *jen.Statement {
	return jen.Values(w.cells(row, given)...)
}

// reference is the constant of what a field refers to by name.
func (w rowWriter) reference(field, name string) jen.Code {
	switch field {
	case "Node.Route", "Node.Origin":
		return jen.Int().Call(jen.Id(name))
	case "Node.Escalates", "Route.Node", "BranchRow.Node", "RoutingRow.Node":
		return jen.Int().Call(jen.Id(w.p.Node(name).Const))
	case "FlowStep.Flow", "FlowTables.Welcome", "FlowTables.Fallback":
		return place(w.p.Talk.Flow(name).Const)
	case "FlowStep.Action":
		return place("Action" + w.p.Talk.Action(name).Method)
	case "FlowStep.Check":
		return place("Validator" + w.p.Talk.Validator(name).Method)
	}
	return jen.Id(rowOf(name))
}

// cell is the value of a field.
func (w rowWriter) cell(c plan.Cell) *jen.Statement {
	number := func() int { return int(c.Value.Int()) }
	switch c.Row + "." + c.Name {
	case "Bind.Slot", "Expr.Slot", "FlowStep.Slot", "Part.Slot":
		return place(w.flow.Slots[number()-1].Const)
	case "FlowStep.Inside":
		return place(w.flow.Steps[number()-1].Const)
	case "Dispatch.To":
		return jen.Int().Call(jen.Id(w.p.Nodes[number()-1].Const))
	case "StoredShape.Kind":
		return rt("Shape" + strings.ToUpper(c.Value.String()[:1]) + c.Value.String()[1:])
	case "Flow.Intents":
		phrases, _ := reflect.TypeAssert[[]string](c.Value)
		return jen.Index().String().Add(lines(lits(phrases)))
	}
	return w.value(c.Value)
}

// constants are the names of the values of types that have them, by number.
var constants = map[reflect.Type][]string{
	reflect.TypeFor[runtime.BranchKind](): {"", "ToNode", "ToResume", "ToInterrupt", "ToEnd",
		"ToCollect"},
	reflect.TypeFor[runtime.ExprOp](): {"", "OpValue", "OpSlot", "OpFilled", "OpNot", "OpAnd",
		"OpOr", "OpEq", "OpNe", "OpLt", "OpLe", "OpGt", "OpGe", "OpIn"},
	reflect.TypeFor[runtime.SlotKind](): {"", "SlotString", "SlotInt", "SlotFloat", "SlotBool",
		"SlotTime", "SlotDuration", "SlotEnum", "SlotJSON"},
}

// value is a value of a row.
func (w rowWriter) value(v reflect.Value) *jen.Statement {
	if names := constants[v.Type()]; names != nil {
		return rt(names[v.Uint()])
	}
	switch x := v.Interface().(type) {
	case time.Duration:
		return duration(x)
	case runtime.Target:
		return w.target(x)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type().Elem().Kind() != reflect.Struct { // a bound of a rule
			return jen.New(jen.Lit(v.Elem().Interface()))
		}
		return jen.Op("&").Add(w.value(v.Elem()))
	case reflect.Struct:
		cells := w.cells(v.Interface(), nil)
		if v.Type() == reflect.TypeFor[runtime.Collect]() {
			return rt(v.Type().Name()).Add(lines(cells))
		}
		return rt(v.Type().Name()).Values(cells...)
	case reflect.Slice:
		return w.list(v)
	default:
		return jen.Lit(v.Interface())
	}
}

// list is a slice: rows stand one a line, but for the parts of an expression or a text.
func (w rowWriter) list(v reflect.Value) *jen.Statement {
	elem := v.Type().Elem()
	out := jen.Index()
	switch {
	case v.Type().Name() != "":
		out = rt(v.Type().Name())
	case elem.Kind() == reflect.Struct || elem.Name() == "Template":
		out.Add(rt(rowType(elem)))
	default:
		out.Id(elem.Name())
	}
	var items []jen.Code
	for i := range v.Len() {
		switch {
		case elem.Kind() == reflect.Struct:
			items = append(items, w.line(v.Index(i).Interface(), nil))
		case elem.Name() == "Template":
			var parts []jen.Code
			for j := range v.Index(i).Len() {
				parts = append(parts, w.line(v.Index(i).Index(j).Interface(), nil))
			}
			items = append(items, jen.Values(parts...))
		default:
			items = append(items, w.value(v.Index(i)))
		}
	}
	switch elem {
	case reflect.TypeFor[runtime.TextIn](), reflect.TypeFor[runtime.Expr](),
		reflect.TypeFor[string]():
		return out.Values(items...)
	}
	return out.Add(lines(items))
}

// rowType is the name of the row that a type is or embeds.
func rowType(t reflect.Type) string {
	if t.Kind() == reflect.Struct && t.NumField() > 0 && t.Field(0).Anonymous {
		return t.Field(0).Type.Name()
	}
	return t.Name()
}

// target is where a flow goes on.
func (w rowWriter) target(t runtime.Target) *jen.Statement {
	switch t {
	case runtime.NoTarget:
		return rt("NoTarget")
	case runtime.TargetEnd:
		return rt("TargetEnd")
	case runtime.TargetCancel:
		return rt("TargetCancel")
	case runtime.TargetError:
		return rt("TargetError")
	}
	return place(w.flow.Steps[t-1].Const)
}

// duration is a duration in the largest unit that divides it.
func duration(d time.Duration) *jen.Statement {
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"Hour", time.Hour}, {"Minute", time.Minute}, {"Second", time.Second},
		{"Millisecond", time.Millisecond}} {
		if d%unit.size == 0 {
			return jen.Lit(int(d/unit.size)).Op("*").Qual("time", unit.name)
		}
	}
	return jen.Lit(int(d))
}
