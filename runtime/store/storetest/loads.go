package storetest

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

func loadUnknown(tr *trial) {
	tr.commit(tr.asks("known", "q"))
	for _, id := range []string{"unknown", "", "KNOWN", "know", "known ", "know%", "know_"} {
		_, err := tr.Store.Load(tr.ctx, id)
		tr.refused(runtime.CodeNotFound, err)
	}
}

// loadPending asks in one commit, so that neither time nor id tells the order of the questions.
func loadPending(tr *trial) {
	names := []string{"q1", "q2", "q3", "q4", "q5", "q6", "q7"}
	tr.commit(tr.asks("a", names...), tr.asks("b", "other"))
	asked := idsOf(tr.records["a"].Open)
	require.Equal(tr, asked, idsOf(tr.load("a").Open), "in the order they were asked")
	tr.commit(tr.answers("a", "q2", `true`))
	c := tr.next("a")
	_, err := c.Escape(runtime.EscapeSafe, "ann", "wait")
	require.NoError(tr, err)
	c.Pause() // supersedes what is open
	tr.commit(c)
	tr.holdsAsCommitted("a", "b")
	require.Len(tr, tr.load("a").Open, 1)

	states := []runtime.InterruptState{
		runtime.InterruptQueued, runtime.InterruptAnswered, runtime.InterruptOpen, runtime.InterruptSuperseded,
		runtime.InterruptQueued, runtime.InterruptCancelled, runtime.InterruptOpen, runtime.InterruptExpired,
	}
	var want []string
	var brought []*runtime.Interrupt
	for n, state := range states {
		id := fmt.Sprintf("z%d", 9-n)
		brought = append(brought, &runtime.Interrupt{ID: id, State: state, Priority: n % 2})
		if state == runtime.InterruptOpen || state == runtime.InterruptQueued {
			want = append(want, id)
		}
	}
	tr.commit(tr.holds("c", brought...))
	require.Equal(tr, want, idsOf(tr.load("c").Open))
	brought[2].State, brought[4].State = runtime.InterruptQueued, runtime.InterruptOpen // a new state is no new place
	tr.commit(tr.holds("c", brought[4], brought[2]))
	assert.Equal(tr, want, idsOf(tr.load("c").Open))
}

// listAndLoadAgree is row 15 of the bugs elsewhere: a list left out what the record had.
func listAndLoadAgree(tr *trial) {
	pending := []runtime.InterruptState{runtime.InterruptOpen, runtime.InterruptQueued}
	agree := func() {
		var listed, loaded []string
		for _, row := range tr.threads(runtime.ThreadQuery{}) {
			loaded = append(loaded, idsOf(tr.load(row.ID).Open)...)
		}
		listed = idsOf(tr.interrupts(runtime.InterruptQuery{States: pending}))
		assert.ElementsMatch(tr, loaded, listed)
		for id, t := range tr.records {
			of := tr.interrupts(runtime.InterruptQuery{Thread: id, States: pending})
			assert.ElementsMatch(tr, idsOf(t.Open), idsOf(of))
			for _, i := range of {
				tr.same(text(t.Interrupt(i.ID)), text(i)) // the list shows the interrupt as the record has it
			}
		}
	}
	tr.commit(tr.asks("a", "q1", "q2"), tr.asks("b", "q3"))
	agree()
	c := tr.next("b")
	c.StepFailed("f1", runtime.Permanent(&runtime.Failure{Code: runtime.CodeInternal, Text: "broken"}), nil)
	tr.commit(c)
	agree()
	tr.commit(tr.answers("a", "q1", `{}`))
	agree()
	c = tr.next("a")
	c.Over(runtime.StatusCancelled, nil, nil, "ann")
	tr.commit(c)
	agree()
}

// dataAndInterrupt is row 14 of the bugs elsewhere: an ordinary write of the same step overwrote the interrupt.
func dataAndInterrupt(tr *trial) {
	data := func(c *runtime.Change) {
		c.Add(runtime.Entry{Type: runtime.EntryEffect, Frame: "f1", Name: "q", State: runtime.EffectDone, Value: raw(`"data"`)})
	}
	ask := func(c *runtime.Change) { c.Ask("f1", runtime.KindAgentQuestion, runtime.Question{Name: "q"}) }
	orders := map[string][]func(*runtime.Change){"data first": {data, ask}, "interrupt first": {ask, data}}
	for name, order := range orders {
		one, _ := tr.turn(name + ", one commit")
		order[0](one)
		order[1](one)
		tr.commit(one)
		id := name + ", two commits"
		two, _ := tr.turn(id)
		order[0](two)
		tr.commit(two)
		two = tr.next(id)
		order[1](two)
		tr.commit(two)
	}
	for id := range tr.records {
		t := tr.load(id)
		require.Len(tr, t.Open, 1, id)
		assert.Equal(tr, "q", t.Open[0].Name, id)
		effect := t.Frames[0].Effect("q")
		require.NotNil(tr, effect, id)
		assert.JSONEq(tr, `"data"`, string(effect.Value), id)
	}
	tr.holdsAsCommitted("data first, one commit", "data first, two commits", "interrupt first, one commit", "interrupt first, two commits")
}

// loadedStays holds a loaded record against later commits.
func loadedStays(tr *trial) {
	tr.commit(tr.asks("a", "q1", "q2"))
	loaded, listed := tr.load("a"), tr.interrupts(runtime.InterruptQuery{})
	before := record(loaded) + text(listed)
	tr.commit(tr.answers("a", "q1", `1`))
	tr.commit(tr.answers("a", "q2", `2`))
	assert.Equal(tr, before, record(loaded)+text(listed))
	require.Len(tr, tr.log(runtime.LogQuery{Thread: "a"}), 6)
}

// loadIsOneCommit loads while commits go on. An odd version has one interrupt open, of its own number, and an even one has none.
func loadIsOneCommit(tr *trial) {
	const commits = 80
	tr.commit(tr.asks("a", "1"))
	stop := make(chan struct{})
	wrong := make(chan string, 2)
	var readers sync.WaitGroup
	for range cap(wrong) {
		readers.Go(func() {
			for {
				if said := tr.torn(); said != "" {
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
		var c *runtime.Change
		if n%2 == 0 {
			c = tr.answers("a", strconv.Itoa(n-1), `true`)
		} else {
			c = tr.next("a")
			c.Ask("f1", runtime.KindAgentQuestion, runtime.Question{Name: strconv.Itoa(n)})
		}
		if err := tr.Store.Commit(tr.ctx, c); !assert.NoError(tr, err) {
			break
		}
		tr.records["a"] = c.Thread
		assert.Empty(tr, tr.torn())
	}
	close(stop)
	readers.Wait()
	close(wrong)
	for said := range wrong {
		assert.Fail(tr, said)
	}
}

// torn loads once, and says what is not of one commit.
func (tr *trial) torn() string {
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
