package spec

import (
	"slices"
	"strconv"

	"github.com/routegen/routegen/generator/report"
)

// valueType is what an expression gives. An empty kind means that something in it was reported.
type valueType struct {
	kind Kind
	enum *Enum
	list bool
}

func (v valueType) String() string {
	name := string(v.kind)
	switch {
	case v.enum != nil:
		name = v.enum.Key.Value
	case v.kind == Named || v.kind == Map:
		name = "a record"
	}
	if v.list {
		return "[]" + name
	}
	return name
}

// typeOf is what values of a type are in expressions.
func (c *checker) typeOf(t *TypeExpr) valueType {
	if t == nil || !c.isKnown(t) {
		return valueType{}
	}
	if t.Kind == List {
		kind, enum := c.base(t.Elem)
		return valueType{kind: kind, enum: enum, list: true}
	}
	kind, enum := c.base(t)
	return valueType{kind: kind, enum: enum}
}

// each calls for an expression and everything in it.
func (e *Expr) each(visit func(*Expr)) {
	if e == nil {
		return
	}
	visit(e)
	for _, arg := range e.Args {
		arg.each(visit)
	}
}

// isText reports whether an expression is a text in quotes.
func (e *Expr) isText() bool { return e != nil && e.Op == "value" && e.Value.Kind == "string" }

// isNull reports whether an expression is nothing, which only a set step can give: it empties the
// slot.
func (e *Expr) isNull() bool { return e != nil && e.Op == "value" && e.Value.Kind == "null" }

// checkBool requires an expression that is true or false.
func (s *flowScope) checkBool(e *Expr, path string) {
	if e == nil {
		return
	}
	t := s.exprType(e, path)
	if t.kind == "" || t.kind == Bool && !t.list {
		return
	}
	hint := "compare it with something"
	if e.Op == "slot" {
		hint = "compare it with something, or write filled(" + e.Slot.Value + ")"
	}
	s.fail(RuleFlowType, path, e.At, hint, "%s is neither true nor false", s.named(e, t))
}

// named is an expression in a message, with its type.
func (s *flowScope) named(e *Expr, t valueType) string {
	switch {
	case e.Op == "slot":
		return strconv.Quote(e.Slot.Value) + " (" + t.String() + ")"
	case e.Op == "item":
		return "an item of " + strconv.Quote(e.Slot.Value) + " (" + t.String() + ")"
	case e.isText():
		return "'" + shortened(e.Value.Value, maxQuoted) + "' (a text)"
	case e.Op == "value":
		return e.Value.Value + " (" + t.String() + ")"
	case e.Op == "list":
		return "a list"
	}
	return "this (" + t.String() + ")"
}

// exprType finds the type of an expression and reports what does not fit in it.
func (s *flowScope) exprType(e *Expr, path string) valueType {
	if e == nil {
		return valueType{}
	}
	switch e.Op {
	case "value":
		return valueType{kind: map[string]Kind{"int": Int, "float": Float,
			"bool": Bool}[e.Value.Kind] + map[bool]Kind{true: String}[e.Value.Kind == "string"]}
	case "slot", "filled":
		slot := s.slot(e.Slot, path)
		s.read[e.Slot.Value] = true
		if slot == nil {
			return valueType{}
		}
		if e.Op == "filled" {
			return valueType{kind: Bool}
		}
		return s.typeOf(slot.Type)
	case "list":
		kind := valueType{kind: "list"}
		for _, arg := range e.Args {
			s.exprType(arg, path)
		}
		return kind
	case "and", "or", "not":
		for _, arg := range e.Args {
			s.checkBool(arg, path)
		}
	case "in":
		s.checkIn(e, path)
	default:
		s.checkComparison(e, path)
	}
	return valueType{kind: Bool}
}

func (s *flowScope) checkComparison(e *Expr, path string) {
	left, right := e.Args[0], e.Args[1]
	a, b := s.exprType(left, path), s.exprType(right, path)
	if a.kind == "" || b.kind == "" {
		return
	}
	for i, t := range []valueType{a, b} {
		switch {
		case t.list || t.kind == "list":
			s.fail(RuleFlowType, path, e.Args[i].At, "write value in list",
				"%s is a list: it has no comparison but in", s.named(e.Args[i], t))
			return
		case t.kind == JSON:
			s.fail(RuleFlowType, path, e.Args[i].At,
				"let an action give you what you need in a slot of its own",
				"%s is json: it has no comparison", s.named(e.Args[i], t))
			return
		}
	}
	if !s.comparable(left, a, right, b, path) {
		return
	}
	ordered := a.isNumber() || a.kind == Time || a.kind == Duration || b.kind == Time ||
		b.kind == Duration
	if e.Op != "==" && e.Op != "!=" && !ordered {
		s.fail(RuleFlowType, path, e.At, "write == or !=", "%s has no order", s.named(left, a))
		return
	}
	s.checkReach(e.Op, left, right, path)
}

func (v valueType) isNumber() bool { return !v.list && (v.kind == Int || v.kind == Float) }

// comparable reports whether two single values can be equal, after it has reported why not.
func (s *flowScope) comparable(left *Expr, a valueType, right *Expr, b valueType,
	path string) bool {
	if right.isText() && !left.isText() {
		return s.fits(right, left, a, path)
	} else if left.isText() && !right.isText() {
		return s.fits(left, right, b, path)
	}
	if a.isNumber() && b.isNumber() || a.kind == b.kind &&
		(a.enum == b.enum || a.enum == nil || b.enum == nil) {
		return true
	}
	at := report.Span{Start: left.At.Start, End: right.At.End}
	if at.Start.Line != at.End.Line {
		at = left.At
	}
	s.fail(RuleFlowType, path, at, "compare values of one type", "%s and %s cannot be compared",
		s.named(left, a), s.named(right, b))
	return false
}

// fits reports whether a text can be a value of a type, after it has reported why not.
func (s *flowScope) fits(text, other *Expr, t valueType, path string) bool {
	switch t.kind {
	case String, Time, Duration:
		x := s.textFault(t.kind, t.enum, &text.Value)
		if x.why == "" {
			return true
		}
		if t.enum != nil {
			s.noValue(text, t.enum, path)
			return false
		}
		hint := map[Kind]string{Time: "write it like '2006-01-02T15:04:05Z'",
			Duration: "write it like '90s', '15m' or '24h'"}[t.kind]
		s.fail(RuleFlowType, path, text.At, hint, "%s is compared with '%s', which %s",
			s.named(other, t), shortened(text.Value.Value, maxQuoted), x.why)
	default:
		hint := "compare values of one type"
		if _, err := strconv.ParseFloat(text.Value.Value, 64); t.isNumber() && err == nil ||
			t.kind == Bool && (text.Value.Value == "true" || text.Value.Value == "false") {
			hint = "write it without quotes"
		}
		s.fail(RuleFlowType, path, text.At, hint, "%s and %s cannot be compared", s.named(other, t),
			s.named(text, valueType{kind: String}))
	}
	return false
}

// noValue reports a literal that its enum does not have.
func (s *flowScope) noValue(text *Expr, enum *Enum, path string) {
	near := nearestOf(s.checker, enum.Values, text.Value.Value)
	f := s.fail(RuleRefValue, path, text.At, didYouMean(near), "%s has no value %q", enum.Key.Value,
		text.Value.Value)
	f.relatedf(enum.Key.At, "enum %s is declared here", enum.Key.Value)
	if near != "" {
		f.replace("'" + near + "'")
	}
}

// checkIn requires one value on the left, and a list of such values on the right.
func (s *flowScope) checkIn(e *Expr, path string) {
	left, right := e.Args[0], e.Args[1]
	a, b := s.exprType(left, path), s.exprType(right, path)
	if a.kind == "" || b.kind == "" {
		return
	}
	switch {
	case a.list || a.kind == "list" || a.kind == JSON:
		s.fail(RuleFlowType, path, left.At, "write one value", "%s is not a single value",
			s.named(left, a))
	case b.kind == "list":
		for _, item := range right.Args {
			if !s.comparable(left, a, item, s.exprType(item, path), path) {
				return
			}
			s.checkReach("==", left, item, path)
		}
	case !b.list:
		s.fail(RuleFlowType, path, right.At, "write ['a', 'b'], or name a slot that is a list",
			"%s is not a list", s.named(right, b))
	default:
		item := &Expr{Op: "item", Slot: right.Slot, At: right.At}
		if s.comparable(left, a, item, valueType{kind: b.kind, enum: b.enum}, path) {
			s.checkReach("==", left, item, path)
		}
	}
}

// assignable reports whether values of one type may go where another is wanted.
func (s *flowScope) assignable(from valueType, to *TypeExpr) bool {
	want := s.typeOf(to)
	switch {
	case from.kind == "" || want.kind == "" || want.kind == JSON && !want.list:
		return true
	case from.kind == JSON && !from.list:
		// what a model or an action has made: it is checked when it is used
		return slices.Contains([]Kind{Named, Map}, want.kind) || to.Kind == Map ||
			to.Kind == List && to.Elem.Elem != nil
	case from.list != want.list:
		return false
	case from.kind == Named || want.kind == Named || from.kind == Map || want.kind == Map ||
		from.kind == List || want.kind == List:
		return false
	case from.kind == Int && want.kind == Float && !from.list:
		return true
	}
	return from.kind == want.kind && (want.enum == nil || want.enum == from.enum)
}
