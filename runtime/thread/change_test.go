package thread_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

type tester interface {
	require.TestingT
	Helper()
}

// desk keeps one thread as a store would, and holds every change to what all changes promise: the
// source stays as it is, a refusal changes nothing, and the log adds up to the record.
type desk struct {
	t          tester
	rules      thread.Rules
	now        time.Time
	thread     *thread.Thread
	log        []thread.Entry
	interrupts map[string]*thread.Interrupt
	last       *thread.Change
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newDesk starts a thread of the user ann with a root frame f1. Without kinds the default ones
// hold.
func newDesk(t tester, kinds ...runtime.Kind) *desk {
	t.Helper()
	d := &desk{t: t, now: noon, interrupts: map[string]*thread.Interrupt{}}
	if kinds == nil {
		kinds = thread.DefaultKinds()
	}
	made := 0
	d.rules = thread.Rules{Kinds: kinds, Check: checkEnum, NewID: func() string {
		made++
		return "i" + strconv.Itoa(made)
	}}
	d.keep(thread.Start("t", "ann", "print", &d.rules, d.now))
	require.NoError(t, d.try(func(c *thread.Change) error {
		return c.Begin("m", "root", raw(`{"a":1}`), "ann", "")
	}))
	return d
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// checkEnum is the schema check of these tests: {"enum":[...]}.
func checkEnum(schema, value json.RawMessage) error {
	var s struct {
		Enum []json.RawMessage `json:"enum"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return err
	}
	if !slices.ContainsFunc(s.Enum, func(v json.RawMessage) bool {
		return string(v) == string(value)
	}) {
		return &runtime.Error{Code: runtime.CodeInvalid,
			Err: &runtime.InvalidError{Problems: []runtime.Problem{{Reason: "is not legal"}}}}
	}
	return nil
}

// sealed is a record with its interrupts as text, without what no log has.
func (d *desk) sealed(t *thread.Thread) string {
	d.t.Helper()
	out := *t
	out.Lease, out.Fingerprint, out.Version = thread.Lease{}, "", 0
	all, err := runtime.Encode(&out)
	require.NoError(d.t, err)
	for _, i := range t.Open {
		one, err := runtime.Encode(i)
		require.NoError(d.t, err)
		all = append(append(all, '\n'), one...)
	}
	return string(all)
}

// try commits what f decides, unless it refuses.
func (d *desk) try(f func(c *thread.Change) error) error {
	d.t.Helper()
	before := d.sealed(d.thread)
	c := thread.NewChange(d.thread, &d.rules, d.now)
	err := f(c)
	require.Equal(d.t, before, d.sealed(d.thread), "the source of a change has changed")
	if _, unclear := errors.AsType[*thread.UnclearError](err); err != nil && !unclear {
		require.Equal(d.t, before, d.sealed(c.Thread), "a refusal has changed the record")
		require.True(d.t, c.Empty() && len(c.Interrupts) == 0, "a refusal has left entries")
		return err
	}
	if !c.Empty() {
		d.keep(c)
	}
	return err
}

func (d *desk) do(f func(c *thread.Change)) {
	d.t.Helper()
	require.NoError(d.t, d.try(func(c *thread.Change) error { f(c); return nil }))
}

// keep commits a change.
func (d *desk) keep(c *thread.Change) {
	d.t.Helper()
	c.Finish()
	for n, e := range c.Entries {
		require.Equal(d.t, int64(len(d.log)+1), e.Seq)
		require.Equal(d.t, n == len(c.Entries)-1, e.End)
		d.log = append(d.log, e)
	}
	seen := map[string]bool{}
	for _, i := range c.Interrupts {
		require.False(d.t, seen[i.ID], "an interrupt stands twice in a change")
		seen[i.ID] = true
		d.interrupts[i.ID] = i
	}
	for _, i := range c.Thread.Open {
		require.Equal(d.t, d.interrupts[i.ID], i,
			"an interrupt changed without the change saying so")
	}
	d.thread, d.last = c.Thread, c
	d.sound()
	again, err := thread.Replay("t", d.log, func(id string) *thread.Interrupt {
		return d.interrupts[id]
	})
	require.NoError(d.t, err)
	require.Equal(d.t, d.sealed(d.thread), d.sealed(again), "the log does not add up to the record")
}

// sound holds the record to what is always so.
func (d *desk) sound() {
	d.t.Helper()
	open, queued := -1, -1
	asking := map[string]bool{}
	for _, i := range d.thread.Open {
		asking[i.Frame] = true
		// by the table as it is now, whatever it was when it was asked
		_, urgency := d.rules.Kind(i.Kind)
		if i.State == thread.InterruptOpen {
			require.True(d.t, open < 0 || open == urgency,
				"open interrupts of two kinds stand side by side")
			open = urgency
		} else {
			require.Equal(d.t, thread.InterruptQueued, i.State)
			require.Positive(d.t, i.Clashes, "it is queued and lost no clash")
			queued = max(queued, urgency)
		}
		require.True(d.t, d.thread.Frame(i.Frame) != nil || i.Frame == "" &&
			d.thread.Control != nil, "an interrupt outlived what it holds")
	}
	require.True(d.t, queued < 0 || open >= 0 && open < queued,
		"an interrupt is queued behind nothing")
	known := map[string]bool{"": true}
	moves := d.thread.Control != nil || len(d.thread.Frames) == 0
	for _, f := range d.thread.Frames {
		require.True(d.t, known[f.Parent], "a frame stands before its parent")
		known[f.ID] = true
		require.Equal(d.t, asking[f.ID], f.State == thread.FrameAsking, "%s is %s", f.ID, f.State)
		require.Equal(d.t, f.State == thread.FrameRetrying, !f.Until.IsZero())
		require.True(d.t, f.HeldBy == "" || d.thread.Interrupt(f.HeldBy) != nil,
			"%s is held by what is over", f.ID)
		require.True(d.t, f.State != thread.FrameHeld || f.HeldBy != "")
		require.True(d.t, f.HeldBy == "" || f.State == thread.FrameHeld ||
			f.State == thread.FrameAsking, "%s is held and %s", f.ID, f.State)
		moves = moves || f.State == thread.FrameReady || f.State == thread.FrameRetrying ||
			open >= 0
	}
	require.True(d.t, moves, "nothing will ever move this thread")
	if d.thread.Over != "" {
		require.Empty(d.t, d.thread.Frames)
		require.Empty(d.t, d.thread.Open)
		require.Zero(d.t, d.thread.Wake())
	}
}

// ask opens questions of a frame, and returns the interrupt of the last.
func (d *desk) ask(frame, kind string, questions ...thread.Question) *thread.Interrupt {
	d.t.Helper()
	d.do(func(c *thread.Change) { c.Ask(frame, kind, questions...) })
	return d.interrupts["i"+strconv.Itoa(len(d.interrupts))]
}

func (d *desk) answer(a thread.Answer) (*thread.Interrupt, error) {
	d.t.Helper()
	var got *thread.Interrupt
	err := d.try(func(c *thread.Change) (err error) { got, err = c.Answer(a); return err })
	return got, err
}

// spawn makes children of a frame that waits for them, and returns their ids.
func (d *desk) spawn(parent string, names ...string) []string {
	d.t.Helper()
	var ids []string
	d.do(func(c *thread.Change) {
		c.Add(thread.Entry{Type: thread.EntryCalling, Frame: parent, PC: "join"})
		for _, name := range names {
			ids = append(ids, c.Enter(thread.Frame{Parent: parent, Machine: "m", Name: name}, "",
				""))
		}
	})
	return ids
}

// said lists the types of the entries of the last change.
func (d *desk) said() []thread.EntryType {
	var out []thread.EntryType
	for _, e := range d.last.Entries {
		out = append(out, e.Type)
	}
	return out
}

// state is the state of an interrupt.
func (d *desk) state(id string) thread.InterruptState { return d.interrupts[id].State }

// q is a question of that name.
func q(name string) thread.Question { return thread.Question{Name: name, Text: name + "?"} }

func TestTurns(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	begin := func(c *thread.Change) error { return c.Begin("m", "root", nil, "bob", "") }

	err := d.try(begin)
	assert.Equal(t, runtime.CodeConflict, runtime.CodeOf(err), "a thread has one turn at a time")

	d.do(func(c *thread.Change) { c.Return("f1", raw("7")) })
	assert.Equal(t, thread.StatusIdle, d.thread.Status())
	assert.Equal(t, raw("7"), d.thread.Result)

	require.NoError(t, d.try(begin))
	assert.Equal(t, "f2", d.thread.Root().ID, "a frame id is never used twice")
	assert.Equal(t, 2, d.thread.Turn)
	assert.Nil(t, d.thread.Result, "a result belongs to its turn")

	d.do(func(c *thread.Change) { c.Over(thread.StatusDone, raw(`"end"`), nil, "") })
	assert.Equal(t, runtime.CodeNotWaiting, runtime.CodeOf(d.try(begin)))
	assert.Equal(t, runtime.CodeNotWaiting,
		runtime.CodeOf(d.try(func(c *thread.Change) error { return c.Cancel("ann", "") })))
}

func TestEndingAFrameTakesBackWhatItAsked(t *testing.T) {
	t.Parallel()
	for _, several := range []int{1, 2, 3} {
		t.Run(fmt.Sprintf("with %d questions", several), func(t *testing.T) {
			t.Parallel()
			for _, end := range []struct {
				how   string
				end   func(c *thread.Change) error
				stays thread.InterruptState // of the sibling's question
				want  thread.Status
			}{
				{"its frame returns", func(c *thread.Change) error {
					c.Return("f2", nil)
					return nil
				}, thread.InterruptOpen, thread.StatusWaiting},
				{"its frame fails", func(c *thread.Change) error {
					c.Fail("f2", &thread.Failure{})
					return nil
				}, thread.InterruptOpen, thread.StatusWaiting},
				{"the root returns", func(c *thread.Change) error {
					c.Return("f1", nil)
					return nil
				}, thread.InterruptCancelled, thread.StatusIdle},
				{"the root fails", func(c *thread.Change) error {
					c.Fail("f1", &thread.Failure{})
					return nil
				}, thread.InterruptCancelled, thread.StatusFailed},
				{"the thread is over", func(c *thread.Change) error {
					c.Over(thread.StatusDone, nil, nil, "")
					return nil
				}, thread.InterruptCancelled, thread.StatusDone},
				{"a person cancels", func(c *thread.Change) error {
					return c.Cancel("ann", "why not")
				}, thread.InterruptCancelled, thread.StatusCancelled},
			} {
				d := newDesk(t)
				ids := d.spawn("f1", "asks", "sibling")
				for n := range several {
					d.ask(ids[0], "agent_question", q(strconv.Itoa(n)))
				}
				other := d.ask(ids[1], "agent_question", q("other"))
				require.NoError(t, d.try(end.end))
				for n := range several {
					assert.Equal(t, thread.InterruptCancelled, d.state("i"+strconv.Itoa(n+1)),
						end.how)
				}
				assert.Equal(t, end.stays, d.state(other.ID), end.how)
				assert.Equal(t, end.want, d.thread.Status(), end.how)
			}
		})
	}
}

func TestARootThatEndsTakesThePauseWithIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	require.NoError(t, d.try(func(c *thread.Change) error {
		_, err := c.Escape(thread.EscapeSafe, "ann", "")
		return err
	}))
	d.do(func(c *thread.Change) { c.Return("f1", nil) })
	assert.Equal(t, thread.StatusIdle, d.thread.Status())
	assert.Nil(t, d.thread.Control,
		"the next turn is not paused by an order that was given to this one")

	d = newDesk(t)
	i := d.pause()
	d.do(func(c *thread.Change) { c.Return("f1", nil) })
	assert.Equal(t, thread.StatusIdle, d.thread.Status())
	assert.Equal(t, thread.InterruptCancelled, d.state(i.ID),
		"nobody is asked how to go on with what has ended")
}

func TestTwoChangesOfOneRecordDoNotMeet(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	i := d.ask("f1", "agent_question", q("0"), q("1"), q("2"), q("x"), q("y"))
	for n := range 3 { // an array with room for a fourth
		_, err := d.answer(thread.Answer{Question: strconv.Itoa(n), Value: raw("1")})
		require.NoError(t, err)
	}
	two := [2]*thread.Change{}
	for n := range two {
		two[n] = thread.NewChange(d.thread, &d.rules, d.now)
		_, err := two[n].Answer(thread.Answer{Question: "x", Value: raw(strconv.Itoa(n))})
		require.NoError(t, err)
		_, err = two[n].Answer(thread.Answer{Interrupt: i.ID, Value: raw(strconv.Itoa(n))})
		require.NoError(t, err)
		two[n].Add(thread.Entry{Type: thread.EntryEffect, Frame: "f1", Name: "e",
			State: thread.EffectDone, Value: raw(strconv.Itoa(n))})
	}
	for n, c := range two {
		f := c.Thread.Frame("f1")
		assert.Equal(t, raw(strconv.Itoa(n)), f.Reply("x").Value)
		assert.Equal(t, raw(strconv.Itoa(n)), f.Effect("e").Value)
	}

	d = newDesk(t)
	for range 3 {
		d.do(func(c *thread.Change) {
			c.Add(thread.Entry{Type: thread.EntryFailed, Frame: "f1",
				Failure: &thread.Failure{Text: "before"}})
		})
	}
	for n := range two {
		two[n] = thread.NewChange(d.thread, &d.rules, d.now)
		two[n].Add(thread.Entry{Type: thread.EntryFailed, Frame: "f1",
			Failure: &thread.Failure{Text: strconv.Itoa(n)}})
	}
	for n, c := range two {
		assert.Equal(t, strconv.Itoa(n), c.Thread.Frame("f1").Attempts[3].Text)
	}
}

func TestReplacedFrames(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ids := d.spawn("f1", "a", "b")
	d.do(func(c *thread.Change) {
		c.Replace(ids[0], thread.Frame{Parent: "f1", Machine: "m", Name: "c"})
	})
	root := d.thread.Frame("f1")
	require.Len(t, root.Children, 2)
	assert.Equal(t, thread.Child{Frame: "f4", Name: "c"}, root.Children[0],
		"the new frame has the place of the old one")
	assert.Nil(t, d.thread.Frame(ids[0]))
	d.do(func(c *thread.Change) { c.Return(ids[1], raw("2")); c.Return("f4", raw("1")) })
	assert.Equal(t, thread.FrameReady, d.thread.Frame("f1").State)

	d.do(func(c *thread.Change) { c.Replace("f1", thread.Frame{Machine: "m", Name: "next"}) })
	assert.Equal(t, "next", d.thread.Root().Name)
	assert.Equal(t, 1, d.thread.Turn, "a jump is no new turn")
}

func TestLeases(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	drive := func(owner string) thread.Lease {
		c := thread.NewChange(d.thread, &d.rules, d.now)
		c.TakeLease(owner, d.now.Add(time.Minute+time.Microsecond))
		d.thread = c.Thread
		return c.Thread.Lease
	}
	until := d.now.Add(time.Minute)
	assert.Equal(t, thread.Lease{Owner: "a", Fence: 1, Until: until}, drive("a"))
	assert.Equal(t, thread.Lease{Owner: "a", Fence: 1, Until: until}, drive("a"),
		"the same owner keeps its fence")
	assert.Equal(t, thread.Lease{Owner: "b", Fence: 2, Until: until}, drive("b"),
		"a new owner shuts the old one out")
	c := thread.NewChange(d.thread, &d.rules, d.now)
	c.ReleaseLease()
	assert.Equal(t, thread.Lease{Fence: 2}, c.Thread.Lease, "the fence never goes down")
	assert.Equal(t, thread.Lease{Owner: "b", Fence: 2, Until: until}, d.thread.Lease)
}

func TestAChangeRoundsItsTime(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("x", 3600)
	c := thread.Start("t", "", "", &thread.Rules{},
		time.Date(2026, 3, 1, 13, 0, 0, 1_999_999, zone))
	assert.Equal(t, time.Date(2026, 3, 1, 12, 0, 0, 1_000_000, time.UTC), c.Thread.Created)
	assert.Equal(t, int64(1), c.Thread.Version)
	assert.Equal(t, int64(0), c.Before)
}

func TestReplayRefuses(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.ask("f1", "agent_question", q("x"))
	none := func(string) *thread.Interrupt { return nil }
	_, err := thread.Replay("t", d.log, none)
	require.ErrorContains(t, err, "interrupt i1 is missing")
	assert.Equal(t, runtime.CodeInternal, runtime.CodeOf(err))
	_, err = thread.Replay("t", d.log[1:], none)
	require.ErrorContains(t, err, "entry 2 follows entry 0")
	_, err = thread.Replay("t", nil, none)
	require.NoError(t, err)
}

func TestAnEntryThatNamesNothingChangesNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, kind := range []thread.EntryType{
		thread.EntryEffect, thread.EntryStepped, thread.EntryShows, thread.EntryCalling,
		thread.EntryFailed, thread.EntryAgain,
		thread.EntryReturned, thread.EntryOpened, thread.EntryQueued, thread.EntrySuperseded,
		thread.EntryAnswered, thread.EntryVoted,
		thread.EntryReasked, thread.EntryExpired, thread.EntryCancelled, thread.EntryClaimed,
		thread.EntryExtended, thread.EntryReminded,
		thread.EntryEscalated, thread.EntryMessage, thread.EntryTaken, thread.EntryPaused,
		thread.EntryModified, "of a later version",
	} {
		c := thread.NewChange(d.thread, &d.rules, d.now)
		c.Add(thread.Entry{Type: kind, Frame: "f9", Interrupt: "i9", Name: "x"})
		c.Thread.Seq = d.thread.Seq
		assert.Equal(t, d.sealed(d.thread), d.sealed(c.Thread), kind)
		assert.Empty(t, c.Interrupts, kind)
	}
}
