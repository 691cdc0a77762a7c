package thread

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// SameJSON reports whether two documents are equal, ignoring spaces and the order of keys. Numbers
// are compared as they are written. An absent document, nil, equals only another absent one.
func SameJSON(a, b json.RawMessage) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if bytes.Equal(a, b) {
		return true
	}
	one, err1 := CanonicalJSON(a)
	two, err2 := CanonicalJSON(b)
	return err1 == nil && err2 == nil && bytes.Equal(one, two)
}

// CanonicalJSON writes a document without spaces and with sorted keys. Numbers keep their digits.
func CanonicalJSON(data []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return json.Marshal(v)
}

// trimmed returns plain text as it is compared: without spaces and full stops around it, in lower
// case.
func trimmed(text string) string {
	return strings.ToLower(strings.Trim(strings.TrimSpace(text), " .!,;"))
}
