package web

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// Program is what a server tells of a machine: what a thread of it can be started with, and the
// graph of its nodes. The zero value is a machine that is known by its name alone.
type Program struct {
	Title  string  // default: the machine's name
	Doc    string  // what it is for, to show
	Starts []Start // default: the requests of the entry nodes of Generated
	// what routes.New returns; only its Tables and Schemas are read. Zero: the machine has no graph
	Generated runtime.Program

	// Prompt renders what the model of a frame's node reads, from a replayed record. It only
	// computes: it is called for moments that are long over. "" and an error both mean that there
	// is none; the error is logged. nil: no prompts are shown.
	Prompt func(t *thread.Thread, frame *thread.Frame) (string, error)
}

// Start is one thing that a thread can be started with.
type Start struct {
	Name  string `json:"name,omitempty"` // goes into name
	Title string `json:"title"`
	Doc   string `json:"doc,omitempty"`
	// of the input: one that does not fit is refused
	Schema  json.RawMessage `json:"schema,omitempty"`
	Example json.RawMessage `json:"example,omitempty"`
}

// Graph is a machine as a page draws it. Nodes go by their keys.
type Graph struct {
	Machine string  `json:"machine"`
	Title   string  `json:"title"`
	Doc     string  `json:"doc,omitempty"`
	Starts  []Start `json:"starts"`
	// its threads are conversations: each takes messages from its user only
	Talks   bool          `json:"talks,omitempty"`
	Nodes   []graphNode   `json:"nodes"`
	Routes  []graphRoute  `json:"routes"` // where an interrupt may continue
	Handler *graphHandler `json:"handler,omitempty"`

	Reroutes bool `json:"reroutes,omitempty"` // its running nodes take reroute events
}

type graphNode struct {
	Key       string        `json:"key"`
	AgentType string        `json:"agentType"`
	Title     string        `json:"title"`
	Group     string        `json:"group,omitempty"`
	Action    string        `json:"action,omitempty"`
	Takes     string        `json:"takes,omitempty"` // the type of its request
	Entry     bool          `json:"entry,omitempty"`
	Result    string        `json:"result,omitempty"`
	Branches  []graphBranch `json:"branches"`
	Route     string        `json:"route,omitempty"`     // tag of its own route
	Escalates string        `json:"escalates,omitempty"` // the node that raises its interrupts
	Tools     []string      `json:"tools,omitempty"`
}

// graphBranch is an edge, or where the work ends.
type graphBranch struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Kind string `json:"kind"`
	To   string `json:"to,omitempty"`
	When string `json:"when,omitempty"` // the decision of a collector that leads there
}

type graphRoute struct {
	Tag       string `json:"tag"`
	Field     string `json:"field"`
	AgentType string `json:"agentType"`
	Title     string `json:"title"`
	Node      string `json:"node"`
}

type graphHandler struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

// graphs draws every program once: they do not change while the server runs.
func graphs(c *Config) (map[string]*Graph, error) {
	out := map[string]*Graph{}
	for machine, p := range c.Programs {
		g := &Graph{
			Machine: machine, Title: cmp.Or(p.Title, machine), Doc: p.Doc, Starts: p.Starts,
			Talks:    c.converses(machine),
			Reroutes: c.reroutes(machine),
			Nodes:    []graphNode{}, Routes: []graphRoute{},
		}
		if t := p.Generated.Tables; t != nil {
			if err := g.draw(t, p.Generated.Schemas); err != nil {
				return nil, err
			}
		}
		if g.Starts == nil {
			g.Starts = []Start{}
		}
		out[machine] = g
	}
	return out, nil
}

// draw takes the graph from generated tables.
func (g *Graph) draw(t *runtime.Tables, schemas *runtime.Schemas) error {
	key := func(node int) string { return at(t.Nodes, node).Key }
	for n := range t.Nodes {
		row := &t.Nodes[n]
		node := graphNode{
			Key: row.Key, AgentType: row.AgentType, Title: row.DisplayName, Group: row.Group,
			Action: row.Action, Entry: row.Entry,
			Takes: at(t.Requests, row.Request).Name, Result: row.Result,
			Route: at(t.Routes, row.Route).Tag, Escalates: key(row.Escalates),
			Branches: branchesOf(t, row),
		}
		for _, tool := range row.Tools {
			if name := cmp.Or(tool.Name, tool.MCP); name != "" {
				node.Tools = append(node.Tools, name)
			}
		}
		g.Nodes = append(g.Nodes, node)
	}
	for _, r := range t.Routes {
		g.Routes = append(g.Routes, graphRoute{Tag: r.Tag, Field: r.Field, AgentType: r.AgentType,
			Title: r.DisplayName, Node: key(r.Node)})
	}
	if t.Handler.Name != "" {
		g.Handler = &graphHandler{Name: t.Handler.Name, Title: t.Handler.DisplayName}
	}
	if g.Starts != nil {
		return nil
	}
	for n := range t.Nodes {
		if row := &t.Nodes[n]; row.Entry && row.Request != 0 {
			start, err := startOf(t, at(t.Requests, row.Request), schemas)
			if err != nil {
				return err
			}
			g.Starts = append(g.Starts, start)
		}
	}
	return nil
}

// branchesOf lists the edges of a node. The branch that a collector decides on stands for each
// decision, and a fan-out for each of its lanes.
func branchesOf(t *runtime.Tables, n *runtime.Node) []graphBranch {
	out := []graphBranch{}
	rows := at(t.Routings, n.Routing).Branches
	to := func(b *runtime.BranchRow) string { return at(t.Nodes, b.Node).Key }
	for i := range rows {
		b := &rows[i]
		kind := kindsOf[b.Kind]
		if b.Kind != runtime.ToCollect || n.Collect == nil {
			out = append(out, graphBranch{Name: b.Name, Type: b.Type, Kind: kind, To: to(b)})
			continue
		}
		for _, arm := range n.Collect.Arms {
			edge := graphBranch{Name: b.Name, Type: b.Type, Kind: "end", When: arm.Decision}
			if target := slices.IndexFunc(rows, func(r runtime.BranchRow) bool {
				return r.Name == arm.To
			}); target >= 0 {
				edge.Name, edge.Type, edge.Kind, edge.To = arm.To, rows[target].Type,
					kindsOf[rows[target].Kind], to(&rows[target])
			}
			out = append(out, edge)
		}
	}
	if n.Dispatch != nil {
		out = append(out, graphBranch{
			Name: n.Dispatch.Each, Type: at(t.Requests, at(t.Nodes, n.Dispatch.To).Request).Name,
			Kind: kindsOf[runtime.ToNode],
			To:   at(t.Nodes, n.Dispatch.To).Key,
		})
	}
	return out
}

var kindsOf = map[runtime.BranchKind]string{
	runtime.ToNode: "node", runtime.ToResume: "resume", runtime.ToInterrupt: "interrupt",
	runtime.ToEnd: "end", runtime.ToCollect: "collect",
}

// startOf is a start of the workflow machine: its input is the request under the name of its type,
// as workflow.Begin makes it.
func startOf(t *runtime.Tables, r runtime.RequestRow, schemas *runtime.Schemas) (Start, error) {
	out := Start{Name: r.Name, Title: r.DisplayName, Doc: at(t.Nodes, r.Node).Action}
	if schemas == nil {
		return out, nil
	}
	text := schemas.Def(r.Name, runtime.Plain)
	if text == "" { // it has no form in this dialect
		return out, nil
	}
	var inner map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &inner); err != nil {
		return out, err
	}
	type object map[string]any
	closed := func(name string, value any) object {
		return object{"type": "object", "required": []string{name}, "additionalProperties": false,
			"properties": object{name: value}}
	}
	doc := closed("request", nil)
	if defs := inner["$defs"]; defs != nil { // references begin at the root
		doc["$defs"] = defs
		inner = maps.Clone(inner)
		delete(inner, "$defs")
	}
	doc["properties"] = object{"request": closed(r.Name, inner)}
	var err error
	out.Schema, err = runtime.Encode(doc)
	return out, err
}

// at returns a row by its number; 0 is none.
func at[T any](rows []T, i int) T {
	if i < 1 || i > len(rows) {
		var none T
		return none
	}
	return rows[i-1]
}

func (c *Call) programs() (any, error) {
	type row struct {
		Machine string  `json:"machine"`
		Title   string  `json:"title"`
		Doc     string  `json:"doc,omitempty"`
		Starts  []Start `json:"starts"`
	}
	out := list[row]{Items: []row{}}
	for _, machine := range slices.Sorted(maps.Keys(c.s.graphs)) {
		g := c.s.graphs[machine]
		out.Items = append(out.Items, row{g.Machine, g.Title, g.Doc, g.Starts})
	}
	return out, nil
}

// getProgram returns the graph of a machine, to a capability token only that of its thread.
func (c *Call) getProgram() (any, error) {
	machine := c.r.PathValue("machine")
	if g := c.who.grant; g != nil && c.who.person == nil {
		runs, _, err := c.first(g.Thread)
		if err != nil {
			return nil, err
		}
		if runs != machine {
			return nil, ErrNotFound
		}
	}
	if g := c.s.graphs[machine]; g != nil {
		return g, nil
	}
	return nil, ErrNotFound
}
