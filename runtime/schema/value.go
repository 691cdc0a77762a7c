package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxDepth bounds how deep arrays and objects nest, so that no walk exhausts the stack.
const maxDepth = 64

// Kind tells the forms of a JSON value apart.
type Kind uint8

// The forms of a Value, and the field that holds each.
const (
	Literal Kind = iota // Text: null, true, false, or a number as it was written; empty is null
	String              // Text: the decoded string
	Array               // Members, without keys
	Object              // Members, in order
)

// Value is one JSON value with its key order and number texts kept. The zero Value is null. It is read-only once built:
// conversions return new values that share parts with the old.
type Value struct {
	Kind    Kind
	Text    string
	Members []Member
}

// Member is one key of an object, or one item of an array.
type Member struct {
	Key   string
	Value *Value
}

// Parse reads one JSON value. It refuses what is not JSON, an object that names a key twice, and nesting deeper than 64.
func Parse(data []byte) (*Value, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := parse(dec, 0)
	if err == nil {
		if _, end := dec.Token(); end != io.EOF {
			err = errors.New("text after the value")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("parse JSON at byte %d: %w", dec.InputOffset(), err)
	}
	return v, nil
}

func parse(dec *json.Decoder, depth int) (*Value, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	v, seen := array(), map[string]bool{}
	switch token := token.(type) {
	case nil:
		return &Value{}, nil
	case bool:
		return &Value{Text: strconv.FormatBool(token)}, nil
	case json.Number:
		return &Value{Text: token.String()}, nil
	case string:
		return str(token), nil
	case json.Delim:
		if token == '{' {
			v.Kind = Object
		}
	}
	if depth == maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	for dec.More() {
		var m Member
		if v.Kind == Object {
			if token, err = dec.Token(); err != nil {
				return nil, err
			}
			if m.Key, _ = token.(string); seen[m.Key] {
				return nil, fmt.Errorf("key %q twice in one object", m.Key)
			}
			seen[m.Key] = true
		}
		if m.Value, err = parse(dec, depth+1); err != nil {
			return nil, err
		}
		v.Members = append(v.Members, m)
	}
	_, err = dec.Token()
	return v, err
}

// Get returns the value of a key, or nil where v is nil or lacks it.
func (v *Value) Get(key string) *Value {
	for _, m := range v.list() {
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
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) < 0 {
		return append(append(append(dst, '"'), s...), '"')
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) //nolint:errchkjson // a string always encodes
	return append(dst, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

func str(s string) *Value { return &Value{Kind: String, Text: s} }

func object(members ...Member) *Value { return &Value{Kind: Object, Members: members} }

func array(items ...*Value) *Value {
	v := &Value{Kind: Array}
	for _, item := range items {
		v.Members = append(v.Members, Member{Value: item})
	}
	return v
}

// keys returns the keys of an object as an array.
func keys(v *Value) *Value {
	out := array()
	for _, m := range v.list() {
		out.Members = append(out.Members, Member{Value: str(m.Key)})
	}
	return out
}

// list returns the members, none for nil.
func (v *Value) list() []Member {
	if v == nil {
		return nil
	}
	return v.Members
}

// text returns the text, "" for nil.
func (v *Value) text() string {
	if v == nil {
		return ""
	}
	return v.Text
}

// texts returns the texts of the items of an array.
func texts(v *Value) []string {
	var out []string
	for _, m := range v.list() {
		out = append(out, m.Value.Text)
	}
	return out
}

// escape writes a key as a part of a JSON pointer.
func escape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}
