package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/generator/report"
)

// checkTypes looks at every enum, named scalar and record.
func (c *checker) checkTypes() {
	for _, e := range c.spec.Enums {
		if len(e.Values) == 0 && !c.misread("/enums/"+e.Key.Value+"/values") {
			c.fail(RuleEnumEmpty, "/enums/"+e.Key.Value, e.Key.At, "give it a value",
				"enum %q has no value", e.Key.Value)
		}
	}
	for i, list := range [][]*Type{c.spec.Types, c.spec.Results} {
		section := [...]string{"/types/", "/results/"}[i]
		for _, t := range list {
			path := section + t.Key.Value
			if t.Scalar == nil {
				if t.given() != "" {
					c.fail(RuleConstraintKind, path, t.Key.At, "put it on a field",
						"record %q cannot have %s", t.Key.Value, t.given())
				}
				continue
			}
			if len(t.Fields) > 0 {
				c.fail(RuleConflict, path, t.Key.At, "keep type: or fields:",
					"%q is a named scalar and a record at once", t.Key.Value)
			}
			if k := t.Scalar.Kind; k == Named || k == List || k == Map || k == JSON {
				c.fail(RuleTypeSyntax, path+"/type", t.Scalar.At,
					"write string, bool, int, float, time or duration",
					"a named scalar cannot be %q", t.Scalar.String())
				continue
			}
			c.checkConstraints(path, t.Scalar, &t.Constraints)
		}
	}
	for _, o := range c.fieldOwners() {
		c.checkMembers(o.name, o.path+"/fields/", o.fields)
		c.checkRequired(o.path+"/fields/", o.fields)
	}
}

// fieldOwner is what has fields: a type, the request and the interrupt of a node, and what all
// interrupts share.
type fieldOwner struct {
	name, path string
	fields     []*Field
	reserved   []Text
}

func (c *checker) fieldOwners() []fieldOwner {
	var out []fieldOwner
	for i, list := range [][]*Type{c.spec.Types, c.spec.Results} {
		section := [...]string{"/types/", "/results/"}[i]
		for _, t := range list {
			if t.Scalar == nil {
				out = append(out, fieldOwner{"type " + strconv.Quote(t.Key.Value),
					section + t.Key.Value, t.Fields, t.Reserved})
			}
		}
	}
	if in := c.spec.Interrupts; in != nil {
		out = append(out, fieldOwner{"interrupts", "/interrupts", in.Fields, in.Reserved})
	}
	for _, n := range c.spec.Nodes {
		if q := n.Request; q != nil {
			out = append(out, fieldOwner{"request of node " + strconv.Quote(n.Key.Value),
				n.path() + "/request", q.Fields, q.Reserved})
		}
		if q := n.Interrupt; q != nil {
			out = append(out, fieldOwner{"interrupt of node " + strconv.Quote(n.Key.Value),
				n.path() + "/interrupt", q.Fields, q.Reserved})
		}
	}
	return out
}

// checkMembers checks the fields below a path.
func (c *checker) checkMembers(owner, path string, fields []*Field) {
	names := make([]wireName, len(fields))
	for i, f := range fields {
		names[i] = wireName{f.Key, f.JSON}
	}
	c.checkWireNames(owner, path, names)
	for _, f := range fields {
		for _, old := range f.Was {
			if other := find(c, fields, old.Value); other != nil {
				c.reportStillDeclared(old, other.Key.At, path+f.Key.Value+"/was")
			}
		}
		if f.Type == nil {
			continue
		}
		at := path + f.Key.Value
		if leaf := f.Type.Leaf(); leaf.Kind == Named {
			c.fieldTypeRef(leaf, at+"/type")
		}
		c.checkConstraints(at, f.Type, &f.Constraints)
		if f.Explicit && (!f.Optional || !c.isScalar(f.Type)) {
			c.fail(RuleConflict, at+"/presence", f.Key.At, "it is for optional scalars",
				"presence: explicit says nothing about field %q", f.Key.Value)
		}
		if f.Default != nil {
			c.checkLiteral("default", at+"/default", f.Type, f.Default, &f.Constraints)
		}
		c.checkShownDefault(at, f)
		c.checkOffered(at, f)
		if f.DefaultOld != nil {
			c.checkLiteral("default_old", at+"/default_old", f.Type, f.DefaultOld, &f.Constraints)
			if f.Optional {
				c.fail(RuleOldValues, at+"/default_old", f.DefaultOld.At,
					"remove it, or remove optional: true",
					"field %q is optional, so stored data may lack it", f.Key.Value)
			}
		}
	}
}

// checkAcceptsOld refuses earlier patterns where there is no present one, or it is the same.
func (c *checker) checkAcceptsOld(path string, k *Constraints) {
	for _, old := range k.AcceptsOld {
		switch {
		case !k.Pattern.Set():
			c.fail(RuleOldValues, path+"/accepts_old", old.At, "remove it",
				"there is no pattern, and every value of an earlier one is taken anyway")
		case k.Pattern.Value == old.Value:
			c.fail(RuleOldValues, path+"/accepts_old", old.At,
				"name the pattern from before the change", "it is the present pattern")
		}
	}
}

// checkRequired refuses defaults of required fields: decoders require a value, and a
// schema that names one invites a model to leave it out.
func (c *checker) checkRequired(path string, fields []*Field) {
	for _, f := range fields {
		if f.Default != nil && !f.Optional {
			c.fail(RuleDefaultRequired, path+f.Key.Value+"/default", f.Default.At,
				"add optional: true, or remove the default",
				"field %q is required, so its default is never used", f.Key.Value)
		}
	}
}

// wireName is what a member of a record or routing is called on the wire.
type wireName struct{ key, json Text }

// checkWireNames finds two members with one name on the wire. Only overrides can clash: keys were
// compared while reading.
func (c *checker) checkWireNames(owner, path string, members []wireName) {
	if !slices.ContainsFunc(members, func(m wireName) bool { return m.json.Set() }) {
		return
	}
	first := map[string]Text{}
	for _, m := range members {
		name := m.json
		if !name.Set() {
			name = m.key
		}
		folded := strings.ToLower(name.Value)
		if other, again := first[folded]; again {
			c.fail(RuleNameJSON, path+m.key.Value, name.At, "choose another one",
				"%s has the JSON name %q twice", owner, name.Value).
				relatedf(other.At, "%q is here", other.Value)
			continue
		}
		first[folded] = name
	}
}

func (c *checker) fieldTypeRef(leaf *TypeExpr, path string) {
	if c.byName[leaf.Name] != nil {
		return
	}
	if basic := typeOfOtherLanguage(leaf.Name); basic != "" {
		c.fail(RuleRefType, path, leaf.At, didYouMean(basic), "type %q is not declared", leaf.Name).
			replace(basic)
		return
	}
	c.unknown(RuleRefType, "type", leaf.Name, leaf.At, path,
		append(basicKinds(), c.typeNames[:min(len(c.typeNames), c.candidates())]...))
}

// base resolves named scalars and enums: the kind that values have on the wire, and the enum if it
// is one.
func (c *checker) base(t *TypeExpr) (Kind, *Enum) {
	if t.Kind != Named {
		return t.Kind, nil
	}
	switch d := c.byName[t.Name]; {
	case d == nil:
		return "", nil
	case d.kind == declEnum:
		return String, d.enum
	case d.kind == declScalar:
		return d.typ.Scalar.Kind, nil
	}
	return Named, nil
}

// scalar returns the named scalar that a type names, or nil.
func (c *checker) scalar(t *TypeExpr) *Type {
	if t.Kind != Named {
		return nil
	}
	if d := c.byName[t.Name]; d != nil && d.kind == declScalar {
		return d.typ
	}
	return nil
}

// isKnown reports whether a type was read and is declared. What is not was reported.
func (c *checker) isKnown(t *TypeExpr) bool {
	leaf := t.Leaf()
	return leaf != nil && (leaf.Kind != Named || c.byName[leaf.Name] != nil)
}

func (c *checker) isScalar(t *TypeExpr) bool {
	switch kind, _ := c.base(t); kind {
	case String, Bool, Int, Float, Time, Duration, "":
		return true
	default:
		return false
	}
}

// given names the first constraint that was written, or "".
func (k *Constraints) given() string {
	switch {
	case k.Min != nil:
		return "min"
	case k.Max != nil:
		return "max"
	case k.MinLength != nil:
		return "min_length"
	case k.MaxLength != nil:
		return "max_length"
	case k.Pattern.Set():
		return "pattern"
	case k.MinItems != nil:
		return "min_items"
	case k.MaxItems != nil:
		return "max_items"
	case k.Format.Set():
		return "format"
	}
	return ""
}

// checkConstraints refuses constraints that do not fit the type or that no value can meet.
func (c *checker) checkConstraints(path string, t *TypeExpr, k *Constraints) {
	c.checkAcceptsOld(path, k)
	if len(k.Examples) == 0 && k.given() == "" {
		return
	}
	kind, enum := c.base(t)
	if kind == "" {
		return // reported as unknown
	}
	number, text := kind == Int || kind == Float, kind == String && enum == nil
	wrong := func(name string, at report.Span, fits bool, owner string) {
		if !at.Start.IsZero() && !fits {
			c.fail(RuleConstraintKind, path+"/"+name, at, name+" is for "+owner,
				"%s does not fit the type %s", name, t)
		}
	}
	wrong("min", k.Min.at(), number, "int and float")
	wrong("max", k.Max.at(), number, "int and float")
	wrong("min_length", k.MinLength.at(), text, "string")
	wrong("max_length", k.MaxLength.at(), text, "string")
	wrong("pattern", k.Pattern.At, text, "string")
	c.lintPattern(path+"/pattern", k.Pattern)
	wrong("format", k.Format.At, text, "string")
	if text {
		c.checkFormat(k.Format, path+"/format")
	}
	wrong("min_items", k.MinItems.at(), kind == List, "lists")
	wrong("max_items", k.MaxItems.at(), kind == List, "lists")
	c.checkBounds(path, "min", "max", k.Min, k.Max, numberFault(kind))
	if kind == Int && k.Max.isGreatest() {
		k.Max = nil // that of the type, which decoders hold without being told
	}
	c.checkBounds(path, "min_length", "max_length", k.MinLength, k.MaxLength, countFault)
	c.checkBounds(path, "min_items", "max_items", k.MinItems, k.MaxItems, countFault)
	c.checkNamedBounds(path, c.scalar(t), k)
	for i := range k.Examples {
		c.checkLiteral("example", path+"/examples/"+strconv.Itoa(i), t, &k.Examples[i], k)
	}
}

// formats are those that decoders check, and those that the schema dialects of providers know.
func formats() []string {
	return []string{"date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6",
		"uuid", "uri"}
}

// checkFormat warns of a format that is only a word: it holds for every text.
func (c *checker) checkFormat(t Text, path string) {
	known := formats()
	if !t.Set() || slices.Contains(known, t.Value) {
		return
	}
	c.failNear(RuleFormatUnknown, path, t, known, "known: "+strings.Join(known, ", "),
		"nothing checks the format %q", t.Value).Severity = report.Warning
}

// checkRecursion refuses records that must hold themselves.
func (c *checker) checkRecursion() {
	for _, d := range c.decls {
		c.walkRequired(d, nil)
	}
}

// step is one required field on the way through records.
type step struct {
	from  *decl
	field *Field
}

func (c *checker) walkRequired(d *decl, way []step) {
	const open, done = 1, 2
	if d.state == done {
		return
	}
	d.state = open
	for _, f := range d.fields {
		next := c.mustHold(f)
		if next == nil {
			continue
		}
		if next.state == open {
			c.recursive(next, append(way, step{d, f}))
			continue
		}
		c.walkRequired(next, append(way, step{d, f}))
	}
	d.state = done
}

// mustHold returns the record that every value of a field holds: its type, or that of a list which
// is never empty. Nil means none.
func (c *checker) mustHold(f *Field) *decl {
	t := f.Type
	if f.isNeverEmpty() {
		t = t.Elem
	}
	if f.Optional || t == nil || t.Kind != Named {
		return nil
	}
	if d := c.byName[t.Name]; d != nil && d.kind != declEnum && d.kind != declScalar {
		return d
	}
	return nil
}

// isNeverEmpty reports whether a field is a list that has an item.
func (f *Field) isNeverEmpty() bool {
	return f.Type != nil && f.Type.Kind == List && f.MinItems != nil &&
		f.MinItems.Value >= 1
}

func (c *checker) recursive(start *decl, way []step) {
	for len(way) > 0 && way[0].from != start {
		way = way[1:]
	}
	var names []string
	hint := "make one of them optional, a list or a map"
	for _, s := range way {
		names = append(names, s.from.name+"."+s.field.Key.Value)
		if s.field.isNeverEmpty() {
			hint = "make one of them optional, or take min_items from " + names[len(names)-1]
		}
	}
	last := way[len(way)-1]
	f := c.fail(RuleTypeRecursive, last.from.path+"/fields/"+last.field.Key.Value+"/type",
		last.field.Type.At,
		hint, "no value can end: %s -> %s", strings.Join(names, " -> "), start.name)
	for _, s := range way[:len(way)-1] {
		f.relatedf(s.field.Type.At, "%s.%s goes on here", s.from.name, s.field.Key.Value)
	}
}
