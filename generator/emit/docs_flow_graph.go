package emit

import (
	"cmp"

	"github.com/routegen/routegen/generator/plan"
)

// brackets are the shapes of steps in the chart.
var brackets = map[string][2]string{
	plan.StepCollect: {"[/", "/]"}, plan.StepConfirm: {"{", "}"}, plan.StepBranch: {"{", "}"},
	plan.StepWhile:  {"{{", "}}"},
	plan.StepAction: {"[[", "]]"}, plan.StepGenerate: {"[[", "]]"}, plan.StepCall: {"([", "])"},
	plan.StepLink: {"([", "])"},
}

// startID is the id of where a flow begins.
const startID = "t_start"

// newFlowGraph draws one flow. A step's id in the chart is its own after "s_": a bare one could be
// one of mermaid's own words.
func newFlowGraph(f *plan.Flow) *docGraph {
	g := &docGraph{Nodes: []docGraphNode{{startID, "((", "))", "start"}}}
	for i := range f.Steps {
		s := &f.Steps[i]
		shape, known := brackets[s.Kind]
		if !known {
			shape = [2]string{"[", "]"}
		}
		g.Nodes = append(g.Nodes,
			docGraphNode{"s_" + s.ID, shape[0], shape[1],
				mermaidText(s.ID + ": " + s.Kind + subject(f, s))})
	}
	ends := map[string]bool{}
	if len(f.Steps) > 0 {
		g.Edges = append(g.Edges, docGraphEdge{startID, "s_" + f.Steps[0].ID, "-->"})
	}
	for i := range f.Steps {
		for _, w := range plan.StepWays(f, &f.Steps[i]) {
			e := docGraphEdge{"s_" + f.Steps[i].ID, "s_" + w.To, "-->"}
			if endWords[w.To] != "" {
				ends[w.To] = true
				e.To = "t_" + w.To
			}
			if w.How == plan.Exception {
				e.Arrow = "-.->"
			}
			if w.Why != "" {
				e.Arrow += `|"` + string(mermaidText(w.Why)) + `"|`
			}
			g.Edges = append(g.Edges, e)
		}
	}
	for _, end := range []string{plan.TargetEnd, plan.TargetCancel, plan.TargetError} {
		if ends[end] {
			g.Nodes = append(g.Nodes,
				docGraphNode{"t_" + end, "((", "))", mermaidText(endWords[end])})
		}
	}
	return g
}

// subject returns what a step is about, for its label.
func subject(f *plan.Flow, s *plan.FlowStep) string {
	if what := cmp.Or(s.Action, s.Flow, f.SlotKey(s.Slot), s.Queue); what != "" {
		return " " + what
	}
	return ""
}
