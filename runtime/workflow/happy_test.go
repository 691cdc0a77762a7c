package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// script answers for the nodes: per node key a list of routings as JSON, one for each run.
type script struct {
	mu    sync.Mutex
	lines map[string][]string
	runs  []string
	calls []runtime.Call
}

func (s *script) program(t *testing.T) runtime.Program {
	t.Helper()
	p := routes.New(routes.UnimplementedHandlers{})
	p.Invoke = func(_ context.Context, call runtime.Call, request runtime.Record) (runtime.Routing, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.runs = append(s.runs, call.Node)
		s.calls = append(s.calls, call)
		if len(s.lines[call.Node]) == 0 {
			return nil, fmt.Errorf("the script has no line for %s", call.Node)
		}
		line := s.lines[call.Node][0]
		s.lines[call.Node] = s.lines[call.Node][1:]
		for i := range p.Tables.Nodes {
			if p.Tables.Nodes[i].Key == call.Node {
				return p.DecodeRouting(i+1, json.RawMessage(line))
			}
		}
		return nil, fmt.Errorf("no node %s", call.Node)
	}
	return p
}

func TestHumanReview(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := &script{lines: map[string][]string{
		"orchestrator": {
			`{"interruptRequest":{"type":"HUMAN_REVIEW","reason":"which way?","phase":"DISCOVERY","goal":"g","workflowContext":"w"}}`,
			`{"discoveryOrchestratorRequest":{"goal":"find"}}`,
		},
		"discoveryOrchestrator": {
			`{"interruptRequest":{"type":"PAUSE","reason":"wait","scope":"all","subdomainPartitioning":[],"coverageGoals":"c","discoveryStrategy":"s"}}`,
		},
	}}
	m, err := workflow.New(s.program(t), workflow.Config{})
	require.NoError(t, err)
	e, err := thread.Open(ctx, mem.Open(), thread.Config{}, m)
	require.NoError(t, err)
	b, err := workflow.Begin(&routes.OrchestratorRequest{Goal: "ship it", Phase: "DISCOVERY"})
	require.NoError(t, err)
	th, err := e.Start(ctx, b)
	require.NoError(t, err)
	th, err = e.Wait(ctx, th.ID)
	require.NoError(t, err)
	require.Len(t, th.Open, 1, "%+v", th)
	t.Logf("%s", th.Open[0].Payload)
	_, err = e.Answer(ctx, th.ID, runtime.Answer{Text: "left", By: "ann"})
	require.NoError(t, err)
	th, err = e.Wait(ctx, th.ID)
	require.NoError(t, err)
	t.Log(s.runs)
	require.Len(t, th.Open, 1)
	require.Equal(t, "wait", th.Open[0].Text)
	require.JSONEq(t, `"left"`, string(s.calls[1].Answer))
	require.NoError(t, e.Close(ctx))
}
