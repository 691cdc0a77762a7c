package spec

// maxNesting is how deep the objects and lists of a value may stand in each other for the decoders
// of all programs.
const maxNesting = 64

// checkNesting refuses records whose every value is nested deeper than decoders read. Of those that
// hold each other, the innermost is reported.
func (c *checker) checkNesting() {
	known := make(map[*decl]int, len(c.decls))
	for _, d := range c.decls {
		c.nesting(d, known)
	}
}

// nesting returns how deep the shallowest value of a record is: 1 for an object of texts. What is
// too deep was reported, and counts as 1.
func (c *checker) nesting(d *decl, known map[*decl]int) int {
	if depth, ok := known[d]; ok {
		return depth
	}
	known[d] = 1 // of a record that must hold itself, which was reported
	depth := 1
	for _, f := range d.fields {
		if !f.Optional {
			depth = max(depth, 1+c.typeNesting(f.Type, f.isNeverEmpty(), known))
		}
	}
	most := maxNesting
	if d.kind == declRequest || c.ends[d.name] {
		most-- // it stands in a routing
	}
	if depth > most {
		c.fail(RuleTypeTooDeep, d.path, d.at, "make one of the fields on the way optional",
			"every value of %q is nested %d deep, and decoders read %d", d.name, depth, most)
		depth = 1
	}
	known[d] = depth
	return depth
}

// typeNesting is nesting for a type.
func (c *checker) typeNesting(t *TypeExpr, filled bool, known map[*decl]int) int {
	switch {
	case t == nil:
	case t.Kind == List && filled:
		return 1 + c.typeNesting(t.Elem, false, known)
	case t.Kind == List || t.Kind == Map:
		return 1
	case t.Kind == Named:
		if d := c.byName[t.Name]; d != nil && (d.kind == declRecord || d.kind == declRequest) {
			return c.nesting(d, known)
		}
	}
	return 0
}
