package socket

import (
	"encoding/json"

	"github.com/routegen/routegen/runtime/web"
)

// The types of messages. A client says which thread it follows (thread_context), asks it to pause
// (interrupt) and answers what it waits for (resume); each is acknowledged under its own id. The
// rows of the thread come in between, in their order.
const (
	frameContext   = "thread_context"
	frameInterrupt = "interrupt"
	frameResume    = "resume"
	frameError     = "error"
	frameRow       = "row"
)

// frame is one message of the server.
type frame struct {
	Type    string `json:"type"`
	Payload any    `json:"payload"`
	ID      string `json:"id,omitempty"`

	rows <-chan web.Row // what is followed once this message is out
}

// contextAck acknowledges thread_context, and frameAck the other two.
type contextAck struct {
	Success bool   `json:"success"`
	Thread  string `json:"thread_id"`
	Error   string `json:"error,omitempty"`
}

type frameAck struct {
	Success bool   `json:"success"`
	Thread  string `json:"thread_id"`
	Message string `json:"message"`
}

// frameForm is one message of a client.
type frameForm struct {
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
	ID      string          `json:"id,omitempty"`
}

// payloadForm is the payload of a client's message. session_id and modified_plan are accepted and
// ignored.
type payloadForm struct {
	Thread  string `json:"thread_id"`
	User    string `json:"user_id,omitempty"`
	Session string `json:"session_id,omitempty"`
	// thread_context: the id of the last row that came; default: from the beginning
	After  string          `json:"after,omitempty"`
	Reason string          `json:"reason,omitempty"`
	Mode   string          `json:"mode,omitempty"`
	Plan   json.RawMessage `json:"modified_plan,omitempty"`
	// resume: a string, or an object with message
	UserInput json.RawMessage `json:"user_input,omitempty"`
	// resume: default is the one that is open
	Interrupt string          `json:"interrupt_id,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"` // resume: an answer that is no text
	// resume: where the work goes on; user_input is the note then
	RouteTo string `json:"route_to,omitempty"`
}
