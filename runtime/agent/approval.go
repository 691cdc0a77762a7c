package agent

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

// approvalType is the type of the question whether a tool may run; that of a clarification is the
// name of its tool.
const approvalType = "approval"

// aboutTool is the payload of a question about a tool call.
type aboutTool struct {
	Node      string          `json:"node"`
	AgentType string          `json:"agentType"`
	Tool      string          `json:"tool"`
	CallID    string          `json:"toolCallId"`
	Questions []clarification `json:"questions,omitempty"`
	Args      json.RawMessage `json:"args,omitempty"`
	Reasoning string          `json:"reasoning,omitempty"`
}

// clarification is one question of request_clarification. A plain string is accepted too: models
// write both.
type clarification struct {
	Question   string   `json:"question"`
	Field      string   `json:"field,omitempty"`
	Importance string   `json:"importance,omitempty"`
	Options    []string `json:"options,omitempty"`
}

// UnmarshalJSON decodes either form.
func (c *clarification) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &c.Question) == nil {
		return nil
	}
	type plain clarification
	return json.Unmarshal(data, (*plain)(c))
}

func (l *talkRun) questionPayload(c *toolCall, p aboutTool) (json.RawMessage, error) {
	p.Node, p.AgentType, p.Tool, p.CallID = l.setup.Node.Key, l.setup.Node.AgentType, c.Name, c.ID
	return runtime.Encode(p)
}

// askClarification asks the user with a numbered list, which is a message too, and returns the
// answer.
func (l *talkRun) askClarification(ctx context.Context, c *toolCall) (llm.ToolResult, error) {
	var asked struct {
		Questions []clarification `json:"questions"`
	}
	empty := func(q clarification) bool { return q.Question == "" }
	if json.Unmarshal(c.Args, &asked) != nil || len(asked.Questions) == 0 ||
		slices.ContainsFunc(asked.Questions, empty) {
		//nolint:nilerr // the model gets the error
		return c.failWith(`say what to ask: {"questions": [{"question": "..."}]}`), nil
	}
	lines := make([]string, len(asked.Questions))
	for i, q := range asked.Questions {
		lines[i] = fmt.Sprintf("%d. %s", i+1, q.Question)
		if len(q.Options) > 0 {
			lines[i] += " (" + strings.Join(q.Options, ", ") + ")"
		}
	}
	text := strings.Join(lines, "\n")
	payload, err := l.questionPayload(c, aboutTool{Questions: asked.Questions})
	if err != nil {
		return llm.ToolResult{}, err
	}
	if err := l.setup.Say(ctx, c.name, text); err != nil {
		return llm.ToolResult{}, err
	}
	q := thread.Question{Asker: l.setup.Node.Key, Name: c.name, Text: text, Type: clarifyTool,
		Payload: payload, Plain: thread.PlainText, Deadline: l.setup.Node.Deadline,
		Assignees: l.setup.Node.Assignees}
	if l.info.User != "" {
		q.Assignees = []string{l.info.User}
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

// askApprovals asks for all needed approvals together and applies each decision to its call; edited
// arguments replace the model's.
func (l *talkRun) askApprovals(ctx context.Context, calls []toolCall) error {
	var questions []thread.Question
	var about []*toolCall
	for i := range calls {
		c := &calls[i]
		at := slices.IndexFunc(l.tools, func(t llm.Tool) bool { return t.Name == c.Name })
		if at < 0 || l.tools[at].Call == nil || !slices.Contains(l.setup.Node.Approval, c.Name) {
			continue
		}
		payload, err := l.questionPayload(c, aboutTool{Args: c.Args, Reasoning: c.reasoning})
		if err != nil {
			return err
		}
		about = append(about, c)
		questions = append(questions, thread.Question{
			Asker: l.setup.Node.Key, Name: c.name, Text: "May " + c.Name + " be run?",
			Type: approvalType, Payload: payload,
			Schema: approvalSchema(l.tools[at].Schema), Assignees: l.Approvers,
			Deadline: l.setup.Node.Deadline,
			Choices: []thread.Choice{
				{Label: "approve", Value: json.RawMessage(`{"decision":"approve"}`)},
				{Label: "deny", Value: json.RawMessage(`{"decision":"deny"}`)},
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
		if err := c.applyDecision(replies[i].Value); err != nil {
			return err
		}
	}
	return nil
}

// applyDecision applies a person's decision to the call.
func (c *toolCall) applyDecision(answer json.RawMessage) error {
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

// approvalSchema returns the schema of the answer. Edited arguments must match the tool's schema;
// if that has references, which do not work inside another schema, they must be an object.
func approvalSchema(tool json.RawMessage) json.RawMessage {
	args := json.RawMessage(`{"type":"object"}`)
	if len(tool) > 0 && !bytes.Contains(tool, []byte(`"$`)) {
		args = tool
	}
	return json.RawMessage(
		`{"type":"object","properties":{"decision":{"enum":["approve","edit","deny"]},"args":` +
			string(args) +
			`,"reason":{"type":"string"}},"required":["decision"],"additionalProperties":false,"if":{"properties":{"decision":{"const":"edit"}}},` +
			`"then":{"required":["args"]},"else":{"not":{"required":["args"]}}}`)
}
