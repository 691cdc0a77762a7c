package thread

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// SameJSON reports whether two documents say the same, without regard to spaces and the order of
// keys. Numbers are the same as they are written. One that is absent, nil, is the same as another
// that is absent, and as nothing else.
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

// trimmed is plain text as it is compared: without spaces and points around it, in lower case.
func trimmed(text string) string {
	return strings.ToLower(strings.Trim(strings.TrimSpace(text), " .!,;"))
}
