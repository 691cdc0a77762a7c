package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

func (p *program) checkCommand() *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Report errors in the spec and files that are out of date; write nothing",
		Long: "check reports every error and warning of the spec, and every generated file that " +
			"is missing, edited or left over.\n" +
			"It only reads. Exit code 3 means that generate repairs it, 1 that a person has to.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return p.runCheck(strict) },
	}
	cmd.Flags().BoolVar(&strict, "warnings-as-errors", false, "return code 1 for warnings too")
	return cmd
}

func (p *program) runCheck(strict bool) error {
	src, res, err := p.loadWith(generator.Check)
	if err != nil {
		return err
	}
	findings := slices.Clone(res.Findings)
	var drift []fileChange
	if res.Files != nil {
		out, refused, err := openOutput(src, res)
		if err != nil {
			return failf("%w", err)
		}
		defer out.close()
		findings = append(findings, refused...)
		if len(refused) == 0 {
			drift = out.survey.Changes
		}
	}
	code := chooseExitCode(findings, strict)
	stale := p.staleFindings(src, drift)
	if len(stale) > 0 {
		code = worse(code, exitDrift)
	}
	return p.conclude(src, findings, ending{
		code: code, drift: p.driftText(src, drift), plain: stale,
		line: p.checkLine(src, findings, len(stale)),
	})
}

// checkLine says how a check ended.
func (p *program) checkLine(src *source, findings []report.Finding, stale int) string {
	line := describeFindings(src.shown, findings)
	switch {
	case stale > 0:
		return fmt.Sprintf("%s; %s not as generated: run %s", line, counted(stale, "file"),
			p.repair())
	case slices.ContainsFunc(findings, func(f report.Finding) bool {
		return f.Severity == report.Error
	}):
		return line
	default:
		return line + "; the generated files are up to date"
	}
}

// staleFindings returns a finding for each drifted file, for the formats that programs read.
func (p *program) staleFindings(src *source, drift []fileChange) []report.Finding {
	rules := map[status]string{created: spec.RuleOutMissing, changed: spec.RuleOutChanged,
		removed: spec.RuleOutLeftover}
	var out []report.Finding
	for _, c := range drift {
		out = append(out, report.Finding{Rule: rules[c.Status], Severity: report.Error,
			File: src.display(c.Path), Message: c.Why, Hint: "run " + p.repair()})
	}
	return out
}

// driftText lists the files that are not as generated, for people.
func (p *program) driftText(src *source, drift []fileChange) []byte {
	if len(drift) == 0 {
		return nil
	}
	var b bytes.Buffer
	b.WriteString("drift:\n")
	w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
	for _, c := range drift {
		count := ""
		if c.Status == changed {
			added, deleted := c.lines()
			count = fmt.Sprintf("+%d -%d", added, deleted)
		}
		letter := map[status]string{created: "A", changed: "M", removed: "D"}[c.Status]
		_, _ = fmt.Fprintf(w, "  %s %s\t%s\t%s\n", letter, src.display(c.Path), count, c.Why)
	}
	_ = w.Flush() // into memory
	b.WriteString("run: " + p.repair() + "\n")
	return b.Bytes()
}

// repair returns the command line that removes the drift, with the flags that name this spec.
func (p *program) repair() string {
	words := []string{invocation(".")}
	if p.opts.dir != "." {
		words = append(words, "-C", p.opts.dir)
	}
	words = append(words, "generate")
	if p.opts.file != "" {
		words = append(words, "-f", p.opts.file)
	}
	return strings.Join(words, " ")
}
