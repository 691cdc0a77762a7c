package tui

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

// member is one field of a JSON object, in the order that it was written.
type member struct {
	name  string
	value json.RawMessage
}

var errNoObject = errors.New("no object")

// membersOf takes a JSON object apart.
func membersOf(value json.RawMessage) ([]member, error) {
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

// spoken puts a JSON value into words: no brackets, no quotes, and nothing of what is empty.
func spoken(value json.RawMessage) string { return spokenWith(value, "; ") }

func spokenWith(value json.RawMessage, between string) string {
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
			if text := spokenWith(item, ", "); text != "" {
				parts = append(parts, text)
			}
		}
		return strings.Join(parts, ", ")
	}
	members, err := membersOf(value)
	if err != nil {
		return string(value) // a number
	}
	if inner := wrapped(members); inner != nil {
		return spokenWith(inner, between)
	}
	for _, m := range members {
		if text := spokenWith(m.value, ", "); text != "" {
			parts = append(parts, low(m.name)+": "+text)
		}
	}
	return strings.Join(parts, between)
}

// wrapped is the object that is all that another one holds, under the name of its type; nil when there is none.
func wrapped(members []member) json.RawMessage {
	if len(members) != 1 {
		return nil
	}
	if _, err := membersOf(members[0].value); err != nil {
		return nil
	}
	return members[0].value
}

// gist is what a result or a message says. One that is made for people, or for the next model, has a text for it.
func gist(value json.RawMessage) string {
	members, err := membersOf(value)
	if err != nil {
		return spoken(value)
	}
	if inner := wrapped(members); inner != nil {
		return gist(inner)
	}
	for _, name := range []string{"text", "output", "answer"} {
		if text := textIn(members, name); text != "" {
			return text
		}
	}
	return spoken(value)
}

// textIn is a text in an object; "" when there is none.
func textIn(members []member, name string) string {
	var text string
	if at := slices.IndexFunc(members, func(m member) bool { return m.name == name }); at >= 0 && json.Unmarshal(members[at].value, &text) != nil {
		return ""
	}
	return text
}

// orders are the words for what can be ordered where the engine asks.
var orders = map[string]string{
	"retry": "Run the step again", "edit": "Run it with another input", "skip": "Go on without it", "reroute": "Go on elsewhere", "abort": "End the thread",
	"done": "It has happened", "run": "It has not happened: run it", "continue": "Go on as planned", "modify": "Change the work", "cancel": "End the thread",
	"status": "Say how far it is",
}

// ordered puts an answer to a question of the engine into words.
func (n names) ordered(value json.RawMessage) string {
	var o struct {
		Choice string          `json:"choice"`
		Target string          `json:"target"`
		Text   string          `json:"text"`
		Input  json.RawMessage `json:"input"`
		Value  json.RawMessage `json:"value"`
	}
	if json.Unmarshal(value, &o) != nil {
		o.Choice = spoken(value)
	}
	text := low(cmp.Or(orders[o.Choice], o.Choice))
	if o.Target != "" {
		return "go on at " + n.node(o.Target)
	}
	if with := cmp.Or(o.Text, spoken(o.Input), spoken(o.Value)); with != "" {
		text += ": " + with
	}
	return text
}

// answered puts an answer into words, with those of its question where that has any.
func (n names) answered(q *web.Interrupt, value json.RawMessage) string {
	if q == nil {
		return spoken(value)
	}
	if engineAsks(q) {
		return n.ordered(value)
	}
	for _, c := range q.Choices {
		if label, _ := runtime.Encode(c.Label); sameJSON(value, c.Value) || c.Value == nil && sameJSON(value, label) {
			return c.Label
		}
	}
	return cmp.Or(resolved(q.Payload, value), spoken(value))
}

func engineAsks(q *web.Interrupt) bool {
	return q.Kind == runtime.KindUserEscape || q.Kind == runtime.KindSystemError
}

func sameJSON(a, b json.RawMessage) bool {
	var one, two bytes.Buffer
	return json.Compact(&one, a) == nil && json.Compact(&two, b) == nil && bytes.Equal(one.Bytes(), two.Bytes())
}

// resolved puts an answer with several choices and confirmations into the words of its question; "" when it is none.
func resolved(payload, value json.RawMessage) string {
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
			parts = append(parts, strings.TrimRight(c.Question, "?.: ")+": "+cmp.Or(given.Custom[c.ID], c.Options[key], key))
		}
	}
	for _, c := range asked.Request.Confirmations {
		if yes, is := given.Confirmed[c.ID]; is {
			parts = append(parts, strings.TrimRight(c.Statement, "?.: ")+": "+map[bool]string{true: "yes", false: "no"}[yes])
		}
	}
	return strings.Join(parts, "; ")
}
