package web_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
	"github.com/routegen/routegen/runtime/web/control"
	"github.com/routegen/routegen/runtime/web/socket"
)

// heir is another process on the store of a rig: an engine of its own name, with its server.
func (r *rig) heir(machines ...thread.Machine) (*thread.Engine, *client.Client) {
	r.Helper()
	engine, err := thread.Open(r.Context(), r.store.Store,
		thread.Config{Kinds: kinds(), Clock: r.time, Owner: "heir"}, machines...)
	require.NoError(r, err)
	server, err := web.New(engine, operator,
		web.Config{Doors: []web.Door{socket.Door(), control.Plans()}})
	require.NoError(r, err)
	front := httptest.NewServer(server)
	r.Cleanup(func() {
		front.Close()
		assert.NoError(r, engine.Close(context.Background()))
	})
	return engine, &client.Client{Base: front.URL, Token: operator}
}

// worker asks, and does its work when it is let: the effect is counted.
func worker(reached, let chan struct{}, did chan string, name string) thread.Machine {
	return thread.Func("worker", func(ctx context.Context, _ string) (string, error) {
		go1, err := thread.Ask[string](ctx, "go",
			thread.Question{Text: "Go?", Plain: thread.PlainText})
		if err != nil {
			return "", err
		}
		reached <- struct{}{}
		select {
		case <-let:
		case <-ctx.Done():
			return "", ctx.Err()
		}
		return thread.Do(ctx, "work", func(context.Context, string) (string, error) {
			did <- name
			return name + " " + go1, nil
		})
	})
}

// TestTheWorkerDiesBetweenAnswerAndConsume has a process die when the answer is stored and the
// step has not gone on: another one does, when the lease is over, and once.
func TestTheWorkerDiesBetweenAnswerAndConsume(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			reached, never, did := make(chan struct{}, 2), make(chan struct{}), make(chan string, 2)
			r := newRig(t, store, web.Config{}, worker(reached, never, did, "dead"))
			th := r.start("worker", `""`)
			r.post("/v1/interrupts/"+th.Open[0].ID+"/answer", `{"text":"now","by":"ann"}`).is(200)
			<-reached
			// the answer, and the lease under which the step runs, are stored
			require.Eventually(t, func() bool {
				i, err := r.engine.Interrupt(t.Context(), th.Open[0].ID)
				return err == nil && i.State == thread.InterruptAnswered
			}, time.Minute, time.Millisecond)
			r.store.refuse(&runtime.Error{Code: runtime.CodeUnavailable, Op: "commit",
				Err: errors.New("the process is dead")})

			let := make(chan struct{}, 1)
			let <- struct{}{}
			engine, caller := r.heir(worker(reached, let, did, "heir"))
			waiting, err := caller.Thread(t.Context(), th.ID)
			require.NoError(t, err)
			assert.Equal(t, thread.StatusRunning, waiting.Status,
				"before the lease is over nobody takes it")
			r.time.move(time.Hour)
			require.NoError(t, engine.Recover(t.Context()))
			for row, err := range caller.Stream(t.Context(), th.ID, "") {
				require.NoError(t, err)
				if row.Type == thread.EntryOver {
					assert.JSONEq(t, `"heir now"`, string(row.Value))
					break
				}
			}
			assert.Equal(t, "heir", <-did)
			assert.Empty(t, did, "once")
			rows, _, err := caller.History(t.Context(), th.ID, "", 1000)
			require.NoError(t, err)
			answers := 0
			for _, row := range rows {
				if row.Type == thread.EntryAnswered {
					answers++
				}
			}
			assert.Equal(t, 1, answers)
		})
	}
}

// TestAZombieWrites lets a process that lost its lease wake up and commit what it did: the
// store refuses it by its fence.
func TestAZombieWrites(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			reached, thaw, did := make(chan struct{}, 2), make(chan struct{}), make(chan string, 2)
			r := newRig(t, store, web.Config{}, worker(reached, thaw, did, "zombie"))
			th := r.start("worker", `""`)
			r.post("/v1/interrupts/"+th.Open[0].ID+"/answer", `{"text":"now","by":"ann"}`).is(200)
			<-reached
			r.settledAnswer(th.Open[0].ID)
			fence := r.fence(th.ID)
			r.store.refuse(&runtime.Error{Code: runtime.CodeUnavailable, Op: "commit",
				Err: errors.New("frozen")})
			r.time.move(time.Hour)
			held := make(chan struct{})
			engine, caller := r.heir(worker(reached, held, did, "living"))
			require.NoError(t, engine.Recover(t.Context()))
			<-reached // the same step runs in the other process
			require.Eventually(t, func() bool { return r.fence(th.ID) > fence }, time.Minute,
				time.Millisecond)

			taken, err := r.store.Load(t.Context(), th.ID)
			require.NoError(t, err)
			c := thread.NewChange(taken, &thread.Rules{Kinds: kinds()}, r.time.now())
			c.Fence = fence // what the zombie's commit carries, on the newest version even
			c.Return(taken.Root().ID, json.RawMessage(`"forged"`))
			c.Finish()
			assert.Equal(t, runtime.CodeConflict,
				runtime.CodeOf(r.store.Store.Commit(t.Context(), c)), "refused by its fence")

			r.store.refuse(nil)
			close(thaw)
			assert.Equal(t, "zombie", <-did, "it wakes up, and did its work")
			close(held)
			for row, err := range caller.Stream(t.Context(), th.ID, "") {
				require.NoError(t, err)
				if row.Type == thread.EntryOver {
					assert.JSONEq(t, `"living now"`, string(row.Value),
						"but what counts is what the living did")
					break
				}
			}
			assert.Equal(t, 1, strings.Count(
				string(r.get("/v1/threads/"+th.ID+"/history?limit=1000").body), `"type":"over"`))
		})
	}
}

func (r *rig) settledAnswer(interrupt string) {
	r.Helper()
	require.Eventually(r, func() bool {
		i, err := r.engine.Interrupt(r.Context(), interrupt)
		return err == nil && i.State == thread.InterruptAnswered
	}, time.Minute, time.Millisecond)
}

// fence is that of the lease under which a thread runs.
func (r *rig) fence(id string) int64 {
	r.Helper()
	th, err := r.store.Store.Load(r.Context(), id)
	require.NoError(r, err)
	return th.Lease.Fence
}

// TestAStoreThatCouldLose refuses to open a file that cannot be switched to a log that
// survives: no server starts on it. (The row speaks of a replicated store; the file store is the
// one there is.)
func TestAStoreThatCouldLose(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "threads.db")
	disk, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	require.NoError(t, err)
	require.NoError(t, disk.Close())
	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	defer func() { assert.NoError(t, db.Close()) }()
	db.SetMaxOpenConns(1)
	var mode string
	require.NoError(t, db.QueryRowContext(t.Context(), "PRAGMA journal_mode=DELETE").Scan(&mode))
	require.Equal(t, "delete", mode)
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	require.NoError(t, err)
	var n int
	// somebody reads: the mode cannot change
	require.NoError(t, tx.QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_master").
		Scan(&n))
	_, err = sqlite.Open(t.Context(), path, sqlite.Config{})
	assert.Equal(t, runtime.CodeUnavailable, runtime.CodeOf(err), "%v", err)
	require.NoError(t, tx.Rollback())
	disk, err = sqlite.Open(t.Context(), path, sqlite.Config{})
	require.NoError(t, err, "the control: without the reader it is switched, and opens")
	assert.NoError(t, disk.Close())
}
