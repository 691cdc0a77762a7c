package main

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/workflow"
)

// remote has the tools of an MCP server. It connects when it is asked first, and again after the connection was lost.
type remote struct {
	name string
	dial func(ctx context.Context) (mcp.Transport, error) // of a real server: an mcp.CommandTransport, or an mcp.StreamableClientTransport

	mu      sync.Mutex
	session *mcp.ClientSession
}

// Tools asks the server. It refuses with CodeUnavailable when the server does not answer.
func (r *remote) Tools(ctx context.Context) ([]llm.Tool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stale := r.session != nil // it may have been lost since
	tools, err := r.list(ctx)
	if err != nil && stale {
		tools, err = r.list(ctx)
	}
	if err != nil {
		return nil, &runtime.Error{Code: runtime.CodeUnavailable, Op: "ask server " + r.name, Err: err}
	}
	return tools, nil
}

func (r *remote) list(ctx context.Context) (tools []llm.Tool, err error) {
	if r.session == nil {
		way, err := r.dial(ctx)
		if err != nil {
			return nil, err
		}
		client := mcp.NewClient(&mcp.Implementation{Name: "inspection", Version: "1"}, nil)
		if r.session, err = client.Connect(ctx, way, nil); err != nil {
			return nil, err
		}
	}
	for t, err := range r.session.Tools(ctx, nil) {
		if err != nil {
			_ = r.session.Close() // it is of no use any more
			r.session = nil
			return nil, err
		}
		schema, err := json.Marshal(t.InputSchema)
		if err != nil {
			return nil, err
		}
		tools = append(tools, llm.Tool{Name: t.Name, Description: t.Description, Schema: schema, Call: caller(r.session, t.Name)})
	}
	return tools, nil
}

// caller calls a tool. The key is the same when a call is made again after a crash: by it a server knows what it has done already.
func caller(session *mcp.ClientSession, name string) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	return func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		got, err := session.CallTool(ctx, &mcp.CallToolParams{
			Name: name, Arguments: args, Meta: mcp.Meta{"idempotencyKey": workflow.ToolKey(ctx)},
		})
		switch {
		case err != nil:
			return nil, errors.New("not available: " + err.Error())
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

// verify is the rule of the reporting agent: it asks the inspector where less than 80 % of the data are there, or it is sure by less than 0.7.
func verify(completeness, confidence float64) bool { return completeness < 80 || confidence < 0.7 }

// verified adds the rule's word to what a server extracts: whether to ask is left neither to the server nor to the model.
type verified struct{ from llm.Tools }

// Tools are those of the server.
func (v verified) Tools(ctx context.Context) ([]llm.Tool, error) {
	tools, err := v.from.Tools(ctx)
	for i, t := range tools {
		tools[i].Call = func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
			out, err := t.Call(ctx, args)
			var found struct {
				Completeness *float64 `json:"completeness"` // per cent
				Confidence   float64  `json:"overall_confidence"`
			}
			if err != nil || json.Unmarshal(out, &found) != nil || found.Completeness == nil {
				return out, err
			}
			return json.RawMessage(strings.Replace(string(out), "{", `{"verify":`+strconv.FormatBool(verify(*found.Completeness, found.Confidence))+`,`, 1)), nil
		}
	}
	return tools, err
}
