package otel

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	api "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

const scope = "github.com/routegen/routegen/runtime/otel"

// Config says where spans and metrics go. The zero value works; [New] copies it.
type Config struct {
	TracerProvider trace.TracerProvider // default: the global one
	MeterProvider  metric.MeterProvider // default: the global one
	// Names has spans carry the names of the people who answered and voted, in routegen.who. They
	// go wherever spans go, so the default is to leave them out.
	Names bool
}

// Observer writes spans and metrics. It goes into [thread.Config], and into several engines if need
// be. Its methods may be called by any number of goroutines, and keep nothing between calls.
type Observer struct {
	names      bool
	tracer     trace.Tracer
	interrupts metric.Int64Counter
	open       metric.Int64UpDownCounter
	wait       metric.Float64Histogram
	steps      metric.Int64Counter
	duration   metric.Float64Histogram
	told       metric.Int64Counter
}

var _ thread.Observer = (*Observer)(nil)

// New makes an observer. It refuses with CodeInternal when the meter provider refuses an
// instrument.
func New(cfg Config) (*Observer, error) {
	if cfg.TracerProvider == nil {
		cfg.TracerProvider = api.GetTracerProvider()
	}
	if cfg.MeterProvider == nil {
		cfg.MeterProvider = api.GetMeterProvider()
	}
	m := cfg.MeterProvider.Meter(scope)
	o := &Observer{names: cfg.Names, tracer: cfg.TracerProvider.Tracer(scope)}
	var errs [6]error
	o.interrupts, errs[0] = m.Int64Counter("routegen.interrupts", metric.WithUnit("{interrupt}"),
		metric.WithDescription("What happened to interrupts."))
	o.open, errs[1] = m.Int64UpDownCounter("routegen.interrupts.open",
		metric.WithUnit("{interrupt}"),
		metric.WithDescription("Change of the number of open interrupts by this process."))
	o.wait, errs[2] = m.Float64Histogram("routegen.interrupt.wait", metric.WithUnit("s"),
		metric.WithDescription("Time from a question to its answer."),
		// people, not machines
		metric.WithExplicitBucketBoundaries(1, 5, 15, 60, 300, 900, 3600, 4*3600, 8*3600, 24*3600,
			3*24*3600, 7*24*3600))
	o.steps, errs[3] = m.Int64Counter("routegen.steps", metric.WithUnit("{step}"),
		metric.WithDescription("Runs of steps."))
	o.duration, errs[4] = m.Float64Histogram("routegen.step.duration", metric.WithUnit("s"),
		metric.WithDescription("Time a run of a step took."),
		metric.WithExplicitBucketBoundaries(.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30,
			60, 120, 300))
	o.told, errs[5] = m.Int64Counter("routegen.failures.told", metric.WithUnit("{message}"),
		metric.WithDescription("Messages that tell of a failure."))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, runtime.Errorf(runtime.CodeInternal, "make instruments", "%w", err)
	}
	return o, nil
}

// TraceID is the id of a thread's trace: the first 16 bytes of the SHA-256 of the thread's id. With
// it a page about a thread can link to the trace.
func TraceID(thread string) trace.TraceID {
	sum := sha256.Sum256([]byte(thread))
	return trace.TraceID(sum[:16])
}

// withTraceOf returns a context in the trace of a thread, without a parent span. A made-up parent
// would mislead samplers, and readers would look for a span that was never sent.
func withTraceOf(ctx context.Context, thread string) context.Context {
	return trace.ContextWithSpanContext(ctx,
		trace.NewSpanContext(trace.SpanContextConfig{TraceID: TraceID(thread)}))
}

// Step starts the span of a step; its end is counted, too.
func (o *Observer) Step(ctx context.Context, a thread.Activation) (inner context.Context,
	ended func(thread.StepEnd)) {
	f := a.Frame
	began := time.Now()
	//nolint:spancheck // ended by the function that is returned
	ctx, span := o.tracer.Start(withTraceOf(ctx, a.Thread), spanName("step", f.Machine, f.Name),
		trace.WithTimestamp(began), trace.WithAttributes(nonEmpty(
			attribute.String("routegen.thread", a.Thread),
			attribute.String("routegen.frame", f.ID),
			attribute.String("routegen.parent", f.Parent),
			attribute.String("routegen.machine", f.Machine),
			attribute.String("routegen.name", f.Name),
			attribute.String("routegen.step", f.PC),
			attribute.Int("routegen.visit", f.Visit),
			attribute.Int("routegen.turn", a.Turn),
			attribute.Int("routegen.attempt", len(f.Attempts)+1),
		)...))
	return ctx, func(end thread.StepEnd) { //nolint:spancheck // it ends the span
		outcome, code := "done", ""
		switch {
		case end.Err != nil:
			outcome, code = "failed", codeOf(end.Err)
			span.SetStatus(codes.Error, code)
		case end.Waiting:
			outcome = "waiting"
			span.AddEvent("waiting")
		case end.Cut:
			outcome = "cut"
		}
		how := nonEmpty(attribute.String("routegen.outcome", outcome),
			attribute.String("error.type", code))
		took := time.Since(began)
		span.SetAttributes(how...)
		span.End(trace.WithTimestamp(began.Add(took)))
		set := metric.WithAttributeSet(attribute.NewSet(append(how, nonEmpty(
			attribute.String("routegen.machine", f.Machine),
			attribute.String("routegen.name", f.Name))...)...))
		o.steps.Add(ctx, 1, set)
		o.duration.Record(ctx, took.Seconds(), set)
	}
}

// codeOf is the code a failed step is stored with: the failure of a child that travels as an error
// keeps its own.
func codeOf(err error) string {
	code := runtime.CodeOf(err)
	if f, ok := errors.AsType[*thread.Failure](err); ok && code == runtime.CodeInternal &&
		f.Code != "" {
		code = f.Code
	}
	return string(code)
}

// spanName joins the words of a span's name. Only the program chooses them, so they are few enough
// to group by.
func spanName(words ...string) string {
	return strings.TrimRight(strings.Join(words, " "), " ")
}

// nonEmpty returns the attributes whose text is not empty.
func nonEmpty(attrs ...attribute.KeyValue) []attribute.KeyValue {
	out := attrs[:0]
	for _, a := range attrs {
		if a.Value.Type() != attribute.STRING || a.Value.AsString() != "" {
			out = append(out, a)
		}
	}
	return out
}
