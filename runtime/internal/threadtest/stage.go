// Package threadtest is for tests of machines: it plays a scenario on an engine over every store
// that needs no server, also with engines that are abandoned on the way.
package threadtest

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// PlayAll plays a scenario in memory and on SQLite, each with one engine, and with the engine
// abandoned at each [Stage.Next] and another one opened under the same owner. Each play is a
// synctest bubble: time moves when nothing else can.
func PlayAll(t *testing.T, play func(s *Stage)) {
	t.Helper()
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		for _, restarts := range []bool{false, true} {
			name := store
			if restarts {
				name += ", restarted between the lines"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { play(NewStage(t, store, restarts)) })
			})
		}
	}
}

// Stage is a store with an engine over it.
type Stage struct {
	*testing.T

	Store   thread.Store
	Counted *CountedStore // what Engine has in front of Store
	Engine  *thread.Engine
	Opened  func() // called after each engine is opened; may be nil

	restarts bool
	machines []thread.Machine
	mu       sync.Mutex
	did      map[string]int
}

// NewStage returns a stage without an engine: over memory for "mem", over SQLite for "sqlite". With
// restarts, [Stage.Next] restarts the engine.
func NewStage(t *testing.T, store string, restarts bool) *Stage {
	t.Helper()
	s := &Stage{T: t, restarts: restarts, did: map[string]int{}}
	if store == "mem" {
		s.Store = mem.Open()
		return s
	}
	disk, err := sqlite.Open(s.Context(), filepath.Join(t.TempDir(), "threads.db"), sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, disk.Close()) })
	s.Store = disk
	return s
}

// With opens the first engine, with these machines.
func (s *Stage) With(machines ...thread.Machine) {
	s.Helper()
	s.machines = machines
	s.openEngine()
}

func (s *Stage) openEngine() {
	s.Helper()
	s.Counted = &CountedStore{CutStore: CutStore{Store: s.Store}}
	e, err := thread.Open(s.Context(), s.Counted, thread.Config{Owner: "stage"}, s.machines...)
	require.NoError(s, err)
	s.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		assert.NoError(s, e.Close(ctx))
	})
	s.Engine = e
	if s.Opened != nil {
		s.Opened()
	}
}

// Next is a break between two lines of a scenario: where the play says so, another engine goes on.
func (s *Stage) Next() {
	s.Helper()
	if s.restarts {
		s.Restart()
	}
}

// Restart abandons the engine: nothing of it reaches the store after that. Another one takes its
// place.
func (s *Stage) Restart() {
	s.Helper()
	s.Counted.Cut.Store(true)
	s.Counted.leave()
	s.openEngine()
}

// Do notes that something was done to the world, and returns how often by now.
func (s *Stage) Do(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.did[what]++
	return s.did[what]
}

// Done returns how often something was done to the world.
func (s *Stage) Done(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.did[what]
}

// Rest waits until a thread rests, and returns it.
func (s *Stage) Rest(id string) *thread.Thread {
	s.Helper()
	t, err := s.Engine.Wait(s.Context(), id)
	require.NoError(s, err)
	return t
}

// Asks waits until a thread rests, and returns its one open interrupt, which must be of that kind.
func (s *Stage) Asks(id, kind string) *thread.Interrupt {
	s.Helper()
	var open []*thread.Interrupt
	t := s.Rest(id)
	for _, i := range t.Open {
		if i.State == thread.InterruptOpen {
			open = append(open, i)
		}
	}
	require.Len(s, open, 1, "thread %s is %s", id, t.Status())
	require.Equal(s, kind, open[0].Kind, "%s", open[0].Text)
	return open[0]
}

// LoadInterrupt returns an interrupt by its id.
func (s *Stage) LoadInterrupt(id string) *thread.Interrupt {
	s.Helper()
	i, err := s.Engine.Interrupt(s.Context(), id)
	require.NoError(s, err)
	return i
}

// Answer answers an interrupt by its id.
func (s *Stage) Answer(i *thread.Interrupt, value string) {
	s.Helper()
	_, err := s.Engine.Answer(s.Context(), "",
		thread.Answer{Interrupt: i.ID, Value: json.RawMessage(value), By: "ann"})
	require.NoError(s, err)
}

// Log returns the entries of a thread: those of some types, or all if none is named.
func (s *Stage) Log(id string, types ...thread.EntryType) []thread.Entry {
	s.Helper()
	entries, err := s.Engine.History(s.Context(), id, 0, 10_000)
	require.NoError(s, err)
	return slices.DeleteFunc(entries, func(e thread.Entry) bool {
		return len(types) > 0 && !slices.Contains(types, e.Type)
	})
}

// Pass lets time go by, and waits until nothing else can happen.
func (s *Stage) Pass(d time.Duration) {
	s.Helper()
	<-time.After(d)
	synctest.Wait()
}

// Code requires that an error has a code.
func (s *Stage) Code(want runtime.Code, err error) {
	s.Helper()
	require.Equal(s, want, runtime.CodeOf(err), "%v", err)
}

// CountedStore counts what is asked of a store, and can be cut off from it.
type CountedStore struct {
	CutStore

	Damaged              atomic.Value // id of a thread that cannot be read
	Loads, Commits, Logs atomic.Int64 // Logs: of one thread

	leave func() // says that its engine has ended
}

// Announce implements [thread.Presence].
func (c *CountedStore) Announce(ctx context.Context) (id string, leave func(), err error) {
	id, c.leave, err = c.CutStore.Announce(ctx)
	return id, c.leave, err
}

// Commit implements [thread.Store].
func (c *CountedStore) Commit(ctx context.Context, changes ...*thread.Change) error {
	if !c.Cut.Load() {
		c.Commits.Add(1)
	}
	return c.CutStore.Commit(ctx, changes...)
}

// Load implements [thread.Store].
func (c *CountedStore) Load(ctx context.Context, id string) (*thread.Thread, error) {
	switch {
	case c.Cut.Load():
	case c.Damaged.Load() == id:
		return nil, runtime.Errorf(runtime.CodeInternal, "load", "the record is damaged")
	default:
		c.Loads.Add(1)
	}
	return c.CutStore.Load(ctx, id)
}

// Log implements [thread.Store].
func (c *CountedStore) Log(ctx context.Context, q thread.LogQuery) ([]thread.Entry, error) {
	if q.Thread != "" && !c.Cut.Load() {
		c.Logs.Add(1)
	}
	return c.CutStore.Log(ctx, q)
}

// Hold lets a test hold a step on its way.
type Hold struct {
	Reached chan struct{} // receives when the step is held
	Release chan struct{} // the test closes it
}

// NewHold returns a hold that is not released.
func NewHold() *Hold { return &Hold{make(chan struct{}), make(chan struct{})} }

// Here waits until the test releases the hold. It returns the error of ctx if that ends first.
func (h *Hold) Here(ctx context.Context) error {
	select {
	case <-h.Release:
		return nil
	default:
	}
	select {
	case h.Reached <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-h.Release:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
