package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/schema"
)

// closed writes a closed object of properties; the named ones are required.
func closed(properties string, required ...string) string {
	list := ""
	if len(required) > 0 {
		list = `"` + strings.Join(required, `","`) + `"`
	}
	return `{"type":"object","properties":{` + properties + `},"required":[` + list +
		`],"additionalProperties":false}`
}

// withDefs puts definitions into an object.
func withDefs(root, defs string) string {
	return strings.TrimSuffix(root, "}") + `,"$defs":{` + defs + `}}`
}

// many writes n properties of one schema, and their names.
func many(n int, text string) (properties string, names []string) {
	rows := make([]string, n)
	for i := range rows {
		names = append(names, fmt.Sprintf("p%d", i))
		rows[i] = fmt.Sprintf(`"p%d":%s`, i, text)
	}
	return strings.Join(rows, ","), names
}

func enum(n int, pad string) string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf(`"%s%d"`, pad, i)
	}
	return `{"type":"string","enum":[` + strings.Join(values, ",") + `]}`
}

func wide(n int, text string, required bool) string {
	properties, names := many(n, text)
	if !required {
		names = []string{"none"}
	}
	return closed(properties, names...)
}

func deep(levels int) string {
	text := `{"type":"string"}`
	for range levels {
		text = closed(`"p":`+text, "p")
	}
	return text
}

const leaf = `{"type":"string"}`

func TestLint(t *testing.T) {
	t.Parallel()
	const p, o, a, g = runtime.Plain, runtime.OpenAI, runtime.Anthropic, runtime.Gemini
	ref := func(name string) string { return `"r":{"$ref":"#/$defs/` + name + `"}` }
	union := func(first, second string) string {
		return closed(`"u":{"anyOf":[`+first+`,`+second+`]}`, "u")
	}
	loop := withDefs(closed(ref("A"), "r"), `"A":`+closed(ref("B"), "r")+`,"B":`+closed(ref("A")))
	hard := withDefs(closed(ref("A"), "r"), `"A":`+closed(ref("B"), "r")+`,"B":`+closed(ref("A"),
		"r"))
	for _, c := range []struct {
		name string
		d    runtime.Dialect
		doc  string
		want []string // rule, pointer and count of each finding
	}{
		{"plain takes anything sound", p,
			`{"type":"object","allOf":[{"minProperties":1}],"additionalProperties":{"type":"string"}}`, nil},
		{"dangling", p, closed(ref("A"), "r"), []string{"dangling_ref /properties/r 0"}},
		{"outside $defs", p, closed(`"r":{"$ref":"#/properties/r"}`, "r"),
			[]string{"dangling_ref /properties/r 0"}},
		{"unused, kept alive by itself only", p,
			withDefs(closed(`"x":`+leaf), `"A":`+closed(ref("A"))),
			[]string{"unused_def /$defs/A 0"}},
		{"used through another", p, loop, nil},
		{"names of properties are no keywords", o,
			closed(`"$ref":`+leaf+`,"items":`+leaf+`,"minLength":`+leaf+`,"required":`+leaf, "$ref",
				"items", "minLength", "required"), nil},
		{"data is not entered", p,
			`{"type":"object","default":{"$ref":"#/$defs/X"},"enum":[{"$ref":"x"}],"const":{"$ref":"x"},"examples":[{"$ref":"x"}]}`, nil},

		{"openai good", o, closed(`"x":`+leaf, "x"), nil},
		{"openai root union", o, `{"anyOf":[` + closed(`"x":`+leaf, "x") + `]}`,
			[]string{"root_object  0"}},
		{"openai root string", o, leaf, []string{"root_object  0"}},
		{"openai optional", o, closed(`"x":`+leaf+`,"y":`+leaf, "x"),
			[]string{"all_required /properties/y 0"}},
		{"openai open", o,
			`{"type":"object","properties":{"x":{"type":"object","additionalProperties":false}},"required":["x"]}`, []string{"closed_object  0"}},
		{"openai map", o, closed(`"x":{"type":"object","additionalProperties":`+leaf+`}`, "x"),
			[]string{"keyword /properties/x 0", "closed_object /properties/x 0"}},
		{"openai any JSON", o, closed(`"x":{}`, "x"), []string{"closed_object /properties/x 0"}},
		{"openai keyword", o, closed(`"x":{"type":"string","minLength":1,"default":""}`, "x"),
			[]string{"keyword /properties/x 0"}},
		{"openai format", o, closed(`"x":{"type":"string","format":"uri"}`, "x"),
			[]string{"keyword /properties/x 0"}},
		{"openai format taken", o, closed(`"x":{"type":"string","format":"uuid"}`, "x"), nil},
		{"openai first key", o,
			union(closed(`"k":`+leaf, "k"), closed(`"k":`+leaf+`,"l":`+leaf, "k", "l")),
			[]string{"first_key /properties/u 0"}},
		{"openai first key through refs", o,
			withDefs(union(`{"$ref":"#/$defs/A"}`, `{"$ref":"#/$defs/B"}`),
				`"A":`+closed(`"k":`+leaf, "k")+`,"B":`+closed(`"k":`+leaf, "k")),
			[]string{"first_key /properties/u 0"}},
		{"openai first keys differ", o, union(closed(`"k":`+leaf, "k"), closed(`"l":`+leaf, "l")),
			nil},
		{"openai first key tells apart", o,
			union(closed(`"k":{"const":"a"}`, "k"), closed(`"k":{"enum":["b"]}`, "k")), nil},
		{"openai first key has one value twice", o,
			union(closed(`"k":{"const":"a"}`, "k"), closed(`"k":{"enum":["b","a"]}`, "k")),
			[]string{"first_key /properties/u 0"}},
		{"openai recursion", o,
			withDefs(closed(ref("A"), "r"),
				`"A":`+closed(`"r":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}`, "r")), nil},
		{"openai 5000 properties", o, wide(5000, leaf, true), nil},
		{"openai 5001 properties", o, wide(5001, leaf, true), []string{"properties_total  5001"}},
		{"openai 10 levels", o, deep(10), nil},
		{"openai 11 levels", o, deep(11), []string{"nesting  11"}},
		{"openai 11 levels through a ref", o, withDefs(closed(ref("A"), "r"), `"A":`+deep(10)),
			[]string{"nesting  11"}},
		{"openai 1000 enum values", o, wide(10, enum(100, ""), true), nil},
		{"openai 1001 enum values", o, closed(`"a":`+enum(100, "")+`,"b":`+enum(901, ""), "a", "b"),
			[]string{"enum_values  1001"}},
		{"openai enum of 250 may be long", o, closed(`"a":`+enum(250, strings.Repeat("x", 100)),
			"a"), nil},
		{"openai enum of 251 may not", o, closed(`"a":`+enum(251, strings.Repeat("x", 100)), "a"),
			[]string{"enum_size /properties/a 0"}},
		{"openai long names", o, withDefs(closed(ref(strings.Repeat("é", 119_999)), "r"),
			`"`+strings.Repeat("é", 119_999)+`":`+leaf), nil},
		{"openai longer names", o, withDefs(closed(ref(strings.Repeat("é", 120_000)), "r"),
			`"`+strings.Repeat("é", 120_000)+`":`+leaf), []string{"string_size  120001"}},

		{"anthropic 24 optional", a, wide(24, leaf, false), nil},
		{"anthropic 25 optional", a, wide(25, leaf, false), []string{"optional_total  25"}},
		{"anthropic 16 unions", a, wide(16, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, true),
			nil},
		{"anthropic 17 unions", a, wide(17, `{"type":["string","null"]}`, true),
			[]string{"union_total  17"}},
		{"anthropic recursion", a, loop, []string{"recursion /$defs/B/properties/r 0"}},
		{"anthropic recursion to the root", a, closed(`"r":{"$ref":"#"}`, "r"),
			[]string{"recursion /properties/r 0"}},
		{"anthropic shared is no recursion", a,
			withDefs(closed(`"s":{"$ref":"#/$defs/B"},`+ref("A"), "s", "r"),
				`"A":`+closed(ref("B"), "r")+`,"B":`+leaf), nil},
		{"anthropic bound", a, closed(`"x":{"type":"integer","minimum":1}`, "x"),
			[]string{"keyword /properties/x 0"}},
		{"anthropic minItems", a,
			closed(`"x":{"type":"array","items":`+leaf+
				`,"minItems":2},"y":{"type":"array","items":`+leaf+`,"minItems":1}`, "x", "y"),
			[]string{"keyword /properties/x 0"}},
		{"anthropic enum case", a,
			closed(`"x":{"enum":["Stop","go","STOP"]},"y":{"enum":["a","b"]}`, "x", "y"),
			[]string{"enum_case /properties/x 0"}},
		{"anthropic complex enum", a, closed(`"x":{"enum":[{}]}`, "x"),
			[]string{"keyword /properties/x 0"}},
		{"anthropic allOf", a, closed(`"x":{"allOf":[`+leaf+`]},"y":{"allOf":[{"$ref":"#"}]}`, "x",
			"y"), []string{"keyword /properties/y 0", "recursion /properties/y/allOf/0 0"}},

		{"gemini loop through an optional property", g, loop, nil},
		{"gemini loop through required ones", g, hard,
			[]string{"required_cycle /$defs/B/properties/r 0"}},
		{"gemini loop through required items", g,
			withDefs(closed(ref("A"), "r"),
				`"A":`+closed(`"l":{"type":"array","items":{"$ref":"#/$defs/A"}}`, "l")),
			[]string{"required_cycle /$defs/A/properties/l/items 0"}},
		{"gemini ref with a description", g,
			withDefs(closed(`"r":{"$ref":"#/$defs/A","description":"x"}`, "r"), `"A":`+leaf),
			[]string{"ref_siblings /properties/r 0"}},
		{"gemini keyword", g, closed(`"x":{"type":"string","pattern":"x"}`, "x"),
			[]string{"keyword /properties/x 0"}},
		{"gemini map", g, closed(`"x":{"type":"object","additionalProperties":`+leaf+`}`, "x"),
			nil},
		{"gemini bounds", g, closed(`"x":{"type":"integer","minimum":1,"maximum":2}`, "x"),
			[]string{"bounds_total  2 notice"}},
		{"gemini large enum", g, closed(`"x":`+enum(251, ""), "x"),
			[]string{"large_enums  1 notice"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found, err := schema.Lint(c.d, []byte(c.doc))
			require.NoError(t, err)
			var got []string
			for _, f := range found {
				row := fmt.Sprintf("%s %s %d", f.Rule, f.Pointer, f.Count)
				if f.Notice {
					row += " notice"
				}
				got = append(got, row)
				assert.NotContains(t, f.Message, "%!")
				assert.Contains(t, f.Message, ": ", "a message ends in what to do")
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestLintRefusesWhatIsNotJSON(t *testing.T) {
	t.Parallel()
	_, err := schema.Lint(runtime.Plain, []byte(`{"a":1,"a":2}`))
	assert.ErrorContains(t, err, "twice")
}
