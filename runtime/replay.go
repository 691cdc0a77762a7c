package runtime

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Replay returns what entries add up to: the record as it was after the last of them, without its lease. interrupt finds the interrupts the
// entries name, in whatever state they are now. Entries that are not the beginning of a log are refused with CodeInternal.
func Replay(id string, entries []Entry, interrupt func(id string) *Interrupt) (*Thread, error) {
	t := &Thread{ID: id}
	for n := range entries {
		if err := t.replay(entries[n], interrupt); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *Thread) replay(e Entry, interrupt func(id string) *Interrupt) error {
	op := "replay thread " + t.ID
	if e.Seq != t.Seq+1 {
		return refuse(CodeInternal, op, fmt.Errorf("entry %d follows entry %d", e.Seq, t.Seq))
	}
	if e.Type == EntryAsked {
		now := interrupt(e.Interrupt)
		if now == nil {
			return refuse(CodeInternal, op, errors.New("interrupt "+e.Interrupt+" is missing"))
		}
		e.Opened = now.asked(InterruptState(e.State), e.Until)
	}
	t.apply(&e)
	if e.End {
		t.Version++
	}
	return nil
}

// ForkAt begins the change that makes a new thread out of the first entries of another one: the record as it was after entry at, with the
// same frames, effects and answers, and interrupts of its own. entries is the whole log of the source; at must be an entry at which the
// thread was at rest (Rest or End). Refused with CodeInvalid otherwise. What is open in the fork has a deadline of its own, from its policy and counted from now; one that was set by hand
// holds where it is still to come.
//
// after lists the effects that the source began later, each with its latest state: they happened, or may have, and the fork may do them
// again under keys of its own. Answers that
// the source got later are not handed to the fork.
func ForkAt(id string, source *Thread, entries []Entry, interrupt func(id string) *Interrupt, at int64, rules *Rules, by string, now time.Time,
) (c *Change, after []Entry, err error) {
	op := "fork thread " + source.ID
	if at < 1 || at > int64(len(entries)) || !(entries[at-1].End || entries[at-1].Rest) {
		return nil, nil, refuse(CodeInvalid, op, fmt.Errorf("the thread was not at rest after entry %d: use one whose rest or end is true", at))
	}
	c = NewChange(&Thread{ID: id, Fingerprint: source.Fingerprint}, rules, now)
	ids := map[string]string{}
	renamed := func(old string) string {
		if old == "" {
			return ""
		}
		if ids[old] == "" {
			ids[old] = rules.NewID()
		}
		return ids[old]
	}
	origin, _ := Encode(Fork{Thread: source.ID, Seq: at}) // cannot fail: text and a number
	for _, e := range entries[:at] {
		if e.Type == EntryStarted {
			e.Value, e.Name = origin, by
		}
		var opened *Interrupt
		if e.Type == EntryAsked {
			now := interrupt(e.Interrupt)
			if now == nil {
				return nil, nil, refuse(CodeInternal, op, errors.New("interrupt "+e.Interrupt+" is missing"))
			}
			opened = now.asked(InterruptState(e.State), e.Until)
			opened.ID, opened.Thread, opened.SupersededBy = renamed(opened.ID), id, renamed(opened.SupersededBy)
		}
		if e.Type != EntryEntered { // there it is a frame, and frames keep their ids
			e.Other = renamed(e.Other)
		}
		e.Interrupt, e.Opened, e.End = renamed(e.Interrupt), opened, false
		e.Thread, e.Cursor, e.Request = "", 0, "" // the requests were the source's
		if i := c.Thread.apply(&e); i != nil {
			c.note(i)
		}
		c.Entries = append(c.Entries, e)
	}
	c.renew(by)
	return c, effectsOf(entries[at:]), nil
}

// renew gives the open interrupts of a fork their deadlines anew: those of the source may be long over.
func (c *Change) renew(by string) {
	for _, i := range slices.Clone(c.Thread.Open) {
		due := c.due(i)
		if i.State == InterruptOpen && !due.Equal(i.Due) { // a queued one gets its own when its turn comes
			c.Add(Entry{Type: EntryExtended, Interrupt: i.ID, Until: due, By: by})
		}
	}
}

// effectsOf returns the latest entry of every effect that is not known to have failed, in the order they began.
func effectsOf(entries []Entry) []Entry {
	var out []Entry
	for _, e := range entries {
		if e.Type != EntryEffect {
			continue
		}
		at := slices.IndexFunc(out, func(o Entry) bool { return o.Frame == e.Frame && o.Name == e.Name && o.State != EffectDone })
		if at >= 0 {
			out[at] = e
		} else {
			out = append(out, e)
		}
	}
	return slices.DeleteFunc(out, func(e Entry) bool { return e.State == EffectFailed })
}
