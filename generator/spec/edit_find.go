package spec

import (
	"slices"
	"strings"
)

// definition is where something is declared.
type definition struct {
	kind  string
	name  string
	at    *member
	shape *shape // of its mapping
	owner string // as uses know it
	home  string // nodes/planning, for what stands at the top
	keeps *place // the mapping that keeps a list of removed names
	of    *shape // of keeps
	gone  string // the key of that list
}

// container is a mapping of named things: where it is, or the way to where it has to be made.
type container struct {
	base  *place // the innermost mapping that is there
	shape *shape // of base
	path  []string
	entry *shape // of one thing in it
	owner string
	keeps *place
	of    *shape
	gone  string // reserved, or another key where that one speaks of something else
	home  string // nodes, for what stands at the top
}

// keyed returns the table row of a key; nil when the shape has none of that name.
func (s *shape) keyed(name string) *keyInfo {
	for i := range s.keys {
		if s.keys[i].name == name {
			return &s.keys[i]
		}
	}
	return nil
}

// follow returns the shape behind a path of keys.
func (s *shape) follow(path ...string) *shape {
	for _, name := range path {
		info := s.keyed(name)
		if info == nil {
			return s
		}
		s = info.of
	}
	return s
}

// section returns the key of the document under which a kind stands; "" for what belongs to something else.
func section(kind string) string {
	return map[string]string{
		EditNode: "nodes", EditType: "types", EditEnding: "results", EditEnum: "enums", EditFlow: "flows", EditAction: "actions", EditValidator: "validators",
	}[kind]
}

// container finds the mapping in which things of a kind stand; owner is what they belong to. Findings say why there is none.
func (e *edition) container(kind, owner string) (*container, []Finding) {
	top := language().shape
	c := &container{base: e.root, shape: top, gone: "reserved"}
	switch kind {
	case EditNode, EditType, EditEnding, EditEnum, EditFlow, EditAction, EditValidator:
		c.path, c.home, c.keeps, c.of = []string{section(kind)}, section(kind), e.root, top
	case EditKind:
		c.path, c.keeps, c.of, c.gone = []string{"interrupts", "kinds"}, e.root.at("interrupts"), top.follow("interrupts"), "reserved_kinds"
	case EditField:
		return e.record(owner)
	case EditBranch:
		m, bad := e.top(EditNode, owner)
		if m == nil {
			return nil, bad
		}
		c.base, c.shape, c.path, c.owner = m.value, top.follow("nodes"), []string{"branches"}, owner
		c.keeps, c.of = c.base, c.shape
	case EditSlot:
		m, bad := e.top(EditFlow, owner)
		if m == nil {
			return nil, bad
		}
		c.base, c.shape, c.path, c.owner = m.value, top.follow("flows"), []string{"slots"}, owner
		c.keeps, c.of = c.base, c.shape
	case EditStep:
		return nil, e.noSteps()
	case EditValue:
		m, bad := e.top(EditEnum, owner)
		if m == nil {
			return nil, bad
		}
		c.base, c.shape, c.path, c.owner = m.value, top.follow("enums"), []string{"values"}, owner
		c.keeps, c.of = c.base, c.shape
	default:
		return nil, e.unknownWord("kind of thing", kind, EditKinds())
	}
	c.entry = c.shape.follow(c.path...)
	c.descend()
	return c, nil
}

// descend steps into what is there already.
func (c *container) descend() {
	for len(c.path) > 0 {
		m := c.base.get(c.path[0])
		if m == nil {
			return
		}
		c.base, c.shape, c.path = m.value, c.shape.follow(c.path[0]), c.path[1:]
	}
}

// list returns the mapping itself; nil when it has to be made.
func (c *container) list() *place {
	if len(c.path) > 0 {
		return nil
	}
	return c.base
}

// record finds the fields of a type, of a node's request or interrupt, or of all interrupts.
func (e *edition) record(owner string) (*container, []Finding) {
	top := language().shape
	c := &container{path: []string{"fields"}, owner: owner, gone: "reserved"}
	node, part, _ := strings.Cut(owner, ".")
	switch {
	case e.root.at("nodes").get(node) != nil && (part == "" || part == "interrupt" || part == "request"):
		at := e.root.at("nodes", node)
		if part == "" {
			part = "request"
		}
		c.base, c.shape, c.path = at, top.follow("nodes"), []string{part, "fields"}
		if i := slices.IndexFunc(e.spec.Nodes, func(n *Node) bool { return n.Key.Value == node }); i >= 0 && part == "request" {
			c.owner = e.spec.Nodes[i].RequestName()
		}
		if inner := at.at(part); inner != nil {
			c.keeps, c.of = inner, top.follow("nodes", part)
		}
	case owner == "interrupts":
		c.base, c.shape, c.path = e.root, top, []string{"interrupts", "fields"}
		c.keeps, c.of = e.root.at("interrupts"), top.follow("interrupts")
	case e.root.at("types").get(owner) != nil:
		c.base, c.shape = e.root.at("types", owner), top.follow("types")
		c.keeps, c.of = c.base, c.shape
	case e.root.at("results").get(owner) != nil:
		c.base, c.shape = e.root.at("results", owner), top.follow("results")
		c.keeps, c.of = c.base, c.shape
	default:
		for _, n := range e.spec.Nodes {
			if n.RequestName() == owner && !n.Only.Set() {
				return e.record(n.Key.Value)
			}
		}
		if owner == "" {
			return nil, e.refuse(RuleEditArgument, Span{}, "write TYPE.field or NODE.field", "a field needs the name of what it belongs to")
		}
		return nil, e.unknownWord("type or node", owner, append(e.names("types", "results"), e.names("nodes")...))
	}
	c.entry = c.shape.follow(c.path...)
	c.descend()
	return c, nil
}

// names lists what is declared in sections.
func (e *edition) names(sections ...string) []string {
	var out []string
	for _, s := range sections {
		for _, m := range e.root.at(s).members() {
			out = append(out, m.key.name())
		}
	}
	return out
}

// top finds something that stands in a section of the document.
func (e *edition) top(kind, name string) (*member, []Finding) {
	sections := []string{section(kind)}
	if kind == EditType || kind == EditEnding {
		sections = []string{"types", "results"}
	}
	for _, s := range sections {
		if m := e.root.at(s).get(name); m != nil {
			return m, nil
		}
	}
	if name == "" {
		return nil, e.refuse(RuleEditArgument, Span{}, "write OWNER.NAME", "the name of the %s is missing", kind)
	}
	return nil, e.unknownWord(kind, name, e.names(sections...))
}

func (e *edition) unknownWord(what, word string, known []string) []Finding {
	hint := didYouMean(nearest(word, known))
	if hint == "" && len(known) > 0 {
		hint = "there is " + strings.Join(known[:min(len(known), 8)], ", ")
	}
	return e.refuse(RuleEditArgument, Span{}, hint, "there is no %s %q", what, word)
}

// hasOwner reports whether things of a kind are named OWNER.NAME.
func hasOwner(kind string) bool {
	return slices.Contains([]string{EditField, EditBranch, EditValue, EditSlot, EditStep}, kind)
}

func (e *edition) noSteps() []Finding {
	return e.refuse(RuleEditArgument, Span{}, "write it by hand: where it stands among the others is what it means", "a step can be renamed, but not added or removed by name")
}

// defineStep finds a step, at whatever depth of loops it stands.
func (e *edition) defineStep(owner, name string) (*definition, []Finding) {
	m, bad := e.top(EditFlow, owner)
	if m == nil {
		return nil, bad
	}
	var known []string
	var found *member
	var look func(list *place)
	look = func(list *place) {
		for _, step := range list.list() {
			id := step.at("step")
			known = append(known, id.name())
			if id.name() == name && name != "" && found == nil {
				found = &member{key: id, value: step}
			}
			look(step.at("do"))
		}
	}
	look(m.value.at("steps"))
	if found == nil {
		return nil, e.unknownWord(EditStep, name, known)
	}
	return &definition{kind: EditStep, name: name, at: found, shape: stepGrammar().shape, owner: owner}, nil
}

// define finds what a target names. Findings say why it is not there.
func (e *edition) define(kind, target string) (*definition, []Finding) {
	owner, name := "", target
	if hasOwner(kind) {
		owner, name = splitTarget(kind, target)
	}
	if kind == EditStep {
		return e.defineStep(owner, name)
	}
	c, bad := e.container(kind, owner)
	if c == nil {
		return nil, bad
	}
	m := c.list().get(name)
	home := c.home
	if kind == EditType && m == nil {
		m, home = e.root.at("results").get(name), "results"
	}
	if m == nil {
		var known []string
		for _, other := range c.list().members() {
			known = append(known, other.key.name())
		}
		for _, n := range e.spec.Nodes {
			if kind == EditType && n.RequestName() == name && !n.Only.Set() {
				return nil, e.refuse(RuleEditArgument, n.Key.At, "change node "+n.Key.Value+", or its request.name by hand", "%q is the request of node %q, not a type of types:", name, n.Key.Value)
			}
		}
		return nil, e.unknownWord(kind, target, known)
	}
	d := &definition{kind: kind, name: name, at: m, shape: c.entry, owner: c.owner, keeps: c.keeps, of: c.of, gone: c.gone}
	if home != "" {
		d.home = home + "/" + name
	}
	return d, nil
}

// spot returns where a key belongs in a mapping: behind the last key that the grammar has before it.
func (s *shape) spot(p *place, key string) int {
	rank := func(name string) int { return slices.IndexFunc(s.keys, func(k keyInfo) bool { return k.name == name }) }
	own, at := rank(key), 0
	for i, m := range p.pairs {
		if r := rank(m.key.name()); r >= 0 && r < own {
			at = i + 1
		}
	}
	return at
}

// list appends a name to the list below a key, which is made in its place where there is none.
func (e *edition) list(p *place, s *shape, key, name string) {
	if m := p.get(key); m != nil {
		for _, item := range m.value.items {
			if item.name() == name {
				return
			}
		}
		e.push(m.value, name)
		return
	}
	e.insert(p, s.spot(p, key), key, freshTexts(name))
}
