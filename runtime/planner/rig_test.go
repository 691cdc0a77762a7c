package planner_test

import (
	"context"
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

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// playAll plays a scenario on every store, with one engine, and with the engine abandoned at each
// [stage.next] and another one opened under the same owner. Each play is a synctest bubble: time
// moves when nothing else can.
func playAll(t *testing.T, play func(s *stage)) {
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
				synctest.Test(t, func(t *testing.T) { play(newStage(t, store, restarts)) })
			})
		}
	}
}

// stage is a store with an engine over it.
type stage struct {
	*testing.T
	restarts bool
	store    thread.Store
	counted  *countedStore // in front of store
	machines []thread.Machine
	e        *thread.Engine
	opened   func() // after each engine

	mu  sync.Mutex
	did map[string]int
}

func newStage(t *testing.T, store string, restarts bool) *stage {
	t.Helper()
	s := &stage{T: t, restarts: restarts, did: map[string]int{}}
	if store == "mem" {
		s.store = mem.Open()
		return s
	}
	disk, err := sqlite.Open(s.Context(), filepath.Join(t.TempDir(), "threads.db"), sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, disk.Close()) })
	s.store = disk
	return s
}

// with opens the first engine.
func (s *stage) with(machines ...thread.Machine) {
	s.Helper()
	s.machines = machines
	s.open()
}

func (s *stage) open() {
	s.Helper()
	s.counted = &countedStore{Store: s.store}
	e, err := thread.Open(s.Context(), s.counted, thread.Config{Owner: "stage"}, s.machines...)
	require.NoError(s, err)
	s.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		assert.NoError(s, e.Close(ctx))
	})
	s.e = e
	if s.opened != nil {
		s.opened()
	}
}

// next is a break between two lines of a scenario.
func (s *stage) next() {
	s.Helper()
	if s.restarts {
		s.restart()
	}
}

// restart abandons the engine: nothing of it reaches the store any more. Another one takes its
// place.
func (s *stage) restart() {
	s.Helper()
	s.counted.cut.Store(true)
	s.counted.leave()
	s.open()
}

// do notes that something was done to the world, and how often by now.
func (s *stage) do(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.did[what]++
	return s.did[what]
}

func (s *stage) done(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.did[what]
}

func (s *stage) rest(id string) *thread.Thread {
	s.Helper()
	t, err := s.e.Wait(s.Context(), id)
	require.NoError(s, err)
	return t
}

// asks returns the one open interrupt of a thread.
func (s *stage) asks(id, kind string) *thread.Interrupt {
	s.Helper()
	var open []*thread.Interrupt
	t := s.rest(id)
	for _, i := range t.Open {
		if i.State == thread.InterruptOpen {
			open = append(open, i)
		}
	}
	require.Len(s, open, 1, "thread %s is %s", id, t.Status())
	require.Equal(s, kind, open[0].Kind, "%s", open[0].Text)
	return open[0]
}

func (s *stage) interrupt(id string) *thread.Interrupt {
	s.Helper()
	i, err := s.e.Interrupt(s.Context(), id)
	require.NoError(s, err)
	return i
}

// answer answers an interrupt by its id.
func (s *stage) answer(i *thread.Interrupt, value string) {
	s.Helper()
	_, err := s.e.Answer(s.Context(), "",
		thread.Answer{Interrupt: i.ID, Value: json.RawMessage(value), By: "ann"})
	require.NoError(s, err)
}

// log returns the entries of some types.
func (s *stage) log(id string, types ...thread.EntryType) []thread.Entry {
	s.Helper()
	entries, err := s.e.History(s.Context(), id, 0, 10_000)
	require.NoError(s, err)
	return slices.DeleteFunc(entries, func(e thread.Entry) bool {
		return len(types) > 0 && !slices.Contains(types, e.Type)
	})
}

// pass lets time go by.
func (s *stage) pass(d time.Duration) {
	s.Helper()
	<-time.After(d)
	synctest.Wait()
}

// code expects a refusal.
func (s *stage) code(want runtime.Code, err error) {
	s.Helper()
	require.Equal(s, want, runtime.CodeOf(err), "%v", err)
}

// countedStore counts what is asked of a store, and can be cut off from it.
type countedStore struct {
	thread.Store
	cut                  atomic.Bool
	leave                func()       // says that its engine has ended
	damaged              atomic.Value // id of a thread that cannot be read
	loads, commits, logs atomic.Int64
}

// Announce implements [thread.Presence].
func (c *countedStore) Announce(ctx context.Context) (id string, leave func(), err error) {
	id, c.leave, err = c.Store.(thread.Presence).Announce(ctx)
	return id, c.leave, err
}

// Ended implements [thread.Presence].
func (c *countedStore) Ended(id string) bool {
	return c.Store.(thread.Presence).Ended(id)
}

var errCut = &runtime.Error{Code: runtime.CodeUnavailable, Op: "store",
	Err: errors.New("it is cut off")}

func (c *countedStore) Commit(ctx context.Context, changes ...*thread.Change) error {
	if c.cut.Load() {
		return errCut
	}
	c.commits.Add(1)
	return c.Store.Commit(ctx, changes...)
}

func (c *countedStore) Load(ctx context.Context, id string) (*thread.Thread, error) {
	switch {
	case c.cut.Load():
		return nil, errCut
	case c.damaged.Load() == id:
		return nil, &runtime.Error{Code: runtime.CodeInternal, Op: "load",
			Err: errors.New("the record is damaged")}
	}
	c.loads.Add(1)
	return c.Store.Load(ctx, id)
}

func (c *countedStore) Log(ctx context.Context, q thread.LogQuery) ([]thread.Entry, error) {
	if c.cut.Load() {
		return nil, errCut
	}
	if q.Thread != "" {
		c.logs.Add(1)
	}
	return c.Store.Log(ctx, q)
}

func (c *countedStore) Threads(ctx context.Context, q thread.Query) ([]thread.Summary,
	error) {
	if c.cut.Load() {
		return nil, errCut
	}
	return c.Store.Threads(ctx, q)
}

// held lets a test hold a step on its way.
type held struct {
	reached, release chan struct{}
}

func hold() *held { return &held{make(chan struct{}), make(chan struct{})} }

// here waits until the test releases it, the first time.
func (h *held) here(ctx context.Context) error {
	select {
	case <-h.release:
		return nil
	default:
	}
	select {
	case h.reached <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-h.release:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
