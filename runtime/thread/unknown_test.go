package thread_test

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// unheard is a store that does its next commit and says that it is not available, while denies is
// set. With mutes no log can be read from then on, until mute is taken back.
type unheard struct {
	thread.Store
	denies, mutes, mute atomic.Bool
}

func (u *unheard) Commit(ctx context.Context, changes ...*thread.Change) error {
	if err := u.Store.Commit(ctx, changes...); err != nil || !u.denies.Swap(false) {
		return err
	}
	u.mute.Store(u.mutes.Load())
	return errCut
}

func (u *unheard) Log(ctx context.Context, q thread.LogQuery) ([]thread.Entry, error) {
	if u.mute.Load() {
		return nil, errCut
	}
	return u.Store.Log(ctx, q)
}

// told notes of which threads an observer heard a commit that has an entry of a type.
type told struct {
	mu sync.Mutex
	of map[string]map[thread.EntryType]bool
}

func (o *told) Step(ctx context.Context, _ thread.Activation) (context.Context,
	func(thread.StepEnd)) {
	return ctx, func(thread.StepEnd) {}
}

func (o *told) Committed(t *thread.Thread, entries []thread.Entry, _ []*thread.Interrupt) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil {
		o.of = map[string]map[thread.EntryType]bool{}
	}
	if o.of[t.ID] == nil {
		o.of[t.ID] = map[thread.EntryType]bool{}
	}
	for n := range entries {
		o.of[t.ID][entries[n].Type] = true
	}
}

func (o *told) heard(id string, what thread.EntryType) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.of[id][what]
}

// deaf gives the rig an engine over a store that says things wrong, and an observer.
func (r *rig) deaf() (*unheard, *told) {
	r.Helper()
	u, o := &unheard{Store: r.store}, &told{}
	r.cfg.Observers = []thread.Observer{o}
	r.machines = []thread.Machine{r.asker(thread.Question{})}
	r.e = r.engine(u, r.cfg, r.machines...)
	return u, o
}

func TestForkThatTheStoreDeniedIsReadBack(t *testing.T) {
	onBoth(t, func(r *rig) {
		u, o := r.deaf()
		th := r.start("asker", nil)
		u.denies.Store(true)
		forked, err := r.e.Fork(r.ctx, th.ID, th.Seq, "fork", "ann")
		require.NoError(r, err, "the store did it")
		assert.Equal(r, "fork", forked.Thread.ID)
		assert.True(r, o.heard("fork", thread.EntryAsked), "and observers hear of it")
		r.done(r.reply("fork", "which", `"a"`), `"a"`)
	})
}

func TestSameForkAgainFindsTheFirst(t *testing.T) {
	onBoth(t, func(r *rig) {
		u, _ := r.deaf()
		th := r.start("asker", nil)
		r.done(r.reply(th.ID, "which", `"original"`), `"original"`)
		at := th.Seq
		u.mutes.Store(true)
		u.denies.Store(true)
		_, err := r.e.Fork(r.ctx, th.ID, at, "fork", "ann")
		require.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(err),
			"nobody can say what became of it")
		u.mute.Store(false)
		r.done(r.reply("fork", "which", `"a"`), `"a"`)
		before := r.log("fork")
		again, err := r.e.Fork(r.ctx, th.ID, at, "fork", "ann")
		require.NoError(r, err)
		r.done(again.Thread, `"a"`)
		require.Len(r, again.After, 1)
		assert.Equal(r, "after", again.After[0].Name, "with what the source did later")
		assert.Equal(r, before, r.log("fork"), "nothing is made anew")
		for name, other := range map[string]func() (*thread.Forked, error){
			"another person": func() (*thread.Forked, error) {
				return r.e.Fork(r.ctx, th.ID, at, "fork", "bob")
			},
			"another point": func() (*thread.Forked, error) {
				return r.e.Fork(r.ctx, th.ID, r.load(th.ID).Seq, "fork", "ann")
			},
			"another source": func() (*thread.Forked, error) {
				return r.e.Fork(r.ctx, "fork", at, "fork", "ann")
			},
			"no fork": func() (*thread.Forked, error) {
				return r.e.Fork(r.ctx, "fork", at, th.ID, "ann")
			},
		} {
			_, err := other()
			assert.Equal(r, runtime.CodeConflict, runtime.CodeOf(err), "%s: %v", name, err)
		}
	})
}

func TestBatchThatTheStoreDeniedIsReadBack(t *testing.T) {
	onBoth(t, func(r *rig) {
		u, o := r.deaf()
		one, two := r.start("asker", nil), r.start("asker", nil)
		batch := []thread.Answer{
			{Interrupt: r.asked(one, "which").ID, Value: value(`"a"`), By: "bob"},
			{Interrupt: r.asked(two, "which").ID, Value: value(`"b"`), By: "bob"},
		}
		u.denies.Store(true)
		answered, err := r.e.AnswerAll(r.ctx, batch...)
		require.NoError(r, err, "the store did it")
		require.Len(r, answered, 2)
		for n, th := range []*thread.Thread{one, two} {
			assert.Equal(r, batch[n].Interrupt, answered[n].ID)
			assert.True(r, o.heard(th.ID, thread.EntryAnswered), "and observers hear of it")
		}
		r.done(r.rest(one.ID), `"a"`)
		r.done(r.rest(two.ID), `"b"`)
		assert.Equal(r, 2, r.did.of("after"), "each went on once")
	})
}

func TestSameBatchAgainFindsTheFirst(t *testing.T) {
	onBoth(t, func(r *rig) {
		u, _ := r.deaf()
		th := r.start("asker", nil)
		a := thread.Answer{Interrupt: r.asked(th, "which").ID, Value: value(`"a"`), By: "bob"}
		u.mutes.Store(true)
		u.denies.Store(true)
		_, err := r.e.AnswerAll(r.ctx, a)
		require.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(err),
			"nobody can say what became of it")
		u.mute.Store(false)
		answered, err := r.e.AnswerAll(r.ctx, a)
		require.NoError(r, err)
		require.Len(r, answered, 1)
		assert.Equal(r, thread.InterruptAnswered, answered[0].State)
		r.done(r.rest(th.ID), `"a"`)
		assert.Len(r, r.log(th.ID, thread.EntryAnswered), 1)
		assert.Equal(r, 1, r.did.of("after"))
	})
}

// TestBatchThatIsRefusedHasNotHappened is the control: what the store did not do is not taken for
// done.
func TestBatchThatIsRefusedHasNotHappened(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.with(r.asker(thread.Question{}))
		th := r.start("asker", nil)
		i := r.asked(th, "which")
		r.way.fails.Store(2)
		_, err := r.e.AnswerAll(r.ctx, thread.Answer{Interrupt: i.ID, Value: value(`"a"`),
			By: "bob"})
		require.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(err))
		_, err = r.e.Fork(r.ctx, th.ID, th.Seq, "fork", "ann")
		require.Equal(r, runtime.CodeUnavailable, runtime.CodeOf(err))
		r.way.fails.Store(0)
		assert.Equal(r, thread.InterruptOpen, r.interrupt(i.ID).State)
		_, err = r.e.Thread(r.ctx, "fork")
		assert.Equal(r, runtime.CodeNotFound, runtime.CodeOf(err))
		r.done(r.say(i, `"b"`), `"b"`)
	})
}

// TestForkRepeatsTheRowsOfItsSource: a subscriber sees the messages of the source once more, and
// can tell them as the comment of Fork says.
func TestForkRepeatsTheRowsOfItsSource(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.with(thread.Func("talk", func(ctx context.Context, _ any) (string, error) {
			if err := thread.Say(ctx, "hello", "hello"); err != nil {
				return "", err
			}
			got, err := thread.Ask[string](ctx, "which", thread.Question{})
			if err != nil {
				return "", err
			}
			return got, thread.Say(ctx, "bye", "bye")
		}))
		th := r.start("talk", nil)
		source := r.log(th.ID)
		at := th.Seq
		_, err := r.e.Fork(r.ctx, th.ID, at, "fork", "ann")
		require.NoError(r, err)
		r.reply("fork", "which", `"a"`)
		again, err := r.e.Fork(r.ctx, "fork", r.load("fork").Seq, "fork of the fork", "ann")
		require.NoError(r, err)
		for id, want := range map[string]struct {
			from           *thread.Fork
			copies, itsOwn []string // messages
		}{
			th.ID: {nil, nil, []string{"hello"}},
			"fork": {&thread.Fork{Thread: th.ID, Seq: at}, []string{"hello"},
				[]string{"bye"}},
			again.Thread.ID: {again.Thread.ForkedFrom, []string{"hello", "bye"}, nil},
		} {
			now, rows := r.load(id), 0
			var from *thread.Fork
			var copies, itsOwn []string
			for e, err := range r.e.Subscribe(r.ctx, thread.Filter{Thread: id}, 0) {
				require.NoError(r, err)
				if rows++; e.Type == thread.EntryStarted && e.Value != nil {
					from = new(thread.Fork)
					require.NoError(r, json.Unmarshal(e.Value, from))
				}
				switch copied := from != nil && e.Seq <= from.Seq; {
				case e.Type == thread.EntryMessage && copied:
					copies = append(copies, e.Name)
				case e.Type == thread.EntryMessage:
					itsOwn = append(itsOwn, e.Name)
				}
				if e.Seq == now.Seq {
					break
				}
			}
			assert.Equal(r, want.from, from, id)
			assert.Equal(r, now.ForkedFrom, from, "the log and the record say the same")
			assert.Equal(r, want.copies, copies, id)
			assert.Equal(r, want.itsOwn, itsOwn, id)
			assert.Equal(r, now.Seq, int64(rows))
		}
		for n, e := range r.log("fork")[:at] {
			assert.Equal(r, source[n].Type, e.Type)
			assert.Greater(r, e.Cursor, source[len(source)-1].Cursor, "under new cursors")
		}
	})
}
