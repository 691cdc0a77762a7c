package workflow

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/routegen/routegen/runtime/internal/foreign"
	"github.com/routegen/routegen/runtime/llm"
)

// The tools that [Talk] carries out itself. A node is offered them when its spec names them.
const (
	clarifyTool  = "request_clarification"
	transferTool = "transfer_to_" // and the key of a node
)

// ToolKey returns the idempotency key of the tool call whose context it is given, "" for any other context. The same call has the same key
// however often it is made again: after a crash between what it did and the commit that says so, for one.
func ToolKey(ctx context.Context) string {
	key, _ := ctx.Value(toolKey{}).(string)
	return key
}

type toolKey struct{}

// offers are the tools of the talk: what the node's spec names, and Talk.Tools. A server that does not answer offers one tool that says so:
// its agent can tell the user.
func (l *talk) offers(ctx context.Context, s *step) ([]llm.Tool, error) {
	var out []llm.Tool
	for _, t := range l.node.Tools {
		switch {
		case t.MCP != "":
			server := s.cfg.Servers[t.MCP]
			if server == nil {
				return nil, invalid("talk at "+l.node.Key, "there is no server %q: set Config.Servers", t.MCP)
			}
			tools, err := foreign.Call(ctx, "call tool", l.Timeout, server.Tools)
			switch {
			case ctx.Err() != nil: // the step ends
				return nil, ctx.Err()
			case err != nil:
				tools = []llm.Tool{unavailable(t.MCP)}
			}
			for _, tool := range tools {
				tool.Once = tool.Once || t.Once
				out = append(out, tool)
			}
		case len(t.TransferTo) > 0:
			for _, to := range t.TransferTo {
				out = append(out, llm.Tool{
					Name: transferTool + to, Description: "Hand the conversation over to " + s.node(s.byKey(to)).DisplayName + ".", Schema: transferSchema,
				})
			}
		case t.Name == clarifyTool:
			out = append(out, llm.Tool{
				Name: clarifyTool, Description: "Ask the user for what you cannot know. The conversation waits for the answer.", Schema: clarifySchema,
			})
		default:
			tool, ok := s.cfg.Tools[t.Name]
			if !ok {
				return nil, invalid("talk at "+l.node.Key, "there is no tool %q: set Config.Tools", t.Name)
			}
			tool.Once = tool.Once || t.Once
			out = append(out, tool)
		}
	}
	return append(out, l.Tools...), nil
}

var (
	transferSchema = json.RawMessage(`{"type":"object","properties":{"reason":{"type":"string"}},"required":["reason"],"additionalProperties":false}`)
	clarifySchema  = json.RawMessage(`{"type":"object","properties":{"questions":{"type":"array","items":{"type":"object","properties":` +
		`{"question":{"type":"string"},"field":{"type":"string"},"importance":{"type":"string"},"options":{"type":"array","items":{"type":"string"}}},` +
		`"required":["question"],"additionalProperties":false}}},"required":["questions"],"additionalProperties":false}`)
)

func unavailable(server string) llm.Tool {
	return llm.Tool{
		Name: "unavailable_" + server, Description: "The tools of " + server + " are not available now. Tell the user so.",
		Call: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return nil, errors.New("the tools of " + server + " are not available")
		},
	}
}
