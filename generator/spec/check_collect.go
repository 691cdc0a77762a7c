package spec

import "strings"

// checkCollect requires an arm for every value of the enum that the decision is made of.
func (c *checker) checkCollect(n *Node, path string) {
	k := n.Collect
	c.checkArms(n, path)
	d := c.byName[k.Result.Value]
	if d == nil {
		return
	}
	enum := c.decisionEnum(k, d)
	if enum == nil {
		c.fail(RuleCollectEnum, path+"/result", k.Result.At, "give it a field of an enum type",
			"%s has no field of an enum, nor has a record in it", k.Result.Value).
			relatedf(d.at, "%q is declared here", d.name)
		return
	}
	armed := make(map[string]bool, len(k.On))
	for _, a := range k.On {
		armed[a.Decision.Value] = true
		c.enumRef(enum, a.Decision, path+"/on/"+a.Decision.Value)
	}
	if k.Default.Set() {
		c.enumRef(enum, k.Default, path+"/default")
	}
	var missing []string
	for _, v := range enum.Values {
		if !armed[v.Key.Value] {
			missing = append(missing, v.Key.Value)
		}
	}
	if len(missing) > 0 {
		c.fail(RuleCollectNotTotal, path+"/on", k.At, "add "+missing[0]+": <branch>, or "+
			missing[0]+": end", "the table of node %q has no arm for %s", n.Key.Value,
			strings.Join(missing, ", ")).
			relatedf(enum.Key.At, "enum %s is declared here", enum.Key.Value)
	}
	c.checkCarry(n, d, path)
}

func (c *checker) checkArms(n *Node, path string) {
	for _, a := range n.Collect.On {
		if a.To.Value == "end" {
			continue
		}
		if b := c.branchRef(n, a.To, path+"/on/"+a.Decision.Value); b != nil &&
			b.Type.Value == "interrupt" {
			c.fail(RuleRefBranch, path+"/on/"+a.Decision.Value, a.To.At,
				"name a branch that goes on, or end", "a decision cannot raise an interrupt")
		}
	}
}

func (c *checker) enumRef(e *Enum, t Text, path string) {
	if find(c, e.Values, t.Value) != nil {
		return
	}
	c.failNear(RuleRefValue, path, t, candidatesOf(c, e.Values), "", "%s has no value %q",
		e.Key.Value, t.Value).relatedf(e.Key.At, "enum %s is declared here", e.Key.Value)
}

// decisionEnum finds the enum of the decision in the result or one record deep: of several, the one
// the arms name most often.
func (c *checker) decisionEnum(k *Collect, d *decl) *Enum {
	var best *Enum
	hits := -1
	try := func(fields []*Field) {
		for _, f := range fields {
			if f.Type == nil {
				continue
			}
			_, enum := c.base(f.Type)
			if enum == nil {
				continue
			}
			n := 0
			for _, a := range k.On {
				if find(c, enum.Values, a.Decision.Value) != nil {
					n++
				}
			}
			if n > hits {
				best, hits = enum, n
			}
		}
	}
	try(d.fields)
	for _, f := range d.fields {
		if f.Type != nil && f.Type.Kind == Named && c.byName[f.Type.Name] != nil {
			try(c.byName[f.Type.Name].fields)
		}
	}
	return best
}

// checkCarry requires fields that exist on both sides and have the same type.
func (c *checker) checkCarry(n *Node, result *decl, path string) {
	for _, carry := range n.Collect.Carry {
		at := path + "/carry/" + carry.Field.Value
		from := find(c, result.fields, carry.From.Value)
		if from == nil {
			near := nearestOf(c, result.fields, carry.From.Value)
			c.fail(RuleRefField, at, carry.From.At, didYouMean(near), "%s has no field %q",
				result.name, carry.From.Value)
		}
		found := false
		var fields []*Field // of all requests it could go to
		for _, a := range n.Collect.On {
			next := c.armTarget(n, a)
			if next == nil {
				continue
			}
			to := find(c, next.fields(), carry.Field.Value)
			if to == nil {
				fields = append(fields, next.fields()[:min(len(next.fields()), c.candidates())]...)
				continue
			}
			found = true
			if from != nil && c.isKnown(from.Type) && c.isKnown(to.Type) &&
				from.Type.String() != to.Type.String() {
				c.fail(RuleFieldType, at, carry.From.At, "carry between fields of one type",
					"%s.%s is %s, but %s.%s is %s",
					result.name, from.Key.Value, from.Type, next.RequestName(), to.Key.Value,
					to.Type)
				break
			}
		}
		if !found && len(fields) > 0 {
			c.fail(RuleRefField, at, carry.Field.At,
				didYouMean(nearestOf(c, fields, carry.Field.Value)),
				"no request that the table leads to has a field %q", carry.Field.Value)
		}
	}
}

// armTarget returns the node that an arm leads to; nil for `end` and for results.
func (c *checker) armTarget(n *Node, a Arm) *Node {
	if b := find(c, n.Branches, a.To.Value); b != nil {
		return c.takers[b.Type.Value]
	}
	return nil
}
