package tui

import (
	"context"
	"fmt"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

// Lines writes one line for each row of the thread: its number, its time, its type and what it says, with tabs between. The first three are
// for programs, the last for people. There are no escape codes in it. lost is told why a connection ended, which is opened again by itself; it is told once, however many tries that takes. Lines
// ends with the thread, with ctx, which is no error, or when the server or the writer refuses.
func Lines(ctx context.Context, client web.Client, thread string, write func(line string) error, lost func(why string)) error {
	first, err := client.Thread(ctx, thread)
	if err != nil {
		return err
	}
	calls := client
	by, told := newGuide(&calls, thread), newTeller()
	by.begin(ctx, first)
	client.HTTP = linked(tellOnce(lost))
	for row, err := range client.Stream(ctx, thread, "") {
		if err != nil {
			return err
		}
		by.complete(ctx, &row)
		told.names = by.names
		at := time.UnixMilli(row.At).UTC().Format(time.RFC3339)
		if err := write(fmt.Sprintf("%d\t%s\t%s\t%s", row.Seq, at, row.Type, told.tell(&row))); err != nil {
			return err
		}
		if row.Type == runtime.EntryOver {
			return nil
		}
	}
	return nil
}

// tellOnce tells of the first of several tries that fail.
func tellOnce(lost func(why string)) func(lineCame) {
	down := false
	return func(e lineCame) {
		if !e.up && !down {
			lost(line(e.why))
		}
		down = !e.up
	}
}
