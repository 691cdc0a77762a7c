package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator/spec"
)

func (p *program) removeCommand() *cobra.Command {
	var flags editFlags
	with := false
	cmd := &cobra.Command{
		Use:   "remove KIND NAME",
		Short: "Remove something from the spec that nothing refers to, then generate",
		Long: "remove refuses while anything in the spec still refers to the name, and lists every such place. Otherwise it takes the\n" +
			"entry out and writes the name under `reserved:` (that of an interrupt kind under `reserved_kinds:`), so that it never comes\n" +
			"back with another meaning. Kinds: " + strings.Join(kindsOfParts(), ", ") + "\n" +
			"(an interrupt kind). " + howNamed + "\n" +
			"A step is removed by hand: stored conversations may stand at it.\n\n" +
			"With --with-references, branches that carry it or lead to it go too, and so do the arms of collect tables for it: a node\n" +
			"that has but one way in, or a value that a table decides by, cannot go alone. Every other reference still refuses.",
		Example: "  routegen remove node reporter --with-references\n  routegen remove field reporter.pages --dry-run\n" +
			"  routegen remove slot greet.name",
		Args: wants(true, "KIND", "NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("KIND", args[0], spec.EditKinds()...); err != nil {
				return err
			}
			return p.edit(cmd.Context(), flags, func(name string, src []byte) (*spec.EditResult, []spec.Finding) {
				if with {
					return spec.RemoveWithReferences(name, src, args[0], args[1])
				}
				return spec.Remove(name, src, args[0], args[1])
			})
		},
		ValidArgsFunction: p.completeNames(kindsOfParts()),
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&with, "with-references", false, "take out the branches and the collect arms that it has, too")
	return cmd
}
