package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

func refusal(rule string, at *place, format string, args ...any) *NarrowError {
	e := &NarrowError{Rule: rule, Reason: fmt.Sprintf(format, args...)}
	if at != nil {
		e.Pointer = at.pointer()
	}
	return e
}

// safe refuses drops that would change what else the document means.
func (n *narrowing) safe() *NarrowError {
	if n.root.bare || n.hollow() {
		return refusal(Nothing, n.root, "every property of the root goes: nothing could be filled in")
	}
	for _, p := range n.dropped {
		for _, check := range []func(*place) *NarrowError{known, closedObject, counts, n.needed} {
			if bad := check(p); bad != nil {
				return bad
			}
		}
	}
	for _, p := range n.places {
		if !p.live {
			continue
		}
		if bad := n.branches(p); bad != nil {
			return bad
		}
	}
	return nil
}

// hollow reports whether the root only refers to an object that lost everything.
func (n *narrowing) hollow() bool {
	return slices.ContainsFunc(n.root.refs, func(r reference) bool { return !r.dynamic && r.to.bare })
}

func known(p *place) *NarrowError {
	for up := p; up != nil; up = up.parent {
		if up.path != "" {
			return refusal(UnknownPlace, p, "this object stands below an unknown keyword: move it to $defs")
		}
	}
	return nil
}

// closedObject makes sure that a key which is no longer named is refused.
func closedObject(p *place) *NarrowError {
	beside := slices.ContainsFunc(p.v.Members, func(m Member) bool { return inPlace(m.Key) && m.Key != "not" }) || len(p.refs) > 0
	if !isFalse(p.v.Get("additionalProperties")) && (beside || !isFalse(p.v.Get("unevaluatedProperties")) || p.v.Get("additionalProperties") != nil) {
		return refusal(OpenObject, p, `%s would still be taken as an unknown key: say "additionalProperties": false here`, p.drops[0])
	}
	for _, m := range p.v.Get("patternProperties").list() {
		pattern, err := regexp.Compile(m.Key)
		if err != nil {
			return refusal(Pattern, p, "it cannot be told whether the pattern %q takes %s", m.Key, p.drops[0])
		}
		for _, name := range p.drops {
			if pattern.MatchString(name) {
				return refusal(Pattern, p, "%s would still be taken by the pattern %q", name, m.Key)
			}
		}
	}
	return nil
}

// counts refuses bounds on the number of properties that would come to mean something else.
func counts(p *place) *NarrowError {
	bound := func(keyword string, otherwise int) int {
		if v := p.v.Get(keyword); v != nil && v.Kind == Literal {
			if f, err := strconv.ParseFloat(v.Text, 64); err == nil {
				return int(f)
			}
		}
		return otherwise
	}
	all := len(p.v.Get("properties").list())
	left, must := all-len(p.drops), len(p.v.Get("required").list())
	least, most := bound("minProperties", 0), bound("maxProperties", all)
	if least > left && len(p.v.Get("patternProperties").list()) == 0 {
		return refusal(Nothing, p, "minProperties is %d and %d properties would be left", least, left)
	}
	if !p.required {
		return nil
	}
	for _, name := range p.drops {
		if hasText(p.v.Get("required"), name) {
			must--
		}
	}
	if least > must || most < all {
		return refusal(Needed, p, "a required property goes, and minProperties or maxProperties counts it")
	}
	return nil
}

// needed refuses to drop what another keyword speaks of: of the object, of a schema inside that judges the same value, or of one around it.
func (n *narrowing) needed(p *place) *NarrowError {
	clear(n.seen)
	clear(n.left)
	n.left[p] = true
	if bad := n.mentions(p, p, "", "", n.seen); bad != nil {
		return bad
	}
	return n.around(p, p, n.seen, n.left)
}

// around looks at the schemas that hold p in place, by keyword or by reference.
func (n *narrowing) around(p, inner *place, seen, left map[*place]bool) *NarrowError {
	outer := slices.Clone(n.referrers()[inner])
	skip := "" // another branch of a union around p is another case, and not about what p drops
	if inner.parent != nil && inPlace(inner.under) {
		outer = append(outer, inner.parent)
		if inner.under == "anyOf" || inner.under == "oneOf" {
			skip = inner.under
		}
	}
	for _, o := range outer {
		if left[o] {
			continue
		}
		left[o] = true
		only := skip
		if o != inner.parent {
			only = ""
		}
		if bad := n.mentions(p, o, "", only, seen); bad != nil {
			return bad
		}
		if bad := n.around(p, o, seen, left); bad != nil {
			return bad
		}
	}
	return nil
}

// mentions looks for a keyword of at, or of a schema in place inside it, that speaks of what p drops. way is the keyword that made at a
// question, skip one whose schemas are left out.
func (n *narrowing) mentions(p, at *place, way, skip string, seen map[*place]bool) *NarrowError {
	if seen[at] {
		return nil
	}
	seen[at] = true
	for _, name := range p.drops {
		asks := hasText(at.keyword("required"), name) || way != "" && at.keyword("properties").Get(name) != nil
		if asks && !slices.Contains(at.drops, name) {
			return refusal(Needed, at, "%s is dropped at %s, and this asks for it", name, p.pointer())
		}
		for _, keyword := range []string{"dependentRequired", "dependencies"} {
			for _, m := range at.keyword(keyword).list() {
				if !slices.Contains(at.drops, m.Key) && m.Value.Kind == Array && hasText(m.Value, name) {
					return refusal(Needed, at, "%s is dropped at %s, and %s of %s asks for it", name, p.pointer(), keyword, m.Key)
				}
			}
		}
	}
	for _, c := range at.children {
		if !c.live || !inPlace(c.under) || c.under == skip {
			continue
		}
		if bad := n.mentions(p, c, judging(way, c.under), "", seen); bad != nil {
			return bad
		}
	}
	for _, ref := range at.refs {
		if bad := n.mentions(p, ref.to, way, "", seen); bad != nil {
			return bad
		}
	}
	return nil
}

// judging returns the keyword that asks a question of the value instead of holding it to something.
func judging(way, keyword string) string {
	if keyword == "not" || keyword == "if" {
		return keyword
	}
	return way
}

// referrers returns by place what refers to it.
func (n *narrowing) referrers() map[*place][]*place {
	if n.from == nil {
		n.from = map[*place][]*place{}
		for _, p := range n.places {
			for _, ref := range p.refs {
				if p.live {
					n.from[ref.to] = append(n.from[ref.to], p)
				}
			}
		}
	}
	return n.from
}

// branches refuses drops below not, if, contains and a oneOf that then could not tell its branches apart, and unions without a branch.
func (n *narrowing) branches(p *place) *NarrowError {
	var unions []string
	for _, c := range p.children {
		switch c.under {
		case "not", "if", "contains":
			if n.below(c) {
				return refusal(Negated, c, "a property is dropped below %s, which would let more through", c.under)
			}
		case "anyOf", "oneOf":
			if !slices.Contains(unions, c.under) {
				unions = append(unions, c.under)
			}
		}
	}
	for _, union := range unions {
		branches := slices.DeleteFunc(slices.Clone(p.children), func(c *place) bool { return c.under != union })
		if !slices.ContainsFunc(branches, func(c *place) bool { return !n.gone(c) }) {
			return refusal(Nothing, p, "no branch of %s would be left", union)
		}
		if union == "anyOf" {
			continue
		}
		for _, c := range branches {
			if bad := n.overlap(c, branches); bad != nil {
				return bad
			}
		}
	}
	return nil
}

// overlap refuses a branch of oneOf from which something goes, or that goes itself, when it may take what another branch takes: a value
// that two branches took was refused, and must not be taken now.
func (n *narrowing) overlap(c *place, branches []*place) *NarrowError {
	if !n.gone(c) && !n.below(c) {
		return nil
	}
	for _, other := range branches {
		if other != c && !n.disjoint(c, other) {
			return refusal(Overlap, c, "a property is dropped below this branch of oneOf, and no required property tells it from %s", other.pointer())
		}
	}
	return nil
}

// below reports whether a property goes from a schema or from what it leads to.
func (n *narrowing) below(p *place) bool {
	seen, todo := map[*place]bool{}, []*place{p}
	for len(todo) > 0 {
		p, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if seen[p] || !p.live {
			continue
		}
		seen[p] = true
		if len(p.drops) > 0 {
			return true
		}
		for _, c := range p.children {
			if !c.definition {
				todo = append(todo, c)
			}
		}
		for _, ref := range p.refs {
			todo = append(append(todo, ref.to), ref.also...)
		}
	}
	return false
}

// disjoint reports whether two branches take no object in common: a property that both require has constants that differ, or one requires
// what the other, closed, does not know, or one takes no objects at all.
func (n *narrowing) disjoint(a, b *place) bool {
	aGone, bGone := n.gone(a), n.gone(b)
	a, b = n.object(a), n.object(b)
	return aGone && bGone || noObject(a) || noObject(b) || apart(a, b, aGone) || apart(b, a, bGone)
}

// apart looks at what a requires. What it requires no longer does not count, unless it is gone: then it is about what it took before.
func apart(a, b *place, gone bool) bool {
	for _, m := range a.keyword("required").list() {
		name := m.Value.Text
		if !gone && slices.Contains(a.drops, name) {
			continue
		}
		other := b.keyword("properties").Get(name)
		if other == nil || slices.Contains(b.drops, name) {
			if isFalse(b.keyword("additionalProperties")) && b.keyword("patternProperties") == nil {
				return true
			}
			continue
		}
		ours, theirs := constants(a.keyword("properties").Get(name)), constants(other)
		if hasText(b.keyword("required"), name) && len(ours) > 0 && len(theirs) > 0 &&
			!slices.ContainsFunc(ours, func(v string) bool { return slices.Contains(theirs, v) }) {
			return true
		}
	}
	return false
}

// noObject reports whether a schema says by its type that it takes no objects.
func noObject(p *place) bool {
	kind := p.keyword("type")
	if kind == nil {
		return p.v.Kind == Literal && p.v.Text == "false"
	}
	return kind.Text != "object" && !hasText(kind, "object")
}

func isFalse(v *Value) bool { return v != nil && v.Kind == Literal && v.Text == "false" }

// constants returns the texts that v is one of, none when it may be anything else. Numbers are left out: 1 and 1.0 are the same.
func constants(v *Value) []string {
	values := v.Get("enum").list()
	if only := v.Get("const"); only != nil {
		values = []Member{{Value: only}}
	}
	if slices.ContainsFunc(values, func(m Member) bool { return m.Value.Kind != String }) {
		return nil
	}
	out := make([]string, 0, len(values))
	for _, m := range values {
		out = append(out, m.Value.Text)
	}
	return out
}

// object follows bare references to what they lead to.
func (n *narrowing) object(p *place) *place {
	for range len(n.places) {
		if len(p.refs) != 1 || p.refs[0].dynamic {
			return p
		}
		p = p.refs[0].to
	}
	return p
}
