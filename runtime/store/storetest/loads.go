package storetest

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

func loadUnknown(tr *trial) {
	tr.mustCommit(tr.askChange("known", "q"))
	for _, id := range []string{"unknown", "", "KNOWN", "know", "known ", "know%", "know_"} {
		_, err := tr.Store.Load(tr.ctx, id)
		tr.requireCode(runtime.CodeNotFound, err)
	}
}

// loadPending asks in one commit, so that neither time nor id tells the order of the questions.
func loadPending(tr *trial) {
	names := []string{"q1", "q2", "q3", "q4", "q5", "q6", "q7"}
	tr.mustCommit(tr.askChange("a", names...), tr.askChange("b", "other"))
	asked := idsOf(tr.records["a"].Open)
	require.Equal(tr, asked, idsOf(tr.mustLoad("a").Open), "in the order they were asked")
	tr.mustCommit(tr.answerChange("a", "q2", `true`))
	c := tr.nextChange("a")
	_, err := c.Escape(thread.EscapeSafe, "ann", "wait")
	require.NoError(tr, err)
	c.Pause() // supersedes what is open
	tr.mustCommit(c)
	tr.holdsAsCommitted("a", "b")
	require.Len(tr, tr.mustLoad("a").Open, 1)

	states := []thread.InterruptState{
		thread.InterruptQueued, thread.InterruptAnswered, thread.InterruptOpen,
		thread.InterruptSuperseded,
		thread.InterruptQueued, thread.InterruptCancelled, thread.InterruptOpen,
		thread.InterruptExpired,
	}
	var want []string
	var brought []*thread.Interrupt
	for n, state := range states {
		id := fmt.Sprintf("z%d", 9-n)
		brought = append(brought, &thread.Interrupt{ID: id, State: state, Priority: n % 2})
		if state == thread.InterruptOpen || state == thread.InterruptQueued {
			want = append(want, id)
		}
	}
	tr.mustCommit(tr.interruptChange("c", brought...))
	require.Equal(tr, want, idsOf(tr.mustLoad("c").Open))
	// a new state is no new place
	brought[2].State, brought[4].State = thread.InterruptQueued, thread.InterruptOpen
	tr.mustCommit(tr.interruptChange("c", brought[4], brought[2]))
	assert.Equal(tr, want, idsOf(tr.mustLoad("c").Open))
}

// listAndLoadAgree is row 15 of the bugs elsewhere: a list left out what the record had.
func listAndLoadAgree(tr *trial) {
	pending := []thread.InterruptState{thread.InterruptOpen, thread.InterruptQueued}
	agree := func() {
		var listed, loaded []string
		for _, row := range tr.mustThreads(thread.Query{}) {
			loaded = append(loaded, idsOf(tr.mustLoad(row.ID).Open)...)
		}
		listed = idsOf(tr.mustInterrupts(thread.InterruptQuery{States: pending}))
		assert.ElementsMatch(tr, loaded, listed)
		for id, t := range tr.records {
			of := tr.mustInterrupts(thread.InterruptQuery{Thread: id, States: pending})
			assert.ElementsMatch(tr, idsOf(t.Open), idsOf(of))
			for _, i := range of {
				// the list shows the interrupt as the record has it
				tr.requireSame(jsonText(t.Interrupt(i.ID)), jsonText(i))
			}
		}
	}
	tr.mustCommit(tr.askChange("a", "q1", "q2"), tr.askChange("b", "q3"))
	agree()
	c := tr.nextChange("b")
	c.StepFailed("f1", thread.Permanent(&thread.Failure{Code: runtime.CodeInternal,
		Text: "broken"}), nil)
	tr.mustCommit(c)
	agree()
	tr.mustCommit(tr.answerChange("a", "q1", `{}`))
	agree()
	c = tr.nextChange("a")
	c.Over(thread.StatusCancelled, nil, nil, "ann")
	tr.mustCommit(c)
	agree()
}

// dataAndInterrupt is row 14 of the bugs elsewhere: an ordinary write of the same step overwrote
// the interrupt.
func dataAndInterrupt(tr *trial) {
	data := func(c *thread.Change) {
		c.Add(thread.Entry{Type: thread.EntryEffect, Frame: "f1", Name: "q",
			State: thread.EffectDone, Value: raw(`"data"`)})
	}
	ask := func(c *thread.Change) {
		c.Ask("f1", thread.KindAgentQuestion, thread.Question{Name: "q"})
	}
	orders := map[string][]func(*thread.Change){"data first": {data, ask},
		"interrupt first": {ask, data}}
	for name, order := range orders {
		one, _ := tr.startTurn(name + ", one commit")
		order[0](one)
		order[1](one)
		tr.mustCommit(one)
		id := name + ", two commits"
		two, _ := tr.startTurn(id)
		order[0](two)
		tr.mustCommit(two)
		two = tr.nextChange(id)
		order[1](two)
		tr.mustCommit(two)
	}
	for id := range tr.records {
		t := tr.mustLoad(id)
		require.Len(tr, t.Open, 1, id)
		assert.Equal(tr, "q", t.Open[0].Name, id)
		effect := t.Frames[0].Effect("q")
		require.NotNil(tr, effect, id)
		assert.JSONEq(tr, `"data"`, string(effect.Value), id)
	}
	tr.holdsAsCommitted("data first, one commit", "data first, two commits",
		"interrupt first, one commit", "interrupt first, two commits")
}

// loadedStays holds a loaded record against later commits.
func loadedStays(tr *trial) {
	tr.mustCommit(tr.askChange("a", "q1", "q2"))
	loaded, listed := tr.mustLoad("a"), tr.mustInterrupts(thread.InterruptQuery{})
	before := recordText(loaded) + jsonText(listed)
	tr.mustCommit(tr.answerChange("a", "q1", `1`))
	tr.mustCommit(tr.answerChange("a", "q2", `2`))
	assert.Equal(tr, before, recordText(loaded)+jsonText(listed))
	require.Len(tr, tr.mustLog(thread.LogQuery{Thread: "a"}), 6)
}

// loadIsOneCommit loads while commits go on. An odd version has one interrupt open, of its own
// number, and an even one has none.
func loadIsOneCommit(tr *trial) {
	const commits = 80
	tr.mustCommit(tr.askChange("a", "1"))
	stop := make(chan struct{})
	wrong := make(chan string, 2)
	var readers sync.WaitGroup
	for range cap(wrong) {
		readers.Go(func() {
			for {
				if said := tr.findTorn(); said != "" {
					wrong <- said
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for n := 2; n <= commits; n++ {
		var c *thread.Change
		if n%2 == 0 {
			c = tr.answerChange("a", strconv.Itoa(n-1), `true`)
		} else {
			c = tr.nextChange("a")
			c.Ask("f1", thread.KindAgentQuestion, thread.Question{Name: strconv.Itoa(n)})
		}
		if err := tr.Store.Commit(tr.ctx, c); !assert.NoError(tr, err) {
			break
		}
		tr.records["a"] = c.Thread
		assert.Empty(tr, tr.findTorn())
	}
	close(stop)
	readers.Wait()
	close(wrong)
	for said := range wrong {
		assert.Fail(tr, said)
	}
}

// findTorn loads once, and says what is not of one commit.
func (tr *trial) findTorn() string {
	t, err := tr.Store.Load(tr.ctx, "a")
	switch {
	case err != nil:
		return err.Error()
	case int64(len(t.Open)) != t.Version%2:
		return fmt.Sprintf("version %d was loaded with %d open interrupts", t.Version, len(t.Open))
	case len(t.Open) == 1 && t.Open[0].Name != strconv.FormatInt(t.Version, 10):
		return fmt.Sprintf("version %d was loaded with interrupt %s", t.Version, t.Open[0].Name)
	}
	return ""
}
