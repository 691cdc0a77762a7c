package workflow

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/routegen/routegen/runtime"
)

// answerSchema builds the schemas that answers are validated against, from the type that the spec
// declares.
type answerSchema struct {
	schema, properties map[string]json.RawMessage
	// answer fields for which interrupt requests have a field that offers
	offers      map[string]bool
	loose, bare json.RawMessage // not narrowed; narrowed to a request that offers nothing
}

// newAnswerSchema returns nil if the spec declares no answer type or the type has no schema.
func newAnswerSchema(p *runtime.Program) (*answerSchema, error) {
	if p.Tables.Answer == "" || p.Schemas == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	text := p.Schemas.Def(p.Tables.Answer, runtime.Plain)
	if text == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	var f answerSchema
	if err := json.Unmarshal([]byte(text), &f.schema); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(f.schema["properties"], &f.properties); err != nil {
		return nil, err
	}
	// the other keywords apply to objects only
	f.schema["type"] = json.RawMessage(`["object","string","null"]`)
	var err error
	if f.loose, err = f.narrowTo(&offeredChoices{}); err != nil {
		return nil, err
	}
	f.offers = map[string]bool{}
	// all have the common fields
	for _, row := range p.Tables.Interrupts[:min(1, len(p.Tables.Interrupts))] {
		for _, field := range p.Interrupt(row.Name).Shape().Fields {
			f.offers["selectedChoices"] = f.offers["selectedChoices"] || field.Name == "choices"
			f.offers["confirmations"] = f.offers["confirmations"] ||
				field.Name == "confirmationItems"
		}
	}
	f.bare, err = f.narrowTo(&offeredChoices{})
	return &f, err
}

// offeredChoices are the choices and confirmations of an interrupt request.
type offeredChoices struct {
	Choices []struct {
		ID      string                     `json:"choiceId"`
		Options map[string]json.RawMessage `json:"options"`
	} `json:"choices"`
	Confirmations []struct {
		ID string `json:"confirmationId"`
	} `json:"confirmationItems"`
}

// schemaFor returns the schema of an answer to an interrupt request: the declared answer type,
// limited to the choices and confirmations that the request offers, or a text, or null for a
// skipped question. It returns nil, which allows any answer, if f is nil.
func (f *answerSchema) schemaFor(request json.RawMessage) (json.RawMessage, error) {
	if f == nil {
		return nil, nil
	}
	var asked offeredChoices
	switch {
	case json.Unmarshal(request, &asked) != nil: // its choices have an unknown structure
		return f.loose, nil //nolint:nilerr // the request was checked when it was raised
	case len(asked.Choices)+len(asked.Confirmations) == 0:
		return f.bare, nil
	}
	return f.narrowTo(&asked)
}

func (f *answerSchema) narrowTo(asked *offeredChoices) (json.RawMessage, error) {
	picks, confirms := map[string]any{}, map[string]any{}
	for _, c := range asked.Choices {
		picks[c.ID] = map[string]any{"enum": slices.Sorted(maps.Keys(c.Options))}
	}
	for _, c := range asked.Confirmations {
		confirms[c.ID] = map[string]any{"type": "boolean"}
	}
	schema, properties := maps.Clone(f.schema), maps.Clone(f.properties)
	for name, only := range map[string]map[string]any{"selectedChoices": picks,
		"confirmations": confirms} {
		if properties[name] == nil || !f.offers[name] {
			continue
		}
		var err error
		properties[name], err = runtime.Encode(map[string]any{"type": "object", "properties": only,
			"additionalProperties": false})
		if err != nil {
			return nil, err
		}
	}
	var err error
	if schema["properties"], err = runtime.Encode(properties); err != nil {
		return nil, err
	}
	return runtime.Encode(schema)
}
