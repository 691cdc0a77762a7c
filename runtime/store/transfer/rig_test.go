//go:build unix

package transfer_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/store/postgres"
	"github.com/routegen/routegen/runtime/store/postgrestest"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Run(m)) }

// effects counts the effects of the machines below.
var effects atomic.Int64

// machines are what the threads of these tests are made of.
func machines() []thread.Machine {
	return []thread.Machine{
		thread.Func("mail", func(ctx context.Context, to string) (string, error) {
			_, err := thread.Do(ctx, "draft", func(context.Context, string) (string, error) {
				effects.Add(1)
				return "draft for " + to, nil
			})
			if err != nil {
				return "", err
			}
			ok, err := thread.Ask[bool](ctx, "send", thread.Question{Text: "Send it?",
				Payload: []byte(`{"n":1.50}`), Assignees: []string{"ann", "bob"}})
			if err != nil || !ok {
				return "", err
			}
			return thread.Once(ctx, "send", func(context.Context, string) (string, error) {
				effects.Add(1)
				return "sent", nil
			})
		}),
		thread.Func("votes", func(ctx context.Context, _ string) ([]thread.Reply, error) {
			return thread.AskAll(ctx, thread.Question{Name: "sure", Quorum: 2,
				Assignees: []string{"ann", "bob", "cy"}}, thread.Question{Name: "now"})
		}),
		thread.Turns("talk", func(ctx context.Context, in string) (string, error) {
			return in, thread.Say(ctx, "echo", in)
		}),
	}
}

// engineOn opens an engine, which the test closes.
func engineOn(tb testing.TB, s thread.Store) *thread.Engine {
	tb.Helper()
	cfg := thread.Config{Poll: 100 * time.Millisecond}
	if clock, ok := s.(thread.Clock); ok {
		cfg.Clock = clock
	}
	e, err := thread.Open(tb.Context(), s, cfg, machines()...)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = e.Close(context.Background()) })
	return e
}

const oddText = "o'neil \\ \"x\" \u2028 ü"

// file returns a path for a store.
func file(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "threads.db")
}

// rich writes threads of every kind to a new file: of two tenants, that wait, are done and are
// cancelled, a fork, an answer with votes, claims, an extended deadline, metadata, odd texts.
func rich(tb testing.TB) (path string) {
	tb.Helper()
	path = file(tb)
	s, err := sqlite.Open(tb.Context(), path, sqlite.Config{})
	require.NoError(tb, err)
	e := engineOn(tb, s)
	acme, err := e.Tenant("acme")
	require.NoError(tb, err)
	start := func(e *thread.Engine, b thread.Begin) *thread.Thread {
		_, err := e.Start(tb.Context(), b)
		require.NoError(tb, err)
		had, err := e.Wait(tb.Context(), b.ID)
		require.NoError(tb, err)
		return had
	}
	start(e, thread.Begin{ID: "waits", Machine: "mail", Input: oddText, User: "ann",
		Request: "r1", Metadata: []byte(`{"b":1.0,"a":1e2,"a":"twice"}`)})
	start(acme, thread.Begin{ID: "waits", Machine: "mail", Input: "of acme", Request: "r1"})
	done := start(e, thread.Begin{ID: "done", Machine: "mail", Input: "done"})
	_, err = e.Answer(tb.Context(), "done", thread.Answer{Interrupt: done.Open[0].ID,
		Value: []byte(`true`), By: "bob", Request: "r2"})
	require.NoError(tb, err)
	_, err = e.Wait(tb.Context(), "done")
	require.NoError(tb, err)
	votes := start(acme, thread.Begin{ID: "votes", Machine: "votes", Input: ""})
	for _, i := range votes.Open {
		if len(i.Assignees) > 0 {
			_, err = acme.Answer(tb.Context(), "votes", thread.Answer{Interrupt: i.ID,
				Value: []byte(`"yes"`), By: "cy"})
			require.NoError(tb, err)
			_, err = acme.Claim(tb.Context(), i.ID, "ann", false)
			require.NoError(tb, err)
			_, err = acme.Extend(tb.Context(), i.ID, time.Now().Add(time.Hour), "ann")
			require.NoError(tb, err)
		}
	}
	start(e, thread.Begin{ID: "cancelled", Machine: "mail", Input: "x"})
	_, err = e.Cancel(tb.Context(), "cancelled", "ann", "no more")
	require.NoError(tb, err)
	start(e, thread.Begin{ID: "talk", Machine: "talk", Input: "one"})
	_, err = e.Deliver(tb.Context(), thread.Message{Thread: "talk", Machine: "talk", Text: "two",
		By: "ann", Request: "r3"})
	require.NoError(tb, err)
	talk, err := e.Wait(tb.Context(), "talk")
	require.NoError(tb, err)
	_, err = e.Fork(tb.Context(), "talk", talk.Seq, "fork", "ann")
	require.NoError(tb, err)
	require.NoError(tb, e.Close(tb.Context()))
	require.NoError(tb, s.Close())
	return path
}

// many adds threads with messages, so that a copy has many parts.
func many(tb testing.TB, path string, threads, messages int) {
	tb.Helper()
	s, err := sqlite.Open(tb.Context(), path, sqlite.Config{})
	require.NoError(tb, err)
	defer func() { require.NoError(tb, s.Close()) }()
	rules := &thread.Rules{Kinds: thread.DefaultKinds()}
	var had []*thread.Thread
	for n := range threads {
		c := thread.Start(fmt.Sprintf("many-%d", n), "ann", "fp", rules, time.Now())
		require.NoError(tb, s.Commit(tb.Context(), c))
		had = append(had, c.Thread)
	}
	for m := range messages {
		for n, t := range had {
			c := thread.NewChange(t, rules, time.Now())
			c.Add(thread.Entry{Type: thread.EntryMessage, Request: strconv.Itoa(m),
				Text: strings.Repeat("x", m)})
			require.NoError(tb, s.Commit(tb.Context(), c))
			had[n] = c.Thread
		}
	}
}

// reading opens a file to read.
func reading(tb testing.TB, path string) *sqlite.Store {
	tb.Helper()
	s, err := sqlite.OpenReading(tb.Context(), path)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// on opens a migrated schema.
func on(tb testing.TB, d *postgrestest.Database) *postgres.Store {
	tb.Helper()
	s, err := postgres.Open(tb.Context(), d.URL, postgres.Config{Schema: d.Schema})
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = s.Close() })
	return s
}
