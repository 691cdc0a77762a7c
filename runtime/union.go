package runtime

// Routing is a record of nullable branches of which exactly one is set.
type Routing interface {
	Record
	// Selected returns the one set branch, [CodeNoRoute] when none is set and [CodeManyRoutes] when several are.
	Selected() (Branch, error)
}

// Branch is the set field of a routing. The zero Branch means: none.
type Branch struct {
	Name  string // its JSON name
	Value any    // the pointer that the field holds
}

// Same returns what it is given twice, and the zero value for two different ones: the first and the last set branch of a routing are the
// same when exactly one is set.
func Same[T comparable](first, last T) T {
	if first != last {
		var none T
		return none
	}
	return first
}

// NotOne returns the refusal for a union of which not exactly one branch is set: [CodeNoRoute] or [CodeManyRoutes] with a [SelectionError]
// that names what is set and what may be. set has one element per field of s; a shorter one means that the rest is not set.
func NotOne(s *Shape, set []bool) error {
	var names []string
	for i := range min(len(set), len(s.Fields)) {
		if set[i] {
			names = append(names, s.Fields[i].Name)
		}
	}
	return notOne(s, "select branch of "+s.Name, names, nil)
}

func notOne(s *Shape, op string, set []string, allowed func(string) bool) error {
	e := &SelectionError{Routing: s.Name, Set: set}
	for i := range s.Fields {
		if allowed == nil || allowed(s.Fields[i].Name) {
			e.Allowed = append(e.Allowed, s.Fields[i].Name)
		}
	}
	if len(set) > 1 {
		return refuse(CodeManyRoutes, op, e)
	}
	return refuse(CodeNoRoute, op, e)
}
