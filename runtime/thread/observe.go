package thread

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"
)

// Observer is told what the engine does, for metrics and traces. Its methods are called by the
// goroutines that do the work: they must return at once and must not call the engine. They may be
// called at the same time. A panic is logged, and the work goes on.
type Observer interface {
	// Step is called before a step runs. The context it returns is the step's; ended is called when
	// the handler has returned, which may be later than the end of a step that the engine gave up.
	Step(ctx context.Context, a Activation) (inner context.Context, ended func(StepEnd))
	// Committed is called after a commit, with the record, the entries and the interrupts it
	// changed. Of the entries that a fork has copied only those are told that [Change.NewEntries]
	// names.
	Committed(t *Thread, entries []Entry, interrupts []*Interrupt)
}

// StepEnd is how a run of a step ended. The zero value says that it went through.
type StepEnd struct {
	// Waiting means that the step asked, or that a person paused the thread. It is no error.
	Waiting bool
	// Cut means that the run was stopped without a result: its frame has ended, another engine
	// drives the thread, or this one is closing.
	Cut bool
	// Err is why the step failed, or the failure with which it ended its frame. Its text may hold
	// what people said.
	Err error
}

// observeStep tells the observers that a step begins, and returns what to call at its end.
func (e *Engine) observeStep(ctx context.Context, a Activation) (context.Context, func(*stepRun)) {
	if len(e.cfg.Observers) == 0 {
		return ctx, func(*stepRun) {}
	}
	inner := ctx
	ends := make([]func(StepEnd), len(e.cfg.Observers))
	for n, o := range e.cfg.Observers {
		e.callObserver(func() {
			next, ended := o.Step(inner, a)
			if ends[n] = ended; next != nil {
				inner = next //nolint:fatcontext // one layer for each observer is what they ask for
			}
		})
	}
	return inner, func(r *stepRun) {
		r.mu.Lock()
		end := r.outcome(context.Cause(inner))
		r.mu.Unlock()
		for _, ended := range slices.Backward(ends) {
			if ended != nil { // nil: it has panicked before
				e.callObserver(func() { ended(end) })
			}
		}
	}
}

// callObserver calls an observer and logs a panic.
func (e *Engine) callObserver(observe func()) {
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("observer panicked", "stack", string(debug.Stack()))
		}
	}()
	observe()
}

// outcome says how the run ended whose context ended for that cause. It needs r.mu.
func (r *stepRun) outcome(cause error) StepEnd {
	switch {
	case errors.Is(cause, errEnded):
		return StepEnd{Cut: true}
	case r.hasFailed():
		return StepEnd{Err: r.err}
	case len(r.asked) > 0, r.state.isSuspended(), errors.Is(r.err, errPause):
		return StepEnd{Waiting: true}
	case r.err != nil:
		return StepEnd{Cut: true}
	}
	if err := r.next.checkTransition(r.driver.engine, r.activation.User); err != nil {
		return StepEnd{Err: err}
	}
	if r.next.verb == failVerb {
		return StepEnd{Err: r.next.failure}
	}
	return StepEnd{Waiting: r.next.verb == askVerb}
}

// announceCommit tells timers, log, observers and waiting readers about a commit. It is called only
// once the commit is on disk.
func (e *Engine) announceCommit(c *Change) {
	e.timer.wakeAt(c.Thread.Wake())
	if c.Empty() {
		return
	}
	if e.log.Enabled(e.ctx, slog.LevelWarn) {
		e.logCommit(c)
	}
	for _, o := range e.cfg.Observers {
		e.callObserver(func() { o.Committed(c.Thread, c.NewEntries(), c.Interrupts) })
	}
	e.commits.publish(c.Thread.ID)
}

// logCommit writes one line for every interrupt that was opened or closed, every step that failed,
// and every message that tells of a failure. What people said appears as a digest, and of a failure
// its code: the history has the text. What a fork has copied happened to its source: only what is
// still open is news.
func (e *Engine) logCommit(c *Change) {
	copied := c.Before == 0 && c.Thread.ForkedFrom != nil
	for _, i := range c.Interrupts {
		attrs := []any{"thread", i.Thread, "frame", i.Frame, "step", i.Step, "interrupt", i.ID,
			"kind", i.Kind}
		switch {
		case i.State == InterruptQueued:
		case i.State == InterruptOpen:
			if wasAsked(c, i.ID) {
				e.log.Info("thread waiting", append(attrs, "who", i.Answerers(), "digest",
					i.Digest)...)
			}
		case copied:
		case i.State == InterruptAnswered:
			e.log.Info("thread resumed", append(attrs, "who", i.AnsweredBy, "answer",
				digestOf(i.Answer))...)
		default:
			e.log.Info("interrupt closed", append(attrs, "state", i.State)...)
		}
	}
	for _, entry := range c.NewEntries() {
		switch {
		case entry.Type == EntryOver:
			e.log.Info("thread over", "thread", c.Thread.ID, "status", entry.State)
		case entry.Type == EntryFailed && entry.Failure != nil && !copied:
			attrs := []any{"thread", c.Thread.ID, "frame", entry.Frame, "code", entry.Failure.Code}
			if f := c.Thread.Frame(entry.Frame); f != nil {
				attrs = append(attrs, "step", f.PC)
			}
			if !entry.Until.IsZero() {
				attrs = append(attrs, "again", entry.Until)
			}
			e.log.Warn("step failed", attrs...)
		case entry.Type == EntryMessage && entry.Failure != nil && !copied:
			e.log.Warn("failure told", "thread", c.Thread.ID, "frame", entry.Frame, "message",
				entry.Name, "code", entry.Failure.Code)
		}
	}
}

// wasAsked reports whether the change opened the interrupt: a claim, say, changes it too.
func wasAsked(c *Change, id string) bool {
	for _, entry := range c.NewEntries() {
		if entry.Interrupt == id &&
			(entry.Type == EntryAsked || entry.Type == EntryOpened) {
			return true
		}
	}
	return false
}

// digestOf returns a digest of a value for the log, which must not show what people said.
func digestOf(value json.RawMessage) string {
	sum := sha256.Sum256(value)
	return "sha256:" + hex.EncodeToString(sum[:8])
}
