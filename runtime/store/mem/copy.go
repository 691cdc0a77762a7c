package mem

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/routegen/routegen/runtime"
)

// copier makes deep copies. Those that it takes are what sealing and unsealing would give, at a small part of the cost, since a record of this store
// is one that has been on a disk: empty lists are none, times are in UTC, as those of records are anyway, texts are UTF-8, and what is no JSON has no
// sealed form. Those that it gives are of records it took. Texts are shared: nobody can write into them. It names every field that refers to
// something, and every text and time; a test fills records with anything, and finds what is forgotten here.
type copier struct {
	takes bool
	err   error // the first JSON that is none; a record with it is not to be used
}

// take copies what a change brings, or refuses it with CodeInvalid.
func take(c *runtime.Change) (*runtime.Change, error) {
	by := &copier{takes: true}
	out := &runtime.Change{Before: c.Before, Fence: c.Fence, Thread: by.thread(c.Thread)}
	if c.Copied != nil {
		for e, err := range c.Copied {
			if err != nil {
				return nil, err
			}
			by.entry(&e)
			out.Entries = append(out.Entries, e)
		}
	}
	out.Entries = append(out.Entries, list(c.Entries, by.entry)...)
	out.Interrupts = by.interrupts(c.Interrupts)
	if by.err != nil {
		return nil, refuse(runtime.CodeInvalid, "seal", by.err)
	}
	return out, nil
}

func (c *copier) thread(from *runtime.Thread) *runtime.Thread {
	t := *from
	t.Open = nil
	c.texts(&t.ID, &t.User, &t.Fingerprint, (*string)(&t.Over), &t.Lease.Owner)
	c.times(&t.Created, &t.Lease.Until)
	c.raws(&t.Metadata, &t.Result, &t.Previous)
	t.Frames = list(t.Frames, c.frame)
	t.Control = pointed(t.Control, c.control)
	t.Modify = pointed(t.Modify, func(text *string) { c.texts(text) })
	t.Mailbox = list(t.Mailbox, c.letter)
	t.Reroutes = list(t.Reroutes, c.reroute)
	t.Failure = pointed(t.Failure, c.failure)
	t.ForkedFrom = pointed(t.ForkedFrom, func(f *runtime.Fork) { c.texts(&f.Thread) })
	return &t
}

func (c *copier) frame(f *runtime.Frame) {
	c.texts(&f.ID, &f.Parent, &f.Machine, &f.Name, &f.PC, (*string)(&f.State), &f.HeldBy, &f.RouteTo)
	c.times(&f.Until)
	c.raws(&f.Input, &f.Locals, &f.Shows)
	f.Visits = c.counts(f.Visits)
	f.Attempts = list(f.Attempts, c.attempt)
	f.Effects = list(f.Effects, c.effect)
	f.Replies = list(f.Replies, c.reply)
	f.Children = list(f.Children, c.child)
}

func (c *copier) control(o *runtime.Control) {
	c.texts(&o.Mode, &o.By, &o.Reason, &o.Interrupt)
	c.times(&o.At)
}

func (c *copier) letter(l *runtime.Letter) {
	c.texts(&l.Name, &l.By, &l.Request)
	c.raw(&l.Value, true)
}

func (c *copier) reroute(r *runtime.Reroute) {
	c.texts(&r.ID, &r.Frame, &r.Target, &r.State, &r.By)
	c.raw(&r.Event, true)
}

func (c *copier) failure(f *runtime.Failure) { c.texts((*string)(&f.Code), &f.Text) }

func (c *copier) attempt(a *runtime.Attempt) {
	c.texts((*string)(&a.Code), &a.Text)
	c.times(&a.At)
}

func (c *copier) effect(e *runtime.Effect) {
	c.texts(&e.Name, &e.State)
	c.raws(&e.Value)
}

func (c *copier) reply(r *runtime.Reply) {
	c.texts(&r.Name, &r.Interrupt, &r.Digest, &r.By, &r.RouteTo)
	c.raws(&r.Value)
}

func (c *copier) child(o *runtime.Child) {
	c.texts(&o.Frame, &o.Name)
	c.raws(&o.Value)
	o.Failure = pointed(o.Failure, c.failure)
}

func (c *copier) entry(e *runtime.Entry) {
	if c.takes {
		e.Opened, e.Thread, e.Cursor = nil, "", 0
	}
	c.texts((*string)(&e.Type), &e.By, &e.Frame, &e.Parent, &e.Machine, &e.Name, &e.PC, &e.State, &e.Kind, &e.Interrupt, &e.Other, &e.RouteTo, &e.Text,
		&e.Request)
	c.times(&e.At, &e.Until)
	c.raws(&e.Value)
	e.Failure = pointed(e.Failure, c.failure)
}

func (c *copier) interrupts(from []*runtime.Interrupt) []*runtime.Interrupt {
	return list(from, func(i **runtime.Interrupt) { *i = pointed(*i, c.interrupt) })
}

func (c *copier) interrupt(i *runtime.Interrupt) {
	c.texts(&i.ID, &i.Thread, &i.Frame, &i.Node, &i.Step, &i.Kind, (*string)(&i.State), &i.Digest, &i.EscalatedTo, &i.AskedFor, &i.ClaimedBy, &i.RouteTo,
		&i.AnsweredBy, &i.Request, &i.SupersededBy)
	c.times(&i.Created, &i.Due, &i.RemindAt, &i.ClosedAt)
	c.raws(&i.Context, &i.Answer)
	i.Votes = list(i.Votes, c.vote)
	c.question(&i.Question)
}

func (c *copier) question(q *runtime.Question) {
	q.Kind, q.Asker = "", ""
	c.texts(&q.Name, &q.Text, &q.Type, &q.Plain, &q.Language)
	c.raws(&q.Payload, &q.Schema)
	q.Choices = list(q.Choices, c.choice)
	q.Targets = list(q.Targets, func(text *string) { c.texts(text) })
	q.Assignees = list(q.Assignees, func(text *string) { c.texts(text) })
	q.Deadline = pointed(q.Deadline, func(d *runtime.Deadline) { c.texts(&d.Then, &d.Answer, &d.Assignee, &d.Target) })
}

func (c *copier) choice(o *runtime.Choice) {
	c.texts(&o.Label, &o.Description)
	c.raws(&o.Value)
}

func (c *copier) vote(v *runtime.Vote) {
	c.texts(&v.By)
	c.times(&v.At)
	c.raws(&v.Value)
}

// texts makes each byte that is none of UTF-8 U+FFFD, as JSON does.
func (c *copier) texts(all ...*string) {
	if !c.takes {
		return
	}
	for _, text := range all {
		if !utf8.ValidString(*text) {
			*text = string([]rune(*text))
		}
	}
}

// times drops the clock reading of this process and the time zone.
func (c *copier) times(all ...*time.Time) {
	if !c.takes {
		return
	}
	for _, at := range all {
		*at = at.Round(0).UTC()
	}
}

func (c *copier) raws(all ...*json.RawMessage) {
	for _, raw := range all {
		c.raw(raw, false)
	}
}

// raw copies JSON. Where the sealed form keeps an empty one, it is null.
func (c *copier) raw(raw *json.RawMessage, kept bool) {
	switch from := *raw; {
	case !c.takes:
		*raw = bytes.Clone(from)
	case len(from) == 0 && !kept:
		*raw = nil
	case from == nil:
		*raw = json.RawMessage("null")
	default:
		out := bytes.NewBuffer(make([]byte, 0, len(from)))
		if err := json.Compact(out, from); err != nil && c.err == nil {
			c.err = err
		}
		*raw = out.Bytes()
	}
}

func (c *copier) counts(from map[string]int) map[string]int {
	if len(from) == 0 {
		return nil
	}
	out := maps.Clone(from)
	for name, n := range from {
		if c.takes && !utf8.ValidString(name) {
			delete(out, name)
			out[string([]rune(name))] = n
		}
	}
	return out
}

// list copies a list and what its elements refer to; an empty one is none.
func list[T any](from []T, each func(*T)) []T {
	if len(from) == 0 {
		return nil
	}
	out := slices.Clone(from)
	for n := range out {
		each(&out[n])
	}
	return slices.Clip(out)
}

func pointed[T any](from *T, each func(*T)) *T {
	if from == nil {
		return nil
	}
	out := *from
	each(&out)
	return &out
}
