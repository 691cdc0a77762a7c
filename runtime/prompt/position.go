package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// historyRows is how many of the newest rows of a history are shown.
const historyRows = 40

// describeTables prepares the texts that do not depend on a view.
func (p *Prompts) describeTables() {
	p.options = make([][]string, len(p.tables.Routings))
	for r, routing := range p.tables.Routings {
		for _, b := range routing.Branches {
			p.options[r] = append(p.options[r], p.optionText(routing.Node, b))
		}
	}
	p.graph = make([]string, len(p.tables.Nodes))
	for i, n := range p.tables.Nodes {
		if n.Routing > 0 {
			p.graph[i] = p.graphBelow(n.Routing, p.tables.Routings[n.Routing-1].Branches)
		}
	}
}

// optionText returns the list item of a branch.
func (p *Prompts) optionText(node int, b runtime.BranchRow) string {
	goes := ""
	switch b.Kind {
	case runtime.ToNode, runtime.ToInterrupt:
		goes = " goes to " + p.targetText(b)
	case runtime.ToResume:
		goes = " goes back to " + p.targetText(b) + ", which waits for it"
	case runtime.ToEnd:
		goes = " ends the work of this node"
	case runtime.ToCollect:
		goes = " goes where its decision says"
	}
	text := "- **" + b.Name + "**" + goes + "."
	if b.When != "" {
		text += " " + b.When
	}
	if form := p.forms[b.Type]; form != nil && form.Doc != "" {
		text += " " + form.Doc
	}
	return text + p.armsText(node, b, "\n  - ")
}

// graphBelow returns the lines of the graph below the name of a node.
func (p *Prompts) graphBelow(routing int, branches []runtime.BranchRow) string {
	row := p.tables.Routings[routing-1]
	var b strings.Builder
	b.WriteString("\n        " + row.Name)
	for _, branch := range branches {
		b.WriteString("\n          " + branch.Name + " -> " + p.targetText(branch) +
			p.armsText(row.Node,
				branch, "\n            "))
	}
	return b.String()
}

// targetText returns where a branch leads.
func (p *Prompts) targetText(b runtime.BranchRow) string {
	switch b.Kind {
	case runtime.ToNode, runtime.ToResume:
		return p.nodeName(b.Node)
	case runtime.ToInterrupt:
		return p.tables.Handler.DisplayName
	case runtime.ToEnd:
		return "end of this node's work"
	case runtime.ToCollect:
		return "by its decision"
	}
	return ""
}

// armsText lists where the decisions of a collector lead.
func (p *Prompts) armsText(node int, b runtime.BranchRow, before string) string {
	collect := runtime.Row(p.tables.Nodes, node).Collect
	if b.Kind != runtime.ToCollect || collect == nil {
		return ""
	}
	var out strings.Builder
	for _, arm := range collect.Arms {
		to := "workflow completion"
		for _, other := range p.tables.Routings[p.tables.Nodes[node-1].Routing-1].Branches {
			if other.Name == arm.To {
				to = p.targetText(other)
			}
		}
		out.WriteString(before + arm.Decision + " -> " + to)
	}
	return out.String()
}

// addPosition adds the graph and the history; handler marks the unified handler as the position.
func (p *page) addPosition(v View, branches []int, routing int, handler bool) {
	asked, visited := false, make([]bool, len(p.tables.Nodes)+1)
	for _, h := range v.History {
		asked = asked || h.Interrupt > 0
		if h.Interrupt == 0 && h.Node > 0 && h.Node < len(visited) {
			visited[h.Node] = true
		}
	}
	visited[v.Node] = visited[v.Node] || handler
	here := p.graphBelow(routing, p.branchRows(routing, branches))
	size := len(here) + 200
	for i, n := range p.tables.Nodes {
		size += len(p.graph[i]) + len(n.DisplayName) + 32
	}
	var b strings.Builder
	b.Grow(size)
	for i, n := range p.tables.Nodes {
		switch {
		case n.Request == 0:
		case i+1 == v.Node && !handler:
			b.WriteString(graphLabel(n.DisplayName, true, false) + here + "\n")
		default:
			b.WriteString(graphLabel(n.DisplayName, false, visited[i+1]) + p.graph[i] + "\n")
		}
	}
	b.WriteString(graphLabel(p.tables.Handler.DisplayName, handler, asked))
	if handler {
		b.WriteString(here)
	} else {
		b.WriteString("\n        " + p.tables.Routings[0].Name +
			"\n          back to who asked, or where the answer sends the work")
	}
	p.addSection("position", map[string]string{"Graph": b.String(), "History": p.historyTable(v)})
}

func graphLabel(name string, here, visited bool) string {
	switch {
	case here:
		return ">>> [" + name + "] <<< YOU ARE HERE"
	case visited:
		return "[" + name + "] [visited]"
	}
	return "    [" + name + "]"
}

// historyTable returns a table of the newest rows, with a warning for each node that is repeated
// often.
func (p *Prompts) historyTable(v View) string {
	if len(v.History) == 0 {
		return "Nothing came before this turn."
	}
	var b strings.Builder
	first := max(0, len(v.History)-historyRows)
	if first > 0 {
		fmt.Fprintf(&b, "The first %d rows are left out.\n\n", first)
	}
	b.WriteString("| # | Action | Input |\n|---|---|---|")
	counts := make([]int, len(p.tables.Nodes)+1)
	for i, h := range v.History {
		n := runtime.Row(p.tables.Nodes, h.Node)
		action, input := cmp.Or(n.Action, n.Key), runtime.Row(p.tables.Requests, h.Request).
			DisplayName
		if h.Interrupt > 0 {
			action, input = p.tables.Handler.Name, runtime.Row(p.tables.Interrupts, h.Interrupt).
				DisplayName
		} else if h.Node > 0 && h.Node < len(counts) {
			counts[h.Node]++
		}
		if i >= first {
			b.WriteString("\n| " + strconv.Itoa(i+1) + " | " + action + " | " + input + " |")
		}
	}
	for i, n := range p.tables.Nodes {
		if n.LoopWarn > 0 && counts[i+1] >= n.LoopWarn && !slices.Contains(n.LoopExempt, n.Key) {
			fmt.Fprintf(&b, "\n\n**Warning:** %s was here %d times.", n.DisplayName, counts[i+1])
		}
	}
	return b.String()
}

// addOptions adds the branches that may be set.
func (p *page) addOptions(name, guidance string, routing int, branches []int) {
	lines := make([]string, 0, len(branches))
	for _, i := range branches {
		lines = append(lines, p.options[routing-1][i])
	}
	if guidance != "" {
		guidance = "\n" + guidance
	}
	p.addSection("options", map[string]string{"Name": name, "Branches": strings.Join(lines, "\n"),
		"Guidance": guidance})
}

// addLoopBreaker adds a warning if the node has interrupted too often.
func (p *page) addLoopBreaker(v View, n *runtime.Node, branches []int) {
	var earlier []string
	for _, h := range v.History {
		if h.Interrupt > 0 && h.Node == v.Node && !slices.Contains(n.LoopExempt, h.Type) {
			earlier = append(earlier, fmt.Sprintf("%d. %s: %s", len(earlier)+1, Line(h.Type),
				Line(h.Reason)))
		}
	}
	if n.LoopWarn == 0 || len(earlier) < n.LoopWarn {
		return
	}
	offered := p.branchRows(n.Routing, branches)
	instead := slices.DeleteFunc(slices.Clone(n.Unstick), func(name string) bool {
		return !slices.ContainsFunc(offered, func(b runtime.BranchRow) bool {
			return b.Name == name
		})
	})
	advice := "Set another branch than the one that interrupts."
	if len(instead) > 0 {
		advice = "Set " + strings.Join(instead, " or ") + " instead."
	}
	p.addSection("loop", map[string]string{
		"Name": n.DisplayName, "Count": strconv.Itoa(len(earlier)), "Instead": advice,
		"Earlier":   Data("text", strings.Join(earlier, "\n")),
		"Interrupt": runtime.Row(p.tables.Interrupts, n.Interrupt).DisplayName,
	})
}
