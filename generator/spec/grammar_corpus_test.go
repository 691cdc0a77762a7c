package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/report"
)

// TestEditorSchemaAndReaderJudgeAlike makes a document with each key that the grammar has, changes
// it in one place after another, and asks both. What the reader takes the schema must take; what
// the reader refuses for its keys or the kind of a value the schema must refuse. Nothing is listed
// here: a key that joins the grammar is tried as well.
func TestEditorSchemaAndReaderJudgeAlike(t *testing.T) {
	t.Parallel()
	documents := changedDocuments(t)
	assert.Greater(t, len(documents), 2000)
	assert.Empty(t, differences(t, EditorSchema(), documents))
}

// TestJudgingAlikeCanLose gives the comparison schemas with one thing wrong.
func TestJudgingAlikeCanLose(t *testing.T) {
	t.Parallel()
	documents, text := changedDocuments(t), string(EditorSchema())
	for name, wrong := range map[string]string{
		"everything is taken": "true",
		"nothing is taken":    "false",
		"unknown keys are taken": strings.ReplaceAll(text, `"additionalProperties": false`,
			`"title": "any"`),
		"nothing is required": strings.ReplaceAll(text, `"required": [`, `"examples": [`),
		"texts are anything":  strings.ReplaceAll(text, `"type": "string"`, `"title": "any"`),
		"whole numbers are not": strings.ReplaceAll(text, `"type": "integer"`,
			`"type": "number"`),
		"names are anything": strings.ReplaceAll(text, `"propertyNames": {`,
			`"not": {"const": 0}, "x": {`),
		"words are of any letter": strings.ReplaceAll(text, `"pattern": `, `"title": `),
		"a key is missing":        strings.Replace(text, `"timeout": {`, `"time": {`, 1),
		"any word will do":        strings.ReplaceAll(text, `"enum": [`, `"examples": [`),
	} {
		require.NotEqual(t, text, wrong, name)
		assert.NotEmpty(t, differences(t, []byte(wrong), documents), name)
	}
}

// schemaSees are the rules about one key or one value. The others need code, or more of the
// document.
var schemaSees = []string{RuleUnknownKey, RuleMissingKey, RuleWrongKind, RuleScalarKind, RuleValue,
	RuleVersion, RuleNameCharset, RuleNameJSON}

// judged is a document and what the reader says to it.
type judged struct {
	what        string
	value       any
	findings    []report.Finding
	sound, seen bool // nothing is wrong; something is that a schema sees
}

// changedDocuments returns every change of a document, judged by the reader.
func changedDocuments(t *testing.T) []judged {
	t.Helper()
	var out []judged
	s := language()
	try := func(what string, doc map[string]any) {
		text, err := json.Marshal(doc)
		require.NoError(t, err)
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		r := &reader{src: report.NewSource("x", text)}
		root := r.decode(text)
		require.NotNil(t, root, "%s: %s", what, text)
		r.readMapping(s, root, &Spec{})
		out = append(out, judged{
			what: what, value: v, findings: r.findings,
			// which is about two keys
			sound: !slices.ContainsFunc(r.findings, func(f report.Finding) bool {
				return f.Rule != RuleConflict
			}),
			seen: slices.ContainsFunc(r.findings, func(f report.Finding) bool {
				return slices.Contains(schemaSees, f.Rule)
			}),
		})
	}
	try("all keys at once", sampleOf(s, func(*Key) bool { return true }))
	doc := sampleOf(s, isRequired)
	try("only what is required", doc)
	require.Empty(t, out[1].findings)
	(&changes{try: func(what string) { try(what, doc) }, seen: map[*Shape]bool{}}).
		of(s, doc, "")
	return out
}

// differences says on which documents the schema does not agree with the reader, up to as many as
// anybody reads.
func differences(t *testing.T, text []byte, documents []judged) []string {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("routes.schema.json", doc))
	schema, err := compiler.Compile("routes.schema.json")
	require.NoError(t, err)
	var out []string
	for _, d := range documents {
		if len(out) == 20 {
			break
		}
		if refused := schema.Validate(d.value) != nil; d.sound && refused || d.seen && !refused {
			out = append(out, fmt.Sprintf("%s: the schema refuses it: %v, the reader says %v",
				d.what, refused, d.findings))
		}
	}
	return out
}

// isOneOf reports whether a key is the one that a sample has of those of which one must be there.
func isOneOf(s *Shape, k *Key) bool { return len(s.oneOf) > 0 && s.oneOf[0] == k.Name }

func isRequired(k *Key) bool { return k.required }

// sampleOf is a value of a shape with some of its keys.
func sampleOf(s *Shape, has func(*Key) bool) map[string]any {
	out := map[string]any{}
	for i := range s.Keys {
		// what holds itself has no end
		if has(&s.Keys[i]) && s.Keys[i].Of != s || isOneOf(s, &s.Keys[i]) {
			out[s.Keys[i].Name] = sample(&s.Keys[i], has)
		}
	}
	return out
}

func sample(k *Key, has func(*Key) bool) any {
	if k.List {
		item := *k
		item.List = false
		return []any{sample(&item, has)}
	}
	switch k.Form {
	case formFlag:
		return true
	case formWhole, formNumber:
		return 1
	case formScalar, FormAny, FormWords, formLiteral, formLiteralOrNull:
		return "x"
	case FormMapping:
		return sampleOf(k.Of, has)
	case FormEntries:
		if k.Of.Noun == "" {
			return map[string]any{sampleText[k.keys]: "x"}
		}
		return map[string]any{sampleText[k.keys]: sampleOf(k.Of, has)}
	case FormText:
	}
	if len(k.values) > 0 {
		return k.values[0]
	}
	return sampleText[k.class]
}

// sampleText is a legal string of each class.
var sampleText = map[class]string{
	classAny: "x", classProse: "Some words.", classLine: "Some words",
	classAssignee: "group:finance", classMember: "goal",
	classNode: "planner", classBranch: "next",
	classType: "Report", classKind: "ask", classValue: "GO", classJSON: "goal", classGo: "Goal",
	classAgentType: "PLANNER",
	classMark:      "work", classTool: "search", classDuration: "15m", classPackage: "routes",
	classOut:    "generated/routes",
	classGoType: "example.com/app/agents.Ticket", classTemplate: "workflow/planner",
	classPattern: "^[a-z]+$", classTypeExpr: "string",
	classLanguage: "en", classSnake: "pay_bill",
}

// changes tries a document changed in every place, one at a time, and puts each back.
type changes struct {
	try  func(what string)
	seen map[*Shape]bool
}

// values are what is put in the place of others: each kind that YAML has, empty and not, and texts
// that are and are not words.
func values() []any {
	return []any{
		nil, true, 1, 0, -1, 1.5, "x", "Xy", "two words", "é", "", "none", "interrupt",
		[]any{}, []any{"x"}, []any{1}, []any{nil}, []any{"two words"}, []any{[]any{}},
		[]any{map[string]any{}},
		map[string]any{}, map[string]any{"x": "x"}, map[string]any{"X": map[string]any{}},
		map[string]any{"two words": map[string]any{}},
		map[string]any{"x": nil}, map[string]any{"x": 1}, map[string]any{"x": []any{}},
	}
}

func (c *changes) of(s *Shape, at map[string]any, path string) {
	if c.seen[s] {
		return
	}
	c.seen[s] = true
	for _, unknown := range []string{"unknown", "Doc", "x-more", "$ref"} {
		at[unknown] = "x"
		c.try(path + "/" + unknown)
		delete(at, unknown)
	}
	for i := range s.Keys {
		k := &s.Keys[i]
		kept, here := sample(k, isRequired), path+"/"+k.Name
		delete(at, k.Name)
		c.try(here + " left out")
		at[k.Name] = sample(k, func(*Key) bool { return true })
		c.try(here)
		for _, v := range values() {
			at[k.Name] = v
			c.try(fmt.Sprintf("%s is %#v", here, v))
		}
		at[k.Name] = kept
		c.inside(k, kept, here)
		if !k.required && !isOneOf(s, k) {
			delete(at, k.Name)
		}
	}
}

// inside goes on in the value of a key.
func (c *changes) inside(k *Key, value any, path string) {
	if k.Of == nil {
		return
	}
	if list, ok := value.([]any); ok {
		c.replaced(list[0], func(v any) { list[0] = v }, path+"/0")
		value = list[0]
	}
	at, _ := value.(map[string]any)
	if k.Form == FormMapping {
		c.of(k.Of, at, path)
		return
	}
	name := sampleText[k.keys]
	c.replaced(at[name], func(v any) { at[name] = v }, path+"/"+name)
	if entry, ok := at[name].(map[string]any); ok {
		c.of(k.Of, entry, path+"/"+name)
	}
}

func (c *changes) replaced(kept any, put func(any), path string) {
	for _, v := range values() {
		put(v)
		c.try(fmt.Sprintf("%s is %#v", path, v))
	}
	put(kept)
}
