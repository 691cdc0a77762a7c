package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator/plan"
)

func (p *program) inspectCommand() *cobra.Command {
	format := "table"
	cmd := &cobra.Command{
		Use:   "inspect [KIND [NAME]]",
		Short: "Print what a spec was decided to mean: every name, order and table",
		Long: "inspect prints the plan, the stable contract for other tools: with --format json the whole of it, one KIND as a list,\n" +
			"or the one NAME. Kinds: " + strings.Join(kindNames(), ", ") + ".",
		Example: "  routegen inspect\n  routegen inspect routes\n  routegen inspect nodes discoveryAgent --format json\n  routegen inspect flows",
		Args:    cobra.MaximumNArgs(2),
		// Takes the place of the check of the flags, because --format has other values here.
		PersistentPreRunE: func(*cobra.Command, []string) error {
			p.opts.format = "text"
			if err := p.opts.check(); err != nil {
				return err
			}
			return oneOf("--format", format, "table", "json")
		},
		RunE: func(_ *cobra.Command, args []string) error { return p.runInspect(args, format == "json") },
	}
	cmd.Flags().StringVar(&format, "format", format, "table or json")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			return startingWith(typed, kindNames()), cobra.ShellCompDirectiveNoFileComp
		case 1:
			return p.complete(func(pl *plan.Plan) []string {
				if k, ok := kindOf(args[0]); ok {
					return k.names(pl)
				}
				return nil
			})(cmd, args, typed)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func (p *program) runInspect(args []string, asJSON bool) error {
	pl, err := p.planned()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		if asJSON {
			return p.printIndented(pl)
		}
		return p.printTables(pl, kinds)
	}
	k, ok := kindOf(args[0])
	if !ok {
		return failf("there is no kind %q%s: use %s", args[0], didYouMean(args[0], kindNames()), strings.Join(kindNames(), ", "))
	}
	if len(args) == 1 {
		if asJSON {
			return p.printIndented(k.values(pl))
		}
		if len(k.names(pl)) == 0 {
			p.notef("%s", nothingOf(pl, k.name))
		}
		return p.printTables(pl, []kind{k})
	}
	names := k.names(pl)
	i := slices.Index(names, args[1])
	switch {
	case len(names) == 0:
		return failf("there is no %q: %s", args[1], nothingOf(pl, k.name))
	case i < 0:
		return failf("there is no %q among the %s%s", args[1], k.name, didYouMean(args[1], names))
	}
	if asJSON {
		return p.printIndented(k.values(pl)[i])
	}
	return p.printTables(pl, []kind{k.only(i)})
}

// planned loads the spec and returns its plan. What is wrong with the spec is printed, and is an error.
func (p *program) planned() (*plan.Plan, error) {
	src, res, err := p.load()
	if err != nil {
		return nil, err
	}
	if res.Plan != nil {
		return res.Plan, nil
	}
	return nil, p.conclude(src, res.Findings, ending{code: judge(res.Findings, false), line: verdict(src.shown, res.Findings)})
}

// printIndented prints one JSON value over many lines.
func (p *program) printIndented(v any) error {
	enc := json.NewEncoder(p.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return failf("%w", err)
	}
	return nil
}

// kind is one table of the plan: its heading, and for each part its name, its value and its row.
type kind struct {
	name   string
	head   string // columns, separated by tabs
	names  func(*plan.Plan) []string
	values func(*plan.Plan) []any
	rows   func(*plan.Plan) []string
}

// only returns a kind that holds nothing but its i-th part.
func (k kind) only(i int) kind {
	rows := k.rows
	k.rows = func(pl *plan.Plan) []string { return rows(pl)[i : i+1] }
	return k
}

// table makes a kind from a list of the plan.
func table[T any](name, head string, list func(*plan.Plan) []T, key, row func(T) string) kind {
	each := func(pl *plan.Plan, f func(T) string) []string {
		var out []string
		for _, v := range list(pl) {
			out = append(out, f(v))
		}
		return out
	}
	return kind{
		name: name, head: head,
		names: func(pl *plan.Plan) []string { return each(pl, key) },
		rows:  func(pl *plan.Plan) []string { return each(pl, row) },
		values: func(pl *plan.Plan) []any {
			out := []any{}
			for _, v := range list(pl) {
				out = append(out, v)
			}
			return out
		},
	}
}

// kinds are the tables in the order they are printed.
var kinds = append([]kind{
	table("nodes", "NODE\tAGENT TYPE\tREQUEST\tROUTING\tINTERRUPT\tGOES BACK TO",
		func(pl *plan.Plan) []plan.Node { return pl.Nodes },
		func(n plan.Node) string { return n.Key },
		func(n plan.Node) string {
			return cells(n.Key, n.AgentType, n.Request, n.Routing, n.Interrupt, n.Origin)
		}),
	routesKind(),
	table("routings", "ROUTING\tNODE\tBRANCHES",
		routings,
		func(r plan.Routing) string { return r.Name },
		func(r plan.Routing) string { return cells(r.Name, r.Node, branchNames(r.Branches)) }),
	table("records", "RECORD\tROLE\tNODE\tFIELDS",
		func(pl *plan.Plan) []plan.Record { return pl.Records },
		func(r plan.Record) string { return r.Name },
		func(r plan.Record) string { return cells(r.Name, string(r.Role), r.Node, fieldNames(r.Fields)) }),
	table("enums", "ENUM\tVALUES",
		func(pl *plan.Plan) []plan.Enum { return pl.Enums },
		func(e plan.Enum) string { return e.Name },
		func(e plan.Enum) string { return cells(e.Name, valueNames(e.Values)) }),
	table("scalars", "SCALAR\tTYPE",
		func(pl *plan.Plan) []plan.Scalar { return pl.Scalars },
		func(s plan.Scalar) string { return s.Name },
		func(s plan.Scalar) string { return cells(s.Name, typeText(s.Type)) }),
	table("kinds", "INTERRUPT KIND\tCLASH\tDEADLINE\tTHEN\tCHOICES",
		func(pl *plan.Plan) []plan.InterruptKind { return pl.Interrupt.Kinds },
		func(k plan.InterruptKind) string { return k.Key },
		kindRow),
}, flowKinds()...)

// routings are those that have branches: without nodes there is nothing to route to after an interrupt, and nothing is generated.
func routings(pl *plan.Plan) []plan.Routing {
	if len(pl.Nodes) == 0 {
		return nil
	}
	return pl.Routings
}

// routesKind shows beside each route how many bytes its schema takes, before and after narrowing: the plain dialect, compact.
func routesKind() kind {
	k := table("routes", "ROUTE\tTAG\tFIELD\tREQUEST\tFULL SCHEMA\tNARROWED",
		func(pl *plan.Plan) []plan.Route { return pl.Routes },
		func(r plan.Route) string { return r.Const }, nil)
	k.rows = func(pl *plan.Plan) []string {
		full, narrowed := routeSizes(pl)
		var out []string
		for i, r := range pl.Routes {
			out = append(out, cells(r.Const, r.Tag, r.Field, r.Request, fmt.Sprintf("%d B", full), fmt.Sprintf("%d B", narrowed[i])))
		}
		return out
	}
	return k
}

// kindNames lists the kinds.
func kindNames() []string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.name)
	}
	return out
}

// kindOf finds a kind by its name.
func kindOf(name string) (kind, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

// printTables prints the kinds that have any part, an empty line between them.
func (p *program) printTables(pl *plan.Plan, list []kind) error {
	var b strings.Builder
	for _, k := range list {
		rows := k.rows(pl)
		if len(rows) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, k.head)
		for _, row := range rows {
			_, _ = fmt.Fprintln(w, row)
		}
		_ = w.Flush() // into memory
	}
	return p.printText(b.String())
}

// cells joins the cells of a row; an empty one shows a dash.
func cells(list ...string) string {
	for i, c := range list {
		if c == "" {
			list[i] = "-"
		}
	}
	return strings.Join(list, "\t")
}

func kindRow(k plan.InterruptKind) string {
	after, then := "", ""
	if k.Deadline != nil {
		after, then = k.Deadline.After, k.Deadline.Then
	}
	return cells(k.Key, k.Clash, after, then, strings.Join(k.Choices, ", "))
}

func branchNames(list []plan.Branch) string {
	var out []string
	for _, b := range list {
		out = append(out, b.JSON)
	}
	return strings.Join(out, ", ")
}

func fieldNames(list []plan.Field) string {
	var out []string
	for _, f := range list {
		name := f.JSON
		if !f.Required {
			name += "?"
		}
		out = append(out, name+" "+typeText(f.Type))
	}
	return strings.Join(out, ", ")
}

func valueNames(list []plan.EnumValue) string {
	var out []string
	for _, v := range list {
		out = append(out, v.Wire)
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
