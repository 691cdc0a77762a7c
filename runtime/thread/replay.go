package thread

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"time"

	"github.com/routegen/routegen/runtime"
)

// Replay returns what entries add up to: the record as it was after the last of them, without its
// lease. interrupt finds the interrupts the entries name, in whatever state they are now. Entries
// that are not the beginning of a log are refused with CodeInternal.
func Replay(id string, entries []Entry, interrupt func(id string) *Interrupt) (*Thread, error) {
	t := &Thread{ID: id}
	for n := range entries {
		if err := t.replayEntry(entries[n], interrupt); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *Thread) replayEntry(e Entry, interrupt func(id string) *Interrupt) error {
	op := "replay thread " + t.ID
	if e.Seq != t.Seq+1 {
		return runtime.Errorf(runtime.CodeInternal, op, "entry %d follows entry %d", e.Seq, t.Seq)
	}
	if e.Type == EntryAsked {
		now := interrupt(e.Interrupt)
		if now == nil {
			return runtime.Errorf(runtime.CodeInternal, op, "%s",
				"interrupt "+e.Interrupt+" is missing")
		}
		e.Opened = now.asAsked(InterruptState(e.State), e.Until)
	}
	t.applyEntry(&e, nil)
	if e.End {
		t.Version++
	}
	return nil
}

// ForkAt begins the change that makes a new thread out of the first entries of another one: the
// record as it was after entry at, with the same frames, effects and answers, and interrupts of its
// own. at must be an entry at which the thread was at rest (Rest or End). Refused with CodeInvalid
// otherwise. What is open in the fork has a deadline of its own, from its policy and counted from
// now; one that was set by hand holds where it is still to come.
//
// entries yields the whole log of the source, as often as it is walked. It is walked here, and each
// time the change is committed: the copies are in Change.Copied and never all in memory. An error
// that it yields is returned.
//
// after lists the effects that the source began later, each with its latest state: they happened,
// or may have, and the fork may do them again under keys of its own. Answers that the source got
// later are not handed to the fork.
func ForkAt(id string, source *Thread, entries iter.Seq2[Entry, error],
	interrupt func(id string) *Interrupt, at int64, rules *Rules, by string,
	now time.Time,
) (c *Change, after []Entry, err error) {
	op := "fork thread " + source.ID
	c = NewChange(&Thread{ID: id, Fingerprint: cmp.Or(source.FirstFingerprint,
		source.Fingerprint)}, rules, now)
	f := forkCopier{ids: map[string]string{}, newID: rules.NewID, by: by}
	_, name := SplitID(source.ID)
	f.origin, _ = runtime.Encode(Fork{Thread: name, Seq: at}) // cannot fail: text and a number
	rested := false
	var later laterEffects
	for e, err := range entries {
		switch {
		case err != nil:
			return nil, nil, err
		case e.Seq > at:
			later.addEffect(e)
			continue
		}
		rested = e.Seq == at && (e.End || e.Rest)
		var opened *Interrupt
		if e.Type == EntryAsked {
			now := interrupt(e.Interrupt)
			if now == nil {
				return nil, nil, runtime.Errorf(runtime.CodeInternal, op,
					"%s", "interrupt "+e.Interrupt+" is missing")
			}
			opened = now.asAsked(InterruptState(e.State), e.Until)
			opened.ID, opened.Thread, opened.SupersededBy = f.renameID(opened.ID), id,
				f.renameID(opened.SupersededBy)
		}
		e = f.copyEntry(e)
		e.Opened = opened
		if i := c.Thread.applyEntry(&e, nil); i != nil {
			c.noteInterrupt(i)
		}
		if e.Type == EntryStarted || e.Type == EntryOver || opened != nil {
			c.news = append(c.news, e)
		}
	}
	c.news = slices.DeleteFunc(c.news, func(e Entry) bool {
		return e.Opened != nil && c.Thread.Interrupt(e.Interrupt) == nil
	})
	if !rested {
		return nil, nil, runtime.Errorf(runtime.CodeInvalid, op,
			"the thread was not at rest after entry %d: use one whose rest or end is true", at)
	}
	c.Copied = func(yield func(Entry, error) bool) {
		for e, err := range entries {
			if e.Seq > at && err == nil {
				return
			}
			e = f.copyEntry(e)
			e.End = e.Seq == at && len(c.Entries) == 0
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
	c.renewDeadlines(by)
	return c, later.unfinished(), nil
}

// forkCopier copies the entries of a thread for another one.
type forkCopier struct {
	ids    map[string]string // of interrupts, by those of the source
	newID  func() string
	origin json.RawMessage
	by     string
}

func (f *forkCopier) renameID(old string) string {
	if old == "" {
		return ""
	}
	if f.ids[old] == "" {
		f.ids[old] = f.newID()
	}
	return f.ids[old]
}

func (f *forkCopier) copyEntry(e Entry) Entry {
	if e.Type == EntryStarted {
		e.Value, e.Name = f.origin, f.by
	}
	// there it is a frame, and frames keep their ids, or a fingerprint
	if e.Type != EntryEntered && e.Type != EntryUpgraded {
		e.Other = f.renameID(e.Other)
	}
	e.Interrupt, e.Rest, e.End = f.renameID(e.Interrupt), e.Rest || e.End, false
	e.Thread, e.Cursor, e.Request = "", 0, "" // the requests were the source's
	return e
}

// renewDeadlines gives the open interrupts of a fork new deadlines: those of the source may be long
// over.
func (c *Change) renewDeadlines(by string) {
	for _, i := range slices.Clone(c.Thread.Open) {
		due := c.dueOf(i)
		// a queued one gets its own when its turn comes
		if i.State == InterruptOpen && !due.Equal(i.Due) {
			c.Add(Entry{Type: EntryExtended, Interrupt: i.ID, Until: due, By: by})
		}
	}
}

// laterEffects keeps the latest entry of every effect, in the order they began.
type laterEffects struct {
	entries []Entry
	begun   map[[2]string]int // those that are not done, by frame and name
}

func (l *laterEffects) addEffect(e Entry) {
	if e.Type != EntryEffect {
		return
	}
	if l.begun == nil {
		l.begun = map[[2]string]int{}
	}
	key := [2]string{e.Frame, e.Name}
	at, found := l.begun[key]
	if found {
		l.entries[at] = e
	} else {
		at = len(l.entries)
		l.entries = append(l.entries, e)
	}
	if l.begun[key] = at; e.State == EffectDone {
		delete(l.begun, key)
	}
}

// unfinished leaves out those that are known to have failed.
func (l *laterEffects) unfinished() []Entry {
	return slices.DeleteFunc(l.entries, func(e Entry) bool { return e.State == EffectFailed })
}
