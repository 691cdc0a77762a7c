package thread_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
)

func TestTurnThatEndsWithoutAResultLeavesItsConversationIdle(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(r *rig){
		"expired": func(r *rig) { r.pass(25 * time.Hour) },
		"cancelled": func(r *rig) {
			_, err := r.e.Cancel(r.ctx, "room", "boss", "enough")
			require.NoError(r, err)
		},
		"aborted": func(r *rig) {
			th := r.reply("room", "sure", `true`) // the function fails on it, for good
			r.next()
			r.reply("room", r.asked(th, thread.KindSystemError).Name, `"abort"`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			scene(t, func(r *rig) {
				r.cfg.Kinds = aDay()
				r.with(thread.Turns("talk", func(ctx context.Context, text string) (string, error) {
					if text == "hello" {
						return "hello to you", nil
					}
					if _, err := thread.Ask[bool](ctx, "sure", thread.Question{}); err != nil {
						return "", err
					}
					return "", thread.Permanent(errors.New("it cannot be done"))
				}))
				_, err := r.e.Start(r.ctx, thread.Begin{ID: "room", Machine: "talk", Input: "do it",
					User: "ann"})
				require.NoError(r, err)
				r.next()
				end(r)
				r.next()
				th := r.rest("room")
				assert.Equal(r, thread.StatusIdle, th.Status())
				assert.Empty(r, th.Open)
				_, err = r.e.Deliver(r.ctx, thread.Message{Thread: "room", Machine: "talk",
					Input: "hello", By: "ann"})
				require.NoError(r, err)
				th = r.rest("room")
				assert.Equal(r, thread.StatusIdle, th.Status())
				assert.JSONEq(r, `"hello to you"`, string(th.Result))
				_, err = r.e.Cancel(r.ctx, "room", "boss", "")
				require.NoError(r, err)
				assert.Equal(r, thread.StatusCancelled, r.rest("room").Status(),
					"between two turns the conversation ends for good")
			})
		})
	}
}
