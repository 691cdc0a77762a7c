package web

import (
	"context"
	"slices"

	"github.com/routegen/routegen/runtime"
)

// outboxTypes are the entries that concern people: the outbox shows them, the history has all.
var outboxTypes = []runtime.EntryType{
	runtime.EntryStarted, runtime.EntryMessage, runtime.EntryAsked, runtime.EntryOpened, runtime.EntryQueued, runtime.EntrySuperseded,
	runtime.EntryAnswered, runtime.EntryVoted, runtime.EntryReasked, runtime.EntryExpired, runtime.EntryCancelled, runtime.EntryClaimed,
	runtime.EntryExtended, runtime.EntryReminded, runtime.EntryEscalated, runtime.EntryEscape, runtime.EntryPaused, runtime.EntryResumed,
	runtime.EntryModified, runtime.EntryReroute, runtime.EntryReturned, runtime.EntryOver,
}

// shown reports whether an entry stands in the outbox. What became of a token is in the history only.
func shown(e *runtime.Entry) bool {
	if e.Type == runtime.EntryMessage {
		return e.Name != grantName && e.Name != revokedName
	}
	return slices.Contains(outboxTypes, e.Type)
}

// row is an entry on the wire, with the question it puts to people.
func (s *Server) row(ctx context.Context, e *runtime.Entry) (Row, error) {
	out := rowOf(e)
	switch e.Type {
	case runtime.EntryAsked, runtime.EntryOpened, runtime.EntryPaused:
		i, err := s.engine.Interrupt(ctx, e.Interrupt)
		if err != nil {
			return out, err
		}
		q := interruptOf(i)
		out.Question = &q
	default:
	}
	return out, nil
}

// placed returns the entry that a cursor stands on; the empty cursor is the beginning. A cursor that was never given out is refused: it would
// skip what is still to come. With a thread, so is one of another thread.
func (s *Server) placed(ctx context.Context, thread, after string) (runtime.Entry, error) {
	if after == "" {
		return runtime.Entry{}, nil
	}
	name, seq, ok := parseRowID(after)
	if !ok || thread != "" && name != thread {
		return runtime.Entry{}, invalid("that is no cursor of this stream: use the id of the last row that came")
	}
	if seq == 0 {
		return runtime.Entry{}, nil
	}
	rows, err := s.engine.History(ctx, name, seq-1, 1)
	if err != nil {
		return runtime.Entry{}, err
	}
	if len(rows) == 0 || rows[0].Seq != seq {
		return runtime.Entry{}, invalid("that cursor was never given out: use the id of the last row that came")
	}
	return rows[0], nil
}
