package anthropic_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/anthropic"
	"github.com/routegen/routegen/runtime/llm/llmtest"
)

func form(runtime.Dialect) string {
	return `{"type":"object","properties":{"zulu":{"type":"string"},"alpha":{"type":"string"}},"required":["zulu","alpha"],"additionalProperties":false}`
}

func open(s *llmtest.Server, c anthropic.Config) *anthropic.Client {
	c.APIKey, c.BaseURL, c.HTTPClient, c.Retries = "k", s.Anthropic(), s.HTTPClient(), -1
	return anthropic.New("claude-test", c)
}

// The whole request, byte for byte: what a change of the client's version moves shows here.
func TestWire(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, llmtest.Answer{Text: `{}`})
	r := llm.Request{
		System: "sys", SchemaName: "form", Schema: form, MaxTokens: 50,
		Messages: []llm.Message{
			{Role: llm.RoleUser, Text: "a"},
			{Role: llm.RoleModel, Text: "b",
				Calls: []llm.ToolCall{{ID: "c1", Name: "look",
					Args: json.RawMessage(`{"z":1,"a":2}`)}}},
			{Role: llm.RoleUser, Results: []llm.ToolResult{{ID: "c1",
				Value: json.RawMessage(`"gone"`), Failed: true}}},
		},
		Prompt: "c",
		Tools: []llm.Tool{{Name: "look", Description: "Looks.", Schema: json.RawMessage(form(0)),
			Strict: true}, {Name: "now"}},
	}
	_, err := open(s, anthropic.Config{}).Generate(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t,
		`{"max_tokens":50,"messages":[{"content":[{"text":"a","type":"text"}],"role":"user"},`+
			`{"content":[{"text":"b","type":"text"},{"id":"c1","input":{"z":1,"a":2},"name":"look","type":"tool_use"}],"role":"assistant"},`+
			`{"content":[{"tool_use_id":"c1","is_error":true,"content":[{"text":"gone","type":"text"}],"type":"tool_result"}],"role":"user"},`+
			`{"content":[{"text":"c","type":"text"}],"role":"user"}],"model":"claude-test",`+
			`"output_config":{"format":{"type":"json_schema","schema":`+form(0)+
			`}},"system":[{"text":"sys","type":"text"}],`+
			`"tools":[{"name":"look","description":"Looks.","strict":true,"input_schema":`+form(0)+
			`},`+
			`{"name":"now","strict":false,"input_schema":{"type":"object","properties":{},"required":[],"additionalProperties":false}}]}`,
		s.Received()[0].Body.String())
}

func TestMaxTokens(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, llmtest.Answer{Text: "a"}, llmtest.Answer{Text: "a"},
		llmtest.Answer{Text: "a"}, llmtest.Answer{Text: "a"})
	for _, c := range []struct {
		config  anthropic.Config
		request int
		want    string
	}{
		{anthropic.Config{}, 0, "16000"},
		{anthropic.Config{MaxTokens: 9}, 0, "9"},
		{anthropic.Config{MaxTokens: 9}, 5, "5"},
		{anthropic.Config{Timeout: time.Minute}, 64_000, "64000"},
	} {
		_, err := open(s, c.config).
			Generate(t.Context(), llm.Request{Prompt: "a", MaxTokens: c.request})
		require.NoError(t, err)
		all := s.Received()
		assert.Equal(t, c.want, all[len(all)-1].Body.Get("max_tokens").Text)
	}
	// Without a timeout the client insists on a stream from some length on: no request goes out,
	// and no other try would.
	_, err := open(s, anthropic.Config{}).
		Generate(t.Context(), llm.Request{Prompt: "a", MaxTokens: 64_000})
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	assert.Len(t, s.Received(), 4)
	var data *llm.CallError
	require.ErrorAs(t, err, &data)
	assert.Contains(t, data.Message, "streaming is required")
}

// Options reach what Config has no field for.
func TestOptions(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, llmtest.Answer{Text: "a"})
	model := open(s, anthropic.Config{Options: []option.RequestOption{
		option.WithJSONSet("temperature", 0.5), option.WithHeader("X-Team", "blue"),
	}})
	_, err := model.Generate(t.Context(), llm.Request{Prompt: "a"})
	require.NoError(t, err)
	one := s.Received()[0]
	assert.Equal(t, "0.5", one.Body.Get("temperature").Text)
	assert.Equal(t, "blue", one.Header.Get("X-Team"))
	assert.Equal(t, "k", one.Header.Get("X-Api-Key"))
}

// What the model thought is kept only where it has to go back, and only in a form that can be
// stored.
func TestThoughts(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, llmtest.Answer{Text: "a", Thinking: "hm"},
		llmtest.Answer{Thinking: "hm", Calls: []llm.ToolCall{{Name: "now"}}})
	model := open(s, anthropic.Config{})
	resp, err := model.Generate(t.Context(), llm.Request{Prompt: "a"})
	require.NoError(t, err)
	assert.Equal(t, "a", resp.Text)
	assert.Zero(t, resp.Opaque)
	resp, err = model.Generate(t.Context(),
		llm.Request{Prompt: "a", Tools: []llm.Tool{{Name: "now"}}})
	require.NoError(t, err)
	assert.JSONEq(t,
		`[{"type":"thinking","thinking":"hm","signature":"c2lnbmVk"},{"type":"tool_use","id":"call_2_1","name":"now","input":{}}]`,
		string(resp.Opaque.Data))
}

// Several texts are one, and an unknown block does not hide them.
func TestBlocks(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t,
		llmtest.Answer{Body: `{"type":"message","role":"assistant","model":"x","stop_reason":"end_turn",` +
			`"content":[{"type":"text","text":"{\"a\":"},{"type":"something_new","x":1},{"type":"text","text":"1}"}],` +
			`"usage":{"input_tokens":1,"cache_read_input_tokens":2,"cache_creation_input_tokens":4,"output_tokens":8}}`})
	resp, err := open(s, anthropic.Config{}).
		Generate(t.Context(), llm.Request{Prompt: "a", Schema: form})
	require.NoError(t, err)
	assert.Equal(t, `{"a":1}`, string(resp.JSON))
	assert.Equal(t, llm.Usage{InputTokens: 7, OutputTokens: 8, CachedTokens: 2}, resp.Usage)
}

// A proxy on the way answers in its own form, and its status counts all the same.
func TestErrorsOfProxies(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]runtime.Code{
		http.StatusBadGateway: runtime.CodeUnavailable, http.StatusForbidden: runtime.CodeForbidden,
		http.StatusRequestEntityTooLarge: runtime.CodeInvalid,
	} {
		for _, body := range []string{"<html>too bad, Ann</html>", `{"error":"too bad, Ann"}`,
			`"Ann"`, `[]`} {
			s := llmtest.NewServer(t,
				llmtest.Answer{Status: status, Body: body, Content: "text/html"})
			_, err := open(s, anthropic.Config{}).Generate(t.Context(), llm.Request{Prompt: "a"})
			assert.Equal(t, want, runtime.CodeOf(err), body)
			assert.Contains(t, err.Error(), strconv.Itoa(status), body)
			assert.NotContains(t, err.Error(), "Ann")
		}
	}
}
