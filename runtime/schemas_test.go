package runtime_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// object is a definition whose fields refer to others.
func object(name string, refs ...string) string {
	var b strings.Builder
	for i, ref := range refs {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"f%d":{"$ref":"#/$defs/%s"}`, i, ref)
	}
	return fmt.Sprintf(`{"type":"object","description":"%s","properties":{%s},"additionalProperties":false}`, name, b.String())
}

// definitions: A -> B -> C -> B, D -> D, E alone and without a form in OpenAI, F -> E.
var definitions = []runtime.Definition{
	{Name: "A", Refs: []int{2}, Plain: object("A", "B"), Gemini: object("gemini A", "B")},
	{Name: "B", Refs: []int{3}, Plain: object("B", "C")},
	{Name: "C", Refs: []int{2}, Plain: object("C", "B")},
	{Name: "D", Refs: []int{4}, Plain: object("D", "D")},
	{Name: "E", Plain: object("E"), OpenAI: "-"},
	{Name: "F", Refs: []int{5}, Plain: object("F", "E")},
}

var branches = []runtime.BranchRow{{Name: "a", Def: 1}, {Name: "d", Def: 4}, {Name: "e", Def: 5}, {Name: "f", Def: 6}}

func defs(names ...string) string {
	var parts []string
	for _, name := range names {
		for _, def := range definitions {
			if def.Name == name {
				parts = append(parts, fmt.Sprintf("%q:%s", name, def.Plain))
			}
		}
	}
	return `"$defs":{` + strings.Join(parts, ",") + `}`
}

func TestSetSchemas(t *testing.T) {
	gemini := func(text string) string {
		return strings.ReplaceAll(text, `"description":"A"`, `"description":"gemini A"`)
	}
	const (
		closedA = `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],"additionalProperties":false`
		closedD = `{"type":"object","properties":{"d":{"$ref":"#/$defs/D"}},"required":["d"],"additionalProperties":false`
	)
	wrapped := `{"type":"object","properties":{"route":{"anyOf":[` + closedA + `},` + closedD + `}]}},"required":["route"],"additionalProperties":false,`
	s := runtime.NewSchemas(definitions, branches)
	for _, c := range []struct {
		name  string
		words uint64
		d     runtime.Dialect
		want  string
	}{
		{"empty", 0, runtime.Plain, ""},
		{"unknown route", 1 << 40, runtime.Plain, ""},
		{"unknown dialect", 1, runtime.Gemini + 1, ""},
		{"plain, one", 1, runtime.Plain, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],"additionalProperties":false,` +
			`"minProperties":1,"maxProperties":1,` + defs("A", "B", "C") + `}`},
		{"plain, two", 1 | 2 | 1<<40, runtime.Plain, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"d":{"$ref":"#/$defs/D"}},` +
			`"additionalProperties":false,"minProperties":1,"maxProperties":1,` + defs("A", "B", "C", "D") + `}`},
		{"openai, one", 2, runtime.OpenAI, closedD + `,` + defs("D") + `}`},
		{"openai, no form", 4, runtime.OpenAI, ""},
		{"openai, no form reached", 8, runtime.OpenAI, ""},
		{"anthropic, has a form", 8, runtime.Anthropic, `{"type":"object","properties":{"f":{"$ref":"#/$defs/F"}},"required":["f"],"additionalProperties":false,` + defs("E", "F") + `}`},
		{"openai, two", 3, runtime.OpenAI, wrapped + defs("A", "B", "C", "D") + `}`},
		{"anthropic, two", 3, runtime.Anthropic, wrapped + defs("A", "B", "C", "D") + `}`},
		{"gemini, one", 1, runtime.Gemini, closedA + `,"propertyOrdering":["a"],` + gemini(defs("A", "B", "C")) + `}`},
		{"gemini, two", 3, runtime.Gemini, wrapped + `"propertyOrdering":["route"],` + gemini(defs("A", "B", "C", "D")) + `}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 2 { // the second answer of a single route comes from the memo
				got := s.Set([]uint64{c.words}, c.d)
				require.Equal(t, c.want, got)
				assert.True(t, got == "" || json.Valid([]byte(got)))
			}
		})
	}
	assert.Empty(t, s.Set(nil, runtime.Plain))
	assert.Empty(t, s.Union([]runtime.BranchRow{{Name: "x", Def: 7}}, runtime.Plain))
	assert.Empty(t, s.Union([]runtime.BranchRow{{Name: "x"}}, runtime.Plain))
	assert.Equal(t, s.Set([]uint64{15}, runtime.Plain), s.Union(branches, runtime.Plain))
	odd := s.Union([]runtime.BranchRow{{Name: "a\"\\\u00e9", Def: 5}}, runtime.Plain)
	assert.True(t, json.Valid([]byte(odd)), odd)
}

func TestDefinitionAsDocument(t *testing.T) {
	s := runtime.NewSchemas(definitions, branches)
	root := func(i int) string { return strings.TrimSuffix(definitions[i-1].Plain, "}") + "," }
	assert.Equal(t, root(1)+defs("B", "C")+"}", s.Def(1, runtime.Plain))
	assert.Equal(t, root(2)+defs("B", "C")+"}", s.Def(2, runtime.Plain))
	assert.Equal(t, root(4)+defs("D")+"}", s.Def(4, runtime.Anthropic))
	assert.Equal(t, definitions[4].Plain, s.Def(5, runtime.Gemini))
	for _, i := range []int{-1, 0, 7} {
		assert.Empty(t, s.Def(i, runtime.Plain))
	}
	assert.Empty(t, s.Def(5, runtime.OpenAI))
	assert.Empty(t, s.Def(6, runtime.OpenAI))
	assert.Empty(t, s.Def(5, 9))
}

// What is made in advance for a route serves no other branch of its record, whatever it is called.
func TestBranchesThatShareARecord(t *testing.T) {
	shared := []runtime.BranchRow{{Name: "d", Def: 4}, {Name: "again", Def: 4}, {Name: "", Def: 4}, {Name: "", Def: 5}, {Name: "d\n", Def: 4}}
	outside := []runtime.BranchRow{{Name: "none", Def: 0}, {Name: "beyond", Def: 7}}
	for _, first := range [][]runtime.BranchRow{nil, shared[:1], shared[1:3], shared, append(outside, shared...)} {
		s := runtime.NewSchemas(definitions, first)
		for _, d := range []runtime.Dialect{runtime.Plain, runtime.Anthropic, runtime.Gemini} {
			for i := range shared {
				name, err := runtime.Encode(shared[i].Name)
				require.NoError(t, err)
				property := fmt.Sprintf(`"properties":{%s:{"$ref":"#/$defs/%s"}},"required":[%s]`, name, definitions[shared[i].Def-1].Name, name)
				assert.Contains(t, s.Union(shared[i:i+1], d), property)
				if d != runtime.Plain {
					assert.Contains(t, s.Union(shared, d), property)
				}
			}
			assert.Equal(t, runtime.NewSchemas(definitions, nil).Union(shared, d), s.Union(shared, d))
			assert.Empty(t, s.Union(outside, d))
		}
	}
}

// Remembered texts answer only what they were asked: every set gets its own, in whatever order they come, and many at once.
func TestSetsAreNotMixedUp(t *testing.T) {
	var all []runtime.BranchRow
	var defs []runtime.Definition
	for i := range 10 {
		name := "Record" + string(rune('A'+i))
		defs = append(defs, runtime.Definition{Name: name, Plain: `{"type":"object"}`})
		all = append(all, runtime.BranchRow{Name: "branch" + string(rune('A'+i)), Type: name, Def: i + 1})
	}
	remembering := runtime.NewSchemas(defs, all)
	for range 2 {
		for words := range uint64(1 << 10) {
			for _, d := range []runtime.Dialect{runtime.Plain, runtime.OpenAI} {
				fresh := runtime.NewSchemas(defs, all)
				if !assert.Equal(t, fresh.Set([]uint64{words}, d), remembering.Set([]uint64{words}, d), "%b %s", words, d) {
					return
				}
			}
		}
	}
	set := []uint64{0b1011}
	first := remembering.Set(set, runtime.Plain)
	assert.Zero(t, testing.AllocsPerRun(10, func() { _ = remembering.Set(set, runtime.Plain) }))
	set[0] = 0b1101 // the caller's words are its own
	assert.NotEqual(t, first, remembering.Set(set, runtime.Plain))
	var group sync.WaitGroup
	for words := range uint64(64) {
		group.Go(func() { remembering.Set([]uint64{words}, runtime.Gemini) })
	}
	group.Wait()
}
