package generator_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// text draws strings with everything that JSON writers treat specially, NUL left out: the decoders
// refuse it by promise.
func text() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.RuneFrom([]rune("ab <>&\"\\/\u2028é\u200d😀\t\n{}[]:,0")), 0, 6, -1)
}

// maker draws documents that a schema accepts.
type maker struct {
	t    *rapid.T
	defs map[string]any
}

// document draws a document that the schema accepts.
func document(t *rapid.T, schema map[string]any) any {
	defs, _ := schema["$defs"].(map[string]any)
	return (&maker{t, defs}).value(schema, 0)
}

const deep = 3 // levels of references after which only what is required is drawn

func (m *maker) value(s map[string]any, depth int) any {
	if ref, ok := s["$ref"].(string); ok {
		return m.value(m.defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any), depth+1)
	}
	if parts := list(s["anyOf"]); parts != nil {
		return m.value(m.pick(parts, depth), depth)
	}
	if values := list(s["enum"]); values != nil {
		return rapid.SampledFrom(values).Draw(m.t, "enum")
	}
	switch kind := s["type"].(type) {
	case []any:
		if depth > deep {
			return m.value(with(s, "type", "null"), depth)
		}
		return m.value(with(s, "type", rapid.SampledFrom(kind).Draw(m.t, "type")), depth)
	case string:
		return m.typed(kind, s, depth)
	}
	return rapid.SampledFrom([]any{nil, true, json.Number("0"), "x", []any{}, map[string]any{}}).
		Draw(m.t, "any")
}

func (m *maker) typed(kind string, s map[string]any, depth int) any {
	switch kind {
	case "null":
		return nil
	case "boolean":
		return rapid.Bool().Draw(m.t, "bool")
	case "integer":
		return json.Number(strconv.FormatInt(rapid.Int64Range(-9, 1<<53).Draw(m.t, "int"), 10))
	case "number":
		return json.Number(rapid.SampledFrom([]string{"0", "-1.5", "1e3", "0.25", "7"}).
			Draw(m.t, "number"))
	case "string":
		return m.string(s)
	case "array":
		items := []any{}
		for range m.some(depth, 2) {
			items = append(items, m.value(s["items"].(map[string]any), depth+1))
		}
		return items
	}
	if rest, isMap := s["additionalProperties"].(map[string]any); isMap {
		out := map[string]any{}
		for range m.some(depth, 2) {
			out[text().Draw(m.t, "key")] = m.value(rest, depth+1)
		}
		return out
	}
	return m.object(s, depth)
}

func (m *maker) object(s map[string]any, depth int) any {
	properties, _ := s["properties"].(map[string]any)
	names := slices.Sorted(maps.Keys(properties))
	required := list(s["required"])
	out := map[string]any{}
	if s["maxProperties"] != nil { // a union: any one
		names = []string{rapid.SampledFrom(names).Draw(m.t, "branch")}
		required = []any{names[0]}
	}
	for _, name := range names {
		if slices.Contains(required, any(name)) || depth <= deep && rapid.Bool().
			Draw(m.t, "has "+name) {
			out[name] = m.value(properties[name].(map[string]any), depth)
		}
	}
	return out
}

func (m *maker) string(s map[string]any) any {
	if pattern, ok := s["pattern"].(string); ok {
		return rapid.StringMatching(pattern).Draw(m.t, "matching")
	}
	if s["format"] == "date-time" {
		return rapid.SampledFrom([]string{"2026-11-21T13:07:19Z", "1999-12-31T23:59:59.5+02:00",
			"0001-01-01T00:00:00Z"}).Draw(m.t, "time")
	}
	return text().Draw(m.t, "string")
}

// pick prefers null once the document is deep, so that recursion ends.
func (m *maker) pick(parts []any, depth int) map[string]any {
	if depth > deep {
		for _, p := range parts {
			if p := p.(map[string]any); p["type"] == "null" {
				return p
			}
		}
	}
	return rapid.SampledFrom(parts).Draw(m.t, "part").(map[string]any)
}

func (m *maker) some(depth, most int) int {
	if depth > deep {
		return 0
	}
	return rapid.IntRange(0, most).Draw(m.t, "count")
}

func with(s map[string]any, key string, value any) map[string]any {
	out := maps.Clone(s)
	out[key] = value
	return out
}

// place is one value inside a document, and how to put another there.
type place struct {
	value any
	put   func(any)
	drop  func() // nil where nothing can be taken out
	in    map[string]any
	key   string
}

// places lists every value of a document. The document is changed in place by put and drop; root
// holds it.
func places(root *any) []place {
	var out []place
	var walk func(p place)
	walk = func(p place) {
		out = append(out, p)
		switch v := p.value.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				walk(place{v[key], func(x any) { v[key] = x }, func() { delete(v, key) }, v, key})
			}
		case []any:
			for i := range v {
				walk(place{v[i], func(x any) { v[i] = x }, nil, nil, ""})
			}
		}
	}
	walk(place{value: *root, put: func(x any) { *root = x }})
	return out
}

// mutate changes one thing in a copy of a document: mostly something that makes it wrong, sometimes
// something that must not matter. names are keys worth adding: hidden fields and routes outside the
// set.
func mutate(t *rapid.T, doc any, names []string) any {
	root := clone(doc)
	all := places(&root)
	p := rapid.SampledFrom(all).Draw(t, "place")
	switch rapid.IntRange(0, 6).Draw(t, "change") {
	case 0:
		p.put(rapid.SampledFrom([]any{true, "x", "", json.Number("1"), json.Number("1.5"),
			json.Number("2.0"), []any{}, map[string]any{},
			[]any{map[string]any{"key": "a", "value": "b"}}, "2026-11-21", "BRANCH",
			"human_review"}).Draw(t, "value"))
	case 1:
		if p.drop != nil {
			p.drop()
		}
	case 2:
		if o, ok := p.value.(map[string]any); ok {
			o[rapid.SampledFrom(names).Draw(t, "name")] =
				rapid.SampledFrom([]any{nil, "x", map[string]any{}}).Draw(t, "added")
		}
	case 3: // another letter case: of a key, and of a text
		if s, ok := p.value.(string); ok && rapid.Bool().Draw(t, "text") {
			p.put(strings.ToLower(s))
		} else if p.in != nil {
			p.drop()
			p.in[strings.ToUpper(p.key)] = p.value
		}
	case 4:
		p.put(nil)
	case 5: // a map as pairs
		if o, ok := p.value.(map[string]any); ok {
			pairs := []any{}
			for _, key := range slices.Sorted(maps.Keys(o)) {
				pairs = append(pairs, map[string]any{"key": key, "value": o[key]})
			}
			p.put(pairs)
		}
	case 6:
		root = map[string]any{"route": root}
	}
	return root
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = clone(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = clone(v[i])
		}
		return out
	}
	return v
}
