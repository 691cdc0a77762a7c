package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// conclude ends a command that reports findings: it prints them to standard output in the form that
// was asked for, and returns an error with the line that says what happened where the code is not
// 0. Where GitHub runs the program, annotations follow the text.
func (p *program) conclude(src *source, findings []report.Finding, end ending) error {
	if err := p.print(src, src.resolve(findings), end); err != nil {
		return failf("%w", err)
	}
	if end.code == exitFine {
		p.notef("%s", end.line)
		return nil
	}
	return &exitError{end.code, errors.New(end.line)}
}

// ending is how a command that reports findings ends.
type ending struct {
	code  exitCode
	wrote int              // files written or removed
	drift []byte           // printed below the findings in the text form
	line  string           // what happened, for people
	plain []report.Finding // findings that drift has as text, for the other forms
	// whether to deploy, of breaking, for the JSON form; nil: not asked for
	deploy any
}

// reportFormats are the forms that findings can be printed in.
var reportFormats = []string{"text", "json", "github", "sarif", "junit"}

// print writes findings to standard output.
func (p *program) print(src *source, findings []report.Finding, end ending) error {
	all := slices.Concat(findings, end.plain)
	switch p.opts.format {
	case "json":
		return report.WriteJSON(p.stdout, all,
			report.Summary{Wrote: end.wrote, Code: int(end.code), Deploy: end.deploy})
	case "github":
		return report.WriteGitHub(p.stdout, p.fromTop(all))
	case "sarif":
		return report.WriteSARIF(p.stdout, p.fromTop(all), allRules())
	case "junit":
		return report.WriteJUnit(p.stdout, src.shown, all)
	}
	text, err := p.renderText(src, findings)
	if err != nil {
		return err
	}
	if _, err := p.stdout.Write(append(p.colour(text), end.drift...)); err != nil {
		return err
	}
	if p.getenv("GITHUB_ACTIONS") == "true" {
		return report.WriteGitHub(p.stdout, p.fromTop(all))
	}
	return nil
}

// fromTop makes the file names of findings relative to the top of the repository that GitHub has
// checked out, as GitHub expects them. Elsewhere it leaves the names as they are.
func (p *program) fromTop(findings []report.Finding) []report.Finding {
	top := p.getenv("GITHUB_WORKSPACE")
	if top == "" {
		return findings
	}
	out := slices.Clone(findings)
	for i := range out {
		file := filepath.FromSlash(out[i].File)
		if !filepath.IsAbs(file) {
			file = filepath.Join(p.opts.dir, file)
		}
		abs, err := filepath.Abs(file)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(top, abs); err == nil && filepath.IsLocal(rel) {
			out[i].File = filepath.ToSlash(rel)
		}
	}
	return out
}

// renderText prints findings for people, as many as --max-errors allows. Only those about the spec
// show a line of it.
func (p *program) renderText(src *source, findings []report.Finding) ([]byte, error) {
	shown, left := findings, 0
	if limit := p.opts.maxErrors; limit > 0 && len(findings) > limit {
		shown, left = findings[:limit], len(findings)-limit
	}
	var b bytes.Buffer
	for len(shown) > 0 {
		file := shown[0].File
		n := slices.IndexFunc(shown, func(f report.Finding) bool { return f.File != file })
		if n < 0 {
			n = len(shown)
		}
		lines := src.fileText(file)
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		if err := report.WriteText(&b, lines, shown[:n]); err != nil {
			return nil, err
		}
		shown = shown[n:]
	}
	if left > 0 {
		_, _ = fmt.Fprintf(&b, "\nand %d more: --max-errors 0 prints all\n", left)
	}
	return b.Bytes(), nil
}

// severityWord finds the severity in the first line of a finding.
var severityWord = regexp.MustCompile(`(?m)^(\S[^\n]*?: )(error|warning|expected|notice):`)

// colour colours the severities of a text if that is wanted and the output is a terminal.
func (p *program) colour(text []byte) []byte {
	if !p.coloured() {
		return text
	}
	return severityWord.ReplaceAllFunc(text, func(m []byte) []byte {
		parts := severityWord.FindSubmatch(m)
		code := map[string]string{"error": "31", "warning": "33", "expected": "36",
			"notice": "36"}[string(parts[2])]
		return fmt.Appendf(nil, "%s\x1b[%sm%s\x1b[0m:", parts[1], code, parts[2])
	})
}

// coloured reports whether to write colour to standard output.
func (p *program) coloured() bool {
	switch p.opts.color {
	case "always":
		return true
	case "never":
		return false
	}
	return p.getenv("NO_COLOR") == "" && p.getenv("TERM") != "dumb" && isTerminal(p.stdout)
}

// isTerminal reports whether a writer is a character device.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// tally counts findings by severity.
func tally(findings []report.Finding) (errs, warnings int) {
	for _, f := range findings {
		switch f.Severity {
		case report.Error:
			errs++
		case report.Warning:
			warnings++
		default: // only informs
		}
	}
	return errs, warnings
}

// counted writes a number with its noun: "1 error", "3 errors".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// describeFindings returns what was found, file by file, as in "1 error in routes.yaml". shown is
// the path of the spec.
func describeFindings(shown string, findings []report.Finding) string {
	var parts []string
	for _, file := range filesOf(findings) {
		if found := counts(slices.DeleteFunc(slices.Clone(findings), func(f report.Finding) bool {
			return f.File != file
		})); found != "" {
			parts = append(parts, found+" in "+file)
		}
	}
	if len(parts) == 0 {
		return "nothing wrong in " + shown
	}
	return strings.Join(parts, "; ")
}

// describeFindingsIn is describeFindings for findings that are all about one text of a name.
func describeFindingsIn(name string, findings []report.Finding) string {
	if found := counts(findings); found != "" {
		return found + " in " + name
	}
	return "nothing wrong in " + name
}

// filesOf lists the files that findings are about, each once, in the order of their first finding.
func filesOf(findings []report.Finding) []string {
	var files []string
	for _, f := range findings {
		if !slices.Contains(files, f.File) {
			files = append(files, f.File)
		}
	}
	return files
}

// counts returns how many errors and warnings there are, "" if there are none.
func counts(findings []report.Finding) string {
	errs, warnings := tally(findings)
	var parts []string
	if errs > 0 {
		parts = append(parts, counted(errs, "error"))
	}
	if warnings > 0 {
		parts = append(parts, counted(warnings, "warning"))
	}
	return strings.Join(parts, ", ")
}

// chooseExitCode returns the exit code for findings. A defect of the generated output is a failure.
func chooseExitCode(findings []report.Finding, warningsAsErrors bool) exitCode {
	code := exitFine
	for _, f := range findings {
		switch {
		case f.Rule == spec.RuleOutputBroken:
			code = worse(code, exitFailed)
		case f.Severity == report.Error, f.Severity == report.Warning && warningsAsErrors:
			code = worse(code, exitFindings)
		}
	}
	return code
}

// broken reports whether a finding is a defect of routegen.
func broken(findings []report.Finding) bool {
	return slices.ContainsFunc(findings, func(f report.Finding) bool {
		return f.Rule == spec.RuleOutputBroken
	})
}
