package runtime

import (
	"bytes"
	"encoding/json"
)

// Encode returns v as compact JSON without HTML escaping and without a newline at the end. A value that JSON cannot hold, NaN for one, is
// refused with [CodeInvalid]. Map keys come out sorted, so equal values give equal bytes.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, refuse(CodeInvalid, "encode", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// EncodeTagged returns v as a member of a sealed set: {"TypeName": v}. It refuses what [Encode] refuses, and a nil v with [CodeInvalid].
func EncodeTagged(v Record) ([]byte, error) {
	if v == nil {
		return nil, invalid("encode tagged value", "there is no value: give one of the set")
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
