package openai_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/llm/openai"
)

func form(runtime.Dialect) string {
	return `{"type":"object","properties":{"zulu":{"type":"string"},"alpha":{"type":"string"}},"required":["zulu","alpha"],"additionalProperties":false}`
}

func open(s *llmtest.Server, c openai.Config) *openai.Client {
	c.APIKey, c.BaseURL, c.HTTPClient, c.Retries = "k", s.OpenAI(), s.HTTPClient(), -1
	return openai.New("gpt-test", c)
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
	_, err := open(s, openai.Config{}).Generate(t.Context(), r)
	require.NoError(t, err, s.Received()[0].Fault)
	assert.Equal(t, `{"messages":[{"content":"sys","role":"system"},{"content":"a","role":"user"},`+
		`{"content":"b","tool_calls":[{"id":"c1","function":{"arguments":"{\"z\":1,\"a\":2}","name":"look"},"type":"function"}],"role":"assistant"},`+
		`{"content":"error: gone","tool_call_id":"c1","role":"tool"},{"content":"c","role":"user"}],"model":"gpt-test",`+
		`"max_completion_tokens":50,`+
		`"response_format":{"json_schema":{"name":"form","strict":true,"schema":`+form(0)+
		`},"type":"json_schema"},`+
		`"tools":[{"function":{"name":"look","strict":true,"description":"Looks.","parameters":`+
		form(0)+`},"type":"function"},`+
		`{"function":{"name":"now","strict":false,"parameters":{"type":"object","properties":{},"required":[],"additionalProperties":false}},"type":"function"}]}`,
		s.Received()[0].Body.String())
}

func TestMaxTokens(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, slices.Repeat([]llmtest.Answer{{Text: "a"}}, 5)...)
	for _, c := range []struct {
		config, request int
		want            string
	}{{0, 0, "16000"}, {9, 0, "9"}, {9, 5, "5"}, {-1, 0, ""}, {-1, 5, "5"}} {
		_, err := open(s, openai.Config{MaxTokens: c.config}).
			Generate(t.Context(), llm.Request{Prompt: "a", MaxTokens: c.request})
		require.NoError(t, err)
		all := s.Received()
		got := ""
		if most := all[len(all)-1].Body.Get("max_completion_tokens"); most != nil {
			got = most.Text
		}
		assert.Equal(t, c.want, got)
	}
}

// Options reach what Config has no field for; the caller's own middleware too.
func TestOptions(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, llmtest.Answer{Text: "a"})
	seen := 0
	model := open(s, openai.Config{Options: []option.RequestOption{
		option.WithJSONSet("temperature", 0.5), option.WithHeader("X-Team", "blue"),
		option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response,
			error) {
			seen++
			return next(r)
		}),
	}})
	_, err := model.Generate(t.Context(), llm.Request{Prompt: "a"})
	require.NoError(t, err)
	one := s.Received()[0]
	assert.Equal(t, "0.5", one.Body.Get("temperature").Text)
	assert.Equal(t, "blue", one.Header.Get("X-Team"))
	assert.Equal(t, "Bearer k", one.Header.Get("Authorization"))
	assert.Equal(t, 1, seen)
}

// Servers that only speak the protocol send what the provider never would.
func TestRepliesOfOtherServers(t *testing.T) {
	t.Parallel()
	call := func(kind, args string) string {
		return `{"model":"x","choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"1","type":"` + kind +
			`","function":{"name":"look","arguments":"` + args + `"}}]}}]}`
	}
	cases := []struct {
		name, body string
		code       runtime.Code
	}{
		{"no choice", `{"model":"x","choices":[]}`, runtime.CodeUnavailable},
		{"arguments cut", call("function", `{\"patient\":`), runtime.CodeUnavailable},
		{"a call of another kind", call("custom", `{}`), runtime.CodeUnavailable},
		{"no arguments", call("function", ``), ""},
		{"no kind", call("", `{}`), ""},
		{"window",
			`{"error":{"code":"context_length_exceeded","message":"the patient is too long"}}`,
			runtime.CodeInvalid},
		{"error without fields", `{"detail":"the patient"}`, runtime.CodeInvalid},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := llmtest.Answer{Body: c.body}
			if c.code == runtime.CodeInvalid {
				a.Status = http.StatusBadRequest
			}
			resp, err := open(llmtest.NewServer(t, a), openai.Config{}).
				Generate(t.Context(), llm.Request{Prompt: "a"})
			assert.Equal(t, c.code, runtime.CodeOf(err))
			if err == nil {
				assert.Equal(t, []llm.ToolCall{{ID: "1", Name: "look",
					Args: json.RawMessage(`{}`)}}, resp.Calls)
				return
			}
			assert.NotContains(t, err.Error(), "patient")
		})
	}
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
			_, err := open(s, openai.Config{}).Generate(t.Context(), llm.Request{Prompt: "a"})
			assert.Equal(t, want, runtime.CodeOf(err), body)
			assert.Contains(t, err.Error(), strconv.Itoa(status), body)
			assert.NotContains(t, err.Error(), "Ann")
		}
	}
}
