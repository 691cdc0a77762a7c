package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
)

// howNamed says how the parts of a spec are named that belong to something else; steps apart, which not every command knows.
const howNamed = "A field is named TYPE.FIELD or NODE.FIELD (of the node's request),\n" +
	"a branch NODE.BRANCH, a value of an enum ENUM.VALUE, a slot FLOW.SLOT."

// kindsOfParts lists the kinds that can be added and removed by name: all but steps.
func kindsOfParts() []string {
	return slices.DeleteFunc(spec.EditKinds(), func(kind string) bool { return kind == spec.EditStep })
}

// completion is what cobra asks for the next words of a command line.
type completion = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// completeNames offers some kinds, then the names of one kind as they stand in the spec.
func (p *program) completeNames(kinds []string) completion {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return startingWith(typed, kinds), cobra.ShellCompDirectiveNoFileComp
		case len(args) == 1 && slices.Contains(kinds, args[0]):
			return p.complete(func(pl *plan.Plan) []string { return specNames(pl, args[0]) })(cmd, args, typed)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeNew offers the kinds, then what a new thing of one kind may belong to, up to the dot before its own name.
func (p *program) completeNew(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return startingWith(typed, kindsOfParts()), cobra.ShellCompDirectiveNoFileComp
	case 1:
		owners, directive := p.complete(func(pl *plan.Plan) []string { return owners(pl, args[0]) })(cmd, args, typed)
		return owners, directive | cobra.ShellCompDirectiveNoSpace
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// owners lists what things of a kind belong to, each with the dot that follows; nothing for kinds that stand by themselves.
func owners(pl *plan.Plan, kind string) []string {
	nodes := namesOf(pl.Nodes, func(n plan.Node) []string { return []string{n.Key + "."} })
	switch kind {
	case spec.EditBranch:
		return nodes
	case spec.EditField:
		return append(nodes, namesOf(pl.Records, func(r plan.Record) []string {
			if r.Node != "" && r.Role != plan.RoleInterrupt {
				return nil // the request of a node is named as the node
			}
			return []string{recordOwner(r) + "."}
		})...)
	case spec.EditValue:
		return namesOf(pl.Enums, func(e plan.Enum) []string { return []string{e.Name + "."} })
	case spec.EditSlot:
		return namesOf(talkOf(pl).Flows, func(f plan.Flow) []string { return []string{f.Key + "."} })
	}
	return nil
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
	case spec.EditType:
		scalars := namesOf(pl.Scalars, func(s plan.Scalar) []string { return []string{s.Name} })
		return append(recordNames(pl, kind), scalars...)
	case spec.EditEnding:
		return recordNames(pl, kind)
	case spec.EditField:
		return fieldAddresses(pl)
	case spec.EditEnum:
		return namesOf(pl.Enums, func(e plan.Enum) []string { return []string{e.Name} })
	case spec.EditValue:
		return namesOf(pl.Enums, func(e plan.Enum) []string {
			return namesOf(e.Values, func(v plan.EnumValue) []string { return []string{e.Name + "." + v.Wire} })
		})
	case spec.EditKind:
		return namesOf(pl.Interrupt.Kinds, func(k plan.InterruptKind) []string { return []string{k.Key} })
	}
	return talkNames(talkOf(pl), kind)
}

// talkNames is specNames for what flows are made of.
func talkNames(t *plan.Talk, kind string) []string {
	switch kind {
	case spec.EditFlow:
		return namesOf(t.Flows, func(f plan.Flow) []string { return []string{f.Key} })
	case spec.EditSlot:
		return namesOf(t.Flows, func(f plan.Flow) []string {
			return namesOf(f.Slots, func(s plan.FlowSlot) []string { return []string{f.Key + "." + s.Key} })
		})
	case spec.EditStep:
		return namesOf(t.Flows, func(f plan.Flow) []string {
			return namesOf(f.Steps, func(s plan.FlowStep) []string { return []string{f.Key + "." + s.ID} })
		})
	case spec.EditAction:
		return namesOf(t.Actions, func(a plan.Action) []string { return []string{a.Key} })
	case spec.EditValidator:
		return namesOf(t.Validators, func(v plan.Validator) []string { return []string{v.Key} })
	}
	return nil
}

// talkOf is the flows of a plan with all that belongs to them; of a plan without flows, nothing.
func talkOf(pl *plan.Plan) *plan.Talk {
	if pl.Talk == nil {
		return &plan.Talk{}
	}
	return pl.Talk
}

// recordNames lists the records of types: and results:, or those of results: alone.
func recordNames(pl *plan.Plan, kind string) []string {
	return namesOf(pl.Records, func(r plan.Record) []string {
		if r.Node != "" || kind == spec.EditEnding && r.Role != plan.RoleResult {
			return nil
		}
		return []string{r.Name}
	})
}

// fieldAddresses lists the fields of records, requests and interrupts.
func fieldAddresses(pl *plan.Plan) []string {
	return namesOf(pl.Records, func(r plan.Record) []string {
		return namesOf(r.Fields, func(f plan.Field) []string {
			if f.Common {
				return nil // declared for all interrupts at once
			}
			return []string{recordOwner(r) + "." + f.Key}
		})
	})
}

// recordOwner is what stands before the dot in the name of a record's field.
func recordOwner(r plan.Record) string {
	switch {
	case r.Node == "":
		return r.Name
	case r.Role == plan.RoleInterrupt:
		return r.Node + ".interrupt"
	}
	return r.Node
}

// namesOf puts the names of each part in a row.
func namesOf[T any](list []T, names func(T) []string) []string {
	var out []string
	for _, v := range list {
		out = append(out, names(v)...)
	}
	return out
}
