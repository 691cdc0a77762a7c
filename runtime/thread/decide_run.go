package thread

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// runBasis is what a step reads of its thread in addition to its frame.
type runBasis struct {
	turn     int
	user     string
	metadata json.RawMessage
	modify   *string
	reroute  string
}

func basisFor(t *Thread, frame string) runBasis {
	b := runBasis{turn: t.Turn, user: t.User, metadata: t.Metadata, modify: t.Modify}
	if event := t.PendingReroute(frame); event != nil {
		b.reroute = event.ID
	}
	return b
}

// matches reports whether the record still has what the step read. An event that came later does
// not count.
func (b *runBasis) matches(now *runBasis) bool {
	return b.turn == now.turn && b.user == now.user && bytes.Equal(b.metadata, now.metadata) &&
		(b.reroute == "" || b.reroute == now.reroute) &&
		(b.modify == nil) == (now.modify == nil) && (b.modify == nil || *b.modify == *now.modify)
}

// continues reports whether the record still is what the run began on: the same step and visit,
// with the same input, locals, answers and results of children. Only then does the thread take what
// the run did. As long as the record of its beginning is not stored, effects, turn, metadata,
// modification and reroute event must be the same too; later they may change under a running step.
func (r *stepRun) continues(t *Thread) bool {
	f, was := t.Frame(r.frame.ID), &r.frame
	if f == nil || r.record >= stale || f.PC != was.PC || f.Visit != was.Visit ||
		f.RouteTo != was.RouteTo ||
		!bytes.Equal(f.Input, was.Input) || !bytes.Equal(f.Locals, was.Locals) ||
		!slices.EqualFunc(f.Replies, was.Replies, sameReply) ||
		!slices.EqualFunc(f.Children, was.Children, sameChild) {
		return false
	}
	if r.record == stored {
		return true
	}
	// a result that a person has given belongs to the answer that gave it
	for i := range was.Effects {
		began := &was.Effects[i]
		now := f.Effect(began.Name)
		if now == nil || now.State != began.State || !bytes.Equal(now.Value, began.Value) {
			return false
		}
	}
	now := basisFor(t, f.ID)
	return r.began.matches(&now)
}

// awaitsEnd reports whether the frame waits for the end of this run, so that its transition can be
// applied even if others have changed the record meanwhile.
func (r *stepRun) awaitsEnd(t *Thread) bool {
	if !r.continues(t) {
		return false
	}
	f := t.Frame(r.frame.ID)
	return f.State == FrameReady && len(f.Attempts) == len(r.frame.Attempts)
}

// sameReply compares two answers that a step got. The id of the interrupt does not count: a
// question that was answered at once gets another one when its commit is decided again.
func sameReply(a, b Reply) bool {
	return a.Name == b.Name && a.Digest == b.Digest && a.RouteTo == b.RouteTo && a.By == b.By &&
		bytes.Equal(a.Value, b.Value)
}

// sameChild compares what a child returned.
func sameChild(a, b Child) bool {
	failed := func(c *Child) Failure {
		if c.Failure == nil {
			return Failure{}
		}
		return *c.Failure
	}
	return a.Frame == b.Frame && a.Done == b.Done && a.Skipped == b.Skipped &&
		bytes.Equal(a.Value, b.Value) &&
		(a.Failure == nil) == (b.Failure == nil) && failed(&a) == failed(&b)
}

// recordEffects adds to a change what the run has done, if the run continues the record. Effects of
// a run that began on a start, an answer or a message which was not stored are dropped and logged.
// An effect that the record has a result of keeps that result; a run that used another one is
// stale. Effects of a frame that has ended meanwhile are still added to the history.
func (r *stepRun) recordEffects(c *Change, fresh []Entry) {
	if r.rejects >= maxRejects {
		return
	}
	f := c.Thread.Frame(r.frame.ID)
	if f != nil && !r.continues(c.Thread) || f == nil && r.record != stored {
		r.logDropped(fresh)
		return
	}
	for n := range fresh {
		if f == nil && isMessage(fresh, n) {
			continue
		}
		if had := effectOf(c.Thread, &fresh[n]); had != nil && had.State == EffectDone {
			if fresh[n].State == EffectDone && !bytes.Equal(had.Value, fresh[n].Value) {
				r.record = stale
			}
			continue
		}
		c.Add(fresh[n])
		if n+1 == len(fresh) || !isMessage(fresh, n) || fresh[n].Type == EntryMessage {
			c.MarkRest()
		}
	}
}

// effectOf returns the effect that an entry is about, as the record has it; nil for any other
// entry.
func effectOf(t *Thread, e *Entry) *Effect {
	f := t.Frame(e.Frame)
	if e.Type != EntryEffect || f == nil {
		return nil
	}
	return f.Effect(e.Name)
}

// logDropped logs, once each, the completed effects of a run that are not recorded.
func (r *stepRun) logDropped(fresh []Entry) {
	for n := range fresh {
		if e := &fresh[n]; e.State == EffectDone && !isMessage(fresh, n) && !r.logged[e.Name] {
			if r.logged == nil {
				r.logged = map[string]bool{}
			}
			r.logged[e.Name] = true
			r.driver.engine.log.Warn(
				"effect not recorded: its step does not continue what is stored",
				"thread", r.driver.id, "frame", e.Frame, "step", r.frame.PC, "effect", e.Name)
		}
	}
}

// isMessage reports whether entry n is a message, or the effect before it that marks it as said.
func isMessage(fresh []Entry, n int) bool {
	return fresh[n].Type == EntryMessage || n+1 < len(fresh) &&
		fresh[n+1].Type == EntryMessage
}

// decideEnd applies the outcome of the run to a change.
func (r *stepRun) decideEnd(c *Change, fresh []Entry) {
	r.recordEffects(c, fresh)
	if !r.awaitsEnd(c.Thread) {
		return
	}
	f := c.Thread.Frame(r.frame.ID)
	if c.MarkInDoubt(f.ID) {
		return
	}
	if r.interruptContext != nil && string(r.interruptContext) != string(f.Context) {
		c.Add(Entry{Type: EntryShows, Frame: f.ID, Value: r.interruptContext})
	}
	e := r.driver.engine
	switch {
	case r.hasFailed():
		askEach(c, f.ID, r.asked)
		c.StepFailed(f.ID, r.err, e.rerouteTargets(f))
	case len(r.asked) > 0:
		askEach(c, f.ID, r.asked)
	case r.state.isSuspended() || r.err != nil:
		// it stopped for a pause, or for the engine's sake: it runs again
	default:
		if err := r.next.checkTransition(e, r.activation.User); err != nil {
			c.StepFailed(f.ID, err, e.rerouteTargets(f))
			return
		}
		if r.modify != nil {
			c.Add(Entry{Type: EntryModified, Frame: f.ID})
		}
		for _, decide := range r.next.first {
			decide(c)
		}
		r.next.applyTo(c, f)
		for _, decide := range r.next.also {
			decide(c)
		}
	}
}

// hasFailed reports whether the run ended with an error of its own. After a question, or after a
// pause held something back, an error does not count, since it may be ErrWaiting in another form; a
// real error comes again with the next run.
func (r *stepRun) hasFailed() bool {
	switch {
	case r.err == nil, errors.Is(r.err, errPause), errors.Is(r.err, errEnded),
		errors.Is(r.err, errClosing):
		return false
	case len(r.asked) > 0 || r.state.isSuspended():
		return errors.Is(r.err, errPanic) || r.late != nil && errors.Is(r.err, r.late)
	default:
		return true // also ErrWaiting: this run had no reason to wait
	}
}

const maxRejects = 2

// markFailed turns the outcome of an ended run into a failure, because the store rejects it.
func (r *stepRun) markFailed(err error) {
	r.mu.Lock() // a handler that was given up may still run
	defer r.mu.Unlock()
	r.rejects++
	r.err = err
	r.next, r.asked, r.interruptContext, r.state = Transition{}, nil, nil, ended
}

// rerouteTargets returns where a failed step of the frame can be sent.
func (e *Engine) rerouteTargets(f *Frame) []string {
	if m, ok := e.machines[f.Machine].(Rerouter); ok {
		return m.Targets(f)
	}
	return nil
}
