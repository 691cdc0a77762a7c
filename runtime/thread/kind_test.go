package thread_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

func TestCheckKinds(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	with := func(k runtime.Kind) func([]runtime.Kind) []runtime.Kind {
		return func(kinds []runtime.Kind) []runtime.Kind { return append(kinds, k) }
	}
	for name, c := range map[string]struct {
		change func([]runtime.Kind) []runtime.Kind
		says   string // "" when it is legal
	}{
		"shipped": {change: func(k []runtime.Kind) []runtime.Kind { return k }},
		"one more": {change: with(runtime.Kind{
			Name: "review", Clash: "queue", Choices: []string{"yes", "no"}, AutoAnswer: `"yes"`,
			Deadline: &runtime.Deadline{After: day, Then: "escalate", Assignee: "boss",
				Reminder: time.Hour},
		})},
		"in another order": {change: func(k []runtime.Kind) []runtime.Kind {
			return []runtime.Kind{k[2], k[0], k[1]}
		}},
		"one is missing": {change: func(k []runtime.Kind) []runtime.Kind { return k[1:] },
			says: `no kind "user_escape"`},
		"no name": {change: with(runtime.Kind{Clash: "queue"}), says: "row 4"},
		"twice": {change: with(runtime.Kind{Name: "system_error", Clash: "queue"}),
			says: "used twice"},
		"a clash rule": {change: with(runtime.Kind{Name: "x", Clash: "boom"}),
			says: `Clash is "boom": use supersede, queue`},
		"an answer": {change: with(
			runtime.Kind{Name: "x", Clash: "queue", AutoAnswer: "{no"}), says: "is not valid JSON"},
		"a policy": {
			change: with(runtime.Kind{Name: "x", Clash: "queue",
				Deadline: &runtime.Deadline{After: day, Then: "x"}}), says: "use expire, default",
		},
		"a default": {
			change: with(runtime.Kind{Name: "x", Clash: "queue",
				Deadline: &runtime.Deadline{After: day, Then: "default"}}), says: "Answer",
		},
		"nobody to escalate to": {
			change: with(runtime.Kind{Name: "x", Clash: "queue",
				Deadline: &runtime.Deadline{After: day, Then: "escalate"}}), says: "Assignee",
		},
		"people and groups": {change: with(runtime.Kind{Name: "x", Clash: "queue",
			Assignees: []string{"ann", "group:finance"}})},
		"a group without a name": {change: with(runtime.Kind{Name: "x", Clash: "queue",
			Assignees: []string{"ann", "group:"}}), says: `"group:" among its Assignees`},
		"somebody to end a pause": {change: func(k []runtime.Kind) []runtime.Kind {
			k[0].Assignees = []string{"ann"}
			return k
		}, says: "who may operate"},
		"nowhere to reroute to": {
			change: with(runtime.Kind{Name: "x", Clash: "queue",
				Deadline: &runtime.Deadline{After: day, Then: "reroute"}}), says: "Target",
		},
		"no time": {change: with(
			runtime.Kind{Name: "x", Clash: "queue", Deadline: &runtime.Deadline{Then: "expire"}}),
			says: "must be positive"},
		"a reminder after the end": {
			change: with(runtime.Kind{Name: "x", Clash: "queue",
				Deadline: &runtime.Deadline{After: day, Then: "expire", Reminder: day}}),
			says: "shorter",
		},
		"no attempt": {change: with(
			runtime.Kind{Name: "x", Clash: "queue", Retry: &runtime.Retry{Backoff: "constant"}}),
			says: "one attempt"},
		"a backoff": {
			change: with(runtime.Kind{Name: "x", Clash: "queue",
				Retry: &runtime.Retry{Attempts: 1, Backoff: "slowly"}}), says: "Backoff",
		},
		"a word of a pause": {
			change: func(k []runtime.Kind) []runtime.Kind {
				k[0].Choices = []string{"resume", "stop"}
				return k
			}, says: `"resume": use continue`,
		},
		"no way out": {
			change: func(k []runtime.Kind) []runtime.Kind {
				k[2].Choices = []string{"retry", "reroute"}
				return k
			}, says: "abort",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := thread.CheckKinds(c.change(thread.DefaultKinds()))
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
			assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
		})
	}
}
