package emit

import "github.com/routegen/routegen/generator/plan"

// moveKind says how one node leads to another; its text is the mark in the matrix.
type moveKind string

const (
	byBranch    moveKind = "x"
	byDecision  moveKind = "c"
	byDispatch  moveKind = "d"
	byResults   moveKind = "r"
	byInterrupt moveKind = "i"
)

// move is one way from a node to another, or to the end of the frame when to is empty.
type move struct {
	from, to string
	how      moveKind
	name     string // of the branch, the decision or the list that is handed out
}

func (mv move) text() markdown {
	switch mv.how {
	case byDecision:
		return "decision " + mdCode(mv.name)
	case byDispatch:
		return "each of " + mdCode(mv.name)
	case byResults:
		return "results in branch " + mdCode(mv.name)
	case byInterrupt:
		return "back from an interrupt"
	case byBranch:
	}
	return "branch " + mdCode(mv.name)
}

// moves is every way through the workflow, in the order of the nodes and their branches.
type moves struct {
	all       []move
	routeNode map[string]string // from a route's constant to its node
	branches  map[string][]plan.Branch
}

func newMoves(p *plan.Plan) *moves {
	m := &moves{routeNode: map[string]string{}, branches: map[string][]plan.Branch{}}
	for _, r := range p.Routes {
		m.routeNode[r.Const] = r.Node
	}
	for _, r := range p.Routings {
		m.branches[r.Name] = r.Branches
	}
	for i := range p.Nodes {
		m.addNode(&p.Nodes[i])
	}
	return m
}

func (m *moves) addNode(n *plan.Node) {
	if n.Routing != "" {
		for _, b := range m.branches[n.Routing] {
			switch b.Kind {
			case plan.ToNode:
				m.all = append(m.all, move{n.Key, b.To, byBranch, b.JSON})
			case plan.ToResume:
				m.all = append(m.all, move{n.Key, b.To, byResults, b.JSON})
			case plan.ToEnd:
				m.all = append(m.all, move{n.Key, "", byBranch, b.JSON})
			case plan.ToCollect, plan.ToInterrupt: // the decisions and the way back follow
			}
		}
	}
	if n.Collect != nil {
		for _, arm := range n.Collect.Arms {
			m.all = append(m.all, move{n.Key, m.armTarget(n, arm), byDecision, arm.Decision})
		}
	}
	if n.Dispatch != nil {
		m.all = append(m.all, move{n.Key, n.Dispatch.To, byDispatch, n.Dispatch.Each})
	}
	if back := m.routeNode[n.Origin]; n.Interrupt != "" && back != "" {
		m.all = append(m.all, move{n.Key, back, byInterrupt, ""})
	}
}

// armTarget returns the node a decision leads to, or "" for the end of the frame.
func (m *moves) armTarget(n *plan.Node, arm plan.Arm) string {
	for _, b := range m.branches[n.Routing] {
		if b.Key == arm.To {
			return b.To
		}
	}
	return ""
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

// The ids that are no node. A node's id is its key after "n_": a bare key could be one of mermaid's own words.
const (
	endID     = "t_end"
	handlerID = "t_interrupts"
)

func newDocGraph(p *plan.Plan, m *moves) *docGraph {
	g := &docGraph{}
	for _, n := range p.Nodes {
		node := docGraphNode{ID: "n_" + n.Key, Open: "[", Close: "]", Label: mermaidText(n.DisplayName)}
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
	for _, mv := range m.all {
		for _, e := range drawn(mv) {
			if !seen[e] {
				seen[e], reached[e.To] = true, true
				g.Edges = append(g.Edges, e)
			}
		}
	}
	if reached[handlerID] {
		g.Nodes = append(g.Nodes, docGraphNode{handlerID, "{{", "}}", mermaidText(p.Interrupt.Handler.DisplayName)})
	}
	if reached[endID] {
		g.Nodes = append(g.Nodes, docGraphNode{endID, "((", "))", "end"})
	}
	return g
}

func drawn(mv move) []docGraphEdge {
	from, to := "n_"+mv.from, "n_"+mv.to
	if mv.to == "" {
		to = endID
	}
	switch mv.how {
	case byDecision:
		return []docGraphEdge{{from, to, `-->|"` + string(mermaidText(mv.name)) + `"|`}}
	case byDispatch:
		return []docGraphEdge{{from, to, "==>"}}
	case byInterrupt:
		if from == to {
			return []docGraphEdge{{from, handlerID, "<-.->"}}
		}
		return []docGraphEdge{{from, handlerID, "-.->"}}
	case byBranch, byResults:
	}
	return []docGraphEdge{{from, to, "-->"}}
}
