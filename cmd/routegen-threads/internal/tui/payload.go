package tui

import (
	"encoding/json"
	"slices"

	"github.com/routegen/routegen/runtime/thread"
)

// toldFields are members of a payload that the text of the question repeats.
var toldFields = []string{"reason", "type", "text", "questions", "node", "agentType", "interrupt",
	"toolCallId"}

// failedFields are members of a failed step that are for programs.
var failedFields = []string{"code", "recoverable", "step", "input_digest", "key"}

// payloadLines returns the payload of a question as text, one line for each member.
func payloadLines(kind string, payload json.RawMessage) []string {
	members, err := parseMembers(payload)
	if err != nil {
		if text := valueText(payload); text != "" {
			return []string{text}
		}
		return nil
	}
	var out []string
	for _, m := range members {
		_, err := parseMembers(m.value)
		text := valueText(m.value)
		switch {
		case text == "", slices.Contains(toldFields, m.name),
			kind == thread.KindSystemError && slices.Contains(failedFields, m.name):
		case err == nil && (m.name == "args" || m.name == "request"):
			out = append(out, payloadLines("", m.value)...)
		case m.name == "attempts":
			out = append(out, attemptLines(m.value)...)
		default:
			out = append(out, humanize(m.name)+": "+text)
		}
	}
	return out
}

// attemptLines returns a line for each text of the failed tries of a step.
func attemptLines(value json.RawMessage) []string {
	var attempts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(value, &attempts) // another value has no texts
	var out []string
	for _, a := range attempts {
		if text := "Tried: " + oneLine(trimCodes(a.Text)); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
