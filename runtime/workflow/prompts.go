package workflow

import (
	"encoding/json"
	"fmt"

	"github.com/routegen/routegen/runtime"
)

// Prompts renders what models read.
type Prompts interface {
	Node(v PromptView) (string, error)
}

// PromptView is what a prompt is rendered from.
type PromptView struct {
	Node    int
	Request json.RawMessage
	Allowed []string
}

func (s *step) nodePrompt(node int, call runtime.Call, request runtime.Record) (string, error) {
	data, err := runtime.Encode(request)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("node %s %s", s.node(node).Key, data), nil
}

func (s *step) resolutionPrompt(origin, route int, answer json.RawMessage) (string, error) {
	return fmt.Sprintf("resolve %s %d %d %s", s.j.Raised.Request, origin, route, answer), nil
}

func (s *step) reviewPrompt() (string, error) {
	return fmt.Sprintf("review %s", s.j.Raised.Request), nil
}

func (s *step) repairPrompt(prompt, reply string, wrong error) (string, error) {
	return fmt.Sprintf("%s\n\nrefused: %s: %v", prompt, reply, wrong), nil
}
