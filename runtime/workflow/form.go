package workflow

import (
	"context"
	"encoding/json"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// buildFirstRequest makes the request of a node that never had one, without a model. It copies the
// fields that earlier requests have under the same names, and the answer if the node names a field
// for it. It asks a person for the required fields that are left, with a form.
func (s *stepRun) buildFirstRequest(ctx context.Context, n *runtime.Node, request int) (
	storedRequest, error) {
	typeName := runtime.Row(s.tables.Requests, request).Name
	target := s.program.Request(typeName)
	fields, err := zeroFields(target)
	if err != nil {
		return storedRequest{}, err
	}
	shape := target.Shape()
	had, left := s.inheritedFields(shape), []string(nil)
	for i := range shape.Fields {
		f := &shape.Fields[i]
		value, ok := had[f.Name]
		switch {
		case f.Hidden || !f.Required || f.Name == n.Feedback && s.answer != nil:
			// zero, absent, or the answer
		case ok:
			fields[f.Name] = value
		default:
			left = append(left, f.Name)
		}
	}
	if len(left) > 0 {
		given, err := s.askForFields(ctx, n, typeName, left)
		if err != nil {
			return storedRequest{}, err
		}
		for _, name := range left {
			fields[name] = given[name]
		}
	}
	if text, err := s.feedbackText(n, shape); err != nil {
		return storedRequest{}, err
	} else if text != nil {
		fields[n.Feedback] = text
	}
	data, err := rebuildRecord(target, fields)
	return storedRequest{typeName, data}, err
}

// askForFields asks a person for fields of a request.
func (s *stepRun) askForFields(ctx context.Context, n *runtime.Node, typeName string,
	left []string) (map[string]json.RawMessage, error) {
	schema, err := s.fieldsSchema(typeName, left)
	if err != nil {
		return nil, err
	}
	payload, err := runtime.Encode(map[string]string{"node": n.Key, "agentType": n.AgentType})
	if err != nil {
		return nil, err
	}
	from := s.node(s.nodeByKey(s.state.Node))
	replies, err := thread.AskAll(ctx, thread.Question{
		Asker: s.state.Node, Name: s.state.Node + "/" + n.Key, Text: "What does " + n.DisplayName +
			" need to know?",
		Payload: payload, Schema: schema, Deadline: from.Deadline, Assignees: from.Assignees,
	})
	if err != nil {
		return nil, err
	}
	var given map[string]json.RawMessage
	return given, json.Unmarshal(replies[0].Value, &given) // it was checked against the schema
}

// fieldsSchema returns the schema of some fields of a type, in the order of the type.
func (s *stepRun) fieldsSchema(typeName string, left []string) (json.RawMessage, error) {
	var whole struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Defs       json.RawMessage            `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(s.program.Schemas.Def(typeName, runtime.Plain)),
		&whole); err != nil {
		return nil, runtime.Errorf(runtime.CodeInternal, "ask for "+typeName,
			"the program has no schema of it")
	}
	required, err := runtime.Encode(left)
	if err != nil {
		return nil, err
	}
	properties, err := encodeFields(left, whole.Properties)
	if err != nil {
		return nil, err
	}
	out := `{"type":"object","properties":` + string(properties) + `,"required":` +
		string(required) + `,"additionalProperties":false`
	if whole.Defs != nil {
		out += `,"$defs":` + string(whole.Defs)
	}
	return json.RawMessage(out + "}"), nil
}
