package thread

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/routegen/routegen/runtime"
)

// Thread returns the record of a thread as last committed, with its open and queued interrupts. An unknown id is refused with CodeNotFound.
func (e *Engine) Thread(ctx context.Context, id string) (*runtime.Thread, error) {
	return e.store.Load(ctx, id)
}

// Interrupt returns an interrupt of any state. An unknown id is refused with CodeNotFound.
func (e *Engine) Interrupt(ctx context.Context, id string) (*runtime.Interrupt, error) {
	const op = "load interrupt"
	if id == "" {
		return nil, refuse(runtime.CodeNotFound, op, errors.New("it has no id: name the interrupt"))
	}
	found, err := e.store.Interrupts(ctx, runtime.InterruptQuery{ID: id})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, refuse(runtime.CodeNotFound, op+" "+id, errors.New("no such interrupt"))
	}
	return found[0], nil
}

// Inbox lists interrupts over all threads, the most urgent first. It reads the store, so it is the same after any reconnect.
func (e *Engine) Inbox(ctx context.Context, q runtime.InterruptQuery) ([]*runtime.Interrupt, error) {
	return e.store.Interrupts(ctx, q)
}

// Threads lists threads. A page that is shorter than the limit is the last one.
func (e *Engine) Threads(ctx context.Context, q runtime.ThreadQuery) ([]runtime.ThreadRow, error) {
	limit := cmp.Or(q.Limit, runtime.DefaultLimit)
	var found []runtime.ThreadRow
	for {
		rows, err := e.store.Threads(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if q.AfterID = row.ID; !strings.HasPrefix(row.ID, shapePrefix) && len(found) < limit {
				found = append(found, row)
			}
		}
		if len(rows) < limit || len(found) == limit || !q.WakeBefore.IsZero() { // tables of shapes are never woken
			return found, nil
		}
	}
}

// History lists what happened to a thread after entry seq, in order; at most limit entries, 0 means [runtime.DefaultLimit]. What the entries
// say of interrupts is completed by [Engine.Interrupt].
func (e *Engine) History(ctx context.Context, thread string, seq int64, limit int) ([]runtime.Entry, error) {
	return e.store.Log(ctx, runtime.LogQuery{Thread: thread, AfterSeq: seq, Limit: limit})
}

// Wait returns a thread as soon as it rests, see [runtime.Thread.Rests]: a question is open, or it is
// idle, or over. A thread that waits for the next try of a step does not rest. Where ctx ends first, the
// thread is returned as last read, with CodeUnavailable.
func (e *Engine) Wait(ctx context.Context, id string) (*runtime.Thread, error) {
	for {
		news := e.news.next(id)
		t, err := e.store.Load(ctx, id)
		if err != nil || t.Rests() {
			return t, err
		}
		if err := e.hear(ctx, news); err != nil {
			return t, err
		}
	}
}

// hear returns at the next commit of this engine, or after Config.Poll, when another may have committed.
func (e *Engine) hear(ctx context.Context, news <-chan struct{}) error {
	timer := time.NewTimer(e.cfg.Poll)
	defer timer.Stop()
	select {
	case <-news:
	case <-timer.C:
	case <-ctx.Done():
		return refuse(runtime.CodeUnavailable, "wait", context.Cause(ctx))
	}
	if e.ctx.Err() != nil {
		return refuse(runtime.CodeUnavailable, "wait", errClosing)
	}
	return nil
}

// ByRequest returns the entry under which a thread has taken a request of that id; nil when it has not.
func (e *Engine) ByRequest(ctx context.Context, thread, request string) (*runtime.Entry, error) {
	if request == "" {
		return nil, nil //nolint:nilnil // nothing was asked for, and nothing is there
	}
	rows, err := e.store.Log(ctx, runtime.LogQuery{Thread: thread, Request: request, Limit: 1})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// Filter selects entries for [Engine.Subscribe]. Zero fields do not select.
type Filter struct {
	Thread string
	Types  []runtime.EntryType
}

func (f *Filter) selects(e *runtime.Entry) bool {
	return (len(f.Types) == 0 || slices.Contains(f.Types, e.Type)) && !strings.HasPrefix(e.Thread, shapePrefix)
}

// Subscribe yields the entries after a cursor, in the order they were committed, and goes on with new ones until ctx ends, which is not yielded as an
// error. Everything comes from the store: a reader that is slow, or comes late, or comes back with the cursor of the last entry it has
// seen, misses nothing and sees nothing twice. An entry is yielded after its commit, never before. A fork begins with copies of its source's
// entries: [Engine.Fork] says how to tell them.
func (e *Engine) Subscribe(ctx context.Context, f Filter, after int64) iter.Seq2[runtime.Entry, error] {
	return func(yield func(runtime.Entry, error) bool) {
		for {
			news := e.news.next(f.Thread)
			rows, err := e.store.Log(ctx, runtime.LogQuery{Thread: f.Thread, After: after})
			if err != nil {
				if ctx.Err() == nil {
					yield(runtime.Entry{}, err)
				}
				return
			}
			for _, row := range rows {
				after = row.Cursor
				if f.selects(&row) && !yield(row, nil) {
					return
				}
			}
			if len(rows) > 0 {
				continue
			}
			if err := e.hear(ctx, news); err != nil {
				if ctx.Err() == nil {
					yield(runtime.Entry{}, err)
				}
				return
			}
		}
	}
}

// Forked is a new thread, and what its source had done after the point of the fork.
type Forked struct {
	Thread *runtime.Thread
	After  []runtime.Entry // effects of the source that are done; the fork may do them again, under keys of its own
}

// Fork makes a new thread from an earlier point of another one, which stays as it is: from its first entries up to seq, after which it must have
// been at rest: [runtime.Entry] says where. id is that of the new thread; "" makes one up. The fork is driven at once.
//
// The same fork again, with an id and by the same person, finds the thread that the first one made, however far that has come: so a caller
// who was told CodeUnavailable or CodeUnknown asks again. Any other thread of that id is refused with CodeConflict.
//
// The first commit of a fork repeats its source's entries, under the fork's id and with interrupts of its own: [Engine.Subscribe] and
// [Engine.History] yield messages, questions and answers of the source once more, at new cursors. An entry of a fork is such a copy when its
// Seq is at most seq, which is the Seq of [runtime.Thread.ForkedFrom]; a reader of the log alone finds a [runtime.Fork] in the Value of the
// fork's first entry, of type started, which no other thread's has.
func (e *Engine) Fork(ctx context.Context, source string, seq int64, id, by string) (*Forked, error) {
	if id == "" {
		id = e.cfg.NewID()
	} else if err := checkID(id); err != nil {
		return nil, err
	}
	if e.closing.Load() {
		return nil, refuse(runtime.CodeUnavailable, "fork thread "+source, errClosing)
	}
	t, err := e.load(ctx, source)
	if err != nil {
		return nil, err
	}
	interrupts, err := e.interrupts(ctx, source)
	if err != nil {
		return nil, err
	}
	find := func(id string) *runtime.Interrupt { return interrupts[id] }
	c, after, err := runtime.ForkAt(id, t, e.logOf(ctx, source), find, seq, &e.rules, by, e.clock.Now())
	if err != nil {
		return nil, err
	}
	if c.Thread.Status() == runtime.StatusRunning {
		c.Drive(e.process, e.clock.Now().Add(e.cfg.Lease))
	}
	c.Finish()
	if err = e.commit(ctx, "fork thread "+source, c); runtime.CodeOf(err) == runtime.CodeConflict {
		c.Thread, err = e.forked(ctx, c.Thread, by, err)
	}
	if err != nil {
		return nil, err
	}
	return &Forked{Thread: c.Thread, After: after}, nil
}

// forked returns the thread that has the id of a fork already, where just this fork made it, and the conflict where something else did.
func (e *Engine) forked(ctx context.Context, fork *runtime.Thread, by string, conflict error) (*runtime.Thread, error) {
	t, err := e.store.Load(ctx, fork.ID)
	if err != nil {
		return nil, err
	}
	first, err := e.store.Log(ctx, runtime.LogQuery{Thread: t.ID, Limit: 1})
	if err != nil {
		return nil, err
	}
	if from := t.ForkedFrom; from == nil || *from != *fork.ForkedFrom || len(first) == 0 || first[0].Name != by {
		return nil, conflict
	}
	return t, nil
}

// logOf yields the whole log of a thread, page by page.
func (e *Engine) logOf(ctx context.Context, thread string) iter.Seq2[runtime.Entry, error] {
	return func(yield func(runtime.Entry, error) bool) {
		for q := (runtime.LogQuery{Thread: thread, Limit: 1000}); ; {
			rows, err := e.store.Log(ctx, q)
			if err != nil {
				yield(runtime.Entry{}, err)
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

// interrupts reads the interrupts of a thread, of every state.
func (e *Engine) interrupts(ctx context.Context, thread string) (map[string]*runtime.Interrupt, error) {
	const page = 1000
	found := map[string]*runtime.Interrupt{}
	q := runtime.InterruptQuery{Thread: thread, ByAge: true, Limit: page}
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
		q.After = &runtime.InterruptMark{ID: rows[len(rows)-1].ID}
	}
}

// bulletin tells those who wait that something was committed. Threads share its channels, so that it stays small; who waits for any thread
// has the last one.
type bulletin struct {
	mu  sync.Mutex
	chs [257]chan struct{}
}

// next returns a channel that is closed at the next publication for a thread, or for any when it is "". Take it before reading the store, so
// that nothing falls in between.
func (b *bulletin) next(thread string) <-chan struct{} {
	at := b.place(thread)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.chs[at] == nil {
		b.chs[at] = make(chan struct{})
	}
	return b.chs[at]
}

func (b *bulletin) place(thread string) int {
	if thread == "" {
		return len(b.chs) - 1
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(thread)) // never fails
	return int(h.Sum32() % uint32(len(b.chs)-1))
}

// publish wakes those who wait for a thread, and those who wait for any; without one it wakes everybody.
func (b *bulletin) publish(thread string) {
	at := b.place(thread)
	b.mu.Lock()
	defer b.mu.Unlock()
	for n := range b.chs {
		if b.chs[n] != nil && (thread == "" || n == at || n == len(b.chs)-1) {
			close(b.chs[n])
			b.chs[n] = nil
		}
	}
}

// Stat is what became of the interrupts of one kind, node and answerer. Those of an open circle that nobody has answered have no assignee, so
// they are a row apart from the answered ones: a rate of a kind or a node is made of the sums of its rows.
type Stat struct {
	Kind, Node, Assignee string // Assignee is who answered, or else the first who was asked
	Count                int
	Answered             int
	Expired              int
	Superseded           int           // closed by a more urgent one, or since the step that asked failed
	Clashed              int           // lost a clash, once or more: was queued, or superseded, by a more urgent one; whatever became of it
	Reasked              int           // plain answers that were unclear
	Median, P95          time.Duration // from asking to the answer; 0 when none was answered
}

// Stats counts the interrupts created since a time, in the order of kind, node and assignee. It reads all there are, each once: its cost
// grows with their number.
func (e *Engine) Stats(ctx context.Context, since time.Time) ([]Stat, error) {
	type key struct{ kind, node, assignee string }
	rows := map[key]*Stat{}
	took := map[key][]time.Duration{}
	const page = 1000
	q := runtime.InterruptQuery{ByAge: true, Limit: page, States: []runtime.InterruptState{
		runtime.InterruptOpen, runtime.InterruptQueued, runtime.InterruptAnswered, runtime.InterruptSuperseded, runtime.InterruptCancelled,
		runtime.InterruptExpired,
	}}
	for {
		found, err := e.store.Interrupts(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			q.After = &runtime.InterruptMark{ID: i.ID}
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
			rows[k].count(i)
			if i.State == runtime.InterruptAnswered {
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
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Assignee, b.Assignee))
	})
	return out, nil
}

func (s *Stat) count(i *runtime.Interrupt) {
	s.Count++
	s.Reasked += i.Asks
	if i.Clashes > 0 {
		s.Clashed++
	}
	switch i.State {
	case runtime.InterruptAnswered:
		s.Answered++
	case runtime.InterruptExpired:
		s.Expired++
	case runtime.InterruptSuperseded:
		s.Superseded++
	default: // open, queued or taken back
	}
}
