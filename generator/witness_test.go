package generator_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/schema"
)

// recordTypes lists every struct of the generated package that is reached from a request, an
// interrupt, a result, a routing or the answer, by type name.
var recordTypes = sync.OnceValue(func() map[string]reflect.Type {
	found := map[string]reflect.Type{}
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		if k := t.Kind(); k == reflect.Pointer || k == reflect.Slice || k == reflect.Map {
			walk(t.Elem())
			return
		}
		if t.Kind() != reflect.Struct ||
			!reflect.PointerTo(t).Implements(reflect.TypeFor[runtime.Record]()) ||
			found[t.Name()] != nil {
			return
		}
		found[t.Name()] = t
		for f := range t.Fields() {
			walk(f.Type)
		}
	}
	for _, row := range program.Tables.Requests {
		walk(reflect.TypeOf(program.Request(row.Name)))
	}
	for _, row := range program.Tables.Interrupts {
		walk(reflect.TypeOf(program.Interrupt(row.Name)))
	}
	for _, row := range program.Tables.Routings {
		walk(reflect.TypeOf(program.Routing(row.Name)))
	}
	walk(reflect.TypeFor[routes.InterruptResolution]())
	return found
})

// fresh returns a new value of a record type.
func fresh(t reflect.Type) runtime.Record { return reflect.New(t).Interface().(runtime.Record) }

// hiddenValues are the enum values that no model may see, as the design has them.
var hiddenValues = []string{"BRANCH", "PRUNE"}

// enumValues reads the constants of the generated package as text, by type: what Go code has, not
// what the tables say.
var enumValues = sync.OnceValue(func() map[string][]string {
	file, err := parser.ParseFile(token.NewFileSet(), "../generated/routes/agent_types_gen.go", nil,
		parser.SkipObjectResolution)
	if err != nil {
		panic(err)
	}
	values := map[string][]string{}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			name, typed := v.Type.(*ast.Ident)
			if !typed || len(v.Values) != 1 {
				continue
			}
			if lit, ok := v.Values[0].(*ast.BasicLit); ok && name.Name != "Action" {
				text, _ := strconv.Unquote(lit.Value)
				values[name.Name] = append(values[name.Name], text)
			}
		}
	}
	return values
})

// reflector is the second witness: it knows Go types and tags, and nothing of the spec.
func reflector() *jsonschema.Reflector {
	return &jsonschema.Reflector{Anonymous: true, Mapper: func(t reflect.Type) *jsonschema.Schema {
		switch t {
		case reflect.TypeFor[runtime.Duration]():
			return &jsonschema.Schema{Type: "string"}
		case reflect.TypeFor[json.RawMessage]():
			return &jsonschema.Schema{Description: "any"}
		}
		values, isEnum := enumValues()[t.Name()]
		if !isEnum {
			return nil
		}
		s := &jsonschema.Schema{Type: "string"}
		for _, v := range values {
			if !slices.Contains(hiddenValues, v) {
				s.Enum = append(s.Enum, v)
			}
		}
		return s
	}}
}

// definitions are schemas by name, reduced to what both witnesses can know.
type definitions map[string]any

// Not known to Go types, so left out of the comparison: texts, constraints and defaults of the
// spec, the rule that exactly one branch of a routing is set, and the mark of a generated file.
// $defs is compared apart.
var unknownToGo = []string{"description", "pattern", "minLength", "maxLength", "minimum", "maximum",
	"minItems", "maxItems", "default", "examples",
	"minProperties", "maxProperties", "$schema", "$defs", "$comment"}

// property keeps the order of properties, which maps would lose.
type property struct {
	Name  string
	Value any
}

// reduced turns a schema into plain values that compare, properties in order.
func reduced(v *schema.Value) any {
	switch v.Kind {
	case schema.String, schema.Literal:
	case schema.Object:
		out := map[string]any{}
		for _, m := range v.Members {
			switch {
			case slices.Contains(unknownToGo, m.Key):
			case m.Key == "properties":
				properties := []property{}
				for _, p := range m.Value.Members {
					properties = append(properties, property{p.Key, reduced(p.Value)})
				}
				out[m.Key] = properties
			case m.Key == "required" && len(m.Value.Members) == 0:
			default:
				out[m.Key] = reduced(m.Value)
			}
		}
		return out
	case schema.Array:
		out := []any{}
		for _, m := range v.Members {
			out = append(out, reduced(m.Value))
		}
		return out
	}
	return v.Text
}

// reflected is what the reflector says of a type and all it reaches, hidden fields dropped.
func reflected(t *testing.T, of reflect.Type) definitions {
	t.Helper()
	text, err := json.Marshal(reflector().ReflectFromType(of))
	require.NoError(t, err)
	root, err := schema.Parse(text)
	require.NoError(t, err)
	defs := definitions{}
	for _, m := range root.Get("$defs").Members {
		def := reduced(m.Value).(map[string]any)
		shape := fresh(recordTypes()[m.Key]).Shape()
		for _, f := range shape.Fields {
			if f.Hidden {
				def["properties"] = slices.DeleteFunc(def["properties"].([]property),
					func(p property) bool { return p.Name == f.Name })
				def["required"] = slices.DeleteFunc(list(def["required"]), func(v any) bool {
					return v == f.Name
				})
			}
		}
		if len(list(def["required"])) == 0 {
			delete(def, "required")
		}
		defs[m.Key] = def
	}
	return defs
}

// reachedFrom keeps the definitions that a root still reaches.
func (all definitions) reachedFrom(root any) definitions {
	kept := definitions{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				name := strings.TrimPrefix(ref, "#/$defs/")
				if _, again := kept[name]; !again {
					kept[name] = all[name]
					walk(all[name])
				}
			}
			for _, key := range slices.Sorted(maps.Keys(v)) {
				walk(v[key])
			}
		case []property:
			for _, p := range v {
				walk(p.Value)
			}
		}
	}
	walk(root)
	return kept
}

// document writes a root and the definitions it reaches as a text that compares.
func (all definitions) document(t *testing.T, root any) string {
	t.Helper()
	return written(t, root, all.reachedFrom(root))
}

func written(t *testing.T, root any, defs definitions) string {
	t.Helper()
	text, err := json.MarshalIndent(map[string]any{"root": root, "defs": defs}, "", " ")
	require.NoError(t, err)
	return string(text)
}

// emitted is a schema that routegen wrote, reduced the same way.
func emitted(t *testing.T, text string) string {
	t.Helper()
	v, err := schema.Parse([]byte(text))
	require.NoError(t, err)
	defs := definitions{}
	if d := v.Get("$defs"); d != nil {
		for _, m := range d.Members {
			defs[m.Key] = reduced(m.Value)
		}
	}
	return written(t, reduced(v), defs)
}

// everySchema returns the plain schema of every record and whole routing, by type name.
func everySchema(t *testing.T) map[string]string {
	t.Helper()
	var file struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	text, err := routes.Schemas.ReadFile("schemas/plain.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &file))
	out := map[string]string{}
	for name := range file.Defs {
		out[name] = program.Schemas.Def(name, runtime.Plain)
	}
	for _, row := range program.Tables.Routings {
		out[row.Name] = program.Schemas.Union(row.Branches, runtime.Plain)
	}
	return out
}

// TestSecondWitness is scenario G7: reflecting the generated structs gives the schemas that were
// emitted from the spec, for every type that has one and for the interrupt routing narrowed to each
// route.
func TestSecondWitness(t *testing.T) {
	t.Parallel()
	compared := 0
	for name, text := range everySchema(t) {
		of := recordTypes()[name]
		require.NotNil(t, of, "%s: a schema of no generated type", name)
		all := reflected(t, of)
		assert.Equal(t, all.document(t, all[name]), emitted(t, text), "%s", name)
		compared++
	}
	assert.Equal(t, 97, compared, "18 routings, 79 records")
}

// TestWitnessNarrowed narrows what the reflector saw, by its own means, and compares with each
// narrowed schema.
func TestWitnessNarrowed(t *testing.T) {
	t.Parallel()
	all := reflected(t, reflect.TypeFor[routes.InterruptRouting]())
	whole := all["InterruptRouting"].(map[string]any)
	for _, r := range everyRoute() {
		root := maps.Clone(whole)
		root["properties"] = slices.DeleteFunc(slices.Clone(whole["properties"].([]property)),
			func(p property) bool { return p.Name != r.Field() })
		// narrowed to one, the one is required: no Go type says so
		root["required"] = []any{r.Field()}
		assert.Equal(t, all.document(t, root), emitted(t, schemaOf(t, setOf(r), runtime.Plain)),
			"%s", r)
	}
}

// TestWitnessCanDisagree is the control: each change of an emitted schema makes the comparison
// fail.
func TestWitnessCanDisagree(t *testing.T) {
	t.Parallel()
	text := schemaOf(t, routes.AllRoutes(), runtime.Plain)
	all := reflected(t, reflect.TypeFor[routes.InterruptRouting]())
	want := all.document(t, all["InterruptRouting"])
	require.Equal(t, want, emitted(t, text))
	for name, change := range map[string][2]string{
		"another type": {`"successful":{"type":"boolean"`, `"successful":{"type":"string"`},
		"a hidden field": {`"properties":{"goal":{`,
			`"properties":{"contextId":{"type":"string"},"goal":{`},
		"a missing required": {`"required":["goal","phase"]`, `"required":["goal"]`},
		"a hidden value":     {`"PROCEED"]`, `"PROCEED","PRUNE"]`},
		"another order":      {`"reviewRequest":{"$ref":"#/$defs/ReviewRequest"},"mergerRequest":{"$ref":"#/$defs/MergerRequest"}`, `"mergerRequest":{"$ref":"#/$defs/MergerRequest"},"reviewRequest":{"$ref":"#/$defs/ReviewRequest"}`},
		"another reference": {`"items":{"$ref":"#/$defs/MergeConflict"}`,
			`"items":{"$ref":"#/$defs/MergeResult"}`},
		"an open record": {`"additionalProperties":false`, `"additionalProperties":{}`},
	} {
		changed := strings.Replace(text, change[0], change[1], 1)
		require.NotEqual(t, text, changed, "%s: %q is not in the schema", name, change[0])
		assert.NotEqual(t, want, emitted(t, changed), "%s", name)
	}
}
