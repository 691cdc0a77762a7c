// Package mem keeps threads in memory: a [runtime.Store] for tests, for examples, and for programs whose threads need not outlive the
// process. It is an honest store in all but that: what goes in is copied as the sealed form that a disk would get has it, so nothing that a
// caller changes later is seen, and what comes out is a copy of its own.
//
// A commit costs the same however many threads there are, a page of a query what it returns and a look at each row that its filters pass
// over. Nothing is ever deleted.
package mem

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/routegen/routegen/runtime"
)

// Store is a [runtime.Store] in memory. [Open] makes one. Any number of goroutines may use it; copying holds no lock.
type Store struct {
	mu         sync.RWMutex
	threads    map[string]*thread            // nil when closed
	interrupts map[string]*runtime.Interrupt // replaced, never written into
	log        []*runtime.Entry
	ids        order           // of threads
	wake       order           // of threads that somebody must look at
	asked      order           // of interrupts
	inbox      order           // of those that are open
	engines    map[string]bool // by the id they got: whether they are present
	aged       order           // of interrupts, by number
	numbers    map[string]int  // of interrupts, in the order they were first committed
}

type thread struct {
	record   *runtime.Thread // with Open; replaced, never written into
	asked    order           // of its interrupts
	aged     order           // of the same, by number
	log      []*runtime.Entry
	requests map[string][]*runtime.Entry // the one with that request id
}

// Open returns an empty store.
func Open() *Store {
	return &Store{
		threads: map[string]*thread{}, interrupts: map[string]*runtime.Interrupt{}, engines: map[string]bool{}, numbers: map[string]int{},
	}
}

// Announce implements [runtime.Presence].
func (s *Store) Announce(context.Context) (id string, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id = "mem-" + rand.Text()
	s.engines[id] = true
	return id, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.engines[id] = false
	}, nil
}

// Ended implements [runtime.Presence].
func (s *Store) Ended(id string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	present, known := s.engines[id]
	return known && !present
}

// Close makes every method refuse with CodeUnavailable from then on. It may be called again, and never fails.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.threads = nil
	return nil
}

// do runs a function under a lock, or says why nothing can be done.
func (s *Store) do(ctx context.Context, op string, lock sync.Locker, run func() error) error {
	lock.Lock()
	defer lock.Unlock()
	err := ctx.Err()
	if s.threads == nil {
		err = errors.New("the store is closed")
	}
	if err != nil {
		return refuse(runtime.CodeUnavailable, op, err)
	}
	return run()
}

func refuse(code runtime.Code, op string, err error) error {
	return &runtime.Error{Code: code, Op: op, Err: err}
}

// Commit implements [runtime.Store].
func (s *Store) Commit(ctx context.Context, changes ...*runtime.Change) error {
	copies := make([]*runtime.Change, len(changes))
	for n, c := range changes {
		var err error
		if copies[n], err = take(c); err != nil {
			return err
		}
	}
	return s.do(ctx, "commit", &s.mu, func() error {
		for n, c := range copies {
			if err := s.check(c, copies[:n]); err != nil {
				return refuse(runtime.CodeConflict, fmt.Sprintf("commit thread %.60q", c.Thread.ID), err)
			}
		}
		for _, c := range copies {
			s.apply(c)
		}
		return nil
	})
}

// check says what is in the way of a change that comes after others in its call.
func (s *Store) check(c *runtime.Change, others []*runtime.Change) error {
	t := s.thread(c.Thread.ID)
	had := t.record
	switch {
	case slices.ContainsFunc(others, func(d *runtime.Change) bool { return d.Thread.ID == c.Thread.ID }):
		return errors.New("it is changed twice")
	case had.Version != c.Before:
		return fmt.Errorf("version %d is stored, and %d was changed", had.Version, c.Before)
	case c.Fence != 0 && c.Fence != had.Lease.Fence:
		return fmt.Errorf("another engine drives it: its fence is %d, not %d", had.Lease.Fence, c.Fence)
	}
	now := map[string]bool{}
	for n := range c.Entries {
		request := c.Entries[n].Request
		if t.requests[request] != nil || now[request] {
			return fmt.Errorf("request %.60q was done before", request)
		}
		now[request] = request != ""
	}
	for _, i := range c.Interrupts {
		if other := s.interrupts[i.ID]; other != nil && other.Thread != c.Thread.ID {
			return fmt.Errorf("another thread has interrupt %.60q", i.ID)
		}
	}
	return nil
}

// thread returns what is kept of a thread, or what would be of one that has no commit yet.
func (s *Store) thread(id string) *thread {
	if t := s.threads[id]; t != nil {
		return t
	}
	return &thread{record: new(runtime.Thread), requests: map[string][]*runtime.Entry{}}
}

// apply makes a checked change visible. It keeps what the change holds.
func (s *Store) apply(c *runtime.Change) {
	id, t := c.Thread.ID, s.thread(c.Thread.ID)
	if c.Before == 0 {
		s.threads[id] = t
		s.ids.add(place{id: id})
	}
	s.wake.remove(place{at: t.record.Wake(), id: id})
	c.Thread.Open = slices.Clone(t.record.Open)
	for _, i := range c.Interrupts {
		s.put(t, c.Thread, i)
	}
	if wake := c.Thread.Wake(); !wake.IsZero() {
		s.wake.add(place{at: wake, id: id})
	}
	t.record = c.Thread
	for n := range c.Entries {
		e := &c.Entries[n]
		e.Thread, e.Cursor = id, int64(len(s.log))+1
		s.log, t.log = append(s.log, e), append(t.log, e)
		if e.Request != "" {
			t.requests[e.Request] = []*runtime.Entry{e}
		}
	}
}

// put keeps the latest form of an interrupt, in the record too while it is open or queued.
func (s *Store) put(t *thread, record *runtime.Thread, i *runtime.Interrupt) {
	had := s.interrupts[i.ID]
	if had != nil {
		for _, o := range []*order{&s.asked, &s.inbox, &t.asked} {
			o.remove(placeOf(had))
		}
	} else {
		s.numbers[i.ID] = len(s.numbers)
		s.aged.add(s.ageOf(i))
		t.aged.add(s.ageOf(i))
	}
	s.interrupts[i.ID] = i
	s.asked.add(placeOf(i))
	t.asked.add(placeOf(i))
	if i.State == runtime.InterruptOpen {
		s.inbox.add(placeOf(i))
	}
	at := -1 // a new one is not there
	if had != nil {
		at = slices.IndexFunc(record.Open, func(o *runtime.Interrupt) bool { return o.ID == i.ID })
	}
	if at < 0 {
		at, record.Open = len(record.Open), append(record.Open, nil)
	}
	if record.Open[at] = i; i.State != runtime.InterruptOpen && i.State != runtime.InterruptQueued {
		record.Open = slices.Delete(record.Open, at, at+1)
	}
}
