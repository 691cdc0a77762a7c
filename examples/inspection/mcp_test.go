package main

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// A server that is down is one tool that says so; the agent tells the inspector, and the thread goes on. When it is back it is used again.
func TestDeadServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ server, says, then string }{
		{"regulation", "welke regel geldt voor vis", "artikel 4"}, {"history", "was er eerder iets", "Twee bezoeken"}, {"reporting", whole, ""},
	} {
		t.Run(c.server, func(t *testing.T) {
			t.Parallel()
			d := sit(t, nil)
			r := d.remote(c.server)
			dial := r.dial
			r.dial = func(context.Context) (mcp.Transport, error) { return nil, errors.New("connection refused") }
			d.replies(d.says(c.says), "Dit is nu niet beschikbaar.")
			d.replies(d.says("hallo"), "Vraag mij")
			assert.Empty(t, d.called)

			r.dial = dial
			if turn := d.says(c.says); c.then != "" {
				d.replies(turn, c.then)
			} else {
				d.open(turn, "approval")
			}
		})
	}
}

// A server that goes away between two questions is noticed, and dialled again.
func TestLostConnection(t *testing.T) {
	t.Parallel()
	d := sit(t, nil)
	d.replies(d.says("welke regel geldt voor vis"), "artikel 4")
	d.hangUp("regulation")
	d.replies(d.says("welke regel geldt voor vis"), "artikel 4")
}

// A connection that is lost while a tool runs is a failed call.
func TestLostConnectionInACall(t *testing.T) {
	t.Parallel()
	d := sit(t, nil)
	r, wire := d.remote("regulation"), &cable{}
	dial := r.dial
	r.dial = func(ctx context.Context) (mcp.Transport, error) {
		var err error
		wire.Transport, err = dial(ctx)
		return wire, err
	}
	cut := false
	serve(d.servers["regulation"], "search_regulations", "Finds rules.", func(words, string) map[string]string {
		if !cut {
			cut = true
			assert.NoError(t, wire.conn.Close())
		}
		return map[string]string{"found": "artikel 5"}
	})
	d.replies(d.says("welke regel geldt voor vis"), "Dat is niet gebeurd: not available")
	d.replies(d.says("welke regel geldt voor vis"), "artikel 5")
}

// cable is a way to a server that can be cut.
type cable struct {
	mcp.Transport
	conn mcp.Connection
}

func (c *cable) Connect(ctx context.Context) (mcp.Connection, error) {
	var err error
	c.conn, err = c.Transport.Connect(ctx)
	return c.conn, err
}

func TestToolThatFails(t *testing.T) {
	t.Parallel()
	d := sit(t, nil)
	mcp.AddTool(d.servers["history"], &mcp.Tool{Name: "get_inspection_history"}, func(context.Context, *mcp.CallToolRequest, words) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("the archive is closed")
	})
	d.replies(d.says("was er eerder iets"), "Dat is niet gebeurd: the archive is closed")
}

// The key goes out with the call, so that a server can know what it has done already.
func TestCallsHaveKeys(t *testing.T) {
	t.Parallel()
	d := sit(t, nil)
	keys := make(chan string, 8)
	serve(d.servers["history"], "get_inspection_history", "", func(_ words, key string) map[string]string {
		keys <- key
		return map[string]string{"found": "niets"}
	})
	d.replies(d.says("was er eerder iets"), "niets")
	d.replies(d.says("was er eerder iets"), "niets")
	first, second := <-keys, <-keys
	require.NotEmpty(t, first)
	assert.NotEqual(t, first, second)
}

// What is called again under its key, as after a crash, was done already.
func TestOneMailForACall(t *testing.T) {
	t.Parallel()
	d := sit(t, nil)
	_, err := d.tools["reporting"].Tools(t.Context())
	require.NoError(t, err)
	session := d.remote("reporting").session
	for _, key := range []string{"a", "a", "b"} {
		_, err := session.CallTool(t.Context(), &mcp.CallToolParams{
			Name: "generate_final_report", Arguments: final{Report: map[string]string{}, SendEmail: true}, Meta: mcp.Meta{"idempotencyKey": key},
		})
		require.NoError(t, err)
	}
	assert.Len(t, d.mailed(), 2)
}

func TestUnavailableIsSaidByCode(t *testing.T) {
	t.Parallel()
	r := &remote{name: "archive", dial: func(context.Context) (mcp.Transport, error) { return nil, errors.New("connection refused") }}
	_, err := r.Tools(t.Context())
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
}

func (d *desk) remote(server string) *remote {
	d.Helper()
	tools := d.tools[server]
	if v, ok := tools.(verified); ok {
		tools = v.from
	}
	r, ok := tools.(*remote)
	require.True(d, ok)
	return r
}

// hangUp ends the connections of a server.
func (d *desk) hangUp(server string) {
	for _, s := range slices.Collect(d.servers[server].Sessions()) {
		assert.NoError(d, s.Close())
	}
}

// A server that hangs is waited for as long as the caller says, and no longer.
func TestHangingServer(t *testing.T) {
	t.Parallel()
	d := sit(t, nil)
	var hangs atomic.Bool
	hangs.Store(true)
	d.servers["history"].AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "tools/list" && hangs.Load() {
				<-ctx.Done()
			}
			return next(ctx, method, r)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := d.tools["history"].Tools(ctx)
	require.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
	hangs.Store(false)
	d.replies(d.says("was er eerder iets"), "Twee bezoeken")
}
