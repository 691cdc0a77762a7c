package spec

import (
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/runtime/schema"
)

// lint warns of what is valid but likely to be a mistake.
func (c *checker) lint() {
	c.lintUnused()
	c.lintDocs()
	c.lintEqualDocs()
	c.lintEnds()
	c.lintHidden()
	for _, n := range c.spec.Nodes {
		c.lintBranches(n)
		c.lintWireNames(n)
	}
}

func (c *checker) lintBranches(n *Node) {
	for _, b := range n.Branches {
		to := c.takers[b.Type.Value]
		switch path := n.path() + "/branches/" + b.Key.Value; {
		case to == nil && c.resumes[b.Type.Value] == n:
			c.warn(RuleSelfRoute, path, b.Key.At, "its handler gets the results without a branch: "+
				"they are in Call.Results",
				"branch %q leads node %q back to itself, as what its own dispatch brings back",
				b.Key.Value, n.Key.Value)
		case to == nil:
		case to == n:
			c.warn(RuleSelfRoute, path, b.Key.At, "a model that takes it goes in circles",
				"branch %q leads node %q back to itself", b.Key.Value, n.Key.Value)
		case to.Deprecated.Set() && !n.Deprecated.Set():
			c.warn(RuleDeprecatedUsed, path, b.Key.At, to.Deprecated.Value,
				"branch %q leads to node %q, which is deprecated", b.Key.Value, to.Key.Value).
				relatedf(to.Deprecated.At, "%q is deprecated here", to.Key.Value)
		}
	}
}

// lintUnused reports types and enums that no request, interrupt, routing or result reaches.
func (c *checker) lintUnused() {
	if len(c.spec.Nodes) == 0 && len(c.spec.Flows) == 0 {
		return // which is the mistake
	}
	var from []*decl
	use := func(name string) {
		if d := c.byName[name]; d != nil {
			from = append(from, d)
		}
	}
	useFields := func(fields []*Field) { from = append(from, c.typesOf(fields)...) }
	for _, name := range c.meant {
		use(name)
	}
	if in := c.spec.Interrupts; in != nil {
		use(in.Answer.Value)
		useFields(in.Fields)
	}
	for _, n := range c.spec.Nodes {
		use(n.RequestName())
		use(n.Adapt.Value)
		use(n.Result.Value)
		if n.Dispatch != nil {
			use(n.Dispatch.Results.Value)
		}
		if n.Collect != nil {
			use(n.Collect.Result.Value)
		}
		if n.Interrupt != nil {
			useFields(n.Interrupt.Fields)
		}
		for _, b := range n.Branches {
			use(b.Type.Value)
		}
	}
	for _, a := range c.spec.Actions {
		useFields(a.Inputs)
		useFields(a.Outputs)
	}
	for _, v := range c.spec.Validators {
		useFields([]*Field{{Type: v.Type}})
	}
	for _, f := range c.spec.Flows {
		useFields(f.Slots)
	}
	used := reach(from, func(d *decl) []*decl { return c.typesOf(d.fields) })
	for _, d := range c.decls {
		if !used[d] {
			c.warn(RuleTypeUnused, d.path, d.at, "remove it", "nothing uses %q", d.name)
		}
	}
}

// lintPattern warns of a pattern that schemas cannot carry.
func (c *checker) lintPattern(path string, t Text) {
	if !t.Set() {
		return
	}
	if _, err := regexp.Compile(t.Value); err != nil {
		return // reported while reading
	}
	if piece := schema.GoPattern(t.Value); piece != "" {
		c.warn(RulePatternGo, path, t.At, "write what JavaScript reads too, such as [a-zA-Z]; as "+
			"it is, models are told of it in words and no client checks it",
			"only Go reads %s in a pattern, so no schema can carry it", quoted(piece))
	}
}

// typesOf returns the declared types that fields are made of.
func (c *checker) typesOf(fields []*Field) []*decl {
	var out []*decl
	for _, f := range fields {
		if leaf := f.Type.Leaf(); leaf != nil && leaf.Kind == Named && c.byName[leaf.Name] != nil {
			out = append(out, c.byName[leaf.Name])
		}
	}
	return out
}

// lintDocs reports what a model or a reader would have to guess.
func (c *checker) lintDocs() {
	for _, e := range c.spec.Enums {
		path := "/enums/" + e.Key.Value
		c.lintDoc(e.Doc, e.Key, path, "enum")
		for _, v := range e.Values {
			c.lintDoc(v.Doc, v.Key, path+"/values/"+v.Key.Value, "enum value")
		}
	}
	for _, d := range c.decls {
		if d.typ != nil {
			c.lintDoc(d.typ.Doc, d.typ.Key, d.path, "type")
		}
	}
	for _, o := range c.fieldOwners() {
		c.lintFieldDocs(o.path, o.fields)
	}
	if in := c.spec.Interrupts; in != nil {
		for _, k := range in.Kinds {
			c.lintDoc(k.Doc, k.Key, "/interrupts/kinds/"+k.Key.Value, "interrupt kind")
		}
	}
	for _, n := range c.spec.Nodes {
		c.lintDoc(n.Doc, n.Key, n.path(), "node")
	}
}

func (c *checker) lintDoc(doc, key Text, path, what string) {
	if strings.TrimSpace(doc.Value) == "" {
		c.warn(RuleDocMissing, path, key.At, "add doc: with one sentence", "%s %q has no doc", what,
			key.Value)
	}
}

// lintFieldDocs skips hidden fields: no model reads them.
func (c *checker) lintFieldDocs(path string, fields []*Field) {
	for _, f := range fields {
		switch at := path + "/fields/" + f.Key.Value; {
		case f.Hidden || strings.TrimSpace(f.Doc.Value) != "":
		case f.Optional:
			c.warn(RuleDocOptional, at, f.Key.At, "say in doc: when it is given",
				"optional field %q has no doc", f.Key.Value)
		default:
			c.warn(RuleDocMissing, at, f.Key.At, "add doc: with one sentence",
				"field %q has no doc", f.Key.Value)
		}
	}
}

// lintEqualDocs reports nodes with the same doc, which a model cannot tell apart.
func (c *checker) lintEqualDocs() {
	nodes, routes := map[string]*Node{}, map[string]*Node{}
	for _, n := range c.spec.Nodes {
		c.equalDoc(nodes, n, n.Doc, "doc")
		if n.Route != nil {
			c.equalDoc(routes, n, n.Route.Doc, "route/doc")
		}
	}
}

func (c *checker) equalDoc(seen map[string]*Node, n *Node, doc Text, path string) {
	words := normalDoc(doc.Value)
	if words == "" {
		return
	}
	other := seen[words]
	if other == nil {
		seen[words] = n
		return
	}
	at := other.Doc.At
	if path != "doc" {
		at = other.Route.Doc.At
	}
	c.warn(RuleDocNearEqual, n.path()+"/"+path, doc.At, "say what is different",
		"nodes %q and %q have nearly the same doc", other.Key.Value, n.Key.Value).
		relatedf(at, "the doc of %q is here", other.Key.Value)
}

// normalDoc keeps the words that carry meaning: lower case, no punctuation, no plural, no filler.
func normalDoc(doc string) string {
	const filler = " a an and are as be by for from in into is it its of on or that the then " +
		"this to which with "
	var kept []string
	for _, w := range strings.FieldsFunc(strings.ToLower(doc), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}) {
		if !strings.Contains(filler, " "+w+" ") {
			kept = append(kept, strings.TrimSuffix(w, "s"))
		}
	}
	return strings.Join(kept, " ")
}

// maxWireName is the longest name that every provider takes for a function or a property.
const maxWireName = 64

func (c *checker) lintWireNames(n *Node) {
	long := func(name string, at report.Span, path string) {
		if width := utf8.RuneCountInString(name); width > maxWireName {
			c.warn(RuleWireNameLength, path, at, "shorten it",
				"%q has %d characters; some providers take %d", name, width, maxWireName)
		}
	}
	agentType := n.AgentType
	if !agentType.Set() {
		agentType = Text{Value: snake(n.Key.Value), At: n.Key.At}
	}
	long(agentType.Value, agentType.At, n.path()+"/agent_type")
	if !n.Only.Set() {
		long(n.RequestName(), c.nameAt(n), n.path()+"/request/name")
	}
	for _, b := range n.Branches {
		long(b.JSON.Value, b.JSON.At, n.path()+"/branches/"+b.Key.Value+"/json")
	}
	for _, f := range n.fields() {
		long(f.JSON.Value, f.JSON.At, n.path()+"/request/fields/"+f.Key.Value+"/json")
	}
}

func (c *checker) nameAt(n *Node) report.Span {
	if n.Request != nil && n.Request.Name.Set() {
		return n.Request.Name.At
	}
	return n.Key.At
}

// snake is a node key in the form of an agent type; only its length matters here.
func snake(key string) string {
	var b strings.Builder
	for i, c := range key {
		if i > 0 && unicode.IsUpper(c) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(c))
	}
	return b.String()
}

// longer reports whether both durations are given and the first is the longer one.
func longer(a, b Text) bool {
	x, errX := time.ParseDuration(a.Value)
	y, errY := time.ParseDuration(b.Value)
	return errX == nil && errY == nil && x > y
}
