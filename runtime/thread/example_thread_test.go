package thread_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// exampleRules gives interrupts the ids q1, q2 and so on.
func exampleRules() *thread.Rules {
	n := 0
	return &thread.Rules{Kinds: thread.DefaultKinds(), NewID: func() string {
		n++
		return "q" + strconv.Itoa(n)
	}}
}

// A change is the record as it will be, and the entries that lead there. It is pure: nothing is
// stored before a store commits it.
func ExampleChange() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c := thread.Start("order-7", "ann", "", exampleRules(), now)
	if err := c.Begin("workflow", "checkout", json.RawMessage(`{"sum":40}`), "ann",
		""); err != nil {
		fmt.Println(err)
	}
	c.Ask("f1", thread.KindAgentQuestion, thread.Question{
		Name: "pay", Text: "Pay 40?", Plain: thread.PlainYesNo,
		Deadline: &runtime.Deadline{After: 24 * time.Hour, Then: "default", Answer: "false"},
	})
	fmt.Println(c.Thread.Status(), "until", c.Thread.Wake().Format(time.DateTime))
	for _, e := range c.Entries {
		fmt.Println(e.Seq, e.Type)
	}
	// Output:
	// waiting until 2026-03-02 12:00:00
	// 1 started
	// 2 entered
	// 3 asked
}

// Plain text is read as the question says, and what is unclear is asked again.
func ExampleChange_Answer() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c := thread.Start("order-7", "ann", "", exampleRules(), now)
	if err := c.Begin("workflow", "checkout", nil, "ann", ""); err != nil {
		fmt.Println(err)
	}
	c.Ask("f1", thread.KindAgentQuestion, thread.Question{Name: "pay", Plain: thread.PlainYesNo,
		Assignees: []string{"bob"}})

	_, err := c.Answer(thread.Answer{By: "eve", Text: "yes"})
	fmt.Println(runtime.CodeOf(err))
	_, err = c.Answer(thread.Answer{By: "bob", Text: "well, yes, but"})
	if unclear, ok := errors.AsType[*thread.UnclearError](err); ok {
		fmt.Println(unclear.Reason, "-", unclear.Left, "more tries")
	}
	answered, err := c.Answer(thread.Answer{By: "bob", Text: "Yes!"})
	fmt.Println(answered.State, string(answered.Answer), err)

	// the same answer again
	_, err = thread.Closed(answered, &thread.Answer{By: "bob", Text: "sure"})
	fmt.Println(err)
	_, err = thread.Closed(answered, &thread.Answer{By: "bob", Text: "no"})
	fmt.Println(errors.Unwrap(err))
	// Output:
	// forbidden
	// "well, yes, but" is neither a clear yes nor a clear no - 2 more tries
	// answered true <nil>
	// <nil>
	// interrupt q1 was answered by bob at 2026-03-01T12:00:00Z
}

func ExampleYesNo() {
	for _, text := range []string{"Yes.", "go ahead", "no way", "not really", "yes, but later",
		"sure thing"} {
		yes, known := thread.YesNo(text, "en")
		fmt.Println(text, "-", yes, known)
	}
	// Output:
	// Yes. - true true
	// go ahead - true true
	// no way - false true
	// not really - false true
	// yes, but later - false false
	// sure thing - false false
}
