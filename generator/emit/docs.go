package emit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/templates"
)

// maxDrawn is the number of nodes up to which a graph can be read and a matrix fits a page. It also
// keeps the document linear in the spec: a matrix is not.
const maxDrawn = 60

// docView is what the template prints. Text is escaped already: the type of a field says for which
// language.
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
	Late       []docLate  // nodes with a deadline of their own
	Asked      []docAsked // nodes with assignees of their own
	Workflow   bool       // whether there is anything but flows
	Talk       *docTalk   // nil without flows
}

type docEdge struct{ From, To, How markdown }

type docRoute struct{ Field, Tag, AgentType, DisplayName, Returns, Node markdown }

type docNode struct{ Key, AgentType, DisplayName, Takes, Answers, Doc markdown }

type docLate struct{ Node, Deadline markdown }

type docAsked struct{ Node, Assignees markdown }

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

// routesDoc renders ROUTES.md. The same plan gives the same bytes. An error is a defect of the
// template.
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
	v := &docView{Header: strings.TrimPrefix(header(p), "// "), Package: mdCode(p.Package),
		Workflow: p.HasWorkflow(), Talk: newDocTalk(p)}
	if !v.Workflow {
		return v
	}
	moves := p.Moves()
	v.Routes, v.Nodes, v.Kinds = docRoutes(p), docNodes(p), docKinds(p)
	for _, n := range p.Nodes {
		if n.Deadline != nil {
			v.Late = append(v.Late, docLate{mdCode(n.Key), deadlineText(n.Deadline)})
		}
		if len(n.Assignees) > 0 {
			v.Asked = append(v.Asked, docAsked{mdCode(n.Key), mdCodes(n.Assignees...)})
		}
	}
	v.Interrupts, v.Collectors = docInterruptsOf(p), docCollectors(p, moves)
	if len(p.Nodes) <= maxDrawn {
		v.Graph = newDocGraph(p, moves)
		v.Matrix = newDocMatrix(p, moves)
	} else {
		v.Edges = docEdges(moves)
	}
	return v
}

func docRoutes(p *plan.Plan) []docRoute {
	rows := make([]docRoute, 0, len(p.Routes))
	for _, r := range p.Routes {
		row := docRoute{Field: mdCode(r.Field), Tag: mdCode(r.Tag), Returns: mdCode(r.Request),
			Node: mdCode(r.Node)}
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
func docInterruptsOf(p *plan.Plan) *docInterrupts {
	routeNodes := p.RouteNodes()
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
			Node: mdCode(n.Key), Type: mdCode(n.Interrupt), Back: mdCode(routeNodes[n.Origin]),
			Fields: mdCodes(own...),
		})
	}
	if len(v.Rows) == 0 {
		return nil
	}
	return &v
}

func docCollectors(p *plan.Plan, moves []plan.Move) []docCollector {
	var all []docCollector
	for _, n := range p.Nodes {
		if n.Collect == nil {
			continue
		}
		c := docCollector{Node: mdText(n.DisplayName), Field: mdCode(n.Collect.Field),
			Result: mdCode(n.Collect.Result)}
		if n.Collect.Default != "" {
			c.Default = mdCode(n.Collect.Default)
		}
		for _, arm := range n.Collect.Arms {
			to := slices.IndexFunc(moves, func(m plan.Move) bool {
				return m.From == n.Key && m.How == plan.ByDecision && m.Name == arm.Decision
			})
			c.Arms = append(c.Arms, docArm{Decision: mdCode(arm.Decision), Branch: mdCode(arm.To),
				To: mdPlace(moves[to].To)})
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
			Key: mdCode(k.Name), Clash: mdCode(k.Clash), Deadline: deadlineText(k.Deadline),
			Retry:   retryText(k.Retry),
			Choices: choicesText(k), Doc: mdText(k.Doc),
		})
	}
	return rows
}

func deadlineText(d *runtime.Deadline) markdown {
	if d == nil || d.After == 0 {
		return "none"
	}
	s := "after " + mdText(plan.DurationText(d.After)) + ": " + mdText(d.Then)
	for _, what := range []string{d.Answer, d.Assignee, d.Target} {
		if what != "" {
			s += " " + mdCode(what)
		}
	}
	if d.Reminder != 0 {
		s += ", with a reminder " + mdText(plan.DurationText(d.Reminder)) + " before"
	}
	return s
}

func retryText(r *runtime.Retry) markdown {
	if r == nil {
		return "none"
	}
	s := mdText(fmt.Sprintf("%d times, %s from %s", r.Attempts, r.Backoff,
		plan.DurationText(r.First)))
	if r.Max != 0 {
		s += " up to " + mdText(plan.DurationText(r.Max))
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
	if k.AutoAnswer != "" {
		auto := "answered at once with " + string(mdCode(k.AutoAnswer))
		if len(k.AutoWhen) > 0 {
			auto += " when it is " + string(mdCodes(k.AutoWhen...))
		}
		parts = append(parts, auto)
	}
	if len(k.Assignees) > 0 {
		parts = append(parts, "answered by "+string(mdCodes(k.Assignees...))+" only")
	}
	if len(parts) == 0 {
		return "free"
	}
	return markdown(strings.Join(parts, ", "))
}

func newDocMatrix(p *plan.Plan, moves []plan.Move) *docMatrix {
	v := &docMatrix{}
	column := map[string]int{}
	for i, n := range p.Nodes {
		column[n.Key] = i
		v.Columns = append(v.Columns, mdCode(n.Key))
		v.Rows = append(v.Rows,
			docMatrixRow{From: mdCode(n.Key), Cells: make([]string, len(p.Nodes))})
	}
	// The marks of one cell stand in the order of the legend.
	for _, kind := range marks {
		for _, m := range moves {
			to, ok := column[m.To]
			if cells := v.Rows[column[m.From]].Cells; ok && m.How == kind.how &&
				!strings.Contains(cells[to], kind.mark) {
				cells[to] += kind.mark
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

func docEdges(moves []plan.Move) []docEdge {
	edges := make([]docEdge, 0, len(moves))
	for _, m := range moves {
		edges = append(edges, docEdge{From: mdCode(m.From), To: mdPlace(m.To), How: moveText(m)})
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
