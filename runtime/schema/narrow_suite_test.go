package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/schema"
)

// suiteFolder names the folder of a copy of github.com/json-schema-org/JSON-Schema-Test-Suite.
const suiteFolder = "JSON_SCHEMA_TEST_SUITE"

// Pruning changes no verdict of the official suite, in no draft that has definitions.
func TestNarrowKeepsTheVerdictsOfTheSuite(t *testing.T) {
	t.Parallel()
	folder := os.Getenv(suiteFolder)
	if folder == "" {
		t.Skipf("set %s to a copy of JSON-Schema-Test-Suite to run its cases", suiteFolder)
	}
	for draft, in := range map[string]*jsonschema.Draft{
		"draft2020-12": jsonschema.Draft2020, "draft2019-09": jsonschema.Draft2019, "draft7": jsonschema.Draft7, "draft6": jsonschema.Draft6, "draft4": jsonschema.Draft4,
	} {
		t.Run(draft, func(t *testing.T) {
			t.Parallel()
			tree := os.DirFS(path.Join(folder, "tests", draft))
			files, err := fs.Glob(tree, "*.json")
			require.NoError(t, err)
			require.NotEmpty(t, files)
			var narrowed, pruned, external, verdicts, lost int
			for _, file := range files {
				for _, c := range suiteCases(t, tree, file) {
					c.Schema = dated(c.Schema, in)
					got, err := schema.Narrow(c.Schema, schema.Named())
					var refused *schema.NarrowError
					if errors.As(err, &refused) && refused.Rule == schema.ExternalRef {
						external++
						continue
					}
					require.NoError(t, err, "%s: %s", file, c.Description)
					narrowed++
					if bytes.Contains(c.Schema, []byte(`$defs"`)) || bytes.Contains(c.Schema, []byte(`definitions"`)) {
						var compact bytes.Buffer
						require.NoError(t, json.Compact(&compact, c.Schema))
						if len(got) < compact.Len() {
							pruned++
						}
					}
					verdicts += sameVerdicts(t, in, c, got, file)
					lost += lostWithoutDefinitions(t, in, got)
				}
			}
			t.Logf("%d cases narrowed, %d of them pruned, %d refused for a reference out of the document; %d verdicts", narrowed, pruned, external, verdicts)
			assert.Greater(t, verdicts, 500)
			assert.Greater(t, lost, 5, "the control: the cases need their definitions")
		})
	}
}

type suiteCase struct {
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Tests       []struct {
		Description string          `json:"description"`
		Data        json.RawMessage `json:"data"`
	} `json:"tests"`
}

func suiteCases(t *testing.T, tree fs.FS, file string) []suiteCase {
	t.Helper()
	text, err := fs.ReadFile(tree, file)
	require.NoError(t, err)
	var cases []suiteCase
	require.NoError(t, json.Unmarshal(text, &cases))
	return cases
}

// dated says the draft in the schema: the older folders of the suite leave it out, and a schema without it is of 2020-12.
func dated(text []byte, draft *jsonschema.Draft) []byte {
	if text[0] != '{' || bytes.Contains(text, []byte(`"$schema"`)) {
		return text
	}
	head := `{"$schema":"` + draft.String() + `"`
	if rest := bytes.TrimSpace(text[1:]); rest[0] != '}' {
		head += ","
	}
	return append([]byte(head), text[1:]...)
}

func sameVerdicts(t *testing.T, draft *jsonschema.Draft, c suiteCase, narrowed []byte, file string) int {
	t.Helper()
	before, errBefore := compileIn(draft, c.Schema)
	after, errAfter := compileIn(draft, narrowed)
	require.Equal(t, errBefore == nil, errAfter == nil, "%s: %s: %v %v", file, c.Description, errBefore, errAfter)
	if errBefore != nil {
		return 0
	}
	for _, test := range c.Tests {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(test.Data))
		require.NoError(t, err)
		assert.Equal(t, before.Validate(doc) == nil, after.Validate(doc) == nil, "%s: %s: %s", file, c.Description, test.Description)
	}
	return len(c.Tests)
}

// lostWithoutDefinitions is a pruner that goes too far: it returns 1 when the schema does not compile any more.
func lostWithoutDefinitions(t *testing.T, draft *jsonschema.Draft, text []byte) int {
	t.Helper()
	v, err := schema.Parse(text)
	require.NoError(t, err)
	v.Members = slices.DeleteFunc(v.Members, func(m schema.Member) bool { return m.Key == "$defs" || m.Key == "definitions" })
	if _, err := compileIn(draft, []byte(v.String())); err != nil {
		return 1
	}
	return 0
}

func compileIn(draft *jsonschema.Draft, text []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(draft)
	if err := c.AddResource("http://example.org/case.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("http://example.org/case.json")
}
