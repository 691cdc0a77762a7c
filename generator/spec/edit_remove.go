package spec

// Remove takes something out of the spec: its lines, and the comments directly above it. The name then stands in a list, so that it
// cannot come back with another meaning: that of a node, type or enum in `reserved:` at the top, that of a field, branch or value in
// `reserved:` of what it belonged to, that of an interrupt kind in `reserved_kinds:`.
//
// As long as anything else refers to it, Remove refuses: one REF_IN_USE finding for each such place, and no result. It also
// refuses what would leave errors behind, such as a node that nothing leads to any more. The kind is one of EditKinds.
func Remove(name string, src []byte, kind, target string) (*EditResult, []Finding) {
	return remove(name, src, kind, target, false)
}

// RemoveWithReferences is Remove, and takes out with it what cannot stand without it: the branches that carry it or lead to it, whose
// names are kept like those of all branches that are removed, and the arms that collect tables have for it. Other references are in
// its way as they are in that of Remove, and so is what refers to such a branch.
func RemoveWithReferences(name string, src []byte, kind, target string) (*EditResult, []Finding) {
	return remove(name, src, kind, target, true)
}

func remove(name string, src []byte, kind, target string, with bool) (*EditResult, []Finding) {
	e, bad := open(name, src)
	if e == nil {
		return nil, bad
	}
	if kind == EditStep {
		return nil, e.noSteps()
	}
	d, bad := e.define(kind, target)
	if d == nil {
		return nil, bad
	}
	parts, bad := e.inUse(d, target, with)
	if len(bad) > 0 {
		return nil, bad
	}
	if kind == EditSlot {
		if bad := e.byName(d, target); len(bad) > 0 {
			return nil, bad
		}
	}
	e.several = len(parts) > 0
	for _, u := range parts {
		e.remove(u.part)
		if branch := u.branch(); branch != "" {
			e.list(u.part.in.holder.in, language().follow("nodes"), "reserved", branch)
		}
	}
	e.remove(d.at)
	e.list(d.keeps, d.of, d.gone, d.name)
	result, bad := e.finish(false)
	for i := range bad {
		if bad[i].Rule == RuleNodeUnreachable && kind == EditBranch {
			bad[i].Hint = "if it is to go too, remove the node with its references: that takes out this branch as well"
		}
	}
	return result, bad
}

// branch is the name of the branch that a use is part of, or "".
func (u *use) branch() string {
	if u.part != nil && u.kind == EditType {
		return u.part.key.name()
	}
	return ""
}

// inUse reports every place outside a definition that refers to it. With its parts, those that can go with it are returned instead.
func (e *edition) inUse(d *definition, target string, with bool) (parts []use, bad []Finding) {
	request := ""
	if d.kind == EditNode {
		for _, n := range e.spec.Nodes {
			if n.Key.Value == d.name && !n.Only.Set() {
				request = n.RequestName()
			}
		}
	}
	all, seen := e.uses(), map[*place]bool{}
	for _, u := range all {
		derived := request != "" && u.kind == EditType && u.name == request
		if !derived && !d.named(u) || seen[u.at] || d.home != "" && u.home == d.home {
			continue
		}
		seen[u.at] = true
		if with && u.part != nil {
			parts = append(parts, u)
			continue
		}
		by := ""
		if derived {
			by = ", by its request " + request
		}
		e.stillUsed(d.at, u, d.kind, target, by)
	}
	for _, p := range parts {
		if branch := p.branch(); branch != "" {
			node := p.part.in.holder.in.holder.key.name()
			for _, u := range all {
				if u.kind == EditBranch && u.owner == node && u.name == branch {
					e.stillUsed(p.part, u, EditBranch, node+"."+branch, ", and it would go with "+target)
				}
			}
		}
	}
	Sort(e.refs.findings)
	return parts, e.refs.findings
}

// named reports whether a use refers to a definition by its name.
func (d *definition) named(u use) bool {
	kind := d.kind
	if kind == EditEnum || kind == EditEnding {
		kind = EditType
	}
	return u.kind == kind && u.name == d.name && u.owner == d.owner
}

// stillUsed reports one use that stands in the way.
func (e *edition) stillUsed(declared *member, u use, kind, target, by string) {
	hint := "change or remove this first"
	switch {
	case u.part != nil && kind == EditValue:
		hint = "the table must have an arm for every value: --with-references takes both out"
	case u.part != nil:
		hint += ", or take it out too: --with-references"
	}
	f := e.refs.reportAt(RuleRefInUse, e.spanOf(u.at), hint, "%s %q is still referred to here%s", kind, target, by)
	f.Path = u.path
	f.relatedf(e.spanOf(declared.key), "%q is declared here", declared.key.name())
}
