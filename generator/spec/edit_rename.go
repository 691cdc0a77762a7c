package spec

import (
	"slices"
	"strings"
)

// Rename gives something another name: where it is declared, everywhere it is referred to, and in names that are derived from
// it, such as PlanningRequest from node planning. The old name is kept in its list `was:`, so that a later comparison sees one
// change in place of two; data that is stored under the old name is not read under the new one. Prompt templates are files of
// their own and are not touched.
//
// The kind is one of EditKinds; from is addressed as there, and to is the bare new name (TYPE.new is accepted too). Findings
// and no result mean that nothing was renamed: the old name is not there, the language refuses the new one, or the layout of
// the text does not allow it.
func Rename(name string, src []byte, kind, from, to string) (*EditResult, []Finding) {
	e, bad := open(name, src)
	if e == nil {
		return nil, bad
	}
	d, bad := e.define(kind, from)
	if d == nil {
		return nil, bad
	}
	if owner, _ := splitTarget(kind, from); owner != "" {
		to = strings.TrimPrefix(to, owner+".")
	}
	if to == d.name {
		return nil, e.refuse(RuleEditArgument, e.spanOf(d.at.key), "choose another name", "%q is its name already", to)
	}
	refs := e.uses()
	if d.kind == EditSlot {
		e.ownNames(d, to)
	}
	e.setText(d.at.key, 0, len(d.name), to)
	e.was(d, to)
	e.follow(refs, d, to)
	return e.finish(true)
}

// was keeps the old name in the definition. Going back to an earlier name swaps the two.
func (e *edition) was(d *definition, to string) {
	value := d.at.value
	if value.n.Kind == scalarNode && !value.isVoid() && value.n.Tag != tagNull {
		e.wrap(value, d.shape.shortKey(), "was", freshTexts(d.name))
		return
	}
	if list := value.at("was"); list != nil {
		for _, item := range list.items {
			if item.name() == to {
				e.setText(item, 0, len(to), d.name)
				return
			}
		}
	}
	e.list(value, d.shape, "was", d.name)
}

// shortKey is the key that the short form of a mapping stands for.
func (s *shape) shortKey() string {
	if slices.Contains([]string{"branch", "field", "slot", "parameter"}, s.noun) {
		return "type"
	}
	return "doc"
}

// follow renames every reference to a definition.
func (e *edition) follow(refs []use, d *definition, to string) {
	kind := d.kind
	if kind == EditEnum || kind == EditEnding {
		kind = EditType
	}
	derived, request := "", ""
	if d.kind == EditNode {
		derived, request = e.derived(d.name, to)
	}
	others := map[*place]bool{} // places that speak of a second thing of the same name
	for _, u := range refs {
		if u.kind == kind && u.name == d.name && u.owner != d.owner {
			others[u.at] = true
		}
	}
	done := map[*place]bool{}
	inside := map[*place][]int{} // where names stand in texts that hold more
	for _, u := range refs {
		if u.kind == kind && u.name == d.name && u.owner == d.owner && len(u.name) < len(u.at.n.Value) && slices.Contains([]string{EditSlot, EditValue}, kind) {
			inside[u.at] = append(inside[u.at], u.off)
		}
	}
	for _, u := range refs {
		switch {
		case done[u.at]:
		case inside[u.at] != nil:
			e.setTexts(u.at, inside[u.at], len(d.name), to)
		case derived != "" && u.kind == EditType && u.name == derived:
			e.setText(u.at, u.off, len(derived), request)
		case u.kind != kind || u.name != d.name || u.owner != d.owner:
			continue
		case !e.carried(u, to, others[u.at]):
			e.setText(u.at, u.off, len(d.name), to)
		}
		done[u.at] = true
	}
}

// derived returns the name of a node's request before and after; "" when the name does not come from the key.
func (e *edition) derived(from, to string) (before, after string) {
	for _, n := range e.spec.Nodes {
		if n.Key.Value != from || n.Only.Set() || n.GoName.Set() || n.Request != nil && n.Request.Name.Set() {
			continue
		}
		return n.RequestName(), GoName(to) + "Request"
	}
	return "", ""
}

// carried changes a carry table whose key is the renamed field of one request: a second line where another request has a field
// of the old name, one line less where the new name has its line already. It reports false when the key is simply renamed.
func (e *edition) carried(u use, to string, both bool) bool {
	for _, node := range e.root.at("nodes").members() {
		carry := node.value.at("collect", "carry")
		if carry == nil {
			continue
		}
		for i, m := range carry.pairs {
			there := carry.get(to)
			switch {
			case m.key != u.at:
				continue
			case both && there == nil:
				e.insert(carry, i+1, to, freshText(m.value.name()))
			case !both && there != nil && there.value.name() == m.value.name():
				e.remove(m)
			case there == nil:
				return false
			}
			return true
		}
	}
	return false
}
