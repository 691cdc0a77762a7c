package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	judge "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/schema"
)

// sample is a plain schema with one instance that it allows, and that instance as a strict dialect
// writes it.
type sample struct {
	schema        string
	plain, strict string
}

func drawSample(t *rapid.T, depth int) sample {
	kinds := []string{"string", "integer", "boolean", "enum", "time", "ref"}
	if depth < 3 {
		kinds = append(kinds, "list", "map")
	}
	same := func(text, value string) sample { return sample{text, value, value} }
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "string":
		n := rapid.IntRange(0, 5).Draw(t, "length")
		return same(fmt.Sprintf(
			`{"type":"string","description":"<S> & co.","minLength":%d,"maxLength":%d,"pattern":"^[a-zé]*$","default":"a"}`, n, n+2), `"`+strings.Repeat("é", n+1)+`"`)
	case "integer":
		n := rapid.IntRange(-9, 9).Draw(t, "number")
		return same(fmt.Sprintf(`{"type":"integer","minimum":%d,"exclusiveMaximum":%d}`, n, n+1),
			strconv.Itoa(n))
	case "boolean":
		return same(`{"type":"boolean"}`, "true")
	case "enum":
		return same(`{"type":"string","enum":["A","B"]}`, `"B"`)
	case "time":
		return same(`{"type":"string","format":"date-time"}`, `"2026-01-02T03:04:05Z"`)
	case "ref":
		return sample{`{"$ref":"#/$defs/Leaf"}`, `{"must":"x"}`, ""}
	case "list":
		inner, n := drawSample(t, depth+1), rapid.IntRange(0, 3).Draw(t, "items")
		return sample{fmt.Sprintf(`{"type":"array","items":%s,"minItems":%d}`, inner.schema, n),
			"[" + strings.TrimSuffix(strings.Repeat(inner.plain+",", n), ",") + "]",
			"[" + strings.TrimSuffix(strings.Repeat(inner.padded()+",", n), ",") + "]"}
	}
	inner := drawSample(t, depth+1)
	return sample{`{"type":"object","additionalProperties":` + inner.schema + `,"minProperties":1}`,
		`{"k":` + inner.plain + `}`, `[{"key":"k","value":` + inner.padded() + `}]`}
}

// padded is the strict form; %leaf% stands where the dialects differ.
func (s sample) padded() string {
	if s.strict == "" {
		return "%leaf%"
	}
	return s.strict
}

const leafDef = `{"type":"object","properties":{"must":{"type":"string"},"may":{"type":"integer","minimum":0}},"required":["must"],"additionalProperties":false}`

// TestConvertedSchemasTakeValidInstances: what plain allows, each dialect allows in its own
// padding, and the schema passes the dialect's lint and keeps the order of its properties.
func TestConvertedSchemasTakeValidInstances(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var properties, required, plain, openAI, anthropic []string
		for i := range rapid.IntRange(1, 5).Draw(t, "fields") {
			key, s := fmt.Sprintf("f%d", 9-i), drawSample(t, 0)
			quoted := `"` + key + `":`
			properties = append(properties, quoted+s.schema)
			optional := rapid.Bool().Draw(t, "optional")
			if !optional {
				required = append(required, `"`+key+`"`)
			}
			if optional && rapid.Bool().Draw(t, "absent") {
				openAI = append(openAI, quoted+"null")
				continue
			}
			plain = append(plain, quoted+s.plain)
			openAI = append(openAI, quoted+strings.ReplaceAll(s.padded(), "%leaf%",
				`{"must":"x","may":null}`))
			anthropic = append(anthropic, quoted+strings.ReplaceAll(s.padded(), "%leaf%",
				`{"must":"x"}`))
		}
		def := `{"type":"object","description":"Root.","properties":{` + strings.Join(properties,
			",") + `},"required":[` +
			strings.Join(required, ",") + `],"additionalProperties":false}`
		for d, fields := range map[runtime.Dialect][]string{runtime.Plain: plain,
			runtime.OpenAI: openAI, runtime.Anthropic: anthropic, runtime.Gemini: plain} {
			root, leafText := convert(t, d, def), convert(t, d, leafDef)
			document := root
			if strings.Contains(root, "#/$defs/Leaf") {
				document = withDefs(root, `"Leaf":`+leafText)
			}
			accepts(t, document, "{"+strings.Join(fields, ",")+"}")
			found, err := schema.Lint(d, []byte(document))
			require.NoError(t, err)
			for _, f := range found {
				if f.Rule != "optional_total" && f.Rule != "union_total" {
					require.Fail(t, f.Message, "%s %s", f.Rule, document)
				}
			}
			last := -1
			for i := range properties {
				at := strings.Index(root, fmt.Sprintf(`"f%d":`, 9-i))
				require.Greater(t, at, last, "order of %s", root)
				last = at
			}
		}
	})
}

func convert(t *rapid.T, d runtime.Dialect, text string) string {
	def, err := schema.Parse([]byte(text))
	require.NoError(t, err)
	out, found := schema.Convert(d, def)
	require.Empty(t, found)
	return out.String()
}

func accepts(t *rapid.T, document, instance string) {
	parsed, err := judge.UnmarshalJSON(strings.NewReader(document))
	require.NoError(t, err)
	c := judge.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("mem:///s.json", parsed))
	s, err := c.Compile("mem:///s.json")
	require.NoError(t, err, document)
	value, err := judge.UnmarshalJSON(strings.NewReader(instance))
	require.NoError(t, err, instance)
	require.NoError(t, s.Validate(value), "%s\n%s", document, instance)
}

// FuzzParse: JSON parses and nothing else, what parses is written back unchanged, and no document
// stops Lint or Convert.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a":[1,"\u00e9<",null]}`))
	f.Add([]byte(withDefs(closed(`"r":{"$ref":"#/$defs/A","":1}`, "r"),
		`"":{"anyOf":[1,{"$ref":"#"}]},"A":`+leafDef)))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := schema.Parse(data)
		if err != nil {
			refusal := strings.Contains(err.Error(), "twice in one object") ||
				strings.Contains(err.Error(), "nested deeper")
			require.NotEqual(t, refusal, !json.Valid(data), "%v", err)
			return
		}
		require.True(t, json.Valid(data))
		var want, got bytes.Buffer
		require.NoError(t, json.Compact(&want, []byte(v.String())))
		again, err := schema.Parse([]byte(v.String()))
		require.NoError(t, err)
		require.NoError(t, json.Compact(&got, again.Indent()))
		require.Equal(t, want.String(), got.String())
		for _, d := range runtime.Dialects() {
			_, err := schema.Lint(d, data)
			require.NoError(t, err)
			_, _ = schema.Convert(d, v)
		}
	})
}
