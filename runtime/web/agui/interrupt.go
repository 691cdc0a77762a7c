package agui

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// interrupt is an interrupt as AG-UI has it. The metadata has all of it, as the other calls
// give it.
type interrupt struct {
	ID             string          `json:"id"`
	Reason         string          `json:"reason"`
	Message        string          `json:"message,omitempty"`
	ToolCallID     string          `json:"toolCallId,omitempty"`
	ResponseSchema json.RawMessage `json:"responseSchema,omitempty"`
	ExpiresAt      string          `json:"expiresAt,omitempty"`
	Metadata       struct {
		Routegen web.Interrupt `json:"routegen"`
	} `json:"metadata"`
}

// interruptOf returns an interrupt as the caller may read it. A tool call that asks is named to
// those who are shown it.
func (f *fold) interruptOf(i *thread.Interrupt) interrupt {
	reads := web.InterruptOf(i)
	if f.withhold != nil {
		reads = f.withhold(&reads)
	}
	out := interrupt{ID: i.ID, Message: reads.Text,
		Reason: "input_required", ResponseSchema: responseSchema(i)}
	switch {
	case i.Kind != thread.KindAgentQuestion:
		out.Reason = "routegen:" + i.Kind
	case editable(i) != nil:
		out.Reason = "tool_call"
	case i.Plain == thread.PlainYesNo:
		out.Reason = "confirmation"
	}
	if !i.Due.IsZero() {
		out.ExpiresAt = i.Due.UTC().Format(time.RFC3339Nano)
	}
	if f.withhold == nil {
		out.ToolCallID = toolCall(i)
	}
	out.Metadata.Routegen = reads
	return out
}

// toolCall is the id of the tool call that asks; "" when none does.
func toolCall(i *thread.Interrupt) string {
	var about struct {
		ID string `json:"toolCallId"`
	}
	_ = json.Unmarshal(i.Payload, &about) // what is no object has none
	return about.ID
}

// editable is the schema of the arguments in an approval of a tool call; nil for any other
// interrupt.
func editable(i *thread.Interrupt) json.RawMessage {
	var schema struct {
		Properties struct {
			Decision json.RawMessage `json:"decision"`
			Args     json.RawMessage `json:"args"`
		} `json:"properties"`
	}
	if i.Type != "approval" || toolCall(i) == "" || json.Unmarshal(i.Schema, &schema) != nil ||
		schema.Properties.Decision == nil {
		return nil
	}
	return schema.Properties.Args
}

// responseSchema is what a payload is held to. Where the interrupt itself has no schema it follows
// from how it is asked.
func responseSchema(i *thread.Interrupt) json.RawMessage {
	type schema = map[string]any
	var out schema
	args := editable(i)
	switch {
	case args != nil:
		out = schema{
			"type": "object", "required": []string{"approved"}, "additionalProperties": false,
			"properties": schema{"approved": schema{"type": "boolean"}, "editedArgs": args,
				"reason": schema{"type": "string"}},
		}
	case i.Schema != nil:
		return i.Schema
	case i.Kind == thread.KindUserEscape || i.Kind == thread.KindSystemError:
		choices := make([]string, len(i.Choices))
		for n := range i.Choices {
			choices[n] = i.Choices[n].Label
		}
		out = schema{
			"type": "object", "required": []string{"choice"}, "additionalProperties": false,
			"properties": schema{
				"choice": schema{"enum": choices}, "text": schema{"type": "string"},
				"input": schema{}, "value": schema{}, "target": schema{"type": "string"},
			},
		}
	case i.Plain == thread.PlainYesNo:
		out = schema{"type": "boolean"}
	case i.Plain == thread.PlainChoice:
		values := make([]json.RawMessage, len(i.Choices))
		for n := range i.Choices {
			values[n] = i.Choices[n].Value
		}
		out = schema{"enum": values}
	case i.Plain == thread.PlainText: // a text, an answer for each field, or none
		out = schema{"type": []string{"string", "object", "null"}}
	default:
		return nil
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil // a choice without a value: there is nothing to hold a payload to
	}
	return data
}

// toAnswer is what a resumption says to its interrupt.
func (r *resumption) toAnswer(i *thread.Interrupt) (thread.Answer, error) {
	a := thread.Answer{Interrupt: i.ID, Digest: r.digest, RouteTo: r.routeTo, Value: r.payload}
	switch {
	case r.routeTo != "":
		if json.Unmarshal(r.payload, &a.Text) == nil { // the note
			a.Value = nil
		}
		return a, nil
	case r.payload == nil:
		return a, web.BadRequest(
			"interrupt %s is resolved without a payload: give one, or cancel it",
			i.ID)
	case editable(i) != nil:
		a.Value = decision(r.payload)
		return a, nil
	case i.Schema != nil:
		return a, nil
	}
	misfit := false
	switch text := string(r.payload); i.Plain {
	case thread.PlainYesNo:
		misfit = text != "true" && text != "false"
	case thread.PlainChoice:
		misfit = !slices.ContainsFunc(i.Choices, func(c thread.Choice) bool {
			return thread.SameJSON(c.Value, r.payload)
		})
	case thread.PlainText:
		misfit = text == "true" || text == "false" || text[0] == '[' || text[0] == '-' ||
			text[0] >= '0' && text[0] <= '9'
	}
	if misfit {
		return a, web.BadRequest("the payload for interrupt %s does not fit its responseSchema",
			i.ID)
	}
	return a, nil
}

// decision turns the payload of an approval, as AG-UI writes it, into the answer of this project.
// What is neither is left to the schema.
func decision(payload json.RawMessage) json.RawMessage {
	var given struct {
		Approved *bool           `json:"approved"`
		Edited   json.RawMessage `json:"editedArgs"`
		Reason   string          `json:"reason,omitempty"`
	}
	o, err := openObject(payload, "")
	if err != nil || o.fields["approved"] == nil || json.Unmarshal(payload, &given) != nil ||
		given.Approved == nil {
		return payload
	}
	for name := range o.fields {
		if name != "approved" && name != "editedArgs" && name != "reason" {
			return payload
		}
	}
	out := map[string]any{"decision": "approve"}
	if string(given.Edited) == "null" {
		given.Edited = nil
	}
	switch {
	case !*given.Approved && given.Edited != nil: // which of both is meant?
		return payload
	case !*given.Approved:
		out["decision"] = "deny"
	case given.Edited != nil:
		out["decision"], out["args"] = "edit", given.Edited
	}
	if given.Reason != "" {
		out["reason"] = given.Reason
	}
	data, err := runtime.Encode(out)
	if err != nil {
		return payload
	}
	return data
}
