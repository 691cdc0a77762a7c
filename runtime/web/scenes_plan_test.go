package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// The plan scenarios, over real sockets. P7, P10 and P12 for a plain thread are in scenes_test.go.

// TestEscapeDuringStep2 pauses between two steps: nothing of the third has happened, and the
// interrupt shows the plan.
func TestEscapeDuringStep2(t *testing.T) {
	planning(t, func(w *works) {
		id, _, escape := w.pausedAt()
		assert.Equal(w, thread.KindUserEscape, escape.Kind)
		var shown struct {
			Plan      []string `json:"current_plan"`
			Completed int      `json:"completed_steps"`
			Total     int      `json:"total_steps"`
		}
		require.NoError(w, json.Unmarshal(escape.Context, &shown))
		assert.Equal(w, []string{"a", "hold b", "c"}, shown.Plan)
		assert.Equal(w, 3, shown.Total)
		assert.Contains(w, []int{1, 2}, shown.Completed, "the step was stopped, or has ended")
		th := w.settled(id)
		assert.True(w, th.Paused)
		assert.Equal(w, thread.StatusWaiting, th.Status)
		assert.Zero(w, w.times("before c"))
	})
}

// TestResumeWithAChange has the replanner get the text once, and the next step come from the new
// plan.
func TestResumeWithAChange(t *testing.T) {
	planning(t, func(w *works) {
		id, c, _ := w.pausedAt()
		assert.Contains(w, c.ask(`{"type":"resume","payload":{"thread_id":"`+id+
			`","user_input":"do notify Ann,d"},"id":"r"}`).raw, `"success":true`)
		th := w.settled(id)
		require.Equal(w, thread.StatusDone, th.Status)
		assert.Contains(w, string(th.Result), "notify Ann done 1, d done 1")
		assert.Equal(w, 1, w.times("modify do notify Ann,d"),
			"and is not seen again by later replans")
		assert.Zero(w, w.times("before c"))
		assert.Contains(w, w.events(id), "plan_modified")
	})
}

// TestCancelledOrEmptyChange goes on unchanged: no step is lost or repeated.
func TestCancelledOrEmptyChange(t *testing.T) {
	planning(t, func(w *works) {
		id, c, _ := w.pausedAt()
		assert.Contains(w, c.ask(`{"type":"resume","payload":{"thread_id":"`+id+
			`","user_input":""},"id":"r"}`).raw, `"success":true`)
		w.answered(id, "a done 1, hold b done 1, c done 1")
		assert.NotContains(w, w.events(id), "plan_modified")
		for _, row := range decode[struct{ Items []web.Row }](
			w.get("/v1/threads/" + id + "/outbox?limit=1000")).Items {
			if row.Type == thread.EntryResumed {
				assert.Nil(w, row.Value, "it was not modified")
			}
		}
	})
}

// TestEscapeWhenNothingRuns is refused with the reason, and changes nothing.
func TestEscapeWhenNothingRuns(t *testing.T) {
	planning(t, func(w *works) {
		id, c := w.begin("a")
		w.answered(id, "a done 1")
		before := w.get("/v1/threads/" + id).body
		assert.Equal(w, `{"type":"interrupt_ack","payload":{"success":false,"thread_id":"`+id+
			`","message":"not_running"},"id":"e"}`,
			c.ask(`{"type":"interrupt","payload":{"thread_id":"`+id+`"},"id":"e"}`).raw)
		w.post("/v1/threads/"+id+"/escape", `{}`).is(409, runtime.CodeNotWaiting)
		assert.Equal(w, before, w.get("/v1/threads/"+id).body)
	})
}

// TestQuestionOfAStep gives the answer to the very step that asked; what that did before is done
// once.
func TestQuestionOfAStep(t *testing.T) {
	planning(t, func(w *works) {
		id, c := w.begin("a,ask b,c")
		rows := c.until(thread.EntryAsked)
		q := rows[len(rows)-1].Question
		assert.Equal(w, "Which?", q.Text)
		assert.Len(w, q.Choices, 2)
		assert.JSONEq(w, `{"current_plan":["a","ask b","c"],"completed_steps":1,"total_steps":3}`,
			string(q.Context))
		assert.Contains(w, c.ask(`{"type":"resume","payload":{"thread_id":"`+id+
			`","interrupt_id":"`+q.ID+`","value":"left"},"id":"r"}`).raw, `"success":true`)
		w.answered(id, "a done 1, ask b done 1, c done 1")
		assert.Equal(w, 1, w.times("answer left"))
		assert.Equal(w, 1, w.times("before ask b"))
		assert.NotContains(w, w.events(id), "plan_modified")
	})
}

// TestQuestionAfterThePauseWasRequested shows the pause and not the question; the log has both
// with the clash.
func TestQuestionAfterThePauseWasRequested(t *testing.T) {
	planning(t, func(w *works) {
		id, c := w.begin("a,holdask b,c")
		<-w.reached
		assert.Contains(w, c.ask(`{"type":"interrupt","payload":{"thread_id":"`+id+`"},"id":"e"}`).
			raw, "requested")
		close(w.released)
		c.until(thread.EntryPaused)
		th := w.settled(id)
		require.Len(w, th.Open, 1)
		escape := th.Open[0]
		assert.Equal(w, thread.KindUserEscape, escape.Kind)
		var lost *web.Interrupt
		for _, row := range decode[struct{ Items []web.Row }](
			w.get("/v1/threads/" + id + "/history?limit=1000")).Items {
			if row.Type == thread.EntryAsked && row.Interrupt != escape.ID {
				i := decode[web.Interrupt](w.get("/v1/interrupts/" + row.Interrupt).is(200))
				lost = &i
			}
		}
		require.NotNil(w, lost, "the question is in the log")
		assert.Equal(w, thread.InterruptSuperseded, lost.State)
		assert.Equal(w, escape.ID, lost.SupersededBy)
		assert.Contains(w, c.ask(`{"type":"resume","payload":{"thread_id":"`+id+
			`","interrupt_id":"`+lost.ID+`","value":"left"},"id":"x"}`).raw, "superseded: ")
		assert.Contains(w, c.ask(`{"type":"resume","payload":{"thread_id":"`+id+
			`","user_input":""},"id":"r"}`).raw, `"success":true`)
		again := w.settled(id).Open[0]
		assert.NotEqual(w, lost.ID, again.ID)
		w.post("/v1/interrupts/"+again.ID+"/answer", `{"value":"left"}`).is(200)
		w.answered(id, "a done 1, holdask b done 1, c done 1")
	})
}

// TestAnotherUserResumes is refused by a token of another thread, and of another person.
func TestAnotherUserResumes(t *testing.T) {
	planning(t, func(w *works) {
		id, _ := w.begin("ask a")
		other, _ := w.begin("ask a")
		q := w.settled(id).Open[0]
		mallory := w.forAll(w.settled(other).ID, "follow", "answer", "escape")
		w.try(mallory, http.MethodPost, "/v1/interrupts/"+q.ID+"/answer", `{"value":"left"}`).
			is(404)
		c := w.socket(mallory)
		assert.Contains(w, c.ask(`{"type":"resume","payload":{"thread_id":"`+id+
			`","value":"left"},"id":"r"}`).raw, "not_found")
		assert.Contains(w, c.ask(`{"type":"interrupt","payload":{"thread_id":"`+id+`"},"id":"e"}`).
			raw, "not_found")
		assert.Zero(w, w.times("answer left"))
	})
}

// TestTheSocketDropsAfterTheResume has the run finish on the server, and the missed events
// come, each once and only this thread's.
func TestTheSocketDropsAfterTheResume(t *testing.T) {
	planning(t, func(w *works) {
		id, c := w.begin("a,ask b,hold c")
		other, _ := w.begin("x,y")
		seen := c.until(thread.EntryAsked)
		c.send(`{"type":"resume","payload":{"thread_id":"` + id + `","value":"left"},"id":"r"}`)
		<-w.reached // the answer came in, and the next step begins
		require.NoError(w, c.conn.CloseNow())
		close(w.released)
		again := w.socket(operator)
		again.send(context0(id, seen[len(seen)-1].ID))
		seen = append(seen, again.until(thread.EntryOver)...)
		want := decode[struct{ Items []web.Row }](
			w.get("/v1/threads/" + id + "/outbox?limit=1000")).Items
		require.Len(w, seen, len(want))
		for n := range want {
			assert.Equal(w, want[n].ID, seen[n].ID)
		}
		w.answered(id, "a done 1, ask b done 1, hold c done 1")
		w.answered(other, "x done 1, y done 1")
	})
}

// TestQuestionExpires uses the default where there is one; otherwise the thread has failed, and
// a late answer is told so.
func TestQuestionExpires(t *testing.T) {
	planning(t, func(w *works) {
		id, _ := w.begin("default a,b")
		late, c := w.begin("late a,b")
		w.settled(id)
		q := w.settled(late).Open[0]
		assert.Equal(w, q.Created+300_000, q.Due)
		w.time.move(301 * time.Second)
		require.NoError(w, w.engine.RunDue(w.Context()))
		w.answered(id, "default a done 1, b done 1")
		assert.Equal(w, 1, w.times("answer right"))
		end := w.settled(late)
		assert.Equal(w, thread.StatusFailed, end.Status)
		assert.Equal(w, runtime.CodeExpired, end.Failure.Code)
		w.post("/v1/interrupts/"+q.ID+"/answer", `{"value":"left"}`).is(410, runtime.CodeExpired)
		assert.Contains(w, c.ask(`{"type":"resume","payload":{"thread_id":"`+late+
			`","interrupt_id":"`+q.ID+`","value":"left"},"id":"r"}`).raw, `"message":"expired: `)
		assert.Zero(w, w.times("late a")+w.times("before b")-1,
			"nothing builds on a step that was not done; the other thread's b is the one")
	})
}

// TestFailedStep puts the choices to a person; each leads where it says.
func TestFailedStep(t *testing.T) {
	t.Parallel()
	for choice, want := range map[string]string{
		`"retry"`:                              "a done 1, bad b done 1, c done 1",
		`{"choice":"skip","value":"left out"}`: "a done 1, left out, c done 1",
		`{"choice":"edit","input":"b"}`:        "a done 1, b done 1, c done 1",
		`"abort"`:                              "",
	} {
		t.Run(strings.Trim(choice, `"`), func(t *testing.T) {
			planning(t, func(w *works) {
				id, c := w.begin("a,bad b,c")
				rows := c.until(thread.EntryAsked)
				q := rows[len(rows)-1].Question
				require.Equal(w, thread.KindSystemError, q.Kind)
				assert.Contains(w, string(q.Payload), `"recoverable":true`)
				var offered []string
				for _, o := range q.Choices {
					offered = append(offered, o.Label)
				}
				assert.Subset(w, offered, []string{"retry", "edit", "skip", "abort"})
				assert.Contains(w, c.ask(`{"type":"resume","payload":{"thread_id":"`+id+
					`","value":`+choice+`},"id":"r"}`).raw, `"success":true`)
				if want == "" {
					assert.Equal(w, thread.StatusCancelled, w.settled(id).Status)
					assert.Zero(w, w.times("before c"), "no further steps")
					return
				}
				w.answered(id, want)
			})
		})
	}
}

// TestBadMessages is answered under the id of each message, and the socket stays open.
func TestBadMessages(t *testing.T) {
	planning(t, func(w *works) {
		id, c := w.begin("ask a")
		for text, want := range map[string]string{
			`{"type":"resume",`: "", `{"type":"nonsense","payload":{"thread_id":"` + id +
				`"},"id":"1"}`: "1",
			`{"type":"interrupt","payload":{"thread_id":"../x"},"id":"2"}`: "2",
			`{"type":"interrupt","payload":{},"id":"3"}`:                   "3",
		} {
			m := c.ask(text)
			assert.Equal(w, "error", m.Type, text)
			assert.Equal(w, want, m.ID, text)
		}
		assert.Contains(w, c.ask(`{"type":"interrupt","payload":{"thread_id":"nobodys"},"id":"4"}`).
			raw, "not_found")
		w.settled(id)
		assert.Contains(w, c.ask(`{"type":"resume","payload":{"thread_id":"`+id+
			`","value":"left"},"id":"5"}`).raw, `"success":true`)
	})
}

// TestUndoAndRedoOverHTTP takes a change back, and takes that back.
func TestUndoAndRedoOverHTTP(t *testing.T) {
	planning(t, func(w *works) {
		id, _ := w.begin("ask a,b")
		path := "/v1/threads/" + id
		pause := func() {
			w.settled(id)
			w.post(path+"/escape", `{"by":"ann"}`).is(200)
			require.True(w, w.settled(id).Paused)
		}
		stands := func(step string, undo, redo int) {
			w.settled(id)
			m := decode[web.Moment](w.get(path + "/at/" + jsonOf(w.settled(id).Seq)).is(200))
			require.Equal(w, step, planIn(w, &m).Steps[0])
			require.Equal(w, undo, planIn(w, &m).Undo)
			require.Equal(w, redo, planIn(w, &m).Redo)
		}
		stands("ask a", 0, 0)
		pause()
		w.post(path+"/plan/preview", `{"modification":"do x","by":"ann"}`).is(200)
		w.post(path+"/answer", `{"value":{"choice":"modify","text":"do ask x,y"},"by":"ann"}`).
			is(200)
		stands("ask x", 1, 0)
		pause()
		w.post(path+"/plan/undo", `{"by":"ann"}`).is(200)
		stands("ask a", 0, 1)
		pause()
		w.post(path+"/plan/undo", `{"by":"ann"}`).is(409, runtime.CodeConflict)
		w.post(path+"/plan/redo", `{"by":"ann"}`).is(200)
		stands("ask x", 1, 0)
		w.post(path+"/answer", `{"value":"left","by":"ann"}`).is(200)
		w.answered(id, "ask x done 1, y done 1")
	})
}
