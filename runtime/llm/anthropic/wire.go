package anthropic

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/routegen/routegen/runtime/llm"
)

// params writes a request. form is nil for free text. Schemas are extra fields: the client's own
// ones are maps, which forget the order of keys, and its helpers rewrite what they are given.
func (m *Client) params(r *llm.Request, form json.RawMessage) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{Model: m.name, MaxTokens: int64(m.maxTokens)}
	if r.MaxTokens > 0 {
		p.MaxTokens = int64(r.MaxTokens)
	}
	if r.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: r.System}}
	}
	for _, turn := range r.Turns() {
		p.Messages = append(p.Messages, messageParam(&turn))
	}
	if form != nil {
		p.OutputConfig.Format.SetExtraFields(map[string]any{"schema": form})
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfTool: tool(&t)})
	}
	return p
}

func tool(t *llm.Tool) *anthropic.ToolParam {
	out := &anthropic.ToolParam{Name: t.Name, Strict: anthropic.Bool(t.Strict)}
	if t.Description != "" {
		out.Description = anthropic.String(t.Description)
	}
	input := t.Schema
	if input == nil {
		input = json.RawMessage(
			`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)
	}
	out.SetExtraFields(map[string]any{"input_schema": input})
	return out
}

// messageParam writes a turn. Results come first: the provider wants them right after the calls.
func messageParam(turn *llm.Message) anthropic.MessageParam {
	var blocks []anthropic.ContentBlockParamUnion
	if turn.Role == llm.RoleModel && turn.Opaque.Provider == provider {
		var whole []json.RawMessage
		if json.Unmarshal(turn.Opaque.Data, &whole) == nil && len(whole) > 0 {
			for _, block := range whole {
				blocks = append(blocks, param.Override[anthropic.ContentBlockParamUnion](block))
			}
			return anthropic.NewAssistantMessage(blocks...)
		}
	}
	for _, t := range turn.Results {
		block := anthropic.NewToolResultBlock(t.ID, t.String(), t.Failed)
		// the provider refuses a text of blanks, here and below
		if strings.TrimSpace(t.String()) == "" {
			block.OfToolResult.Content = nil
		}
		blocks = append(blocks, block)
	}
	if strings.TrimSpace(turn.Text) != "" {
		blocks = append(blocks, anthropic.NewTextBlock(turn.Text))
	}
	if turn.Role == llm.RoleUser {
		return anthropic.NewUserMessage(blocks...)
	}
	for _, c := range turn.Calls {
		blocks = append(blocks, anthropic.NewToolUseBlock(c.ID, c.Args, c.Name))
	}
	return anthropic.NewAssistantMessage(blocks...)
}

// readResponse reads a reply. A refusal or an incomplete reply is an error.
func readResponse(r *llm.Request, answer *anthropic.Message) (llm.Response, error) {
	u := &answer.Usage
	usage := llm.Usage{
		// the provider counts the three apart
		InputTokens:  u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens,
		OutputTokens: u.OutputTokens, CachedTokens: u.CacheReadInputTokens,
	}
	var text strings.Builder
	var calls []llm.ToolCall
	var whole []json.RawMessage
	more := false // than text and calls
	for i := range answer.Content {
		block := &answer.Content[i]
		switch block.Type {
		case "text":
			text.WriteString(block.Text)
		case "tool_use":
			calls = append(calls, llm.ToolCall{ID: block.ID, Name: block.Name, Args: block.Input})
		default:
			more = true
		}
		whole = append(whole, json.RawMessage(block.RawJSON()))
	}
	if err := stopped(answer, text.String(), len(calls), usage); err != nil {
		return llm.Response{}, err
	}
	for i := range calls {
		args, err := llm.Arguments(string(calls[i].Args))
		if err != nil {
			return llm.Response{}, err
		}
		calls[i].Args = args
	}
	resp := r.Read(text.String(), calls)
	resp.Usage, resp.Model = usage, answer.Model
	if more && len(calls) > 0 {
		data, err := json.Marshal(whole)
		if err != nil {
			return llm.Response{}, err
		}
		resp.Opaque = llm.Opaque{Provider: provider, Data: data}
	}
	return resp, nil
}

// stopped returns the error of a refusal or of an incomplete reply.
func stopped(answer *anthropic.Message, text string, calls int, usage llm.Usage) error {
	stop := &llm.StopError{Provider: provider, Reason: llm.StopOther,
		Word: string(answer.StopReason), Text: text, Usage: usage}
	switch answer.StopReason {
	case anthropic.StopReasonRefusal:
		return &llm.RefusalError{Provider: provider, Category: string(answer.StopDetails.Category),
			Text: cmp.Or(answer.StopDetails.Explanation, text), Usage: usage}
	case anthropic.StopReasonMaxTokens:
		stop.Reason = llm.StopLength
	case anthropic.StopReasonModelContextWindowExceeded:
		stop.Reason = llm.StopContext
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence, anthropic.StopReasonToolUse:
		if text != "" || calls > 0 {
			return nil
		}
	case anthropic.StopReasonPauseTurn: // for tools of the provider, of which none was offered
	}
	return stop
}
