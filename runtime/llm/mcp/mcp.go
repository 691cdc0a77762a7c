// Package mcp gives a model the tools of MCP servers: a [Server] is an llm.Tools over one server, by the official Go SDK.
//
// A server may be away and come back: it is connected to when its tools are asked for first, and again after the connection was lost. While
// it does not answer, its tools are refused with runtime.CodeUnavailable, which runtime/workflow shows a model as one tool that says so; a
// call that fails is a failed result, and the model decides what to do about it. A call that the server did not answer is refused with
// runtime.CodeInDoubt: it may have happened.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/workflow"
)

// KeyMeta is the entry of a call's metadata that holds its key: the same when a call is made again after a crash, so that a server can know
// what it has done already.
const KeyMeta = "idempotencyKey"

// Server is one MCP server. Its methods may be called by any number of goroutines.
type Server struct {
	name string
	dial func(ctx context.Context) (mcp.Transport, error)

	mu      sync.Mutex
	session *mcp.ClientSession
}

// New returns the tools of a server. name stands in errors. dial makes a way to it, once for each connection: an mcp.CommandTransport that
// starts a program, or an mcp.StreamableClientTransport that calls a URL.
func New(name string, dial func(ctx context.Context) (mcp.Transport, error)) *Server {
	return &Server{name: name, dial: dial}
}

// Tools asks the server for its tools. It refuses with CodeUnavailable when the server does not answer within ctx.
func (s *Server) Tools(ctx context.Context) ([]llm.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stale := s.session != nil // it may have been lost since
	tools, err := s.list(ctx)
	if err != nil && stale {
		tools, err = s.list(ctx)
	}
	if err != nil {
		return nil, &runtime.Error{Code: runtime.CodeUnavailable, Op: "ask server " + s.name, Err: err}
	}
	return tools, nil
}

// Close ends the connection, if there is one. The next call of Tools connects again.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		return nil
	}
	err := s.session.Close()
	s.session = nil
	return err
}

func (s *Server) list(ctx context.Context) (tools []llm.Tool, err error) {
	if s.session == nil {
		way, err := s.dial(ctx)
		if err != nil {
			return nil, err
		}
		client := mcp.NewClient(&mcp.Implementation{Name: "routegen", Version: "1"}, nil)
		if s.session, err = client.Connect(ctx, way, nil); err != nil {
			return nil, err
		}
	}
	for t, err := range s.session.Tools(ctx, nil) {
		if err != nil {
			_ = s.session.Close() // it is of no use any more
			s.session = nil
			return nil, err
		}
		schema, err := json.Marshal(t.InputSchema)
		if err != nil {
			return nil, err
		}
		tools = append(tools, llm.Tool{Name: t.Name, Description: t.Description, Schema: schema, Call: caller(s.session, t.Name)})
	}
	return tools, nil
}

// lost is the failure of a call that the server did not answer, or refused. Nobody knows what it did where there is no refusal.
func lost(name string, err error) error {
	code := runtime.CodeInDoubt
	if _, refused := errors.AsType[*jsonrpc.Error](err); refused {
		code = runtime.CodeUnavailable
	}
	return &runtime.Error{Code: code, Op: "call tool " + name, Err: errors.New("not available: " + err.Error())}
}

// caller calls a tool. Structured content is the result as it is, other content the string of its texts.
func caller(session *mcp.ClientSession, name string) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	return func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		got, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args, Meta: mcp.Meta{KeyMeta: workflow.ToolKey(ctx)}})
		switch {
		case err != nil:
			return nil, lost(name, err)
		case got.StructuredContent != nil && !got.IsError:
			return json.Marshal(got.StructuredContent)
		}
		var text strings.Builder
		for _, part := range got.Content {
			if t, ok := part.(*mcp.TextContent); ok {
				text.WriteString(t.Text)
			}
		}
		if got.IsError {
			return nil, errors.New(text.String())
		}
		return runtime.Encode(text.String())
	}
}
