package prompt

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// maxDepth is how deep stored values nest at most.
const maxDepth = 64

// form is what of a value may be shown: by the definitions, which have no hidden field. A nil form shows everything.
type form struct {
	Ref        string           `json:"$ref"`
	Properties map[string]*form `json:"properties"`
	Items      *form            `json:"items"`
	Others     json.RawMessage  `json:"additionalProperties"`
	Doc        string           `json:"description"`
	to         *form            // what Ref leads to
	others     *form            // the values of a map
}

// forms reads the definitions and ties their references.
func forms(defs []runtime.Definition) ([]*form, error) {
	out, byName := make([]*form, len(defs)), map[string]*form{}
	for i := range defs {
		out[i] = &form{}
		byName["#/$defs/"+defs[i].Name] = out[i]
		if err := json.Unmarshal([]byte(defs[i].Plain), out[i]); err != nil {
			return nil, fmt.Errorf("definition %s: %w", defs[i].Name, err)
		}
	}
	for i, f := range out {
		if err := f.tie(byName); err != nil {
			return nil, fmt.Errorf("definition %s: %w", defs[i].Name, err)
		}
	}
	return out, nil
}

func (f *form) tie(byName map[string]*form) error {
	if f == nil {
		return nil
	}
	if f.Ref != "" {
		if f.to = byName[f.Ref]; f.to == nil {
			return errors.New(f.Ref + " leads nowhere")
		}
	}
	if len(f.Others) > 0 && f.Others[0] == '{' {
		f.others = &form{}
		if err := json.Unmarshal(f.Others, f.others); err != nil {
			return err
		}
	}
	for _, part := range f.Properties {
		if err := part.tie(byName); err != nil {
			return err
		}
	}
	return errors.Join(f.Items.tie(byName), f.others.tie(byName))
}

// at returns the form of the value of a key, and false when the key must not be shown.
func (f *form) at(key string) (*form, bool) {
	switch {
	case f == nil:
		return nil, true
	case f.to != nil:
		return f.to.at(key)
	case f.Properties != nil:
		part, ok := f.Properties[key]
		return part, ok
	}
	return f.others, string(f.Others) != "false"
}

func (f *form) item() *form {
	switch {
	case f == nil:
		return nil
	case f.to != nil:
		return f.to.item()
	}
	return f.Items
}

// field is one visible field of a record, as data.
type field struct{ name, text string }

// fields returns the visible fields of a stored record that are there, in its order.
func (f *form) fields(record json.RawMessage) ([]field, error) {
	w := writer{data: record}
	if !json.Valid(record) || w.peek() != '{' {
		return nil, errors.New("a stored record is no JSON object")
	}
	var out []field
	for w.next('}') {
		name, _ := w.text()
		w.next(0)
		part, shown := f.at(name)
		w.out = w.out[:0]
		text, err := w.shown(part)
		if err != nil {
			return nil, err
		}
		if shown && string(w.out) != "null" { // of a string nothing is in out
			out = append(out, field{name, text})
		}
	}
	return out, nil
}

// asData returns a value as data.
func asData(f *form, value json.RawMessage) (string, error) {
	if !json.Valid(value) {
		return "", errors.New("it is no JSON")
	}
	w := writer{data: value}
	return w.shown(f)
}

// writer writes what may be shown of what is known to be JSON, indented, every string cleaned.
type writer struct {
	data []byte
	pos  int
	out  []byte
}

// shown reads a value: a string becomes its text, anything else JSON.
func (w *writer) shown(f *form) (string, error) {
	if w.peek() == '"' {
		text, _ := w.text()
		return Data("text", text), nil
	}
	if err := w.value(f, 0); err != nil {
		return "", err
	}
	return Data("json", string(w.out)), nil
}

// peek returns the next sign that is no space.
func (w *writer) peek() byte {
	for w.data[w.pos] == ' ' || w.data[w.pos] == '\n' || w.data[w.pos] == '\t' || w.data[w.pos] == '\r' {
		w.pos++
	}
	return w.data[w.pos]
}

// next steps over a bracket, comma or colon, and reports whether something stands before the end.
func (w *writer) next(end byte) bool {
	if w.peek(); w.data[w.pos] != end {
		w.pos++
	}
	if w.peek() == end {
		w.pos++
		return false
	}
	return true
}

// text reads a string, and reports whether its bytes can be written as they are.
func (w *writer) text() (text string, same bool) {
	w.peek()
	start := w.pos
	for w.pos++; w.data[w.pos] != '"'; w.pos++ {
		if w.data[w.pos] == '\\' {
			w.pos++
		}
	}
	w.pos++
	inner := string(w.data[start+1 : w.pos-1])
	if plain(inner) && !strings.Contains(inner, "\\") {
		return inner, len(inner) <= MaxData
	}
	_ = json.Unmarshal(w.data[start:w.pos], &inner) // it is known to be a string
	return inner, false
}

func (w *writer) value(f *form, depth int) error {
	open := w.peek()
	end := byte('}')
	switch open {
	case '{':
	case '[':
		end = ']'
	case '"':
		w.string()
		return nil
	default:
		start := w.pos
		for w.pos < len(w.data) && !strings.ContainsRune(",]} \n\t\r", rune(w.data[w.pos])) {
			w.pos++
		}
		w.out = append(w.out, w.data[start:w.pos]...)
		return nil
	}
	if depth == maxDepth {
		return fmt.Errorf("a stored value nests deeper than %d", maxDepth)
	}
	w.out = append(w.out, open)
	before, empty := len(w.out), true
	for w.next(end) {
		mark, part, shown := len(w.out), f.item(), true
		if !empty {
			w.out = append(w.out, ',')
		}
		w.line(depth + 1)
		if open == '{' {
			part, shown = f.at(w.string())
			w.out = append(w.out, ": "...)
			w.next(0)
		}
		if err := w.value(part, depth+1); err != nil {
			return err
		}
		if !shown {
			w.out = w.out[:mark]
		}
		empty = len(w.out) == before
	}
	if !empty {
		w.line(depth)
	}
	w.out = append(w.out, end)
	return nil
}

func (w *writer) line(depth int) {
	w.out = append(w.out, '\n')
	for range depth {
		w.out = append(w.out, "  "...)
	}
}

// string writes a string and returns what it was before it was cleaned.
func (w *writer) string() string {
	text, same := w.text()
	if same {
		w.out = append(append(append(w.out, '"'), text...), '"')
		return text
	}
	b, _ := runtime.Encode(clean(text)) // a string cannot be refused
	w.out = append(w.out, b...)
	return text
}
