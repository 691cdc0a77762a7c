package storetest

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// broken is a store that breaks its promises where a function is set.
type broken struct {
	thread.Store

	commit     func(s thread.Store, changes []*thread.Change) error
	load       func(s thread.Store, id string) (*thread.Thread, error)
	interrupts func(s thread.Store, q thread.InterruptQuery) ([]*thread.Interrupt, error)
	log        func(s thread.Store, q thread.LogQuery) ([]thread.Entry, error)
	threads    func(s thread.Store, q thread.Query) ([]thread.Summary, error)
}

var bg = context.Background()

func (b *broken) Commit(ctx context.Context, changes ...*thread.Change) error {
	if b.commit == nil {
		return b.Store.Commit(ctx, changes...)
	}
	return b.commit(b.Store, changes)
}

func (b *broken) Load(ctx context.Context, id string) (*thread.Thread, error) {
	if b.load == nil {
		return b.Store.Load(ctx, id)
	}
	return b.load(b.Store, id)
}

func (b *broken) Interrupts(ctx context.Context, q thread.InterruptQuery) ([]*thread.Interrupt,
	error) {
	if b.interrupts == nil {
		return b.Store.Interrupts(ctx, q)
	}
	return b.interrupts(b.Store, q)
}

func (b *broken) Log(ctx context.Context, q thread.LogQuery) ([]thread.Entry, error) {
	if b.log == nil {
		return b.Store.Log(ctx, q)
	}
	return b.log(b.Store, q)
}

func (b *broken) Threads(ctx context.Context, q thread.Query) ([]thread.Summary, error) {
	if b.threads == nil {
		return b.Store.Threads(ctx, q)
	}
	return b.threads(b.Store, q)
}

// The builders below say what is broken in one place, and leave the rest honest.

// commits changes each change, in a copy, before it is committed.
func commits(edit func(c *thread.Change)) *broken {
	return &broken{commit: func(s thread.Store, changes []*thread.Change) error {
		copies := make([]*thread.Change, len(changes))
		for n, c := range changes {
			d, t := *c, *c.Thread
			d.Thread, d.Entries, d.Interrupts = &t, slices.Clone(c.Entries),
				slices.Clone(c.Interrupts)
			copies[n] = &d
			edit(&d)
		}
		return s.Commit(bg, copies...)
	}}
}

// loads changes what is loaded.
func loads(edit func(t *thread.Thread)) *broken {
	return &broken{load: func(s thread.Store, id string) (*thread.Thread, error) {
		t, err := s.Load(bg, id)
		if err == nil {
			edit(t)
		}
		return t, err
	}}
}

// asks changes a query for interrupts.
func asks(edit func(q *thread.InterruptQuery)) *broken {
	return &broken{interrupts: func(s thread.Store, q thread.InterruptQuery) (
		[]*thread.Interrupt, error) {
		edit(&q)
		return s.Interrupts(bg, q)
	}}
}

// finds changes what a query for interrupts found.
func finds(edit func(q *thread.InterruptQuery,
	found []*thread.Interrupt) []*thread.Interrupt) *broken {
	return &broken{interrupts: func(s thread.Store, q thread.InterruptQuery) (
		[]*thread.Interrupt, error) {
		found, err := s.Interrupts(bg, q)
		return edit(&q, found), err
	}}
}

// reads changes a query for entries.
func reads(edit func(q *thread.LogQuery)) *broken {
	return &broken{log: func(s thread.Store, q thread.LogQuery) ([]thread.Entry, error) {
		edit(&q)
		return s.Log(bg, q)
	}}
}

// lists changes a query for threads.
func lists(edit func(q *thread.Query)) *broken {
	return &broken{threads: func(s thread.Store, q thread.Query) ([]thread.Summary,
		error) {
		edit(&q)
		return s.Threads(bg, q)
	}}
}

// noVersions takes every change for one of the version that is stored.
func noVersions() *broken {
	var mu sync.Mutex
	return &broken{commit: func(s thread.Store, changes []*thread.Change) error {
		mu.Lock()
		defer mu.Unlock()
		copies := make([]*thread.Change, len(changes))
		for n, c := range changes {
			d := *c
			d.Before = 0
			if t, err := s.Load(bg, c.Thread.ID); err == nil {
				d.Before = t.Version
			}
			copies[n] = &d
		}
		return s.Commit(bg, copies...)
	}}
}

func noFences() *broken { return commits(func(c *thread.Change) { c.Fence = 0 }) }

// oneByOne commits each change on its own.
func oneByOne() *broken {
	return &broken{commit: func(s thread.Store, changes []*thread.Change) error {
		for _, c := range changes {
			if err := s.Commit(bg, c); err != nil {
				return err
			}
		}
		return nil
	}}
}

// oneOwner leaves out the interrupts that another thread has.
func oneOwner() *broken {
	return &broken{commit: func(s thread.Store, changes []*thread.Change) error {
		copies := make([]*thread.Change, len(changes))
		for n, c := range changes {
			d := *c
			d.Interrupts = slices.DeleteFunc(slices.Clone(c.Interrupts),
				func(i *thread.Interrupt) bool {
					had, err := s.Interrupts(bg, thread.InterruptQuery{ID: i.ID})
					return err == nil && len(had) > 0 && had[0].Thread != i.Thread
				})
			copies[n] = &d
		}
		return s.Commit(bg, copies...)
	}}
}

func noRequests() *broken {
	return commits(func(c *thread.Change) {
		for n := range c.Entries {
			c.Entries[n].Request = ""
		}
	})
}

// noInterrupts loses the interrupts of every change.
func noInterrupts() *broken { return commits(func(c *thread.Change) { c.Interrupts = nil }) }

// aliasing gives back the very record that was committed.
func aliasing() *broken {
	var kept sync.Map
	return &broken{
		commit: func(s thread.Store, changes []*thread.Change) error {
			err := s.Commit(bg, changes...)
			for _, c := range changes {
				if err == nil {
					kept.Store(c.Thread.ID, c.Thread)
				}
			}
			return err
		},
		load: func(s thread.Store, id string) (*thread.Thread, error) {
			if t, ok := kept.Load(id); ok {
				return t.(*thread.Thread), nil
			}
			return s.Load(bg, id)
		},
	}
}

// reusing loads every version of a thread into the same record.
func reusing() *broken {
	var mu sync.Mutex
	one := map[string]*thread.Thread{}
	b := &broken{}
	b.load = func(s thread.Store, id string) (*thread.Thread, error) {
		mu.Lock()
		defer mu.Unlock()
		t, err := s.Load(bg, id)
		if err == nil && one[id] == nil {
			one[id] = new(thread.Thread)
		}
		if err == nil {
			*one[id] = *t
		}
		return one[id], err
	}
	b.commit = func(s thread.Store, changes []*thread.Change) error {
		err := s.Commit(bg, changes...)
		for _, c := range changes {
			_, _ = b.load(s, c.Thread.ID)
		}
		return err
	}
	return b
}

// lagging loads the version before the last. With torn it adds the interrupts of the last.
func lagging(torn bool) *broken {
	var mu sync.Mutex
	last := map[string]*thread.Thread{}
	before := map[string]*thread.Thread{}
	return &broken{
		commit: func(s thread.Store, changes []*thread.Change) error {
			mu.Lock()
			defer mu.Unlock()
			err := s.Commit(bg, changes...)
			for _, c := range changes {
				if err == nil {
					before[c.Thread.ID], last[c.Thread.ID] = last[c.Thread.ID], c.Thread
				}
			}
			return err
		},
		load: func(s thread.Store, id string) (*thread.Thread, error) {
			mu.Lock()
			defer mu.Unlock()
			t, err := s.Load(bg, id)
			if old := before[id]; old != nil && t.Version%3 == 0 {
				open := t.Open
				t = thread.NewChange(old, &thread.Rules{}, time.Time{}).Thread
				if t.Version--; torn {
					t.Open = open
				}
			}
			return t, err
		},
	}
}

// firstOnly commits the first change of a call and forgets the others.
func firstOnly() *broken {
	return &broken{commit: func(s thread.Store, changes []*thread.Change) error {
		return s.Commit(bg, changes[0])
	}}
}

// oneSlot keeps the data and the question of a step under one name.
func oneSlot() *broken {
	return commits(func(c *thread.Change) {
		c.Interrupts = slices.DeleteFunc(c.Interrupts, func(i *thread.Interrupt) bool {
			f := c.Thread.Frame(i.Frame)
			return f != nil && f.Effect(i.Name) != nil
		})
	})
}

// deleting forgets what is closed.
func deleting() *broken {
	return finds(func(_ *thread.InterruptQuery, found []*thread.Interrupt) []*thread.Interrupt {
		return slices.DeleteFunc(found, func(i *thread.Interrupt) bool {
			return i.State == thread.InterruptAnswered
		})
	})
}

// byTime forgets that priority comes first.
func byTime() *broken {
	return finds(func(_ *thread.InterruptQuery, found []*thread.Interrupt) []*thread.Interrupt {
		slices.SortStableFunc(found, func(a, b *thread.Interrupt) int {
			return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Priority, b.Priority))
		})
		return found
	})
}

// late shows later entries while some before them cannot be seen yet, as a log does whose cursors
// are given before the commit. Who looks at the whole log sees all.
func late() *broken {
	return &broken{log: func(s thread.Store, q thread.LogQuery) ([]thread.Entry, error) {
		found, err := s.Log(bg, q)
		if q.Thread == "" && q.Limit < 1000 {
			found = slices.DeleteFunc(found, func(e thread.Entry) bool { return e.Cursor%3 == 0 })
		}
		return found, err
	}}
}

// standing shows the entry at a cursor again to who goes on after it: the last page has no end.
func standing() *broken { return reads(func(q *thread.LogQuery) { q.After = max(0, q.After-1) }) }

// renumbering gives entries other cursors each time they are read, and does not know the old ones
// again.
func renumbering() *broken {
	var last atomic.Int64
	return &broken{log: func(s thread.Store, q thread.LogQuery) ([]thread.Entry, error) {
		q.After = 0
		found, err := s.Log(bg, q)
		for n := range found {
			found[n].Cursor = last.Add(1)
		}
		return found, err
	}}
}

// upsideDown turns what Log or Threads return around.
func upsideDown() *broken {
	return &broken{
		log: func(s thread.Store, q thread.LogQuery) ([]thread.Entry, error) {
			found, err := s.Log(bg, q)
			slices.Reverse(found)
			return found, err
		},
		threads: func(s thread.Store, q thread.Query) ([]thread.Summary, error) {
			found, err := s.Threads(bg, q)
			slices.Reverse(found)
			return found, err
		},
	}
}

// rows changes the rows of threads.
func rows(edit func(row *thread.Summary)) *broken {
	return &broken{threads: func(s thread.Store, q thread.Query) ([]thread.Summary,
		error) {
		found, err := s.Threads(bg, q)
		for n := range found {
			edit(&found[n])
		}
		return found, err
	}}
}

// small refuses what is large.
func small() *broken {
	return &broken{commit: func(s thread.Store, changes []*thread.Change) error {
		for _, c := range changes {
			if data, err := runtime.Encode(c.Thread); err != nil || len(data) > 1<<16 {
				return &runtime.Error{Code: runtime.CodeInvalid, Err: bytes.ErrTooLarge}
			}
		}
		return s.Commit(bg, changes...)
	}}
}

// folding takes ids that differ in case for the same.
func folding() *broken {
	b := commits(func(c *thread.Change) { c.Thread.ID = strings.ToLower(c.Thread.ID) })
	b.load = func(s thread.Store, id string) (*thread.Thread, error) {
		return s.Load(bg, strings.ToLower(id))
	}
	return b
}

// fresh takes an unknown thread for a new one.
func fresh() *broken {
	return &broken{load: func(s thread.Store, id string) (*thread.Thread, error) {
		t, err := s.Load(bg, id)
		if runtime.CodeOf(err) == runtime.CodeNotFound {
			t, err = &thread.Thread{ID: id}, nil
		}
		return t, err
	}}
}

// deaf goes on when its caller has gone.
func deaf() *broken {
	b := asks(func(*thread.InterruptQuery) {})
	b.commit = func(s thread.Store, changes []*thread.Change) error {
		return s.Commit(bg, changes...)
	}
	return b
}

// forgetful says of every third commit that it is done, and has not done it; with half it has done
// its first change, and says that it has not.
func forgetful(half bool) *broken {
	var calls atomic.Int64
	return &broken{commit: func(s thread.Store, changes []*thread.Change) error {
		switch {
		case calls.Add(1)%3 > 0:
			return s.Commit(bg, changes...)
		case !half:
			return nil
		}
		if err := s.Commit(bg, changes[0]); err != nil {
			return err
		}
		return &runtime.Error{Code: runtime.CodeUnavailable, Err: context.Canceled}
	}}
}

// rich is mem with every capability, each played by a wrapper.
func rich() Opened {
	base := mem.Open()
	var mu sync.Mutex
	damaged, out := map[string]bool{}, false
	refuse := func(code runtime.Code) error { return &runtime.Error{Code: code, Op: "rich"} }
	b := &broken{Store: base}
	b.commit = func(s thread.Store, changes []*thread.Change) error {
		mu.Lock()
		defer mu.Unlock()
		if out {
			return refuse(runtime.CodeUnavailable)
		}
		return s.Commit(bg, changes...)
	}
	b.load = func(s thread.Store, id string) (*thread.Thread, error) {
		mu.Lock()
		defer mu.Unlock()
		if damaged[id] {
			return nil, refuse(runtime.CodeInternal)
		}
		return s.Load(bg, id)
	}
	honest := &broken{Store: base, load: b.load}
	set := func(to bool) {
		mu.Lock()
		defer mu.Unlock()
		out = to
	}
	return Opened{
		Store:  &cautious{Store: b},
		Close:  base.Close,
		Reopen: func() thread.Store { return &cautious{Store: honest} },
		Second: func() thread.Store { return base },
		Damage: func(id string) { damaged[id] = true },
		Break: func() func() {
			set(true)
			return func() { set(false) }
		},
	}
}

// cautious looks at the context, which the functions of broken do not get.
type cautious struct{ thread.Store }

func (c *cautious) Commit(ctx context.Context, changes ...*thread.Change) error {
	if err := over(ctx); err != nil {
		return err
	}
	return c.Store.Commit(ctx, changes...)
}

func (c *cautious) Load(ctx context.Context, id string) (*thread.Thread, error) {
	if err := over(ctx); err != nil {
		return nil, err
	}
	return c.Store.Load(ctx, id)
}

func over(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &runtime.Error{Code: runtime.CodeUnavailable, Err: err}
	}
	return nil
}
