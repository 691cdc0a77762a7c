package main

import (
	"context"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/review"
)

// graphFormats are the forms of a graph.
var graphFormats = []string{"mermaid", "dot", "json"}

func (p *program) graphCommand() *cobra.Command {
	var origin, against string
	format := "mermaid"
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Draw who can go where",
		Long: "graph prints the graph of the nodes and their branches; with --origin only what one agent type can reach, with --against\n" +
			"also what was there before, added and removed lines coloured. Flows are not drawn here: ROUTES.md, which generate\n" +
			"writes, has a chart of each.",
		Example: "  routegen graph --origin DISCOVERY_AGENT\n  routegen graph --against origin/main --format dot",
		Args:    cobra.NoArgs,
		// Takes the place of the check of the flags, because --format has other values here.
		PersistentPreRunE: func(*cobra.Command, []string) error {
			p.opts.format = "text"
			if err := p.opts.check(); err != nil {
				return err
			}
			return oneOf("--format", format, graphFormats...)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return p.runGraph(cmd.Context(), origin, against, format) },
	}
	cmd.Flags().StringVar(&origin, "origin", "", "only what this `agent type` can reach")
	againstFlag(cmd, "against", &against)
	cmd.Flags().StringVar(&format, "format", format, strings.Join(graphFormats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(graphFormats, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("origin", p.complete(agentTypes))
	return cmd
}

func (p *program) runGraph(ctx context.Context, origin, against, format string) error {
	src, now, err := p.loadWith(generator.Decide)
	if err != nil {
		return err
	}
	if now.Plan == nil {
		return p.conclude(src, now.Findings, ending{code: judge(now.Findings, false), line: verdict(src.shown, now.Findings)})
	}
	var before *plan.Plan
	if against != "" {
		old, err := p.earlier(ctx, src, now.Plan, against, generator.Decide)
		if err != nil {
			return err
		}
		before = old.Plan
	}
	if len(now.Plan.Nodes) == 0 && (before == nil || len(before.Nodes) == 0) {
		return failf("%s, and the graph is one of nodes: each flow is drawn in %s, which routegen generate writes", noNodes, path.Join(now.Plan.Docs, "ROUTES.md"))
	}
	if origin != "" {
		n, err := nodeOf(now.Plan, origin)
		if err != nil {
			return failf("--origin: %w", err)
		}
		origin = n.Key
	}
	text, err := review.Graph(now.Plan, before, origin, format)
	if err != nil {
		return failf("%w", err)
	}
	return p.printText(text)
}
