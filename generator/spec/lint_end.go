package spec

import (
	"slices"
	"strings"
)

// maxShownWay is how many nodes of a circle are named.
const maxShownWay = 8

// lintEnds reports work that can never end, once for each circle: every node needs a way to a node
// that ends a frame.
func (c *checker) lintEnds() {
	onward, back := map[*Node][]*Node{}, map[*Node][]*Node{}
	done := map[*Node]bool{} // it can end, or was reported
	var queue []*Node
	for _, n := range c.spec.Nodes {
		onward[n] = c.onward(n)
		for _, to := range onward[n] {
			back[to] = append(back[to], n)
		}
		if len(n.Branches) == 0 || len(onward[n]) == 0 || c.canEnd(n) {
			done[n] = true
			queue = append(queue, n)
		}
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, from := range back[n] {
			if !done[from] {
				done[from] = true
				queue = append(queue, from)
			}
		}
	}
	for _, n := range c.spec.Nodes {
		var way []*Node
		at := n
		for ; !done[at]; at = onward[at][0] {
			done[at] = true
			way = append(way, at)
		}
		// else it runs into a circle that was reported
		if first := slices.Index(way, at); first >= 0 {
			c.noEnd(way[first:])
		}
	}
}

func (c *checker) noEnd(circle []*Node) {
	var names []string
	for _, n := range circle[:min(len(circle), maxShownWay)] {
		names = append(names, n.Key.Value)
	}
	if len(circle) > maxShownWay {
		names = append(names, "...")
	}
	n := circle[0]
	c.warn(RuleNodeNoEnd, n.path(), n.Key.At, "give one of them a branch to a type of results:",
		"work that comes to node %q never ends: %s -> %s", n.Key.Value, strings.Join(names, " -> "),
		n.Key.Value)
}

// canEnd reports whether a frame may end at a node. A branch without a target was reported and
// counts as an end.
func (c *checker) canEnd(n *Node) bool {
	for _, b := range n.Branches {
		name := b.Type.Value
		if name != "interrupt" && c.takers[name] == nil && c.resumes[name] == nil {
			return true
		}
	}
	if n.Collect != nil {
		for _, a := range n.Collect.On {
			if a.To.Value == "end" {
				return true
			}
		}
	}
	return false
}
