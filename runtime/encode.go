package runtime

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sync"
	"unicode/utf8"
)

// Encode returns v as compact JSON without HTML escaping and without a newline at the end. A value
// that JSON cannot hold, NaN for one, is refused with [CodeInvalid]. Map keys come out sorted, so
// equal values give equal bytes. A MarshalJSON of a pointer is called for a value too, but not in a
// map or an interface that holds the value itself: keep pointers there.
func Encode(v any) ([]byte, error) {
	if text, ok := v.(string); ok && plainText(text) {
		return append(append(append(make([]byte, 0, len(text)+2), '"'), text...), '"'), nil
	}
	if a, ok := v.(jsonAppender); ok {
		return a.AppendJSON(nil), nil
	}
	e := encoders.Get().(*encoder) //nolint:forcetypeassert // the pool holds nothing else
	e.buffer.Reset()
	if err := e.json.Encode(addressable(v)); err != nil {
		return nil, Errorf(CodeInvalid, "encode", "%w", err)
	}
	out := bytes.Clone(bytes.TrimSuffix(e.buffer.Bytes(), []byte("\n")))
	if e.buffer.Cap() <= encoderKept {
		encoders.Put(e)
	}
	return out, nil
}

// jsonAppender is a value that appends its own compact JSON, which is not checked.
type jsonAppender interface {
	AppendJSON(b []byte) []byte
}

// addressable returns a pointer to a copy of v if v is a struct, an array or a type with methods,
// because encoding/json calls a MarshalJSON of the pointer only then.
func addressable(v any) any {
	t := reflect.TypeOf(v)
	if t == nil || t.Kind() == reflect.Pointer || t.Kind() != reflect.Struct &&
		t.Kind() != reflect.Array && t.PkgPath() == "" {
		return v
	}
	p := reflect.New(t)
	p.Elem().Set(reflect.ValueOf(v))
	return p.Interface()
}

// encoder is pooled: making one costs as much as encoding a small value.
type encoder struct {
	buffer bytes.Buffer
	json   *json.Encoder
}

const encoderKept = 16 << 10 // a larger buffer is not kept

var encoders = sync.Pool{New: func() any {
	e := new(encoder)
	e.json = json.NewEncoder(&e.buffer)
	e.json.SetEscapeHTML(false)
	return e
}}

// plainText reports whether a text is the same inside a JSON string.
func plainText(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// EncodeTagged returns v as a member of a sealed set: {"TypeName": v}. It refuses what [Encode]
// refuses, and a nil v with [CodeInvalid].
func EncodeTagged(v Record) ([]byte, error) {
	if v == nil {
		return nil, Errorf(CodeInvalid, "encode tagged value",
			"there is no value: give one of the set")
	}
	value, err := Encode(v)
	if err != nil {
		return nil, err
	}
	name := v.Shape().Name // a Go identifier: nothing in it needs an escape
	b := make([]byte, 0, len(name)+len(value)+5)
	b = append(b, `{"`...)
	b = append(b, name...)
	b = append(b, `":`...)
	b = append(b, value...)
	return append(b, '}'), nil
}
