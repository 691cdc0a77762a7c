//go:build unix

package killloop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	webcontrol "github.com/routegen/routegen/runtime/web/control"
	"github.com/routegen/routegen/runtime/web/socket"
)

// workerEnv makes this test binary one of the processes that are killed. Its value is an
// assignment.
const workerEnv = "ROUTEGEN_KILL_WORKER"

const token = "kill-loop-operator-0123456789abcdef"

// lease is how long a process is left alone; it is stopped for longer than that.
const lease = 700 * time.Millisecond

// assignment says what a worker is.
type assignment struct {
	Dir         string        `json:"dir"`
	Proc        string        `json:"proc"`  // name of this very process
	Owner       string        `json:"owner"` // of its engine
	CommitDelay time.Duration `json:"eager"`
	Control     string        `json:"control"`
}

// The controls: workers that break a promise, which the check must see.
const (
	controlNoFence  = "no fence"  // who loses a race for a commit is told that it won
	controlNoIntent = "no intent" // effects of Once begin before that is stored
)

// worker is a process with an engine and a server.
type worker struct {
	assignment

	out *ledger
}

// TestKillLoopWorker is no test: it is the main function of a worker.
func TestKillLoopWorker(t *testing.T) { //nolint:paralleltest // it is alone in its process
	told := os.Getenv(workerEnv)
	if told == "" {
		t.Skip("the kill loop runs this in processes of its own")
	}
	w := &worker{}
	require.NoError(t, json.Unmarshal([]byte(told), &w.assignment))
	require.NoError(t, w.run(t.Context(), os.NewFile(3, "ready")))
}

// run serves until the standard input ends.
func (w *worker) run(ctx context.Context, ready io.WriteCloser) (err error) {
	if w.out, err = openLedger(w.Dir, w.Proc); err != nil {
		return err
	}
	if w.Control == controlNoIntent {
		w.out.slow = 30 * time.Millisecond
	}
	disk, err := w.open(ctx)
	if err != nil {
		return err
	}
	flow, err := w.workflow()
	if err != nil {
		return err
	}
	machines, err := w.machines()
	if err != nil {
		return err
	}
	kinds := append([]runtime.Kind(nil), flow.Kinds()...)
	for n := range kinds {
		if kinds[n].Retry != nil {
			kinds[n].Retry = &runtime.Retry{Attempts: 3, Backoff: "constant",
				First: 20 * time.Millisecond}
		}
	}
	store := &watched{Store: disk, out: w.out, loose: w.Control == controlNoFence}
	engine, err := thread.Open(ctx, store, thread.Config{
		Owner: w.Owner, CommitDelay: w.CommitDelay, Lease: lease, Poll: 40 * time.Millisecond,
		Kinds: kinds,
	}, append(machines, flow)...)
	if err != nil {
		return err
	}
	//nolint:contextcheck // a call has its own
	server, err := web.New(engine, token, web.Config{
		Doors: []web.Door{socket.Door(), webcontrol.Plans(), webcontrol.Reroutes(flow)}, Rate: 1e6,
		Burst: 1e6})
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	front := server.HTTP("")
	go func() { _ = front.Serve(listener) }()
	if _, err := fmt.Fprintf(ready, "http://%s\n", listener.Addr()); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until the parent closes it, or is gone
	if err := front.Close(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	if err := engine.Close(ctx); err != nil {
		return err
	}
	return disk.Close() //nolint:contextcheck // it ends, whatever the context says
}

// open opens the file, again and again while it is not available: two processes that make it
// at the same moment may find it locked.
func (w *worker) open(ctx context.Context) (disk *sqlite.Store, err error) {
	for range 100 {
		disk, err = sqlite.Open(ctx, filepath.Join(w.Dir, "threads.db"), sqlite.Config{})
		if runtime.CodeOf(err) != runtime.CodeUnavailable {
			break
		}
		<-time.After(20 * time.Millisecond)
	}
	return disk, err
}
