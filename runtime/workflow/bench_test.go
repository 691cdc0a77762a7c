package workflow_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
	"github.com/routegen/routegen/templates"
)

// BenchmarkResolve is what one interrupt costs without model and store: the narrowed schema, the prompt, and the checks of the reply. Beside
// it stands the way without generated code, for the schema alone: reflect over the routing, drop what 13 annotations name, prune, marshal.
func BenchmarkResolve(b *testing.B) {
	program := routes.New(routes.UnimplementedHandlers{})
	prompts, err := prompt.New(&program, templates.Prompts(nil))
	require.NoError(b, err)
	field := program.Tables.Routes[0].Field
	words := []uint64{1}
	reply := []byte(`{"` + field + `":{"goal":"ship it","phase":"DISCOVERY","feedback":"go left"}}`)
	view := prompt.View{
		Node: program.Tables.Routes[0].Node, Request: []byte(`{"goal":"ship it","phase":"DISCOVERY"}`), Allowed: []string{field},
		Answer: []byte(`"go left"`), Interrupt: 1,
		Asked: []byte(`{"type":"HUMAN_REVIEW","reason":"which way?","phase":"DISCOVERY","goal":"ship it","workflowContext":"at the start"}`),
	}
	allowed := func(name string) bool { return name == field }
	b.Run("generated", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if program.RouteSchema(words, runtime.OpenAI) == "" {
				b.Fatal("no schema")
			}
			if _, err := prompts.Resolution(view); err != nil {
				b.Fatal(err)
			}
			if _, err := program.DecodeReply(0, reply, allowed); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("reflected", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if len(reflected(b, field)) == 0 {
				b.Fatal("no schema")
			}
		}
	})
}

// reflected narrows a schema as programs do that have none: from the struct, at every call.
func reflected(b *testing.B, keep string) []byte {
	b.Helper()
	schema := (&jsonschema.Reflector{}).ReflectFromType(reflect.TypeFor[routes.InterruptRouting]())
	root := schema.Definitions["InterruptRouting"]
	for pair := root.Properties.Oldest(); pair != nil; {
		next := pair.Next()
		if pair.Key != keep {
			root.Properties.Delete(pair.Key)
			root.Required = slices.DeleteFunc(root.Required, func(name string) bool { return name == pair.Key })
		}
		pair = next
	}
	for { // until nothing is unreachable any more
		text, err := json.Marshal(schema)
		require.NoError(b, err)
		pruned := false
		for name := range schema.Definitions {
			if name != "InterruptRouting" && !strings.Contains(string(text), `"#/$defs/`+name+`"`) {
				delete(schema.Definitions, name)
				pruned = true
			}
		}
		if !pruned {
			return text
		}
	}
}

// BenchmarkCycle compares a whole interrupt of the workflow on SQLite, a node that asks a person and goes on with the answer, with the same
// on a plain function. They take turns, so that what else the machine does falls on both.
func BenchmarkCycle(b *testing.B) {
	ctx := context.Background()
	program := routes.New(routes.UnimplementedHandlers{})
	program.Invoke = func(_ context.Context, call runtime.Call, _ runtime.Record) (runtime.Routing, error) {
		reply := `{"interruptRequest":{"type":"HUMAN_REVIEW","reason":"which way?","phase":"DISCOVERY","goal":"g","workflowContext":"w"}}`
		if call.Answer != nil {
			reply = `{"interruptRequest":{"type":"STOP","reason":"enough","phase":"DISCOVERY","goal":"g","workflowContext":"w"}}`
		}
		return program.DecodeRouting(1, []byte(reply))
	}
	machine, err := workflow.New(program, workflow.Config{})
	require.NoError(b, err)
	bare := thread.Func("bare", func(ctx context.Context, goal string) (string, error) {
		return thread.Ask[string](ctx, "way", runtime.Question{Text: "which way?", Payload: []byte(`{"goal":"` + goal + `"}`), Plain: runtime.PlainText})
	})
	store, err := sqlite.Open(ctx, filepath.Join(b.TempDir(), "threads.db"), sqlite.Config{})
	require.NoError(b, err)
	engine, err := thread.Open(ctx, store, thread.Config{}, machine, bare)
	require.NoError(b, err)
	b.Cleanup(func() { _ = store.Close() })
	b.Cleanup(func() { _ = engine.Close(ctx) }) // first
	begin, err := workflow.Begin(&routes.OrchestratorRequest{Goal: "g", Phase: "DISCOVERY"})
	require.NoError(b, err)
	cycle := func(begin thread.Begin) time.Duration {
		at := time.Now()
		t, err := engine.Start(ctx, begin)
		require.NoError(b, err)
		t, err = engine.Wait(ctx, t.ID)
		require.NoError(b, err)
		_, err = engine.Answer(ctx, t.ID, runtime.Answer{Text: "left", By: "ann"})
		require.NoError(b, err)
		t, err = engine.Wait(ctx, t.ID)
		require.NoError(b, err)
		require.NotEmpty(b, t.Over)
		return time.Since(at)
	}
	var took [2][]time.Duration
	b.ResetTimer()
	for range b.N {
		took[0] = append(took[0], cycle(thread.Begin{Machine: "bare", Input: "g"}))
		took[1] = append(took[1], cycle(begin))
	}
	for _, times := range took {
		slices.Sort(times)
	}
	plain, whole := took[0][len(took[0])/2], took[1][len(took[1])/2]
	b.ReportMetric(float64(plain.Nanoseconds()), "ns/bare")
	b.ReportMetric(float64(whole.Nanoseconds()), "ns/workflow")
	b.ReportMetric(float64(whole)/float64(plain), "ratio")
}
