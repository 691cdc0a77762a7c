//go:build unix

package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
)

var payload = []byte(fmt.Sprintf(
	`{"tool":"send_mail","arguments":{"to":"ann@example.com","body":"%0230d"}}`, 7))

// mailer is the cycle as a user writes it: one effect, one question, one effect.
var mailer = thread.Func("mail", func(ctx context.Context, _ int) (string, error) {
	if _, err := thread.Do(ctx, "draft", func(context.Context, string) (string, error) {
		return "m1", nil
	}); err != nil {
		return "", err
	}
	ok, err := thread.Ask[bool](ctx, "send", thread.Question{Text: "Send it?", Payload: payload})
	if err != nil || !ok {
		return "", err
	}
	return thread.Do(ctx, "send", func(context.Context, string) (string, error) {
		return "sent", nil
	})
})

func engineCycle(e *thread.Engine) error {
	ctx := context.Background()
	t, err := e.Start(ctx, thread.Begin{Machine: "mail", Input: 4711, User: "ann"})
	if err != nil {
		return err
	}
	if t.Status() == thread.StatusRunning { // its step took longer than an acknowledgement waits
		if t, err = e.Wait(ctx, t.ID); err != nil {
			return err
		}
	}
	_, err = e.Answer(ctx, t.ID, thread.Answer{Value: []byte("true"), By: "bob"})
	return err
}

// floorCycle is the least that a durable cycle can be: one insert and one conditional update of the
// same payload, two transactions of one round trip each.
func floorCycle(pool *pgxpool.Pool) error {
	ctx, id := context.Background(), rand.Text()
	_, err := pool.Exec(ctx, `INSERT INTO floor VALUES ($1, 1, $2)`, id, string(payload))
	if err == nil {
		_, err = pool.Exec(ctx, `UPDATE floor SET version = 2, body = $1 WHERE id = $2 AND
			version = 1`, string(payload), id)
	}
	return err
}

// BenchmarkEngine compares the consume-once cycle through the engine with the floor, on one pool
// and in turns of 100 ms: what else the machine does falls on both.
func BenchmarkEngine(b *testing.B) {
	for _, workers := range []int{1, 16} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			d := migrated(b)
			d.Exec(b, fmt.Sprintf(`CREATE TABLE %[1]s.floor(id text COLLATE "C" PRIMARY KEY,
				version bigint, body text); ALTER TABLE %[1]s.floor OWNER TO %[1]s;
				ALTER ROLE %[1]s SET search_path = %[1]s`, d.Schema))
			d.URL += "&pool_max_conns=16"
			s := opened(b, d)
			e, err := thread.Open(b.Context(), s, thread.Config{Clock: s}, mailer)
			require.NoError(b, err)
			b.Cleanup(func() { _ = e.Close(context.Background()) })
			var rate [2]float64
			b.ResetTimer()
			for range b.N {
				for n, cycle := range []func() error{
					func() error { return floorCycle(s.pool) },
					func() error { return engineCycle(e) },
				} {
					begun := time.Now()
					did := together(b, workers, 100*time.Millisecond, cycle)
					rate[n] += float64(did) / time.Since(begun).Seconds()
				}
			}
			b.ReportMetric(rate[0]/float64(b.N), "floor/s")
			b.ReportMetric(rate[1]/float64(b.N), "engine/s")
			b.ReportMetric(rate[1]/rate[0], "ratio")
		})
	}
}

// together runs cycles on workers for a time and returns how many were done.
func together(b *testing.B, workers int, limit time.Duration, cycle func() error) int64 {
	b.Helper()
	var n atomic.Int64
	var all sync.WaitGroup
	for begun := time.Now(); workers > 0; workers-- {
		all.Go(func() {
			for time.Since(begun) < limit {
				if err := cycle(); err != nil {
					b.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	all.Wait()
	return n.Load()
}
