package thread_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// mail is what an approval is about, and what its answer may change.
type mail struct {
	To   string `json:"to"`
	Text string `json:"text"`
}

// approval is what a person says to it.
type approval struct {
	Approved bool  `json:"approved"`
	Edited   *mail `json:"edited,omitempty"`
}

// mailer sends a report when a person approves.
func (r *rig) mailer() thread.Machine {
	return thread.Func("mailer", func(ctx context.Context, m mail) (string, error) {
		payload, err := json.Marshal(m)
		if err != nil {
			return "", err
		}
		said, err := thread.Ask[approval](ctx, "approve", thread.Question{
			Text: "Send it?", Payload: payload, Assignees: []string{"boss"},
			Schema: value(
				`{"type":"object","required":["approved"],"properties":{"approved":{"type":"boolean"},"edited":{"type":"object"}}}`),
		})
		switch {
		case err != nil:
			return "", err
		case !said.Approved:
			return "denied", nil
		case said.Edited != nil:
			m = *said.Edited
		}
		return thread.Once(ctx, "mail", func(_ context.Context, key string) (string, error) {
			r.did.add("mail", key)
			return "sent to " + m.To + ": " + m.Text, nil
		})
	})
}

func (r *rig) boss(th *thread.Thread, answer string) *thread.Thread {
	r.Helper()
	_, err := r.e.Answer(r.ctx, th.ID, thread.Answer{Question: "approve", Value: value(answer),
		By: "boss"})
	require.NoError(r, err)
	return r.rest(th.ID)
}

func TestApprovalComesBeforeTheEffect(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		answer, result string
		sent           int
	}{
		"approved": {`{"approved":true}`, `"sent to ann: hello"`, 1},
		"denied":   {`{"approved":false}`, `"denied"`, 0},
		"edited arguments count in full": {`{"approved":true,"edited":{"to":"eve"}}`,
			`"sent to eve: "`, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			scene(t, func(r *rig) {
				r.with(r.mailer())
				th := r.start("mailer", mail{"ann", "hello"})
				assert.Zero(r, r.did.of("mail"), "nothing is sent before the answer")
				r.next()
				r.done(r.boss(th, c.answer), c.result)
				r.next()
				r.done(r.load(th.ID), c.result)
				assert.Equal(r, c.sent, r.did.of("mail"))
			})
		})
	}
}

func TestRestartWithAnApprovalOpen(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.mailer())
		th := r.start("mailer", mail{"ann", "hello"})
		i := r.asked(th, "approve")
		r.next()
		assert.Equal(r, i.ID, r.asked(r.load(th.ID), "approve").ID,
			"the snapshot after a restart lists it")
		yes := value(`{"approved":true}`)
		r.refused(runtime.CodeForbidden, thread.Answer{Interrupt: i.ID, Value: yes, By: "eve"})
		r.refused(runtime.CodeForbidden, thread.Answer{Interrupt: i.ID, Value: yes})
		r.refused(runtime.CodeNotFound, thread.Answer{Interrupt: "unknown", Value: yes,
			By: "boss"})
		assert.Zero(r, r.did.of("mail"))
		r.done(r.boss(th, string(yes)), `"sent to ann: hello"`)
		r.next()
		r.refused(runtime.CodeAlreadyAnswered,
			thread.Answer{Interrupt: i.ID, Value: value(`{"approved":false}`), By: "boss"})
		r.refused(runtime.CodeAlreadyAnswered,
			thread.Answer{Interrupt: i.ID, Value: yes, By: "eve"})
		_, err := r.e.Answer(r.ctx, "", thread.Answer{Interrupt: i.ID, Value: yes, By: "boss"})
		require.NoError(r, err, "a repeated answer is no error, and no effect")
		assert.Equal(r, 1, r.did.of("mail"))
	})
}

func TestNewMessageWhileAnApprovalIsOpen(t *testing.T) {
	t.Parallel()
	for _, plainText := range []string{"answer", "strict"} {
		t.Run(plainText, func(t *testing.T) {
			scene(t, func(r *rig) {
				r.cfg.PlainText = plainText
				r.with(r.mailer())
				th := r.start("mailer", mail{"ann", "hello"})
				i := r.asked(th, "approve")
				r.next()
				_, err := r.e.Deliver(r.ctx, thread.Message{Thread: th.ID, Machine: "mailer",
					Text: "yes please", By: "boss"})
				assert.Equal(r, runtime.CodeConflict, runtime.CodeOf(err))
				var pending *thread.PendingError
				require.ErrorAs(r, err, &pending)
				assert.Equal(r, []string{i.ID}, pending.Open)
				assert.Equal(r, th, r.load(th.ID), "the run is not cancelled")
				r.done(r.boss(th, `{"approved":true}`), `"sent to ann: hello"`)
			})
		})
	}
}

func TestTwoInputsAtOnce(t *testing.T) {
	onBoth(t, func(r *rig) {
		running, free := make(chan struct{}, 2), make(chan struct{})
		r.with(thread.Turns("talk", func(_ context.Context, in string) (string, error) {
			if in == "hello" {
				return in, nil
			}
			r.did.add("turn", in)
			running <- struct{}{}
			<-free
			return in, nil
		}))
		th := r.start("talk", "hello")
		errs := make([]error, 2)
		var both sync.WaitGroup
		for n := range errs {
			both.Go(func() {
				_, errs[n] = r.e.Deliver(r.ctx, thread.Message{Thread: th.ID, Machine: "talk",
					Text: "again", Request: []string{"one", "two"}[n]})
			})
		}
		<-running
		both.Wait()
		lost := 0
		if errs[0] == nil {
			lost = 1
		}
		require.NoError(r, errs[1-lost])
		assert.Equal(r, runtime.CodeConflict, runtime.CodeOf(errs[lost]),
			"one run is active, the other is told so")
		same, err := r.e.Deliver(r.ctx, thread.Message{Thread: th.ID, Machine: "talk",
			Text: "again", Request: []string{"two", "one"}[lost]})
		require.NoError(r, err, "the same request again is no second input")
		assert.Equal(r, thread.StatusRunning, same.Status())
		close(free)
		r.rest(th.ID)
		assert.Equal(r, 1, r.did.of("turn"))
		assert.Equal(r, 2, r.load(th.ID).Turn)
	})
}

func TestBatchOfMessagesForTwoThreads(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Turns("talk", func(ctx context.Context, in string) (string, error) {
			r.did.add(in, "")
			return in, thread.Say(ctx, "echo", in)
		}), r.mailer())
		a, b := r.start("talk", "a0"), r.start("talk", "b0")
		for _, m := range []struct{ id, text string }{{a.ID, "a1"}, {b.ID, "b1"}, {a.ID, "a2"},
			{b.ID, "b2"}} {
			for range 2 { // each arrives twice
				_, err := r.e.Deliver(r.ctx, thread.Message{Thread: m.id, Machine: "talk",
					Text: m.text, Request: m.text})
				require.NoError(r, err)
				r.rest(m.id)
			}
			r.next()
		}
		for id, want := range map[string][]string{a.ID: {`"a0"`, `"a1"`, `"a2"`},
			b.ID: {`"b0"`, `"b1"`, `"b2"`}} {
			var said []string
			for _, e := range r.log(id, thread.EntryMessage) {
				said = append(said, string(e.Value))
			}
			assert.Equal(r, want, said, "each on its own thread, in order, once")
		}
		assert.Equal(r, 1, r.did.of("a2"))
	})
}
