package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/thread"
)

func user(text string) llm.Message { return llm.Message{Role: llm.RoleUser, Text: text} }

func called(ids ...string) llm.Message {
	m := llm.Message{Role: llm.RoleModel}
	for _, id := range ids {
		m.Calls = append(m.Calls, llm.ToolCall{ID: id, Name: "look", Args: json.RawMessage(`{}`)})
	}
	return m
}

func results(ids ...string) llm.Message {
	m := llm.Message{Role: llm.RoleUser}
	for _, id := range ids {
		m.Results = append(m.Results, llm.ToolResult{ID: id, Value: json.RawMessage(`1`)})
	}
	return m
}

func TestCheck(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 65)
	cases := []struct {
		name, want string // want is in the text; "" is legal
		r          llm.Request
	}{
		{"prompt", "", llm.Request{Prompt: "hello"}},
		{"messages", "", llm.Request{Messages: []llm.Message{user("a"),
			{Role: llm.RoleModel, Text: "b"}, user("c")}}},
		{"both", "", llm.Request{Messages: []llm.Message{user("a"),
			{Role: llm.RoleModel, Text: "b"}}, Prompt: "c"}},
		{"results", "", llm.Request{Messages: []llm.Message{user("a"), called("1", "2"),
			results("2", "1")}}},
		{"results and prompt", "",
			llm.Request{Messages: []llm.Message{user("a"), called("1"), results("1")},
				Prompt: "b"}},
		{"longest name", "", llm.Request{Prompt: "a", SchemaName: long[:64]}},
		{"nothing", "nothing to answer", llm.Request{System: "a"}},
		{"blank", "turn 1 is empty", llm.Request{Prompt: " \n"}},
		{"ends with the model", "nothing to answer",
			llm.Request{Messages: []llm.Message{user("a"), {Role: llm.RoleModel, Text: "b"}}}},
		{"begins with the model", "user speaks first",
			llm.Request{Messages: []llm.Message{{Role: llm.RoleModel, Text: "b"}}, Prompt: "c"}},
		{"no role", "no known role", llm.Request{Messages: []llm.Message{{Text: "a"}},
			Prompt: "b"}},
		{"no result", "0 results", llm.Request{Messages: []llm.Message{user("a"), called("1")},
			Prompt: "b"}},
		{"result of nothing", "1 results",
			llm.Request{Messages: []llm.Message{user("a"), results("1")}}},
		{"result of another", "no result for a call of look",
			llm.Request{Messages: []llm.Message{user("a"), called("1"), results("2")}}},
		{"one result twice", "no result for a call",
			llm.Request{Messages: []llm.Message{user("a"), called("1", "2"), results("1", "1")}}},
		{"one id twice", "id of its own",
			llm.Request{Messages: []llm.Message{user("a"), called("1", "1"), results("1", "1")}}},
		{"calls of the user", "other role",
			llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Calls: called("1").Calls}},
				Prompt: "b"}},
		{"schema name", "SchemaName", llm.Request{Prompt: "a", SchemaName: "a b"}},
		{"long schema name", "SchemaName", llm.Request{Prompt: "a", SchemaName: long}},
		{"tokens", "MaxTokens", llm.Request{Prompt: "a", MaxTokens: -1}},
		{"tool name", `"a.b"`, llm.Request{Prompt: "a", Tools: []llm.Tool{{Name: "a.b"}}}},
		{"tool twice", "tool a is there twice",
			llm.Request{Prompt: "a", Tools: []llm.Tool{{Name: "a"}, {Name: "a"}}}},
		{"tool schema", "schema of tool a",
			llm.Request{Prompt: "a",
				Tools: []llm.Tool{{Name: "a", Schema: json.RawMessage(`[]`)}}}},
		{"no JSON", "schema of tool a",
			llm.Request{Prompt: "a", Tools: []llm.Tool{{Name: "a", Schema: json.RawMessage(`{`)}}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := c.r.Check()
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
		})
	}
}

func TestNextGoesOn(t *testing.T) {
	t.Parallel()
	first := llm.Request{System: "s", Messages: make([]llm.Message, 0, 8), Prompt: "a", Key: "k/1"}
	resp := llm.Response{Text: "let me look", Calls: called("1").Calls,
		Opaque: llm.Opaque{Provider: "p", Data: json.RawMessage(`[1]`)}}
	next := first.Next(resp, "and hurry", results("1").Results...)
	require.NoError(t, next.Check())
	assert.Empty(t, next.Key, "it is another call")
	assert.Equal(t, "s", next.System)
	turns := next.Turns()
	require.Len(t, turns, 4)
	assert.Equal(t, llm.Message{Role: llm.RoleModel, Text: "let me look", Calls: resp.Calls,
		Opaque: resp.Opaque}, turns[1])
	assert.Equal(t, user("and hurry"), turns[3])

	other := first.Next(llm.Response{JSON: json.RawMessage(`{"a":1}`)}, "wrong: mend it")
	require.NoError(t, other.Check())
	assert.JSONEq(t, `{"a":1}`, other.Turns()[1].Text)
	assert.Len(t, next.Turns(), 4, "two requests that go on from one do not share their turns")
	assert.Equal(t, "let me look", next.Turns()[1].Text)
	assert.Equal(t, "k/1", first.Key)
	assert.Empty(t, first.Messages)
}

func TestForm(t *testing.T) {
	t.Parallel()
	free := llm.Request{}
	form, err := free.Form(runtime.OpenAI)
	require.NoError(t, err)
	assert.Nil(t, form)
	r := llm.Request{Schema: func(d runtime.Dialect) string {
		return map[runtime.Dialect]string{runtime.OpenAI: `{"b":1,"a":2}`, runtime.Gemini: `{`}[d]
	}}
	form, err = r.Form(runtime.OpenAI)
	require.NoError(t, err)
	assert.Equal(t, `{"b":1,"a":2}`, string(form), "the bytes as they are")
	for _, d := range []runtime.Dialect{runtime.Anthropic, runtime.Gemini} {
		_, err = r.Form(d)
		require.ErrorContains(t, err, d.String())
		assert.False(t, thread.Recoverable(err))
	}
}

func TestReadTellsJSONFromText(t *testing.T) {
	t.Parallel()
	asks := llm.Request{Schema: func(runtime.Dialect) string { return `{}` }}
	free := llm.Request{}
	calls := called("1").Calls
	cases := []struct {
		name  string
		r     *llm.Request
		text  string
		calls []llm.ToolCall
		want  llm.Response
	}{
		{"JSON", &asks, " {\"a\":1}\n", nil, llm.Response{JSON: json.RawMessage(`{"a":1}`)}},
		{"no JSON", &asks, "Sure! {", nil, llm.Response{Text: "Sure! {"}},
		{"free", &free, `{"a":1}`, nil, llm.Response{Text: `{"a":1}`}},
		{"beside calls", &asks, `{"a":1}`, calls, llm.Response{Text: `{"a":1}`, Calls: calls}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := c.r.Read(c.text, c.calls)
			assert.Equal(t, c.want, got)
			assert.Equal(t, strings.TrimSpace(c.text), string(got.Body()))
			data, err := runtime.Encode(got) // what an effect stores
			require.NoError(t, err)
			var back llm.Response
			require.NoError(t, json.Unmarshal(data, &back))
			assert.Equal(t, got, back)
		})
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": `{}`, " ": `{}`, `{"a":1}`: `{"a":1}`,
		`null`: `{}`} {
		got, err := llm.Arguments(text)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
	_, err := llm.Arguments(`{"patient":`)
	assert.True(t, thread.Recoverable(err))
	assert.NotContains(t, err.Error(), "patient")
}

func TestHeaderKey(t *testing.T) {
	t.Parallel()
	assert.Empty(t, llm.HeaderKey(""))
	key := llm.HeaderKey("thread of Ann\n/f1/model/1")
	assert.Regexp(t, `^[0-9a-f]{32}$`, key)
	assert.Equal(t, key, llm.HeaderKey("thread of Ann\n/f1/model/1"))
	assert.NotEqual(t, key, llm.HeaderKey("thread of Ann\n/f1/model/2"))
}

func TestResultText(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{`"a \"b\""`: `a "b"`, `{"a":1}`: `{"a":1}`,
		`null`: "null", ``: ``, `""`: ``, `"cut`: `"cut`, `3`: `3`} {
		assert.Equal(t, want, llm.ToolResult{Value: json.RawMessage(value)}.String(), value)
	}
}

func TestStatusDecides(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]runtime.Code{
		400: runtime.CodeInvalid, 401: runtime.CodeForbidden, 403: runtime.CodeForbidden,
		404: runtime.CodeInvalid,
		408: runtime.CodeUnavailable, 409: runtime.CodeUnavailable, 413: runtime.CodeInvalid,
		422: runtime.CodeInvalid,
		425: runtime.CodeUnavailable, 429: runtime.CodeUnavailable, 500: runtime.CodeUnavailable,
		503: runtime.CodeUnavailable,
		529: runtime.CodeUnavailable, 0: runtime.CodeUnavailable, 204: runtime.CodeUnavailable,
	} {
		err := llm.Fail("ask", &llm.CallError{Provider: "p", Status: status})
		assert.Equal(t, want, runtime.CodeOf(err), status)
		assert.Equal(t, want == runtime.CodeUnavailable, thread.Recoverable(err), status)
	}
}

// What a server calls a type, a category, an id may be anything: only words get into a text.
func TestTextsHoldNoPayload(t *testing.T) {
	t.Parallel()
	const payload = "Ann Smith, sk-123456"
	inText := []error{
		&llm.RefusalError{Provider: "p", Category: payload, Text: payload},
		&llm.StopError{Provider: "p", Reason: llm.StopOther, Word: payload, Text: payload},
		&llm.StopError{Provider: "p", Reason: llm.StopLength, Word: payload, Text: payload},
		&llm.CallError{Provider: "p", Status: 400, Type: payload, Request: payload,
			Message: payload},
		llm.Unanswered(t.Context(), "p", true, errors.New(payload)),
		llm.Unanswered(t.Context(), "p", false, errors.New(payload)),
		llm.Unanswered(t.Context(), "p", true,
			&url.Error{Op: "Post", URL: "https://h/?key=" + payload, Err: errors.New(payload)}),
	}
	for _, err := range inText {
		assert.NotContains(t, llm.Fail("ask", err).Error(), "Ann")
		assert.NotContains(t, llm.Fail("ask", err).Error(), "sk-1")
	}
	kept := llm.Fail("ask", &llm.CallError{Provider: "p", Status: 429, Type: "rate_limit_error",
		Request: "req_1"})
	assert.Equal(t, "ask: unavailable: p answered 429 Too Many Requests, request req_1 "+
		"(rate_limit_error)", kept.Error())
	assert.Equal(t, "p refused to answer (content_filter)",
		(&llm.RefusalError{Provider: "p", Category: "content_filter"}).Error())
}

type late struct{ error }

func (late) Timeout() bool   { return true }
func (late) Temporary() bool { return false }

func TestUnanswered(t *testing.T) {
	t.Parallel()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	onTheWay := func(err error) error {
		return &url.Error{Op: "Post", URL: "https://secret@host", Err: err}
	}
	cases := []struct {
		name string
		ctx  context.Context //nolint:containedctx // it is the input
		sent bool
		err  error
		text string
		code runtime.Code
		is   error
	}{
		{"caller gave up", gone, true, errors.New("anything"), "the call was cancelled",
			runtime.CodeUnavailable, context.Canceled},
		{"deadline", t.Context(), true, onTheWay(context.DeadlineExceeded), "in time",
			runtime.CodeUnavailable, context.DeadlineExceeded},
		{"timeout", t.Context(), true, onTheWay(late{errors.New("x")}), "in time",
			runtime.CodeUnavailable, context.DeadlineExceeded},
		{"cut by something else", t.Context(), true, onTheWay(context.Canceled), "cancelled",
			runtime.CodeUnavailable, context.Canceled},
		{"refused", t.Context(), true, onTheWay(dial),
			"cannot be reached: dial tcp: connection refused", runtime.CodeUnavailable, dial},
		{"unreadable", t.Context(), true, errors.New("x"), "no answer that can be read",
			runtime.CodeUnavailable, nil},
		{"refused before the way out", t.Context(), false, onTheWay(dial), "connection refused",
			runtime.CodeUnavailable, dial},
		{"on the way to a key", t.Context(), false, onTheWay(errors.New("x")), "no answer",
			runtime.CodeUnavailable, nil},
		{"not sent", t.Context(), false, errors.New("no key"), "did not send", runtime.CodeInvalid,
			nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := llm.Fail("ask", llm.Unanswered(c.ctx, "p", c.sent, c.err))
			require.ErrorContains(t, err, c.text)
			assert.Equal(t, c.code, runtime.CodeOf(err))
			assert.NotContains(t, err.Error(), "secret")
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			var data *llm.CallError
			require.ErrorAs(t, err, &data)
			assert.NotEmpty(t, data.Message)
		})
	}
}

func TestAnswered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header []string
		wait   time.Duration
		id     string
	}{
		{nil, 0, ""},
		{[]string{"Retry-After", "2", "X-Request-Id", "x"}, 2 * time.Second, "x"},
		{[]string{"Retry-After", "2", "Retry-After-Ms", "1500", "Request-Id", "r", "X-Request-Id",
			"x"}, 1500 * time.Millisecond, "r"},
		{[]string{"Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT"}, 0, ""},
		{[]string{"Retry-After", "-1"}, 0, ""},
		{[]string{"Retry-After", "NaN"}, 0, ""},
		{[]string{"Retry-After", "1e300"}, 0, ""},
	} {
		answer := &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{},
			Body: http.NoBody}
		for i := 0; i < len(c.header); i += 2 {
			answer.Header.Set(c.header[i], c.header[i+1])
		}
		got := llm.Answered("p", answer, "kind", "message")
		assert.Equal(t, c.wait, got.RetryAfter, c.header)
		assert.Equal(t, c.id, got.Request, c.header)
		assert.Equal(t, 429, got.Status)
	}
}
