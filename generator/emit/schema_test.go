package emit

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	judge "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/schema"
)

func ptr[T any](v T) *T { return &v }

// schemaPlan holds every kind of field once.
func schemaPlan() *plan.Plan {
	elem := plan.Type{Kind: plan.RecordOf, Name: "Note"}
	text := plan.Type{Kind: plan.ScalarOf, Name: "Key"}
	p := &plan.Plan{
		Source: "routes.yaml",
		Enums: []plan.Enum{{Name: "Mood", Doc: "How it feels.", Values: []plan.EnumValue{
			{Wire: "GOOD", Doc: "All is <well> & done."},
			{Wire: "SECRET", Hidden: true, Doc: "Not said."}, {Wire: "BAD"}}}},
		Scalars: []plan.Scalar{{Name: "Key", Doc: "A key.", Type: plan.Type{Kind: plan.String},
			Constraints: plan.Constraints{MinLength: ptr(2), MaxLength: ptr(9),
				Pattern: "^[a-z]+$"}}},
		Records: []plan.Record{
			{Name: "ZRequest", Role: plan.RoleRequest, Doc: "Asks.", Schema: true,
				Refs: []string{"Note"}, Fields: []plan.Field{
					{Key: "title", JSON: "title", Doc: "The title.", Required: true,
						Type:        plan.Type{Kind: plan.String},
						Constraints: plan.Constraints{MaxLength: ptr(80)}, Default: ptr(`"<none>"`),
						Examples: []string{`"a"`, `"b"`}},
					{Key: "secret", JSON: "secret", Hidden: true, Type: plan.Type{Kind: plan.JSON}},
					{Key: "count", JSON: "count", Type: plan.Type{Kind: plan.Int},
						Constraints: plan.Constraints{Min: ptr(0.0), Max: ptr(2.5)},
						Default:     ptr("0")},
					{Key: "ratio", JSON: "ratio", Type: plan.Type{Kind: plan.Float}},
					{Key: "done", JSON: "done", Required: true, Type: plan.Type{Kind: plan.Bool},
						Default: ptr("false")},
					{Key: "at", JSON: "at", Type: plan.Type{Kind: plan.Time}},
					{Key: "wait", JSON: "wait", Type: plan.Type{Kind: plan.Duration}},
					{Key: "mood", JSON: "mood", Doc: "Mood now.",
						Type: plan.Type{Kind: plan.EnumOf, Name: "Mood"}},
					{Key: "key", JSON: "key", Type: text,
						Constraints: plan.Constraints{MinLength: ptr(1), MaxLength: ptr(5)}},
					{Key: "note", JSON: "note", Doc: "Lost on purpose.", Type: elem},
					{Key: "notes", JSON: "notes", Doc: "All notes.",
						Type:        plan.Type{Kind: plan.ListOf, Elem: &elem},
						Constraints: plan.Constraints{MinItems: ptr(1)}},
					{Key: "byKey", JSON: "byKey", Type: plan.Type{Kind: plan.MapOf, Elem: &text},
						Constraints: plan.Constraints{MaxItems: ptr(3)}},
				}},
			{Name: "AnyResult", Role: plan.RoleResult, Schema: true, Refs: []string{},
				Fields: []plan.Field{
					{Key: "data", JSON: "data", Doc: "Anything.", Type: plan.Type{Kind: plan.JSON},
						Pos: report.Pos{Line: 7, Column: 3}},
					{Key: "raw", JSON: "raw", Type: plan.Type{Kind: plan.JSON}}}},
			{Name: "LoneInterrupt", Role: plan.RoleInterrupt, Refs: []string{"Note"},
				Fields: []plan.Field{{Key: "note", JSON: "note", Type: elem}}},
			{Name: "Note", Role: plan.RoleNested, Schema: true, Refs: []string{"Note"},
				Fields: []plan.Field{{Key: "next", JSON: "next", Type: elem}}},
		},
		Routings: []plan.Routing{{RoutingRow: runtime.RoutingRow{Name: "ZRouting"},
			Branches: []plan.Branch{
				{BranchRow: runtime.BranchRow{Name: "zRequest", Type: "ZRequest"}},
				{BranchRow: runtime.BranchRow{Name: "anyResult", Type: "AnyResult"}}}}},
	}
	p.Index()
	return p
}

func TestBuildDefinitions(t *testing.T) {
	t.Parallel()
	p := schemaPlan()
	defs, err := buildDefinitions(p, shownRecords(p))
	require.NoError(t, err)
	require.Len(t, defs, 4)
	anything, lone, note, z := defs[0].texts, defs[1].texts, defs[2].texts, defs[3].texts
	assert.Equal(t, []string{"AnyResult", "LoneInterrupt", "Note", "ZRequest"},
		[]string{defs[0].name, defs[1].name, defs[2].name, defs[3].name})
	assert.Contains(t, lone[runtime.Plain], `"note":{"$ref":"#/$defs/Note"}`)
	assert.Equal(t, `{"type":"object","description":"Asks.","properties":{`+
		`"title":{"type":"string","description":"The title.","maxLength":80,"default":"<none>","examples":["a","b"]},`+
		`"count":{"type":"integer","minimum":0,"maximum":2.5,"default":0},`+
		`"ratio":{"type":"number"},`+
		`"done":{"type":"boolean","default":false},`+
		`"at":{"type":"string","format":"date-time"},`+
		`"wait":{"type":"string","pattern":"^[-+]?(0|(([0-9]+\\.?[0-9]*|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"},`+
		`"mood":{"type":"string","description":"Mood now.\nGOOD: All is <well> & done.","enum":["GOOD","BAD"]},`+
		`"key":{"type":"string","description":"A key.","pattern":"^[a-z]+$","minLength":2,"maxLength":5},`+
		`"note":{"$ref":"#/$defs/Note"},`+
		`"notes":{"type":"array","description":"All notes.","items":{"$ref":"#/$defs/Note"},"minItems":1},`+
		`"byKey":{"type":"object","additionalProperties":{"type":"string","description":"A key.","pattern":"^[a-z]+$","minLength":2,"maxLength":9},"maxProperties":3}`+
		`},"required":["title","done"],"additionalProperties":false}`, z[runtime.Plain])
	assert.Equal(t,
		`{"type":"object","properties":{"data":{"description":"Anything."},"raw":{}},`+
			`"additionalProperties":false}`,
		anything[runtime.Plain])
	assert.Empty(t, anything[runtime.OpenAI]+anything[runtime.Anthropic], "any JSON has no form")
	assert.Equal(t,
		`{"type":"object","properties":{"data":{"description":"Anything."},"raw":{}},"additionalProperties":false,`+
			`"propertyOrdering":["data","raw"]}`,
		anything[runtime.Gemini])
	assert.Equal(t,
		`{"type":"object","properties":{"next":{"$ref":"#/$defs/Note"}},"additionalProperties":false}`,
		note[runtime.Plain])
	assert.Equal(t, note[runtime.Plain], note[runtime.Anthropic])
	assert.Equal(t,
		`{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/Note"},{"type":"null"}]}},"required":["next"],`+
			`"additionalProperties":false}`,
		note[runtime.OpenAI])

	for _, d := range []runtime.Dialect{runtime.OpenAI, runtime.Gemini} {
		found, err := schema.Lint(d,
			[]byte(strings.TrimSuffix(z[d], "}")+`,"$defs":{"Note":`+note[d]+`}}`))
		require.NoError(t, err)
		assert.Empty(t, found, d)
	}
}

func TestSchemaFiles(t *testing.T) {
	t.Parallel()
	p := schemaPlan()
	p.Records = append(p.Records, plan.Record{Name: "Unseen", Role: plan.RoleNested})
	p.Index()
	files, err := schemaFiles(p, shownRecords(p))
	require.NoError(t, err)
	require.Len(t, files, 4)
	text := string(files["schemas/plain.json"])
	assert.True(t, strings.HasPrefix(text, `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"$comment": "Code generated by routegen from routes.yaml; DO NOT EDIT.",
	"$defs": {
		"AnyResult": {
			"type": "object",
`), text)
	assert.Contains(t, text, `
		"LoneInterrupt": {
			"type": "object",
			"properties": {
				"note": {
					"$ref": "#/$defs/Note"
				}
			},
			"additionalProperties": false
		},
		"Note": {
`)
	assert.NotContains(t, text, "Unseen")
	assert.NotContains(t, string(files["schemas/openai.json"]), "AnyResult")
	assert.Contains(t, string(files["schemas/gemini.json"]), "AnyResult")
	assert.Contains(t, NewComposer(p).schemas.Def("Unseen", runtime.Plain), "object")
	for name, text := range files {
		value, err := judge.UnmarshalJSON(strings.NewReader(string(text)))
		require.NoError(t, err, name)
		c := judge.NewCompiler()
		require.NoError(t, c.AddResource("mem:///"+name, value))
		_, err = c.Compile("mem:///" + name)
		require.NoError(t, err, name)
	}
}

func TestSchemaFilesRefuseTypesNestedTooDeeply(t *testing.T) {
	t.Parallel()
	p := schemaPlan()
	for range 70 {
		inner := p.Records[0].Fields[0].Type
		p.Records[0].Fields[0].Type = plan.Type{Kind: plan.ListOf, Elem: &inner}
	}
	_, err := schemaFiles(p, nil)
	assert.ErrorContains(t, err, "ZRequest")
}

// manyRecords is a plan of n routes: a request, an interrupt and a routing each.
func manyRecords(n int) *plan.Plan {
	p := &plan.Plan{Source: "routes.yaml"}
	for i := range n {
		for _, role := range []plan.Role{plan.RoleRequest, plan.RoleInterrupt, plan.RoleResult} {
			r := plan.Record{Name: fmt.Sprintf("Node%d%s", i, role), Role: role,
				Doc: "What it is for.", Schema: true}
			for f := range 6 {
				r.Fields = append(r.Fields,
					plan.Field{Key: fmt.Sprint("field", f), JSON: fmt.Sprint("field", f),
						Doc:      "What this field is for.",
						Required: f%2 == 0, Type: plan.Type{Kind: plan.String},
						Constraints: plan.Constraints{MaxLength: ptr(200)}})
			}
			p.Records = append(p.Records, r)
		}
		p.Routings = append(p.Routings, plan.Routing{
			RoutingRow: runtime.RoutingRow{Name: fmt.Sprintf("Node%dRouting", i)},
			Branches: []plan.Branch{{BranchRow: runtime.BranchRow{Name: "next",
				Type: fmt.Sprintf("Node%drequest", (i+1)%n)}}}})
	}
	p.Index()
	return p
}

func BenchmarkSchemas(b *testing.B) {
	p := manyRecords(14_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schemaFiles(p, shownRecords(p)); err != nil {
			b.Fatal(err)
		}
	}
}

// TestDurationPatternIsWhatDecodersRead compares the pattern that schemas carry with the decoder.
func TestDurationPatternIsWhatDecodersRead(t *testing.T) {
	t.Parallel()
	re := regexp.MustCompile(durationPattern)
	assert.Empty(t, schema.GoPattern(durationPattern))
	for _, text := range []string{"0", "-0", "+0", "+1h", "1h30m", "1.5h", "1.h", ".5h", "-20m",
		"5ns", "7us", "7µs", "7μs", "", "1", "-", "h", ".h", "1d",
		"1h 30m", "00", "0h1", "--1h", "1e3s"} {
		var v runtime.Duration
		assert.Equal(t, v.UnmarshalText([]byte(text)) == nil, re.MatchString(text), "%q", text)
	}
}
