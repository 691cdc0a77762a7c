package runtime_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
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
	return fmt.Sprintf(
		`{"type":"object","description":"%s","properties":{%s},"additionalProperties":false}`, name,
		b.String())
}

// definition is a record as a test states it: "" is the same as plain, "-" is no form.
type definition struct{ name, plain, openai, gemini string }

// definitions: A -> B -> C -> B, D -> D, E alone and without a form in OpenAI, F -> E.
var definitions = []definition{
	{name: "A", plain: object("A", "B"), gemini: object("gemini A", "B")},
	{name: "B", plain: object("B", "C")},
	{name: "C", plain: object("C", "B")},
	{name: "D", plain: object("D", "D")},
	{name: "E", plain: object("E"), openai: "-"},
	{name: "F", plain: object("F", "E")},
}

var branches = []runtime.BranchRow{{Name: "a", Type: "A"}, {Name: "d", Type: "D"},
	{Name: "e", Type: "E"}, {Name: "f", Type: "F"}}

// filesOf returns the files of definitions, indented as the generator writes them.
func filesOf(defs []definition) func(string) ([]byte, error) {
	return func(file string) ([]byte, error) {
		var rows []string
		for _, def := range defs {
			text := def.plain
			switch {
			case file == "schemas/openai.json" && def.openai != "":
				text = def.openai
			case file == "schemas/gemini.json" && def.gemini != "":
				text = def.gemini
			}
			if text != "-" {
				rows = append(rows, fmt.Sprintf("%q:%s", def.name, text))
			}
		}
		var out bytes.Buffer
		err := json.Indent(&out, []byte(`{"$comment":"Definitions.","$defs":{`+
			strings.Join(rows, ",")+`}}`), "", "\t")
		return out.Bytes(), err
	}
}

func defs(names ...string) string {
	var parts []string
	for _, name := range names {
		for _, def := range definitions {
			if def.name == name {
				parts = append(parts, fmt.Sprintf("%q:%s", name, def.plain))
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
	wrapped := `{"type":"object","properties":{"route":{"anyOf":[` + closedA + `},` + closedD +
		`}]}},"required":["route"],"additionalProperties":false,`
	s := runtime.NewSchemas(filesOf(definitions), branches)
	for _, c := range []struct {
		name  string
		words uint64
		d     runtime.Dialect
		want  string
	}{
		{"empty", 0, runtime.Plain, ""},
		{"unknown route", 1 << 40, runtime.Plain, ""},
		{"unknown dialect", 1, runtime.Gemini + 1, ""},
		{"plain, one", 1, runtime.Plain,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],"additionalProperties":false,` +
				`"minProperties":1,"maxProperties":1,` + defs("A", "B", "C") + `}`},
		{"plain, two", 1 | 2 | 1<<40, runtime.Plain,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"d":{"$ref":"#/$defs/D"}},` +
				`"additionalProperties":false,"minProperties":1,"maxProperties":1,` + defs("A", "B",
				"C", "D") + `}`},
		{"openai, one", 2, runtime.OpenAI, closedD + `,` + defs("D") + `}`},
		{"openai, no form", 4, runtime.OpenAI, ""},
		{"openai, no form reached", 8, runtime.OpenAI, ""},
		{"anthropic, has a form", 8, runtime.Anthropic,
			`{"type":"object","properties":{"f":{"$ref":"#/$defs/F"}},"required":["f"],"additionalProperties":false,` + defs("E", "F") + `}`},
		{"openai, two", 3, runtime.OpenAI, wrapped + defs("A", "B", "C", "D") + `}`},
		{"anthropic, two", 3, runtime.Anthropic, wrapped + defs("A", "B", "C", "D") + `}`},
		{"gemini, one", 1, runtime.Gemini, closedA + `,"propertyOrdering":["a"],` +
			gemini(defs("A", "B", "C")) + `}`},
		{"gemini, two", 3, runtime.Gemini, wrapped + `"propertyOrdering":["route"],` +
			gemini(defs("A", "B", "C", "D")) + `}`},
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
	assert.Empty(t, s.Union([]runtime.BranchRow{{Name: "x", Type: "G"}}, runtime.Plain))
	assert.Empty(t, s.Union([]runtime.BranchRow{{Name: "x"}}, runtime.Plain))
	assert.Equal(t, s.Set([]uint64{15}, runtime.Plain), s.Union(branches, runtime.Plain))
	odd := s.Union([]runtime.BranchRow{{Name: "a\"\\\u00e9", Type: "E"}}, runtime.Plain)
	assert.True(t, json.Valid([]byte(odd)), odd)
}

func TestDefinitionAsDocument(t *testing.T) {
	s := runtime.NewSchemas(filesOf(definitions), branches)
	root := func(i int) string { return strings.TrimSuffix(definitions[i].plain, "}") + "," }
	assert.Equal(t, root(0)+defs("B", "C")+"}", s.Def("A", runtime.Plain))
	assert.Equal(t, root(1)+defs("B", "C")+"}", s.Def("B", runtime.Plain))
	assert.Equal(t, root(3)+defs("D")+"}", s.Def("D", runtime.Anthropic))
	assert.Equal(t, definitions[4].plain, s.Def("E", runtime.Gemini))
	for _, name := range []string{"", "G", "a"} {
		assert.Empty(t, s.Def(name, runtime.Plain))
	}
	assert.Empty(t, s.Def("E", runtime.OpenAI))
	assert.Empty(t, s.Def("F", runtime.OpenAI))
	assert.Empty(t, s.Def("E", 9))
}

// Data that looks like a reference is none where it stands in a string, and leads nowhere where no
// record has its name.
func TestDataIsNoReference(t *testing.T) {
	data := `{"type":"object","description":"say \"$ref\":\"#/$defs/A\" {[",` +
		`"examples":[{"$ref":"#/$defs/Gone"}],"additionalProperties":false}`
	s := runtime.NewSchemas(filesOf(append([]definition{{name: "Data", plain: data}},
		definitions...)), nil)
	assert.Equal(t, data, s.Def("Data", runtime.Plain))
}

// A file that cannot be read, or is not JSON, has no definitions.
func TestUnreadableFiles(t *testing.T) {
	whole := filesOf(definitions)
	for name, read := range map[string]func(string) ([]byte, error){
		"missing": func(string) ([]byte, error) { return nil, fs.ErrNotExist },
		"cut": func(file string) ([]byte, error) {
			text, err := whole(file)
			return text[:len(text)/2], err
		},
		"plain missing": func(file string) ([]byte, error) {
			if file == "schemas/plain.json" {
				return nil, fs.ErrNotExist
			}
			return whole(file)
		},
	} {
		s := runtime.NewSchemas(read, branches)
		for _, d := range runtime.Dialects() {
			assert.Empty(t, s.Set([]uint64{1}, d), name)
			assert.Empty(t, s.Def("A", d), name)
		}
	}
	s := runtime.NewSchemas(whole, branches)
	assert.True(t, json.Valid(s.Definitions(runtime.OpenAI)))
	assert.Nil(t, s.Definitions(9))
}

// A record that several branches carry stands under the name of each.
func TestBranchesThatShareARecord(t *testing.T) {
	shared := []runtime.BranchRow{{Name: "d", Type: "D"}, {Name: "again", Type: "D"},
		{Name: "", Type: "D"}, {Name: "", Type: "E"}, {Name: "d\n", Type: "D"}}
	outside := []runtime.BranchRow{{Name: "none"}, {Name: "beyond", Type: "G"}}
	for _, first := range [][]runtime.BranchRow{nil, shared[:1], shared[1:3], shared,
		append(outside, shared...)} {
		s := runtime.NewSchemas(filesOf(definitions), first)
		for _, d := range []runtime.Dialect{runtime.Plain, runtime.Anthropic, runtime.Gemini} {
			for i := range shared {
				name, err := runtime.Encode(shared[i].Name)
				require.NoError(t, err)
				property := fmt.Sprintf(`"properties":{%s:{"$ref":"#/$defs/%s"}},"required":[%s]`,
					name, shared[i].Type, name)
				assert.Contains(t, s.Union(shared[i:i+1], d), property)
				if d != runtime.Plain {
					assert.Contains(t, s.Union(shared, d), property)
				}
			}
			assert.Equal(t, runtime.NewSchemas(filesOf(definitions), nil).Union(shared, d),
				s.Union(shared, d))
			assert.Empty(t, s.Union(outside, d))
		}
	}
}

// Remembered texts answer only what they were asked: every set gets its own, in whatever order they
// come, and many at once.
func TestSetsAreNotMixedUp(t *testing.T) {
	var all []runtime.BranchRow
	var defs []definition
	for i := range 10 {
		name := "Record" + string(rune('A'+i))
		defs = append(defs, definition{name: name, plain: `{"type":"object"}`})
		all = append(all, runtime.BranchRow{Name: "branch" + string(rune('A'+i)), Type: name})
	}
	remembering := runtime.NewSchemas(filesOf(defs), all)
	for range 2 {
		for words := range uint64(1 << 10) {
			for _, d := range []runtime.Dialect{runtime.Plain, runtime.OpenAI} {
				fresh := runtime.NewSchemas(filesOf(defs), all)
				if !assert.Equal(t, fresh.Set([]uint64{words}, d),
					remembering.Set([]uint64{words}, d), "%b %s", words, d) {
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
