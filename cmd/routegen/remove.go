package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator/spec"
)

func (p *program) removeCommand() *cobra.Command {
	var flags editFlags
	cmd := &cobra.Command{
		Use:   "remove KIND NAME",
		Short: "Remove something from the spec that nothing refers to, then generate",
		Long: "remove refuses while anything in the spec still refers to the name, and lists every such place. Otherwise it takes the\n" +
			"entry out and writes the name under `reserved:`, so that it never comes back with another meaning. Kinds:\n" +
			strings.Join(spec.EditKinds(), ", ") + ".",
		Example: "  routegen remove node reporter\n  routegen remove field reporter.pages --dry-run",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("KIND", args[0], spec.EditKinds()...); err != nil {
				return err
			}
			return p.edit(cmd.Context(), flags, func(name string, src []byte) (*spec.EditResult, []spec.Finding) {
				return spec.Remove(name, src, args[0], args[1])
			})
		},
		ValidArgsFunction: p.completeNames,
	}
	flags.add(cmd)
	return cmd
}
