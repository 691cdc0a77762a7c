package spec

import (
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/report"
)

// Form is how a value is written.
type Form uint8

// The forms of values.
const (
	FormText Form = iota
	formFlag
	formWhole  // a whole number
	formNumber // any number
	formScalar // text, number or true/false
	FormAny    // any JSON value
	FormMapping
	FormEntries // a mapping whose keys are names chosen by the user
	FormWords   // a text, a list of variations, or either of these by language
	formLiteral // text, number, true/false, or a list of these
	formLiteralOrNull
)

// Key says everything about one key of a mapping. Reading, suggestions and the editor's schema
// share it.
type Key struct {
	Name, doc string
	Form      Form
	class     class    // of text, or of the items of a list
	values    []string // the only legal ones, where not empty
	keys      class    // of entries: what their names are
	Of        *Shape   // of mappings and entries
	List      bool     // a list of what the form says
	required  bool
}

// Shape is one kind of mapping.
type Shape struct {
	Noun  string
	named bool // the key in front of the mapping is its name
	Short Key  // the short form of the mapping; an empty name: none
	Keys  []Key
	oneOf []string // at least one of these keys must be there
}

// key is one row of the grammar: what a key is, and where its value is stored.
type key[T any] struct {
	Key
	read func(r *reader, info *Key, n *node, into *T)
}

// grammar is the table of one kind of mapping, for values of one Go type.
type grammar[T any] struct {
	*Shape
	rows  []key[T]
	index map[string]int
	brief func(r *reader, n *node, into *T) // reads the short form
}

func newGrammar[T any](noun string, named bool, rows ...key[T]) *grammar[T] {
	g := &grammar[T]{Shape: &Shape{Noun: noun, named: named}, rows: rows,
		index: make(map[string]int, len(rows))}
	for i := range rows {
		g.index[rows[i].Name] = i
		g.Keys = append(g.Keys, rows[i].Key)
	}
	return g
}

// orShort lets a scalar replace the whole mapping.
func (g *grammar[T]) orShort(info Key, read func(r *reader, n *node, into *T)) *grammar[T] {
	g.Short, g.brief = info, read
	return g
}

// insertAfter adds a row to a grammar that refers to itself.
func (g *grammar[T]) insertAfter(name string, row key[T]) {
	at := g.index[name] + 1
	g.rows, g.Keys = slices.Insert(g.rows, at, row), slices.Insert(g.Keys, at, row.Key)
	for i := at; i < len(g.rows); i++ {
		g.index[g.rows[i].Name] = i
	}
}

func (k key[T]) must() key[T] {
	k.required = true
	return k
}

// text is a key with one string.
func text[T any](name string, c class, doc string, at func(*T) *Text) key[T] {
	return key[T]{Key{Name: name, doc: doc, class: c},
		func(r *reader, info *Key, n *node, into *T) {
			*at(into) = r.textOf(info, n)
		}}
}

// oneOf is a key with one of a few words.
func oneOf[T any](name, doc string, at func(*T) *Text, values ...string) key[T] {
	k := text(name, classAny, doc, at)
	k.values = values
	return k
}

// texts is a key with a list of strings.
func texts[T any](name string, c class, doc string, at func(*T) *[]Text) key[T] {
	return key[T]{Key{Name: name, doc: doc, class: c, List: true},
		func(r *reader, info *Key, n *node, into *T) {
			*at(into) = r.textsOf(info, n)
		}}
}

// flag is a key with true or false.
func flag[T any](name, doc string, at func(*T) *bool) key[T] {
	return key[T]{Key{Name: name, doc: doc, Form: formFlag},
		func(r *reader, info *Key, n *node, into *T) {
			*at(into) = r.flagOf(info, n)
		}}
}

// number is a key with a number; f is formWhole or formNumber.
func number[T any](name string, f Form, doc string, at func(*T) **Number) key[T] {
	return key[T]{Key{Name: name, doc: doc, Form: f},
		func(r *reader, info *Key, n *node, into *T) {
			*at(into) = r.numberOf(info, n)
		}}
}

// mapping is a key with one mapping.
func mapping[T, U any](name, doc string, g *grammar[U], at func(*T, report.Span) *U) key[T] {
	return key[T]{Key{Name: name, doc: doc, Form: FormMapping, Of: g.Shape},
		func(r *reader, info *Key, n *node, into *T) {
			if n.Kind == MappingNode || g.brief != nil && n.Kind == ScalarNode {
				readMapping(r, g, n, at(into, r.keyAt))
				return
			}
			r.wrongKind(info, n)
		}}
}

// entries is a key with a mapping from names to mappings; add makes room for one more.
func entries[T, U any](name string, keys class, doc string, g *grammar[U],
	add func(*T, Text) *U) key[T] {
	return key[T]{Key{Name: name, doc: doc, Form: FormEntries, keys: keys, Of: g.Shape},
		func(r *reader, info *Key, n *node, into *T) {
			r.eachEntry(info, n, func(name Text, value *node) {
				readMapping(r, g, value, add(into, name))
			})
		}}
}

// readMapping reads the keys of one mapping into a value. Every key is read, even if others are
// wrong.
func readMapping[T any](r *reader, g *grammar[T], n *node, into *T) {
	if g.brief != nil && n.Kind == ScalarNode {
		g.brief(r, n, into)
		return
	}
	if n.Kind != MappingNode {
		r.wrongKind(&Key{Form: FormMapping, Of: g.Shape}, n)
		return
	}
	var seen uint64
	at := r.keyAt
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		row, known := g.index[name.Value]
		if name.Kind != ScalarNode || !known {
			r.unknownKey(g.Shape, name)
			continue
		}
		if seen&(1<<row) != 0 {
			r.duplicateKey(name, firstKey(n, name.Value))
			continue
		}
		seen |= 1 << row
		r.path, r.keyAt = append(r.path, name.Value), r.span(name)
		g.rows[row].read(r, &g.Keys[row], value, into)
		r.path = r.path[:len(r.path)-1]
	}
	for i := range g.Keys {
		if g.Keys[i].required && seen&(1<<i) == 0 {
			r.missingKey(g.Shape, &g.Keys[i], at)
		}
	}
	if !slices.ContainsFunc(g.oneOf, func(name string) bool {
		return seen&(1<<g.index[name]) != 0
	}) && len(g.oneOf) > 0 {
		var hints []string
		for _, name := range g.oneOf {
			hints = append(hints, name+": "+g.Keys[g.index[name]].doc)
		}
		r.report(RuleMissingKey, at, strings.Join(hints, " Or "), "%s has neither %s",
			r.where(g.Shape), strings.Join(g.oneOf, " nor "))
	}
}

func (r *reader) missingKey(s *Shape, k *Key, at report.Span) {
	r.report(RuleMissingKey, at, k.Name+": "+k.doc, "%s has no %q", r.where(s), k.Name)
}

func firstKey(n *node, name string) *node {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i]
		}
	}
	return n
}

// where names the mapping that is being read: node "planning", or request of node "planning".
func (r *reader) where(s *Shape) string {
	singular := map[string]string{"nodes": "node", "types": "type", "results": "result",
		"enums": "enum", "flows": "flow", "actions": "action", "validators": "validator"}
	switch {
	case s.named && len(r.path) > 0:
		return s.Noun + " " + quoted(r.path[len(r.path)-1])
	case len(r.path) > 2 && singular[r.path[0]] != "":
		return s.Noun + " of " + singular[r.path[0]] + " " + quoted(r.path[1])
	}
	return s.Noun
}

func (r *reader) unknownKey(s *Shape, n *node) {
	if n.Kind != ScalarNode {
		r.report(RuleWrongKind, r.span(n), "", "a key in %s must be a word", r.where(s))
		return
	}
	if n.Tag == tagMerge {
		return // reported once already
	}
	names := make([]string, len(s.Keys))
	for i := range s.Keys {
		names[i] = s.Keys[i].Name
	}
	near := r.nearest(n.Value, names)
	if other := keyOfOtherTool(n.Value); other != "" && slices.Contains(names, other) {
		near = other
	}
	f := r.report(RuleUnknownKey, r.span(n), didYouMean(near), "unknown key %q in %s", n.Value,
		r.where(s))
	if near != "" {
		f.replace(near)
	} else {
		f.Hint = "known: " + strings.Join(names, ", ")
	}
}

// keyOfOtherTool translates a key that other tools use for the same thing.
func keyOfOtherTool(name string) string {
	return map[string]string{
		"description": "doc", "comment": "doc", "summary": "doc", "properties": "fields",
		"name": "display_name", "title": "display_name", "nullable": "optional", "minimum": "min",
		"maximum": "max", "minLength": "min_length", "maxLength": "max_length",
		"minItems": "min_items", "maxItems": "max_items", "json_name": "json",
		"parent": "escalates", "agents": "nodes", "routes": "nodes", "jump_to": "next",
		"exit_to": "next", "goto": "next", "on_confirm": "on_yes", "on_deny": "on_no",
		"on_correction": "on_change", "on_modification": "on_change",
		"max_step_executions": "max_rounds", "max_iterations": "max_rounds",
		"map_outputs": "outputs", "target": "flow", "evaluate": "cases",
		"validation_error_message": "invalid_message", "prompt": "message", "store_as": "slot",
		"max_retries": "max_attempts", "retries": "max_attempts", "slots": "values", "id": "step",
	}[name]
}

func (r *reader) duplicateKey(n, first *node) {
	r.report(RuleDuplicateKey, r.span(n), "keep one of them", "key %q is written twice", n.Value).
		relatedf(r.span(first), "%q is first written here", first.Value)
}

// eachEntry calls for every entry of a mapping whose keys are names, and releases each entry's
// nodes afterwards.
func (r *reader) eachEntry(info *Key, n *node, read func(name Text, value *node)) {
	if n.Kind != MappingNode {
		r.wrongKind(info, n)
		return
	}
	first := make(map[string]report.Span, min(len(n.Content)/2, 16))
	folded := make(map[string]Text, min(len(n.Content)/2, 16))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		n.Content[i], n.Content[i+1] = nil, nil
		name := r.nameOf(info.keys, key)
		if name.Value == "" {
			continue
		}
		if at, again := first[name.Value]; again {
			rule, what := RuleDuplicateKey, "key"
			if info.keys == classValue {
				rule, what = RuleEnumDuplicate, "value"
			}
			r.report(rule, name.At, "keep one of them", "%s %q is written twice", what, name.Value).
				relatedf(at, "%q is first written here", name.Value)
			continue
		}
		first[name.Value] = name.At
		lower := strings.ToLower(name.Value)
		if other, clash := folded[lower]; clash {
			rule := RuleNameCaseCollision
			if info.keys == classValue {
				rule = RuleEnumDuplicate
			}
			r.report(rule, name.At, "rename one of them",
				"%q and %q differ only in upper and lower case", other.Value, name.Value).
				relatedf(other.At, "%q is here", other.Value)
		} else {
			folded[lower] = name
		}
		r.path, r.keyAt = append(r.path, name.Value), name.At
		read(name, value)
		r.path = r.path[:len(r.path)-1]
	}
}
