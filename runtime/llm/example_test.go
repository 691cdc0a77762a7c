package llm_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
)

// A model asks for a tool, gets its result, and answers in the form of a schema. Who calls the
// model runs the tool: between the two calls there is room to store, to ask for approval, and to
// stop.
func Example() {
	clock := llm.Tool{Name: "now", Description: "Tells the time.",
		Call: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`"noon"`), nil
		}}
	var model llm.Model = llmtest.NewModel(
		llmtest.JSON(`{"late":false}`).For(llmtest.Said("noon")),
		llmtest.Calls(llm.ToolCall{Name: "now"}),
	)
	ctx := context.Background()
	request := llm.Request{
		Prompt: "Is it late?", Tools: []llm.Tool{clock}, SchemaName: "Late",
		Key: "thread/f1/ask/1/model",
		Schema: func(runtime.Dialect) string {
			return `{"type":"object","properties":{"late":{"type":"boolean"}},"required":["late"],"additionalProperties":false}`
		},
	}
	response, err := model.Generate(ctx, request)
	for err == nil && len(response.Calls) > 0 {
		var results []llm.ToolResult
		for _, call := range response.Calls {
			value, err := clock.Call(ctx, call.Args)
			if err != nil {
				value = json.RawMessage(`"not available"`)
			}
			results = append(results, llm.ToolResult{ID: call.ID, Value: value, Failed: err != nil})
		}
		request = request.Next(response, "", results...)
		response, err = model.Generate(ctx, request)
	}
	fmt.Println(string(response.JSON), err)
	// Output:
	// {"late":false} <nil>
}
