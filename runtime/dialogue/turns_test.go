package dialogue

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/thread"
)

func TestWhileRunsItsActionInEachRound(t *testing.T) {
	scene(t, func(w *world) {
		w.means("go", starts("loop"))
		w.does["inc"] = func(in map[string]any) (any, error) {
			return map[string]any{"n": in["n"].(float64) + 1}, nil
		}
		w.run(tables([]string{"inc"}, nil, f{name: "loop", slots: []string{"n int default=0"},
			steps: []p{
				{id: "more", kind: "while", cond: when(compares("n", "<", "3")), body: "inc",
					next: "tell"},
				{id: "inc", kind: "action", action: "inc", in: []b{{name: "n"}},
					out:  []b{{name: "n"}},
					next: "more"},
				{id: "tell", kind: "say", text: "{n}"},
			}}))
		w.hears("go", "3")
		assert.Equal(w, 3, w.done("inc"), "three keys")
	})
}

func TestEndlessWhileIsStopped(t *testing.T) {
	scene(t, func(w *world) {
		w.means("go", starts("loop"))
		w.means("go on", starts("loop"))
		w.run(tables([]string{"nothing"}, nil, f{name: "loop", slots: []string{"n int default=0"},
			steps: []p{
				{id: "more", kind: "while", cond: when(compares("n", "<", "3")), body: "act",
					rounds: 5,
					next:   "end"},
				{id: "act", kind: "action", action: "nothing", next: "more"},
			}}))
		turn := w.hears("go", "That went round in circles, so I stopped it.")
		assert.Equal(w, 5, w.done("nothing"))
		assert.JSONEq(w,
			`{"flow":"loop","outcome":"failed","failure":{"code":"loop","text":"it went round in circles"}}`, string(turn.Thread.Result))
		assert.Equal(w, thread.StatusIdle, turn.Thread.Status())
	})
}

// pages fetches pages as long as the user wants more; the question is a collect or a confirm.
func pages(kind string) *runtime.FlowTables {
	ask := p{id: "ask", kind: kind, slot: "more", text: "More?", force: true, next: "loop"}
	if kind == "confirm" {
		ask.onYes, ask.onNo = "loop", "end"
	}
	return tables([]string{"fetch"}, nil,
		f{name: "list", slots: []string{"page int default=0", "more bool"}, steps: []p{
			{id: "begin", kind: "set", set: []b{{name: "more", lit: "true"}}},
			{id: "loop", kind: "while", cond: when(slotX("more")), body: "fetch", next: "bye"},
			{id: "fetch", kind: "action", action: "fetch", in: []b{{name: "page"}},
				out: []b{{name: "page"}}},
			{id: "show", kind: "say", text: "Page {page}."},
			{id: "clear", kind: "set", set: []b{{name: "more", lit: "null"}}},
			ask,
			{id: "bye", kind: "say", text: "Bye."},
		}})
}

func TestLoopWithAQuestion(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"collect", "confirm"} {
		t.Run(kind, func(t *testing.T) {
			scene(t, func(w *world) {
				w.does["fetch"] = func(in map[string]any) (any, error) {
					return map[string]any{"page": in["page"].(float64) + 1}, nil
				}
				w.means("go", starts("list"))
				w.means("yes", yes)
				w.means("no", no)
				w.run(pages(kind))
				w.hears("go", "Page 1.", "More?")
				w.hears("yes", "Page 2.", "More?")
				w.hears("yes", "Page 3.", "More?")
				if kind == "collect" {
					w.hears("no", "Bye.")
				} else {
					w.hears("no", "Is there anything else?")
				}
				assert.Equal(w, 3, w.done("fetch"))
			})
		})
	}
}

func TestLoopByABackJump(t *testing.T) {
	scene(t, func(w *world) {
		w.does["fetch"] = func(in map[string]any) (any, error) {
			return map[string]any{"page": in["page"].(float64) + 1}, nil
		}
		w.means("go", starts("list"))
		w.means("yes", yes)
		w.means("no", no)
		w.run(tables([]string{"fetch"}, nil,
			f{name: "list", slots: []string{"page int default=0", "more bool"}, steps: []p{
				{id: "fetch", kind: "action", action: "fetch", in: []b{{name: "page"}},
					out: []b{{name: "page"}}},
				{id: "show", kind: "say", text: "Page {page}."},
				{id: "ask", kind: "confirm", slot: "more", text: "More?", onYes: "fetch",
					onNo: "bye"},
				{id: "bye", kind: "say", text: "Bye."},
			}}))
		w.hears("go", "Page 1.", "More?")
		w.hears("yes", "Page 2.", "More?")
		w.hears("yes", "Page 3.", "More?")
		w.hears("no", "Bye.")
		assert.Equal(w, 3, w.done("fetch"))
	})
}

func TestBranchArmsAreExclusive(t *testing.T) {
	scene(t, func(w *world) {
		w.means("500", starts("judge", "n", 500))
		w.means("5000", starts("judge", "n", 5000))
		w.means("1", starts("judge", "n", 1))
		w.run(tables(nil, nil, f{name: "judge", slots: []string{"n int in"}, steps: []p{
			{id: "size", kind: "branch", arms: []arm{{compares("n", ">", "1000"), "high"},
				{compares("n", ">", "100"), "low"}, {compares("n", ">=", "500"), "high"}},
				orElse: "none"},
			{id: "high", kind: "say", text: "HIGH", next: "end"},
			{id: "low", kind: "say", text: "LOW", next: "end"},
			{id: "none", kind: "say", text: "NONE", next: "end"},
		}}))
		w.hears("500", "LOW")
		w.hears("5000", "HIGH")
		w.hears("1", "NONE")
	})
}

func TestCancelAtEachQuestion(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.means("rather the kid", cancels, starts("kid"))
		w.run(banking())
		w.hears("cancel", "There is nothing to cancel.")
		w.hears("send", "IBAN?")
		w.hears("kid", "Kid's name?")
		turn := w.hears("cancel", "Cancelled.", "IBAN?")
		assert.Equal(w, []string{"transfer"}, w.stack(turn.Thread))
		turn = w.hears("cancel", "Cancelled.")
		assert.Empty(w, turn.Thread.Frames)
		w.hears("cancel", "There is nothing to cancel.")
		w.hears("send", "IBAN?")
		turn = w.hears("rather the kid", "Cancelled.", "Kid's name?")
		assert.Equal(w, []string{"kid"}, w.stack(turn.Thread))
	})
}

func TestConcurrentDuplicateMessages(t *testing.T) {
	t.Parallel()
	for _, same := range []bool{true, false} {
		t.Run(fmt.Sprintf("same id %t", same), func(t *testing.T) {
			alive(t, func(w *world) {
				w.bank()
				running, goOn := make(chan struct{}), make(chan struct{})
				w.does["pay"] = func(map[string]any) (any, error) {
					close(running)
					<-goOn
					return map[string]any{"tid": "T1"}, nil
				}
				w.run(banking())
				w.say("send 20")
				w.say("NL1")
				var turns [2]*chat.Turn
				var errs [2]error
				var both sync.WaitGroup
				m := chat.Message{Thread: "t", ID: "yes-1", User: "ann", Text: "yes"}
				both.Go(func() { turns[0], errs[0] = w.talk.Deliver(w.Context(), m) })
				<-running
				if !same {
					m.ID = "yes-2"
				}
				both.Go(func() {
					turns[1], errs[1] = w.talk.Deliver(w.Context(), m)
					if !same {
						close(goOn)
					}
				})
				if same {
					close(goOn)
				}
				both.Wait()
				require.NoError(w, errs[0])
				assert.Equal(w, []string{"Sent: T1."}, turns[0].Lines)
				if same {
					require.NoError(w, errs[1])
					assert.Equal(w, turns[0].Lines, turns[1].Lines)
				} else {
					assert.Equal(w, runtime.CodeConflict, runtime.CodeOf(errs[1]))
				}
				assert.Len(w, w.keys["pay"], 1)
			})
		})
	}
}

// TestDuplicateMessagesAcrossCrashes is two deliveries of one message at once, by users who send it
// again when the program has died under them.
func TestDuplicateMessagesAcrossCrashes(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.run(banking())
		w.say("send 20")
		w.say("NL1")
		var turns [2]*chat.Turn
		for {
			talk := w.talk
			var errs [2]error
			var both sync.WaitGroup
			for n := range turns {
				both.Go(func() {
					turns[n], errs[n] = talk.Deliver(w.Context(),
						chat.Message{Thread: "t", ID: "yes-1", User: "ann", Text: "yes"})
				})
			}
			both.Wait()
			if !w.way.Cut.Load() {
				require.NoError(w, errors.Join(errs[:]...))
				break
			}
			w.reopen()
		}
		assert.Equal(w, []string{"Sent: T-20."}, turns[0].Lines)
		assert.Equal(w, turns[0].Lines, turns[1].Lines)
		assert.Equal(w, turns[0].Thread.Result, turns[1].Thread.Result)
		assert.Equal(w, 1, w.done("pay"))
	})
}

func TestLateAnswerAfterANewTurn(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.run(banking())
		first := question(w.say("send 20"))
		second := question(w.say("NL1"))
		w.hears("yes", "Sent: T-20.")
		turn := w.hears("balance", "You have 12.50.")
		assert.Equal(w, 2, turn.Thread.Turn)
		for _, stale := range []*thread.Interrupt{first, second} {
			_, err := w.e.Answer(w.Context(), "t",
				thread.Answer{Interrupt: stale.ID, Text: "again", By: "ann"})
			assert.Equal(w, runtime.CodeAlreadyAnswered, runtime.CodeOf(err))
		}
		_, err := w.e.Answer(w.Context(), "t", thread.Answer{Interrupt: "nobody", Text: "yes",
			By: "ann"})
		assert.Error(w, err)
		assert.Equal(w, 1, w.done("pay"))
	})
}

// echoes is a flow that works with what a user said, and the words of so many users.
func (w *world) echoes(users int) (words []string) {
	w.Helper()
	w.run(tables([]string{"work"}, nil, f{name: "echo", slots: []string{"word string in"},
		steps: []p{
			{id: "a", kind: "say", text: "You said {word}."},
			{id: "b", kind: "action", action: "work"},
			{id: "c", kind: "say", text: "Still {word}."},
		}}))
	for n := range users {
		word := fmt.Sprintf("w%d", n)
		w.means(word, starts("echo", "word", word))
		words = append(words, word)
	}
	return words
}

func TestConcurrentUsers(t *testing.T) {
	alive(t, func(w *world) {
		var users sync.WaitGroup
		for _, word := range w.echoes(20) {
			users.Go(func() {
				turn, err := w.talk.Deliver(w.Context(),
					chat.Message{Thread: word, User: word, Text: word})
				if assert.NoError(w, err) {
					assert.Equal(w, []string{"You said " + word + ".", "Still " + word + "."},
						turn.Lines)
				}
			})
		}
		users.Wait()
		_, err := w.talk.Deliver(w.Context(), chat.Message{Thread: "w1", User: "w2", Text: "w2"})
		assert.Equal(w, runtime.CodeForbidden, runtime.CodeOf(err))
	})
}

// TestConcurrentUsersAcrossCrashes has users at once who say it again when the program has died
// under them.
func TestConcurrentUsersAcrossCrashes(t *testing.T) {
	scene(t, func(w *world) {
		words := w.echoes(3)
		w.threads = words
		turns := make([]*chat.Turn, len(words))
		for {
			talk := w.talk
			errs := make([]error, len(words))
			var users sync.WaitGroup
			for n, word := range words {
				users.Go(func() {
					turns[n], errs[n] = talk.Deliver(w.Context(),
						chat.Message{Thread: word, ID: "m", User: word, Text: word})
				})
			}
			users.Wait()
			if !w.way.Cut.Load() {
				require.NoError(w, errors.Join(errs...))
				break
			}
			w.reopen()
		}
		for n, word := range words {
			assert.Equal(w, []string{"You said " + word + ".", "Still " + word + "."},
				turns[n].Lines)
		}
		assert.Equal(w, len(words), w.done("work"), "for each once")
	})
}

func TestClarifyAndHandoff(t *testing.T) {
	scene(t, func(w *world) {
		w.bank()
		w.means("what is an IBAN?", says(runtime.CommandClarify, "iban"))
		w.means("nice day", says(runtime.CommandChitchat, "Lovely."))
		w.means("a person, please", says(runtime.CommandHandoff, "angry"))
		w.run(banking())
		w.say("send")
		for range 4 {
			w.hears("what is an IBAN?", "An IBAN is the number of an account.", "IBAN?")
		}
		w.hears("nice day", "Lovely.", "IBAN?")
		w.hears("bad iban", "That does not do: the check digits are wrong.", "IBAN?")
		turn := w.hears("a person, please", "I pass you on to a colleague.")
		assert.Equal(w, thread.StatusHandedOff, turn.Thread.Status())
		assert.JSONEq(w, `{"flow":"transfer","step":"ask_iban","reason":"angry"}`,
			string(turn.Thread.Result))
	})
}
