package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/cmd/internal/version"
	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/report"
)

// reportTo is where a defect of this program is reported.
const reportTo = "https://github.com/routegen/routegen/issues"

// program is one invocation: what it talks to, what it was asked for, and the functions that make
// files of a spec and write them.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	generate       makeFunc
	disk           func(*os.Root) disk // what files are written through
	opts           options
}

// makeFunc makes a plan of a spec and of the files that it includes, and maybe the plan's files.
type makeFunc = func(name string, src []byte, included ...report.File) *generator.Result

// options are the flags that every command takes.
type options struct {
	file      string // --file; "" looks for routes.yaml upward
	dir       string // -C; "." when not given
	color     string // auto, always or never
	format    string // one of reportFormats
	quiet     bool
	verbose   bool
	maxErrors int // 0 prints all
}

// execute executes one command line and returns the exit code. It never panics: a defect is
// reported as one, with code 2.
func (p *program) execute(ctx context.Context, args []string) (code exitCode) {
	defer func() {
		if r := recover(); r != nil {
			_, _ = fmt.Fprintf(p.stderr,
				"%v\n%s\nroutegen: this is a defect of routegen; nothing more was written. "+
					"Please report the text above: %s\n",
				r, debug.Stack(), reportTo)
			code = exitFailed
		}
	}()
	//nolint:contextcheck // commands get the context from cobra, when they run
	root := p.rootCommand()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitFine
	}
	_, _ = fmt.Fprintf(p.stderr, "routegen: %s\n", strings.TrimSpace(err.Error()))
	// cobra's own errors are all about usage
	if _, known := errors.AsType[*exitError](err); !known {
		_, _ = fmt.Fprintf(p.stderr, "run: %s --help\n", cmd.CommandPath())
	}
	return codeOf(err)
}

// rootCommand builds the tree of commands.
func (p *program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "routegen",
		Short: "One routes.yaml in; a Go package, JSON Schemas and docs out",
		Long: "routegen turns one routes.yaml (the agents of a program, the requests they take, " +
			"where each may go next, how each\n" +
			"may be interrupted; the flows of its conversations) into Go types, tables, JSON " +
			"Schemas, prompts and docs, and keeps\n" +
			"them together.",
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args:                       noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
		PersistentPreRunE: func(*cobra.Command, []string) error { return p.opts.check() },
	}
	flags := root.PersistentFlags()
	flags.StringVarP(&p.opts.file, "file", "f", "",
		"the spec (default: routes.yaml, here or above, up to the module's folder); - is standard "+
			"input, in place of routes.yaml here")
	flags.StringVarP(&p.opts.dir, "directory", "C", ".", "work as if started in this `folder`")
	flags.StringVar(&p.opts.color, "color", "auto",
		"colour the severities: auto, always or never; NO_COLOR turns auto off")
	flags.StringVar(&p.opts.format, "format", "text",
		"of findings: text, json (one object a line), github (annotations), sarif or junit")
	flags.BoolVarP(&p.opts.quiet, "quiet", "q", false,
		"say nothing on standard error unless something is wrong")
	flags.BoolVarP(&p.opts.verbose, "verbose", "v", false, "say on standard error what is done")
	flags.IntVar(&p.opts.maxErrors, "max-errors", 20,
		"print at most this many findings as text; 0 prints all")
	root.MarkFlagsMutuallyExclusive("quiet", "verbose")
	addGroup(root, "Write what the spec gives:", p.generateCommand(), p.checkCommand(),
		p.initCommand())
	addGroup(root, "Edit the spec:", p.addCommand(), p.renameCommand(), p.removeCommand(),
		p.fmtCommand(), p.lintCommand())
	addGroup(root, "Review a change:", p.diffCommand(), p.breakingCommand())
	addGroup(root, "Ask:", p.explainCommand(), p.inspectCommand(), p.schemaCommand())
	root.AddCommand(version.Command(), exitCodesTopic())
	p.completeFlags(root)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	strictHelp(root)
	return root
}

// addGroup adds commands that the help lists under one title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
}

// noSuchCommand refuses a word that is no command, with the nearest ones.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += fmt.Sprintf(": did you mean %q?", near[0])
	}
	return errors.New(text)
}

// exitCodesTopic is a page of help and no command.
func exitCodesTopic() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "What the program returns",
		Long: exitCodeHelp()}
}

// check refuses flag values that no command understands.
func (o *options) check() error {
	if err := oneOf("--color", o.color, "auto", "always", "never"); err != nil {
		return err
	}
	if o.maxErrors < 0 {
		return fmt.Errorf("--max-errors is %d, and cannot be negative: 0 prints all", o.maxErrors)
	}
	return oneOf("--format", o.format, reportFormats...)
}

// oneOf refuses a value outside of a list.
func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s is %q: use %s", flag, value, strings.Join(allowed, ", "))
}

// notef prints one line of progress to standard error, unless --quiet.
func (p *program) notef(format string, args ...any) {
	if !p.opts.quiet {
		_, _ = fmt.Fprintf(p.stderr, format+"\n", args...)
	}
}

// detailf prints one line to standard error where --verbose asks for it.
func (p *program) detailf(format string, args ...any) {
	if p.opts.verbose {
		_, _ = fmt.Fprintf(p.stderr, format+"\n", args...)
	}
}

// load finds and reads the spec and generates its files in memory. The error is about reading; what
// is wrong with the spec is in the result.
func (p *program) load() (*source, *generator.Result, error) { return p.loadWith(p.generate) }

// loadPlan is loadWith for commands that need a plan. Where the spec gives none, it prints what is
// wrong and returns an error.
func (p *program) loadPlan(generate makeFunc) (*source,
	*generator.Result, error) {
	src, res, err := p.loadWith(generate)
	if err == nil && res.Plan == nil {
		err = p.conclude(src, res.Findings,
			ending{code: chooseExitCode(res.Findings, false),
				line: describeFindings(src.shown, res.Findings)})
	}
	return src, res, err
}

// loadWith is load with another way to generate.
func (p *program) loadWith(generate makeFunc) (*source,
	*generator.Result, error) {
	src, err := p.source()
	if err != nil {
		return nil, nil, failf("%w", err)
	}
	p.detailf("read %s (%d bytes)", src.shown, len(src.text))
	res := src.makeWith(generate)
	res.CheckPrompts(src.prompts(res.Plan))
	return src, res, nil
}
