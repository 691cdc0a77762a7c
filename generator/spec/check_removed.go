package spec

import "github.com/routegen/routegen/generator/report"

// checkRemoved refuses names that are listed as removed.
func (c *checker) checkRemoved() {
	for _, name := range c.spec.Reserved {
		if d := c.byName[name.Value]; d != nil {
			c.reportRemoved(name, d.at, d.path)
		} else if n := c.nodes[name.Value]; n != nil {
			c.reportRemoved(name, n.Key.At, n.path())
		}
	}
	for _, e := range c.spec.Enums {
		refuseRemoved(c, e.Reserved, e.Values, "/enums/"+e.Key.Value+"/values/")
	}
	for _, o := range c.fieldOwners() {
		refuseRemoved(c, o.reserved, o.fields, o.path+"/fields/")
	}
	c.checkRemovedOfInterrupts()
	for _, n := range c.spec.Nodes {
		refuseRemoved(c, n.Reserved, n.Branches, n.path()+"/branches/")
		for _, old := range n.Was {
			if other := c.nodes[old.Value]; other != nil {
				c.reportStillDeclared(old, other.Key.At, n.path()+"/was")
			}
		}
	}
}

// checkRemovedOfInterrupts refuses removed names of common fields and of kinds. Common fields and a
// node's own are in the same messages, so what is removed from one cannot come back in the other. A
// spec without kinds has the shipped ones, which have no position.
func (c *checker) checkRemovedOfInterrupts() {
	in := c.spec.Interrupts
	if in == nil {
		return
	}
	removed := make(map[string]Text, len(in.Reserved))
	for _, name := range in.Reserved {
		removed[name.Value] = name
	}
	for _, n := range c.spec.Nodes {
		if n.Interrupt == nil {
			continue
		}
		refuseRemoved(c, n.Interrupt.Reserved, in.Fields, "/interrupts/fields/")
		for _, f := range n.Interrupt.Fields {
			if name, was := removed[f.Key.Value]; was {
				c.reportRemoved(name, f.Key.At, n.path()+"/interrupt/fields/"+f.Key.Value)
			}
		}
	}
	refuseRemoved(c, in.ReservedKinds, in.Kinds, "/interrupts/kinds/")
	if len(in.Kinds) == 0 {
		shipped := DefaultKinds()
		for _, name := range in.ReservedKinds {
			if find(c, shipped, name.Value) != nil {
				c.fail(RuleNameTombstone, "/interrupts", name.At, "name the kinds under kinds:",
					"%q was removed, and without kinds: the shipped kind of that name is back",
					name.Value)
			}
		}
	}
}

// refuseRemoved refuses members of a list whose names are listed as removed.
func refuseRemoved[T keyed](c *checker, names []Text, list []T, path string) {
	var none T
	for _, name := range names {
		if m := find(c, list, name.Value); m != none {
			c.reportRemoved(name, m.at(), path+name.Value)
		}
	}
}

func (c *checker) reportRemoved(gone Text, at report.Span, path string) {
	c.fail(RuleNameTombstone, path, at, "choose another name",
		"%q was removed and must not come back", gone.Value).
		relatedf(gone.At, "%q is reserved here", gone.Value)
}

func (c *checker) reportStillDeclared(old Text, at report.Span, path string) {
	c.fail(RuleConflict, path, old.At, "rename the other one, or remove it from `was`",
		"%q is listed as an earlier name, but it is still there", old.Value).
		relatedf(at, "%q is here", old.Value)
}
