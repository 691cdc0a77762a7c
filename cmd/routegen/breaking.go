package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/review"
)

// breakingFlags are the flags of breaking alone.
type breakingFlags struct {
	against    string
	threads    string
	categories []string
}

func (p *program) breakingCommand() *cobra.Command {
	var flags breakingFlags
	cmd := &cobra.Command{
		Use:   "breaking --against REV",
		Short: "Say what a change of the spec breaks, and for whom",
		Long: "breaking compares the spec with an earlier one and reports each cause once: what " +
			"stops compiling (SOURCE), what stored and\n" +
			"sent data no longer fits (WIRE_JSON), what schemas outside rely on (SCHEMA), who " +
			"can no longer go where (TOPOLOGY), and\n" +
			"what a model is told (PROMPT). A finding is an error, a notice, or expected, as an " +
			"added node is. Only errors\n" +
			"change the exit code, to 1. A rename that the spec declares with `was:` is one " +
			"finding.\nThe last line, and deploy in JSON, say of the whole change whether to " +
			"deploy it. Your Go is not read: diff --against does that.",
		Example: "  routegen breaking --against origin/main\n  routegen breaking --against " +
			"v1.2.0 --category WIRE_JSON,SCHEMA --format sarif",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.runBreaking(cmd.Context(), flags)
		},
	}
	againstFlag(cmd, "against", &flags.against)
	threadsFlag(cmd, &flags.threads)
	known := breakingCategories()
	cmd.Flags().StringSliceVar(&flags.categories, "category", nil,
		"only rules of these `categories`: "+joined(known, ", "))
	_ = cmd.RegisterFlagCompletionFunc("category",
		cobra.FixedCompletions(plainStrings(known), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// breakingCategories lists the categories of the rules of breaking, in the order of the rules.
func breakingCategories() []report.Category {
	var out []report.Category
	seen := map[report.Category]bool{}
	for _, r := range review.Catalogue() {
		if !seen[r.Category] {
			seen[r.Category] = true
			out = append(out, r.Category)
		}
	}
	return out
}

func (p *program) runBreaking(ctx context.Context, flags breakingFlags) error {
	if err := requireAgainst("--against", flags.against); err != nil {
		return err
	}
	wanted, err := parseCategories(flags.categories, breakingCategories())
	if err != nil {
		return err
	}
	threads, err := p.readThreads(flags.threads)
	if err != nil {
		return err
	}
	src, now, old, err := p.loadBoth(ctx, flags.against)
	if err != nil {
		return err
	}
	findings := review.BreakingIn(old.Plan, now.Plan, wanted...)
	for i := range findings {
		if findings[i].File == now.Plan.Source { // the others are included files
			findings[i].File = src.shown
		}
	}
	verdict := review.Compare(old.Plan, now.Plan).Verdict()
	line := fmt.Sprintf("%s against %s; deploy: %s", describeSeverities(findings), flags.against,
		verdict.Summary())
	if threads != nil {
		line += "; " + threads.Summary()
	}
	return p.conclude(src, findings, ending{code: chooseExitCode(findings, false), line: line,
		deploy: verdict})
}

// describeSeverities counts findings by severity, as in "1 error and 2 notices".
func describeSeverities(findings []report.Finding) string {
	count := map[report.Severity]int{}
	for _, f := range findings {
		count[f.Severity]++
	}
	var parts []string
	for _, s := range []report.Severity{report.Error, report.Warning, report.Expected,
		report.Notice} {
		switch n := count[s]; {
		case n == 0:
		case s == report.Expected: // no noun
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		default:
			parts = append(parts, counted(n, string(s)))
		}
	}
	if len(parts) == 0 {
		return "nothing broken"
	}
	return strings.Join(parts, ", ")
}
