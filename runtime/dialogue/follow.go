package dialogue

import (
	"context"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// follower reads the rows of one turn as they are committed.
type follower struct {
	engine  *thread.Engine
	thread  *runtime.Thread // as last read
	at      int64           // the last entry that was read
	cursor  int64
	request string // whose rows are read
}

// rows yields the rows until the thread rests or another message begins, and then its thread is the one at rest. It ends early when yield
// says so, and after an error.
func (f *follower) rows(ctx context.Context, yield func(runtime.Entry, error) bool) {
	if !f.stored(ctx, yield) || rests(f.thread) {
		return
	}
	for row, err := range f.engine.Subscribe(ctx, thread.Filter{Thread: f.thread.ID}, f.cursor) {
		switch {
		case err != nil:
			yield(row, err)
			return
		case row.Seq <= f.at:
			continue
		case !f.take(&row, yield), row.End && f.at > f.thread.Seq && !f.reload(ctx, yield), f.at >= f.thread.Seq && rests(f.thread):
			return
		}
	}
	yield(runtime.Entry{}, &runtime.Error{Code: runtime.CodeUnavailable, Op: "follow thread " + f.thread.ID, Err: context.Cause(ctx)})
}

// stored yields what is there, and reports whether to go on.
func (f *follower) stored(ctx context.Context, yield func(runtime.Entry, error) bool) bool {
	for {
		rows, err := f.engine.History(ctx, f.thread.ID, f.at, 0)
		if err != nil {
			yield(runtime.Entry{}, err)
			return false
		}
		for i := range rows {
			if !f.take(&rows[i], yield) {
				return false
			}
		}
		if f.at > f.thread.Seq && !f.reload(ctx, yield) { // it has gone on meanwhile
			return false
		}
		if len(rows) == 0 || f.at >= f.thread.Seq {
			return true
		}
	}
}

func (f *follower) take(row *runtime.Entry, yield func(runtime.Entry, error) bool) bool {
	begins := row.Type == runtime.EntryEntered && row.Parent == "" || row.Type == runtime.EntryAnswered && row.By != "policy"
	if begins && row.Request != f.request {
		return false
	}
	f.at, f.cursor = row.Seq, row.Cursor
	return yield(*row, nil)
}

func (f *follower) reload(ctx context.Context, yield func(runtime.Entry, error) bool) bool {
	t, err := f.engine.Thread(ctx, f.thread.ID)
	if err != nil {
		yield(runtime.Entry{}, err)
		return false
	}
	f.thread = t
	return true
}

// rests reports whether a thread does nothing until somebody acts: one that waits for the time of its next try will go on by itself.
func rests(t *runtime.Thread) bool {
	switch t.Status() {
	case runtime.StatusRunning:
		return false
	case runtime.StatusWaiting:
		for _, i := range t.Open {
			if i.State == runtime.InterruptOpen {
				return true
			}
		}
		return false
	default:
		return true
	}
}
