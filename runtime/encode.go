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

// EncodeTagged returns v as a member of a sealed set: {"name": v}. It refuses what [Encode] refuses.
func EncodeTagged(name string, v any) ([]byte, error) {
	value, err := Encode(v)
	if err != nil {
		return nil, err
	}
	key, err := Encode(name)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(key)+len(value)+3)
	b = append(b, '{')
	b = append(b, key...)
	b = append(b, ':')
	b = append(b, value...)
	return append(b, '}'), nil
}
