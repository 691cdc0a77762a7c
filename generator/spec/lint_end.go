package spec

// lintEnds reports work that can never end, once for each circle: every node needs a way to a node
// that ends a frame.
func (c *checker) lintEnds() {
	for _, circle := range circles(c.spec.Nodes, c.canEnd, c.onward) {
		n := circle[0]
		c.warn(RuleNodeNoEnd, n.path(), n.Key.At, "give one of them a branch to a type of results:",
			"work that comes to node %q never ends: %s", n.Key.Value,
			circleText(circle, func(n *Node) string { return n.Key.Value }))
	}
}

// canEnd reports whether a frame may end at a node. A branch without a target, and a node without a
// branch, were reported and count as ends.
func (c *checker) canEnd(n *Node) bool {
	if len(n.Branches) == 0 {
		return true
	}
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
