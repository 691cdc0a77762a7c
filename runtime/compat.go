package runtime

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The kinds of shapes. Requests, interrupt requests, results, nodes and flows are named in stored data; the names of the others never leave
// the code.
const (
	ShapeRequest   = "request"
	ShapeInterrupt = "interrupt"
	ShapeResult    = "result"
	ShapeRecord    = "record" // part of the three above
	ShapeUnion     = "union"  // a routing; its fields are branches
	ShapeEnum      = "enum"   // its fields are the values
	ShapeScalar    = "scalar" // a named scalar: one field without a name
	ShapeNode      = "node"   // its fields name the messages that wait at it
	ShapeFlow      = "flow"   // its fields are "slot NAME", and "step ID" of type "step KIND"
)

// StoredShape is what stored threads rely on of one thing of a spec. A table of them can be stored as JSON beside the threads.
type StoredShape struct {
	Kind    string        `json:"kind"`
	Name    string        `json:"name"`
	Was     []string      `json:"was,omitempty"`     // earlier names: they say what became of what
	Accepts []string      `json:"accepts,omitempty"` // other names that are read as this one
	Fields  []StoredField `json:"fields"`
}

// StoredField is one field, branch, enum value or part of a node.
type StoredField struct {
	Name     string   `json:"name"` // on the wire
	Was      []string `json:"was,omitempty"`
	Accepts  []string `json:"accepts,omitempty"`
	Type     string   `json:"type,omitempty"` // string, bool, int, float, time, duration, json, []T, map[string]T or the name of a shape
	Required bool     `json:"required,omitempty"`
	Rules    []string `json:"rules,omitempty"` // as routes.yaml writes them: max_length=80
}

// The causes of breaks.
const (
	BreakRemoved     = "removed"     // what was stored has no place any more
	BreakRenamed     = "renamed"     // the thing is there, and its stored name is not read
	BreakType        = "type"        // stored values have another type
	BreakCardinality = "cardinality" // one became many, or many one
	BreakRequired    = "required"    // stored data may lack it
	BreakTightened   = "tightened"   // stored values may be outside the new bounds
)

// ShapeBreak is one reason why data stored by the old code cannot be trusted to be read by the new code.
type ShapeBreak struct {
	Cause              string
	Kind               string // of the shape
	Shape, Field       string // in the old table; Field is empty where the whole shape is meant, or where the field is new
	NewShape, NewField string // in the new table; empty where there is none
	Reason             string // half a sentence: what was, and what is
}

// CompareShapes holds what the new code reads against what the old code may have stored, and returns every break, in the order of the
// old table. Stored data may be read more widely than it was written, never more narrowly: a field may become optional, an int a float,
// an enum a string; an enum may gain values and a rule may go. None of the reverse. Names are followed through Was; a followed name is
// still a break when it stands in stored data and the new thing does not accept it. No break means: every thread stored by the old code
// can go on.
func CompareShapes(old, now []StoredShape) []ShapeBreak {
	c := &comparison{old: byKey(old), now: byKey(now), next: map[string]*StoredShape{}, quiet: map[[2]*StoredShape]bool{}}
	for i := range now {
		for _, was := range slices.Concat(now[i].Was, now[i].Accepts) {
			if key := nameSpace(now[i].Kind) + was; c.now[key] == nil {
				c.next[key] = &now[i]
			}
		}
	}
	var out []ShapeBreak
	for i := range old {
		out = append(out, c.shape(&old[i])...)
	}
	return out
}

// Fingerprint returns the SHA-256 of what stored data relies on, in hexadecimal. Two tables have one fingerprint exactly when data
// stored under one is read the same under the other: order, docs and earlier names do not count.
func Fingerprint(shapes []StoredShape) string {
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
	old, now map[string]*StoredShape
	next     map[string]*StoredShape  // what an old name became
	quiet    map[[2]*StoredShape]bool // records that are being compared, or were, only to learn whether they are alike
}

// nameSpace keeps nodes and flows apart from types: one key may be all of them.
func nameSpace(kind string) string {
	if kind == ShapeNode || kind == ShapeFlow {
		return kind + " "
	}
	return ""
}

func byKey(shapes []StoredShape) map[string]*StoredShape {
	out := make(map[string]*StoredShape, len(shapes))
	for i := range shapes {
		out[nameSpace(shapes[i].Kind)+shapes[i].Name] = &shapes[i]
	}
	return out
}

// became returns what an old shape is now, or nil.
func (c *comparison) became(o *StoredShape) *StoredShape {
	key := nameSpace(o.Kind) + o.Name
	if n := c.now[key]; n != nil {
		return n
	}
	return c.next[key]
}

func (c *comparison) shape(o *StoredShape) []ShapeBreak {
	n, named := c.became(o), o.Kind == ShapeNode || o.Kind == ShapeFlow || message(o.Kind)
	b := ShapeBreak{Kind: o.Kind, Shape: o.Name}
	if n == nil {
		if !named {
			return nil // the fields that used it say what that means
		}
		b.Cause, b.Reason = BreakRemoved, "it is gone"
		return []ShapeBreak{b}
	}
	var out []ShapeBreak
	b.NewShape = n.Name
	if named && n.Name != o.Name && !slices.Contains(n.Accepts, o.Name) {
		b.Cause, b.Reason = BreakRenamed, fmt.Sprintf("it is named %s now, and %s is not read", n.Name, o.Name)
		out = append(out, b)
	}
	if message(o.Kind) && n.Kind != o.Kind {
		b.Cause, b.Reason = BreakRemoved, fmt.Sprintf("it was a %s and is a %s", o.Kind, n.Kind)
		out = append(out, b)
	}
	if form(o.Kind) != form(n.Kind) {
		return out // its users are of another type now, and say so
	}
	return append(out, c.fields(o, n)...)
}

// message reports whether a shape is stored under its name, among those of its kind.
func message(kind string) bool {
	return kind == ShapeRequest || kind == ShapeInterrupt || kind == ShapeResult
}

// form is a kind without what a name in stored data makes of it: within another, a request is read like any record.
func form(kind string) string {
	if message(kind) {
		return ShapeRecord
	}
	return kind
}

// fields compares two shapes of one form.
func (c *comparison) fields(o, n *StoredShape) []ShapeBreak {
	var out []ShapeBreak
	now, became, taken := map[string]*StoredField{}, map[string]*StoredField{}, map[string]bool{}
	for i := range n.Fields {
		f := &n.Fields[i]
		now[f.Name] = f
		for _, was := range slices.Concat(f.Was, f.Accepts) {
			became[was] = f
		}
	}
	add := func(cause string, f, g *StoredField, reason string) {
		b := ShapeBreak{Cause: cause, Kind: o.Kind, Shape: o.Name, NewShape: n.Name, Reason: reason}
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
			add(BreakRemoved, f, nil, "it is gone, and a stored value of it is refused")
			continue
		}
		taken[g.Name] = true
		if g.Name != f.Name && !slices.Contains(g.Accepts, f.Name) {
			add(BreakRenamed, f, g, fmt.Sprintf("it is named %s now, and %s is not read", g.Name, f.Name))
		}
		if cause, reason := c.field(f, g); cause != "" {
			add(cause, f, g, reason)
		}
		if g.Required && !f.Required {
			add(BreakRequired, f, g, "it was optional and is required")
		}
	}
	for i := range n.Fields {
		if g := &n.Fields[i]; g.Required && !taken[g.Name] {
			add(BreakRequired, nil, g, "it is new and required, and stored data lacks it")
		}
	}
	return out
}

// field compares type and rules. It returns no cause where every old value is a new one.
func (c *comparison) field(f, g *StoredField) (cause, reason string) {
	if !c.reads(f.Type, g.Type) {
		cause = BreakType
		if depth(f.Type) != depth(g.Type) {
			cause = BreakCardinality
		}
		return cause, fmt.Sprintf("it was %s and is %s", f.Type, g.Type)
	}
	was, is := f.Rules, g.Rules
	o, n := c.old[f.Type], c.now[g.Type]
	if o == nil || n == nil || c.became(o) != n { // one scalar on both sides is compared once, as itself
		was, is = slices.Concat(was, scalarRules(o)), slices.Concat(is, scalarRules(n))
	}
	if tighter := Tightened(was, is); len(tighter) > 0 {
		return BreakTightened, fmt.Sprintf("%s, and it was %s", strings.Join(tighter, ", "), counterparts(was, tighter))
	}
	return "", ""
}

// counterparts are the old rules of the names of the new ones, as a text.
func counterparts(old, now []string) string {
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

func scalarRules(s *StoredShape) []string {
	if s == nil || s.Kind != ShapeScalar {
		return nil
	}
	return s.Fields[0].Rules
}

func depth(t string) int { return strings.Count(t, "[") }

// reads reports whether every value of the old type is one of the new type, rules of the outermost value apart.
func (c *comparison) reads(was, is string) bool {
	if is == "json" {
		return true
	}
	for _, prefix := range []string{"[]", "map[string]"} {
		a, many := strings.CutPrefix(was, prefix)
		b, still := strings.CutPrefix(is, prefix)
		if many || still {
			o, n := c.old[a], c.now[b]
			same := o != nil && n != nil && c.became(o) == n
			return many && still && c.reads(a, b) && (same || len(Tightened(scalarRules(o), scalarRules(n))) == 0)
		}
	}
	o, n := c.old[was], c.now[is]
	if o != nil && n != nil && form(o.Kind) == form(n.Kind) && (c.became(o) == n || c.alike(o, n)) {
		return true
	}
	if o != nil && o.Kind == ShapeScalar {
		was, o = o.Fields[0].Type, nil
	}
	if n != nil && n.Kind == ShapeScalar {
		is, n = n.Fields[0].Type, nil
	}
	if n != nil {
		return false
	}
	text := o != nil && o.Kind == ShapeEnum || was == "time" || was == "duration"
	return o == nil && was == is || was == "int" && is == "float" || text && is == "string"
}

// alike reports whether data of one shape is read as another that is not declared to be its successor.
func (c *comparison) alike(o, n *StoredShape) bool {
	if o.Kind == ShapeScalar {
		return false // seen through: type and rules of the fields decide
	}
	key := [2]*StoredShape{o, n}
	if known, seen := c.quiet[key]; seen {
		return known
	}
	c.quiet[key] = true // what a record says of itself within itself is no difference
	c.quiet[key] = len(c.fields(o, n)) == 0
	return c.quiet[key]
}

// Tightened returns those rules of the new list that refuse a value which the old list allows. A pattern or a format that is not in the
// old list counts: nobody can tell what it refuses.
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
