package thread

import (
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"
)

// applyEntry changes the record as the entry says and returns the interrupt that it changed, if
// any. An entry that names something that has ended meanwhile changes nothing. open is the index of
// the record, or nil.
func (t *Thread) applyEntry(e *Entry, open *openIndex) *Interrupt {
	t.Seq = e.Seq
	switch e.Type {
	case EntryStarted:
		t.Created, t.User = e.At, e.By
		if e.Value != nil {
			t.ForkedFrom = new(Fork)
			_ = json.Unmarshal(e.Value, t.ForkedFrom) // written by ForkAt
		}
	case EntryEntered:
		t.addFrame(e)
	case EntryReturned:
		t.removeFrame(e)
	case EntryOver:
		t.Over, t.Result, t.Failure = Status(e.State), e.Value, e.Failure
		t.Frames, t.Control, t.Modify, t.EarlyAnswers, t.Reroutes, t.Previous = nil, nil, nil, nil,
			nil,
			nil
	case EntryEscape, EntryPaused, EntryResumed:
		t.applyControl(e)
	case EntryModified:
		t.Modify = nil
	case EntryHeld:
		early := EarlyAnswer{Name: e.Name, Value: e.Value, By: e.By, Request: e.Request}
		if at := slices.IndexFunc(t.EarlyAnswers, func(l EarlyAnswer) bool {
			return l.Name == e.Name && l.By == e.By
		}); at >= 0 {
			t.EarlyAnswers[at] = early // the last one of a person counts
		} else {
			t.EarlyAnswers = append(t.EarlyAnswers, early)
		}
	case EntryTaken:
		t.EarlyAnswers = slices.DeleteFunc(t.EarlyAnswers, func(l EarlyAnswer) bool {
			return l.Name == e.Name
		})
	case EntryMessage:
	case EntryUpgraded:
		t.applyUpgrade(e)
	case EntryMetadata:
		t.Metadata = e.Value
	case EntryReroute:
		t.applyReroute(e)
	case EntryAsked:
		return t.addInterrupt(e, open)
	case EntryEffect, EntryStepped, EntryShows, EntryCalling, EntryFailed, EntryAgain:
		if f := t.Frame(e.Frame); f != nil {
			f.applyEntry(e)
		}
	case EntryOpened, EntryQueued, EntrySuperseded, EntryAnswered, EntryVoted, EntryReasked,
		EntryExpired, EntryCancelled, EntryClaimed,
		EntryExtended, EntryReminded, EntryEscalated:
		return t.applyToInterrupt(e, open)
	}
	return nil
}

func (t *Thread) addFrame(e *Entry) {
	t.Made++
	made := Frame{
		ID: e.Frame, Parent: e.Parent, Machine: e.Machine, Name: e.Name, PC: e.PC, Visit: 1,
		Input: e.Value, State: FrameReady,
	}
	up := t.Frame(e.Parent)
	switch {
	case e.Other != "":
		if old := t.Frame(e.Other); old != nil {
			made.Context = old.Context
		}
		t.Frames = slices.DeleteFunc(t.Frames, func(f Frame) bool { return f.ID == e.Other })
		if up = t.Frame(e.Parent); up != nil {
			for i := range up.Children {
				if up.Children[i].Frame == e.Other {
					up.Children[i] = Child{Frame: e.Frame, Name: e.Name}
				}
			}
		}
	case up != nil:
		up.Children = append(up.Children, Child{Frame: e.Frame, Name: e.Name})
	default:
		t.Turn++
		t.Previous, t.Result, t.Failure = t.Result, nil, nil
	}
	t.Frames = append(t.Frames, made)
}

// removeFrame removes a frame with all frames below it, and gives its result to its parent.
func (t *Thread) removeFrame(e *Entry) {
	at := t.frameAt(e.Frame)
	if at < 0 {
		return
	}
	parent := t.Frames[at].Parent
	if gone := t.descendants(at); gone != nil {
		t.Frames = slices.DeleteFunc(t.Frames, func(f Frame) bool {
			return f.ID == e.Frame || gone[f.ID]
		})
	} else {
		t.Frames = deleteAt(t.Frames, at)
	}
	up := t.Frame(parent)
	if up == nil {
		t.Result, t.Failure, t.Modify, t.Previous = e.Value, e.Failure, nil, nil
		// an order to pause, and an early answer, are for this turn and not for the next one
		t.Control, t.EarlyAnswers = nil, nil
		return
	}
	if n := up.childIndex(e.Frame); n >= 0 {
		c := &up.Children[n]
		c.Done, c.Value, c.Failure, c.Skipped = true, e.Value, e.Failure, e.State == "skipped"
	}
	if up.State == FrameCalling && up.hasAllResults() {
		up.State = FrameReady
	}
}

// descendants returns the ids of all frames below one; nil when there are none, which is what most
// frames have that end.
func (t *Thread) descendants(at int) (ids map[string]bool) {
	top := t.Frames[at].ID
	if f := &t.Frames[at]; len(f.Children) == 0 && f.Visit <= 1 && len(f.Visits) == 0 {
		return nil // children are forgotten at the next step, and it has seen but one
	}
	for n := at + 1; n < len(t.Frames); n++ { // parents come first
		if f := &t.Frames[n]; f.Parent == top || ids[f.Parent] {
			if ids == nil {
				ids = map[string]bool{}
			}
			ids[f.ID] = true
		}
	}
	return ids
}

// deleteAt removes an element and moves the shorter side: when many are removed, it is mostly one
// after the other from the first.
func deleteAt[T any](s []T, at int) []T {
	if at >= len(s)/2 {
		return slices.Delete(s, at, at+1)
	}
	copy(s[1:at+1], s[:at])
	return s[1:]
}

// childIndex returns the index of the child that a frame was made for, or -1.
func (f *Frame) childIndex(id string) int {
	at, found := sort.Find(len(f.Children), func(n int) int {
		return compareIDs(id, f.Children[n].Frame)
	})
	if !found { // one that took another's place stands where that was
		at = slices.IndexFunc(f.Children, func(c Child) bool { return c.Frame == id })
	}
	return at
}

// hasAllResults reports whether all children have returned. The last one mostly has not.
func (f *Frame) hasAllResults() bool {
	for n := range slices.Backward(f.Children) {
		if !f.Children[n].Done {
			return false
		}
	}
	return true
}

func (t *Thread) applyControl(e *Entry) {
	switch e.Type {
	case EntryEscape:
		if t.Control == nil {
			t.Control = &Control{By: e.By, At: e.At, Reason: e.Text, Mode: e.Name}
			return
		}
		next := *t.Control
		next.Mode = e.Name
		t.Control = &next
	case EntryPaused:
		if t.Control == nil {
			return
		}
		next := *t.Control
		next.Paused, next.Interrupt = true, e.Interrupt
		t.Control = &next
	default:
		t.Control = nil
		if e.Value != nil {
			text := e.Text
			if t.Modify != nil { // no step has taken the earlier one yet: both count
				text = *t.Modify + "\n" + text
			}
			t.Modify = &text
		}
	}
}

func (t *Thread) addInterrupt(e *Entry, open *openIndex) *Interrupt {
	i := e.Opened
	if i == nil {
		return nil
	}
	f := t.Frame(i.Frame)
	switch i.State {
	case InterruptOpen, InterruptQueued:
		t.Open = append(t.Open, i)
		open.addCount(i, 1)
		if f != nil {
			f.State = FrameAsking
			// it is asked again
			f.Replies = slices.DeleteFunc(slices.Clone(f.Replies), func(r Reply) bool {
				return r.Name == i.Name
			})
		}
	default:
		if f != nil {
			open.hold(f, i.SupersededBy)
			t.updateState(f, open)
		}
	}
	return i
}

// applyEntry changes a frame.
func (f *Frame) applyEntry(e *Entry) {
	switch e.Type {
	case EntryEffect:
		if had := f.Effect(e.Name); had != nil {
			had.State, had.Value = e.State, e.Value
			return
		}
		f.Effects = append(f.Effects, Effect{Name: e.Name, State: e.State, Value: e.Value})
	case EntryShows:
		f.Context = e.Value
	case EntryStepped:
		f.enterStep(e)
		f.Locals, f.State = e.Value, FrameReady
	case EntryCalling:
		f.enterStep(e)
		f.Locals, f.State = e.Value, FrameCalling
	case EntryFailed:
		failed := Attempt{At: e.At}
		if e.Failure != nil {
			failed.Code, failed.Text = e.Failure.Code, e.Failure.Text
		}
		f.Attempts = append(f.Attempts, failed)
		f.State, f.HeldBy = FrameReady, ""
		if !e.Until.IsZero() {
			f.State, f.Until = FrameRetrying, e.Until
		}
	default: // EntryAgain
		f.State, f.Until = FrameReady, time.Time{}
		if e.Name != "" { // an order, which the next try by itself does not undo
			f.Forgiven, f.RouteTo = len(f.Attempts), e.RouteTo
		}
		if e.Value != nil { // other input: what was done with the earlier one does not count
			attempts := f.Attempts
			f.enterStep(&Entry{PC: f.PC})
			f.Input, f.Attempts, f.Forgiven = e.Value, attempts, len(attempts)
		}
	}
}

// enterStep enters a step and drops the effects and replies of the step before, unless they are put
// aside or belong to the step that the frame goes back to.
func (f *Frame) enterStep(e *Entry) {
	visits, aside := f.visitsTo(e.PC)+1, asideMark+e.PC+"/"
	switch {
	case e.State == StepAside || e.State == StepHold:
		aside = asideMark + f.PC + "/"
		f.Effects, f.Replies = renameKept(f, "", aside, e.Name, e.State == StepHold)
		// also where there is nothing else
		f.Effects = append(f.Effects, Effect{Name: aside, State: EffectDone})
	case e.State == StepBack && f.Effect(aside) != nil:
		f.Effects, f.Replies = renameKept(f, aside, "", "", true)
		visits--
	case e.PC == f.PC: // the step between begins again
		f.Effects, f.Replies = renameKept(f, asideMark, asideMark, "", true)
	default:
		f.Effects, f.Replies = nil, nil
	}
	if f.PC != e.PC {
		f.Visits = maps.Clone(f.Visits)
		if f.Visits == nil {
			f.Visits = map[string]int{}
		}
		f.Visits[f.PC] = f.Visit
		delete(f.Visits, e.PC)
	}
	f.PC, f.Visit = e.PC, visits
	f.Attempts, f.Forgiven, f.Children = nil, 0, nil
	f.RouteTo = ""
}

// asideMark is before the names of what was put aside.
const asideMark = "aside/"

// renameKept returns the effects and replies whose names begin with a mark, with a prefix in its
// place. Without a mark those that are put aside stay behind, as do messages unless said, and what
// has drop after a slash.
func renameKept(f *Frame, mark, prefix, drop string, said bool) (effects []Effect,
	replies []Reply) {
	rename := func(name string) (string, bool) {
		rest, ok := strings.CutPrefix(name, mark)
		if mark == "" {
			ok = !strings.HasPrefix(name, asideMark) &&
				(said || !strings.HasPrefix(name, "say/")) &&
				(drop == "" || !strings.Contains(name, "/"+drop))
		}
		return prefix + rest, ok
	}
	for _, e := range f.Effects {
		if name, ok := rename(e.Name); ok && name != "" {
			e.Name = name
			effects = append(effects, e)
		}
	}
	for _, r := range f.Replies {
		if name, ok := rename(r.Name); ok {
			r.Name = name
			replies = append(replies, r)
		}
	}
	return effects, replies
}

// applyToInterrupt changes an open or queued interrupt, and what waits for it.
func (t *Thread) applyToInterrupt(e *Entry, open *openIndex) *Interrupt {
	at := slices.IndexFunc(t.Open, func(i *Interrupt) bool { return i.ID == e.Interrupt })
	if at < 0 {
		return nil
	}
	i := *t.Open[at]
	open.addCount(&i, -1)
	i.applyEntry(e)
	t.Open[at] = &i
	if i.State == InterruptOpen || i.State == InterruptQueued {
		open.addCount(&i, 1)
		return &i
	}
	t.Open = deleteAt(t.Open, at)
	if f := t.Frame(i.Frame); f != nil && f.State == FrameAsking {
		if i.State == InterruptAnswered && i.Kind != KindSystemError {
			f.Replies = append(f.Replies, Reply{
				Name: i.Name, Interrupt: i.ID, Digest: i.Digest, Value: i.Answer, By: i.AnsweredBy,
				RouteTo: i.RouteTo,
			})
		}
		if i.State == InterruptSuperseded && i.SupersededBy != "" {
			open.hold(f, i.SupersededBy)
		}
		t.updateState(f, open)
	}
	for n := 0; n < len(t.Frames) && open.mayHold(i.ID); n++ { // those that this interrupt held
		if held := &t.Frames[n]; held.HeldBy == i.ID {
			held.HeldBy = ""
			if held.State == FrameHeld {
				held.State = FrameReady
			}
		}
	}
	return &i
}

// updateState sets what a frame waits for when one of its interrupts has ended: for the others, if
// there are any. A step with several questions runs again only when none is open and nothing holds
// the frame.
func (t *Thread) updateState(f *Frame, open *openIndex) {
	switch {
	case open.asksFor(t, f.ID):
		f.State = FrameAsking
	case f.HeldBy != "":
		f.State = FrameHeld
	default:
		f.State = FrameReady
	}
}

// applyEntry changes an interrupt.
func (i *Interrupt) applyEntry(e *Entry) {
	switch e.Type {
	case EntryOpened:
		i.State = InterruptOpen
		if !e.Until.Equal(i.Due) { // a reminder of a deadline that stays goes out once
			i.Due, i.RemindAt = e.Until, i.reminder(e.Until)
		}
	case EntryQueued:
		i.State = InterruptQueued
		i.Clashes++
	case EntryVoted:
		i.Votes = append(slices.Clip(i.Votes), Vote{By: e.By, Value: e.Value, At: e.At})
	case EntryReasked:
		i.Asks++
	case EntryClaimed:
		i.ClaimedBy, i.ClaimedUntil = e.Name, e.Until
	case EntryExtended:
		i.Due, i.RemindAt = e.Until, i.reminder(e.Until)
	case EntryReminded:
		i.RemindAt = time.Time{}
	case EntryEscalated:
		i.EscalatedTo, i.ClaimedBy, i.Due, i.RemindAt = e.Name, "", e.Until, i.reminder(e.Until)
		i.ClaimedUntil = time.Time{}
	case EntryAnswered:
		i.State, i.Answer, i.RouteTo, i.AnsweredBy, i.Request, i.ClosedAt = InterruptAnswered,
			e.Value, e.RouteTo, e.By, e.Request, e.At
	case EntrySuperseded:
		i.State, i.SupersededBy, i.ClosedAt = InterruptSuperseded, e.Other, e.At
		if e.Other != "" { // else its step failed
			i.Clashes++
		}
	case EntryExpired:
		i.State, i.ClosedAt = InterruptExpired, e.At
	default: // EntryCancelled
		i.State, i.ClosedAt = InterruptCancelled, e.At
	}
}
