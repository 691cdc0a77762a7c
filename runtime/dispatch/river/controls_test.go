//go:build unix

package river

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/postgres"
	"github.com/routegen/routegen/runtime/thread"
)

// way leads an engine to its store. It can be cut, as for a process that is stopped, and it can be
// blind to fences: the engine then goes on believing that it has the lease it once took.
type way struct {
	thread.Store
	cut   atomic.Bool
	blind bool

	mu  sync.Mutex
	had map[string]thread.Lease // as this engine committed them last
}

var errCut = runtime.Errorf(runtime.CodeUnavailable, "store", "%w", errors.New("it is cut"))

func (w *way) Commit(ctx context.Context, changes ...*thread.Change) error {
	if w.cut.Load() {
		return errCut
	}
	for _, c := range changes {
		if w.blind {
			c.Fence = 0
		}
	}
	err := w.Store.Commit(ctx, changes...)
	for _, c := range changes {
		if err == nil && c.Thread.Lease.Owner != "" {
			w.mu.Lock()
			w.had[c.Thread.ID] = c.Thread.Lease
			w.mu.Unlock()
		}
	}
	return err
}

func (w *way) Load(ctx context.Context, id string) (*thread.Thread, error) {
	if w.cut.Load() {
		return nil, errCut
	}
	t, err := w.Store.Load(ctx, id)
	if err != nil || !w.blind {
		return t, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if l, found := w.had[id]; found {
		t.Lease = l
	}
	return t, nil
}

// effectsAfterTakeover has a process lose the way to its store in the middle of a step, and find it
// again when another one has taken the thread. It returns how many effects of Once the first
// process does then.
func effectsAfterTakeover(t *testing.T, blind bool) int {
	t.Helper()
	r := newRig(t)
	var w *way
	first := r.open(r.config("first", 1), func(s *postgres.Store) thread.Store {
		w = &way{Store: s, blind: blind, had: map[string]thread.Lease{}}
		return w
	})
	id := r.start(input{Holds: atEnd})
	r.arrived(1)
	pause(200 * time.Millisecond)
	w.cut.Store(true)
	second := r.process("second", 1)
	r.arrived(2)
	w.cut.Store(false)
	r.letGo(first.ledger.by)
	pause(time.Second)
	r.letGo(second.ledger.by)
	r.done(id)
	return r.count(`SELECT count(*) FROM ledger WHERE effect = 'last' AND process = $1`,
		first.ledger.by)
}

// Without the fence a process that comes back does effects of a thread that another one runs.
func TestWithoutTheFenceAStoppedProcessGoesOn(t *testing.T) {
	t.Parallel()
	t.Run("with it", func(t *testing.T) {
		t.Parallel()
		assert.Zero(t, effectsAfterTakeover(t, false))
	})
	t.Run("control: without it", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, 1, effectsAfterTakeover(t, true), "the check has to see it")
	})
}

// answersServed answers the questions of a thread, each as soon as it is asked, and returns how
// many answers a worker heard of. Jobs are inserted by that statement.
func answersServed(t *testing.T, statement func(string) string) int {
	t.Helper()
	const questions = 20
	r := newRig(t)
	r.process("worker", 2)
	r.api.store.Dispatch(statement(insertJobs(r.db.Schema)), freeJobs(r.db.Schema),
		r.api.disp.signalInserted)
	id := r.start(input{Questions: questions})
	for n := range questions {
		limit := time.Now().Add(3 * time.Second)
		for len(r.load(id).OpenInterrupts()) == 0 {
			if time.Now().After(limit) {
				return n
			}
		}
		_, err := r.api.engine.Answer(r.ctx, id, thread.Answer{Value: json.RawMessage("1"),
			By: "bob"})
		require.NoError(t, err)
	}
	r.done(id)
	return questions
}

// With a key for the thread alone an answer is lost: the job of the run that asked is not completed
// yet when it comes, and stands in the way of the next one.
func TestWithOneKeyForAThreadAnswersAreLost(t *testing.T) {
	t.Parallel()
	t.Run("with a key for each time of waiting", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, 20, answersServed(t, func(s string) string { return s }))
	})
	t.Run("control: with one key", func(t *testing.T) {
		t.Parallel()
		assert.Less(t, answersServed(t, func(s string) string {
			changed := strings.Replace(s, "fence || ',\"thread\"", "'0,\"thread\"", 1)
			require.NotEqual(t, s, changed)
			return changed
		}), 20, "the check has to see it")
	})
}
