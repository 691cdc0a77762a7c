package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator/edit"
	"github.com/routegen/routegen/generator/report"
)

func (p *program) removeCommand() *cobra.Command {
	var flags editFlags
	cmd := &cobra.Command{
		Use:   "remove KIND NAME",
		Short: "Remove something that nothing in the spec refers to, then generate",
		Long: "remove refuses while anything in the spec still refers to the name, and lists " +
			"every such place. Otherwise it takes the\n" +
			"entry out and writes the name under `reserved:` (that of an interrupt kind under " +
			"`reserved_kinds:`), so that it is never\n" +
			"used again with another meaning. Kinds: " + strings.Join(kindsOfParts(), ", ") + "\n" +
			"(an interrupt kind). " + howNamed + "\n" +
			"A step is removed by hand: stored conversations may stand at it. So is a node " +
			"together " +
			"with the only branch that leads to it.",
		Example: "  routegen remove node reporter\n  routegen remove field " +
			"reporter.pages --dry-run\n" +
			"  routegen remove slot greet.name",
		Args: requireArgs(true, "KIND", "NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("KIND", args[0], edit.Kinds()...); err != nil {
				return err
			}
			return p.edit(cmd.Context(), flags, func(files edit.Files) (edit.Files,
				[]report.Finding) {
				return files.Remove(args[0], args[1])
			})
		},
		ValidArgsFunction: completeKinds(kindsOfParts()),
	}
	flags.addTo(cmd)
	return cmd
}
