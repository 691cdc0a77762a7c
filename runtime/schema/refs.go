package schema

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// reach marks everything that counts from a place on. from is the schema with the reference that leads there, nil for none.
func (s *scan) reach(from, p *place) *NarrowError {
	if p.live {
		return nil
	}
	for up := p; up != nil; up = up.parent { // what stands inside a definition keeps the definition whole
		if s.after && up.droppedBy() {
			return refusal(DanglingRef, from, "a reference leads into the dropped %s", up.pointer())
		}
		if up.definition && up != p {
			if bad := s.reach(from, up); bad != nil {
				return bad
			}
		}
	}
	p.live = true
	for _, c := range p.children {
		if c.definition || s.after && (c.droppedBy() || s.gone(c)) {
			continue
		}
		if bad := s.reach(p, c); bad != nil {
			return bad
		}
	}
	return s.follow(p)
}

// follow reaches what the references of a place lead to.
func (s *scan) follow(p *place) *NarrowError {
	if bad := s.resolve(p); bad != nil {
		return bad
	}
	for _, ref := range p.refs {
		if bad := s.reach(p, ref.to); bad != nil {
			return bad
		}
		for _, to := range ref.also {
			if bad := s.reach(p, to); bad != nil {
				return bad
			}
		}
	}
	return nil
}

// droppedBy reports whether a place is, by its own parent, a property or a dependency of one that goes.
func (p *place) droppedBy() bool {
	switch p.under {
	case "properties", "dependentSchemas", "dependencies":
		return slices.Contains(p.parent.drops, p.name)
	}
	return false
}

// resolve finds where the references of a place lead.
func (s *scan) resolve(p *place) *NarrowError {
	if p.resolved {
		return nil
	}
	p.resolved = true
	for i := range p.refs {
		ref := &p.refs[i]
		as := target{p.id, ref.text}
		to := s.targets[as]
		if to == nil {
			var bad *NarrowError
			if to, bad = s.target(p, ref); bad != nil {
				return bad
			}
			s.targets[as] = to
		}
		ref.to = to
		if !ref.dynamic {
			continue
		}
		name := ""
		if u, err := url.Parse(ref.text); err == nil && ref.keyword == "$dynamicRef" {
			name = u.Fragment
		}
		if slices.Contains(s.dynamic[name], to) {
			ref.also = s.dynamic[name] // which one it is depends on the way that was taken
		}
	}
	return nil
}

func (s *scan) target(p *place, ref *reference) (*place, *NarrowError) {
	resource := p.id
	var fragment string
	if local, ok := strings.CutPrefix(ref.text, "#"); ok {
		plain, err := url.PathUnescape(local)
		if err != nil {
			return nil, refusal(DanglingRef, p, "%s %q is no URI", ref.keyword, ref.text)
		}
		fragment = plain
	} else {
		u, err := url.Parse(ref.text)
		if err != nil {
			return nil, refusal(DanglingRef, p, "%s %q is no URI", ref.keyword, ref.text)
		}
		u = p.base.ResolveReference(u)
		if resource = s.ids[uri(u)]; resource == nil {
			return nil, refusal(ExternalRef, p, "%s %q leads out of the document: put what it names into $defs", ref.keyword, ref.text)
		}
		fragment = u.Fragment
	}
	switch {
	case fragment == "":
		return resource, nil
	case fragment[0] != '/':
		if to := s.anchors[uri(resource.base)+"#"+fragment]; to != nil {
			return to, nil
		}
		return nil, refusal(DanglingRef, p, "%s %q names no anchor", ref.keyword, ref.text)
	}
	if to := s.walk(resource, fragment[1:]); to != nil {
		return to, nil
	}
	return nil, refusal(DanglingRef, p, "%s %q leads nowhere", ref.keyword, ref.text)
}

// walk follows a JSON pointer. Where it ends below a keyword that holds data for all we know, the reference makes that a schema.
func (s *scan) walk(from *place, pointer string) *place {
	if keyword, name, ok := strings.Cut(pointer, "/"); ok && !strings.ContainsAny(name, "/~") {
		if to := s.defs[definition{from, keyword, name}]; to != nil {
			return to // nearly every reference
		}
	}
	nearest, v, rest := from, from.v, ""
	for part := range strings.SplitSeq(pointer, "/") {
		key := strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		switch v.Kind {
		case Object:
			v = v.Get(key)
		case Array:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v.Members) {
				return nil
			}
			v = v.Members[i].Value
		case Literal, String:
			return nil
		}
		if v == nil {
			return nil
		}
		rest += "/" + part
		if at := v.at; at != nil {
			nearest, rest = at, ""
		}
	}
	if rest == "" {
		return nearest
	}
	keyword, _, _ := strings.Cut(rest[1:], "/")
	if formOf(keyword) != data && !(nearest.legacy && nearest.v.Get("$ref") != nil) {
		return nil // a keyword's whole list of schemas is none itself
	}
	p := s.add(v, nearest)
	p.path = nearest.pointer() + rest
	s.enter(p)
	return p
}
