package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/emit"
	"github.com/routegen/routegen/generator/review"
)

// diffFlags are the flags of diff alone.
type diffFlags struct {
	against, format string
	threads         string
	exitCode        bool
}

// diffFormats are the forms of a diff.
var diffFormats = []string{"text", "markdown", "json"}

func (p *program) diffCommand() *cobra.Command {
	flags := diffFlags{format: "text"}
	cmd := &cobra.Command{
		Use:   "diff",
		Short: "Show what generating would change, or what the spec has changed since a revision",
		Long: "diff without --against prints the unified diff of the files on disk and those " +
			"that generating would write. With --against\n" +
			"it prints a report of the change since then: what was added, removed, " +
			"renamed and changed, who can now go\n" +
			"where, what the model now sees, and whose Go stops compiling. --format markdown is " +
			"fit for a pull request. Prompt\n" +
			"templates are compared, too, where the revision is one of git. Nothing is written.",
		Example: "  routegen diff --exit-code\n  routegen diff --against origin/main --format " +
			"markdown\n" +
			"  git show v1.2.0:routes.yaml | routegen diff --against -",
		Args: cobra.NoArgs,
		// Replaces the common check of the flags, because --format has other values here.
		PersistentPreRunE: func(*cobra.Command, []string) error {
			p.opts.format = "text"
			if err := p.opts.check(); err != nil {
				return err
			}
			return oneOf("--format", flags.format, diffFormats...)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case flags.against != "":
			case flags.threads != "":
				return errors.New("--threads is for --against")
			case flags.format != "text":
				return errors.New("--format is for --against: check --format json lists the " +
					"files that are not as generated")
			default:
				return p.diffDisk(flags)
			}
			return p.diffAgainst(cmd.Context(), flags)
		},
	}
	againstFlag(cmd, "against", &flags.against)
	threadsFlag(cmd, &flags.threads)
	cmd.Flags().StringVar(&flags.format, "format", flags.format, strings.Join(diffFormats, ", "))
	cmd.Flags().BoolVar(&flags.exitCode, "exit-code", false,
		"return code 3 where there is a difference")
	_ = cmd.RegisterFlagCompletionFunc("format",
		cobra.FixedCompletions(diffFormats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// diffDisk compares what is on disk with what generating would write.
func (p *program) diffDisk(flags diffFlags) error {
	src, res, err := p.load()
	if err != nil {
		return err
	}
	if res.Files == nil {
		return p.conclude(src, res.Findings,
			ending{code: chooseExitCode(res.Findings, false),
				line: describeFindings(src.shown, res.Findings)})
	}
	out, refused, err := openOutput(src, res)
	if err != nil {
		return failf("%w", err)
	}
	defer out.close()
	if len(refused) > 0 {
		return p.conclude(src, refused,
			ending{code: chooseExitCode(refused, false),
				line: describeFindings(src.shown, refused)})
	}
	var text strings.Builder
	for _, c := range out.survey.Changes {
		text.WriteString(fileDiff(src.display(c.Path), c))
	}
	if err := p.printText(text.String()); err != nil {
		return err
	}
	files := len(out.survey.Changes)
	return p.endDiff(flags, files > 0, counted(files, "file")+" not as generated: run "+p.repair(),
		"the generated files are up to date")
}

// fileDiff returns the unified diff of one file; a file that does not exist is /dev/null. Line ends
// are normalized.
func fileDiff(name string, c fileChange) string {
	text := unified(name, foldLines(c.Old), foldLines(c.New))
	switch c.Status {
	case created:
		return strings.Replace(text, "--- a/"+name, "--- /dev/null", 1)
	case removed:
		return strings.Replace(text, "+++ b/"+name, "+++ /dev/null", 1)
	case changed:
	}
	return text
}

// endDiff reports that there is a difference, or that there is none.
func (p *program) endDiff(flags diffFlags, differ bool, line, same string) error {
	switch {
	case !differ:
		p.notef("%s", same)
		return nil
	case flags.exitCode:
		return &exitError{exitDrift, errors.New(line)}
	default:
		p.notef("%s", line)
		return nil
	}
}

// diffAgainst prints what has changed in the spec since an earlier one.
func (p *program) diffAgainst(ctx context.Context, flags diffFlags) error {
	threads, err := p.readThreads(flags.threads)
	if err != nil {
		return err
	}
	src, now, old, err := p.loadBoth(ctx, flags.against)
	if err != nil {
		return err
	}
	r := review.Compare(old.Plan, now.Plan)
	r.Threads = threads
	r.Base, r.Source = flags.against, src.shown
	r.Measure(composerOf(old), composerOf(now))
	if !r.Empty() {
		r.Uses = p.readUses(ctx, src, old, now)
	}
	var text string
	switch flags.format {
	case "markdown":
		text = r.Markdown()
	case "json":
		data, err := r.JSON()
		if err != nil {
			return failf("%w", err)
		}
		text = string(data)
	default:
		text = r.Text()
	}
	text += threadsSection(threads, flags.format)
	if err := p.printText(text); err != nil {
		return err
	}
	return p.endDiff(flags, !r.Empty(), src.shown+" differs from "+flags.against,
		"no difference to "+flags.against)
}

// loadBoth loads the spec and an earlier one, without their files. It prints what is wrong with the
// spec and returns an error if it is not valid.
func (p *program) loadBoth(ctx context.Context, ref string) (src *source, now,
	old *generator.Result, err error) {
	if src, now, err = p.loadPlan(generator.Plan); err != nil {
		return nil, nil, nil, err
	}
	old, err = p.loadEarlier(ctx, src, now.Plan, ref)
	return src, now, old, err
}

// composerOf returns the schemas of a plan, nil if it has none, as the plan of an absent spec.
func composerOf(res *generator.Result) review.Schemas {
	if len(res.Plan.Routings) == 0 {
		return nil
	}
	return emit.NewComposer(res.Plan)
}

// requireAgainst returns an error if no earlier spec is named.
func requireAgainst(flag, ref string) error {
	if ref == "" {
		return fmt.Errorf("%s is missing: name a git revision, a file, or - for standard input",
			flag)
	}
	return nil
}
