package web

import (
	_ "embed"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// schemas are the schemas of bodies and replies by name, each property with its description. The
// first of a schema's examples is the example of the operations that have it as body or reply.
//
//go:embed schemas.json
var schemas []byte

// written is the part of the document that stands beside the schemas and the routes: its head, and
// the parameters by name.
//
//go:embed openapi.json
var written []byte

type jsonObject = map[string]any

// tags has the group of the operations whose path contains a text; the first that fits counts.
var tags = [][2]string{
	{"/plan/", "Plans and reroutes"}, {"/interrupt-events", "Plans and reroutes"},
	{"/token", "Tokens"}, {"/stream", "Streams"}, {"/ws", "Streams"}, {"/agui", "AG-UI"},
	{"/interrupts", "Interrupts"}, {"/answers", "Interrupts"}, {"/threads", "Threads"},
	{"", "Server"},
}

// filters are the schemas of the values that a parameter of the query has one of, or several.
func (s *Server) filters() map[string]jsonObject {
	const enum, examples = "enum", "examples" // what is stored may be of other kinds too
	return map[string]jsonObject{
		"state": {enum: interruptStates}, "status": {enum: threadStatuses},
		"kind": {examples: kindNames(s.engine)}, "node": {},
	}
}

var pathName = regexp.MustCompile(`\{(\w+)\}`)

// describe writes the OpenAPI document of the table.
func (s *Server) describe() ([]byte, error) {
	var form struct {
		Document   jsonObject            `json:"document"`
		Components jsonObject            `json:"components"`
		Responses  map[string]jsonObject `json:"responses"`
		Parameters map[string]jsonObject `json:"parameters"`
	}
	if err := json.Unmarshal(written, &form); err != nil {
		return nil, err
	}
	paths := map[string]jsonObject{}
	for i := range s.routes {
		rt := &s.routes[i]
		if paths[rt.Path] == nil {
			paths[rt.Path] = jsonObject{}
		}
		operation, err := s.operation(rt, form.Parameters)
		if err != nil {
			return nil, err
		}
		paths[rt.Path][strings.ToLower(rt.Method)] = operation
	}
	problem, err := s.content("application/problem+json", "Problem")
	if err != nil {
		return nil, err
	}
	for _, refused := range form.Responses {
		refused["content"] = problem
	}
	form.Components["schemas"], form.Components["responses"] = s.schemas, form.Responses
	form.Document["paths"], form.Document["components"] = paths, form.Components
	return json.Marshal(form.Document)
}

// operation describes a route.
func (s *Server) operation(rt *Endpoint, known map[string]jsonObject) (jsonObject, error) {
	refused := func(name string) jsonObject {
		return jsonObject{"$ref": "#/components/responses/" + name}
	}
	done := jsonObject{"description": http.StatusText(rt.Status)}
	op := jsonObject{
		"operationId": rt.ID, "summary": rt.Summary, "description": rt.allows(),
		"tags": []string{rt.tag()}, "parameters": s.parameters(rt, known),
		"responses": jsonObject{
			strconv.Itoa(rt.Status): done, "4XX": refused("Refused"), "5XX": refused("Failed"),
		},
	}
	if rt.Reply != "" {
		media := "application/json"
		if rt.Stream != nil {
			media = "text/event-stream"
		}
		content, err := s.content(media, rt.Reply)
		if err != nil {
			return nil, err
		}
		done["content"] = content
	}
	if rt.Body != "" {
		content, err := s.content("application/json", rt.Body)
		if err != nil {
			return nil, err
		}
		op["requestBody"] = jsonObject{"required": true, "content": content}
	}
	return op, nil
}

// content describes a body of a schema, with the schema's first example.
func (s *Server) content(media, name string) (jsonObject, error) {
	var schema struct {
		Examples []json.RawMessage `json:"examples"`
	}
	if err := json.Unmarshal(s.schemas[name], &schema); err != nil {
		return nil, runtime.Errorf(runtime.CodeInvalid, "new server",
			"schema %q of a route: %w: add it to the Schemas of its door", name, err)
	}
	body := jsonObject{"schema": jsonObject{"$ref": "#/components/schemas/" + name}}
	if len(schema.Examples) > 0 {
		body["example"] = schema.Examples[0]
	}
	return jsonObject{media: body}, nil
}

// parameters describes the parameters of a route.
func (s *Server) parameters(rt *Endpoint, known map[string]jsonObject) []jsonObject {
	params, filters := []jsonObject{}, s.filters()
	param := func(in, name string, required bool) {
		p := jsonObject{"schema": jsonObject{"type": "string"}}
		maps.Copy(p, known[name])
		p["name"], p["in"], p["required"] = name, in, required
		if values := filters[name]; values != nil && in == "query" {
			values["type"] = "string"
			p["schema"] = jsonObject{"type": "array", "items": values}
			p["style"], p["explode"] = "form", false // with commas between
		}
		params = append(params, p)
	}
	for _, found := range pathName.FindAllStringSubmatch(rt.Path, -1) {
		param("path", found[1], true)
	}
	for _, name := range rt.Query {
		param("query", name, rt.QueryRequired)
	}
	if rt.Keyed {
		param("header", "Idempotency-Key", false)
	}
	return params
}

// allows says which callers do.
func (rt *Endpoint) allows() string {
	switch rt.Needs {
	case "":
		if rt.People != "" {
			return "Operator, or a person with " + rt.People + "; no capability token."
		}
		return "Operator only."
	case AnyToken:
		return "Any token, and any person."
	default:
		return "Operator, or a token or person with " + rt.Needs + "."
	}
}

// tag returns the group of the route.
func (rt *Endpoint) tag() string {
	return tags[slices.IndexFunc(tags, func(row [2]string) bool {
		return strings.Contains(rt.Path, row[0])
	})][1]
}

func (c *Call) openapi() (any, error) { return c.s.document, nil }
