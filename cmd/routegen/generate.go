package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// generateFlags are the flags of generate alone.
type generateFlags struct {
	dryRun, noVerify bool
	edited           string // the spec, if an edit has just written it
}

// nothing says what was not written.
func (f generateFlags) nothing() string {
	if f.edited != "" {
		return f.edited + " is edited, nothing else was written"
	}
	return "nothing was written"
}

func (p *program) generateCommand() *cobra.Command {
	var flags generateFlags
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Write the files of a spec",
		Long: "generate makes every file in memory, proves that the package would compile, and " +
			"only then writes: each file in one step,\n" +
			"by renaming, and removes left-over files of its own last. A file that is up to " +
			"date is not touched. A file in the way that\n" +
			"routegen did not generate from the same spec is never replaced: move it, then " +
			"generate again.",
		Example: "  routegen generate\n  routegen generate --dry-run",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.runGenerate(cmd.Context(), flags)
		},
	}
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "say what would change, and write nothing")
	cmd.Flags().BoolVar(&flags.noVerify, "no-verify", false,
		"do not prove that the generated package compiles")
	return cmd
}

func (p *program) runGenerate(ctx context.Context, flags generateFlags) error {
	src, res, err := p.load()
	if err != nil {
		return err
	}
	findings := res.Findings
	var out *output
	if res.Files != nil {
		var refused []report.Finding
		if out, refused, err = openOutput(src, res); err != nil {
			return failf("%w; %s", err, flags.nothing())
		}
		defer out.close()
		findings = append(slices.Clone(findings), refused...)
		if len(refused) == 0 && out.survey.pending() && !flags.noVerify {
			complaints, err := p.prove(ctx, src, res, out)
			if err != nil {
				return failf("%w; %s", err, flags.nothing())
			}
			findings = append(findings, complaints...)
		}
	}
	report.Sort(findings)
	if code := chooseExitCode(findings, false); code != exitFine {
		line := describeFindings(src.shown, findings) + "; " + flags.nothing()
		if broken(findings) {
			line += ". This is a defect of routegen, not of the spec; please report it with the " +
				"text above: " + reportTo
		}
		return p.conclude(src, findings, ending{code: code, line: line})
	}
	return p.writeChanges(out, findings, flags)
}

// writeChanges writes the changes of the survey, prints a line for each, and ends the command.
func (p *program) writeChanges(out *output, findings []report.Finding, flags generateFlags) error {
	if !flags.dryRun {
		if err := write(p.disk(out.root), out.survey); err != nil {
			if _, part := errors.AsType[*partError](err); !part {
				err = fmt.Errorf("%w; %s", err, flags.nothing())
			}
			return p.conclude(out.src, findings, ending{code: exitFailed, line: err.Error()})
		}
	}
	for _, c := range out.survey.Changes {
		p.notef("%s %s", map[status]string{created: "+", changed: "~", removed: "-"}[c.Status],
			out.src.display(c.Path))
	}
	wrote := len(out.survey.Changes)
	line := counted(out.survey.Unchanged, "file") + " unchanged"
	switch {
	case flags.dryRun && wrote > 0:
		line = counted(wrote, "file") + " would change, " + line + "; nothing was written"
		wrote = 0
	case wrote > 0:
		line = counted(wrote, "file") + " written or removed, " + line
	}
	return p.conclude(out.src, findings, ending{wrote: wrote, line: line})
}

// prove compiles the package as it would be. Compiler errors about the spec's bindings, handwritten
// files or generated files are returned as findings; the error says that the compiler could not be
// run.
func (p *program) prove(ctx context.Context, src *source, res *generator.Result, out *output) (
	[]report.Finding, error) {
	start := time.Now()
	err := proof{root: src.root, pkg: src.at(res.Plan.Out), planned: out.planned,
		changes: out.survey.Changes}.compile(ctx)
	p.detailf("compiled ./%s in memory in %s", src.at(res.Plan.Out), time.Since(start).
		Round(time.Millisecond))
	var (
		hand *handwrittenError
		ours *brokenError
		miss *importError
	)
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &hand):
		return handwrittenFindings(src, out.planned, hand.diagnostics), nil
	case errors.As(err, &miss):
		if at, ok := binding(res.Spec(), func(goType string) bool {
			return strings.HasPrefix(goType, miss.pkg+".")
		}); ok {
			return []report.Finding{{Rule: spec.RuleImportInvalid, Severity: report.Error,
				File: src.shown, At: at, Message: miss.Error()}}, nil
		}
		return nil, err
	case errors.As(err, &ours):
		if found := bindingFindings(src, res.Spec(), ours.diagnostics); found != nil {
			_ = os.RemoveAll(ours.kept)
			return found, nil
		}
		found := compilerFindings(src, spec.RuleOutputBroken, ours.diagnostics)
		return append(found, report.Finding{
			Rule: spec.RuleOutputBroken, Severity: report.Error, File: src.shown,
			Message: ours.Error(),
		}), nil
	default:
		return nil, err
	}
}

// handwrittenFindings returns the compiler's errors that handwritten files cause, with what to do
// next.
func handwrittenFindings(src *source, planned map[string][]byte,
	diagnostics []diagnostic) []report.Finding {
	out := compilerFindings(src, rulePackageBroken, diagnostics)
	for i, d := range diagnostics {
		out[i].Hint = "repair this file, or move it out of the package"
		if _, ours := planned[d.file]; ours {
			out[i].Hint = "a handwritten file of this package is the cause: repair it, or move " +
				"it out of the package"
		}
	}
	return out
}

// compilerFindings returns the compiler's errors as findings in the files they are about.
func compilerFindings(src *source, rule string, diagnostics []diagnostic) []report.Finding {
	var out []report.Finding
	for _, d := range diagnostics {
		at := report.Pos{Line: d.line, Column: d.column}
		out = append(out, report.Finding{
			Rule: rule, Severity: report.Error, File: src.display(d.file),
			At: report.Span{Start: at, End: at}, Message: d.message,
		})
	}
	return out
}
