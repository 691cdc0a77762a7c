package otel

import (
	"context"
	"crypto/sha256"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/routegen/routegen/runtime/thread"
)

// Committed counts what happened to interrupts, and writes a span for each that has ended. The
// record of an interrupt has both its times, so nothing is kept while it waits.
func (o *Observer) Committed(t *thread.Thread, entries []thread.Entry,
	interrupts []*thread.Interrupt) {
	ctx := withTraceOf(context.Background(), t.ID)
	byID := make(map[string]*thread.Interrupt, len(interrupts))
	for _, i := range interrupts {
		byID[i.ID] = i
	}
	for n := range entries {
		e := &entries[n]
		if e.Type == thread.EntryStarted {
			o.recordStart(ctx, t, e)
			if t.ForkedFrom != nil { // the rest of the commit is copied
				o.countCopied(ctx, interrupts)
				return
			}
		}
		if e.Type == thread.EntryMessage && e.Failure != nil {
			o.told.Add(ctx, 1, metric.WithAttributes(nonEmpty(
				attribute.String("routegen.message", e.Name),
				attribute.String("error.type", string(e.Failure.Code)))...))
		}
		if i := byID[e.Interrupt]; i != nil {
			o.countEntry(ctx, e, i)
		}
	}
}

// recordStart writes the first span of a trace, which has no duration.
func (o *Observer) recordStart(ctx context.Context, t *thread.Thread, e *thread.Entry) {
	id := attribute.String("routegen.thread", t.ID)
	from := t.ForkedFrom
	if from == nil {
		_, span := o.tracer.Start(ctx, "start thread", trace.WithTimestamp(e.At),
			trace.WithAttributes(id))
		span.End(trace.WithTimestamp(e.At))
		return
	}
	origin := []attribute.KeyValue{attribute.String("routegen.source", from.Thread),
		attribute.Int64("routegen.seq", from.Seq)}
	// e.At is the time of the source's start
	_, span := o.tracer.Start(ctx, "fork thread", trace.WithAttributes(append(origin, id)...),
		trace.WithLinks(trace.Link{SpanContext: linkTarget(from.Thread), Attributes: origin}))
	span.End()
}

// linkTarget returns the trace of a thread as the target of a link. A link must name a span; this
// one names none that exists, and readers follow the trace.
func linkTarget(thread string) trace.SpanContext {
	sum := sha256.Sum256([]byte(thread))
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: TraceID(thread),
		SpanID: trace.SpanID(sum[16:24]), Remote: true})
}

// countCopied counts the interrupts that are open in a new fork.
func (o *Observer) countCopied(ctx context.Context, interrupts []*thread.Interrupt) {
	for _, i := range interrupts {
		if i.State == thread.InterruptOpen || i.State == thread.InterruptQueued {
			o.addEvent(ctx, i, "asked", 1)
		}
	}
}

// countEntry counts one entry about an interrupt.
func (o *Observer) countEntry(ctx context.Context, e *thread.Entry, i *thread.Interrupt) {
	switch e.Type {
	case thread.EntryAsked:
		o.addEvent(ctx, i, "asked", 1)
		if e.State == string(thread.InterruptSuperseded) { // it lost its clash at birth
			o.addEvent(ctx, i, e.State, -1)
			o.recordWait(ctx, i)
		}
	case thread.EntryReasked:
		o.addEvent(ctx, i, "reasked", 0)
	case thread.EntryAnswered:
		o.wait.Record(ctx, max(i.ClosedAt.Sub(i.Created), 0).Seconds(),
			metric.WithAttributes(groupAttrs(i)...))
		o.addEvent(ctx, i, "answered", -1)
		o.recordWait(ctx, i)
	case thread.EntryExpired, thread.EntrySuperseded, thread.EntryCancelled:
		o.addEvent(ctx, i, string(e.Type), -1)
		o.recordWait(ctx, i)
	default: // it stays open
	}
}

// addEvent counts an event, and the change of the number of open interrupts.
func (o *Observer) addEvent(ctx context.Context, i *thread.Interrupt, event string, open int64) {
	kind := groupAttrs(i)
	if open != 0 {
		o.open.Add(ctx, open, metric.WithAttributes(kind...))
	}
	o.interrupts.Add(ctx, 1,
		metric.WithAttributes(append(kind, attribute.String("routegen.event", event))...))
}

// groupAttrs returns the attributes that metrics of interrupts are grouped by.
func groupAttrs(i *thread.Interrupt) []attribute.KeyValue {
	return nonEmpty(attribute.String("routegen.kind", i.Kind),
		attribute.String("routegen.node", i.Node))
}

// recordWait writes the span of an interrupt. Its status is Unset however the interrupt ended: a
// missing answer is not an error of the program.
func (o *Observer) recordWait(ctx context.Context, i *thread.Interrupt) {
	begin, end := i.Created, i.ClosedAt
	if end.Before(begin) {
		end = begin // the clock went back
	}
	_, span := o.tracer.Start(ctx, spanName("wait", i.Kind, i.Node), trace.WithTimestamp(begin),
		trace.WithAttributes(append(groupAttrs(i), nonEmpty(
			attribute.String("routegen.thread", i.Thread),
			attribute.String("routegen.frame", i.Frame),
			attribute.String("routegen.step", i.Step),
			attribute.Int("routegen.visit", i.Visit),
			attribute.String("routegen.interrupt", i.ID),
			attribute.String("routegen.digest", i.Digest),
			attribute.Int("routegen.asks", i.Asks),
			attribute.String("routegen.state", string(i.State)),
			attribute.String("routegen.who", o.who(i.AnsweredBy)),
		)...)...))
	for n := range i.Votes {
		span.AddEvent("vote", trace.WithTimestamp(i.Votes[n].At),
			trace.WithAttributes(nonEmpty(
				attribute.String("routegen.who", o.who(i.Votes[n].By)))...))
	}
	span.End(trace.WithTimestamp(end))
}

// who returns who answered as spans say it: a person's name only where that is wanted.
func (o *Observer) who(by string) string {
	if o.names || by == "policy" || by == "deadline" {
		return by
	}
	return ""
}
