//go:build unix

package web_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/postgres"
	"github.com/routegen/routegen/runtime/store/postgrestest"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Run(m)) }

// TestAStreamShowsWhatAnotherServerCommits has two servers over one database, as two processes
// have: each with a store, an engine and a listener of its own. A thread runs at one and is
// followed at the other, for 50 turns. The engines would look for changes every hour.
func TestAStreamShowsWhatAnotherServerCommits(t *testing.T) {
	t.Parallel()
	d := postgrestest.New(t)
	require.NoError(t, postgres.Migrate(t.Context(), d.URL, d.Schema))
	engines, addresses := make([]*thread.Engine, 2), make([]string, 2)
	for n := range engines {
		s, err := postgres.Open(t.Context(), d.URL, postgres.Config{Schema: d.Schema})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, s.Close()) })
		e, err := thread.Open(t.Context(), s, thread.Config{Clock: s, Kinds: kinds(),
			Poll: time.Hour}, machines()...)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, e.Close(context.Background())) })
		server, err := web.New(e, operator, web.Config{})
		require.NoError(t, err)
		front := httptest.NewServer(server)
		t.Cleanup(front.Close)
		t.Cleanup(front.CloseClientConnections)
		engines[n], addresses[n] = e, front.URL
	}
	_, err := engines[0].Start(t.Context(), thread.Begin{ID: "followed", Machine: "talk",
		Input: "0"})
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		addresses[1]+"/v1/threads/followed/stream", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+operator)
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	require.Equal(t, 200, res.StatusCode)
	lines := bufio.NewScanner(res.Body)
	sees := func(echo string) {
		for lines.Scan() {
			if strings.Contains(lines.Text(), `"type":"message"`) {
				require.Contains(t, lines.Text(), `"value":"`+echo+`"`, "each once and in order")
				return
			}
		}
		require.Fail(t, "the stream has ended")
	}
	sees("0")
	var took []time.Duration
	for n := range 50 {
		echo := fmt.Sprintf("turn %d", n)
		_, err := engines[0].Deliver(t.Context(), thread.Message{Thread: "followed",
			Machine: "talk", Text: echo, By: "ann"})
		require.NoError(t, err)
		_, err = engines[0].Wait(t.Context(), "followed")
		require.NoError(t, err)
		committed := time.Now()
		sees(echo)
		took = append(took, time.Since(committed))
	}
	slices.Sort(took)
	t.Logf("median %s, most %s", took[25], took[49])
	assert.Less(t, took[25], 250*time.Millisecond)
}
