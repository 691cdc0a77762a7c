package runtime

import (
	"reflect"
	"slices"
	"sync"
)

// Routing is a record of nullable branches of which exactly one is set.
type Routing interface {
	Record
	// Selected returns the one set branch, [CodeNoRoute] when none is set and [CodeManyRoutes] when
	// several are.
	Selected() (Branch, error)
}

// Branch is the set field of a routing. The zero Branch means: none.
type Branch struct {
	Name  string // its JSON name
	Value any    // the pointer that the field holds
}

// Selection finds the set branch of a routing. The zero Selection has seen none.
type Selection struct {
	branch Branch // the last that is set
	count  int    // of those that are set
}

// Or looks at a branch: its JSON name, whether it is set, its value. Unset, it costs a comparison.
func (s *Selection) Or(name string, set bool, value any) {
	if set {
		s.countSet(name, value)
	}
}

//go:noinline
func (s *Selection) countSet(name string, value any) {
	s.branch = Branch{Name: name, Value: value}
	s.count++
}

// Number returns the row of the one set branch, counted from 1; 0 when none or several are set.
func (s *Selection) Number(rows []BranchRow) int {
	if s.count != 1 {
		return 0
	}
	return 1 + slices.IndexFunc(rows, func(r BranchRow) bool { return r.Name == s.branch.Name })
}

// Branch returns the one set branch of v, whose branches s has seen. Otherwise it is refused with
// [CodeNoRoute] or [CodeManyRoutes] and a [SelectionError] that names what is set and what may be.
func (s *Selection) Branch(v Record) (Branch, error) {
	if s.count == 1 {
		return s.branch, nil
	}
	return Branch{}, notOne(v)
}

// notOne returns the refusal of a routing of which not exactly one branch is set.
func notOne(v Record) error {
	of := v.Shape()
	var set []string
	value := reflect.ValueOf(v).Elem()
	for i := range of.Fields {
		if f, ok := of.goField(value.Type(), i); ok && !value.FieldByIndex(f.Index).IsNil() {
			set = append(set, of.Fields[i].Name)
		}
	}
	return selectionError(of, "select branch of "+of.Name, set, nil)
}

// UnionShape returns what makes the shape of a routing from its row, at the first call.
//
//go:noinline
func UnionShape(row *RoutingRow) func() *Shape {
	return sync.OnceValue(func() *Shape {
		s := &Shape{Kind: ShapeUnion, Name: row.Name, Was: row.Was, Of: row.Of,
			Fields: make([]Field, len(row.Branches))}
		for i, b := range row.Branches {
			s.Fields[i] = Field{Name: b.Name, Was: b.Was}
		}
		return s
	})
}

func selectionError(s *Shape, op string, set []string, allowed func(string) bool) error {
	e := &SelectionError{Routing: s.Name, Set: set}
	for i := range s.Fields {
		if allowed == nil || allowed(s.Fields[i].Name) {
			e.Allowed = append(e.Allowed, s.Fields[i].Name)
		}
	}
	if len(set) > 1 {
		return Errorf(CodeManyRoutes, op, "%w", e)
	}
	return Errorf(CodeNoRoute, op, "%w", e)
}
