package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/review"
)

func (p *program) changelogCommand() *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "changelog --from REV",
		Short: "Write what changed in the spec as an entry of a changelog",
		Long: "changelog prints Markdown in the form of Keep a Changelog: what was added, changed and removed since a revision, and which\n" +
			"texts for a model are others. Without --to it goes up to the spec on disk.",
		Example: "  routegen changelog --from v1.2.0\n  routegen changelog --from v1.1.0 --to v1.2.0",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return p.runChangelog(cmd.Context(), from, to) },
	}
	againstFlag(cmd, "from", &from)
	againstFlag(cmd, "to", &to)
	return cmd
}

func (p *program) runChangelog(ctx context.Context, from, to string) error {
	if err := notAgainst("--from", from); err != nil {
		return err
	}
	src, now, old, err := p.both(ctx, from, generator.Decide)
	if err != nil {
		return err
	}
	if to != "" {
		if now, err = p.earlier(ctx, src, now.Plan, to, generator.Decide); err != nil {
			return err
		}
	}
	text := review.Changelog(old.Plan, now.Plan)
	if text == "" {
		p.notef("no difference between %s and %s", from, cmp.Or(to, src.shown))
	}
	return p.printText(text)
}
