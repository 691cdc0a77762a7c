package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/thread"
)

// approvalType is the type of the question whether a tool may run; that of a clarification is the name of its tool.
const approvalType = "approval"

// aboutTool is the payload of a question that a tool call asks.
type aboutTool struct {
	Node      string          `json:"node"`
	AgentType string          `json:"agentType"`
	Tool      string          `json:"tool"`
	CallID    string          `json:"toolCallId"`
	Questions []clarification `json:"questions,omitempty"`
	Args      json.RawMessage `json:"args,omitempty"`
	Reasoning string          `json:"reasoning,omitempty"`
}

// clarification is one question of request_clarification. A bare text is one too: models write both.
type clarification struct {
	Question   string   `json:"question"`
	Field      string   `json:"field,omitempty"`
	Importance string   `json:"importance,omitempty"`
	Options    []string `json:"options,omitempty"`
}

// UnmarshalJSON reads either form.
func (c *clarification) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &c.Question) == nil {
		return nil
	}
	type plain clarification
	return json.Unmarshal(data, (*plain)(c))
}

func (l *talk) about(c *call, p aboutTool) (json.RawMessage, error) {
	p.Node, p.AgentType, p.Tool, p.CallID = l.node.Key, l.node.AgentType, c.Name, c.ID
	return runtime.Encode(p)
}

// clarify asks the user, as a numbered list that goes out as a message too, and returns what the user said.
func (l *talk) clarify(ctx context.Context, c *call) (llm.ToolResult, error) {
	var asked struct {
		Questions []clarification `json:"questions"`
	}
	empty := func(q clarification) bool { return q.Question == "" }
	if json.Unmarshal(c.Args, &asked) != nil || len(asked.Questions) == 0 || slices.ContainsFunc(asked.Questions, empty) {
		//nolint:nilerr // the model wrote it, and is told
		return c.failed(`say what to ask: {"questions": [{"question": "..."}]}`), nil
	}
	lines := make([]string, len(asked.Questions))
	for i, q := range asked.Questions {
		lines[i] = fmt.Sprintf("%d. %s", i+1, q.Question)
		if len(q.Options) > 0 {
			lines[i] += " (" + strings.Join(q.Options, ", ") + ")"
		}
	}
	text := strings.Join(lines, "\n")
	payload, err := l.about(c, aboutTool{Questions: asked.Questions})
	if err != nil {
		return llm.ToolResult{}, err
	}
	if err := thread.Say(ctx, c.name, spoken{Node: l.node.Key, Text: text}); err != nil {
		return llm.ToolResult{}, err
	}
	q := runtime.Question{Asker: l.node.Key, Name: c.name, Text: text, Type: clarifyTool, Payload: payload, Plain: runtime.PlainText}
	if l.user != "" {
		q.Assignees = []string{l.user}
	}
	replies, err := thread.AskAll(ctx, q)
	if err != nil {
		return llm.ToolResult{}, err
	}
	value := replies[0].Value
	if string(value) == "null" {
		value = json.RawMessage(`"The user skips the questions."`)
	}
	return llm.ToolResult{ID: c.ID, Value: value}, nil
}

// approve asks about all calls that a person must allow, together, and notes in each what was decided: edited arguments take the place of
// the model's.
func (l *talk) approve(ctx context.Context, calls []call) error {
	var questions []runtime.Question
	var about []*call
	for i := range calls {
		c := &calls[i]
		at := slices.IndexFunc(l.tools, func(t llm.Tool) bool { return t.Name == c.Name })
		if at < 0 || l.tools[at].Call == nil || !slices.Contains(l.node.Approval, c.Name) {
			continue
		}
		payload, err := l.about(c, aboutTool{Args: c.Args, Reasoning: c.reasoning})
		if err != nil {
			return err
		}
		about = append(about, c)
		questions = append(questions, runtime.Question{
			Asker: l.node.Key, Name: c.name, Text: "May " + c.Name + " be run?", Type: approvalType, Payload: payload,
			Schema: approvalSchema(l.tools[at].Schema), Assignees: l.Approvers, Choices: []runtime.Choice{
				{Label: "approve", Value: json.RawMessage(`{"decision":"approve"}`)}, {Label: "deny", Value: json.RawMessage(`{"decision":"deny"}`)},
			},
		})
	}
	if len(questions) == 0 {
		return nil
	}
	replies, err := thread.AskAll(ctx, questions...)
	if err != nil {
		return err
	}
	for i, c := range about {
		if err := c.decided(replies[i].Value); err != nil {
			return err
		}
	}
	return nil
}

// decided notes what a person decided about the call.
func (c *call) decided(answer json.RawMessage) error {
	var reply struct {
		Decision string          `json:"decision"`
		Args     json.RawMessage `json:"args"`
		Reason   string          `json:"reason"`
	}
	if err := json.Unmarshal(answer, &reply); err != nil {
		return err
	}
	c.approved = reply.Decision != "deny" // the schema knows no other but approve and edit
	if reply.Decision == "edit" {
		c.Args = reply.Args
	}
	if !c.approved {
		c.denied = "denied: a person did not allow it"
		if reply.Reason != "" {
			c.denied += ": " + reply.Reason
		}
	}
	return nil
}

// approvalSchema is the schema of the answer. Edited arguments must be ones that the tool takes; a schema with references would not be the
// same inside another one, so there they must be an object.
func approvalSchema(tool json.RawMessage) json.RawMessage {
	args := json.RawMessage(`{"type":"object"}`)
	if len(tool) > 0 && !bytes.Contains(tool, []byte(`"$`)) {
		args = tool
	}
	return json.RawMessage(`{"type":"object","properties":{"decision":{"enum":["approve","edit","deny"]},"args":` + string(args) +
		`,"reason":{"type":"string"}},"required":["decision"],"additionalProperties":false,"if":{"properties":{"decision":{"const":"edit"}}},` +
		`"then":{"required":["args"]},"else":{"not":{"required":["args"]}}}`)
}
