package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// streamEnd is a response that ends its request when a row of some type came often enough.
type streamEnd struct {
	http.ResponseWriter
	end  context.CancelFunc
	sign string
	left int
}

func (s *streamEnd) Write(data []byte) (int, error) { return s.WriteString(string(data)) }

// WriteString is there because the response of net/http has it.
func (s *streamEnd) WriteString(text string) (int, error) {
	if strings.Contains(text, s.sign) {
		if s.left--; s.left == 0 {
			s.end()
		}
	}
	return len(text), nil
}

func (*streamEnd) Flush() {}

func (*streamEnd) SetWriteDeadline(time.Time) error { return nil }

// BenchmarkStream streams a thread that asks 1,000 questions, each with its answer, over
// Server-Sent Events: what is allocated, by row.
func BenchmarkStream(b *testing.B) {
	const questions = 1000
	engine, err := thread.Open(b.Context(), mem.Open(), thread.Config{}, machines()...)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, engine.Close(context.Background())) })
	server, err := web.New(engine, operator, web.Config{Rate: 1e9, Burst: 1e9})
	require.NoError(b, err)
	for range questions {
		_, err := engine.Start(b.Context(), thread.Begin{Machine: "ask", Input: "x"})
		require.NoError(b, err)
	}
	b.ReportAllocs()
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/stream", http.NoBody)
		req.Host = "localhost"
		req.Header.Set("Authorization", "Bearer "+operator)
		server.ServeHTTP(&streamEnd{httptest.NewRecorder(), cancel, `"type":"asked"`,
			questions}, req)
	}
}
