package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/agent"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// A function that runs on a thread leads a talk with tools. One of them needs an approval.
func ExampleTalk_Run() {
	ctx := context.Background()
	model := llmtest.NewModel(
		llmtest.Calls(llm.ToolCall{ID: "1", Name: "mail", Args: json.RawMessage(`{"to":"bob"}`)}),
		llmtest.Writes("Bob has mail."),
	)
	mail := llm.Tool{Name: "mail", Call: func(_ context.Context, args json.RawMessage) (
		json.RawMessage, error) {
		fmt.Println("mail", string(args))
		return json.RawMessage(`"sent"`), nil
	}}
	setup := &agent.Setup{Model: model,
		Node: &runtime.Node{Key: "clerk", Approval: []string{"mail"}}}
	clerk := thread.Func("clerk", func(ctx context.Context, text string) (string, error) {
		said, err := agent.Talk{Text: text, Tools: []llm.Tool{mail}}.Run(ctx, setup)
		if err != nil {
			return "", err
		}
		return said.Reply, nil
	})
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{}, clerk)
	if err != nil {
		log.Fatal(err)
	}
	if _, err = engine.Start(ctx, thread.Begin{ID: "t", Machine: "clerk", Input: "write to bob",
		User: "ann"}); err != nil {
		log.Fatal(err)
	}
	waits, err := engine.Wait(ctx, "t")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(waits.Open[0].Text, waits.Open[0].Assignees)
	if _, err = engine.Answer(ctx, "t",
		thread.Answer{Value: json.RawMessage(`{"decision":"approve"}`), By: "ann"}); err != nil {
		log.Fatal(err)
	}
	end, err := engine.Wait(ctx, "t")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(end.Result))
	_ = engine.Close(ctx)
	// Output:
	// May mail be run? [ann]
	// mail {"to":"bob"}
	// "Bob has mail."
}
