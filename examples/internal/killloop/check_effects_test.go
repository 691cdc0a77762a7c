//go:build unix

package killloop

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime/thread"
)

// seen is what was read of a thread's effects so far.
type seen struct {
	done  map[string]int  // how often each was stored, by key
	marks map[string]bool // of those that are stored
}

// recorded checks an effect in the log: it happened outside, on a decision that is stored, and
// it is stored once.
func (a *audit) recorded(id string, f *file, e *thread.Entry, s *seen) {
	if e.Name == payAction && e.State == thread.EffectIntended {
		a.confirmed(id, f, e)
	}
	var p proof
	if e.State != thread.EffectDone || json.Unmarshal(e.Value, &p) != nil || p.Mark == "" {
		return
	}
	s.marks[p.Mark] = true
	happened, ok := a.marks[p.Mark]
	if !ok {
		a.faultf(id, "effect %s of entry %d never happened", e.Name, e.Seq)
		return
	}
	// A fork asks about effects of its source, and a person may say that they happened.
	own := e.Seq > f.copied() && (e.By == "" || f.copied() == 0)
	parts := strings.Split(happened.Key, "/")
	if own && parts[0] != id || parts[1] != e.Frame || parts[len(parts)-1] != e.Name {
		a.faultf(id, "effect %s of entry %d happened as %s", e.Name, e.Seq, happened.Key)
	}
	if s.done[happened.Key]++; s.done[happened.Key] > 1 {
		a.faultf(id, "effect %s is stored again in entry %d", happened.Key, e.Seq)
	}
	if !f.decided(happened.Told) || happened.Told != p.Told {
		a.faultf(id, "effect %s of entry %d acted on %q, which was not decided",
			happened.Key, e.Seq, happened.Told)
	}
	if own && e.By == "" {
		a.zombie(id, e, &happened)
	}
}

// confirmed holds a payment to the last answer before it.
func (a *audit) confirmed(id string, f *file, e *thread.Entry) {
	for n := e.Seq - 2; n >= 0; n-- {
		had := &f.entries[n]
		i := f.interrupts[had.Interrupt]
		if had.Type != thread.EntryAnswered || i.Kind != thread.KindAgentQuestion {
			continue
		}
		if plain(had.Value) != "yes" {
			a.faultf(id, "entry %d pays after the answer %s", e.Seq, had.Value)
		}
		return
	}
	a.faultf(id, "entry %d pays without a question before it", e.Seq)
}

// zombie refuses an effect of a process that was stopped after it began it, while another one
// took the thread.
func (a *audit) zombie(id string, e *thread.Entry, happened *line) {
	for _, other := range a.leases[id] {
		if other.What != lineLease || other.Proc == happened.Proc || other.At <= happened.At {
			continue
		}
		for _, w := range a.windows {
			inside := w.from <= other.At && other.At <= w.to
			if w.proc == happened.Proc && !w.dead && inside && micros(e.At) >= w.to {
				a.faultf(id,
					"effect %s of entry %d is of %s, which was stopped when %s took the thread",
					happened.Key, e.Seq, w.proc, other.Proc)
			}
		}
	}
}

// asked checks a question about an effect in doubt: the process that began it has died, was
// stopped or lost the thread, or a person had it cut. Other failures are none of the loop's.
func (a *audit) asked(id string, f *file, e *thread.Entry) {
	name, doubt := strings.CutPrefix(e.Name, "in_doubt/")
	i := f.interrupts[e.Interrupt]
	switch {
	case i == nil || i.Kind != thread.KindSystemError || e.Seq <= f.copied():
		return
	case !doubt:
		a.faultf(id, "entry %d asks about a failure: %s", e.Seq, i.Text)
		return
	}
	a.doubts++
	var intended *thread.Entry // the last
	for n := range e.Seq {
		had := &f.entries[n]
		same := had.Type == thread.EntryEffect && had.Frame == e.Frame && had.Name == name
		if same && had.State == thread.EffectIntended {
			intended = had
		}
	}
	if intended == nil {
		a.faultf(id, "entry %d asks about an effect that was never intended", e.Seq)
		return
	}
	if intended.Seq <= f.copied() || f.cut(intended.Seq, e.Seq) {
		return
	}
	var about struct {
		Key string `json:"key"`
	}
	_ = json.Unmarshal(i.Payload, &about) // without a key no process is found
	now := micros(e.At) + 999
	for _, row := range a.intends[about.Key] {
		if a.away(row.Proc, row.At, now) || f.moved(row.Proc, row.At, now) ||
			a.expired(id, row.Proc, now) {
			return
		}
	}
	a.faultf(id, "entry %d asks about %s, whose process lives", e.Seq, about.Key)
}

// expired reports whether the last lease of a process was over: a store that stands still,
// since a stopped process has its lock, keeps the others from renewing theirs.
func (a *audit) expired(id, proc string, now int64) bool {
	until := int64(0)
	for _, row := range a.leases[id] {
		if row.What == lineLease && row.Proc == proc && row.At <= now {
			until = max(until, row.Until)
		}
	}
	return until > 0 && until <= now
}

// cut reports whether between two entries a person had running steps cut, or the thread ended.
func (f *file) cut(from, to int64) bool {
	return slices.ContainsFunc(f.entries[from-1:to], func(e thread.Entry) bool {
		return e.Type == thread.EntryEscape && e.Name == thread.EscapeNow ||
			e.Type == thread.EntryOver
	})
}

// moved reports whether a process lost the lease of the thread between two times.
func (f *file) moved(proc string, from, to int64) bool {
	return slices.ContainsFunc(f.moves, func(m move) bool {
		return m.from == proc && from <= m.at && m.at <= to
	})
}

// effect checks how often an effect happened, and on what.
func (a *audit) effect(key string) {
	id, _, _ := strings.Cut(key, "/")
	f := a.files[id]
	name := key[strings.LastIndex(key, "/")+1:]
	once := name == onceName || name == payAction
	if f == nil {
		if once || a.eager < 0 {
			a.faultf(id, "effect %s happened, and there is no such thread", key)
		}
		return
	}
	rows := a.begins[key]
	slices.SortFunc(rows, func(x, y line) int { return int(x.At - y.At) })
	for _, row := range rows {
		if (once || a.eager < 0) && !f.decided(row.Told) {
			a.faultf(id, "effect %s acted on %q, which was not decided", key, row.Told)
		}
	}
	if !once {
		a.repeated(id, f, rows)
		return
	}
	for n := range rows {
		a.paused(id, &rows[n])
	}
	if ordered := 1 + f.ordered(key); len(rows) > ordered {
		a.faultf(id, "effect %s happened %d times, and %d times were ordered", key, len(rows),
			ordered)
	}
}

// paused refuses an effect of Once that began while the thread was paused.
func (a *audit) paused(id string, begun *line) {
	held := false
	for _, row := range a.pauses[id] {
		if row.At < begun.At {
			held = row.What == linePaused
		}
	}
	if held && !a.returning(begun) {
		a.faultf(id, "effect %s began in %s while the thread was paused", begun.Key, begun.Proc)
	}
}

// ordered counts the answers that an effect in doubt shall run.
func (f *file) ordered(key string) (times int) {
	for n := range f.entries {
		e := &f.entries[n]
		if e.Type != thread.EntryAnswered || plain(e.Value) != "run" {
			continue
		}
		if i := f.interrupts[e.Interrupt]; strings.Contains(string(i.Payload), `"`+key+`"`) {
			times++
		}
	}
	return times
}

// repeated checks that an effect of Do had a reason each time it happened again: a process
// that had begun it died, was stopped or lost the thread, which is a reason once; the one that
// begins it has just lost the thread; a person had it cut, or the step failed; or a step began on
// what the store then refused.
func (a *audit) repeated(id string, f *file, rows []line) {
	spent := make([]bool, len(rows))
	for n := 1; n < len(rows); n++ {
		a.again++
		now, reason := &rows[n], false
		for m := range n {
			had := &rows[m]
			if !spent[m] && (a.away(had.Proc, had.At, now.At) ||
				f.moved(had.Proc, had.At, now.At)) {
				spent[m], reason = true, true
				break
			}
		}
		first := &rows[n-1]
		reason = reason || a.returning(first) || a.returning(now) || f.lost(now) ||
			f.stopped(first.At, now.At)
		if !reason && !a.refused(id, f, first, now) {
			a.faultf(id, "effect %s happened again after %s in %s (first %s), for no reason",
				first.Key,
				time.Duration(now.At-first.At)*time.Microsecond, now.Proc, first.Proc)
		}
	}
}

// lost reports whether the process of an effect had just lost the thread, after the end of its
// lease, and could not know it yet: on a busy machine a process is as slow as a stopped one.
func (f *file) lost(row *line) bool {
	return f.moved(row.Proc, row.At-lease.Microseconds(), row.At)
}

// resumeSlack is how long before its window is noted to be over a stopped process may go on, in
// microseconds.
const resumeSlack = 50_000

// returning reports whether an effect began just after its process had been stopped: it could
// not know yet that another one has the thread.
func (a *audit) returning(row *line) bool {
	return slices.ContainsFunc(a.windows, func(w window) bool {
		return w.proc == row.Proc && !w.dead && w.to-resumeSlack <= row.At &&
			row.At < w.to+lease.Microseconds()
	})
}

// stopped reports whether between two times a person had running steps cut, or a step failed.
func (f *file) stopped(from, to int64) bool {
	const slack = 20_000 // an entry has the time at which its commit was begun
	cutting := false
	for n := range f.entries {
		e := &f.entries[n]
		if e.Type == thread.EntryEscape {
			cutting = e.Name == thread.EscapeNow
		}
		at := micros(e.At)
		if at+slack < from || at > to {
			continue
		}
		switch e.Type {
		case thread.EntryEscape, thread.EntryPaused:
			if cutting {
				return true
			}
		case thread.EntryFailed, thread.EntryAgain:
			return true
		default:
		}
	}
	return false
}

// refused reports whether the first of two steps may have begun on what the store then
// refused: it was told what was not decided, or two calls came at once.
func (a *audit) refused(id string, f *file, first, second *line) bool {
	const slack = 200_000
	if a.eager < 0 {
		return false
	}
	all, called := 0, false
	for _, at := range a.attempts[id] {
		if at.from <= second.At && first.At <= at.to+slack {
			all++
			called = called || at.proc == first.Proc
		}
	}
	open := first.Proc != second.Proc || first.Told == ""
	return !f.decided(first.Told) || open && called && all > 1
}
