package tui

import (
	"context"
	"fmt"
	"time"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web/client"
)

// Lines writes one line for each row of the thread: number, time, type and text, with tabs between
// and without escape codes. The first three are for programs, the text is for people. A lost
// connection is opened again; lost is called with the reason, once for all tries of one loss. Lines
// returns nil when the thread or ctx ends, and an error when the server or write refuses.
func Lines(ctx context.Context, client client.Client, threadID string,
	write func(line string) error,
	lost func(why string)) error {
	first, err := client.Thread(ctx, threadID)
	if err != nil {
		return err
	}
	calls := client
	by, told := newNameResolver(&calls, threadID), newTeller()
	by.loadNames(ctx, first)
	client.HTTP = newStreamClient(reportFirstFailure(lost))
	for row, err := range client.Stream(ctx, threadID, "") {
		if err != nil {
			return err
		}
		by.describeFrame(ctx, &row)
		told.names = by.names
		at := time.UnixMilli(row.At).UTC().Format(time.RFC3339)
		if err := write(fmt.Sprintf("%d\t%s\t%s\t%s", row.Seq, at, row.Type,
			told.tell(&row))); err != nil {
			return err
		}
		if row.Type == thread.EntryOver {
			return nil
		}
	}
	return nil
}

// reportFirstFailure calls lost for the first of several failed tries.
func reportFirstFailure(lost func(why string)) func(connectionChanged) {
	down := false
	return func(e connectionChanged) {
		if !e.up && !down {
			lost(oneLine(e.why))
		}
		down = !e.up
	}
}
