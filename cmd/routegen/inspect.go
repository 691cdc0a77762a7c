package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

func (p *program) inspectCommand() *cobra.Command {
	format := "table"
	cmd := &cobra.Command{
		Use:   "inspect [KIND [NAME]]",
		Short: "Print the plan of a spec: every name, order and table",
		Long: "inspect prints the plan, the stable contract for other tools: with --format json " +
			"the whole of it, one KIND as a list,\n" +
			"or the one NAME. Kinds: " + strings.Join(kindNames(), ", ") + ".\n" +
			"The list of shapes is what stored threads rely on: routegen-threads check reads it.",
		Example: "  routegen inspect\n  routegen inspect routes\n  routegen inspect nodes " +
			"discoveryAgent --format json\n  routegen inspect flows",
		Args: cobra.MaximumNArgs(2),
		// Replaces the common check of the flags, because --format has other values here.
		PersistentPreRunE: func(*cobra.Command, []string) error {
			p.opts.format = "text"
			if err := p.opts.check(); err != nil {
				return err
			}
			return oneOf("--format", format, "table", "json")
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return p.runInspect(args, format == "json")
		},
	}
	cmd.Flags().StringVar(&format, "format", format, "table or json")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"table", "json"},
		cobra.ShellCompDirectiveNoFileComp))
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string,
		cobra.ShellCompDirective) {
		if len(args) == 0 {
			return startingWith(typed, kindNames()), cobra.ShellCompDirectiveNoFileComp
		}
		return p.complete(func(pl *plan.Plan) []string {
			if i := slices.Index(kindNames(), args[0]); i >= 0 && len(args) == 1 {
				return partNames(kinds[i].parts(pl))
			}
			return nil
		})(cmd, args, typed)
	}
	return cmd
}

func (p *program) runInspect(args []string, asJSON bool) error {
	_, res, err := p.loadPlan(generator.Plan)
	if err != nil {
		return err
	}
	pl := res.Plan
	if len(args) == 0 {
		if asJSON {
			return p.printIndented(pl)
		}
		return p.printTables(pl, kinds[:len(kinds)-1]...) // shapes repeat the others
	}
	i := slices.Index(kindNames(), args[0])
	if i < 0 {
		return failf("there is no kind %q%s: use %s", args[0], didYouMean(args[0], kindNames()),
			strings.Join(kindNames(), ", "))
	}
	k := kinds[i]
	parts := k.parts(pl)
	if len(parts) == 0 && len(args) == 1 && !asJSON {
		p.notef("there are no %s in the spec", k.name)
	}
	if len(args) == 2 {
		names := partNames(parts)
		if i = slices.Index(names, args[1]); i < 0 {
			return failf("there is no %q among the %s%s", args[1], k.name,
				didYouMean(args[1], names))
		}
		parts = parts[i : i+1]
		k.parts = func(*plan.Plan) []part { return parts }
	}
	switch {
	case !asJSON:
		return p.printTables(pl, k)
	case len(args) == 2:
		return p.printIndented(parts[0].value)
	}
	values := []any{}
	for _, v := range parts {
		values = append(values, v.value)
	}
	return p.printIndented(values)
}

// printIndented prints one JSON value with indentation.
func (p *program) printIndented(v any) error {
	enc := json.NewEncoder(p.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return failf("%w", err)
	}
	return nil
}

// kind is one table of the plan.
type kind struct {
	name  string
	head  string // columns, separated by tabs
	parts func(*plan.Plan) []part
}

// part is one row of a table. The first cell is the name of the part.
type part struct {
	value any // as JSON
	cells []string
}

// partNames lists the names of parts.
func partNames(parts []part) []string {
	var out []string
	for _, v := range parts {
		out = append(out, v.cells[0])
	}
	return out
}

// table makes a kind from a list of the plan.
func table[T any](name, head string, list func(*plan.Plan) []T, cells func(T) []string) kind {
	return kind{name: name, head: head, parts: func(pl *plan.Plan) []part {
		var out []part
		for _, v := range list(pl) {
			out = append(out, part{v, cells(v)})
		}
		return out
	}}
}

// kinds are the tables in the order they are printed.
var kinds = append([]kind{
	table("nodes", "NODE\tAGENT TYPE\tREQUEST\tROUTING\tINTERRUPT\tGOES BACK TO",
		func(pl *plan.Plan) []plan.Node { return pl.Nodes },
		func(n plan.Node) []string {
			return []string{n.Key, n.AgentType, n.Request, n.Routing, n.Interrupt, n.Origin}
		}),
	{"routes", "ROUTE\tTAG\tFIELD\tREQUEST\tFULL SCHEMA\tNARROWED", routes},
	table("routings", "ROUTING\tNODE\tBRANCHES",
		func(pl *plan.Plan) []plan.Routing {
			if len(pl.Nodes) == 0 {
				return nil // the routing after an interrupt has no generated type
			}
			return pl.Routings
		},
		func(r plan.Routing) []string { return []string{r.Name, r.Node, branchNames(r.Branches)} }),
	table("records", "RECORD\tROLE\tNODE\tFIELDS",
		func(pl *plan.Plan) []plan.Record { return pl.Records },
		func(r plan.Record) []string {
			return []string{r.Name, string(r.Role), r.Node, fieldNames(r.Fields)}
		}),
	table("enums", "ENUM\tVALUES",
		func(pl *plan.Plan) []plan.Enum { return pl.Enums },
		func(e plan.Enum) []string { return []string{e.Name, valueNames(e.Values)} }),
	table("scalars", "SCALAR\tTYPE",
		func(pl *plan.Plan) []plan.Scalar { return pl.Scalars },
		func(s plan.Scalar) []string { return []string{s.Name, typeText(s.Type)} }),
	table("kinds", "INTERRUPT KIND\tCLASH\tDEADLINE\tTHEN\tCHOICES\tASSIGNEES",
		func(pl *plan.Plan) []plan.InterruptKind { return pl.Interrupt.Kinds },
		func(k plan.InterruptKind) []string {
			after, then := "", ""
			if k.Deadline != nil {
				after, then = plan.DurationText(k.Deadline.After), k.Deadline.Then
			}
			return []string{k.Name, k.Clash, after, then, strings.Join(k.Choices, ", "),
				strings.Join(k.Assignees, ", ")}
		}),
}, append(flowKinds(), table("shapes", "SHAPE\tKIND\tFIELDS", plan.Shapes,
	func(s runtime.StoredShape) []string {
		var names []string
		for _, f := range s.Fields {
			names = append(names, cmp.Or(f.Name, f.Type))
		}
		return []string{s.Name, s.Kind, strings.Join(names, ", ")}
	}))...)

// routes lists the routes, each with the bytes of its schema before and after narrowing, in the
// plain dialect without spaces.
func routes(pl *plan.Plan) []part {
	full, narrowed := routeSizes(pl)
	var out []part
	for i, r := range pl.Routes {
		out = append(out, part{r, []string{r.Const, r.Tag, r.Field, r.Request,
			fmt.Sprintf("%d B", full), fmt.Sprintf("%d B", narrowed[i])}})
	}
	return out
}

// kindNames lists the kinds.
func kindNames() []string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.name)
	}
	return out
}

// printTables prints the kinds that have parts, with an empty line between them. An empty cell is
// printed as a dash.
func (p *program) printTables(pl *plan.Plan, list ...kind) error {
	var b strings.Builder
	for _, k := range list {
		parts := k.parts(pl)
		if len(parts) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, k.head)
		for _, v := range parts {
			for i, cell := range v.cells {
				v.cells[i] = cmp.Or(cell, "-")
			}
			_, _ = fmt.Fprintln(w, strings.Join(v.cells, "\t"))
		}
		_ = w.Flush() // into memory
	}
	return p.printText(b.String())
}

func branchNames(list []plan.Branch) string {
	return joinedBy(list, func(b plan.Branch) string { return b.Name })
}

func fieldNames(list []plan.Field) string {
	return joinedBy(list, func(f plan.Field) string {
		if !f.Required {
			return f.JSON + "? " + typeText(f.Type)
		}
		return f.JSON + " " + typeText(f.Type)
	})
}

func valueNames(list []plan.EnumValue) string {
	return joinedBy(list, func(v plan.EnumValue) string { return v.Wire })
}

// joinedBy writes the name of each part of a list.
func joinedBy[T any](list []T, name func(T) string) string {
	var out []string
	for _, v := range list {
		out = append(out, name(v))
	}
	return strings.Join(out, ", ")
}

// typeText writes a type as the spec does.
func typeText(t plan.Type) string {
	switch t.Kind {
	case plan.ListOf:
		return "[]" + typeText(*t.Elem)
	case plan.MapOf:
		return "map[string]" + typeText(*t.Elem)
	case plan.EnumOf, plan.ScalarOf, plan.RecordOf:
		return t.Name
	default:
		return string(t.Kind)
	}
}
