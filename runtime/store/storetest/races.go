package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// oneWinner has several writers race for each version of a thread, the first included.
func oneWinner(tr *trial) {
	for round := range rounds {
		contest := make([]*thread.Change, writers)
		for w := range contest {
			contest[w] = tr.sayChange("a", fmt.Sprintf("writer %d", w))
			contest[w].Thread.User = fmt.Sprintf("writer %d", w)
		}
		won := tr.commitRacing(contest)
		require.Len(tr, won, 1, "writers that won version %d", round+1)
		tr.records["a"] = won[0].Thread
		tr.holdsAsCommitted("a")
	}
	assert.Len(tr, tr.mustLog(thread.LogQuery{Thread: "a", Limit: 1000}), rounds+1)
}

// oneRequest has writers race with one request id, on versions of their own making.
func oneRequest(tr *trial) {
	tr.mustCommit(tr.sayChange("a", "begins"))
	for round := range rounds {
		contest := make([]*thread.Change, writers)
		for w := range contest {
			contest[w] = tr.requestChange("a", fmt.Sprintf("r%d", round))
		}
		won := tr.commitRacing(contest)
		require.Len(tr, won, 1)
		tr.records["a"] = won[0].Thread
		tr.mustConflict(tr.requestChange("a", fmt.Sprintf("r%d", round)))
		assert.Len(tr, tr.mustLog(thread.LogQuery{Thread: "a", Request: fmt.Sprintf("r%d", round)}),
			1)
	}
}

// commitRacing commits all at the same time, and returns those that won. The others must have lost
// by conflict.
func (tr *trial) commitRacing(contest []*thread.Change) []*thread.Change {
	tr.Helper()
	errs := make([]error, len(contest))
	start := make(chan struct{})
	var all sync.WaitGroup
	for w, c := range contest {
		all.Go(func() {
			<-start
			errs[w] = tr.Store.Commit(tr.ctx, c)
		})
	}
	close(start)
	all.Wait()
	var won []*thread.Change
	for w, err := range errs {
		if err == nil {
			won = append(won, contest[w])
		} else {
			assert.Equal(tr, runtime.CodeConflict, runtime.CodeOf(err), "%v", err)
		}
	}
	return won
}

// crossing commits two threads together, in both orders, from several writers: neither may wait for
// the other for ever, and no half of a commit may ever be seen.
func crossing(tr *trial) {
	tr.mustCommit(tr.sayChange("a", "begins"), tr.sayChange("b", "begins"))
	base := map[string]*thread.Thread{"a": tr.records["a"], "b": tr.records["b"]}
	var mu sync.Mutex
	var all sync.WaitGroup
	errs := make(chan error, writers)
	for w := range writers {
		order := []string{"a", "b"}
		if w%2 == 1 {
			order = []string{"b", "a"}
		}
		all.Go(func() {
			for done, tries := 0, 0; done < rounds; tries++ {
				if tries > 10_000 {
					errs <- errors.New("no client makes progress: a refused commit left " +
						"something behind")
					return
				}
				mu.Lock()
				changes := make([]*thread.Change, len(order))
				for n, id := range order {
					changes[n] = thread.NewChange(base[id], tr.rules, tr.now)
					changes[n].Add(thread.Entry{Type: thread.EntryMessage})
				}
				mu.Unlock()
				err := tr.Store.Commit(tr.ctx, changes...)
				switch {
				case err == nil:
					done++
					mu.Lock()
					for n, id := range order {
						base[id] = changes[n].Thread
					}
					mu.Unlock()
				case runtime.CodeOf(err) != runtime.CodeConflict:
					errs <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		require.NoError(tr, err)
	}
	for _, id := range []string{"a", "b"} {
		assert.Equal(tr, int64(writers*rounds+1), tr.mustLoad(id).Version)
		assert.Len(tr, tr.mustLog(thread.LogQuery{Thread: id, Limit: 10_000}), writers*rounds+2)
	}
}

// registerCall is one operation of a history: a load, or an answer committed on a version.
type registerCall struct {
	thread string
	answer string // "" is a load
	before int64
}

// registerState is what a call came to: for a load what was there, and for a commit whether it won.
type registerState struct {
	version int64
	answer  string
	won     bool
}

// register is the model that a history must fit: a version and the last answer, changed by
// compare-and-set.
var register = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		var parts [][]porcupine.Operation
		of := map[string]int{}
		for _, op := range history {
			id := op.Input.(registerCall).thread //nolint:forcetypeassert // made by us
			n, known := of[id]
			if !known {
				n = len(parts)
				of[id] = n
				parts = append(parts, nil)
			}
			parts[n] = append(parts[n], op)
		}
		return parts
	},
	Init: func() any { return registerState{version: 1} },
	Step: func(state, input, output any) (bool, any) {
		//nolint:forcetypeassert // made by us
		s, in, out := state.(registerState), input.(registerCall), output.(registerState)
		switch {
		case in.answer == "":
			return s.version == out.version && s.answer == out.answer, s
		case out.won:
			return s.version == in.before, registerState{version: in.before + 1, answer: in.answer}
		default:
			return s.version != in.before, s
		}
	},
}

// linearizable records what several clients saw while they loaded and answered the same two
// threads, and looks for one order of events that explains it all.
func linearizable(tr *trial) {
	ids := []string{"a", "b"}
	for _, id := range ids {
		tr.mustCommit(tr.askChange(id, "q"))
	}
	var clock atomic.Int64
	histories := make([][]porcupine.Operation, writers)
	errs := make([]error, writers)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := range rounds {
				ops, err := tr.runClient(w, ids[(w+n)%len(ids)], fmt.Sprintf("%d.%d", w, n), &clock)
				histories[w] = append(histories[w], ops...)
				if err != nil {
					errs[w] = err
					return
				}
			}
		})
	}
	all.Wait()
	var history []porcupine.Operation
	for w := range histories {
		require.NoError(tr, errs[w])
		history = append(history, histories[w]...)
	}
	assert.Equal(tr, porcupine.Ok, porcupine.CheckOperationsTimeout(register, history, time.Minute),
		"no order of events explains what was seen")
}

// runClient loads a thread and answers the question that it found open, with an answer of its own.
func (tr *trial) runClient(client int, id, answer string, clock *atomic.Int64) (
	[]porcupine.Operation,
	error) {
	load := porcupine.Operation{ClientId: client, Input: registerCall{thread: id},
		Call: clock.Add(1)}
	t, err := tr.Store.Load(tr.ctx, id)
	load.Return = clock.Add(1)
	if err != nil {
		return nil, err
	}
	found := registerState{version: t.Version}
	if replies := t.Frames[0].Replies; len(replies) > 0 {
		found.answer = string(replies[len(replies)-1].Value)
	}
	load.Output = found
	c := thread.NewChange(t, tr.rules, tr.now)
	answer = fmt.Sprintf("%q", answer)
	if _, err := c.Answer(thread.Answer{Value: raw(answer), By: "bob"}); err != nil {
		return []porcupine.Operation{load}, fmt.Errorf("version %d: %w", t.Version, err)
	}
	rules := *tr.rules
	rules.NewID = func() string { return "i" + answer }
	c = nextStep(c, &rules)
	commit := porcupine.Operation{ClientId: client,
		Input: registerCall{thread: id, answer: answer, before: t.Version}, Call: clock.Add(1)}
	err = tr.Store.Commit(tr.ctx, c)
	commit.Return = clock.Add(1)
	commit.Output = registerState{won: err == nil}
	if runtime.CodeOf(err) == runtime.CodeConflict {
		err = nil
	}
	return []porcupine.Operation{load, commit}, err
}

// nextStep asks the next question in the same commit. It does so by a change of its own, whose ids
// no other client makes.
func nextStep(c *thread.Change, rules *thread.Rules) *thread.Change {
	next := thread.NewChange(c.Thread, rules, c.Now)
	next.Ask("f1", thread.KindAgentQuestion,
		thread.Question{Name: fmt.Sprintf("q%d", next.Thread.Version)})
	next.Thread.Version, next.Before = c.Thread.Version, c.Before
	next.Entries = append(c.Entries, next.Entries...)
	next.Interrupts = append(c.Interrupts, next.Interrupts...)
	return next
}
