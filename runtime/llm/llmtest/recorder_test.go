package llmtest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
)

// What was recorded through the real clients replays without a server, errors and retries included, and holds no credential.
func TestRecorderReplays(t *testing.T) {
	t.Parallel()
	for _, a := range adapters() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := llmtest.NewServer(t,
				llmtest.Answer{Status: 429, Type: "rate_limit_error", RetryAfter: time.Millisecond},
				llmtest.Answer{Text: toOrchestrator, Usage: llm.Usage{InputTokens: 3}},
				llmtest.Answer{Text: "a\nb"},
			)
			through := func(r *llmtest.Recorder) []llm.Response {
				model := a.open(way{a.url(s), &http.Client{Transport: r}, 1, 0})
				first, err := model.Generate(t.Context(), routing(routes.AllRoutes().Only(routes.RouteOrchestrator)))
				require.NoError(t, err)
				second, err := model.Generate(t.Context(), llm.Request{Prompt: "a"})
				require.NoError(t, err)
				return []llm.Response{first, second}
			}
			recorded := through(&llmtest.Recorder{Dir: dir, Next: s.Client().Transport})
			s.Close()
			assert.Equal(t, recorded, through(&llmtest.Recorder{Dir: dir}))
			files, err := filepath.Glob(filepath.Join(dir, "*.json"))
			require.NoError(t, err)
			assert.Len(t, files, 3)
			for _, name := range files {
				data, err := os.ReadFile(name)
				require.NoError(t, err)
				assert.NotContains(t, string(data), secretKey)
				assert.NotContains(t, strings.ToLower(string(data)), "authorization")
			}
			_, err = a.open(way{a.url(s), &http.Client{Transport: &llmtest.Recorder{Dir: dir}}, -1, 0}).
				Generate(t.Context(), llm.Request{Prompt: "something new"})
			require.Error(t, err)
			var data *llm.CallError
			require.ErrorAs(t, err, &data)
			assert.Contains(t, data.Message, "no such exchange was recorded")
		})
	}
}

func ask(t *testing.T, r http.RoundTripper, url, body string, header ...string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := r.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	return string(data), err
}

// echo answers with what it is told, as a provider that repeats a key does.
func echo(said string) http.RoundTripper {
	return transport(func(r *http.Request) (*http.Response, error) {
		_, err := io.Copy(io.Discard, r.Body)
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Set-Cookie": {"id=1"}}, Body: io.NopCloser(strings.NewReader(said)), Request: r,
		}, err
	})
}

func TestRecorderWritesNoCredential(t *testing.T) {
	t.Parallel()
	const url = "http://h/v1/x"
	cases := []struct {
		name, url, body, said string
		header                []string
		written               bool
	}{
		{"clean", url, `{}`, `{"a":1}`, []string{"Authorization", "Bearer sk-1234"}, true},
		{"text", url, `{}`, `not JSON`, []string{"Authorization", "Bearer sk-1234"}, true},
		{"key in the reply", url, `{}`, `{"error":"bad key sk-1234"}`, []string{"Authorization", "Bearer sk-1234"}, false},
		{"key in a text", url, `{}`, `bad key sk-1234`, []string{"Authorization", "Bearer sk-1234"}, false},
		{"key in the request", url, `{"a":"sk-1234"}`, `{}`, []string{"X-Api-Key", "sk-1234"}, false},
		{"key in escapes", url, `{"a":"\u0073k-1234"}`, `{}`, []string{"X-Api-Key", "sk-1234"}, false},
		{"key with a quote", url, `{}`, `{"a":"say \"sk-1234\""}`, []string{"X-Api-Key", `say "sk-1234"`}, false},
		{"key with a quote in a text", url, `{}`, `say "sk-1234"`, []string{"X-Api-Key", `say "sk-1234"`}, false},
		{"key in an object with a key twice", url, `{}`, `{"a":1,"a":"\u0073k-1234"}`, []string{"X-Api-Key", "sk-1234"}, false},
		{"key in the path", "http://h/sk-1234/x", `{}`, `{}`, []string{"Api-Key", "sk-1234"}, false},
		{"key in the query", url + "?key=sk-1234", `{"a":"sk-1234"}`, `{}`, nil, false},
		{"query is not kept", url + "?key=sk-1234", `{}`, `{}`, nil, true},
		{"password", "http://u:sk-1234@h/x", `{"a":"sk-1234"}`, `{}`, nil, false},
		{"cookie", url, `{}`, `{"a":"c=123456"}`, []string{"Cookie", "c=123456"}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			said, err := ask(t, &llmtest.Recorder{Dir: dir, Next: echo(c.said)}, c.url, c.body, c.header...)
			files, globErr := filepath.Glob(filepath.Join(dir, "*"))
			require.NoError(t, globErr)
			if !c.written {
				require.ErrorContains(t, err, "not written")
				assert.NotContains(t, err.Error(), "sk-1234")
				assert.Empty(t, files)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.said, said)
			require.Len(t, files, 1)
			data, err := os.ReadFile(files[0])
			require.NoError(t, err)
			assert.NotContains(t, string(data), "sk-1234")
			assert.NotContains(t, string(data), "Cookie")
			said, err = ask(t, &llmtest.Recorder{Dir: dir}, c.url, c.body)
			require.NoError(t, err)
			assert.Equal(t, strings.TrimSpace(c.said), compact(said))
		})
	}
}

func compact(text string) string {
	if !json.Valid([]byte(text)) {
		return text
	}
	return strings.Join(strings.Fields(text), "")
}

func TestRecorderReplaysNoForeignHeader(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := ask(t, &llmtest.Recorder{Dir: dir, Next: echo(`{}`)}, "http://h/x", `{}`)
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	data, err := os.ReadFile(files[0])
	require.NoError(t, err)
	for from, to := range map[string]string{`"header": {}`: `"header": {"Authorization": "x"}`, `"method"`: `"authorization": "x", "method"`} {
		edited := strings.Replace(string(data), from, to, 1)
		require.NotEqual(t, string(data), edited)
		require.NoError(t, os.WriteFile(files[0], []byte(edited), 0o600))
		_, err = ask(t, &llmtest.Recorder{Dir: dir}, "http://h/x", `{}`)
		require.ErrorContains(t, err, "uthorization")
	}
}
