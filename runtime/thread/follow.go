package thread

import (
	"context"
	"iter"

	"github.com/routegen/routegen/runtime"
)

// Follower is a reader of one thread, for [Engine.Follow]. It belongs to one goroutine.
type Follower struct {
	Thread *runtime.Thread                // as last read; after the last row, as it rests
	After  int64                          // the number of the last entry that was read
	Ends   func(next *runtime.Entry) bool // reports that an entry begins something else, which is not read any more; nil never does

	cursor int64
}

// Follow yields what happens to a thread after an entry, as it is committed, until the thread rests (see [runtime.Thread.Rests]) or something
// else begins: what a caller shows who waits for the end of a turn. The fields of f go along. Where the store cannot be read, and when ctx ends
// first, the last thing yielded is an error, with CodeUnavailable. The thread does not notice that it is followed.
func (e *Engine) Follow(ctx context.Context, f *Follower) iter.Seq2[runtime.Entry, error] {
	return func(yield func(runtime.Entry, error) bool) {
		if !f.stored(ctx, e, yield) || f.Thread.Rests() {
			return
		}
		for row, err := range e.Subscribe(ctx, Filter{Thread: f.Thread.ID}, f.cursor) {
			switch {
			case err != nil:
				yield(row, err)
				return
			case row.Seq <= f.After:
				continue
			case !f.take(&row, yield),
				row.End && f.After > f.Thread.Seq && !f.reload(ctx, e, yield),
				f.After >= f.Thread.Seq && f.Thread.Rests():
				return
			}
		}
		yield(runtime.Entry{}, refuse(runtime.CodeUnavailable, "follow thread "+f.Thread.ID, context.Cause(ctx)))
	}
}

// stored yields what is there, and reports whether to go on. It begins at the last entry that was read, whose cursor is what comes after it.
func (f *Follower) stored(ctx context.Context, e *Engine, yield func(runtime.Entry, error) bool) bool {
	from := max(f.After-1, 0)
	for {
		rows, err := e.History(ctx, f.Thread.ID, from, 0)
		if err != nil {
			yield(runtime.Entry{}, err)
			return false
		}
		for i := range rows {
			from = rows[i].Seq
			if from <= f.After {
				f.cursor = rows[i].Cursor
			} else if !f.take(&rows[i], yield) {
				return false
			}
		}
		if f.After > f.Thread.Seq && !f.reload(ctx, e, yield) { // it has gone on meanwhile
			return false
		}
		if len(rows) == 0 || f.After >= f.Thread.Seq {
			return true
		}
	}
}

func (f *Follower) take(row *runtime.Entry, yield func(runtime.Entry, error) bool) bool {
	if f.Ends != nil && f.Ends(row) {
		return false
	}
	f.After, f.cursor = row.Seq, row.Cursor
	return yield(*row, nil)
}

func (f *Follower) reload(ctx context.Context, e *Engine, yield func(runtime.Entry, error) bool) bool {
	t, err := e.Thread(ctx, f.Thread.ID)
	if err != nil {
		yield(runtime.Entry{}, err)
		return false
	}
	f.Thread = t
	return true
}
