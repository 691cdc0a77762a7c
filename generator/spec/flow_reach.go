package spec

import "strconv"

// checkReach refuses a comparison of a slot with a literal that no value of the slot gets to. A
// slot is held to its type and bounds whenever it is filled, so such a comparison has one outcome:
// what follows it is dead, or is not the condition that it looks like. One that holds for
// every value, such as amount > 0 above min: 1, still asks whether the slot is filled.
func (s *flowScope) checkReach(op string, left, right *Expr, path string) {
	slot, literal := left, right
	if left.Op == "value" {
		slot, literal, op = right, left, mirrored(op)
	}
	if literal.Op != "value" || slot.Op != "slot" && slot.Op != "item" {
		return
	}
	field := s.slots[slot.Slot.Value]
	t, k := field.Type, &field.Constraints
	if slot.Op == "item" {
		t, k = t.Elem, &Constraints{}
	}
	kind, enum := s.base(t)
	if enum != nil || kind != Int && kind != Float && kind != String {
		return // compared as a whole where the types were
	}
	x := s.reachFault(op, t, kind, &literal.Value, k)
	if x.why == "" {
		return
	}
	written := literal.Value.Value
	if literal.isText() {
		written = "'" + shortened(written, maxQuoted) + "'"
	}
	f := s.fail(RuleFlowType, path, literal.At, x.hint, "%s is compared with %s, which %s",
		s.named(slot, s.typeOf(t)), written, x.why)
	f.relatedf(field.Key.At, "%q is declared here", field.Key.Value)
	f.because(x)
}

// reachFault says why a comparison of values of a type with a literal has one outcome.
func (s *flowScope) reachFault(op string, t *TypeExpr, kind Kind, literal *Scalar,
	k *Constraints) fault {
	if op == "==" || op == "!=" {
		return s.literalFault(t, literal, k)
	}
	if kind == Int && literal.Kind == "int" {
		if why, hint := intFault(literal.Value, true); why != "" {
			return fault{why: why, hint: hint}
		}
	}
	for _, h := range s.held(t, k) {
		if x := h.beyond(op, literal); x.why != "" {
			return x
		}
	}
	return fault{}
}

// beyond says that no number within the bounds is on the side of a literal that is asked for.
func (h held) beyond(op string, literal *Scalar) fault {
	v, err := strconv.ParseFloat(literal.Value, 64)
	if err != nil {
		return fault{} // reported as no number
	}
	low, high := h.Min, h.Max
	switch {
	case op == "<" && low != nil && v <= low.Value:
		return h.edge("min", low, "no value is below")
	case op == "<=" && low != nil && v < low.Value:
		return h.edge("min", low, "every value is above")
	case op == ">" && high != nil && v >= high.Value:
		return h.edge("max", high, "no value is above")
	case op == ">=" && high != nil && v > high.Value:
		return h.edge("max", high, "every value is below")
	}
	return fault{}
}

// edge is a fault that a bound is behind.
func (h held) edge(name string, bound *Number, why string) fault {
	if h.of == nil {
		return fault{why: why, hint: name + " is " + bound.String()}
	}
	return fault{why: why, hint: h.label(name) + " is " + bound.String(), rule: h.label(name),
		at: bound.At}
}

// mirrored is an operator with its sides changed.
func mirrored(op string) string {
	if other := map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<="}[op]; other != "" {
		return other
	}
	return op
}
