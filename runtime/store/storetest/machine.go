package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// matchesModel runs random lives of threads against the model: no interrupt is lost, doubled,
// answered twice or open again, whatever happens. Each life has its own node name and thread ids,
// so that they stand beside each other in one store.
func matchesModel(tr *trial) {
	life := 0
	rapid.Check(tr.TB, func(t *rapid.T) {
		life++
		w := &world{trial: tr.forPart(t), t: t, m: newModel(), name: fmt.Sprintf("life-%d", life),
			outer: tr}
		w.rules.NewID = tr.newID
		actions := map[string]func(*rapid.T){
			"": w.checkModel, "start": w.startThread, "ask": w.askMore, "answer": w.answerOne,
			"answer again": w.answerAgain, "claim": w.claimOne, "expire": w.expireThread,
			"cancel": w.cancelThread, "fork": w.forkThread, "escape": w.escapeThread,
			"stale":       w.commitStale,
			"two at once": w.commitTwo, "one of two loses": w.halfLost,
		}
		if w.Reopen != nil {
			actions["reopen"] = func(*rapid.T) {
				w.Store = w.Reopen()
				w.touched = w.m.threads
			}
		}
		w.cursor = w.lastCursor()
		w.startThread(t)
		t.Repeat(actions)
		w.touched = w.m.threads
		w.checkModel(t)
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
		page, next := w.logPage(cursor, 1000)
		if len(page) == 0 {
			return cursor
		}
		cursor = next
	}
	require.FailNow(w, "the log has no end")
	return 0
}

// nextChange starts a change of what the store has: nothing is carried over in memory.
func (w *world) nextChange(id string) *thread.Change {
	w.outer.now = w.outer.now.Add(time.Second)
	return thread.NewChange(w.mustLoad(id), w.rules, w.outer.now)
}

// commitAndCheck commits, and tells the model how many entries it was.
func (w *world) commitAndCheck(changes ...*thread.Change) {
	require.NoError(w, w.Store.Commit(w.ctx, changes...))
	for _, c := range changes {
		w.m.committed(c.Thread.ID, len(c.Entries))
		w.touched = append(w.touched, c.Thread.ID)
	}
}

// pick returns one of several names. Without any it starts a thread and skips the action, so that
// later actions have something to work on.
func (w *world) pick(label string, of []string) string {
	if len(of) == 0 {
		w.startThread(w.t)
		w.t.SkipNow()
	}
	return rapid.SampledFrom(of).Draw(w.t, label)
}

func (w *world) newThread() (*thread.Change, string) {
	id := fmt.Sprintf("%s/%d", w.name, len(w.m.threads))
	c := thread.Start(id, "ann", "fp", w.rules, w.outer.now)
	return c, c.Enter(thread.Frame{Machine: "workflow", Name: w.name}, "ann", "")
}

// askQuestion opens a question, and tells the model.
func (w *world) askQuestion(c *thread.Change, frame string) {
	c.Ask(frame, thread.KindAgentQuestion,
		thread.Question{Name: fmt.Sprintf("q%d", len(w.m.asked[c.Thread.ID]))})
	w.m.addQuestion(c.Thread.ID, c.Interrupts[len(c.Interrupts)-1].ID)
}

func (w *world) startThread(*rapid.T) {
	c, frame := w.newThread()
	w.askQuestion(c, frame)
	w.commitAndCheck(c)
}

func (w *world) askMore(*rapid.T) {
	c := w.nextChange(w.pick("thread", w.m.aliveThreads(false)))
	for range rapid.IntRange(1, 3).Draw(w.t, "questions") {
		w.askQuestion(c, "f1")
	}
	w.commitAndCheck(c)
}

// giveAnswer answers one open interrupt of a thread in a change.
func (w *world) giveAnswer(c *thread.Change) {
	id := w.pick("interrupt", w.m.openOf(c.Thread.ID))
	value := rapid.SampledFrom([]string{`null`, `false`, `0`, `""`, `{}`, `"yes"`}).
		Draw(w.t, "value")
	who := w.m.holder[id]
	if who == "" {
		who = "bob"
	}
	i, err := c.Answer(thread.Answer{Interrupt: id, Value: raw(value), By: who})
	require.NoError(w, err)
	require.Equal(w, thread.InterruptAnswered, i.State)
	w.m.state[id], w.m.answer[id] = thread.InterruptAnswered, value
}

func (w *world) answerOne(*rapid.T) {
	c := w.nextChange(w.pick("thread", w.m.aliveThreads(true)))
	w.giveAnswer(c)
	w.commitAndCheck(c)
}

// answerAgain gives an interrupt that has its answer another one, and the same.
func (w *world) answerAgain(*rapid.T) {
	id := w.pick("interrupt", w.m.closedIn(thread.InterruptAnswered))
	found := w.mustInterrupts(thread.InterruptQuery{ID: id})
	require.Len(w, found, 1)
	c := w.nextChange(found[0].Thread)
	_, err := c.Answer(thread.Answer{Interrupt: id, Value: raw(`"other"`), By: "eve"})
	w.requireCode(runtime.CodeNotFound, err)
	_, err = thread.Closed(found[0], &thread.Answer{Value: raw(`"other"`), By: "eve"})
	w.requireCode(runtime.CodeAlreadyAnswered, err)
	_, err = thread.Closed(found[0],
		&thread.Answer{Value: raw(w.m.answer[id]), By: found[0].AnsweredBy})
	require.NoError(w, err)
}

func (w *world) claimOne(*rapid.T) {
	c := w.nextChange(w.pick("thread", w.m.aliveThreads(true)))
	id := w.pick("interrupt", w.m.openOf(c.Thread.ID))
	if w.m.holder[id] != "" {
		w.requireCode(runtime.CodeConflict, c.Claim(id, "eve", false))
		return
	}
	require.NoError(w, c.Claim(id, "cyd", false))
	w.m.holder[id] = "cyd"
	w.commitAndCheck(c)
}

// expireThread lets all deadlines of a thread come: the first question fails its frame, and the
// turn with it.
func (w *world) expireThread(*rapid.T) {
	id := w.pick("thread", w.m.aliveThreads(true))
	c := thread.NewChange(w.mustLoad(id), w.rules, w.outer.now.Add(48*time.Hour))
	c.ApplyDue()
	w.m.state[w.m.openOf(id)[0]] = thread.InterruptExpired
	w.m.endThread(id)
	w.commitAndCheck(c)
}

func (w *world) cancelThread(*rapid.T) {
	c := w.nextChange(w.pick("thread", w.m.aliveThreads(false)))
	require.NoError(w, c.Cancel("ann", ""))
	w.m.endThread(c.Thread.ID)
	w.commitAndCheck(c)
}

// forkThread makes a thread that goes on from another, in one commit with a word about it in that
// one. It asks again, with its own ids.
func (w *world) forkThread(*rapid.T) {
	from := w.nextChange(w.pick("thread", w.m.aliveThreads(false)))
	from.Add(thread.Entry{Type: thread.EntryMessage, Name: "forked"})
	c, frame := w.newThread()
	c.Thread.ForkedFrom = &thread.Fork{Thread: from.Thread.ID, Seq: from.Thread.Seq}
	for range w.m.openOf(from.Thread.ID) {
		w.askQuestion(c, frame)
	}
	w.commitAndCheck(c, from)
	require.Equal(w, from.Thread.ID, w.mustLoad(c.Thread.ID).ForkedFrom.Thread)
}

// escapeThread pauses a thread, which takes the place of what is open, and goes on.
func (w *world) escapeThread(*rapid.T) {
	c := w.nextChange(w.pick("thread", w.m.aliveThreads(false)))
	id := c.Thread.ID
	_, err := c.Escape(thread.EscapeNow, "ann", "wait")
	require.NoError(w, err)
	c.Pause()
	w.m.closeOpen(id, thread.InterruptSuperseded)
	pause := c.Thread.Control.Interrupt
	w.m.addQuestion(id, pause)
	w.commitAndCheck(c)
	w.checkModel(w.t)
	c = w.nextChange(id)
	_, err = c.Answer(thread.Answer{Interrupt: pause, Value: raw(`"continue"`), By: "ann"})
	require.NoError(w, err)
	w.m.state[pause], w.m.answer[pause] = thread.InterruptAnswered, `"continue"`
	w.commitAndCheck(c)
}

// commitStale commits a change of a version that is over.
func (w *world) commitStale(*rapid.T) {
	c := w.nextChange(w.pick("thread", w.m.aliveThreads(false)))
	other := w.nextChange(c.Thread.ID)
	other.Add(thread.Entry{Type: thread.EntryMessage})
	w.commitAndCheck(other)
	require.NoError(w, c.Cancel("late", ""))
	w.mustConflict(c)
}

// commitTwo changes two threads in one commit.
func (w *world) commitTwo(*rapid.T) {
	a := w.nextChange(w.pick("thread", w.m.aliveThreads(true)))
	w.giveAnswer(a)
	b, frame := w.newThread()
	w.askQuestion(b, frame)
	w.commitAndCheck(a, b)
}

// halfLost is refused as a whole, since one of its two changes loses.
func (w *world) halfLost(*rapid.T) {
	a := w.nextChange(w.pick("thread", w.m.aliveThreads(true)))
	_, err := a.Answer(thread.Answer{Interrupt: w.m.openOf(a.Thread.ID)[0], Value: raw(`"lost"`),
		By: "cyd"})
	require.NoError(w, err)
	b := thread.Start(w.m.threads[0], "", "", w.rules, w.outer.now)
	if b.Thread.ID != a.Thread.ID {
		w.mustConflict(a, b)
	}
}

// checkModel compares what the store shows of this life with the model: the threads that changed,
// the inbox, and the log from where it was read.
func (w *world) checkModel(*rapid.T) {
	for _, id := range slices.Compact(slices.Sorted(slices.Values(w.touched))) {
		w.checkThread(id)
	}
	w.touched = nil
	var listed []string
	for _, i := range w.mustInterrupts(thread.InterruptQuery{Nodes: []string{w.name, ""},
		Limit: 10_000}) {
		if w.m.commits[i.Thread] > 0 {
			listed = append(listed, i.ID)
		}
	}
	require.ElementsMatch(w, w.m.inbox(), listed)
	for _, e := range w.mustLog(thread.LogQuery{After: w.cursor, Limit: 10_000}) {
		w.read = append(w.read, e.Thread)
		w.cursor = e.Cursor
	}
	require.Equal(w, w.m.log, w.read)
}

func (w *world) checkThread(id string) {
	t := w.mustLoad(id)
	require.Equal(w, w.m.commits[id], t.Version)
	require.Equal(w, w.m.entries[id], t.Seq)
	require.Equal(w, w.m.over[id], t.Over != "")
	require.Equal(w, orEmpty(w.m.openOf(id)), idsOf(t.Open))
	all := w.mustInterrupts(thread.InterruptQuery{Thread: id, Limit: 1000})
	require.ElementsMatch(w, w.m.asked[id], idsOf(all))
	for _, i := range all {
		require.Equal(w, w.m.state[i.ID], i.State)
		require.Equal(w, w.m.answer[i.ID], string(i.Answer))
		require.Equal(w, w.m.holder[i.ID], i.ClaimedBy)
	}
	require.Len(w, w.mustLog(thread.LogQuery{Thread: id, Limit: 1000}), int(w.m.entries[id]))
}

func orEmpty(ids []string) []string {
	if ids == nil {
		return []string{}
	}
	return ids
}
