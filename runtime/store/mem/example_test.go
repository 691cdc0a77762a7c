package mem_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// A thread asks, the inbox has the question, and the answer takes it out of there. Of two who
// answer the same version one wins.
func Example() {
	ctx := context.Background()
	store := mem.Open()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	rules := &thread.Rules{Kinds: thread.DefaultKinds(), NewID: func() string { return "i1" }}

	c := thread.Start("order-7", "ann", "", rules, now)
	frame := c.Enter(thread.Frame{Machine: "workflow", Name: "refund"}, "ann", "")
	c.Ask(frame, thread.KindAgentQuestion,
		thread.Question{Name: "approve", Text: "Refund 12 euros?"})
	fmt.Println("asked:", store.Commit(ctx, c))

	inbox, _ := store.Interrupts(ctx, thread.InterruptQuery{})
	fmt.Println("inbox:", inbox[0].Text)

	order, _ := store.Load(ctx, "order-7")
	answer := func(value, by string) error {
		c := thread.NewChange(order, rules, now.Add(time.Minute))
		if _, err := c.Answer(thread.Answer{Interrupt: "i1", Value: json.RawMessage(value),
			By: by}); err != nil {
			return err
		}
		return store.Commit(ctx, c)
	}
	fmt.Println("bob:", answer("true", "bob"))
	fmt.Println("eve:", runtime.CodeOf(answer("false", "eve")))

	inbox, _ = store.Interrupts(ctx, thread.InterruptQuery{})
	fmt.Println("inbox:", len(inbox))
	// Output:
	// asked: <nil>
	// inbox: Refund 12 euros?
	// bob: <nil>
	// eve: conflict
	// inbox: 0
}
