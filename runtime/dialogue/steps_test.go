package dialogue

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/thread"
)

func TestCallGivesAndTakesValues(t *testing.T) {
	scene(t, func(w *world) {
		w.means("go", starts("main"))
		w.means("seven", sets("code", 7))
		w.means("cancel", cancels)
		w.run(tables(nil, nil, f{name: "main",
			slots: []string{"who string default=\"Ann\"", "got int"}, steps: []p{
				{id: "ask", kind: "call", flow: "sub", in: []b{{name: "name", from: "who"}},
					out: []b{{name: "code", slot: "got"}}},
				{id: "tell", kind: "say", text: "Code {got}."},
			}}, f{name: "sub", hidden: true,
			slots: []string{"name string in needed", "code int out"},
			steps: []p{
				{id: "ask", kind: "collect", slot: "code", text: "Code, {name}?"},
			}}))
		w.hears("go", "Code, Ann?")
		w.hears("seven", "Code 7.")
		w.hears("go", "Code, Ann?")
		turn := w.hears("cancel", "Cancelled.")
		assert.JSONEq(w, `{"flow":"main","outcome":"cancelled"}`, string(turn.Thread.Result),
			"what was called is not done")
		w.means("sub", starts("sub"))
		w.hears("sub", "I cannot do that.")
	})
}

func TestCallOnError(t *testing.T) {
	scene(t, func(w *world) {
		w.means("go", starts("main"))
		w.does["break"] = func(map[string]any) (any, error) { return nil, errors.New("it broke") }
		w.run(tables([]string{"break"}, nil,
			f{name: "main", onError: "sorry", slots: []string{"x string"}, steps: []p{
				{id: "sub", kind: "call", flow: "sub"},
				{id: "tell", kind: "say", text: "Done.", next: "end"},
				{id: "sorry", kind: "say", text: "Sorry: {error}.", next: "sub2"},
				{id: "sub2", kind: "call", flow: "sub", onError: "again"},
				{id: "again", kind: "call", flow: "sub", next: "tell"},
			}}, f{name: "sub", slots: []string{"x string"},
				steps: []p{{id: "break", kind: "action", action: "break"}}}))
		turn := w.hears("go", "That did not work.", "Sorry: it broke.", "That did not work.",
			"That did not work.")
		assert.Contains(w, string(turn.Thread.Result), `"outcome":"failed"`,
			"on_error of a flow is taken once")
	})
}

func TestLinkDoesNotComeBack(t *testing.T) {
	scene(t, func(w *world) {
		w.means("go", starts("a"))
		w.run(tables(nil, nil, f{name: "a", slots: []string{"x string default=\"X\""}, steps: []p{
			{id: "bye", kind: "say", text: "A."},
			{id: "to", kind: "link", flow: "b", in: []b{{name: "x"}}},
			{id: "never", kind: "say", text: "Never."},
		}}, f{name: "b", slots: []string{"x string in"},
			steps: []p{{id: "say", kind: "say", text: "B {x}."}}}))
		w.hears("go", "A.", "B X.")
	})
}

func TestLinksInACircle(t *testing.T) {
	alive(t, func(w *world) {
		w.means("round", starts("round"))
		w.run(tables(nil, nil, f{name: "round", slots: []string{"x string"},
			steps: []p{{id: "to", kind: "link", flow: "round"}}}))
		w.hears("round", "That went round in circles, so I stopped it.")
	})
}

func TestTimeouts(t *testing.T) {
	alive(t, func(w *world) {
		w.bank()
		w.run(banking(func(transfer *f) {
			transfer.steps[0].timeout, transfer.steps[0].onTimeout = time.Minute, "ask_amount"
			transfer.steps[1].timeout = time.Hour
		}))
		w.hears("send", "IBAN?")
		<-time.After(2 * time.Minute)
		th, err := w.e.Wait(w.Context(), "t")
		require.NoError(w, err)
		require.Len(w, th.Open, 1)
		assert.Equal(w, "Amount?", th.Open[0].Text)
		<-time.After(2 * time.Hour)
		th, err = w.e.Wait(w.Context(), "t")
		require.NoError(w, err)
		assert.Equal(w, thread.StatusIdle, th.Status())
		assert.Contains(w, w.end(), "No answer came in time")
		w.hears("balance", "You have 12.50.")
	})
}

func TestUnansweredQuestionExpires(t *testing.T) {
	alive(t, func(w *world) {
		w.bank()
		w.kinds = thread.DefaultKinds()
		w.kinds[1].Deadline = &runtime.Deadline{After: 24 * time.Hour, Then: "expire"}
		w.run(banking())
		w.hears("send", "IBAN?")
		<-time.After(25 * time.Hour)
		assert.Contains(w, w.end(), "No answer came in time")
		w.hears("send", "IBAN?")
	})
}

func TestNoProgress(t *testing.T) {
	t.Parallel()
	for then, want := range map[string][]string{
		"cancel":   {"We do not seem to get any further."},
		"handoff":  {"We do not seem to get any further.", "I pass you on to a colleague."},
		"fallback": {"We do not seem to get any further.", "You have 12.50.", "IBAN?"},
	} {
		t.Run(then, func(t *testing.T) {
			alive(t, func(w *world) {
				w.bank()
				w.means("hm", says(runtime.CommandClarify, ""))
				spec := banking()
				spec.NoProgress, spec.NoProgThen, spec.Fallback = 2, then, 2
				w.run(spec)
				w.say("send")
				w.say("hm")
				turn := w.say("hm")
				assert.Equal(w, want, turn.Lines[len(turn.Lines)-len(want):])
			})
		})
	}
}

func TestNotInterruptible(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.run(banking(func(transfer *f) { transfer.busy = true }))
		w.say("send 20")
		w.hears("balance", "Let us finish this first. After it: balance.", "IBAN?")
		w.hears("NL1", "Send 20.00 to NL1?")
		w.hears("yes", "Sent: T-20.", "You have 12.50.")
	})
}

func TestTooDeep(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		spec := banking()
		spec.MaxDepth = 2
		w.run(spec)
		w.say("send")
		w.say("kid")
		turn := w.hears("send", "Too many things are open at once. Let us finish one first.",
			"Kid's name?")
		assert.Equal(w, []string{"transfer", "kid"}, w.stack(turn.Thread))
	})
}

func TestWelcomeAndNotUnderstood(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.run(banking())
		w.hears("hello", "Hello. How can I help?")
		w.hears("hello", "I did not understand that.")
	})
}

func TestWelcomeAndFallbackFlows(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		spec := banking()
		spec.Welcome, spec.Fallback = 3, 2
		w.run(spec)
		w.hears("hello", "Kid's name?")
		w.hears("cancel", "Cancelled.")
		w.hears("hello", "You have 12.50.")
	})
}

func TestRetryOfAnAction(t *testing.T) {
	alive(t, func(w *world) {
		w.bank()
		calls := 0
		w.does["pay"] = func(map[string]any) (any, error) {
			if calls++; calls < 3 {
				return nil, errors.New("busy")
			}
			return map[string]any{"tid": "T3"}, nil
		}
		w.run(banking(func(transfer *f) {
			transfer.steps[3].retry = &runtime.Retry{Attempts: 3, First: time.Second}
		}))
		w.say("send 20")
		w.say("NL1")
		w.hears("yes", "Sent: T3.")
		assert.Equal(w, 3, calls)
		assert.Equal(w, 1, w.done("pay"), "under one key")
	})
}

func TestActionThatHangs(t *testing.T) {
	t.Parallel()
	for _, once := range []bool{false, true} {
		alive := func(t *testing.T) {
			t.Helper()
			alive(t, func(w *world) {
				w.bank()
				hang := make(chan struct{})
				w.Cleanup(func() { close(hang) })
				//nolint:nilnil // it never returns
				w.does["pay"] = func(map[string]any) (any, error) { <-hang; return nil, nil }
				spec := banking(func(transfer *f) { transfer.steps[3].timeout = time.Second })
				spec.Actions[0].Once = once
				w.run(spec)
				w.say("send 20")
				w.say("NL1")
				turn, err := w.talk.Deliver(w.Context(),
					chat.Message{Thread: "t", User: "ann", Text: "yes"})
				require.NoError(w, err)
				if once {
					require.Len(w, turn.Thread.Open, 1)
					assert.Equal(w, "in_doubt/act", turn.Thread.Open[0].Name)
				} else {
					assert.Equal(w, []string{"That did not work."}, turn.Lines)
				}
			})
		}
		t.Run(map[bool]string{false: "repeatable", true: "once"}[once], alive)
	}
}

func TestRaiseAsksAnOperator(t *testing.T) {
	alive(t, func(w *world) {
		w.bank()
		w.does["pay"] = func(map[string]any) (any, error) {
			return nil, thread.Permanent(errors.New("it broke"))
		}
		w.run(banking(func(transfer *f) { transfer.steps[3].raise = true }))
		w.say("send 20")
		w.say("NL1")
		turn := w.say("yes")
		require.Len(w, turn.Thread.Open, 1)
		i := turn.Thread.Open[0]
		assert.Equal(w, thread.KindSystemError, i.Kind)
		_, err := w.e.Answer(w.Context(), "t",
			thread.Answer{Interrupt: i.ID, Value: []byte(`{"choice":"skip","value":null}`),
				By: "op"})
		require.NoError(w, err)
		th, err := w.e.Wait(w.Context(), "t")
		require.NoError(w, err)
		assert.Equal(w, thread.StatusIdle, th.Status())
		w.hears("balance", "You have 12.50.")
	})
}

func TestGenerate(t *testing.T) {
	scene(t, func(w *world) {
		w.means("go", starts("tip"))
		w.cfg.Model = llmtest.NewModel(
			llmtest.Writes("Save early, {amount}.").
				For(llmtest.Said("Write about Bo.\n\nData:\n{\"who\":\"Bo\"}")).Always(),
			llmtest.Fails(errors.New("no")).Always())
		w.run(tables(nil, nil, f{name: "tip",
			slots: []string{"who string default=\"Bo\"", "tip string"}, steps: []p{
				{id: "write", kind: "generate", text: "Write about {who}.", in: []b{{name: "who"}},
					slot: "tip"},
				{id: "tell", kind: "say", text: "Tip: {tip}"},
				{id: "set", kind: "set", set: []b{{name: "who", text: "{who}, {who}"}}},
				{id: "more", kind: "generate", text: "Write about {who}.", onError: "sorry"},
				{id: "sorry", kind: "say", text: "No more: {error}."},
			}}))
		w.hears("go", "Tip: Save early, {amount}.", "No more: no.")
	})
}

func TestHandoffStep(t *testing.T) {
	scene(t, func(w *world) {
		w.means("go", starts("human"))
		w.run(tables(nil, nil, f{name: "human", slots: []string{"x string"},
			steps: []p{{id: "over", kind: "handoff", queue: "fraud", text: "Wait for Bo."}}}))
		turn := w.hears("go", "Wait for Bo.")
		assert.Equal(w, thread.StatusHandedOff, turn.Thread.Status())
		assert.JSONEq(w, `{"flow":"human","step":"over","queue":"fraud"}`,
			string(turn.Thread.Result))
		_, err := w.talk.Deliver(w.Context(),
			chat.Message{Thread: "t", User: "ann", Text: "hello?"})
		assert.Equal(w, runtime.CodeNotWaiting, runtime.CodeOf(err))
	})
}

// TestKindOfStepCanBeAdded adds a kind of step: a row of the table, and no line of the loop.
func TestKindOfStepCanBeAdded(t *testing.T) {
	t.Parallel()
	steps := stepKinds()
	steps["shout"] = func(w *work, st *step) move {
		w.addLine(st.ID, w.flowText(st.Text)+"!")
		return w.goTo(st.Next)
	}
	spec := tables(nil, nil,
		f{name: "loud", slots: []string{"x string"},
			steps: []p{{id: "hey", kind: "shout", text: "HEY"}}})
	_, err := New(runtime.Dialogue{Tables: spec}, Config{})
	require.ErrorContains(t, err, `there is no kind of step "shout"`)
	m, err := newMachine(runtime.Dialogue{Tables: spec},
		Config{Understand: Scripted{"go": {starts("loud")}}}, steps)
	require.NoError(t, err)
	w := newWorld(t, "mem")
	w.e, err = thread.Open(t.Context(), w.store, thread.Config{}, m)
	require.NoError(t, err)
	t.Cleanup(func() { kill(t, w.e) })
	talk := chat.Conversation{Engine: w.e, Machine: w.m}
	turn, err := talk.Deliver(t.Context(), chat.Message{Thread: "t", Text: "go"})
	require.NoError(t, err)
	assert.Equal(t, []string{"HEY!"}, turn.Lines)
}

// TestAnswersWithoutAConversation are those that come through the inbox: values are taken as they
// are, texts are understood.
func TestAnswersWithoutAConversation(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.means("go", starts("form"))
		w.run(tables(nil, nil, f{name: "form",
			slots: []string{"n int min=1", "kind enum values=big|small", "ok bool", "word string"},
			steps: []p{
				{id: "a", kind: "collect", slot: "n", text: "N?"},
				{id: "b", kind: "collect", slot: "kind", text: "Kind?"},
				{id: "c", kind: "collect", slot: "word", text: "Word?"},
				{id: "d", kind: "confirm", slot: "ok", text: "{n} {kind} {word}?"},
				{id: "e", kind: "say", text: "Fine."},
			}}))
		w.means("a word", sets("word", "w"))
		w.say("go")
		for n, value := range []string{`0`, `5`, `"big"`, `{"message":"a word"}`, `true`} {
			w.answer(value, n)
		}
		assert.Equal(w, 2, w.nlu.asked(), "the opening and the one text")
		assert.Contains(w, w.end(), "5 big w?")
		assert.Contains(w, w.end(), "Fine.")
	})
}

// answer answers the open question by its id.
func (w *world) answer(value string, n int) {
	w.Helper()
	request := "answer " + string(rune('0'+n))
	for {
		th, err := w.e.Wait(w.Context(), "t")
		if err == nil {
			if row, _ := w.e.ByRequest(w.Context(), "t", request); row == nil {
				_, err = w.e.Answer(w.Context(), "t",
					thread.Answer{Interrupt: th.Open[0].ID, Value: []byte(value), By: "ann",
						Request: request})
			}
		}
		if err == nil {
			_, err = w.e.Wait(w.Context(), "t")
		}
		if !w.way.Cut.Load() {
			require.NoError(w, err)
			return
		}
		w.reopen()
	}
}

func TestEarlierNames(t *testing.T) {
	alive(t, func(w *world) {
		ask := func(flow, slot string, was ...string) *runtime.FlowTables {
			spec := f{name: flow, slots: []string{slot + " string", "y string"}, was: was,
				steps: []p{
					{id: "a", kind: "collect", slot: slot, text: "X?"},
					{id: flow + "_b", kind: "collect", slot: "y", text: "Y?"},
					{id: "c", kind: "say", text: "{" + slot + "} {y}"},
				}}
			if len(was) > 0 {
				spec.slotsWas, spec.stepsWas = map[string]string{slot: "x"},
					map[string]string{"new_b": "old_b"}
			}
			return tables(nil, nil, spec)
		}
		w.means("go", starts("old"))
		w.means("1", sets("x", "1"))
		w.means("2", sets("y", "2"))
		w.run(ask("old", "x"))
		w.say("go")
		w.hears("1", "Y?")
		w.dialogue.Tables = ask("new", "xx", "old")
		w.reopen()
		w.hears("2", "1 2")
	})
}

func TestLanguagesAndVariants(t *testing.T) {
	alive(t, func(w *world) {
		w.bank()
		spec := banking()
		spec.Flows[1].Steps[1].Text = append(spec.Flows[1].Steps[1].Text,
			runtime.TextIn{Language: "nl",
				Variants: []runtime.Template{parseTemplate("Saldo {x}.")}})
		spec.Responses = []runtime.Response{{Name: "nothing_to_cancel", Text: runtime.Texts{
			{Variants: []runtime.Template{parseTemplate("Nothing.")}},
			{Language: "nl", Variants: []runtime.Template{parseTemplate("Niets.")}},
		}}}
		w.run(spec)
		say := func(text, language string) []string {
			turn, err := w.talk.Deliver(w.Context(),
				chat.Message{Thread: "t", User: "ann", Text: text,
					Metadata: map[string]string{"language": language}})
			require.NoError(w, err)
			return turn.Lines
		}
		assert.Equal(w, []string{"Niets."}, say("cancel", "nl-BE"))
		assert.Equal(w, []string{"Nothing."}, say("cancel", "fr"))
		assert.Equal(w, []string{"Saldo ."}, say("balance", "nl"))
		assert.Equal(w, []string{"You have 12.50."}, say("balance", ""))
	})
}

func TestTimeoutOfStepsCoversAllTries(t *testing.T) {
	t.Parallel()
	spec := banking(func(transfer *f) {
		transfer.steps[3].retry = &runtime.Retry{Attempts: 3, First: time.Second}
	})
	spec.Actions[0].Timeout = 10 * time.Minute
	m, err := New(dialogueOf(spec), Config{})
	require.NoError(t, err)
	assert.Equal(t, 31*time.Minute+2*time.Second,
		m.Timeout(&thread.Frame{Name: "transfer", PC: "pay"}))
	assert.Zero(t, m.Timeout(&thread.Frame{Name: "transfer", PC: "ask_iban"}))
	assert.Zero(t, m.Timeout(&thread.Frame{}))
}
