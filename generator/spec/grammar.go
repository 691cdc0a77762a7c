package spec

import (
	"slices"
	"strings"
)

// form is how a value is written.
type form uint8

const (
	formText form = iota
	formFlag
	formWhole  // a whole number
	formNumber // any number
	formScalar // text, number or true/false
	formAny    // whatever JSON can say
	formMapping
	formEntries // a mapping whose keys are names of the user
	formWords   // a text, a list of variations, or either of these by language
	formLiteral // text, number, true/false, or a list of these
	formLiteralOrNull
)

// keyInfo says everything about one key of a mapping. Reading, suggestions and the editor's schema share it.
type keyInfo struct {
	name, doc string
	form      form
	class     class    // of text, or of the items of a list
	values    []string // the only legal ones, where not empty
	keys      class    // of entries: what their names are
	of        *shape   // of mappings and entries
	list      bool     // a list of what the form says
	required  bool
}

// shape is one kind of mapping.
type shape struct {
	noun  string
	named bool    // the key in front of the mapping is its name
	short keyInfo // what may stand instead of the mapping; empty name: nothing
	keys  []keyInfo
	oneOf []string // at least one of these keys must be there
}

// key is one row of the grammar: what a key is, and where its value goes.
type key[T any] struct {
	keyInfo
	read func(r *reader, info *keyInfo, n *node, into *T)
}

// grammar is the table of one kind of mapping, for values of one Go type.
type grammar[T any] struct {
	*shape
	rows  []key[T]
	index map[string]int
	brief func(r *reader, n *node, into *T) // reads the short form
}

func newGrammar[T any](noun string, named bool, rows ...key[T]) *grammar[T] {
	g := &grammar[T]{shape: &shape{noun: noun, named: named}, rows: rows, index: make(map[string]int, len(rows))}
	for i := range rows {
		g.index[rows[i].name] = i
		g.keys = append(g.keys, rows[i].keyInfo)
	}
	return g
}

// orShort lets a scalar stand for the whole mapping.
func (g *grammar[T]) orShort(info keyInfo, read func(r *reader, n *node, into *T)) *grammar[T] {
	g.short, g.brief = info, read
	return g
}

// insertAfter adds a row that could not be made before its grammar was, since it holds more of the same.
func (g *grammar[T]) insertAfter(name string, row key[T]) {
	at := g.index[name] + 1
	g.rows, g.keys = slices.Insert(g.rows, at, row), slices.Insert(g.keys, at, row.keyInfo)
	for i := at; i < len(g.rows); i++ {
		g.index[g.rows[i].name] = i
	}
}

func (k key[T]) must() key[T] {
	k.required = true
	return k
}

// text is a key with one string.
func text[T any](name string, c class, doc string, at func(*T) *Text) key[T] {
	return key[T]{keyInfo{name: name, doc: doc, class: c}, func(r *reader, info *keyInfo, n *node, into *T) {
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
	return key[T]{keyInfo{name: name, doc: doc, class: c, list: true}, func(r *reader, info *keyInfo, n *node, into *T) {
		*at(into) = r.textsOf(info, n)
	}}
}

// flag is a key with true or false.
func flag[T any](name, doc string, at func(*T) *bool) key[T] {
	return key[T]{keyInfo{name: name, doc: doc, form: formFlag}, func(r *reader, info *keyInfo, n *node, into *T) {
		*at(into) = r.flagOf(info, n)
	}}
}

// number is a key with a number; f is formWhole or formNumber.
func number[T any](name string, f form, doc string, at func(*T) **Number) key[T] {
	return key[T]{keyInfo{name: name, doc: doc, form: f}, func(r *reader, info *keyInfo, n *node, into *T) {
		*at(into) = r.numberOf(info, n)
	}}
}

// mapping is a key with one mapping.
func mapping[T, U any](name, doc string, g *grammar[U], at func(*T, Span) *U) key[T] {
	return key[T]{keyInfo{name: name, doc: doc, form: formMapping, of: g.shape}, func(r *reader, info *keyInfo, n *node, into *T) {
		if n.Kind == mappingNode || g.brief != nil && n.Kind == scalarNode {
			readMapping(r, g, n, at(into, r.keyAt))
			return
		}
		r.wrongKind(info, n)
	}}
}

// entries is a key with a mapping from names to mappings; add makes room for one more.
func entries[T, U any](name string, keys class, doc string, g *grammar[U], add func(*T, Text) *U) key[T] {
	return key[T]{keyInfo{name: name, doc: doc, form: formEntries, keys: keys, of: g.shape}, func(r *reader, info *keyInfo, n *node, into *T) {
		r.eachEntry(info, n, func(name Text, value *node) { readMapping(r, g, value, add(into, name)) })
	}}
}

// readMapping reads the keys of one mapping into a value. Every key is looked at, whatever is wrong with the others.
func readMapping[T any](r *reader, g *grammar[T], n *node, into *T) {
	if g.brief != nil && n.Kind == scalarNode {
		g.brief(r, n, into)
		return
	}
	if n.Kind != mappingNode {
		r.wrongKind(&keyInfo{form: formMapping, of: g.shape}, n)
		return
	}
	var seen uint64
	at := r.keyAt
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		row, known := g.index[name.Value]
		if name.Kind != scalarNode || !known {
			r.unknownKey(g.shape, name)
			continue
		}
		if seen&(1<<row) != 0 {
			r.duplicateKey(name, firstKey(n, name.Value))
			continue
		}
		seen |= 1 << row
		r.path, r.keyAt = append(r.path, name.Value), r.span(name)
		g.rows[row].read(r, &g.keys[row], value, into)
		r.path = r.path[:len(r.path)-1]
	}
	for i := range g.keys {
		if g.keys[i].required && seen&(1<<i) == 0 {
			r.missingKey(g.shape, &g.keys[i], at)
		}
	}
	if !slices.ContainsFunc(g.oneOf, func(name string) bool { return seen&(1<<g.index[name]) != 0 }) && len(g.oneOf) > 0 {
		var hints []string
		for _, name := range g.oneOf {
			hints = append(hints, name+": "+g.keys[g.index[name]].doc)
		}
		r.report(RuleMissingKey, at, strings.Join(hints, " Or "), "%s has neither %s", r.where(g.shape), strings.Join(g.oneOf, " nor "))
	}
}

func (r *reader) missingKey(s *shape, k *keyInfo, at Span) {
	r.report(RuleMissingKey, at, k.name+": "+k.doc, "%s has no %q", r.where(s), k.name)
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
func (r *reader) where(s *shape) string {
	singular := map[string]string{"nodes": "node", "types": "type", "results": "result", "enums": "enum", "flows": "flow", "actions": "action", "validators": "validator"}
	switch {
	case s.named && len(r.path) > 0:
		return s.noun + " " + quoted(r.path[len(r.path)-1])
	case len(r.path) > 2 && singular[r.path[0]] != "":
		return s.noun + " of " + singular[r.path[0]] + " " + quoted(r.path[1])
	}
	return s.noun
}

func (r *reader) unknownKey(s *shape, n *node) {
	if n.Kind != scalarNode {
		r.report(RuleWrongKind, r.span(n), "", "a key in %s must be a word", r.where(s))
		return
	}
	if n.Tag == tagMerge {
		return // reported once already
	}
	names := make([]string, len(s.keys))
	for i := range s.keys {
		names[i] = s.keys[i].name
	}
	near := r.nearest(n.Value, names)
	if other := foreignKey(n.Value); other != "" && slices.Contains(names, other) {
		near = other
	}
	f := r.report(RuleUnknownKey, r.span(n), didYouMean(near), "unknown key %q in %s", n.Value, r.where(s))
	if near != "" {
		f.replace(near)
	} else {
		f.Hint = "known: " + strings.Join(names, ", ")
	}
}

// foreignKey translates a name that other tools use for the same thing.
func foreignKey(name string) string {
	switch name {
	case "description", "comment", "summary":
		return "doc"
	case "properties":
		return "fields"
	case "name", "title":
		return "display_name"
	case "nullable":
		return "optional"
	case "minimum", "maximum":
		return name[:3]
	case "minLength", "maxLength", "minItems", "maxItems":
		return name[:3] + "_" + strings.ToLower(name[3:])
	case "json_name":
		return "json"
	case "parent":
		return "escalates"
	case "agents", "routes":
		return "nodes"
	case "jump_to", "exit_to", "goto":
		return "next"
	case "on_confirm":
		return "on_yes"
	case "on_deny":
		return "on_no"
	case "on_correction", "on_modification":
		return "on_change"
	case "max_step_executions", "max_iterations":
		return "max_rounds"
	case "map_outputs":
		return "outputs"
	case "target":
		return "flow"
	case "evaluate":
		return "cases"
	case "validation_error_message":
		return "invalid_message"
	case "prompt":
		return "message"
	case "store_as":
		return "slot"
	case "max_retries", "retries":
		return "max_attempts"
	case "slots":
		return "values"
	case "id":
		return "step"
	}
	return ""
}

func (r *reader) duplicateKey(n, first *node) {
	r.report(RuleDuplicateKey, r.span(n), "keep one of them", "key %q is written twice", n.Value).
		relatedf(r.span(first), "%q is first written here", first.Value)
}

// eachEntry calls for every entry of a mapping whose keys are names, and lets go of each entry's nodes afterwards.
func (r *reader) eachEntry(info *keyInfo, n *node, read func(name Text, value *node)) {
	if n.Kind != mappingNode {
		r.wrongKind(info, n)
		return
	}
	first := make(map[string]Span, min(len(n.Content)/2, 16))
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
			r.report(rule, name.At, "rename one of them", "%q and %q differ only in upper and lower case", other.Value, name.Value).
				relatedf(other.At, "%q is here", other.Value)
		} else {
			folded[lower] = name
		}
		r.path, r.keyAt = append(r.path, name.Value), name.At
		read(name, value)
		r.path = r.path[:len(r.path)-1]
	}
}
