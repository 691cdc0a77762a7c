package spec

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of expressions: longer and deeper ones are for actions.
const (
	maxExprText  = 1000
	maxExprDepth = 32
)

// lexeme is one word of an expression. Kind is one of: word number text symbol end.
type lexeme struct {
	kind     string
	text     string // of texts without their quotes
	from, to int
}

// parser reads one expression, left to right, each operator by how tightly it binds.
type parser struct {
	*reader
	*placer

	source string
	at     int // where the next token is looked for
	token  lexeme
	failed bool
	depth  int
}

// parseExpr reads an expression; nil after a report.
func (r *reader) parseExpr(t Text, n *node) *Expr {
	if len(t.Value) > maxExprText {
		r.report(RuleFlowExpr, t.At, "let an action decide it",
			"an expression has at most %d characters", maxExprText)
		return nil
	}
	p := &parser{reader: r, placer: r.placerOf(t, n), source: t.Value}
	p.advance()
	e := p.or()
	if !p.failed && p.token.kind != "end" {
		p.unexpected("and, or, a comparison, or the end")
	}
	if p.failed {
		return nil
	}
	return e
}

// failf reports the first mistake; what follows it would be noise.
func (p *parser) failf(from, to int, hint, format string, args ...any) {
	if !p.failed {
		p.report(RuleFlowExpr, p.stretch(from, to), hint, format, args...)
	}
	p.stop()
}

// stop lets the parser see nothing more.
func (p *parser) stop() {
	p.failed = true
	p.token = lexeme{kind: "end", from: len(p.source), to: len(p.source)}
	p.at = len(p.source)
}

// replaceable reports a word that other languages write so.
func (p *parser) replaceable(word string) {
	if p.failed {
		return
	}
	at := p.stretch(p.token.from, p.token.to)
	p.report(RuleFlowExpr, at, didYouMean(word), "%q has no meaning in expressions",
		p.source[p.token.from:p.token.to]).replace(word)
	p.stop()
}

func (p *parser) unexpected(wanted string) {
	if p.token.kind == "end" {
		p.failf(max(0, len(p.source)-1), len(p.source), "",
			"the expression ends where there should be %s", wanted)
		return
	}
	p.failf(p.token.from, p.token.to, "", "%q stands where there should be %s",
		p.source[p.token.from:p.token.to], wanted)
}

// advance reads the next token.
func (p *parser) advance() {
	for p.at < len(p.source) && isSpace(rune(p.source[p.at])) {
		p.at++
	}
	from := p.at
	p.token = lexeme{kind: "end", from: from, to: from}
	if from == len(p.source) {
		return
	}
	rest := p.source[from:]
	switch c := rest[0]; {
	case c == '\'' || c == '"':
		end := strings.IndexByte(rest[1:], c)
		if end < 0 {
			p.failf(from, len(p.source), "end it with "+string(c), "the text is not closed")
			return
		}
		p.take("text", end+2)
		p.token.text = rest[1 : end+1]
	case within(rune(c), "09") || c == '-' && len(rest) > 1 && within(rune(rest[1]), "09"):
		p.number(rest)
	case within(rune(c), alnum+"__"):
		p.take("word", prefix(rest, alnum+"__--"))
		p.word()
	default:
		p.symbol(rest)
	}
}

// take makes a token of so many bytes.
func (p *parser) take(kind string, width int) {
	p.token = lexeme{kind: kind, text: p.source[p.at : p.at+width], from: p.at, to: p.at + width}
	p.at += width
}

// prefix is how many bytes at the beginning are of some ranges.
func prefix(text, ranges string) int {
	n := 0
	for n < len(text) && within(rune(text[n]), ranges) {
		n++
	}
	return n
}

func (p *parser) number(rest string) {
	width := 1 + prefix(rest[1:], alnum+"__..")
	digits := strings.TrimPrefix(rest[:width], "-")
	whole, part, dot := strings.Cut(digits, ".")
	bad := prefix(whole, "09") < len(whole) || prefix(part, "09") < len(part) || dot &&
		part == "" || len(whole) > 1 && whole[0] == '0' || len(digits) > 30
	p.take("number", width)
	if bad {
		p.failf(p.token.from, p.token.to, "write it in plain digits; a text has quotes",
			"%q is not a number", p.token.text)
	}
}

// word refuses what other languages call the same.
func (p *parser) word() {
	word := p.token.text
	lower := strings.ToLower(word)
	switch {
	case slices.Contains(keywords(), word) || isSlotName(word):
		if lower == "null" || lower == "none" || lower == "nil" || lower == "undefined" {
			p.failf(p.token.from, p.token.to, "write filled(slot), or not filled(slot)",
				"%q has no meaning in expressions", word)
		}
	case slices.Contains(keywords(), lower):
		p.replaceable(lower)
	case strings.Contains(word, "-"):
		p.failf(p.token.from, p.token.to, "expressions do not calculate: let an action do it",
			"%q is not the name of a slot", word)
	default:
		p.failf(p.token.from, p.token.to, "put a text in quotes: '"+word+"'",
			"%q is not the name of a slot", word)
	}
}

func (p *parser) symbol(rest string) {
	for _, s := range []string{"==", "!=", "<=", ">=", "<", ">", "(", ")", "[", "]", ","} {
		if strings.HasPrefix(rest, s) {
			p.take("symbol", len(s))
			if s == "==" && strings.HasPrefix(rest, "===") {
				p.token.to++
				p.replaceable("==")
			}
			return
		}
	}
	for _, pair := range [][2]string{{"&&", "and"}, {"||", "or"}, {"<>", "!="}, {"=", "=="},
		{"!", "not"}, {"&", "and"}, {"|", "or"}} {
		if strings.HasPrefix(rest, pair[0]) {
			p.take("symbol", len(pair[0]))
			p.replaceable(pair[1])
			return
		}
	}
	c, size := utf8.DecodeRuneInString(rest)
	hint := "expressions are made of slots, numbers, texts in quotes, comparisons, and, or, not, " +
		"in, filled()"
	switch {
	case strings.ContainsRune("+-*/%", c):
		hint = "expressions do not calculate: let an action do it"
	case c == '{':
		hint = "a slot stands in an expression without braces"
	case c == '.':
		hint = "a slot has no parts: let an action give you what you need in a slot of its own"
	}
	p.failf(p.at, p.at+size, hint, "%q has no meaning in expressions", c)
}

// is reports whether the next token is a word or a symbol.
func (p *parser) is(text string) bool {
	return (p.token.kind == "word" || p.token.kind == "symbol") && p.token.text == text
}

// made is an expression from an offset up to the token that was read last.
func (p *parser) made(op string, from int, args ...*Expr) *Expr {
	to := p.token.from
	for to > from+1 && isSpace(rune(p.source[to-1])) {
		to--
	}
	return &Expr{Op: op, Args: args, At: p.stretch(from, to)}
}
