package dialogue

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// tenSteps is a flow that goes ten steps for each answer, for ever. Its question is answered with a
// number, which nobody has to understand.
func tenSteps() *runtime.FlowTables {
	return tables(nil, nil, f{name: "ten", slots: []string{"n int", "note string", "big bool"},
		steps: []p{
			{id: "ask", kind: "collect", slot: "n", text: "Number?", force: true},
			{id: "clear", kind: "set", set: []b{{name: "big", lit: "false"}}},
			{id: "size", kind: "branch", arms: []arm{{compares("n", ">", "1000"), "large"},
				{compares("n", ">", "10"), "middle"}}, orElse: "note"},
			{id: "large", kind: "set", set: []b{{name: "big", lit: "true"}}},
			{id: "middle", kind: "set", set: []b{{name: "note", text: "middle"}}},
			{id: "note", kind: "set", set: []b{{name: "note", text: "It was {n}."}}},
			{id: "say", kind: "say", text: "Note: {note}"},
			{id: "maybe", kind: "say", text: "Big.", when: when(slotX("big"))},
			{id: "again", kind: "branch", arms: []arm{{filledX("note"), "more"}}, orElse: "more"},
			{id: "more", kind: "set", set: []b{{name: "big", lit: "null"}}},
			{id: "back", kind: "say", text: "Next.", next: "ask"},
		}})
}

// bench is a thread at its question; next answers it, and returns how long that took.
type bench struct {
	*testing.B

	e     *thread.Engine
	store thread.Store
	th    *thread.Thread
}

func newBench(b *testing.B, disk bool) *bench {
	b.Helper()
	r := &bench{B: b, store: mem.Open()}
	if disk {
		store, err := sqlite.Open(context.Background(), filepath.Join(b.TempDir(), "threads.db"),
			sqlite.Config{})
		require.NoError(b, err)
		b.Cleanup(func() { _ = store.Close() })
		r.store = store
	}
	m, err := New(dialogueOf(tenSteps()), Config{Understand: Scripted{"go": {starts("ten")}}})
	require.NoError(b, err)
	r.e, err = thread.Open(context.Background(), r.store, thread.Config{}, m, asker{})
	require.NoError(b, err)
	b.Cleanup(func() { _ = r.e.Close(context.Background()) }) // first
	return r
}

// asker is the least that a machine can do for a turn: it says a line and asks again.
type asker struct{}

// Name returns its name.
func (asker) Name() string { return "asker" }

// Inline tells that it only computes.
func (asker) Inline(*thread.Frame) bool { return true }

// Step asks.
func (asker) Step(context.Context, thread.Activation) (thread.Transition, error) {
	return thread.Asks("ask", nil,
		thread.Question{Name: "ask", Text: "Number?", Plain: thread.PlainText}).
		First(func(c *thread.Change) {
			c.Add(thread.Entry{Type: thread.EntryMessage, Name: "say",
				Value: []byte(`{"text":"Next."}`)})
		}), nil
}

func (r *bench) start(machine string) {
	r.Helper()
	var err error
	r.th, err = r.e.Start(context.Background(), thread.Begin{Machine: machine, Input: "go"})
	require.NoError(r, err)
	r.rest()
}

func (r *bench) rest() {
	r.Helper()
	for len(r.th.Open) == 0 {
		var err error
		r.th, err = r.e.Wait(context.Background(), r.th.ID)
		require.NoError(r, err)
	}
}

func (r *bench) next() time.Duration {
	r.Helper()
	at := time.Now()
	_, err := r.e.Answer(context.Background(), r.th.ID,
		thread.Answer{Interrupt: r.th.Open[0].ID, Value: []byte("20")})
	require.NoError(r, err)
	r.th.Open = nil
	r.rest()
	return time.Since(at)
}

// BenchmarkTurn is a turn of ten steps: an answer comes, ten steps run, the next question is
// stored. It takes turns with the barest turn that a machine can have, so that what else the
// computer does falls on both; the figures are medians.
func BenchmarkTurn(b *testing.B) {
	for _, store := range []string{"mem", "sqlite"} {
		b.Run(store, func(b *testing.B) {
			flows := newBench(b, store == "sqlite")
			other := *flows
			bare := &other
			flows.start(Name)
			bare.start("asker")
			var took [2][]time.Duration
			for b.Loop() {
				took[0] = append(took[0], bare.next())
				took[1] = append(took[1], flows.next())
			}
			slices.Sort(took[0])
			slices.Sort(took[1])
			least, ours := took[0][len(took[0])/2], took[1][len(took[1])/2]
			b.ReportMetric(float64(least.Nanoseconds())/1000, "µs/bare")
			b.ReportMetric(float64(ours.Nanoseconds())/1000, "µs/flow")
			b.ReportMetric(float64(ours)/float64(least), "ratio")
		})
	}
}

// BenchmarkTurnOfALongThread has the cost of turns around the 10th and around the 1,000th of one
// thread.
func BenchmarkTurnOfALongThread(b *testing.B) {
	var early, late []time.Duration
	for b.Loop() {
		r := newBench(b, false)
		r.start(Name)
		for n := range 1020 {
			switch took := r.next(); {
			case n >= 5 && n < 25:
				early = append(early, took)
			case n >= 1000:
				late = append(late, took)
			}
		}
	}
	slices.Sort(early)
	slices.Sort(late)
	b.ReportMetric(float64(early[len(early)/2].Nanoseconds())/1000, "µs/10th")
	b.ReportMetric(float64(late[len(late)/2].Nanoseconds())/1000, "µs/1000th")
}

// BenchmarkDecide is the deciding alone, without the engine.
func BenchmarkDecide(b *testing.B) {
	m, err := New(dialogueOf(tenSteps()), Config{})
	require.NoError(b, err)
	f := &m.flows[0]
	b.ReportAllocs()
	for b.Loop() {
		w := &work{m: m, f: f, replies: replies{m: m, language: "en"}}
		w.s = newState(f)
		w.input = stepInput{kind: inputCommands,
			commands: []runtime.Command{{Type: runtime.CommandSet, Slot: "n", Value: []byte("20")}}}
		if mv := w.runSteps(1); mv.kind != moveAsk {
			b.Fatal(mv.kind)
		}
	}
}
