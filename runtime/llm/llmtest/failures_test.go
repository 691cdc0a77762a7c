package llmtest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/thread"
)

func TestRefusals(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter, open opener) {
		t.Helper()
		category := map[string]string{"openai": "content_filter", "anthropic": "cyber"}[a.name]
		usage := llm.Usage{InputTokens: 3, OutputTokens: 1}
		_, model := open(llmtest.Answer{Refusal: "I will not help Ann Smith.", Usage: usage},
			llmtest.Answer{Category: category})
		for _, want := range []llm.RefusalError{
			{Provider: a.name, Text: "I will not help Ann Smith.", Usage: usage},
			{Provider: a.name, Category: category},
		} {
			_, err := model.Generate(t.Context(),
				routing(routes.AllRoutes().Only(routes.RouteOrchestrator)))
			var got *llm.RefusalError
			require.ErrorAs(t, err, &got)
			assert.Equal(t, want, *got)
			assert.Equal(t, runtime.CodeForbidden, runtime.CodeOf(err))
			assert.False(t, thread.Recoverable(err))
			assert.NotContains(t, err.Error(), "Ann")
		}
	})
}

func TestStops(t *testing.T) {
	cut := `{"orchestratorRequest":{"goal":"Ann`
	eachAdapter(t, func(t *testing.T, a adapter, open opener) {
		t.Helper()
		for _, c := range []struct {
			answer llmtest.Answer
			reason string
			code   runtime.Code
		}{
			{llmtest.Answer{Text: cut, Stop: llm.StopLength}, llm.StopLength,
				runtime.CodeUnavailable},
			{llmtest.Answer{Calls: []llm.ToolCall{{Name: "look"}}, Stop: llm.StopLength},
				llm.StopLength, runtime.CodeUnavailable},
			{llmtest.Answer{Text: cut, Stop: llm.StopContext}, llm.StopContext,
				runtime.CodeInvalid},
			{llmtest.Answer{Text: cut, Stop: "pause_turn"}, llm.StopOther,
				runtime.CodeUnavailable},
			{llmtest.Answer{Text: cut, Stop: "some_new_reason"}, llm.StopOther,
				runtime.CodeUnavailable},
			{llmtest.Answer{}, llm.StopOther, runtime.CodeUnavailable},
		} {
			_, model := open(c.answer)
			_, err := model.Generate(t.Context(),
				llm.Request{Prompt: "a", Tools: []llm.Tool{lookTool(true)}})
			var got *llm.StopError
			require.ErrorAs(t, err, &got, "%+v", c.answer)
			assert.Equal(t, c.reason, got.Reason)
			assert.Equal(t, a.name, got.Provider)
			assert.Equal(t, c.code, runtime.CodeOf(err))
			assert.NotContains(t, err.Error(), "Ann")
		}
	})
}

// Retries are the client's: the same request with the same key, after the time that the provider
// asks for.
func TestRetries(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter, _ opener) {
		t.Helper()
		busy := llmtest.Answer{Status: http.StatusTooManyRequests, Type: "rate_limit_error",
			RetryAfter: time.Millisecond}
		broken := llmtest.Answer{Status: http.StatusInternalServerError, Type: "api_error",
			RetryAfter: time.Millisecond}
		s := llmtest.NewServer(t, busy, broken, llmtest.Answer{Text: "at last"}, busy, busy)
		r := llm.Request{Prompt: "a", Key: "thread of Ann\n/1"}
		resp, err := a.open(way{a.url(s), s.HTTPClient(), 2, 0}).Generate(t.Context(), r)
		require.NoError(t, err)
		assert.Equal(t, "at last", resp.Text)
		all := s.Received()
		require.Len(t, all, 3)
		for _, one := range all {
			assert.Equal(t, llm.HeaderKey(r.Key), one.Header.Get("Idempotency-Key"))
			assert.Equal(t, all[0].Body.String(), one.Body.String())
		}
		_, err = a.open(way{a.url(s), s.HTTPClient(), 1, 0}).
			Generate(t.Context(), llm.Request{Prompt: "a"})
		var got *llm.CallError
		require.ErrorAs(t, err, &got)
		assert.Equal(t, time.Millisecond, got.RetryAfter)
		assert.Equal(t, "req_5", got.Request)
		assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
		assert.Contains(t, err.Error(),
			"429 Too Many Requests, request req_5 (rate_limit_error)")
		assert.Empty(t, s.Received()[4].Header.Get("Idempotency-Key"))
	})
}

func TestStatuses(t *testing.T) {
	eachAdapter(t, func(t *testing.T, _ adapter, open opener) {
		t.Helper()
		for status, want := range map[int]runtime.Code{
			400: runtime.CodeInvalid, 401: runtime.CodeForbidden, 403: runtime.CodeForbidden,
			404: runtime.CodeInvalid,
			422: runtime.CodeInvalid, 429: runtime.CodeUnavailable,
			500: runtime.CodeUnavailable, 529: runtime.CodeUnavailable,
		} {
			_, model := open(llmtest.Answer{Status: status, Type: "some_error"})
			_, err := model.Generate(t.Context(), llm.Request{Prompt: "a"})
			assert.Equal(t, want, runtime.CodeOf(err), status)
			assert.Contains(t, err.Error(), strconv.Itoa(status))
			assert.NotContains(t, err.Error(), "sk-secret",
				"the provider's message may hold the key")
		}
	})
}

func TestTimeouts(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter, _ opener) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		s := llmtest.NewServer(t, llmtest.Answer{Hang: true, Arrived: cancel},
			llmtest.Answer{Hang: true}, llmtest.Answer{Hang: true})
		patient := a.open(way{a.url(s), s.HTTPClient(), 2, 0})
		_, err := patient.Generate(ctx, llm.Request{Prompt: "a"})
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
		assert.Len(t, s.Received(), 1, "it is not sent again after its context ended")

		// for a request to arrive: each hangs there until its time is over
		const enough = 2 * time.Second
		ctx, cancel = context.WithTimeout(t.Context(), enough)
		defer cancel()
		_, err = patient.Generate(ctx, llm.Request{Prompt: "a"})
		require.ErrorIs(t, err, context.DeadlineExceeded)

		_, err = a.open(way{a.url(s), s.HTTPClient(), -1, enough}).
			Generate(t.Context(), llm.Request{Prompt: "a"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "did not answer in time")
		assert.True(t, thread.Recoverable(err))
	})
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestUnreadableAndUnreachable(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a adapter, open opener) {
		t.Helper()
		for _, bad := range []llmtest.Answer{
			{Body: "<html>log in, Ann</html>", Content: "text/html"}, {Body: `{"id":"x","choi`},
			{Body: `[]`}, {Body: `{}`},
		} {
			_, model := open(bad)
			_, err := model.Generate(t.Context(), llm.Request{Prompt: "a"})
			assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), "%s: %v", bad.Body,
				err)
			assert.NotContains(t, err.Error(), "Ann")
		}
		gone := llmtest.NewServer(quiet{})
		url := a.url(gone)
		gone.Close()
		_, err := a.open(way{url, nil, -1, 0}).Generate(t.Context(), llm.Request{Prompt: "a"})
		require.ErrorContains(t, err, "cannot be reached: dial tcp")
		assert.True(t, thread.Recoverable(err))

		leaky := transport(func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("no proxy for %v", r.Header)
		})
		_, err = a.open(way{url, &http.Client{Transport: leaky}, -1, 0}).
			Generate(t.Context(), llm.Request{Prompt: "a"})
		assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
		assert.NotContains(t, err.Error(), secretKey)

		_, err = a.open(way{"http://user:hunter2@[", nil, -1, 0}).
			Generate(t.Context(), llm.Request{Prompt: "a"})
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err),
			"what the client will never send is not tried again: %v", err)
		require.ErrorContains(t, err, "did not send")
		assert.NotContains(t, err.Error(), "hunter2")
	})
}

func TestConcurrentCalls(t *testing.T) {
	eachAdapter(t, func(t *testing.T, _ adapter, open opener) {
		t.Helper()
		s, model := open(slices.Repeat([]llmtest.Answer{{Text: toOrchestrator}}, 8)...)
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() {
				_, errs[i] = model.Generate(t.Context(),
					routing(routes.AllRoutes().Only(routes.RouteOrchestrator)))
			})
		}
		wg.Wait()
		require.NoError(t, errors.Join(errs...))
		assert.Len(t, s.Received(), 8)
	})
}
