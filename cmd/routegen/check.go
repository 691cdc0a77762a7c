package main

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/spec"
)

func (p *program) checkCommand() *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Say whether the spec is right and its files are fresh; write nothing",
		Long: "check reports every error and warning of the spec, and every generated file that is missing, edited or left over.\n" +
			"It only reads. Exit code 3 means that generating repairs it, 1 that a person has to.",
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
	var drift []change
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
	code := judge(findings, strict)
	stale := p.staleFindings(src, drift)
	if len(stale) > 0 {
		code = worse(code, exitDrift)
	}
	return p.conclude(src, findings, ending{
		code: code, drift: p.driftText(src, res, drift, len(stale) > 0), plain: stale, line: p.checkLine(src, findings, len(stale)),
	})
}

// checkLine says how a check ended.
func (p *program) checkLine(src *source, findings []spec.Finding, stale int) string {
	line := verdict(src.shown, findings)
	switch {
	case stale > 0:
		return fmt.Sprintf("%s; %s not as generated: run %s", line, counted(stale, "file"), p.repair())
	case slices.ContainsFunc(findings, func(f spec.Finding) bool { return f.Severity == spec.Error }):
		return line
	default:
		return line + "; the generated files are fresh"
	}
}

// staleFindings gives each drifted file a rule, for readers that are no people.
func (p *program) staleFindings(src *source, drift []change) []spec.Finding {
	rules := map[status]string{created: spec.RuleOutMissing, changed: spec.RuleOutChanged, removed: spec.RuleOutLeftover}
	var out []spec.Finding
	hint := "run " + p.repair()
	for _, c := range drift {
		if rule, ok := rules[c.Status]; ok {
			out = append(out, spec.Finding{
				Rule: rule, Severity: spec.Error, File: src.display(c.Path), Message: c.Why, Hint: hint,
			})
		}
	}
	return out
}

// driftText prints each output folder with its files that are not as generated, as people read it.
func (p *program) driftText(src *source, res *generator.Result, drift []change, stale bool) []byte {
	var b bytes.Buffer
	if res.Plan != nil {
		seen := map[string]bool{}
		for _, folder := range []string{src.at(res.Plan.Out), src.at(res.Plan.Docs)} {
			listFolder(&b, src.display(folder), folder, drift, seen)
		}
	}
	if stale {
		b.WriteString("run: " + p.repair() + "\n")
	}
	return b.Bytes()
}

// repair is the command that undoes drift, as it is called here, with the flags that name this spec.
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

// listFolder prints one folder's drift, one line a file.
func listFolder(b *bytes.Buffer, title, folder string, drift []change, seen map[string]bool) {
	letters := map[status]string{created: "A", changed: "M", removed: "D", foreign: "?"}
	var rows [][3]string
	width, heading := 0, "foreign files: "
	for _, c := range drift {
		if !within(folder, c.Path) || seen[c.Path] {
			continue
		}
		seen[c.Path] = true
		name := c.Path
		if folder != "." {
			name = strings.TrimPrefix(c.Path, folder+"/")
		}
		count := ""
		if c.Status == changed {
			added, deleted := c.lines()
			count = fmt.Sprintf("+%d -%d", added, deleted)
		}
		if c.Status != foreign {
			heading = "drift: "
		}
		rows = append(rows, [3]string{letters[c.Status] + " " + name, count, c.Why})
		width = max(width, len(name)+2)
	}
	if len(rows) == 0 {
		return
	}
	b.WriteString(heading + path.Clean(title) + "\n")
	for _, r := range rows {
		fmt.Fprintf(b, "  %-*s  %-7s %s\n", width, r[0], r[1], r[2])
	}
}
