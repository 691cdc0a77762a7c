package anthropic_test

import (
	"context"
	"fmt"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/anthropic"
	"github.com/routegen/routegen/runtime/llm/llmtest"
)

// A model answers in the form of a schema. The answer comes from a server of llmtest, so the
// example needs neither key nor network; a program leaves Config empty and sets ANTHROPIC_API_KEY,
// and its schemas come from the generated package.
func Example() {
	server := llmtest.NewServer(noTest{}, llmtest.Answer{
		Text:  `{"why":"It is about a passport.","desk":"PASSPORTS"}`,
		Usage: llm.Usage{InputTokens: 61, OutputTokens: 17},
	})
	defer server.Close()
	model := anthropic.New("claude-sonnet-4-5", anthropic.Config{
		APIKey: "not used", BaseURL: server.Anthropic(), HTTPClient: server.HTTPClient(),
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
	fmt.Println(string(response.Body()))
	fmt.Println(response.Usage.InputTokens, "tokens in,", response.Usage.OutputTokens, "out")
	// Output:
	// {"why":"It is about a passport.","desk":"PASSPORTS"}
	// 61 tokens in, 17 out
}

// noTest stands in for a *testing.T, which an example does not have.
type noTest struct{}

func (noTest) Helper()               {}
func (noTest) Errorf(string, ...any) {}
func (noTest) Cleanup(func())        {}
