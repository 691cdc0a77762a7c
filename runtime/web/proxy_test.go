package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

// Failed log-ins are limited for each address, behind a trusted proxy too; who is none cannot take
// another's address on.
func TestFailedLogInsBehindAProxy(t *testing.T) {
	t.Parallel()
	r := newRig(t, "mem", web.Config{TrustedProxies: []string{"10.0.0.0/8", "::1"}, Rate: 1e-9,
		Burst: 3})
	fails := func(from, header, value string) int {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet,
			"http://localhost/v1/token", nil)
		req.RemoteAddr = from
		req.Header.Set("Authorization", "Bearer wrong")
		if header != "" {
			req.Header.Set(header, value)
		}
		w := httptest.NewRecorder()
		r.server.ServeHTTP(w, req)
		return w.Code
	}
	const xff = "X-Forwarded-For"
	for range 3 {
		assert.Equal(t, 401, fails("10.0.0.1:1", xff, "192.0.2.1"))
	}
	for _, same := range [][2]string{{xff, "192.0.2.1"}, {xff, "6.6.6.6, 192.0.2.1"},
		{xff, "192.0.2.1, 10.0.0.9"}, {xff, "192.0.2.1:4711"}, {xff, "::ffff:192.0.2.1"},
		{"Forwarded", `for=6.6.6.6, for="192.0.2.1:80";proto=https`}, {"Forwarded",
			"For=192.0.2.1;by=10.0.0.1"}} {
		assert.Equal(t, 429, fails("10.0.0.1:1", same[0], same[1]), same)
	}
	assert.Equal(t, 429, fails("192.0.2.1:5", "", ""), "the same address without a proxy")
	assert.Equal(t, 401, fails("10.0.0.1:1", xff, "192.0.2.2"), "the control: another address")
	assert.Equal(t, 401, fails("10.0.0.1:1", "Forwarded", `for="[2001:db8::7]:80"`))
	for range 3 { // a stranger who is no proxy writes what they like
		fails("203.0.113.5:1", xff, "192.0.2.77")
	}
	assert.Equal(t, 429, fails("203.0.113.5:1", xff, "192.0.2.78"), "it is not read from them")
	assert.Equal(t, 401, fails("10.0.0.1:1", xff, "192.0.2.77"))
	for range 4 { // what is no address is the proxy's
		fails("10.0.0.2:1", xff, "unknown")
	}
	assert.Equal(t, 429, fails("10.0.0.2:1", xff, "_hidden"))

	_, err := web.New(r.engine, operator, web.Config{TrustedProxies: []string{"proxy.example"}})
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
}
