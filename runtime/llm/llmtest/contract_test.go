package llmtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/anthropic"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/llm/openai"
)

// way is how the test reaches an adapter.
type way struct {
	url     string
	client  *http.Client
	retries int
	timeout time.Duration
}

const secretKey = "sk-canary-of-the-tests"

// adapter is one provider. What the tests below say holds for both.
type adapter struct {
	name    string
	dialect runtime.Dialect
	url     func(s *llmtest.Server) string
	open    func(w way) llm.Model
}

func adapters() []adapter {
	return []adapter{
		{"openai", runtime.OpenAI, (*llmtest.Server).OpenAI, func(w way) llm.Model {
			return openai.New("m", openai.Config{
				APIKey: secretKey, BaseURL: w.url, HTTPClient: w.client, Retries: w.retries, Timeout: w.timeout,
			})
		}},
		{"anthropic", runtime.Anthropic, (*llmtest.Server).Anthropic, func(w way) llm.Model {
			return anthropic.New("m", anthropic.Config{
				APIKey: secretKey, BaseURL: w.url, HTTPClient: w.client, Retries: w.retries, Timeout: w.timeout,
			})
		}},
	}
}

// opener returns how a test starts a server with a script, and a model that asks it without retries.
func (a adapter) opener(t *testing.T) func(script ...llmtest.Answer) (*llmtest.Server, llm.Model) {
	t.Helper()
	return func(script ...llmtest.Answer) (*llmtest.Server, llm.Model) {
		s := llmtest.NewServer(t, script...)
		return s, a.open(way{a.url(s), s.Client(), -1, 0})
	}
}

// routing asks for an interrupt routing narrowed to a set.
func routing(set routes.InterruptRouteSet) llm.Request {
	return llm.Request{
		System: "You route.", Prompt: "Where to, for Ann Smith?", SchemaName: "InterruptRouting",
		Schema: func(d runtime.Dialect) string { return routes.InterruptRoutingSchema(set, d) },
	}
}

const toOrchestrator = `{"orchestratorRequest":{"goal":"ship it","phase":"DISCOVERY","feedback":null}}`

// Every route of the system goes out in its own bytes, within the provider's rules, and a reply comes back through the generated decoder.
func TestSchemasOfAllRoutes(t *testing.T) {
	t.Parallel()
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			open := a.opener(t)
			for route := range routes.AllRoutes().All() {
				set := routes.AllRoutes().Only(route)
				s, model := open(llmtest.Answer{Text: `{}`})
				s.Expect(routes.InterruptRoutingSchema(set, a.dialect))
				resp, err := model.Generate(t.Context(), routing(set))
				require.NoError(t, err, "%s: %v", route, fault(s))
				assert.JSONEq(t, `{}`, string(resp.JSON))
			}
			set := routes.InterruptRouteSet{}.With(routes.RouteOrchestrator, routes.RouteDiscoveryDispatch)
			s, model := open(llmtest.Answer{Text: toOrchestrator, Usage: llm.Usage{InputTokens: 9, OutputTokens: 5, CachedTokens: 4}})
			s.Expect(routes.InterruptRoutingSchema(set, a.dialect))
			resp, err := model.Generate(t.Context(), routing(set))
			require.NoError(t, err, fault(s))
			var got routes.InterruptRouting
			require.NoError(t, got.DecodeReply(resp.Reply(), set))
			assert.Equal(t, "ship it", got.OrchestratorRequest.Goal)
			assert.Equal(t, llm.Usage{InputTokens: 9, OutputTokens: 5, CachedTokens: 4}, resp.Usage)
			assert.True(t, strings.HasPrefix(resp.Model, "m"))
		})
	}
}

func fault(s *llmtest.Server) string {
	all := s.Received()
	if len(all) == 0 {
		return "nothing was sent"
	}
	return all[len(all)-1].Fault
}

// The control of the test above: a schema that lost its order, and one of another dialect, do not get through.
func TestServerRefusesBadSchemas(t *testing.T) {
	t.Parallel()
	set := routes.AllRoutes().Only(routes.RouteOrchestrator)
	sorted := func(d runtime.Dialect) string {
		var v any
		if err := json.Unmarshal([]byte(routes.InterruptRoutingSchema(set, d)), &v); err != nil {
			return err.Error()
		}
		data, err := json.Marshal(v)
		if err != nil {
			return err.Error()
		}
		return string(data)
	}
	cases := []struct {
		name   string
		schema func(d runtime.Dialect) string
		want   string
	}{
		{"keys sorted", sorted, "lost their order"},
		{"plain dialect of all routes", func(runtime.Dialect) string { return routes.InterruptRoutingSchema(routes.AllRoutes(), runtime.Plain) }, "is not taken"},
		{"open object", func(runtime.Dialect) string { return `{"type":"object","properties":{},"required":[]}` }, "closed objects"},
		{"dangling reference", func(runtime.Dialect) string {
			return `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],"additionalProperties":false}`
		}, "leads nowhere"},
	}
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			open := a.opener(t)
			for _, c := range cases {
				s, model := open()
				s.Expect(routes.InterruptRoutingSchema(set, a.dialect))
				r := routing(set)
				r.Schema = c.schema
				_, err := model.Generate(t.Context(), r)
				require.Error(t, err, c.name)
				assert.Contains(t, fault(s), c.want)
				assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
				assert.False(t, runtime.Recoverable(err))
				assert.NotContains(t, err.Error(), c.want, "what the provider says may quote the request")
				var data *llm.CallError
				require.ErrorAs(t, err, &data)
				assert.Contains(t, data.Message, c.want, "and is there for who asks")
				assert.Len(t, s.Received(), 1, "it is not sent again")
			}
		})
	}
}

func TestNothingIsSentWithoutForm(t *testing.T) {
	t.Parallel()
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			open := a.opener(t)
			s, model := open()
			r := routing(routes.InterruptRouteSet{})
			_, err := model.Generate(t.Context(), r)
			require.ErrorContains(t, err, "no form")
			r = llm.Request{}
			_, err = model.Generate(t.Context(), r)
			require.ErrorContains(t, err, "nothing to answer")
			assert.Empty(t, s.Received())
		})
	}
}

func lookTool(strict bool) llm.Tool {
	return llm.Tool{
		Name: "look", Description: "Looks something up.", Strict: strict,
		Schema: json.RawMessage(`{"type":"object","properties":{"what":{"type":"string"},"deep":{"type":"boolean"}},"required":["what","deep"],"additionalProperties":false}`),
	}
}

// A conversation with tools: two calls at once, a thought before them, one result that failed, then the reply in the form asked for.
func TestTools(t *testing.T) {
	t.Parallel()
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			open := a.opener(t)
			two := []llm.ToolCall{{Name: "look", Args: json.RawMessage(`{"what":"<b>&","deep":true}`)}, {Name: "now"}}
			s, model := open(
				llmtest.Answer{Text: "Let me look.", Calls: two, Thinking: "I know nothing yet."},
				llmtest.Answer{Calls: two[1:]},
				llmtest.Answer{Calls: two[1:]},
				llmtest.Answer{Text: toOrchestrator},
			)
			r := routing(routes.AllRoutes().Only(routes.RouteOrchestrator))
			r.Tools = []llm.Tool{lookTool(true), {Name: "now"}}
			s.Expect(r.Schema(a.dialect), string(r.Tools[0].Schema), `{"type":"object","properties":{},"required":[],"additionalProperties":false}`)
			resp, err := model.Generate(t.Context(), r)
			require.NoError(t, err, fault(s))
			assert.Nil(t, resp.JSON, "what is said beside calls is no reply")
			assert.Equal(t, "Let me look.", resp.Text)
			require.Len(t, resp.Calls, 2)
			assert.JSONEq(t, `{"what":"<b>&","deep":true}`, string(resp.Calls[0].Args))
			assert.JSONEq(t, `{}`, string(resp.Calls[1].Args))

			stored, err := runtime.Encode(resp) // what goes on is what was stored
			require.NoError(t, err)
			var back llm.Response
			require.NoError(t, json.Unmarshal(stored, &back))
			r = r.Next(back, "",
				llm.ToolResult{ID: back.Calls[1].ID, Value: json.RawMessage(`"noon"`)},
				llm.ToolResult{ID: back.Calls[0].ID, Value: json.RawMessage(`"not found"`), Failed: true})
			resp, err = model.Generate(t.Context(), r)
			require.NoError(t, err, fault(s))
			r = r.Next(resp, "", llm.ToolResult{ID: resp.Calls[0].ID, Value: json.RawMessage(`""`)}) // nothing came of it
			resp, err = model.Generate(t.Context(), r)
			require.NoError(t, err, fault(s))
			r = r.Next(resp, "Decide now.", llm.ToolResult{ID: resp.Calls[0].ID, Value: json.RawMessage(`{"t":1}`)})
			resp, err = model.Generate(t.Context(), r)
			require.NoError(t, err, fault(s))
			assert.JSONEq(t, toOrchestrator, string(resp.JSON))
			wire := s.Received()[3].Body.String()
			assert.Contains(t, wire, `noon`)
			assert.Contains(t, wire, `{\"t\":1}`)
			assert.Contains(t, wire, `not found`)
		})
	}
}

func TestToolRulesAreEnforced(t *testing.T) {
	t.Parallel()
	open := llm.Tool{Name: "open", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","maxLength":3}}}`)}
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			start := a.opener(t)
			s, model := start(llmtest.Answer{Text: "fine"})
			_, err := model.Generate(t.Context(), llm.Request{Prompt: "a", Tools: []llm.Tool{open}})
			require.NoError(t, err, "a tool that is not strict may have any schema: %s", fault(s))
			strict := open
			strict.Strict = true
			_, err = model.Generate(t.Context(), llm.Request{Prompt: "a", Tools: []llm.Tool{strict}})
			assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
			assert.Contains(t, fault(s), "closed objects")
		})
	}
}

func TestFreeTextAndTurns(t *testing.T) {
	t.Parallel()
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			open := a.opener(t)
			s, model := open(llmtest.Answer{Text: "Hello, Ann."}, llmtest.Answer{Text: "Sorry, here it is: {"})
			said := []llm.Message{
				{Role: llm.RoleUser, Text: "a"}, {Role: llm.RoleModel, Text: "b"}, {Role: llm.RoleModel, Text: "c"}, {Role: llm.RoleUser, Text: "d"},
			}
			resp, err := model.Generate(t.Context(), llm.Request{System: "Be kind.", Messages: said, Prompt: "I am Ann.", MaxTokens: 77})
			require.NoError(t, err, fault(s))
			assert.Equal(t, "Hello, Ann.", resp.Text)
			assert.Nil(t, resp.JSON)
			body := s.Received()[0].Body.String()
			for _, want := range []string{"Be kind.", "I am Ann.", ":77"} {
				assert.Contains(t, body, want)
			}
			assert.NotContains(t, body, "schema")
			resp, err = model.Generate(t.Context(), routing(routes.AllRoutes().Only(routes.RouteOrchestrator)))
			require.NoError(t, err)
			assert.Nil(t, resp.JSON)
			assert.Equal(t, "Sorry, here it is: {", string(resp.Reply()), "for the decoder to refuse")
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			open := a.opener(t)
			category := map[string]string{"openai": "content_filter", "anthropic": "cyber"}[a.name]
			usage := llm.Usage{InputTokens: 3, OutputTokens: 1}
			_, model := open(llmtest.Answer{Refusal: "I will not help Ann Smith.", Usage: usage}, llmtest.Answer{Category: category})
			for _, want := range []llm.RefusalError{
				{Provider: a.name, Text: "I will not help Ann Smith.", Usage: usage}, {Provider: a.name, Category: category},
			} {
				_, err := model.Generate(t.Context(), routing(routes.AllRoutes().Only(routes.RouteOrchestrator)))
				var got *llm.RefusalError
				require.ErrorAs(t, err, &got)
				assert.Equal(t, want, *got)
				assert.Equal(t, runtime.CodeForbidden, runtime.CodeOf(err))
				assert.False(t, runtime.Recoverable(err))
				assert.NotContains(t, err.Error(), "Ann")
			}
		})
	}
}

func TestStops(t *testing.T) {
	t.Parallel()
	cut := `{"orchestratorRequest":{"goal":"Ann`
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			open := a.opener(t)
			for _, c := range []struct {
				answer llmtest.Answer
				reason string
				code   runtime.Code
			}{
				{llmtest.Answer{Text: cut, Stop: llm.StopLength}, llm.StopLength, runtime.CodeUnavailable},
				{llmtest.Answer{Calls: []llm.ToolCall{{Name: "look"}}, Stop: llm.StopLength}, llm.StopLength, runtime.CodeUnavailable},
				{llmtest.Answer{Text: cut, Stop: llm.StopContext}, llm.StopContext, runtime.CodeInvalid},
				{llmtest.Answer{Text: cut, Stop: "pause_turn"}, llm.StopOther, runtime.CodeUnavailable},
				{llmtest.Answer{Text: cut, Stop: "some_new_reason"}, llm.StopOther, runtime.CodeUnavailable},
				{llmtest.Answer{}, llm.StopOther, runtime.CodeUnavailable},
			} {
				_, model := open(c.answer)
				_, err := model.Generate(t.Context(), llm.Request{Prompt: "a", Tools: []llm.Tool{lookTool(true)}})
				var got *llm.StopError
				require.ErrorAs(t, err, &got, "%+v", c.answer)
				assert.Equal(t, c.reason, got.Reason)
				assert.Equal(t, a.name, got.Provider)
				assert.Equal(t, c.code, runtime.CodeOf(err))
				assert.NotContains(t, err.Error(), "Ann")
			}
		})
	}
}

// Retries are the client's: the same request with the same key, after the time that the provider asks for.
func TestRetries(t *testing.T) {
	t.Parallel()
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			busy := llmtest.Answer{Status: http.StatusTooManyRequests, Type: "rate_limit_error", RetryAfter: time.Millisecond}
			broken := llmtest.Answer{Status: http.StatusInternalServerError, Type: "api_error", RetryAfter: time.Millisecond}
			s := llmtest.NewServer(t, busy, broken, llmtest.Answer{Text: "at last"}, busy, busy)
			r := llm.Request{Prompt: "a", Key: "thread of Ann\n/1"}
			resp, err := a.open(way{a.url(s), s.Client(), 2, 0}).Generate(t.Context(), r)
			require.NoError(t, err)
			assert.Equal(t, "at last", resp.Text)
			all := s.Received()
			require.Len(t, all, 3)
			for _, one := range all {
				assert.Equal(t, llm.HeaderKey(r.Key), one.Header.Get("Idempotency-Key"))
				assert.Equal(t, all[0].Body.String(), one.Body.String())
			}
			_, err = a.open(way{a.url(s), s.Client(), 1, 0}).Generate(t.Context(), llm.Request{Prompt: "a"})
			var got *llm.CallError
			require.ErrorAs(t, err, &got)
			assert.Equal(t, time.Millisecond, got.RetryAfter)
			assert.Equal(t, "req_5", got.Request)
			assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
			assert.Contains(t, err.Error(), "429 Too Many Requests, request req_5 (rate_limit_error)")
			assert.Empty(t, s.Received()[4].Header.Get("Idempotency-Key"))
		})
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			open := a.opener(t)
			for status, want := range map[int]runtime.Code{
				400: runtime.CodeInvalid, 401: runtime.CodeForbidden, 403: runtime.CodeForbidden, 404: runtime.CodeInvalid,
				422: runtime.CodeInvalid, 429: runtime.CodeUnavailable, 500: runtime.CodeUnavailable, 529: runtime.CodeUnavailable,
			} {
				_, model := open(llmtest.Answer{Status: status, Type: "some_error"})
				_, err := model.Generate(t.Context(), llm.Request{Prompt: "a"})
				assert.Equal(t, want, runtime.CodeOf(err), status)
				assert.Contains(t, err.Error(), strconv.Itoa(status))
				assert.NotContains(t, err.Error(), "sk-secret", "the provider's message may hold the key")
			}
		})
	}
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			s := llmtest.NewServer(t, llmtest.Answer{Hang: true, Arrived: cancel}, llmtest.Answer{Hang: true}, llmtest.Answer{Hang: true})
			patient := a.open(way{a.url(s), s.Client(), 2, 0})
			_, err := patient.Generate(ctx, llm.Request{Prompt: "a"})
			require.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
			assert.Len(t, s.Received(), 1, "nobody waits: it is not sent again")

			const enough = 2 * time.Second // for a request to arrive: each hangs there until its time is over
			ctx, cancel = context.WithTimeout(t.Context(), enough)
			defer cancel()
			_, err = patient.Generate(ctx, llm.Request{Prompt: "a"})
			require.ErrorIs(t, err, context.DeadlineExceeded)

			_, err = a.open(way{a.url(s), s.Client(), -1, enough}).Generate(t.Context(), llm.Request{Prompt: "a"})
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorContains(t, err, "did not answer in time")
			assert.True(t, runtime.Recoverable(err))
		})
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestUnreadableAndUnreachable(t *testing.T) {
	t.Parallel()
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			open := a.opener(t)
			for _, bad := range []llmtest.Answer{
				{Body: "<html>log in, Ann</html>", Content: "text/html"}, {Body: `{"id":"x","choi`}, {Body: `[]`}, {Body: `{}`},
			} {
				_, model := open(bad)
				_, err := model.Generate(t.Context(), llm.Request{Prompt: "a"})
				assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), "%s: %v", bad.Body, err)
				assert.NotContains(t, err.Error(), "Ann")
			}
			gone := llmtest.NewServer(quiet{})
			url := a.url(gone)
			gone.Close()
			_, err := a.open(way{url, nil, -1, 0}).Generate(t.Context(), llm.Request{Prompt: "a"})
			require.ErrorContains(t, err, "cannot be reached: dial tcp")
			assert.True(t, runtime.Recoverable(err))

			leaky := transport(func(r *http.Request) (*http.Response, error) {
				return nil, fmt.Errorf("no proxy for %v", r.Header)
			})
			_, err = a.open(way{url, &http.Client{Transport: leaky}, -1, 0}).Generate(t.Context(), llm.Request{Prompt: "a"})
			assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
			assert.NotContains(t, err.Error(), secretKey)

			_, err = a.open(way{"http://user:hunter2@[", nil, -1, 0}).Generate(t.Context(), llm.Request{Prompt: "a"})
			assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err), "what the client will never send is not tried again: %v", err)
			require.ErrorContains(t, err, "did not send")
			assert.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			open := a.opener(t)
			s, model := open(slices.Repeat([]llmtest.Answer{{Text: toOrchestrator}}, 8)...)
			var wg sync.WaitGroup
			errs := make([]error, 8)
			for i := range errs {
				wg.Go(func() {
					_, errs[i] = model.Generate(t.Context(), routing(routes.AllRoutes().Only(routes.RouteOrchestrator)))
				})
			}
			wg.Wait()
			require.NoError(t, errors.Join(errs...))
			assert.Len(t, s.Received(), 8)
		})
	}
}
