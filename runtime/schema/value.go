package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxDepth bounds how deep arrays and objects nest, so that no walk exhausts the stack.
const maxDepth = 64

// ValueKind is the kind of a JSON value.
type ValueKind uint8

// The kinds of values, and the field that holds each.
const (
	Literal ValueKind = iota // Text: true, false, a number as written; empty is null
	String                   // Text: the decoded string
	Array                    // Members, without keys
	Object                   // Members, in order
)

// Value is one JSON value with its key order and number texts kept. The zero Value is null. It is
// read-only once built: conversions return new values that share parts with the old.
type Value struct {
	Kind    ValueKind
	Text    string
	Members []Member
}

// Member is one key of an object, or one item of an array.
type Member struct {
	Key   string
	Value *Value
}

// Parse reads one JSON value. It returns an error, with the byte where it stands, for text that is
// not JSON, for an object that names a key twice, and for nesting deeper than 64.
func Parse(data []byte) (*Value, error) {
	if !json.Valid(data) {
		return nil, syntaxError(data)
	}
	p := parser{json.NewDecoder(bytes.NewReader(data))}
	p.UseNumber()
	v, err := p.parseValue(0)
	if err != nil {
		return nil, fmt.Errorf("parse JSON at byte %d: %w", p.InputOffset(), err)
	}
	return v, nil
}

func syntaxError(data []byte) error {
	var unused json.RawMessage
	err, offset := json.Unmarshal(data, &unused), int64(len(data))
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = wrong.Offset
	}
	return fmt.Errorf("parse JSON at byte %d: %w", offset, err)
}

// parser builds values from the tokens of valid JSON.
type parser struct{ *json.Decoder }

func (p parser) parseValue(depth int) (*Value, error) {
	token, err := p.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case string:
		return newString(t), nil
	case json.Number:
		return &Value{Text: t.String()}, nil
	case bool:
		return &Value{Text: strconv.FormatBool(t)}, nil
	case json.Delim:
		if depth == maxDepth {
			return nil, fmt.Errorf("nested deeper than %d", maxDepth)
		}
		return p.parseMembers(t, depth)
	}
	return &Value{}, nil
}

// parseMembers reads the rest of an array or object.
func (p parser) parseMembers(start json.Delim, depth int) (*Value, error) {
	v, keys := &Value{Kind: Array}, map[string]bool(nil)
	if start == '{' {
		v.Kind, keys = Object, map[string]bool{}
	}
	for p.More() {
		var m Member
		if v.Kind == Object {
			key, err := p.Token()
			if err != nil {
				return nil, err
			}
			if m.Key, _ = key.(string); keys[m.Key] {
				return nil, fmt.Errorf("key %q twice in one object", m.Key)
			}
			keys[m.Key] = true
		}
		var err error
		if m.Value, err = p.parseValue(depth + 1); err != nil {
			return nil, err
		}
		v.Members = append(v.Members, m)
	}
	_, err := p.Token() // the closing bracket
	return v, err
}

// Get returns the value of a key, or nil where v is nil or lacks it.
func (v *Value) Get(key string) *Value {
	for _, m := range v.memberList() {
		if m.Key == key && v.Kind == Object {
			return m.Value
		}
	}
	return nil
}

// String returns compact JSON: keys in order, numbers as written, no HTML escapes.
func (v *Value) String() string { return string(v.append(nil)) }

// Indent returns JSON indented by two spaces, without a final newline, otherwise like String.
func (v *Value) Indent() []byte {
	var out bytes.Buffer
	_ = json.Indent(&out, v.append(nil), "", "  ") // fails only on a Literal whose text is not JSON
	return out.Bytes()
}

func (v *Value) append(dst []byte) []byte {
	switch {
	case v.Kind == String:
		return appendString(dst, v.Text)
	case v.Kind == Literal && v.Text == "":
		return append(dst, "null"...)
	case v.Kind == Literal:
		return append(dst, v.Text...)
	}
	brackets := "[]"
	if v.Kind == Object {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for i, m := range v.Members {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v.Kind == Object {
			dst = append(appendString(dst, m.Key), ':')
		}
		dst = m.Value.append(dst)
	}
	return append(dst, brackets[1])
}

// appendString quotes s. Most strings need no escape and take the short way.
func appendString(dst []byte, s string) []byte {
	plain := true
	for i := range len(s) {
		plain = plain && s[i] >= ' ' && s[i] <= '~' && s[i] != '"' && s[i] != '\\'
	}
	if plain {
		return append(append(append(dst, '"'), s...), '"')
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) //nolint:errchkjson // a string always encodes
	return append(dst, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

func newString(s string) *Value { return &Value{Kind: String, Text: s} }

func newObject(members ...Member) *Value { return &Value{Kind: Object, Members: members} }

func newArray(items ...*Value) *Value {
	v := &Value{Kind: Array}
	for _, item := range items {
		v.Members = append(v.Members, Member{Value: item})
	}
	return v
}

// keyNames returns the keys of an object as an array.
func keyNames(v *Value) *Value {
	out := newArray()
	for _, m := range v.memberList() {
		out.Members = append(out.Members, Member{Value: newString(m.Key)})
	}
	return out
}

// memberList returns the members, none for nil.
func (v *Value) memberList() []Member {
	if v == nil {
		return nil
	}
	return v.Members
}

// textOrEmpty returns the text, "" for nil.
func (v *Value) textOrEmpty() string {
	if v == nil {
		return ""
	}
	return v.Text
}

// itemTexts returns the texts of the items of an array.
func itemTexts(v *Value) []string {
	var out []string
	for _, m := range v.memberList() {
		out = append(out, m.Value.Text)
	}
	return out
}

// escapePointer writes a key as a part of a JSON pointer.
func escapePointer(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}
