package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// A thread waits in a file, the store is copied while it is used, and the copy has the question.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "threads")
	if err != nil {
		log.Fatal(err)
	}
	store, err := sqlite.Open(ctx, filepath.Join(dir, "threads.db"), sqlite.Config{})
	if err != nil {
		log.Fatal(err)
	}
	order := thread.Func("order", func(ctx context.Context, item string) (string, error) {
		size, err := thread.Ask[string](ctx, "size", thread.Question{Text: "Which size?"})
		return item + ", " + size, err
	})
	engine, err := thread.Open(ctx, store, thread.Config{}, order)
	if err != nil {
		log.Fatal(err)
	}
	if _, err = engine.Start(ctx,
		thread.Begin{ID: "o1", Machine: "order", Input: "shirt"}); err != nil {
		log.Fatal(err)
	}
	if _, err = engine.Wait(ctx, "o1"); err != nil {
		log.Fatal(err)
	}
	if err = store.Backup(ctx, filepath.Join(dir, "copy.db")); err != nil {
		log.Fatal(err)
	}
	_ = engine.Close(ctx)
	_ = store.Close()

	backup, err := sqlite.Open(ctx, filepath.Join(dir, "copy.db"), sqlite.Config{})
	if err != nil {
		log.Fatal(err)
	}
	record, err := backup.Load(ctx, "o1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.Status(), record.OpenInterrupts()[0].Text)
	_ = backup.Close()
	_ = os.RemoveAll(dir)
	// Output: waiting Which size?
}
