package tui

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// member is one field of a JSON object, in written order.
type member struct {
	name  string
	value json.RawMessage
}

var errNoObject = errors.New("no object")

// parseMembers returns the fields of a JSON object.
func parseMembers(value json.RawMessage) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(value))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return nil, errNoObject
	}
	var out []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: name.(string)} //nolint:forcetypeassert // the decoder gives no other
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// valueText returns a JSON value as text, without brackets, quotes and empty members.
func valueText(value json.RawMessage) string { return joinValue(value, "; ") }

func joinValue(value json.RawMessage, between string) string {
	var text string
	var list []json.RawMessage
	switch string(value) {
	case "", "null":
		return ""
	case "true":
		return "yes"
	case "false":
		return "no"
	}
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var parts []string
	if json.Unmarshal(value, &list) == nil {
		for _, item := range list {
			if text := joinValue(item, ", "); text != "" {
				parts = append(parts, text)
			}
		}
		return strings.Join(parts, ", ")
	}
	members, err := parseMembers(value)
	if err != nil {
		return string(value) // a number
	}
	if inner := unwrapObject(members); inner != nil {
		return joinValue(inner, between)
	}
	for _, m := range members {
		if text := joinValue(m.value, ", "); text != "" {
			parts = append(parts, humanizeLower(m.name)+": "+text)
		}
	}
	return strings.Join(parts, between)
}

// unwrapObject returns the object that is the only member of another one, or nil.
func unwrapObject(members []member) json.RawMessage {
	if len(members) != 1 {
		return nil
	}
	if _, err := parseMembers(members[0].value); err != nil {
		return nil
	}
	return members[0].value
}

// resultText returns the text of a result or message: its member text, output or answer, or all of
// it.
func resultText(value json.RawMessage) string {
	members, err := parseMembers(value)
	if err != nil {
		return valueText(value)
	}
	if inner := unwrapObject(members); inner != nil {
		return resultText(inner)
	}
	var all map[string]any
	_ = json.Unmarshal(value, &all) // cannot fail: it has members
	for _, name := range []string{"text", "output", "answer"} {
		if text, _ := all[name].(string); text != "" {
			return text
		}
	}
	return valueText(value)
}

// orderText returns an answer to a question of the engine in words.
func (n displayNames) orderText(value json.RawMessage) string {
	var o struct {
		Choice string          `json:"choice"`
		Target string          `json:"target"`
		Text   string          `json:"text"`
		Input  json.RawMessage `json:"input"`
		Value  json.RawMessage `json:"value"`
	}
	if json.Unmarshal(value, &o) != nil {
		o.Choice = valueText(value)
	}
	text := humanizeLower(cmp.Or(table.Orders[o.Choice], o.Choice))
	if o.Target != "" {
		return "go on at " + n.nodeName(o.Target)
	}
	if with := cmp.Or(o.Text, valueText(o.Input), valueText(o.Value)); with != "" {
		text += ": " + with
	}
	return text
}

// answerText returns an answer in the words of its question, if the question has words for it.
func (n displayNames) answerText(q *web.Interrupt, value json.RawMessage) string {
	if q == nil {
		return valueText(value)
	}
	if q.Kind == thread.KindUserEscape || q.Kind == thread.KindSystemError {
		return n.orderText(value)
	}
	for _, c := range q.Choices {
		if label, _ := runtime.Encode(c.Label); thread.SameJSON(value, c.Value) || c.Value == nil &&
			thread.SameJSON(value, label) {
			return c.Label
		}
	}
	return cmp.Or(choicesText(q.Payload, value), valueText(value))
}

// choicesText returns an answer with choices and confirmations in the words of its question, or "".
func choicesText(payload, value json.RawMessage) string {
	var asked struct {
		Request struct {
			Choices []struct {
				ID       string            `json:"choiceId"`
				Question string            `json:"question"`
				Options  map[string]string `json:"options"`
			} `json:"choices"`
			Confirmations []struct {
				ID        string `json:"confirmationId"`
				Statement string `json:"statement"`
			} `json:"confirmationItems"`
		} `json:"request"`
	}
	var given struct {
		Chosen    map[string]string `json:"selectedChoices"`
		Custom    map[string]string `json:"customInputs"`
		Confirmed map[string]bool   `json:"confirmations"`
	}
	if json.Unmarshal(payload, &asked) != nil || json.Unmarshal(value, &given) != nil {
		return ""
	}
	var parts []string
	for _, c := range asked.Request.Choices {
		if key := given.Chosen[c.ID]; key != "" {
			parts = append(parts, strings.TrimRight(c.Question, "?.: ")+": "+
				cmp.Or(given.Custom[c.ID], c.Options[key], key))
		}
	}
	for _, c := range asked.Request.Confirmations {
		if yes, is := given.Confirmed[c.ID]; is {
			parts = append(parts, strings.TrimRight(c.Statement, "?.: ")+": "+
				map[bool]string{true: "yes", false: "no"}[yes])
		}
	}
	return strings.Join(parts, "; ")
}
