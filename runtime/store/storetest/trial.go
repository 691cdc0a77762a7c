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
)

// trial is one clause being tried on one store. It belongs to one goroutine, but for its store.
type trial struct {
	rapid.TB
	*Opened
	ctx     context.Context //nolint:containedctx // a trial is one call
	rules   *runtime.Rules
	now     time.Time
	ids     int
	records map[string]*runtime.Thread // as they were committed last
}

func newTrial(t rapid.TB, o Opened) *trial {
	t.Helper()
	tr := &trial{
		TB: t, Opened: &o, ctx: context.Background(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), records: map[string]*runtime.Thread{},
	}
	kinds := runtime.DefaultKinds()
	kinds[1].Deadline = &runtime.Deadline{After: 24 * time.Hour, Then: "expire"}
	tr.rules = &runtime.Rules{Kinds: kinds, NewID: tr.newID}
	return tr
}

// with is the trial for a part of it that has its own records, and fails on its own.
func (tr *trial) with(t rapid.TB) *trial {
	t.Helper()
	part := *tr
	part.TB, part.records = t, map[string]*runtime.Thread{}
	return &part
}

// newID returns ids that no order of the alphabet betrays: a store must not lean on it.
func (tr *trial) newID() string {
	tr.ids++
	return fmt.Sprintf("i%08x", bits.Reverse32(uint32(tr.ids)))
}

// next begins a change of a thread, a second after the one before. A thread without a commit is started.
func (tr *trial) next(id string) *runtime.Change {
	tr.now = tr.now.Add(time.Second)
	if t := tr.records[id]; t != nil {
		return runtime.NewChange(t, tr.rules, tr.now)
	}
	return runtime.Start(id, "ann", "fp-1", tr.rules, tr.now)
}

// turn is a change that starts a thread, or the next turn, and returns the frame too.
func (tr *trial) turn(id string) (*runtime.Change, string) {
	c := tr.next(id)
	return c, c.Enter(runtime.Frame{Machine: "workflow", Name: "plan", PC: "first", Input: raw(`{"n":1}`)}, "ann", "")
}

// says is a change that only says something.
func (tr *trial) says(id, name string) *runtime.Change {
	c := tr.next(id)
	c.Add(runtime.Entry{Type: runtime.EntryMessage, Name: name})
	return c
}

// requests is a change with a request id.
func (tr *trial) requests(id, request string) *runtime.Change {
	c := tr.next(id)
	c.Add(runtime.Entry{Type: runtime.EntryMessage, Request: request})
	return c
}

// asks is a change that starts a turn and asks in it.
func (tr *trial) asks(id string, names ...string) *runtime.Change {
	c, frame := tr.turn(id)
	for _, name := range names {
		c.Ask(frame, runtime.KindAgentQuestion, runtime.Question{Name: name, Text: "May I?", Payload: raw(`{"amount":12}`)})
	}
	return c
}

// answers is a change that answers a question by its name.
func (tr *trial) answers(id, name, value string) *runtime.Change {
	tr.Helper()
	c := tr.next(id)
	_, err := c.Answer(runtime.Answer{Question: name, Value: raw(value), By: "bob"})
	require.NoError(tr, err)
	return c
}

// holds is a change that brings interrupts as they are. Fields that are not set get something.
func (tr *trial) holds(id string, interrupts ...*runtime.Interrupt) *runtime.Change {
	c := tr.says(id, "holds")
	for _, i := range interrupts {
		if i.ID == "" {
			i.ID = tr.newID()
		}
		if i.State == "" {
			i.State = runtime.InterruptOpen
		}
		if i.Kind == "" {
			i.Kind = runtime.KindAgentQuestion
		}
		if i.Created.IsZero() {
			i.Created = tr.now
		}
		i.Thread = id
	}
	c.Interrupts = append(c.Interrupts, interrupts...)
	return c
}

// commit commits, and must succeed.
func (tr *trial) commit(changes ...*runtime.Change) {
	tr.Helper()
	require.NoError(tr, tr.Store.Commit(tr.ctx, changes...))
	for _, c := range changes {
		tr.records[c.Thread.ID] = c.Thread
	}
}

// loses commits, and must be refused with conflict.
func (tr *trial) loses(changes ...*runtime.Change) {
	tr.Helper()
	tr.refused(runtime.CodeConflict, tr.Store.Commit(tr.ctx, changes...))
}

func (tr *trial) refused(code runtime.Code, err error) {
	tr.Helper()
	require.Error(tr, err)
	require.Equal(tr, code, runtime.CodeOf(err), "%v", err)
}

// holdsAsCommitted compares the store with what was committed last.
func (tr *trial) holdsAsCommitted(ids ...string) {
	tr.Helper()
	for _, id := range ids {
		tr.same(record(tr.records[id]), record(tr.load(id)))
	}
}

func (tr *trial) load(id string) *runtime.Thread {
	tr.Helper()
	t, err := tr.Store.Load(tr.ctx, id)
	require.NoError(tr, err)
	return t
}

func (tr *trial) interrupts(q runtime.InterruptQuery) []*runtime.Interrupt {
	tr.Helper()
	found, err := tr.Store.Interrupts(tr.ctx, q)
	require.NoError(tr, err)
	return found
}

func (tr *trial) log(q runtime.LogQuery) []runtime.Entry {
	tr.Helper()
	found, err := tr.Store.Log(tr.ctx, q)
	require.NoError(tr, err)
	return found
}

func (tr *trial) threads(q runtime.ThreadQuery) []runtime.ThreadRow {
	tr.Helper()
	found, err := tr.Store.Threads(tr.ctx, q)
	require.NoError(tr, err)
	return found
}

// everything is all that the queries can see, as text: two equal ones are stores that nobody can tell apart.
func (tr *trial) everything(store runtime.Store) string {
	tr.Helper()
	rows, err := store.Threads(tr.ctx, runtime.ThreadQuery{Limit: 1000})
	require.NoError(tr, err)
	log, err := store.Log(tr.ctx, runtime.LogQuery{Limit: 10_000})
	require.NoError(tr, err)
	var out strings.Builder
	out.WriteString(text(rows))
	for n := range log {
		fmt.Fprintf(&out, "\n%d %s %s", log[n].Cursor, log[n].Thread, text(log[n]))
	}
	for _, row := range rows {
		t, err := store.Load(tr.ctx, row.ID)
		require.NoError(tr, err)
		asked, err := store.Interrupts(tr.ctx, runtime.InterruptQuery{Thread: row.ID, Limit: 1000})
		require.NoError(tr, err)
		out.WriteString("\n" + record(t) + text(asked))
	}
	return out.String()
}

// unchanged runs what must change nothing.
func (tr *trial) unchanged(run func()) {
	tr.Helper()
	before := tr.everything(tr.Store)
	run()
	assert.Equal(tr, before, tr.everything(tr.Store), "a refused commit left something behind")
}

// record is a thread with its open interrupts as text. JSON tells nil from null, and does not tell nil from empty.
func record(t *runtime.Thread) string {
	return text(struct {
		*runtime.Thread

		Open []*runtime.Interrupt `json:"open,omitempty"`
	}{t, t.Open})
}

// same compares two texts of JSON, and shows a difference line by line.
func (tr *trial) same(want, got string) {
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

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// idsOf lists interrupts by id, which is what most clauses compare.
func idsOf(found []*runtime.Interrupt) []string {
	ids := make([]string, len(found))
	for n, i := range found {
		ids[n] = i.ID
	}
	return ids
}

func rowIDs(found []runtime.ThreadRow) []string {
	ids := make([]string, len(found))
	for n := range found {
		ids[n] = found[n].ID
	}
	return ids
}

func seqs(found []runtime.Entry) []int64 {
	out := make([]int64, len(found))
	for n := range found {
		out[n] = found[n].Seq
	}
	return out
}
