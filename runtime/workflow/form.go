package workflow

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// filled makes the request of a node that never had one, where there is no model to write it. It
// takes over what the requests before had under the same names, and the answer where the node names a
// field for that. For the required fields that are left it asks a person, with a form.
func (s *step) filled(ctx context.Context, n *runtime.Node, request int) (stored, error) {
	typeName := row(s.tables.Requests, request).Name
	target := s.program.Request(typeName)
	fields, err := zero(target)
	if err != nil {
		return stored{}, err
	}
	shape := target.Shape()
	had, left := s.inherited(shape), []string(nil)
	for i := range shape.Fields {
		f := &shape.Fields[i]
		value, ok := had[f.Name]
		switch {
		case f.Hidden || !f.Required || f.Name == n.Feedback && s.said != nil: // zero, absent, or the answer
		case ok:
			fields[f.Name] = value
		default:
			left = append(left, f.Name)
		}
	}
	if len(left) > 0 {
		given, err := s.fill(ctx, n, typeName, left)
		if err != nil {
			return stored{}, err
		}
		for _, name := range left {
			fields[name] = given[name]
		}
	}
	data, err := runtime.Encode(fields)
	if err != nil {
		return stored{}, err
	}
	data, err = s.withFeedback(n, stored{typeName, data}) // it checks the whole
	if err == nil {
		data, err = keepHidden(s.program.Request(typeName), data, nil, nil)
	}
	return stored{typeName, data}, err
}

// fill asks a person for fields of a request.
func (s *step) fill(ctx context.Context, n *runtime.Node, typeName string, left []string) (map[string]json.RawMessage, error) {
	schema, err := s.form(typeName, left)
	if err != nil {
		return nil, err
	}
	payload, err := runtime.Encode(map[string]string{"node": n.Key, "agentType": n.AgentType})
	if err != nil {
		return nil, err
	}
	replies, err := thread.AskAll(ctx, runtime.Question{
		Asker: s.j.Node, Name: s.j.Node + "/" + n.Key, Text: "What does " + n.DisplayName + " need to know?",
		Payload: payload, Schema: schema,
	})
	if err != nil {
		return nil, err
	}
	var given map[string]json.RawMessage
	return given, json.Unmarshal(replies[0].Value, &given) // its schema has held it
}

// form is the schema of some fields of a type, in the order of the type.
func (s *step) form(typeName string, left []string) (json.RawMessage, error) {
	at := slices.IndexFunc(s.tables.Definitions, func(d runtime.Definition) bool { return d.Name == typeName })
	var whole struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Defs       json.RawMessage            `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(s.program.Schemas.Def(at+1, runtime.Plain)), &whole); err != nil {
		return nil, refuse(runtime.CodeInternal, "ask for "+typeName, "the program has no schema of it")
	}
	required, err := runtime.Encode(left)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for i, name := range left {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := runtime.Encode(name)
		if err != nil {
			return nil, err
		}
		b.WriteString(string(key) + ":" + string(whole.Properties[name]))
	}
	out := `{"type":"object","properties":{` + b.String() + `},"required":` + string(required) + `,"additionalProperties":false`
	if whole.Defs != nil {
		out += `,"$defs":` + string(whole.Defs)
	}
	return json.RawMessage(out + "}"), nil
}
