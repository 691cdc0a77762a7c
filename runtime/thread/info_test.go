package thread_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

func TestCodeOfAStepKnowsItsThread(t *testing.T) {
	scene(t, func(r *rig) {
		var seen []thread.Info
		r.with(thread.Turns("talk", func(ctx context.Context, text string) (string, error) {
			info, err := thread.InfoOf(ctx)
			require.NoError(r, err)
			if _, err = thread.Ask[bool](ctx, "sure", thread.Question{}); err != nil {
				return "", err
			}
			if seen = append(seen, info); len(seen) == 1 {
				return "", errors.New("down")
			}
			inside, err := thread.Do(ctx, "look", func(ctx context.Context, _ string) (thread.Info,
				error) {
				inside, err := thread.InfoOf(ctx)
				assert.Equal(r, info, inside)
				return inside, err
			})
			return inside.User + " said " + text, err
		}))
		th, err := r.e.Start(r.ctx, thread.Begin{Machine: "talk", Input: "one", User: "ann",
			Metadata: value(`{"a":1}`)})
		require.NoError(r, err)
		r.rest(th.ID)
		r.next()
		th = r.reply(th.ID, "sure", "true")
		require.Equal(r, thread.StatusIdle, th.Status())
		r.next()
		_, err = r.e.Deliver(r.ctx, thread.Message{Thread: th.ID, Machine: "talk", Text: "two",
			By: "eve"})
		require.NoError(r, err)
		r.rest(th.ID)
		r.next()
		th = r.reply(th.ID, "sure", "true")
		require.JSONEq(r, `"ann said two"`, string(th.Result))
		assert.Nil(r, th.Previous, "it is kept while a turn runs")
		first := thread.Info{Thread: th.ID, User: "ann", Turn: 1, Attempt: 1,
			Metadata: value(`{"a":1}`)}
		again, second := first, first
		again.Attempt, second.Turn, second.Previous = 2, 2, value(`"ann said one"`)
		assert.Equal(r, []thread.Info{first, again, second}, seen)
	})
	_, err := thread.InfoOf(t.Context())
	require.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
}

// A function of a conversation knows whose it is, and what its last turn has returned.
func ExampleInfoOf() {
	counter := thread.Turns("counter", func(ctx context.Context, word string) (string, error) {
		info, err := thread.InfoOf(ctx)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s, turn %d: %s, after %s", info.User, info.Turn, word,
			info.Previous), nil
	})
	ctx := context.Background()
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{}, counter)
	if err != nil {
		log.Fatal(err)
	}
	t, err := engine.Start(ctx, thread.Begin{Machine: "counter", Input: "a", User: "ann"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err = engine.Wait(ctx, t.ID); err != nil {
		log.Fatal(err)
	}
	if _, err = engine.Deliver(ctx, thread.Message{Thread: t.ID, Machine: "counter", Text: "b",
		By: "ann"}); err != nil {
		log.Fatal(err)
	}
	if t, err = engine.Wait(ctx, t.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(t.Result))
	if err := engine.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// "ann, turn 2: b, after \"ann, turn 1: a, after \""
}
