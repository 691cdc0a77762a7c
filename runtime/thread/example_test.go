package thread_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// An ordinary function pauses for a person, and goes on with the answer. What it has done before
// the question is not done again.
func ExampleFunc() {
	order := thread.Func("order", func(ctx context.Context, item string) (string, error) {
		reserved, err := thread.Do(ctx, "reserve",
			func(_ context.Context, _ string) (string, error) {
				fmt.Println("reserving a", item)
				return "R-17", nil
			})
		if err != nil {
			return "", err
		}
		size, err := thread.Ask[string](ctx, "size",
			thread.Question{Text: "Which size?", Plain: thread.PlainText})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s: %s, size %s", reserved, item, size), nil
	})

	ctx := context.Background()
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{}, order)
	if err != nil {
		log.Fatal(err)
	}

	t, err := engine.Start(ctx, thread.Begin{Machine: "order", Input: "shirt", User: "ann"})
	if err != nil {
		log.Fatal(err)
	}
	if t, err = engine.Wait(ctx, t.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Status(), t.Open[0].Text)

	if _, err = engine.Deliver(ctx,
		thread.Message{Thread: t.ID, Text: "medium", By: "ann"}); err != nil {
		log.Fatal(err)
	}
	if t, err = engine.Wait(ctx, t.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Status(), string(t.Result))
	if err = engine.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// reserving a shirt
	// waiting Which size?
	// done "R-17: shirt, size medium"
}

// confirm asks whether to go on.
func confirm() thread.Machine {
	return thread.Func("confirm", func(ctx context.Context, what string) (string, error) {
		yes, err := thread.Ask[bool](ctx, "sure", thread.Question{Text: what + "?"})
		if err != nil {
			return "", err
		}
		if !yes {
			return "left alone", nil
		}
		return what + ": done", nil
	})
}

// A thread that waits survives its process: the next engine over the same store lists the question
// and takes the answer.
func ExampleEngine_Answer_afterRestart() {
	ctx := context.Background()
	store := mem.Open() // a program that restarts uses store/sqlite

	first, err := thread.Open(ctx, store, thread.Config{}, confirm())
	if err != nil {
		log.Fatal(err)
	}
	if _, err = first.Start(ctx, thread.Begin{Machine: "confirm", Input: "delete it"}); err != nil {
		log.Fatal(err)
	}
	_ = first.Close(ctx)

	second, err := thread.Open(ctx, store, thread.Config{}, confirm())
	if err != nil {
		log.Fatal(err)
	}
	inbox, err := second.Inbox(ctx, thread.InterruptQuery{})
	if err != nil {
		log.Fatal(err)
	}
	question := inbox[0]
	fmt.Println(question.Text)
	if _, err = second.Answer(ctx, question.Thread,
		thread.Answer{Interrupt: question.ID, Value: json.RawMessage("true"),
			By: "ann"}); err != nil {
		log.Fatal(err)
	}
	t, err := second.Wait(ctx, question.Thread)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(t.Result))
	if err = second.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// delete it?
	// "delete it: done"
}

// An effect that must not happen twice: if its outcome is unknown, a person is asked, and it
// is not run again silently.
func ExampleOnce() {
	pay := thread.Func("pay", func(ctx context.Context, amount int) (string, error) {
		return thread.Once(ctx, "transfer", func(_ context.Context, _ string) (string, error) {
			fmt.Println("transferring", amount)
			// the line broke before the bank had answered
			return "", &runtime.Error{Code: runtime.CodeInDoubt, Op: "transfer"}
		})
	})
	ctx := context.Background()
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{}, pay)
	if err != nil {
		log.Fatal(err)
	}
	t, err := engine.Start(ctx, thread.Begin{Machine: "pay", Input: 50})
	if err != nil {
		log.Fatal(err)
	}
	if t, err = engine.Wait(ctx, t.ID); err != nil {
		log.Fatal(err)
	}
	doubt := t.Open[0]
	fmt.Println(doubt.Text)
	happened := json.RawMessage(`{"choice":"done","value":"T-3"}`)
	if _, err = engine.Answer(ctx, t.ID, thread.Answer{Interrupt: doubt.ID, Value: happened,
		By: "operator"}); err != nil {
		log.Fatal(err)
	}
	if t, err = engine.Wait(ctx, t.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Status(), string(t.Result))
	if err = engine.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// transferring 50
	// It is unknown whether transfer happened. Check, and answer.
	// done "T-3"
}

// Several questions, of any threads, are answered in one commit: all of them, or none.
func ExampleEngine_AnswerAll() {
	ctx := context.Background()
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{}, confirm())
	if err != nil {
		log.Fatal(err)
	}
	var answers []thread.Answer
	var ids []string
	for _, what := range []string{"paint", "sand"} {
		t, err := engine.Start(ctx, thread.Begin{Machine: "confirm", Input: what})
		if err != nil {
			log.Fatal(err)
		}
		if t, err = engine.Wait(ctx, t.ID); err != nil {
			log.Fatal(err)
		}
		ids = append(ids, t.ID)
		answers = append(answers,
			thread.Answer{Interrupt: t.Open[0].ID, Value: json.RawMessage("true"), By: "ann"})
	}
	answers[1].Value = json.RawMessage(`"perhaps"`)
	_, err = engine.AnswerAll(ctx, answers...)
	fmt.Println(runtime.CodeOf(err))
	answers[1].Value = json.RawMessage("false")
	if _, err = engine.AnswerAll(ctx, answers...); err != nil {
		log.Fatal(err)
	}
	for _, id := range ids {
		t, err := engine.Wait(ctx, id)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(t.Result))
	}
	if err = engine.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// invalid
	// "paint: done"
	// "left alone"
}

// A person pauses a thread, changes what it does, and lets it go on.
func ExampleEngine_Escape() {
	report := thread.TakesChanges(
		thread.Func("report", func(ctx context.Context, _ any) (string, error) {
			if change, is := thread.Modification(ctx); is {
				return "a report, but " + change, nil
			}
			return thread.Ask[string](ctx, "topic", thread.Question{Text: "About what?"})
		}))
	ctx := context.Background()
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{}, report)
	if err != nil {
		log.Fatal(err)
	}
	t, err := engine.Start(ctx, thread.Begin{Machine: "report"})
	if err != nil {
		log.Fatal(err)
	}
	told, err := engine.Escape(ctx, t.ID, thread.EscapeSafe, "ann", "I have a better idea")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(told)
	if t, err = engine.Wait(ctx, t.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Open[0].Kind)
	order := json.RawMessage(`{"choice":"modify","text":"a short one"}`)
	if _, err = engine.Answer(ctx, t.ID, thread.Answer{Interrupt: t.Open[0].ID, Value: order,
		By: "ann"}); err != nil {
		log.Fatal(err)
	}
	if t, err = engine.Wait(ctx, t.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(t.Result))
	if err = engine.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// requested
	// user_escape
	// "a report, but a short one"
}

// A question that is not answered in time gets its default.
func ExampleEngine_RunDue() {
	clock := &hands{at: time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)}
	lunch := thread.Func("lunch", func(ctx context.Context, _ any) (string, error) {
		return thread.Ask[string](ctx, "dish", thread.Question{
			Text: "What would you like?", Deadline: &runtime.Deadline{After: 2 * time.Hour,
				Then: "default", Answer: `"soup"`},
		})
	})
	ctx := context.Background()
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{Clock: clock}, lunch)
	if err != nil {
		log.Fatal(err)
	}
	t, err := engine.Start(ctx, thread.Begin{Machine: "lunch"})
	if err != nil {
		log.Fatal(err)
	}
	if t, err = engine.Wait(ctx, t.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println("until", t.Open[0].Due.Format(time.Kitchen))
	clock.move(2 * time.Hour)
	// the engine does so by itself; a test with its own clock asks for it
	if err = engine.RunDue(ctx); err != nil {
		log.Fatal(err)
	}
	if t, err = engine.Wait(ctx, t.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(t.Result))
	if err = engine.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// until 11:00AM
	// "soup"
}

// Whoever waits for the end of a turn shows what happens meanwhile.
func ExampleEngine_Follow() {
	ctx := context.Background()
	count := thread.Func("count", func(ctx context.Context, to int) (string, error) {
		for n := range to {
			if err := thread.Say(ctx, fmt.Sprint("number ", n), n+1); err != nil {
				return "", err
			}
		}
		return thread.Ask[string](ctx, "more", thread.Question{Text: "How many more?"})
	})
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{}, count)
	if err != nil {
		log.Fatal(err)
	}
	t, err := engine.Start(ctx, thread.Begin{Machine: "count", Input: 2, User: "ann"})
	if err != nil {
		log.Fatal(err)
	}
	turn := &thread.Follower{Thread: t}
	for row, err := range engine.Follow(ctx, turn) {
		if err != nil {
			log.Fatal(err)
		}
		if row.Type == thread.EntryMessage {
			fmt.Println(string(row.Value))
		}
	}
	fmt.Println(turn.Thread.Status(), turn.Thread.Open[0].Text)
	if err = engine.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1
	// 2
	// waiting How many more?
}
