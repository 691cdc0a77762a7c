package thread

import (
	"cmp"
	"context"
	"hash/fnv"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/routegen/routegen/runtime"
)

// Thread returns the record of a thread as last committed, with its open and queued interrupts. An
// unknown id is refused with CodeNotFound.
func (e *Engine) Thread(ctx context.Context, id string) (*Thread, error) {
	return e.store.Load(ctx, id)
}

// Interrupt returns an interrupt of any state. An unknown id is refused with CodeNotFound.
func (e *Engine) Interrupt(ctx context.Context, id string) (*Interrupt, error) {
	const op = "load interrupt"
	if id == "" {
		return nil, runtime.Errorf(runtime.CodeNotFound, op, "it has no id: name the interrupt")
	}
	found, err := e.store.Interrupts(ctx, InterruptQuery{ID: id})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, runtime.Errorf(runtime.CodeNotFound, op+" "+id, "no such interrupt")
	}
	return found[0], nil
}

// Inbox lists interrupts of all threads, the most urgent first. It reads the store.
func (e *Engine) Inbox(ctx context.Context, q InterruptQuery) ([]*Interrupt, error) {
	return e.store.Interrupts(ctx, q)
}

// Threads lists threads. A page with fewer rows than the limit is the last one.
func (e *Engine) Threads(ctx context.Context, q Query) ([]Summary, error) {
	return e.store.Threads(ctx, q)
}

// History lists what happened to a thread after entry seq, in order; at most limit entries, 0 means
// [DefaultLimit]. What the entries say of interrupts is completed by [Engine.Interrupt].
func (e *Engine) History(ctx context.Context, thread string, seq int64, limit int) ([]Entry,
	error) {
	return e.store.Log(ctx, LogQuery{Thread: thread, AfterSeq: seq, Limit: limit})
}

// Wait returns a thread once it rests (see [Thread.Rests]): a question is open, or it is idle or
// over. A thread that waits for the next try of a step does not rest. If ctx ends first, Wait
// returns the thread as last read with CodeUnavailable.
func (e *Engine) Wait(ctx context.Context, id string) (*Thread, error) {
	for {
		news := e.commits.nextCommit(e.key(id))
		t, err := e.store.Load(ctx, id)
		if err != nil || t.Rests() {
			return t, err
		}
		if err := e.waitForCommit(ctx, news); err != nil {
			return t, err
		}
	}
}

// waitForCommit returns at the next commit of this engine, and when another one may have committed:
// the store says so, or after Config.Poll.
func (e *Engine) waitForCommit(ctx context.Context, news <-chan struct{}) error {
	var poll <-chan time.Time
	if !e.fed.Load() {
		timer := time.NewTimer(e.cfg.Poll)
		defer timer.Stop()
		poll = timer.C
	}
	select {
	case <-news:
	case <-poll:
	case <-ctx.Done():
		return runtime.Errorf(runtime.CodeUnavailable, "wait", "%w", context.Cause(ctx))
	}
	if e.ctx.Err() != nil {
		return runtime.Errorf(runtime.CodeUnavailable, "wait", "%w", errClosing)
	}
	return nil
}

// ByRequest returns the first entry that a request added to a thread, or nil if there is none.
func (e *Engine) ByRequest(ctx context.Context, thread, request string) (*Entry, error) {
	if request == "" {
		return nil, nil //nolint:nilnil // nothing was asked for, and nothing is there
	}
	rows, err := e.store.Log(ctx, LogQuery{Thread: thread, Request: request, Limit: 1})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// Filter selects entries for [Engine.Subscribe]. Zero fields do not select.
type Filter struct {
	Thread string
	Types  []EntryType
}

func (f *Filter) matches(e *Entry) bool {
	return (len(f.Types) == 0 || slices.Contains(f.Types, e.Type)) &&
		!strings.Contains(e.Thread, "/")
}

// Subscribe yields the entries after a cursor, in the order they were committed, and goes on with
// new ones until ctx ends, which is not yielded as an error. Everything comes from the store: a
// reader that is slow, or comes late, or comes back with the cursor of the last entry it has seen,
// misses nothing and sees nothing twice. An entry is yielded after its commit, never before. A fork
// begins with copies of its source's entries: [Engine.Fork] says how to tell them.
func (e *Engine) Subscribe(ctx context.Context, f Filter, after int64) iter.Seq2[Entry,
	error] {
	store := e.store
	if f.Thread == "" && e == e.plain {
		// stores index the log of the other tenants only: their entries are passed over once here
		store = e.root.store
	}
	return func(yield func(Entry, error) bool) {
		for {
			news := e.commits.nextCommit(e.key(f.Thread))
			rows, err := store.Log(ctx, LogQuery{Thread: f.Thread, After: after})
			if err != nil {
				if ctx.Err() == nil {
					yield(Entry{}, err)
				}
				return
			}
			for _, row := range rows {
				after = row.Cursor
				if f.matches(&row) && !yield(row, nil) {
					return
				}
			}
			if len(rows) > 0 {
				continue
			}
			if err := e.waitForCommit(ctx, news); err != nil {
				if ctx.Err() == nil {
					yield(Entry{}, err)
				}
				return
			}
		}
	}
}

// Forked is a new thread, and what its source had done after the point of the fork.
type Forked struct {
	Thread *Thread
	// After lists the completed effects of the source; the fork may do them again, under keys of
	// its own.
	After []Entry
}

// Fork makes a new thread from an earlier point of another one, which stays as it is: from its
// first entries up to seq, after which it must have been at rest: [Entry] says where. id is
// that of the new thread; "" makes one up. The fork is driven at once.
//
// The same fork again, with an id and by the same person, finds the thread that the first one made,
// however far that has come: so a caller who was told CodeUnavailable or CodeUnknown asks again.
// Any other thread of that id is refused with CodeConflict.
//
// The first commit of a fork repeats its source's entries, under the fork's id and with interrupts
// of its own: [Engine.Subscribe] and [Engine.History] yield messages, questions and answers of the
// source once more, at new cursors. An entry of a fork is such a copy when its Seq is at most seq,
// which is the Seq of [Thread.ForkedFrom]; a reader of the log alone finds a [Fork]
// in the Value of the fork's first entry, of type started, which no other thread's has.
func (e *Engine) Fork(ctx context.Context, source string, seq int64, id, by string) (*Forked,
	error) {
	if id == "" {
		id = e.cfg.NewID()
	} else if err := checkID(id); err != nil {
		return nil, err
	}
	f, err := e.root.fork(ctx, e.key(source), seq, e.key(id), by)
	if err != nil {
		return nil, err
	}
	f.Thread = e.localThread(f.Thread)
	for n := range f.After {
		_, f.After[n].Thread = SplitID(f.After[n].Thread)
	}
	return f, nil
}

// fork is Fork with the ids of the store.
func (e *Engine) fork(ctx context.Context, source string, seq int64, id, by string) (*Forked,
	error) {
	if e.closing.Load() {
		return nil, runtime.Errorf(runtime.CodeUnavailable, "fork thread "+source, "%w", errClosing)
	}
	t, err := e.loadCompatible(ctx, source)
	if err != nil {
		return nil, err
	}
	interrupts, err := e.allInterrupts(ctx, source)
	if err != nil {
		return nil, err
	}
	find := func(id string) *Interrupt { return interrupts[id] }
	c, after, err := ForkAt(id, t, e.logOf(ctx, source), find, seq, &e.rules, by, e.clock.Now())
	if err != nil {
		return nil, err
	}
	e.leaseNew(c)
	c.Finish()
	if err = e.commitChanges(ctx, "fork thread "+source, c); runtime.CodeOf(
		err) == runtime.CodeConflict {
		c.Thread, err = e.existingFork(ctx, c.Thread, by, err)
	}
	if err != nil {
		return nil, err
	}
	return &Forked{Thread: c.Thread, After: after}, nil
}

// existingFork returns the thread that has the id of a fork already, where just this fork made it,
// and the conflict where something else did.
func (e *Engine) existingFork(ctx context.Context, fork *Thread, by string, conflict error) (
	*Thread, error) {
	t, err := e.store.Load(ctx, fork.ID)
	if err != nil {
		return nil, err
	}
	first, err := e.store.Log(ctx, LogQuery{Thread: t.ID, Limit: 1})
	if err != nil {
		return nil, err
	}
	if from := t.ForkedFrom; from == nil || *from != *fork.ForkedFrom || len(first) == 0 ||
		first[0].Name != by {
		return nil, conflict
	}
	return t, nil
}

// logOf yields the whole log of a thread, page by page.
func (e *Engine) logOf(ctx context.Context, thread string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for q := (LogQuery{Thread: thread, Limit: 1000}); ; {
			rows, err := e.store.Log(ctx, q)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for n := range rows {
				if !yield(rows[n], nil) {
					return
				}
			}
			if len(rows) < q.Limit {
				return
			}
			q.AfterSeq = rows[len(rows)-1].Seq
		}
	}
}

// allInterrupts reads the interrupts of a thread, of every state.
func (e *Engine) allInterrupts(ctx context.Context, thread string) (map[string]*Interrupt, error) {
	const page = 1000
	found := map[string]*Interrupt{}
	q := InterruptQuery{Thread: thread, ByAge: true, Limit: page}
	for {
		rows, err := e.store.Interrupts(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, i := range rows {
			found[i.ID] = i
		}
		if len(rows) < page {
			return found, nil
		}
		q.After = &InterruptMark{ID: rows[len(rows)-1].ID}
	}
}

// notifier tells waiting readers that something was committed. Threads share its channels, so that
// it stays small; the last channel is for readers of all threads.
type notifier struct {
	mu  sync.Mutex
	chs [257]chan struct{}
}

// nextCommit returns a channel that is closed at the next commit of a thread, or of any thread if
// it is "". Get it before reading the store, so that no commit is missed.
func (b *notifier) nextCommit(thread string) <-chan struct{} {
	at := b.slotOf(thread)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.chs[at] == nil {
		b.chs[at] = make(chan struct{})
	}
	return b.chs[at]
}

func (b *notifier) slotOf(thread string) int {
	if thread == "" {
		return len(b.chs) - 1
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(thread)) // never fails
	return int(h.Sum32() % uint32(len(b.chs)-1))
}

// publish wakes the readers of a thread and those of all threads; with "" it wakes all readers.
func (b *notifier) publish(thread string) {
	at := b.slotOf(thread)
	b.mu.Lock()
	defer b.mu.Unlock()
	for n := range b.chs {
		if b.chs[n] != nil && (thread == "" || n == at || n == len(b.chs)-1) {
			close(b.chs[n])
			b.chs[n] = nil
		}
	}
}

// Stat counts the interrupts of one kind, node and answerer. Unanswered interrupts without
// assignees have an empty Assignee and so a row apart from the answered ones: a rate of a kind or a
// node is computed from the sums of its rows.
type Stat struct {
	Kind string `json:"kind"`
	Node string `json:"node,omitempty"`
	// Assignee answered, or else was the first who was asked.
	Assignee string `json:"assignee,omitempty"`
	Count    int    `json:"count"`
	Answered int    `json:"answered"`
	Expired  int    `json:"expired"`
	// Superseded counts those closed by a more urgent one, or because the step that asked failed.
	Superseded int `json:"superseded"`
	// Clashed counts those that a more urgent one queued or superseded at least once, in whatever
	// state they are now.
	Clashed int `json:"clashed"`
	// Reasked counts the plain answers that were unclear.
	Reasked int `json:"reasked"`
	// Median and P95 are of the times from asking to the answer, in nanoseconds; 0 if none was
	// answered.
	Median time.Duration `json:"median"`
	P95    time.Duration `json:"p95"`
}

// Stats counts the interrupts created since a time, in the order of kind, node and assignee. It
// reads all there are, each once: its cost grows with their number.
func (e *Engine) Stats(ctx context.Context, since time.Time) ([]Stat, error) {
	type key struct{ kind, node, assignee string }
	rows := map[key]*Stat{}
	took := map[key][]time.Duration{}
	const page = 1000
	q := InterruptQuery{ByAge: true, Brief: true, Limit: page, States: []InterruptState{
		InterruptOpen, InterruptQueued, InterruptAnswered,
		InterruptSuperseded, InterruptCancelled,
		InterruptExpired,
	}}
	for {
		found, err := e.store.Interrupts(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			q.After = &InterruptMark{ID: i.ID}
			if i.Created.Before(since) {
				continue
			}
			k := key{i.Kind, i.Node, i.AnsweredBy}
			if answerers := i.Answerers(); k.assignee == "" && len(answerers) > 0 {
				k.assignee = answerers[0]
			}
			if rows[k] == nil {
				rows[k] = &Stat{Kind: k.kind, Node: k.node, Assignee: k.assignee}
			}
			rows[k].addInterrupt(i)
			if i.State == InterruptAnswered {
				took[k] = append(took[k], i.ClosedAt.Sub(i.Created))
			}
		}
		if len(found) < page {
			break
		}
	}
	out := make([]Stat, 0, len(rows))
	for k, s := range rows {
		if times := took[k]; len(times) > 0 {
			slices.Sort(times)
			s.Median, s.P95 = times[(len(times)-1)/2], times[(len(times)*95+99)/100-1]
		}
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Stat) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Node, b.Node),
			cmp.Compare(a.Assignee, b.Assignee))
	})
	return out, nil
}

func (s *Stat) addInterrupt(i *Interrupt) {
	s.Count++
	s.Reasked += i.Asks
	if i.Clashes > 0 {
		s.Clashed++
	}
	switch i.State {
	case InterruptAnswered:
		s.Answered++
	case InterruptExpired:
		s.Expired++
	case InterruptSuperseded:
		s.Superseded++
	default: // open, queued or cancelled
	}
}
