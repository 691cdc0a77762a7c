package spec

import (
	"cmp"
	"reflect"
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
// share it. How a value is read follows from the type of the Go field that it is stored in, see
// [reader.readKey].
type Key struct {
	Name, doc string
	Form      Form
	class     class    // of text, or of the items of a list
	values    []string // the only legal ones, where not empty
	keys      class    // of entries: what their names are
	Of        *Shape   // of mappings and entries
	List      bool     // a list of what the form says
	required  bool
	orNull    bool // of a short form: null is legal, and says nothing

	field string // the Go field, if it is not named as the key is: GoName, for go_name
	index []int  // of the Go field; none: the struct itself
	// reads what has no field of its own; nil for the others
	read func(r *reader, info *Key, n *node, into any)
}

// Shape is one kind of mapping, which is read into one kind of struct.
type Shape struct {
	Noun  string
	named bool // the key in front of the mapping is its name
	Short Key  // the short form of the mapping; an empty name: none
	Keys  []Key
	oneOf []string // at least one of these keys must be there
	into  reflect.Type
	index map[string]int // of Keys, by name
}

// newShape is the shape of mappings that are read into a T.
func newShape[T any](noun string, keys ...Key) *Shape {
	s := &Shape{Noun: noun, Keys: keys, into: reflect.TypeFor[T](),
		index: make(map[string]int, len(keys))}
	for i := range keys {
		s.index[keys[i].Name] = i
		s.bind(&keys[i])
	}
	return s
}

// bind finds the Go field of a key.
func (s *Shape) bind(k *Key) {
	name := cmp.Or(k.field, GoName(k.Name))
	if field, found := s.into.FieldByName(name); found && k.read == nil && name != sameStruct {
		k.index = field.Index
	}
}

// orShort lets a single value replace the whole mapping.
func (s *Shape) orShort(k Key) *Shape {
	s.bind(&k)
	s.Short = k
	return s
}

// sameStruct says that the keys of an inner mapping are fields of the struct around it.
const sameStruct = "."

// into names the Go field of a key where the key does not.
func (k Key) into(field string) Key {
	k.field = field
	return k
}

func (k Key) must() Key {
	k.required = true
	return k
}

// readBy is a key that a function of its own reads.
func readBy[T any](k Key, read func(r *reader, info *Key, n *node, into *T)) Key {
	k.read = func(r *reader, info *Key, n *node, into any) {
		if to, ok := into.(*T); ok { // as its shape says
			read(r, info, n, to)
		}
	}
	return k
}

// text is a key with one string.
func text(name string, c class, doc string) Key { return Key{Name: name, doc: doc, class: c} }

// oneOf is a key with one of a few words. In a bool the only word is true.
func oneOf(name, doc string, values ...string) Key {
	return Key{Name: name, doc: doc, values: values}
}

// texts is a key with a list of strings.
func texts(name string, c class, doc string) Key {
	return Key{Name: name, doc: doc, class: c, List: true}
}

// flag is a key with true or false.
func flag(name, doc string) Key { return Key{Name: name, doc: doc, Form: formFlag} }

// number is a key with a number; f is formWhole or formNumber.
func number(name string, f Form, doc string) Key { return Key{Name: name, doc: doc, Form: f} }

// mapping is a key with one mapping.
func mapping(name, doc string, of *Shape) Key {
	return Key{Name: name, doc: doc, Form: FormMapping, Of: of}
}

// mappings is a key with a list of mappings.
func mappings(name, doc string, of *Shape) Key {
	return Key{Name: name, doc: doc, Form: FormMapping, Of: of, List: true}
}

// entries is a key with a mapping from names to mappings, or to values of a short form alone.
func entries(name string, keys class, doc string, of *Shape) Key {
	of.named = true
	return Key{Name: name, doc: doc, Form: FormEntries, keys: keys, Of: of}
}

// pairs is a key with a mapping from names to texts.
func pairs[T any](name string, keys class, doc string, add func(into *T, left, right Text)) Key {
	return readBy(Key{Name: name, doc: doc, Form: FormEntries, keys: keys,
		Of: &Shape{Short: Key{Name: "text"}}}, func(r *reader, info *Key, n *node, into *T) {
		r.eachEntry(info, n, func(left Text, value *node) {
			if right := r.textOf(&Key{}, value); right.Set() {
				add(into, left, right)
			}
		})
	})
}

// readMapping reads the keys of one mapping into a struct. Every key is read, even if others are
// wrong.
func (r *reader) readMapping(s *Shape, n *node, into any) {
	if s.Short.Name != "" && (n.Kind == ScalarNode || len(s.Keys) == 0) {
		r.readKey(&s.Short, n, into)
		return
	}
	if n.Kind != MappingNode {
		r.wrongKind(&Key{Form: FormMapping, Of: s}, n)
		return
	}
	var seen uint64
	var strange []strangeKey
	at := r.keyAt
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		row, known := s.index[name.Value]
		if name.Kind != ScalarNode || !known {
			strange = append(strange, r.unknownKey(s, name, value))
			continue
		}
		if seen&(1<<row) != 0 {
			r.duplicateKey(name, firstKey(n, name.Value))
			continue
		}
		seen |= 1 << row
		r.path, r.keyAt = append(r.path, name.Value), r.span(name)
		r.readKey(&s.Keys[row], value, into)
		r.path = r.path[:len(r.path)-1]
	}
	for _, k := range strange {
		if k.row < 0 {
			return // any key that is missing may be the one that was meant
		}
		if seen&(1<<k.row) == 0 {
			seen |= 1 << k.row
			r.readStrange(&s.Keys[k.row], k, into)
		}
	}
	for i := range s.Keys {
		if s.Keys[i].required && seen&(1<<i) == 0 {
			r.missingKey(s, &s.Keys[i], at)
		}
	}
	if !slices.ContainsFunc(s.oneOf, func(name string) bool {
		return seen&(1<<s.index[name]) != 0
	}) && len(s.oneOf) > 0 {
		var hints []string
		for _, name := range s.oneOf {
			hints = append(hints, name+": "+s.Key(name).doc)
		}
		r.report(RuleMissingKey, at, strings.Join(hints, " Or "), "%s has neither %s",
			r.where(s), strings.Join(s.oneOf, " nor "))
	}
}

// readKey reads a value into the field of its key, as the type of the field says.
func (r *reader) readKey(k *Key, n *node, into any) {
	switch {
	case k.read != nil:
		k.read(r, k, n, into)
		return
	case k.orNull && n.Tag == TagNull:
		return
	}
	field := reflect.ValueOf(into).Elem().FieldByIndex(k.index)
	switch to := field.Addr().Interface().(type) {
	case *Text:
		if k.Form == FormAny {
			*to = r.jsonOf(k, n)
		} else {
			*to = r.textOf(k, n)
		}
	case *[]Text:
		*to = r.textsOf(k, n)
	case *bool:
		if len(k.values) > 0 {
			*to = r.textOf(k, n).Value == k.values[0]
		} else {
			*to = r.flagOf(k, n)
		}
	case **bool:
		yes := r.flagOf(k, n)
		*to = &yes
	case **Number:
		*to = r.numberOf(k, n)
	case *Number:
		if v := r.numberOf(k, n); v != nil {
			*to = *v
		}
	case **Scalar:
		*to = r.scalarOf(k, n)
	case *[]Scalar:
		*to = r.scalarsOf(k, n)
	case **TypeExpr:
		if t := r.textOf(k, n); t.Set() {
			*to = r.parseType(t, n)
		}
	case **Expr:
		if t := r.textOf(k, n); t.Set() {
			*to = r.parseExpr(t, n)
		}
	case *Words:
		*to = r.wordsOf(k, n)
	case *[]*Bind:
		*to = append(*to, r.bindsOf(k, n)...)
	case *[]*Step:
		*to = r.stepsOf(k, n)
	default:
		r.readStructs(k, n, field)
	}
}

// readStructs reads a mapping into a struct, or a list or a mapping of them into a slice.
func (r *reader) readStructs(k *Key, n *node, field reflect.Value) {
	switch {
	case k.Form == FormEntries:
		r.eachEntry(k, n, func(name Text, value *node) {
			member := reflect.New(k.Of.into)
			member.Elem().FieldByName("Key").Set(reflect.ValueOf(name))
			field.Set(reflect.Append(field, member))
			r.readMapping(k.Of, value, member.Interface())
		})
	case k.List:
		r.eachItem(k, n, func(item *node) {
			member := r.newStruct(k.Of)
			field.Set(reflect.Append(field, member))
			r.readMapping(k.Of, item, member.Interface())
		})
	case n.Kind != MappingNode && (n.Kind != ScalarNode || k.Of.Short.Name == ""):
		r.wrongKind(k, n)
	case field.Kind() == reflect.Pointer:
		field.Set(r.newStruct(k.Of))
		r.readMapping(k.Of, n, field.Interface())
	default:
		r.readMapping(k.Of, n, field.Addr().Interface())
	}
}

// newStruct makes a struct for a shape. If it keeps a place, it is that of the key being read.
func (r *reader) newStruct(s *Shape) reflect.Value {
	made := reflect.New(s.into)
	if at := made.Elem().FieldByName("At"); at.IsValid() {
		at.Set(reflect.ValueOf(r.keyAt))
	}
	return made
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

// strangeKey is a key that its mapping does not have. Row is that of the key which was most likely
// meant, below zero for none.
type strangeKey struct {
	name, value *node
	row         int
	translated  bool // it is what other tools call the key
}

// readStrange reads a value as that of the key which was meant, so that nothing else is wrong for
// the sake of its name. How other tools write the value is not looked into.
func (r *reader) readStrange(k *Key, as strangeKey, into any) {
	before := len(r.findings)
	r.path, r.keyAt = append(r.path, k.Name), r.span(as.name)
	r.readKey(k, as.value, into)
	r.path = r.path[:len(r.path)-1]
	if as.translated {
		r.findings = r.findings[:before]
	}
}

// unknownKey reports a key that its mapping does not have.
func (r *reader) unknownKey(s *Shape, n, value *node) strangeKey {
	none := strangeKey{row: -1}
	if n.Kind != ScalarNode {
		r.report(RuleWrongKind, r.span(n), "", "a key in %s must be a word", r.where(s))
		return none
	}
	if n.Tag == tagMerge {
		return none // reported once already
	}
	names := make([]string, len(s.Keys))
	for i := range s.Keys {
		names[i] = s.Keys[i].Name
	}
	near := r.nearest(n.Value, names)
	other := keyOfOtherTool(n.Value)
	translated := other != "" && slices.Contains(names, other)
	if translated {
		near = other
	}
	f := r.report(RuleUnknownKey, r.span(n), didYouMean(near), "unknown key %q in %s", n.Value,
		r.where(s))
	if near == "" {
		f.Hint = "known: " + strings.Join(names, ", ")
		return none
	}
	f.replace(near)
	return strangeKey{n, value, s.index[near], translated}
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
		if name.Value == "" && key.Kind == ScalarNode && info.keys != classValue &&
			value.Kind == MappingNode {
			// reported; what it names is read all the same
			name = Text{Value: key.Value, At: r.span(key)}
		}
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
