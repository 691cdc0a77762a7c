package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/routegen/routegen/runtime"
)

// Cell is one field of a part of a plan, or of a row of package runtime.
type Cell struct {
	Name  string
	Row   string // type of package runtime whose field it is; "" for a field of the plan's own
	Value reflect.Value
	// The row has a number here, and Value is the name of what it refers to.
	Named bool
	index []int
	tag   string
}

// Cells returns the fields of a struct, those of an embedded row first, in the order of their
// types. A field of the plan that has the name of a field of the row stands in its place.
func Cells(v reflect.Value) []Cell {
	out := slices.Clone(layoutOf(v.Type()))
	for i := range out {
		out[i].Value = v.FieldByIndex(out[i].index)
	}
	return out
}

// layouts holds the cells of each type, without values.
var layouts sync.Map // of type reflect.Type: []Cell

func layoutOf(t reflect.Type) []Cell {
	if known, ok := layouts.Load(t); ok {
		return known.([]Cell) //nolint:forcetypeassert // nothing else is stored
	}
	var out []Cell
	at := map[string]int{}
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.Anonymous:
			for _, c := range layoutOf(f.Type) {
				c.index = append([]int{i}, c.index...)
				at[c.Name] = len(out)
				out = append(out, c)
			}
		case !f.IsExported():
		case t.PkgPath() == rowPackage:
			out = append(out, Cell{Name: f.Name, Row: t.Name(), index: f.Index})
		default:
			c := Cell{Name: f.Name, index: f.Index, tag: f.Tag.Get("json")}
			j, shadows := at[f.Name]
			if !shadows {
				out = append(out, c)
				continue
			}
			row := t.FieldByIndex(out[j].index).Type
			c.Row = out[j].Row
			c.Named = f.Type.Kind() == reflect.String && row.Kind() != reflect.String
			out[j] = c
		}
	}
	layouts.Store(t, out)
	return out
}

// rowPackage is the path of the package that rows are types of.
var rowPackage = reflect.TypeFor[runtime.Node]().PkgPath()

// MarshalJSON writes the plan. The parts that embed rows are written with the keys of both, lower
// camel case, without zero values of rows; a duration is a text, and a slot or target is a name.
func (p *Plan) MarshalJSON() ([]byte, error) { return partJSON(*p) }

// MarshalJSON writes the node as [Plan.MarshalJSON] does.
func (n Node) MarshalJSON() ([]byte, error) { return partJSON(n) }

// MarshalJSON writes the route as [Plan.MarshalJSON] does.
func (r Route) MarshalJSON() ([]byte, error) { return partJSON(r) }

// MarshalJSON writes the routing as [Plan.MarshalJSON] does.
func (r Routing) MarshalJSON() ([]byte, error) { return partJSON(r) }

// MarshalJSON writes the kind as [Plan.MarshalJSON] does.
func (k InterruptKind) MarshalJSON() ([]byte, error) { return partJSON(k) }

// MarshalJSON writes the action as [Plan.MarshalJSON] does.
func (a Action) MarshalJSON() ([]byte, error) { return partJSON(a) }

// MarshalJSON writes the flow as [Plan.MarshalJSON] does.
func (f Flow) MarshalJSON() ([]byte, error) { return partJSON(f) }

func partJSON(part any) ([]byte, error) {
	var b bytes.Buffer
	writeJSON(&b, reflect.ValueOf(part), nil)
	return b.Bytes(), nil
}

// Text writes the value of a cell as JSON. f is the flow that its slots and targets belong to, or
// nil.
func (c Cell) Text(f *Flow) string {
	value := c.Value
	switch {
	case f == nil || value.Kind() != reflect.Int:
	case c.Name == "Slot":
		value = reflect.ValueOf(f.SlotKey(int(value.Int())))
	case c.Name == "Inside":
		value = reflect.ValueOf(runtime.Target(value.Int()))
	}
	var b bytes.Buffer
	writeJSON(&b, value, f)
	return b.String()
}

func writeObject(b *bytes.Buffer, v reflect.Value, f *Flow) {
	comma := ""
	b.WriteByte('{')
	for _, c := range Cells(v) {
		name, option, _ := strings.Cut(c.tag, ",")
		empty := c.Value.IsZero() || c.Value.Kind() == reflect.Slice && c.Value.Len() == 0
		if name == "-" || empty && (c.tag == "" || option == "omitempty") {
			continue
		}
		fmt.Fprintf(b, "%s%q:%s", comma, cmp.Or(name, lowerCamel(c.Name)), c.Text(f))
		comma = ","
	}
	b.WriteByte('}')
}

// writeJSON appends a value.
func writeJSON(b *bytes.Buffer, v reflect.Value, f *Flow) {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		writeJSON(b, v.Elem(), f)
	case v.Kind() == reflect.Slice:
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSON(b, v.Index(i), f)
		}
		b.WriteByte(']')
	case v.Kind() == reflect.Struct:
		if flow, ok := reflect.TypeAssert[Flow](v); ok {
			f = &flow
		}
		writeObject(b, v, f)
	default:
		enc := json.NewEncoder(b)
		enc.SetEscapeHTML(false)
		//nolint:errchkjson // a text, a number or a flag, into memory
		_ = enc.Encode(leafJSON(v, f))
		b.Truncate(b.Len() - len("\n"))
	}
}

// leafJSON is what a value without parts is written as.
func leafJSON(v reflect.Value, f *Flow) any {
	switch x := v.Interface().(type) {
	case time.Duration:
		return DurationText(x)
	case runtime.ExprOp:
		return OpWord(x)
	case runtime.BranchKind:
		return branchKinds[x]
	case runtime.Target:
		if f != nil {
			return f.TargetName(x)
		}
	}
	return v.Interface()
}

// lowerCamel writes a Go name as a key: agentType, id, mcp.
func lowerCamel(name string) string {
	if strings.ToUpper(name) == name {
		return strings.ToLower(name)
	}
	return string(unicode.ToLower(rune(name[0]))) + name[1:]
}

// branchKinds are what taking a branch does, in words; the number of a word is that of its kind.
var branchKinds = []string{"", "node", "resume", "interrupt", "end", "collect"}
