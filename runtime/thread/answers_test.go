package thread_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

func TestStepOnAnAnswerThatWasRefusedDoesNotCount(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.with(thread.Func("asker", func(ctx context.Context, _ any) (string, error) {
			return thread.Ask[string](ctx, "which", thread.Question{})
		}))
		th := r.start("asker", nil)
		i := r.asked(th, "which")
		r.way.fails.Store(1)
		r.refused(runtime.CodeUnavailable, thread.Answer{Interrupt: i.ID, Value: value(`"lost"`)})
		r.pass(time.Minute)
		require.Equal(r, thread.InterruptOpen, r.interrupt(i.ID).State)
		require.Equal(r, thread.StatusWaiting, r.load(th.ID).Status(),
			"the step had begun on it; what it came to is dropped")
		r.done(r.say(i, `"kept"`), `"kept"`)
	})
}

func TestStepOnAnAnswerThatLostDoesNotCount(t *testing.T) {
	onBoth(t, func(r *rig) {
		free := map[string]chan struct{}{"mine": make(chan struct{}), "theirs": make(chan struct{})}
		r.with(thread.Func("asker", func(ctx context.Context, _ any) (string, error) {
			got, err := thread.Ask[string](ctx, "which", thread.Question{})
			if err != nil {
				return "", err
			}
			<-free[got]
			return got, nil
		}))
		th := r.start("asker", nil)
		i := r.asked(th, "which")
		r.cfg.CommitDelay = time.Hour // its step has begun, and ended, when the answer is committed
		slow := r.another(r.machines...)
		lost := make(chan error)
		go func() {
			_, err := slow.Answer(r.ctx, th.ID,
				thread.Answer{Interrupt: i.ID, Value: value(`"theirs"`), By: "eve"})
			lost <- err
		}()
		synctest.Wait()
		_, err := r.e.Answer(r.ctx, th.ID, thread.Answer{Interrupt: i.ID, Value: value(`"mine"`),
			By: "bob"})
		require.NoError(r, err)
		close(free["theirs"])
		assert.Equal(r, runtime.CodeAlreadyAnswered, runtime.CodeOf(<-lost))
		synctest.Wait()
		require.Equal(r, thread.StatusRunning, r.load(th.ID).Status(),
			"and its step changes nothing")
		close(free["mine"])
		r.done(r.rest(th.ID), `"mine"`)
	})
}

func TestRefusalWaitsForWhatItRestsOn(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, free := make(chan struct{}), make(chan struct{})
		r.cfg.CommitDelay = time.Minute
		r.with(thread.Func("asker", func(ctx context.Context, _ any) (string, error) {
			got, err := thread.Ask[string](ctx, "which", thread.Question{})
			if err == nil && got == "first" {
				close(running)
				<-free
			}
			return got, err
		}))
		th := r.start("asker", nil)
		i := r.asked(th, "which")
		errs := make(chan error, 2)
		say := func(what string) {
			_, err := r.e.Answer(r.ctx, th.ID,
				thread.Answer{Interrupt: i.ID, Value: value(`"` + what + `"`), By: what})
			errs <- err
		}
		go say("first")
		<-running
		go say("second")
		synctest.Wait()
		assert.Empty(r, errs, "nobody is told anything before the first answer is stored")
		r.way.fails.Store(1)
		close(free)
		for range 2 {
			assert.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(<-errs),
				"it was not stored: the second one did not lose to it")
		}
		r.done(r.say(i, `"third"`), `"third"`)
	})
}

func TestRequestIDStandsForOneThing(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.three())
		th := r.start("three", nil)
		a, b := r.asked(th, "a"), r.asked(th, "b")
		answer := func(i *thread.Interrupt, said string) (*thread.Interrupt, error) {
			return r.e.Answer(r.ctx, th.ID, thread.Answer{Interrupt: i.ID, Value: value(said),
				By: "bob", Request: "r1"})
		}
		_, err := answer(a, `1`)
		require.NoError(r, err)
		r.next()
		same, err := answer(a, `2`)
		require.NoError(r, err, "the same request again")
		assert.JSONEq(r, `1`, string(same.Answer), "gets what it got")
		_, err = answer(b, `1`)
		assert.Equal(r, runtime.CodeConflict, runtime.CodeOf(err))
		assert.Equal(r, thread.InterruptOpen, r.interrupt(b.ID).State)
		named, err := r.e.Answer(r.ctx, th.ID, thread.Answer{Question: "a", Value: value(`3`),
			Request: "r1"})
		require.NoError(r, err)
		assert.Equal(r, a.ID, named.ID)
	})
}

func TestCloseWhileTheStoreIsGone(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, free := make(chan struct{}), make(chan struct{})
		r.with(thread.Func("worker", func(ctx context.Context, _ any) (string, error) {
			if r.did.add("run", ""); r.did.of("run") == 1 {
				close(running)
				<-free
			}
			return thread.Do(ctx, "work", r.did.effect("work"))
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "worker"})
		require.NoError(r, err)
		<-running
		_, err = r.e.Escape(r.ctx, th.ID, thread.EscapeSafe, "ann", "")
		require.NoError(r, err)
		r.way.cut.Store(true)
		close(free)
		r.pass(10 * time.Second)
		require.NoError(r, r.e.Close(r.ctx), "it ends, though nothing can be stored")
		r.open()
		th = r.rest(th.ID)
		assert.True(r, th.Paused(), "the next engine goes on where the store is")
		r.say(r.asked(th, thread.KindUserEscape), `"continue"`)
		assert.Equal(r, 1, r.did.of("work"))
	})
}

// An integer is one however it is written, and one that the step cannot hold is refused before it
// is an answer, whatever the schema says.
func TestIntegersOfAQuestion(t *testing.T) {
	type count struct {
		N    int     `json:"n"`
		Rest []int64 `json:"rest"`
		F    float64 `json:"f"`
		Text string  `json:"text"`
	}
	number := json.RawMessage(`{"type": "integer"}`)
	scene(t, func(r *rig) {
		r.with(thread.Func("count", func(ctx context.Context, schema json.RawMessage) ([]any,
			error) {
			if string(schema) == "null" {
				schema = nil
			}
			n, err := thread.Ask[int8](ctx, "n",
				thread.Question{Text: "How many?", Schema: schema})
			if err != nil {
				return nil, err
			}
			more, err := thread.Ask[count](ctx, "more", thread.Question{Text: "And?"})
			return []any{n, more}, err
		}))
		for _, schema := range []json.RawMessage{nil, number,
			json.RawMessage(`{"type":"integer","minimum":-5}`)} {
			th := r.start("count", schema)
			i := r.asked(th, "n")
			for _, wrong := range []string{"128", "9223372036854775808", "1e3", "1.5", "-129",
				`"1"`} {
				r.refused(runtime.CodeInvalid, thread.Answer{Interrupt: i.ID, Value: value(wrong),
					By: "bob"})
			}
			r.next()
			th = r.say(i, "1.2e1")
			r.next()
			th = r.say(r.asked(th, "more"), `{"n":3.0,"rest":[1e2,-0.0,7],"f":2.5,"text":"4.0"}`)
			r.done(th, `[12,{"n":3,"rest":[100,0,7],"f":2.5,"text":"4.0"}]`)
		}
	})
}

// The same request finds the refusal of an unclear answer again, and counts once. A request that is
// to be spent is not, by an unclear answer.
func TestAnUnclearAnswerAgain(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Func("ask", func(ctx context.Context, _ any) (bool, error) {
			return thread.Ask[bool](ctx, "sure",
				thread.Question{Text: "Sure?", Plain: thread.PlainYesNo})
		}))
		i := r.asked(r.start("ask", nil), "sure")
		unclear := func(request, text string, spend bool, left int) {
			r.Helper()
			err := r.refused(runtime.CodeInvalid,
				thread.Answer{Interrupt: i.ID, Text: text, Request: request, Spend: spend})
			wrong, ok := errors.AsType[*thread.UnclearError](err)
			require.True(r, ok, "%v", err)
			assert.Equal(r, left, wrong.Left)
		}
		unclear("one", "hm", false, 2)
		for range 3 {
			r.next()
			unclear("one", "hm", false, 2)
		}
		r.refused(runtime.CodeConflict, thread.Answer{Interrupt: i.ID, Text: "well",
			Request: "one"})
		r.refused(runtime.CodeConflict,
			thread.Answer{Interrupt: i.ID, Text: "yes", Request: "one"})
		unclear("token", "hm", true, 1)
		assert.Equal(r, 2, r.interrupt(i.ID).Asks)
		_, err := r.e.Answer(r.ctx, "",
			thread.Answer{Interrupt: i.ID, Text: "yes", Request: "token", Spend: true})
		require.NoError(r, err)
		r.done(r.rest(i.Thread), "true")
		again, err := r.e.Answer(r.ctx, "",
			thread.Answer{Interrupt: i.ID, Text: "yes", Request: "token", Spend: true})
		require.NoError(r, err)
		assert.JSONEq(r, "true", string(again.Answer))
	})
}
