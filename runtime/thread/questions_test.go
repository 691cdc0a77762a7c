package thread_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

func TestAnswersAreTakenByTheirTypeAndPresence(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(askMachine[bool]("bool"), askMachine[int]("int"), askMachine[byte]("byte"),
			askMachine[float64]("float"),
			askMachine[string]("string"), askMachine[json.RawMessage]("any"),
			askMachine[[]string]("list"))
		for _, c := range []struct {
			machine   string
			good, bad []string
		}{
			{"bool", []string{`false`, `true`}, []string{`0`, `""`, `null`, `"true"`}},
			{"int", []string{`0`, `-3`, `9007199254740993`},
				[]string{`1.5`, `"1"`, `null`, `1e400`, `1e10000000`, `9223372036854775808`}},
			{"byte", []string{`255`}, []string{`256`, `-1`}},
			{"float", []string{`0`, `1.5`}, []string{`"1.5"`, `null`, `1e400`, `-1e999999999`,
				`1e-999999999`}},
			{"string", []string{`""`, `"null"`}, []string{`0`, `null`, `[]`}},
			{"any", []string{`null`, `false`, `0`, `""`, `{}`, `[]`, `{"a":"<&>"}`},
				[]string{`{`, `nul`}},
			{"list", []string{`["a"]`, `[]`}, nil},
		} {
			for _, good := range c.good {
				th := r.start(c.machine, nil)
				i := r.asked(th, "q")
				for _, bad := range c.bad {
					r.refused(runtime.CodeInvalid,
						thread.Answer{Interrupt: i.ID, Value: value(bad)})
				}
				r.next()
				r.done(r.say(i, good), good)
			}
		}
	})
}

// askMachine is a machine that asks for a T and gives it back.
func askMachine[T any](name string) thread.Machine {
	return thread.Func(name, func(ctx context.Context, _ any) (T, error) {
		return thread.Ask[T](ctx, "q", thread.Question{})
	})
}

func TestWholeNumbersAreReadHoweverTheyAreWritten(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(askMachine[int]("int"))
		for written, read := range map[string]string{`3.0`: `3`, `12e1`: `120`, `-0.0`: `0`} {
			i := r.asked(r.start("int", nil), "q")
			r.next()
			r.done(r.say(i, written), read)
		}
	})
}

func TestRefusedAnswerPointsAtWhatIsWrong(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(
			r.asker(thread.Question{Schema: value(
				`{"type":"object","properties":{"a":{"type":"object","properties":{"b/c":{"type":"integer"}}}},"additionalProperties":false}`)}))
		i := r.asked(r.start("asker", nil), "which")
		err := r.refused(runtime.CodeInvalid,
			thread.Answer{Interrupt: i.ID, Value: value(`{"a":{"b/c":"x"},"z":1}`)})
		var wrong *runtime.InvalidError
		require.ErrorAs(r, err, &wrong)
		var pointers []string
		for _, p := range wrong.Problems {
			pointers = append(pointers, p.Pointer)
		}
		assert.ElementsMatch(r, []string{"/a/b~1c", ""}, pointers)
		assert.Equal(r, thread.InterruptOpen, r.interrupt(i.ID).State)
	})
}

func TestAnswerMaySendTheWorkElsewhere(t *testing.T) {
	scene(t, func(r *rig) {
		q := thread.Question{Name: "where", Targets: []string{"billing"}}
		r.with(thread.Func("router", func(ctx context.Context, _ any) (string, error) {
			replies, err := thread.AskAll(ctx, q)
			if err != nil {
				return "", err
			}
			return replies[0].RouteTo + " by " + replies[0].By, nil
		}), thread.Func("plain", func(ctx context.Context, _ any) (string, error) {
			return thread.Ask[string](ctx, "where", q)
		}))
		th, other := r.start("router", nil), r.start("plain", nil)
		i := r.asked(th, "where")
		r.refused(runtime.CodeNoRoute, thread.Answer{Interrupt: i.ID, RouteTo: "nowhere",
			By: "bob"})
		r.next()
		for _, at := range []string{th.ID, other.ID} {
			_, err := r.e.Answer(r.ctx, at, thread.Answer{Question: "where", RouteTo: "billing",
				By: "bob"})
			require.NoError(r, err)
		}
		r.done(r.rest(th.ID), `"billing by bob"`)
		failed := r.asked(r.rest(other.ID), thread.KindSystemError)
		assert.Contains(r, string(failed.Payload), `"no_route"`,
			"a handler that cannot go there says so")
	})
}

func TestPolicyAnswers(t *testing.T) {
	scene(t, func(r *rig) {
		r.cfg.Kinds = thread.DefaultKinds()
		r.cfg.Kinds[1].AutoAnswer, r.cfg.Kinds[1].AutoWhen = `"by rule"`, []string{"small"}
		r.with(thread.Func("asker", func(ctx context.Context, size string) (string, error) {
			return thread.Ask[string](ctx, "which", thread.Question{Type: size})
		}))
		th := r.start("asker", "small")
		r.done(th, `"by rule"`)
		answered := r.log(th.ID, thread.EntryAnswered)
		require.Len(r, answered, 1)
		assert.Equal(r, "policy", answered[0].By)
		r.next()
		th = r.start("asker", "large")
		r.done(r.reply(th.ID, "which", `"by hand"`), `"by hand"`)
	})
}

func TestEarlyAnswerIsRefusedUnlessItIsHeld(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.asker(thread.Question{}))
		th := r.start("asker", nil)
		_, err := r.e.Answer(r.ctx, th.ID, thread.Answer{Question: "later", Value: value(`1`)})
		assert.Equal(r, runtime.CodeNotFound, runtime.CodeOf(err))
		r.next()
		assert.Empty(r, r.load(th.ID).EarlyAnswers)
	})
}

func TestSameQuestionInTheSameStepIsRefused(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Func("double", func(ctx context.Context, _ any) ([]thread.Reply, error) {
			return thread.AskAll(ctx, thread.Question{Name: "a"}, thread.Question{Name: "a"})
		}))
		i := r.asked(r.start("double", nil), thread.KindSystemError)
		assert.Contains(r, string(i.Payload), "used already")
	})
}

func TestDeadlinePolicies(t *testing.T) {
	t.Parallel()
	const limit = time.Hour
	cases := map[string]struct {
		policy runtime.Deadline
		check  func(r *rig, t *thread.Thread, i *thread.Interrupt)
	}{
		"expire": {runtime.Deadline{Then: "expire"},
			func(r *rig, t *thread.Thread, i *thread.Interrupt) {
				r.Helper()
				assert.Equal(r, thread.StatusFailed, t.Status())
				assert.Equal(r, thread.InterruptExpired, i.State)
			}},
		"default": {runtime.Deadline{Then: "default", Answer: `"standard"`},
			func(r *rig, t *thread.Thread, i *thread.Interrupt) {
				r.Helper()
				r.done(t, `"standard"`)
				assert.Equal(r, "deadline", i.AnsweredBy)
			}},
		"default that the schema refuses": {runtime.Deadline{Then: "default", Answer: `7`},
			func(r *rig, t *thread.Thread, i *thread.Interrupt) {
				r.Helper()
				assert.Equal(r, thread.StatusFailed, t.Status())
				assert.Equal(r, thread.InterruptExpired, i.State)
			}},
		"escalate": {runtime.Deadline{Then: "escalate", Assignee: "boss"},
			func(r *rig, t *thread.Thread, i *thread.Interrupt) {
				r.Helper()
				require.Equal(r, thread.StatusWaiting, t.Status())
				assert.Equal(r, []string{"boss"}, i.Answerers())
				inbox, err := r.e.Inbox(r.ctx, thread.InterruptQuery{Assignees: []string{"boss"}})
				require.NoError(r, err)
				assert.Len(r, inbox, 1)
				r.refused(runtime.CodeForbidden,
					thread.Answer{Interrupt: i.ID, Value: value(`"x"`),
						By: "bob"})
				r.pass(limit + 2*time.Second)
				assert.Equal(r, thread.StatusFailed, r.rest(t.ID).Status(),
					"once: the next deadline expires")
			}},
		"reroute": {runtime.Deadline{Then: "reroute", Target: "elsewhere"},
			func(r *rig, t *thread.Thread, _ *thread.Interrupt) {
				r.Helper()
				assert.Contains(r, string(r.asked(t, thread.KindSystemError).Payload), "elsewhere")
			}},
		"cancel": {runtime.Deadline{Then: "cancel"},
			func(r *rig, t *thread.Thread, i *thread.Interrupt) {
				r.Helper()
				assert.Equal(r, thread.StatusCancelled, t.Status())
				assert.Equal(r, thread.InterruptCancelled, i.State)
			}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			scene(t, func(r *rig) {
				r.cfg.Poll = time.Minute
				policy := c.policy
				policy.After, policy.Reminder = limit, 10*time.Minute
				r.with(r.asker(thread.Question{Deadline: &policy, Assignees: []string{"bob"},
					Targets: []string{"elsewhere"}}))
				th := r.start("asker", nil)
				i := r.asked(th, "which")
				r.next()
				r.pass(49 * time.Minute)
				assert.Empty(r, r.log(th.ID, thread.EntryReminded))
				r.pass(2 * time.Minute)
				r.next()
				assert.Len(r, r.log(th.ID, thread.EntryReminded), 1,
					"once, before the time is over")
				r.pass(8 * time.Minute)
				assert.Equal(r, thread.InterruptOpen, r.interrupt(i.ID).State)
				r.pass(2 * time.Minute)
				th = r.rest(th.ID)
				c.check(r, th, r.interrupt(i.ID))
			})
		})
	}
}

func TestExtendedDeadline(t *testing.T) {
	scene(t, func(r *rig) {
		r.cfg.Poll = time.Minute
		r.with(
			r.asker(thread.Question{Deadline: &runtime.Deadline{After: time.Hour, Then: "expire"},
				Assignees: []string{"bob"}}))
		th := r.start("asker", nil)
		i := r.asked(th, "which")
		_, err := r.e.Extend(r.ctx, i.ID, time.Now().Add(3*time.Hour), "eve")
		assert.Equal(r, runtime.CodeForbidden, runtime.CodeOf(err))
		_, err = r.e.Extend(r.ctx, i.ID, time.Now().Add(-time.Hour), "bob")
		assert.Equal(r, runtime.CodeInvalid, runtime.CodeOf(err))
		_, err = r.e.Extend(r.ctx, "nobody", time.Now().Add(time.Hour), "bob")
		assert.Equal(r, runtime.CodeNotFound, runtime.CodeOf(err))
		moved, err := r.e.Extend(r.ctx, i.ID, time.Now().Add(3*time.Hour), "bob")
		require.NoError(r, err)
		assert.Equal(r, i.Due.Add(2*time.Hour).Unix(), moved.Due.Unix())
		r.next()
		r.pass(2 * time.Hour)
		require.Equal(r, thread.StatusWaiting, r.rest(th.ID).Status())
		r.pass(2 * time.Hour)
		require.Equal(r, thread.StatusFailed, r.rest(th.ID).Status())
		_, err = r.e.Extend(r.ctx, i.ID, time.Now().Add(3*time.Hour), "bob")
		assert.Equal(r, runtime.CodeNotFound, runtime.CodeOf(err))
	})
}

func TestDeadlinesGoByTheClockOfTheEngine(t *testing.T) {
	onBoth(t, func(r *rig) {
		now := &hands{at: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
		r.cfg.Clock = now
		r.with(
			r.asker(thread.Question{Deadline: &runtime.Deadline{After: time.Hour, Then: "default",
				Answer: `"default"`}}))
		th := r.start("asker", nil)
		assert.Equal(r, now.at.Add(time.Hour), r.asked(th, "which").Due)
		r.pass(5 * time.Hour)
		require.NoError(r, r.e.RunDue(r.ctx))
		require.Equal(r, thread.StatusWaiting, r.load(th.ID).Status(),
			"the time of the machine does not count")
		now.move(-2 * time.Hour)
		require.NoError(r, r.e.RunDue(r.ctx))
		require.Equal(r, thread.StatusWaiting, r.load(th.ID).Status(),
			"a clock that goes back expires nothing")
		now.move(3 * time.Hour)
		require.NoError(r, r.e.RunDue(r.ctx))
		r.done(r.rest(th.ID), `"default"`)
	})
}

func TestClaim(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(r.asker(thread.Question{Assignees: []string{"bob", "eve"}}))
		th := r.start("asker", nil)
		i := r.asked(th, "which")
		claim := func(by string, release bool, want runtime.Code) {
			r.Helper()
			_, err := r.e.Claim(r.ctx, i.ID, by, release)
			assert.Equal(r, want, runtime.CodeOf(err), "%v", err)
		}
		claim("mallory", false, runtime.CodeForbidden)
		claim("bob", false, "")
		claim("bob", false, "")
		r.next()
		claim("eve", false, runtime.CodeConflict)
		r.refused(runtime.CodeForbidden, thread.Answer{Interrupt: i.ID, Value: value(`"x"`),
			By: "eve"})
		claim("eve", true, runtime.CodeConflict)
		claim("bob", true, "")
		claim("eve", false, "")
		_, err := r.e.Answer(r.ctx, th.ID, thread.Answer{Interrupt: i.ID, Value: value(`"x"`),
			By: "eve"})
		require.NoError(r, err)
		r.done(r.rest(th.ID), `"x"`)
		claim("eve", false, runtime.CodeNotFound)
	})
}

func TestQuorum(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		votes  []string
		status thread.Status
	}{
		"two of three agree": {[]string{"ann true forbidden", "bob true ", "bob true ",
			"eve false ", "eve true already_answered", "joe true "}, thread.StatusDone},
		"no value can get there": {[]string{"bob 1 ", "eve 2 ", "joe 3 "},
			thread.StatusFailed},
		"nobody may vote unnamed": {[]string{" true forbidden", "bob true ", "joe true "},
			thread.StatusDone},
		"one answer is not enough": {[]string{"bob true "}, thread.StatusWaiting},
		"who is not asked has no say": {[]string{"mallory true forbidden", "bob true "},
			thread.StatusWaiting},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			scene(t, func(r *rig) {
				r.with(thread.Func("asker", func(ctx context.Context, _ any) (json.RawMessage,
					error) {
					return thread.Ask[json.RawMessage](ctx, "which",
						thread.Question{Quorum: 2, NotOwn: true,
							Assignees: []string{"ann", "bob", "eve", "joe"}})
				}))
				th := r.start("asker", nil)
				i := r.asked(th, "which")
				for _, vote := range c.votes {
					var by, said, code string
					if vote[0] == ' ' {
						_, _ = fmt.Sscan(vote, &said, &code)
					} else {
						_, _ = fmt.Sscan(vote, &by, &said, &code)
					}
					_, err := r.e.Answer(r.ctx, th.ID,
						thread.Answer{Interrupt: i.ID, Value: value(said), By: by})
					require.Equal(r, runtime.Code(code), runtime.CodeOf(err), "%s: %v", vote, err)
					r.next()
				}
				assert.Equal(r, c.status, r.rest(th.ID).Status())
			})
		})
	}
}

// hands is a clock that moves when it is told to.
type hands struct {
	mu sync.Mutex
	at time.Time
}

func (h *hands) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *hands) move(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}
