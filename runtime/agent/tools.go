package agent

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/guard"
	"github.com/routegen/routegen/runtime/llm"
)

// The tools that [Talk] carries out itself. A node is offered them when its spec names them.
const (
	clarifyTool  = "request_clarification"
	transferTool = "transfer_to_" // and the key of a node
)

// ToolKey returns the idempotency key of the tool call of ctx, "" for any other context. A call
// that is repeated, after a crash before its commit for example, has the same key.
func ToolKey(ctx context.Context) string {
	key, _ := ctx.Value(toolKey{}).(string)
	return key
}

type toolKey struct{}

// offeredTools returns the tools of the talk: those that the node's spec names, and Talk.Tools. A
// server that does not answer is replaced by one tool that says so.
func (l *talkRun) offeredTools(ctx context.Context) ([]llm.Tool, error) {
	var out []llm.Tool
	for _, t := range l.setup.Node.Tools {
		switch {
		case t.MCP != "":
			server := l.setup.Servers[t.MCP]
			if server == nil {
				return nil, runtime.Errorf(runtime.CodeInvalid, "talk at "+l.setup.Node.Key,
					"there is no server %q: set Config.Servers", t.MCP)
			}
			tools, err := guard.RunLimited(ctx, "call tool", l.Timeout, server.Tools)
			switch {
			case ctx.Err() != nil: // the step ends
				return nil, ctx.Err()
			case err != nil:
				tools = []llm.Tool{unavailableTool(t.MCP)}
			}
			for _, tool := range tools {
				tool.Once = tool.Once || t.Once
				out = append(out, tool)
			}
		case len(t.TransferTo) > 0:
			for _, to := range t.TransferTo {
				name := to
				if l.setup.DisplayName != nil {
					name = l.setup.DisplayName(to)
				}
				out = append(out, llm.Tool{
					Name:        transferTool + to,
					Description: "Hand the conversation over to " + name + ".",
					Schema:      transferSchema,
				})
			}
		case t.Name == clarifyTool:
			out = append(out, llm.Tool{
				Name: clarifyTool,
				Description: "Ask the user for what you cannot know. The conversation waits for " +
					"the answer.", Schema: clarifySchema,
			})
		default:
			tool, ok := l.setup.Tools[t.Name]
			if !ok {
				return nil, runtime.Errorf(runtime.CodeInvalid, "talk at "+l.setup.Node.Key,
					"there is no tool %q: set Config.Tools",
					t.Name)
			}
			tool.Once = tool.Once || t.Once
			out = append(out, tool)
		}
	}
	return append(out, l.Tools...), nil
}

var (
	transferSchema = json.RawMessage(
		`{"type":"object","properties":{"reason":{"type":"string"}},"required":["reason"],"additionalProperties":false}`)
	clarifySchema = json.RawMessage(
		`{"type":"object","properties":{"questions":{"type":"array","items":{"type":"object","properties":` +
			`{"question":{"type":"string"},"field":{"type":"string"},"importance":{"type":"string"},"options":{"type":"array","items":{"type":"string"}}},` +
			`"required":["question"],"additionalProperties":false}}},"required":["questions"],"additionalProperties":false}`)
)

func unavailableTool(server string) llm.Tool {
	return llm.Tool{
		Name: "unavailable_" + server, Description: "The tools of " + server +
			" are not available now. Tell the user so.",
		Call: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return nil, errors.New("the tools of " + server + " are not available")
		},
	}
}
