package web_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// maker makes values by the schemas of a document, and spoils some.
type maker struct {
	rng     *rand.Rand
	schemas map[string]any // of the document
	words   []string       // ids and names that mean something, for texts
}

func pick[T any](m *maker, list []T) T { return list[m.rng.IntN(len(list))] }

// chance is true in so many of a hundred cases.
func (m *maker) chance(percent int) bool { return m.rng.IntN(100) < percent }

// odd are texts that are wanted nowhere.
var odd = []string{"", " ", "\u0000", "..", "a/b", "%2e%2e", "ünï", "\u202e", "-1", "null",
	"'\"<b>",
	"9223372036854775808", strings.Repeat("x", 300), strings.Repeat("é", 3000)}

// value makes a value that a schema allows, as far as it goes; what its patterns say is left to
// chance.
func (m *maker) value(schema map[string]any, depth int) any {
	if ref, isRef := schema["$ref"].(string); isRef {
		name := ref[strings.LastIndexByte(ref, '/')+1:]
		target, _ := m.schemas[name].(map[string]any)
		return m.value(target, depth+1)
	}
	if examples, _ := schema["examples"].([]any); len(examples) > 0 && m.chance(30) {
		return cloneJSON(pick(m, examples))
	}
	if c, is := schema["const"]; is {
		return c
	}
	if list, _ := schema["enum"].([]any); len(list) > 0 {
		return pick(m, list)
	}
	for _, choice := range []string{"oneOf", "anyOf"} {
		if list, _ := schema[choice].([]any); len(list) > 0 {
			one, _ := pick(m, list).(map[string]any)
			return m.value(one, depth+1)
		}
	}
	kind, _ := schema["type"].(string)
	if kinds, _ := schema["type"].([]any); len(kinds) > 0 {
		kind, _ = pick(m, kinds).(string)
	}
	switch kind {
	case "object":
		return m.object(schema, depth)
	case "array":
		items, _ := schema["items"].(map[string]any)
		out := []any{}
		for range m.rng.IntN(3) + map[bool]int{true: 1}[schema["minItems"] != nil] {
			out = append(out, m.value(items, depth+1))
		}
		return out
	case "string":
		return pick(m, m.words)
	case "integer", "number":
		return pick(m, []any{0, 1, 2, 7, 1 << 40, json.Number("4000000000000")})
	case "boolean":
		return m.chance(50)
	case "null":
		return nil
	}
	return pick(m, []any{"x", 1, true, nil, map[string]any{"ok": true}, []any{1}})
}

func (m *maker) object(schema map[string]any, depth int) any {
	out := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) || depth < 5 && m.chance(40) {
			of, _ := properties[name].(map[string]any)
			out[name] = m.value(of, depth+1)
		}
	}
	if more, _ := schema["additionalProperties"].(map[string]any); more != nil && m.chance(50) {
		out[pick(m, m.words)] = m.value(more, depth+1)
	}
	return out
}

// spoil changes one place of a value: a key less or more, another kind, an odd text.
func (m *maker) spoil(v any) any {
	wrong := []any{nil, true, -1, 1.5, json.Number("1e400"), pick(m, odd), []any{},
		map[string]any{},
		[]any{[]any{[]any{}}}}
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		switch {
		case len(keys) == 0 || m.chance(20):
			v[pick(m, append(slices.Clone(odd), m.words...))] = pick(m, wrong)
		case m.chance(25):
			delete(v, pick(m, keys))
		default:
			at := pick(m, keys)
			v[at] = m.spoil(v[at])
		}
		return v
	case []any:
		if len(v) > 0 && m.chance(70) {
			at := m.rng.IntN(len(v))
			v[at] = m.spoil(v[at])
			return v
		}
	}
	return pick(m, wrong)
}

// body makes the text of a request.
func (m *maker) body(schema map[string]any) string {
	v := m.value(schema, 0)
	if m.chance(50) {
		v = m.spoil(v)
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // of values that are JSON
	}
	text := string(data)
	if m.chance(4) {
		text = text[:m.rng.IntN(len(text)+1)]
	}
	if m.chance(2) {
		text += pick(m, []string{"}", text, "\xff", "\u0000", strings.Repeat("[", 20000)})
	}
	return text
}

func cloneJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, part := range v {
			out[key] = cloneJSON(part)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for n, part := range v {
			out[n] = cloneJSON(part)
		}
		return out
	}
	return v
}
