package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/examples/inspection/agents"
	"github.com/routegen/routegen/examples/internal/standin"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// desk is an inspector's chat on SQLite, with the scripted model and a server in memory for each
// agent.
type desk struct {
	*testing.T
	c       *chat.Conversation
	model   *llmtest.ScriptedModel
	servers map[string]*mcp.Server
	tools   map[string]llm.Tools

	mu     sync.Mutex
	called []string // tools, as the servers saw it
	mails  []string
}

// sit opens the chat. change may alter the tables, as an edit of routes.yaml would.
func sit(t *testing.T, change func(nodes []runtime.Node)) *desk {
	t.Helper()
	d := &desk{T: t, model: llmtest.NewModel(llmtest.Reply{Give: standin.Script, Ever: true})}
	d.servers = standin.Servers(func(format string, args ...any) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.mails = append(d.mails, fmt.Sprintf(format, args...))
	})
	for _, s := range d.servers {
		s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
				if call, ok := r.(*mcp.CallToolRequest); ok {
					d.mu.Lock()
					d.called = append(d.called, call.Params.Name)
					d.mu.Unlock()
				}
				return next(ctx, method, r)
			}
		})
	}
	d.tools = connected(d.servers)
	p := agents.NewProgram(d.model)
	if change != nil {
		tables := *p.Tables
		tables.Nodes = slices.Clone(tables.Nodes)
		change(tables.Nodes)
		p.Tables = &tables
	}
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "threads.db"),
		sqlite.Config{})
	require.NoError(t, err)
	d.c, err = open(t.Context(), store, p, d.tools)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, d.c.Engine.Close(context.Background()))
		assert.NoError(t, store.Close())
	})
	return d
}

// says gives a line to the thread and returns the turn.
func (d *desk) says(text string) *chat.Turn {
	d.Helper()
	turn, err := d.c.Deliver(d.Context(), chat.Message{Thread: "room", User: "inspector",
		Text: text})
	require.NoError(d, err)
	return turn
}

// decides answers the open approval.
func (d *desk) decides(turn *chat.Turn, value string) *chat.Turn {
	d.Helper()
	a := thread.Answer{Interrupt: d.open(turn, "approval").ID, Value: json.RawMessage(value)}
	turn, err := d.c.Deliver(d.Context(), chat.Message{Thread: "room", User: "inspector",
		Answers: []thread.Answer{a}})
	require.NoError(d, err)
	return turn
}

// open returns the one open question of a turn.
func (d *desk) open(turn *chat.Turn, kind string) *thread.Interrupt {
	d.Helper()
	require.Equal(d, thread.StatusWaiting, turn.Thread.Status(), "%q", turn.Reply)
	require.Len(d, turn.Questions, 1)
	require.Equal(d, kind, turn.Questions[0].Type, turn.Questions[0].Text)
	return turn.Questions[0]
}

// replies expects a turn that is over.
func (d *desk) replies(turn *chat.Turn, text string) {
	d.Helper()
	require.Equal(d, thread.StatusIdle, turn.Thread.Status(), "%+v", turn.Questions)
	require.Len(d, turn.Reply, 1)
	require.Contains(d, turn.Reply[0], text)
}

func (d *desk) calls(tool string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(d.called), func(name string) bool {
		return name != tool
	}))
}

func (d *desk) mailed() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.mails)
}

// screen is what an inspector sees of the program: what it prints, and the own lines.
type screen struct {
	mu sync.Mutex
	bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Buffer.Write(p)
}

// typist types a line whenever the program wants one.
type typist struct {
	lines []string
	seen  *screen
}

func (t *typist) Read(p []byte) (int, error) {
	if len(t.lines) == 0 {
		return 0, io.EOF
	}
	line := t.lines[0]
	t.lines = t.lines[1:]
	if _, err := fmt.Fprintf(t.seen, "> %s\n", line); err != nil {
		return 0, err
	}
	return copy(p, line+"\n"), nil
}
