package main

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/examples/internal/standin"
)

// A server that does not answer is one tool that says so; the agent tells the inspector, and the
// thread goes on. When it is back it is used again.
func TestDeadServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ server, says, then string }{
		{"regulation", "welke regel geldt voor vis", "artikel 4"},
		{"history", "was er eerder iets", "Twee bezoeken"}, {"reporting", whole, ""},
	} {
		t.Run(c.server, func(t *testing.T) {
			t.Parallel()
			d := sit(t, nil)
			var dead atomic.Bool
			dead.Store(true)
			d.servers[c.server].AddReceivingMiddleware(
				func(next mcp.MethodHandler) mcp.MethodHandler {
					return func(ctx context.Context, method string, r mcp.Request) (mcp.Result,
						error) {
						if dead.Load() {
							return nil, errors.New("gone")
						}
						return next(ctx, method, r)
					}
				})
			d.replies(d.says(c.says), "Dit is nu niet beschikbaar.")
			d.replies(d.says("hallo"), "Vraag mij")
			assert.Empty(t, d.called)

			dead.Store(false)
			if turn := d.says(c.says); c.then != "" {
				d.replies(turn, c.then)
			} else {
				d.open(turn, "approval")
			}
		})
	}
}

func TestToolThatFails(t *testing.T) {
	t.Parallel()
	d := sit(t, nil)
	mcp.AddTool(d.servers["history"], &mcp.Tool{Name: "get_inspection_history"},
		func(context.Context, *mcp.CallToolRequest, standin.Words) (*mcp.CallToolResult, any,
			error) {
			return nil, nil, errors.New("the archive is closed")
		})
	d.replies(d.says("was er eerder iets"), "Dat is niet gebeurd: the archive is closed")
}

// Every call goes out with a key of its own, so that a server can know what it has done already.
func TestCallsHaveKeys(t *testing.T) {
	t.Parallel()
	d := sit(t, nil)
	keys := make(chan string, 8)
	standin.Serve(d.servers["history"], "get_inspection_history", "",
		func(_ standin.Words, key string) map[string]string {
			keys <- key
			return map[string]string{"found": "niets"}
		})
	d.replies(d.says("was er eerder iets"), "niets")
	d.replies(d.says("was er eerder iets"), "niets")
	first, second := <-keys, <-keys
	require.NotEmpty(t, first)
	assert.NotEqual(t, first, second)
}
