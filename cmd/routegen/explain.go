package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator/spec"
)

func (p *program) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [RULE | route NAME | origin NAME [ROUTE]]",
		Short: "Say why a rule is there, or why a route is open or not; without RULE, list the rules",
		Long: "explain RULE says why a rule is there, with a bad and a good example. explain route NAME says from which origins a route\n" +
			"is open; explain origin NAME says where the interrupts of an agent type go back to, and why; with ROUTE, why that one is\n" +
			"open or not. A route is named by its constant, field, tag or node, an origin by its agent type or node.",
		Example:           "  routegen explain SELF_ROUTE\n  routegen explain route discoveryDispatch\n  routegen explain origin DISCOVERY_AGENT ORCHESTRATOR",
		Args:              cobra.MaximumNArgs(3),
		ValidArgsFunction: p.completeExplain,
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return p.listRules()
			case args[0] == "route" && len(args) == 2:
				return p.explainRoute(args[1])
			case args[0] == "origin" && len(args) == 2:
				return p.explainOrigin(args[1], "")
			case args[0] == "origin" && len(args) == 3:
				return p.explainOrigin(args[1], args[2])
			case len(args) == 1 && args[0] != "route" && args[0] != "origin":
				return p.explain(args[0])
			}
			return errors.New("say which: explain RULE, explain route NAME, or explain origin NAME [ROUTE]")
		},
	}
}

// explain prints one rule. The id may be written in any case.
func (p *program) explain(id string) error {
	rules := allRules()
	i := slices.IndexFunc(rules, func(r spec.Rule) bool { return strings.EqualFold(r.ID, id) })
	if i < 0 {
		var ids []string
		for _, r := range rules {
			ids = append(ids, r.ID)
		}
		return failf("there is no rule %q%s; routegen rules lists them", id, didYouMean(strings.ToUpper(id), ids))
	}
	if p.opts.format == "json" {
		return p.printJSON(rules[i])
	}
	return p.printText(ruleText(rules[i]))
}

// ruleText is the page of one rule.
func ruleText(r spec.Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n\n%s\n\n%s\n", r.ID, r.Severity, r.Summary, r.Why)
	for _, part := range []struct{ title, text string }{{"Bad", r.Bad}, {"Good", r.Good}} {
		if part.text == "" {
			continue
		}
		fmt.Fprintf(&b, "\n%s:\n\n", part.title)
		for line := range strings.Lines(strings.TrimRight(part.text, "\n") + "\n") {
			b.WriteString(strings.TrimRight("  "+line, " \n") + "\n")
		}
	}
	return b.String()
}

// listRules prints every rule, one a line.
func (p *program) listRules() error {
	rules := allRules()
	if p.opts.format == "json" {
		for _, r := range rules {
			if err := p.printJSON(r); err != nil {
				return err
			}
		}
		return nil
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rules {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.ID, r.Severity, r.Category, r.Summary)
	}
	_ = w.Flush() // into memory
	return p.printText(b.String())
}

// printJSON prints one value on one line of standard output, without HTML escapes.
func (p *program) printJSON(v any) error {
	enc := json.NewEncoder(p.stdout)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return failf("%w", err)
	}
	return nil
}

// printText prints to standard output; a reader that is gone is a failure.
func (p *program) printText(text string) error {
	if _, err := p.stdout.Write([]byte(text)); err != nil {
		return failf("%w", err)
	}
	return nil
}

// didYouMean returns a half sentence with the nearest of some names, or "" when none is near.
func didYouMean(name string, names []string) string {
	best, at := len(name)/2+1, ""
	for _, n := range names {
		if d := distance(name, n); d < best {
			best, at = d, n
		}
	}
	if at == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", at)
}

// distance counts the edits that turn one word into another.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
