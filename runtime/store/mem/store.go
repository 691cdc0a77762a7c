// Package mem keeps threads in memory: a [thread.Store] for tests, for examples, and for programs
// whose threads need not outlive the process. It is an honest store in all but that: what goes in
// is copied as the JSON on a disk would have it, so nothing that a caller changes later is seen,
// and what comes out is a copy of its own.
//
// A commit costs the same however many threads there are, a page of a query what it returns and a
// look at each row that its filters pass over. Nothing is ever deleted.
package mem

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// Store is a [thread.Store] in memory. [Open] makes one. Any number of goroutines may use it;
// copying holds no lock.
type Store struct {
	mu         sync.RWMutex
	threads    map[string]*storedThread     // nil when closed
	interrupts map[string]*thread.Interrupt // replaced, never written into
	log        []*thread.Entry
	ids        pagedIndex             // of threads
	wake       pagedIndex             // of threads that an engine must look at
	asked      pagedIndex             // of interrupts
	inbox      pagedIndex             // of those that are open
	inboxes    map[string]*pagedIndex // of the same, by tenant
	engines    map[string]bool        // by the id they got: whether they are present
	aged       pagedIndex             // of interrupts, by number
	numbers    map[string]int         // of interrupts, in the order they were first committed
}

type storedThread struct {
	record   *thread.Thread // with Open; replaced, never written into
	asked    pagedIndex     // of its interrupts
	aged     pagedIndex     // of the same, by number
	log      []*thread.Entry
	requests map[string][]*thread.Entry // the one with that request id
}

// Open returns an empty store.
func Open() *Store {
	return &Store{
		threads: map[string]*storedThread{}, interrupts: map[string]*thread.Interrupt{},
		engines: map[string]bool{}, numbers: map[string]int{},
		inboxes: map[string]*pagedIndex{},
	}
}

// Announce implements [thread.Presence].
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

// Ended implements [thread.Presence].
func (s *Store) Ended(id string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	present, known := s.engines[id]
	return known && !present
}

// Close waits for the commits that have begun, moves the log into the file and closes it. Commits
// that still wait, and all later calls, return CodeUnavailable. A second Close does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.threads = nil
	return nil
}

// locked runs a function under a lock, or says why nothing can be done.
func (s *Store) locked(ctx context.Context, op string, lock sync.Locker, run func() error) error {
	lock.Lock()
	defer lock.Unlock()
	err := ctx.Err()
	if s.threads == nil {
		err = errors.New("the store is closed")
	}
	if err != nil {
		return runtime.Errorf(runtime.CodeUnavailable, op, "%w", err)
	}
	return run()
}

// Commit implements [thread.Store]. If ctx ends while the call waits for others, nothing is
// committed; once it is its turn, ctx does not matter. It waits up to ten seconds for the lock of
// another process. In addition to what the interface says, it returns CodeInvalid for a second
// change of a thread in one call, and CodeConflict for an interrupt id that another thread has.
func (s *Store) Commit(ctx context.Context, changes ...*thread.Change) error {
	copies := make([]thread.Change, len(changes))
	for n, c := range changes {
		if err := copyChange(c, &copies[n]); err != nil {
			return err
		}
	}
	return s.locked(ctx, "commit", &s.mu, func() error {
		for n := range copies {
			if err := s.checkChange(&copies[n], copies[:n]); err != nil {
				return runtime.Errorf(runtime.CodeConflict,
					fmt.Sprintf("commit thread %.60q", copies[n].Thread.ID), "%w", err)
			}
		}
		for n := range copies {
			s.applyChange(&copies[n])
		}
		return nil
	})
}

// checkChange returns an error if the change cannot be applied after the others of its call.
func (s *Store) checkChange(c *thread.Change, others []thread.Change) error {
	t := s.getOrMake(c.Thread.ID)
	had := t.record
	switch {
	case slices.ContainsFunc(others, func(d thread.Change) bool {
		return d.Thread.ID == c.Thread.ID
	}):
		return errors.New("it is changed twice")
	case had.Version != c.Before:
		return fmt.Errorf("version %d is stored, and %d was changed", had.Version, c.Before)
	case c.Fence != 0 && c.Fence != had.Lease.Fence:
		return fmt.Errorf("another engine drives it: its fence is %d, not %d", had.Lease.Fence,
			c.Fence)
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

// getOrMake returns what is stored of a thread, or an empty one for a thread without a commit.
func (s *Store) getOrMake(id string) *storedThread {
	if t := s.threads[id]; t != nil {
		return t
	}
	return &storedThread{record: &none}
}

var none thread.Thread // the record of a thread that has no commit yet

// applyChange makes a checked change visible. It keeps the memory of the change.
func (s *Store) applyChange(c *thread.Change) {
	id, t := c.Thread.ID, s.getOrMake(c.Thread.ID)
	if c.Before == 0 {
		s.threads[id] = t
		s.ids.insert(sortKey{id: id})
	}
	s.wake.remove(sortKey{at: t.record.Wake(), id: id})
	c.Thread.Open = slices.Clone(t.record.Open)
	for _, i := range c.Interrupts {
		s.putInterrupt(t, c.Thread, i)
	}
	if wake := c.Thread.Wake(); !wake.IsZero() {
		s.wake.insert(sortKey{at: wake, id: id})
	}
	t.record = c.Thread
	t.log = slices.Grow(t.log, len(c.Entries))
	for n := range c.Entries {
		e := &c.Entries[n]
		e.Thread, e.Cursor = id, int64(len(s.log))+1
		s.log, t.log = append(s.log, e), append(t.log, e)
		if e.Request != "" {
			if t.requests == nil {
				t.requests = map[string][]*thread.Entry{}
			}
			t.requests[e.Request] = []*thread.Entry{e}
		}
	}
}

// inboxOf returns the inbox of a thread's tenant.
func (s *Store) inboxOf(id string) *pagedIndex {
	tenant, _ := thread.SplitID(id)
	if s.inboxes[tenant] == nil {
		s.inboxes[tenant] = new(pagedIndex)
	}
	return s.inboxes[tenant]
}

// putInterrupt keeps the latest form of an interrupt, in the record too while it is open or queued.
func (s *Store) putInterrupt(t *storedThread, record *thread.Thread, i *thread.Interrupt) {
	had := s.interrupts[i.ID]
	moved := had == nil || inboxKey(had) != inboxKey(i)
	own := s.inboxOf(i.Thread)
	if had != nil {
		s.inbox.remove(inboxKey(had))
		own.remove(inboxKey(had))
	} else {
		s.numbers[i.ID] = len(s.numbers)
		s.aged.insert(s.ageKey(i))
		t.aged.insert(s.ageKey(i))
	}
	s.interrupts[i.ID] = i
	for _, o := range []*pagedIndex{&s.asked, &t.asked} {
		if moved && had != nil {
			o.remove(inboxKey(had))
		}
		if moved {
			o.insert(inboxKey(i))
		}
	}
	if i.State == thread.InterruptOpen {
		s.inbox.insert(inboxKey(i))
		own.insert(inboxKey(i))
	}
	at := -1 // a new one is not there
	if had != nil {
		at = slices.IndexFunc(record.Open, func(o *thread.Interrupt) bool { return o.ID == i.ID })
	}
	if at < 0 {
		at, record.Open = len(record.Open), append(record.Open, nil)
	}
	if record.Open[at] = i; i.State != thread.InterruptOpen && i.State != thread.InterruptQueued {
		if at == 0 { // when many are closed, it is one after the other from the first
			record.Open = record.Open[1:]
		} else {
			record.Open = slices.Delete(record.Open, at, at+1)
		}
	}
}
