package thread

import (
	"context"
	"iter"

	"github.com/routegen/routegen/runtime"
)

// Follower is a reader of one thread, for [Engine.Follow]. It belongs to one goroutine.
type Follower struct {
	Thread *Thread // as last read; after the last row, as it rests
	After  int64   // the number of the last entry that was read
	// reports that an entry begins something else, where reading ends; nil never does
	Ends func(next *Entry) bool

	cursor int64
}

// Follow yields what happens to a thread after an entry, as it is committed, until the thread rests
// (see [Thread.Rests]) or f.Ends reports that something else begins. It keeps the fields of f up to
// date. If the store cannot be read, or ctx ends first, the last thing yielded is an error with
// CodeUnavailable.
func (e *Engine) Follow(ctx context.Context, f *Follower) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if !f.readStored(ctx, e, yield) || f.Thread.Rests() {
			return
		}
		for row, err := range e.Subscribe(ctx, Filter{Thread: f.Thread.ID}, f.cursor) {
			switch {
			case err != nil:
				yield(row, err)
				return
			case row.Seq <= f.After:
				continue
			case !f.yieldEntry(&row, yield),
				row.End && f.After > f.Thread.Seq && !f.reloadThread(ctx, e, yield),
				f.After >= f.Thread.Seq && f.Thread.Rests():
				return
			}
		}
		yield(Entry{}, runtime.Errorf(runtime.CodeUnavailable, "follow thread "+f.Thread.ID,
			"%w", context.Cause(ctx)))
	}
}

// readStored yields what is stored, and reports whether to go on. It begins at the last entry that
// was read, to get its cursor.
func (f *Follower) readStored(ctx context.Context, e *Engine, yield func(Entry, error) bool) bool {
	from := max(f.After-1, 0)
	for {
		rows, err := e.History(ctx, f.Thread.ID, from, 0)
		if err != nil {
			yield(Entry{}, err)
			return false
		}
		for i := range rows {
			from = rows[i].Seq
			if from <= f.After {
				f.cursor = rows[i].Cursor
			} else if !f.yieldEntry(&rows[i], yield) {
				return false
			}
		}
		if f.After > f.Thread.Seq && !f.reloadThread(ctx, e, yield) { // it has gone on meanwhile
			return false
		}
		if len(rows) == 0 || f.After >= f.Thread.Seq {
			return true
		}
	}
}

func (f *Follower) yieldEntry(row *Entry, yield func(Entry, error) bool) bool {
	if f.Ends != nil && f.Ends(row) {
		return false
	}
	f.After, f.cursor = row.Seq, row.Cursor
	return yield(*row, nil)
}

func (f *Follower) reloadThread(ctx context.Context, e *Engine,
	yield func(Entry, error) bool) bool {
	t, err := e.Thread(ctx, f.Thread.ID)
	if err != nil {
		yield(Entry{}, err)
		return false
	}
	f.Thread = t
	return true
}
