package storetest

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// TestMain keeps rapid from writing files about failures that are wanted here, and from looking
// long for smaller ones.
func TestMain(m *testing.M) {
	flag.Parse()
	for name, value := range map[string]string{"rapid.nofailfile": "true",
		"rapid.shrinktime": "1ms"} {
		if err := flag.Set(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	os.Exit(m.Run())
}

// recorder is a test that may fail without failing the one that runs it.
type recorder struct {
	mu     sync.Mutex
	failed bool
	said   strings.Builder
}

func (r *recorder) Helper()      {}
func (r *recorder) Name() string { return "control" }
func (r *recorder) Skip(...any)  { goruntime.Goexit() }
func (r *recorder) SkipNow()     { goruntime.Goexit() }

func (r *recorder) Skipf(string, ...any) { goruntime.Goexit() }

func (r *recorder) Log(args ...any) { r.Logf("%s", fmt.Sprint(args...)) }

func (r *recorder) Logf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(&r.said, format+"\n", args...)
}

func (r *recorder) Fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *recorder) FailNow() {
	r.Fail()
	goruntime.Goexit()
}

func (r *recorder) Error(args ...any) {
	r.Log(args...)
	r.Fail()
}

func (r *recorder) Errorf(format string, args ...any) {
	r.Logf(format, args...)
	r.Fail()
}

func (r *recorder) Fatal(args ...any) {
	r.Log(args...)
	r.FailNow()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Logf(format, args...)
	r.FailNow()
}

// record runs a clause and says whether it failed.
func (c *clause) record(o Opened) *recorder {
	r := &recorder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.runOn(r, o)
	}()
	<-done
	return r
}

// controls has, for each clause, stores that break it. Whoever adds a clause adds one here.
var controls = map[string][]func() *broken{
	"a commit makes a thread and then changes it": {noInterrupts, func() *broken {
		return lagging(false)
	}},
	"version 0 is refused where the thread exists":        {noVersions},
	"a commit on an old version is refused":               {noVersions},
	"a commit on a version to come is refused":            {noVersions},
	"a commit with another fence is refused":              {noFences},
	"a fence is refused where there is no thread":         {noFences},
	"changes of one call are committed together":          {firstOnly},
	"one losing change undoes the whole call":             {oneByOne, firstOnly},
	"two changes of one thread in a call are refused":     {oneByOne, firstOnly},
	"a request id is used once in a thread":               {noRequests},
	"an interrupt id is used once in all threads":         {oneOwner},
	"what a caller changes after its commit is not seen":  {aliasing},
	"open interrupts come from the interrupts of changes": {aliasing, noInterrupts},
	"an unknown thread is not found":                      {fresh, folding},
	"a load has open and queued interrupts in asked order": {
		func() *broken {
			return loads(func(t *thread.Thread) {
				t.Open = sortedByUrgency(t.Open)
			})
		},
		func() *broken {
			return loads(func(t *thread.Thread) {
				t.Open = t.Open[:min(1, len(t.Open))]
			})
		},
	},
	"a load is of one commit":            {func() *broken { return lagging(true) }},
	"what was loaded stays as it is":     {reusing},
	"data never overwrites an interrupt": {oneSlot},
	"list and load agree on what is pending": {
		func() *broken {
			return finds(func(_ *thread.InterruptQuery,
				found []*thread.Interrupt) []*thread.Interrupt {
				return found[:len(found)/2]
			})
		},
	},
	"empty states mean open, or any with id or thread": {
		func() *broken {
			return asks(func(q *thread.InterruptQuery) {
				if len(q.States) == 0 {
					q.States = []thread.InterruptState{thread.InterruptOpen}
				}
			})
		},
	},
	"interrupts come by priority, time and id": {byTime},
	"interrupts by age come in the order of their first commit": {
		func() *broken { return asks(func(q *thread.InterruptQuery) { q.ByAge = false }) },
		func() *broken {
			return asks(func(q *thread.InterruptQuery) {
				q.ByAge, q.After = true, nil
			})
		},
	},
	"brief interrupts have what is counted": {forgetsClashes, forgetsMarks},
	"copied entries are committed with the others": {
		func() *broken { return commits(func(c *thread.Change) { c.Copied = nil }) },
	},
	"a mark goes on exactly behind itself": {
		func() *broken {
			return asks(func(q *thread.InterruptQuery) {
				if q.After != nil {
					mark := *q.After
					mark.ID = ""
					q.After = &mark
				}
			})
		},
		func() *broken {
			return asks(func(q *thread.InterruptQuery) {
				if q.After != nil {
					mark := *q.After
					mark.ID += "\U0010FFFF"
					mark.Created = mark.Created.Add(time.Millisecond)
					q.After = &mark
				}
			})
		},
	},
	"every filter of interrupts selects, and all must match": {
		func() *broken { return asks(func(q *thread.InterruptQuery) { q.Kinds = nil }) },
		func() *broken { return asks(func(q *thread.InterruptQuery) { q.Nodes = nil }) },
		func() *broken { return asks(func(q *thread.InterruptQuery) { q.Assignees = nil }) },
		func() *broken {
			return asks(func(q *thread.InterruptQuery) {
				q.Assignees = q.Assignees[:min(1, len(q.Assignees))]
			})
		},
		func() *broken {
			return asks(func(q *thread.InterruptQuery) {
				q.Before = q.Before.Add(time.Millisecond)
			})
		},
		func() *broken {
			return commits(func(c *thread.Change) {
				editAll(c, func(i *thread.Interrupt) { i.EscalatedTo = "" })
			})
		},
	},
	"values of interrupt filters are only values": {
		func() *broken {
			return asks(func(q *thread.InterruptQuery) {
				if strings.Contains(q.Thread, "%") {
					q.Thread = ""
				}
			})
		},
		func() *broken {
			return asks(func(q *thread.InterruptQuery) {
				q.Assignees = slices.Clone(q.Assignees)
				for n := range q.Assignees {
					q.Assignees[n] = strings.TrimSpace(q.Assignees[n])
				}
			})
		},
	},
	"interrupts have a default limit": {
		func() *broken {
			return asks(func(q *thread.InterruptQuery) {
				q.Limit = max(q.Limit, 1000)
			})
		},
		func() *broken {
			return asks(func(q *thread.InterruptQuery) {
				q.Limit = min(q.Limit, 100)
			})
		},
	},
	"a closed interrupt leaves the inbox and is kept": {
		deleting, func() *broken {
			return asks(func(q *thread.InterruptQuery) {
				q.States = append(q.States, "open", "answered")
			})
		},
	},
	"the log is in the order of commits": {upsideDown},
	"every filter of the log selects at exact places": {
		func() *broken { return reads(func(q *thread.LogQuery) { q.AfterSeq-- }) },
		func() *broken { return reads(func(q *thread.LogQuery) { q.After-- }) },
		func() *broken {
			return reads(func(q *thread.LogQuery) {
				q.Request = strings.ToLower(q.Request)
			})
		},
		noRequests,
	},
	"request ids are only values": {
		func() *broken {
			return reads(func(q *thread.LogQuery) {
				q.Request = strings.ReplaceAll(q.Request, "%", "")
			})
		},
	},
	"the log has a default limit": {func() *broken {
		return reads(func(q *thread.LogQuery) { q.Limit = max(q.Limit, 1000) })
	}},
	"a reader that follows its cursor misses nothing": {late, standing, renumbering},
	"threads are found by status": {func() *broken {
		return lists(func(q *thread.Query) { q.Statuses = nil })
	}},
	"rows say what the record says after each commit": {
		func() *broken { return rows(func(row *thread.Summary) { row.Wake = time.Time{} }) },
		func() *broken {
			return rows(func(row *thread.Summary) {
				row.Status = thread.StatusRunning
			})
		},
		func() *broken { return rows(func(row *thread.Summary) { row.Fingerprint = "fp-1" }) },
	},
	"threads are found by owner": {func() *broken {
		return lists(func(q *thread.Query) { q.Owner = "" })
	}},
	"threads are found by wake time, in its order": {
		upsideDown, func() *broken {
			return lists(func(q *thread.Query) {
				q.WakeBefore = q.WakeBefore.Add(-time.Millisecond)
			})
		},
	},
	"a tenant sees nothing of another one's": {
		func() *broken { return lists(func(q *thread.Query) { q.Tenant = nil }) },
		func() *broken { return asks(func(q *thread.InterruptQuery) { q.Tenant = nil }) },
		func() *broken { return reads(func(q *thread.LogQuery) { q.Tenant = nil }) },
		func() *broken { // by the beginning of its name
			return asks(func(q *thread.InterruptQuery) {
				if q.Tenant != nil && *q.Tenant == "acm" {
					q.Tenant = new(string)
					*q.Tenant = "acme"
				}
			})
		},
	},
	"a query of a tenant returns all of its own": {
		func() *broken {
			return lists(func(q *thread.Query) {
				if q.Tenant != nil && q.AfterID == "" {
					q.AfterID = *q.Tenant + "/acmf"
				}
			})
		},
		func() *broken { return asks(func(q *thread.InterruptQuery) { q.Tenant = nil }) },
		func() *broken { return reads(func(q *thread.LogQuery) { q.Tenant = nil }) },
	},
	"threads come by id, in pages": {
		upsideDown, func() *broken {
			return lists(func(q *thread.Query) { q.AfterID = "" })
		},
	},
	"threads have a default limit": {func() *broken {
		return lists(func(q *thread.Query) { q.Limit = max(q.Limit, 1000) })
	}},
	"a record with every field set comes back": {
		func() *broken { return loads(func(t *thread.Thread) { t.EarlyAnswers = nil }) },
		func() *broken {
			return commits(func(c *thread.Change) {
				editAll(c, func(i *thread.Interrupt) { i.NotOwn = false })
			})
		},
	},
	"records of any shape come back": {
		func() *broken {
			return loads(func(t *thread.Thread) {
				t.Created = t.Created.Truncate(time.Second)
			})
		},
	},
	"absent, null, false, 0 and empty stay apart": {
		func() *broken {
			return loads(func(t *thread.Thread) {
				if string(t.Result) == "null" {
					t.Result = nil
				}
			})
		},
		func() *broken {
			return commits(func(c *thread.Change) {
				editAll(c, func(i *thread.Interrupt) {
					if i.Answer == nil {
						i.Answer = raw("null")
					}
				})
			})
		},
	},
	"a digest still fits what was shown": {func() *broken {
		return loads(func(t *thread.Thread) {
			for _, i := range t.Open {
				var v any // a number becomes what a float64 can hold
				if json.Unmarshal(i.Payload, &v) == nil {
					i.Payload, _ = json.Marshal(v)
				}
			}
		})
	}},
	"what JSON cannot hold is refused": {func() *broken {
		return commits(func(c *thread.Change) {
			c.Thread.User = strings.ToValidUTF8(c.Thread.User, "?")
		})
	}, func() *broken {
		return commits(func(c *thread.Change) {
			if !json.Valid(c.Thread.Result) {
				c.Thread.Result = nil
			}
		})
	}},
	"large values come back":                               {small},
	"ids are only ids":                                     {folding},
	"of those who race for a version one wins":             {noVersions},
	"of those who race with a request one wins":            {noRequests},
	"commits of the same two threads do not block or tear": {firstOnly},
	"loads and commits of a thread are linearizable": {func() *broken {
		return lagging(false)
	}},
	"random lives of threads match the model": {
		noInterrupts, noVersions, oneByOne, deleting, firstOnly, standing, renumbering,
		func() *broken { return lagging(false) },
	},
	"a cancelled context does nothing": {deaf},
	"a context that ends in a commit leaves all or nothing": {
		func() *broken { return forgetful(false) }, func() *broken { return forgetful(true) },
	},
}

// editAll changes the interrupts of a change, in copies.
func editAll(c *thread.Change, edit func(i *thread.Interrupt)) {
	for n, i := range c.Interrupts {
		d := *i
		edit(&d)
		c.Interrupts[n] = &d
	}
}

// lies has, for each clause that needs a capability, one that does not do what it says.
var lies = map[string]func(o *Opened){
	"a closed store is unavailable": func(o *Opened) {
		o.Close = func() error { return nil }
	},
	"everything survives closing and opening": func(o *Opened) {
		o.Reopen = func() thread.Store { return mem.Open() }
	},
	"damage is reported and harms one thread only": func(o *Opened) { o.Damage = func(string) {} },
	"an unreachable store has changed nothing": func(o *Opened) {
		o.Break = func() func() { return func() {} }
	},
	"two stores on the same data see each other": func(o *Opened) {
		o.Second = func() thread.Store { return mem.Open() }
	},
	"a reader misses nothing of two stores on the same data": func(o *Opened) {
		o.Second = func() thread.Store { return mem.Open() }
	},
}

// TestEveryClauseCanLose runs each clause on each store that breaks it.
func TestEveryClauseCanLose(t *testing.T) {
	t.Parallel()
	for _, c := range clauses {
		stores, lie := controls[c.name], lies[c.name]
		if !assert.True(t, len(stores) > 0 || lie != nil, "clause %q has no store that breaks it",
			c.name) {
			continue
		}
		for n, breaks := range stores {
			t.Run(fmt.Sprintf("%s/%d", c.name, n), func(t *testing.T) {
				t.Parallel()
				b := breaks()
				b.Store = mem.Open()
				r := c.record(Opened{Store: b})
				assert.True(t, r.failed, "the clause took a broken store for a good one:\n%s",
					&r.said)
			})
		}
		if lie != nil {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				o := rich()
				lie(&o)
				assert.True(t, c.record(o).failed, "the clause took a broken store for a good one")
			})
		}
	}
}

// TestEveryControlHasItsClause finds controls whose clause has another name by now.
func TestEveryControlHasItsClause(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, c := range clauses {
		assert.False(t, names[c.name], "%q is there twice", c.name)
		names[c.name] = true
	}
	for name := range controls {
		assert.True(t, names[name], name)
	}
	for name := range lies {
		assert.True(t, names[name], name)
	}
}

// TestRunWithEveryCapability is the other control: what is honest passes every clause.
func TestRunWithEveryCapability(t *testing.T) {
	t.Parallel()
	report := Run(t, func(*testing.T) Opened { return rich() })
	assert.Empty(t, report.Absent)
	assert.Empty(t, report.Missing)
	assert.Len(t, report.Tried, len(clauses))
}

// TestReportNamesWhatWasNotTried has a store that can do nothing beside what it must.
func TestReportNamesWhatWasNotTried(t *testing.T) {
	t.Parallel()
	report := reportOn(&Opened{Store: mem.Open()})
	assert.Empty(t, report.Present)
	assert.Equal(t, []string{"close", "durable", "shared", "damage", "outage"}, report.Absent)
	require.Len(t, report.Tried, len(clauses)-6)
	assert.Contains(t, report.String(),
		"capability durable: absent, not tried: everything survives closing and opening")
}
