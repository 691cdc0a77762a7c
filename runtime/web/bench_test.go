package web_test

import (
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// BenchmarkAnswer compares an answer by the engine's own call with one over HTTP on loopback, on SQLite.
func BenchmarkAnswer(b *testing.B) {
	disk, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "threads.db"), sqlite.Config{})
	require.NoError(b, err)
	engine, err := thread.Open(b.Context(), disk, thread.Config{}, machines()...)
	require.NoError(b, err)
	server, err := web.New(engine, operator, web.Config{Rate: 1e9, Burst: 1e9})
	require.NoError(b, err)
	front := httptest.NewServer(server)
	b.Cleanup(func() {
		front.Close()
		require.NoError(b, engine.Close(b.Context()))
		require.NoError(b, disk.Close())
	})
	client := &web.Client{Base: front.URL, Token: operator}
	value := json.RawMessage(`{"ok":true}`)
	answer := map[string]func(a runtime.Answer) error{
		"engine": func(a runtime.Answer) error { _, err := engine.Answer(b.Context(), "", a); return err },
		"http":   func(a runtime.Answer) error { _, err := client.Answer(b.Context(), a); return err },
	}
	for _, way := range []string{"engine", "http"} {
		b.Run(way, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				t, err := engine.Start(b.Context(), thread.Begin{Machine: "ask", Input: "x"})
				require.NoError(b, err)
				t, err = engine.Wait(b.Context(), t.ID)
				require.NoError(b, err)
				b.StartTimer()
				require.NoError(b, answer[way](runtime.Answer{Interrupt: t.Open[0].ID, Value: value, By: "ann"}))
			}
		})
	}
}
