package spec

import "strings"

// Remove takes something out of the spec: its lines, and the comments directly above it. The name of a node, type or enum then
// stands in `reserved:` at the top, that of a field in `reserved:` of its record, so that it cannot come back with another
// meaning. Branches, enum values, interrupt kinds and the fields shared by all interrupts have no such list.
//
// As long as anything else refers to it, Remove refuses: one REF_IN_USE finding for each such place, and no result. It also
// refuses what would leave errors behind, such as a node that nothing leads to any more. The kind is one of EditKinds.
func Remove(name string, src []byte, kind, target string) (*EditResult, []Finding) {
	e, bad := open(name, src)
	if e == nil {
		return nil, bad
	}
	d, bad := e.define(kind, target)
	if d == nil {
		return nil, bad
	}
	if bad = e.inUse(d, target); len(bad) > 0 {
		return nil, bad
	}
	e.remove(d.at)
	if d.keeps != nil {
		e.list(d.keeps, d.of, "reserved", d.name)
	}
	return e.finish(false)
}

// inUse reports every place outside a definition that refers to it.
func (e *edition) inUse(d *definition, target string) []Finding {
	kind := d.kind
	if kind == EditEnum || kind == EditEnding {
		kind = EditType
	}
	request := ""
	if d.kind == EditNode {
		for _, n := range e.spec.Nodes {
			if n.Key.Value == d.name && !n.Only.Set() {
				request = n.RequestName()
			}
		}
	}
	seen := map[*place]bool{}
	for _, u := range e.uses() {
		own := u.kind == kind && u.name == d.name && u.owner == d.owner
		derived := request != "" && u.kind == EditType && u.name == request
		if !own && !derived || seen[u.at] || d.home != "" && u.home == d.home {
			continue
		}
		seen[u.at] = true
		what, hint := "", "change or remove this first"
		if d.kind == EditValue && strings.Contains(u.path, "/collect/on/") {
			hint = "the table must have an arm for every value: take both out by hand"
		}
		if derived {
			what = ", by its request " + request
		}
		f := e.refs.reportAt(RuleRefInUse, e.spanOf(u.at), hint, "%s %q is still referred to here%s", d.kind, target, what)
		f.Path = u.path
		f.relatedf(e.spanOf(d.at.key), "%q is declared here", d.name)
	}
	Sort(e.refs.findings)
	return e.refs.findings
}
