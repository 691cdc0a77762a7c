package runtime

import (
	"bytes"
	"reflect"
	"slices"
	"sync/atomic"
)

// Record is a generated struct that can be read from JSON. The method is on the pointer. The values
// of its fields are read by their Go types: those of routes.yaml, and other records.
type Record interface {
	// Shape returns the fields of the type; always the same value, also for a nil pointer.
	Shape() *Shape
}

// FieldDecoder is a record that is not a struct of its fields: it reads their values itself.
type FieldDecoder interface {
	Record
	// DecodeField reads the value of one field of the shape with [Decoder.Decode]. It is called
	// once per field found or filled with its default.
	DecodeField(d *Decoder, name string)
}

// Shape is all that is known of a type beside its Go type: the fields of a record or the branches
// of a union, the values of an enum, the one field without a name of a named scalar. They stand in
// the order of the spec. A shape is a package variable of generated code, and is not copied.
type Shape struct {
	Kind   string // ShapeRequest and so on; exactly one field of a ShapeUnion must be set
	Name   string // type name
	Fields []Field
	Was    []string // earlier names
	Of     any      // a nil pointer of the Go type; nil where only the fields count

	index   atomic.Pointer[map[string]int] // built on first use when there are many fields
	readers atomic.Pointer[fieldReaders]   // built on first use
}

// Field is what the decoder must know of a field before its value is read.
type Field struct {
	Name     string // JSON name
	Required bool   // must be there; null is refused, but for lists and maps on the wire
	Hidden   bool   // never read from a model
	Rule     *Rule  // nil means no constraint
	// JSON text of the value of an optional field that is absent or null; "" means it is left as it
	// is
	Default string
	// JSON text of what a stored value gets that lacks this required field; "" means it is refused
	OldDefault string
	AcceptsOld []string // earlier patterns whose values the present one takes, all of them
	Was        []string // earlier names
	Type       string   // of a named scalar: its type in routes.yaml
}

// New returns a fresh value of the type of a record; nil for a shape without a type.
func (s *Shape) New() Record {
	if s == nil || s.Of == nil {
		return nil
	}
	v, _ := reflect.TypeAssert[Record](reflect.New(reflect.TypeOf(s.Of).Elem()))
	return v
}

func (s *Shape) isUnion() bool { return s.Kind == ShapeUnion }

// indexOf returns the index of the field of exactly that name, or -1. Documents mostly keep the
// order of the shape, so next is tried first.
func (s *Shape) indexOf(key []byte, next int) int {
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

func (s *Shape) fieldNames() []string {
	names := make([]string, len(s.Fields))
	for i := range s.Fields {
		names[i] = s.Fields[i].Name
	}
	return names
}

// namesOffered returns the fields of v that an error text may propose: a model must not see hidden
// fields or branches that it may not set.
func (d *Decoder) namesOffered(v Record) []string {
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

// Unmarshal reads one JSON document from the wire or the store into v: hidden fields and hidden
// enum values are allowed, a union has its bare form. v must be fresh; after a refusal its content
// is undefined. Absent and null are the same for an optional field, which then has its default, if
// the spec gives it one; null is an empty list or map where one is required.
//
// The document is refused with [CodeInvalid] and an [InvalidError] that lists everything wrong in
// it: a syntax error, a byte order mark, invalid UTF-8, a lone surrogate or NUL in a string, more
// than one value, nesting deeper than 64, a key that is unknown, written in another letter case or
// there twice, a required field that is missing, a value of the wrong type or outside its
// constraints. A union of which not exactly one branch is set is refused with [CodeNoRoute] or
// [CodeManyRoutes] and a [SelectionError].
//
// Syntax and wrong keys are reported first, then the number of branches, then the values.
func Unmarshal(data []byte, v Record) error {
	d := newDecoder(data)
	err := d.readDocument(v, nil)
	d.release()
	return err
}

// DecodeReply reads the reply of a model into v. It differs from [Unmarshal] in this: hidden fields
// and hidden enum values are refused, and a hidden field is not missed; null is refused for every
// required field; an enum value in another letter case is taken as the declared one; a map may also
// be an array of {"key": ..., "value": ...} objects; a union may also be wrapped as the one key of
// {"route": {...}}.
//
// DecodeReply says which branches of a union may be set here, by JSON name; nil means all. Another
// branch is refused with [CodeNoRoute], after the number of branches and before the values. allowed
// is not called if v is not a union.
func DecodeReply(data []byte, v Record, allowed func(name string) bool) error {
	d := newDecoder(data)
	d.reply = true
	err := d.readDocument(v, allowed)
	d.release()
	return err
}

// DecodeTagged reads a member of a sealed set, {"TypeName": {...}}, with the checks of [Unmarshal].
// into returns a fresh value of the named type, or nil when the set has none of that name, which is
// refused with [CodeInvalid].
func DecodeTagged(data []byte, into func(name string) Record) (Record, error) {
	d := newDecoder(data)
	v := d.readTagged(into)
	err := d.problemsError("decode tagged value")
	d.release()
	if err != nil {
		return nil, err
	}
	return v, nil
}

// readDocument reads the whole input into v.
func (d *Decoder) readDocument(v Record, allowed func(string) bool) error {
	s := v.Shape()
	d.root, d.allowed = v, allowed
	if d.scan.CheckStart() {
		var isObject bool
		if d.reply && s.isUnion() && d.isWrapped(s) {
			isObject = d.readWrapped(v)
		} else {
			isObject = d.readObject(v, reflect.ValueOf(v).Elem())
		}
		d.scan.Malformed = d.scan.Malformed || !isObject
		d.scan.CheckEnd()
	}
	if s.isUnion() && !d.scan.Malformed &&
		(len(d.picked) != 1 || allowed != nil && !allowed(s.Fields[d.picked[0]].Name)) {
		return selectionError(s, "decode "+s.Name, s.branchNames(d.picked), allowed)
	}
	if len(d.scan.Problems) == 0 {
		return nil // without building the name of the operation
	}
	return d.problemsError("decode " + s.Name)
}

// branchNames returns the names of the branches at these indexes, in the order of the shape.
func (s *Shape) branchNames(indexes []int) []string {
	slices.Sort(indexes)
	var names []string
	for _, i := range indexes {
		names = append(names, s.Fields[i].Name)
	}
	return names
}

// isWrapped reports whether the document is {"route": ...}; nothing is consumed.
func (d *Decoder) isWrapped(s *Shape) bool {
	pos := d.scan.Pos
	defer func() { d.scan.Pos = pos }()
	// a branch of that name wins
	if s.indexOf([]byte(wrapper), 0) >= 0 || d.scan.Peek() != '{' {
		return false
	}
	d.scan.Pos++
	d.scan.Peek()
	return bytes.HasPrefix(d.scan.Data[d.scan.Pos:], []byte(`"`+wrapper+`"`))
}

const wrapper = "route" // the key that wraps a union for providers that accept no union at the root

// readWrapped reads {"route": v}. It reports whether the wrapped value is an object.
func (d *Decoder) readWrapped(v Record) bool {
	d.scan.EnterBracket('{', "an object")
	isObject := false
	for first := true; d.scan.NextElement('}', first); first = false {
		key, ok := d.scan.ReadKey()
		switch {
		case !ok:
		case first:
			d.scan.PushName(wrapper)
			isObject = d.readObject(v, reflect.ValueOf(v).Elem())
			d.scan.Pop()
		default:
			d.scan.AddKeyProblem(string(key),
				`"`+wrapper+`" must be the only key beside the branches it wraps`)
			d.scan.SkipValue()
		}
	}
	d.scan.Depth--
	return isObject
}

// readTagged reads {"name": value}; nil when there is no such value.
func (d *Decoder) readTagged(into func(string) Record) Record {
	var v Record
	if !d.scan.CheckStart() ||
		!d.scan.EnterBracket('{', "an object with a type name as its one key") {
		return nil
	}
	members := 0
	for ; d.scan.NextElement('}', members == 0); members++ {
		key, ok := d.scan.ReadKey()
		if !ok {
			break
		}
		name := string(key)
		if members > 0 {
			d.scan.AddKeyProblem(name, "only one type name is allowed")
			d.scan.SkipValue()
			continue
		}
		if v = into(name); v == nil {
			d.scan.AddKeyProblem(name, "unknown type: use the name of a type that is declared for "+
				"this place")
			d.scan.SkipValue()
			continue
		}
		d.scan.PushName(name)
		d.readRecord(v, reflect.ValueOf(v).Elem())
		d.scan.Pop()
	}
	d.scan.Depth--
	if members == 0 && !d.scan.Broken {
		d.scan.AddProblem("no type name: write {\"TypeName\": {...}}")
	}
	d.scan.CheckEnd()
	return v
}
