package llmtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
)

// quiet is a test that hears nothing.
type quiet struct{}

func (quiet) Helper()               {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Cleanup(func())        {}

// listener is a test that keeps what it hears, and ends when it is told to.
type listener struct {
	quiet

	heard []string
	ends  []func()
}

func (l *listener) Errorf(format string, args ...any) {
	l.heard = append(l.heard, fmt.Sprintf(format, args...))
}
func (l *listener) Cleanup(f func()) { l.ends = append(l.ends, f) }
func (l *listener) end() {
	for _, f := range l.ends {
		f()
	}
}

// post sends a body as a client would, and returns status and what the server says.
func post(t *testing.T, url, body string, header ...string) (status int, said string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url,
		strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(data)
}

func TestServerIsLoudAboutItsScript(t *testing.T) {
	t.Parallel()
	tb := &listener{}
	s := llmtest.NewServer(tb, llmtest.Answer{Text: "a"})
	const body = `{"model":"m","messages":[{"role":"user","content":"b"}]}`
	for _, want := range []int{200, 400} {
		status, _ := post(t, s.OpenAI()+"/chat/completions", body, "Authorization", "Bearer x")
		assert.Equal(t, want, status)
	}
	tb.end()
	assert.Equal(t, []string{"the script is over, and /v1/chat/completions was asked once more"},
		tb.heard)

	tb = &listener{}
	llmtest.NewServer(tb, llmtest.Answer{Text: "a"}, llmtest.Answer{Text: "b"})
	tb.end()
	assert.Equal(t, []string{"2 answers of the script were not asked for"}, tb.heard)
}

// Every rule about the wire has a body that breaks it; the same body without the fault is taken.
func TestServerHoldsOpenAIsWire(t *testing.T) {
	t.Parallel()
	const (
		call = `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		tool = `"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":{"type":"object","properties":{},"required":[],"additionalProperties":false}}}]`
		form = `"response_format":{"type":"json_schema","json_schema":{"name":"r","strict":true,"schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}}}`
	)
	good := `{"model":"m","messages":[{"role":"user","content":"a"},` + call +
		`,{"role":"tool","tool_call_id":"c1","content":"1"}],` + form + `,` + tool + `}`
	s := llmtest.NewServer(t, llmtest.Answer{Text: "fine"})
	send := func(body string) (int, string) {
		return post(t, s.OpenAI()+"/chat/completions", body, "Authorization", "Bearer x")
	}
	status, said := send(good)
	require.Equal(t, 200, status, said)
	for _, c := range []struct{ from, to, want string }{
		{`"model":"m"`, `"model":""`, "model"},
		{`"model":"m"`, `"model":"m","schema":1`, `unknown parameter \"schema\"`},
		{`"model":"m"`, `"model":"m","model":"m"`, "twice"},
		{`{"model":"m"`, `"model":"m"`, "not JSON"},
		{`"name":"r"`, `"name":"a b"`, "does not match"},
		{`"name":"r","strict":true`, `"name":"r"`, "only a wish"},
		{`"name":"f","strict":true`, `"name":"f"`, "may rewrite"},
		{`"name":"f","strict":true`, `"name":"a.b","strict":true`, "is not legal"},
		{`"required":["a"]`, `"required":[]`, "takes only required ones"},
		{`"type":"string"`, `"type":"string","default":"x"`, "is not taken by openai"},
		{`"type":"json_schema"`, `"type":"json_object"`, "is not json_schema"},
		{`"tool_call_id":"c1"`, `"tool_call_id":"c2"`, "have the results of"},
		{`"arguments":"{}"`, `"arguments":"{"`, "not JSON in a string"},
		{`"role":"user"`, `"role":"person"`, "is no role"},
		{`,{"role":"tool","tool_call_id":"c1","content":"1"}`, ``, "have the results of"},
		{tool, `"tools":[{"type":"custom"}]`, "not a function"},
	} {
		bad := strings.Replace(good, c.from, c.to, 1)
		require.NotEqual(t, good, bad, c.from)
		status, said := send(bad)
		assert.Equal(t, 400, status, bad)
		assert.Contains(t, said, c.want)
	}
	status, _ = post(t, s.OpenAI()+"/chat/completions", good)
	assert.Equal(t, 401, status)
	status, _ = post(t, s.OpenAI()+"/responses", good)
	assert.Equal(t, 404, status)
}

func TestServerHoldsAnthropicsWire(t *testing.T) {
	t.Parallel()
	const (
		call = `{"role":"assistant","content":[{"type":"text","text":"hm"},{"type":"tool_use","id":"c1","name":"f","input":{}}]}`
		back = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"1"},{"type":"text","text":"go on"}]}`
		tool = `"tools":[{"name":"f","strict":true,"input_schema":{"type":"object","properties":{},"required":[],"additionalProperties":false}}]`
		form = `"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}}}`
	)
	good := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},` + call + `,` +
		back + `],` + form + `,` + tool + `}`
	s := llmtest.NewServer(t, llmtest.Answer{Text: "fine"})
	send := func(body string) (int, string) {
		return post(t, s.Anthropic()+"/v1/messages", body, "X-Api-Key", "x")
	}
	status, said := send(good)
	require.Equal(t, 200, status, said)
	for _, c := range []struct{ from, to, want string }{
		{`"model":"m"`, `"model":""`, "model"},
		{`"max_tokens":9,`, ``, "max_tokens"},
		{`"max_tokens":9`, `"max_tokens":9,"output_format":{}`,
			`unknown parameter \"output_format\"`},
		{`"format":{"type":"json_schema"`, `"format":{"type":"json"`, "is not json_schema"},
		{`"type":"string"`, `"type":"string","maxLength":3`, "is not taken by anthropic"},
		{`"type":"string"`, `"type":"string","enum":["A","a"]`, "only in case"},
		{`"input_schema":{"type":"object"`, `"input_schema":{"type":"array"`, "has to be object"},
		{`"tool_use_id":"c1"`, `"tool_use_id":"c2"`, "have the results of"},
		{`"text":"hm"`, `"text":" "`, "non-whitespace"},
		{`"input":{}`, `"input":"{}"`, "not legal here"},
		{`{"role":"user","content":"a"},`, ``, "first"},
		{back,
			`{"role":"user","content":[{"type":"text","text":"go on"},{"type":"tool_result","tool_use_id":"c1","content":"1"}]}`, "not legal here"},
		{back, `{"role":"user","content":"go on"}`, "have the results of"},
		{`,` + back, ``, "have the results of"},
		{`,` + call + `,` + back, `,{"role":"assistant","content":"{"}`, "not the user's"},
		{call, strings.Replace(call, `{"type":"text","text":"hm"}`,
			`{"type":"thinking","thinking":"x","signature":"forged"}`, 1), "not legal here"},
	} {
		bad := strings.Replace(good, c.from, c.to, 1)
		require.NotEqual(t, good, bad, c.from)
		status, said := send(bad)
		assert.Equal(t, 400, status, bad)
		assert.Contains(t, said, c.want)
	}
	status, _ = post(t, s.Anthropic()+"/v1/messages", good)
	assert.Equal(t, 401, status)
}

// A turn of Anthropic's with a thought before its calls has to come back whole.
func TestServerWantsThoughtsBack(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, llmtest.Answer{Thinking: "hm", Calls: []llm.ToolCall{{Name: "look"}}},
		llmtest.Answer{Text: "fine"})
	model := adapters()[1].open(way{s.Anthropic(), s.HTTPClient(), -1, 0})
	r := llm.Request{Prompt: "a", Tools: []llm.Tool{lookTool(true)}}
	resp, err := model.Generate(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, "anthropic", resp.Opaque.Provider)
	result := llm.ToolResult{ID: resp.Calls[0].ID, Value: json.RawMessage(`1`)}
	without := resp
	without.Opaque = llm.Opaque{Provider: "openai", Data: resp.Opaque.Data}
	_, err = model.Generate(t.Context(), r.Next(without, "", result))
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	assert.Contains(t, fault(s), "thinking block")
	_, err = model.Generate(t.Context(), r.Next(resp, "", result))
	require.NoError(t, err, fault(s))
	assert.Contains(t, s.Received()[2].Body.String(), `"signature"`)
}
