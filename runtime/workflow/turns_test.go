package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/internal/threadtest"
	"github.com/routegen/routegen/runtime/thread"
)

func TestClarificationGoesOnWithTheAnswer(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, reporting()...).run()
		turn := c.say("m1", "maak rapport")
		i := c.question(turn)
		assert.Equal(s, thread.KindAgentQuestion, i.Kind)
		assert.Equal(s, "request_clarification", i.Type)
		assert.Equal(s, asText, i.Text)
		assert.Equal(s, []string{asText}, turn.Reply, "the question's text, once")
		assert.Equal(s, []string{"ann"}, i.Assignees)
		assert.JSONEq(s,
			`{"node":"reporting","agentType":"REPORTING","tool":"request_clarification","toolCallId":"q1",`+twoQuestions[1:], string(i.Payload))
		var texts int
		for _, e := range s.Log("room", thread.EntryMessage) {
			var said struct {
				Text string `json:"text"`
			}
			require.NoError(s, json.Unmarshal(e.Value, &said))
			if said.Text == asText {
				texts++
			}
		}
		assert.Equal(s, 1, texts, "it is stored as a message")
		assert.Equal(s, "reporting", turn.Thread.Root().PC, "the agent that has the thread")
		require.NoError(s, c.model.Left())
	})
}

func TestAnswerStartsTheNextRound(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, reporting(
			calls("reporting", "s1", "submit_verification_answers", `{"answers":"Acme, high"}`),
			tells("reporting", "Uw rapport is klaar."))...).run()
		c.question(c.say("m1", "maak rapport"))
		turn := c.say("m2", "Acme, high")
		c.free(turn)
		assert.Equal(s, []string{"Uw rapport is klaar."}, turn.Reply)
		assert.Equal(s, 1, c.asked("general"), "no call of the general agent")
		assert.Equal(s, 4, c.asked("reporting"))
		assert.Equal(s, 1, s.Done("extract_inspection_data"))
		assert.Equal(s, 1, s.Done("submit_verification_answers"))
		assert.JSONEq(s, `"Acme, high"`, string(c.told("q1").Value),
			"the result is that of the original call")
		assert.False(s, c.told("q1").Failed)
		var models []string
		for _, e := range s.Log("room", thread.EntryEffect) {
			if e.Name == "model/2" && e.State == thread.EffectDone {
				models = append(models, string(e.Value))
			}
		}
		assert.Len(s, models, 1, "the call is begun once")
		assert.Equal(s, []string{"m1", "m2"}, slices.Compact(c.seen),
			"what came with the message that resumed it is what the agent sees")
		require.NoError(s, c.model.Left())
	})
}

func TestSeveralRoundsOfQuestions(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, reporting(
			calls("reporting", "q2", "request_clarification", `{"questions":["When?"]}`),
			calls("reporting", "q3", "request_clarification", `{"questions":["Where?"]}`),
			tells("reporting", "Klaar."))...).run()
		first := c.question(c.say("m1", "maak rapport"))
		second := c.question(c.say("m2", "Acme"))
		third := c.question(c.say("m3", "yesterday"))
		assert.Equal(s, []string{"1. When?", "1. Where?"}, []string{second.Text, third.Text})
		assert.Len(s, map[string]bool{first.ID: true, second.ID: true, third.ID: true}, 3,
			"each round has a question of its own")
		c.free(c.say("m4", "here"))
		assert.Equal(s, 1, s.Done("extract_inspection_data"))
		for call, want := range map[string]string{"q1": `"Acme"`, "q2": `"yesterday"`,
			"q3": `"here"`} {
			assert.JSONEq(s, want, string(c.told(call).Value), "the answer of its own round")
		}
		last := c.model.Asked()[len(c.model.Asked())-1]
		assert.Equal(s, `here`, last.Turns()[len(last.Turns())-1].Results[0].String())
	})
}

func TestMessageAfterTheReportStartsATurn(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, reporting(tells("reporting", "Klaar."), tells("general", "Graag gedaan."),
			hands("history"),
			calls("history", "h1", "get_inspection_history", `{}`),
			tells("history", "Twee bezoeken."), tells("general", "Dag."))...).run()
		c.question(c.say("m1", "maak rapport"))
		c.free(c.say("m2", "Acme"))
		turn := c.say("m3", "dank je")
		c.free(turn)
		assert.Equal(s, []string{"Graag gedaan."}, turn.Reply, "triaged by the general agent")
		turn = c.say("m4", "en vroeger?")
		assert.Equal(s, []string{"Twee bezoeken."}, turn.Reply)
		turn = c.say("m5", "tot ziens")
		assert.Equal(s, []string{"Dag."}, turn.Reply, "not stuck on the history agent either")
		assert.Equal(s, 4, c.asked("general"))
		require.NoError(s, c.model.Left())
	})
}

func TestTurnStartsAtTheEntryNode(t *testing.T) {
	for _, start := range []string{"entry", "last"} {
		t.Run(start, func(t *testing.T) {
			threadtest.PlayAll(t, func(s *threadtest.Stage) {
				c := chatting(s, tells("history", "Twee."))
				c.tables.TurnStart = start
				c.c.Begin = func(m chat.Message, _ json.RawMessage) (thread.Begin, error) {
					n := noteNamed("history")
					n.Text = m.Text
					return c.machine.BeginTurn(n)
				}
				turn, err := c.run().
					c.Deliver(s.Context(), chat.Message{Thread: "room", User: "ann",
					Text: "hoe vaak?"})
				if start == "entry" {
					s.Code(runtime.CodeInvalid, err)
					return
				}
				require.NoError(s, err)
				assert.Equal(s, []string{"Twee."}, turn.Reply)
			})
		})
	}
}

func TestTransferToOtherAgents(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, hands("regulation"), calls("regulation", "r1", "search_regulations",
			`{"q":"vis"}`), tells("regulation", "Onder 4 graden.")).run()
		turn := c.say("m1", "wat is de regel voor vis?")
		c.free(turn)
		assert.Equal(s, []string{"Onder 4 graden."}, turn.Reply)
		assert.Equal(s, 1, s.Done(`search_regulations {"q":"vis"}`))
		assert.Empty(s, s.Log("room", thread.EntryAsked))
	})
}

func TestDigressionKeepsTheQuestionOpen(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, reporting(
			hands("regulation"), calls("regulation", "r1", "search_regulations", `{}`),
			tells("regulation", "Onder 4 graden."), tells("reporting", "Klaar."))...)
		c.c.Digress = func(_ context.Context, m chat.Message, open *thread.Interrupt) (bool,
			error) {
			assert.Equal(s, asText, open.Text)
			return m.Text == "wat is de regel voor vis?", nil
		}
		times := 0
		// another request each time, as one with a clock makes
		c.c.Begin = func(m chat.Message, _ json.RawMessage) (thread.Begin, error) {
			times++
			n := noteNamed("general")
			n.Text = fmt.Sprint(m.Text, times)
			return c.machine.BeginTurn(n)
		}
		c.run()
		i := c.question(c.say("m1", "maak rapport"))
		for range 2 { // and the same message again
			turn := c.say("m2", "wat is de regel voor vis?")
			assert.Equal(s, []string{"Onder 4 graden."}, turn.Reply)
			assert.Equal(s, i.ID, c.question(turn).ID, "the same question is open, and shown again")
		}
		assert.Equal(s, 1, s.Done("search_regulations"))
		turn := c.say("m3", "Acme")
		c.free(turn)
		assert.Equal(s, []string{"Klaar."}, turn.Reply)
		assert.JSONEq(s, `"Acme"`, string(c.told("q1").Value))
		turn = c.say("m2", "wat is de regel voor vis?")
		assert.Equal(s, []string{"Onder 4 graden."}, turn.Reply,
			"that message has its turn for ever")
		require.NoError(s, c.model.Left())
	})
}

func TestDigressionThatAsksAQuestion(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, reporting(
			hands("reporting"), calls("reporting", "q9", "request_clarification",
				`{"questions":["Which fish?"]}`), tells("reporting", "Kabeljauw: 4 graden."))...)
		c.c.Digress = func(_ context.Context, m chat.Message, _ *thread.Interrupt) (bool,
			error) {
			return m.ID == "m2", nil
		}
		c.run()
		own := c.question(c.say("m1", "maak rapport"))
		turn := c.say("m2", "en vis?")
		require.Len(s, turn.Questions, 2)
		assert.Equal(s, own.ID, turn.Questions[0].ID, "the thread's own question first")
		beside := turn.Questions[1]
		assert.NotEqual(s, "room", beside.Thread)
		s.Next()
		turn, err := c.c.Deliver(s.Context(), chat.Message{
			Thread: beside.Thread, ID: "m3", User: "ann",
			Answers: []thread.Answer{{Interrupt: beside.ID, Text: "kabeljauw"}},
		})
		require.NoError(s, err)
		assert.Equal(s, []string{"Kabeljauw: 4 graden."}, turn.Reply)
		assert.Equal(s, thread.InterruptOpen, s.LoadInterrupt(own.ID).State)
	})
}

func TestStrictRefusesPlainText(t *testing.T) {
	for _, bySpec := range []bool{false, true} {
		t.Run(map[bool]string{false: "by the conversation", true: "by the spec"}[bySpec],
			func(t *testing.T) {
				threadtest.PlayAll(t, func(s *threadtest.Stage) {
					c := chatting(s, reporting(tells("reporting", "Klaar."))...)
					if c.c.Strict = !bySpec; bySpec {
						c.tables.PlainText = "strict"
					}
					c.run()
					i := c.question(c.say("m1", "maak rapport"))
					s.Next()
					_, err := c.c.Deliver(s.Context(), chat.Message{Thread: "room", ID: "m2",
						User: "ann", Text: "wat is de regel voor vis?"})
					c.pending(err, i.ID)
					s.Next()
					turn, err := c.c.Deliver(s.Context(), chat.Message{
						Thread: "room", ID: "m3", User: "ann",
						Answers: []thread.Answer{{Interrupt: i.ID,
							Value: json.RawMessage(`{"company_name":"Acme"}`)}},
					})
					require.NoError(s, err, "an explicit answer is one")
					c.free(turn)
					assert.JSONEq(s, `{"company_name":"Acme"}`, string(c.told("q1").Value))
				})
			})
	}
}

func TestCancelEndsTheTurn(t *testing.T) {
	for name, m := range map[string]chat.Message{"by a word": {Text: " Annuleer! "},
		"by status": {Cancel: true}} {
		t.Run(name, func(t *testing.T) {
			threadtest.PlayAll(t, func(s *threadtest.Stage) {
				c := chatting(s, reporting(tells("general", "Ja?"))...).run()
				i := c.question(c.say("m1", "maak rapport"))
				s.Next()
				cancel := m // the stages play at the same time
				cancel.Thread, cancel.ID, cancel.User = "room", "m2", "ann"
				for range 2 { // and the same again
					turn, err := c.c.Deliver(s.Context(), cancel)
					require.NoError(s, err)
					c.free(turn)
					assert.Equal(s, []string{"Cancelled."}, turn.Reply)
				}
				result := c.told("q1")
				assert.True(s, result.Failed)
				assert.Contains(s, result.String(), "cancelled")
				assert.Equal(s, thread.InterruptCancelled, s.LoadInterrupt(i.ID).State)
				assert.Zero(s, s.Done("generate_final_report"))
				turn := c.say("m3", "hallo")
				c.free(turn)
				assert.Equal(s, []string{"Ja?"}, turn.Reply, "the thread is free")
			})
		})
	}
}

func TestCancelWithoutAnOpenTurn(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, tells("general", "Er is niets."), tells("general", "Hallo.")).run()
		turn := c.say("m1", "annuleer")
		c.free(turn)
		assert.Equal(s, []string{"Er is niets."}, turn.Reply, "a message like any other")
		s.Next()
		_, err := c.c.Deliver(s.Context(), chat.Message{Thread: "room", ID: "m2", User: "ann",
			Cancel: true})
		s.Code(runtime.CodeNotWaiting, err)
		assert.Equal(s, []string{"Hallo."}, c.say("m3", "hallo").Reply, "the next message works")
	})
}

func TestSkipWordAnswersWithNull(t *testing.T) {
	for _, word := range []string{"sla over", "Skip.", "geen vragen"} {
		t.Run(word, func(t *testing.T) {
			threadtest.PlayAll(t, func(s *threadtest.Stage) {
				c := chatting(s, reporting(calls("reporting", "g1", "generate_final_report", `{}`),
					tells("reporting", "Klaar."))...)
				c.tables.Nodes[3].Approval = nil
				c.run()
				c.question(c.say("m1", "maak rapport"))
				turn := c.say("m2", word)
				c.free(turn)
				assert.Equal(s, []string{"Klaar."}, turn.Reply)
				assert.Zero(s, s.Done("submit_verification_answers"))
				assert.Equal(s, 1, s.Done("generate_final_report"))
				assert.Contains(s, c.told("q1").String(), "skips")
				assert.False(s, c.told("q1").Failed)
			})
		})
	}
}

func TestClarificationWithoutItsTool(t *testing.T) {
	threadtest.PlayAll(t, func(s *threadtest.Stage) {
		c := chatting(s, hands("reporting"), calls("reporting", "q1", "request_clarification",
			twoQuestions), tells("reporting", "Welk bedrijf?"), tells("general", "Dank."))
		c.tables.Nodes[3].Tools = c.tables.Nodes[3].Tools[1:] // the one line
		c.run()
		turn := c.say("m1", "maak rapport")
		c.free(turn)
		assert.Equal(s, []string{"Welk bedrijf?"}, turn.Reply,
			"the question goes out as plain text")
		assert.True(s, c.told("q1").Failed)
		assert.Equal(s, []string{"Dank."}, c.say("m2", "Acme").Reply,
			"and the next message is a turn of its own")
		assert.Empty(s, s.Log("room", thread.EntryAsked))
	})
}
