package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/schema"
)

func TestNarrow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"nothing to drop": {`{"type":"object","properties":{"a":{"const":1.0}}}`, `{"type":"object","properties":{"a":{"const":1.0}}}`},
		"required is mended, order stays": {
			`{"title":"T","properties":{"b":{},"x":{"type":"string"},"a":{}},"required":["x","b"],"additionalProperties":false,"propertyOrdering":["b","x","a"]}`,
			`{"title":"T","properties":{"b":{},"a":{}},"required":["b"],"additionalProperties":false,"propertyOrdering":["b","a"]}`,
		},
		"any depth, definitions pruned": {
			`{"properties":{"l":{"items":{"$ref":"#/$defs/L"}}},"$defs":{"L":` + closed(`"x":{"$ref":"#/$defs/X"},"y":{"$ref":"#/$defs/Y"}`) +
				`,"X":{"items":{"$ref":"#/$defs/Z"}},"Y":{"type":"string"},"Z":{}}}`,
			`{"properties":{"l":{"items":{"$ref":"#/$defs/L"}}},"$defs":{"L":` + closed(`"y":{"$ref":"#/$defs/Y"}`) + `,"Y":{"type":"string"}}}`,
		},
		"no definition is left": {`{"type":"object","$defs":{"A":{"$ref":"#/$defs/A"}}}`, `{"type":"object"}`},
		"definitions of old":    {`{"$ref":"#/definitions/A","definitions":{"A":true,"B":{}}}`, `{"$ref":"#/definitions/A","definitions":{"A":true}}`},
		"recursion": {
			closed(`"next":{"$ref":"#"},"x":{"$ref":"#/$defs/A"}`) + ``,
			closed(`"next":{"$ref":"#"}`),
		},
		"escapes": {
			`{"allOf":[{"$ref":"#/$defs/a~1b"},{"$ref":"#/$defs/c%25d"},{"$ref":"#/$defs/e~0f"}],"$defs":{"a/b":{},"c%d":{},"e~f":{},"g":{}}}`,
			`{"allOf":[{"$ref":"#/$defs/a~1b"},{"$ref":"#/$defs/c%25d"},{"$ref":"#/$defs/e~0f"}],"$defs":{"a/b":{},"c%d":{},"e~f":{}}}`,
		},
		"anchor": {`{"$ref":"#n","$defs":{"A":{"$anchor":"n"},"B":{"$anchor":"m"}}}`, `{"$ref":"#n","$defs":{"A":{"$anchor":"n"}}}`},
		"id": {
			`{"$id":"https://e.org/a","$ref":"b","$defs":{"B":{"$id":"https://e.org/b","$ref":"#/$defs/C","$defs":{"C":{},"D":{}}},"C":{}}}`,
			`{"$id":"https://e.org/a","$ref":"b","$defs":{"B":{"$id":"https://e.org/b","$ref":"#/$defs/C","$defs":{"C":{}}}}}`,
		},
		"dynamic anchors stay together": {
			`{"$dynamicRef":"#n","$defs":{"A":{"$dynamicAnchor":"n"},"B":{"$dynamicAnchor":"n"},"C":{"$dynamicAnchor":"m"}}}`,
			`{"$dynamicRef":"#n","$defs":{"A":{"$dynamicAnchor":"n"},"B":{"$dynamicAnchor":"n"}}}`,
		},
		"a reference into a definition keeps it whole": {
			`{"$ref":"#/$defs/A/properties/p","$defs":{"A":{"properties":{"p":{},"q":{"$ref":"#/$defs/B"}}},"B":{},"C":{}}}`,
			`{"$ref":"#/$defs/A/properties/p","$defs":{"A":{"properties":{"p":{},"q":{"$ref":"#/$defs/B"}}},"B":{}}}`,
		},
		"below an unknown keyword": {
			`{"$ref":"#/mine/A","mine":{"A":{"$ref":"#/$defs/B"}},"$defs":{"B":{},"C":{}}}`,
			`{"$ref":"#/mine/A","mine":{"A":{"$ref":"#/$defs/B"}},"$defs":{"B":{}}}`,
		},
		"data that looks like schemas": {
			`{"enum":[{"$ref":"#/nowhere","properties":{"x":1}}],"default":{"$ref":"o"},"properties":{"$ref":{"type":"string"},"properties":{},"required":{},"$defs":{}}}`,
			`{"enum":[{"$ref":"#/nowhere","properties":{"x":1}}],"default":{"$ref":"o"},"properties":{"$ref":{"type":"string"},"properties":{},"required":{},"$defs":{}}}`,
		},
		"branches that lose everything go": {
			closed(`"route":{"anyOf":[`+closed(`"x":{"$ref":"#/$defs/X"}`, "x")+`,{"$ref":"#/$defs/R"},`+closed(`"a":{}`, "a")+`]}`, "route"),
			"",
		},
		"dependencies on the dropped": {
			`{"properties":{"a":{},"x":{}},"additionalProperties":false,"dependentRequired":{"x":["a"],"a":[]},"dependentSchemas":{"x":{"required":["a"]}}}`,
			`{"properties":{"a":{}},"additionalProperties":false,"dependentRequired":{"a":[]},"dependentSchemas":{}}`,
		},
		"unevaluated":           {`{"properties":{"a":{},"x":{}},"unevaluatedProperties":false}`, `{"properties":{"a":{}},"unevaluatedProperties":false}`},
		"beside a reference":    {`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/A","properties":{"x":{}},"definitions":{"A":{}}}`, `{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/A","properties":{"x":{}},"definitions":{"A":{}}}`},
		"oneOf with a constant": {`{"oneOf":[` + closed(`"k":{"const":"a"},"x":{}`, "k", "x") + `,` + closed(`"k":{"enum":["b","c"]}`, "k") + `]}`, `{"oneOf":[` + closed(`"k":{"const":"a"}`, "k") + `,` + closed(`"k":{"enum":["b","c"]}`, "k") + `]}`},
		"a branch that takes more than objects stays": {
			`{"anyOf":[{"properties":{"x":{}},"additionalProperties":false},` + closed(`"a":{}`) + `]}`,
			`{"anyOf":[{"properties":{},"additionalProperties":false},` + closed(`"a":{}`) + `]}`,
		},
		"oneOf with null":         {`{"oneOf":[` + closed(`"a":{},"x":{}`, "x") + `,{"type":"null"}]}`, `{"oneOf":[` + closed(`"a":{}`) + `,{"type":"null"}]}`},
		"oneOf, dropped optional": {`{"oneOf":[` + closed(`"a":{},"x":{}`, "a") + `,` + closed(`"b":{}`, "b") + `]}`, `{"oneOf":[` + closed(`"a":{}`, "a") + `,` + closed(`"b":{}`, "b") + `]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := c.want
			switch name {
			case "recursion":
				c.in = strings.TrimSuffix(c.in, "}") + `,"$defs":{"A":{"$ref":"#"}}}`
			case "branches that lose everything go":
				c.in = strings.TrimSuffix(c.in, "}") + `,"$defs":{"R":{"$ref":"#/$defs/S"},"S":` + closed(`"x":{}`, "x") + `,"X":{}}}`
				want = closed(`"route":{"anyOf":[`+closed(`"a":{}`, "a")+`]}`, "route")
			}
			got, err := schema.Narrow([]byte(c.in), schema.Named("x"))
			require.NoError(t, err)
			assert.Equal(t, want, string(got))
			again, err := schema.Narrow(got, schema.Named("x"))
			require.NoError(t, err)
			assert.Equal(t, want, string(again))
		})
	}
}

func TestNarrowRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, rule, pointer string }{
		{`{"properties":{"a":{"properties":{"x":{},"y":{}}}}}`, schema.OpenObject, "/properties/a"},
		{`{"properties":{"x":{},"y":{}},"additionalProperties":{"type":"string"}}`, schema.OpenObject, ""},
		{`{"properties":{"x":{},"y":{}},"unevaluatedProperties":false,"allOf":[{"properties":{"z":{}}}]}`, schema.OpenObject, ""},
		{`{"properties":{"x":{},"y":{}},"unevaluatedProperties":false,"additionalProperties":true}`, schema.OpenObject, ""},
		{`{"properties":{"x":{},"y":{}},"patternProperties":{"^[w-z]$":{}},"additionalProperties":false}`, schema.Pattern, ""},
		{`{"properties":{"x":{},"y":{}},"patternProperties":{"(?=x)":{}},"additionalProperties":false}`, schema.Pattern, ""},
		{`{"properties":{"x":{},"y":{}},"additionalProperties":false,"dependentRequired":{"y":["x"]}}`, schema.Needed, ""},
		{`{"properties":{"x":{},"y":{}},"additionalProperties":false,"dependencies":{"y":["x"]}}`, schema.Needed, ""},
		{`{"properties":{"x":{},"y":{}},"additionalProperties":false,"dependentSchemas":{"y":{"required":["x"]}}}`, schema.Needed, "/dependentSchemas/y"},
		{`{"properties":{"x":{},"y":{}},"additionalProperties":false,"not":{"required":["x"]}}`, schema.Needed, "/not"},
		{`{"properties":{"x":{},"y":{}},"additionalProperties":false,"anyOf":[{"required":["y"]},{"required":["x"]}]}`, schema.Needed, "/anyOf/1"},
		{`{"allOf":[{"properties":{"x":{},"y":{}},"additionalProperties":false},{"required":["x"]}]}`, schema.Needed, "/allOf/1"},
		{`{"$ref":"#/$defs/A","required":["x"],"$defs":{"A":{"properties":{"x":{},"y":{}},"additionalProperties":false}}}`, schema.Needed, ""},
		{`{"properties":{"x":{},"y":{}},"additionalProperties":false,"required":["x"],"minProperties":1}`, schema.Needed, ""},
		{`{"properties":{"x":{},"y":{}},"additionalProperties":false,"required":["x"],"maxProperties":1}`, schema.Needed, ""},
		{`{"not":` + closed(`"x":{},"y":{}`) + `}`, schema.Negated, "/not"},
		{`{"if":{"items":{"$ref":"#/$defs/A"}},"$defs":{"A":` + closed(`"x":{},"y":{}`) + `}}`, schema.Negated, "/if"},
		{`{"contains":` + closed(`"x":{},"y":{}`) + `}`, schema.Negated, "/contains"},
		{`{"oneOf":[` + closed(`"a":{},"x":{}`, "x") + `,` + closed(`"a":{}`) + `]}`, schema.Overlap, "/oneOf/0"},
		{`{"oneOf":[` + closed(`"a":{},"x":{}`) + `,true]}`, schema.Overlap, "/oneOf/0"},
		{closed(`"x":{}`, "x"), schema.Nothing, ""},
		{`{"$ref":"#/$defs/A","$defs":{"A":` + closed(`"x":{}`) + `}}`, schema.Nothing, ""},
		{`{"items":{"anyOf":[` + closed(`"x":{}`) + `]}}`, schema.Nothing, "/items"},
		{`{"properties":{"x":{},"y":{}},"additionalProperties":false,"minProperties":2}`, schema.Nothing, ""},
		{`{"$ref":"https://e.org/other"}`, schema.ExternalRef, ""},
		{`{"items":{"$ref":"#/$defs/A"}}`, schema.DanglingRef, "/items"},
		{`{"items":{"$ref":"#/$defs"},"$defs":{"A":{}}}`, schema.DanglingRef, "/items"},
		{`{"items":{"$ref":"#nowhere"}}`, schema.DanglingRef, "/items"},
		{`{"items":{"$ref":"#/%zz"}}`, schema.DanglingRef, "/items"},
		{`{"properties":{"x":{"items":{}},"y":{"$ref":"#/properties/x/items"}},"additionalProperties":false}`, schema.DanglingRef, "/properties/y"},
		{`{"$ref":"#/mine","mine":` + closed(`"x":{},"y":{}`) + `}`, schema.UnknownPlace, "/mine"},
	} {
		_, err := schema.Narrow([]byte(c.in), schema.Named("x"))
		var refused *schema.NarrowError
		if assert.ErrorAs(t, err, &refused, c.in) {
			assert.Equal(t, c.rule, refused.Rule, "%s: %v", c.in, err)
			assert.Equal(t, c.pointer, refused.Pointer, c.in)
			assert.NotEmpty(t, refused.Reason)
		}
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	}
	_, err := schema.Narrow([]byte(`{"a":`), schema.Named("x"))
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
}

func TestNarrowAsksOncePerPropertyInOrder(t *testing.T) {
	t.Parallel()
	const in = `{"properties":{"b":{"properties":{"c/d":{"x-hide":true}},"additionalProperties":false},"a":{"$ref":"#/$defs/A"},"e":{"$ref":"#/$defs/A"}},
		"$defs":{"Z":{"properties":{"never":{}}},"A":{"properties":{"k":{"x-hide":"yes"},"l":{"x-hide":"no"}},"additionalProperties":false}}}`
	var asked []string
	marked := schema.Marked("x-hide", "true", "yes")
	got, err := schema.Narrow([]byte(in), func(p schema.Property) bool {
		asked = append(asked, p.Pointer())
		return marked(p)
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"/properties/b", "/properties/a", "/properties/e", "/properties/b/properties/c~1d",
		"/$defs/A/properties/k", "/$defs/A/properties/l"}, asked)
	assert.JSONEq(t, `{"properties":{"b":{"properties":{},"additionalProperties":false},"a":{"$ref":"#/$defs/A"},"e":{"$ref":"#/$defs/A"}},
		"$defs":{"A":{"properties":{"l":{"x-hide":"no"}},"additionalProperties":false}}}`, string(got))
}

// The tables of a generated package and the general way agree: dropping all routes but one is the prepared schema of that one.
func TestNarrowAgreesWithTheTables(t *testing.T) {
	t.Parallel()
	program := routes.New(routes.UnimplementedHandlers{})
	branches := program.Tables.Routings[0].Branches
	for _, d := range []runtime.Dialect{runtime.Plain, runtime.OpenAI, runtime.Anthropic, runtime.Gemini} {
		whole := program.RoutingSchema(0, d)
		for r, kept := range branches {
			got, err := schema.Narrow([]byte(whole), func(p schema.Property) bool {
				for _, b := range branches {
					if b.Name == p.Name && p.Name != kept.Name && !strings.Contains(p.Pointer(), "$defs") {
						return true
					}
				}
				return false
			})
			require.NoError(t, err)
			want := program.RouteSchema([]uint64{1 << r}, d)
			assert.Equal(t, definitions(t, want), definitions(t, string(got)), fmt.Sprint(d, kept.Name))
		}
	}
}

func definitions(t *testing.T, text string) string {
	t.Helper()
	var parts struct {
		Defs json.RawMessage `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &parts))
	return string(parts.Defs)
}

// large returns a closed document of about 100 KB with every kind of place in it.
func large() []byte {
	var defs []string
	for i := range 220 {
		defs = append(defs, fmt.Sprintf(`"Record%d":{"type":"object","description":"The record number %d of many, with a text that a reader may read.",`+
			`"properties":{"id":{"type":"string","description":"Its id."},"hidden":{"$ref":"#/$defs/Hidden%d"},"next":{"anyOf":[{"$ref":"#/$defs/Record%d"},{"type":"null"}]},`+
			`"list":{"type":"array","items":{"type":"integer","minimum":0}}},"required":["id","hidden","next","list"],"additionalProperties":false},`+
			`"Hidden%d":{"type":"string"}`, i, i, i, (i+1)%220, i))
	}
	return []byte(`{"$ref":"#/$defs/Record0","$defs":{` + strings.Join(defs, ",") + `}}`)
}

// Calls that follow each other, and calls at the same time, take over memory and nothing that was in it.
func TestNarrowManyAtOnce(t *testing.T) {
	t.Parallel()
	documents := [][]byte{large(), []byte(`{"type":"object","properties":{"a":{},"hidden":{}},"additionalProperties":false}`), []byte(`{"a":[1,`)}
	want := make([]string, len(documents))
	for i, d := range documents {
		out, err := schema.Narrow(d, schema.Named("hidden"))
		want[i] = fmt.Sprint(string(out), err)
	}
	require.Contains(t, want[2], "at byte 8")
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			for i := range 30 {
				at := (n + i) % len(documents)
				out, err := schema.Narrow(documents[at], schema.Named("hidden"))
				assert.Equal(t, want[at], fmt.Sprint(string(out), err))
			}
		})
	}
	group.Wait()
}

func BenchmarkNarrow100KB(b *testing.B) {
	in := large()
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		out, err := schema.Narrow(in, schema.Named("hidden"))
		if err != nil || len(out) > len(in)-220*40 {
			b.Fatal(len(in), len(out), errors.Join(err))
		}
	}
}
