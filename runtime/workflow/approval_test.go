package workflow_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/agent"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/internal/threadtest"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/thread"
)

// finalReport is a talk that comes to the final report and says something after it.
func finalReport(last string) []llmtest.Reply {
	return []llmtest.Reply{
		hands("reporting"), calls("reporting", "x1", "extract_inspection_data", `{}`),
		calls("reporting", "g1", "generate_final_report", `{"send_email":true,"copies":2}`),
		tells("reporting", last),
	}
}

// decide answers an approval through the conversation.
func (c *chatStage) decide(id, by string, i *thread.Interrupt, value string) (*chat.Turn, error) {
	c.Helper()
	c.Next()
	return c.c.Deliver(c.Context(), chat.Message{
		Thread: "room", ID: id, User: by,
		Answers:  []thread.Answer{{Interrupt: i.ID, Value: json.RawMessage(value)}},
		Metadata: map[string]string{"who": id},
	})
}

func TestToolWaitsForAnApproval(t *testing.T) {
	for value, want := range map[string]string{
		`{"decision":"approve"}`:                            `{"send_email":true,"copies":2}`,
		`{"decision":"edit","args":{"send_email":false}}`:   `{"send_email":false}`,
		`{"decision":"deny","reason":"not by mail"}`:        "",
		`{"decision":"deny"}`:                               "",
		`{"decision":"approve","reason":"as the law says"}`: `{"send_email":true,"copies":2}`,
	} {
		t.Run(value, func(t *testing.T) {
			threadtest.PlayAll(t, func(s *threadtest.Stage) {
				c := chatting(s, finalReport("Zo is het gegaan.")...).run()
				i := c.question(c.say("m1", "maak rapport"))
				assert.Equal(s, "approval", i.Type)
				assert.JSONEq(s,
					`{"node":"reporting","agentType":"REPORTING","tool":"generate_final_report","toolCallId":"g1","args":{"send_email":true,"copies":2}}`,
					string(i.Payload))
				assert.Zero(s, s.Done("generate_final_report"), "asked before any effect")
				assert.Equal(s, 1, s.Done("extract_inspection_data"),
					"what needs no approval was done")
				turn, err := c.decide("m2", "ann", i, value)
				require.NoError(s, err)
				c.free(turn)
				assert.Equal(s, []string{"Zo is het gegaan."}, turn.Reply, "the agent tells so")
				assert.Contains(s, c.seen, "m2", "what came with the answer")
				if want == "" {
					assert.Zero(s, s.Done("generate_final_report"))
					assert.True(s, c.told("g1").Failed)
					assert.Contains(s, c.told("g1").String(), "denied")
					return
				}
				assert.Equal(s, 1, s.Done("generate_final_report"))
				assert.Equal(s, 1, s.Done("generate_final_report "+want),
					"with these arguments, in full")
				assert.False(s, c.told("g1").Failed)
			})
		})
	}
}

func TestEditedArgumentsFitTheTool(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, finalReport("Klaar.")...)
		for n := range c.servers["reporting"].tools {
			c.servers["reporting"].tools[n].Schema =
				json.RawMessage(
					`{"type":"object","properties":{"send_email":{"type":"boolean"},"copies":{"type":"integer"}},"additionalProperties":false}`)
		}
		c.run()
		i := c.question(c.say("m1", "maak rapport"))
		_, err := c.decide("m2", "ann", i, `{"decision":"edit","args":{"send_email":"maybe"}}`)
		s.Code(runtime.CodeInvalid, err)
		require.ErrorContains(s, err, "/args/send_email")
		_, err = c.decide("m3", "ann", i, `{"decision":"edit","args":{"copies":1}}`)
		require.NoError(s, err)
		assert.Equal(s, 1, s.Done(`generate_final_report {"copies":1}`))
	})
}

func TestApprovalSurvivesARestart(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, finalReport("Klaar.")...).run()
		i := c.question(c.say("m1", "maak rapport"))
		s.Restart()
		inbox, err := s.Engine.Inbox(s.Context(),
			thread.InterruptQuery{Thread: "room",
				States: []thread.InterruptState{thread.InterruptOpen}})
		require.NoError(s, err)
		require.Len(s, inbox, 1, "it is listed")
		assert.Equal(s, i.ID, inbox[0].ID)

		_, err = c.decide("m2", "mallory", i, `{"decision":"approve"}`)
		s.Code(runtime.CodeForbidden, err)
		_, err = c.decide("m3", "ann", &thread.Interrupt{ID: "unknown"}, `{"decision":"approve"}`)
		s.Code(runtime.CodeNotFound, err)
		for _, bad := range []string{`{"decision":"approve","args":{}}`, `{"decision":"edit"}`,
			`{"decision":"maybe"}`, `true`, `{"decision":"deny","decision":"approve"}`} {
			_, err = c.decide("m4", "ann", i, bad)
			s.Code(runtime.CodeInvalid, err)
		}
		assert.Zero(s, s.Done("generate_final_report"), "no effect")

		turn, err := c.decide("m5", "ann", i, `{"decision":"approve"}`)
		require.NoError(s, err)
		c.free(turn)
		_, err = c.decide("m6", "ann", i, `{"decision":"deny"}`)
		s.Code(runtime.CodeAlreadyAnswered, err)
		_, err = c.decide("m7", "ann", i, `{"decision":"approve"}`)
		require.NoError(s, err, "the same answer again gets the same result")
		turn, err = c.decide("m5", "ann", i, `{"decision":"approve"}`)
		require.NoError(s, err, "and so does the same message")
		assert.Equal(s, []string{"Klaar."}, turn.Reply)
		assert.Equal(s, 1, s.Done("generate_final_report"))
	})
}

func TestAnotherUserApproves(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, finalReport("Klaar.")...)
		c.approvers = []string{"boss"}
		c.run()
		i := c.question(c.say("m1", "maak rapport"))
		_, err := c.decide("m2", "ann", i, `{"decision":"approve"}`)
		s.Code(runtime.CodeForbidden, err)
		turn, err := c.decide("m3", "boss", i, `{"decision":"approve"}`)
		require.NoError(s, err)
		c.free(turn)
		s.Next()
		_, err = c.c.Deliver(s.Context(), chat.Message{Thread: "room", User: "boss",
			Text: "en nu?"})
		s.Code(runtime.CodeForbidden, err)
	})
}

func TestNewMessageIsRefusedWhileAnApprovalIsOpen(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, finalReport("Klaar.")...)
		c.c.Digress = func(context.Context, chat.Message, *thread.Interrupt) (bool, error) {
			return true, nil
		}
		c.run()
		i := c.question(c.say("m1", "maak rapport"))
		for _, text := range []string{"wat is de regel voor vis?", "approve", "ja", "skip"} {
			s.Next()
			_, err := c.c.Deliver(s.Context(),
				chat.Message{Thread: "room", ID: text, User: "ann", Text: text})
			c.pending(err, i.ID)
		}
		assert.Equal(s, thread.InterruptOpen, s.LoadInterrupt(i.ID).State,
			"the run is not cancelled")
		turn, err := c.decide("m2", "ann", i, `{"decision":"approve"}`)
		require.NoError(s, err)
		c.free(turn)
	})
}

func TestOneOfTwoConcurrentInputsWins(t *testing.T) {
	for name, first := range map[string]bool{"on a new thread": true, "between two turns": false} {
		t.Run(name, func(t *testing.T) {
			threadtest.PlayAll(t, func(s *threadtest.Stage) {
				h := threadtest.NewHold()
				script := []llmtest.Reply{tells("general", "Dag.")}
				if first {
					script = nil
				}
				slow := hands("history")
				give := slow.Give
				slow.Give = func(ctx context.Context, r llm.Request) (llm.Response, error) {
					if err := h.Here(ctx); err != nil {
						return llm.Response{}, err
					}
					return give(ctx, r)
				}
				c := chatting(s, append(script, slow,
					calls("history", "h1", "get_inspection_history", `{}`),
					tells("history", "Twee."))...).run()
				if !first {
					c.free(c.say("m0", "hallo"))
				}
				s.Next()
				var both sync.WaitGroup
				errs := make([]error, 2)
				turns := make([]*chat.Turn, 2)
				refused := make(chan struct{}, 2)
				for n, id := range []string{"m1", "m2"} {
					both.Go(func() {
						turns[n], errs[n] = c.c.Deliver(s.Context(),
							chat.Message{Thread: "room", ID: id, User: "ann", Text: id})
						refused <- struct{}{}
					})
				}
				<-h.Reached
				<-refused
				close(h.Release)
				both.Wait()
				won := 0
				if errs[0] != nil {
					won = 1
				}
				require.NoError(s, errs[won])
				s.Code(runtime.CodeConflict, errs[1-won])
				assert.Equal(s, []string{"Twee."}, turns[won].Reply)
				assert.Equal(s, 1, s.Done("get_inspection_history"), "never two runs")
			})
		})
	}
}

func TestConcurrentDuplicatesOfAMessageStartOneTurn(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, hands("history"), calls("history", "h1", "get_inspection_history", `{}`),
			tells("history", "Twee."), tells("general", "Later.")).run()
		s.Next()
		var both sync.WaitGroup
		turns := make([]*chat.Turn, 2)
		for n := range turns {
			both.Go(func() {
				var err error
				turns[n], err = c.c.Deliver(s.Context(), chat.Message{Thread: "room", ID: "m1",
					User: "ann", Text: "hoe vaak?"})
				assert.NoError(s, err)
			})
		}
		both.Wait()
		for _, turn := range turns {
			assert.Equal(s, []string{"Twee."}, turn.Reply)
		}
		assert.Equal(s, 1, s.Done("get_inspection_history"))
		c.free(c.say("m2", "en nu?"))
		again := c.say("m1", "hoe vaak?")
		assert.Equal(s, []string{"Twee."}, again.Reply, "its own turn, not the later one")
	})
}

// mailing is a report whose last tool sends a mail; the first call dies after it, with the process.
func (c *chatStage) mailing(once bool) {
	c.tables.Nodes[3].Tools[1].Once = once
	c.servers["reporting"].tools[2].Call = func(ctx context.Context, _ json.RawMessage) (
		json.RawMessage, error) {
		<-time.After(time.Second) // meanwhile is stored what was done before
		c.Do("key " + agent.ToolKey(ctx))
		if c.Do("mail") == 1 {
			c.Counted.Cut.Store(true) // the process dies: nothing of it is stored any more
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return json.RawMessage(`"sent"`), nil
	}
}

func TestOnceToolIsNotRepeatedAfterACrash(t *testing.T) {
	for name, approval := range map[string]bool{"a tool that needs an approval": true,
		"another": false} {
		for order, mails := range map[string]int{`{"choice":"done","value":"seen in the outbox"}`: 1, `"done"`: 1, `"run"`: 2} {
			t.Run(name+", "+order, func(t *testing.T) {
				threadtest.PlayAll(t, func(s *threadtest.Stage) {
					c := chatting(s, hands("reporting"),
						calls("reporting", "g1", "generate_final_report", `{}`),
						tells("reporting", "Klaar."))
					c.mailing(true)
					if !approval {
						c.tables.Nodes[3].Approval = nil
					}
					c.run()
					m := chat.Message{Thread: "room", ID: "m1", User: "ann",
						Text: "maak rapport"}
					if approval {
						i := c.question(c.say("m1", "maak rapport"))
						m = chat.Message{Thread: "room", ID: "m2", User: "ann",
							Answers: []thread.Answer{{Interrupt: i.ID,
								Value: json.RawMessage(`{"decision":"approve"}`)}}}
					}
					_, err := c.c.Deliver(s.Context(), m)
					s.Code(runtime.CodeUnavailable, err)
					s.Restart()
					i := s.Asks("room", thread.KindSystemError)
					assert.Contains(s, i.Name, "generate_final_report")
					assert.Equal(s, "reporting", i.Node)
					assert.Equal(s, 1, s.Done("mail"),
						"nobody knows whether it went out: it is not sent again by itself")
					s.Answer(i, order)
					turn, err := c.c.Deliver(s.Context(), m)
					require.NoError(s, err)
					c.free(turn)
					assert.Equal(s, []string{"Klaar."}, turn.Reply)
					assert.Equal(s, mails, s.Done("mail"),
						"sent again only where a person says that it did not go out")
					want := map[string]string{`"done"`: "null", `"run"`: "sent"}[order]
					if want == "" {
						want = "seen in the outbox"
					}
					assert.False(s, c.told("g1").Failed)
					assert.Equal(s, want, c.told("g1").String(),
						"the model is told what came of it")
					assert.Equal(s, 1, c.asked("general"))
				})
			})
		}
	}
}

func TestToolWithoutOnceIsRepeatedUnderItsKey(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, hands("reporting"), calls("reporting", "g1", "generate_final_report",
			`{}`), tells("reporting", "Klaar."))
		c.mailing(false)
		c.tables.Nodes[3].Approval = nil
		c.run()
		m := chat.Message{Thread: "room", ID: "m1", User: "ann", Text: "maak rapport"}
		_, err := c.c.Deliver(s.Context(), m)
		s.Code(runtime.CodeUnavailable, err)
		s.Restart()
		turn, err := c.c.Deliver(s.Context(), m)
		require.NoError(s, err)
		c.free(turn)
		assert.Equal(s, 2, s.Done("mail"))
		assert.Equal(s, 2, s.Done("key room/f1/reporting/1/tool%2F1.1%2Fgenerate_final_report"),
			"the same key")
		assert.Empty(s, agent.ToolKey(s.Context()))
	})
}

func TestToolWithOnceThatTakesTooLongIsInDoubt(t *testing.T) {
	for name, end := range map[string]error{"no end": nil,
		"a broken connection": &runtime.Error{Code: runtime.CodeInDoubt, Op: "call tool"}} {
		t.Run(name, func(t *testing.T) {
			threadtest.PlayAll(t, func(s *threadtest.Stage) {
				c := chatting(s, hands("reporting"),
					calls("reporting", "g1", "generate_final_report", `{}`),
					tells("reporting", "Klaar."))
				c.timeout = 7 * time.Second
				c.tables.Nodes[3].Tools[1].Once, c.tables.Nodes[3].Approval = true, nil
				c.servers["reporting"].tools[2].Call = func(ctx context.Context,
					_ json.RawMessage) (json.RawMessage, error) {
					s.Do("mail")
					if end == nil {
						<-ctx.Done()
						return nil, ctx.Err()
					}
					return nil, end
				}
				c.run()
				c.say("m1", "maak rapport")
				s.Next()
				s.Answer(s.Asks("room", thread.KindSystemError),
					`{"choice":"done","value":"sent"}`)
				assert.Equal(s, thread.StatusIdle, s.Rest("room").Status())
				assert.Equal(s, 1, s.Done("mail"))
			})
		})
	}
}

// One reply of the model calls two tools that need an approval and one that does not.
func TestApprovalsOfOneReplyAreAskedTogether(t *testing.T) {
	for decision, runs := range map[string]int{`{"decision":"approve"}`: 1,
		`{"decision":"deny"}`: 0} {
		t.Run(decision, func(t *testing.T) {
			threadtest.PlayAll(t, func(s *threadtest.Stage) {
				c := chatting(s, hands("reporting"), llmtest.Calls(
					llm.ToolCall{ID: "x1", Name: "extract_inspection_data",
						Args: json.RawMessage(`{}`)},
					llm.ToolCall{ID: "g1", Name: "generate_final_report",
						Args: json.RawMessage(`{}`)},
					llm.ToolCall{ID: "s1", Name: "submit_verification_answers",
						Args: json.RawMessage(`{}`)},
				).For(is("reporting")), tells("reporting", "Klaar."))
				c.tables.Nodes[3].Approval = []string{"generate_final_report",
					"submit_verification_answers"}
				c.run()
				turn := c.say("m1", "maak rapport")
				require.Len(s, turn.Questions, 2, "whoever approves sees both")
				none := func() {
					for _, tool := range []string{"extract_inspection_data",
						"generate_final_report", "submit_verification_answers"} {
						assert.Zero(s, s.Done(tool), tool)
					}
				}
				none()
				_, err := s.Engine.Answer(s.Context(), "",
					thread.Answer{Interrupt: turn.Questions[0].ID,
						Value: json.RawMessage(`{"decision":"approve"}`), By: "ann"})
				require.NoError(s, err)
				s.Next()
				assert.Equal(s, thread.StatusWaiting, s.Rest("room").Status())
				none()
				s.Answer(turn.Questions[1], decision)
				c.free(&chat.Turn{Thread: s.Rest("room")})
				assert.Equal(s, 1, s.Done("extract_inspection_data"))
				assert.Equal(s, 1, s.Done("generate_final_report"))
				assert.Equal(s, runs, s.Done("submit_verification_answers"))
			})
		})
	}
}

func TestApprovalIsStoredBeforeTheEffect(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, finalReport("Klaar.")...)
		var i *thread.Interrupt
		tool := &c.servers["reporting"].tools[2]
		inner := tool.Call
		tool.Call = func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
			stored, err := s.Store.Interrupts(ctx, thread.InterruptQuery{ID: i.ID})
			require.NoError(s, err)
			assert.Equal(s, thread.InterruptAnswered, stored[0].State)
			return inner(ctx, args)
		}
		c.run()
		i = c.question(c.say("m1", "maak rapport"))
		turn, err := c.decide("m2", "ann", i, `{"decision":"approve"}`)
		require.NoError(s, err)
		c.free(turn)
		assert.Equal(s, 1, s.Done("generate_final_report"))
	})
}
