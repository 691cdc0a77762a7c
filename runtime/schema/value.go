package schema

import (
	"bytes"
	"cmp"
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
func Parse(data []byte) (*Value, error) { return parse(data, new(memory)) }

// parse is Parse into some memory.
func parse(data []byte, into *memory) (*Value, error) {
	p := parser{memory: into, data: string(data) + "\x00"} // which ends every loop, since no text and no number holds it
	p.space()
	v, err := p.value(0)
	if p.space(); err == nil && p.pos < len(data) {
		err = errSyntax
	}
	if err != nil {
		if !json.Valid(data) {
			return nil, syntax(data)
		}
		return nil, fmt.Errorf("parse JSON at byte %d: %w", p.pos, err)
	}
	return v, nil
}

// errSyntax says that the parser met what is no JSON. Where, and what, the decoder of the standard library tells better.
var errSyntax = errors.New("no JSON")

func syntax(data []byte) error {
	var none json.RawMessage
	err, offset := json.Unmarshal(data, &none), int64(len(data))
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = wrong.Offset
	}
	return fmt.Errorf("parse JSON at byte %d: %w", offset, cmp.Or(err, errSyntax))
}

// parser reads JSON, and nothing else. Texts are parts of the data.
type parser struct {
	*memory

	data string
	pos  int
}

func (p *parser) fresh(kind Kind) *Value {
	v := &p.values.take(1, p.hint())[0]
	v.Kind = kind
	return v
}

// hint is for how many values to get memory: the rest of the data may hold so many.
func (p *parser) hint() int { return 1 + min(128, (len(p.data)-p.pos)/16) }

func (p *parser) value(depth int) (*Value, error) {
	switch p.data[p.pos] {
	case '"':
		v := p.fresh(String)
		var err error
		v.Text, err = p.text()
		return v, err
	case '{', '[':
		if depth == maxDepth {
			return nil, fmt.Errorf("nested deeper than %d", maxDepth)
		}
		return p.members(depth)
	}
	v, start := p.fresh(Literal), p.pos
	for c := p.data[p.pos]; c > ' ' && c != ',' && c != ']' && c != '}'; c = p.data[p.pos] {
		p.pos++
	}
	switch v.Text = p.data[start:p.pos]; {
	case v.Text == "null":
		v.Text = ""
	case v.Text != "true" && v.Text != "false" && !isNumber(v.Text):
		return nil, errSyntax
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
	p.pos++
	p.space()
	for first := true; p.data[p.pos] != end || !first; first = false {
		var m Member
		var err error
		if v.Kind == Object {
			if m.Key, err = p.text(); err != nil {
				return nil, err
			}
			if keys = met(keys, p.stack[base:], m.Key); keys[m.Key] {
				return nil, fmt.Errorf("key %q twice in one object", m.Key)
			}
			p.space()
			if p.data[p.pos] != ':' {
				return nil, errSyntax
			}
			p.pos++
			p.space()
		}
		if m.Value, err = p.value(depth + 1); err != nil {
			return nil, err
		}
		p.stack = append(p.stack, m)
		p.space()
		if p.data[p.pos] == end {
			break
		}
		if p.data[p.pos] != ',' {
			return nil, errSyntax
		}
		p.pos++
		p.space()
	}
	p.pos++
	v.Members = p.keep(p.stack[base:])
	p.stack = p.stack[:base]
	return v, nil
}

// isNumber reports whether a text is a JSON number.
func isNumber(text string) bool {
	digits := func() bool {
		rest := strings.TrimLeft(text, "0123456789")
		some := len(rest) < len(text)
		text = rest
		return some
	}
	text = strings.TrimPrefix(text, "-")
	if rest, zero := strings.CutPrefix(text, "0"); zero {
		text = rest
	} else if !digits() {
		return false
	}
	if rest, point := strings.CutPrefix(text, "."); point {
		if text = rest; !digits() {
			return false
		}
	}
	if text != "" && (text[0] == 'e' || text[0] == 'E') {
		if text = text[1:]; text != "" && (text[0] == '+' || text[0] == '-') {
			text = text[1:]
		}
		if !digits() {
			return false
		}
	}
	return text == ""
}

// keep copies members to where they stay. Nobody can append to them without copying.
func (p *parser) keep(members []Member) []Member {
	if len(members) == 0 {
		return nil
	}
	out := p.rows.take(len(members), p.hint())
	copy(out, members)
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
func (p *parser) text() (string, error) {
	if p.data[p.pos] != '"' {
		return "", errSyntax
	}
	start, plain := p.pos+1, true
	for p.pos++; ; p.pos++ {
		c := p.data[p.pos]
		if c == '"' {
			break
		}
		switch {
		case c < ' ':
			return "", errSyntax
		case c >= utf8.RuneSelf:
			plain = false // it may be no UTF-8
		case c == '\\':
			plain = false
			if p.pos++; !p.escaped() {
				return "", errSyntax
			}
		}
	}
	p.pos++
	if plain {
		return p.data[start : p.pos-1], nil
	}
	var out string
	_ = json.Unmarshal([]byte(p.data[start-1:p.pos]), &out) // it is known to be a string
	return out, nil
}

// escaped passes over what follows a backslash, but for its last byte.
func (p *parser) escaped() bool {
	switch p.data[p.pos] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		for range 4 {
			if p.pos++; !strings.ContainsRune("0123456789abcdefABCDEF", rune(p.data[p.pos])) {
				return false
			}
		}
		return true
	}
	return false
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
