package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// trial is one clause being tried on one store. It belongs to one goroutine, but for its store.
type trial struct {
	rapid.TB
	*Opened
	ctx     context.Context //nolint:containedctx // a trial is one call
	rules   *thread.Rules
	now     time.Time
	ids     int
	records map[string]*thread.Thread // as they were committed last
}

func newTrial(t rapid.TB, o Opened) *trial {
	t.Helper()
	tr := &trial{
		TB: t, Opened: &o, ctx: context.Background(),
		now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), records: map[string]*thread.Thread{},
	}
	kinds := thread.DefaultKinds()
	kinds[1].Deadline = &runtime.Deadline{After: 24 * time.Hour, Then: "expire"}
	tr.rules = &thread.Rules{Kinds: kinds, NewID: tr.newID}
	return tr
}

// forPart returns a trial with its own records, which fails on its own.
func (tr *trial) forPart(t rapid.TB) *trial {
	t.Helper()
	part := *tr
	part.TB, part.records = t, map[string]*thread.Thread{}
	return &part
}

// newID returns ids that no order of the alphabet betrays: a store must not lean on it.
func (tr *trial) newID() string {
	tr.ids++
	return fmt.Sprintf("i%08x", bits.Reverse32(uint32(tr.ids)))
}

// nextChange begins a change of a thread, a second after the one before. It starts a thread that
// has no commit.
func (tr *trial) nextChange(id string) *thread.Change {
	tr.now = tr.now.Add(time.Second)
	if t := tr.records[id]; t != nil {
		return thread.NewChange(t, tr.rules, tr.now)
	}
	return thread.Start(id, "ann", "fp-1", tr.rules, tr.now)
}

// startTurn returns a change that starts a thread, or its next turn, and the frame.
func (tr *trial) startTurn(id string) (*thread.Change, string) {
	c := tr.nextChange(id)
	return c, c.Enter(thread.Frame{Machine: "workflow", Name: "plan", PC: "first",
		Input: raw(`{"n":1}`)}, "ann", "")
}

// sayChange returns a change with a message.
func (tr *trial) sayChange(id, name string) *thread.Change {
	c := tr.nextChange(id)
	c.Add(thread.Entry{Type: thread.EntryMessage, Name: name})
	return c
}

// requestChange returns a change with a request id.
func (tr *trial) requestChange(id, request string) *thread.Change {
	c := tr.nextChange(id)
	c.Add(thread.Entry{Type: thread.EntryMessage, Request: request})
	return c
}

// askChange returns a change that starts a turn and asks in it.
func (tr *trial) askChange(id string, names ...string) *thread.Change {
	c, frame := tr.startTurn(id)
	for _, name := range names {
		c.Ask(frame, thread.KindAgentQuestion,
			thread.Question{Name: name, Text: "May I?", Payload: raw(`{"amount":12}`)})
	}
	return c
}

// answerChange returns a change that answers a question by its name.
func (tr *trial) answerChange(id, name, value string) *thread.Change {
	tr.Helper()
	c := tr.nextChange(id)
	_, err := c.Answer(thread.Answer{Question: name, Value: raw(value), By: "bob"})
	require.NoError(tr, err)
	return c
}

// interruptChange returns a change that brings interrupts as they are. Fields that are not set get
// a value.
func (tr *trial) interruptChange(id string, interrupts ...*thread.Interrupt) *thread.Change {
	c := tr.sayChange(id, "holds")
	for _, i := range interrupts {
		if i.ID == "" {
			i.ID = tr.newID()
		}
		if i.State == "" {
			i.State = thread.InterruptOpen
		}
		if i.Kind == "" {
			i.Kind = thread.KindAgentQuestion
		}
		if i.Created.IsZero() {
			i.Created = tr.now
		}
		i.Thread = id
	}
	c.Interrupts = append(c.Interrupts, interrupts...)
	return c
}

// mustCommit commits, and fails the clause on an error.
func (tr *trial) mustCommit(changes ...*thread.Change) {
	tr.Helper()
	require.NoError(tr, tr.Store.Commit(tr.ctx, changes...))
	for _, c := range changes {
		tr.records[c.Thread.ID] = c.Thread
	}
}

// mustConflict commits, and fails the clause unless the store returns CodeConflict.
func (tr *trial) mustConflict(changes ...*thread.Change) {
	tr.Helper()
	tr.requireCode(runtime.CodeConflict, tr.Store.Commit(tr.ctx, changes...))
}

func (tr *trial) requireCode(code runtime.Code, err error) {
	tr.Helper()
	require.Error(tr, err)
	require.Equal(tr, code, runtime.CodeOf(err), "%v", err)
}

// holdsAsCommitted compares the store with what was committed last.
func (tr *trial) holdsAsCommitted(ids ...string) {
	tr.Helper()
	for _, id := range ids {
		tr.requireSame(recordText(tr.records[id]), recordText(tr.mustLoad(id)))
	}
}

func (tr *trial) mustLoad(id string) *thread.Thread {
	tr.Helper()
	t, err := tr.Store.Load(tr.ctx, id)
	require.NoError(tr, err)
	return t
}

func (tr *trial) mustInterrupts(q thread.InterruptQuery) []*thread.Interrupt {
	tr.Helper()
	found, err := tr.Store.Interrupts(tr.ctx, q)
	require.NoError(tr, err)
	return found
}

func (tr *trial) mustLog(q thread.LogQuery) []thread.Entry {
	tr.Helper()
	found, err := tr.Store.Log(tr.ctx, q)
	require.NoError(tr, err)
	return found
}

func (tr *trial) mustThreads(q thread.Query) []thread.Summary {
	tr.Helper()
	found, err := tr.Store.Threads(tr.ctx, q)
	require.NoError(tr, err)
	return found
}

// dumpStore returns everything that the queries show, as text. Two stores with the same text cannot
// be told apart.
func (tr *trial) dumpStore(store thread.Store) string {
	tr.Helper()
	rows, err := store.Threads(tr.ctx, thread.Query{Limit: 1000})
	require.NoError(tr, err)
	log, err := store.Log(tr.ctx, thread.LogQuery{Limit: 10_000})
	require.NoError(tr, err)
	var out strings.Builder
	out.WriteString(jsonText(rows))
	for n := range log {
		fmt.Fprintf(&out, "\n%d %s %s", log[n].Cursor, log[n].Thread, jsonText(log[n]))
	}
	for _, row := range rows {
		t, err := store.Load(tr.ctx, row.ID)
		require.NoError(tr, err)
		asked, err := store.Interrupts(tr.ctx, thread.InterruptQuery{Thread: row.ID, Limit: 1000})
		require.NoError(tr, err)
		out.WriteString("\n" + recordText(t) + jsonText(asked))
	}
	return out.String()
}

// requireUnchanged calls run, which must not change the store.
func (tr *trial) requireUnchanged(run func()) {
	tr.Helper()
	before := tr.dumpStore(tr.Store)
	run()
	assert.Equal(tr, before, tr.dumpStore(tr.Store), "a refused commit left something behind")
}

// recordText is a thread with its open interrupts as text. JSON tells nil from null, and does not
// tell nil from empty.
func recordText(t *thread.Thread) string {
	return jsonText(struct {
		*thread.Thread

		Open []*thread.Interrupt `json:"open,omitempty"`
	}{t, t.Open})
}

// requireSame compares two JSON texts, and shows a difference line by line.
func (tr *trial) requireSame(want, got string) {
	tr.Helper()
	if want != got {
		require.Equal(tr, indented(want), indented(got))
		require.Equal(tr, want, got)
	}
}

func indented(s string) string {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(s), "", " "); err != nil {
		return s
	}
	return out.String()
}

func jsonText(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// idsOf lists interrupts by id, which is what most clauses compare.
func idsOf(found []*thread.Interrupt) []string {
	ids := make([]string, len(found))
	for n, i := range found {
		ids[n] = i.ID
	}
	return ids
}

func rowIDs(found []thread.Summary) []string {
	ids := make([]string, len(found))
	for n := range found {
		ids[n] = found[n].ID
	}
	return ids
}

func seqsOf(found []thread.Entry) []int64 {
	out := make([]int64, len(found))
	for n := range found {
		out[n] = found[n].Seq
	}
	return out
}
