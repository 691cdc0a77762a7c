package llmtest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/anthropic"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/llm/openai"
)

func TestRecOnce(t *testing.T) {
	r := llm.Request{
		System: "You route questions.", Prompt: "Where do I renew my passport?", SchemaName: "Desk",
		Schema: func(runtime.Dialect) string {
			return `{"type":"object","properties":{"why":{"type":"string"},"desk":{"type":"string","enum":["PASSPORTS","TAXES"]}},"required":["why","desk"],"additionalProperties":false}`
		},
	}
	a := llmtest.Answer{Text: `{"why":"It is about a passport.","desk":"PASSPORTS"}`, Usage: llm.Usage{InputTokens: 61, OutputTokens: 17}}
	s := llmtest.NewServer(t, a, a)
	rec := func(dir string) *http.Client { return &http.Client{Transport: &llmtest.Recorder{Dir: dir, Next: s.Client().Transport}} }
	_, err := openai.New("gpt-5.1", openai.Config{APIKey: "sk-xyz", BaseURL: s.OpenAI(), HTTPClient: rec("../openai/testdata")}).Generate(t.Context(), r)
	require.NoError(t, err)
	_, err = anthropic.New("claude-sonnet-4-5", anthropic.Config{APIKey: "sk-xyz", BaseURL: s.Anthropic(), HTTPClient: rec("../anthropic/testdata")}).Generate(t.Context(), r)
	require.NoError(t, err)
}
