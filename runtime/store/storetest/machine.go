package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/runtime"
)

// modelled runs random lives of threads against the model: no interrupt is lost, doubled, answered twice or open again, whatever happens.
// Each life has its own node name and thread ids, so that they stand beside each other in one store.
func modelled(tr *trial) {
	life := 0
	rapid.Check(tr.TB, func(t *rapid.T) {
		life++
		w := &world{trial: tr.with(t), t: t, m: newModel(), name: fmt.Sprintf("life-%d", life), outer: tr}
		w.rules.NewID = tr.newID
		actions := map[string]func(*rapid.T){
			"": w.check, "start": w.start, "ask": w.ask, "answer": w.answer, "answer again": w.answerAgain, "claim": w.claim, "expire": w.expire,
			"cancel": w.cancel, "fork": w.fork, "escape": w.escape, "stale": w.stale, "two at once": w.two, "one of two loses": w.halfLost,
		}
		if w.Reopen != nil {
			actions["reopen"] = func(*rapid.T) {
				w.Store = w.Reopen()
				w.touched = w.m.threads
			}
		}
		w.cursor = w.lastCursor()
		w.start(t)
		t.Repeat(actions)
		w.touched = w.m.threads
		w.check(t)
	})
}

// world is one life.
type world struct {
	*trial

	outer   *trial
	t       *rapid.T
	m       *model
	name    string
	touched []string // threads to be checked
	cursor  int64    // how far the log was checked
	read    []string // threads of the entries up to there
}

// lastCursor goes to the end of the log.
func (w *world) lastCursor() (cursor int64) {
	const pages = 1000 // more than all lives can fill
	for range pages {
		page, next := w.page(cursor, 1000)
		if len(page) == 0 {
			return cursor
		}
		cursor = next
	}
	require.FailNow(w, "the log has no end")
	return 0
}

// begin starts a change of what the store has: nothing is carried over in memory.
func (w *world) begin(id string) *runtime.Change {
	w.outer.now = w.outer.now.Add(time.Second)
	return runtime.NewChange(w.load(id), w.rules, w.outer.now)
}

// done commits, and tells the model how many entries it was.
func (w *world) done(changes ...*runtime.Change) {
	require.NoError(w, w.Store.Commit(w.ctx, changes...))
	for _, c := range changes {
		w.m.committed(c.Thread.ID, len(c.Entries))
		w.touched = append(w.touched, c.Thread.ID)
	}
}

// one picks one of some. Where there is none it skips the action, and starts a thread, so that the next ones find something: a life in which
// nothing is possible any more would be no test.
func (w *world) one(label string, of []string) string {
	if len(of) == 0 {
		w.start(w.t)
		w.t.SkipNow()
	}
	return rapid.SampledFrom(of).Draw(w.t, label)
}

func (w *world) fresh() (*runtime.Change, string) {
	id := fmt.Sprintf("%s/%d", w.name, len(w.m.threads))
	c := runtime.Start(id, "ann", "fp", w.rules, w.outer.now)
	return c, c.Enter(runtime.Frame{Machine: "workflow", Name: w.name}, "ann", "")
}

// question opens a question, and tells the model.
func (w *world) question(c *runtime.Change, frame string) {
	c.Ask(frame, runtime.KindAgentQuestion, runtime.Question{Name: fmt.Sprintf("q%d", len(w.m.asked[c.Thread.ID]))})
	w.m.ask(c.Thread.ID, c.Interrupts[len(c.Interrupts)-1].ID)
}

func (w *world) start(*rapid.T) {
	c, frame := w.fresh()
	w.question(c, frame)
	w.done(c)
}

func (w *world) ask(*rapid.T) {
	c := w.begin(w.one("thread", w.m.alive(false)))
	for range rapid.IntRange(1, 3).Draw(w.t, "questions") {
		w.question(c, "f1")
	}
	w.done(c)
}

// reply answers one open interrupt of a thread in a change.
func (w *world) reply(c *runtime.Change) {
	id := w.one("interrupt", w.m.open(c.Thread.ID))
	value := rapid.SampledFrom([]string{`null`, `false`, `0`, `""`, `{}`, `"yes"`}).Draw(w.t, "value")
	who := w.m.holder[id]
	if who == "" {
		who = "bob"
	}
	i, err := c.Answer(runtime.Answer{Interrupt: id, Value: raw(value), By: who})
	require.NoError(w, err)
	require.Equal(w, runtime.InterruptAnswered, i.State)
	w.m.state[id], w.m.answer[id] = runtime.InterruptAnswered, value
}

func (w *world) answer(*rapid.T) {
	c := w.begin(w.one("thread", w.m.alive(true)))
	w.reply(c)
	w.done(c)
}

// answerAgain gives an interrupt that has its answer another one, and the same.
func (w *world) answerAgain(*rapid.T) {
	id := w.one("interrupt", w.m.closed(runtime.InterruptAnswered))
	found := w.interrupts(runtime.InterruptQuery{ID: id})
	require.Len(w, found, 1)
	c := w.begin(found[0].Thread)
	_, err := c.Answer(runtime.Answer{Interrupt: id, Value: raw(`"other"`), By: "eve"})
	w.refused(runtime.CodeNotFound, err)
	_, err = runtime.Closed(found[0], &runtime.Answer{Value: raw(`"other"`), By: "eve"})
	w.refused(runtime.CodeAlreadyAnswered, err)
	_, err = runtime.Closed(found[0], &runtime.Answer{Value: raw(w.m.answer[id]), By: found[0].AnsweredBy})
	require.NoError(w, err)
}

func (w *world) claim(*rapid.T) {
	c := w.begin(w.one("thread", w.m.alive(true)))
	id := w.one("interrupt", w.m.open(c.Thread.ID))
	if w.m.holder[id] != "" {
		w.refused(runtime.CodeConflict, c.Claim(id, "eve", false))
		return
	}
	require.NoError(w, c.Claim(id, "cyd", false))
	w.m.holder[id] = "cyd"
	w.done(c)
}

// expire lets all deadlines of a thread come: the first question fails its frame, and the turn with it.
func (w *world) expire(*rapid.T) {
	id := w.one("thread", w.m.alive(true))
	c := runtime.NewChange(w.load(id), w.rules, w.outer.now.Add(48*time.Hour))
	c.Due()
	w.m.state[w.m.open(id)[0]] = runtime.InterruptExpired
	w.m.end(id)
	w.done(c)
}

func (w *world) cancel(*rapid.T) {
	c := w.begin(w.one("thread", w.m.alive(false)))
	require.NoError(w, c.Cancel("ann", ""))
	w.m.end(c.Thread.ID)
	w.done(c)
}

// fork makes a thread that goes on from another, in one commit with a word about it in that one. It asks anew, with its own ids.
func (w *world) fork(*rapid.T) {
	from := w.begin(w.one("thread", w.m.alive(false)))
	from.Add(runtime.Entry{Type: runtime.EntryMessage, Name: "forked"})
	c, frame := w.fresh()
	c.Thread.ForkedFrom = &runtime.Fork{Thread: from.Thread.ID, Seq: from.Thread.Seq}
	for range w.m.open(from.Thread.ID) {
		w.question(c, frame)
	}
	w.done(c, from)
	require.Equal(w, from.Thread.ID, w.load(c.Thread.ID).ForkedFrom.Thread)
}

// escape pauses a thread, which takes the place of what is open, and goes on.
func (w *world) escape(*rapid.T) {
	c := w.begin(w.one("thread", w.m.alive(false)))
	id := c.Thread.ID
	_, err := c.Escape(runtime.EscapeNow, "ann", "wait")
	require.NoError(w, err)
	c.Pause()
	w.m.close(id, runtime.InterruptSuperseded)
	pause := c.Thread.Control.Interrupt
	w.m.ask(id, pause)
	w.done(c)
	w.check(w.t)
	c = w.begin(id)
	_, err = c.Answer(runtime.Answer{Interrupt: pause, Value: raw(`"continue"`), By: "ann"})
	require.NoError(w, err)
	w.m.state[pause], w.m.answer[pause] = runtime.InterruptAnswered, `"continue"`
	w.done(c)
}

// stale commits a change of a version that is over.
func (w *world) stale(*rapid.T) {
	c := w.begin(w.one("thread", w.m.alive(false)))
	other := w.begin(c.Thread.ID)
	other.Add(runtime.Entry{Type: runtime.EntryMessage})
	w.done(other)
	require.NoError(w, c.Cancel("late", ""))
	w.loses(c)
}

// two changes two threads in one commit.
func (w *world) two(*rapid.T) {
	a := w.begin(w.one("thread", w.m.alive(true)))
	w.reply(a)
	b, frame := w.fresh()
	w.question(b, frame)
	w.done(a, b)
}

// halfLost is refused as a whole, since one of its two changes loses.
func (w *world) halfLost(*rapid.T) {
	a := w.begin(w.one("thread", w.m.alive(true)))
	_, err := a.Answer(runtime.Answer{Interrupt: w.m.open(a.Thread.ID)[0], Value: raw(`"lost"`), By: "cyd"})
	require.NoError(w, err)
	b := runtime.Start(w.m.threads[0], "", "", w.rules, w.outer.now)
	if b.Thread.ID != a.Thread.ID {
		w.loses(a, b)
	}
}

// check compares what the store shows of this life with the model: the threads that changed, the inbox, and the log from where it was read.
func (w *world) check(*rapid.T) {
	for _, id := range slices.Compact(slices.Sorted(slices.Values(w.touched))) {
		w.checkThread(id)
	}
	w.touched = nil
	var listed []string
	for _, i := range w.interrupts(runtime.InterruptQuery{Nodes: []string{w.name, ""}, Limit: 10_000}) {
		if w.m.commits[i.Thread] > 0 {
			listed = append(listed, i.ID)
		}
	}
	require.ElementsMatch(w, w.m.inbox(), listed)
	for _, e := range w.log(runtime.LogQuery{After: w.cursor, Limit: 10_000}) {
		w.read = append(w.read, e.Thread)
		w.cursor = e.Cursor
	}
	require.Equal(w, w.m.log, w.read)
}

func (w *world) checkThread(id string) {
	t := w.load(id)
	require.Equal(w, w.m.commits[id], t.Version)
	require.Equal(w, w.m.entries[id], t.Seq)
	require.Equal(w, w.m.over[id], t.Over != "")
	require.Equal(w, orEmpty(w.m.open(id)), idsOf(t.Open))
	all := w.interrupts(runtime.InterruptQuery{Thread: id, Limit: 1000})
	require.ElementsMatch(w, w.m.asked[id], idsOf(all))
	for _, i := range all {
		require.Equal(w, w.m.state[i.ID], i.State)
		require.Equal(w, w.m.answer[i.ID], string(i.Answer))
		require.Equal(w, w.m.holder[i.ID], i.ClaimedBy)
	}
	require.Len(w, w.log(runtime.LogQuery{Thread: id, Limit: 1000}), int(w.m.entries[id]))
}

func orEmpty(ids []string) []string {
	if ids == nil {
		return []string{}
	}
	return ids
}
