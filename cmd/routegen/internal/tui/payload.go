package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// asking is what the asker put into a question beside its text.
type asking struct {
	Context  string          `json:"contextForDecision"`
	Choices  []asked         `json:"choices"`
	Confirms []confirmed     `json:"confirmationItems"`
	Attempts []attempt       `json:"attempts"`
	Request  json.RawMessage `json:"request"`
}

type asked struct {
	Question    string          `json:"question"`
	Context     string          `json:"context"`
	Options     json.RawMessage `json:"options"`
	Recommended string          `json:"recommended"`
}

type confirmed struct {
	Statement  string `json:"statement"`
	Context    string `json:"context"`
	ImpactIfNo string `json:"impactIfNo"`
}

type attempt struct {
	Text string `json:"text"`
	Code string `json:"code"`
}

// toldFields are those that [payloadLines] has words of its own for, or that the question's text says already.
var toldFields = []string{
	"contextForDecision", "choices", "confirmationItems", "attempts", "reason", "type", "text", "questions", "node", "agentType", "interrupt", "request",
	"toolCallId",
}

// failedFields are what a failed step has for programs.
var failedFields = []string{"code", "recoverable", "step", "input_digest", "key"}

// payloadLines puts what came with a question into words, a line for each thing.
func payloadLines(kind string, payload json.RawMessage) []string {
	members, err := membersOf(payload)
	if err != nil {
		if text := spoken(payload); text != "" {
			return []string{text}
		}
		return nil
	}
	var a asking
	_ = json.Unmarshal(payload, &a) // a field of another form is shown with the rest
	if inner, err := membersOf(a.Request); err == nil {
		members = inner
		_ = json.Unmarshal(a.Request, &a)
	}
	var out []string
	add := func(text string) {
		if text != "" {
			out = append(out, text)
		}
	}
	add(a.Context)
	for _, c := range a.Choices {
		add(strings.TrimSpace(c.Question + " " + c.Context))
		options, _ := membersOf(c.Options) // none are none
		for _, o := range options {
			text := "  " + o.name + ": " + spoken(o.value)
			if o.name == c.Recommended {
				text += " (recommended)"
			}
			add(text)
		}
	}
	for _, c := range a.Confirms {
		add(colon("To confirm: "+c.Statement, c.Context))
		if c.ImpactIfNo != "" {
			add("  If not: " + c.ImpactIfNo)
		}
	}
	out = append(out, attempts(a.Attempts)...)
	return append(out, others(kind, members)...)
}

// others is what was given beside that.
func others(kind string, members []member) []string {
	var out []string
	for _, m := range members {
		text := spoken(m.value)
		switch {
		case text == "", slices.Contains(toldFields, m.name), kind == runtime.KindSystemError && slices.Contains(failedFields, m.name):
		case m.name == "args": // of a tool that waits for an approval
			inner, _ := membersOf(m.value) // others have none
			out = append(out, others("", inner)...)
		default:
			out = append(out, plain(m.name)+": "+text)
		}
	}
	return out
}

// attempts lists failed tries; those that failed in the same way are one line.
func attempts(all []attempt) []string {
	var out []string
	counts := map[attempt]int{}
	for _, a := range all {
		counts[a]++
	}
	for _, a := range all {
		text := strings.TrimSpace(bare(a.Text))
		if text == "" {
			text = low(a.Code)
		}
		if counts[a] > 1 {
			text = fmt.Sprintf("%s (%d times)", text, counts[a])
		}
		if !slices.Contains(out, "Tried: "+text) {
			out = append(out, "Tried: "+text)
		}
	}
	return out
}
