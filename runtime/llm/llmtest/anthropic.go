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

func (anthropic) credential(h http.Header) string { return h.Get("X-Api-Key") }

func (anthropic) checkRequest(c *checker, body *schema.Value) {
	c.checkKeys("body", body, "model", "messages", "system", "max_tokens", "output_config", "tools",
		"tool_choice", "temperature", "top_p",
		"top_k", "metadata", "stop_sequences", "thinking", "service_tier")
	if stringOf(body.Get("model")) == "" {
		c.faultf("model: is missing")
	}
	if most := body.Get("max_tokens"); most == nil || most.Text == "0" ||
		strings.HasPrefix(most.Text, "-") {
		c.faultf("max_tokens: has to be there, and more than 0")
	}
	if config := body.Get("output_config"); config != nil {
		c.checkKeys("output_config", config, "format", "effort")
		if format := config.Get("format"); format != nil {
			c.checkKeys("output_config.format", format, "type", "schema")
			if stringOf(format.Get("type")) != "json_schema" {
				c.faultf("output_config.format.type: is not json_schema")
			}
			c.checkSchema("output_config.format", runtime.Anthropic, format.Get("schema"), true)
		}
	}
	for _, t := range items(body.Get("tools")) {
		c.checkKeys("tools", t, "name", "description", "input_schema", "strict", "type")
		name, strict := stringOf(t.Get("name")), isTrue(t.Get("strict"))
		c.checkTool(name)
		if stringOf(valueAt(t, "input_schema", "type")) != "object" {
			c.faultf("tools.%s.input_schema.type: has to be object", name)
		}
		c.checkSchema("tools."+name, runtime.Anthropic, t.Get("input_schema"), strict)
	}
	anthropicTurns(c, items(body.Get("messages")))
}

// anthropicTurns checks that the results of all calls begin the next turn, and that the thinking
// block before a call comes back with it.
func anthropicTurns(c *checker, turns []*schema.Value) {
	var calls []string
	last := ""
	for _, turn := range turns {
		role, blocks := stringOf(turn.Get("role")), items(turn.Get("content"))
		switch {
		case role != "user" && role != "assistant":
			c.faultf("messages: %q is no role", role)
		case last == "" && role != "user":
			c.faultf("messages: the user has to be first")
		case len(blocks) == 0 && strings.TrimSpace(stringOf(turn.Get("content"))) == "":
			c.faultf("messages: a turn of the %s is empty", role)
		}
		var made, results []string
		thought := ""
		for i, b := range blocks {
			switch kind := stringOf(b.Get("type")); {
			case kind == "text" && strings.TrimSpace(stringOf(b.Get("text"))) == "":
				c.faultf("messages: text content blocks must contain non-whitespace text")
			case kind == "text":
			case kind == "thinking" && role == "assistant" && i == 0 &&
				stringOf(b.Get("signature")) == signature:
				thought = stringOf(b.Get("thinking"))
			case kind == "tool_use" && role == "assistant" && valueAt(b, "input") != nil &&
				b.Get("input").Kind == schema.Object:
				made = append(made, stringOf(b.Get("id")))
				c.checkThought(stringOf(b.Get("id")), thought)
			case kind == "tool_result" && role == "user" && len(results) == i:
				results = append(results, stringOf(b.Get("tool_use_id")))
				for _, part := range items(b.Get("content")) {
					if strings.TrimSpace(stringOf(part.Get("text"))) == "" {
						c.faultf("messages: text content blocks must contain non-whitespace text")
					}
				}
			default:
				c.faultf("messages: a block of type %q is not legal here", kind)
			}
		}
		if role != last || len(results) > 0 {
			c.checkResults(calls, results)
			calls = nil
		}
		calls = append(calls, made...) // turns of one role in a row are one
		last = role
	}
	c.checkResults(calls, nil)
	if last != "user" {
		c.faultf("messages: the last is not the user's")
	}
}

// checkThought refuses a call that comes back without the thinking block before it.
func (c *checker) checkThought(call, thought string) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if want := c.server.thoughts[call]; want != thought {
		c.faultf(
			"messages: a call has to come back with the thinking block before it, as it was sent")
	}
}

// signature is what the server signs every thought with.
const signature = "c2lnbmVk"

func (anthropic) replyBody(a *Answer, id, model string) string {
	var blocks []any
	stop := "end_turn"
	var details any
	if a.Thinking != "" {
		blocks = append(blocks, map[string]any{"type": "thinking", "thinking": a.Thinking,
			"signature": signature})
	}
	if a.Text != "" {
		blocks = append(blocks, map[string]any{"type": "text", "text": a.Text})
	}
	for _, call := range a.Calls {
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": call.ID, "name": call.Name,
			"input": call.Args})
		stop = "tool_use"
	}
	switch {
	case a.Refusal != "" || a.Category != "":
		stop = "refusal"
		details = map[string]any{"type": "refusal", "category": a.Category,
			"explanation": a.Refusal}
	case a.Stop == llm.StopLength:
		stop = "max_tokens"
	case a.Stop == llm.StopContext:
		stop = "model_context_window_exceeded"
	case a.Stop != "":
		stop = a.Stop
	}
	return encoded(map[string]any{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": model,
		"content": blocks, "stop_reason": stop,
		"stop_sequence": nil, "stop_details": details,
		"usage": map[string]any{
			"input_tokens":            a.Usage.InputTokens - a.Usage.CachedTokens,
			"output_tokens":           a.Usage.OutputTokens,
			"cache_read_input_tokens": a.Usage.CachedTokens, "cache_creation_input_tokens": 0,
		},
	})
}

func (anthropic) errorBody(kind, message string) string {
	return encoded(map[string]any{"type": "error",
		"error": map[string]any{"type": kind, "message": message}})
}
