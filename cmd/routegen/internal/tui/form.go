package tui

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/workflow"
)

// What a person writes into a form, when it is not a choice alone.
const (
	writeNone   = ""
	writeText   = "text"   // the answer, as it stands
	writeJSON   = "json"   // the answer, as JSON
	writeChange = "change" // how the work shall change
	writeInput  = "input"  // JSON that goes with a choice of the engine's
	writeValue  = "value"  // the same, and may be left out
	writeNote   = "note"   // to the place that the work is sent to; may be left out
)

// option is one thing to choose.
type option struct {
	label, about string
	value        json.RawMessage
	routeTo      string
	word         string // the engine's word that goes with what is written
	write        string // what has to be written first
	frame        string // the one that is sent elsewhere
}

// form is an interrupt that a person is answering. It holds the question as it was shown: the answer carries its digest.
type form struct {
	ask     web.Interrupt
	options []option
	at      int    // the chosen one
	write   string // what is being written; writeNone while there is a choice to make
	chosen  option // what the writing is for
	field   field
	scroll  int  // how far the question was moved
	pause   bool // the question is the pause's: leaving it goes on unchanged

	send  bool           // it is no question: it sends running work elsewhere
	event workflow.Event // the last try of that

	sending bool
	sent    runtime.Answer // the last try, with its request id
	refused string         // why it was not taken
	armed   string         // the key that does its work when it is pressed again
}

// openForm makes the form of an interrupt, with what was written for it before.
func openForm(i *web.Interrupt, draft string, called names) *form {
	f := &form{ask: *i, field: fieldOf(draft)}
	if i.Kind == runtime.KindUserEscape && changes(i) {
		f.pause, f.write = true, writeChange
		return f
	}
	f.options = optionsOf(i, called)
	if len(f.options) == 1 && f.options[0].write != writeNone {
		f.write, f.chosen = f.options[0].write, f.options[0]
	}
	return f
}

// changes reports whether a pause offers to change the work.
func changes(i *web.Interrupt) bool {
	return slices.ContainsFunc(i.Choices, func(c runtime.Choice) bool { return c.Label == "modify" })
}

// optionsOf lists what can be answered: first what answers the question, then what sends the work elsewhere instead.
func optionsOf(i *web.Interrupt, called names) []option {
	if i.Kind == runtime.KindUserEscape || i.Kind == runtime.KindSystemError {
		return ordersOf(i, called)
	}
	var schema struct {
		Type any               `json:"type"`
		Enum []json.RawMessage `json:"enum"`
	}
	_ = json.Unmarshal(i.Schema, &schema) // one that says something else leaves it to the person
	var out []option
	for _, c := range i.Choices {
		value := c.Value
		if value == nil {
			value, _ = runtime.Encode(c.Label) // cannot fail: a string
		}
		out = append(out, option{label: c.Label, about: c.Description, value: value})
	}
	free := option{label: "something else, as JSON", write: writeJSON}
	switch {
	case i.Plain == runtime.PlainText || schema.Type == "string":
		free = option{label: "something else, in your words", write: writeText}
	case len(out) > 0 && (i.Plain == runtime.PlainChoice || i.Schema == nil):
		free.write = writeNone
	}
	switch {
	case len(out) > 0:
	case schema.Enum != nil:
		for _, value := range schema.Enum {
			out = append(out, option{label: textOf(value), value: value})
		}
		free.write = writeNone
	case i.Plain == runtime.PlainYesNo || schema.Type == "boolean":
		out = []option{{label: "yes", value: json.RawMessage("true")}, {label: "no", value: json.RawMessage("false")}}
		free.write = writeNone
	}
	if free.write != writeNone {
		if len(out) == 0 {
			free.label = strings.Replace(free.label, "something else", "an answer", 1)
		}
		out = append(out, free)
	}
	for _, target := range i.Targets {
		out = append(out, option{label: "go on at " + called.node(target), routeTo: target, write: writeNote})
	}
	return out
}

// ordersOf lists the choices of the engine's own questions.
func ordersOf(i *web.Interrupt, called names) []option {
	var out []option
	for _, c := range i.Choices {
		o := option{label: cmp.Or(orders[c.Label], c.Label), about: c.Description, value: c.Value, word: c.Label}
		switch c.Label {
		case "reroute":
			for _, target := range i.Targets {
				o.label, o.value = "Go on at "+called.node(target), order("reroute", "target", target)
				out = append(out, o)
			}
			continue
		case "edit":
			o.write = writeInput
		case "skip", "done":
			o.about, o.write = "with a result that you give", writeValue
		case "modify":
			o.write = writeChange
		}
		out = append(out, o)
	}
	return out
}

// order is an answer to the engine, with one more field when that is named.
func order(word, field string, value any) json.RawMessage {
	out := map[string]any{"choice": word}
	if field != "" {
		out[field] = value
	}
	data, _ := runtime.Encode(out) // cannot fail: texts, and JSON that was checked
	return data
}

// answer makes the answer of what is chosen or written, or says what is wrong with it.
func (f *form) answer() (a runtime.Answer, wrong string) {
	a = runtime.Answer{Interrupt: f.ask.ID, Digest: f.ask.Digest}
	text := f.field.text()
	raw := json.RawMessage(strings.TrimSpace(text))
	const noJSON = `that is no JSON: a text stands in double quotes, like "blue"`
	switch f.write {
	case writeNone:
		if len(f.options) == 0 {
			return a, "this question offers nothing to answer"
		}
		a.Value = f.options[f.at].value
	case writeNote:
		a.RouteTo, a.Text = f.chosen.routeTo, strings.TrimSpace(text)
	case writeText:
		a.Value, _ = runtime.Encode(text) // cannot fail: a string
	case writeChange:
		if a.Value = order("modify", "text", text); strings.TrimSpace(text) == "" {
			a.Value = order("continue", "", nil)
		}
	case writeJSON:
		if a.Value = raw; !json.Valid(raw) {
			return a, noJSON
		}
	default:
		switch {
		case len(raw) == 0 && f.write == writeValue:
			a.Value = order(f.chosen.word, "", nil)
		case !json.Valid(raw):
			return a, noJSON
		default:
			a.Value = order(f.chosen.word, f.write, raw)
		}
	}
	return a, ""
}

// move chooses another option.
func (f *form) move(by int) {
	if n := len(f.options); n > 0 {
		f.at = (f.at + by + n) % n
	}
}

// choose takes the chosen option, and reports whether it can be answered at once.
func (f *form) choose() bool {
	if len(f.options) == 0 || f.options[f.at].write == writeNone {
		return true
	}
	f.chosen = f.options[f.at]
	f.write, f.refused = f.chosen.write, ""
	return false
}

// back leaves what is being written for the choice, and reports whether there is one.
func (f *form) back() bool {
	if f.write == writeNone || len(f.options) < 2 {
		return false
	}
	f.write, f.refused = writeNone, ""
	return true
}
