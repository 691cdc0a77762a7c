package openai_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/llm/openai"
)

// A model answers in the form of a schema. The exchange is replayed from a file, so the example needs neither key nor network; a program
// leaves Config empty and sets OPENAI_API_KEY, and its schemas come from the generated package.
func Example() {
	model := openai.New("gpt-5.1", openai.Config{
		APIKey: "not used", BaseURL: "https://api.openai.com/v1",
		HTTPClient: &http.Client{Transport: &llmtest.Recorder{Dir: "testdata"}},
	})
	response, err := model.Generate(context.Background(), llm.Request{
		System: "You route questions.", Prompt: "Where do I renew my passport?", SchemaName: "Desk",
		Schema: func(runtime.Dialect) string {
			return `{"type":"object","properties":{"why":{"type":"string"},"desk":{"type":"string","enum":["PASSPORTS","TAXES"]}},"required":["why","desk"],"additionalProperties":false}`
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(response.Reply()))
	fmt.Println(response.Usage.InputTokens, "tokens in,", response.Usage.OutputTokens, "out")
	// Output:
	// {"why":"It is about a passport.","desk":"PASSPORTS"}
	// 61 tokens in, 17 out
}
