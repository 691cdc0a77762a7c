package thread

import (
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/routegen/routegen/runtime"
)

// Rules is what decisions on a thread depend on in addition to its record.
type Rules struct {
	Kinds []runtime.Kind // the first wins a clash; [DefaultKinds] has what every program needs
	NewID func() string

	// Check validates an answer against its schema: it returns nil, or CodeInvalid with an
	// InvalidError. Without a value (nil) it checks only the schema. A Check that is nil accepts
	// everything.
	Check func(schema, value json.RawMessage) error

	// keep an answer that comes before its question, until the turn ends, where false refuses it
	HoldEarly bool

	// Turns reports whether the root frames of a machine are turns of a conversation: one that
	// fails, expires or is cancelled leaves the thread idle. Where it is nil, such a frame ends its
	// thread.
	Turns func(machine string) bool

	// Node returns what the questions of a frame are filed under, but for those that name an asker.
	// Where it is nil, that is the name of the frame.
	Node func(f *Frame) string
}

// isTurn reports whether a frame is the turn of a conversation.
func (r *Rules) isTurn(f *Frame) bool {
	return f != nil && f.Parent == "" && r.Turns != nil && r.Turns(f.Machine)
}

// nodeOf returns what the questions of a frame are filed under.
func (r *Rules) nodeOf(f *Frame) string {
	if r.Node == nil {
		return f.Name
	}
	return r.Node(f)
}

// DefaultKinds are the kinds of a program that declares none: a user escape supersedes what is
// open, the others queue. None has a deadline: what is asked waits for its answer.
func DefaultKinds() []runtime.Kind {
	return []runtime.Kind{
		{Name: KindUserEscape, Clash: "supersede", Choices: []string{"continue", "modify", "cancel",
			"status"}},
		{Name: KindAgentQuestion, Clash: "queue", RouteTo: true},
		{
			Name: KindSystemError, Clash: "queue", Choices: []string{"retry", "edit", "skip",
				"reroute", "abort"},
			Retry: &runtime.Retry{Attempts: 3, Backoff: "exponential", First: time.Second,
				Max: time.Minute},
		},
	}
}

// Kind returns the row of a kind and its priority, the position in the table. An unknown kind has
// the lowest priority and queues.
func (r *Rules) Kind(name string) (runtime.Kind, int) {
	for i := range r.Kinds {
		if r.Kinds[i].Name == name {
			return r.Kinds[i], i
		}
	}
	return runtime.Kind{Name: name, Clash: "queue"}, len(r.Kinds)
}

// Change is one commit in the making: the record as it will be, the entries that lead there, and
// the interrupts they touch. Its methods decide and record; they read no clock and have no other
// effects, so the same record, rules, time and calls give the same change. A method that returns an
// error has changed nothing, except for [UnclearError]. A Change belongs to one goroutine until it
// is committed.
type Change struct {
	Thread  *Thread // after the change; Version is Before+1
	Before  int64   // the version that must be stored; 0: the thread is new
	Fence   int64   // the fence that must be stored; 0: any
	Entries []Entry
	// entries before Entries, read while the change is committed, so that many need no memory; see
	// [ForkAt]
	Copied     iter.Seq2[Entry, error]
	Interrupts []*Interrupt   // new or changed, each once, as they are after
	places     map[string]int // of Interrupts, by id; nil while they are few
	open       *openIndex     // of Thread; nil while the change is of few

	Now   time.Time // in milliseconds, UTC
	rules *Rules
	// who makes the call that is decided
	caller actor
	news   []Entry // of Copied
	ran    bool    // the thread was running before
}

// NewEntries returns the entries that are new to an observer: Entries, and for a fork also its
// first entry, those that ask what is still open, and the one that ended it. The rest of Copied
// happened to its source.
func (c *Change) NewEntries() []Entry {
	if c.Copied == nil {
		return c.Entries
	}
	return append(slices.Clip(c.news), c.Entries...)
}

// NewChange begins a change of a record. The record itself stays as it is.
func NewChange(t *Thread, rules *Rules, now time.Time) *Change {
	c := &Change{Thread: t.cloneRecord(), Before: t.Version, Now: now.UTC().
		Truncate(time.Millisecond),
		rules: rules, ran: t.Status() == StatusRunning}
	c.Thread.Version++
	return c
}

// Start begins the change that makes a thread.
func Start(id, user, fingerprint string, rules *Rules, now time.Time) *Change {
	c := NewChange(&Thread{ID: id, Fingerprint: fingerprint}, rules, now)
	c.Add(Entry{Type: EntryStarted, By: user})
	return c
}

// Begin starts a turn: it makes the root frame. It returns CodeNotWaiting if the thread is over,
// and CodeConflict if it has a turn already.
func (c *Change) Begin(machine, name string, input json.RawMessage, by, request string) error {
	const op = "begin turn"
	switch {
	case c.Thread.Over != "":
		return runtime.Errorf(runtime.CodeNotWaiting, op, "thread %s is %s: start another",
			c.Thread.ID,
			c.Thread.Over)
	case len(c.Thread.Frames) > 0:
		return runtime.Errorf(runtime.CodeConflict, op, "thread %s is %s: answer it, or wait",
			c.Thread.ID, c.Thread.Status())
	}
	c.Enter(Frame{Machine: machine, Name: name, Input: input}, by, request)
	return nil
}

// Enter makes a frame and returns its id. A frame with a parent becomes the next child of it.
func (c *Change) Enter(f Frame, by, request string) string {
	id := "f" + strconv.Itoa(c.Thread.Made+1)
	c.Add(Entry{
		Type: EntryEntered, Frame: id, Parent: f.Parent, Machine: f.Machine, Name: f.Name, PC: f.PC,
		Value: f.Input, By: by, Request: request,
	})
	return id
}

// Replace ends a frame and makes another one in its place, which the parent waits for from then on.
func (c *Change) Replace(old string, f Frame) string {
	id := "f" + strconv.Itoa(c.Thread.Made+1)
	c.Add(Entry{Type: EntryEntered, Frame: id, Other: old, Parent: f.Parent, Machine: f.Machine,
		Name: f.Name, PC: f.PC, Value: f.Input})
	return id
}

// Add records that something happened, and applies it to the record. It happened at c.Now, unless
// the entry has an earlier time.
func (c *Change) Add(e Entry) {
	if e.At = e.At.UTC().Truncate(time.Millisecond); e.At.IsZero() || e.At.After(c.Now) {
		e.At = c.Now
	}
	e.Seq = c.Thread.Seq + 1
	const few = 16
	if c.open == nil && len(c.Entries) > few && len(c.Thread.Open) > few {
		c.open = newOpenIndex(c.Thread)
	}
	if i := c.Thread.applyEntry(&e, c.open); i != nil {
		c.noteInterrupt(i)
	}
	c.Entries = append(c.Entries, e)
}

// noteInterrupt keeps the latest form of a changed interrupt.
func (c *Change) noteInterrupt(i *Interrupt) {
	at := c.placeOf(i.ID)
	if at < 0 {
		at = len(c.Interrupts)
		c.Interrupts = append(c.Interrupts, nil)
		if c.places != nil {
			c.places[i.ID] = at
		}
	}
	c.Interrupts[at] = i
}

// placeOf returns the index of an interrupt in Interrupts, or -1.
func (c *Change) placeOf(id string) int {
	const few = 8
	if len(c.Interrupts) <= few {
		return slices.IndexFunc(c.Interrupts, func(i *Interrupt) bool { return i.ID == id })
	}
	if c.places == nil {
		c.places = make(map[string]int, 2*len(c.Interrupts))
		for at, i := range c.Interrupts {
			c.places[i.ID] = at
		}
	}
	if at, found := c.places[id]; found {
		return at
	}
	return -1
}

// Empty reports whether nothing happened.
func (c *Change) Empty() bool { return len(c.Entries) == 0 && c.Copied == nil }

// Return ends a frame with a value. The thread is idle when it was the root.
func (c *Change) Return(frame string, value json.RawMessage) {
	c.endFrame(frame, value, nil, "", "")
}

// Fail ends a frame with a failure: its parent gets it. A frame without a parent ends its thread,
// which has failed, but for the turn of a conversation, see [Rules.Turns].
func (c *Change) Fail(frame string, failure *Failure) { c.endFrame(frame, nil, failure, "", "") }

// Over ends the thread. Interrupts that are still open are taken back. StatusFailed and
// StatusCancelled end only the turn of a conversation where one runs, see [Rules.Turns]: the thread
// is idle then.
func (c *Change) Over(status Status, value json.RawMessage, failure *Failure, by string) {
	if root := c.Thread.Root(); c.rules.isTurn(root) &&
		(status == StatusFailed || status == StatusCancelled) {
		c.endFrame(root.ID, value, failure, string(status), by)
		return
	}
	for _, i := range slices.Clone(c.Thread.Open) {
		c.Add(Entry{Type: EntryCancelled, Interrupt: i.ID, By: by})
	}
	for _, f := range c.Thread.Frames {
		c.ExpireReroutes(f.ID)
	}
	c.Add(Entry{Type: EntryOver, State: string(status), Value: value, Failure: failure, By: by})
}

// Cancel ends the thread by order of a person. In a conversation, see [Rules.Turns], it ends the
// turn that runs or waits, and the thread only where there is no turn. A thread that is over
// refuses with CodeNotWaiting.
func (c *Change) Cancel(by, reason string) error {
	if c.Thread.Over != "" {
		return runtime.Errorf(runtime.CodeNotWaiting, "cancel thread",
			"thread %s is %s already", c.Thread.ID, c.Thread.Over)
	}
	var why *Failure
	if reason != "" {
		why = &Failure{Text: reason}
	}
	c.Over(StatusCancelled, nil, why, by)
	return nil
}

// endFrame removes a frame, its open interrupts and everything below it.
func (c *Change) endFrame(id string, value json.RawMessage, failure *Failure, state, by string) {
	at := c.Thread.frameAt(id)
	if at < 0 {
		return
	}
	below := c.Thread.descendants(at)
	for n := at; n < len(c.Thread.Frames) && len(c.Thread.Reroutes) > 0; n++ {
		if f := c.Thread.Frames[n].ID; f == id || below[f] {
			c.ExpireReroutes(f)
		}
	}
	root := c.Thread.Frames[at].Parent == ""
	for _, i := range slices.Clone(c.Thread.Open) {
		// with the root also a pause ends: there is nothing to hold
		if root || i.Frame == id || below[i.Frame] {
			c.Add(Entry{Type: EntryCancelled, Interrupt: i.ID, By: by})
		}
	}
	turn := c.rules.isTurn(&c.Thread.Frames[at])
	c.Add(Entry{Type: EntryReturned, Frame: id, Value: value, Failure: failure, State: state,
		By: by})
	if root && failure != nil && !turn {
		c.Over(StatusFailed, nil, failure, by)
	}
	c.openQueued()
}

// TakeLease gives the thread to an engine until a time. The fence goes up if the owner changes.
func (c *Change) TakeLease(owner string, until time.Time) {
	l := &c.Thread.Lease
	if l.Owner != owner {
		l.Owner = owner
		l.Fence++
	}
	l.Until = until.UTC().Truncate(time.Millisecond)
}

// ReleaseLease gives the lease back. The fence stays.
func (c *Change) ReleaseLease() { c.Thread.Lease = Lease{Fence: c.Thread.Lease.Fence} }

// awaitDriver leaves a running thread without a lease to the engine that takes it next. A thread
// that begins to run gets a new fence, so that no two times of waiting have the same.
func (c *Change) awaitDriver() {
	l := &c.Thread.Lease
	if !c.ran {
		l.Fence++
	}
	l.Until = c.Now
}

// revokeLease takes the lease from an engine that no longer renews it.
func (c *Change) revokeLease() {
	l := &c.Thread.Lease
	*l = Lease{Fence: l.Fence + 1, Until: c.Now, Takeovers: l.Takeovers + 1}
}

// MarkRest marks the last entry as one after which the thread was at rest: a decision ended there
// and no other had begun. A fork may begin after such an entry.
func (c *Change) MarkRest() {
	if n := len(c.Entries); n > 0 {
		c.Entries[n-1].Rest = true
	}
}

// Finish marks the end of the commit. The engine calls it once, before the store gets the change.
func (c *Change) Finish() {
	if n := len(c.Entries); n > 0 {
		c.Entries[n-1].End, c.Entries[n-1].Rest = true, true
	}
}
