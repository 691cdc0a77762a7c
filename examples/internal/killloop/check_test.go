//go:build unix

package killloop

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// audit holds what is stored to what was acknowledged, and to what happened outside.
type audit struct {
	*crowd

	t       *testing.T
	store   *sqlite.Store
	begins  map[string][]line // of each effect
	intends map[string][]line
	marks   map[string]line // of begins
	leases  map[string][]line
	pauses  map[string][]line
	faults  []string

	files  map[string]*file
	orders []string // threads, in the order in which they were read
	again  int      // effects of Do that happened again
	doubts int      // effects of Once that a person was asked about
}

// file is all that is stored of a thread.
type file struct {
	record     *thread.Thread
	entries    []thread.Entry
	interrupts map[string]*thread.Interrupt
	decisions  map[string]bool // what was answered, and what it was started on
	moves      []move          // of its lease
}

// move is a lease that went from one process to another.
type move struct {
	at       int64
	from, to string
}

// check looks at everything when every process has ended. It returns what is wrong.
func check(t *testing.T, c *crowd, stuck []string) *audit {
	t.Helper()
	a := &audit{
		crowd: c, t: t, begins: map[string][]line{}, intends: map[string][]line{},
		marks: map[string]line{}, leases: map[string][]line{},
		pauses: map[string][]line{}, files: map[string]*file{},
	}
	for _, row := range readLedger(t, c.dir) {
		switch row.What {
		case lineBegin:
			a.begins[row.Key] = append(a.begins[row.Key], row)
			a.marks[row.Mark] = row
		case lineIntend:
			a.intends[row.Key] = append(a.intends[row.Key], row)
		case linePaused, lineResumed:
			a.pauses[row.Key] = append(a.pauses[row.Key], row)
		case lineLease, lineRest:
			a.leases[row.Key] = append(a.leases[row.Key], row)
		}
	}
	var err error
	a.store, err = sqlite.Open(t.Context(), filepath.Join(c.dir, "threads.db"), sqlite.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, a.store.Close()) }()
	a.readAll()
	for _, id := range stuck {
		var asks []string
		for _, i := range a.files[id].record.Open {
			asks = append(asks, i.Name+" "+string(i.State)+" "+i.ClaimedBy)
		}
		a.faultf(id, "did not come to its end: it asks %q, the last refusal was %q", asks,
			c.refused[id])
	}
	a.faults = append(a.faults, c.unnamed...)
	for _, id := range a.orders {
		a.thread(id)
	}
	for n := range c.acks {
		a.acknowledged(&c.acks[n])
	}
	for key := range a.begins {
		a.effect(key)
	}
	slices.Sort(a.faults)
	return a
}

func (a *audit) faultf(thread, format string, args ...any) {
	a.faults = append(a.faults, thread+": "+fmt.Sprintf(format, args...))
}

func (a *audit) readAll() {
	a.t.Helper()
	after := ""
	for {
		rows, err := a.store.Threads(a.t.Context(), thread.Query{AfterID: after})
		require.NoError(a.t, err)
		if len(rows) == 0 {
			return
		}
		for _, row := range rows {
			after = row.ID
			a.read(row.ID)
		}
	}
}

func (a *audit) read(id string) {
	a.t.Helper()
	const all = 10_000
	f := &file{interrupts: map[string]*thread.Interrupt{}, decisions: map[string]bool{"": true}}
	var err error
	f.record, err = a.store.Load(a.t.Context(), id)
	require.NoError(a.t, err)
	f.entries, err = a.store.Log(a.t.Context(), thread.LogQuery{Thread: id, Limit: all})
	require.NoError(a.t, err)
	found, err := a.store.Interrupts(a.t.Context(), thread.InterruptQuery{Thread: id, Limit: all})
	require.NoError(a.t, err)
	for _, i := range found {
		f.interrupts[i.ID] = i
	}
	for n := range f.entries {
		e := &f.entries[n]
		root := e.Type == thread.EntryEntered && e.Parent == ""
		if e.Type == thread.EntryAnswered || root {
			f.decisions[plain(e.Value)] = true
		}
	}
	a.files[id] = f
	a.orders = append(a.orders, id)
	f.moves = a.moves(id)
}

// plain is a JSON string as a text, and anything else as it is.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// decided reports whether all that an effect was told is a decision of its thread.
func (f *file) decided(told string) bool {
	for part := range strings.SplitSeq(told, "+") {
		if !f.decisions[part] {
			return false
		}
	}
	return true
}

// has reports whether a question has that answer.
func (f *file) has(interrupt string, value json.RawMessage, by string) bool {
	i := f.interrupts[interrupt]
	return i != nil && i.State == thread.InterruptAnswered && i.AnsweredBy == by &&
		thread.SameJSON(i.Answer, value)
}

// copied is the last entry that a fork has from its source.
func (f *file) copied() int64 {
	if f.record.ForkedFrom == nil {
		return 0
	}
	return f.record.ForkedFrom.Seq
}

// moves follows the lease of a thread from commit to commit. A lease that was taken from a
// process which lives and has it still is a fault.
func (a *audit) moves(id string) (out []move) {
	rows := slices.Clone(a.leases[id])
	slices.SortStableFunc(rows, func(x, y line) int { return int(x.Version - y.Version) })
	var held line
	for _, row := range rows {
		// One that only asks about a doubt rests in the commit that took the lease: its fence is
		// higher.
		took := row.What == lineLease || row.Fence > held.Fence
		if held.What == lineLease && took && row.Proc != held.Proc {
			out = append(out, move{row.At, held.Proc, row.Proc})
			if held.Until > row.At && !a.away(held.Proc, held.At, row.At) {
				a.faultf(id, "%s took the lease of %s, which lives and has it for %s more",
					row.Proc, held.Proc,
					time.Duration(held.Until-row.At)*time.Microsecond)
			}
		}
		held = row
	}
	return out
}

// away reports whether a process was dead or stopped at some time between two.
func (a *audit) away(proc string, from, to int64) bool {
	return slices.ContainsFunc(a.windows, func(w window) bool {
		return w.proc == proc && w.from <= to && (w.dead || w.to >= from)
	})
}

var anyMark = regexp.MustCompile(`"mark":"(m\w+)"`)

// thread checks one thread by itself.
func (a *audit) thread(id string) {
	f := a.files[id]
	for n := range f.entries {
		if f.entries[n].Seq != int64(n+1) {
			a.faultf(id, "entry %d has the number %d", n+1, f.entries[n].Seq)
			return
		}
	}
	a.replayed(id, f)
	t := f.record
	idle := t.Status() == thread.StatusIdle && t.Turn >= 2
	if t.Over == thread.StatusFailed || t.Over == "" && !idle {
		a.faultf(id, "it is %s in turn %d", t.Status(), t.Turn)
	}
	answered, s := map[string]int{}, &seen{done: map[string]int{}, marks: map[string]bool{}}
	// frames: the log still tells of their effects, which changes nothing
	ended := map[string]bool{}
	for n := range f.entries {
		e := &f.entries[n]
		if e.Type == thread.EntryReturned {
			ended[e.Frame] = true
		}
		if e.Type == thread.EntryEffect && (ended[e.Frame] || ended[""]) {
			continue
		}
		switch e.Type {
		case thread.EntryAnswered:
			if !f.has(e.Interrupt, e.Value, e.By) {
				a.faultf(id, "question %s has not the answer of entry %d", e.Interrupt, e.Seq)
			}
			if answered[e.Interrupt]++; answered[e.Interrupt] > 1 {
				a.faultf(id, "question %s has a second answer in entry %d", e.Interrupt, e.Seq)
			}
		case thread.EntryEffect:
			a.recorded(id, f, e, s)
		case thread.EntryAsked:
			a.asked(id, f, e)
		case thread.EntryReturned, thread.EntryOver, thread.EntryMessage:
			ended[""] = ended[""] || e.Type == thread.EntryOver
			for _, found := range anyMark.FindAllSubmatch(e.Value, -1) {
				if !s.marks[string(found[1])] {
					a.faultf(id, "entry %d (%s) tells of effect %s, which is not stored", e.Seq,
						e.Type, found[1])
				}
			}
		default:
		}
	}
}

// replayed holds the record to its log.
func (a *audit) replayed(id string, f *file) {
	find := func(id string) *thread.Interrupt { return f.interrupts[id] }
	made, err := thread.Replay(id, f.entries, find)
	if err != nil {
		a.faultf(id, "its log cannot be replayed: %v", err)
		return
	}
	want := *f.record
	// a renewed lease is a version without an entry
	for _, t := range []*thread.Thread{&want, made} {
		t.Lease, t.Version, t.Fingerprint = thread.Lease{}, 0, ""
	}
	stored, err1 := json.Marshal(&want)
	added, err2 := json.Marshal(made)
	if err1 != nil || err2 != nil || !thread.SameJSON(stored, added) {
		a.faultf(id, "its log adds up to %s, and it is %s", added, stored)
	}
}

// acknowledged checks that what a worker has said yes to is stored.
func (a *audit) acknowledged(k *ack) {
	f := a.files[k.thread]
	if f == nil {
		a.faultf(k.thread, "%s of %s was acknowledged, and there is no such thread", k.op, k.by)
		return
	}
	if k.op == "answer" {
		if !f.has(k.interrupt, json.RawMessage(k.value), k.by) {
			a.faultf(k.thread, "the answer %s of %s to %s is lost", k.value, k.by, k.interrupt)
		}
	}
	types := map[string][]thread.EntryType{
		"start": {thread.EntryEntered}, "message": {thread.EntryEntered},
		"answer": {thread.EntryAnswered}, "escape": {thread.EntryEscape},
		"cancel": {thread.EntryOver, thread.EntryReturned},
		"fork":   {thread.EntryStarted}, "reroute": {thread.EntryReroute, thread.EntryMessage},
		"touch": {thread.EntryClaimed, thread.EntryExtended},
	}[k.op]
	first := int64(0) // that can be the one
	if k.op == "message" {
		first = 3 // the turn that the start began is before it
	}
	found := slices.ContainsFunc(f.entries, func(e thread.Entry) bool {
		if e.Seq < first {
			return false
		}
		by := e.By == k.by || k.op == "fork" && e.Name == k.by || k.op == "touch" && e.Name == k.by
		value := k.op != "start" || thread.SameJSON(e.Value, json.RawMessage(k.value))
		return by && value && slices.Contains(types, e.Type)
	})
	if !found {
		a.faultf(k.thread, "%s of %s was acknowledged and is lost", k.op, k.by)
	}
}
