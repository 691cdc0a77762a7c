package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator/edit"
	"github.com/routegen/routegen/generator/report"
)

func (p *program) addCommand() *cobra.Command {
	var flags editFlags
	var what edit.Addition
	cmd := &cobra.Command{
		Use:   "add KIND NAME [KEY=VALUE...]",
		Short: "Add something to the spec, then generate",
		Long: "add writes a new entry into the spec, laid out like its neighbours, and leaves " +
			"every other byte as it is. Then it\n" +
			"checks and generates. Kinds: " + strings.Join(kindsOfParts(), ", ") + "\n" +
			"(an interrupt kind). " + howNamed + "\n" +
			"A step is added by hand, since its position among the other steps matters.\n\n" +
			"A key may be a path: request.fields.goal=string. The new entry comes last, unless " +
			"--after or --before name a neighbour.",
		Example: "  routegen add node reporter doc=\"Writes the report.\" " +
			"request.fields.goal=string branches.report=Report\n" +
			"  routegen add field reporter.pages type=int optional=true --after goal\n" +
			"  routegen add branch coordinator.reporterRequest type=ReporterRequest\n" +
			"  routegen add value InterruptType.PAUSE doc=\"Hold where it is.\" --dry-run\n" +
			"  routegen add flow greet doc=\"Greets.\" steps=\"[{step: hello, type: say, " +
			"message: Hello.}]\"\n" +
			"  routegen add slot greet.name type=string doc=\"Who is greeted.\"",
		Args:              requireArgs(false, "KIND", "NAME"),
		ValidArgsFunction: completeKinds(kindsOfParts()),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("KIND", args[0], edit.Kinds()...); err != nil {
				return err
			}
			what.Kind, what.Name = args[0], args[1]
			var err error
			if what.Set, err = keyValues(args[2:]); err != nil {
				return err
			}
			return p.edit(cmd.Context(), flags, func(files edit.Files) (edit.Files,
				[]report.Finding) {
				return files.Add(what)
			})
		},
	}
	flags.addTo(cmd)
	cmd.Flags().StringVar(&what.After, "after", "", "put it after this `neighbour`")
	cmd.Flags().StringVar(&what.Before, "before", "", "put it before this `neighbour`")
	cmd.MarkFlagsMutuallyExclusive("after", "before")
	return cmd
}

// keyValues reads KEY=VALUE arguments.
func keyValues(args []string) ([]edit.KeyValue, error) {
	var out []edit.KeyValue
	for _, a := range args {
		key, value, ok := strings.Cut(a, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%q is not KEY=VALUE, as in doc=\"Writes the report.\"", a)
		}
		out = append(out, edit.KeyValue{Key: key, Value: value})
	}
	return out, nil
}
