package otel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/routegen/routegen/runtime/internal/threadtest"
	"github.com/routegen/routegen/runtime/otel"
	"github.com/routegen/routegen/runtime/thread"
)

// rig is one process as OpenTelemetry sees it: it shares nothing with another rig.
type rig struct {
	spans    *tracetest.InMemoryExporter
	reader   *metric.ManualReader
	observer *otel.Observer
}

func newRig(t *testing.T, options ...sdk.TracerProviderOption) *rig {
	t.Helper()
	r := &rig{spans: tracetest.NewInMemoryExporter(), reader: metric.NewManualReader()}
	var err error
	r.observer, err = otel.New(otel.Config{
		TracerProvider: sdk.NewTracerProvider(append(options, sdk.WithSyncer(r.spans))...),
		MeterProvider:  metric.NewMeterProvider(metric.WithReader(r.reader)),
		Names:          true,
	})
	require.NoError(t, err)
	return r
}

// open starts an engine that the rig observes.
func (r *rig) open(t *testing.T, store thread.Store, cfg thread.Config,
	machines ...thread.Machine) *thread.Engine {
	t.Helper()
	cfg.Observers = []thread.Observer{r.observer}
	e, err := thread.Open(t.Context(), store, cfg, machines...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Close(t.Context()) }) // ends an engine that the test did not
	return e
}

// begin starts a thread and returns it when it waits, or is over.
func begin(t *testing.T, e *thread.Engine, b thread.Begin) *thread.Thread {
	t.Helper()
	b.Input = "x"
	th, err := e.Start(t.Context(), b)
	require.NoError(t, err)
	return settled(t, e, th.ID)
}

// answer answers the one open question of a thread, and returns when that has led as far as it
// goes.
func answer(t *testing.T, e *thread.Engine, id string, a thread.Answer) {
	t.Helper()
	_, err := e.Answer(t.Context(), id, a)
	require.NoError(t, err)
	settled(t, e, id)
}

func settled(t *testing.T, e *thread.Engine, id string) *thread.Thread {
	t.Helper()
	th, err := e.Wait(t.Context(), id)
	require.NoError(t, err)
	return th
}

// named returns the spans of that name.
func (r *rig) named(name string) tracetest.SpanStubs {
	var out tracetest.SpanStubs
	for _, s := range r.spans.GetSpans() {
		if s.Name == name {
			out = append(out, s)
		}
	}
	return out
}

// metrics reads everything there is.
func (r *rig) metrics(t *testing.T) metricdata.ResourceMetrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, r.reader.Collect(t.Context(), &all))
	return all
}

// point is one series of one metric.
type point struct {
	count uint64
	sum   float64
	unit  string
}

// points returns the series of a metric by the values of some attributes, "-" for one that is left
// out. Series that differ in others are added up.
func (r *rig) points(t *testing.T, name string, keys ...attribute.Key) map[string]point {
	t.Helper()
	out := map[string]point{}
	for _, s := range r.metrics(t).ScopeMetrics {
		for _, m := range s.Metrics {
			if m.Name != name {
				continue
			}
			add := func(set attribute.Set, count uint64, sum float64) {
				var words []string
				for _, k := range keys {
					word := "-"
					if v, ok := set.Value(k); ok {
						word = v.AsString()
					}
					words = append(words, word)
				}
				key := strings.Join(words, " ")
				p := out[key]
				out[key] = point{count: p.count + count, sum: p.sum + sum, unit: m.Unit}
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, 1, float64(p.Value))
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, p.Count, p.Sum)
				}
			default:
				t.Fatalf("metric %s is a %T", name, data)
			}
		}
	}
	return out
}

// value is an attribute of a span as text, "" when it has none.
func value(s tracetest.SpanStub, key attribute.Key) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}

// newClock returns a clock that a test moves.
func newClock() *threadtest.Clock {
	return threadtest.NewClock(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC))
}
