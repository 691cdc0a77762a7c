package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/edit"
	"github.com/routegen/routegen/generator/report"
)

// lintFlags are the flags of lint alone.
type lintFlags struct {
	fix, dryRun, strict bool
	categories          []string
}

// lintCategories are the groups of warnings. Each of the first three includes the one before it.
var lintCategories = []report.Category{
	report.CategoryMinimal, report.CategoryBasic, report.CategoryStandard, report.CategoryDocs,
	report.CategoryLLM,
}

func (p *program) lintCommand() *cobra.Command {
	var flags lintFlags
	cmd := &cobra.Command{
		Use:   "lint",
		Short: "Report what is legal in the spec but likely to cause trouble",
		Long: "lint reports the warnings of the spec, and its errors if it has any. MINIMAL " +
			"is part of BASIC, BASIC of STANDARD; DOCS\n" +
			"and LLM are separate. A comment `# routegen:allow RULE reason` on the line or " +
			"above it suppresses a warning; one\n" +
			"that is not needed is a warning itself. --fix repairs what can be repaired " +
			"automatically and changes no other byte.",
		Example: "  routegen lint\n  routegen lint --category DOCS,LLM\n  routegen lint --fix " +
			"--dry-run",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return p.runLint(flags) },
	}
	cmd.Flags().BoolVar(&flags.fix, "fix", false,
		"repair in the spec what can be repaired automatically")
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false,
		"with --fix: print the patch, and write nothing")
	cmd.Flags().BoolVar(&flags.strict, "warnings-as-errors", false,
		"return code 1 for warnings too")
	cmd.Flags().StringSliceVar(&flags.categories, "category", nil,
		"only warnings of these `categories`: "+joined(lintCategories, ", "))
	_ = cmd.RegisterFlagCompletionFunc("category",
		cobra.FixedCompletions(plainStrings(lintCategories), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (p *program) runLint(flags lintFlags) error {
	if flags.dryRun && !flags.fix {
		return errors.New("--dry-run says what --fix would do: give both")
	}
	wanted, err := parseCategories(flags.categories, lintCategories)
	if err != nil {
		return err
	}
	src, res, err := p.loadWith(generator.Check)
	if err != nil {
		return err
	}
	findings := ofCategories(res.Findings, wanted)
	fixed := 0
	if flags.fix {
		var files edit.Files
		if files, fixed = src.files().Fix(findings); flags.dryRun {
			return p.printText(patch(src, src.withFiles(files)))
		}
		if fixed > 0 {
			after := src.withFiles(files)
			if _, err := p.writeFiles(src, after); err != nil {
				return err
			}
			src = after
			findings = ofCategories(src.makeWith(generator.Check).Findings, wanted)
		}
	}
	line := describeFindings(src.shown, findings)
	if flags.fix {
		line = fmt.Sprintf("%s made; %s", counted(fixed, "edit"), line)
	}
	return p.conclude(src, findings,
		ending{code: chooseExitCode(findings, flags.strict), wrote: min(fixed, 1), line: line})
}

// ofCategories keeps the errors, and the warnings of some categories.
func ofCategories(findings []report.Finding, wanted []report.Category) []report.Finding {
	rules := map[string]report.Category{}
	for _, r := range allRules() {
		rules[r.ID] = r.Category
	}
	return slices.DeleteFunc(slices.Clone(findings), func(f report.Finding) bool {
		return f.Severity != report.Error && !slices.Contains(wanted, rules[f.Rule])
	})
}

// parseCategories reads the value of --category: known categories, in any case; none means all.
// BASIC includes MINIMAL, and STANDARD includes BASIC.
func parseCategories(names []string, known []report.Category) ([]report.Category, error) {
	if len(names) == 0 {
		return known, nil
	}
	var out []report.Category
	for _, name := range names {
		c := report.Category(strings.ToUpper(strings.TrimSpace(name)))
		switch {
		case !slices.Contains(known, c):
			return nil, fmt.Errorf("--category is %q%s: use %s", name,
				didYouMean(string(c), plainStrings(known)), joined(known, ", "))
		case c == report.CategoryStandard:
			out = append(out, report.CategoryMinimal, report.CategoryBasic, c)
		case c == report.CategoryBasic:
			out = append(out, report.CategoryMinimal, c)
		default:
			out = append(out, c)
		}
	}
	return out, nil
}

// plainStrings returns names of a kind as plain strings.
func plainStrings[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

// joined joins names of a kind with a separator.
func joined[T ~string](list []T, between string) string {
	return strings.Join(plainStrings(list), between)
}
