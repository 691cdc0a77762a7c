package runtime

import (
	"reflect"
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

// Selection finds the set branches of a routing. The zero Selection has seen none. It is a value of
// few words, so that a chain of Or is done in registers.
type Selection struct {
	value       any    // of the last that is set
	seen, count uint32 // branches, and those that are set
	number      uint32 // of the last that is set
}

// Or returns s after the next branch, in the order of the shape: whether it is set, and its value.
func (s Selection) Or(set bool, value any) Selection {
	s.seen++
	if set {
		s.count++
		s.number, s.value = s.seen, value
	}
	return s
}

// Number returns the number of the one set branch, counted from 1; 0 when none or several are.
func (s Selection) Number() int {
	if s.count != 1 {
		return 0
	}
	return int(s.number)
}

// Branch returns the one set branch of v, whose branches s has seen and rows lists. Otherwise it is
// refused with [CodeNoRoute] or [CodeManyRoutes] and a [SelectionError] that names what is set and
// what may be.
func (s Selection) Branch(rows []BranchRow, v Record) (Branch, error) {
	if s.count == 1 {
		return Branch{Name: rows[s.number-1].Name, Value: s.value}, nil
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
