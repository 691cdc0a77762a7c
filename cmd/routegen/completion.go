package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator/plan"
)

// completeFlags registers the values of the flags that every command takes. The completion command
// itself is cobra's.
func (p *program) completeFlags(root *cobra.Command) {
	for flag, values := range map[string][]string{
		"format": reportFormats,
		"color":  {"auto", "always", "never"},
	} {
		_ = root.RegisterFlagCompletionFunc(flag,
			cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}

// complete returns a completion function over names of the plan. Without a valid spec it offers
// none.
func (p *program) complete(names func(*plan.Plan) []string) func(*cobra.Command, []string, string) (
	[]string, cobra.ShellCompDirective) {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		_, res, err := p.load()
		if err != nil || res.Plan == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return startingWith(typed, names(res.Plan)), cobra.ShellCompDirectiveNoFileComp
	}
}

// startingWith keeps the names that begin with the typed text.
func startingWith(typed string, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return !strings.HasPrefix(n, typed)
	})
}

// agentTypes lists the agent types whose interrupts have a route.
func agentTypes(pl *plan.Plan) []string {
	var out []string
	for _, n := range pl.Nodes {
		if n.Origin != "" {
			out = append(out, n.AgentType)
		}
	}
	return out
}

// typeNames lists the names that have a schema: records, then routings.
func typeNames(pl *plan.Plan) []string {
	var out []string
	for _, r := range pl.Records {
		out = append(out, r.Name)
	}
	for _, r := range pl.Routings {
		out = append(out, r.Name)
	}
	return out
}
