// Package compat compares what two versions of a program store: it says what keeps the new version
// from reading the threads of the old one. All functions are pure.
package compat

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// The causes of breaks.
const (
	Removed     = "removed"     // stored values of it are refused
	Renamed     = "renamed"     // the thing is there, and its stored name is not read
	Type        = "type"        // stored values have another type
	Cardinality = "cardinality" // one became many, or many one
	Required    = "required"    // stored data may lack it
	Tighter     = "tightened"   // stored values may be outside the new bounds
)

// Break is one reason why data stored by the old code cannot be trusted to be read by the new
// code.
type Break struct {
	Cause string
	Kind  string // of the shape
	// in the old table; Field is empty where the whole shape is meant, or where the field is new
	Shape, Field       string
	NewShape, NewField string // in the new table; empty if it is gone
	Reason             string // half a sentence: what was, and what is
}

// Compare holds what the new code reads against what the old code may have stored, and
// returns every break, in the order of the old table. Stored data may be read more widely than it
// was written, never more narrowly: a field may become optional, an int a float, an enum a string;
// an enum may gain values and a rule may go. None of the reverse. Names are followed through Was; a
// followed name is still a break when it stands in stored data and the new thing does not accept
// it. No break means: every thread stored by the old code can go on. A break means that some may
// not: which ones depends on what they hold, see [Reader]. A pattern that differs is a break unless
// the new field says by AcceptsOld that it takes every value of the old one.
func Compare(old, now []runtime.StoredShape) []Break {
	c := &comparison{old: byKey(old), now: byKey(now),
		quiet: map[[2]*runtime.StoredShape]bool{}}
	c.next = successors(now, c.now)
	var out []Break
	for i := range old {
		out = append(out, c.compareShape(&old[i])...)
	}
	return out
}

// IsFollowed reports whether a break is a rename that an engine with the shapes follows in what a
// thread holds: that of a field, a branch, an enum value or a message that names the old one in
// was:.
func IsFollowed(b Break, now []runtime.StoredShape) bool {
	switch {
	case b.Cause != Renamed, b.Kind == runtime.ShapeNode, b.Kind == runtime.ShapeFlow:
		return false
	case b.Kind == runtime.ShapeEnum:
		return b.Shape != runtime.ShapeRoute && b.Shape != runtime.ShapeKind &&
			b.Shape != runtime.ShapeAgentType
	case b.Field != "":
		return true
	}
	return slices.ContainsFunc(now, func(s runtime.StoredShape) bool {
		return s.Name == b.NewShape && s.Kind == b.Kind && slices.Contains(s.Was, b.Shape)
	})
}

// Fingerprint returns the SHA-256 of what stored data relies on, in hexadecimal. Two tables have
// one fingerprint exactly when data stored under one is read the same under the other: order, docs
// and earlier names do not count.
func Fingerprint(shapes []runtime.StoredShape) string {
	rows := make([]string, 0, len(shapes))
	for _, s := range shapes {
		fields := make([]string, 0, len(s.Fields))
		for _, f := range s.Fields {
			rules := slices.Sorted(slices.Values(f.Rules))
			fields = append(fields, fmt.Sprintf("%q %q %t %q", f.Name, f.Type, f.Required, rules))
		}
		slices.Sort(fields)
		rows = append(rows, fmt.Sprintf("%q %q %q", s.Kind, s.Name, fields))
	}
	slices.Sort(rows)
	sum := sha256.Sum256([]byte(strings.Join(rows, "\n")))
	return hex.EncodeToString(sum[:])
}

type comparison struct {
	old, now map[string]*runtime.StoredShape
	next     map[string]*runtime.StoredShape // what an old name became
	// records that are being compared, or were, only to learn whether they are alike
	quiet map[[2]*runtime.StoredShape]bool
}

// nameSpace keeps nodes and flows apart from types: they may share a key.
func nameSpace(kind string) string {
	if kind == runtime.ShapeNode || kind == runtime.ShapeFlow {
		return kind + " "
	}
	return ""
}

func byKey(shapes []runtime.StoredShape) map[string]*runtime.StoredShape {
	out := make(map[string]*runtime.StoredShape, len(shapes))
	for i := range shapes {
		out[nameSpace(shapes[i].Kind)+shapes[i].Name] = &shapes[i]
	}
	return out
}

// successor returns what an old shape is now, or nil.
func (c *comparison) successor(o *runtime.StoredShape) *runtime.StoredShape {
	key := nameSpace(o.Kind) + o.Name
	if n := c.now[key]; n != nil {
		return n
	}
	return c.next[key]
}

func (c *comparison) compareShape(o *runtime.StoredShape) []Break {
	n, named := c.successor(o), o.Kind == runtime.ShapeNode || o.Kind == runtime.ShapeFlow ||
		isMessage(o.Kind)
	b := Break{Kind: o.Kind, Shape: o.Name}
	if n == nil {
		if !named {
			return nil // the fields that used it say what that means
		}
		b.Cause, b.Reason = Removed, "it is gone"
		return []Break{b}
	}
	var out []Break
	b.NewShape = n.Name
	if named && n.Name != o.Name && !slices.Contains(n.Accepts, o.Name) {
		b.Cause, b.Reason = Renamed, fmt.Sprintf("it is named %s now, and %s is not read",
			n.Name, o.Name)
		out = append(out, b)
	}
	if isMessage(o.Kind) && n.Kind != o.Kind {
		b.Cause, b.Reason = Removed, fmt.Sprintf("it was a %s and is a %s", o.Kind, n.Kind)
		out = append(out, b)
	}
	if formOf(o.Kind) != formOf(n.Kind) {
		return out // its users are of another type now, and say so
	}
	return append(out, c.compareFields(o, n)...)
}

// isMessage reports whether a shape is stored under its name.
func isMessage(kind string) bool {
	return kind == runtime.ShapeRequest || kind == runtime.ShapeInterrupt ||
		kind == runtime.ShapeResult
}

// formOf returns the kind under which a shape is read inside another: requests, interrupts and
// results are records there.
func formOf(kind string) string {
	if isMessage(kind) {
		return runtime.ShapeRecord
	}
	return kind
}

// compareFields compares two shapes of one form.
func (c *comparison) compareFields(o, n *runtime.StoredShape) []Break {
	var out []Break
	now, became, taken :=
		map[string]*runtime.StoredField{}, map[string]*runtime.StoredField{}, map[string]bool{}
	for i := range n.Fields {
		f := &n.Fields[i]
		now[f.Name] = f
		for _, was := range slices.Concat(f.Was, f.Accepts) {
			became[was] = f
		}
	}
	add := func(cause string, f, g *runtime.StoredField, reason string) {
		b := Break{Cause: cause, Kind: o.Kind, Shape: o.Name, NewShape: n.Name, Reason: reason}
		if f != nil {
			b.Field = f.Name
		}
		if g != nil {
			b.NewField = g.Name
		}
		out = append(out, b)
	}
	for i := range o.Fields {
		f := &o.Fields[i]
		g := now[f.Name]
		if g == nil {
			g = became[f.Name]
		}
		if g == nil {
			add(Removed, f, nil, "it is gone, and a stored value of it is refused")
			continue
		}
		taken[g.Name] = true
		if g.Name != f.Name && !slices.Contains(g.Accepts, f.Name) {
			add(Renamed, f, g, fmt.Sprintf("it is named %s now, and %s is not read", g.Name,
				f.Name))
		}
		if cause, reason := c.compareField(f, g); cause != "" {
			add(cause, f, g, reason)
		}
		if g.Required && !f.Required && g.Default == "" {
			add(Required, f, g, "it was optional and is required")
		}
	}
	for i := range n.Fields {
		if g := &n.Fields[i]; g.Required && !taken[g.Name] && g.Default == "" {
			add(Required, nil, g, "it is new and required, and stored data lacks it")
		}
	}
	return out
}

// compareField compares type and rules. It returns no cause where every old value is a new one.
func (c *comparison) compareField(f, g *runtime.StoredField) (cause, reason string) {
	if !c.canRead(f.Type, g.Type) {
		cause = Type
		if listDepth(f.Type) != listDepth(g.Type) {
			cause = Cardinality
		}
		return cause, fmt.Sprintf("it was %s and is %s", f.Type, g.Type)
	}
	was, is := f.Rules, g.Rules
	o, n := c.old[f.Type], c.now[g.Type]
	// one scalar on both sides is compared once, as itself
	if o == nil || n == nil || c.successor(o) != n {
		was, is = slices.Concat(was, scalarRules(o)), slices.Concat(is, scalarRules(n))
	}
	is = Vouched(was, is, g.AcceptsOld, acceptedOld(n))
	tighter := Tightened(was, is)
	if len(tighter) == 0 {
		return "", ""
	}
	reason = fmt.Sprintf("%s, and it was %s", strings.Join(tighter, ", "), oldBounds(was, tighter))
	if slices.ContainsFunc(tighter, func(rule string) bool {
		return strings.HasPrefix(rule, patternRule) && hasPattern(was)
	}) {
		reason += " (a pattern changed; patterns are not compared)"
	}
	return Tighter, reason
}

const patternRule = "pattern="

func hasPattern(rules []string) bool {
	return slices.ContainsFunc(rules, func(r string) bool {
		return strings.HasPrefix(r, patternRule)
	})
}

// Vouched returns the new rules without the patterns of which the accepted ones say that they take
// every value of the old one.
func Vouched(was, is []string, accepted ...[]string) []string {
	old := slices.DeleteFunc(slices.Clone(was), func(r string) bool {
		return !strings.HasPrefix(r, patternRule)
	})
	if len(old) == 0 || !slices.ContainsFunc(slices.Concat(accepted...), func(p string) bool {
		return slices.Contains(old, patternRule+p)
	}) {
		return is
	}
	return slices.DeleteFunc(slices.Clone(is), func(r string) bool {
		return strings.HasPrefix(r, patternRule)
	})
}

// acceptedOld returns the old patterns that a named scalar vouches for.
func acceptedOld(s *runtime.StoredShape) []string {
	if s == nil || s.Kind != runtime.ShapeScalar {
		return nil
	}
	return s.Fields[0].AcceptsOld
}

// oldBounds returns the old rules with the names of the new ones, as text.
func oldBounds(old, now []string) string {
	var out []string
	for _, rule := range old {
		name, _, _ := strings.Cut(rule, "=")
		if slices.ContainsFunc(now, func(r string) bool { return strings.HasPrefix(r, name+"=") }) {
			out = append(out, rule)
		}
	}
	if len(out) == 0 {
		return "not bounded"
	}
	return strings.Join(out, ", ")
}

func scalarRules(s *runtime.StoredShape) []string {
	if s == nil || s.Kind != runtime.ShapeScalar {
		return nil
	}
	return s.Fields[0].Rules
}

func listDepth(t string) int { return strings.Count(t, "[") }

// canRead reports whether every value of the old type is one of the new type, rules of the
// outermost value apart.
func (c *comparison) canRead(was, is string) bool {
	if is == "json" {
		return true
	}
	for _, prefix := range []string{"[]", "map[string]"} {
		a, many := strings.CutPrefix(was, prefix)
		b, still := strings.CutPrefix(is, prefix)
		if many || still {
			o, n := c.old[a], c.now[b]
			same := o != nil && n != nil && c.successor(o) == n
			return many && still && c.canRead(a, b) && (same || len(Tightened(scalarRules(o),
				Vouched(scalarRules(o), scalarRules(n), acceptedOld(n)))) == 0)
		}
	}
	o, n := c.old[was], c.now[is]
	if o != nil && n != nil && formOf(o.Kind) == formOf(n.Kind) &&
		(c.successor(o) == n || c.sameForm(o, n)) {
		return true
	}
	if o != nil && o.Kind == runtime.ShapeScalar {
		was, o = o.Fields[0].Type, nil
	}
	if n != nil && n.Kind == runtime.ShapeScalar {
		is, n = n.Fields[0].Type, nil
	}
	if n != nil {
		return false
	}
	text := o != nil && o.Kind == runtime.ShapeEnum || was == "time" || was == "duration"
	return o == nil && was == is || was == "int" && is == "float" || text && is == "string"
}

// sameForm reports whether data of one shape is read as another that is not declared to be its
// successor.
func (c *comparison) sameForm(o, n *runtime.StoredShape) bool {
	if o.Kind == runtime.ShapeScalar {
		return false // seen through: type and rules of the fields decide
	}
	key := [2]*runtime.StoredShape{o, n}
	if known, seen := c.quiet[key]; seen {
		return known
	}
	c.quiet[key] = true // what a record says of itself within itself is no difference
	c.quiet[key] = len(c.compareFields(o, n)) == 0
	return c.quiet[key]
}

// Tightened returns those rules of the new list that refuse, or may refuse, a value which the old
// list allows. A pattern or a format that is not in the old list counts, because what it refuses is
// not known: patterns are not compared, and one may as well be wider.
func Tightened(old, now []string) []string {
	var out []string
	for _, rule := range now {
		name, value, _ := strings.Cut(rule, "=")
		implied := slices.ContainsFunc(old, func(r string) bool {
			n, v, _ := strings.Cut(r, "=")
			if n != name {
				return false
			}
			was, errWas := strconv.ParseFloat(v, 64)
			is, errIs := strconv.ParseFloat(value, 64)
			switch {
			case v == value:
				return true
			case errWas != nil || errIs != nil:
				return false
			case strings.HasPrefix(name, "min"):
				return was >= is
			}
			return strings.HasPrefix(name, "max") && was <= is
		})
		if !implied {
			out = append(out, rule)
		}
	}
	return out
}
