package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// historyRows is how many rows of a history are shown, the newest.
const historyRows = 40

// describe writes once what does not depend on a view.
func (p *Prompts) describe() {
	p.options = make([][]string, len(p.tables.Routings))
	for r, routing := range p.tables.Routings {
		for _, b := range routing.Branches {
			p.options[r] = append(p.options[r], p.option(routing.Node, b))
		}
	}
	p.graph = make([]string, len(p.tables.Nodes))
	for i, n := range p.tables.Nodes {
		if n.Routing > 0 {
			p.graph[i] = p.below(n.Routing, p.tables.Routings[n.Routing-1].Branches)
		}
	}
}

// option is one bullet of the routing options.
func (p *Prompts) option(node int, b runtime.BranchRow) string {
	goes := ""
	switch b.Kind {
	case runtime.ToNode, runtime.ToInterrupt:
		goes = " goes to " + p.target(b)
	case runtime.ToResume:
		goes = " goes back to " + p.target(b) + ", which waits for it"
	case runtime.ToEnd:
		goes = " ends the work of this node"
	case runtime.ToCollect:
		goes = " goes where its decision says"
	}
	text := "- **" + b.Name + "**" + goes + "."
	if b.Def > 0 {
		if doc := p.forms[b.Def-1].Doc; doc != "" {
			text += " " + doc
		}
	}
	return text + p.arms(node, b, "\n  - ")
}

// below is what stands in the graph below a name.
func (p *Prompts) below(routing int, branches []runtime.BranchRow) string {
	row := p.tables.Routings[routing-1]
	var b strings.Builder
	b.WriteString("\n        " + row.Name)
	for _, branch := range branches {
		b.WriteString("\n          " + branch.Name + " -> " + p.target(branch) + p.arms(row.Node, branch, "\n            "))
	}
	return b.String()
}

// target says in a few words where a branch leads.
func (p *Prompts) target(b runtime.BranchRow) string {
	switch b.Kind {
	case runtime.ToNode, runtime.ToResume:
		return p.name(b.Node)
	case runtime.ToInterrupt:
		return p.tables.Handler.DisplayName
	case runtime.ToEnd:
		return "end of this node's work"
	case runtime.ToCollect:
		return "by its decision"
	}
	return ""
}

// arms lists where the decisions of a collector lead.
func (p *Prompts) arms(node int, b runtime.BranchRow, before string) string {
	collect := at(p.tables.Nodes, node).Collect
	if b.Kind != runtime.ToCollect || collect == nil {
		return ""
	}
	var out strings.Builder
	for _, arm := range collect.Arms {
		to := "workflow completion"
		for _, other := range p.tables.Routings[p.tables.Nodes[node-1].Routing-1].Branches {
			if other.Name == arm.To {
				to = p.target(other)
			}
		}
		out.WriteString(before + arm.Decision + " -> " + to)
	}
	return out.String()
}

// position adds the graph and the history. handler says that the unified handler is where the model is.
func (p *page) position(v View, branches []int, routing int, handler bool) {
	asked, visited := false, make([]bool, len(p.tables.Nodes)+1)
	for _, h := range v.History {
		asked = asked || h.Interrupt > 0
		if h.Interrupt == 0 && h.Node > 0 && h.Node < len(visited) {
			visited[h.Node] = true
		}
	}
	visited[v.Node] = visited[v.Node] || handler
	here := p.below(routing, p.pick(routing, branches))
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
			b.WriteString(mark(n.DisplayName, true, false) + here + "\n")
		default:
			b.WriteString(mark(n.DisplayName, false, visited[i+1]) + p.graph[i] + "\n")
		}
	}
	b.WriteString(mark(p.tables.Handler.DisplayName, handler, asked))
	if handler {
		b.WriteString(here)
	} else {
		b.WriteString("\n        " + p.tables.Routings[0].Name + "\n          back to who asked, or where the answer sends the work")
	}
	p.add("position", map[string]string{"Graph": b.String(), "History": p.history(v)})
}

func mark(name string, here, visited bool) string {
	switch {
	case here:
		return ">>> [" + name + "] <<< YOU ARE HERE"
	case visited:
		return "[" + name + "] [visited]"
	}
	return "    [" + name + "]"
}

// history is a table of the newest rows, with a warning for each node that came up again and again.
func (p *Prompts) history(v View) string {
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
		n := at(p.tables.Nodes, h.Node)
		action, input := cmp.Or(n.Action, n.Key), at(p.tables.Requests, h.Request).DisplayName
		if h.Interrupt > 0 {
			action, input = p.tables.Handler.Name, at(p.tables.Interrupts, h.Interrupt).DisplayName
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

// choices adds the branches that may be set.
func (p *page) choices(name, guidance string, routing int, branches []int) {
	lines := make([]string, 0, len(branches))
	for _, i := range branches {
		lines = append(lines, p.options[routing-1][i])
	}
	if guidance != "" {
		guidance = "\n" + guidance
	}
	p.add("options", map[string]string{"Name": name, "Branches": strings.Join(lines, "\n"), "Guidance": guidance})
}

// loop adds the loop breaker when the node interrupted too often.
func (p *page) loop(v View, n *runtime.Node, branches []int) {
	var earlier []string
	for _, h := range v.History {
		if h.Interrupt > 0 && h.Node == v.Node && !slices.Contains(n.LoopExempt, h.Type) {
			earlier = append(earlier, fmt.Sprintf("%d. %s: %s", len(earlier)+1, Line(h.Type), Line(h.Reason)))
		}
	}
	if n.LoopWarn == 0 || len(earlier) < n.LoopWarn {
		return
	}
	offered := p.pick(n.Routing, branches)
	instead := slices.DeleteFunc(slices.Clone(n.Unstick), func(name string) bool {
		return !slices.ContainsFunc(offered, func(b runtime.BranchRow) bool { return b.Name == name })
	})
	advice := "Set another branch than the one that interrupts."
	if len(instead) > 0 {
		advice = "Set " + strings.Join(instead, " or ") + " instead."
	}
	p.add("loop", map[string]string{
		"Name": n.DisplayName, "Count": strconv.Itoa(len(earlier)), "Instead": advice, "Earlier": Data("text", strings.Join(earlier, "\n")),
		"Interrupt": at(p.tables.Interrupts, n.Interrupt).DisplayName,
	})
}
