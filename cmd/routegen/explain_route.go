package main

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/emit"
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/schema"
)

// opening says where the interrupts of one origin go back to, and why.
type opening struct {
	Origin  string   `json:"origin"` // agent type
	Node    string   `json:"node"`
	At      place    `json:"at"`
	Chain   []step   `json:"chain"`           // from the origin to the node whose route is taken
	Route   string   `json:"route,omitempty"` // its constant; "" where there is none
	Field   string   `json:"field,omitempty"`
	Tag     string   `json:"tag,omitempty"`     // the tag that is kept
	Hidden  []string `json:"hidden,omitempty"`  // the tags that are hidden
	Request string   `json:"request,omitempty"` // what the route carries
	Defs    []string `json:"defs,omitempty"`    // the definitions that the narrowed schema shows
	Bytes   int      `json:"bytes,omitempty"`   // of the narrowed schema, plain and compact
	Asked   *asked   `json:"asked,omitempty"`
}

// asked is the answer about one route.
type asked struct {
	Route string `json:"route"`
	Open  bool   `json:"open"`
	Why   string `json:"why"`
}

// step is one node on the way from an origin to its route.
type step struct {
	Node string `json:"node"`
	Why  string `json:"why"`
	At   place  `json:"at"`
}

// place is where something is declared in the spec.
type place struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

func (a place) String() string { return fmt.Sprintf("%s:%d:%d", a.File, a.Line, a.Column) }

// openings knows the plan and the spec it was made from.
type openings struct {
	src    *source
	plan   *plan.Plan
	nodes  map[string]*spec.Node
	routes *emit.Composer
}

func newOpenings(src *source, res *generator.Result) *openings {
	o := &openings{src: src, plan: res.Plan, nodes: map[string]*spec.Node{}, routes: emit.NewComposer(res.Plan)}
	for _, n := range res.Spec().Nodes {
		o.nodes[n.Key.Value] = n
	}
	return o
}

func (o *openings) at(span spec.Span) place {
	return place{o.src.shown, span.Start.Line, span.Start.Column}
}

// of explains one node.
func (o *openings) of(n *plan.Node) (opening, error) {
	out := opening{Origin: n.AgentType, Node: n.Key, At: o.at(o.nodes[n.Key].Key.At), Chain: o.chain(n)}
	i := slices.IndexFunc(o.plan.Routes, func(r plan.Route) bool { return r.Const == n.Origin })
	if n.Origin == "" || i < 0 {
		return out, nil
	}
	route := o.plan.Routes[i]
	out.Route, out.Field, out.Tag, out.Request = route.Const, route.Field, route.Tag, route.Request
	for _, r := range o.plan.Routes {
		if r.Const != route.Const {
			out.Hidden = append(out.Hidden, r.Tag)
		}
	}
	text := o.routes.Routes(runtime.Plain, i)
	out.Bytes = len(text)
	var err error
	out.Defs, err = definitions(text)
	return out, err
}

// chain walks from a node to the one whose route its interrupts take, and says at each step why.
func (o *openings) chain(n *plan.Node) []step {
	var out []step
	for n != nil && len(out) <= len(o.plan.Nodes) {
		from := o.nodes[n.Key]
		switch {
		case n.Route != "":
			return append(out, step{n.Key, "has a route of its own", o.at(from.Key.At)})
		case n.Escalates == "":
			return append(out, step{n.Key, "has no route, and raises its interrupts nowhere", o.at(from.Key.At)})
		}
		why := "has no route of its own"
		if from.Route != nil && from.Route.None {
			why = "has `route: none`"
		} else if from.Only.Set() {
			why = "has no request, so nothing can be routed to it"
		}
		out = append(out, step{n.Key, why + ", and escalates to " + n.Escalates, o.at(from.Escalates.At)})
		n = o.plan.Node(n.Escalates)
	}
	return out
}

// definitions lists what a schema defines, sorted.
func definitions(text string) ([]string, error) {
	root, err := schema.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, m := range root.Members {
		if m.Key == "$defs" && m.Value != nil {
			for _, d := range m.Value.Members {
				out = append(out, d.Key)
			}
		}
	}
	sort.Strings(out)
	return out, nil
}

// text writes an opening for people.
func (e opening) text(b *strings.Builder) {
	if a := e.Asked; a != nil {
		is := "is"
		if !a.Open {
			is = "is not"
		}
		fmt.Fprintf(b, "%s %s open from %s: %s\n\n", a.Route, is, e.Origin, a.Why)
	}
	fmt.Fprintf(b, "origin %s (node %s, %s)\n", e.Origin, e.Node, e.At)
	for _, s := range e.Chain {
		fmt.Fprintf(b, "  because: %s %s (%s)\n", s.Node, s.Why, s.At)
	}
	if e.Route == "" {
		b.WriteString("  open:    no route: there is nothing that its interrupts could go back to\n")
		return
	}
	fmt.Fprintf(b, "  open:    %s, field %s, which carries %s\n", e.Route, e.Field, e.Request)
	fmt.Fprintf(b, "  kept:    tag %s\n", e.Tag)
	fmt.Fprintf(b, "  hidden:  %s\n", orNone(e.Hidden))
	fmt.Fprintf(b, "  shows:   %s (%d B)\n", orNone(e.Defs), e.Bytes)
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

// openingsOf loads the spec for an explanation.
func (p *program) openingsOf() (*openings, error) {
	src, res, err := p.loadWith(generator.Decide)
	if err != nil {
		return nil, err
	}
	if res.Plan == nil {
		return nil, p.conclude(src, res.Findings, ending{code: judge(res.Findings, false), line: verdict(src.shown, res.Findings)})
	}
	return newOpenings(src, res), nil
}

// explainOrigin says which route is open from an origin; with a route, whether that one is, and why or why not.
func (p *program) explainOrigin(name, route string) error {
	o, err := p.openingsOf()
	if err != nil {
		return err
	}
	n, err := nodeOf(o.plan, name)
	if err != nil {
		return failf("%w", err)
	}
	e, err := o.of(n)
	if err != nil {
		return failf("%w", err)
	}
	if route != "" {
		r, err := o.route(route)
		if err != nil {
			return failf("%w", err)
		}
		e.Asked = e.answer(n, r)
	}
	if p.opts.format == "json" {
		return p.printJSON(e)
	}
	var b strings.Builder
	e.text(&b)
	return p.printText(b.String())
}

// answer says whether a route is open from the origin, and why.
func (e opening) answer(n *plan.Node, r *plan.Route) *asked {
	switch {
	case r.Const == e.Route && r.Node == n.Key:
		return &asked{r.Const, true, "it is its own route"}
	case r.Const == e.Route:
		return &asked{r.Const, true, "it is the route of " + r.Node + ", where its interrupts are raised"}
	case e.Route == "":
		return &asked{r.Const, false, "no route is"}
	default:
		return &asked{r.Const, false, "an interrupt goes back to where it was raised, and that is " + e.Route +
			". A reroute event from outside may still open it"}
	}
}

// explainRoute says from which origins a route is open, and what it shows.
func (p *program) explainRoute(name string) error {
	o, err := p.openingsOf()
	if err != nil {
		return err
	}
	r, err := o.route(name)
	if err != nil {
		return failf("%w", err)
	}
	var from []opening
	var closed []string
	for i := range o.plan.Nodes {
		n := &o.plan.Nodes[i]
		e, err := o.of(n)
		switch {
		case err != nil:
			return failf("%w", err)
		case e.Route == r.Const:
			from = append(from, e)
		case n.Interrupt != "":
			closed = append(closed, n.AgentType)
		}
	}
	at := o.at(o.nodes[r.Node].Key.At)
	if p.opts.format == "json" {
		return p.printJSON(map[string]any{"route": r, "at": at, "openFrom": from, "closedTo": closed})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "route %s (field %s, tag %s)\n", r.Const, r.Field, r.Tag)
	fmt.Fprintf(&b, "  declared: node %s, %s\n  carries:  %s\n", r.Node, at, r.Request)
	if len(from) == 0 {
		b.WriteString("  open:     from no origin: no interrupt is raised here\n")
	}
	for _, e := range from {
		why := "its own route"
		if len(e.Chain) > 1 {
			why = fmt.Sprintf("it escalates to %s (%s)", e.Chain[len(e.Chain)-1].Node, e.Chain[0].At)
		}
		fmt.Fprintf(&b, "  open:     from %s: %s\n", e.Origin, why)
	}
	fmt.Fprintf(&b, "  closed:   from %s\n", orNone(closed))
	if len(from) > 0 {
		fmt.Fprintf(&b, "  shows:    %s (%d B)\n", orNone(from[0].Defs), from[0].Bytes)
	}
	return p.printText(b.String())
}

// nodeOf finds a node by agent type, alias or key.
func nodeOf(pl *plan.Plan, name string) (*plan.Node, error) {
	var names []string
	for i := range pl.Nodes {
		n := &pl.Nodes[i]
		if n.AgentType == name || n.Key == name || slices.Contains(n.Aliases, name) {
			return n, nil
		}
		names = append(names, n.AgentType, n.Key)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no agent type %q: %s", name, noNodes)
	}
	return nil, fmt.Errorf("there is no agent type %q%s; routegen inspect nodes lists them", name, didYouMean(name, names))
}

// noNodes is why a spec of flows alone has nothing of what nodes have.
const noNodes = "the spec has flows and no nodes"

// route finds a route by constant, field, tag or node.
func (o *openings) route(name string) (*plan.Route, error) {
	var names []string
	for i := range o.plan.Routes {
		r := &o.plan.Routes[i]
		if r.Const == name || r.Field == name || r.Tag == name || r.Node == name {
			return r, nil
		}
		names = append(names, r.Const, r.Field, r.Tag, r.Node)
	}
	if n, err := nodeOf(o.plan, name); err == nil {
		if n.Route != "" {
			return o.route(n.Route)
		}
		chain := o.chain(n)
		return nil, fmt.Errorf("node %s is no route: it %s (%s)", n.Key, chain[0].Why, chain[0].At)
	}
	if len(o.plan.Nodes) == 0 {
		return nil, fmt.Errorf("there is no route %q: %s", name, noNodes)
	}
	return nil, fmt.Errorf("there is no route %q%s", name, didYouMean(name, names))
}
