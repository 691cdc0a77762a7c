// Package scripted gives the examples their model: that of a provider, or one that follows a file,
// without a key and without a network.
package scripted

import (
	"encoding/json"
	"fmt"

	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/anthropic"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/llm/openai"
)

// line is a reply of the script. It is for requests of a schema, whose prompt and schema contain
// the given texts, if there are any.
type line struct {
	For   string          `json:"for"`
	Said  string          `json:"said"`
	Shows string          `json:"shows"`
	Reply json.RawMessage `json:"reply"`
}

// Model returns a model of openai or anthropic, whose key is in the environment, or for "" the one
// that follows a script: a list of lines in JSON, of which the first that fits is the reply,
// however often. So a process that was killed and started again needs no state of the replies
// before.
func Model(provider string, script []byte) (llm.Model, error) {
	switch provider {
	case "openai":
		return openai.New("gpt-5.1", openai.Config{}), nil
	case "anthropic":
		return anthropic.New("claude-sonnet-4-5", anthropic.Config{}), nil
	case "":
	default:
		return nil, fmt.Errorf("there is no provider %q: use openai or anthropic", provider)
	}
	var lines []line
	if err := json.Unmarshal(script, &lines); err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	model := llmtest.NewModel()
	for _, l := range lines {
		model.AddReplies(llmtest.JSON(string(l.Reply)).
			For(llmtest.Wants(l.For), llmtest.Said(l.Said),
				llmtest.Shows(l.Shows)).Always())
	}
	return model, nil
}
