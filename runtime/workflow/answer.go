package workflow

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/routegen/routegen/runtime"
)

// answerSchema is what an answer to an interrupt request is held to: the type that the spec declares for answers, of the choices and
// confirmations that the request offers those alone; or else a text, or null where a person skips the question. A spec that declares no
// type takes anything.
func (s *step) answerSchema(request json.RawMessage) (json.RawMessage, error) {
	at := slices.IndexFunc(s.tables.Definitions, func(d runtime.Definition) bool { return d.Name == s.tables.Answer })
	if s.tables.Answer == "" || at < 0 {
		return nil, nil // no schema is one too
	}
	var schema, properties map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s.program.Schemas.Def(at+1, runtime.Plain)), &schema); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(schema["properties"], &properties); err != nil {
		return nil, err
	}
	var asked struct {
		Choices []struct {
			ID      string                     `json:"choiceId"`
			Options map[string]json.RawMessage `json:"options"`
		} `json:"choices"`
		Confirmations []struct {
			ID string `json:"confirmationId"`
		} `json:"confirmationItems"`
	}
	if json.Unmarshal(request, &asked) == nil { // one of other choices is held to the type alone
		picks, confirms := map[string]any{}, map[string]any{}
		for _, c := range asked.Choices {
			picks[c.ID] = map[string]any{"enum": slices.Sorted(maps.Keys(c.Options))}
		}
		for _, c := range asked.Confirmations {
			confirms[c.ID] = map[string]any{"type": "boolean"}
		}
		for name, only := range map[string]map[string]any{"selectedChoices": picks, "confirmations": confirms} {
			if properties[name] == nil {
				continue
			}
			narrowed, err := runtime.Encode(map[string]any{"type": "object", "properties": only, "additionalProperties": false})
			if err != nil {
				return nil, err
			}
			properties[name] = narrowed
		}
	}
	var err error
	if schema["properties"], err = runtime.Encode(properties); err != nil {
		return nil, err
	}
	schema["type"] = json.RawMessage(`["object","string","null"]`) // the other keywords speak of objects alone
	return runtime.Encode(schema)
}
