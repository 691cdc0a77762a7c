package llm

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// Request is one question to a model. It needs a Prompt, or Messages that end with the user's turn.
type Request struct {
	System   string    // what the program says; never what a user said: that is a user's turn
	Messages []Message // what was said before, and the results of tools
	Prompt   string    // the user's last turn

	// Schema returns the form of the reply in a dialect; nil asks for free text. It returns ""
	// where there is no such form.
	Schema     func(d runtime.Dialect) string
	SchemaName string // [A-Za-z0-9_-], at most 64; "reply" when empty

	Tools     []Tool
	MaxTokens int // of the reply, thinking included; 0 is the adapter's default

	// Key is the idempotency key: equal for two calls that are to count as one. It goes out as a
	// digest, see [HeaderKey].
	Key string
}

// Turns returns the conversation with Prompt as its last turn. The slice is the caller's.
func (r *Request) Turns() []Message {
	turns := slices.Clone(r.Messages)
	if r.Prompt != "" {
		turns = append(turns, Message{Role: RoleUser, Text: r.Prompt})
	}
	return turns
}

// Next returns the request that goes on after a response: with the results of its calls, with a new
// prompt, or with both. It has no Key: it is another call. r is not changed.
func (r *Request) Next(resp Response, prompt string, results ...ToolResult) Request {
	next := *r
	next.Messages = append(r.Turns(), resp.Turn())
	if len(results) > 0 {
		next.Messages = append(next.Messages, Message{Role: RoleUser, Results: results})
	}
	next.Prompt, next.Key = prompt, ""
	return next
}

// Name returns SchemaName, or "reply".
func (r *Request) Name() string { return cmp.Or(r.SchemaName, "reply") }

// Form returns the schema in a dialect, nil where the request asks for free text. A schema without
// a form there is refused with CodeInvalid.
func (r *Request) Form(d runtime.Dialect) (json.RawMessage, error) {
	if r.Schema == nil {
		return nil, nil
	}
	text := r.Schema(d)
	if text == "" {
		return nil, runtime.Errorf(runtime.CodeInvalid, "ask for "+r.Name(),
			"its schema has no form in the dialect %s", d)
	}
	if !json.Valid([]byte(text)) {
		return nil, runtime.Errorf(runtime.CodeInvalid, "ask for "+r.Name(),
			"its schema in the dialect %s is not JSON", d)
	}
	return json.RawMessage(text), nil
}

// Read makes a response of the text of a reply: JSON if the request asked for it and no tool is
// called, and if it is JSON at all.
func (r *Request) Read(text string, calls []ToolCall) Response {
	if reply := []byte(strings.TrimSpace(text)); r.Schema != nil && len(calls) == 0 &&
		json.Valid(reply) {
		return Response{JSON: reply}
	}
	return Response{Text: text, Calls: calls}
}

// Check returns CodeInvalid for what no provider accepts: nothing to answer, turns out of order, a
// call without its result, names outside their alphabet, a tool twice. The text names tools and
// turns, and never quotes what was said.
func (r *Request) Check() error {
	const op = "check model request"
	if !legalName(r.Name()) {
		return runtime.Errorf(runtime.CodeInvalid, op,
			"SchemaName takes letters, digits, _ and -, and at most 64 of them")
	}
	if r.MaxTokens < 0 {
		return runtime.Errorf(runtime.CodeInvalid, op, "MaxTokens is negative")
	}
	seen := map[string]bool{}
	for _, t := range r.Tools {
		switch {
		case !legalName(t.Name):
			return runtime.Errorf(runtime.CodeInvalid, op,
				"the name of tool %q takes letters, digits, _ and -, and at most "+
					"64 of them", t.Name)
		case seen[t.Name]:
			return runtime.Errorf(runtime.CodeInvalid, op, "tool %s is there twice", t.Name)
		case t.Schema != nil &&
			(!json.Valid(t.Schema) || !bytes.HasPrefix(bytes.TrimSpace(t.Schema), []byte("{"))):
			return runtime.Errorf(runtime.CodeInvalid, op,
				"the schema of tool %s is not a JSON object", t.Name)
		}
		seen[t.Name] = true
	}
	turns := r.Turns()
	if len(turns) == 0 || turns[len(turns)-1].Role != RoleUser {
		return runtime.Errorf(runtime.CodeInvalid, op,
			"there is nothing to answer: give a Prompt, or Messages that end with "+
				"the user's turn")
	}
	var open []ToolCall
	for i := range turns {
		if what := turns[i].fault(i == 0, open); what != "" {
			return runtime.Errorf(runtime.CodeInvalid, op, "turn %d %s", i+1, what)
		}
		open = turns[i].Calls
	}
	return nil
}

// fault returns what is wrong with a turn that follows one with these calls, "" for nothing.
func (m *Message) fault(first bool, open []ToolCall) string {
	switch {
	case m.Role != RoleUser && m.Role != RoleModel:
		return "has no known role: it is user or model"
	case first && m.Role != RoleUser:
		return "is the model's: the user speaks first"
	case m.Role == RoleUser && len(m.Calls) > 0 || m.Role == RoleModel && len(m.Results) > 0:
		return "has what belongs to the other role: calls are the model's, results the user's"
	case strings.TrimSpace(m.Text) == "" && len(m.Calls)+len(m.Results) == 0:
		return "is empty"
	case len(m.Results) != len(open):
		return fmt.Sprintf("has %d results, and the turn before made %d calls", len(m.Results),
			len(open))
	}
	for _, c := range open {
		if !slices.ContainsFunc(m.Results, func(t ToolResult) bool { return t.ID == c.ID }) {
			return "has no result for a call of " + c.Name
		}
	}
	ids := map[string]bool{}
	for _, c := range m.Calls {
		if ids[c.ID] || c.ID == "" || !json.Valid(c.Args) {
			return "has a call of " + c.Name +
				" without an id of its own, or whose arguments are not JSON"
		}
		ids[c.ID] = true
	}
	return ""
}

func legalName(name string) bool {
	const legal = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	return name != "" && len(name) <= 64 && strings.Trim(name, legal) == ""
}

// HeaderKey returns the digest of an idempotency key for use in a header, "" for "". Keys name
// threads and steps, which must not leave the program, and may hold bytes that a header cannot.
func HeaderKey(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// Arguments returns the arguments that a model wrote for a call, an empty object for none. It
// returns CodeUnavailable for text that is not JSON: another try may give JSON.
func Arguments(text string) (json.RawMessage, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "" || text == "null":
		return json.RawMessage(`{}`), nil
	case !json.Valid([]byte(text)):
		return nil, runtime.Errorf(runtime.CodeUnavailable, "read tool call",
			"its arguments are not JSON")
	}
	return json.RawMessage(text), nil
}
