package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

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
	turn := d.says("welke regel geldt voor vis")
	d.replies(turn, "beschikbaar")
	d.replies(d.says("welke regel geldt voor vis"), "artikel 4")
}

// A server that goes away while its tool runs is a failed call.
func TestLostConnectionInACall(t *testing.T) {
	t.Parallel()
	d := sit(t, nil)
	var once sync.Once
	serve(d.servers["regulation"], "search_regulations", "Finds rules.", func(words, string) map[string]string {
		once.Do(func() { d.hangUp("regulation") })
		return map[string]string{"found": "artikel 5"}
	})
	d.replies(d.says("welke regel geldt voor vis"), "Dat is niet gebeurd: not available")
	d.replies(d.says("en nu, welke regel"), "artikel 5")
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
