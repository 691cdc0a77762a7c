package otel_test

import (
	"context"
	"fmt"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/routegen/routegen/runtime/otel"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// A thread pauses for a person and goes on. All of it is one trace.
func ExampleNew() {
	ctx := context.Background()
	exporter := tracetest.NewInMemoryExporter() // a program has one that sends
	observer, err := otel.New(
		otel.Config{TracerProvider: sdk.NewTracerProvider(sdk.WithSyncer(exporter))})
	if err != nil {
		fmt.Println(err)
		return
	}
	refund := thread.Func("refund", func(ctx context.Context, amount int) (bool, error) {
		return thread.Ask[bool](ctx, "approve",
			thread.Question{Text: fmt.Sprintf("Refund %d?", amount)})
	})
	engine, err := thread.Open(ctx, mem.Open(),
		thread.Config{Observers: []thread.Observer{observer}}, refund)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = engine.Start(ctx, thread.Begin{ID: "order 7", Machine: "refund", Input: 40})
	if err == nil {
		_, err = engine.Wait(ctx, "order 7")
	}
	if err == nil {
		_, err = engine.Answer(ctx, "order 7", thread.Answer{Value: []byte("true"), By: "ann"})
	}
	if err == nil {
		_, err = engine.Wait(ctx, "order 7")
	}
	if err == nil {
		err = engine.Close(ctx)
	}
	if err != nil {
		fmt.Println(err)
	}
	for _, span := range exporter.GetSpans() {
		fmt.Println(span.Name, span.SpanContext.TraceID() == otel.TraceID("order 7"))
	}
	// Unordered output:
	// start thread true
	// step refund true
	// wait agent_question true
	// step refund true
}
