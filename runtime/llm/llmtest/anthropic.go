package llmtest

import (
	"net/http"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/schema"
)

// anthropic is the Messages API.
type anthropic struct{}

// Limits over all strict schemas of one request, of the page "Structured outputs".
const (
	mostStrictTools = 20
	mostOptional    = 24
	mostUnions      = 16
)

func (anthropic) key(h http.Header) string { return h.Get("X-Api-Key") }

func (anthropic) check(c *checker, body *schema.Value) {
	c.only("body", body, "model", "messages", "system", "max_tokens", "output_config", "tools", "tool_choice", "temperature", "top_p",
		"top_k", "metadata", "stop_sequences", "thinking", "service_tier")
	if textOf(body.Get("model")) == "" {
		c.faultf("model: is missing")
	}
	if most := body.Get("max_tokens"); most == nil || most.Text == "0" || strings.HasPrefix(most.Text, "-") {
		c.faultf("max_tokens: has to be there, and more than 0")
	}
	if config := body.Get("output_config"); config != nil {
		c.only("output_config", config, "format", "effort")
		if format := config.Get("format"); format != nil {
			c.only("output_config.format", format, "type", "schema")
			if textOf(format.Get("type")) != "json_schema" {
				c.faultf("output_config.format.type: is not json_schema")
			}
			c.form("output_config.format", runtime.Anthropic, format.Get("schema"), true)
		}
	}
	for _, t := range items(body.Get("tools")) {
		c.only("tools", t, "name", "description", "input_schema", "strict", "type")
		name, strict := textOf(t.Get("name")), isTrue(t.Get("strict"))
		c.tool(name, strict)
		if textOf(at(t, "input_schema", "type")) != "object" {
			c.faultf("tools.%s.input_schema.type: has to be object", name)
		}
		c.form("tools."+name, runtime.Anthropic, t.Get("input_schema"), strict)
	}
	if c.strict > mostStrictTools || c.counted.optional > mostOptional || c.counted.unions > mostUnions {
		c.faultf("too much for one request: %d strict tools of %d, %d optional parameters of %d, %d unions of %d", c.strict, mostStrictTools,
			c.counted.optional, mostOptional, c.counted.unions, mostUnions)
	}
	anthropicTurns(c, items(body.Get("messages")))
}

// anthropicTurns wants the results of all calls at the start of the turn after them, and the thought before a call back with it.
func anthropicTurns(c *checker, turns []*schema.Value) {
	var calls []string
	last := ""
	for _, turn := range turns {
		role, blocks := textOf(turn.Get("role")), items(turn.Get("content"))
		switch {
		case role != "user" && role != "assistant":
			c.faultf("messages: %q is no role", role)
		case last == "" && role != "user":
			c.faultf("messages: the user has to be first")
		case len(blocks) == 0 && strings.TrimSpace(textOf(turn.Get("content"))) == "":
			c.faultf("messages: a turn of the %s is empty", role)
		}
		var made, results []string
		thought := ""
		for i, b := range blocks {
			switch kind := textOf(b.Get("type")); {
			case kind == "text" && strings.TrimSpace(textOf(b.Get("text"))) == "":
				c.faultf("messages: text content blocks must contain non-whitespace text")
			case kind == "text":
			case kind == "thinking" && role == "assistant" && i == 0 && textOf(b.Get("signature")) == signature:
				thought = textOf(b.Get("thinking"))
			case kind == "tool_use" && role == "assistant" && at(b, "input") != nil && b.Get("input").Kind == schema.Object:
				made = append(made, textOf(b.Get("id")))
				c.thought(textOf(b.Get("id")), thought)
			case kind == "tool_result" && role == "user" && len(results) == i:
				results = append(results, textOf(b.Get("tool_use_id")))
				for _, part := range items(b.Get("content")) {
					if strings.TrimSpace(textOf(part.Get("text"))) == "" {
						c.faultf("messages: text content blocks must contain non-whitespace text")
					}
				}
			default:
				c.faultf("messages: a block of type %q is not legal here", kind)
			}
		}
		if role != last || len(results) > 0 {
			c.paired(calls, results)
			calls = nil
		}
		calls = append(calls, made...) // turns of one role in a row are one
		last = role
	}
	c.paired(calls, nil)
	if last != "user" {
		c.faultf("messages: the last is not the user's")
	}
}

// thought refuses a call that comes back without what was thought before it.
func (c *checker) thought(call, thought string) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if want := c.server.thoughts[call]; want != thought {
		c.faultf("messages: a call has to come back with the thinking block before it, as it was sent")
	}
}

// signature is what the server signs every thought with.
const signature = "c2lnbmVk"

func (anthropic) window(*Answer) bool { return false }

func (anthropic) reply(a *Answer, id, model string) string {
	var blocks []any
	stop := "end_turn"
	var details any
	if a.Thinking != "" {
		blocks = append(blocks, map[string]any{"type": "thinking", "thinking": a.Thinking, "signature": signature})
	}
	if a.Text != "" {
		blocks = append(blocks, map[string]any{"type": "text", "text": a.Text})
	}
	for _, call := range a.Calls {
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": call.ID, "name": call.Name, "input": call.Args})
		stop = "tool_use"
	}
	switch {
	case a.Refusal != "" || a.Category != "":
		stop = "refusal"
		details = map[string]any{"type": "refusal", "category": a.Category, "explanation": a.Refusal}
	case a.Stop == llm.StopLength:
		stop = "max_tokens"
	case a.Stop == llm.StopContext:
		stop = "model_context_window_exceeded"
	case a.Stop != "":
		stop = a.Stop
	}
	return encoded(map[string]any{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": model, "content": blocks, "stop_reason": stop,
		"stop_sequence": nil, "stop_details": details,
		"usage": map[string]any{
			"input_tokens": a.Usage.InputTokens - a.Usage.CachedTokens, "output_tokens": a.Usage.OutputTokens,
			"cache_read_input_tokens": a.Usage.CachedTokens, "cache_creation_input_tokens": 0,
		},
	})
}

func (anthropic) failure(_ int, kind, message string) string {
	return encoded(map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}})
}
