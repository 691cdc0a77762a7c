package workflow_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/internal/threadtest"
	"github.com/routegen/routegen/runtime/thread"
)

// twoAsked is a chatStage whose thread asks two questions at once.
func twoAsked(s *threadtest.Stage) (c *chatStage, one, two *thread.Interrupt) {
	s.Helper()
	c = chatting(s, tells("general", "Dag."))
	c.before = func(ctx context.Context) error {
		_, err := thread.AskAll(ctx, thread.Question{Name: "one", Plain: thread.PlainText},
			thread.Question{Name: "two", Plain: thread.PlainText})
		return err
	}
	turn := c.run().say("m1", "doe het")
	require.Len(s, turn.Questions, 2)
	s.Next()
	return c, turn.Questions[0], turn.Questions[1]
}

func TestMessageMustKnowAllThatIsOpen(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c, one, two := twoAsked(s)
		m := chat.Message{Thread: "room", ID: "m2", User: "ann",
			Answers: []thread.Answer{{Interrupt: one.ID, Text: "ja"}}, Open: []string{one.ID}}
		_, err := c.c.Deliver(s.Context(), m)
		c.pending(err, one.ID, two.ID)
		_, err = c.c.Deliver(s.Context(), chat.Message{Thread: "room", ID: "m2", User: "ann",
			Cancel: true, Open: []string{two.ID}})
		c.pending(err, one.ID, two.ID)
		assert.Equal(s, thread.InterruptOpen, s.LoadInterrupt(one.ID).State, "nothing happened")
		m.Answers = append(m.Answers, thread.Answer{Interrupt: two.ID, Text: "nee"})
		m.Open = append(m.Open, two.ID)
		// the same message, and the same answers in another one
		for _, id := range []string{"m2", "m2", "m3"} {
			m.ID = id
			s.Next()
			turn, err := c.c.Deliver(s.Context(), m)
			require.NoError(s, err)
			c.free(turn)
		}
		m.ID, m.Answers[0].Text = "m4", "nee"
		_, err = c.c.Deliver(s.Context(), m)
		s.Code(runtime.CodeAlreadyAnswered, err)
	})
}

func TestCancelOfAClosedQuestion(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, reporting(calls("reporting", "q2", "request_clarification",
			`{"questions":["When?"]}`), tells("reporting", "Klaar."))...).run()
		first := c.question(c.say("m1", "maak rapport"))
		second := c.question(c.say("m2", "Acme"))
		s.Next()
		for id, want := range map[string]runtime.Code{first.ID: runtime.CodeAlreadyAnswered,
			"unknown": runtime.CodeNotFound} {
			_, err := c.c.Deliver(s.Context(),
				chat.Message{Thread: "room", ID: "m3", User: "ann", Cancel: true,
					Open: []string{id}})
			s.Code(want, err)
		}
		assert.Equal(s, thread.InterruptOpen, s.LoadInterrupt(second.ID).State)
		_, err := c.c.Deliver(s.Context(), chat.Message{Thread: "room", ID: "m4", User: "ann",
			Cancel: true, Open: []string{second.ID}})
		require.NoError(s, err)
		assert.Equal(s, thread.InterruptCancelled, s.LoadInterrupt(second.ID).State)
	})
}

func TestTheSameCancelAgainHasAllItsRows(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, reporting()...).run()
		c.question(c.say("m1", "maak rapport"))
		rows := func(m chat.Message) (names []string) {
			s.Next()
			for row, err := range c.c.DeliverStream(s.Context(), m) {
				require.NoError(s, err)
				names = append(names, strings.TrimSpace(string(row.Type)+" "+row.Name))
			}
			return names
		}
		cancel := chat.Message{Thread: "room", ID: "m2", User: "ann", Text: "annuleer"}
		once := rows(cancel)
		assert.Equal(s, []string{"metadata", "effect tool/2.1/request_clarification",
			"message reply", "cancelled", "returned"}, once)
		assert.Equal(s, once, rows(cancel))
		first := rows(chat.Message{Thread: "room", ID: "m1", User: "ann", Text: "maak rapport"})
		assert.Equal(s, "asked tool/2.1/request_clarification", first[len(first)-1],
			"what came after is not of that turn")
	})
}

func TestAwayMessageAnswersNothing(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, reporting(tells("reporting", "Klaar."))...).run()
		i := c.question(c.say("m1", "maak rapport"))
		for _, text := range []string{"Acme", "annuleer"} {
			s.Next()
			_, err := c.c.Deliver(s.Context(),
				chat.Message{Thread: "room", ID: text, User: "ann", Text: text, Away: true})
			c.pending(err, i.ID)
		}
		c.free(c.say("m2", "Acme"))
	})
}

func TestUnclearAnswerCountsOnce(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, tells("general", "Dag."))
		c.before = func(ctx context.Context) error {
			_, err := thread.Ask[bool](ctx, "sure",
				thread.Question{Text: "Zeker?", Plain: thread.PlainYesNo, Language: "nl"})
			return err
		}
		i := c.run().question(c.say("m1", "doe het"))
		for range 4 {
			turn := c.say("m2", "misschien")
			require.Len(s, turn.Reply, 1, "with the reason, every time")
			assert.Equal(s, i.ID, c.question(turn).ID)
		}
		assert.Equal(s, 1, s.LoadInterrupt(i.ID).Asks, "the same message again")
		c.free(c.say("m3", "ja"))
	})
}

func TestOtherRequestsDoNotEndATurn(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		h := threadtest.NewHold()
		c := chatting(s, hands("history"), calls("history", "h1", "get_inspection_history", `{}`),
			tells("history", "Twee."))
		c.servers["history"].tools[0].Call = func(ctx context.Context, _ json.RawMessage) (
			json.RawMessage, error) {
			return nil, h.Here(ctx)
		}
		c.timeout = time.Hour
		c.run()
		go func() {
			<-h.Reached
			_, err := s.Engine.Change(s.Context(), "room", func(ch *thread.Change) error {
				ch.Add(thread.Entry{Type: thread.EntryMessage, Name: "token",
					Value: json.RawMessage(`{}`), Request: "grant/1"})
				return nil
			})
			assert.NoError(s, err)
			close(h.Release)
		}()
		turn, err := c.c.Deliver(s.Context(),
			chat.Message{Thread: "room", ID: "m1", User: "ann", Text: "hoe vaak?"})
		require.NoError(s, err)
		c.free(turn)
		assert.Equal(s, []string{"Twee."}, turn.Reply)
	})
}

func TestWhatASlowToolWaitsForIsSeen(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, hands("history"), calls("history", "h1", "get_inspection_history", `{}`),
			calls("history", "h2", "get_inspection_history", `{}`), tells("history", "Twee."))
		n := 0
		c.servers["history"].tools[0].Call = func(ctx context.Context, _ json.RawMessage) (
			json.RawMessage, error) {
			n++
			// the first is over when the message has been acknowledged
			took := []time.Duration{0, 50 * time.Millisecond, 10 * time.Second}[n]
			select {
			case <-time.After(took):
			case <-ctx.Done():
			}
			return nil, ctx.Err()
		}
		c.run()
		begin, seen := time.Now(), map[string]time.Duration{}
		for row, err := range c.c.DeliverStream(s.Context(),
			chat.Message{Thread: "room", ID: "m1", User: "ann", Text: "hoe vaak?"}) {
			require.NoError(s, err)
			seen[row.Name] = time.Since(begin)
		}
		assert.Less(s, seen["tool/1.1/get_inspection_history"], time.Second, "what was done before")
		assert.Less(s, seen["model/2"], time.Second, "and the call itself")
		assert.GreaterOrEqual(s, seen["tool/2.1/get_inspection_history"], 10*time.Second)
	})
}
