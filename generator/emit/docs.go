package emit

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/templates"
)

// maxDrawn is the number of nodes up to which a graph can be read and a matrix fits a page. It also keeps the document
// linear in the spec: a matrix is not.
const maxDrawn = 60

// docView is what the template prints. Text is escaped already: the type of a field says for which language.
type docView struct {
	Header     string
	Package    markdown
	Graph      *docGraph // nil beyond maxDrawn
	Edges      []docEdge // only beyond maxDrawn
	Routes     []docRoute
	Nodes      []docNode
	Matrix     *docMatrix
	Interrupts *docInterrupts
	Collectors []docCollector
	Kinds      []docKind
	Workflow   bool     // whether there is anything but flows
	Talk       *docTalk // nil without flows
}

type docEdge struct{ From, To, How markdown }

type docRoute struct{ Field, Tag, AgentType, DisplayName, Returns, Node markdown }

type docNode struct{ Key, AgentType, DisplayName, Takes, Answers, Doc markdown }

type docMatrix struct {
	Columns []markdown
	Rows    []docMatrixRow
}

type docMatrixRow struct {
	From  markdown
	Cells []string
}

type docInterrupts struct {
	Common markdown
	Rows   []docInterrupt
}

type docInterrupt struct{ Node, Type, Back, Fields markdown }

type docCollector struct {
	Node, Field, Result, Default, Carried markdown
	Arms                                  []docArm
}

type docArm struct{ Decision, Branch, To markdown }

type docKind struct{ Key, Clash, Deadline, Retry, Choices, Doc markdown }

// routesDoc renders ROUTES.md. The same plan gives the same bytes. An error is a defect of the template.
func routesDoc(p *plan.Plan) ([]byte, error) {
	t, err := templates.Doc("ROUTES.md")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, newDocView(p)); err != nil {
		return nil, fmt.Errorf("ROUTES.md: %w", err)
	}
	return out.Bytes(), nil
}

func newDocView(p *plan.Plan) *docView {
	v := &docView{Header: strings.TrimPrefix(header(p), "// "), Package: mdCode(p.Package), Workflow: p.HasWorkflow(), Talk: newDocTalk(p)}
	if !v.Workflow {
		return v
	}
	m := newMoves(p)
	v.Routes, v.Nodes, v.Kinds = docRoutes(p), docNodes(p), docKinds(p)
	v.Interrupts, v.Collectors = docInterruptsOf(p, m), docCollectors(p, m)
	if len(p.Nodes) <= maxDrawn {
		v.Graph = newDocGraph(p, m)
		v.Matrix = newDocMatrix(p, m)
	} else {
		v.Edges = docEdges(m)
	}
	return v
}

func docRoutes(p *plan.Plan) []docRoute {
	rows := make([]docRoute, 0, len(p.Routes))
	for _, r := range p.Routes {
		row := docRoute{Field: mdCode(r.Field), Tag: mdCode(r.Tag), Returns: mdCode(r.Request), Node: mdCode(r.Node)}
		if n := p.Node(r.Node); n != nil {
			row.AgentType, row.DisplayName = mdCode(n.AgentType), mdText(n.DisplayName)
		}
		rows = append(rows, row)
	}
	return rows
}

func docNodes(p *plan.Plan) []docNode {
	rows := make([]docNode, 0, len(p.Nodes))
	for _, n := range p.Nodes {
		rows = append(rows, docNode{
			Key: mdCode(n.Key), AgentType: mdCode(n.AgentType), DisplayName: mdText(n.DisplayName),
			Takes: mdCodes(n.Request, n.Adapt), Answers: mdCode(n.Routing), Doc: mdText(n.Doc),
		})
	}
	return rows
}

// docInterruptsOf lists the interrupt request of each node; nil when no node has one.
func docInterruptsOf(p *plan.Plan, m *moves) *docInterrupts {
	var v docInterrupts
	for _, n := range p.Nodes {
		if n.Interrupt == "" {
			continue
		}
		var common, own []string
		if r := p.Record(n.Interrupt); r != nil {
			for _, f := range r.Fields {
				if f.Common {
					common = append(common, f.JSON)
				} else {
					own = append(own, f.JSON)
				}
			}
		}
		if len(v.Rows) == 0 && len(common) > 0 {
			v.Common = mdCodes(common...)
		}
		v.Rows = append(v.Rows, docInterrupt{
			Node: mdCode(n.Key), Type: mdCode(n.Interrupt), Back: mdCode(m.routeNode[n.Origin]), Fields: mdCodes(own...),
		})
	}
	if len(v.Rows) == 0 {
		return nil
	}
	return &v
}

func docCollectors(p *plan.Plan, m *moves) []docCollector {
	var all []docCollector
	for _, n := range p.Nodes {
		if n.Collect == nil {
			continue
		}
		c := docCollector{Node: mdText(n.DisplayName), Field: mdCode(n.Collect.Field), Result: mdCode(n.Collect.Result)}
		if n.Collect.Default != "" {
			c.Default = mdCode(n.Collect.Default)
		}
		for _, arm := range n.Collect.Arms {
			c.Arms = append(c.Arms, docArm{Decision: mdCode(arm.Decision), Branch: mdCode(arm.To), To: mdPlace(m.armTarget(&n, arm))})
		}
		carried := make([]string, 0, len(n.Collect.Carry))
		for _, carry := range n.Collect.Carry {
			carried = append(carried, string(mdCode(carry.From)+" as "+mdCode(carry.Field)))
		}
		c.Carried = markdown(strings.Join(carried, ", "))
		all = append(all, c)
	}
	return all
}

func docKinds(p *plan.Plan) []docKind {
	rows := make([]docKind, 0, len(p.Interrupt.Kinds))
	for _, k := range p.Interrupt.Kinds {
		rows = append(rows, docKind{
			Key: mdCode(k.Key), Clash: mdCode(k.Clash), Deadline: deadlineText(k.Deadline), Retry: retryText(k.Retry),
			Choices: choicesText(k), Doc: mdText(k.Doc),
		})
	}
	return rows
}

func deadlineText(d *plan.Deadline) markdown {
	if d == nil {
		return "none"
	}
	s := "after " + mdText(d.After) + ": " + mdText(d.Then)
	for _, what := range []string{d.Answer, d.Assignee, d.Target} {
		if what != "" {
			s += " " + mdCode(what)
		}
	}
	if d.Reminder != "" {
		s += ", with a reminder " + mdText(d.Reminder) + " before"
	}
	return s
}

func retryText(r *plan.Retry) markdown {
	if r == nil {
		return "none"
	}
	s := mdText(fmt.Sprintf("%d times, %s from %s", r.Attempts, r.Backoff, r.First))
	if r.Max != "" {
		s += " up to " + mdText(r.Max)
	}
	return s
}

func choicesText(k plan.InterruptKind) markdown {
	var parts []string
	for _, c := range k.Choices {
		parts = append(parts, string(mdCode(c)))
	}
	if k.RouteTo {
		parts = append(parts, "any legal route")
	}
	if k.Auto != nil {
		auto := "answered at once with " + string(mdCode(k.Auto.Answer))
		if len(k.Auto.When) > 0 {
			auto += " when it is " + string(mdCodes(k.Auto.When...))
		}
		parts = append(parts, auto)
	}
	if len(parts) == 0 {
		return "free"
	}
	return markdown(strings.Join(parts, ", "))
}

func newDocMatrix(p *plan.Plan, m *moves) *docMatrix {
	v := &docMatrix{}
	column := map[string]int{}
	for i, n := range p.Nodes {
		column[n.Key] = i
		v.Columns = append(v.Columns, mdCode(n.Key))
		v.Rows = append(v.Rows, docMatrixRow{From: mdCode(n.Key), Cells: make([]string, len(p.Nodes))})
	}
	// The marks of one cell stand in the order of the legend.
	for _, how := range []moveKind{byBranch, byDecision, byDispatch, byResults, byInterrupt} {
		for _, mv := range m.all {
			to, ok := column[mv.to]
			if cells := v.Rows[column[mv.from]].Cells; ok && mv.how == how && !strings.Contains(cells[to], string(how)) {
				cells[to] += string(how)
			}
		}
	}
	for _, row := range v.Rows {
		for i, cell := range row.Cells {
			if cell == "" {
				row.Cells[i] = "."
			}
		}
	}
	return v
}

func docEdges(m *moves) []docEdge {
	edges := make([]docEdge, 0, len(m.all))
	for _, mv := range m.all {
		edges = append(edges, docEdge{From: mdCode(mv.from), To: mdPlace(mv.to), How: mv.text()})
	}
	return edges
}

// mdPlace names a node, or the end of the frame.
func mdPlace(node string) markdown {
	if node == "" {
		return "the end"
	}
	return mdCode(node)
}
