package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
	"github.com/routegen/routegen/runtime/workflow"
)

// busy is a program of two nodes that work until a gate of their name and visit is opened. The
// first one goes on at the second, which asks a person.
type busy struct {
	routes.UnimplementedHandlers

	r *rig
}

func (b busy) work(ctx context.Context, call runtime.Call) error {
	select {
	case <-b.r.gate(fmt.Sprintf("%s %d", call.Node, call.Visit)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b busy) Orchestrator(ctx context.Context, call runtime.Call,
	_ *routes.OrchestratorRequest) (*routes.OrchestratorRouting, error) {
	return &routes.OrchestratorRouting{
		DiscoveryOrchestratorRequest: &routes.DiscoveryOrchestratorRequest{Goal: "a change"},
	}, b.work(ctx, call)
}

func (b busy) DiscoveryOrchestrator(ctx context.Context, call runtime.Call,
	_ *routes.DiscoveryOrchestratorRequest) (*routes.DiscoveryOrchestratorRouting, error) {
	return &routes.DiscoveryOrchestratorRouting{
		InterruptRequest: &routes.DiscoveryOrchestratorInterruptRequest{
			Type: routes.InterruptTypeHumanReview, Reason: "Shall it begin anew?",
			SubdomainPartitioning: []string{"all"}, CoverageGoals: "all",
			DiscoveryStrategy: "read", Scope: "all",
		},
	}, b.work(ctx, call)
}

// newBusy is a rig with that program, and a thread whose first node runs.
func newBusy(t *testing.T) (r *rig, id string) {
	t.Helper()
	r = &rig{T: t}
	program := routes.New(busy{r: r})
	r.program = &program
	r.open()
	begin, err := workflow.Begin(&routes.OrchestratorRequest{Goal: "a change", Phase: "DISCOVERY"})
	require.NoError(t, err)
	made, err := r.client.Start(t.Context(), begin.Machine, begin.Name, begin.Input, "ann", "")
	require.NoError(t, err)
	return r, made.ID
}

// events are the reroute events that a thread has taken.
func (r *rig) events(id string) (out []workflow.Event) {
	r.Helper()
	for _, row := range r.history(id, thread.EntryReroute) {
		if row.Value != nil { // a later row says what became of it
			var e workflow.Event
			require.NoError(r, json.Unmarshal(row.Value, &e))
			out = append(out, e)
		}
	}
	return out
}

// Work that runs is told to interrupt, with a reason, and goes on at the chosen node when that
// interrupt is answered. An event that may not have arrived is sent again and counts once.
func TestRunningWorkIsSentElsewhere(t *testing.T) {
	t.Parallel()
	r, id := newBusy(t)
	r.let("orchestrator 1")
	s := r.watch(id, 100, 40, true)
	s.sees("at Discovery Orchestrator: at work", "s send elsewhere")
	t.Log("\n" + s.press("s", "── Send elsewhere", "Send the work to Orchestrator?",
		"Discovery Orchestrator is told to interrupt. When that interrupt is settled, the work "+
			"goes on at Orchestrator.", "2 Discovery Orchestrator"))
	s.press("3", "Send the work to Planning Orchestrator?")
	s.press("1"+enterKey, "Why?")
	s.press(" "+enterKey, "! Say why")
	s.keys("The goal has changed")
	r.stop()
	s.sees("No connection")
	s.press(enterKey, "! The server cannot be reached. Nothing is lost")
	r.start()
	s.loses("No connection")
	t.Log("\n" + s.press(enterKey,
		"Discovery Orchestrator is told to interrupt; then the work goes on at Orchestrator.",
		"ann ordered to interrupt the work and go on at Orchestrator"))
	events := r.events(id)
	require.Len(t, events, 1)
	assert.NotEmpty(t, events[0].EventID)
	assert.Equal(t, []string{"DISCOVERY_ORCHESTRATOR", "ORCHESTRATOR", "HUMAN_REVIEW",
		"The goal has changed", "ann"}, []string{events[0].SourceAgentType,
		events[0].RerouteToAgentType, events[0].InterruptType, events[0].Reason,
		events[0].RequestedBy})

	r.let("discoveryOrchestrator 1")
	s.sees("Shall it begin anew?", "Enter answer")
	s.press(enterKey, "An interrupt was ordered: The goal has changed")
	s.keys(enterKey + "yes" + enterKey)
	t.Log("\n" + s.sees("the order to interrupt the work was followed",
		"at Orchestrator: at work"))
	s.leave()
}

// What the server does not do is said in plain words: the node has ended meanwhile, or a new
// version of the program has no way to that place.
func TestSendingIsRefused(t *testing.T) {
	t.Parallel()
	r, id := newBusy(t)
	s := r.watch(id, 100, 40, true)
	s.sees("at Orchestrator: at work")
	s.press("s", "Send the work to Orchestrator?")
	s.press(enterKey+"too late", "> too late")
	r.let("orchestrator 1")
	s.sees("at Discovery Orchestrator: at work")
	t.Log("\n" + s.press(enterKey, "Orchestrator is no longer running: nothing was sent."))

	r.stop()
	tables := *r.program.Tables
	tables.Nodes, tables.Routes = slices.Clone(tables.Nodes), tables.Routes[1:]
	for n := range tables.Nodes {
		tables.Nodes[n].Route = max(0, tables.Nodes[n].Route-1)
	}
	r.program.Tables = &tables
	r.start()
	s.loses("No connection")
	s.sees("at Discovery Orchestrator: at work")
	s.keys("s")
	s.sees("Send the work to Orchestrator?") // as the old version had it
	t.Log("\n" + s.press(enterKey+"go"+enterKey, "! The work cannot go on there", "> go"))
	s.press(escKey+escKey, "s send elsewhere")
	assert.Empty(t, r.events(id))
	s.leave()
}

// The key does nothing, and no line offers it, with a token for the thread, and where the program
// takes no events for what runs.
func TestSendingIsNotOffered(t *testing.T) {
	t.Parallel()
	r, id := newBusy(t)
	g, err := r.client.Grant(t.Context(), web.Grant{Thread: id, By: "ann",
		Actions: []string{"follow", "answer", "escape", "cancel"},
		Expires: time.Now().Add(time.Hour).UnixMilli()})
	require.NoError(t, err)
	plan := r.begin("plan", "a,b")
	for thread, caller := range map[string]client.Client{
		id: {Base: r.client.Base, Token: g.Token}, plan: *r.client,
	} {
		s := r.watchWith(caller, thread, 100, 40, true)
		s.sees("Esc pause")
		s.keys("s" + escKey)
		assert.NotContains(t, strings.ToLower(s.sees("The pause is requested.")), "send elsewhere")
		s.leave()
	}
	s := r.watch(id, 100, 40, true)
	s.sees("s send elsewhere") // the check can lose
	s.leave()
}

// With two nodes that run, each place is offered for each of them; and the same event is sent again
// under its id, another one under its own.
func TestEventsOfTwoNodes(t *testing.T) {
	t.Parallel()
	var g web.Graph
	require.NoError(t, json.Unmarshal([]byte(`{"machine":"workflow","reroutes":true,
		"nodes":[{"key":"a","agentType":"A","title":"Alpha","branches":[{"kind":"interrupt"}]},
			{"key":"b","agentType":"B","title":"Beta","branches":[{"kind":"interrupt"}]},
			{"key":"c","agentType":"C","title":"Gamma","branches":[{"kind":"end"}]}],
		"routes":[{"agentType":"A","title":"Alpha"},{"agentType":"C","title":"Gamma"}]}`), &g))
	frame := func(id, node string, state thread.FrameState) web.Frame {
		return web.Frame{ID: id, Machine: g.Machine, PC: node, State: state}
	}
	s, _ := told(named(displayNames{}.withGraph(&g)), loaded{thread: &web.Thread{
		Status: thread.StatusRunning, Frames: []web.Frame{
			frame("f1", "a", thread.FrameReady), frame("f2", "b", thread.FrameRetrying),
			frame("f3", "c", thread.FrameReady), frame("f4", "b", thread.FrameAsking),
		},
	}})
	s.handle(press('s', "s"))
	require.Nil(t, s.form, "not without the operator's token")
	s.operator = true
	mounted := s.teller.names.reroutes
	s.teller.names.reroutes = nil
	s.handle(press('s', "s"))
	require.Nil(t, s.form, "not where the program takes no events")
	s.teller.names.reroutes = mounted
	s.handle(press('s', "s"))
	var labels []string
	for _, o := range s.form.options {
		labels = append(labels, o.label)
	}
	assert.Equal(t, []string{"Alpha to Alpha", "Alpha to Gamma", "Beta to Alpha", "Beta to Gamma"},
		labels)
	send := func(choose rune, why string) workflow.Event {
		s.form.write, s.form.field = writeNone, fieldOf(why)
		s.handle(press(choose, string(choose)))
		s.handle(enterPress)
		jobs := s.handle(enterPress)
		require.Len(t, jobs, 1)
		s.handle(answered{err: &runtime.Error{Code: runtime.CodeUnavailable}})
		return jobs[0].(reroute).Event
	}
	first := send('4', "why")
	assert.Equal(t, workflow.Event{EventID: "request 1", NodeID: "f2", SourceAgentType: "B",
		RerouteToAgentType: "C", InterruptType: "HUMAN_REVIEW", Reason: "why"}, first)
	assert.Equal(t, first, send('4', " why "))
	assert.Equal(t, "request 2", send('4', "why not").EventID)
	assert.Equal(t, []string{"request 3", "f1"}, func() []string {
		e := send('2', "why not")
		return []string{e.EventID, e.NodeID}
	}())
	s.handle(answered{ack: workflow.Queued})
	assert.Nil(t, s.form)
	assert.Equal(t, "Sent to Gamma, after the order that came before.", s.notice)
}
