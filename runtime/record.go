package runtime

import (
	"slices"
	"sync/atomic"
)

// Record is a generated struct that can be read from JSON. Both methods are on the pointer.
type Record interface {
	// Shape returns the fields of the type; always the same value, also for a nil pointer.
	Shape() *Shape
	// DecodeField reads the value of one field of the shape with one Decode function. It is called once per field found or
	// filled with its default.
	DecodeField(d *Decoder, name string)
}

// Shape lists the fields of a record in the order of the spec. A shape is a package variable of generated code, and is not copied.
type Shape struct {
	Name   string // type name
	Union  bool   // exactly one field must be set
	Fields []Field

	index atomic.Pointer[map[string]int] // built on first use when there are many fields
}

// Field is what the decoder must know of a field before its value is read.
type Field struct {
	Name     string // JSON name
	Required bool   // must be there; null is refused, but for lists and maps on the wire
	Hidden   bool   // never read from a model
	Rule     *Rule  // nil means no constraint
	Default  string // JSON text of the value of an optional field that is absent or null; "" means it is left as it is
}

// EnumValue is one legal text of an enum.
type EnumValue struct {
	Value  string
	Hidden bool // never read from a model
}

// find returns the index of the field of exactly that name, or -1. Documents mostly keep the order of the shape, so next is tried first.
func (s *Shape) find(key []byte, next int) int {
	if next < len(s.Fields) && s.Fields[next].Name == string(key) {
		return next
	}
	const few = 16 // up to here comparing one by one is faster than hashing
	if len(s.Fields) <= few {
		for i := range s.Fields {
			if s.Fields[i].Name == string(key) {
				return i
			}
		}
		return -1
	}
	index := s.index.Load()
	if index == nil {
		built := make(map[string]int, len(s.Fields))
		for i := range s.Fields {
			built[s.Fields[i].Name] = i
		}
		index = &built
		s.index.Store(index) // two goroutines may both build it; either is right
	}
	if i, ok := (*index)[string(key)]; ok {
		return i
	}
	return -1
}

func (s *Shape) names() []string {
	names := make([]string, len(s.Fields))
	for i := range s.Fields {
		names[i] = s.Fields[i].Name
	}
	return names
}

// offered returns the names of the fields of v that a message may propose: a model must not hear of a hidden field, nor of a branch that
// it may not set.
func (d *Decoder) offered(v Record) []string {
	s := v.Shape()
	var names []string
	for i := range s.Fields {
		f := &s.Fields[i]
		if d.reply && f.Hidden || v == d.root && d.allowed != nil && !d.allowed(f.Name) {
			continue
		}
		names = append(names, f.Name)
	}
	return names
}

// Unmarshal reads one JSON document of the wire or the store into v: hidden fields and hidden enum values are legal, a union has its bare
// form. v must be fresh; after a refusal its content is undefined. Absent and null are the same for an optional field, which then has its
// default, if the spec gives it one; null is an empty list or map where one is required.
//
// The document is refused with [CodeInvalid] and an [InvalidError] that lists everything wrong in it: a syntax error, a byte order mark,
// invalid UTF-8, a lone surrogate or NUL in a string, more than one value, nesting deeper than 64, a key that is unknown, written in
// another letter case or there twice, a required field that is missing, a value of the wrong type or outside its constraints. A union of
// which not exactly one branch is set is refused with [CodeNoRoute] or [CodeManyRoutes] and a [SelectionError].
//
// Syntax and wrong keys are judged first, then the number of branches, then the values.
func Unmarshal(data []byte, v Record) error {
	d := borrow(data)
	err := d.document(v, nil)
	d.giveBack()
	return err
}

// DecodeReply reads the reply of a model into v. It differs from [Unmarshal] in this: hidden fields and hidden enum values are refused, and
// a hidden field is not missed; null is refused for every required field; an enum value in another letter case is taken as the declared
// one; a map may also be an array of {"key": ..., "value": ...} objects; a union may also be wrapped as the one key of {"route": {...}}.
//
// allowed says which branches of a union may be set here, by JSON name; nil means all. Another branch is refused with [CodeNoRoute], after
// the number of branches and before the values. allowed is not asked when v is no union.
func DecodeReply(data []byte, v Record, allowed func(name string) bool) error {
	d := borrow(data)
	d.reply = true
	err := d.document(v, allowed)
	d.giveBack()
	return err
}

// DecodeTagged reads a member of a sealed set, {"TypeName": {...}}, with the checks of [Unmarshal]. into returns a fresh value of the named
// type, or nil when the set has none of that name, which is refused with [CodeInvalid].
func DecodeTagged(data []byte, into func(name string) Record) (Record, error) {
	d := borrow(data)
	v := d.tagged(into)
	err := d.verdict("decode tagged value")
	d.giveBack()
	if err != nil {
		return nil, err
	}
	return v, nil
}

// document reads the whole input into v and judges it.
func (d *Decoder) document(v Record, allowed func(string) bool) error {
	s := v.Shape()
	d.root, d.allowed = v, allowed
	if d.start() {
		var isObject bool
		if d.reply && s.Union && d.wrapped(s) {
			isObject = d.unwrap(v)
		} else {
			isObject = d.object(v)
		}
		d.malformed = d.malformed || !isObject
		d.end()
	}
	if s.Union && !d.malformed && (len(d.picked) != 1 || allowed != nil && !allowed(s.Fields[d.picked[0]].Name)) {
		return notOne(s, "decode "+s.Name, s.picked(d.picked), allowed)
	}
	if len(d.problems) == 0 {
		return nil
	}
	return d.verdict("decode " + s.Name)
}

// picked returns the names of the branches at these indexes, in the order of the shape.
func (s *Shape) picked(indexes []int) []string {
	slices.Sort(indexes)
	var names []string
	for _, i := range indexes {
		names = append(names, s.Fields[i].Name)
	}
	return names
}

// wrapped reports whether the document is {"route": ...}; nothing is consumed.
func (d *Decoder) wrapped(s *Shape) bool {
	if s.find([]byte(wrapper), 0) >= 0 {
		return false // the branch of that name wins
	}
	pos := d.pos
	defer func() { d.pos = pos }()
	if d.peek() != '{' {
		return false
	}
	d.pos++
	if d.peek() != '"' {
		return false
	}
	const quoted = `"` + wrapper + `"`
	return len(d.data)-d.pos >= len(quoted) && string(d.data[d.pos:d.pos+len(quoted)]) == quoted
}

const wrapper = "route" // the key that wraps a union for providers that accept no union at the root

// unwrap reads {"route": v}. It reports whether the wrapped value is an object.
func (d *Decoder) unwrap(v Record) bool {
	d.enter('{', "an object")
	isObject := false
	for first := true; d.more('}', first); first = false {
		key, ok := d.key()
		switch {
		case !ok:
		case first:
			d.path = append(d.path, step{name: wrapper, index: -1})
			isObject = d.object(v)
			d.path = d.path[:len(d.path)-1]
		default:
			d.badKey(string(key), `"`+wrapper+`" must be the only key beside the branches it wraps`)
			d.skip()
		}
	}
	d.depth--
	return isObject
}

// tagged reads {"name": value}; nil when there is no such value.
func (d *Decoder) tagged(into func(string) Record) Record {
	var v Record
	if !d.start() || !d.enter('{', "an object with a type name as its one key") {
		return nil
	}
	members := 0
	for ; d.more('}', members == 0); members++ {
		key, ok := d.key()
		if !ok {
			break
		}
		name := string(key)
		if members > 0 {
			d.badKey(name, "only one type name is allowed")
			d.skip()
			continue
		}
		if v = into(name); v == nil {
			d.badKey(name, "unknown type: use the name of a type that is declared for this place")
			d.skip()
			continue
		}
		d.path = append(d.path, step{name: name, index: -1})
		d.record(v)
		d.path = d.path[:len(d.path)-1]
	}
	d.depth--
	if members == 0 && !d.broken {
		d.problem("no type name: write {\"TypeName\": {...}}")
	}
	d.end()
	return v
}
