package schema

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// form says where schemas stand in the value of a keyword.
type form uint8

const (
	data     form = iota // nowhere: it is data, whatever it looks like
	single               // the value is one
	several              // each item of the array is one
	either               // one of the two
	byName               // each member of the object is one
	defining             // as byName, and it counts only when it is referred to
)

// formOf goes by the keyword alone: it is called for keywords only, never for names of properties.
func formOf(keyword string) form {
	switch keyword {
	case "not", "if", "then", "else", "contains", "additionalItems", "additionalProperties", "propertyNames", "unevaluatedItems",
		"unevaluatedProperties", "contentSchema":
		return single
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return several
	case "items":
		return either
	case "properties", "patternProperties", "dependentSchemas", "dependencies":
		return byName
	case "$defs", "definitions":
		return defining
	}
	return data
}

// inPlace reports whether the schemas of a keyword speak of the same value as the schema that has it.
func inPlace(keyword string) bool {
	switch keyword {
	case "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies":
		return true
	}
	return false
}

// place is one schema and where it stands.
type place struct {
	v          *Value
	parent     *place // the schema around it, nil for the root
	under      string // the keyword it stands in
	name       string // its key or number there, "" for neither
	path       string // for a place that only a reference knows: its pointer
	children   []*place
	refs       []reference
	base       *url.URL
	id         *place // root of its resource
	legacy     bool   // $ref hides what stands beside it
	definition bool
	resolved   bool

	live     bool     // it can be reached
	drops    []string // properties it loses
	required bool     // one of them was required
	bare     bool     // they are all it had
	emptied  bool     // and nothing else can be filled in
	dirty    bool     // it is written anew
}

// reference is one $ref or $dynamicRef.
type reference struct {
	keyword string
	text    string
	dynamic bool
	to      *place
	also    []*place // where a dynamic one may lead besides
}

// scan is a document taken apart once.
type scan struct {
	root    *place
	places  []*place            // in the order of the document
	ids     map[string]*place   // roots of resources by URI
	anchors map[string]*place   // by URI and fragment
	dynamic map[string][]*place // by name
	defs    map[definition]*place
	targets map[target]*place
	after   bool // properties were dropped and do not lead on
	memory  *memory
}

// definition is where a definition of a resource stands, target a reference as it is written inside a resource.
type (
	definition struct {
		id            *place
		keyword, name string
	}
	target struct {
		id   *place
		text string
	}
)

func newScan(root *Value, size int, into *memory) *scan {
	const some = 256 // bytes of a schema that has a name, roughly
	s := &scan{memory: into, places: into.order, defs: make(map[definition]*place, size/some), targets: make(map[target]*place, size/some), ids: map[string]*place{}, anchors: map[string]*place{}, dynamic: map[string][]*place{}}
	draft := root.Get("$schema").text()
	p := s.add(root, nil)
	p.base = &url.URL{}
	p.id = p
	for _, old := range []string{"draft-03", "draft-04", "draft-06", "draft-07"} {
		p.legacy = p.legacy || strings.Contains(draft, old)
	}
	s.root = p
	s.ids[""] = p
	s.enter(p)
	return s
}

func (s *scan) add(v *Value, parent *place) *place {
	p := &s.memory.places.take(1, 64)[0]
	p.v, p.parent = v, parent
	if parent != nil {
		p.base, p.id, p.legacy = parent.base, parent.id, parent.legacy
	}
	s.places, v.at = append(s.places, p), p
	return p
}

// enter reads a schema's own names and walks the schemas inside it, by the place of a keyword and never by a name alone.
func (s *scan) enter(p *place) {
	if p.v.Kind != Object {
		return
	}
	hides := p.legacy && p.v.Get("$ref") != nil
	if !hides {
		s.identify(p)
	}
	for _, m := range p.v.Members {
		if m.Value.Kind == String {
			switch m.Key {
			case "$ref":
				p.refs = s.refer(p.refs, reference{keyword: m.Key, text: m.Value.Text})
			case "$dynamicRef", "$recursiveRef":
				p.refs = s.refer(p.refs, reference{keyword: m.Key, text: m.Value.Text, dynamic: true})
			}
			continue
		}
		if kind := formOf(m.Key); !hides || kind == defining {
			s.inside(p, m, kind)
		}
	}
}

// refer adds a reference. Nearly every schema has one at most, and memory is taken for many at once.
func (s *scan) refer(to []reference, r reference) []reference {
	if len(to) > 0 {
		return append(to, r)
	}
	out := s.memory.links.take(1, 32)
	out[0] = r
	return out
}

// inside walks the schemas in the value of a keyword. A value of the wrong kind holds none.
func (s *scan) inside(p *place, m Member, kind form) {
	switch {
	case kind == single, kind == either && m.Value.Kind != Array:
		s.child(p, m.Key, "", m.Value)
	case (kind == several || kind == either) && m.Value.Kind == Array:
		p.children = slices.Grow(p.children, len(m.Value.Members))
		for i, item := range m.Value.Members {
			s.child(p, m.Key, strconv.Itoa(i), item.Value)
		}
	case (kind == byName || kind == defining) && m.Value.Kind == Object:
		p.children = slices.Grow(p.children, len(m.Value.Members))
		for _, named := range m.Value.Members {
			if named.Value.Kind == Array {
				continue // "dependencies" of old may list names
			}
			c := s.child(p, m.Key, named.Key, named.Value)
			if c.definition = kind == defining; c.definition && p == p.id {
				s.defs[definition{p, m.Key, named.Key}] = c
			}
		}
	}
}

func (s *scan) child(p *place, keyword, name string, v *Value) *place {
	c := s.add(v, p)
	c.under, c.name = keyword, name
	p.children = append(p.children, c)
	s.enter(c)
	return c
}

// identify notes the URI and the anchors of a schema. An id that is no URI names nothing.
func (s *scan) identify(p *place) {
	anchored := false
	for _, m := range p.v.Members {
		switch {
		case m.Key == "$anchor" || m.Key == "$dynamicAnchor":
			anchored = true
		case m.Key == "$id" || m.Key == "id" && p.legacy:
			u, err := url.Parse(m.Value.text())
			if m.Value.Kind != String || err != nil {
				continue
			}
			if fragment := u.Fragment; fragment != "" && u.Scheme == "" && u.Host == "" && u.Path == "" {
				s.anchors[uri(p.base)+"#"+fragment] = p // an anchor, as draft 6 and 7 write it
				continue
			}
			p.base, p.id = p.base.ResolveReference(u), p
			s.ids[uri(p.base)] = p
		case m.Key == "$recursiveAnchor" && m.Value.Text == "true":
			s.dynamic[""] = append(s.dynamic[""], p)
		}
	}
	if !anchored {
		return
	}
	for _, m := range p.v.Members { // after the id, whose resource they belong to
		if m.Value.Kind != String || m.Key != "$anchor" && m.Key != "$dynamicAnchor" {
			continue
		}
		s.anchors[uri(p.base)+"#"+m.Value.Text] = p
		if m.Key == "$dynamicAnchor" {
			s.dynamic[m.Value.Text] = append(s.dynamic[m.Value.Text], p)
		}
	}
}

// uri returns a URI without its fragment.
func uri(u *url.URL) string {
	whole := *u
	whole.Fragment, whole.RawFragment = "", ""
	return whole.String()
}

// keyword returns the value of a keyword that counts: up to draft 7 nothing beside $ref does.
func (p *place) keyword(name string) *Value {
	if p.legacy && p.v.Get("$ref") != nil {
		return nil
	}
	return p.v.Get(name)
}

// pointer returns the JSON pointer to a place.
func (p *place) pointer() string {
	switch {
	case p.path != "":
		return p.path
	case p.parent == nil:
		return ""
	case p.name == "" && formOf(p.under) != byName && formOf(p.under) != defining:
		return p.parent.pointer() + "/" + p.under
	}
	return p.parent.pointer() + "/" + escape(p.under) + "/" + escape(p.name)
}
