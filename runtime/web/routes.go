package web

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/routegen/routegen/runtime/workflow"
)

// route is one operation: the mux and the OpenAPI document are made from the same row, so neither knows one that the other does not.
type route struct {
	method, path string
	id           string
	summary      string
	may          string   // the action that a capability token needs; "" means that only the operator's will do
	query        []string // the names that a query may have
	needed       bool     // and must have
	body, reply  string   // names of schemas; "" means none
	keyed        bool     // takes an Idempotency-Key
	often        bool     // no token for one answer will do
	status       int      // of success
	do           func(c *call) (any, error)
	stream       func(c *call) error // instead of do: it writes by itself
}

const anyToken = "any"

func (s *Server) table() []route {
	const get, post, ok, made, none = http.MethodGet, http.MethodPost, http.StatusOK, http.StatusCreated, http.StatusNoContent
	const one, two = "/v1/threads/{thread}", "/v1/interrupts/{interrupt}"
	page, follow := []string{"after", "limit"}, []string{"after"}
	inbox := []string{"state", "kind", "node", "assignee", "thread", "before", "after", "limit"}
	rows := []route{
		{method: get, path: "/v1/openapi.json", id: "openapi", summary: "This document", may: anyToken, reply: "Any", status: ok, do: (*call).openapi},
		{method: get, path: "/v1/token", id: "rights", summary: "What the token of this call may do now", may: anyToken, reply: "Rights", status: ok, do: (*call).rights},
		{method: post, path: "/v1/threads", id: "startThread", summary: "Start a thread", body: "Start", reply: "Thread", keyed: true, status: made, do: with((*call).start)},
		{method: get, path: "/v1/threads", id: "listThreads", summary: "List threads", query: append([]string{"status"}, page...), reply: "Threads", status: ok, do: (*call).threads},
		{method: get, path: one, id: "getThread", summary: "A thread with its open interrupts", may: mayView, reply: "Thread", status: ok, do: (*call).thread},
		{method: post, path: one + "/messages", id: "deliver", summary: "Say something to a thread", may: mayDeliver, body: "Message", reply: "Thread", keyed: true, status: ok, do: (*call).deliver},
		{method: post, path: one + "/answer", id: "answerThread", summary: "Answer the one open interrupt, or a question by name", may: mayAnswer, body: "Answer", reply: "Answered", keyed: true, status: ok, do: with((*call).answerThread)},
		{method: post, path: one + "/escape", id: "escape", summary: "Ask a thread to pause", may: mayEscape, body: "Escape", reply: "Ack", keyed: true, status: ok, do: with((*call).escape)},
		{method: post, path: one + "/cancel", id: "cancel", summary: "End a thread, or the turn of a conversation", may: mayCancel, body: "Reason", reply: "Thread", keyed: true, status: ok, do: with((*call).cancel)},
		{method: post, path: one + "/fork", id: "fork", summary: "Make a thread from an earlier point of another", body: "Fork", reply: "Forked", keyed: true, status: made, do: with((*call).fork)},
		{method: get, path: one + "/history", id: "history", summary: "Everything that happened to a thread", may: mayView, query: page, reply: "Rows", status: ok, do: (*call).history},
		{method: get, path: one + "/outbox", id: "outbox", summary: "Messages and events of a thread", may: mayView, query: page, reply: "Rows", status: ok, do: (*call).outbox},
		{method: get, path: one + "/stream", id: "stream", summary: "The outbox of a thread as it grows", may: mayView, query: follow, reply: "Row", status: ok, stream: (*call).events},
		{method: get, path: one + "/at/{seq}", id: "moment", summary: "A thread as it was after an entry; no handler runs", may: mayView, reply: "Moment", status: ok, do: (*call).moment},
		{method: post, path: one + "/plan/preview", id: "previewPlan", summary: "What a modification would make of a paused plan", may: mayAnswer, often: true, body: "Modification", reply: "Proposal", status: ok, do: with((*call).previewPlan)},
		{method: post, path: one + "/plan/apply", id: "applyPlan", summary: "Go on with the plan of a proposal", may: mayAnswer, often: true, body: "Apply", reply: "Thread", status: ok, do: with((*call).applyPlan)},
		{method: post, path: one + "/plan/undo", id: "undoPlan", summary: "Go on with the plan before its last change", may: mayAnswer, often: true, body: "By", reply: "Thread", status: ok, do: with(turnBack(workflow.UndoPlan))},
		{method: post, path: one + "/plan/redo", id: "redoPlan", summary: "Take an undo back, and go on", may: mayAnswer, often: true, body: "By", reply: "Thread", status: ok, do: with(turnBack(workflow.RedoPlan))},
		{method: get, path: "/v1/stats", id: "stats", summary: "How interrupts fared, by kind, node and person", query: []string{"since"}, reply: "Stats", status: ok, do: (*call).stats},
		{method: get, path: "/v1/programs", id: "programs", summary: "What can be started", reply: "Programs", status: ok, do: (*call).programs},
		{method: get, path: "/v1/programs/{machine}", id: "program", summary: "The nodes of a machine, and where they lead", may: anyToken, reply: "Program", status: ok, do: (*call).program},
		{method: get, path: "/v1/stream", id: "streamAll", summary: "The outbox of all threads as it grows", query: follow, reply: "Row", status: ok, stream: (*call).events},
		{method: get, path: "/v1/ws", id: "socket", summary: "The WebSocket", may: anyToken, status: http.StatusSwitchingProtocols, stream: (*call).socket},
		{method: post, path: one + "/tokens", id: "grant", summary: "Make a capability token", body: "GrantRequest", reply: "Grant", status: made, do: with((*call).grant)},
		{method: http.MethodDelete, path: one + "/tokens/{grant}", id: "revoke", summary: "Revoke a capability token", status: none, do: (*call).revoke},
		{method: get, path: "/v1/interrupts", id: "inbox", summary: "Interrupts over all threads, the most urgent first", query: inbox, reply: "Interrupts", status: ok, do: (*call).inbox},
		{method: get, path: two, id: "getInterrupt", summary: "An interrupt of any state", may: mayView, reply: "Interrupt", status: ok, do: (*call).getInterrupt},
		{method: post, path: two + "/answer", id: "answer", summary: "Answer an interrupt", may: mayAnswer, body: "Answer", reply: "Answered", keyed: true, status: ok, do: with((*call).answerInterrupt)},
		{method: post, path: two + "/claim", id: "claim", summary: "Take an interrupt on, or lay it down", may: mayAnswer, body: "Claim", reply: "Interrupt", keyed: true, status: ok, do: with((*call).claim)},
		{method: post, path: two + "/extend", id: "extend", summary: "Move the deadline of an interrupt", body: "Extend", reply: "Interrupt", keyed: true, status: ok, do: with((*call).extend)},
		{method: post, path: "/v1/answers", id: "answerAll", summary: "Answer interrupts of any threads, all or none", body: "Answers", reply: "Interrupts", keyed: true, status: ok, do: with((*call).answerAll)},
	}
	if s.cfg.Rerouter != nil {
		rows = append(rows, route{
			method: post, path: "/v1/interrupt-events", id: "reroute", summary: "Interrupt a node, and go on elsewhere", query: []string{"thread"},
			needed: true, body: "Event", reply: "Ack", keyed: true, status: ok, do: with((*call).reroute),
		})
	}
	return append(rows, s.aguiRoutes()...)
}

//go:embed schemas.json
var schemas []byte

// filters are the schemas of the values that a parameter of the query has one of, or several.
func (s *Server) filters() map[string]map[string]any {
	const enum, examples = "enum", "examples" // what is stored may be of other kinds too
	return map[string]map[string]any{
		"state": {enum: interruptStates}, "status": {enum: threadStatuses}, "kind": {examples: kindNames(s.engine)}, "node": {},
	}
}

var pathName = regexp.MustCompile(`\{(\w+)\}`)

// describe writes the OpenAPI document of the table.
func (s *Server) describe() ([]byte, error) {
	type object = map[string]any
	ref := func(name string) object { return object{"$ref": "#/components/schemas/" + name} }
	content := func(media, name string) object { return object{media: object{"schema": ref(name)}} }
	paths, filters := map[string]object{}, s.filters()
	for i := range s.routes {
		rt := &s.routes[i]
		params := []object{}
		param := func(in, name string, required bool) {
			params = append(params, object{"name": name, "in": in, "required": required, "schema": object{"type": "string"}})
		}
		for _, found := range pathName.FindAllStringSubmatch(rt.path, -1) {
			param("path", found[1], true)
		}
		for _, name := range rt.query {
			param("query", name, rt.needed)
			if values := filters[name]; values != nil {
				values["type"] = "string"
				last := params[len(params)-1]
				last["schema"] = object{"type": "array", "items": values}
				last["style"], last["explode"] = "form", false // with commas between
			}
		}
		if rt.keyed {
			param("header", "Idempotency-Key", false)
		}
		done := object{"description": "done"}
		switch {
		case rt.stream != nil && rt.reply != "":
			done["content"] = content("text/event-stream", rt.reply)
		case rt.reply != "":
			done["content"] = content("application/json", rt.reply)
		}
		op := object{
			"operationId": rt.id, "summary": rt.summary, "description": rt.allows(), "parameters": params,
			"responses": object{
				strconv.Itoa(rt.status): done,
				"default":               object{"description": "refused", "content": content("application/problem+json", "Problem")},
			},
		}
		if rt.body != "" {
			op["requestBody"] = object{"required": true, "content": content("application/json", rt.body)}
		}
		if paths[rt.path] == nil {
			paths[rt.path] = object{}
		}
		paths[rt.path][strings.ToLower(rt.method)] = op
	}
	return json.Marshal(object{
		"openapi":  "3.1.0",
		"info":     object{"title": "Threads", "version": "1", "description": "Threads that wait for people, over HTTP. Times are Unix milliseconds."},
		"security": []object{{"bearer": []string{}}},
		"paths":    paths,
		"components": object{
			"schemas":         json.RawMessage(schemas),
			"securitySchemes": object{"bearer": object{"type": "http", "scheme": "bearer"}},
		},
	})
}

// allows says which tokens do.
func (rt *route) allows() string {
	switch rt.may {
	case "":
		return "Operator only."
	case anyToken:
		return "Any token."
	default:
		return "Operator, or a token for " + rt.may + "."
	}
}

func (c *call) openapi() (any, error) { return c.s.document, nil }
