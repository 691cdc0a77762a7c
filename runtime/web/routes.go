package web

import (
	"cmp"
	"net/http"
)

// Endpoint is one operation. The mux and the OpenAPI document are made from the same row, so
// neither knows an operation that the other does not.
type Endpoint struct {
	Method, Path string
	ID, Summary  string // in the document
	// Needs is the action that a capability token must have, or AnyToken. "" means that only the
	// operator's token will do.
	Needs string
	// People is the right that a person who has signed in must have where Needs is ""; "" keeps the
	// operation to the operator. Where Needs names a right they must have that one.
	People string
	Query  []string // the names that a query may have
	// QueryRequired says that a query must have them all.
	QueryRequired bool
	Body, Reply   string // names of schemas; "" means none
	Keyed         bool   // takes an Idempotency-Key
	// Machine says that the path names a machine and no thread: Do looks whose it is.
	Machine bool
	Status  int // of success; default 200
	// Do returns what is sent as JSON, nil for no body.
	Do func(c *Call) (any, error)
	// Stream replaces Do: it writes the response itself.
	Stream func(c *Call) error
}

// AnyToken in Endpoint.Needs says that every valid token will do.
const AnyToken = "any"

// table returns the routes of the server and of its doors.
//
//nolint:funlen // a table
func (s *Server) table() []Endpoint {
	const get, post, made, none = http.MethodGet, http.MethodPost, http.StatusCreated,
		http.StatusNoContent
	const one, two = "/v1/threads/{thread}", "/v1/interrupts/{interrupt}"
	page, follow := []string{"after", "limit"}, []string{"after"}
	inbox := []string{"state", "kind", "node", "assignee", "mine", "thread", "before", "after",
		"limit"}
	rows := []Endpoint{
		{Method: get, Path: "/v1/openapi.json", ID: "openapi", Summary: "This document",
			Needs: AnyToken, Reply: "Any", Do: (*Call).openapi},
		{Method: get, Path: "/v1/token", ID: "rights",
			Summary: "What the token of this call may do now", Needs: AnyToken, Reply: "Rights",
			Do: (*Call).rights},
		{Method: post, Path: "/v1/threads", ID: "startThread", Summary: "Start a thread",
			People: ActionDeliver, Body: "Start", Reply: "Thread", Keyed: true, Status: made,
			Do: Form((*Call).start)},
		{Method: get, Path: "/v1/threads", ID: "listThreads", Summary: "List threads",
			People: ActionFollow, Query: append([]string{"status"}, page...), Reply: "Threads",
			Do: (*Call).threads},
		{Method: get, Path: one, ID: "getThread", Summary: "A thread with its open interrupts",
			Needs: ActionFollow, Reply: "Thread", Do: (*Call).thread},
		{Method: post, Path: one + "/messages", ID: "deliver", Summary: "Say something to a thread",
			Needs: ActionDeliver, Body: "Message", Reply: "Thread", Keyed: true,
			Do: (*Call).deliver},
		{Method: post, Path: one + "/answer", ID: "answerThread",
			Summary: "Answer the one open interrupt, or a question by name", Needs: ActionAnswer,
			Body: "Answer", Reply: "Answered", Keyed: true, Do: Form((*Call).answerThread)},
		{Method: post, Path: one + "/escape", ID: "escape", Summary: "Ask a thread to pause",
			Needs: ActionEscape, Body: "Escape", Reply: "Ack", Keyed: true,
			Do: Form((*Call).escape)},
		{Method: post, Path: one + "/cancel", ID: "cancel",
			Summary: "End a thread, or the turn of a conversation", Needs: ActionCancel,
			Body: "Reason", Reply: "Thread", Keyed: true, Do: Form((*Call).cancel)},
		{Method: post, Path: one + "/fork", ID: "fork",
			Summary: "Make a thread from an earlier point of another", People: ActionOperate,
			Body: "Fork", Reply: "Forked", Keyed: true, Status: made, Do: Form((*Call).fork)},
		{Method: get, Path: one + "/history", ID: "history",
			Summary: "Everything that happened to a thread", Needs: ActionInspect, Query: page,
			Reply: "Rows", Do: (*Call).history},
		{Method: get, Path: one + "/outbox", ID: "outbox",
			Summary: "Messages and events of a thread", Needs: ActionFollow, Query: page,
			Reply: "Rows", Do: (*Call).outbox},
		{Method: get, Path: one + "/stream", ID: "stream",
			Summary: "The outbox of a thread as it grows", Needs: ActionFollow, Query: follow,
			Reply: "Row", Stream: (*Call).events},
		{Method: get, Path: one + "/at/{seq}", ID: "moment",
			Summary: "A thread as it was after an entry; no handler runs", Needs: ActionInspect,
			Reply: "Moment", Do: (*Call).moment},
		{Method: get, Path: "/v1/stats", ID: "stats",
			Summary: "How interrupts fared, by kind, node and person", People: ActionInspect,
			Query: []string{"since"}, Reply: "Stats", Do: (*Call).stats},
		{Method: get, Path: "/v1/programs", ID: "programs", Summary: "What can be started",
			People: ActionFollow, Reply: "Programs", Do: (*Call).programs},
		{Method: get, Path: "/v1/programs/{machine}", ID: "program",
			Summary: "The nodes of a machine, and where they lead", Needs: ActionInspect,
			Machine: true, Reply: "Program", Do: (*Call).getProgram},
		{Method: get, Path: "/v1/stream", ID: "streamAll",
			Summary: "The outbox of all threads as it grows", People: ActionFollow, Query: follow,
			Reply: "Row", Stream: (*Call).events},
		{Method: post, Path: one + "/tokens", ID: "grant", Summary: "Make a capability token",
			Body: "GrantRequest", Reply: "Grant", Status: made, Do: Form((*Call).grant)},
		{Method: get, Path: one + "/tokens", ID: "tokens",
			Summary: "The capability tokens of a thread, without their secrets",
			Needs:   ActionOperate, Reply: "Tokens", Do: (*Call).tokens},
		{Method: http.MethodDelete, Path: one + "/tokens/{grant}", ID: "revoke",
			Summary: "Revoke a capability token", Needs: ActionOperate, Status: none,
			Do: (*Call).revoke},
		{Method: get, Path: "/v1/interrupts", ID: "inbox",
			Summary: "Interrupts over all threads, the most urgent first", People: ActionFollow,
			Query: inbox, Reply: "Interrupts", Do: (*Call).inbox},
		{Method: get, Path: two, ID: "getInterrupt", Summary: "An interrupt of any state",
			Needs: ActionFollow, Reply: "Interrupt", Do: (*Call).getInterrupt},
		{Method: post, Path: two + "/answer", ID: "answer", Summary: "Answer an interrupt",
			Needs: ActionAnswer, Body: "Answer", Reply: "Answered", Keyed: true,
			Do: Form((*Call).answerInterrupt)},
		{Method: post, Path: two + "/claim", ID: "claim",
			Summary: "Take an interrupt on, or lay it down", Needs: ActionAnswer, Body: "Claim",
			Reply: "Interrupt", Keyed: true, Do: Form((*Call).claim)},
		{Method: post, Path: two + "/extend", ID: "extend",
			Summary: "Move the deadline of an interrupt", People: ActionOperate, Body: "Extend",
			Reply: "Interrupt", Keyed: true, Do: Form((*Call).extend)},
		{Method: post, Path: "/v1/answers", ID: "answerAll",
			Summary: "Answer interrupts of any threads, all or none", People: ActionAnswer,
			Body: "Answers", Reply: "Interrupts", Keyed: true, Do: Form((*Call).answerAll)},
	}
	for i := range s.cfg.Doors {
		rows = append(rows, s.cfg.Doors[i].Routes...)
	}
	for i := range rows {
		rows[i].Status = cmp.Or(rows[i].Status, http.StatusOK)
	}
	return rows
}
