package runtime

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"time"
)

// reader reads one value into v, which can be set and has the type that the reader was made for.
type reader func(d *Decoder, v reflect.Value)

// readers are the readers made so far.
var readers sync.Map // of reflect.Type: reader

func readerOf(t reflect.Type) reader {
	if known, ok := readers.Load(t); ok {
		return known.(reader) //nolint:forcetypeassert // nothing else is stored
	}
	r := newReader(t, nil)
	readers.Store(t, r)
	return r
}

var (
	recordType   = reflect.TypeFor[Record]() // enums and named scalars have a shape too
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[Duration]()
	jsonType     = reflect.TypeFor[json.RawMessage]()
)

// newReader returns the reader of a type. of is the shape of its values or, for a list or map, of
// its elements; nil means that of the type. A type that no field can have reads nothing and reports
// each value.
func newReader(t reflect.Type, of *Shape) reader {
	if named, ok := reflect.TypeAssert[Record](reflect.Zero(t)); ok && t.Kind() != reflect.Pointer {
		of = named.Shape()
	}
	switch t.Kind() { //nolint:exhaustive // the other types are below
	case reflect.Pointer:
		return readPointer(t.Elem(), newReader(t.Elem(), of))
	case reflect.Slice:
		if t != jsonType {
			return readList(t, newReader(t.Elem(), of))
		}
	case reflect.Map:
		return readMap(t, newReader(t.Elem(), of))
	case reflect.Struct:
		if reflect.PointerTo(t).Implements(recordType) && of == nil {
			return readStruct
		}
	}
	return scalarReader(t, of)
}

// scalarReader returns the reader of an enum, or of a scalar of that shape, which may be nil.
func scalarReader(t reflect.Type, of *Shape) reader {
	var rule *Rule
	base := typeName(t)
	if of != nil {
		if of.Kind == ShapeEnum {
			return readEnum(of.Fields)
		}
		rule = of.Fields[0].Rule
		if of.Fields[0].Type != "" {
			base = of.Fields[0].Type
		}
	}
	switch base {
	case "string":
		return readString(rule)
	case "bool":
		return readBool
	case "int":
		return readInt(rule)
	case "float":
		return readFloat(rule)
	case "time":
		return readTime
	case "duration":
		return readDuration
	case "json":
		return readJSON
	}
	return readNothing
}

// readNothing refuses a value that has no place in the Go type.
func readNothing(d *Decoder, _ reflect.Value) {
	d.takeRule()
	d.scan.AddProblem("has no place in the Go type of its record")
	d.scan.SkipValue()
}

// typeName returns the type of a field as routes.yaml writes it.
func typeName(t reflect.Type) string {
	switch t {
	case timeType:
		return "time"
	case durationType:
		return "duration"
	case jsonType:
		return "json"
	}
	if t.Kind() != reflect.Pointer && t.PkgPath() != "" {
		return t.Name()
	}
	switch t.Kind() { //nolint:exhaustive // the others have the name that Go gives them
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.Slice:
		return "[]" + typeName(t.Elem())
	case reflect.Map:
		return "map[string]" + typeName(t.Elem())
	case reflect.Int64:
		return "int"
	case reflect.Float64:
		return "float"
	}
	return t.String()
}

// fieldReaders are what reads the fields of a shape into a struct type, in the order of the shape.
type fieldReaders struct {
	of     reflect.Type
	fields []fieldReader // nil for a FieldDecoder
}

type fieldReader struct {
	index int // of the field of the struct
	read  reader
}

// readersOf returns the readers of the shape's fields for a struct type.
func (s *Shape) readersOf(t reflect.Type) []fieldReader {
	if known := s.readers.Load(); known != nil && known.of == t {
		return known.fields
	}
	made := &fieldReaders{of: t}
	if !reflect.PointerTo(t).Implements(reflect.TypeFor[FieldDecoder]()) {
		made.fields = make([]fieldReader, len(s.Fields))
		for i := range s.Fields {
			made.fields[i] = fieldReader{0, readNothing}
			if f, ok := s.goField(t, i); ok {
				made.fields[i] = fieldReader{f.Index[0], readerOf(f.Type)}
			}
		}
	}
	s.readers.Store(made) // two goroutines may both make it; either is right
	return made.fields
}

// goField returns the field of a struct that holds field i of the shape.
func (s *Shape) goField(t reflect.Type, i int) (reflect.StructField, bool) {
	for j := range t.NumField() { // mostly field i
		f := t.Field((i + j) % t.NumField())
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == s.Fields[i].Name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// object is a record whose object is being read.
type object struct {
	record  Record
	shape   *Shape
	value   reflect.Value // the struct
	readers []fieldReader // nil for a FieldDecoder
}

func newObject(v Record, value reflect.Value) object {
	s := v.Shape()
	return object{v, s, value, s.readersOf(value.Type())}
}

// readField reads the value of field i, under the rule of the field.
func (o *object) readField(d *Decoder, i int) {
	f := &o.shape.Fields[i]
	d.rule = f.Rule
	if o.readers != nil {
		o.readers[i].read(d, o.value.Field(o.readers[i].index))
	} else if custom, ok := o.record.(FieldDecoder); ok {
		custom.DecodeField(d, f.Name)
	}
	d.rule = nil
}
