package spec

import "slices"

func (p *parser) or() *Expr {
	return p.chain("or", p.and)
}

func (p *parser) and() *Expr {
	return p.chain("and", p.not)
}

// chain reads operands of one operator, and makes one node of them all.
func (p *parser) chain(op string, operand func() *Expr) *Expr {
	from := p.token.from
	args := []*Expr{operand()}
	for p.is(op) {
		p.advance()
		args = append(args, operand())
	}
	if len(args) == 1 {
		return args[0]
	}
	return p.made(op, from, args...)
}

// deeper counts a level of nesting; false when there are too many.
func (p *parser) deeper() bool {
	if p.depth++; p.depth > maxExprDepth {
		p.failf(p.token.from, p.token.to, "let an action decide it",
			"the expression is nested more than %d deep", maxExprDepth)
		return false
	}
	return true
}

func (p *parser) not() *Expr {
	if !p.is("not") {
		return p.comparison()
	}
	from := p.token.from
	if !p.deeper() {
		return nil
	}
	p.advance()
	e := p.made("not", from, p.not())
	p.depth--
	return p.until(e, from)
}

// until lets an expression end where the last token did.
func (p *parser) until(e *Expr, from int) *Expr {
	e.At = p.made("", from).At
	return e
}

func (p *parser) comparison() *Expr {
	from := p.token.from
	left := p.primary()
	op, negated := p.operator()
	if op == "" {
		return left
	}
	e := p.made(op, from, left, p.primary())
	p.until(e, from)
	if next, _ := p.operator(); next != "" {
		p.failf(p.token.from, p.token.to, "write a < b and b < c",
			"comparisons do not stand in a row")
	}
	if negated {
		return p.made("not", from, e)
	}
	return e
}

// operator reads a comparison operator. It returns "" if the next token is not one.
func (p *parser) operator() (op string, negated bool) {
	switch text := p.token.text; {
	case p.token.kind == "symbol" && slices.Contains([]string{"==", "!=", "<", "<=", ">", ">="},
		text), p.is("in"):
		p.advance()
		return text, false
	case p.is("not"):
		from := p.token.from
		p.advance()
		if !p.is("in") {
			p.failf(from, p.token.to, "write not before the whole comparison, or not in",
				"not stands behind what it should stand before")
			return "", false
		}
		p.advance()
		return "in", true
	}
	return "", false
}

func (p *parser) primary() *Expr {
	from, t := p.token.from, p.token
	switch {
	case t.kind == "number" || t.kind == "text" || p.is("true") || p.is("false"):
		return p.literal()
	case p.is("("):
		if !p.deeper() {
			return nil
		}
		p.advance()
		e := p.or()
		p.depth--
		if !p.expect(")") {
			return nil
		}
		return e
	case p.is("["):
		return p.parseList()
	case p.is("filled"):
		p.advance()
		if !p.expect("(") {
			return nil
		}
		slot := p.slot()
		if !p.expect(")") {
			return nil
		}
		e := p.made("filled", from)
		e.Slot = slot
		return e
	case t.kind == "word" && isSlotName(t.text):
		e := &Expr{Op: "slot", Slot: p.slot()}
		e.At = e.Slot.At
		return e
	}
	p.unexpected("a slot, a number or a text")
	return nil
}

func (p *parser) expect(symbol string) bool {
	if !p.is(symbol) {
		p.unexpected(symbol)
		return false
	}
	p.advance()
	return true
}

func (p *parser) slot() Text {
	t := p.token
	if t.kind != "word" || !isSlotName(t.text) {
		p.unexpected("the name of a slot")
		return Text{}
	}
	p.advance()
	return Text{Value: t.text, At: p.stretch(t.from, t.to)}
}

func (p *parser) literal() *Expr {
	t := p.token
	kind := "string"
	switch t.kind {
	case "number":
		kind = "int"
		for i := range len(t.text) {
			if t.text[i] == '.' {
				kind = "float"
			}
		}
	case "word":
		kind = "bool"
	}
	at := p.stretch(t.from, t.to)
	p.advance()
	return &Expr{Op: "value", Value: Scalar{Value: t.text, Kind: kind, At: at}, At: at}
}

// parseList reads literals between brackets.
func (p *parser) parseList() *Expr {
	from := p.token.from
	p.advance()
	var args []*Expr
	for !p.is("]") {
		if len(args) > 0 && !p.expect(",") {
			return nil
		}
		if k := p.token.kind; k != "number" && k != "text" && !p.is("true") && !p.is("false") {
			p.unexpected("a number or a text")
			return nil
		}
		args = append(args, p.literal())
	}
	p.advance()
	if len(args) == 0 {
		p.failf(from, p.token.from, "name what is meant", "the list is empty")
		return nil
	}
	return p.made("list", from, args...)
}
