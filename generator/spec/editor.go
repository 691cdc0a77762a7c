package spec

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/invopop/jsonschema"
)

// EditorSchema returns the JSON Schema of routes.yaml for editors, indented, with a newline at its end. It says what the grammar
// says, key by key; what spans several keys is left to Parse.
func EditorSchema() []byte {
	e := &editor{defs: jsonschema.Definitions{}}
	root := e.object(language().shape)
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

func (e *editor) object(s *shape) *jsonschema.Schema {
	object := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
	for i := range s.keys {
		k := &s.keys[i]
		value := e.value(k)
		value.Description = k.doc
		object.Properties.Set(k.name, value)
		if k.required {
			object.Required = append(object.Required, k.name)
		}
	}
	for _, name := range s.oneOf {
		object.AnyOf = append(object.AnyOf, &jsonschema.Schema{Required: []string{name}})
	}
	return object
}

// reference points to the definition of a shape and makes it when it is new.
func (e *editor) reference(s *shape) *jsonschema.Schema {
	name := s.noun
	if _, ok := e.defs[name]; !ok {
		e.defs[name] = nil // a shape may hold itself
		e.defs[name] = e.object(s)
		if s.short.name != "" {
			short := e.short(s)
			e.defs[name] = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{short, e.defs[name]}}
		}
	}
	return &jsonschema.Schema{Ref: "#/$defs/" + pointerEscape(name)}
}

// short is what may stand instead of a mapping.
func (e *editor) short(s *shape) *jsonschema.Schema {
	k := s.short
	switch s.noun {
	case "enum value": // or nothing: a value without a doc
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{e.value(&k), {Type: "null"}}}
	case "tool":
		k.class = classTool
	}
	return e.value(&k)
}

// linePattern is one line with something on it.
const linePattern = `^[^\n]*\S[^\n]*$`

func (e *editor) value(k *keyInfo) *jsonschema.Schema {
	if k.list {
		item := *k
		item.list = false
		return &jsonschema.Schema{Type: "array", Items: e.value(&item)}
	}
	switch k.form {
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
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}, {Type: "null"}}}
	case formAny:
		return &jsonschema.Schema{}
	case formMapping:
		return e.reference(k.of)
	case formEntries:
		entry := e.value(&k.of.short)
		if k.of.noun != "" {
			entry = e.reference(k.of)
		}
		return entriesOf(k.keys, entry)
	case formWords:
		some := &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "array", Items: &jsonschema.Schema{Type: "string"}}}}
		return &jsonschema.Schema{AnyOf: append(slices.Clone(some.AnyOf), entriesOf(classLanguage, some))}
	case formLiteral, formLiteralOrNull:
		one := []*jsonschema.Schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}}
		some := append(slices.Clone(one), &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{AnyOf: one}})
		if k.form == formLiteralOrNull {
			some = append(some, &jsonschema.Schema{Type: "null"})
		}
		return &jsonschema.Schema{AnyOf: some}
	case formText:
	}
	text := &jsonschema.Schema{Type: "string", Pattern: k.class.regexp()}
	if k.class == classLine {
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
