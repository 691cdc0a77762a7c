package mem

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// copier makes deep copies. A copier that normalizes gives a record the form that it would have
// after it was encoded and decoded: no empty lists, times in UTC, what JSON cannot hold refused. It
// costs far less than encoding. Other copiers copy records that were normalized before. Texts are
// shared, since they are immutable. A copier names every field that refers to memory, and every
// text and time; a test fills records at random and finds what is missing here.
type copier struct {
	normalizes bool
	err        error // what JSON cannot hold, first; a record with it must not be used
	// of the copies of JSON: they are small, and each by itself would cost more than its bytes
	buffer bytes.Buffer
}

// copyChange copies what a change brings, or returns CodeInvalid.
func copyChange(c *thread.Change, out *thread.Change) error {
	// apart: the next record replaces this one, and entries stay
	both := &[2]copier{{normalizes: true}, {normalizes: true}}
	record, by := &both[0], &both[1]
	out.Before, out.Fence, out.Thread = c.Before, c.Fence, record.copyThread(c.Thread)
	if c.Copied != nil {
		for e, err := range c.Copied {
			if err != nil {
				return err
			}
			by.copyEntry(&e)
			out.Entries = append(out.Entries, e)
		}
	}
	if entries := copyList(c.Entries, by.copyEntry); out.Entries == nil {
		out.Entries = entries
	} else {
		out.Entries = append(out.Entries, entries...)
	}
	out.Interrupts = by.copyInterrupts(c.Interrupts)
	if err := cmp.Or(record.err, by.err); err != nil {
		return runtime.Errorf(runtime.CodeInvalid, "seal", "%w", err)
	}
	return nil
}

func (c *copier) copyThread(from *thread.Thread) *thread.Thread {
	t := *from
	t.Open = nil
	c.checkTexts(&t.ID, &t.User, &t.Fingerprint, &t.FirstFingerprint,
		(*string)(&t.Over), &t.Lease.Owner)
	c.fixTimes(&t.Created, &t.Lease.Until)
	c.copyRaws(&t.Metadata, &t.Result, &t.Previous)
	t.Frames = copyList(t.Frames, c.copyFrame)
	t.Control = copyPointer(t.Control, c.copyControl)
	t.Modify = copyPointer(t.Modify, func(text *string) { c.checkTexts(text) })
	t.EarlyAnswers = copyList(t.EarlyAnswers, c.copyEarlyAnswer)
	t.Reroutes = copyList(t.Reroutes, c.copyReroute)
	t.Failure = copyPointer(t.Failure, c.copyFailure)
	t.ForkedFrom = copyPointer(t.ForkedFrom, func(f *thread.Fork) { c.checkTexts(&f.Thread) })
	return &t
}

func (c *copier) copyFrame(f *thread.Frame) {
	c.checkTexts(&f.ID, &f.Parent, &f.Machine, &f.Name, &f.PC, (*string)(&f.State), &f.HeldBy,
		&f.RouteTo)
	c.fixTimes(&f.Until)
	c.copyRaws(&f.Input, &f.Locals, &f.Context)
	f.Visits = c.copyCounts(f.Visits)
	f.Attempts = copyList(f.Attempts, c.copyAttempt)
	f.Effects = copyList(f.Effects, c.copyEffect)
	f.Replies = copyList(f.Replies, c.copyReply)
	f.Children = copyList(f.Children, c.copyChild)
}

func (c *copier) copyControl(o *thread.Control) {
	c.checkTexts(&o.Mode, &o.By, &o.Reason, &o.Interrupt)
	c.fixTimes(&o.At)
}

func (c *copier) copyEarlyAnswer(l *thread.EarlyAnswer) {
	c.checkTexts(&l.Name, &l.By, &l.Request)
	c.copyRaw(&l.Value, true)
}

func (c *copier) copyReroute(r *thread.Reroute) {
	c.checkTexts(&r.ID, &r.Frame, &r.Target, &r.State, &r.By)
	c.copyRaw(&r.Event, true)
}

func (c *copier) copyFailure(f *thread.Failure) { c.checkTexts((*string)(&f.Code), &f.Text) }

func (c *copier) copyAttempt(a *thread.Attempt) {
	c.checkTexts((*string)(&a.Code), &a.Text)
	c.fixTimes(&a.At)
}

func (c *copier) copyEffect(e *thread.Effect) {
	c.checkTexts(&e.Name, &e.State)
	c.copyRaws(&e.Value)
}

func (c *copier) copyReply(r *thread.Reply) {
	c.checkTexts(&r.Name, &r.Interrupt, &r.Digest, &r.By, &r.RouteTo)
	c.copyRaws(&r.Value)
}

func (c *copier) copyChild(o *thread.Child) {
	c.checkTexts(&o.Frame, &o.Name)
	c.copyRaws(&o.Value)
	o.Failure = copyPointer(o.Failure, c.copyFailure)
}

func (c *copier) copyEntry(e *thread.Entry) {
	if c.normalizes {
		e.Opened, e.Thread, e.Cursor = nil, "", 0
	}
	c.checkTexts((*string)(&e.Type), &e.By, &e.Frame, &e.Parent, &e.Machine, &e.Name, &e.PC,
		&e.State, &e.Kind, &e.Interrupt, &e.Other, &e.RouteTo, &e.Text, &e.Request)
	c.fixTimes(&e.At, &e.Until)
	c.copyRaws(&e.Value)
	e.Failure = copyPointer(e.Failure, c.copyFailure)
}

func (c *copier) copyInterrupts(from []*thread.Interrupt) []*thread.Interrupt {
	return copyList(from, func(i **thread.Interrupt) { *i = copyPointer(*i, c.copyInterrupt) })
}

func (c *copier) copyInterrupt(i *thread.Interrupt) {
	c.checkTexts(&i.ID, &i.Thread, &i.Frame, &i.Node, &i.Step, &i.Kind, (*string)(&i.State),
		&i.Digest,
		&i.EscalatedTo, &i.AskedFor, &i.ClaimedBy, &i.RouteTo,
		&i.AnsweredBy, &i.Request, &i.SupersededBy)
	c.fixTimes(&i.Created, &i.Due, &i.RemindAt, &i.ClosedAt, &i.ClaimedUntil)
	c.copyRaws(&i.Context, &i.Answer)
	i.Votes = copyList(i.Votes, c.copyVote)
	c.copyQuestion(&i.Question)
}

func (c *copier) copyQuestion(q *thread.Question) {
	q.Kind, q.Asker = "", ""
	c.checkTexts(&q.Name, &q.Text, &q.Type, &q.Plain, &q.Language)
	c.copyRaws(&q.Payload, &q.Schema)
	q.Choices = copyList(q.Choices, c.copyChoice)
	q.Targets = copyList(q.Targets, func(text *string) { c.checkTexts(text) })
	q.Assignees = copyList(q.Assignees, func(text *string) { c.checkTexts(text) })
	q.Deadline = copyPointer(q.Deadline, func(d *runtime.Deadline) {
		c.checkTexts(&d.Then, &d.Answer, &d.Assignee, &d.Target)
	})
}

func (c *copier) copyChoice(o *thread.Choice) {
	c.checkTexts(&o.Label, &o.Description)
	c.copyRaws(&o.Value)
}

func (c *copier) copyVote(v *thread.Vote) {
	c.checkTexts(&v.By)
	c.fixTimes(&v.At)
	c.copyRaws(&v.Value)
}

// checkTexts refuses texts that are not UTF-8.
func (c *copier) checkTexts(all ...*string) {
	if !c.normalizes {
		return
	}
	for _, text := range all {
		if !utf8.ValidString(*text) {
			c.err = errors.New("a text is not UTF-8")
		}
	}
}

// fixTimes drops the monotonic clock reading and the time zone. It refuses years that have more
// than four digits.
func (c *copier) fixTimes(all ...*time.Time) {
	if !c.normalizes {
		return
	}
	for _, at := range all {
		*at = at.Round(0).UTC()
		if year := at.Year(); year < 0 || year > 9999 {
			c.err = errors.New("the year of a time has more than four digits")
		}
	}
}

// copyRaw copies JSON. If kept is set, an empty value becomes null.
func (c *copier) copyRaws(all ...*json.RawMessage) {
	for _, raw := range all {
		c.copyRaw(raw, false)
	}
}

// copyRaw copies JSON. Where JSON has a field that is not set, it is null.
func (c *copier) copyRaw(raw *json.RawMessage, kept bool) {
	from := *raw
	switch {
	case c.normalizes && from == nil && kept:
		from = json.RawMessage("null")
	case len(from) == 0 && !kept:
		*raw = nil
		return
	}
	const least = 512
	if c.buffer.Available() < len(from) {
		c.buffer = *bytes.NewBuffer(make([]byte, 0, max(len(from), least)))
	}
	at := c.buffer.Len()
	if !c.normalizes {
		c.buffer.Write(from)
	} else if err := json.Compact(&c.buffer, from); err != nil && c.err == nil {
		c.err = err
	}
	*raw = c.buffer.Bytes()[at:c.buffer.Len():c.buffer.Len()]
}

func (c *copier) copyCounts(from map[string]int) map[string]int {
	if len(from) == 0 {
		return nil
	}
	for name := range from {
		c.checkTexts(&name)
	}
	return maps.Clone(from)
}

// copyList copies a list and what its elements refer to. It returns nil for an empty list.
func copyList[T any](from []T, each func(*T)) []T {
	if len(from) == 0 {
		return nil
	}
	out := slices.Clone(from)
	for n := range out {
		each(&out[n])
	}
	return slices.Clip(out)
}

func copyPointer[T any](from *T, each func(*T)) *T {
	if from == nil {
		return nil
	}
	out := *from
	each(&out)
	return &out
}
