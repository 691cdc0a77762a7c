package runtime

import (
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"
)

// apply changes the record as the entry says and returns the interrupt that it changed, if any. It is total: an entry that names what is
// not there changes nothing, since what it spoke of ended meanwhile.
func (t *Thread) apply(e *Entry) *Interrupt {
	t.Seq = e.Seq
	switch e.Type {
	case EntryStarted:
		t.Created, t.User = e.At, e.By
		if e.Value != nil {
			t.ForkedFrom = new(Fork)
			_ = json.Unmarshal(e.Value, t.ForkedFrom) // our own bytes
		}
	case EntryEntered:
		t.enter(e)
	case EntryReturned:
		t.leave(e)
	case EntryOver:
		t.Over, t.Result, t.Failure = Status(e.State), e.Value, e.Failure
		t.Frames, t.Control, t.Modify, t.Mailbox, t.Reroutes, t.Previous = nil, nil, nil, nil, nil, nil
	case EntryEscape, EntryPaused, EntryResumed:
		t.control(e)
	case EntryModified:
		t.Modify = nil
	case EntryHeld:
		letter := Letter{Name: e.Name, Value: e.Value, By: e.By, Request: e.Request}
		if at := slices.IndexFunc(t.Mailbox, func(l Letter) bool { return l.Name == e.Name && l.By == e.By }); at >= 0 {
			t.Mailbox[at] = letter // of one giver the last counts
		} else {
			t.Mailbox = append(t.Mailbox, letter)
		}
	case EntryTaken:
		t.Mailbox = slices.DeleteFunc(t.Mailbox, func(l Letter) bool { return l.Name == e.Name })
	case EntryMessage:
	case EntryMetadata:
		t.Metadata = e.Value
	case EntryReroute:
		t.reroute(e)
	case EntryAsked:
		return t.ask(e)
	case EntryEffect, EntryStepped, EntryShows, EntryCalling, EntryFailed, EntryAgain:
		if f := t.Frame(e.Frame); f != nil {
			f.apply(e)
		}
	case EntryOpened, EntryQueued, EntrySuperseded, EntryAnswered, EntryVoted, EntryReasked, EntryExpired, EntryCancelled, EntryClaimed,
		EntryExtended, EntryReminded, EntryEscalated:
		return t.interrupt(e)
	}
	return nil
}

func (t *Thread) enter(e *Entry) {
	t.Made++
	made := Frame{
		ID: e.Frame, Parent: e.Parent, Machine: e.Machine, Name: e.Name, PC: e.PC, Visit: 1, Input: e.Value, State: FrameReady,
	}
	up := t.Frame(e.Parent)
	switch {
	case e.Other != "":
		if old := t.Frame(e.Other); old != nil {
			made.Shows = old.Shows
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

// leave removes a frame with all below it, and hands what it returned to its parent.
func (t *Thread) leave(e *Entry) {
	at := t.frameAt(e.Frame)
	if at < 0 {
		return
	}
	parent := t.Frames[at].Parent
	if gone := t.below(at); gone != nil {
		t.Frames = slices.DeleteFunc(t.Frames, func(f Frame) bool { return f.ID == e.Frame || gone[f.ID] })
	} else {
		t.cut(at)
	}
	up := t.Frame(parent)
	if up == nil {
		t.Result, t.Failure, t.Modify, t.Previous = e.Value, e.Failure, nil, nil
		t.Control, t.Mailbox = nil, nil // an order to pause, and an early answer, are for this turn and not for the next one
		return
	}
	if n := up.childAt(e.Frame); n >= 0 {
		c := &up.Children[n]
		c.Done, c.Value, c.Failure, c.Skipped = true, e.Value, e.Failure, e.State == "skipped"
	}
	if up.State == FrameCalling && up.collected() {
		up.State = FrameReady
	}
}

// below returns the ids of all frames below one; nil when there are none, which is what most frames have that end.
func (t *Thread) below(at int) (ids map[string]bool) {
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

// cut removes one frame. The shorter side moves: of many siblings that end in the order they began, only their parent does.
func (t *Thread) cut(at int) {
	if at >= len(t.Frames)/2 {
		t.Frames = slices.Delete(t.Frames, at, at+1)
		return
	}
	copy(t.Frames[1:at+1], t.Frames[:at])
	t.Frames = t.Frames[1:]
}

// childAt returns the index of the child that a frame was made for, or -1.
func (f *Frame) childAt(id string) int {
	at, found := sort.Find(len(f.Children), func(n int) int { return byAge(id, f.Children[n].Frame) })
	if !found { // one that took another's place stands where that was
		at = slices.IndexFunc(f.Children, func(c Child) bool { return c.Frame == id })
	}
	return at
}

// collected reports whether all children have returned. The last one mostly has not.
func (f *Frame) collected() bool {
	for n := range slices.Backward(f.Children) {
		if !f.Children[n].Done {
			return false
		}
	}
	return true
}

func (t *Thread) control(e *Entry) {
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
			if t.Modify != nil { // nobody has taken the former one yet: both count
				text = *t.Modify + "\n" + text
			}
			t.Modify = &text
		}
	}
}

func (t *Thread) ask(e *Entry) *Interrupt {
	i := e.Opened
	if i == nil {
		return nil
	}
	f := t.Frame(i.Frame)
	switch i.State {
	case InterruptOpen, InterruptQueued:
		t.Open = append(t.Open, i)
		if f != nil {
			f.State = FrameAsking
			f.Replies = slices.DeleteFunc(slices.Clone(f.Replies), func(r Reply) bool { return r.Name == i.Name }) // it is asked anew
		}
	default:
		if f != nil {
			f.HeldBy = i.SupersededBy
			t.settle(f)
		}
	}
	return i
}

// apply changes a frame.
func (f *Frame) apply(e *Entry) {
	switch e.Type {
	case EntryEffect:
		if had := f.Effect(e.Name); had != nil {
			had.State, had.Value = e.State, e.Value
			return
		}
		f.Effects = append(f.Effects, Effect{Name: e.Name, State: e.State, Value: e.Value})
	case EntryShows:
		f.Shows = e.Value
	case EntryStepped:
		f.goTo(e)
		f.Locals, f.State = e.Value, FrameReady
	case EntryCalling:
		f.goTo(e)
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
		if e.Value != nil { // other input: what was done with the former one does not count
			attempts := f.Attempts
			f.goTo(&Entry{PC: f.PC})
			f.Input, f.Attempts, f.Forgiven = e.Value, attempts, len(attempts)
		}
	}
}

// goTo enters a step, and drops what the former one kept, unless that goes aside or is what the frame goes back to.
func (f *Frame) goTo(e *Entry) {
	visits, aside := f.visitsOf(e.PC)+1, asideMark+e.PC+"/"
	switch {
	case e.State == StepAside:
		aside = asideMark + f.PC + "/"
		f.Effects, f.Replies = moved(f, "", aside, e.Name)
		f.Effects = append(f.Effects, Effect{Name: aside, State: EffectDone}) // also where there is nothing else
	case e.State == StepBack && f.Effect(aside) != nil:
		f.Effects, f.Replies = moved(f, aside, "", "")
		visits--
	case e.PC == f.PC: // the step between begins anew
		f.Effects, f.Replies = moved(f, asideMark, asideMark, "")
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

// moved returns the effects and replies whose names begin with a mark, with a prefix in its place. Without a mark those that are put aside stay
// behind, as do messages and what has drop after a slash.
func moved(f *Frame, mark, prefix, drop string) (effects []Effect, replies []Reply) {
	rename := func(name string) (string, bool) {
		rest, ok := strings.CutPrefix(name, mark)
		if mark == "" {
			ok = !strings.HasPrefix(name, asideMark) && !strings.HasPrefix(name, "say/") && (drop == "" || !strings.Contains(name, "/"+drop))
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

// interrupt changes an open or queued interrupt, and what waits for it.
func (t *Thread) interrupt(e *Entry) *Interrupt {
	at := slices.IndexFunc(t.Open, func(i *Interrupt) bool { return i.ID == e.Interrupt })
	if at < 0 {
		return nil
	}
	i := *t.Open[at]
	i.apply(e)
	t.Open[at] = &i
	if i.State == InterruptOpen || i.State == InterruptQueued {
		return &i
	}
	t.Open = slices.Delete(t.Open, at, at+1)
	if f := t.Frame(i.Frame); f != nil && f.State == FrameAsking {
		if i.State == InterruptAnswered && i.Kind != KindSystemError {
			f.Replies = append(f.Replies, Reply{
				Name: i.Name, Interrupt: i.ID, Digest: i.Digest, Value: i.Answer, By: i.AnsweredBy, RouteTo: i.RouteTo,
			})
		}
		if i.State == InterruptSuperseded && i.SupersededBy != "" {
			f.HeldBy = i.SupersededBy
		}
		t.settle(f)
	}
	for n := range t.Frames { // those that this interrupt held
		if held := &t.Frames[n]; held.HeldBy == i.ID {
			held.HeldBy = ""
			if held.State == FrameHeld {
				held.State = FrameReady
			}
		}
	}
	return &i
}

// settle says what a frame waits for when one of its interrupts has ended: for the others, first of all. A step with several questions runs
// again only when none is left, and nothing holds it.
func (t *Thread) settle(f *Frame) {
	switch {
	case slices.ContainsFunc(t.Open, func(i *Interrupt) bool { return i.Frame == f.ID }):
		f.State = FrameAsking
	case f.HeldBy != "":
		f.State = FrameHeld
	default:
		f.State = FrameReady
	}
}

// apply changes an interrupt.
func (i *Interrupt) apply(e *Entry) {
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
		i.ClaimedBy = e.Name
	case EntryExtended:
		i.Due, i.RemindAt = e.Until, i.reminder(e.Until)
	case EntryReminded:
		i.RemindAt = time.Time{}
	case EntryEscalated:
		i.EscalatedTo, i.ClaimedBy, i.Due, i.RemindAt = e.Name, "", e.Until, i.reminder(e.Until)
	case EntryAnswered:
		i.State, i.Answer, i.RouteTo, i.AnsweredBy, i.Request, i.ClosedAt = InterruptAnswered, e.Value, e.RouteTo, e.By, e.Request, e.At
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
