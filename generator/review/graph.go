package review

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/routegen/routegen/generator/plan"
)

// graph is what all forms of a drawing show.
type graph struct {
	V     int         `json:"v"`
	Kind  string      `json:"kind"`
	Nodes []graphNode `json:"nodes"`
	Edges []graphEdge `json:"edges"`
}

type graphNode struct {
	Key         string `json:"key"` // empty: the end of the frame
	DisplayName string `json:"displayName"`
	Entry       bool   `json:"entry,omitempty"`
	Delta       string `json:"delta,omitempty"` // added, removed or renamed
}

type graphEdge struct {
	From  string `json:"from"`
	To    string `json:"to"`
	How   string `json:"how"` // branch, results, decision, dispatch or interrupt
	Name  string `json:"name,omitempty"`
	Delta string `json:"delta,omitempty"` // added or removed
}

// Graph draws who can go where, as "mermaid", "dot" or "json". Against is an older plan, or nil: what it lacks is drawn as added, what
// only it has as removed, in colour. An origin narrows the drawing to one node, what leads to it and where it leads; "" draws all. The
// error names an unknown format or origin.
func Graph(p, against *plan.Plan, origin, format string) (string, error) {
	g := draw(p, against)
	if origin != "" {
		if !g.only(origin) {
			return "", fmt.Errorf("there is no node %q in the graph; routegen inspect lists the nodes", origin)
		}
	}
	switch format {
	case "mermaid":
		return g.mermaid(), nil
	case "dot":
		return g.dot(), nil
	case "json":
		return g.json()
	}
	return "", fmt.Errorf("there is no format %q; use mermaid, dot or json", format)
}

func draw(p, against *plan.Plan) *graph {
	if against == nil {
		against = p
	}
	m := newMatch(against, p)
	g := &graph{V: 1, Kind: "graph", Nodes: []graphNode{}, Edges: []graphEdge{}}
	each(m, func(_ string, o, n *plan.Node) {
		switch {
		case n == nil:
			g.Nodes = append(g.Nodes, graphNode{o.Key, o.DisplayName, o.Entry, opRemoved})
		case o == nil:
			g.Nodes = append(g.Nodes, graphNode{n.Key, n.DisplayName, n.Entry, opAdded})
		case o.Key != n.Key:
			g.Nodes = append(g.Nodes, graphNode{n.Key, n.DisplayName, n.Entry, opRenamed})
		default:
			g.Nodes = append(g.Nodes, graphNode{n.Key, n.DisplayName, n.Entry, ""})
		}
	})
	now := func(key string) string {
		if n := m.nodes.next[key]; n != nil {
			return n.Key
		}
		return key
	}
	before := map[graphEdge]bool{}
	old := newMoves(against).all
	for i, mv := range old {
		old[i].from, old[i].to = now(mv.from), now(mv.to)
		before[graphEdge{old[i].from, old[i].to, mv.how, mv.name, ""}] = true
	}
	ends := false
	for _, mv := range newMoves(p).all {
		e := graphEdge{mv.from, mv.to, mv.how, mv.name, ""}
		if !before[e] {
			e.Delta = opAdded
		}
		delete(before, graphEdge{mv.from, mv.to, mv.how, mv.name, ""})
		g.Edges = append(g.Edges, e)
		ends = ends || mv.to == ""
	}
	for _, mv := range old {
		if e := (graphEdge{mv.from, mv.to, mv.how, mv.name, ""}); before[e] {
			delete(before, e)
			e.Delta = opRemoved
			g.Edges = append(g.Edges, e)
			ends = ends || mv.to == ""
		}
	}
	if ends {
		g.Nodes = append(g.Nodes, graphNode{DisplayName: "end"})
	}
	return g
}

// only keeps a node and its neighbours. It reports whether there is such a node.
func (g *graph) only(origin string) bool {
	keep, found := map[string]bool{origin: true}, false
	edges := []graphEdge{}
	for _, e := range g.Edges {
		if e.From == origin || e.To == origin {
			keep[e.From], keep[e.To] = true, true
			edges = append(edges, e)
		}
	}
	nodes := []graphNode{}
	for _, n := range g.Nodes {
		found = found || n.Key == origin
		if keep[n.Key] {
			nodes = append(nodes, n)
		}
	}
	g.Nodes, g.Edges = nodes, edges
	return found
}

func (g *graph) json() (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(g); err != nil {
		return "", fmt.Errorf("write graph: %w", err)
	}
	return b.String(), nil
}

// id is a name that no word of a drawing language is.
func id(key string) string {
	if key == "" {
		return "t_end"
	}
	return "n_" + key
}

// label is what stands at an edge.
func (e graphEdge) label() string {
	sign := map[string]string{opAdded: "+ ", opRemoved: "- "}[e.Delta]
	if e.How == "interrupt" {
		return sign + "interrupt"
	}
	return sign + ifElse(e.How == "branch" || e.How == "results", "", e.How+" ") + e.Name
}

// colours of what changed: readable on white and on black.
var colours = map[string]string{opAdded: "#2da44e", opRemoved: "#cf222e", opRenamed: "#bf8700"}

func (g *graph) mermaid() string {
	var b, style strings.Builder
	b.WriteString("flowchart LR\n")
	text := strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "`", "#96;", "\n", " ")
	for _, n := range g.Nodes {
		open, end := `["`, `"]`
		switch {
		case n.Key == "":
			open, end = `(("`, `"))`
		case n.Entry:
			open, end = `(["`, `"])`
		}
		fmt.Fprintf(&b, "  %s%s%s%s\n", id(n.Key), open, text.Replace(n.DisplayName), end)
		if n.Delta != "" {
			fmt.Fprintf(&style, "  style %s stroke:%s,stroke-width:3px%s\n", id(n.Key), colours[n.Delta], ifElse(n.Delta == opRemoved, ",stroke-dasharray:5 5", ""))
		}
	}
	for i, e := range g.Edges {
		arrow := "-->"
		switch e.How {
		case "interrupt":
			arrow = "-.->"
		case "dispatch":
			arrow = "==>"
		}
		fmt.Fprintf(&b, "  %s %s|\"%s\"| %s\n", id(e.From), arrow, text.Replace(e.label()), id(e.To))
		if e.Delta != "" {
			fmt.Fprintf(&style, "  linkStyle %d stroke:%s,stroke-width:3px\n", i, colours[e.Delta])
		}
	}
	return b.String() + style.String()
}

// dotText quotes a text: DOT knows one escape.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(s) + `"`
}

func (g *graph) dot() string {
	var b strings.Builder
	b.WriteString("digraph routes {\n  rankdir=LR;\n  node [shape=box];\n")
	for _, n := range g.Nodes {
		var extra string
		switch {
		case n.Key == "":
			extra = ", shape=circle"
		case n.Entry:
			extra = ", style=rounded"
		}
		if n.Delta != "" {
			extra += fmt.Sprintf(", color=%q, penwidth=3", colours[n.Delta])
		}
		fmt.Fprintf(&b, "  %s [label=%s%s];\n", id(n.Key), dotText(n.DisplayName), extra)
	}
	for _, e := range g.Edges {
		extra := ""
		if e.How == "interrupt" {
			extra = ", style=dashed"
		}
		if e.Delta != "" {
			extra += fmt.Sprintf(", color=%q, penwidth=3", colours[e.Delta])
		}
		fmt.Fprintf(&b, "  %s -> %s [label=%s%s];\n", id(e.From), id(e.To), dotText(e.label()), extra)
	}
	b.WriteString("}\n")
	return b.String()
}
