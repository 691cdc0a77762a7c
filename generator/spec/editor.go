package spec

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/invopop/jsonschema"
)

// EditorSchema returns the JSON Schema of routes.yaml for editors, indented, with a newline at its
// end. It has the rules of the grammar, key by key; Parse checks rules over several keys. It is for
// included files, too: those are told by the missing version.
func EditorSchema() []byte {
	e := &editor{defs: jsonschema.Definitions{}}
	root := e.object(language())
	// A file without a version is included by another one: nothing else is required there.
	main := &jsonschema.Schema{Required: root.Required,
		AnyOf: append(root.AnyOf, &jsonschema.Schema{Required: []string{includeKey}})}
	root.If, root.Then = &jsonschema.Schema{Required: []string{"version"}}, main
	root.Required, root.AnyOf = nil, nil
	root.DependentRequired = map[string][]string{"go": {"version"}}
	root.Version, root.Title, root.Definitions = jsonschema.Version, "routes.yaml", e.defs
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		return nil // the schema is made of strings and maps of them alone
	}
	return b.Bytes()
}

// editor turns shapes into definitions; each shape once.
type editor struct{ defs jsonschema.Definitions }

func (e *editor) object(s *Shape) *jsonschema.Schema {
	object := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(),
		AdditionalProperties: jsonschema.FalseSchema}
	for i := range s.Keys {
		k := &s.Keys[i]
		value := e.value(k)
		value.Description = k.doc
		object.Properties.Set(k.Name, value)
		if k.required {
			object.Required = append(object.Required, k.Name)
		}
	}
	for _, name := range s.oneOf {
		object.AnyOf = append(object.AnyOf, &jsonschema.Schema{Required: []string{name}})
	}
	return object
}

// reference points to the definition of a shape and makes it when it is new.
func (e *editor) reference(s *Shape) *jsonschema.Schema {
	name := s.Noun
	if _, ok := e.defs[name]; !ok {
		e.defs[name] = nil // a shape may hold itself
		e.defs[name] = e.object(s)
		if s.Short.Name != "" {
			short := e.value(&s.Short)
			if s.Short.orNull {
				short = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{short, {Type: "null"}}}
			}
			e.defs[name] = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{short, e.defs[name]}}
		}
	}
	return &jsonschema.Schema{Ref: "#/$defs/" + pointerEscape(name)}
}

// linePattern is one line with something on it.
const linePattern = `^[^\n]*\S[^\n]*$`

func (e *editor) value(k *Key) *jsonschema.Schema {
	if k.List {
		item := *k
		item.List = false
		return &jsonschema.Schema{Type: "array", Items: e.value(&item)}
	}
	switch k.Form {
	case formFlag:
		return &jsonschema.Schema{Type: "boolean"}
	case formWhole:
		if len(k.values) > 0 {
			return &jsonschema.Schema{Type: "integer", Enum: []any{json.Number(k.values[0])}}
		}
		return &jsonschema.Schema{Type: "integer"}
	case formNumber:
		return &jsonschema.Schema{Type: "number"}
	case formScalar:
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"},
			{Type: "boolean"}, {Type: "null"}}}
	case FormAny:
		return &jsonschema.Schema{}
	case FormMapping:
		return e.reference(k.Of)
	case FormEntries:
		entry := e.value(&k.Of.Short)
		if k.Of.Noun != "" {
			entry = e.reference(k.Of)
		}
		return entriesOf(k.keys, entry)
	case FormWords:
		some := &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"},
			{Type: "array", Items: &jsonschema.Schema{Type: "string"}}}}
		return &jsonschema.Schema{AnyOf: append(slices.Clone(some.AnyOf),
			entriesOf(classLanguage, some))}
	case formLiteral, formLiteralOrNull:
		one := []*jsonschema.Schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}}
		some := append(slices.Clone(one),
			&jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{AnyOf: one}})
		if k.Form == formLiteralOrNull {
			some = append(some, &jsonschema.Schema{Type: "null"})
		}
		return &jsonschema.Schema{AnyOf: some}
	case FormText:
	}
	text := &jsonschema.Schema{Type: "string", Pattern: k.class.regexp()}
	if k.class == classLine || k.class == classAssignee {
		text.Pattern = linePattern
	}
	for _, v := range k.values {
		text.Enum = append(text.Enum, v)
	}
	return text
}

// entriesOf is a mapping from names of a class to values of a schema.
func entriesOf(keys class, value *jsonschema.Schema) *jsonschema.Schema {
	entries := &jsonschema.Schema{Type: "object", AdditionalProperties: value}
	if pattern := keys.regexp(); pattern != "" {
		entries.PropertyNames = &jsonschema.Schema{Pattern: pattern}
	}
	return entries
}
