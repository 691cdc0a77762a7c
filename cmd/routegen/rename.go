package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator/edit"
	"github.com/routegen/routegen/generator/report"
)

func (p *program) renameCommand() *cobra.Command {
	var flags editFlags
	cmd := &cobra.Command{
		Use:   "rename KIND OLD NEW",
		Short: "Rename something in the spec with all that refers to it, then generate",
		Long: "rename gives a new name, edits every reference in the spec, and writes `was:`, so " +
			"that a review sees one change in place of\n" +
			"two. A program of the new spec brings the threads it takes up to the new name;\n" +
			"one that stands at a renamed node is refused. What is sent has to use the new name. " +
			"Kinds:\n" +
			strings.Join(edit.Kinds(), ", ") + "\n" +
			"(an interrupt kind). " + howNamed + "\n" +
			"A step is named FLOW.STEP. NEW is only the new last part.\n\n" +
			"Prompt templates, handwritten Go and docs are not edited. A template that still " +
			"has the old name\n" +
			"is reported, and the Go compiler finds the rest.",
		Example: "  routegen rename node reporter writer\n  routegen rename field reporter.goal " +
			"topic --dry-run\n  routegen rename step greet.hello welcome",
		Args: requireArgs(true, "KIND", "OLD", "NEW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("KIND", args[0], edit.Kinds()...); err != nil {
				return err
			}
			return p.edit(cmd.Context(), flags, func(files edit.Files) (edit.Files,
				[]report.Finding) {
				return files.Rename(args[0], args[1], args[2])
			})
		},
		ValidArgsFunction: completeKinds(edit.Kinds()),
	}
	flags.addTo(cmd)
	return cmd
}
