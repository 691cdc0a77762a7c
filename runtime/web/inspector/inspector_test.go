package inspector_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/web/inspector"
)

// try sends a request; headers are pairs.
func try(handler http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func TestEveryFileIsServedUnderThePolicy(t *testing.T) {
	t.Parallel()
	page := inspector.Handler(inspector.Config{})
	files, err := filepath.Glob("page/*")
	require.NoError(t, err)
	require.Greater(t, len(files), 15)
	packed := 0
	for _, file := range append(files, "page/") {
		path := strings.TrimPrefix(file, "page")
		if path == "/index.html" {
			assert.Equal(t, http.StatusNotFound, try(page, http.MethodGet, path).Code,
				"its template is not")
			continue
		}
		w := try(page, http.MethodGet, path)
		require.Equal(t, http.StatusOK, w.Code, path)
		policy := w.Header().Get("Content-Security-Policy")
		assert.Contains(t, policy,
			"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'")
		assert.Contains(t, policy, "require-trusted-types-for 'script'")
		assert.NotContains(t, policy, "unsafe", "inline and eval stay forbidden")
		assert.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
		assert.Equal(t, "DENY", w.Header().Get("X-Frame-Options"))
		media := map[string]string{".js": "text/javascript", ".css": "text/css",
			".svg": "image/svg+xml", "": "text/html"}[filepath.Ext(path)]
		assert.Contains(t, w.Header().Get("Content-Type"), media, path)

		small := try(page, http.MethodGet, path, "Accept-Encoding", "br, gzip;q=0.8")
		if small.Header().Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(small.Body)
			require.NoError(t, err)
			plain, err := io.ReadAll(z)
			require.NoError(t, err)
			assert.Equal(t, w.Body.String(), string(plain))
		}
		packed += small.Body.Len()
		assert.Empty(t, try(page, http.MethodGet, path, "Accept-Encoding", "gzip;q=0").Header().
			Get("Content-Encoding"))

		again := try(page, http.MethodGet, path, "If-None-Match", w.Header().Get("ETag"))
		assert.Equal(t, http.StatusNotModified, again.Code)
		assert.Empty(t, again.Body.String())
		assert.NotEqual(t, w.Header().Get("ETag"), small.Header().Get("ETag"),
			"a packed body is another one")
		head := try(page, http.MethodHead, path)
		assert.Equal(t, w.Header().Get("Content-Length"), head.Header().Get("Content-Length"))
		assert.Empty(t, head.Body.String())
		wrong := try(page, http.MethodPost, path)
		assert.Equal(t, http.StatusMethodNotAllowed, wrong.Code)
		assert.Equal(t, "GET, HEAD", wrong.Header().Get("Allow"))
	}
	for _, path := range []string{"/page/main.js", "/../inspector.go", "/main.js/", "/nothing",
		"/.."} {
		assert.Equal(t, http.StatusNotFound, try(page, http.MethodGet, path).Code, path)
	}
}

// The files themselves keep to what the policy asks: no inline script or style, no way from text to
// markup, nothing from another origin.
func TestNoInlineCodeNoMarkupFromText(t *testing.T) {
	t.Parallel()
	banned := map[string]*regexp.Regexp{
		".html": regexp.MustCompile(
			`(?i)<style|<script(?:[^>]*)>[^<]|\son\w+=|\sstyle=|javascript:|https?://`),
		".css": regexp.MustCompile(`(?i)@import|url\(|https?://`),
		".js": regexp.MustCompile(
			`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|setAttribute\("on|` +
				`localStorage\.\w+\([^)]*token|console\.|https?://(?:[^w]|w[^w])`),
	}
	banned[".svg"] = regexp.MustCompile(`(?i)<script|<style|\son\w+=|href`)
	clean := func(name, text string) bool { return !banned[filepath.Ext(name)].MatchString(text) }
	files, err := filepath.Glob("page/*")
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.True(t, clean(file, string(data)), "%s: %s", file,
			banned[filepath.Ext(file)].FindString(string(data)))
		assert.LessOrEqual(t, strings.Count(string(data), "\n"), 500, "%s has too many lines", file)
	}
	for name, bad := range map[string]string{
		"a.html": `<p onclick="go()">`, "b.html": "<style>p{}</style>",
		"c.html": "<script>go()</script>", "a.css": "@import url(x)",
		"a.js": "el.innerHTML = text", "b.js": `eval("1")`, "c.js": `fetch("https://example.com")`,
	} {
		assert.False(t, clean(name, bad), "the check has to see %s", bad)
	}
}

// TestABodyThatNeverComes asks for the page with a body of which nothing is sent: the reply does
// not wait for it. The control hides from the handler that a connection has deadlines.
func TestABodyThatNeverComes(t *testing.T) {
	t.Parallel()
	page := inspector.Handler(inspector.Config{})
	ask := func(handler http.Handler, request string, patience time.Duration) (string, error) {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().
			String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() }) // before the server, which waits for it
		_, err = conn.Write([]byte(request))
		require.NoError(t, err)
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
		answer, err := io.ReadAll(conn) // until the server closes the connection
		return string(answer), err
	}
	for path, status := range map[string]string{"/": "200 OK", "/main.js": "200 OK",
		"/nothing": "404 Not Found"} {
		for _, body := range []string{"Content-Length: 100\r\n\r\nx",
			"Transfer-Encoding: chunked\r\n\r\n5\r\nab"} {
			answer, err := ask(page, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n"+body,
				20*time.Second)
			require.NoError(t, err, path)
			assert.Contains(t, answer, "HTTP/1.1 "+status)
		}
	}
	blind := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page.ServeHTTP(struct{ http.ResponseWriter }{w}, r)
	})
	_, err := ask(blind, "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nx",
		time.Second)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "the control: the server keeps the connection")
}

func TestConfigIsText(t *testing.T) {
	t.Parallel()
	page := inspector.Handler(inspector.Config{
		Title: `<script>alert(1)</script>`, API: `"><script>`,
		Places: []inspector.Place{{Name: "<b>A", Path: "javascript:alert(1)"},
			{Name: "B", Path: "/b/"}},
	})
	body := try(page, http.MethodGet, "/").Body.String()
	assert.NotContains(t, body, "<script>")
	assert.NotContains(t, body, "javascript:")
	assert.Contains(t, body, "&lt;script&gt;alert(1)&lt;/script&gt;")
	assert.Contains(t, body, `<a href="/b/">B</a>`)
	assert.Contains(t, try(inspector.Handler(inspector.Config{}), http.MethodGet, "/").
		Body.String(), `<meta name="api" content="v1/">`)
}

func TestWordsAreJSON(t *testing.T) {
	t.Parallel()
	var table struct {
		Lines map[string][]string `json:"lines"`
	}
	require.NoError(t, json.Unmarshal(inspector.Words(), &table))
	assert.Equal(t, []string{"the work is paused"}, table.Lines["paused"])
}
