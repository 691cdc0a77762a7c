package otel

import (
	"context"
	"crypto/sha256"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/routegen/routegen/runtime"
)

// Committed counts what happened to interrupts, and writes a span for each that has ended. The record of an interrupt has both its times, so
// nothing is kept while it waits.
func (o *Observer) Committed(t *runtime.Thread, entries []runtime.Entry, interrupts []*runtime.Interrupt) {
	ctx := within(context.Background(), t.ID)
	byID := make(map[string]*runtime.Interrupt, len(interrupts))
	for _, i := range interrupts {
		byID[i.ID] = i
	}
	for n := range entries {
		e := &entries[n]
		if e.Type == runtime.EntryStarted {
			o.started(ctx, t, e)
			if t.ForkedFrom != nil { // the rest of the commit is copied
				o.inherited(ctx, interrupts)
				return
			}
		}
		if e.Type == runtime.EntryMessage && e.Failure != nil {
			o.told.Add(ctx, 1, metric.WithAttributes(given(
				attribute.String("routegen.message", e.Name), attribute.String("error.type", string(e.Failure.Code)))...))
		}
		if i := byID[e.Interrupt]; i != nil {
			o.happened(ctx, e, i)
		}
	}
}

// started writes the first span of a trace, which has no length.
func (o *Observer) started(ctx context.Context, t *runtime.Thread, e *runtime.Entry) {
	id := attribute.String("routegen.thread", t.ID)
	from := t.ForkedFrom
	if from == nil {
		_, span := o.tracer.Start(ctx, "start thread", trace.WithTimestamp(e.At), trace.WithAttributes(id))
		span.End(trace.WithTimestamp(e.At))
		return
	}
	origin := []attribute.KeyValue{attribute.String("routegen.source", from.Thread), attribute.Int64("routegen.seq", from.Seq)}
	_, span := o.tracer.Start(ctx, "fork thread", trace.WithAttributes(append(origin, id)...), // e.At is the time of the source's start
		trace.WithLinks(trace.Link{SpanContext: pointer(from.Thread), Attributes: origin}))
	span.End()
}

// pointer is the trace of a thread as the target of a link. A link must name a span; this one names none that exists, and the trace is what
// readers follow.
func pointer(thread string) trace.SpanContext {
	sum := sha256.Sum256([]byte(thread))
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: TraceID(thread), SpanID: trace.SpanID(sum[16:24]), Remote: true})
}

// inherited counts the interrupts that a fork has open.
func (o *Observer) inherited(ctx context.Context, interrupts []*runtime.Interrupt) {
	for _, i := range interrupts {
		if i.State == runtime.InterruptOpen || i.State == runtime.InterruptQueued {
			o.count(ctx, i, "asked", 1)
		}
	}
}

// happened counts one entry about an interrupt.
func (o *Observer) happened(ctx context.Context, e *runtime.Entry, i *runtime.Interrupt) {
	switch e.Type {
	case runtime.EntryAsked:
		o.count(ctx, i, "asked", 1)
		if e.State == string(runtime.InterruptSuperseded) { // it lost its clash at birth
			o.count(ctx, i, e.State, -1)
			o.ended(ctx, i)
		}
	case runtime.EntryReasked:
		o.count(ctx, i, "reasked", 0)
	case runtime.EntryAnswered:
		o.wait.Record(ctx, max(i.ClosedAt.Sub(i.Created), 0).Seconds(), metric.WithAttributes(which(i)...))
		o.count(ctx, i, "answered", -1)
		o.ended(ctx, i)
	case runtime.EntryExpired, runtime.EntrySuperseded, runtime.EntryCancelled:
		o.count(ctx, i, string(e.Type), -1)
		o.ended(ctx, i)
	default: // it goes on being open
	}
}

// count counts an event, and the change of what is open.
func (o *Observer) count(ctx context.Context, i *runtime.Interrupt, event string, open int64) {
	kind := which(i)
	if open != 0 {
		o.open.Add(ctx, open, metric.WithAttributes(kind...))
	}
	o.interrupts.Add(ctx, 1, metric.WithAttributes(append(kind, attribute.String("routegen.event", event))...))
}

// which are the attributes that metrics of interrupts are grouped by.
func which(i *runtime.Interrupt) []attribute.KeyValue {
	return given(attribute.String("routegen.kind", i.Kind), attribute.String("routegen.node", i.Node))
}

// ended writes the span of an interrupt. Its status is Unset however it ended: that nobody answered is no error of the program.
func (o *Observer) ended(ctx context.Context, i *runtime.Interrupt) {
	begin, end := i.Created, i.ClosedAt
	if end.Before(begin) {
		end = begin // the clock went back
	}
	_, span := o.tracer.Start(ctx, title("wait", i.Kind, i.Node), trace.WithTimestamp(begin), trace.WithAttributes(append(which(i), given(
		attribute.String("routegen.thread", i.Thread),
		attribute.String("routegen.frame", i.Frame),
		attribute.String("routegen.step", i.Step),
		attribute.Int("routegen.visit", i.Visit),
		attribute.String("routegen.interrupt", i.ID),
		attribute.String("routegen.digest", i.Digest),
		attribute.Int("routegen.asks", i.Asks),
		attribute.String("routegen.state", string(i.State)),
		attribute.String("routegen.who", i.AnsweredBy),
	)...)...))
	for n := range i.Votes {
		span.AddEvent("vote", trace.WithTimestamp(i.Votes[n].At), trace.WithAttributes(attribute.String("routegen.who", i.Votes[n].By)))
	}
	span.End(trace.WithTimestamp(end))
}
