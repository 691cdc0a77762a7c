package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/thread"
)

// The tools that [Talk] carries out itself. A node is offered them when its spec names them.
const (
	clarifyTool  = "request_clarification"
	transferTool = "transfer_to_" // and the key of a node
)

// Talk is what [Talk] is told beside the node.
type Talk struct {
	Model    llm.Model     // default: Config.Model
	System   string        // who the agent is and what it does
	Messages []llm.Message // what was said before
	Text     string        // the user's last words
	Tools    []llm.Tool    // beside those that the node's spec names
	Rounds   int           // how often the model may call tools; default 16
	Timeout  time.Duration // of one tool; default 30 seconds
}

// Said is how a talk ended: with a reply for the user, or with another node to go on at.
type Said struct {
	Reply    string
	Transfer string          // key of the node; "" when there is a reply
	Note     string          // what the model said about the transfer
	Messages []llm.Message   // the talk, for the next one
	Args     json.RawMessage // of the transfer
}

// Run lets a model lead the talk of the node whose handler calls it, with the tools that the node's spec names: tools by name from
// Config.Tools, servers from Config.Servers, transfer_to_NODE for the nodes it may hand over to, and request_clarification, which asks the
// user and goes on with the answer. A tool named under approval waits for a person before it runs: approved, edited and denied are three
// different outcomes, and the model is told which.
//
// Every call of the model and of a tool is an effect: when the step runs again nothing is done twice. A tool that fails, or takes longer than
// Timeout, is a failed result for the model, and the talk goes on.
func (t Talk) Run(ctx context.Context) (*Said, error) {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok {
		return nil, invalid("talk", "this context is not that of a node: pass on the one the handler got")
	}
	if t.Model == nil {
		t.Model = p.step.cfg.Model
	}
	if t.Model == nil {
		return nil, invalid("talk", "there is no model: set Talk.Model or Config.Model")
	}
	if t.Rounds == 0 {
		t.Rounds = 16
	}
	if t.Timeout == 0 {
		t.Timeout = 30 * time.Second
	}
	n := p.step.node(p.node)
	tools, err := p.step.tools(ctx, n)
	if err != nil {
		return nil, err
	}
	l := &talk{Talk: t, step: p.step, node: n, tools: append(tools, t.Tools...), messages: slices.Clone(t.Messages)}
	l.messages = append(l.messages, llm.Message{Role: llm.RoleUser, Text: t.Text})
	return l.run(ctx)
}

type talk struct {
	Talk
	step     *step
	node     *runtime.Node
	tools    []llm.Tool
	messages []llm.Message
}

func (l *talk) run(ctx context.Context) (*Said, error) {
	for round := 1; round <= l.Rounds; round++ {
		out, err := thread.Do(ctx, fmt.Sprintf("model/%d", round), func(ctx context.Context, key string) (llm.Response, error) {
			return l.Model.Generate(ctx, llm.Request{System: l.System, Messages: l.messages, Tools: l.tools, Key: key})
		})
		if err != nil {
			return nil, err
		}
		l.messages = append(l.messages, out.Turn())
		if len(out.Calls) == 0 {
			return &Said{Reply: out.Text, Messages: l.messages}, nil
		}
		results := make([]llm.ToolResult, 0, len(out.Calls))
		for i, call := range out.Calls {
			if to, ok := strings.CutPrefix(call.Name, transferTool); ok && l.mayTransfer(to) {
				return &Said{Transfer: to, Note: out.Text, Args: call.Args, Messages: l.messages[:len(l.messages)-1]}, nil
			}
			result, err := l.call(ctx, fmt.Sprintf("%d.%d", round, i+1), call)
			if err != nil {
				return nil, err
			}
			results = append(results, result)
		}
		l.messages = append(l.messages, llm.Message{Role: llm.RoleUser, Results: results})
	}
	return nil, runtime.Permanent(&runtime.Error{
		Code: runtime.CodeLoop, Op: "talk at " + l.node.Key, Err: fmt.Errorf("the model called tools %d times without an end", l.Rounds),
	})
}

func (l *talk) mayTransfer(to string) bool {
	return slices.ContainsFunc(l.node.Tools, func(t runtime.Tool) bool { return slices.Contains(t.TransferTo, to) })
}

// call carries out one tool call.
func (l *talk) call(ctx context.Context, at string, call llm.ToolCall) (llm.ToolResult, error) {
	result := llm.ToolResult{ID: call.ID}
	if call.Name == clarifyTool {
		text, err := l.clarify(ctx, at, call.Args)
		result.Value = text
		return result, err
	}
	if slices.Contains(l.node.Approval, call.Name) {
		args, denied, err := l.approve(ctx, at, call)
		if err != nil || denied != nil {
			result.Value, result.Failed = denied, true
			return result, err
		}
		call.Args = args
	}
	index := slices.IndexFunc(l.tools, func(t llm.Tool) bool { return t.Name == call.Name })
	if index < 0 || l.tools[index].Call == nil {
		return failedResult(call.ID, fmt.Sprintf("there is no tool %q", call.Name)), nil
	}
	return thread.Do(ctx, "tool/"+at+"/"+call.Name, func(ctx context.Context, _ string) (llm.ToolResult, error) {
		inner, cancel := context.WithTimeout(ctx, l.Timeout)
		defer cancel()
		value, err := l.tools[index].Call(inner, call.Args)
		switch {
		case ctx.Err() != nil: // the step ends, not the tool
			return result, ctx.Err()
		case errors.Is(inner.Err(), context.DeadlineExceeded):
			return failedResult(call.ID, fmt.Sprintf("%s did not answer within %s", call.Name, l.Timeout)), nil
		case err != nil:
			return failedResult(call.ID, err.Error()), nil
		}
		result.Value = value
		return result, nil
	})
}

func failedResult(id, text string) llm.ToolResult {
	value, _ := runtime.Encode(text) // cannot fail: a string
	return llm.ToolResult{ID: id, Value: value, Failed: true}
}

// clarify asks the user, as a numbered list, and returns what the user said.
func (l *talk) clarify(ctx context.Context, at string, args json.RawMessage) (json.RawMessage, error) {
	var asked struct {
		Questions []string `json:"questions"`
	}
	if err := json.Unmarshal(args, &asked); err != nil || len(asked.Questions) == 0 {
		return runtime.Encode(`say what to ask: {"questions": ["...", "..."]}`)
	}
	var b strings.Builder
	for i, q := range asked.Questions {
		fmt.Fprintf(&b, "%d. %s\n", i+1, q)
	}
	payload, err := runtime.Encode(map[string]any{"node": l.node.Key, "agentType": l.node.AgentType, "questions": asked.Questions})
	if err != nil {
		return nil, err
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if err := thread.Say(ctx, "question/"+at, map[string]string{"node": l.node.Key, "text": text}); err != nil {
		return nil, err
	}
	replies, err := thread.AskAll(ctx, runtime.Question{
		Name: "clarify/" + at, Text: text, Type: clarifyTool, Payload: payload, Plain: runtime.PlainText,
	})
	if err != nil {
		return nil, err
	}
	return replies[0].Value, nil
}

// The outcomes of an approval.
const (
	approved = "approve"
	edited   = "edit"
	deniedBy = "deny"
)

var approvalSchema = json.RawMessage(`{"type":"object","properties":{"decision":{"enum":["approve","edit","deny"]},"args":{"type":"object"},` +
	`"reason":{"type":"string"}},"required":["decision"],"additionalProperties":false,"if":{"properties":{"decision":{"const":"edit"}}},` +
	`"then":{"required":["args"]}}`)

// approve waits for a person before a tool runs. It returns the arguments to run with, or what the model is told when it may not.
func (l *talk) approve(ctx context.Context, at string, call llm.ToolCall) (args, denied json.RawMessage, err error) {
	payload, err := runtime.Encode(struct {
		Node string          `json:"node"`
		Tool string          `json:"tool"`
		Args json.RawMessage `json:"args"`
	}{l.node.Key, call.Name, call.Args})
	if err != nil {
		return nil, nil, err
	}
	reply, err := thread.Ask[struct {
		Decision string          `json:"decision"`
		Args     json.RawMessage `json:"args"`
		Reason   string          `json:"reason"`
	}](ctx, "approve/"+at, runtime.Question{
		Text: "May " + call.Name + " be run?", Type: "approval", Payload: payload, Schema: approvalSchema,
	})
	if err != nil {
		return nil, nil, err
	}
	switch reply.Decision {
	case approved:
		return call.Args, nil, nil
	case edited:
		return reply.Args, nil, nil
	default: // deniedBy: the schema knows no other
		denied, err = runtime.Encode(strings.TrimSuffix(deniedBy+": a person did not allow it. "+reply.Reason, " "))
		return nil, denied, err
	}
}

// tools are what the node's spec names. A server that does not answer offers one tool that says so: its agent can tell the user.
func (s *step) tools(ctx context.Context, n *runtime.Node) ([]llm.Tool, error) {
	var out []llm.Tool
	for _, t := range n.Tools {
		switch {
		case t.MCP != "":
			server := s.cfg.Servers[t.MCP]
			if server == nil {
				return nil, invalid("talk at "+n.Key, "there is no server %q: set Config.Servers", t.MCP)
			}
			tools, err := server.Tools(ctx)
			if err != nil {
				tools = []llm.Tool{unavailable(t.MCP)}
			}
			out = append(out, tools...)
		case len(t.TransferTo) > 0:
			for _, to := range t.TransferTo {
				out = append(out, llm.Tool{
					Name: transferTool + to, Description: "Hand the conversation over to " + s.node(s.byKey(to)).DisplayName + ".",
					Schema: json.RawMessage(`{"type":"object","properties":{"reason":{"type":"string"}},"required":["reason"],"additionalProperties":false}`),
				})
			}
		case t.Name == clarifyTool:
			out = append(out, llm.Tool{
				Name: clarifyTool, Description: "Ask the user for what you cannot know. The conversation waits for the answer.",
				Schema: json.RawMessage(`{"type":"object","properties":{"questions":{"type":"array","items":{"type":"string"}}},` +
					`"required":["questions"],"additionalProperties":false}`),
			})
		default:
			tool, ok := s.cfg.Tools[t.Name]
			if !ok {
				return nil, invalid("talk at "+n.Key, "there is no tool %q: set Config.Tools", t.Name)
			}
			out = append(out, tool)
		}
	}
	return out, nil
}

func unavailable(server string) llm.Tool {
	return llm.Tool{
		Name: "unavailable_" + server, Description: "The tools of " + server + " are not available now. Tell the user so.",
		Call: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return runtime.Encode("not available")
		},
	}
}
