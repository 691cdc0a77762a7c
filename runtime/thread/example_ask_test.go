package thread_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// review is what a person decides.
type review struct {
	Approved bool   `json:"approved"`
	Note     string `json:"note"`
}

// A question with a schema is a form, on the page and in the terminal, and an answer that does not
// fit is refused: the thread waits on.
func ExampleAsk() {
	ctx := context.Background()
	claim := thread.Func("claim", func(ctx context.Context, damage string) (string, error) {
		said, err := thread.Ask[review](ctx, "review", thread.Question{
			Text: "Does the policy cover this? " + damage, Assignees: []string{"bob", "eve"},
			Schema: json.RawMessage(
				`{"type": "object", "required": ["approved"], "additionalProperties": false, "properties": {
				"approved": {"type": "boolean", "title": "Covered"}, "note": {"type": "string", "title": "Why"}}}`),
		})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("covered: %t, %s", said.Approved, said.Note), nil
	})
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{}, claim)
	if err != nil {
		log.Fatal(err)
	}
	t, err := engine.Start(ctx, thread.Begin{Machine: "claim", Input: "hail", User: "ann"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err = engine.Wait(ctx, t.ID); err != nil {
		log.Fatal(err)
	}
	_, err = engine.Answer(ctx, t.ID, thread.Answer{Value: json.RawMessage(`{"aproved": true}`),
		By: "bob"})
	fmt.Println(runtime.CodeOf(err))
	if _, err = engine.Answer(ctx, t.ID,
		thread.Answer{Value: json.RawMessage(`{"approved": true, "note": "clause 7"}`),
			By: "bob"}); err != nil {
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
	// invalid
	// "covered: true, clause 7"
}
