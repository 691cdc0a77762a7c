package tui

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/examples/multiagent/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/workflow"
)

// busy is a program whose first node works until the test ends.
type busy struct{ routes.UnimplementedHandlers }

func (busy) Orchestrator(ctx context.Context, _ runtime.Call, _ *routes.OrchestratorRequest) (*routes.OrchestratorRouting, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// newBusy is a server with a thread whose first node runs.
func newBusy(t *testing.T, store runtime.Store) (r *rig, id string) {
	t.Helper()
	program := routes.New(busy{})
	machine, err := workflow.New(program, workflow.Config{})
	require.NoError(t, err)
	r = &rig{T: t}
	r.engine, err = thread.Open(t.Context(), store, thread.Config{Owner: "one"}, machine)
	require.NoError(t, err)
	t.Cleanup(func() {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		assert.NoError(t, r.engine.Close(over))
	})
	server, err := web.New(r.engine, operator, web.Config{
		Rerouter: machine, Programs: map[string]web.Program{workflow.Name: {Generated: program}},
	})
	require.NoError(t, err)
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	t.Cleanup(front.CloseClientConnections)
	r.client = &web.Client{Base: front.URL, Token: operator}
	begin, err := workflow.Begin(&routes.OrchestratorRequest{Goal: "a change", Phase: "DISCOVERY"})
	require.NoError(t, err)
	made, err := r.client.Start(t.Context(), begin.Machine, begin.Name, begin.Input, "ann", "")
	require.NoError(t, err)
	return r, made.ID
}

// TestRunningWorkIsSentElsewhere sends running work to another node, with a reason. A token for the
// thread alone is not offered it.
func TestRunningWorkIsSentElsewhere(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) runtime.Store{
		"mem": func(*testing.T) runtime.Store { return mem.Open() },
		"sqlite": func(t *testing.T) runtime.Store {
			t.Helper()
			disk, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "threads.db"), sqlite.Config{})
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, disk.Close()) })
			return disk
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, id := newBusy(t, open(t))
			s := r.watch(id, 90, 30, true)
			s.sees("Orchestrator: at work", "s send it elsewhere")
			s.keys("s")
			s.sees("Send it elsewhere", "The node is told to interrupt", "Discovery Orchestrator")
			s.keys("2" + enterKey)
			s.sees("the work goes on at Discovery Orchestrator", "Why?")
			s.keys(" " + enterKey)
			s.sees("Say why")
			s.keys("It is explored already")
			t.Log("\n" + s.sees("It is explored already"))
			s.keys(enterKey)
			s.sees("then the work goes on at")
			s.leave()
			sent := r.history(id, runtime.EntryReroute)
			require.Len(t, sent, 1)
			assert.Equal(t, runtime.ReroutePending, sent[0].State)
			var event workflow.Event
			require.NoError(t, json.Unmarshal(sent[0].Value, &event))
			g, err := r.client.Program(t.Context(), workflow.Name)
			require.NoError(t, err)
			assert.Equal(t, g.Routes[1].AgentType, event.RerouteToAgentType)
			assert.Equal(t, "ORCHESTRATOR", event.SourceAgentType)
			assert.Equal(t, "It is explored already", event.Reason)
			assert.Equal(t, "ann", event.RequestedBy)

			token, err := r.client.Grant(t.Context(), web.Grant{
				Thread: id, Actions: []string{"view", "answer", "escape"}, Expires: time.Now().Add(time.Hour).UnixMilli(), By: "bob",
			})
			require.NoError(t, err)
			guest := r.watchWith(web.Client{Base: r.client.Base, Token: token.Token}, id, 90, 30, true)
			assert.NotContains(t, guest.sees("at work", "Esc pause"), "send it elsewhere")
			guest.leave()
		})
	}
}
