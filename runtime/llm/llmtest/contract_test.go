package llmtest_test

import (
	"encoding/json"
	"net/http"
	"strings"
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
	"github.com/routegen/routegen/runtime/thread"
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
				APIKey: secretKey, BaseURL: w.url, HTTPClient: w.client, Retries: w.retries,
				Timeout: w.timeout,
			})
		}},
		{"anthropic", runtime.Anthropic, (*llmtest.Server).Anthropic, func(w way) llm.Model {
			return anthropic.New("m", anthropic.Config{
				APIKey: secretKey, BaseURL: w.url, HTTPClient: w.client, Retries: w.retries,
				Timeout: w.timeout,
			})
		}},
	}
}

// opener starts a server with a script, and a model that asks it without retries.
type opener func(script ...llmtest.Answer) (*llmtest.Server, llm.Model)

// eachAdapter runs a test for every adapter.
func eachAdapter(t *testing.T, test func(t *testing.T, a adapter, open opener)) {
	t.Helper()
	t.Parallel()
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			test(t, a, func(script ...llmtest.Answer) (*llmtest.Server, llm.Model) {
				s := llmtest.NewServer(t, script...)
				return s, a.open(way{a.url(s), s.HTTPClient(), -1, 0})
			})
		})
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

// Every route of the system goes out in its own bytes, within the provider's rules, and a reply
// comes back through the generated decoder.
func TestSchemasOfAllRoutes(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter, open opener) {
		t.Helper()
		for route := range routes.AllRoutes().All() {
			set := routes.AllRoutes().Only(route)
			s, model := open(llmtest.Answer{Text: `{}`})
			s.Expect(routes.InterruptRoutingSchema(set, a.dialect))
			resp, err := model.Generate(t.Context(), routing(set))
			require.NoError(t, err, "%s: %v", route, fault(s))
			assert.JSONEq(t, `{}`, string(resp.JSON))
		}
		set := routes.InterruptRouteSet{}.With(routes.RouteOrchestrator,
			routes.RouteDiscoveryDispatch)
		s, model := open(llmtest.Answer{Text: toOrchestrator,
			Usage: llm.Usage{InputTokens: 9, OutputTokens: 5, CachedTokens: 4}})
		s.Expect(routes.InterruptRoutingSchema(set, a.dialect))
		resp, err := model.Generate(t.Context(), routing(set))
		require.NoError(t, err, fault(s))
		var got routes.InterruptRouting
		require.NoError(t, got.DecodeReply(resp.Body(), set))
		assert.Equal(t, "ship it", got.OrchestratorRequest.Goal)
		assert.Equal(t, llm.Usage{InputTokens: 9, OutputTokens: 5, CachedTokens: 4}, resp.Usage)
		assert.True(t, strings.HasPrefix(resp.Model, "m"))
	})
}

func fault(s *llmtest.Server) string {
	all := s.Received()
	if len(all) == 0 {
		return "nothing was sent"
	}
	return all[len(all)-1].Fault
}

// The control of the test above: a schema that lost its order, and one of another dialect, do not
// get through.
func TestServerRefusesBadSchemas(t *testing.T) {
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
		{"plain dialect of all routes", func(runtime.Dialect) string {
			return routes.InterruptRoutingSchema(routes.AllRoutes(), runtime.Plain)
		}, "is not taken"},
		{"open object", func(runtime.Dialect) string {
			return `{"type":"object","properties":{},"required":[]}`
		}, "closed objects"},
		{"dangling reference", func(runtime.Dialect) string {
			return `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],"additionalProperties":false}`
		}, "leads nowhere"},
	}
	eachAdapter(t, func(t *testing.T, a adapter, open opener) {
		t.Helper()
		for _, c := range cases {
			s, model := open()
			s.Expect(routes.InterruptRoutingSchema(set, a.dialect))
			r := routing(set)
			r.Schema = c.schema
			_, err := model.Generate(t.Context(), r)
			require.Error(t, err, c.name)
			assert.Contains(t, fault(s), c.want)
			assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
			assert.False(t, thread.Recoverable(err))
			assert.NotContains(t, err.Error(), c.want,
				"what the provider says may quote the request")
			var data *llm.CallError
			require.ErrorAs(t, err, &data)
			assert.Contains(t, data.Message, c.want, "and is kept in the data")
			assert.Len(t, s.Received(), 1, "it is not sent again")
		}
	})
}

func TestNothingIsSentWithoutForm(t *testing.T) {
	eachAdapter(t, func(t *testing.T, _ adapter, open opener) {
		t.Helper()
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

func lookTool(strict bool) llm.Tool {
	return llm.Tool{
		Name: "look", Description: "Looks something up.", Strict: strict,
		Schema: json.RawMessage(
			`{"type":"object","properties":{"what":{"type":"string"},"deep":{"type":"boolean"}},"required":["what","deep"],"additionalProperties":false}`),
	}
}

// A conversation with tools: two calls at once, a thought before them, one result that failed, then
// the reply in the form asked for.
func TestTools(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter, open opener) {
		t.Helper()
		two := []llm.ToolCall{{Name: "look",
			Args: json.RawMessage(`{"what":"<b>&","deep":true}`)}, {Name: "now"}}
		s, model := open(
			llmtest.Answer{Text: "Let me look.", Calls: two, Thinking: "I know nothing yet."},
			llmtest.Answer{Calls: two[1:]},
			llmtest.Answer{Calls: two[1:]},
			llmtest.Answer{Text: toOrchestrator},
		)
		r := routing(routes.AllRoutes().Only(routes.RouteOrchestrator))
		r.Tools = []llm.Tool{lookTool(true), {Name: "now"}}
		s.Expect(r.Schema(a.dialect), string(r.Tools[0].Schema),
			`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)
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
			llm.ToolResult{ID: back.Calls[0].ID, Value: json.RawMessage(`"not found"`),
				Failed: true})
		resp, err = model.Generate(t.Context(), r)
		require.NoError(t, err, fault(s))
		// nothing came of it
		r = r.Next(resp, "", llm.ToolResult{ID: resp.Calls[0].ID, Value: json.RawMessage(`""`)})
		resp, err = model.Generate(t.Context(), r)
		require.NoError(t, err, fault(s))
		r = r.Next(resp, "Decide now.",
			llm.ToolResult{ID: resp.Calls[0].ID, Value: json.RawMessage(`{"t":1}`)})
		resp, err = model.Generate(t.Context(), r)
		require.NoError(t, err, fault(s))
		assert.JSONEq(t, toOrchestrator, string(resp.JSON))
		wire := s.Received()[3].Body.String()
		assert.Contains(t, wire, `noon`)
		assert.Contains(t, wire, `{\"t\":1}`)
		assert.Contains(t, wire, `not found`)
	})
}

func TestToolRulesAreEnforced(t *testing.T) {
	open := llm.Tool{Name: "open",
		Schema: json.RawMessage(
			`{"type":"object","properties":{"a":{"type":"string","maxLength":3}}}`)}
	eachAdapter(t, func(t *testing.T, _ adapter, start opener) {
		t.Helper()
		s, model := start(llmtest.Answer{Text: "fine"})
		_, err := model.Generate(t.Context(), llm.Request{Prompt: "a", Tools: []llm.Tool{open}})
		require.NoError(t, err, "a tool that is not strict may have any schema: %s", fault(s))
		strict := open
		strict.Strict = true
		_, err = model.Generate(t.Context(),
			llm.Request{Prompt: "a", Tools: []llm.Tool{strict}})
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
		assert.Contains(t, fault(s), "closed objects")
	})
}

func TestFreeTextAndTurns(t *testing.T) {
	eachAdapter(t, func(t *testing.T, _ adapter, open opener) {
		t.Helper()
		s, model := open(llmtest.Answer{Text: "Hello, Ann."},
			llmtest.Answer{Text: "Sorry, here it is: {"})
		said := []llm.Message{
			{Role: llm.RoleUser, Text: "a"}, {Role: llm.RoleModel, Text: "b"},
			{Role: llm.RoleModel, Text: "c"}, {Role: llm.RoleUser, Text: "d"},
		}
		resp, err := model.Generate(t.Context(), llm.Request{System: "Be kind.", Messages: said,
			Prompt: "I am Ann.", MaxTokens: 77})
		require.NoError(t, err, fault(s))
		assert.Equal(t, "Hello, Ann.", resp.Text)
		assert.Nil(t, resp.JSON)
		body := s.Received()[0].Body.String()
		for _, want := range []string{"Be kind.", "I am Ann.", ":77"} {
			assert.Contains(t, body, want)
		}
		assert.NotContains(t, body, "schema")
		resp, err = model.Generate(t.Context(),
			routing(routes.AllRoutes().Only(routes.RouteOrchestrator)))
		require.NoError(t, err)
		assert.Nil(t, resp.JSON)
		assert.Equal(t, "Sorry, here it is: {", string(resp.Body()),
			"for the decoder to refuse")
	})
}
