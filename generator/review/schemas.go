package review

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// tree is a JSON value with its members in their order.
type tree struct {
	keys  []string
	of    map[string]*tree
	items []*tree
	text  string // of a value without members, as JSON
}

func parseTree(text string) *tree {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	return nextTree(dec)
}

func nextTree(dec *json.Decoder) *tree {
	t := &tree{of: map[string]*tree{}}
	token, err := dec.Token()
	if err != nil {
		return t
	}
	switch token {
	case json.Delim('{'):
		for dec.More() {
			key, _ := dec.Token()
			name := fmt.Sprint(key)
			t.keys = append(t.keys, name)
			t.of[name] = nextTree(dec)
		}
		_, _ = dec.Token()
	case json.Delim('['):
		for dec.More() {
			t.items = append(t.items, nextTree(dec))
		}
		_, _ = dec.Token()
	default:
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		//nolint:errchkjson // a text, a number, a flag or null, into memory
		_ = enc.Encode(token)
		t.text = strings.TrimSpace(b.String())
		if s, isText := token.(string); isText {
			t.text = s
		}
	}
	return t
}

// child returns a member, or an empty tree.
func (t *tree) child(key string) *tree {
	if t == nil || t.of[key] == nil {
		return &tree{}
	}
	return t.of[key]
}

// words are the texts of a list.
func (t *tree) words() []string {
	var out []string
	for _, i := range t.items {
		out = append(out, i.text)
	}
	return out
}

// short says in a few words what a schema takes.
func (t *tree) short() string {
	switch ref := t.child("$ref").text; {
	case ref != "":
		return ref[strings.LastIndex(ref, "/")+1:]
	case t.child("items").keys != nil:
		return "list of " + t.child("items").short()
	case len(t.child("enum").items) > 0:
		return "one of " + strings.Join(t.child("enum").words(), ", ")
	}
	return nameOr(t.child("type").text, "anything")
}

// schemaTrees compares schemas, and remembers what it has said.
type schemaTrees struct {
	renamed func(def string) string // the new name of an old definition
	edits   []SchemaEdit
	done    map[string]bool // definitions that are compared
}

// compareSchemas adds what differs between two schemas: of a definition that both have, once.
func (s *schemaTrees) compareSchemas(name string, was, is *tree) {
	s.compare(name, was, is)
	now := is.child("$defs")
	for _, def := range was.child("$defs").keys {
		to := s.renamed(def)
		if s.done[to] || now.of[to] == nil {
			continue
		}
		s.done[to] = true
		if def != to {
			s.differ(to, "named "+def, "named "+to, false)
		}
		s.compare(to, was.child("$defs").of[def], now.of[to])
	}
}

func (s *schemaTrees) differ(where, before, after string, text bool) {
	e := SchemaEdit{Where: where, Before: before, After: after, Text: text}
	if before != after && !slices.Contains(s.edits, e) {
		s.edits = append(s.edits, e)
	}
}

// compare says what differs between two forms of a schema.
func (s *schemaTrees) compare(where string, was, is *tree) {
	for _, key := range union(was.keys, is.keys) {
		a, b := was.child(key), is.child(key)
		switch key {
		case "$defs":
		case "properties":
			s.compareProperties(where, was, is)
		case "required": // said of each property
			if a.keys == nil && was.of["properties"] == nil {
				s.differ(where+" required", strings.Join(a.words(), ", "), strings.Join(b.words(),
					", "), false)
			}
		case "enum":
			s.differ(where, "one of "+strings.Join(a.words(), ", "), "one of "+
				strings.Join(b.words(), ", "), false)
		case "items", "additionalProperties":
			s.compare(where+"[]", a, b)
		case "description":
			s.differ(where, a.text, b.text, true)
		case "$ref":
			if was.short() != is.short() && s.renamed(was.short()) != is.short() {
				s.differ(where, was.short(), is.short(), false)
			}
		default:
			if x, y := a.flat(), b.flat(); x != y {
				s.differ(where, bound(key, x), bound(key, y), false)
			}
		}
	}
}

func bound(key, value string) string {
	switch {
	case value == "":
		return "no " + key
	case key == "type":
		return value
	}
	return key + " " + value
}

// flat is a value as one text.
func (t *tree) flat() string {
	var parts []string
	for _, i := range t.items {
		parts = append(parts, i.flat())
	}
	for _, k := range t.keys {
		parts = append(parts, k+": "+t.of[k].flat())
	}
	return t.text + strings.Join(parts, ", ")
}

func (s *schemaTrees) compareProperties(where string, was, is *tree) {
	a, b := was.child("properties"), is.child("properties")
	must := func(t *tree, name string) string {
		return ifElse(slices.Contains(t.child("required").words(), name), "required", "optional")
	}
	var before, after []string
	for _, name := range union(a.keys, b.keys) {
		at := where + "." + name
		switch {
		case b.of[name] == nil:
			s.differ(at, must(was, name)+" "+a.of[name].short(), "not there", false)
		case a.of[name] == nil:
			s.differ(at, "not there", must(is, name)+" "+b.of[name].short(), false)
		default:
			s.differ(at, must(was, name), must(is, name), false)
			s.compare(at, a.of[name], b.of[name])
		}
	}
	for _, name := range a.keys {
		if b.of[name] != nil {
			before = append(before, name)
		}
	}
	for _, name := range b.keys {
		if a.of[name] != nil {
			after = append(after, name)
		}
	}
	s.differ(where+", order", strings.Join(before, ", "), strings.Join(after, ", "), false)
}

// union is what two lists hold, in the order of the first, then of the second.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}
