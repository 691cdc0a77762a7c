package edit

import (
	"strconv"
	"strings"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// Remove takes something out of the spec: its lines, and the comments directly above it. The name
// is then kept in a list, so that it cannot come back with another meaning: that of a node, type,
// enum, flow, action or validator in `reserved:` at the top, that of a field, branch, value or slot
// in `reserved:` of its owner, that of an interrupt kind in `reserved_kinds:`.
//
// As long as anything else refers to it, Remove refuses with one REF_IN_USE finding for each such
// place. It also refuses what would leave errors behind, such as a node that nothing leads to. The
// kind is one of Kinds.
func Remove(name string, src []byte, kind, target string) ([]byte, []report.Finding) {
	return single(Files{{Name: name, Text: src}}.Remove(kind, target))
}

func (e *change) removeThing(kind, target string) {
	if kind == KindStep {
		e.container(kind, "", "") // refuses
		return
	}
	d := e.define(kind, target)
	if d == nil {
		return
	}
	e.checkUnused(d, target)
	if d.kind == KindSlot {
		e.implicit(d, func(step *value, key string) {
			if key == "inputs" {
				e.refuse(spec.RuleRefInUse, e.spanOf(step.at("call")),
					"say in inputs: what it is given",
					"slot %q is given to action %q here, by its name",
					target, step.at("call").name())
			}
		})
	}
	if len(e.refused) > 0 {
		report.Sort(e.refused)
		return
	}
	e.remove(d.at)
	e.listName(d.removed, d.name)
}

// checkUnused refuses for every place outside a definition that refers to it.
func (e *change) checkUnused(d *definition, target string) {
	request := ""
	for _, n := range e.spec.Nodes {
		if d.kind == KindNode && n.Key.Value == d.name && !n.Only.Set() {
			request = n.RequestName()
		}
	}
	home := ""
	if d.section != "" {
		home = "/" + d.section + "/" + d.name + "/"
	}
	seen := map[report.Pos]bool{}
	for _, r := range e.references() {
		derived, by := request != "" && r.kind == KindType && r.name == request, ""
		if seen[r.at.Start] || !derived && !d.isNamed(r) {
			continue
		}
		at := e.src.Offset(r.at.Start)
		_, path := e.rootAt(at).locate(at)
		if home != "" && strings.HasPrefix(path, home) {
			continue
		}
		if derived {
			by = ", by its request " + request
		}
		seen[r.at.Start] = true
		e.refuse(spec.RuleRefInUse, r.at,
			"change or remove this first, by hand if each needs the other",
			"%s %q is still referred to here%s", d.kind, target, by)
		f := &e.refused[len(e.refused)-1]
		f.Path = path
		f.Related = []report.Related{{At: e.spanOf(d.at.key),
			Message: strconv.Quote(d.name) + " is declared here"}}
	}
}
