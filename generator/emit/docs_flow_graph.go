package emit

import (
	"cmp"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// way is one way on from a step. why is empty where nothing else can happen.
type way struct {
	why, to string
	how     wayKind
}

type wayKind int

const (
	usual     wayKind = iota
	decided           // why is an expression
	exception         // something went wrong
)

// stepWays is every way on from a step, the usual ones first.
func stepWays(f *plan.Flow, s *plan.FlowStep) []way {
	var out []way
	add := func(why string, to runtime.Target, how wayKind) {
		if to != runtime.NoTarget {
			out = append(out, way{why, f.TargetName(to), how})
		}
	}
	switch s.Kind {
	case plan.StepBranch:
		for _, a := range s.Arms {
			add(exprText(f, a.If), a.To, decided)
		}
		add("else", s.Else, usual)
	case plan.StepWhile:
		add("again", s.Body, usual)
		add("done", s.Next, usual)
	case plan.StepConfirm:
		add("yes", s.OnYes, usual)
		add("no", s.OnNo, usual)
		add("changed", s.OnChange, usual)
	case plan.StepLink, plan.StepHandoff: // nothing comes back
	default:
		add("", s.Next, usual)
	}
	if s.When != nil && s.Kind != plan.StepSay && s.Kind != plan.StepSet {
		add("skipped", s.Next, usual)
	}
	add("invalid", s.OnInvalid, exception)
	add("time is up", s.OnTimeout, exception)
	add("cancelled", s.OnCancel, exception)
	switch s.Kind {
	case plan.StepAction, plan.StepCall, plan.StepGenerate:
		add("failed", cmp.Or(s.OnError, f.OnError), exception)
	}
	return out
}

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
		for _, w := range stepWays(f, &f.Steps[i]) {
			e := docGraphEdge{"s_" + f.Steps[i].ID, "s_" + w.to, "-->"}
			if endWords[w.to] != "" {
				ends[w.to] = true
				e.To = "t_" + w.to
			}
			if w.how == exception {
				e.Arrow = "-.->"
			}
			if w.why != "" {
				e.Arrow += `|"` + string(mermaidText(w.why)) + `"|`
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

// subject is what a step is about, for its label.
func subject(f *plan.Flow, s *plan.FlowStep) string {
	if what := cmp.Or(s.Action, s.Flow, f.SlotKey(s.Slot), s.Queue); what != "" {
		return " " + what
	}
	return ""
}
