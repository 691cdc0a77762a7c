package llmtest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/schema"
)

// openAI is Chat Completions.
type openAI struct{}

func (openAI) credential(h http.Header) string {
	key, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	if !ok {
		return ""
	}
	return key
}

func (openAI) checkRequest(c *checker, body *schema.Value) {
	c.checkKeys("body", body, "model", "messages", "response_format", "tools", "tool_choice",
		"max_completion_tokens", "parallel_tool_calls",
		"temperature", "top_p", "seed", "user", "metadata", "store", "reasoning_effort",
		"safety_identifier", "prompt_cache_key")
	if stringOf(body.Get("model")) == "" {
		c.faultf("model: is missing")
	}
	if most := body.Get("max_completion_tokens"); most != nil && strings.HasPrefix(most.Text, "-") {
		c.faultf("max_completion_tokens: is negative")
	}
	openAIFormat(c, body.Get("response_format"))
	for _, t := range items(body.Get("tools")) {
		f := t.Get("function")
		if stringOf(t.Get("type")) != "function" || f == nil {
			c.faultf("tools: one is not a function")
			continue
		}
		c.checkKeys("tools.function", f, "name", "description", "parameters", "strict")
		strict := f.Get("strict")
		if strict == nil {
			c.faultf("tools: strict is not said, so the provider may rewrite the schema")
		}
		c.checkTool(stringOf(f.Get("name")))
		c.checkSchema("tools."+stringOf(f.Get("name")), runtime.OpenAI, f.Get("parameters"),
			isTrue(strict))
	}
	openAITurns(c, items(body.Get("messages")))
}

func openAIFormat(c *checker, format *schema.Value) {
	if format == nil {
		return
	}
	c.checkKeys("response_format", format, "type", "json_schema")
	form := format.Get("json_schema")
	if stringOf(format.Get("type")) != "json_schema" || form == nil {
		c.faultf("response_format: is not json_schema")
		return
	}
	c.checkKeys("response_format.json_schema", form, "name", "description", "schema", "strict")
	if !legalName.MatchString(stringOf(form.Get("name"))) {
		c.faultf("response_format.json_schema.name: does not match %s", legalName)
	}
	if !isTrue(form.Get("strict")) {
		c.faultf("response_format.json_schema.strict: is not true, so the form is only a wish")
	}
	c.checkSchema("response_format", runtime.OpenAI, form.Get("schema"), true)
}

// openAITurns checks that the results of all calls follow them at once, one message each.
func openAITurns(c *checker, turns []*schema.Value) {
	var calls, results []string
	last := ""
	for _, turn := range turns {
		role := stringOf(turn.Get("role"))
		if role == "tool" {
			results = append(results, stringOf(turn.Get("tool_call_id")))
			last = role
			continue
		}
		c.checkResults(calls, results)
		calls, results = nil, nil
		for _, call := range items(turn.Get("tool_calls")) {
			calls = append(calls, stringOf(call.Get("id")))
			if _, err := schema.Parse(
				[]byte(stringOf(valueAt(call, "function", "arguments")))); err != nil {
				c.faultf("messages: the arguments of a call are not JSON in a string: %s", err)
			}
		}
		switch {
		case !slices.Contains([]string{"system", "developer", "user", "assistant"}, role):
			c.faultf("messages: %q is no role", role)
		case turn.Get("content") == nil && len(calls) == 0:
			c.faultf("messages: a turn of the %s is empty", role)
		case len(calls) > 0 && role != "assistant":
			c.faultf("messages: only the assistant calls tools")
		}
		last = role
	}
	c.checkResults(calls, results)
	if last != "user" && last != "tool" {
		c.faultf("messages: the last is not the user's")
	}
}

func (openAI) replyBody(a *Answer, id, model string) string {
	said := map[string]any{"role": "assistant", "content": nil, "refusal": nil}
	finish := "stop"
	switch {
	case a.Category != "":
		finish = a.Category
	case a.Refusal != "":
		said["refusal"] = a.Refusal
	default:
		said["content"] = a.Text
	}
	if len(a.Calls) > 0 {
		var calls []any
		for _, call := range a.Calls {
			function := map[string]any{"name": call.Name, "arguments": string(call.Args)}
			calls = append(calls, map[string]any{"id": call.ID, "type": "function",
				"function": function})
		}
		said["tool_calls"], finish = calls, "tool_calls"
	}
	switch a.Stop {
	case "":
	case llm.StopLength:
		finish = "length"
	default:
		finish = a.Stop
	}
	return encoded(map[string]any{
		"id": "chatcmpl-" + id, "object": "chat.completion", "created": 1700000000,
		"model": model + "-2026-01-01",
		"choices": []any{map[string]any{"index": 0, "message": said, "finish_reason": finish,
			"logprobs": nil}},
		"usage": map[string]any{
			"prompt_tokens": a.Usage.InputTokens, "completion_tokens": a.Usage.OutputTokens,
			"total_tokens":          a.Usage.InputTokens + a.Usage.OutputTokens,
			"prompt_tokens_details": map[string]any{"cached_tokens": a.Usage.CachedTokens},
		},
	})
}

func (openAI) errorBody(kind, message string) string {
	return encoded(map[string]any{"error": map[string]any{"message": message, "type": kind,
		"param": nil, "code": kind}})
}

// valueAt returns the value below these keys, nil if there is none.
func valueAt(v *schema.Value, keys ...string) *schema.Value {
	for _, key := range keys {
		if v == nil {
			return nil
		}
		v = v.Get(key)
	}
	return v
}

// encoded cannot fail on what is built here: maps, lists, strings and numbers.
func encoded(v any) string {
	data, err := runtime.Encode(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
