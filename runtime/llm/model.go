package llm

import (
	"bytes"
	"context"
	"encoding/json"
)

// Model answers requests. Implementations are safe for concurrent use, refuse what [Request.Check]
// refuses, and keep no part of a request after they return.
type Model interface {
	// Generate asks once. It returns when the model has answered or refused, or when ctx ends.
	Generate(ctx context.Context, r Request) (Response, error)
}

// Tools is a source of tools: a fixed list, or a server.
type Tools interface {
	// Tools returns what may be offered to a model now. CodeUnavailable means that the source does
	// not answer.
	Tools(ctx context.Context) ([]Tool, error)
}

// Tool is a function that a model may ask to have called. A Model never calls it.
type Tool struct {
	Name        string          // [A-Za-z0-9_-], at most 64
	Description string          // for the model
	Schema      json.RawMessage // of the arguments, an object; none: the tool takes no arguments
	// Strict makes the provider enforce Schema for the arguments. Schema must then obey the rules
	// of the provider's dialect.
	Strict bool
	// it must never happen twice: if the outcome is unknown, runtime/workflow asks a person
	Once bool
	Call func(ctx context.Context, args json.RawMessage) (json.RawMessage, error)
}

// Role says whose turn a message is.
type Role string

// The roles.
const (
	RoleUser  Role = "user"
	RoleModel Role = "model"
)

// Message is one turn of a conversation.
type Message struct {
	Role  Role       `json:"role"`
	Text  string     `json:"text,omitempty"`
	Calls []ToolCall `json:"calls,omitempty"` // what the model asked for in this turn
	// what came of all calls of the model's turn just before
	Results []ToolResult `json:"results,omitempty"`
	Opaque  Opaque       `json:"opaque,omitzero"`
}

// Opaque is a turn of a model in its provider's own form, where that has more than a [Message] can
// say. It is for the adapter that made it; others ignore it.
type Opaque struct {
	Provider string          `json:"provider"`
	Data     json.RawMessage `json:"data"`
}

// ToolCall is a call of a tool that a model asks for.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// JSON, an empty object if the model gave none; not checked against the schema
	Args json.RawMessage `json:"args"`
}

// ToolResult is the outcome of a [ToolCall].
type ToolResult struct {
	ID    string          `json:"id"`              // of the call
	Value json.RawMessage `json:"value,omitempty"` // JSON
	// Value says what went wrong, for the model to read
	Failed bool `json:"failed,omitempty"`
}

// String is the result as a model reads it: a JSON string without its quotes, any other value as it
// stands.
func (t ToolResult) String() string {
	var text string
	if bytes.HasPrefix(bytes.TrimSpace(t.Value), []byte(`"`)) &&
		json.Unmarshal(t.Value, &text) == nil {
		return text
	}
	return string(t.Value)
}

// Response is what a model answered. It can be stored as JSON.
type Response struct {
	// the reply, where a schema was asked for and it is JSON
	JSON json.RawMessage `json:"json,omitempty"`
	// any other reply, and what was said beside calls
	Text   string     `json:"text,omitempty"`
	Calls  []ToolCall `json:"calls,omitempty"`
	Opaque Opaque     `json:"opaque,omitzero"`
	Usage  Usage      `json:"usage"`
	Model  string     `json:"model,omitempty"` // which one answered, by the provider's name
}

// Body returns the bytes to decode: JSON, or the text of a model that did not write JSON, for the
// decoder to say what is wrong with it.
func (r *Response) Body() []byte {
	if r.JSON != nil {
		return r.JSON
	}
	return []byte(r.Text)
}

// Turn returns the response as a turn of the conversation.
func (r *Response) Turn() Message {
	return Message{Role: RoleModel, Text: string(r.Body()), Calls: r.Calls, Opaque: r.Opaque}
}

// Usage counts tokens, in the same way for every provider.
type Usage struct {
	InputTokens  int64 `json:"inputTokens"` // all that the model read, from a cache or not
	OutputTokens int64 `json:"outputTokens"`
	CachedTokens int64 `json:"cachedTokens,omitempty"` // of InputTokens
}
