package workflow

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/routegen/routegen/runtime"
)

// answerForm is the schema of the type that a spec declares for answers.
type answerForm struct {
	schema, properties map[string]json.RawMessage
	offers             map[string]bool // answer fields for which interrupt requests have a field that offers
	loose, bare        json.RawMessage // not narrowed; narrowed to a request that offers nothing
}

// newAnswerForm returns the form of a program, nil where its spec declares no type or the type has no schema.
func newAnswerForm(p *runtime.Program) (*answerForm, error) {
	at := slices.IndexFunc(p.Tables.Definitions, func(d runtime.Definition) bool { return d.Name == p.Tables.Answer })
	if p.Tables.Answer == "" || at < 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	var f answerForm
	if err := json.Unmarshal([]byte(p.Schemas.Def(at+1, runtime.Plain)), &f.schema); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(f.schema["properties"], &f.properties); err != nil {
		return nil, err
	}
	f.schema["type"] = json.RawMessage(`["object","string","null"]`) // the other keywords speak of objects alone
	var err error
	if f.loose, err = f.narrowed(&offer{}); err != nil {
		return nil, err
	}
	f.offers = map[string]bool{}
	for _, row := range p.Tables.Interrupts[:min(1, len(p.Tables.Interrupts))] { // all have the common fields
		for _, field := range p.Interrupt(row.Name).Shape().Fields {
			f.offers["selectedChoices"] = f.offers["selectedChoices"] || field.Name == "choices"
			f.offers["confirmations"] = f.offers["confirmations"] || field.Name == "confirmationItems"
		}
	}
	f.bare, err = f.narrowed(&offer{})
	return &f, err
}

// offer is what an interrupt request gives to choose from.
type offer struct {
	Choices []struct {
		ID      string                     `json:"choiceId"`
		Options map[string]json.RawMessage `json:"options"`
	} `json:"choices"`
	Confirmations []struct {
		ID string `json:"confirmationId"`
	} `json:"confirmationItems"`
}

// of is what an answer to an interrupt request is held to: the type that the spec declares for answers, of the choices and confirmations
// that the request offers those alone, where such requests have the fields for it; or else a text, or null where a person skips the
// question. A form that is nil takes anything.
func (f *answerForm) of(request json.RawMessage) (json.RawMessage, error) {
	if f == nil {
		return nil, nil
	}
	var asked offer
	switch {
	case json.Unmarshal(request, &asked) != nil: // its choices have another form
		return f.loose, nil //nolint:nilerr // the request was checked when it was raised
	case len(asked.Choices)+len(asked.Confirmations) == 0:
		return f.bare, nil
	}
	return f.narrowed(&asked)
}

func (f *answerForm) narrowed(asked *offer) (json.RawMessage, error) {
	picks, confirms := map[string]any{}, map[string]any{}
	for _, c := range asked.Choices {
		picks[c.ID] = map[string]any{"enum": slices.Sorted(maps.Keys(c.Options))}
	}
	for _, c := range asked.Confirmations {
		confirms[c.ID] = map[string]any{"type": "boolean"}
	}
	schema, properties := maps.Clone(f.schema), maps.Clone(f.properties)
	for name, only := range map[string]map[string]any{"selectedChoices": picks, "confirmations": confirms} {
		if properties[name] == nil || !f.offers[name] {
			continue
		}
		var err error
		properties[name], err = runtime.Encode(map[string]any{"type": "object", "properties": only, "additionalProperties": false})
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
