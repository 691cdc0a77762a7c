//go:build unix

package river_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/dispatch/river"
	"github.com/routegen/routegen/runtime/store/postgres"
	"github.com/routegen/routegen/runtime/store/postgrestest"
	"github.com/routegen/routegen/runtime/thread"
)

// One program for all processes: with workers it runs steps, without it only answers.
//
//nolint:testableexamples // it needs a server: TestExampleRuns runs its body
func Example() {
	ctx := context.Background()
	url := os.Getenv("DATABASE_URL")
	if err := postgres.Migrate(ctx, url, ""); err != nil {
		log.Fatal(err)
	}
	if err := river.Migrate(ctx, url, ""); err != nil {
		log.Fatal(err)
	}
	if err := runProcess(ctx, url, "", 50, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// runProcess takes part until its work is done.
func runProcess(ctx context.Context, url, schema string, workers int, out io.Writer) error {
	store, err := postgres.Open(ctx, url, postgres.Config{Schema: schema})
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	confirm := thread.Func("confirm", func(ctx context.Context, what string) (string, error) {
		yes, err := thread.Ask[bool](ctx, "sure", thread.Question{Text: what + "?"})
		if err != nil || !yes {
			return "left alone", err
		}
		return what + ": done", nil
	})
	engine, err := thread.Open(ctx, store, thread.Config{Clock: store, AnswerOnly: true}, confirm)
	if err != nil {
		return err
	}
	dispatch, err := river.Open(ctx, store, engine, river.Config{Workers: workers, Schema: schema})
	if err != nil {
		return err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		_ = dispatch.Stop(end)
	}()

	t, err := engine.Start(ctx, thread.Begin{Machine: "confirm", Input: "ship it", User: "ann"})
	if err != nil {
		return err
	}
	if t, err = engine.Wait(ctx, t.ID); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(out, t.Status(), t.Open[0].Text)
	_, err = engine.Answer(ctx, t.ID, thread.Answer{Value: []byte("true"), By: "bob"})
	if err != nil {
		return err
	}
	if t, err = engine.Wait(ctx, t.ID); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(out, t.Status(), string(t.Result))
	return nil
}

func TestExampleRuns(t *testing.T) {
	t.Parallel()
	d := postgrestest.New(t)
	require.NoError(t, postgres.Migrate(t.Context(), d.URL, d.Schema))
	require.NoError(t, river.Migrate(t.Context(), d.URL, d.Schema))
	var out strings.Builder
	require.NoError(t, runProcess(t.Context(), d.URL, d.Schema, 2, &out))
	assert.Equal(t, "waiting ship it?\ndone \"ship it: done\"\n", out.String())
}
