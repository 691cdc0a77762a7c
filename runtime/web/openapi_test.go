package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/agui"
	"github.com/routegen/routegen/runtime/workflow"
)

// openAPI is what the tests here read of the document.
type openAPI struct {
	Info       map[string]any                   `json:"info"`
	Components map[string]any                   `json:"components"`
	Servers    []map[string]any                 `json:"servers"`
	Paths      map[string]map[string]*operation `json:"paths"`

	raw      any
	examples map[string]json.RawMessage // by schema
}

type operation struct {
	ID          string              `json:"operationId"`
	Summary     string              `json:"summary"`
	Description string              `json:"description"`
	Tags        []string            `json:"tags"`
	Parameters  []parameter         `json:"parameters"`
	RequestBody *content            `json:"requestBody"`
	Responses   map[string]*content `json:"responses"`

	method, path string
}

type parameter struct {
	Name        string         `json:"name"`
	In          string         `json:"in"`
	Description string         `json:"description"`
	Required    bool           `json:"required"`
	Schema      map[string]any `json:"schema"`
	Example     any            `json:"example"`
}

// content is a body or a reply.
type content struct {
	Ref     string           `json:"$ref"`
	Content map[string]media `json:"content"`
}

type media struct {
	Schema  map[string]string `json:"schema"`
	Example json.RawMessage   `json:"example"`
}

// documentOf is the document of a server with every door.
func documentOf(t *testing.T) *openAPI {
	t.Helper()
	nodes, err := workflow.New(routes.New(routes.UnimplementedHandlers{}), workflow.Config{})
	require.NoError(t, err)
	r := newRig(t, "mem", web.Config{Conversation: &chat.Conversation{Machine: nodes},
		Doors: append(doors(nodes), agui.Door(), userTokens(t).Operations())})
	doc := &openAPI{raw: r.contract.doc, examples: map[string]json.RawMessage{}}
	require.NoError(t, json.Unmarshal(r.get("/v1/openapi.json").is(200).body, doc))
	for path, item := range doc.Paths {
		for method, op := range item {
			op.method, op.path = strings.ToUpper(method), path
			for _, part := range append(slices.Collect(maps.Values(op.Responses)), op.RequestBody) {
				if part != nil {
					for _, body := range part.Content {
						doc.examples[nameOf(body.Schema["$ref"])] = body.Example
					}
				}
			}
		}
	}
	return doc
}

// operations are those of a tag, or all, by path and method.
func (d *openAPI) operations(tag string) (out []*operation) {
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			if op := d.Paths[path][method]; tag == "" || op.Tags[0] == tag {
				out = append(out, op)
			}
		}
	}
	return out
}

func (d *openAPI) schema(name string) map[string]any {
	return d.Components["schemas"].(map[string]any)[name].(map[string]any)
}

func TestEveryPropertyOfTheDocumentHasADescription(t *testing.T) {
	t.Parallel()
	doc := documentOf(t)
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case []any:
			for n, item := range v {
				walk(fmt.Sprintf("%s/%d", at, n), item)
			}
		case map[string]any:
			properties, _ := v["properties"].(map[string]any)
			for _, name := range asList(v["required"]) {
				assert.True(t, properties == nil || properties[name.(string)] != nil ||
					v["oneOf"] != nil,
					"%s requires %s, which it has not", at, name)
			}
			for name, property := range properties {
				assert.NotEmpty(t, property.(map[string]any)["description"], "%s: %s", at, name)
			}
			for key, item := range v {
				if key != "example" && key != "examples" {
					walk(at+"/"+key, item)
				}
			}
		}
	}
	for name, schema := range doc.Components["schemas"].(map[string]any) {
		assert.NotEmpty(t, schema.(map[string]any)["description"], name)
		walk(name, schema)
	}
}

func TestEveryOperationOfTheDocumentHasExamplesThatFit(t *testing.T) {
	t.Parallel()
	doc := documentOf(t)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	require.NoError(t, c.AddResource("openapi.json", doc.raw))
	fits := func(at string, of *content) {
		for media, body := range of.Content {
			require.NotEmpty(t, body.Example, "%s: %s has no example", at, media)
			schema, err := c.Compile("openapi.json" + body.Schema["$ref"])
			require.NoError(t, err)
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body.Example))
			require.NoError(t, err)
			assert.NoError(t, schema.Validate(v), at)
		}
	}
	assert.NotEmpty(t, doc.Info["title"])
	assert.NotEmpty(t, doc.Servers)
	for _, op := range doc.operations("") {
		at := op.method + " " + op.path
		assert.NotEmpty(t, op.Summary, at)
		assert.Len(t, op.Tags, 1, at)
		assert.Equal(t, op.method == "POST", op.RequestBody != nil, at)
		if op.RequestBody != nil {
			fits(at, op.RequestBody)
		}
		for _, p := range op.Parameters {
			assert.NotEmpty(t, p.Description, "%s: %s", at, p.Name)
			assert.True(t, p.Example != nil || p.Name == "after", "%s: %s", at, p.Name)
			if p.Name == "limit" {
				assert.Contains(t, p.Description, fmt.Sprintf("default %d.", thread.DefaultLimit))
			}
		}
		assert.Equal(t, "#/components/responses/Refused", op.Responses["4XX"].Ref, at)
		for status, reply := range op.Responses {
			assert.True(t, reply.Ref != "" || reply.Content != nil || status == "204" ||
				status == "101", "%s: %s", at, status)
			fits(at, reply)
		}
	}
}

// httpMarker begins the part of docs/http.md that is written from the document.
const httpMarker = "<!-- Written from the OpenAPI document: ROUTEGEN_WRITE_DOCS=1 go test " +
	"-run TestThePageOfTheAPI ./runtime/web -->\n"

func TestThePageOfTheAPIIsThatOfTheDocument(t *testing.T) {
	t.Parallel()
	const path = "../../docs/http.md"
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	head, written, found := strings.Cut(string(page), httpMarker)
	require.True(t, found, "docs/http.md has lost the line %s", httpMarker)
	want := documentOf(t).markdown()
	if os.Getenv("ROUTEGEN_WRITE_DOCS") == "1" {
		require.NoError(t, os.WriteFile(path, []byte(head+httpMarker+want), 0o600))
		return
	}
	assert.Equal(t, want, written, "run this test with ROUTEGEN_WRITE_DOCS=1")
}

// markdown writes the operations by group, the schemas, and the codes of problems.
func (d *openAPI) markdown() string {
	var w strings.Builder
	for _, tag := range []string{"Threads", "Interrupts", "Plans and reroutes", "Streams", "AG-UI",
		"Tokens", "Server"} {
		fmt.Fprintf(&w, "\n## %s\n", tag)
		for _, op := range d.operations(tag) {
			op.write(&w)
		}
	}
	w.WriteString("\n## Bodies and replies\n\nRequired properties are marked with *.\n")
	for _, name := range slices.Sorted(maps.Keys(d.Components["schemas"].(map[string]any))) {
		schema := d.schema(name)
		fmt.Fprintf(&w, "\n### %s\n\n%s\n", name, schema["description"])
		if values := asList(schema["enum"]); values != nil {
			fmt.Fprintf(&w, "\nOne of %s.\n", codes(values))
		}
		var rows []string
		propertyRows(&rows, "", schema)
		if len(rows) > 0 {
			fmt.Fprintf(&w, "\n| Property | Type | |\n|---|---|---|\n%s", strings.Join(rows, ""))
		}
		if example := d.examples[name]; example != nil {
			var text bytes.Buffer
			_ = json.Indent(&text, example, "", "  ")
			fmt.Fprintf(&w, "\n```json\n%s\n```\n", text.String())
		}
	}
	w.WriteString(
		"\n## Errors\n\nA refusal is a [Problem](#problem). Its code decides the status, " +
			"except where the server refuses a call before it is looked at (401, 403, 405, 408, " +
			"413, 415, 421, 429), and for an Idempotency-Key with another body (422).\n\n" +
			"| Code | Status " +
			"| |\n|---|---|---|\n")
	problem := d.schema("Problem")["properties"].(map[string]any)["code"].(map[string]any)
	for _, row := range problem["oneOf"].([]any) {
		code := row.(map[string]any)
		name := code["const"].(string)
		status := web.ProblemOf(&runtime.Error{Code: runtime.Code(name)}).Status
		fmt.Fprintf(&w, "| `%s` | %d | %s |\n", name, status, code["description"])
	}
	return w.String()
}

// write writes an operation with a call of curl.
func (op *operation) write(w *strings.Builder) {
	fmt.Fprintf(w, "\n### %s\n\n`%s %s`: %s\n", op.Summary, op.method, op.path, op.Description)
	path, query := op.path, []string{}
	if len(op.Parameters) > 0 {
		w.WriteString("\n| Parameter | In | |\n|---|---|---|\n")
	}
	for _, p := range op.Parameters {
		star, text := "", p.Description
		if p.Required {
			star = "*"
		}
		values, _ := p.Schema["items"].(map[string]any)
		if values != nil {
			text += " Several with commas between."
		}
		if allowed := asList(values["enum"]); allowed != nil {
			text += " One of " + codes(allowed) + "."
		}
		fmt.Fprintf(w, "| `%s`%s | %s | %s |\n", p.Name, star, p.In, text)
		path = strings.ReplaceAll(path, "{"+p.Name+"}", fmt.Sprint(p.Example))
		if p.In == "query" && p.Required {
			query = append(query, p.Name+"="+fmt.Sprint(p.Example))
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	if op.ID == "socket" {
		return
	}
	w.WriteString("\n```sh\ncurl -H \"Authorization: Bearer $TOKEN\"")
	if op.method == "DELETE" {
		w.WriteString(" -X DELETE")
	}
	if op.RequestBody != nil {
		w.WriteString(" -H 'Content-Type: application/json'")
	}
	fmt.Fprintf(w, " \"$SERVER%s\"", path)
	if op.RequestBody != nil {
		fmt.Fprintf(w, " \\\n  -d '%s'",
			compact(op.RequestBody.Content["application/json"].Example))
	}
	w.WriteString("\n```\n")
	for _, body := range op.bodies() {
		fmt.Fprintf(w, "\n%s\n", body)
	}
}

// bodies says what goes in and what comes back.
func (op *operation) bodies() (out []string) {
	if op.RequestBody != nil {
		out = append(out,
			"Body: "+linkTo(op.RequestBody.Content["application/json"].Schema["$ref"])+".")
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		reply := op.Responses[status]
		if reply.Ref != "" {
			continue
		}
		if reply.Content == nil {
			out = append(out, fmt.Sprintf("Reply: %s, without a body.", status))
		}
		for media, body := range reply.Content {
			what := ""
			if media != "application/json" {
				what = ", a stream of Server-Sent Events, each with a"
			}
			out = append(out, fmt.Sprintf("Reply: %s%s %s.", status, what,
				linkTo(body.Schema["$ref"])))
		}
	}
	return out
}

// propertyRows adds a row for each property of a schema, those of nested objects behind a dot.
func propertyRows(rows *[]string, under string, schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property := properties[name].(map[string]any)
		star := ""
		if slices.Contains(asList(schema["required"]), any(name)) {
			star = "*"
		}
		row := fmt.Sprintf("| `%s%s`%s | %s | %s |\n", under, name, star, typeOf(property),
			property["description"])
		if !slices.Contains(*rows, row) {
			*rows = append(*rows, row)
		}
		if items, ok := property["items"].(map[string]any); ok {
			propertyRows(rows, under+name+"[].", items)
		}
		propertyRows(rows, under+name+".", property)
	}
	for _, one := range asList(schema["oneOf"]) {
		propertyRows(rows, under, one.(map[string]any))
	}
}

// typeOf names the type of a property, with a link to its schema.
func typeOf(schema map[string]any) string {
	if ref, ok := schema["$ref"].(string); ok {
		return linkTo(ref)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		return "array of " + typeOf(items)
	}
	if values := asList(schema["enum"]); values != nil {
		return codes(values)
	}
	if value, ok := schema["const"]; ok {
		return fmt.Sprintf("`%v`", value)
	}
	switch kind := schema["type"].(type) {
	case string:
		return kind
	case []any:
		return fmt.Sprintf("%v or %v", kind[0], kind[1])
	}
	if one := asList(schema["oneOf"]); one != nil {
		if value := one[0].(map[string]any)["const"]; value != nil {
			return "string"
		}
		return "object"
	}
	return "any JSON"
}

// nameOf returns the name of the schema that a $ref leads to.
func nameOf(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

func linkTo(ref string) string {
	return fmt.Sprintf("[%s](#%s)", nameOf(ref), strings.ToLower(nameOf(ref)))
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

func codes(values []any) string {
	out := make([]string, len(values))
	for n, value := range values {
		out[n] = fmt.Sprintf("`%v`", value)
	}
	return strings.Join(out, ", ")
}

func compact(data json.RawMessage) string {
	var out bytes.Buffer
	_ = json.Compact(&out, data)
	return out.String()
}
