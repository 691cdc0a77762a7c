package tui

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// What is written into a form.
const (
	writeNone   = ""
	writeText   = "text"   // the answer, as it stands
	writeJSON   = "json"   // the answer, as JSON
	writeChange = "change" // how the work shall change
	writeInput  = "input"  // JSON that goes with a choice of the engine's
	writeValue  = "value"  // the same, and may be left out
	writeNote   = "note"   // to the place that the work is sent to; may be left out
	writeReason = "reason" // why running work is sent elsewhere
)

// option is one of the answers that a form offers.
type option struct {
	label, about string
	value        json.RawMessage
	routeTo      string
	word         string // the engine's word for what is written, or the node that is sent elsewhere
	write        string // what has to be written first
}

// form is an open answer form. It keeps the question as it was shown, because the answer carries
// its digest.
type form struct {
	ask     web.Interrupt
	options []option
	at      int    // the chosen one
	write   string // what is being written; writeNone while there is a choice to make
	chosen  option // what the writing is for
	field   field
	scroll  int  // lines that the question is scrolled
	pause   bool // the question is the pause's: leaving it goes on unchanged

	sending bool
	sent    thread.Answer // the last try, with its request id
	refused string        // why the answer was refused
	armed   string        // the key that has to be pressed again
}

// newForm returns the form of a question, with the draft that was kept for it.
func newForm(i *web.Interrupt, draft string, called displayNames) *form {
	f := &form{ask: *i, field: fieldOf(draft)}
	if i.Kind == thread.KindUserEscape && offersChange(i) {
		f.pause, f.write = true, writeChange
		return f
	}
	f.options = optionsOf(i, called)
	if len(f.options) == 1 && f.options[0].write != writeNone {
		f.write, f.chosen = f.options[0].write, f.options[0]
	}
	return f
}

// offersChange reports whether a pause offers to change the work.
func offersChange(i *web.Interrupt) bool {
	return slices.ContainsFunc(i.Choices, func(c thread.Choice) bool {
		return c.Label == "modify"
	})
}

// optionsOf lists the possible answers: first those that answer the question, then those that send
// the work elsewhere.
func optionsOf(i *web.Interrupt, called displayNames) []option {
	if i.Kind == thread.KindUserEscape || i.Kind == thread.KindSystemError {
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
	case i.Plain == thread.PlainText || schema.Type == "string":
		free = option{label: "something else, in your words", write: writeText}
	case len(out) > 0 && (i.Plain == thread.PlainChoice || i.Schema == nil):
		free.write = writeNone
	}
	switch {
	case len(out) > 0:
	case schema.Enum != nil:
		for _, value := range schema.Enum {
			out = append(out, option{label: unquote(value), value: value})
		}
		free.write = writeNone
	case i.Plain == thread.PlainYesNo || schema.Type == "boolean":
		out = []option{{label: "yes", value: json.RawMessage("true")},
			{label: "no", value: json.RawMessage("false")}}
		free.write = writeNone
	}
	if free.write != writeNone {
		if len(out) == 0 {
			free.label = strings.Replace(free.label, "something else", "an answer", 1)
		}
		out = append(out, free)
	}
	for _, target := range i.Targets {
		out = append(out, option{label: "go on at " + called.nodeName(target), routeTo: target,
			write: writeNote})
	}
	return out
}

// ordersOf lists the choices of the engine's own questions.
func ordersOf(i *web.Interrupt, called displayNames) []option {
	var out []option
	for _, c := range i.Choices {
		o := option{label: cmp.Or(table.Orders[c.Label], c.Label), about: c.Description,
			value: c.Value,
			word:  c.Label}
		switch c.Label {
		case "reroute":
			for _, target := range i.Targets {
				o.label, o.value = "Go on at "+called.nodeName(target),
					encodeOrder("reroute", "target", target)
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

// encodeOrder returns an answer to the engine, with one more field if field is not empty.
func encodeOrder(word, field string, value any) json.RawMessage {
	out := map[string]any{"choice": word}
	if field != "" {
		out[field] = value
	}
	data, _ := runtime.Encode(out) // cannot fail: texts, and JSON that was checked
	return data
}

// chosenAnswer returns the answer that is chosen or written, or the text of what is wrong with it.
func (f *form) chosenAnswer() (a thread.Answer, wrong string) {
	a = thread.Answer{Interrupt: f.ask.ID, Digest: f.ask.Digest}
	text := f.field.content()
	raw := json.RawMessage(strings.TrimSpace(text))
	const noJSON = `this is not JSON: a text needs double quotes, like "blue"`
	switch f.write {
	case writeNone:
		if len(f.options) == 0 {
			return a, "this question offers nothing to answer"
		}
		a.Value = f.options[f.at].value
	case writeNote:
		a.RouteTo, a.Text = f.chosen.routeTo, strings.TrimSpace(text)
	case writeReason:
		if a.Value, a.Text = f.chosen.value, strings.TrimSpace(text); a.Text == "" {
			return a, "say why"
		}
	case writeText:
		a.Value, _ = runtime.Encode(text) // cannot fail: a string
	case writeChange:
		if a.Value = encodeOrder("modify", "text", text); strings.TrimSpace(text) == "" {
			a.Value = encodeOrder("continue", "", nil)
		}
	case writeJSON:
		if a.Value = raw; !json.Valid(raw) {
			return a, noJSON
		}
	default:
		switch {
		case len(raw) == 0 && f.write == writeValue:
			a.Value = encodeOrder(f.chosen.word, "", nil)
		case !json.Valid(raw):
			return a, noJSON
		default:
			a.Value = encodeOrder(f.chosen.word, f.write, raw)
		}
	}
	return a, ""
}

// move moves the choice by a number of options, around the ends.
func (f *form) move(by int) {
	if n := len(f.options); n > 0 {
		f.at = (f.at + by + n) % n
	}
}

// choose selects the current option, and reports whether it is a complete answer.
func (f *form) choose() bool {
	if len(f.options) == 0 || f.options[f.at].write == writeNone {
		return true
	}
	f.chosen = f.options[f.at]
	f.write, f.refused = f.chosen.write, ""
	return false
}

// back returns from writing to the options, and reports whether there are options.
func (f *form) back() bool {
	if f.write == writeNone || len(f.options) < 2 {
		return false
	}
	f.write, f.refused = writeNone, ""
	return true
}
