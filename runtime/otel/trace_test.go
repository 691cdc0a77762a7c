package otel_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/otel"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// asking is a thread that asks once, with an effect before and one after.
func asking(q thread.Question) thread.Machine {
	return thread.Func("asking", func(ctx context.Context, in string) (string, error) {
		same := func(context.Context, string) (string, error) { return in, nil }
		if _, err := thread.Do(ctx, "before", same); err != nil {
			return "", err
		}
		answer, err := thread.Ask[string](ctx, "go on", q)
		if err != nil {
			return "", err
		}
		_, err = thread.Do(ctx, "after", same)
		return answer, err
	})
}

func TestOneTraceOverPauseAndRestart(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, now := mem.Open(), newClock()
	m := asking(thread.Question{Text: "Go on?"})

	before := newRig(t)
	e := before.open(t, store, thread.Config{Clock: now}, m)
	th := begin(t, e, thread.Begin{ID: "t1", Machine: "asking", Name: "planner", Input: "x",
		User: "ann"})
	begin(t, e, thread.Begin{ID: "t2", Machine: "asking"})
	require.NoError(t, e.Close(ctx))

	now.Move(90 * time.Second)
	after := newRig(t)
	e = after.open(t, store, thread.Config{Clock: now}, m)
	answer(t, e, th.ID, thread.Answer{Interrupt: th.Open[0].ID, Value: []byte(`"yes"`), By: "bob"})
	require.NoError(t, e.Close(ctx))

	sum := sha256.Sum256([]byte("t1"))
	id := trace.TraceID(sum[:16])
	require.Equal(t, id, otel.TraceID("t1"))
	first, second, wait := before.named("step asking planner"), after.named(
		"step asking planner"), after.named("wait agent_question planner")
	require.Len(t, first, 1)
	require.Len(t, second, 1)
	require.Len(t, wait, 1)
	require.Len(t, before.named("start thread"), 2)
	assert.NotEqual(t, first[0].SpanContext.SpanID(), second[0].SpanContext.SpanID())
	for _, s := range append(before.spans.GetSpans(), after.spans.GetSpans()...) {
		want := otel.TraceID(value(s, "routegen.thread")) // the other thread is in another trace
		assert.Equal(t, want, s.SpanContext.TraceID(), s.Name)
		assert.False(t, s.Parent.SpanID().IsValid(), "a parent that nobody sent: "+s.Name)
		assert.Equal(t, codes.Unset, s.Status.Code, s.Name)
	}
	assert.NotEqual(t, id, otel.TraceID("t2"))

	require.Len(t, first[0].Events, 1)
	assert.Equal(t, "waiting", first[0].Events[0].Name)
	assert.Empty(t, second[0].Events)
	for key, want := range map[string][2]string{
		"routegen.outcome": {"waiting", "done"}, "routegen.frame": {"f1", "f1"},
		"routegen.step": {"", ""}, "routegen.visit": {"1", "1"},
		"routegen.turn": {"1", "1"}, "routegen.machine": {"asking", "asking"},
		"routegen.name": {"planner", "planner"},
	} {
		assert.Equal(t, want, [2]string{value(first[0], attrKey(key)),
			value(second[0], attrKey(key))}, key)
	}
	assert.Equal(t, "bob", value(wait[0], "routegen.who"))
	assert.Equal(t, "answered", value(wait[0], "routegen.state"))
	assert.Equal(t, th.Open[0].ID, value(wait[0], "routegen.interrupt"))
	assert.Equal(t, th.Open[0].Digest, value(wait[0], "routegen.digest"))
	assert.Equal(t, 90*time.Second, wait[0].EndTime.Sub(wait[0].StartTime))
}

func TestForkIsLinkedToItsSource(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := newRig(t)
	e := r.open(t, mem.Open(), thread.Config{}, asking(thread.Question{}))
	th := begin(t, e, thread.Begin{ID: "source", Machine: "asking"})
	seq := th.Seq
	answer(t, e, th.ID, thread.Answer{Value: []byte(`"yes"`), By: "bob"})
	_, err := e.Fork(ctx, "source", seq, "fork", "cat")
	require.NoError(t, err)
	answer(t, e, "fork", thread.Answer{Value: []byte(`"no"`), By: "cat"})
	// its question was answered, in the source
	_, err = e.Fork(ctx, "source", settled(t, e, "source").Seq, "late", "cat")
	require.NoError(t, err)
	require.NoError(t, e.Close(ctx))

	forks := r.named("fork thread")
	require.Len(t, forks, 2)
	for n, id := range []string{"fork", "late"} {
		assert.Equal(t, otel.TraceID(id), forks[n].SpanContext.TraceID())
		require.Len(t, forks[n].Links, 1)
		assert.Equal(t, otel.TraceID("source"), forks[n].Links[0].SpanContext.TraceID())
		assert.Equal(t, "source", value(forks[n], "routegen.source"))
	}
	assert.Equal(t, strconv.FormatInt(seq, 10), value(forks[0], "routegen.seq"))
	var who []string
	for _, s := range r.named("wait agent_question") {
		who = append(who, value(s, "routegen.thread")+" "+value(s, "routegen.who"))
	}
	assert.Equal(t, []string{"source bob", "fork cat"}, who, "what a fork copied is not told again")
	assert.Equal(t, map[string]point{"asked": {1, 2, "{interrupt}"},
		"answered": {1, 2, "{interrupt}"}},
		r.points(t, "routegen.interrupts", "routegen.event"))
	assert.Zero(t, r.points(t, "routegen.interrupts.open")[""].sum)
}

func TestFailedStepIsAnErrorWithItsCode(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err  error
		code string
	}{
		"code": {&runtime.Error{Code: runtime.CodeForbidden,
			Err: errors.New("no entry for bob")}, "forbidden"},
		"foreign": {thread.Permanent(errors.New("no entry for bob")), "internal"},
		"of a child": {thread.Permanent(&thread.Failure{Code: runtime.CodeLoop,
			Text: "no entry for bob"}), "loop"},
		// nothing told the step to wait
		"like a pause": {thread.Permanent(thread.ErrWaiting), "internal"},
		"of its answer": {&runtime.Error{Code: runtime.CodeInvalid,
			Err: errors.New("no entry for bob")}, "invalid"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			e := r.open(t, mem.Open(), thread.Config{},
				thread.Func("failing", func(context.Context, string) (string, error) {
					return "", tt.err
				}))
			th := begin(t, e, thread.Begin{Machine: "failing"})
			require.Equal(t, thread.StatusWaiting, th.Status()) // a person is asked
			require.NoError(t, e.Close(t.Context()))
			spans := r.named("step failing")
			require.Len(t, spans, 1)
			assert.Equal(t, sdk.Status{Code: codes.Error, Description: tt.code}, spans[0].Status)
			assert.Equal(t, tt.code, value(spans[0], "error.type"))
			assert.Equal(t, "failed", value(spans[0], "routegen.outcome"))
			assert.Empty(t, spans[0].Events, "an exception would hold the text")
			assert.Equal(t, map[string]point{"failing failed " + tt.code: {1, 1, "{step}"}},
				r.points(t, "routegen.steps", "routegen.machine", "routegen.outcome", "error.type"))
		})
	}
}

func TestStepThatIsCut(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, ended := r.observer.Step(t.Context(),
		thread.Activation{Thread: "t",
			Frame: &thread.Frame{ID: "f1", Machine: "m", Attempts: make([]thread.Attempt, 2)}})
	ended(thread.StepEnd{Cut: true})
	spans := r.named("step m")
	require.Len(t, spans, 1)
	assert.Equal(t, "cut", value(spans[0], "routegen.outcome"))
	assert.Equal(t, "3", value(spans[0], "routegen.attempt"))
	assert.Equal(t, codes.Unset, spans[0].Status.Code)
}

// A sampler sees a root, and decides alike on all spans of a thread. Under a parent that was made
// up it would be told to keep all or nothing.
func TestSamplerDecidesOnWholeThreads(t *testing.T) {
	t.Parallel()
	const threads = 60
	ctx := t.Context()
	r := newRig(t, sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(.5))))
	e := r.open(t, mem.Open(), thread.Config{}, asking(thread.Question{}))
	for n := range threads {
		id := "t" + strconv.Itoa(n)
		begin(t, e, thread.Begin{ID: id, Machine: "asking"})
		answer(t, e, id, thread.Answer{Value: []byte(`"yes"`)})
	}
	require.NoError(t, e.Close(ctx))
	kept := map[string]int{}
	for _, s := range r.spans.GetSpans() {
		kept[value(s, "routegen.thread")]++
	}
	assert.Greater(t, len(kept), threads/5)
	assert.Less(t, len(kept), threads*4/5)
	for id, spans := range kept {
		assert.Equal(t, 4, spans, id) // start, step, wait, step
	}
}

func TestSpansOfAHandlerStandUnderItsStep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	tracer := sdk.NewTracerProvider(sdk.WithSyncer(r.spans)).Tracer("handler")
	e := r.open(t, mem.Open(), thread.Config{},
		thread.Func("calling", func(ctx context.Context, _ string) (string, error) {
			return thread.Do(ctx, "call", func(ctx context.Context, _ string) (string, error) {
				_, span := tracer.Start(ctx, "call")
				span.End()
				return "", nil
			})
		}))
	begin(t, e, thread.Begin{Machine: "calling"})
	require.NoError(t, e.Close(t.Context()))
	step, call := r.named("step calling"), r.named("call")
	require.Len(t, step, 1)
	require.Len(t, call, 1)
	assert.Equal(t, step[0].SpanContext.SpanID(), call[0].Parent.SpanID())
	assert.Equal(t, step[0].SpanContext.TraceID(), call[0].SpanContext.TraceID())
}

func TestGlobalProvidersAreTheDefault(t *testing.T) {
	t.Parallel()
	o, err := otel.New(otel.Config{})
	require.NoError(t, err)
	ctx, ended := o.Step(t.Context(),
		thread.Activation{Thread: "t", Frame: &thread.Frame{Machine: "m"}})
	assert.NotNil(t, ctx)
	ended(thread.StepEnd{})
	o.Committed(&thread.Thread{ID: "t"}, nil, nil)
}
