package thread

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/routegen/routegen/runtime"
)

// typeSchemas caches the schemas of types: json.RawMessage by reflect.Type.
var typeSchemas sync.Map

// compositeSchema returns the schema of a type that is not a plain scalar: of what encoding/json
// reads into it and writes from it. nil means that any answer is valid.
func compositeSchema(t reflect.Type) json.RawMessage {
	if had, ok := typeSchemas.Load(t); ok {
		return had.(json.RawMessage) //nolint:forcetypeassert // nothing else is kept
	}
	w := &schemaWriter{refs: map[reflect.Type]string{t: "#"}, defs: map[string]any{}}
	var out json.RawMessage
	switch root := w.writeSchema(t, true).(type) {
	case json.RawMessage:
		out = root
	case map[string]any:
		if len(w.defs) > 0 {
			root["$defs"] = w.defs
		}
		out, _ = runtime.Encode(root) // cannot fail: texts, numbers and maps
	}
	typeSchemas.Store(t, out)
	return out
}

// schemaWriter writes the schema of a type. Every struct type with a name is written once.
type schemaWriter struct {
	refs map[reflect.Type]string
	defs map[string]any
}

var (
	timeType   = reflect.TypeFor[time.Time]()
	numberType = reflect.TypeFor[json.Number]()
	recordType = reflect.TypeFor[runtime.Record]()
	jsonType   = reflect.TypeFor[json.Unmarshaler]()
	textType   = reflect.TypeFor[encoding.TextUnmarshaler]()
)

const (
	timePattern = `^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`
	base64Text  = `^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`
)

type jsonObject = map[string]any

// writeSchema returns the schema of a type; true is the schema that accepts anything.
func (w *schemaWriter) writeSchema(t reflect.Type, root bool) any {
	into := reflect.PointerTo(t)
	switch {
	case t == timeType:
		return jsonObject{"type": "string", "format": "date-time", "pattern": timePattern}
	case t == numberType:
		return jsonObject{"type": "number"}
	case into.Implements(recordType):
		//nolint:forcetypeassert // it implements it
		return recordSchema(reflect.New(t).Interface().(runtime.Record))
	case into.Implements(jsonType):
		return true
	case into.Implements(textType):
		return jsonObject{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return orNull(w.writeSchema(t.Elem(), false))
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 && t.Elem().PkgPath() == "" {
			return orNull(jsonObject{"type": "string", "contentEncoding": "base64",
				"pattern": base64Text})
		}
		return orNull(jsonObject{"type": "array", "items": w.writeSchema(t.Elem(), false)})
	case reflect.Array:
		return jsonObject{"type": "array", "items": w.writeSchema(t.Elem(), false),
			"minItems": t.Len(),
			"maxItems": t.Len()}
	case reflect.Map:
		out := jsonObject{"type": "object", "additionalProperties": w.writeSchema(t.Elem(), false)}
		if k := t.Key(); k.Kind() != reflect.String && !reflect.PointerTo(k).Implements(textType) {
			out["propertyNames"] = jsonObject{"pattern": `^-?\d{1,18}$`}
		}
		return orNull(out)
	case reflect.Struct:
		return w.namedSchema(t, root)
	default:
		if scalar := scalarSchema(t); scalar != nil {
			return scalar
		}
		return true
	}
}

// namedSchema returns the schema of a struct, or a reference to it where it has a name and is not
// the root.
func (w *schemaWriter) namedSchema(t reflect.Type, root bool) any {
	switch {
	case root || t.Name() == "":
		return w.structObject(t)
	case w.refs[t] == "":
		plain := strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return '_'
		}, t.Name())
		name := plain
		for n := 2; w.defs[name] != nil; n++ {
			name = plain + strconv.Itoa(n)
		}
		w.refs[t], w.defs[name] = "#/$defs/"+name, true // first: the type may contain itself
		w.defs[name] = w.structObject(t)
	}
	return jsonObject{"$ref": w.refs[t]}
}

// structObject returns the schema of a closed object, since a name that is not a field's would be
// ignored silently. A field is required unless it has omitempty or omitzero, or a type that null is
// a value of.
func (w *schemaWriter) structObject(t reflect.Type) jsonObject {
	properties, required := jsonObject{}, []string{}
	for _, m := range jsonFields(t) {
		var schema any = true
		if !m.quoted {
			schema = w.writeSchema(m.of, false)
		}
		properties[m.name] = schema
		if !m.optional && !nullable(schema) {
			required = append(required, m.name)
		}
	}
	return jsonObject{"type": "object", "properties": properties, "required": required,
		"additionalProperties": false}
}

// recordSchema returns the schema of a generated record with its fields and the required ones only;
// the rest is in its own schema.
func recordSchema(v runtime.Record) jsonObject {
	properties, required, shape := jsonObject{}, []string{}, v.Shape()
	for i := range shape.Fields {
		f := &shape.Fields[i]
		if properties[f.Name] = true; f.Required {
			required = append(required, f.Name)
		}
	}
	out := jsonObject{"type": "object", "properties": properties, "required": required,
		"additionalProperties": false}
	if shape.Kind == runtime.ShapeUnion {
		out["minProperties"], out["maxProperties"] = 1, 1
	}
	return out
}

func orNull(schema any) any {
	if schema == true {
		return true
	}
	return jsonObject{"anyOf": []any{schema, jsonObject{"type": "null"}}}
}

func nullable(schema any) bool {
	o, ok := schema.(jsonObject)
	return schema == true || ok && o["anyOf"] != nil
}

// jsonField is a field as encoding/json sees it.
type jsonField struct {
	name     string
	of       reflect.Type
	tagged   bool
	optional bool
	quoted   bool // its value stands in a string
}

// jsonFields are the fields of a struct and those that it has from embedded ones, by the rules of
// encoding/json: the one nearest to the struct counts, of several as near that with a tag, or none.
func jsonFields(t reflect.Type) []jsonField {
	var out []jsonField
	taken, seen := map[string]bool{}, map[reflect.Type]bool{t: true}
	for level := []reflect.Type{t}; len(level) > 0; {
		var found []jsonField
		var next []reflect.Type
		for _, t := range level {
			for f := range t.Fields() {
				m, inner := jsonFieldOf(f)
				if m != nil {
					found = append(found, *m)
				} else if inner != nil && !seen[inner] {
					next = append(next, inner)
				}
			}
		}
		for _, t := range next {
			seen[t] = true
		}
		for _, m := range found {
			if taken[m.name] {
				continue
			}
			taken[m.name] = true
			rivals := slices.DeleteFunc(slices.Clone(found), func(o jsonField) bool {
				return o.name != m.name
			})
			if tagged := slices.DeleteFunc(slices.Clone(rivals), func(o jsonField) bool {
				return !o.tagged
			}); len(tagged) > 0 {
				rivals = tagged
			}
			if len(rivals) == 1 {
				out = append(out, rivals[0])
			}
		}
		level = next
	}
	return out
}

// jsonFieldOf returns what a field is in JSON, or the struct whose fields stand in its place, or
// neither.
func jsonFieldOf(f reflect.StructField) (m *jsonField, inner reflect.Type) {
	tag := f.Tag.Get("json")
	name, rest, _ := strings.Cut(tag, ",")
	options := strings.Split(rest, ",")
	if inner = f.Type; f.Anonymous && inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	embeds := f.Anonymous && inner.Kind() == reflect.Struct
	switch {
	case tag == "-" || !f.IsExported() && !embeds:
		return nil, nil
	case embeds && name == "":
		return nil, inner
	}
	m = &jsonField{name: name, of: f.Type, tagged: name != ""}
	if name == "" {
		m.name = f.Name
	}
	m.optional = slices.Contains(options, "omitempty") || slices.Contains(options, "omitzero")
	m.quoted = slices.Contains(options, "string")
	return m, nil
}
