package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

func TestErrors(t *testing.T) {
	err := fmt.Errorf("around: %w", &runtime.Error{Code: runtime.CodeLoop, Op: "step",
		Err: errors.New("why")})
	assert.Equal(t, runtime.CodeLoop, runtime.CodeOf(err))
	assert.Equal(t, runtime.CodeInternal, runtime.CodeOf(errors.New("foreign")))
	assert.Equal(t, runtime.Code(""), runtime.CodeOf(nil))
	assert.Equal(t, "around: step: loop: why", err.Error())
	assert.Equal(t, "conflict", (&runtime.Error{Code: runtime.CodeConflict}).Error())
	assert.Equal(t, "/a: x; y",
		(&runtime.InvalidError{Problems: []runtime.Problem{{Pointer: "/a", Reason: "x"},
			{Reason: "y"}}}).Error())
	for want, e := range map[string]runtime.SelectionError{
		"R has no branch set: set exactly one of a, b": {Routing: "R",
			Allowed: []string{"a", "b"}},
		"R must not set c here: set exactly one of a": {Routing: "R", Set: []string{"c"},
			Allowed: []string{"a"}},
		"R has 2 branches set, a, b: set exactly one of a, b": {Routing: "R",
			Set: []string{"a", "b"}, Allowed: []string{"a", "b"}},
		"R must not set c here: no branch is allowed": {Routing: "R", Set: []string{"c"}},
	} {
		assert.Equal(t, want, e.Error())
	}
}

func TestDialects(t *testing.T) {
	for _, d := range runtime.Dialects() {
		got, err := runtime.ParseDialect(d.String())
		require.NoError(t, err)
		assert.Equal(t, d, got)
	}
	_, err := runtime.ParseDialect("openapi")
	assert.EqualError(t, err,
		`parse dialect: invalid: unknown dialect "openapi": did you mean "openai"?`)
	_, err = runtime.ParseDialect("x")
	assert.EqualError(t, err,
		`parse dialect: invalid: unknown dialect "x": use one of plain, openai, anthropic, gemini`)
	assert.Empty(t, runtime.Dialect(9).String())
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{"1h30m": 90 * time.Minute, "1h": time.Hour,
		"0s": 0, "1m": time.Minute, "10m": 10 * time.Minute,
		"90ms": 90 * time.Millisecond, "1h0m1s": time.Hour + time.Second, "-20m": -20 * time.Minute,
		"10s": 10 * time.Second} {
		b, err := runtime.Duration(want).MarshalText()
		require.NoError(t, err)
		assert.Equal(t, text, string(b))
		var d runtime.Duration
		require.NoError(t, d.UnmarshalText(b))
		assert.Equal(t, want, time.Duration(d))
	}
	var d runtime.Duration
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(d.UnmarshalText([]byte("90"))))
}

type route uint16

func TestSets(t *testing.T) {
	var s [2]uint64
	runtime.SetWith[route](s[:], 129, 1, 64, 65, 128, 0, 129, 65535)
	assert.Equal(t, [2]uint64{1 | 1<<63, 1 | 1<<63}, s)
	assert.Equal(t, []route{1, 64, 65, 128}, slices.Collect(runtime.SetAll[route](s[:])))
	for range runtime.SetAll[route](s[:]) {
		break
	}
	for r, want := range map[route]bool{0: false, 1: true, 2: false, 64: true, 65: true, 128: true,
		129: false, 65535: false} {
		assert.Equal(t, want, runtime.SetHas(s[:], r), r)
	}
	_, one := runtime.SetOnly[route](s[:])
	assert.False(t, one)
	assert.Equal(t, 4, runtime.SetLen(s[:]))
	ended := s
	runtime.SetWith[route](ended[:], 100, 99, 100, 101)
	assert.True(t, runtime.SetHas(ended[:], route(99)))
	assert.False(t, runtime.SetHas(ended[:], route(100)), "the end is no route")
	runtime.SetWithout[route](s[:], 1, 64, 128, 0, 500)
	only, one := runtime.SetOnly[route](s[:])
	assert.True(t, one)
	assert.Equal(t, route(65), only)
	runtime.SetAnd(s[:], []uint64{^uint64(0)})
	assert.Zero(t, s)
	_, one = runtime.SetOnly[route](s[:])
	assert.False(t, one)
	two := []uint64{0b110}
	runtime.SetAnd(two, []uint64{0b011, 1})
	assert.Equal(t, []uint64{0b010}, two)
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		runtime.SetWith[route](s[:], 129, 3, 70)
		runtime.SetHas(s[:], route(3))
		for r := range runtime.SetAll[route](s[:]) {
			runtime.SetWithout(s[:], r)
		}
	}))
}

func TestNames(t *testing.T) {
	tables := &runtime.Tables{Nodes: []runtime.Node{{AgentType: "ORCHESTRATOR", Key: "lead"},
		{AgentType: "DISCOVERY_DISPATCH", Aliases: []string{"DISCOVERY_AGENT_DISPATCH"}}},
		Routes: []runtime.Route{{Field: "leadRequest"}}, Kinds: []runtime.Kind{{Name: "stop"}}}
	for text, want := range map[string]named{"ORCHESTRATOR": 1, "DISCOVERY_DISPATCH": 2,
		"DISCOVERY_AGENT_DISPATCH": 2} {
		var got named
		require.NoError(t, runtime.SetName(&got, []byte(text), tables.ParseAgentType))
		assert.Equal(t, want, got)
	}
	for text, want := range map[string]string{
		"ORCHESTRATER": `parse agent type: invalid: unknown agent type "ORCHESTRATER": did you mean "ORCHESTRATOR"?`,
		"orchestrator": `parse agent type: invalid: unknown agent type "orchestrator": did you mean "ORCHESTRATOR"?`,
		"X":            `parse agent type: invalid: unknown agent type "X": use one of ORCHESTRATOR, DISCOVERY_DISPATCH`,
	} {
		_, err := tables.ParseAgentType(text)
		assert.EqualError(t, err, want)
	}
	for text, parse := range map[string]func(string) (int, error){"lead": tables.ParseNode,
		"leadRequest": tables.ParseRoute, "stop": tables.ParseKind} {
		n, err := parse(text)
		require.NoError(t, err)
		assert.Equal(t, 1, n)
		_, err = parse("x")
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	}
	b, err := runtime.NameText("agent type", named(2))
	require.NoError(t, err)
	assert.Equal(t, "two", string(b))
	for _, v := range []named{0, 3} {
		_, err = runtime.NameText("agent type", v)
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
		assert.Zero(t, *runtime.Row(tables.Nodes, v))
	}
	assert.Same(t, &tables.Nodes[1], runtime.Row(tables.Nodes, named(2)))
}

// named is the number of a row with a text.
type named uint32

func (n named) String() string { return map[named]string{1: "one", 2: "two"}[n] }

func TestSelected(t *testing.T) {
	_, err := (&choice{}).Selected()
	assert.EqualError(t, err,
		"select branch of Choice: no_route: Choice has no branch set: set exactly one of work, "+
			"leaf, other")
	_, err = (&choice{Work: &work{}, Other: &leaf{}}).Selected()
	assert.Equal(t, runtime.CodeManyRoutes, runtime.CodeOf(err))
	var e *runtime.SelectionError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, []string{"work", "other"}, e.Set)
	v := &choice{Leaf: &leaf{}}
	assert.Zero(t, testing.AllocsPerRun(10, func() { _, _ = v.Selected() }))
}

func TestProgram(t *testing.T) {
	handler := func(r *choice, err error) (*choice, error) { return r, err }
	p := runtime.Program{
		Tables: &runtime.Tables{
			Nodes: []runtime.Node{{Key: "first", Routing: 2}, {Key: "second"}},
			Routings: []runtime.RoutingRow{{Name: "InterruptRouting", Branches: branches},
				{Name: "Choice", Node: 1, Branches: branches[:2]}},
		},
		Schemas: runtime.NewSchemas(filesOf(definitions), branches),
		Request: func(name string) runtime.Record {
			if name == "Leaf" {
				return new(leaf)
			}
			return nil
		},
		Routing: func(name string) runtime.Routing {
			if name == "Choice" {
				return new(choice)
			}
			return nil
		},
		Invoke: func(ctx context.Context, call runtime.Call, request runtime.Record) (
			runtime.Routing, error) {
			if r, ok := request.(*leaf); ok {
				return runtime.Handled(handler(&choice{Leaf: r}, nil))
			}
			return nil, runtime.Unhandled(request)
		},
	}
	p.Interrupt, p.Result = p.Request, p.Request
	for _, decode := range []func(string, []byte) (runtime.Record, error){p.DecodeRequest,
		p.DecodeInterrupt} {
		v, err := decode("Leaf", []byte(`{"path":"p"}`))
		require.NoError(t, err)
		assert.Equal(t, &leaf{Path: "p"}, v)
		v, err = decode("Leaf", []byte(`{}`))
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
		assert.Nil(t, v)
		_, err = decode("Gone", nil)
		assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err))
	}
	v, err := p.DecodeRouting(1, []byte(`{"leaf":{"path":"p"}}`))
	require.NoError(t, err)
	assert.Equal(t, &choice{Leaf: &leaf{Path: "p"}}, v)
	_, err = p.DecodeRouting(1, []byte(`{}`))
	assert.Equal(t, runtime.CodeNoRoute, runtime.CodeOf(err))
	_, err = p.DecodeReply(1, []byte(`{"route":{"leaf":{"path":"p"}}}`), nil)
	require.NoError(t, err)
	_, err = p.DecodeReply(1, []byte(`{"leaf":{"path":"p"}}`), func(string) bool { return false })
	assert.Equal(t, runtime.CodeNoRoute, runtime.CodeOf(err))
	for _, node := range []int{-1, 0, 2, 3} {
		_, err = p.DecodeRouting(node, []byte(`{}`))
		assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err), node)
		_, err = p.DecodeReply(node, []byte(`{}`), nil)
		assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err), node)
	}
	assert.Equal(t, p.Schemas.Union(branches, runtime.Plain), p.RoutingSchema(0, runtime.Plain))
	assert.Equal(t, p.Schemas.Union(branches[:2], runtime.Gemini),
		p.RoutingSchema(1, runtime.Gemini))
	assert.Empty(t, p.RoutingSchema(2, runtime.Plain))
	assert.Equal(t, p.Schemas.Union(branches[:1], runtime.Plain),
		p.RouteSchema([]uint64{1}, runtime.Plain))

	routing, err := p.Invoke(t.Context(), runtime.Call{}, &leaf{Path: "p"})
	require.NoError(t, err)
	assert.Equal(t, &choice{Leaf: &leaf{Path: "p"}}, routing)
	for _, r := range []runtime.Record{nil, &work{}} {
		_, err = p.Invoke(t.Context(), runtime.Call{}, r)
		assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err))
	}
}

func TestHandlerReturnsNothing(t *testing.T) {
	routing, err := runtime.Handled((*choice)(nil), nil)
	assert.Nil(t, routing)
	assert.Equal(t, runtime.CodeNoRoute, runtime.CodeOf(err))
	assert.ErrorContains(t, err, "neither a routing nor an error")
	failed := errors.New("failed")
	routing, err = runtime.Handled(&choice{}, failed)
	assert.Nil(t, routing)
	assert.Equal(t, failed, err)
	record, err := runtime.Adapted((*leaf)(nil), nil)
	assert.Nil(t, record)
	assert.EqualError(t, err, "adapt: internal: the handler returned neither a Leaf nor an error")
	record, err = runtime.Adapted(&leaf{}, failed)
	assert.Nil(t, record)
	assert.Equal(t, failed, err)
	record, err = runtime.Adapted(&leaf{Path: "p"}, nil)
	require.NoError(t, err)
	assert.Equal(t, &leaf{Path: "p"}, record)
}

// A refusal goes back to the model: it must not tell of routes that are closed to it, nor of hidden
// fields.
func TestRefusalNamesOnlyWhatIsOffered(t *testing.T) {
	var v choice
	err := runtime.DecodeReply([]byte(`{"nothing": {}}`), &v, func(name string) bool {
		return name == "leaf"
	})
	assert.ErrorContains(t, err, "use leaf")
	assert.NotContains(t, err.Error(), "work")
	err = runtime.DecodeReply([]byte(`{"worc": {}}`), &v, func(name string) bool {
		return name == "leaf"
	})
	assert.NotContains(t, err.Error(), `"work"`)
	err = runtime.Unmarshal([]byte(`{"nothing": {}}`), &v)
	assert.ErrorContains(t, err, "use work, leaf, other")
}
