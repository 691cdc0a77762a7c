//go:build unix

package river

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// Two worker processes are killed, stopped and started again at random, while people answer over
// two processes that run no step. Every thread ends, no acknowledged answer is lost, and an effect
// happens twice only where a process died or lost its thread.
func TestSoak(t *testing.T) { //nolint:paralleltest // it takes the whole machine
	r := newRig(t)
	apis := []*process{r.api, r.process("api", 0)}
	end := time.Now().Add(soakTime)
	workers, kills := r.killWorkers(end)

	var people sync.WaitGroup
	var mu sync.Mutex
	var ids []string
	for n := range soakThreads {
		people.Go(func() {
			for time.Now().Before(end) {
				id := r.start(input{Questions: 1 + rand.N(3)})
				mu.Lock()
				ids = append(ids, id)
				mu.Unlock()
				r.answerUntilOver(apis[n%len(apis)], id)
			}
		})
	}
	people.Wait()
	<-workers

	require.NotEmpty(t, ids)
	for _, id := range ids {
		assert.Equal(t, thread.StatusDone, r.load(id).Over, id)
	}
	assert.Equal(t, 2*len(ids), r.count(`SELECT count(DISTINCT key) FROM ledger
		WHERE effect IN ('first', 'last')`), "each thread did both effects")
	assert.Zero(t, r.count(`SELECT count(*) FROM (SELECT key FROM ledger
		WHERE effect IN ('last', 'ordered') GROUP BY key
		HAVING count(*) FILTER (WHERE effect = 'last') >
			1 + count(*) FILTER (WHERE effect = 'ordered')) twice`),
		"no effect of Once happened twice, but where a person ordered it")
	twice := r.count(`SELECT count(*) FROM (SELECT key FROM ledger WHERE effect = 'first'
		GROUP BY key HAVING count(*) > 1) twice`)
	assert.LessOrEqual(t, twice, soakSlots*kills.total(), "only steps of a process that was lost")
	t.Logf("%d threads, %d effects of Do twice, %s", len(ids), twice, kills)
}

// losses counts what was done to processes.
type losses struct {
	mu   sync.Mutex
	what map[string]int
}

func (l *losses) add(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.what[what]++
}

func (l *losses) total() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, times := range l.what {
		n += times
	}
	return n
}

func (l *losses) String() string { return fmt.Sprint(l.what) }

// killWorkers keeps two processes with workers, and ends one of them again and again, until a time.
// It closes the channel after that; the processes run on.
func (r *rig) killWorkers(end time.Time) (<-chan struct{}, *losses) {
	r.Helper()
	done, lost := make(chan struct{}), &losses{what: map[string]int{}}
	workers := []*child{r.spawn(soakSlots), r.spawn(soakSlots)}
	go func() {
		defer close(done)
		for n := 0; time.Now().Before(end); n++ {
			pause(time.Second + rand.N(2*time.Second))
			at := n % len(workers)
			switch w := workers[at]; rand.N(3) {
			case 0:
				lost.add("killed")
				w.kill()
				workers[at] = r.spawn(soakSlots)
			case 1:
				lost.add("stopped for 5 s, and back")
				w.signal(syscall.SIGSTOP)
				pause(5 * time.Second)
				w.signal(syscall.SIGCONT)
			default:
				lost.add("terminated")
				w.signal(syscall.SIGTERM)
				<-w.ended
				workers[at] = r.spawn(soakSlots)
			}
		}
	}()
	return done, lost
}

// answerUntilOver answers what a thread asks, until it is over.
func (r *rig) answerUntilOver(api *process, id string) {
	for limit := time.Now().Add(2 * time.Minute); ; {
		t, err := api.store.Load(r.ctx, id)
		if !assert.NoError(r, err) || t.Over != "" {
			return
		}
		if !assert.True(r, time.Now().Before(limit), "%s is %s with %d questions", id,
			t.Status(), len(t.Open)) {
			return
		}
		for _, i := range t.OpenInterrupts() {
			value := "1"
			if i.Kind == thread.KindSystemError {
				value = r.settle(i)
			}
			_, err = api.engine.Answer(r.ctx, id, thread.Answer{Interrupt: i.ID,
				Value: json.RawMessage(value), By: "bob"})
			assert.Contains(r, []runtime.Code{"", runtime.CodeAlreadyAnswered},
				runtime.CodeOf(err), "%v", err)
		}
		pause(10 * time.Millisecond)
	}
}

// settle says whether an effect that is in doubt happened. The engine asks nothing else.
func (r *rig) settle(i *thread.Interrupt) string {
	var what struct {
		Key string `json:"Key"`
	}
	assert.NoError(r, json.Unmarshal(i.Payload, &what))
	assert.True(r, strings.HasSuffix(what.Key, "/last"), "%s", i.Text)
	var n int
	assert.NoError(r, r.api.ledger.pool.QueryRow(r.ctx, `SELECT count(*) FROM ledger
		WHERE effect = 'last' AND key = $1`, what.Key).Scan(&n))
	if n > 0 {
		return `{"choice":"done","value":"it happened"}`
	}
	// a process that is stopped in the effect may do it yet: it is the person's word that counts
	assert.NoError(r, r.api.ledger.write(r.ctx, "ordered", what.Key))
	return `{"choice":"run"}`
}
