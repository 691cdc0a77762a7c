package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/routegen/routegen/runtime"
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
			tools, err := within(ctx, l.Timeout, server.Tools)
			switch {
			case ctx.Err() != nil: // the step ends
				return nil, ctx.Err()
			case err != nil:
				tools = []llm.Tool{unavailable(t.MCP)}
			}
			out = append(out, tools...)
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

// within runs fn with a time limit. It returns when the time is over even if fn does not heed its context, and a panic is an error: tools are
// foreign code.
func within[T any](ctx context.Context, limit time.Duration, fn func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ended := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o.err = &runtime.Error{Code: runtime.CodeInternal, Op: "call tool", Err: fmt.Errorf("panic: %v", p)}
			}
			ended <- o
		}()
		o.value, o.err = fn(inner)
	}()
	select {
	case o := <-ended:
		if o.err == nil || !errors.Is(inner.Err(), context.DeadlineExceeded) {
			return o.value, o.err
		}
	case <-inner.Done():
		select {
		case o := <-ended: // in the last moment
			if o.err == nil {
				return o.value, nil
			}
		default:
		}
	}
	var none T
	if ctx.Err() != nil {
		return none, ctx.Err()
	}
	return none, &runtime.Error{Code: runtime.CodeUnavailable, Op: "call tool", Err: fmt.Errorf("it did not answer within %s", limit)}
}
