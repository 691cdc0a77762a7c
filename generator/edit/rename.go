package edit

import (
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// Rename gives something another name: where it is declared, everywhere it is referred to, and in
// names that are derived from it, such as PlanningRequest from node planning. The old name is kept
// in its list `was:`, so that a later comparison sees one change instead of two; data that is
// stored under the old name is not read under the new one. Prompt templates are files of their own
// and are not changed.
//
// The kind is one of Kinds; from is written as there, and to is the new name without its owner
// (OWNER.new is accepted too). Rename returns findings and no text if it refuses: the old name does
// not exist, the language does not allow the new one, or the layout of the text does not allow the
// edit.
func Rename(name string, src []byte, kind, from, to string) ([]byte, []report.Finding) {
	return single(Files{{Name: name, Text: src}}.Rename(kind, from, to))
}

func (e *change) rename(kind, from, to string) {
	d := e.define(kind, from)
	if d == nil {
		return
	}
	if owner, _ := splitName(kind, from); owner != "" {
		to = strings.TrimPrefix(to, owner+".")
	}
	if to == d.name {
		e.refuse(spec.RuleEditArgument, e.spanOf(d.at.key), "choose another name",
			"%q is its name already", to)
		return
	}
	if d.kind == KindSlot {
		e.writeImplicit(d, to)
	}
	e.replace(e.spanOf(d.at.key), d.name, to)
	e.keepName(d, to)
	e.renameReferences(d, to)
}

// keepName puts the old name into the list of earlier names. If the new name is one of these, the
// two are exchanged.
func (e *change) keepName(d *definition, to string) {
	v := d.at.value
	if v.n.Kind == spec.ScalarNode && v.n.Tag != spec.TagNull {
		e.lengthen(v, d.shape.ShortKey(), "was", d.name)
		return
	}
	if was := v.at("was"); was != nil {
		for _, item := range was.items {
			if item.name() == to {
				e.replace(e.spanOf(item), to, d.name)
				return
			}
		}
	}
	e.listName(nameList{v, d.shape, "was"}, d.name)
}

// renameReferences renames every reference to a definition.
func (e *change) renameReferences(d *definition, to string) {
	request, newRequest := "", ""
	for _, n := range e.spec.Nodes {
		derived := !n.Only.Set() && !n.GoName.Set() && (n.Request == nil || !n.Request.Name.Set())
		if d.kind == KindNode && n.Key.Value == d.name && derived {
			request, newRequest = n.RequestName(), spec.GoName(to)+"Request"
		}
	}
	done, others, references := map[report.Pos]bool{}, map[report.Pos]bool{}, e.references()
	for _, r := range references {
		if r.kind == d.kind && r.name == d.name && r.owner != d.owner {
			others[r.at.Start] = true
		}
	}
	for _, r := range references {
		switch {
		case done[r.at.Start]:
		case d.isNamed(r) && others[r.at.Start]:
			e.refuse(spec.RuleEditArgument, r.at, "write a line for each of them by hand",
				"%q here also names a field of another request", d.name)
		case r.kind == KindType && r.name == request && request != "":
			e.replace(r.at, request, newRequest)
		case d.isNamed(r):
			e.replace(r.at, d.name, to)
		default:
			continue
		}
		done[r.at.Start] = true
	}
}

// isNamed reports whether a reference names a definition.
func (d *definition) isNamed(r reference) bool {
	kind := d.kind
	if kind == KindEnum {
		kind = KindType
	}
	return r.kind == kind && r.name == d.name && r.owner == d.owner
}

// implicit calls for every action step of a flow that is given a slot, or gives one, by its name
// alone. Key is inputs or outputs.
func (e *change) implicit(d *definition, do func(step *value, key string)) {
	eachStep(e.at("flows", d.owner, "steps"), func(step *value) {
		for _, a := range e.spec.Actions {
			if a.Key.Value != step.at("call").name() || step.at("type").name() != "action" {
				continue
			}
			for i, params := range [][]*spec.Field{a.Inputs, a.Outputs} {
				key := [...]string{"inputs", "outputs"}[i]
				if step.at(key, d.name) == nil && slices.ContainsFunc(params,
					func(f *spec.Field) bool { return f.Key.Value == d.name }) {
					do(step, key)
				}
			}
		}
	})
}

// writeImplicit writes out what action steps take and give by the name of a slot, before the slot
// gets another name.
func (e *change) writeImplicit(d *definition, to string) {
	shape := spec.Language().Follow("flows", "steps")
	e.implicit(d, func(step *value, key string) {
		if p := step.get(key); p != nil {
			e.insert(p.value, len(p.value.pairs), d.name, textNode(to))
			return
		}
		e.insert(step, spot(shape, step, key), key, mappingNode(d.name, textNode(to)))
	})
}
