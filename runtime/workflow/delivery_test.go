package workflow_test

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
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/internal/threadtest"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/thread"
)

func TestOfflineBatch(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, reporting(tells("general", "A1"), tells("general", "B1"),
			tells("general", "B2"), tells("reporting", "Klaar."))...).run()
		i := c.question(c.say("m1", "maak rapport"))
		in := func(room, id, text string) chat.Message {
			return chat.Message{Thread: room, ID: id, User: "ann", Text: text, Away: true}
		}
		batch := []chat.Message{in("a", "1", "een"), in("b", "1", "twee"),
			in("room", "2", "annuleer"), in("room", "3", "Acme"), in("b", "2", "drie")}
		for range 2 { // the connection broke: all of it again
			s.Next()
			for n, want := range []string{"A1", "B1", "", "", "B2"} {
				turn, err := c.c.Deliver(s.Context(), batch[n])
				if want == "" {
					c.pending(err, i.ID)
					continue
				}
				require.NoError(s, err)
				assert.Equal(s, []string{want}, turn.Reply,
					"each on its own thread, in order, once")
			}
		}
		assert.Equal(s, 4, c.asked("general"))
		turn, err := c.c.Deliver(s.Context(), chat.Message{
			Thread: "room", ID: "4", User: "ann", Away: true,
			Answers: []thread.Answer{{Interrupt: i.ID, Text: "Acme"}},
		})
		require.NoError(s, err, "an explicit answer answers")
		assert.Equal(s, []string{"Klaar."}, turn.Reply)
	})
}

func TestHangingToolIsAFailedResult(t *testing.T) {
	for name, heeds := range map[string]bool{"that heeds its context": true,
		"that does not": false} {
		t.Run(name, func(t *testing.T) {
			threadtest.PlayAll(t, func(s *threadtest.Stage) {
				c := chatting(s, hands("history"), calls("history", "h1", "get_inspection_history",
					`{}`), tells("history", "Dat lukt nu niet."), tells("general", "Dag."))
				release := make(chan struct{})
				s.Cleanup(func() { close(release) })
				c.servers["history"].tools[0].Call = func(ctx context.Context, _ json.RawMessage) (
					json.RawMessage, error) {
					if heeds {
						<-ctx.Done()
						return nil, ctx.Err()
					}
					<-release
					return nil, nil
				}
				c.timeout = 7 * time.Second
				c.run()
				before := time.Now()
				turn := c.say("m1", "hoe vaak?")
				assert.InDelta(s, 7, time.Since(before).Seconds(), 0.1)
				c.free(turn)
				assert.Equal(s, []string{"Dat lukt nu niet."}, turn.Reply)
				assert.True(s, c.told("h1").Failed)
				assert.Contains(s, c.told("h1").String(), "more than 7s")
				assert.Equal(s, []string{"Dag."}, c.say("m2", "dag").Reply, "the thread is usable")
			})
		})
	}
}

func TestToolErrorIsAFailedResult(t *testing.T) {
	for name, fails := range map[string]func() (json.RawMessage, error){
		"with an error": func() (json.RawMessage, error) { return nil, errors.New("disk full") },
		"with a panic":  func() (json.RawMessage, error) { panic("disk full") },
		"with no JSON": func() (json.RawMessage, error) {
			return json.RawMessage("disk full"), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			threadtest.PlayAll(t, func(s *threadtest.Stage) {
				c := chatting(s, hands("history"), calls("history", "h1", "get_inspection_history",
					`{}`), tells("history", "Dat lukt nu niet."))
				c.servers["history"].tools[0].Call = func(context.Context, json.RawMessage) (
					json.RawMessage, error) {
					return fails()
				}
				c.run()
				c.free(c.say("m1", "hoe vaak?"))
				assert.True(s, c.told("h1").Failed)
			})
		})
	}
}

func TestUnavailableServerIsReportedToTheModel(t *testing.T) {
	for name, server := range map[string]server{"refuses": {dead: true}, "hangs": {hangs: true}} {
		t.Run(name, func(t *testing.T) {
			threadtest.PlayAll(t, func(s *threadtest.Stage) {
				c := chatting(s, hands("history"),
					calls("history", "h1", "get_inspection_history", `{}`),
					tells("history", "De historie is niet bereikbaar."), tells("general", "Dag."))
				*c.servers["history"] = server
				c.run()
				turn := c.say("m1", "hoe vaak?")
				c.free(turn)
				assert.Equal(s, []string{"De historie is niet bereikbaar."}, turn.Reply)
				var offered []string
				for _, r := range c.model.Asked() {
					if is("history")(r) {
						offered = append(offered, r.Tools[0].Name+": "+r.Tools[0].Description)
					}
				}
				assert.Contains(s, offered[0], "not available")
				assert.True(s, c.told("h1").Failed)
				assert.Equal(s, []string{"Dag."}, c.say("m2", "dag").Reply)
			})
		})
	}
}

func TestTalkWithoutAnEnd(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, hands("history"), calls("history", "h1", "get_inspection_history", `{}`).
			Always()).run()
		turn := c.say("m1", "hoe vaak?")
		i := c.question(turn)
		assert.Equal(s, thread.KindSystemError, i.Kind)
		assert.Contains(s, i.Text, "16 times")
		s.Next()
		_, err := c.c.Deliver(s.Context(), chat.Message{Thread: "room", ID: "m2", User: "ann",
			Text: "hallo?"})
		c.pending(err, i.ID)
	})
}

func TestModelIsTriedAgainAndTheTurnIsWaitedFor(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, llmtest.Fails(&runtime.Error{Code: runtime.CodeUnavailable}),
			tells("general", "Dag.")).run()
		turn := c.say("m1", "dag")
		c.free(turn)
		assert.Equal(s, []string{"Dag."}, turn.Reply)
	})
}

func TestUnclearAnswer(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, tells("general", "Dag."))
		c.before = func(ctx context.Context) error {
			_, err := thread.Ask[bool](ctx, "sure",
				thread.Question{Text: "Zeker?", Plain: thread.PlainYesNo, Language: "nl"})
			return err
		}
		c.run()
		i := c.question(c.say("m1", "doe het"))
		turn := c.say("m2", "misschien")
		assert.Equal(s, i.ID, c.question(turn).ID, "it is asked again")
		require.Len(s, turn.Reply, 1)
		assert.Contains(s, turn.Reply[0], "misschien", "with the reason")
		turn = c.say("m3", "ja")
		c.free(turn)
		assert.Equal(s, []string{"Dag."}, turn.Reply)
	})
}

func TestSeveralOpenQuestions(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, tells("general", "Dag."))
		c.before = func(ctx context.Context) error {
			_, err := thread.AskAll(ctx, thread.Question{Name: "one", Plain: thread.PlainText},
				thread.Question{Name: "two", Plain: thread.PlainText})
			return err
		}
		c.run()
		turn := c.say("m1", "doe het")
		require.Len(s, turn.Questions, 2)
		s.Next()
		m := chat.Message{Thread: "room", ID: "m2", User: "ann", Text: "ja"}
		_, err := c.c.Deliver(s.Context(), m)
		s.Code(runtime.CodeAmbiguous, err)
		m.Text, m.Answers = "", []thread.Answer{{Interrupt: turn.Questions[0].ID, Text: "ja"},
			{Interrupt: "unknown", Text: "nee"}}
		_, err = c.c.Deliver(s.Context(), m)
		s.Code(runtime.CodeNotFound, err)
		assert.Equal(s, thread.InterruptOpen, s.LoadInterrupt(turn.Questions[0].ID).State,
			"all of them or none")
		m.Answers = []thread.Answer{{Text: "ja"}}
		_, err = c.c.Deliver(s.Context(), m)
		s.Code(runtime.CodeInvalid, err)
		m.Answers = []thread.Answer{{Interrupt: turn.Questions[0].ID, Text: "ja"},
			{Interrupt: turn.Questions[1].ID, Text: "nee"}}
		for range 2 {
			s.Next()
			turn, err = c.c.Deliver(s.Context(), m)
			require.NoError(s, err)
			c.free(turn)
			assert.Equal(s, []string{"Dag."}, turn.Reply)
		}
	})
}

func TestConversationGoesOnAfterATurnThatEnded(t *testing.T) {
	day := thread.DefaultKinds()
	day[1].Deadline = &runtime.Deadline{After: 24 * time.Hour, Then: "expire"}
	cancel := thread.DefaultKinds()
	cancel[1].Deadline = &runtime.Deadline{After: 24 * time.Hour, Then: "cancel"}
	ask := func(c *chatStage) { c.question(c.say("m1", "maak rapport")) }
	for name, tc := range map[string]struct {
		kinds   []runtime.Kind
		end     func(c *chatStage)
		failure runtime.Code
	}{
		"nobody answered": {day, func(c *chatStage) {
			ask(c)
			c.Pass(65 * time.Hour)
		}, runtime.CodeExpired},
		"nobody answered, and its kind cancels": {cancel, func(c *chatStage) {
			ask(c)
			c.Pass(65 * time.Hour)
		}, runtime.CodeExpired},
		"cancelled by an operator": {nil, func(c *chatStage) {
			ask(c)
			_, err := c.Engine.Cancel(c.Context(), "room", "boss", "no more reports")
			require.NoError(c, err)
		}, ""},
		"cancelled in a pause": {nil, func(c *chatStage) {
			ask(c)
			_, err := c.Engine.Escape(c.Context(), "room", thread.EscapeSafe, "ann", "")
			require.NoError(c, err)
			c.Answer(c.Asks("room", thread.KindUserEscape), `"cancel"`)
		}, ""},
		"a step failed and was given up": {nil, func(c *chatStage) {
			c.before = func(context.Context) error {
				return thread.Permanent(errors.New("it is broken"))
			}
			c.say("m1", "maak rapport")
			c.Next()
			c.Answer(c.Asks("room", thread.KindSystemError), `"abort"`)
			c.before = nil
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			threadtest.PlayAll(t, func(s *threadtest.Stage) {
				c := chatting(s, reporting(tells("general", "Dag."))...)
				if c.tables.Kinds = tc.kinds; name == "a step failed and was given up" {
					c = chatting(s, tells("general", "Dag."))
				}
				c.run()
				tc.end(c)
				s.Next()
				th := s.Rest("room")
				assert.Equal(s, thread.StatusIdle, th.Status())
				assert.Empty(s, th.Open)
				if tc.failure != "" {
					require.NotNil(s, th.Failure, "the record says why the turn ended")
					assert.Equal(s, tc.failure, th.Failure.Code)
				}
				turn := c.say("m2", "hallo")
				c.free(turn)
				assert.Equal(s, []string{"Dag."}, turn.Reply)
				assert.Nil(s, turn.Thread.Failure, "the next turn is another one")
			})
		})
	}
}

func TestThreadThatIsOver(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, tells("general", "Dag.")).run()
		c.free(c.say("m1", "dag"))
		// between two turns it ends the conversation
		_, err := s.Engine.Cancel(s.Context(), "room", "boss", "")
		require.NoError(s, err)
		s.Next()
		_, err = c.c.Deliver(s.Context(), chat.Message{Thread: "room", ID: "m2", User: "ann",
			Text: "hallo"})
		s.Code(runtime.CodeNotWaiting, err)
		_, err = c.c.Deliver(s.Context(), chat.Message{Thread: "room", ID: "m3", User: "eve",
			Text: "hallo"})
		s.Code(runtime.CodeForbidden, err)
	})
}

func TestUnreadableThread(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, tells("general", "Dag."), tells("general", "Hallo.")).run()
		c.free(c.say("m1", "dag"))
		s.Next()
		before := s.Log("room")
		s.Counted.Damaged.Store("room")
		m := chat.Message{Thread: "room", ID: "m2", User: "ann", Text: "ben je daar?"}
		turn, err := c.c.Deliver(s.Context(), m)
		s.Code(runtime.CodeInternal, err) // it is reported
		require.NotNil(s, turn)
		assert.Nil(s, turn.Thread)
		require.Len(s, turn.Reply, 1, "and the user has a reply")
		assert.Contains(s, turn.Reply[0], "cannot read")
		c.c.Unreadable = "Ik kan het niet lezen."
		for row, err := range c.c.DeliverStream(s.Context(), m) {
			s.Code(runtime.CodeInternal, err)
			assert.JSONEq(s, `{"text":"Ik kan het niet lezen."}`, string(row.Value))
		}
		assert.Equal(s, before, s.Log("room"), "it is kept as it was")
		s.Counted.Damaged.Store("")
		assert.Equal(s, []string{"Hallo."}, c.say("m2", "ben je daar?").Reply)
	})
}

func TestDeliverStream(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		h := threadtest.NewHold()
		c := chatting(s, hands("history"), calls("history", "h1", "get_inspection_history", `{}`),
			tells("history", "Twee."), tells("general", "Dag."))
		inner := c.servers["history"].tools[0].Call
		c.servers["history"].tools[0].Call = func(ctx context.Context, args json.RawMessage) (
			json.RawMessage, error) {
			if err := h.Here(ctx); err != nil {
				return nil, err
			}
			return inner(ctx, args)
		}
		c.timeout = time.Hour
		c.run()
		s.Next()
		var whileRunning, all []thread.Entry
		m := chat.Message{Thread: "room", ID: "m1", User: "ann", Text: "hoe vaak?"}
		held := true
		for row, err := range c.c.DeliverStream(s.Context(), m) {
			require.NoError(s, err)
			all = append(all, row)
			if held && row.PC == "history" { // the general agent is done, the history agent at work
				held = false
				whileRunning = all
				<-h.Reached
				close(h.Release)
			}
		}
		assert.Less(s, len(whileRunning), len(all), "rows come while the turn runs")
		assert.Equal(s, s.Log("room"), all, "all rows, each once, in order")
		last := all[len(all)-1]
		assert.Equal(s, thread.EntryReturned, last.Type)
		c.free(c.say("m2", "dag"))
		var again []thread.Entry
		for row, err := range c.c.DeliverStream(s.Context(), m) {
			require.NoError(s, err)
			again = append(again, row)
		}
		assert.Equal(s, last, again[len(again)-1],
			"the same message again has the rows of its turn, and no others")
	})
}

func TestDeliverStreamEndsWithItsReader(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		h := threadtest.NewHold()
		slow := tells("general", "Dag.")
		give := slow.Give
		slow.Give = func(ctx context.Context, r llm.Request) (llm.Response, error) {
			if err := h.Here(ctx); err != nil {
				return llm.Response{}, err
			}
			return give(ctx, r)
		}
		c := chatting(s, slow).run()
		ctx, cancel := context.WithCancel(s.Context())
		go func() {
			<-h.Reached
			cancel()
		}()
		m := chat.Message{Thread: "room", ID: "m1", User: "ann", Text: "dag"}
		var last error
		for _, err := range c.c.DeliverStream(ctx, m) {
			last = err
		}
		s.Code(runtime.CodeUnknown, last)
		close(h.Release)
		turn, err := c.c.Deliver(s.Context(), m)
		require.NoError(s, err)
		assert.Equal(s, []string{"Dag."}, turn.Reply,
			"the run went on, and the same message finds what it did")
		assert.Equal(s, 1, c.asked("general"))
	})
}

// calls of a store by the conversation and the engine, for one message.
func (c *chatStage) cost(id, text string) [3]int64 {
	c.Helper()
	synctest.Wait() // nothing of the message before is at work
	n := c.Counted
	n.Loads.Store(0)
	n.Commits.Store(0)
	n.Logs.Store(0)
	turn, err := c.c.Deliver(c.Context(), chat.Message{Thread: "room", ID: id, User: "ann",
		Text: text})
	require.NoError(c, err)
	require.NotEmpty(c, turn.Reply)
	return [3]int64{n.Loads.Load(), n.Commits.Load(), n.Logs.Load()}
}

func TestStoreCalls(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		talk := func() []llmtest.Reply {
			return []llmtest.Reply{tells("general", "Dag."), hands("reporting"),
				calls("reporting", "x1", "extract_inspection_data", `{}`),
				tells("reporting", "Klaar.")}
		}
		with := chatting(s, append(talk(), hands("reporting"),
			calls("reporting", "q1", "request_clarification", twoQuestions),
			tells("reporting", "Goed."))...).run()
		first, turn := with.cost("m1", "dag"), with.cost("m2", "rapport")
		with.cost("m3", "rapport")
		resume := with.cost("m4", "Acme")

		other := threadtest.NewStage(s.T, "mem", false)
		without := chatting(other, talk()...)
		without.tables.Nodes[3].Tools = without.tables.Nodes[3].Tools[1:]
		without.run()
		assert.Equal(s, without.cost("m1", "dag"), first,
			"the tool costs nothing where nobody asks")
		assert.Equal(s, without.cost("m2", "rapport"), turn)
		assert.Equal(s, [3]int64{1, 1, 2}, resume,
			"one load, one commit; the request's id is looked up, and the rows are read")
		assert.Equal(s, [3]int64{1, 1, 2}, turn)
	})
}
