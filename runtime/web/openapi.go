package web

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// schemas are the schemas of bodies and replies by name, each property with its description. The
// first of a schema's examples is the example of the operations that have it as body or reply.
//
//go:embed schemas.json
var schemas []byte

type jsonObject = map[string]any

// parameters has the schema and the example of every parameter, by name.
var parameters = map[string]struct {
	Type, Description string
	Example           any
}{
	"thread":    {"string", "Id of a thread.", "offsite"},
	"interrupt": {"string", "Id of an interrupt.", "01m82pks4q578c4w30dn2bdk5h"},
	"grant": {"string", "Id of the token to revoke.",
		"d3de16be5b1f8010dc7432c8b11a6e829bc6cd1909a4eed987f0dd54cfe3d1f8"},
	"machine": {"string", "Name of a machine.", "plan"},
	"seq":     {"integer", "Number of the entry, from 1.", 2},
	"after": {"string",
		"Begin after this: next of the page before or, in a log or stream, the id " +
			"of the last row that came. A value that the server never gave out is refused. A stream " +
			"takes it from Last-Event-ID first.", nil},
	"limit": {"integer", "Rows to read for a page, at most 1000; default " +
		strconv.Itoa(thread.DefaultLimit) + ".", 20},
	"since":    {"integer", "Count interrupts created since; default: all.", 1795387155399},
	"before":   {"integer", "Only interrupts created before.", 1795559955400},
	"assignee": {"string", "Only what this person may answer.", "you"},
	"state":    {"string", "Only interrupts in these states; default: open.", []string{"open"}},
	"status":   {"string", "Only threads with these statuses.", []string{"waiting"}},
	"kind":     {"string", "Only interrupts of these kinds.", []string{"agent_question"}},
	"node":     {"string", "Only interrupts of these nodes.", []string{"step"}},
	"Idempotency-Key": {"string", "The same key with the same body gets the same result; with " +
		"another body 422. At most 200 bytes.", "order-17"},
}

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
	paths := map[string]jsonObject{}
	for i := range s.routes {
		rt := &s.routes[i]
		if paths[rt.Path] == nil {
			paths[rt.Path] = jsonObject{}
		}
		operation, err := s.operation(rt)
		if err != nil {
			return nil, err
		}
		paths[rt.Path][strings.ToLower(rt.Method)] = operation
	}
	problem, err := s.content("application/problem+json", "Problem")
	if err != nil {
		return nil, err
	}
	return json.Marshal(s.withComponents(paths, problem))
}

// operation describes a route.
func (s *Server) operation(rt *Endpoint) (jsonObject, error) {
	refused := func(name string) jsonObject {
		return jsonObject{"$ref": "#/components/responses/" + name}
	}
	done := jsonObject{"description": http.StatusText(rt.Status)}
	op := jsonObject{
		"operationId": rt.ID, "summary": rt.Summary, "description": rt.allows(),
		"tags": []string{rt.tag()}, "parameters": s.parameters(rt),
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
func (s *Server) parameters(rt *Endpoint) []jsonObject {
	params, filters := []jsonObject{}, s.filters()
	param := func(in, name string, required bool) {
		known := parameters[name]
		schema := jsonObject{"type": cmp.Or(known.Type, "string")}
		p := jsonObject{"name": name, "in": in, "required": required, "schema": schema}
		if known.Description != "" {
			p["description"] = known.Description
		}
		if known.Example != nil {
			p["example"] = known.Example
		}
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

// withComponents returns the OpenAPI document of the paths.
func (s *Server) withComponents(paths map[string]jsonObject, problem jsonObject) jsonObject {
	return jsonObject{
		"openapi": "3.1.0",
		"info": jsonObject{"title": "routegen HTTP API", "version": "1",
			"description": "Threads of work that wait for people: start them, follow them, answer " +
				"their questions. Times are Unix milliseconds."},
		"servers": []jsonObject{{"url": "/", "description": "The server of this document, " +
			"mounted at its root."}},
		"security": []jsonObject{{"bearer": []string{}}},
		"paths":    paths,
		"components": jsonObject{
			"schemas": s.schemas,
			"responses": jsonObject{
				"Refused": jsonObject{"description": "Refused; code says why.", "content": problem},
				"Failed": jsonObject{"description": "Not done, or not known whether; code says " +
					"which.", "content": problem},
			},
			"securitySchemes": jsonObject{"bearer": jsonObject{"type": "http", "scheme": "bearer",
				"description": "The operator's token, or a capability token."}},
		},
	}
}

// allows says which tokens do.
func (rt *Endpoint) allows() string {
	switch rt.Needs {
	case "":
		return "Operator only."
	case AnyToken:
		return "Any token."
	default:
		return "Operator, or a token for " + rt.Needs + "."
	}
}

// tag returns the group of the route.
func (rt *Endpoint) tag() string {
	return tags[slices.IndexFunc(tags, func(row [2]string) bool {
		return strings.Contains(rt.Path, row[0])
	})][1]
}

func (c *Call) openapi() (any, error) { return c.s.document, nil }
