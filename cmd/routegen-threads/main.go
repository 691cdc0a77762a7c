// Command routegen-threads works with the threads of a running server, or of a store.
//
// `routegen-threads help` lists the commands. The exit code is 0, or 2 where a command could not do
// what it was asked; the last line on standard error then says why. The program reads NO_COLOR,
// TERM and ROUTEGEN_TOKEN from the environment, and what bubbletea reads to know the terminal.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/cmd/internal/version"
)

// exitFailed is the exit code of a command that failed.
const exitFailed = 2

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	p := &program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
	code := p.runCommand(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// program is one invocation: its input and output, and the environment.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
}

// runCommand executes one command line and returns the exit code.
func (p *program) runCommand(ctx context.Context, args []string) int {
	began := false // the command line was understood
	root := &cobra.Command{
		Use:               "routegen-threads",
		Short:             "Watch threads of a running server; check, copy and back up a store",
		Args:              cobra.NoArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun:  func(*cobra.Command, []string) { began = true },
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	//nolint:contextcheck // commands get the context from cobra, when they run
	root.AddCommand(p.watchCommand(), p.checkCommand(), p.copyCommand(), p.backupCommand(),
		version.Command())
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	p.notef("routegen-threads: %s", strings.TrimSpace(err.Error()))
	if !began {
		p.notef("run: %s --help", cmd.CommandPath())
	}
	return exitFailed
}

// notef prints one line to standard error.
func (p *program) notef(format string, args ...any) {
	_, _ = fmt.Fprintf(p.stderr, format+"\n", args...)
}

// colored reports whether a value of --color asks for colour on a terminal. It returns an error if
// the value is unknown.
func (p *program) colored(value string) (bool, error) {
	if !slices.Contains([]string{"auto", "always", "never"}, value) {
		return false, fmt.Errorf("--color is %q: use auto, always or never", value)
	}
	return value == "always" || value == "auto" && p.getenv("NO_COLOR") == "", nil
}
