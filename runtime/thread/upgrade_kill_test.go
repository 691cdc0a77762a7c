package thread_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/compat"
	"github.com/routegen/routegen/runtime/thread"
)

// mortal is the way of a process that is killed at one of its commits: before the store has it, or
// after it and before the process hears of it.
type mortal struct {
	*way
	at    int64
	after bool
	count atomic.Int64
}

// Commit is the last thing that the process does where it is the one to die at.
func (m *mortal) Commit(ctx context.Context, changes ...*thread.Change) error {
	if m.cut.Load() || m.count.Add(1) < m.at {
		return m.way.Commit(ctx, changes...)
	}
	if m.after {
		_ = m.Store.Commit(ctx, changes...) // the dead do not hear what became of it
	}
	m.cut.Store(true)
	return errCut
}

// TestKillDuringAnUpgrade kills a newer program at each of its commits, from the one that brings a
// stored thread to its shapes until the thread is over. The thread stays readable, and the next
// process ends it: it was upgraded once, and has the values of that one upgrade.
func TestKillDuringAnUpgrade(t *testing.T) {
	old := orderOf(orderKey(), runtime.StoredField{Name: "amount", Type: "int"})
	now := orderOf(orderKey(), runtime.StoredField{Name: "total", Type: "int",
		Was: []string{"amount"}})
	answer := thread.Answer{Question: "which", Value: value(`"a"`)}
	onBoth(t, func(r *rig) {
		r.cfg.Shapes, r.cfg.Kinds = now, aDay()
		r.with(newOrders()) // the store has the table of shapes: its commit is not one of these
		r.close()
		upgradedBefore, upgradedAfter := 0, 0
		for at, died := int64(1), true; died; at++ {
			for _, after := range []bool{false, true} {
				stored := waitingOrder(r, old, `{"key":"abc","amount":5}`)
				require.Empty(r, r.log(stored.ID, thread.EntryUpgraded))
				r.cfg.Shapes = now
				m := &mortal{way: &way{Store: r.store}, at: at, after: after}
				doomed := r.engine(m, r.cfg, newOrders())
				_, err := doomed.Answer(r.ctx, stored.ID, answer)
				if died = m.cut.Load(); !died {
					require.NoError(r, err)
				}
				left := r.load(stored.ID)
				done := r.log(stored.ID, thread.EntryUpgraded)
				if len(done) == 0 {
					upgradedAfter++
					assert.Equal(r, stored, left, "nothing of it, or all")
				} else {
					upgradedBefore++
					assert.Equal(r, compat.Fingerprint(now), left.Fingerprint)
				}

				r.open()
				if len(left.Open) > 0 {
					_, err = r.e.Answer(r.ctx, stored.ID, answer)
					require.NoError(r, err)
				}
				r.done(r.rest(stored.ID), `{"key":"abc","total":5}`)
				assert.Len(r, r.log(stored.ID, thread.EntryUpgraded), 1, "commit %d, %t", at, after)
				r.close()
				m.cut.Store(true)
			}
		}
		assert.NotZero(r, upgradedBefore, "a kill after the upgrade was tried")
		assert.NotZero(r, upgradedAfter, "and one before it")
	})
}
