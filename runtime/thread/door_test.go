package thread_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// A question that could not be answered fails its step, whichever way it is asked: a person sees
// what is wrong with it, its thread goes on, and the inbox can be read.
func TestAWrongQuestionFailsItsStep(t *testing.T) {
	t.Parallel()
	ways := map[string]func(q ...thread.Question) thread.Machine{
		"a handler asks": func(q ...thread.Question) thread.Machine {
			return thread.Func("wrong", func(ctx context.Context, _ any) ([]thread.Reply, error) {
				return thread.AskAll(ctx, q...)
			})
		},
		"a machine asks": func(q ...thread.Question) thread.Machine {
			return hidden{asksOnce(q...)}
		},
		"a quick machine asks": asksOnce,
	}
	wrong := map[string]struct {
		questions []thread.Question
		want      string
	}{
		"payload": {[]thread.Question{{Payload: value(`{"amount":`)}},
			"its Payload is not valid JSON"},
		"schema": {[]thread.Question{{Schema: value(`{"type":`)}}, "its Schema is not valid JSON"},
		"none a schema": {[]thread.Question{{Schema: value(`{"type":"nothing"}`)}},
			"the question's schema is wrong"},
		"far a schema": {[]thread.Question{{Schema: value(
			`{"$ref":"https://example.com/schema"}`)}}, "the question's schema is wrong"},
		"choice": {[]thread.Question{{Choices: []thread.Choice{{Label: "a",
			Value: value(`a`)}}}}, "choice 1"},
		"kind": {[]thread.Question{{Kind: "agent_qestion"}}, "there is no kind"},
		"escape": {[]thread.Question{{Kind: thread.KindUserEscape}},
			"only the engine raises user_escape"},
		"own": {[]thread.Question{{NotOwn: true, Assignees: []string{"ann"}}},
			"0 of its Assignees may"},
		"quorum": {[]thread.Question{{Quorum: 3, Assignees: []string{"bob", "eve"}}},
			"3 must answer"},
		"plain": {[]thread.Question{{Plain: "yesno"}}, "use text, yes_no, choice"},
		"language": {[]thread.Question{{Plain: thread.PlainYesNo, Language: "pl"}},
			"in the language"},
		"second of two": {[]thread.Question{{Name: "first"}, {Payload: value(`{`)}},
			"its Payload is not valid JSON"},
		"name": {[]thread.Question{{}, {}}, "name"},
	}
	for _, c := range wrong {
		for n := range c.questions {
			if c.questions[n].Name == "" {
				c.questions[n].Name = "which"
			}
		}
	}
	for way, machine := range ways {
		for name, c := range wrong {
			t.Run(way+": "+name, func(t *testing.T) {
				onBoth(t, func(r *rig) {
					r.with(machine(c.questions...))
					th := r.start("wrong", nil)
					i := r.asked(th, thread.KindSystemError)
					assert.Contains(r, string(i.Payload), c.want)
					assert.Contains(r, string(i.Payload), `"recoverable":false`)
					require.Len(r, th.Open, 1)
					r.readable()
					_, err := r.e.Cancel(r.ctx, th.ID, "ann", "")
					require.NoError(r, err)
				})
			})
		}
	}
}

// asksOnce is a quick machine that asks once and returns what it was told.
func asksOnce(questions ...thread.Question) thread.Machine {
	return computes{"wrong", func(_ context.Context, a thread.Activation) (thread.Transition,
		error) {
		if len(a.Frame.Replies) == 0 {
			return thread.Asks("more", nil, questions...), nil
		}
		return thread.Done(a.Frame.Replies), nil
	}}
}

// readable expects that everything open can be listed and encoded.
func (r *rig) readable() {
	r.Helper()
	all, err := r.e.Inbox(r.ctx, thread.InterruptQuery{})
	require.NoError(r, err)
	_, err = runtime.Encode(all)
	require.NoError(r, err)
}

// What a caller brings is looked at where it comes in: nothing is stored that cannot be read again.
func TestWhatCallersBringIsCheckedAtTheDoor(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.with(r.asker(thread.Question{}))
		_, err := r.e.Start(r.ctx,
			thread.Begin{ID: "t", Machine: "asker", Metadata: value(`{"lang":`)})
		require.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err), "%v", err)
		_, err = r.e.Start(r.ctx, thread.Begin{ID: "t", Machine: "asker", Input: value(`{`)})
		require.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err), "%v", err)
		_, err = r.store.Load(r.ctx, "t")
		require.Equal(r, runtime.CodeNotFound, runtime.CodeOf(err), "nothing began")

		th := r.start("asker", nil)
		i := r.asked(th, "which")
		for name, entry := range map[string]thread.Entry{
			"message":  {Type: thread.EntryMessage, Value: value(`{"text":`)},
			"metadata": {Type: thread.EntryMetadata, Value: value(`x`)},
			"reroute": {Type: thread.EntryReroute, Frame: th.Frames[0].ID, Name: "e1",
				State: thread.ReroutePending, Value: value(`[`)},
			"question": {Type: thread.EntryAsked, Interrupt: "x",
				Opened: &thread.Interrupt{ID: "x", Thread: th.ID, State: thread.InterruptOpen,
					Context: value(`{`)}},
		} {
			_, err := r.e.Change(r.ctx, th.ID, func(c *thread.Change) error {
				c.Add(entry)
				return nil
			})
			require.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err), "%s: %v", name, err)
		}
		_, err = r.e.Extend(r.ctx, i.ID, time.Date(20_000, 1, 1, 0, 0, 0, 0, time.UTC), "bob")
		require.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err),
			"a year that no time on the wire has: %v", err)
		_, err = r.e.Extend(r.ctx, i.ID, time.Date(9_999, 1, 1, 0, 0, 0, 0, time.UTC), "bob")
		require.NoError(r, err)
		assert.Len(r, r.load(th.ID).Open, 1)
		r.readable()
		r.done(r.reply(th.ID, "which", `"a"`), `"a"`)
	})
}

// picky is a store that does not take some changes, for a reason that no other try mends.
type picky struct {
	thread.Store
	refuses func(c *thread.Change) error
	refused atomic.Int64
}

func (p *picky) Commit(ctx context.Context, changes ...*thread.Change) error {
	for _, c := range changes {
		if err := p.refuses(c); err != nil {
			p.refused.Add(1)
			return err
		}
	}
	return p.Store.Commit(ctx, changes...)
}

// tooLarge refuses what holds the word in a value.
func tooLarge(word string) func(c *thread.Change) error {
	return func(c *thread.Change) error {
		for _, e := range c.Entries {
			if strings.Contains(string(e.Value), word) {
				return &runtime.Error{Code: runtime.CodeInternal, Op: "commit",
					Err: errors.New("string or blob too big")}
			}
		}
		return nil
	}
}

// A store may refuse for ever what a step came to. Then that step has failed: it is not tried for
// ever, and who pauses or cancels its thread is not told of it.
func TestAStepWhoseEndNoStoreTakesHasFailed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuses func(c *thread.Change) error
		step    stepFunc
	}{
		"an entry that is no JSON": {func(c *thread.Change) error {
			_, err := runtime.Encode(c.Entries)
			return err
		}, func(context.Context, thread.Activation) (thread.Transition, error) {
			return thread.Done(1).First(func(c *thread.Change) {
				c.Add(thread.Entry{Type: thread.EntryMessage, Name: "raw",
					Value: value(`{"text":`)})
			}), nil
		}},
		"a result that is too large": {tooLarge("huge"),
			func(context.Context, thread.Activation) (thread.Transition, error) {
				return thread.Done("huge"), nil
			}},
		"an effect that is too large": {tooLarge("huge"),
			func(ctx context.Context, _ thread.Activation) (thread.Transition, error) {
				_, err := thread.Do(ctx, "grow", func(context.Context, string) (string, error) {
					return "huge", nil
				})
				return thread.Done(1), err
			}},
		"an effect that is too large, and its step goes on": {tooLarge("huge"),
			func(ctx context.Context, _ thread.Activation) (thread.Transition, error) {
				_, err := thread.Do(ctx, "grow", func(context.Context, string) (string, error) {
					return "huge", nil
				})
				<-time.After(time.Minute)
				return thread.Done("huge"), err
			}},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				r.cfg.Kinds = thread.DefaultKinds()
				r.cfg.Kinds[2].Retry = nil
				good := r.asker(thread.Question{})
				bad := &staged{name: "bad",
					steps: map[string]stepFunc{"": func(ctx context.Context, a thread.Activation) (
						thread.Transition, error) {
						if _, err := thread.Do(ctx, "beside", r.did.effect("beside")); err != nil {
							return thread.Transition{}, err
						}
						<-time.After(time.Second) // its beginning is committed
						return c.step(ctx, a)
					}}}
				store := &picky{Store: r.store, refuses: c.refuses}
				r.e = r.engine(store, r.cfg, good, bad,
					&staged{name: "parent", steps: map[string]stepFunc{
						"": func(context.Context, thread.Activation) (thread.Transition, error) {
							return thread.Call("end", nil, thread.Spawned{Machine: "asker"},
								thread.Spawned{Machine: "bad"}), nil
						},
					}})
				th := r.start("parent", nil)
				require.Len(r, th.Open, 2,
					"the step that came to it has failed, its sibling has not")
				r.asked(th, "which")
				i := th.Open[1]
				require.Equal(r, thread.KindSystemError, i.Kind, "which waits behind the question")
				assert.NotNil(r, th.Frame(i.Frame).Effect("beside"), "what it did before is kept")
				assert.Nil(r, th.Frame(i.Frame).Effect("grow"))
				assert.LessOrEqual(r, store.refused.Load(), int64(4))
				_, err := r.e.Escape(r.ctx, th.ID, thread.EscapeSafe, "ann", "")
				require.NoError(r, err)
				_, err = r.e.Cancel(r.ctx, th.ID, "ann", "")
				require.NoError(r, err)
			})
		})
	}
}
