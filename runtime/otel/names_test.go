package otel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/routegen/routegen/runtime/otel"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// Spans name people only where the program says so.
func TestNamesOfPeople(t *testing.T) {
	t.Parallel()
	for _, names := range []bool{false, true} {
		spans := tracetest.NewInMemoryExporter()
		o, err := otel.New(otel.Config{Names: names,
			TracerProvider: sdk.NewTracerProvider(sdk.WithSyncer(spans))})
		require.NoError(t, err)
		e, err := thread.Open(t.Context(), mem.Open(),
			thread.Config{Observers: []thread.Observer{o}},
			thread.Func("votes", func(ctx context.Context, _ string) (int, error) {
				return thread.Ask[int](ctx, "n", thread.Question{Text: "?", Quorum: 2})
			}))
		require.NoError(t, err)
		th, err := e.Start(t.Context(), thread.Begin{Machine: "votes", Input: "x", User: "zoe"})
		require.NoError(t, err)
		_, err = e.Wait(t.Context(), th.ID)
		require.NoError(t, err)
		for _, by := range []string{"ann-canary", "bob-canary"} {
			_, err = e.Answer(t.Context(), th.ID,
				thread.Answer{Value: []byte("1"), By: by})
			require.NoError(t, err)
		}
		_, err = e.Wait(t.Context(), th.ID)
		require.NoError(t, err)
		require.NoError(t, e.Close(t.Context()))
		text := fmt.Sprintf("%+v", spans.GetSpans())
		require.Contains(t, text, "routegen.interrupt")
		for _, who := range []string{"ann-canary", "bob-canary"} {
			assert.Equal(t, names, strings.Contains(text, who), who)
		}
		assert.NotContains(t, text, "zoe")
	}
}
