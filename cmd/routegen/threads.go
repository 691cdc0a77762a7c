package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator/review"
)

func threadsFlag(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVar(into, "threads", "", "put the numbers of a store into the report: a "+
		"`file` of routegen-threads check --format json, or - for standard input")
}

// readThreads reads what routegen-threads check found; nil without a file.
func (p *program) readThreads(name string) (*review.Threads, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	data, err := os.ReadFile(name)
	if name == "-" {
		data, err = io.ReadAll(p.stdin)
	}
	if err != nil {
		return nil, failf("--threads: %w", err)
	}
	out, err := review.ParseThreads(data)
	if err != nil {
		return nil, failf("--threads %s: %w", name, err)
	}
	return out, nil
}

// threadsSection returns the section of a report in a format; JSON has a member for it.
func threadsSection(t *review.Threads, format string) string {
	switch {
	case t == nil || format == "json":
		return ""
	case format == "markdown":
		return t.Markdown()
	}
	return t.Text()
}
