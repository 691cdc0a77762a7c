package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
)

func (p *program) addCommand() *cobra.Command {
	var flags editFlags
	var what spec.AddWhat
	var from string
	cmd := &cobra.Command{
		Use:   "add KIND NAME [KEY=VALUE...]",
		Short: "Add something to the spec, then generate",
		Long: "add writes a new entry into the spec, in the manner of its neighbours, and leaves every other byte as it is. Then it\n" +
			"checks and generates. Kinds: " + strings.Join(spec.EditKinds(), ", ") + " (an interrupt kind). A field is named TYPE.FIELD or\n" +
			"NODE.FIELD (of the node's request), a branch NODE.BRANCH, a value of an enum ENUM.VALUE. A key may be a path:\n" +
			"request.fields.goal=string. What is added stands last, unless --after or --before name a neighbour.\n" +
			"`add type NAME --from module/pkg.Type` writes the fields of an existing Go type and binds the new type to it.",
		Example: "  routegen add node reporter doc=\"Writes the report.\" request.fields.goal=string branches.report=Report\n" +
			"  routegen add field reporter.pages type=int optional=true --after goal\n" +
			"  routegen add branch coordinator.reporterRequest type=ReporterRequest\n" +
			"  routegen add value InterruptType.PAUSE doc=\"Hold where it is.\" --dry-run\n" +
			"  routegen add type Ticket --from example.com/app/tickets.Ticket",
		Args: cobra.MinimumNArgs(2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return startingWith(typed, spec.EditKinds()), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("KIND", args[0], spec.EditKinds()...); err != nil {
				return err
			}
			what.Kind, what.Name = args[0], args[1]
			var err error
			if what.Set, err = keyValues(args[2:]); err != nil {
				return err
			}
			if from != "" {
				return p.addFrom(cmd.Context(), flags, what, from)
			}
			return p.edit(cmd.Context(), flags, func(name string, src []byte) (*spec.EditResult, []spec.Finding) {
				return spec.Add(name, src, what)
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&what.After, "after", "", "put it behind this `neighbour`")
	cmd.Flags().StringVar(&what.Before, "before", "", "put it before this `neighbour`")
	cmd.Flags().StringVar(&from, "from", "", "with add type: take the fields of this Go `type`, module/pkg.Type")
	cmd.MarkFlagsMutuallyExclusive("after", "before")
	return cmd
}

// keyValues reads KEY=VALUE arguments.
func keyValues(args []string) ([]spec.KeyValue, error) {
	var out []spec.KeyValue
	for _, a := range args {
		key, value, ok := strings.Cut(a, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%q is not KEY=VALUE, as in doc=\"Writes the report.\"", a)
		}
		out = append(out, spec.KeyValue{Key: key, Value: value})
	}
	return out, nil
}

// completeNames offers the kinds, then the names of one kind as they stand in the spec.
func (p *program) completeNames(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return startingWith(typed, spec.EditKinds()), cobra.ShellCompDirectiveNoFileComp
	case 1:
		return p.complete(func(pl *plan.Plan) []string { return specNames(pl, args[0]) })(cmd, args, typed)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// specNames lists the names of one kind, as edits address them.
func specNames(pl *plan.Plan, kind string) []string {
	switch kind {
	case spec.EditNode:
		return namesOf(pl.Nodes, func(n plan.Node) []string { return []string{n.Key} })
	case spec.EditBranch:
		return namesOf(pl.Routings, func(r plan.Routing) []string {
			if r.Node == "" {
				return nil // the routes are those of the nodes
			}
			return namesOf(r.Branches, func(b plan.Branch) []string { return []string{r.Node + "." + b.Key} })
		})
	case spec.EditType, spec.EditEnding:
		return namesOf(pl.Records, func(r plan.Record) []string {
			if r.Node != "" || kind == spec.EditEnding && r.Role != plan.RoleResult {
				return nil
			}
			return []string{r.Name}
		})
	case spec.EditField:
		return namesOf(pl.Records, func(r plan.Record) []string {
			owner := r.Name
			if r.Node != "" {
				owner = r.Node
			}
			if r.Role == plan.RoleInterrupt {
				owner += ".interrupt"
			}
			return namesOf(r.Fields, func(f plan.Field) []string {
				if f.Common {
					return nil // declared for all interrupts at once
				}
				return []string{owner + "." + f.Key}
			})
		})
	case spec.EditEnum:
		return namesOf(pl.Enums, func(e plan.Enum) []string { return []string{e.Name} })
	case spec.EditValue:
		return namesOf(pl.Enums, func(e plan.Enum) []string {
			return namesOf(e.Values, func(v plan.EnumValue) []string { return []string{e.Name + "." + v.Wire} })
		})
	case spec.EditKind:
		return namesOf(pl.Interrupt.Kinds, func(k plan.InterruptKind) []string { return []string{k.Key} })
	}
	return nil
}

// namesOf puts the names of each part in a row.
func namesOf[T any](list []T, names func(T) []string) []string {
	var out []string
	for _, v := range list {
		out = append(out, names(v)...)
	}
	return out
}
