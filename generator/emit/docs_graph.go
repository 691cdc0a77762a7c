package emit

import "github.com/routegen/routegen/generator/plan"

// marks are the kinds of moves in the matrix, in the order of its legend.
var marks = []struct {
	how  plan.MoveKind
	mark string
}{
	{plan.ByBranch, "x"}, {plan.ByDecision, "c"}, {plan.ByDispatch, "d"}, {plan.ByResults, "r"},
	{plan.ByInterrupt, "i"},
}

// moveText says how a move is made.
func moveText(m plan.Move) markdown {
	switch m.How {
	case plan.ByDecision:
		return "decision " + mdCode(m.Name)
	case plan.ByDispatch:
		return "each of " + mdCode(m.Name)
	case plan.ByResults:
		return "results in branch " + mdCode(m.Name)
	case plan.ByInterrupt:
		return "back from an interrupt"
	case plan.ByBranch:
	}
	return "branch " + mdCode(m.Name)
}

// docGraph is a mermaid flowchart.
type docGraph struct {
	Nodes []docGraphNode
	Edges []docGraphEdge
}

type docGraphNode struct {
	ID          string
	Open, Close string // the brackets are the shape
	Label       mermaid
}

type docGraphEdge struct {
	From, To string
	Arrow    string
}

// The ids that are no node. A node's id is its key after "n_": a bare key could be one of mermaid's
// own words.
const (
	endID     = "t_end"
	handlerID = "t_interrupts"
)

func newDocGraph(p *plan.Plan, moves []plan.Move) *docGraph {
	g := &docGraph{}
	for _, n := range p.Nodes {
		node := docGraphNode{ID: "n_" + n.Key, Open: "[", Close: "]",
			Label: mermaidText(n.DisplayName)}
		switch {
		case n.Entry:
			node.Open, node.Close = "([", "])"
		case n.Collect != nil:
			node.Open, node.Close = "{", "}"
		case n.Dispatch != nil:
			node.Open, node.Close = "[[", "]]"
		}
		g.Nodes = append(g.Nodes, node)
	}
	seen := map[docGraphEdge]bool{}
	reached := map[string]bool{}
	twins := twinsOf(p)
	for _, mv := range moves {
		for _, e := range drawn(mv, twins[mv]) {
			if !seen[e] {
				seen[e], reached[e.To] = true, true
				g.Edges = append(g.Edges, e)
			}
		}
	}
	if reached[handlerID] {
		g.Nodes = append(g.Nodes,
			docGraphNode{handlerID, "{{", "}}", mermaidText(p.Interrupt.Handler.DisplayName)})
	}
	if reached[endID] {
		g.Nodes = append(g.Nodes, docGraphNode{endID, "((", "))", "end"})
	}
	return g
}

// twinsOf are the branches of which another one of the node carries the same record.
func twinsOf(p *plan.Plan) map[plan.Move]bool {
	out := map[plan.Move]bool{}
	for _, r := range p.Routings {
		for _, b := range r.Branches {
			if b.When != "" {
				out[plan.Move{From: r.Node, To: b.Node, How: plan.ByBranch, Name: b.Name}] = true
			}
		}
	}
	return out
}

// drawn are the edges of a move. One that has a twin is drawn with its name.
func drawn(mv plan.Move, twin bool) []docGraphEdge {
	from, to := "n_"+mv.From, "n_"+mv.To
	if mv.To == "" {
		to = endID
	}
	if twin {
		return []docGraphEdge{{from, to, `-->|"` + string(mermaidText(mv.Name)) + `"|`}}
	}
	switch mv.How {
	case plan.ByDecision:
		return []docGraphEdge{{from, to, `-->|"` + string(mermaidText(mv.Name)) + `"|`}}
	case plan.ByDispatch:
		return []docGraphEdge{{from, to, "==>"}}
	case plan.ByInterrupt:
		if from == to {
			return []docGraphEdge{{from, handlerID, "<-.->"}}
		}
		return []docGraphEdge{{from, handlerID, "-.->"}}
	case plan.ByBranch, plan.ByResults:
	}
	return []docGraphEdge{{from, to, "-->"}}
}
