package schema

import (
	"cmp"
	"slices"

	"github.com/routegen/routegen/runtime"
)

// Property is one property of an object schema, offered to the question whether to drop it. It is there for that question only: keep neither it
// nor its Schema.
type Property struct {
	Name   string
	Schema *Value // as the object declares it, a reference not followed

	object *place
}

// Pointer returns the JSON pointer to the property's schema.
func (p Property) Pointer() string { return p.object.pointer() + "/properties/" + escape(p.Name) }

// Named returns the question that drops properties of these names, wherever they stand.
func Named(names ...string) func(Property) bool {
	return func(p Property) bool { return slices.Contains(names, p.Name) }
}

// Marked returns the question that drops properties whose own schema has this keyword with one of these values: true, or a text.
func Marked(keyword string, values ...string) func(Property) bool {
	return func(p Property) bool {
		mark := p.Schema.Get(keyword)
		return mark != nil && slices.Contains(values, mark.Text)
	}
}

// Why a schema is not narrowed, for programs.
const (
	OpenObject   = "open_object"   // the object takes unknown keys, so the property would still be taken
	Pattern      = "pattern"       // a pattern of the object takes the name
	Needed       = "needed"        // another keyword speaks of the property
	Negated      = "negated"       // it stands below not, if or contains, where dropping it lets more through
	Overlap      = "overlap"       // branches of a oneOf could no longer be told apart
	Nothing      = "nothing"       // nothing could be filled in any more
	ExternalRef  = "external_ref"  // a reference leads out of the document
	DanglingRef  = "dangling_ref"  // a reference leads nowhere, or to what was dropped
	UnknownPlace = "unknown_place" // the object stands below a keyword that is none of JSON Schema
)

// NarrowError says what keeps a schema from being narrowed.
type NarrowError struct {
	Rule    string // one of the constants of this package
	Pointer string // JSON pointer into the schema to what is in the way
	Reason  string
}

// Error says where and why.
func (e *NarrowError) Error() string {
	return "at " + cmp.Or(e.Pointer, "the root") + " (" + e.Rule + "): " + e.Reason
}

// Narrow returns a schema, compact and in the same key order, without the properties that drop says yes to, at any depth. It takes their
// names out of required, removes a union's branch that is an object and loses all its properties, and prunes exactly the definitions that cannot be reached
// any more, by reference, anchor, dynamic anchor or id. It accepts what the original accepts and has none of the dropped properties, where
// a required one that was dropped is no longer missed; the narrowed schema of a narrowed schema is that of both.
//
// What cannot be narrowed without a change of meaning is refused with [runtime.CodeInvalid] and a [NarrowError], and so is a document whose
// references lead out of it. What is no JSON is refused as [Parse] does. drop is asked once for each property that can be reached, in the
// order of the document. Where nothing is dropped, pruning is all that is done. A document without $schema is read as draft 2020-12; up to
// draft 7 keywords beside $ref are left as they are.
func Narrow(document []byte, drop func(Property) bool) ([]byte, error) {
	into := memories.Get().(*memory) //nolint:forcetypeassert // the pool holds nothing else
	defer into.release(len(document))
	root, err := parse(document, into)
	if err != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalid, Op: "narrow schema", Err: err}
	}
	n := &narrowing{scan: newScan(root, len(document), into), seen: map[*place]bool{}, left: map[*place]bool{}}
	bad := n.run(drop)
	into.order = n.places // it has grown
	if bad != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalid, Op: "narrow schema", Err: bad}
	}
	return n.rebuild(n.root).append(make([]byte, 0, len(document))), nil
}

// narrowing is one document on its way.
type narrowing struct {
	*scan
	dropped []*place            // objects that lose properties
	from    map[*place][]*place // by place, what refers to it
	seen    map[*place]bool     // by needed, for one object: what was looked at,
	left    map[*place]bool     // and from where it looked around
}

func (n *narrowing) run(drop func(Property) bool) *NarrowError {
	if bad := n.reach(nil, n.root); bad != nil {
		return bad
	}
	for _, p := range slices.Clone(n.places) { // asked before anything is pruned, in the order of the document
		if p.live {
			n.ask(p, drop)
		}
	}
	if len(n.dropped) > 0 {
		for _, p := range n.places {
			p.live = false
		}
		n.after = true
		if bad := n.reach(nil, n.root); bad != nil {
			return bad
		}
		n.dropped = slices.DeleteFunc(n.dropped, func(p *place) bool { return !p.live })
		if bad := n.safe(); bad != nil {
			return bad
		}
	}
	for _, p := range n.places {
		if p.live {
			n.markPruned(p)
		}
	}
	return nil
}

// ask finds the properties of an object that go.
func (n *narrowing) ask(p *place, drop func(Property) bool) {
	properties := p.keyword("properties")
	if properties == nil || properties.Kind != Object {
		return
	}
	for _, m := range properties.Members {
		if drop(Property{m.Key, m.Value, p}) {
			p.drops = append(p.drops, m.Key)
		}
	}
	if len(p.drops) == 0 {
		return
	}
	p.required = slices.ContainsFunc(p.drops, func(name string) bool { return hasText(p.v.Get("required"), name) })
	p.bare = len(p.drops) == len(properties.Members)
	p.emptied = p.bare && p.v.Get("type").text() == "object" && p.v.Get("patternProperties") == nil
	n.dropped = append(n.dropped, p)
	p.touch()
}

// hasText reports whether an array holds a text.
func hasText(list *Value, text string) bool {
	for _, m := range list.list() {
		if m.Value.Kind == String && m.Value.Text == text {
			return true
		}
	}
	return false
}

// touch marks a place, and what holds it, to be written anew.
func (p *place) touch() {
	for ; p != nil && !p.dirty; p = p.parent {
		p.dirty = true
	}
}

// markPruned marks a live place that loses a definition or a branch.
func (n *narrowing) markPruned(p *place) {
	for _, child := range p.children {
		if child.definition && !child.live || n.gone(child) {
			p.touch()
		}
	}
}

// gone reports whether a place is a branch of a union that lost all its properties.
func (s *scan) gone(p *place) bool {
	if p.under != "anyOf" && p.under != "oneOf" {
		return false
	}
	for range len(s.places) { // references could lead round in a ring
		if p.emptied {
			return true
		}
		if len(p.v.Members) != 1 || len(p.refs) != 1 || p.refs[0].dynamic {
			return false
		}
		if p = p.refs[0].to; p == nil {
			return false
		}
	}
	return false
}

// rebuild returns the value of a place as it is in the end. What does not change is shared.
func (n *narrowing) rebuild(p *place) *Value {
	if !p.dirty {
		return p.v
	}
	out := &Value{Kind: p.v.Kind, Members: make([]Member, 0, len(p.v.Members))}
	for _, m := range p.v.Members {
		if v := n.keywordAfter(p, m.Key, m.Value); v != nil {
			out.Members = append(out.Members, Member{m.Key, v})
		}
	}
	return out
}

// keywordAfter returns the value that a keyword has in the end, nil when it goes.
func (n *narrowing) keywordAfter(p *place, keyword string, v *Value) *Value {
	switch keyword {
	case "required", "propertyOrdering":
		return without(v, func(m Member) bool { return m.Value.Kind == String && slices.Contains(p.drops, m.Value.Text) })
	case "dependentRequired":
		return without(v, func(m Member) bool { return slices.Contains(p.drops, m.Key) })
	case "dependentSchemas", "dependencies":
		v = without(v, func(m Member) bool { return slices.Contains(p.drops, m.Key) })
	case "properties":
		v = without(v, func(m Member) bool { return slices.Contains(p.drops, m.Key) })
	case "$defs", "definitions":
		before := len(v.Members)
		v = without(v, func(m Member) bool { at := m.Value.at; return at != nil && at.definition && !at.live })
		if before > 0 && len(v.Members) == 0 {
			return nil
		}
	case "anyOf", "oneOf":
		v = without(v, func(m Member) bool { at := m.Value.at; return at != nil && n.gone(at) })
	}
	return n.parts(p, keyword, v)
}

// parts rebuilds the schemas in a keyword's value, which are the value itself or its members.
func (n *narrowing) parts(p *place, keyword string, v *Value) *Value {
	if formOf(keyword) == data {
		return v
	}
	if at := v.at; at != nil && at.parent == p {
		return n.rebuild(at)
	}
	var out *Value
	for i, m := range v.Members {
		at := m.Value.at
		if at == nil || !at.dirty || at.parent != p {
			continue
		}
		if out == nil {
			out = &Value{Kind: v.Kind, Members: slices.Clone(v.Members)}
		}
		out.Members[i].Value = n.rebuild(at)
	}
	if out == nil {
		return v
	}
	return out
}

// without returns a value without some of its members, itself when it has none of them.
func without(v *Value, goes func(Member) bool) *Value {
	if !slices.ContainsFunc(v.Members, goes) {
		return v
	}
	return &Value{Kind: v.Kind, Members: slices.DeleteFunc(slices.Clone(v.Members), goes)}
}
