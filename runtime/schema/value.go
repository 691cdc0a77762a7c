package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
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

	at *place // in a document that is narrowed: the schema that it is
}

// Member is one key of an object, or one item of an array.
type Member struct {
	Key   string
	Value *Value
}

// Parse reads one JSON value. It refuses what is not JSON, an object that names a key twice, and nesting deeper than 64.
func Parse(data []byte) (*Value, error) {
	if !json.Valid(data) {
		var none json.RawMessage
		err, offset := json.Unmarshal(data, &none), int64(len(data))
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			offset = syntax.Offset
		}
		return nil, fmt.Errorf("parse JSON at byte %d: %w", offset, err)
	}
	p := parser{data: string(data)}
	p.space()
	v, err := p.value(0)
	if err != nil {
		return nil, fmt.Errorf("parse JSON at byte %d: %w", p.pos, err)
	}
	return v, nil
}

// parser reads what is known to be JSON. Texts are parts of the data, and memory is taken for many values at once.
type parser struct {
	data  string
	pos   int
	slab  []Value  // values not handed out
	rows  []Member // members not handed out
	stack []Member // of the arrays and objects that are being read
}

func (p *parser) fresh(kind Kind) *Value {
	if len(p.slab) == 0 {
		p.slab = make([]Value, 1+min(128, (len(p.data)-p.pos)/16))
	}
	v := &p.slab[0]
	p.slab, v.Kind = p.slab[1:], kind
	return v
}

func (p *parser) value(depth int) (*Value, error) {
	switch p.data[p.pos] {
	case '"':
		v := p.fresh(String)
		v.Text = p.text()
		return v, nil
	case '{', '[':
		if depth == maxDepth {
			return nil, fmt.Errorf("nested deeper than %d", maxDepth)
		}
		return p.members(depth)
	}
	v, start := p.fresh(Literal), p.pos
	for p.pos < len(p.data) && p.data[p.pos] > ' ' && p.data[p.pos] != ',' && p.data[p.pos] != ']' && p.data[p.pos] != '}' {
		p.pos++
	}
	if v.Text = p.data[start:p.pos]; v.Text == "null" {
		v.Text = ""
	}
	return v, nil
}

func (p *parser) members(depth int) (*Value, error) {
	v, end := p.fresh(Array), byte(']')
	if p.data[p.pos] == '{' {
		v.Kind, end = Object, '}'
	}
	var keys map[string]bool // of a large object
	base := len(p.stack)
	for p.pos++; ; p.pos++ { // over the bracket or the comma
		if p.space(); p.data[p.pos] == end {
			break
		}
		var m Member
		if v.Kind == Object {
			m.Key = p.text()
			if keys = met(keys, p.stack[base:], m.Key); keys[m.Key] {
				return nil, fmt.Errorf("key %q twice in one object", m.Key)
			}
			p.space()
			p.pos++ // the colon
			p.space()
		}
		var err error
		if m.Value, err = p.value(depth + 1); err != nil {
			return nil, err
		}
		p.stack = append(p.stack, m)
		if p.space(); p.data[p.pos] == end {
			break
		}
	}
	p.pos++
	v.Members = p.keep(p.stack[base:])
	p.stack = p.stack[:base]
	return v, nil
}

// keep copies members to where they stay. Nobody can append to them without copying.
func (p *parser) keep(members []Member) []Member {
	if len(members) == 0 {
		return nil
	}
	if len(p.rows) < len(members) {
		p.rows = make([]Member, max(len(members), min(128, (len(p.data)-p.pos)/16)))
	}
	n := copy(p.rows, members)
	out := p.rows[:n:n]
	p.rows = p.rows[n:]
	return out
}

// met returns the keys among which key is found when it was there before: the key alone, or all of a large object.
func met(keys map[string]bool, members []Member, key string) map[string]bool {
	const few = 16 // up to here comparing one by one is faster than hashing
	switch {
	case keys != nil:
		keys[members[len(members)-1].Key] = true
		return keys
	case len(members) < few:
		if slices.ContainsFunc(members, func(m Member) bool { return m.Key == key }) {
			return map[string]bool{key: true}
		}
		return nil
	}
	keys = make(map[string]bool, 4*few)
	for _, m := range members {
		keys[m.Key] = true
	}
	return keys
}

func (p *parser) space() {
	for p.pos < len(p.data) && (p.data[p.pos] == ' ' || p.data[p.pos] == '\n' || p.data[p.pos] == '\t' || p.data[p.pos] == '\r') {
		p.pos++
	}
}

// text reads a string. Most have no escape and take the short way.
func (p *parser) text() string {
	start, plain := p.pos, true
	for p.pos++; p.data[p.pos] != '"'; p.pos++ {
		if c := p.data[p.pos]; c == '\\' {
			plain = false
			p.pos++
		} else if c >= utf8.RuneSelf {
			plain = false // it may be no UTF-8
		}
	}
	p.pos++
	if plain {
		return p.data[start+1 : p.pos-1]
	}
	var out string
	_ = json.Unmarshal([]byte(p.data[start:p.pos]), &out) // it is known to be a string
	return out
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
