package thread_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// askingMachine asks one question, and returns the answer with the id that its effects go by.
func askingMachine() thread.Machine {
	return thread.Func("ask", func(ctx context.Context, text string) (string, error) {
		return thread.Ask[string](ctx, "q", thread.Question{Text: text, Plain: thread.PlainText})
	})
}

// tenantStores are the stores that an engine of several tenants is tried on.
func tenantStores(t *testing.T) map[string]thread.Store {
	t.Helper()
	file, err := sqlite.Open(t.Context(), t.TempDir()+"/threads.db", sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	return map[string]thread.Store{"mem": mem.Open(), "sqlite": file}
}

// TestTenantsAreApart starts the same threads, by the same requests, in three tenants. Each sees
// its own, and every operation on what only another one has is refused as on what nobody has.
func TestTenantsAreApart(t *testing.T) {
	t.Parallel()
	for name, store := range tenantStores(t) {
		ctx := t.Context()
		all, err := thread.Open(ctx, store, thread.Config{}, askingMachine())
		require.NoError(t, err, name)
		engines := map[string]*thread.Engine{}
		questions := map[string]string{}
		for _, tenant := range []string{"", "acme", "other"} {
			e, err := all.Tenant(tenant)
			require.NoError(t, err)
			engines[tenant] = e
			b := thread.Begin{ID: "t1", Machine: "ask", Input: "Go?", User: "ann", Request: "r1"}
			_, err = e.Start(ctx, b)
			require.NoError(t, err)
			had, err := e.Wait(ctx, "t1")
			require.NoError(t, err)
			again, err := e.Start(ctx, b)
			require.NoError(t, err, "the same request finds the tenant's own thread")
			assert.Equal(t, "t1", again.ID)
			b.ID = ""
			b.Request = "r2"
			_, err = e.Start(ctx, b)
			require.NoError(t, err, "a thread whose id follows from the request")
			require.Len(t, had.OpenInterrupts(), 1)
			assert.Equal(t, "t1", had.OpenInterrupts()[0].Thread)
			questions[tenant] = had.OpenInterrupts()[0].ID
			forked, err := e.Fork(ctx, "t1", had.Seq, "fork", "eve")
			require.NoError(t, err)
			assert.Equal(t, [2]string{"fork", "t1"}, [2]string{forked.Thread.ID,
				forked.Thread.ForkedFrom.Thread})
		}
		acme := engines["acme"]
		_, err = acme.Start(ctx, thread.Begin{ID: "only", Machine: "ask", Input: "Go?",
			Request: "mine"})
		require.NoError(t, err)
		only, err := acme.Wait(ctx, "only")
		require.NoError(t, err)
		question := only.OpenInterrupts()[0].ID
		for tenant, e := range engines {
			rows, err := e.Threads(ctx, thread.Query{})
			require.NoError(t, err)
			inbox, err := e.Inbox(ctx, thread.InterruptQuery{})
			require.NoError(t, err)
			want := 3
			if tenant == "acme" {
				want = 4
			}
			assert.Len(t, rows, want, "%s of %q", name, tenant)
			for _, r := range rows {
				assert.NotContains(t, r.ID, "/")
			}
			require.NoError(t, err)
			assert.LessOrEqual(t, len(inbox), want)
			for _, i := range inbox {
				assert.NotContains(t, i.Thread, "/")
			}
			stats, err := e.Stats(ctx, time.Time{})
			require.NoError(t, err)
			require.Len(t, stats, 1)
			assert.LessOrEqual(t, stats[0].Count, want)
			if tenant == "acme" {
				continue
			}
			for _, id := range []string{"only", "acme/only", "/acme/only", "//acme/only"} {
				refusedAsUnknown(t, e, id, question)
			}
			// what is left of it is as it was
			had, err := acme.Thread(ctx, "only")
			require.NoError(t, err)
			assert.Equal(t, only.Version, had.Version, "%s of %q", name, tenant)
		}
		_, err = acme.Answer(ctx, "t1", thread.Answer{Text: "of acme", By: "ann", Request: "a"})
		require.NoError(t, err)
		done, err := acme.Wait(ctx, "t1")
		require.NoError(t, err)
		assert.JSONEq(t, `"of acme"`, string(done.Result))
		for _, tenant := range []string{"", "other"} {
			had, err := engines[tenant].Thread(ctx, "t1")
			require.NoError(t, err)
			assert.Equal(t, thread.StatusWaiting, had.Status())
			i, err := engines[tenant].Answer(ctx, "", thread.Answer{Interrupt: questions[tenant],
				Text: "of " + tenant, By: "ann", Request: "a"})
			require.NoError(t, err, "the request id of another tenant is free here")
			assert.Equal(t, "t1", i.Thread)
		}
		followsItsOwn(t, engines)
		require.NoError(t, acme.Close(ctx), "it closes the engine of all")
		_, err = all.Start(ctx, thread.Begin{Machine: "ask"})
		assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err))
	}
}

// refusedAsUnknown tries everything that takes an id on those of another tenant.
func refusedAsUnknown(t *testing.T, e *thread.Engine, id, question string) {
	t.Helper()
	ctx := t.Context()
	errs := map[string]error{}
	_, errs["thread"] = e.Thread(ctx, id)
	_, errs["wait"] = e.Wait(ctx, id)
	_, errs["interrupt"] = e.Interrupt(ctx, question)
	_, errs["answer"] = e.Answer(ctx, id, thread.Answer{Interrupt: question, Text: "x"})
	_, errs["answer by id"] = e.Answer(ctx, "", thread.Answer{Interrupt: question, Text: "x"})
	_, errs["answer all"] = e.AnswerAll(ctx, thread.Answer{Interrupt: question, Text: "x"})
	_, errs["claim"] = e.Claim(ctx, question, "eve", false)
	_, errs["extend"] = e.Extend(ctx, question, time.Now().Add(time.Hour), "eve")
	_, errs["deliver"] = e.Deliver(ctx, thread.Message{Thread: id, Text: "x"})
	_, errs["escape"] = e.Escape(ctx, id, thread.EscapeNow, "eve", "")
	_, errs["cancel"] = e.Cancel(ctx, id, "eve", "")
	_, errs["fork"] = e.Fork(ctx, id, 1, "stolen", "eve")
	_, errs["change"] = e.Change(ctx, id, func(*thread.Change) error { return nil })
	for what, err := range errs {
		assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err), "%s %s: %v", what, id, err)
	}
	rows, err := e.History(ctx, id, 0, 0)
	assert.True(t, err != nil || len(rows) == 0, "history of %s", id)
	row, err := e.ByRequest(ctx, id, "mine")
	assert.True(t, err != nil || row == nil, "request of %s", id)
	found, err := e.Inbox(ctx, thread.InterruptQuery{Thread: id})
	require.NoError(t, err)
	assert.Empty(t, found, "inbox of %s", id)
	found, err = e.Inbox(ctx, thread.InterruptQuery{ID: question})
	require.NoError(t, err)
	assert.Empty(t, found)
	over, end := context.WithTimeout(ctx, 20*time.Millisecond)
	defer end()
	for row := range e.Subscribe(over, thread.Filter{Thread: id}, 0) {
		assert.Fail(t, "an entry of another tenant", "%s: %v", id, row)
	}
}

// followsItsOwn reads the log of all threads of each tenant.
func followsItsOwn(t *testing.T, engines map[string]*thread.Engine) {
	t.Helper()
	for tenant, e := range engines {
		ctx, end := context.WithTimeout(t.Context(), 300*time.Millisecond)
		seen := map[string]bool{}
		for row, err := range e.Subscribe(ctx, thread.Filter{}, 0) {
			require.NoError(t, err)
			seen[row.Thread] = true
		}
		end()
		assert.True(t, seen["t1"] && seen["fork"], "%q", tenant)
		assert.Equal(t, tenant == "acme", seen["only"], "%q", tenant)
		for id := range seen {
			assert.NotContains(t, id, "/")
		}
	}
}

func TestTenantNames(t *testing.T) {
	t.Parallel()
	e, err := thread.Open(t.Context(), mem.Open(), thread.Config{}, askingMachine())
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	for _, bad := range []string{"shapes", "a/b", "/", "a\x00", "\xff", strings.Repeat("a", 101)} {
		_, err := e.Tenant(bad)
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err), "%q", bad)
	}
	same, err := e.Tenant("")
	require.NoError(t, err)
	assert.Same(t, e, same)
}

// TestStepsSeeTheirTenant has a step start a thread by the engine of its context.
func TestStepsSeeTheirTenant(t *testing.T) {
	t.Parallel()
	starts := thread.Func("starts", func(ctx context.Context, _ string) (string, error) {
		e, err := thread.EngineOf(ctx)
		if err != nil {
			return "", err
		}
		t, err := e.Start(ctx, thread.Begin{ID: "made", Machine: "ask", Input: "Go?"})
		if err != nil {
			return "", err
		}
		_, err = thread.Do(ctx, "more", func(ctx context.Context, _ string) (string, error) {
			own, err := thread.EngineOf(ctx)
			if err != nil {
				return "", err
			}
			more, err := own.Start(ctx, thread.Begin{ID: "more", Machine: "ask", Input: "On?"})
			if err != nil {
				return "", err
			}
			return more.ID, nil
		})
		return t.ID, err
	})
	e, err := thread.Open(t.Context(), mem.Open(), thread.Config{}, starts, askingMachine())
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	acme, err := e.Tenant("acme")
	require.NoError(t, err)
	_, err = acme.Start(t.Context(), thread.Begin{ID: "t", Machine: "starts", Input: ""})
	require.NoError(t, err)
	_, err = acme.Wait(t.Context(), "t")
	require.NoError(t, err)
	_, err = acme.Wait(t.Context(), "made")
	require.NoError(t, err)
	_, err = acme.Wait(t.Context(), "more")
	require.NoError(t, err)
	for _, id := range []string{"made", "more"} {
		_, err = e.Thread(t.Context(), id)
		assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err))
	}
}
