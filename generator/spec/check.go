package spec

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/routegen/routegen/generator/report"
)

// declKind says what a declared type name is.
type declKind uint8

const (
	declEnum declKind = iota
	declScalar
	declRecord
	declRequest
)

// decl is one name that types can refer to.
type decl struct {
	name   string
	kind   declKind
	at     report.Span
	enum   *Enum
	typ    *Type // of scalars and records
	node   *Node // of requests
	fields []*Field
	path   string
	state  uint8 // of the search for recursion
}

// checker holds what the checks over a whole document share.
type checker struct {
	*reader
	spec      *Spec
	decls     []*decl // in the order of the file
	byName    map[string]*decl
	nodes     map[string]*Node
	takers    map[string]*Node // by type: the node that is activated by it
	resumes   map[string]*Node // by type: the dispatch node that continues with it
	ends      map[string]bool  // types that end a frame
	typeNames []string
	patterns  map[string]*regexp.Regexp
	indexes   map[any]map[string]int // by first member of a long list
	nodeNames []string
	unread    map[string]bool // paths of keys, see misread
	meant     []string        // types that misspelled names most likely mean
}

// RequestName returns the name of the node's request type as the spec refers to it.
func (n *Node) RequestName() string {
	if n.Request != nil && n.Request.Name.Set() {
		return n.Request.Name.Value
	}
	return n.stem() + "Request"
}

// InterruptName returns the name of the node's interrupt request type as the spec refers to it.
func (n *Node) InterruptName() string {
	if n.Interrupt != nil && n.Interrupt.Name.Set() {
		return n.Interrupt.Name.Value
	}
	return n.stem() + "InterruptRequest"
}

// HasRoute reports whether the node can be returned to after an interrupt.
func (n *Node) HasRoute() bool {
	return !n.Only.Set() && (n.Route == nil || !n.Route.None)
}

func (n *Node) stem() string {
	if n.GoName.Set() {
		return n.GoName.Value
	}
	return GoName(n.Key.Value)
}

func (n *Node) fields() []*Field {
	if n.Request == nil {
		return nil
	}
	return n.Request.Fields
}

func (n *Node) path() string { return "/nodes/" + pointerEscape(n.Key.Value) }

func pointerEscape(part string) string {
	if !strings.ContainsAny(part, "~/") {
		return part
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(part)
}

// fail reports an error at a path.
func (c *checker) fail(rule, path string, at report.Span, hint, format string, args ...any) draft {
	f := c.reportAt(rule, at, hint, format, args...)
	f.Path = path
	return f
}

// warn reports a warning at a path.
func (c *checker) warn(rule, path string, at report.Span, hint, format string, args ...any) draft {
	f := c.fail(rule, path, at, hint, format, args...)
	f.Severity = report.Warning
	return f
}

func newChecker(r *reader, s *Spec) *checker {
	return &checker{reader: r, spec: s, byName: map[string]*decl{}, nodes: map[string]*Node{},
		takers: map[string]*Node{}, resumes: map[string]*Node{}, ends: map[string]bool{},
		indexes:  map[any]map[string]int{},
		patterns: map[string]*regexp.Regexp{}}
}

// check runs every check over a decoded document.
func check(r *reader, s *Spec) {
	c := newChecker(r, s)
	for _, n := range s.Nodes {
		if n.Request == nil && !n.Only.Set() {
			// one without fields: what activates a node has a type
			n.Request = &Request{At: n.Key.At}
		}
	}
	c.indexTypes()
	c.indexNodes()
	c.checkRemoved()
	c.checkTypes()
	c.checkRecursion()
	c.checkNesting()
	c.checkInterrupts()
	for _, n := range s.Nodes {
		c.checkNode(n)
	}
	c.checkEntry()
	c.checkEscalates()
	c.checkReached()
	c.checkFlows()
	c.lint()
}

// indexTypes collects the names that types can refer to. A name is declared once.
func (c *checker) indexTypes() {
	for _, e := range c.spec.Enums {
		c.declare(&decl{kind: declEnum, name: e.Key.Value, at: e.Key.At, enum: e,
			path: "/enums/" + e.Key.Value})
	}
	for i, list := range [][]*Type{c.spec.Types, c.spec.Results} {
		section := [...]string{"/types/", "/results/"}[i]
		for _, t := range list {
			d := &decl{kind: declRecord, name: t.Key.Value, at: t.Key.At, typ: t, fields: t.Fields,
				path: section + t.Key.Value}
			if t.Scalar != nil {
				d.kind = declScalar
			}
			c.declare(d)
			if i == 1 {
				c.ends[t.Key.Value] = true
			}
		}
	}
	for _, n := range c.spec.Nodes {
		if n.Only.Set() {
			continue
		}
		at := n.Key.At
		if n.Request != nil && n.Request.Name.Set() {
			at = n.Request.Name.At
		}
		c.declare(&decl{kind: declRequest, name: n.RequestName(), at: at, node: n,
			fields: n.fields(), path: n.path() + "/request"})
	}
	for _, d := range c.decls {
		c.typeNames = append(c.typeNames, d.name)
	}
}

func (c *checker) declare(d *decl) {
	if other := c.byName[d.name]; other != nil {
		c.fail(RuleNameCollision, d.path, d.at, "rename one of them", "%q is declared twice",
			d.name).relatedf(other.at, "%q is first declared here", d.name)
		return
	}
	c.byName[d.name] = d
	c.decls = append(c.decls, d)
}

// indexNodes collects which node takes and which returns each type.
func (c *checker) indexNodes() {
	for _, n := range c.spec.Nodes {
		c.nodes[n.Key.Value] = n
		c.nodeNames = append(c.nodeNames, n.Key.Value)
		if !n.Only.Set() {
			c.takers[n.RequestName()] = n
		}
		if n.Adapt.Set() && c.typeRef(n.Adapt, n.path()+"/adapt/from") != nil {
			if other := c.takers[n.Adapt.Value]; other != nil {
				c.fail(RuleConflict, n.path()+"/adapt/from", n.Adapt.At, "let one node take it",
					"%q is taken by node %q already", n.Adapt.Value, other.Key.Value)
			} else {
				c.takers[n.Adapt.Value] = n
			}
		}
		if n.Result.Set() && c.typeRef(n.Result, n.path()+"/result") != nil {
			c.ends[n.Result.Value] = true
		}
		if d := n.Dispatch; d != nil && d.Results.Set() &&
			c.typeRef(d.Results, n.path()+"/dispatch/results") != nil {
			c.resumes[d.Results.Value] = n
		}
		if k := n.Collect; k != nil && k.Result.Set() &&
			c.typeRef(k.Result, n.path()+"/collect/result") != nil {
			c.ends[k.Result.Value] = true
		}
	}
}

// typeRef returns the type that a key names, or reports that it is not declared.
func (c *checker) typeRef(t Text, path string) *decl {
	if !t.Set() {
		return nil
	}
	if d := c.byName[t.Value]; d != nil {
		return d
	}
	c.unknown(RuleRefType, "type", t.Value, t.At, path, c.typeNames)
	return nil
}

// nodeRef returns the node that a key names, or reports that it is not declared.
func (c *checker) nodeRef(t Text, path string) *Node {
	if !t.Set() {
		return nil
	}
	if n := c.nodes[t.Value]; n != nil {
		return n
	}
	c.unknown(RuleRefNode, "node", t.Value, t.At, path, c.nodeNames)
	return nil
}

// unknown reports a reference to something that is not declared, with the nearest name.
func (c *checker) unknown(rule, what, name string, at report.Span, path string,
	candidates []string) {
	if name == "" {
		c.fail(rule, path, at, "name one, or leave the key out", "the name of the %s is empty",
			what)
		return
	}
	if isOutside(name) || strings.ContainsRune(name, '/') {
		c.fail(RuleRefOutside, path, at, "declare it in this file", "%q points outside the spec",
			name)
		return
	}
	f := c.failNear(rule, path, Text{Value: name, At: at}, candidates, missing(rule, name),
		"%s %q is not declared", what, name)
	if len(f.Fixes) == 0 {
		return
	}
	near := f.Fixes[0].Edits[0].Text
	if d := c.byName[near]; d != nil && rule == RuleRefType {
		c.meant = append(c.meant, near)
		f.relatedf(d.at, "%q is declared here", near)
	} else if n := c.nodes[near]; n != nil && rule == RuleRefNode {
		f.relatedf(n.Key.At, "%q is declared here", near)
	}
}

// failNear reports a name that is not among the candidates. The hint is the nearest of them, or
// else the other one.
func (c *checker) failNear(rule, path string, name Text, candidates []string, otherwise,
	format string, args ...any) draft {
	near := c.nearest(name.Value, candidates)
	f := c.fail(rule, path, name.At, cmp.Or(didYouMean(near), otherwise), format, args...)
	if near != "" {
		f.replace(near)
	}
	return f
}

// missing says what to do about a name that nothing is near to: a node that was removed, or is
// still to be written.
func missing(rule, name string) string {
	key, request := strings.CutSuffix(name, "Request")
	switch {
	case rule == RuleRefNode:
		return "add it under nodes:, or remove what names it"
	case rule != RuleRefType:
		return ""
	case request && key != "":
		return "add the node that takes it, or remove what names it"
	default:
		return "declare it under types:, results: or enums:, or remove what names it"
	}
}

// misread reports whether the key at a path was written, or was to be written, and could not be
// read: then it is not missing as well.
func (c *checker) misread(path string) bool {
	if c.unread == nil {
		c.unread = make(map[string]bool, len(c.findings))
		for i := range c.findings {
			c.unreadOf(&c.findings[i])
		}
	}
	return c.unread[path] || c.unread[path[:strings.LastIndexByte(path, '/')]+anyKey]
}

// anyKey stands for the key that an unknown one was meant to be.
const anyKey = "/*"

// unreadOf notes the keys that a finding is about: the one that is meant, or its own and those
// around it.
func (c *checker) unreadOf(f *report.Finding) {
	at := f.Path
	switch {
	case f.Rule == RuleUnknownKey && len(f.Fixes) > 0:
		at += "/" + f.Fixes[0].Edits[0].Text
	case f.Rule == RuleMissingKey:
		key, _, _ := strings.Cut(f.Hint, ":")
		at += "/" + key
	case f.Rule == RuleUnknownKey:
		at += anyKey
	}
	for at != "" && !c.unread[at] {
		c.unread[at] = true
		at = at[:strings.LastIndexByte(at, '/')]
	}
}

func (f *Field) key() string         { return f.Key.Value }
func (b *Branch) key() string        { return b.Key.Value }
func (v *EnumValue) key() string     { return v.Key.Value }
func (k *InterruptKind) key() string { return k.Key.Value }

func (f *Field) at() report.Span         { return f.Key.At }
func (b *Branch) at() report.Span        { return b.Key.At }
func (v *EnumValue) at() report.Span     { return v.Key.At }
func (k *InterruptKind) at() report.Span { return k.Key.At }

// keyed is a member of a list that is looked up by name.
type keyed interface {
	comparable
	key() string
	at() report.Span
}

// find returns the member of that name, or the zero member. Long lists get an index, so that no
// file is slow to check.
func find[T keyed](c *checker, list []T, name string) (found T) {
	if len(list) <= 32 {
		for _, m := range list {
			if m.key() == name {
				return m
			}
		}
		return found
	}
	index := c.indexes[list[0]]
	if index == nil {
		index = make(map[string]int, len(list))
		for i, m := range list {
			index[m.key()] = i
		}
		c.indexes[list[0]] = index
	}
	if i, ok := index[name]; ok {
		return list[i]
	}
	return found
}

// nearestOf returns the name of the member that was most likely meant, or "".
func nearestOf[T keyed](c *checker, list []T, name string) string {
	return c.nearest(name, candidatesOf(c, list))
}

// candidatesOf returns as many names of members as a suggestion may look at.
func candidatesOf[T keyed](c *checker, list []T) []string {
	return names(list[:min(len(list), c.candidates())])
}

func names[T keyed](list []T) []string {
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = m.key()
	}
	return out
}
