package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/schema"
)

func TestParseKeepsOrderAndNumbers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"b":1.0,"a":[1e400,-0,12345678901234567890],"c":{"z":null,"y":true,"x":false}}`,
		`"<b>&amp; µ \"quoted\" back\\slash \n"`, `{}`, `[]`, `[[],{}]`, `null`, `{"":{"":""}}`,
	} {
		v, err := schema.Parse([]byte(" " + text + "\n"))
		require.NoError(t, err, text)
		assert.Equal(t, text, v.String())
	}
	v, err := schema.Parse([]byte(`{"b":[1,{}],"a":{}}`))
	require.NoError(t, err)
	assert.Equal(t, "{\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": {}\n}", string(v.Indent()))
	assert.Equal(t, "[1,{}]", v.Get("b").String())
	assert.Nil(t, v.Get("c").Get("d"))
	assert.Equal(t, "null", (&schema.Value{}).String())
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":1,"b":{"c":1,"c":2}}`: `key "c" twice`, ``: "end of JSON", `{`: "end of JSON",
		`{"a" 1}`: "invalid character", `[1 2]`: "invalid character",
		`{} {}`: "after top-level value", `]`: "invalid character",
		strings.Repeat("[", 65) + strings.Repeat("]", 65): "deeper than 64",
	} {
		_, err := schema.Parse([]byte(text))
		assert.ErrorContains(t, err, want, text)
	}
	_, err := schema.Parse([]byte(strings.Repeat("[", 64) + strings.Repeat("]", 64)))
	assert.NoError(t, err)
}

// property wraps a property schema into a definition, so that a case shows only what matters.
func property(text string, required bool) string {
	list := ""
	if required {
		list = `,"required":["p"]`
	}
	return `{"type":"object","description":"D.","properties":{"p":` + text + `}` + list +
		`,"additionalProperties":false}`
}

func TestConvertProperty(t *testing.T) {
	t.Parallel()
	const o, a, g = runtime.OpenAI, runtime.Anthropic, runtime.Gemini
	pairs := func(value, description string) string {
		return `{"type":"array","description":"` + description +
			`","items":{"type":"object","properties":{"key":{"type":"string"},"value":` + value +
			`},"required":["key","value"],"additionalProperties":false}}`
	}
	const entries = "A list of entries, each key only once."
	for _, c := range []struct {
		d        runtime.Dialect
		optional bool
		in, want string
	}{
		{o, false, `{"type":"string","minLength":3}`,
			`{"type":"string","description":"At least 3 characters."}`},
		{o, false, `{"type":"string","description":"Id.","minLength":1,"maxLength":9}`,
			`{"type":"string","description":"Id.\nAt least 1 character. At most 9 characters."}`},
		{o, false, `{"type":"string","pattern":"^a$","format":"uuid"}`,
			`{"type":"string","pattern":"^a$","format":"uuid"}`},
		{o, false, `{"type":"string","format":"uri","default":"x","examples":["a","b"]}`,
			`{"type":"string","description":"Format: uri. Default: \"x\". Examples: \"a\",\"b\"."}`},
		{o, false,
			`{"type":"array","items":{"type":"string","maxLength":2},"minItems":2,"uniqueItems":true}`,
			`{"type":"array","description":"All items differ: true.","items":{"type":"string","description":"At most 2 characters."},"minItems":2}`},
		{o, true, `{"type":"string","description":"Id."}`,
			`{"description":"Id.","anyOf":[{"type":"string"},{"type":"null"}]}`},
		{o, true, `{"$ref":"#/$defs/X"}`, `{"anyOf":[{"$ref":"#/$defs/X"},{"type":"null"}]}`},
		{o, true, `{"type":"string","maxLength":1}`,
			`{"description":"At most 1 character.","anyOf":[{"type":"string"},{"type":"null"}]}`},
		{o, false, `{"type":"object","additionalProperties":{"$ref":"#/$defs/X"}}`,
			pairs(`{"$ref":"#/$defs/X"}`, entries)},
		{a, false,
			`{"type":"object","description":"M.","additionalProperties":{"type":"integer","minimum":0},"maxProperties":4}`,
			pairs(`{"type":"integer","description":"At least 0."}`,
				`M.\n`+entries+`\nAt most 4 items.`)},
		{a, true, `{"type":"string"}`, `{"type":"string"}`},
		{a, false,
			`{"type":"array","items":{"type":"number","multipleOf":2},"minItems":1,"maxItems":1}`,
			`{"type":"array","description":"At most 1 item.","items":{"type":"number","description":"A multiple of 2."},"minItems":1}`},
		{a, false, `{"type":"array","items":{"$ref":"#/$defs/X"},"minItems":2}`,
			`{"type":"array","description":"At least 2 items.","items":{"$ref":"#/$defs/X"}}`},
		{a, false, `{"type":"string","pattern":"^(?:\\\\b|\\d)$","format":"uri"}`,
			`{"type":"string","pattern":"^(?:\\\\b|\\d)$","format":"uri"}`},
		{a, false, `{"type":"string","pattern":"\\bx"}`,
			`{"type":"string","description":"Matches the regular expression \\bx."}`},
		{a, false, `{"type":"string","pattern":"(?=x)"}`,
			`{"type":"string","description":"Matches the regular expression (?=x)."}`},
		{a, false, `{"type":"string","pattern":"(x)\\1"}`,
			`{"type":"string","description":"Matches the regular expression (x)\\1."}`},
		{g, true, `{"type":"integer","minimum":1,"exclusiveMaximum":5}`,
			`{"type":"integer","description":"At least 1. Less than 5."}`},
		{g, false, `{"type":"string","const":"x"}`, `{"type":"string","enum":["x"]}`},
		{g, false, `{"description":"Any."}`, `{"description":"Any."}`},
		{g, false, `{}`, `{}`},
		{g, false, `{"type":"object","additionalProperties":{"type":"string","minLength":1}}`,
			`{"type":"object","additionalProperties":{"type":"string","description":"At least 1 character."}}`},
	} {
		t.Run(fmt.Sprint(c.d, c.in), func(t *testing.T) {
			t.Parallel()
			def, err := schema.Parse([]byte(property(c.in, !c.optional)))
			require.NoError(t, err)
			before := def.String()
			got, found := schema.Convert(c.d, def)
			require.Empty(t, found)
			assert.Equal(t, c.want, got.Get("properties").Get("p").String())
			assert.Equal(t, before, def.String(), "the definition was written to")
			again, _ := schema.Convert(runtime.Plain, def)
			assert.Equal(t, before, again.String(), "plain changes nothing")
		})
	}
}

func TestConvertObject(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d        runtime.Dialect
		in, want string
	}{
		{runtime.OpenAI, `{"type":"object","properties":{},"additionalProperties":false}`,
			`{"type":"object","properties":{},"required":[],"additionalProperties":false}`},
		{runtime.OpenAI,
			`{"type":"object","description":"D.","properties":{"b":{"type":"string"},"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`,
			`{"type":"object","description":"D.","properties":{"b":{"anyOf":[{"type":"string"},{"type":"null"}]},"a":{"type":"string"}},"required":["b","a"],"additionalProperties":false}`},
		{runtime.Anthropic,
			`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`,
			`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`},
		{runtime.Gemini,
			`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`,
			`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}},"required":["a"],"additionalProperties":false,"propertyOrdering":["b","a"]}`},
		{runtime.Gemini, `{"type":"object","properties":{},"additionalProperties":false}`,
			`{"type":"object","properties":{},"additionalProperties":false}`},
	} {
		def, err := schema.Parse([]byte(c.in))
		require.NoError(t, err)
		got, found := schema.Convert(c.d, def)
		require.Empty(t, found)
		assert.Equal(t, c.want, got.String(), c.d)
	}
}

func TestConvertPointsAtAnyJSON(t *testing.T) {
	t.Parallel()
	def, err := schema.Parse(
		[]byte(
			`{"type":"object","properties":{"x/y":{},"ok":{"type":"string"},"m":{"type":"object","additionalProperties":{}},
		"l":{"type":"array","items":{"description":"Any."}},"t":true},"additionalProperties":false}`))
	require.NoError(t, err)
	for _, d := range []runtime.Dialect{runtime.OpenAI, runtime.Anthropic} {
		got, found := schema.Convert(d, def)
		assert.Nil(t, got)
		var at []string
		for _, f := range found {
			assert.Equal(t, "no_strict_form", f.Rule)
			assert.Contains(t, f.Message, d.String())
			at = append(at, f.Pointer)
		}
		assert.Equal(t, []string{"/properties/x~1y", "/properties/m", "/properties/l",
			"/properties/t"}, at)
	}
}

// What is JSON is what the standard library takes for it, to the byte.
func TestParseTakesJSONAndNothingElse(t *testing.T) {
	t.Parallel()
	good := []string{
		`{}`, `[]`, `""`, `0`, `-0`, `-1.5e+10`, `1E-2`, `10`, `true`, `false`, `null`,
		" [ 1 , 2 ] ", "\t{\r\n\"a\" : [ ] }", `"\u00e9\"\\\/\b\f\n\r\t"`, `{"a":{"b":[{}]}}`,
		"\"\xff\"", `"\ud800"`,
	}
	bad := []string{
		"", " ", `{`, `[`, `"`, `"a`, `"\`, `"\x"`, `"\u12`, `"\u12g4"`, "\"\x00\"", "\"\n\"",
		"\x00", `01`, `-`, `+1`, `1.`, `.5`, `1e`, `1e+`, `0x1`, `tru`, `True`, `nul`,
		`NaN`, `[1,]`, `[,1]`, `[1 2]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{"a" 1}`, `{1:1}`,
		`[1}`, `{"a":1]`, `1 2`, `{}{}`, `[]]`, `"a""b"`, "1\x00", "[1\x00]", `--1`, `1-1`, `1:2`,
	}
	for _, text := range good {
		require.True(t, json.Valid([]byte(text)), "%q", text)
		_, err := schema.Parse([]byte(text))
		require.NoError(t, err, "%q", text)
		for cut := range text { // each beginning too
			_, err := schema.Parse([]byte(text[:cut]))
			assert.Equal(t, json.Valid([]byte(text[:cut])), err == nil, "%q", text[:cut])
		}
	}
	for _, text := range bad {
		require.False(t, json.Valid([]byte(text)), "%q", text)
		_, err := schema.Parse([]byte(text))
		require.Error(t, err, "%q", text)
	}
}
