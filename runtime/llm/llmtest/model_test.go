package llmtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/thread"
)

func TestModelFollowsItsScript(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	m := llmtest.NewModel(
		llmtest.Writes("for a review").For(llmtest.Wants("ReviewRouting")),
		llmtest.JSON(toOrchestrator).For(llmtest.Shows("orchestratorRequest"), llmtest.Said("Ann")),
		llmtest.Calls(llm.ToolCall{Name: "look"}),
		llmtest.Fails(boom),
		llmtest.Refuses("no"),
	)
	r := routing(routes.AllRoutes().Only(routes.RouteOrchestrator))
	resp, err := m.Generate(t.Context(), r)
	require.NoError(t, err)
	assert.JSONEq(t, toOrchestrator, string(resp.JSON))
	assert.Equal(t, "scripted", resp.Model)
	require.EqualError(t, m.Left(),
		"4 replies of the script were not asked for: text, calls, fails, refuses")

	resp, err = m.Generate(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, []llm.ToolCall{{ID: "call_1", Name: "look", Args: json.RawMessage(`{}`)}},
		resp.Calls)
	_, err = m.Generate(t.Context(), r)
	require.ErrorIs(t, err, boom)
	_, err = m.Generate(t.Context(), r)
	var refusal *llm.RefusalError
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, runtime.CodeForbidden, runtime.CodeOf(err))

	r.SchemaName = "ReviewRouting"
	m.AddReplies(llmtest.Writes("later"))
	resp, err = m.Generate(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, "for a review", resp.Text)
	assert.Len(t, m.Asked(), 5)
	assert.Equal(t, "ReviewRouting", m.Asked()[4].SchemaName)
}

func TestModelIsLoudWhenTheScriptIsOver(t *testing.T) {
	t.Parallel()
	m := llmtest.NewModel(llmtest.Writes("a").For(llmtest.Said("nobody says this")))
	r := routing(routes.AllRoutes().Only(routes.RouteOrchestrator))
	r.Tools = []llm.Tool{lookTool(false)}
	r =
		r.Next(
			llm.Response{Calls: []llm.ToolCall{{ID: "1", Name: "look",
				Args: json.RawMessage(`{"q":1}`)}}}, "",
			llm.ToolResult{ID: "1", Value: json.RawMessage(`"found it"`)})
	_, err := m.Generate(t.Context(), r)
	assert.False(t, thread.Recoverable(err), "another try has no more replies")
	for _, want := range []string{
		"request 1: no reply matches of those left: text", `schema InterruptRouting: "{\"type`,
		`tool look: "Looks`, `system: "You route."`,
		`user: "Where to, for Ann Smith?"`, `call look: "{\"q\":1}"`, `result 1: "found it"`,
	} {
		assert.ErrorContains(t, err, want)
	}
	_, err = llmtest.NewModel().Generate(t.Context(), r)
	assert.ErrorContains(t, err, "the script is over")
}

func TestModelRefusesWhatEveryModelRefuses(t *testing.T) {
	t.Parallel()
	m := llmtest.NewModel(llmtest.Writes("a").Always())
	_, err := m.Generate(t.Context(), llm.Request{})
	require.ErrorContains(t, err, "nothing to answer")
	_, err = m.Generate(t.Context(), llm.Request{Prompt: "a", Schema: func(runtime.Dialect) string {
		return ""
	}})
	require.ErrorContains(t, err, "no form")
	assert.Empty(t, m.Asked())
}

func TestModelHangsUntilTheCallerGivesUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	m := llmtest.NewModel(llmtest.Reply{Name: "stop",
		Give: func(ctx context.Context, r llm.Request) (llm.Response, error) {
			cancel()
			return llmtest.Hangs().Give(ctx, r)
		}})
	_, err := m.Generate(ctx, llm.Request{Prompt: "a"})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
	_, err = m.Generate(ctx, llm.Request{Prompt: "a"})
	require.ErrorIs(t, err, context.Canceled, "a call that is over takes no reply")
}

// Callers at the same time are told apart by what they ask, not by who comes first.
func TestModelServesConcurrentCallers(t *testing.T) {
	t.Parallel()
	var script []llmtest.Reply
	names := []string{"alpha", "beta", "gamma", "delta"}
	for _, name := range names {
		script = append(script, llmtest.Writes("reply to "+name).For(llmtest.Said("I am "+name)))
	}
	script = append(script, llmtest.Writes("anybody").Always())
	m := llmtest.NewModel(script...)
	got, other := make([]string, len(names)), make([]string, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			resp, _ := m.Generate(t.Context(), llm.Request{Prompt: "I am " + name})
			got[i] = resp.Text
			resp, _ = m.Generate(t.Context(), llm.Request{Prompt: "who?"})
			other[i] = resp.Text
		})
	}
	wg.Wait()
	assert.Equal(t, []string{"reply to alpha", "reply to beta", "reply to gamma", "reply to delta"},
		got)
	assert.Equal(t, []string{"anybody", "anybody", "anybody", "anybody"}, other)
	assert.NoError(t, m.Left(), "a reply that is given always is never left over")
}
