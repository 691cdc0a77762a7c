package agui

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/thread"
)

func TestClarification(t *testing.T) {
	t.Parallel()
	d := newDesk(t, toTheQuestion()...)
	d.tables.Kinds = thread.DefaultKinds()
	d.tables.Kinds[1].Deadline = &runtime.Deadline{After: 24 * time.Hour, Then: "expire"}
	d.open()
	s := d.run(inputOf("r1", "maak rapport"))
	i := s.asks()
	assert.Equal(t, "input_required", i.Reason)
	assert.Equal(t, "q1", i.ToolCallID)
	assert.Equal(t, bothQuestions, i.Message)
	assert.NotEmpty(t, i.ExpiresAt)
	assert.Contains(t, string(i.Metadata.Routegen.Payload), `"question":"Which company?"`)
	assert.Contains(t, string(i.ResponseSchema), `"string"`)
	assert.Equal(t, []string{bothQuestions}, s.texts(), "the question's text, once")
	assert.Equal(t, []string{"x1", "q1"}, s.started(), "a hand-over is no tool call")
	assert.Equal(t, "extract_inspection_data 1", s.result("x1").Content)
	assert.Len(t, s.of("TOOL_CALL_RESULT"), 1)
	assert.Equal(t, runState{ThreadID: "room", RunID: "r1", CurrentAgent: "reporting",
		Status: "interrupted", Interrupts: s.last().Outcome.Interrupts}, s.state())
	var steps []string
	for _, e := range s.of("STEP_STARTED") {
		steps = append(steps, e.StepName)
	}
	assert.Equal(t, []string{"general", "reporting"}, steps)
	history := s.of("MESSAGES_SNAPSHOT")
	require.Len(t, history, 1)
	var ids []string
	for _, m := range history[0].Messages {
		var message struct {
			ID string `json:"id"`
		}
		require.NoError(t, json.Unmarshal(m, &message))
		ids = append(ids, message.ID)
	}
	assert.Equal(t, []string{"u-r1", "x1", "tool-result-x1", "q1",
		s.of("TEXT_MESSAGE_START")[0].MessageID}, ids)
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(i interrupt) string{
		"as plain text": func(i interrupt) string {
			return showing(i, inputOf("r2", "Acme, high"))
		},
		"as a resumption": func(i interrupt) string {
			return inputOf("r2", "", resumes(i.ID, `"Acme, high"`))
		},
		"beside older words": func(i interrupt) string {
			return inputOf("r2", "maak rapport", resumes(i.ID, `"Acme, high"`))
		},
		"as text in two parts": func(i interrupt) string {
			return showing(i, withContent(
				`[{"type":"text","text":"Acme,"},{"type":"text","text":"high"}]`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, toTheQuestion(
				deskCalls("reporting", "s1", "submit_verification_answers",
					`{"answers":"Acme, high"}`),
				deskTells("reporting", "Uw rapport is klaar."))...).open()
			i := d.run(inputOf("r1", "maak rapport")).asks()
			s := d.run(answer(i)).succeeds("Uw rapport is klaar.")
			assert.Contains(t, s.result("q1").Content, "Acme,")
			assert.Equal(t, []string{"s1"}, s.started(),
				"only what is new is called: no second beginning of the question")
			assert.Equal(t, 1, d.asked(), "no call of the general agent")
			assert.Equal(t, 1, d.done("extract_inspection_data"))
			assert.Equal(t, 1, d.done("submit_verification_answers"))
			assert.Equal(t, "completed", s.state().Status)
			assert.JSONEq(t, `{"answer":{"text":"Uw rapport is klaar."}}`, string(s.last().Result))
			assert.Equal(t, "r2", d.seen[len(d.seen)-1][metaRun],
				"what came with the run is what the agent sees")
			require.NoError(t, d.model.Left())
		})
	}
}

func withContent(content string) string {
	return `{"threadId":"room","runId":"r2","messages":[{"id":"u","role":"user","content":` +
		content + `}],"forwardedProps":{"by":"ann"}}`
}

func TestSeveralRounds(t *testing.T) {
	t.Parallel()
	d := newDesk(t, toTheQuestion(
		deskCalls("reporting", "q2", "request_clarification", `{"questions":["When?"]}`),
		deskCalls("reporting", "q3", "request_clarification", `{"questions":["Where?"]}`),
		deskTells("reporting", "Klaar."))...).open()
	first := d.run(inputOf("r1", "maak rapport")).asks()
	run2 := d.run(inputOf("r2", "", resumes(first.ID, `"Acme"`)))
	second := run2.asks()
	run3 := d.run(showing(second, inputOf("r3", "yesterday")))
	third := run3.asks()
	run4 := d.run(inputOf("r4", "", resumes(third.ID, `"here"`))).succeeds("Klaar.")
	assert.Equal(t, []string{"1. When?", "1. Where?"}, []string{second.Message, third.Message})
	assert.NotEqual(t, first.ID, second.ID)
	assert.NotEqual(t, second.ID, third.ID)
	assert.Equal(t, []string{"Acme", "yesterday", "here"},
		[]string{run2.result("q1").Content, run3.result("q2").Content, run4.result("q3").Content})
	assert.Equal(t, 1, d.done("extract_inspection_data"))
	d.run(inputOf("r5", "", resumes(second.ID, `"today"`))).refuses("already_answered")
}

func TestAfterTheReport(t *testing.T) {
	t.Parallel()
	d := newDesk(t, toTheQuestion(deskTells("reporting", "Klaar."),
		deskTells("general", "Graag gedaan."), deskHands("history"),
		deskCalls("history", "h1", "get_inspection_history", `{}`),
		deskTells("history", "Twee bezoeken."), deskTells("general", "Dag."))...).open()
	i := d.run(inputOf("r1", "maak rapport")).asks()
	d.run(showing(i, inputOf("r2", "Acme"))).succeeds("Klaar.")
	s := d.run(inputOf("r3", "dank je")).succeeds("Graag gedaan.")
	assert.Equal(t, "general", s.state().CurrentAgent, "triaged by the general agent")
	d.run(inputOf("r4", "en vroeger?")).succeeds("Twee bezoeken.")
	d.run(inputOf("r5", "tot ziens")).succeeds("Dag.")
	assert.Equal(t, 4, d.asked())
	require.NoError(t, d.model.Left())
}

func TestOtherAgents(t *testing.T) {
	t.Parallel()
	d := newDesk(t, deskHands("regulation"), deskCalls("regulation", "r1", "search_regulations",
		`{"q":"vis"}`), deskTells("regulation", "Onder 4 graden.")).open()
	s := d.run(inputOf("r1", "wat is de regel voor vis?")).succeeds("Onder 4 graden.")
	assert.Equal(t, []string{"r1"}, s.started())
	assert.JSONEq(t, `{"q":"vis"}`, s.of("TOOL_CALL_ARGS")[0].Delta)
	assert.Equal(t, 1, d.done(`search_regulations {"q":"vis"}`))
	var agents []string
	for _, e := range s.of("STATE_SNAPSHOT") {
		agents = append(agents, e.Snapshot.CurrentAgent+" "+e.Snapshot.Status)
	}
	assert.Equal(t, []string{"general processing", "regulation processing", "regulation completed"},
		agents)
}

func TestDigression(t *testing.T) {
	t.Parallel()
	d := newDesk(t, toTheQuestion(deskHands("regulation"),
		deskCalls("regulation", "r1", "search_regulations", `{}`),
		deskTells("regulation", "Onder 4 graden."), deskTells("reporting", "Klaar."))...)
	d.c.Digress = func(_ context.Context, m chat.Message, _ *thread.Interrupt) (bool, error) {
		return m.Text == "wat is de regel voor vis?", nil
	}
	d.open()
	i := d.run(inputOf("r1", "maak rapport")).asks()
	for range 2 { // and the same run again
		s := d.run(showing(i, inputOf("r2", "wat is de regel voor vis?")))
		assert.Equal(t, []string{"Onder 4 graden."}, s.texts())
		assert.Equal(t, i.ID, s.asks().ID, "the same question is open, and shown again")
		assert.Equal(t, "reporting", s.state().CurrentAgent)
	}
	assert.Equal(t, 1, d.done("search_regulations"))
	d.run(inputOf("r2", "en vlees?")).refuses("conflict")
	s := d.run(showing(i, inputOf("r3", "Acme"))).succeeds("Klaar.")
	assert.Equal(t, "Acme", s.result("q1").Content)
}

func TestDigressionThatAsksItself(t *testing.T) {
	t.Parallel()
	d := newDesk(t, toTheQuestion(deskHands("reporting"),
		deskCalls("reporting", "q9", "request_clarification", `{"questions":["Which fish?"]}`),
		deskTells("reporting", "Kabeljauw: 4 graden."), deskTells("reporting", "Klaar."))...)
	d.c.Digress = func(_ context.Context, m chat.Message, _ *thread.Interrupt) (bool, error) {
		return m.Text == "en vis?", nil
	}
	d.open()
	own := d.run(inputOf("r1", "maak rapport")).asks()
	both := d.run(showing(own, inputOf("r2", "en vis?"))).asksAll()
	require.Len(t, both, 2)
	assert.Equal(t, own.ID, both[0].ID, "the thread's own question first")
	assert.NotEqual(t, "room", both[1].Metadata.Routegen.Thread)
	d.run(inputOf("r3", "", resumes(own.ID, `"Acme"`, both[1].ID, `"kabeljauw"`))).
		refuses("invalid")
	s := d.run(inputOf("r4", "", resumes(both[1].ID, `"kabeljauw"`)))
	assert.Equal(t, []string{"Kabeljauw: 4 graden."}, s.texts())
	assert.Equal(t, own.ID, s.asks().ID)
	d.run(inputOf("r5", "", resumes(own.ID, `"Acme"`))).succeeds("Klaar.")
	d.run(inputIn("other", "r6", "", resumes(both[1].ID, `"kabeljauw"`))).refuses("not_found")
}

func TestStrict(t *testing.T) {
	t.Parallel()
	for _, bySpec := range []bool{false, true} {
		t.Run(map[bool]string{false: "by the conversation", true: "by the spec"}[bySpec],
			func(t *testing.T) {
				t.Parallel()
				d := newDesk(t, toTheQuestion(deskTells("reporting", "Klaar."))...)
				if d.c.Strict = !bySpec; bySpec {
					d.tables.PlainText = "strict"
				}
				d.open()
				i := d.run(inputOf("r1", "maak rapport")).asks()
				s := d.run(showing(i, inputOf("r2", "wat is de regel voor vis?")))
				assert.Contains(t, s.refuses("pending_interrupt").Message, "answer")
				assert.Equal(t, i, s.state().Interrupts[0], "with what is to be answered")
				d.run(inputOf("r3", "", resumes(i.ID, `{"company_name":"Acme"}`))).
					succeeds("Klaar.")
			})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]func(id string) string{
		"by a word": func(string) string { return inputOf("r2", " Annuleer! ") },
		"by status": func(id string) string { return inputOf("r2", "", cancels(id)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, toTheQuestion(deskTells("general", "Ja?"))...).open()
			i := d.run(inputOf("r1", "maak rapport")).asks()
			for range 2 { // and the same again
				s := d.run(body(i.ID)).succeeds("Geannuleerd.")
				assert.Contains(t, s.result("q1").Content, "cancelled")
				assert.Equal(t, map[string]any{"failed": true}, s.result("q1").Metadata)
				assert.Empty(t, s.started())
			}
			again := d.run(inputOf("r1", "maak rapport"))
			assert.Equal(t, []string{bothQuestions}, again.texts(),
				"what came after is not of that run")
			assert.Equal(t, []string{"x1"}, resultsOf(again))
			d.run(inputOf("r3", "", cancels(i.ID))).refuses("not_waiting")
			assert.Zero(t, d.done("generate_final_report"))
			d.run(inputOf("r4", "hallo")).succeeds("Ja?")
		})
	}
}

func resultsOf(s *stream) (ids []string) {
	for _, e := range s.of("TOOL_CALL_RESULT") {
		ids = append(ids, e.ToolCallID)
	}
	return ids
}

func TestCancelOfAnOldQuestion(t *testing.T) {
	t.Parallel()
	d := newDesk(t, toTheQuestion(deskCalls("reporting", "q2", "request_clarification",
		`{"questions":["When?"]}`), deskTells("reporting", "Klaar."))...).open()
	first := d.run(inputOf("r1", "maak rapport")).asks()
	second := d.run(showing(first, inputOf("r2", "Acme"))).asks()
	d.run(inputOf("r3", "", cancels(first.ID))).refuses("already_answered")
	d.run(inputOf("r4", "", cancels("unknown"))).refuses("not_found")
	assert.Equal(t, second.ID, d.settled().Open[0].ID, "the open one is not ended by it")
	d.run(showing(second, inputOf("r5", "now"))).succeeds("Klaar.")
}

func TestSkipWord(t *testing.T) {
	t.Parallel()
	d := newDesk(t, toTheQuestion(deskCalls("reporting", "g1", "generate_final_report", `{}`),
		deskTells("reporting", "Klaar."))...)
	d.tables.Nodes[3].Approval = nil
	d.open()
	i := d.run(inputOf("r1", "maak rapport")).asks()
	s := d.run(showing(i, inputOf("r2", "Sla over."))).succeeds("Klaar.")
	assert.Contains(t, s.result("q1").Content, "skips")
	assert.Zero(t, d.done("submit_verification_answers"))
	assert.Equal(t, 1, d.done("generate_final_report"))
}
