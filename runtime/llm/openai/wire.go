package openai

import (
	"encoding/json"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
)

// params writes a request. form is nil for free text.
func (m *Client) params(r *llm.Request, form json.RawMessage) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: m.name}
	if most := int64(r.MaxTokens); most > 0 {
		p.MaxCompletionTokens = openai.Int(most)
	} else if m.maxTokens > 0 {
		p.MaxCompletionTokens = openai.Int(int64(m.maxTokens))
	}
	if r.System != "" {
		p.Messages = append(p.Messages, openai.SystemMessage(r.System))
	}
	for _, turn := range r.Turns() {
		p.Messages = append(p.Messages, messages(&turn)...)
	}
	if form != nil {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: r.Name(),
				Strict: openai.Bool(true), Schema: form},
		}
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(function(&t)))
	}
	return p
}

// function writes a tool. The schema is an extra field: the client's own field is a map, which
// forgets the order of keys.
func function(t *llm.Tool) shared.FunctionDefinitionParam {
	f := shared.FunctionDefinitionParam{Name: t.Name, Strict: openai.Bool(t.Strict)}
	if t.Description != "" {
		f.Description = openai.String(t.Description)
	}
	parameters := t.Schema
	if parameters == nil {
		parameters = json.RawMessage(
			`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)
	}
	f.SetExtraFields(map[string]any{"parameters": parameters})
	return f
}

// messages writes a turn: each result of a tool is a message of its own, before the text.
func messages(turn *llm.Message) []openai.ChatCompletionMessageParamUnion {
	if turn.Role == llm.RoleModel {
		said := openai.ChatCompletionAssistantMessageParam{}
		if turn.Text != "" {
			said.Content.OfString = openai.String(turn.Text)
		}
		for _, c := range turn.Calls {
			said.ToolCalls = append(said.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
					ID: c.ID,
					Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{
						Name: c.Name, Arguments: string(c.Args)},
				},
			})
		}
		return []openai.ChatCompletionMessageParamUnion{{OfAssistant: &said}}
	}
	var out []openai.ChatCompletionMessageParamUnion
	for _, t := range turn.Results {
		text := t.String()
		if t.Failed { // the protocol has no field for it
			text = "error: " + text
		}
		out = append(out, openai.ToolMessage(text, t.ID))
	}
	if turn.Text != "" {
		out = append(out, openai.UserMessage(turn.Text))
	}
	return out
}

// readResponse reads a reply. A refusal or an incomplete reply is an error.
func readResponse(r *llm.Request, answer *openai.ChatCompletion) (llm.Response, error) {
	usage := llm.Usage{
		InputTokens: answer.Usage.PromptTokens, OutputTokens: answer.Usage.CompletionTokens,
		CachedTokens: answer.Usage.PromptTokensDetails.CachedTokens,
	}
	stop := &llm.StopError{Provider: provider, Reason: llm.StopOther, Word: "no_choices",
		Usage: usage}
	if len(answer.Choices) == 0 {
		return llm.Response{}, stop
	}
	choice := &answer.Choices[0]
	said := &choice.Message
	stop.Word, stop.Text = choice.FinishReason, said.Content
	switch {
	case said.Refusal != "":
		return llm.Response{}, &llm.RefusalError{Provider: provider, Text: said.Refusal,
			Usage: usage}
	case choice.FinishReason == "content_filter":
		return llm.Response{}, &llm.RefusalError{Provider: provider, Category: choice.FinishReason,
			Text: said.Content, Usage: usage}
	case choice.FinishReason == "length":
		stop.Reason = llm.StopLength
		return llm.Response{}, stop
	case choice.FinishReason != "stop" && choice.FinishReason != "tool_calls", said.Content == "" &&
		len(said.ToolCalls) == 0:
		return llm.Response{}, stop
	}
	var calls []llm.ToolCall
	for _, c := range said.ToolCalls {
		if c.Type != "function" && c.Type != "" {
			return llm.Response{}, runtime.Errorf(runtime.CodeUnavailable, "read tool call",
				"it is of a kind that was not offered")
		}
		args, err := llm.Arguments(c.Function.Arguments)
		if err != nil {
			return llm.Response{}, err
		}
		calls = append(calls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Args: args})
	}
	resp := r.Read(said.Content, calls)
	resp.Usage, resp.Model = usage, answer.Model
	return resp, nil
}
