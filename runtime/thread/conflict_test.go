package thread_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// meddled is a store on which another commit comes first, once: just before the commit of an
// answer.
type meddled struct {
	*way
	before func()
	did    atomic.Bool
}

func (m *meddled) Commit(ctx context.Context, changes ...*thread.Change) error {
	answers := slices.ContainsFunc(changes[0].Entries, func(e thread.Entry) bool {
		return e.Type == thread.EntryAnswered
	})
	if answers && m.before != nil && !m.did.Swap(true) {
		m.before()
	}
	return m.way.Commit(ctx, changes...)
}

// twoQuestions asks in two frames. The answered frame goes on in a step of its own, with effects.
func (r *rig) twoQuestions(effect stepFunc) []thread.Machine {
	one := &staged{name: "one", steps: map[string]stepFunc{
		"": func(ctx context.Context, _ thread.Activation) (thread.Transition, error) {
			_, err := thread.Ask[bool](ctx, "sure", thread.Question{})
			return thread.Advance("act", nil), err
		},
		"act": effect,
	}}
	two := thread.Turns("two", func(ctx context.Context, _ any) (string, error) {
		return thread.Ask[string](ctx, "other", thread.Question{})
	})
	return []thread.Machine{one, two, &staged{name: "both", steps: map[string]stepFunc{
		"": func(context.Context, thread.Activation) (thread.Transition, error) {
			return thread.Call("end", nil, thread.Spawned{Machine: "one"},
				thread.Spawned{Machine: "two"}), nil
		},
		"end": func(context.Context, thread.Activation) (thread.Transition, error) {
			return thread.Done("ended"), nil
		},
	}}}
}

// meddlers change the thread while the commit of an answer is on its way.
var meddlers = map[string]func(r *rig, e, other *thread.Engine, th *thread.Thread) error{
	"another engine claims the other question": func(r *rig, _, other *thread.Engine,
		th *thread.Thread) error {
		_, err := other.Claim(r.ctx, r.asked(th, "other").ID, "bob", false)
		return err
	},
	"another engine moves a deadline": func(r *rig, _, other *thread.Engine,
		th *thread.Thread) error {
		_, err := other.Extend(r.ctx, r.asked(th, "other").ID, time.Now().Add(100*time.Hour), "eve")
		return err
	},
	"a batch answers the other question": func(r *rig, e, _ *thread.Engine,
		th *thread.Thread) error {
		_, err := e.AnswerAll(r.ctx, thread.Answer{Interrupt: r.asked(th, "other").ID,
			Value: value(`"x"`), By: "eve"})
		return err
	},
}

// A commit that meets a conflict is decided again. The steps that run meanwhile are healthy: none
// is stopped, none is run again, and no person is asked about an effect that has not begun.
func TestAConflictStopsNoHealthyStep(t *testing.T) {
	t.Parallel()
	effects := map[string]func(r *rig) stepFunc{
		"once": func(r *rig) stepFunc {
			return func(ctx context.Context, _ thread.Activation) (thread.Transition, error) {
				r.did.add("step", "")
				_, err := thread.Once(ctx, "charge", r.did.effect("charge"))
				return thread.Return("charged"), err
			}
		},
		"a long do": func(r *rig) stepFunc {
			return func(ctx context.Context, _ thread.Activation) (thread.Transition, error) {
				r.did.add("step", "")
				_, err := thread.Do(ctx, "charge", func(ctx context.Context, key string) (string,
					error) {
					r.did.add("charge", key)
					select {
					case <-time.After(3 * time.Second):
						return "said", nil
					case <-ctx.Done():
						return "", ctx.Err()
					}
				})
				return thread.Return("charged"), err
			}
		},
	}
	for effect, step := range effects {
		for who, meddle := range meddlers {
			t.Run(effect+"/"+who, func(t *testing.T) {
				onBoth(t, func(r *rig) {
					r.machines = r.twoQuestions(step(r))
					store := &meddled{way: &way{Store: r.store}}
					r.way = store.way
					r.e = r.engine(store, r.cfg, r.machines...)
					other := r.another(r.machines...)
					th := r.start("both", nil)
					synctest.Wait()
					store.before = func() { require.NoError(r, meddle(r, r.e, other, th)) }
					_, err := r.e.Answer(r.ctx, th.ID,
						thread.Answer{Question: "sure", Value: value("true"), By: "bob"})
					require.NoError(r, err)
					r.pass(time.Minute)
					require.True(r, store.did.Load(), "somebody was faster")
					if th = r.rest(th.ID); askedBy(th, "other") != nil {
						th = r.reply(th.ID, "other", `"x"`)
					}
					for _, e := range r.log(th.ID, thread.EntryAsked) {
						assert.NotContains(r, e.Name, "in_doubt")
					}
					assert.Equal(r, 1, r.did.of("step"), "the step ran once")
					assert.Equal(r, 1, r.did.of("charge"))
					r.done(th, `"ended"`)
				})
			})
		}
	}
}

// Two processes of one owner name that get the same answer at once: Once runs once.
func TestOnceRunsOnceInTwoProcessesOfOneOwner(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"mem", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, kind, goesOn)
			r.cfg.Poll = 10 * time.Millisecond
			r.machines = []thread.Machine{thread.Func("payer",
				func(ctx context.Context, _ any) (string, error) {
					if _, err := thread.Ask[bool](ctx, "sure", thread.Question{}); err != nil {
						return "", err
					}
					return thread.Once(ctx, "pay", func(_ context.Context, key string) (string,
						error) {
						r.did.add(key, key)
						return "paid", nil
					})
				})}
			one, two := r.engine(r.store, r.cfg, r.machines...), r.engine(r.store, r.cfg,
				r.machines...)
			for n := range 100 {
				id := fmt.Sprint("t-", n)
				_, err := one.Start(r.ctx, thread.Begin{ID: id, Machine: "payer"})
				require.NoError(r, err)
				th, err := one.Wait(r.ctx, id)
				require.NoError(r, err)
				a := thread.Answer{Interrupt: r.asked(th, "sure").ID, Value: value("true"),
					By: "ann", Request: "r"}
				both := make(chan error, 2)
				for _, e := range []*thread.Engine{one, two} {
					go func() {
						_, err := e.Answer(r.ctx, id, a)
						both <- err
					}()
				}
				require.NoError(r, <-both)
				require.NoError(r, <-both)
				th, err = one.Wait(r.ctx, id)
				require.NoError(r, err)
				r.done(th, `"paid"`)
				assert.Equal(r, 1, r.did.of(id+"/f1//1/pay"))
			}
		})
	}
}

// A process that dies in a long step repeats at most the effect that was under way, and one that
// had just ended: what was completed is stored within 100 ms, at the time at which it happened.
func TestCompletedEffectsOfALongStepSurviveItsProcess(t *testing.T) {
	const each, twelve = time.Second, 12
	onBoth(t, func(r *rig) {
		r.with(thread.Func("long", func(ctx context.Context, _ any) (string, error) {
			for n := range twelve + 2 {
				if _, err := thread.Do(ctx, fmt.Sprint("call ", n),
					func(_ context.Context, key string) (string, error) {
						<-time.After(each)
						r.did.add("call", key)
						return key, nil
					}); err != nil {
					return "", err
				}
			}
			return "done", nil
		}))
		_, err := r.e.Start(r.ctx, thread.Begin{ID: "t", Machine: "long"})
		require.NoError(r, err)
		r.pass(twelve*each + 100*time.Millisecond)
		require.Equal(r, twelve, r.did.of("call"))
		stored := r.load("t").Frames[0].Effects
		require.Len(r, stored, twelve)
		entries := r.log("t", thread.EntryEffect)
		for n := range entries[1:] {
			assert.Equal(r, each, entries[n+1].At.Sub(entries[n].At),
				"entry %d says when it happened", n+1)
		}
		r.restart()
		r.done(r.rest("t"), `"done"`)
		r.did.mu.Lock() // the abandoned engine is still at its last calls
		defer r.did.mu.Unlock()
		times := map[string]int{}
		for _, key := range r.did.keys["call"] {
			times[key]++
		}
		for n := range twelve {
			assert.Equal(r, 1, times[fmt.Sprintf("t/f1//1/call %d", n)], "call %d was stored", n)
		}
	})
}

// What is committed together depends on speed; where a fork may begin does not.
func TestWhereAForkMayBeginDoesNotDependOnSpeed(t *testing.T) {
	onBoth(t, func(r *rig) {
		var each time.Duration
		step := func(next string) stepFunc {
			return func(ctx context.Context, a thread.Activation) (thread.Transition, error) {
				_, err := thread.Do(ctx, "work", func(context.Context, string) (string, error) {
					r.did.add(a.Frame.PC, "")
					<-time.After(each)
					return a.Frame.PC, nil
				})
				if next == "" {
					return thread.Done(a.Frame.PC), err
				}
				return thread.Advance(next, nil), err
			}
		}
		r.with(&staged{name: "graph",
			steps: map[string]stepFunc{"": step("b"), "b": step("c"), "c": step("")}})
		places := map[time.Duration][]string{}
		for n, speed := range []time.Duration{0, time.Minute} {
			each = speed
			th := r.start("graph", nil)
			r.done(th, `"c"`)
			var before int64
			for _, e := range r.log(th.ID) {
				if e.Rest {
					places[speed] = append(places[speed], fmt.Sprint(e.Seq, e.Type, e.PC))
				}
				if e.Type == thread.EntryStepped && e.PC == "b" {
					before = e.Seq
				}
			}
			forked, err := r.e.Fork(r.ctx, th.ID, before, fmt.Sprint("fork-", n), "ann")
			require.NoError(r, err, "before node b")
			r.done(r.rest(forked.Thread.ID), `"c"`)
			times := n + 1
			assert.Equal(r, []int{times, 2 * times, 2 * times},
				[]int{r.did.of(""), r.did.of("b"), r.did.of("c")})
		}
		assert.Equal(r, places[0], places[time.Minute])
		assert.GreaterOrEqual(r, len(places[0]), 6, strings.Join(places[0], ", "))
	})
}

// frozen is a store whose disk stands still for a while.
type frozen struct {
	thread.Store
	until atomic.Pointer[chan struct{}]
}

func (f *frozen) Commit(ctx context.Context, changes ...*thread.Change) error {
	if until := f.until.Load(); until != nil {
		<-*until
	}
	return f.Store.Commit(ctx, changes...)
}

// A call comes back when its context ends, however long the store takes, and says what is known.
func TestACallReturnsWithItsContextWhileTheStoreStandsStill(t *testing.T) {
	const limit = 2 * time.Second
	calls := map[string]func(r *rig, ctx context.Context, th *thread.Thread) error{
		"start": func(r *rig, ctx context.Context, _ *thread.Thread) error {
			_, err := r.e.Start(ctx, thread.Begin{ID: "new", Machine: "asker"})
			return err
		},
		"answer": func(r *rig, ctx context.Context, th *thread.Thread) error {
			_, err := r.e.Answer(ctx, th.ID, thread.Answer{Question: "which", Value: value(`"a"`)})
			return err
		},
		"batch": func(r *rig, ctx context.Context, th *thread.Thread) error {
			_, err := r.e.AnswerAll(ctx, thread.Answer{Interrupt: r.asked(th, "which").ID,
				Value: value(`"a"`)})
			return err
		},
		"fork": func(r *rig, ctx context.Context, th *thread.Thread) error {
			_, err := r.e.Fork(ctx, th.ID, th.Seq, "fork", "ann")
			return err
		},
		"cancel": func(r *rig, ctx context.Context, th *thread.Thread) error {
			_, err := r.e.Cancel(ctx, th.ID, "ann", "")
			return err
		},
	}
	t.Parallel()
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				store := &frozen{Store: r.store}
				r.e = r.engine(store, r.cfg, r.asker(thread.Question{}))
				th := r.start("asker", nil)
				version := th.Version
				synctest.Wait()

				over, cancel := context.WithCancel(r.ctx)
				cancel()
				err := call(r, over, th)
				require.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(err), "%v", err)
				synctest.Wait()
				require.Equal(r, version, r.load(th.ID).Version,
					"a call whose context is over does nothing")
				_, err = r.store.Load(r.ctx, "new")
				require.Equal(r, runtime.CodeNotFound, runtime.CodeOf(err))

				thaw := make(chan struct{})
				store.until.Store(&thaw)
				short, cancel := context.WithTimeout(r.ctx, limit)
				defer cancel()
				began := time.Now()
				err = call(r, short, th)
				assert.Equal(r, runtime.CodeUnknown, runtime.CodeOf(err), "%v", err)
				assert.Equal(r, limit, time.Since(began))
				queued, cancel := context.WithTimeout(r.ctx, limit)
				defer cancel()
				err = call(r, queued, th)
				assert.Contains(r, []runtime.Code{runtime.CodeUnavailable, runtime.CodeUnknown},
					runtime.CodeOf(err), "%v", err)
				assert.Equal(r, 2*limit, time.Since(began))
				store.until.Store(nil)
				close(thaw)
				synctest.Wait()
			})
		})
	}
}

// A command that was taken back while it waited for its turn is not done later.
func TestACommandWhoseCallerLeftEarlyIsNotDone(t *testing.T) {
	onBoth(t, func(r *rig) {
		store := &frozen{Store: r.store}
		r.e = r.engine(store, r.cfg, r.asker(thread.Question{}))
		th := r.start("asker", nil)
		thaw := make(chan struct{})
		store.until.Store(&thaw)
		first := make(chan error, 1)
		go func() {
			_, err := r.e.Claim(r.ctx, r.asked(th, "which").ID, "bob", false)
			first <- err
		}()
		synctest.Wait() // the driver is in the commit of the claim
		short, cancel := context.WithTimeout(r.ctx, time.Second)
		defer cancel()
		_, err := r.e.Cancel(short, th.ID, "ann", "")
		require.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(err), "%v", err)
		store.until.Store(nil)
		close(thaw)
		require.NoError(r, <-first)
		r.pass(time.Minute)
		r.done(r.reply(th.ID, "which", `"a"`), `"a"`)
	})
}

// An engine whose lease is over comes back after another one has asked about the effect that it was
// at: what it still commits is refused, the question stays, and the effect is not begun again.
func TestAnOvertakenEngineChangesNothingUnderAnOpenDoubt(t *testing.T) {
	onBoth(t, func(r *rig) {
		begun, goOn := make(chan struct{}, 2), make(chan struct{})
		r.cfg.Owner = "slow"
		r.with(thread.Func("payer", func(ctx context.Context, _ any) (string, error) {
			return thread.Once(ctx, "pay", func(_ context.Context, key string) (string, error) {
				r.did.add("pay", key)
				begun <- struct{}{}
				<-goOn
				return "paid", nil
			})
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "payer"})
		require.NoError(r, err)
		<-begun
		r.way.cut.Store(true) // it stands still
		other := r.engine(plainStore{r.store}, r.cfg, r.machines...)
		r.pass(5 * time.Minute)
		th, err = other.Wait(r.ctx, th.ID)
		require.NoError(r, err)
		doubt := r.asked(th, "in_doubt/pay")
		r.way.cut.Store(false) // it goes on
		close(goOn)
		r.pass(time.Minute)
		th = r.load(th.ID)
		assert.Equal(r, thread.EffectInDoubt, th.Frames[0].Effect("pay").State)
		_, err = other.Answer(r.ctx, th.ID, thread.Answer{
			Interrupt: doubt.ID, Value: value(`{"choice":"done","value":"paid, they say"}`),
			By: "bob",
		})
		require.NoError(r, err)
		end, err := other.Wait(r.ctx, th.ID)
		require.NoError(r, err)
		r.done(end, `"paid, they say"`)
		assert.Equal(r, 1, r.did.of("pay"))
	})
}

// A person says how an effect in doubt ended, and loses against a pause. What the step did on that
// answer is not the thread's: the doubt is asked about again, and only the stored answer is acted
// on.
func TestARefusedAnswerAboutADoubtIsNotActedOn(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, dead := make(chan struct{}), make(chan struct{})
		defer close(dead)
		r.with(thread.Func("payer", func(ctx context.Context, _ any) (string, error) {
			paid, err := thread.Once(ctx, "pay", func(context.Context, string) (string, error) {
				close(running)
				<-dead
				return "", nil
			})
			if err != nil {
				return "", err
			}
			mailed, err := thread.Do(ctx, "mail", func(context.Context, string) (string, error) {
				return "mail: " + paid, nil
			})
			if err != nil {
				return "", err
			}
			return mailed, thread.Say(ctx, "receipt", paid)
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "payer"})
		require.NoError(r, err)
		<-running
		r.restart()
		th = r.rest(th.ID)
		doubt := r.asked(th, "in_doubt/pay")
		store := &meddled{way: &way{Store: r.store}}
		r.way = store.way
		r.e = r.engine(store, r.cfg, r.machines...)
		other := r.another(r.machines...)
		store.before = func() {
			synctest.Wait() // the step has done on the answer what it could
			_, err := other.Escape(r.ctx, th.ID, thread.EscapeSafe, "eve", "")
			require.NoError(r, err)
		}
		_, err = r.e.Answer(r.ctx, th.ID, thread.Answer{
			Interrupt: doubt.ID, Value: value(`{"choice":"done","value":"refused"}`), By: "bob",
		})
		require.Error(r, err)
		r.pass(time.Minute)
		th = r.load(th.ID)
		require.True(r, th.Paused())
		assert.Equal(r, thread.EffectInDoubt, th.Frames[0].Effect("pay").State)
		for _, e := range r.log(th.ID) {
			assert.NotContains(r, string(e.Value), "refused", "entry %d", e.Seq)
		}
		assert.Nil(r, th.Frames[0].Effect("mail"))
		th = r.reply(th.ID, thread.KindUserEscape, `"continue"`)
		th = r.say(r.asked(th, "in_doubt/pay"), `{"choice":"done","value":"stored"}`)
		r.done(th, `"mail: stored"`)
	})
}
