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

// visibleForm says which parts of a value may be shown, by the definitions, which have no hidden
// fields. A nil form shows everything.
type visibleForm struct {
	Ref        string                  `json:"$ref"`
	Properties map[string]*visibleForm `json:"properties"`
	Items      *visibleForm            `json:"items"`
	Others     json.RawMessage         `json:"additionalProperties"`
	Doc        string                  `json:"description"`
	to         *visibleForm            // what Ref leads to
	others     *visibleForm            // the values of a map
}

// parseForms reads the plain definitions, by name, and ties their references. A program without
// schemas has none.
func parseForms(schemas *runtime.Schemas) (map[string]*visibleForm, error) {
	if schemas == nil {
		return nil, nil //nolint:nilnil // nil forms show everything
	}
	var file struct {
		Defs map[string]*visibleForm `json:"$defs"`
	}
	if err := json.Unmarshal(schemas.Definitions(runtime.Plain), &file); err != nil {
		return nil, fmt.Errorf("definitions: %w", err)
	}
	for name, f := range file.Defs {
		if err := f.resolveRefs(file.Defs); err != nil {
			return nil, fmt.Errorf("definition %s: %w", name, err)
		}
	}
	return file.Defs, nil
}

func (f *visibleForm) resolveRefs(byName map[string]*visibleForm) error {
	if f == nil {
		return nil
	}
	if f.Ref != "" {
		if f.to = byName[strings.TrimPrefix(f.Ref, "#/$defs/")]; f.to == nil {
			return errors.New(f.Ref + " is not defined")
		}
	}
	if len(f.Others) > 0 && f.Others[0] == '{' {
		f.others = &visibleForm{}
		if err := json.Unmarshal(f.Others, f.others); err != nil {
			return err
		}
	}
	for _, part := range f.Properties {
		if err := part.resolveRefs(byName); err != nil {
			return err
		}
	}
	return errors.Join(f.Items.resolveRefs(byName), f.others.resolveRefs(byName))
}

// propertyForm returns the form of the value of a key, and false when the key must not be shown.
func (f *visibleForm) propertyForm(key string) (*visibleForm, bool) {
	switch {
	case f == nil:
		return nil, true
	case f.to != nil:
		return f.to.propertyForm(key)
	case f.Properties != nil:
		part, ok := f.Properties[key]
		return part, ok
	}
	return f.others, string(f.Others) != "false"
}

func (f *visibleForm) itemForm() *visibleForm {
	switch {
	case f == nil:
		return nil
	case f.to != nil:
		return f.to.itemForm()
	}
	return f.Items
}

// visibleField is one visible field of a record, as data.
type visibleField struct{ name, text string }

// visibleFields returns the visible fields of a stored record that are there, in its order.
func (f *visibleForm) visibleFields(record json.RawMessage) ([]visibleField, error) {
	w := writer{data: record}
	if !json.Valid(record) || w.peek() != '{' {
		return nil, errors.New("a stored record is not a JSON object")
	}
	var out []visibleField
	for w.skipPunctuation('}') {
		name, _ := w.readText()
		w.skipPunctuation(0)
		part, shown := f.propertyForm(name)
		w.out = w.out[:0]
		text, err := w.valueText(part)
		if err != nil {
			return nil, err
		}
		if shown && string(w.out) != "null" { // of a string nothing is in out
			out = append(out, visibleField{name, text})
		}
	}
	return out, nil
}

// asData returns a value as data.
func asData(f *visibleForm, value json.RawMessage) (string, error) {
	if !json.Valid(value) {
		return "", errors.New("it is not JSON")
	}
	w := writer{data: value}
	return w.valueText(f)
}

// writer writes the visible parts of valid JSON, indented, with every string cleaned.
type writer struct {
	data []byte
	pos  int
	out  []byte
}

// valueText reads a value: a string becomes its text, anything else JSON.
func (w *writer) valueText(f *visibleForm) (string, error) {
	if w.peek() == '"' {
		text, _ := w.readText()
		return Data("text", text), nil
	}
	if err := w.writeValue(f, 0); err != nil {
		return "", err
	}
	return Data("json", string(w.out)), nil
}

// peek returns the next byte that is not white space.
func (w *writer) peek() byte {
	for w.data[w.pos] == ' ' || w.data[w.pos] == '\n' || w.data[w.pos] == '\t' ||
		w.data[w.pos] == '\r' {
		w.pos++
	}
	return w.data[w.pos]
}

// skipPunctuation steps over a bracket, comma or colon, and reports whether something stands before
// the end.
func (w *writer) skipPunctuation(end byte) bool {
	if w.peek(); w.data[w.pos] != end {
		w.pos++
	}
	if w.peek() == end {
		w.pos++
		return false
	}
	return true
}

// readText reads a string, and reports whether its bytes can be written as they are.
func (w *writer) readText() (text string, same bool) {
	w.peek()
	start := w.pos
	for w.pos++; w.data[w.pos] != '"'; w.pos++ {
		if w.data[w.pos] == '\\' {
			w.pos++
		}
	}
	w.pos++
	inner := string(w.data[start+1 : w.pos-1])
	if isPlainText(inner) && !strings.Contains(inner, "\\") {
		return inner, len(inner) <= MaxData
	}
	_ = json.Unmarshal(w.data[start:w.pos], &inner) // it is known to be a string
	return inner, false
}

func (w *writer) writeValue(f *visibleForm, depth int) error {
	open := w.peek()
	end := byte('}')
	switch open {
	case '{':
	case '[':
		end = ']'
	case '"':
		w.writeString()
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
	for w.skipPunctuation(end) {
		mark, part, shown := len(w.out), f.itemForm(), true
		if !empty {
			w.out = append(w.out, ',')
		}
		w.writeNewline(depth + 1)
		if open == '{' {
			part, shown = f.propertyForm(w.writeString())
			w.out = append(w.out, ": "...)
			w.skipPunctuation(0)
		}
		if err := w.writeValue(part, depth+1); err != nil {
			return err
		}
		if !shown {
			w.out = w.out[:mark]
		}
		empty = len(w.out) == before
	}
	if !empty {
		w.writeNewline(depth)
	}
	w.out = append(w.out, end)
	return nil
}

func (w *writer) writeNewline(depth int) {
	w.out = append(w.out, '\n')
	for range depth {
		w.out = append(w.out, "  "...)
	}
}

// writeString writes a string, cleaned, and returns it as it was.
func (w *writer) writeString() string {
	text, same := w.readText()
	if same {
		w.out = append(append(append(w.out, '"'), text...), '"')
		return text
	}
	b, _ := runtime.Encode(cleanText(text)) // a string cannot be refused
	w.out = append(w.out, b...)
	return text
}
