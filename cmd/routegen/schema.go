package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/emit"
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/schema"
)

// schemaFlags are the flags of schema alone.
type schemaFlags struct {
	origin, typ, dialect string
	spec                 bool
}

func (p *program) schemaCommand() *cobra.Command {
	var flags schemaFlags
	cmd := &cobra.Command{
		Use:   "schema (--origin AGENT_TYPE | --type NAME | --spec)",
		Short: "Print one JSON Schema",
		Long: "schema prints what a model is given: with --origin the interrupt routing narrowed " +
			"to where the interrupts of an agent\n" +
			"type may go back to, with --type a request, interrupt, result, record or routing. " +
			"--spec prints the schema of\n" +
			"routes.yaml itself, for editors. What a provider limits, and the schema exceeds, is " +
			"said on standard error.",
		Example: "  routegen schema --origin DISCOVERY_ORCHESTRATOR --dialect openai\n  routegen " +
			"schema --type InterruptRouting\n" +
			"  routegen schema --spec > routes.schema.json",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return p.runSchema(flags) },
	}
	cmd.Flags().StringVar(&flags.origin, "origin", "",
		"the `agent type` whose interrupts are routed; aliases are accepted")
	cmd.Flags().StringVar(&flags.typ, "type", "",
		"the `name` of a request, interrupt, result, record or routing")
	cmd.Flags().BoolVar(&flags.spec, "spec", false, "the schema of routes.yaml")
	cmd.Flags().StringVar(&flags.dialect, "dialect", "plain",
		"form: plain, openai, anthropic or gemini")
	cmd.MarkFlagsMutuallyExclusive("origin", "type", "spec")
	cmd.MarkFlagsOneRequired("origin", "type", "spec")
	cmd.MarkFlagsMutuallyExclusive("spec", "dialect")
	var dialects []string
	for _, d := range runtime.Dialects() {
		dialects = append(dialects, d.String())
	}
	_ = cmd.RegisterFlagCompletionFunc("dialect",
		cobra.FixedCompletions(dialects, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("origin", p.complete(agentTypes))
	_ = cmd.RegisterFlagCompletionFunc("type", p.complete(typeNames))
	return cmd
}

func (p *program) runSchema(flags schemaFlags) error {
	if flags.spec {
		return p.printText(string(spec.EditorSchema()))
	}
	dialect, err := runtime.ParseDialect(flags.dialect)
	if err != nil {
		return fmt.Errorf("--dialect: %w", err)
	}
	src, res, err := p.loadPlan(generator.Plan)
	if err != nil {
		return err
	}
	c := composer{plan: res.Plan, dialect: dialect}
	text, records, err := c.compose(flags)
	if err != nil {
		return failf("%w", err)
	}
	if text == "" {
		return p.noForm(src, res, records, dialect)
	}
	findings, err := limits(src, res, text, dialect)
	if err != nil {
		return failf("%w", err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(text), "", "  "); err != nil {
		return failf("the schema is not JSON: %w", err)
	}
	pretty.WriteByte('\n')
	if err := report.WriteText(p.stderr, src.text, findings); err != nil { // at go.out
		return failf("%w", err)
	}
	return p.printText(pretty.String())
}

// composer puts together one schema of a plan, as the generated package would.
type composer struct {
	plan    *plan.Plan
	dialect runtime.Dialect
}

// compose returns the compact schema and the records it starts from. The text is "" where one of
// them has no form in the dialect.
func (c *composer) compose(flags schemaFlags) (text string, records []string, err error) {
	schemas := emit.NewComposer(c.plan)
	if flags.origin != "" {
		routes, err := c.routesOf(flags.origin)
		if err != nil {
			return "", nil, err
		}
		for _, r := range routes {
			records = append(records, c.plan.Routes[r].Request)
		}
		return schemas.Routes(c.dialect, routes...), records, nil
	}
	for _, r := range c.plan.Routings {
		if r.Name == flags.typ {
			for _, b := range r.Branches {
				records = append(records, b.Type)
			}
			return schemas.Routing(c.dialect, r), records, nil
		}
	}
	if text, known := schemas.Record(c.dialect, flags.typ); known {
		return text, []string{flags.typ}, nil
	}
	return "", nil, fmt.Errorf(
		"--type: no request, interrupt, result, record or routing is named %q%s",
		flags.typ, didYouMean(flags.typ, typeNames(c.plan)))
}

// routesOf lists the routes, counted from 0, that the interrupts of an agent type may go back to.
func (c *composer) routesOf(agentType string) ([]int, error) {
	for _, n := range c.plan.Nodes {
		if n.AgentType != agentType && n.Key != agentType &&
			!slices.Contains(n.Aliases, agentType) {
			continue
		}
		for i, r := range c.plan.Routes {
			if r.Const == n.Origin {
				return []int{i}, nil
			}
		}
		return nil, fmt.Errorf(
			"--origin: %s goes back to no route, so there is nothing to choose from", agentType)
	}
	if len(c.plan.Nodes) == 0 {
		return nil, fmt.Errorf("--origin: there is no agent type %q: the spec has flows and no "+
			"nodes", agentType)
	}
	return nil, fmt.Errorf(
		"--origin: there is no agent type %q%s; routegen inspect nodes lists them", agentType,
		didYouMean(agentType, agentTypes(c.plan)))
}

// routeSizes returns how many bytes the schema of all routes takes, and that of each route alone.
func routeSizes(pl *plan.Plan) (full int, narrowed []int) {
	c := emit.NewComposer(pl)
	for i := range pl.Routes {
		narrowed = append(narrowed, len(c.Routes(runtime.Plain, i)))
	}
	return len(c.Routing(runtime.Plain, pl.Routings[0])), narrowed
}

// noForm reports the fields that keep records from having a form in a dialect.
func (p *program) noForm(src *source, res *generator.Result, records []string,
	dialect runtime.Dialect) error {
	var findings []report.Finding
	seen := map[string]bool{}
	for len(records) > 0 {
		r := res.Plan.Record(records[0])
		records = records[1:]
		if r == nil || seen[r.Name] {
			continue
		}
		seen[r.Name] = true
		records = append(records, r.Refs...)
		for _, f := range r.Fields {
			if f.Hidden || leaf(f.Type).Kind != plan.JSON {
				continue
			}
			at := f.Pos
			findings = append(findings, report.Finding{
				Rule: spec.RuleSchemaNoStrictForm, Severity: report.Error, File: src.shown,
				At: report.Span{Start: at,
					End: report.Pos{Line: at.Line, Column: at.Column + len(f.Key)}},
				Message: fmt.Sprintf(
					"field %q of %s may hold any JSON, and %s has no form for that", f.Key, r.Name,
					dialect),
				Hint: "hide the field, or give it a type",
			})
		}
	}
	if len(findings) == 0 {
		return failf("the schema has no form in %s, and no field says why: please report this: %s",
			dialect, reportTo)
	}
	return p.conclude(src, findings,
		ending{code: exitFindings, line: describeFindings(src.shown, findings) +
			"; there is no schema in " + dialect.String()})
}

// leaf returns what the lists and maps of a type hold.
func leaf(t plan.Type) plan.Type {
	for t.Elem != nil {
		t = *t.Elem
	}
	return t
}

// limits lists where a schema exceeds what its dialect's provider takes, as warnings.
func limits(src *source, res *generator.Result, text string, dialect runtime.Dialect) (
	[]report.Finding, error) {
	list, err := schema.Lint(dialect, []byte(text))
	if err != nil {
		return nil, err
	}
	var out []report.Finding
	for _, f := range list {
		if f.Notice {
			continue
		}
		where := ""
		if f.Pointer != "" {
			where = " at " + f.Pointer
		}
		out = append(out, report.Finding{
			Rule: spec.RuleSchemaLimit, Severity: report.Warning, File: src.shown, At: res.Spec().
				Go.Out.At,
			Message: strings.TrimSpace(dialect.String() + " schema" + where + ": " + f.Message),
		})
	}
	return out, nil
}
