// Package mcp gives a model the tools of MCP servers: a [Server] is an llm.Tools over one server,
// with the official Go SDK.
//
// The connection is made when the tools are first asked for, and again after it was lost. While the
// server does not answer, Tools returns runtime.CodeUnavailable, which runtime/agent shows a model
// as one tool that says so. A call that fails is a failed result for the model. A call that
// the server did not answer is runtime.CodeInDoubt: it may have happened.
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
	"github.com/routegen/routegen/runtime/agent"
	"github.com/routegen/routegen/runtime/llm"
)

// KeyMeta is the entry of a call's metadata that holds its key: the same when a call is made again
// after a crash, so that a server can know what it has done already.
const KeyMeta = "idempotencyKey"

// Server is one MCP server. Its methods may be called by any number of goroutines.
type Server struct {
	name string
	dial func(ctx context.Context) (mcp.Transport, error)

	mu      sync.Mutex
	session *mcp.ClientSession
}

// New returns the tools of a server. name stands in errors. dial makes a way to it, once for each
// connection: an mcp.CommandTransport that starts a program, or an mcp.StreamableClientTransport
// that calls a URL.
func New(name string, dial func(ctx context.Context) (mcp.Transport, error)) *Server {
	return &Server{name: name, dial: dial}
}

// Tools asks the server for its tools. It refuses with CodeUnavailable when the server does not
// answer within ctx.
func (s *Server) Tools(ctx context.Context) ([]llm.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stale := s.session != nil // it may have been lost since
	tools, err := s.listTools(ctx)
	if err != nil && stale {
		tools, err = s.listTools(ctx)
	}
	if err != nil {
		return nil, runtime.Errorf(runtime.CodeUnavailable, "ask server "+s.name, "%w", err)
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

func (s *Server) listTools(ctx context.Context) (tools []llm.Tool, err error) {
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
			_ = s.session.Close() // it is unusable
			s.session = nil
			return nil, err
		}
		schema, err := json.Marshal(t.InputSchema)
		if err != nil {
			return nil, err
		}
		tools = append(tools, llm.Tool{Name: t.Name, Description: t.Description, Schema: schema,
			Call: caller(s.session, t.Name)})
	}
	return tools, nil
}

// connectionError returns the error of a call that the server refused (unavailable) or did not
// answer (in doubt).
func connectionError(name string, err error) error {
	code := runtime.CodeInDoubt
	if _, refused := errors.AsType[*jsonrpc.Error](err); refused {
		code = runtime.CodeUnavailable
	}
	return runtime.Errorf(code, "call tool "+name, "not available: %s", err.Error())
}

// caller calls a tool. Structured content is the result as it is, other content the string of its
// texts.
func caller(session *mcp.ClientSession, name string) func(context.Context, json.RawMessage) (
	json.RawMessage, error) {
	return func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		got, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args,
			Meta: mcp.Meta{KeyMeta: agent.ToolKey(ctx)}})
		switch {
		case err != nil:
			return nil, connectionError(name, err)
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
