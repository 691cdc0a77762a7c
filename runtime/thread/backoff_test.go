package thread_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// loadCounter is a store that counts how many records are loaded.
type loadCounter struct {
	thread.Store
	loads atomic.Int64
}

func (c *loadCounter) Load(ctx context.Context, id string) (*thread.Thread, error) {
	c.loads.Add(1)
	return c.Store.Load(ctx, id)
}

// TestThreadsThatCannotMoveCostLittle leaves many threads to a program without their machine, of
// another spec and of none. It tries them less and less often, the log has a line a minute, a
// deadline of a healthy thread is kept to the moment, and their own program goes on with them.
func TestThreadsThatCannotMoveCostLittle(t *testing.T) {
	t.Parallel()
	const many, minutes = stuckThreads, 10
	shapes := func(of string) []runtime.StoredShape {
		return []runtime.StoredShape{{Name: "Order",
			Fields: []runtime.StoredField{{Name: "amount", Type: of}}}}
	}
	for name, incompatible := range map[string]bool{"of another spec": true, "of none": false} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				if r.cfg.Shapes = shapes("int"); !incompatible {
					r.cfg.Shapes = nil
				}
				begun := new(atomic.Int64)
				worker := thread.Func("worker", func(ctx context.Context, _ any) (string, error) {
					if begun.Add(1) <= many {
						<-ctx.Done()
						return "", ctx.Err()
					}
					return "done", nil
				})
				r.with(worker)
				for n := range many {
					_, err := r.e.Start(r.ctx,
						thread.Begin{Machine: "worker", ID: fmt.Sprint("stuck-", n)})
					require.NoError(r, err)
				}
				ended, cancel := context.WithCancel(r.ctx)
				cancel()
				require.NoError(r, r.e.Close(ended), "its leases are given back")

				var log bytes.Buffer
				cfg, store := r.cfg, &loadCounter{Store: r.store}
				cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
				if incompatible {
					cfg.Shapes = shapes("string")
				}
				asker := thread.Func("asker", func(ctx context.Context, _ any) (string, error) {
					return thread.Ask[string](ctx, "which",
						thread.Question{Deadline: &runtime.Deadline{After: 700 * time.Millisecond,
							Then: "expire"}})
				})
				e, err := thread.Open(r.ctx, store, cfg, asker)
				require.NoError(r, err)
				r.pass(minutes * time.Minute)
				tries := store.loads.Load()
				th, err := e.Start(r.ctx, thread.Begin{Machine: "asker"})
				require.NoError(r, err)
				r.pass(700*time.Millisecond + time.Millisecond)
				require.Equal(r, thread.StatusFailed, r.load(th.ID).Status(),
					"the deadline of a healthy thread is kept")
				require.NoError(r, e.Close(r.ctx))
				require.LessOrEqual(r, tries, int64(many*(minutes*2+10)), "not every second")
				lines := strings.Count(log.String(), "level=WARN")
				require.GreaterOrEqual(r, lines, minutes/2)
				require.LessOrEqual(r, lines, minutes+1)
				require.Contains(r, log.String(), "threads cannot be moved by this program")

				r.open()
				r.pass(time.Minute)
				for n := range many {
					r.done(r.load(fmt.Sprint("stuck-", n)), `"done"`)
				}
			})
		})
	}
}
