package otel_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	api "go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/otel"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

func attrKey(name string) attribute.Key { return attribute.Key(name) }

func TestMetricsOfInterrupts(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r, now := newRig(t), newClock()
	q := thread.Question{Plain: thread.PlainYesNo,
		Deadline: &runtime.Deadline{After: time.Hour, Then: "expire"}}
	e := r.open(t, mem.Open(), thread.Config{Clock: now},
		thread.Func("asking", func(ctx context.Context, _ string) (bool, error) {
			return thread.Ask[bool](ctx, "go on", q)
		}))
	for _, id := range []string{"answered", "expired", "superseded", "cancelled", "open"} {
		require.Len(t, begin(t, e, thread.Begin{ID: id, Machine: "asking", Name: "planner"}).Open,
			1)
	}
	now.Move(100 * time.Second)
	_, err := e.Answer(ctx, "answered", thread.Answer{Text: "maybe", By: "bob"})
	require.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	answer(t, e, "answered", thread.Answer{Text: "yes", By: "bob"})
	// refused, and not counted
	_, err = e.Answer(ctx, "answered", thread.Answer{Text: "yes", By: "bob"})
	require.Error(t, err)
	_, err = e.Escape(ctx, "superseded", thread.EscapeSafe, "ann", "")
	require.NoError(t, err)
	_, err = e.Cancel(ctx, "cancelled", "ann", "")
	require.NoError(t, err)
	opened, err := e.Thread(ctx, "open")
	require.NoError(t, err)
	// changes the interrupt and counts nothing
	_, err = e.Extend(ctx, opened.Open[0].ID, now.Now().Add(9*time.Hour), "ann")
	require.NoError(t, err)
	now.Move(2 * time.Hour)
	require.NoError(t, e.RunDue(ctx))
	require.NoError(t, e.Close(ctx))

	const planner, pause = "agent_question planner", "user_escape -"
	assert.Equal(t, map[string]point{
		planner + " asked": {1, 5, "{interrupt}"}, planner + " reasked": {1, 1, "{interrupt}"},
		planner + " answered":   {1, 1, "{interrupt}"},
		planner + " expired":    {1, 1, "{interrupt}"},
		planner + " superseded": {1, 1, "{interrupt}"},
		planner + " cancelled":  {1, 1, "{interrupt}"}, pause + " asked": {1, 1, "{interrupt}"},
	}, r.points(t, "routegen.interrupts", "routegen.kind", "routegen.node", "routegen.event"))
	assert.Equal(t, map[string]point{planner: {1, 1, "{interrupt}"}, pause: {1, 1, "{interrupt}"}},
		r.points(t, "routegen.interrupts.open", "routegen.kind", "routegen.node"),
		"open, and the pause")
	assert.Equal(t, map[string]point{planner: {1, 100, "s"}},
		r.points(t, "routegen.interrupt.wait", "routegen.kind", "routegen.node"))
	assert.Equal(t, map[string]point{"waiting": {1, 5, "{step}"}, "done": {1, 1, "{step}"}},
		r.points(t, "routegen.steps", "routegen.outcome"))
	took := r.points(t, "routegen.step.duration", "routegen.machine",
		"routegen.name")["asking planner"]
	assert.Equal(t, uint64(6), took.count)
	assert.Equal(t, "s", took.unit)
	assert.Positive(t, took.sum)
	states := map[string]string{}
	for _, s := range r.named("wait agent_question planner") {
		states[value(s, "routegen.thread")] = value(s, "routegen.state")
	}
	assert.Equal(t, map[string]string{"answered": "answered", "expired": "expired",
		"superseded": "superseded", "cancelled": "cancelled"}, states)
}

func TestOpenInterruptsAddUpOverProcesses(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, m := mem.Open(), asking(thread.Question{})
	asks, answers := newRig(t), newRig(t)
	e := asks.open(t, store, thread.Config{}, m)
	begin(t, e, thread.Begin{ID: "t", Machine: "asking"})
	require.NoError(t, e.Close(ctx))
	e = answers.open(t, store, thread.Config{}, m)
	answer(t, e, "t", thread.Answer{Value: []byte(`"yes"`)})
	require.NoError(t, e.Close(ctx))
	assert.InDelta(t, 1, asks.points(t, "routegen.interrupts.open")[""].sum, 0)
	assert.InDelta(t, -1, answers.points(t, "routegen.interrupts.open")[""].sum, 0)
}

func TestVotesNameTheirVoters(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := newRig(t)
	e := r.open(t, mem.Open(), thread.Config{},
		asking(thread.Question{Quorum: 2, Assignees: []string{"bob", "cat", "dan"}}))
	begin(t, e, thread.Begin{ID: "t", Machine: "asking"})
	for _, by := range []string{"bob", "dan"} {
		answer(t, e, "t", thread.Answer{Value: []byte(`"yes"`), By: by})
	}
	require.NoError(t, e.Close(ctx))
	wait := r.named("wait agent_question")
	require.Len(t, wait, 1)
	var who []string
	for _, e := range wait[0].Events {
		who = append(who, e.Name+" "+e.Attributes[0].Value.AsString())
	}
	assert.Equal(t, []string{"vote bob", "vote dan"}, who)
}

// A question that loses its clash at birth is asked and superseded, and was never open; a clock
// that went back makes no negative time.
func TestCommitsThatAreRare(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	now := newClock().Now()
	lost := &thread.Interrupt{ID: "lost", Thread: "t", Kind: "k",
		State: thread.InterruptSuperseded, Created: now, ClosedAt: now}
	back := &thread.Interrupt{ID: "back", Thread: "t", Kind: "k", State: thread.InterruptAnswered,
		Created: now, ClosedAt: now.Add(-time.Hour)}
	r.observer.Committed(&thread.Thread{ID: "t"}, []thread.Entry{
		{Type: thread.EntryAsked, Interrupt: "lost", State: "superseded"},
		{Type: thread.EntryAsked, Interrupt: "back", State: "open"},
		{Type: thread.EntryAnswered, Interrupt: "back"},
		{Type: thread.EntryAnswered, Interrupt: "nowhere"},
	}, []*thread.Interrupt{lost, back})
	assert.Zero(t, r.points(t, "routegen.interrupts.open")[""].sum)
	assert.Equal(t, map[string]point{"asked": {1, 2, "{interrupt}"},
		"superseded": {1, 1, "{interrupt}"}, "answered": {1, 1, "{interrupt}"}},
		r.points(t, "routegen.interrupts", "routegen.event"))
	assert.Equal(t, map[string]point{"": {1, 0, "s"}}, r.points(t, "routegen.interrupt.wait"))
	for _, s := range r.named("wait k") {
		assert.Zero(t, s.EndTime.Sub(s.StartTime))
	}
}

func TestInstrumentThatIsRefused(t *testing.T) {
	t.Parallel()
	_, err := otel.New(otel.Config{MeterProvider: refusing{}})
	assert.Equal(t, runtime.CodeInternal, runtime.CodeOf(err))
}

type refusing struct{ noop.MeterProvider }

func (refusing) Meter(string, ...api.MeterOption) api.Meter { return refusingMeter{} }

type refusingMeter struct{ noop.Meter }

func (refusingMeter) Int64Counter(string, ...api.Int64CounterOption) (api.Int64Counter, error) {
	return nil, assert.AnError
}

func TestFailuresThatAreTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	told := thread.Entry{Type: thread.EntryMessage, Name: "unavailable",
		Failure: &thread.Failure{Code: runtime.CodeForbidden, Text: "key"}}
	r.observer.Committed(&thread.Thread{ID: "t"},
		[]thread.Entry{told, {Type: thread.EntryMessage, Name: "hello"}, told}, nil)
	assert.Equal(t, map[string]point{"unavailable forbidden": {1, 2, "{message}"}},
		r.points(t, "routegen.failures.told", "routegen.message", "error.type"))
}
