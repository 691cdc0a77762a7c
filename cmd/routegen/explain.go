package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

func (p *program) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "explain [RULE]",
		Short: "Say why a rule is there, with a bad and a good example; without RULE, list " +
			"the rules",
		Example: "  routegen explain SELF_ROUTE",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string,
			cobra.ShellCompDirective) {
			var ids []string
			for _, r := range allRules() {
				if len(args) == 0 {
					ids = append(ids, r.ID)
				}
			}
			return startingWith(strings.ToUpper(typed), ids), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return p.listRules()
			}
			return p.explain(args[0])
		},
	}
}

// explain prints one rule. The id may be written in any case.
func (p *program) explain(id string) error {
	rules := allRules()
	i := slices.IndexFunc(rules, func(r report.Rule) bool { return strings.EqualFold(r.ID, id) })
	if i < 0 {
		var ids []string
		for _, r := range rules {
			ids = append(ids, r.ID)
		}
		return failf("there is no rule %q%s; routegen explain lists them", id,
			didYouMean(strings.ToUpper(id), ids))
	}
	if p.opts.format == "json" {
		return p.printJSON(rules[i])
	}
	return p.printText(ruleText(rules[i]))
}

// ruleText returns the page of one rule.
func ruleText(r report.Rule) string {
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

// printText prints to standard output; it fails if the reader has closed its end.
func (p *program) printText(text string) error {
	if _, err := p.stdout.Write([]byte(text)); err != nil {
		return failf("%w", err)
	}
	return nil
}

// didYouMean returns ", did you mean ...?" with the nearest of some names, or "" if none is near.
func didYouMean(name string, names []string) string {
	near := spec.Nearest(name, names)
	if near == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", near)
}
