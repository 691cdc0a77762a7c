package thread_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What happens to the engine at every break of a scene.
const (
	goesOn    = "the engine goes on"
	reopened  = "the engine is closed and another one opened"
	restarted = "the engine is abandoned and another one opened"
)

// scene plays a scenario on every store, and with the engine going on, closed, or abandoned at each
// [rig.next]. Each play is a synctest bubble: time moves when nothing else can.
func scene(t *testing.T, play func(r *rig)) {
	t.Helper()
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		for _, mode := range []string{goesOn, reopened, restarted} {
			t.Run(store+": "+mode, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { play(newRig(t, store, mode)) })
			})
		}
	}
}

// onBoth plays a scenario that says by itself what becomes of the engine, on every store.
func onBoth(t *testing.T, play func(r *rig)) {
	t.Helper()
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { play(newRig(t, store, goesOn)) })
		})
	}
}

// rig is a store with an engine over it, and what tests say to them.
type rig struct {
	*testing.T
	ctx      context.Context //nolint:containedctx // that of the test
	mode     string
	store    thread.Store
	cfg      thread.Config
	machines []thread.Machine
	e        *thread.Engine
	way      *way // of e to the store
	did      tally
}

func newRig(t *testing.T, store, mode string) *rig {
	t.Helper()
	r := &rig{T: t, ctx: t.Context(), mode: mode,
		cfg: thread.Config{Owner: "rig", Poll: time.Second}}
	if store == "mem" {
		r.store = mem.Open()
		return r
	}
	disk, err := sqlite.Open(r.ctx, filepath.Join(t.TempDir(), "threads.db"), sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, disk.Close()) })
	r.store = disk
	return r
}

// with opens the first engine.
func (r *rig) with(machines ...thread.Machine) {
	r.Helper()
	r.machines = machines
	r.open()
}

func (r *rig) open() {
	r.Helper()
	r.way = &way{Store: r.store}
	r.e = r.engine(r.way, r.cfg, r.machines...)
}

// engine opens an engine that is closed with the test, whatever it does then.
func (r *rig) engine(store thread.Store, cfg thread.Config,
	machines ...thread.Machine) *thread.Engine {
	r.Helper()
	e, err := thread.Open(r.ctx, store, cfg, machines...)
	require.NoError(r, err)
	r.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		assert.NoError(r, e.Close(ctx))
	})
	return e
}

// next is a break: what the mode says happens to the engine.
func (r *rig) next() {
	r.Helper()
	switch r.mode {
	case reopened:
		r.close()
		r.open()
	case restarted:
		r.restart()
	}
}

func (r *rig) close() {
	r.Helper()
	require.NoError(r, r.e.Close(r.ctx))
}

// restart abandons the engine: nothing of it reaches the store. Another one takes its
// place.
func (r *rig) restart() {
	r.Helper()
	r.way.cut.Store(true)
	r.open()
}

// aDay are the kinds with a day for the questions of the work.
func aDay() []runtime.Kind {
	kinds := thread.DefaultKinds()
	kinds[1].Deadline = &runtime.Deadline{After: 24 * time.Hour, Then: "expire"}
	return kinds
}

// way is a way to a store that can be cut, or fail. Whoever came on a way that is cut counts as a
// process that died.
type way struct {
	thread.Store
	cut   atomic.Bool
	fails atomic.Int64 // so many calls of Commit
}

// Announce implements [thread.Presence].
func (w *way) Announce(context.Context) (string, func(), error) { return announce(w.cut.Load) }

// Ended implements [thread.Presence].
func (*way) Ended(id string) bool { return ended(id) }

// plainStore is a store that does not know who has it open.
type plainStore struct{ thread.Store }

// announced has a function for each engine of a test that stands for a process: whether that has
// died.
var announced sync.Map

func announce(died func() bool) (string, func(), error) {
	id := "test-" + rand.Text()
	announced.Store(id, died)
	return id, func() { announced.Delete(id) }, nil
}

func ended(id string) bool {
	of, _ := announced.Load(id)
	died, ok := of.(func() bool)
	return ok && died()
}

var errCut = &runtime.Error{Code: runtime.CodeUnavailable, Op: "store",
	Err: errors.New("the way to the store is cut")}

func (w *way) Commit(ctx context.Context, changes ...*thread.Change) error {
	if w.cut.Load() || w.fails.Add(-1) >= 0 {
		return errCut
	}
	return w.Store.Commit(ctx, changes...)
}

func (w *way) Load(ctx context.Context, id string) (*thread.Thread, error) {
	if w.cut.Load() {
		return nil, errCut
	}
	return w.Store.Load(ctx, id)
}

func (w *way) Log(ctx context.Context, q thread.LogQuery) ([]thread.Entry, error) {
	if w.cut.Load() {
		return nil, errCut
	}
	return w.Store.Log(ctx, q)
}

func (w *way) Threads(ctx context.Context, q thread.Query) ([]thread.Summary, error) {
	if w.cut.Load() {
		return nil, errCut
	}
	return w.Store.Threads(ctx, q)
}

// tally counts what happened outside.
type tally struct {
	mu    sync.Mutex
	count map[string]int
	keys  map[string][]string
}

// effect returns an effect of that name, whose result is its key.
func (c *tally) effect(name string) func(context.Context, string) (string, error) {
	return func(_ context.Context, key string) (string, error) {
		c.add(name, key)
		return key, nil
	}
}

func (c *tally) add(name, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == nil {
		c.count, c.keys = map[string]int{}, map[string][]string{}
	}
	c.count[name]++
	c.keys[name] = append(c.keys[name], key)
}

func (c *tally) of(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count[name]
}

// start begins a thread and waits until it rests.
func (r *rig) start(machine string, input any) *thread.Thread {
	r.Helper()
	t, err := r.e.Start(r.ctx, thread.Begin{Machine: machine, Input: input, User: "ann"})
	require.NoError(r, err)
	return r.rest(t.ID)
}

// tried begins a thread whose first step fails, and returns it while it waits for the next try.
func (r *rig) tried(machine string, input any) *thread.Thread {
	r.Helper()
	t, err := r.e.Start(r.ctx, thread.Begin{Machine: machine, Input: input, User: "ann"})
	require.NoError(r, err)
	r.pass(100 * time.Millisecond)
	t = r.load(t.ID)
	require.Equal(r, thread.FrameRetrying, t.Frames[0].State)
	return t
}

// rest waits until nothing happens to the thread by itself.
func (r *rig) rest(id string) *thread.Thread {
	r.Helper()
	t, err := r.e.Wait(r.ctx, id)
	require.NoError(r, err)
	return t
}

// asked returns the open interrupt of that question.
func (r *rig) asked(t *thread.Thread, question string) *thread.Interrupt {
	r.Helper()
	i := askedBy(t, question)
	require.NotNil(r, i, "%s does not ask %q: %s, %d open", t.ID, question, t.Status(), len(t.Open))
	return i
}

// say answers a question by its id, and waits until the thread rests.
func (r *rig) say(i *thread.Interrupt, value string) *thread.Thread {
	r.Helper()
	_, err := r.e.Answer(r.ctx, i.Thread,
		thread.Answer{Interrupt: i.ID, Value: json.RawMessage(value), By: "bob"})
	require.NoError(r, err)
	return r.rest(i.Thread)
}

// reply answers the open question of that name.
func (r *rig) reply(id, question, value string) *thread.Thread {
	r.Helper()
	return r.say(r.asked(r.load(id), question), value)
}

// refused answers and expects a refusal.
func (r *rig) refused(code runtime.Code, a thread.Answer) error {
	r.Helper()
	_, err := r.e.Answer(r.ctx, "", a)
	require.Equal(r, code, runtime.CodeOf(err), "%v", err)
	return err
}

func (r *rig) load(id string) *thread.Thread {
	r.Helper()
	t, err := r.store.Load(r.ctx, id)
	require.NoError(r, err)
	return t
}

func (r *rig) interrupt(id string) *thread.Interrupt {
	r.Helper()
	i, err := r.e.Interrupt(r.ctx, id)
	require.NoError(r, err)
	return i
}

// done expects the end of a thread, with that result.
func (r *rig) done(t *thread.Thread, result string) {
	r.Helper()
	require.Equal(r, thread.StatusDone, t.Status(), "%+v", t.Failure)
	require.JSONEq(r, result, string(t.Result))
	require.Empty(r, t.Open)
}

// log returns the entries of some types.
func (r *rig) log(id string, types ...thread.EntryType) []thread.Entry {
	r.Helper()
	entries, err := r.e.History(r.ctx, id, 0, 10_000)
	require.NoError(r, err)
	return slices.DeleteFunc(entries, func(e thread.Entry) bool {
		return len(types) > 0 && !slices.Contains(types, e.Type)
	})
}

// pass lets time go by.
func (r *rig) pass(d time.Duration) {
	r.Helper()
	<-time.After(d)
	synctest.Wait()
}

func value(text string) json.RawMessage { return json.RawMessage(text) }
