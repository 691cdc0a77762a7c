package edit

import (
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/spec"
)

// The kinds of things that can be added, renamed and removed.
const (
	KindNode   = "node"
	KindType   = "type"   // a record or named scalar of types: or results:
	KindResult = "result" // a record of results:, for Add
	KindEnum   = "enum"
	// KindField is TYPE.field, NODE.field of the request, NODE.interrupt.field or interrupts.field.
	KindField     = "field"
	KindBranch    = "branch" // NODE.branch
	KindValue     = "value"  // ENUM.VALUE
	KindKind      = "kind"   // an interrupt kind
	KindFlow      = "flow"
	KindSlot      = "slot" // FLOW.slot
	KindStep      = "step" // FLOW.step, for Rename
	KindAction    = "action"
	KindValidator = "validator"
)

// Kinds returns the kinds of things that Add, Rename and Remove know.
func Kinds() []string {
	return []string{KindNode, KindType, KindResult, KindEnum, KindField, KindBranch, KindValue,
		KindFlow, KindSlot, KindStep, KindAction, KindValidator, KindKind}
}

// section returns the key of the document under which a kind is declared, or "".
func section(kind string) string {
	return map[string]string{
		KindNode: "nodes", KindType: "types", KindResult: "results", KindEnum: "enums",
		KindFlow: "flows", KindAction: "actions", KindValidator: "validators",
	}[kind]
}

// ownerOf returns the kind that a thing belongs to and the key it is declared under, or "".
func ownerOf(kind string) (owner, key string) {
	switch kind {
	case KindBranch:
		return KindNode, "branches"
	case KindValue:
		return KindEnum, "values"
	case KindSlot:
		return KindFlow, "slots"
	}
	return "", ""
}

// splitName cuts OWNER.member at the last dot, or for enum values at the first. A kind without an
// owner has bare names.
func splitName(kind, name string) (owner, member string) {
	if k, _ := ownerOf(kind); k == "" && kind != KindField && kind != KindStep {
		return "", name
	}
	at := strings.LastIndexByte(name, '.')
	if kind == KindValue {
		at = strings.IndexByte(name, '.')
	}
	if at < 0 {
		return "", name
	}
	return name[:at], name[at+1:]
}

// names returns the names that are declared in sections.
func (e *change) names(sections ...string) []string {
	var out []string
	for _, s := range sections {
		for _, root := range e.roots {
			out = append(out, root.at(s).keys()...)
		}
	}
	return out
}

// unknown refuses a word that is not among the known ones.
func (e *change) unknown(what, word string, known []string) {
	hint := spec.DidYouMean(word, known)
	if hint == "" && len(known) > 0 {
		hint = "there is " + strings.Join(known[:min(len(known), 8)], ", ")
	}
	e.refuseArgumentf(hint, "there is no %s %q", what, word)
}

// container is a mapping of named things, or the way to where it has to be made.
type container struct {
	base  *value      // the innermost mapping that exists
	shape *spec.Shape // of base
	path  []string    // the keys below base that do not exist
	entry *spec.Shape // of one thing
	owner string      // of the things, as references name it
	list  nameList    // of removed names
}

// nameList is a list of names: its mapping, the shape of that, and its key.
type nameList struct {
	in    *value
	shape *spec.Shape
	key   string
}

// newContainer follows a path from a mapping as far as it exists. Removed names are listed in that
// mapping, or below the first keys.
func newContainer(base *value, shape *spec.Shape, owner string, path ...string) *container {
	c := &container{base: base, shape: shape, path: path, owner: owner,
		entry: shape.Follow(path...), list: nameList{base, shape, "reserved"}}
	for len(c.path) > 0 && c.base.get(c.path[0]) != nil {
		c.base, c.shape, c.path = c.base.at(c.path[0]), c.shape.Follow(c.path[0]), c.path[1:]
	}
	return c
}

// things returns the mapping itself, or nil if it has to be made.
func (c *container) things() *value {
	if len(c.path) > 0 {
		return nil
	}
	return c.base
}

// container finds the mapping in which things of a kind are declared. It refuses and returns nil if
// there is none. In a spec of several files the container is that of the file which declares name,
// a thing of that kind.
func (e *change) container(kind, owner, name string) *container {
	top := spec.Language()
	ownerKind, key := ownerOf(kind)
	switch {
	case section(kind) != "":
		return newContainer(e.home(section(kind), name), top, "", section(kind))
	case kind == KindKind:
		c := newContainer(e.home("interrupts", ""), top, "", "interrupts", "kinds")
		c.list = nameList{e.at("interrupts"), top.Follow("interrupts"), "reserved_kinds"}
		return c
	case kind == KindField:
		return e.record(owner)
	case kind == KindStep:
		e.refuseArgumentf("write it by hand: its place among the others is what it means",
			"a step can be renamed, but not added or removed by name")
	case ownerKind != "":
		if in := e.declared(ownerKind, owner); in != nil {
			return newContainer(in, top.Follow(section(ownerKind)), owner, key)
		}
	default:
		e.unknown("kind of thing", kind, Kinds())
	}
	return nil
}

// declared returns the value of what is declared at the top, or refuses and returns nil.
func (e *change) declared(kind, name string) *value {
	if v := e.at(section(kind), name); v != nil {
		return v
	}
	if name == "" {
		e.refuseArgumentf("write OWNER.NAME", "the name of the %s is missing", kind)
	} else {
		e.unknown(kind, name, e.names(section(kind)))
	}
	return nil
}

// record finds the fields of a type, of a node's request or interrupt, or of all interrupts.
func (e *change) record(owner string) *container {
	top := spec.Language()
	for _, s := range []string{"types", "results"} {
		if v := e.at(s, owner); v != nil {
			return newContainer(v, top.Follow(s), owner, "fields")
		}
	}
	name, part, _ := strings.Cut(owner, ".")
	for _, n := range e.spec.Nodes {
		key := n.Key.Value
		switch {
		case key == name && (part == "" || part == "request"):
			return e.nodeRecord(key, "request", n.RequestName())
		case key == name && part == "interrupt":
			return e.nodeRecord(key, part, owner)
		case n.RequestName() == owner && !n.Only.Set():
			return e.nodeRecord(key, "request", owner)
		}
	}
	switch owner {
	case "interrupts":
		c := newContainer(e.home(owner, ""), top, owner, owner, "fields")
		c.list = nameList{e.at(owner), top.Follow(owner), "reserved"}
		return c
	case "":
		e.refuseArgumentf("write TYPE.field or NODE.field",
			"a field needs the name of what it belongs to")
	default:
		e.unknown("type or node", owner, e.names("types", "results", "nodes"))
	}
	return nil
}

func (e *change) nodeRecord(node, part, owner string) *container {
	in, shape := e.at("nodes", node), spec.Language().Follow("nodes")
	c := newContainer(in, shape, owner, part, "fields")
	c.list = nameList{in.at(part), shape.Follow(part), "reserved"}
	return c
}

// definition is where something is declared.
type definition struct {
	kind, name, owner string
	at                *pair
	shape             *spec.Shape // of its mapping
	section           string      // the section it is declared in, if it has no owner
	removed           nameList    // of removed names
}

// define finds what a kind and a name mean. It refuses and returns nil if there is no such thing.
func (e *change) define(kind, target string) *definition {
	owner, name := splitName(kind, target)
	if kind == KindStep {
		return e.defineStep(owner, name)
	}
	c := e.container(kind, owner, name)
	if c == nil {
		return nil
	}
	d := &definition{kind: kind, name: name, owner: c.owner, at: c.things().get(name),
		shape: c.entry, section: section(kind), removed: c.list}
	if kind == KindResult {
		d.kind = KindType
	}
	if kind == KindType && d.at == nil {
		d.at, d.section = e.home("results", name).at("results").get(name), "results"
	}
	if d.at != nil {
		return d
	}
	i := slices.IndexFunc(e.spec.Nodes, func(n *spec.Node) bool {
		return kind == KindType && n.RequestName() == name && !n.Only.Set()
	})
	if i < 0 {
		e.unknown(kind, target, c.things().keys())
		return nil
	}
	node := e.spec.Nodes[i].Key
	e.refuse(spec.RuleEditArgument, node.At, "change node "+node.Value+
		", or its request.name by hand",
		"%q is the request of node %q, not a type of types:", name, node.Value)
	return nil
}

// defineStep finds a step, at any depth of loops.
func (e *change) defineStep(flow, name string) *definition {
	in := e.declared(KindFlow, flow)
	if in == nil {
		return nil
	}
	var known []string
	var found *pair
	eachStep(in.at("steps"), func(step *value) {
		id := step.at("step")
		known = append(known, id.name())
		if id.name() == name && name != "" && found == nil {
			found = &pair{key: id, value: step}
		}
	})
	if found == nil {
		e.unknown(KindStep, name, known)
		return nil
	}
	return &definition{kind: KindStep, name: name, owner: flow, at: found,
		shape: spec.Language().Follow("flows", "steps")}
}

// eachStep calls for every step of a list and of the loops in it.
func eachStep(steps *value, do func(step *value)) {
	if steps == nil {
		return
	}
	for _, step := range steps.items {
		do(step)
		eachStep(step.at("do"), do)
	}
}
