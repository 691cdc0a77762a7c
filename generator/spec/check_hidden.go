package spec

import "slices"

// checkShownDefault refuses a default or an example that a model is shown and may not send:
// decoders of replies refuse hidden values.
func (c *checker) checkShownDefault(path string, f *Field) {
	_, enum := c.base(f.Type)
	if f.Hidden || enum == nil {
		return
	}
	check := func(what, path string, s *Scalar) {
		if v := find(c, enum.Values, s.Value); v != nil && v.Hidden {
			c.fail(RuleDefaultHidden, path, s.At,
				"name a value that is not hidden, or hide the field",
				"%s %q of field %q is hidden, and a model that sends it is refused", what, s.Value,
				f.Key.Value).relatedf(v.Key.At, "%q is hidden here", v.Key.Value)
		}
	}
	if f.Default != nil {
		check("default", path+"/default", f.Default)
	}
	for i := range f.Examples {
		check("example", path+"/examples", &f.Examples[i])
	}
}

// checkOffered refuses enums whose values are all hidden where a model is to choose one of them.
func (c *checker) checkOffered(path string, f *Field) {
	leaf := f.Type.Leaf()
	if f.Hidden || leaf == nil {
		return
	}
	_, enum := c.base(leaf)
	if enum == nil || len(enum.Values) == 0 || slices.ContainsFunc(enum.Values,
		func(v *EnumValue) bool { return !v.Hidden }) {
		return
	}
	c.fail(RuleEnumHidden, path+"/type", leaf.At, "hide the field too, or show a value",
		"every value of %s is hidden, so a model could send nothing for field %q", enum.Key.Value,
		f.Key.Value).relatedf(enum.Key.At, "%q is declared here", enum.Key.Value)
}

// lintHidden warns of hidden fields that a model cannot fill and that must not stay empty: what it
// sends is taken, and refused when it is read again.
func (c *checker) lintHidden() {
	for _, o := range c.fieldOwners() {
		for _, f := range o.fields {
			if !f.Hidden {
				continue
			}
			if why := c.zeroFault(f, nil); why != "" {
				c.warn(RuleHiddenZero, o.path+"/fields/"+f.Key.Value, f.Key.At,
					"add optional: true, or let code fill it before the request is stored",
					"no model can fill hidden field %q, and its empty value %s", f.Key.Value, why)
			}
		}
	}
}

// zeroFault says why a required field cannot be empty, or returns "". The way holds the records
// around the field.
func (c *checker) zeroFault(f *Field, way []*decl) string {
	if f.Optional || !c.isKnown(f.Type) {
		return ""
	}
	kind, _ := c.base(f.Type)
	switch kind {
	case List, Map:
		if f.MinItems != nil && f.MinItems.Value > 0 {
			return "has fewer items than min_items"
		}
	case Named:
		d := c.byName[f.Type.Name]
		if d == nil || slices.Contains(way, d) {
			return ""
		}
		for _, inner := range d.fields {
			if why := c.zeroFault(inner, append(way, d)); why != "" {
				return "has a field " + quoted(inner.Key.Value) + " that " + why
			}
		}
	case String:
		return c.literalFault(f.Type, &Scalar{Kind: "string"}, &f.Constraints).why
	case Int, Float:
		return c.literalFault(f.Type, &Scalar{Kind: "int", Value: "0"}, &f.Constraints).why
	case Bool, Time, Duration, JSON:
	}
	return ""
}
