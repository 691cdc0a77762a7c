package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/runtime/schema"
)

// Names of properties and definitions in drawn documents; "k" tells the branches of a oneOf apart.
var (
	drawnNames = []string{"a", "b", "x", "y", "$ref", "p/q~%"}
	drawnDefs  = []string{"A", "B", "C/d~%"}
)

// drawObject draws a closed object, now and then one that is open or speaks of its properties elsewhere.
func drawObject(t *rapid.T, depth int, constant string) string {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(drawnNames), 1, 4, rapid.ID[string]).Draw(t, "names")
	var properties, required []string
	if constant != "" {
		properties, required = []string{`"k":{"const":"` + constant + `"}`}, []string{"k"}
	}
	for _, name := range names {
		properties = append(properties, fmt.Sprintf("%q:%s", name, drawSchema(t, depth-1)))
		if rapid.Bool().Draw(t, "required") {
			required = append(required, name)
		}
	}
	out := closed(strings.Join(properties, ","), required...)
	some := func(label string) string { return rapid.SampledFrom(names).Draw(t, label) }
	switch rapid.IntRange(0, 23).Draw(t, "extra") {
	case 0:
		out = strings.Replace(out, `"additionalProperties":false`, `"additionalProperties":{"type":"integer"}`, 1)
	case 1:
		out = strings.Replace(out, `"additionalProperties":false`, `"unevaluatedProperties":false`, 1)
	case 2:
		out = strings.TrimSuffix(out, "}") + fmt.Sprintf(`,"dependentRequired":{%q:[%q]}}`, some("key"), some("needs"))
	case 3:
		out = strings.TrimSuffix(out, "}") + fmt.Sprintf(`,"minProperties":%d}`, rapid.IntRange(0, 2).Draw(t, "least"))
	case 4:
		out = strings.TrimSuffix(out, "}") + fmt.Sprintf(`,"maxProperties":%d}`, rapid.IntRange(1, 4).Draw(t, "most"))
	case 5:
		out = strings.TrimSuffix(out, "}") + fmt.Sprintf(`,"patternProperties":{"^%s":true}}`, rapid.SampledFrom([]string{"a", "x", "z"}).Draw(t, "pattern"))
	case 6:
		out = strings.TrimSuffix(out, "}") + fmt.Sprintf(`,"not":{"required":[%q]}}`, some("not"))
	case 7:
		out = strings.TrimSuffix(out, "}") + fmt.Sprintf(`,"dependentSchemas":{%q:{"required":[%q]}}}`, some("key"), some("needs"))
	}
	return out
}

func drawSchema(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 11).Draw(t, "kind")
	if depth <= 0 && kind > 3 {
		kind %= 4
	}
	switch kind {
	case 0:
		return "true"
	case 1:
		return `{"type":"integer"}`
	case 2, 3:
		name := rapid.SampledFrom(drawnDefs).Draw(t, "ref")
		return `{"$ref":"#/$defs/` + strings.NewReplacer("~", "~0", "/", "~1", "%", "%25").Replace(name) + `"}`
	case 4, 5:
		return drawObject(t, depth, "")
	case 6:
		return `{"type":"array","items":` + drawSchema(t, depth-1) + `}`
	case 7:
		return `{"anyOf":[` + drawSchema(t, depth-1) + `,{"type":"null"}]}`
	case 8:
		return `{"anyOf":[` + drawObject(t, depth, "") + `,` + drawSchema(t, depth-1) + `]}`
	case 9:
		return `{"oneOf":[` + drawObject(t, depth, "one") + `,` + drawObject(t, depth, "two") + `]}`
	case 10:
		return `{"allOf":[` + drawSchema(t, depth-1) + `,{"not":` + drawSchema(t, 0) + `}]}`
	}
	return `{"oneOf":[` + drawObject(t, depth, "") + `,` + drawSchema(t, depth-1) + `]}`
}

func drawDocument(t *rapid.T) string {
	var defs []string
	for _, name := range drawnDefs {
		defs = append(defs, fmt.Sprintf("%q:%s", name, drawObject(t, 2, "")))
	}
	return strings.TrimSuffix(drawObject(t, 3, ""), "}") + `,"$defs":{` + strings.Join(defs, ",") + `}}`
}

// drawInstance draws a document for a schema: mostly what it asks for, so that verdicts of both kinds come up.
func drawInstance(t *rapid.T, s any, defs map[string]any, depth int) any {
	m, ok := s.(map[string]any)
	if !ok || depth == 0 || rapid.IntRange(0, 19).Draw(t, "odd") == 0 {
		return rapid.SampledFrom([]any{nil, 1, "s", []any{}, map[string]any{}, map[string]any{"x": 1}}).Draw(t, "any")
	}
	if ref, ok := m["$ref"].(string); ok {
		name := strings.NewReplacer("~0", "~", "~1", "/", "%25", "%").Replace(strings.TrimPrefix(ref, "#/$defs/"))
		return drawInstance(t, defs[name], defs, depth-1)
	}
	for _, union := range []string{"anyOf", "oneOf", "allOf"} {
		if branches, ok := m[union].([]any); ok {
			return drawInstance(t, branches[rapid.IntRange(0, 1).Draw(t, "branch")], defs, depth)
		}
	}
	if only, ok := m["const"]; ok {
		return only
	}
	properties, _ := m["properties"].(map[string]any)
	switch {
	case m["type"] == "array":
		return []any{drawInstance(t, m["items"], defs, depth-1)}
	case m["type"] == "integer":
		return 7
	case properties == nil:
		return nil
	}
	out := map[string]any{}
	for _, name := range append([]string{"k", "zz"}, drawnNames...) {
		required, _ := m["required"].([]any)
		often := 0
		if slices.Contains(required, any(name)) {
			often = 9
		}
		if property, ok := properties[name]; ok && rapid.IntRange(0, 9).Draw(t, "there") < 4+often {
			out[name] = drawInstance(t, property, defs, depth-1)
		} else if !ok && rapid.IntRange(0, 39).Draw(t, "unknown") == 0 {
			out[name] = 7
		}
	}
	return out
}

// forbidding returns what narrowing means, said without removing anything: a dropped property is the schema false and is not required, and
// so is a branch of a union that has only such properties. It is written apart from the narrowing, to be held against it.
func forbidding(s any, drop []string, defs map[string]any) any {
	m, ok := s.(map[string]any)
	if !ok {
		return s
	}
	out := map[string]any{}
	for key, v := range m {
		switch value := v.(type) {
		case map[string]any:
			if key != "properties" && key != "$defs" && key != "dependentSchemas" && key != "patternProperties" {
				out[key] = forbidding(value, drop, defs)
				continue
			}
			inner := map[string]any{}
			for name, part := range value {
				if inner[name] = forbidding(part, drop, defs); key == "properties" && slices.Contains(drop, name) {
					inner[name] = false
				}
			}
			out[key] = inner
		case []any:
			out[key] = forbiddingList(key, value, m, drop, defs)
		default:
			out[key] = v
		}
	}
	return out
}

func forbiddingList(key string, list []any, in map[string]any, drop []string, defs map[string]any) []any {
	out := []any{}
	for _, item := range list {
		name, isName := item.(string)
		switch {
		case key == "required" && in["properties"] != nil && isName && slices.Contains(drop, name):
		case (key == "anyOf" || key == "oneOf") && allDropped(item, drop, defs, 9):
			out = append(out, false)
		default:
			out = append(out, forbidding(item, drop, defs))
		}
	}
	return out
}

func allDropped(s any, drop []string, defs map[string]any, depth int) bool {
	m, _ := s.(map[string]any)
	if ref, ok := m["$ref"].(string); ok && depth > 0 {
		name := strings.NewReplacer("~0", "~", "~1", "/", "%25", "%").Replace(strings.TrimPrefix(ref, "#/$defs/"))
		return allDropped(defs[name], drop, defs, depth-1)
	}
	properties, ok := m["properties"].(map[string]any)
	ok = ok && m["patternProperties"] == nil
	for name := range properties {
		ok = ok && slices.Contains(drop, name)
	}
	return ok
}

// requiredAnywhere reports whether a list of required names has this one.
func requiredAnywhere(v any, name string) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, part := range v {
			list, _ := part.([]any)
			if key == "required" && slices.Contains(list, any(name)) || requiredAnywhere(part, name) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(part any) bool { return requiredAnywhere(part, name) })
	}
	return false
}

func compiled(t *rapid.T, text string) *jsonschema.Schema {
	s, err := compileIn(jsonschema.Draft2020, []byte(text))
	require.NoError(t, err, text)
	return s
}

func parsed(t *rapid.T, text string) map[string]any {
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &m))
	return m
}

func TestNarrowedSchemasTakeWhatTheyShould(t *testing.T) {
	t.Parallel()
	var narrowed, refused, taken, left atomic.Int64
	rapid.Check(t, func(t *rapid.T) {
		text := drawDocument(t)
		drop := rapid.SliceOfNDistinct(rapid.SampledFrom(drawnNames), 1, 3, rapid.ID[string]).Draw(t, "drop")
		got, err := schema.Narrow([]byte(text), schema.Named(drop...))
		if err != nil {
			refused.Add(1)
			return
		}
		narrowed.Add(1)
		original := parsed(t, text)
		defs, _ := original["$defs"].(map[string]any)
		meaning, err := json.Marshal(forbidding(original, drop, defs))
		require.NoError(t, err)
		want, have, before := compiled(t, string(meaning)), compiled(t, string(got)), compiled(t, text)
		mended := slices.ContainsFunc(drop, func(name string) bool { return requiredAnywhere(original, name) })
		for range 8 {
			instance, err := json.Marshal(drawInstance(t, original, defs, 6))
			require.NoError(t, err)
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(instance))
			require.NoError(t, err)
			wanted := want.Validate(doc) == nil
			assert.Equal(t, wanted, have.Validate(doc) == nil, "%s\nnarrowed by %v to %s\nand %s", text, drop, got, instance)
			if wanted {
				assert.True(t, mended || before.Validate(doc) == nil, "%s\nnarrowed by %v takes more: %s", text, drop, instance)
				taken.Add(1)
			} else {
				left.Add(1)
			}
		}
		lawsOfFilters(t, text, got, drop)
	})
	t.Logf("%d narrowed, %d refused; %d documents taken, %d not", narrowed.Load(), refused.Load(), taken.Load(), left.Load())
	if testing.Short() {
		return // too few draws to say more
	}
	for _, n := range []*atomic.Int64{&narrowed, &refused, &taken, &left} {
		assert.Positive(t, n.Load(), "the draw shows nothing")
	}
}

// lawsOfFilters holds a narrowed document to what is true of any filter: once is enough, one by one is all at once in any order, no
// definition is without use, and the bytes are stable.
func lawsOfFilters(t *rapid.T, text string, got []byte, drop []string) {
	again, err := schema.Narrow(got, schema.Named(drop...))
	require.NoError(t, err)
	assert.Equal(t, string(got), string(again))
	for _, order := range [][]string{drop, {drop[len(drop)-1], drop[0]}, slices.Sorted(slices.Values(drop))} {
		step := []byte(text)
		for _, name := range append(slices.Clone(order), drop...) {
			if step, err = schema.Narrow(step, schema.Named(name)); err != nil {
				break // what all at once leaves in order may be refused on the way
			}
		}
		if err == nil {
			assert.Equal(t, string(got), string(step), "%s by %v", text, order)
		}
	}
	kept := map[string]bool{}
	var uses func(v any)
	names := parsed(t, string(got))
	defs, _ := names["$defs"].(map[string]any)
	uses = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				name := strings.NewReplacer("~0", "~", "~1", "/", "%25", "%").Replace(strings.TrimPrefix(ref, "#/$defs/"))
				if !kept[name] {
					kept[name] = true
					require.Contains(t, defs, name)
					uses(defs[name])
				}
			}
			for key, part := range v {
				if key != "$defs" {
					uses(part)
				}
			}
		case []any:
			for _, part := range v {
				uses(part)
			}
		}
	}
	uses(names)
	assert.Len(t, defs, len(kept), "%s", got)
}

// FuzzNarrow: whatever comes in, what comes out is JSON, not larger, and narrowed for good.
func FuzzNarrow(f *testing.F) {
	f.Add([]byte(`{"anyOf":[{"$ref":"#/anyOf/1"},{"$ref":"#/anyOf/0"},` + closed(`"x":{}`) + `]}`))
	f.Add([]byte(`{"$id":"a:b","$ref":"#/$defs/A/properties/y","$defs":{"A":` + closed(`"x":{},"y":{"$dynamicRef":"#n"}`) + `,"B":{"$dynamicAnchor":"n"}}}`))
	f.Add([]byte(`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"x":{"$id":"#q"}},"oneOf":[{"$ref":"#q"},true],"dependencies":{"x":["y"]}}`))
	f.Add([]byte(closed(`"x":{},"y":{"not":{"contains":{"$ref":"#"}}}`, "x")))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := schema.Narrow(data, schema.Named("x", "$ref"))
		if err != nil {
			return
		}
		before, err := schema.Parse(data)
		require.NoError(t, err)
		assert.LessOrEqual(t, len(got), len(before.String()))
		again, err := schema.Narrow(got, schema.Named("x", "$ref"))
		require.NoError(t, err, "%s", got)
		assert.Equal(t, string(got), string(again))
	})
}
