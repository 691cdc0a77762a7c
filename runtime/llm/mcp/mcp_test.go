package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/mcp"
)

type words struct {
	Text string `json:"text"`
}

// served is a server in memory, and the ways that were made to it.
type served struct {
	*sdk.Server

	dialed int
	refuse error
	wire   *cable // the last one
}

// serve returns a server with the tool echo, and its tools as a model is offered them.
func serve(t *testing.T) (*served, *mcp.Server) {
	t.Helper()
	s := &served{Server: sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)}
	sdk.AddTool(s.Server, &sdk.Tool{Name: "echo", Description: "Says it again."},
		func(_ context.Context, _ *sdk.CallToolRequest, in words) (*sdk.CallToolResult, words,
			error) {
			return nil, in, nil
		})
	tools := mcp.New("test", func(ctx context.Context) (sdk.Transport, error) {
		if s.refuse != nil {
			return nil, s.refuse
		}
		s.dialed++
		here, there := sdk.NewInMemoryTransports()
		_, err := s.Connect(ctx, there, nil)
		s.wire = &cable{Transport: here}
		return s.wire, err
	})
	t.Cleanup(func() { assert.NoError(t, tools.Close()) })
	return s, tools
}

// cable is a way to a server that can be cut.
type cable struct {
	sdk.Transport
	conn sdk.Connection
}

func (c *cable) Connect(ctx context.Context) (sdk.Connection, error) {
	var err error
	c.conn, err = c.Transport.Connect(ctx)
	return c.conn, err
}

func tool(t *testing.T, from *mcp.Server, name string) llm.Tool {
	t.Helper()
	tools, err := from.Tools(t.Context())
	require.NoError(t, err)
	at := slices.IndexFunc(tools, func(t llm.Tool) bool { return t.Name == name })
	require.GreaterOrEqual(t, at, 0, "%v", tools)
	return tools[at]
}

func TestToolsOfAServer(t *testing.T) {
	t.Parallel()
	s, tools := serve(t)
	echo := tool(t, tools, "echo")
	assert.Equal(t, "Says it again.", echo.Description)
	var schema struct {
		Type     string   `json:"type"`
		Required []string `json:"required"`
	}
	require.NoError(t, json.Unmarshal(echo.Schema, &schema))
	assert.Equal(t, "object", schema.Type)
	assert.Equal(t, []string{"text"}, schema.Required)
	got, err := echo.Call(t.Context(), json.RawMessage(`{"text":"hello"}`))
	require.NoError(t, err)
	assert.JSONEq(t, `{"text":"hello"}`, string(got), "structured content is the result as it is")
	tool(t, tools, "echo")
	assert.Equal(t, 1, s.dialed, "one connection is enough")
}

func TestTextIsAString(t *testing.T) {
	t.Parallel()
	s, tools := serve(t)
	s.AddTool(&sdk.Tool{Name: "poem", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "a "},
				&sdk.TextContent{Text: "rose"}}}, nil
		})
	got, err := tool(t, tools, "poem").Call(t.Context(), json.RawMessage(`{}`))
	require.NoError(t, err)
	assert.JSONEq(t, `"a rose"`, string(got))
}

func TestToolThatFails(t *testing.T) {
	t.Parallel()
	s, tools := serve(t)
	sdk.AddTool(s.Server, &sdk.Tool{Name: "broken"},
		func(context.Context, *sdk.CallToolRequest, words) (*sdk.CallToolResult, any, error) {
			return nil, nil, errors.New("the archive is closed")
		})
	_, err := tool(t, tools, "broken").Call(t.Context(), json.RawMessage(`{"text":""}`))
	require.EqualError(t, err, "the archive is closed")
}

// A server that is not there is named by code; when it is back it is used.
func TestUnavailableIsSaidByCode(t *testing.T) {
	t.Parallel()
	s, tools := serve(t)
	s.refuse = errors.New("connection refused")
	_, err := tools.Tools(t.Context())
	require.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
	require.ErrorContains(t, err, "ask server test")
	s.refuse = nil
	tool(t, tools, "echo")
}

// A server that goes away between two questions is noticed, and dialled again.
func TestLostConnection(t *testing.T) {
	t.Parallel()
	s, tools := serve(t)
	tool(t, tools, "echo")
	for _, session := range slices.Collect(s.Sessions()) {
		require.NoError(t, session.Close())
	}
	tool(t, tools, "echo")
	assert.Equal(t, 2, s.dialed)
}

// A connection that is lost while a tool runs is a failed call.
func TestLostConnectionInACall(t *testing.T) {
	t.Parallel()
	s, tools := serve(t)
	sdk.AddTool(s.Server, &sdk.Tool{Name: "cut"},
		func(context.Context, *sdk.CallToolRequest, words) (*sdk.CallToolResult, any, error) {
			assert.NoError(t, s.wire.conn.Close())
			return nil, nil, nil
		})
	_, err := tool(t, tools, "cut").Call(t.Context(), json.RawMessage(`{"text":""}`))
	require.ErrorContains(t, err, "not available: ")
	got, err := tool(t, tools, "echo").Call(t.Context(), json.RawMessage(`{"text":"again"}`))
	require.NoError(t, err)
	assert.JSONEq(t, `{"text":"again"}`, string(got))
}

// A server that hangs is waited for as long as the caller says, and no longer.
func TestHangingServer(t *testing.T) {
	t.Parallel()
	s, tools := serve(t)
	hangs := make(chan struct{})
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			select {
			case <-hangs:
			default:
				if method == "tools/list" {
					<-ctx.Done()
				}
			}
			return next(ctx, method, r)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := tools.Tools(ctx)
	require.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
	close(hangs)
	tool(t, tools, "echo")
}
