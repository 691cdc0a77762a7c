package plan

import "github.com/routegen/routegen/runtime"

// Move is one way from a node to another, or to the end of the frame when To is empty.
type Move struct {
	From, To string
	How      MoveKind
	Name     string // of the branch, the decision or the list that is handed out
}

// MoveKind says how one node leads to another.
type MoveKind string

// How one node leads to another.
const (
	ByBranch    MoveKind = "branch"
	ByDecision  MoveKind = "decision"
	ByDispatch  MoveKind = "dispatch"
	ByResults   MoveKind = "results"
	ByInterrupt MoveKind = "interrupt"
)

// Moves returns every way through the workflow, in the order of the nodes and their branches.
func (p *Plan) Moves() []Move {
	branches := make(map[string][]Branch, len(p.Routings))
	for _, r := range p.Routings {
		branches[r.Name] = r.Branches
	}
	nodes := p.RouteNodes()
	var out []Move
	for i := range p.Nodes {
		n := &p.Nodes[i]
		targets := map[string]string{}
		for _, b := range branches[n.Routing] {
			targets[b.Name] = b.Node
			switch b.Kind {
			case runtime.ToNode, runtime.ToEnd:
				out = append(out, Move{n.Key, b.Node, ByBranch, b.Name})
			case runtime.ToResume:
				out = append(out, Move{n.Key, b.Node, ByResults, b.Name})
			case runtime.ToCollect, runtime.ToInterrupt: // the decisions and the way back follow
			}
		}
		if n.Collect != nil {
			for _, arm := range n.Collect.Arms {
				out = append(out, Move{n.Key, targets[arm.To], ByDecision, arm.Decision})
			}
		}
		if n.Dispatch != nil {
			out = append(out, Move{n.Key, p.Nodes[n.Dispatch.To-1].Key, ByDispatch,
				n.Dispatch.Each})
		}
		if back := nodes[n.Origin]; n.Interrupt != "" && back != "" {
			out = append(out, Move{n.Key, back, ByInterrupt, ""})
		}
	}
	return out
}

// RouteNodes returns the node that each route goes back to, by the route's constant.
func (p *Plan) RouteNodes() map[string]string {
	out := make(map[string]string, len(p.Routes))
	for _, r := range p.Routes {
		out[r.Const] = r.Node
	}
	return out
}
