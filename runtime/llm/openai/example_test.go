package openai_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/llm/openai"
)

// A model answers an interrupt: it sees the one route that it may take, and its reply goes through the strict decoder. The exchange is
// replayed from a file, so the example needs neither key nor network; a program leaves Config empty and sets OPENAI_API_KEY.
func Example() {
	model := openai.New("gpt-5.1", openai.Config{
		APIKey: "not used", BaseURL: "https://api.openai.com/v1",
		HTTPClient: &http.Client{Transport: &llmtest.Recorder{Dir: "testdata"}},
	})
	set := routes.NameOrchestratorInterruptRequest.Routes()
	resp, err := model.Generate(context.Background(), llm.Request{
		Prompt: "The person answered: ship it. Go on.", SchemaName: "InterruptRouting",
		Schema: func(d runtime.Dialect) string { return routes.InterruptRoutingSchema(set, d) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var routing routes.InterruptRouting
	if err := routing.DecodeReply(resp.Reply(), set); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(routing.OrchestratorRequest.Goal)
	fmt.Println(resp.Usage.InputTokens, "tokens in,", resp.Usage.OutputTokens, "out")
	// Output:
	// Ship it.
	// 231 tokens in, 24 out
}
