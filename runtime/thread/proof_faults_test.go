package thread_test

import (
	"context"
	"errors"
	"math/rand/v2"
	goruntime "runtime"
	"sync"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// How a store call goes wrong.
type fault string

const (
	noFault fault = "none"
	refused fault = "refused" // it is not done, and says so
	// it is done, and the caller hears that it is not available
	unknown fault = "done but refused"
	// as the last, and the nine calls after it are refused
	unknownLong fault = "done but refused for a time"
	// the process is gone before the call, and never calls again
	diesBefore fault = "dies before"
	// the call is done, the process is gone before it hears of it
	diesAfter   fault = "dies after"
	fullFromNow fault = "refused for a time" // this call and the nine after it are refused
)

func everyFault() []fault {
	return []fault{refused, fullFromNow, unknown, unknownLong, diesBefore, diesAfter}
}

// faulty is a store whose n-th call goes wrong. It stands for one process: a new one is a new
// faulty over the same store.
type faulty struct {
	thread.Store
	kind fault
	at   int        // the call that goes wrong; counts from 1
	died func()     // is called when the process dies
	dice *rand.Rand // in a storm: which calls do, and how

	mu    sync.Mutex
	calls int
	dead  bool
	spun  bool // the engine called without a pause and without an end
}

var errFault = errors.New("made to fail")

// before reports whether the next call is to be done, and what it returns then.
func (s *faulty) before() (do bool, after error) {
	const outage, tooMany = 10, 20_000
	gone := &runtime.Error{Code: runtime.CodeUnavailable, Op: "faulty store", Err: errFault}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	// time stands still in a bubble where a goroutine never rests: end that goroutine, so that the
	// test can say so
	if s.calls > tooMany {
		s.spun = true
		goruntime.Goexit()
	}
	if s.dead {
		return false, gone
	}
	kind, hit := s.kind, s.calls == s.at
	if s.dice != nil {
		kind, hit = weather(s.dice), true
	}
	switch {
	case s.kind == fullFromNow && s.calls >= s.at && s.calls < s.at+outage:
		return false, gone
	case s.kind == unknownLong && s.calls > s.at && s.calls < s.at+outage:
		return false, gone
	case !hit || kind == noFault:
		return true, nil
	case kind == refused:
		return false, gone
	case kind == diesBefore:
		s.dead = true
		s.died()
		return false, gone
	case kind == diesAfter:
		s.dead = true
		s.died()
	}
	return true, gone
}

// weather says how a call in a storm goes: one of seven fails.
func weather(dice *rand.Rand) fault {
	switch n := dice.IntN(100); {
	case n < 6:
		return refused
	case n < 12:
		return unknown
	case n < 14:
		return diesBefore
	case n < 15:
		return diesAfter
	default:
		return noFault
	}
}

// alive does something that a dead process cannot do.
func (s *faulty) alive(do func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dead {
		do()
	}
	return !s.dead
}

// fired reports whether the call that was to go wrong has come.
func (s *faulty) fired() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls >= s.at
}

// through does a call, unless it is the one.
func through[T any](s *faulty, call func() (T, error)) (T, error) {
	var zero T
	do, after := s.before()
	if !do {
		return zero, after
	}
	v, err := call()
	if after != nil {
		return zero, after
	}
	return v, err
}

func (s *faulty) Load(ctx context.Context, id string) (*thread.Thread, error) {
	return through(s, func() (*thread.Thread, error) { return s.Store.Load(ctx, id) })
}

func (s *faulty) Commit(ctx context.Context, changes ...*thread.Change) error {
	_, err := through(s, func() (struct{}, error) {
		return struct{}{}, s.Store.Commit(ctx, changes...)
	})
	return err
}

func (s *faulty) Interrupts(ctx context.Context, q thread.InterruptQuery) ([]*thread.Interrupt,
	error) {
	return through(s, func() ([]*thread.Interrupt, error) { return s.Store.Interrupts(ctx, q) })
}

func (s *faulty) Log(ctx context.Context, q thread.LogQuery) ([]thread.Entry, error) {
	return through(s, func() ([]thread.Entry, error) { return s.Store.Log(ctx, q) })
}

func (s *faulty) Threads(ctx context.Context, q thread.Query) ([]thread.Summary, error) {
	return through(s, func() ([]thread.Summary, error) { return s.Store.Threads(ctx, q) })
}
