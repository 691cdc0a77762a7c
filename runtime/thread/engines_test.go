package thread_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// another opens a second engine on the same store, as another process would.
func (r *rig) another(machines ...thread.Machine) *thread.Engine {
	r.Helper()
	cfg := r.cfg
	cfg.Owner = "other"
	return r.engine(r.store, cfg, machines...)
}

func TestOtherEngineAnswersWhileThisOneDrives(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, free := make(chan struct{}), make(chan struct{})
		r.with(family("child", "ask", "work"),
			thread.Turns("child", func(ctx context.Context, in string) (string, error) {
				if in == "ask" {
					return thread.Ask[string](ctx, "which", thread.Question{})
				}
				close(running)
				<-free
				return "worked", nil
			}))
		other := r.another(r.machines...)
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "family"})
		require.NoError(r, err)
		<-running
		synctest.Wait()
		r.pass(time.Second)
		_, err = other.Answer(r.ctx, th.ID,
			thread.Answer{Question: "which", Value: value(`"from afar"`)})
		require.NoError(r, err)
		assert.Contains(r, r.load(th.ID).Lease.Owner, "rig@",
			"the lease is respected: the other one answers and drives nothing")
		r.pass(2 * time.Second) // this one looks every Config.Poll
		assert.Len(r, r.load(th.ID).Frames, 2, "the answered child has ended")
		close(free)
		r.done(r.rest(th.ID), `["child 0: \"from afar\"","child 1: \"worked\""]`)
	})
}

func TestLeaseIsKeptAsLongAsAStepRuns(t *testing.T) {
	onBoth(t, func(r *rig) {
		free := make(chan struct{})
		r.with(thread.Func("worker", func(context.Context, any) (string, error) {
			r.did.add("run", "")
			<-free
			return "done", nil
		}))
		r.another(r.machines...)
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
		require.NoError(r, err)
		r.pass(4 * time.Minute)
		close(free)
		r.done(r.rest(th.ID), `"done"`)
		assert.Equal(r, 1, r.did.of("run"))
		assert.Equal(r, int64(1), r.load(th.ID).Lease.Fence, "it never changed hands")
	})
}

// Callers who are refused again and again keep the driver awake; it must not forget its lease for
// that, nor what other engines did.
func TestLeaseIsKeptThoughTheDriverHasNoRest(t *testing.T) {
	onBoth(t, func(r *rig) {
		free := make(chan struct{})
		r.with(family("worker", 0, 1),
			thread.Turns("worker", func(ctx context.Context, n int) (string, error) {
				if n == 0 {
					return thread.Ask[string](ctx, "which", thread.Question{})
				}
				r.did.add("run", "")
				<-free
				return "done", nil
			}))
		other := r.another(r.machines...)
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "family"})
		require.NoError(r, err)
		r.pass(time.Second)
		_, err = other.Answer(r.ctx, th.ID,
			thread.Answer{Question: "which", Value: value(`"from afar"`)})
		require.NoError(r, err)
		for range 4 * 60 * 2 {
			_, err := r.e.Deliver(r.ctx, thread.Message{Thread: th.ID, Machine: "family",
				Text: "well?"})
			require.Equal(r, runtime.CodeConflict, runtime.CodeOf(err), "%v", err)
			r.pass(time.Second / 2)
		}
		assert.Len(r, r.load(th.ID).Frames, 2, "the answered child has gone on meanwhile")
		close(free)
		r.done(r.rest(th.ID), `["child 0: \"from afar\"","child 1: \"done\""]`)
		assert.Equal(r, 1, r.did.of("run"))
		assert.Equal(r, int64(1), r.load(th.ID).Lease.Fence, "it never changed hands")
	})
}

func TestLeaseMovesAndTheFenceGoesUp(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, free := make(chan struct{}, 2), make(chan struct{})
		r.with(thread.Func("worker", func(ctx context.Context, _ any) (string, error) {
			running <- struct{}{}
			if _, err := thread.Once(ctx, "early", r.did.effect("early")); err != nil {
				return "", err
			}
			<-free
			return thread.Once(ctx, "late", r.did.effect("late"))
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
		require.NoError(r, err)
		<-running
		r.pass(time.Second)   // what was done once is stored soon, though the step goes on
		r.way.cut.Store(true) // it hangs
		other := r.another(r.machines...)
		r.pass(40 * time.Second)
		<-running
		lease := r.load(th.ID).Lease
		assert.Contains(r, lease.Owner, "other@")
		assert.Equal(r, int64(2), lease.Fence)
		r.way.cut.Store(false) // it comes back, and both are told to go on
		close(free)
		r.pass(time.Minute)
		end, err := other.Wait(r.ctx, th.ID)
		require.NoError(r, err)
		assert.Equal(r, thread.StatusDone, end.Status())
		assert.Equal(r, 1, r.did.of("early"))
		assert.Equal(r, 1, r.did.of("late"), "of the two only the one with the fence begins it")
	})
}

func TestEngineWithoutTheMachineLeavesTheThreadToOthers(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.with(r.asker(thread.Question{}))
		th := r.start("asker", nil)
		r.close()
		r.machines = nil
		r.open()
		_, err := r.e.Answer(r.ctx, th.ID, thread.Answer{Question: "which", Value: value(`"a"`)})
		require.NoError(r, err, "an answer needs no code of the thread's")
		r.pass(time.Minute)
		assert.Equal(r, thread.StatusRunning, r.load(th.ID).Status())
		other := r.another(r.asker(thread.Question{}))
		r.pass(2 * time.Second)
		end, err := other.Wait(r.ctx, th.ID)
		require.NoError(r, err)
		r.done(end, `"a"`)
	})
}

func TestCloseLetsStepsEnd(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, free := make(chan struct{}), make(chan struct{})
		r.with(&staged{name: "line", steps: map[string]stepFunc{
			"": func(ctx context.Context, _ thread.Activation) (thread.Transition, error) {
				close(running)
				<-free
				_, err := thread.Do(ctx, "one", r.did.effect("one"))
				return thread.Advance("two", nil), err
			},
			"two": func(context.Context, thread.Activation) (thread.Transition, error) {
				r.did.add("two", "")
				return thread.Done("end"), nil
			},
		}})
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "line"})
		require.NoError(r, err)
		<-running
		closed := make(chan error)
		go func() { closed <- r.e.Close(r.ctx) }()
		synctest.Wait()
		_, err = r.e.Start(r.ctx, thread.Begin{Machine: "line"})
		assert.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(err), "nothing new is begun")
		_, err = r.e.Answer(r.ctx, th.ID, thread.Answer{Question: "x", Value: value(`1`)})
		assert.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(err))
		_, err = r.e.AnswerAll(r.ctx)
		assert.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(err))
		_, err = r.e.Fork(r.ctx, th.ID, 2, "", "ann")
		assert.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(err))
		close(free)
		require.NoError(r, <-closed)
		require.NoError(r, r.e.Close(r.ctx), "again does nothing")
		stored := r.load(th.ID)
		assert.Equal(r, "two", stored.Frames[0].PC, "what the step came to is stored")
		assert.Zero(r, r.did.of("two"), "the next step is the next engine's")
		assert.Empty(r, stored.Lease.Owner, "which need not wait for the lease")
		r.cfg.Owner = "the next one"
		r.open()
		r.done(r.rest(th.ID), `"end"`)
		assert.Equal(r, 1, r.did.of("one"))
	})
}

func TestCloseCutsAtItsDeadline(t *testing.T) {
	t.Parallel()
	for _, heeds := range []bool{true, false} {
		handler := "a handler that ignores it"
		if heeds {
			handler = "a handler that heeds it"
		}
		t.Run(handler, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				running, free := make(chan struct{}, 2), make(chan struct{})
				defer close(free)
				r.with(thread.Func("worker", func(ctx context.Context, _ any) (string, error) {
					if _, err := thread.Do(ctx, "before", r.did.effect("before")); err != nil {
						return "", err
					}
					if r.did.add("run", ""); r.did.of("run") > 1 {
						return "done", nil
					}
					running <- struct{}{}
					if heeds {
						<-ctx.Done()
						return "", ctx.Err()
					}
					<-free
					return "too late", nil
				}))
				th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
				require.NoError(r, err)
				<-running
				began := time.Now()
				ctx, cancel := context.WithTimeout(r.ctx, 10*time.Second)
				defer cancel()
				require.NoError(r, r.e.Close(ctx))
				assert.Less(r, time.Since(began), 12*time.Second)
				stored := r.load(th.ID)
				require.NotNil(r, stored.Frames[0].Effect("before"), "what it had done is stored")
				assert.Empty(r, stored.Frames[0].Attempts, "to be cut is no failure")
				r.cfg.Owner = "the next one"
				r.open()
				r.done(r.rest(th.ID), `"done"`)
				assert.Equal(r, 1, r.did.of("before"))
			})
		})
	}
}

func TestStoreThatIsUnavailableForATime(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, free := make(chan struct{}), make(chan struct{})
		r.with(thread.Func("worker", func(ctx context.Context, _ any) (string, error) {
			if r.did.add("run", ""); r.did.of("run") == 1 {
				close(running)
				<-free
			}
			if _, err := thread.Do(ctx, "work", r.did.effect("work")); err != nil {
				return "", err
			}
			return "done", nil
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
		require.NoError(r, err)
		<-running
		r.way.cut.Store(true)
		_, err = r.e.Escape(r.ctx, th.ID, thread.EscapeSafe, "ann", "")
		assert.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(err), "the caller is told")
		_, err = r.e.Start(r.ctx, thread.Begin{ID: "new", Machine: "worker"})
		assert.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(err))
		close(free)
		r.pass(20 * time.Second)
		_, err = r.e.Deliver(r.ctx, thread.Message{Thread: th.ID, Machine: "worker"})
		assert.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(err))
		r.way.cut.Store(false)
		r.pass(10 * time.Second)
		r.done(r.rest(th.ID), `"done"`)
		assert.Equal(r, 1, r.did.of("work"),
			"what the step did was kept, and stored when that was possible")
		assert.Equal(r, 1, r.did.of("run"))
		assert.Len(r, r.log(th.ID, thread.EntryEffect), 1)
		_, err = r.e.Thread(r.ctx, "new")
		assert.Equal(r, runtime.CodeNotFound, runtime.CodeOf(err))
	})
}

func TestEagerOrNot(t *testing.T) {
	t.Parallel()
	for _, eager := range []time.Duration{-1, time.Millisecond, time.Hour} {
		t.Run(eager.String(), func(t *testing.T) {
			scene(t, func(r *rig) {
				r.cfg.CommitDelay = eager
				r.with(r.asker(thread.Question{}))
				th := r.start("asker", nil)
				ends := func() (n int) {
					for _, e := range r.log(th.ID) {
						if e.End {
							n++
						}
					}
					return n
				}
				r.next()
				r.done(r.reply(th.ID, "which", `"a"`), `"a"`)
				want := 2 // an acknowledgement shares its commit with the step it leads to
				if eager < 0 {
					want = 4
				}
				assert.Equal(r, want, ends())
			})
		})
	}
}

func TestStartIsDoneOnce(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.with(r.asker(thread.Question{}))
		other := r.another(r.machines...)
		var all sync.WaitGroup
		errs := make([]error, 10)
		for n := range errs {
			e := []*thread.Engine{r.e, other}[n%2]
			all.Go(func() {
				_, errs[n] = e.Start(r.ctx,
					thread.Begin{ID: "one", Machine: "asker", Request: "the same"})
			})
		}
		all.Wait()
		for _, err := range errs {
			require.NoError(r, err, "the same request gets the same thread")
		}
		assert.Len(r, r.log("one", thread.EntryStarted), 1)
		assert.Equal(r, 1, r.rest("one").Turn)
		for _, request := range []string{"", "another"} {
			_, err := r.e.Start(r.ctx, thread.Begin{ID: "one", Machine: "asker", Request: request})
			assert.Equal(r, runtime.CodeConflict, runtime.CodeOf(err))
		}
		r.done(r.reply("one", "which", `"a"`), `"a"`)
		assert.Equal(r, 1, r.did.of("after"))
	})
}

func TestWrongConfigIsRefused(t *testing.T) {
	onBoth(t, func(r *rig) {
		machine := r.asker(thread.Question{})
		for _, cfg := range []thread.Config{{PlainText: "maybe"}, {Lease: -1}, {Poll: -1},
			{StepTimeout: -1}} {
			_, err := thread.Open(r.ctx, r.store, cfg, machine)
			assert.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err))
		}
		for _, machines := range [][]thread.Machine{{machine, machine}, {&staged{}}} {
			_, err := thread.Open(r.ctx, r.store, thread.Config{}, machines...)
			assert.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err))
		}
		_, err := thread.Open(r.ctx, &way{Store: closedStore{r.store}}, thread.Config{}, machine)
		assert.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(err), "and nothing is left running")
	})
}

// closedStore lists no threads.
type closedStore struct{ thread.Store }

func (closedStore) Threads(context.Context, thread.Query) ([]thread.Summary, error) {
	return nil, errCut
}
