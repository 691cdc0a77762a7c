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

// typeSchemas keeps the schemas of the types that were asked for: json.RawMessage by reflect.Type.
var typeSchemas sync.Map

// composed is the schema of a type that is not a plain scalar: what encoding/json reads into it, and
// writes of it. nil means that every answer is as good as another.
func composed(t reflect.Type) json.RawMessage {
	if had, ok := typeSchemas.Load(t); ok {
		return had.(json.RawMessage) //nolint:forcetypeassert // nothing else is kept
	}
	w := &schemaWriter{refs: map[reflect.Type]string{t: "#"}, defs: map[string]any{}}
	var out json.RawMessage
	switch root := w.write(t, true).(type) {
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

type object = map[string]any

// write returns the schema of a type; true means that it says nothing.
func (w *schemaWriter) write(t reflect.Type, root bool) any {
	into := reflect.PointerTo(t)
	switch {
	case t == timeType:
		return object{"type": "string", "format": "date-time", "pattern": timePattern}
	case t == numberType:
		return object{"type": "number"}
	case into.Implements(recordType):
		return record(reflect.New(t).Interface().(runtime.Record)) //nolint:forcetypeassert // it implements it
	case into.Implements(jsonType):
		return true
	case into.Implements(textType):
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return orNone(w.write(t.Elem(), false))
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 && t.Elem().PkgPath() == "" {
			return orNone(object{"type": "string", "contentEncoding": "base64", "pattern": base64Text})
		}
		return orNone(object{"type": "array", "items": w.write(t.Elem(), false)})
	case reflect.Array:
		return object{"type": "array", "items": w.write(t.Elem(), false), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Map:
		out := object{"type": "object", "additionalProperties": w.write(t.Elem(), false)}
		if k := t.Key(); k.Kind() != reflect.String && !reflect.PointerTo(k).Implements(textType) {
			out["propertyNames"] = object{"pattern": `^-?\d{1,18}$`}
		}
		return orNone(out)
	case reflect.Struct:
		return w.named(t, root)
	default:
		if scalar := scalarSchema(t); scalar != nil {
			return scalar
		}
		return true
	}
}

// named returns the schema of a struct, or a reference to it where it has a name and is not the root.
func (w *schemaWriter) named(t reflect.Type, root bool) any {
	switch {
	case root || t.Name() == "":
		return w.object(t)
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
		w.refs[t], w.defs[name] = "#/$defs/"+name, true // the place is taken: it may hold itself
		w.defs[name] = w.object(t)
	}
	return object{"$ref": w.refs[t]}
}

// object is a closed object: a name that is not a field's would be dropped in silence. A field is
// required unless it has omitempty or omitzero, or a type that null is a value of.
func (w *schemaWriter) object(t reflect.Type) object {
	properties, required := object{}, []string{}
	for _, m := range members(t) {
		var schema any = true
		if !m.quoted {
			schema = w.write(m.of, false)
		}
		properties[m.name] = schema
		if !m.optional && !nullable(schema) {
			required = append(required, m.name)
		}
	}
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// record says of a generated record which fields it has and needs: the rest is in its own schema.
func record(v runtime.Record) object {
	properties, required, shape := object{}, []string{}, v.Shape()
	for i := range shape.Fields {
		f := &shape.Fields[i]
		if properties[f.Name] = true; f.Required {
			required = append(required, f.Name)
		}
	}
	out := object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	if shape.Union {
		out["minProperties"], out["maxProperties"] = 1, 1
	}
	return out
}

func orNone(schema any) any {
	if schema == true {
		return true
	}
	return object{"anyOf": []any{schema, object{"type": "null"}}}
}

func nullable(schema any) bool {
	o, ok := schema.(object)
	return schema == true || ok && o["anyOf"] != nil
}

// member is a field as encoding/json sees it.
type member struct {
	name     string
	of       reflect.Type
	tagged   bool
	optional bool
	quoted   bool // its value stands in a string
}

// members are the fields of a struct and those that it has from embedded ones, by the rules of
// encoding/json: the one nearest to the struct counts, of several as near that with a tag, or none.
func members(t reflect.Type) []member {
	var out []member
	taken, seen := map[string]bool{}, map[reflect.Type]bool{t: true}
	for level := []reflect.Type{t}; len(level) > 0; {
		var found []member
		var next []reflect.Type
		for _, t := range level {
			for f := range t.Fields() {
				m, inner := memberOf(f)
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
			rivals := slices.DeleteFunc(slices.Clone(found), func(o member) bool { return o.name != m.name })
			if tagged := slices.DeleteFunc(slices.Clone(rivals), func(o member) bool { return !o.tagged }); len(tagged) > 0 {
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

// memberOf returns what a field is in JSON, or the struct whose fields stand in its place, or neither.
func memberOf(f reflect.StructField) (m *member, inner reflect.Type) {
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
	m = &member{name: name, of: f.Type, tagged: name != ""}
	if name == "" {
		m.name = f.Name
	}
	m.optional = slices.Contains(options, "omitempty") || slices.Contains(options, "omitzero")
	m.quoted = slices.Contains(options, "string")
	return m, nil
}
