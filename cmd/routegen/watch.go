package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// pollEvery is how often watch looks at the spec.
const pollEvery = 200 * time.Millisecond

func (p *program) watchCommand() *cobra.Command {
	var flags generateFlags
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Generate again whenever the spec changes, until interrupted",
		Long: "watch reads the spec five times a second and generates when its text has changed and then stayed the same for one more\n" +
			"look, so that a half-saved file is not taken. While the spec is wrong nothing is written: the files of its last good\n" +
			"state stay.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ticker := time.NewTicker(pollEvery)
			defer ticker.Stop()
			return p.watch(cmd.Context(), ticker.C, flags)
		},
	}
	cmd.Flags().BoolVar(&flags.noVerify, "no-verify", false, "do not prove that the generated package compiles")
	return cmd
}

// watch generates at once, and after each change that has settled, until the context ends. That is no failure.
func (p *program) watch(ctx context.Context, ticks <-chan time.Time, flags generateFlags) error {
	src, err := openSource(p.opts.dir, p.opts.file)
	if err != nil {
		return failf("%w", err)
	}
	p.opts.file = src.file // the same spec, also when another one appears nearer
	w := watched{hash: sha256.Sum256(src.text)}
	w.done = w.hash
	p.report(p.runGenerate(ctx, flags))
	p.notef("watching %s; interrupt to end", src.shown)
	for {
		select {
		case <-ctx.Done():
			p.notef("no longer watching %s", src.shown)
			return nil
		case <-ticks:
		}
		text, err := readSpec(src.file)
		if w.settled(text, err) {
			p.notef("%s has changed", src.shown)
			p.report(p.runGenerate(ctx, flags))
		}
	}
}

// report says on standard error what kept one round from writing. The next one may do better.
func (p *program) report(err error) {
	if err != nil {
		_, _ = fmt.Fprintf(p.stderr, "routegen: %s. The files of the last good state stay as they are\n", strings.TrimSpace(err.Error()))
	}
}

// watched is what is known of a file that is looked at again and again.
type watched struct {
	hash [sha256.Size]byte // at the last look
	done [sha256.Size]byte // of the text that was last acted on
}

// settled takes the result of one look, and reports whether there is a new text that was the same at two looks in a row. A file
// that cannot be read is being replaced: the next look will tell.
func (w *watched) settled(text []byte, err error) bool {
	if err != nil {
		return false
	}
	was := w.hash
	w.hash = sha256.Sum256(text)
	if w.hash != was || w.hash == w.done {
		return false
	}
	w.done = w.hash
	return true
}
