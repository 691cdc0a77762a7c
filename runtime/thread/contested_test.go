package thread_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// contest is two callers who decide differently about the same thing, through two engines or one.
type contest struct {
	engines int
	begin   func(c *round) // before the two meet
	first   func(c *round) error
	second  func(c *round) error
}

// round is one contest about one thread.
type round struct {
	*testing.T
	id      string
	engines []*thread.Engine
	store   thread.Store
}

func (c *round) start(n, input int) error {
	_, err := c.engines[n%len(c.engines)].Start(c.Context(),
		thread.Begin{ID: c.id, Machine: "payer", Input: input})
	return err
}

func (c *round) asked() {
	c.Helper()
	th, err := c.engines[0].Wait(c.Context(), c.id)
	require.NoError(c, err)
	require.NotNil(c, askedBy(th, "sure"), "%s", th.Status())
}

func (c *round) answer(n int, sure bool) error {
	_, err := c.engines[n%len(c.engines)].Answer(c.Context(), c.id,
		thread.Answer{Question: "sure", Value: json.RawMessage(strconv.FormatBool(sure)),
			By: fmt.Sprint("caller ", n)})
	return err
}

func (c *round) answerAll(n int, sure bool) error {
	found, err := c.store.Interrupts(c.Context(), thread.InterruptQuery{Thread: c.id})
	require.NoError(c, err)
	require.Len(c, found, 1)
	_, err = c.engines[n%len(c.engines)].AnswerAll(c.Context(),
		thread.Answer{Interrupt: found[0].ID, Value: json.RawMessage(strconv.FormatBool(sure)),
			By: fmt.Sprint("caller ", n)})
	return err
}

var contests = map[string]contest{
	"an answer and a batch, one engine": {
		engines: 1,
		begin:   func(c *round) { require.NoError(c, c.start(0, 5)); c.asked() },
		first:   func(c *round) error { return c.answer(0, true) },
		second:  func(c *round) error { return c.answerAll(1, false) },
	},
	"two answers, two engines": {
		engines: 2,
		begin:   func(c *round) { require.NoError(c, c.start(0, 5)); c.asked() },
		first:   func(c *round) error { return c.answer(0, true) },
		second:  func(c *round) error { return c.answer(1, false) },
	},
	"two starts of one id, two engines": {
		engines: 2,
		begin:   func(*round) {},
		first:   func(c *round) error { return c.start(0, 5) },
		second:  func(c *round) error { return c.start(1, 999) },
	},
	"two starts of one id, one engine": {
		engines: 1,
		begin:   func(*round) {},
		first:   func(c *round) error { return c.start(0, 5) },
		second:  func(c *round) error { return c.start(0, 999) },
	},
}

// payer charges and pays on what it was told; its effects say on what they were done.
var payer = thread.Func("payer", func(ctx context.Context, amount int) (string, error) {
	charged, err := thread.Do(ctx, "charge", func(context.Context, string) (int, error) {
		return amount, nil
	})
	if err != nil {
		return "", err
	}
	sure, err := thread.Ask[bool](ctx, "sure", thread.Question{Text: "Sure?"})
	if err != nil {
		return "", err
	}
	paid, err := thread.Do(ctx, "pay", func(context.Context, string) (bool, error) {
		return sure, nil
	})
	return fmt.Sprint(charged, " ", paid), err
})

// Of two callers who decide differently one counts, and nothing of the other is found in the
// thread: its effects and its result are those of the input and the answer that are stored.
func TestOnlyTheStoredDecisionIsCarriedOut(t *testing.T) {
	t.Parallel()
	for name, c := range contests {
		for _, kind := range []string{"mem", "sqlite"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				var store thread.Store = mem.Open()
				if kind == "sqlite" {
					disk, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "threads.db"),
						sqlite.Config{})
					require.NoError(t, err)
					t.Cleanup(func() { assert.NoError(t, disk.Close()) })
					store = disk
				}
				var engines []*thread.Engine
				for range c.engines {
					e, err := thread.Open(t.Context(), store, thread.Config{}, payer)
					require.NoError(t, err)
					t.Cleanup(func() {
						assert.NoError(t, e.Close(context.WithoutCancel(t.Context())))
					})
					engines = append(engines, e)
				}
				for n := range contestRounds {
					(&round{T: t, id: fmt.Sprint("t-", n), engines: engines, store: store}).play(c)
				}
			})
		}
	}
}

func (c *round) play(of contest) {
	c.Helper()
	of.begin(c)
	var both sync.WaitGroup
	var errs [2]error
	both.Go(func() { errs[0] = of.first(c) })
	both.Go(func() { errs[1] = of.second(c) })
	both.Wait()
	require.NotEqual(c, errs[0] == nil, errs[1] == nil, "one of the two counts: %v, %v", errs[0],
		errs[1])

	th, err := c.engines[0].Wait(c.Context(), c.id)
	require.NoError(c, err)
	if askedBy(th, "sure") != nil {
		require.NoError(c, c.answer(0, true))
		th, err = c.engines[0].Wait(c.Context(), c.id)
		require.NoError(c, err)
	}
	require.Equal(c, thread.StatusDone, th.Status())
	log, err := c.store.Log(c.Context(), thread.LogQuery{Thread: c.id})
	require.NoError(c, err)
	var input, answer string
	effects := map[string]string{}
	for _, e := range log {
		switch e.Type {
		case thread.EntryEntered:
			input = string(e.Value)
		case thread.EntryAnswered:
			answer = string(e.Value)
		case thread.EntryEffect:
			require.NotContains(c, effects, e.Name, "%s: an effect has one result", c.id)
			effects[e.Name] = string(e.Value)
		default:
		}
	}
	require.Equal(c, map[string]string{"charge": input, "pay": answer}, effects, c.id)
	require.JSONEq(c, fmt.Sprintf("%q", input+" "+answer), string(th.Result), c.id)
}

// Two messages that come to one thread through two engines: each turn is done on its own message,
// and a message that is refused is found nowhere.
func TestEachTurnIsDoneOnItsOwnMessage(t *testing.T) {
	t.Parallel()
	echo := thread.Turns("echo", func(ctx context.Context, text string) (string, error) {
		return thread.Do(ctx, "echo", func(context.Context, string) (string, error) {
			return text, nil
		})
	})
	for _, kind := range []string{"mem", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, kind, goesOn)
			r.cfg.Poll = 10 * time.Millisecond
			engines := []*thread.Engine{r.engine(r.store, r.cfg, echo),
				r.engine(r.store, r.cfg, echo)}
			for n := range contestRounds {
				id := fmt.Sprint("t-", n)
				_, err := engines[0].Start(r.ctx,
					thread.Begin{ID: id, Machine: "echo", Input: "begin"})
				require.NoError(r, err)
				_, err = engines[0].Wait(r.ctx, id)
				require.NoError(r, err)
				said := []string{`"begin"`}
				errs := make([]error, len(engines))
				var both sync.WaitGroup
				for i, e := range engines {
					both.Go(func() {
						_, errs[i] = e.Deliver(r.ctx, thread.Message{Thread: id, Machine: "echo",
							Text: fmt.Sprint("message ", i)})
					})
				}
				both.Wait()
				for i, err := range errs {
					if err == nil {
						said = append(said, fmt.Sprintf("%q", fmt.Sprint("message ", i)))
					} else {
						require.Equal(r, runtime.CodeConflict, runtime.CodeOf(err), "%v", err)
					}
				}
				_, err = engines[0].Wait(r.ctx, id)
				require.NoError(r, err)
				turns := map[string][]string{} // by frame: input, effect, result
				var inputs []string
				log, err := r.store.Log(r.ctx, thread.LogQuery{Thread: id})
				require.NoError(r, err)
				for _, e := range log {
					if e.Frame != "" {
						turns[e.Frame] = append(turns[e.Frame], string(e.Value))
					}
					if e.Type == thread.EntryEntered {
						inputs = append(inputs, string(e.Value))
					}
				}
				require.ElementsMatch(r, said, inputs)
				for frame, values := range turns {
					require.Equal(r, []string{values[0], values[0], values[0]}, values, "%s %s", id,
						frame)
				}
			}
		})
	}
}

// late is a store on which something happens before the first commit that starts a thread.
type late struct {
	*way
	before func()
}

func (l *late) Commit(ctx context.Context, changes ...*thread.Change) error {
	if before := l.before; before != nil && changes[0].Before == 0 {
		l.before = nil
		before()
	}
	return l.way.Commit(ctx, changes...)
}

// One request starts a thread through two engines, and each has done the first effect before the
// other's start is stored. The effect that is stored stays as it is.
func TestACompletedEffectIsNeverOverwritten(t *testing.T) {
	onBoth(t, func(r *rig) {
		machine := func(by string) thread.Machine {
			return thread.Func("payer", func(ctx context.Context, _ any) (string, error) {
				charged, err := thread.Do(ctx, "charge",
					func(_ context.Context, key string) (string, error) {
						r.did.add(by, key)
						return by, nil
					})
				if err != nil {
					return "", err
				}
				sure, err := thread.Ask[string](ctx, "sure", thread.Question{})
				return charged + " " + sure, err
			})
		}
		store := &late{way: &way{Store: r.store}}
		slow := r.engine(store, r.cfg, machine("slow"))
		r.with(machine("fast"))
		begin := thread.Begin{ID: "t", Machine: "payer", Request: "r"}
		store.before = func() {
			synctest.Wait() // the step has done what it could
			require.Equal(r, 1, r.did.of("slow"))
			_, err := r.e.Start(r.ctx, begin)
			require.NoError(r, err)
			synctest.Wait()
			r.asked(r.load("t"), "sure")
		}
		_, err := slow.Start(r.ctx, begin)
		require.NoError(r, err, "it is the same request")
		r.pass(time.Minute)
		effects := r.log("t", thread.EntryEffect)
		require.Len(r, effects, 1)
		assert.JSONEq(r, `"fast"`, string(effects[0].Value))
		r.done(r.reply("t", "sure", `"yes"`), `"fast yes"`)
		assert.Equal(r, r.did.keys["slow"], r.did.keys["fast"], "under one key")
	})
}
