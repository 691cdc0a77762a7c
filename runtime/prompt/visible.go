package prompt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/routegen/routegen/runtime"
)

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
	dec := json.NewDecoder(bytes.NewReader(record))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.New("a stored record is no JSON object")
	}
	var out []field
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		name, _ := key.(string)
		part, shown := f.at(name)
		if !shown || string(value) == "null" {
			continue
		}
		text, err := asData(part, value)
		if err != nil {
			return nil, err
		}
		out = append(out, field{name, text})
	}
	return out, nil
}

// asData returns a value as data: a string as its text, anything else as JSON.
func asData(f *form, value json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(value, &text) == nil && value[0] == '"' {
		return Data("text", text), nil
	}
	w := &writer{dec: json.NewDecoder(bytes.NewReader(value))}
	w.dec.UseNumber()
	if err := w.value(f, ""); err != nil {
		return "", err
	}
	return Data("json", w.out.String()), nil
}

// writer writes what may be shown of a JSON value, indented, every string cleaned.
type writer struct {
	dec *json.Decoder
	out strings.Builder
}

func (w *writer) value(f *form, indent string) error {
	token, err := w.dec.Token()
	if err != nil {
		return err
	}
	delim, open := token.(json.Delim)
	if !open {
		return w.scalar(token)
	}
	const deepest = 64 * 2 // stored documents nest 64 levels at most
	if len(indent) > deepest {
		return errors.New("a stored record nests too deep")
	}
	w.out.WriteString(delim.String())
	inner, before := indent+"  ", "\n"
	for w.dec.More() {
		part := f.item()
		if delim == '{' {
			key, err := w.dec.Token()
			if err != nil {
				return err
			}
			name, _ := key.(string)
			var shown bool
			if part, shown = f.at(name); !shown {
				var left json.RawMessage
				if err := w.dec.Decode(&left); err != nil {
					return err
				}
				continue
			}
			w.out.WriteString(before + inner)
			if err := w.scalar(name); err != nil {
				return err
			}
			w.out.WriteString(": ")
		} else {
			w.out.WriteString(before + inner)
		}
		before = ",\n"
		if err := w.value(part, inner); err != nil {
			return err
		}
	}
	if before != "\n" {
		w.out.WriteString("\n" + indent)
	}
	token, err = w.dec.Token()
	fmt.Fprint(&w.out, token)
	return err
}

func (w *writer) scalar(v any) error {
	if text, ok := v.(string); ok {
		v = clean(text)
	}
	b, err := runtime.Encode(v)
	w.out.Write(b)
	return err
}
