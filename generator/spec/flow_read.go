package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/generator/report"
)

// exprKey is a key with an expression.
func exprKey[T any](name, doc string, at func(*T) **Expr) key[T] {
	return key[T]{Key{Name: name, doc: doc}, func(r *reader, info *Key, n *node, into *T) {
		if t := r.textOf(info, n); t.Set() {
			*at(into) = r.parseExpr(t, n)
		}
	}}
}

// wordsKey is a key with a text for the user.
func wordsKey[T any](name, doc string, at func(*T) *Words) key[T] {
	return key[T]{Key{Name: name, doc: doc, Form: FormWords},
		func(r *reader, info *Key, n *node, into *T) {
			*at(into) = r.wordsOf(info, n)
		}}
}

// wordsOf reads a text, its variations, or either by language.
func (r *reader) wordsOf(info *Key, n *node) Words {
	if n.Kind != MappingNode {
		if variants := r.variantsOf(info, n); len(variants) > 0 {
			return Words{{Variants: variants}}
		}
		return nil
	}
	var out Words
	languages := *info
	languages.keys = classLanguage
	r.eachEntry(&languages, n, func(name Text, value *node) {
		if value.Kind == MappingNode {
			r.wrongKind(&Key{List: true}, value)
			return
		}
		if variants := r.variantsOf(info, value); len(variants) > 0 {
			out = append(out, WordsIn{Language: name, Variants: variants})
		}
	})
	if len(n.Content) == 0 {
		r.report(RuleFlowTemplate, r.span(n), "write a text", "there is nothing to say")
	}
	return out
}

// variantsOf reads one text or a list of them.
func (r *reader) variantsOf(info *Key, n *node) []Template {
	one := Key{Name: info.Name}
	items := []*node{n}
	switch {
	case n.Kind == SequenceNode:
		if items = n.Content; len(items) == 0 {
			r.report(RuleFlowTemplate, r.span(n), "write a text", "there is nothing to say")
		}
	case n.Kind != ScalarNode:
		r.wrongKind(info, n)
		return nil
	}
	var out []Template
	for i, item := range items {
		if n.Kind == SequenceNode {
			r.path = append(r.path, strconv.Itoa(i))
		}
		if t := r.textOf(&one, item); t.Set() {
			out = append(out, r.parseTemplate(t, item))
		}
		if n.Kind == SequenceNode {
			r.path = r.path[:len(r.path)-1]
		}
	}
	return out
}

// listKey is a key with a list of mappings; add makes room for one more.
func listKey[T, U any](name, doc string, g *grammar[U], add func(*T, report.Span) *U) key[T] {
	return key[T]{Key{Name: name, doc: doc, Form: FormMapping, Of: g.Shape, List: true},
		func(r *reader, info *Key, n *node, into *T) {
			r.eachItem(info, n, func(item *node) { readMapping(r, g, item, add(into, r.keyAt)) })
		}}
}

func (r *reader) eachItem(info *Key, n *node, read func(item *node)) {
	if n.Kind != SequenceNode {
		r.wrongKind(info, n)
		return
	}
	for i, item := range n.Content {
		r.path, r.keyAt = append(r.path, strconv.Itoa(i)), r.span(item)
		read(item)
		r.path = r.path[:len(r.path)-1]
	}
}

// stepsKey is a list of steps. Which keys each was written with is kept: what a step may have
// depends on its type.
func stepsKey[T any](name, doc string, g *grammar[Step], at func(*T) *[]*Step) key[T] {
	return key[T]{Key{Name: name, doc: doc, Form: FormMapping, Of: g.Shape, List: true},
		func(r *reader, info *Key, n *node, into *T) {
			if n.Kind == SequenceNode && len(n.Content) == 0 && info.required {
				r.report(RuleFlowEmpty, r.span(n), "write at least one", "there are no steps")
			}
			r.eachItem(info, n, func(item *node) {
				s := &Step{At: r.keyAt}
				for _, part := range r.path {
					s.path += "/" + pointerEscape(part)
				}
				if item.Kind == MappingNode {
					for i := 0; i+1 < len(item.Content); i += 2 {
						s.Keys = append(s.Keys,
							Text{Value: item.Content[i].Value, At: r.span(item.Content[i])})
					}
				}
				readMapping(r, g, item, s)
				to := at(into)
				*to = append(*to, s)
			})
		}}
}

// bindsKey is a mapping from names to values.
func bindsKey[T any](name, doc string, g *grammar[Bind], at func(*T) *[]*Bind) key[T] {
	return key[T]{Key{Name: name, doc: doc, Form: FormEntries, keys: classSnake, Of: g.Shape},
		func(r *reader, info *Key, n *node, into *T) {
			r.eachEntry(info, n, func(name Text, value *node) {
				b := &Bind{Name: name}
				if value.Kind == SequenceNode {
					b.short, b.Value = true, r.literals(value)
				} else {
					readMapping(r, g, value, b)
				}
				if value.Kind == MappingNode && b.Value == nil && len(value.Content) == 0 {
					r.report(RuleFlowBind, r.span(value), "write {from: slot} or {expr: ...}",
						"%q is given nothing", name.Value)
				}
				to := at(into)
				*to = append(*to, b)
			})
		}}
}

// setGrammar is a value of a set step: a literal, or null to empty the slot.
func setGrammar() *grammar[Bind] {
	return bindGrammar("value",
		Key{Name: "a literal, a text with {slot}, or null, which empties the slot",
			Form: formLiteralOrNull}, func(r *reader, t Text, n *node, into *Bind) {
			into.Text = Words{{Variants: []Template{r.parseTemplate(t, n)}}}
		})
}

// inputGrammar is an input of an action or a flow: a word is the name of a slot.
func inputGrammar() *grammar[Bind] {
	return bindGrammar("input",
		Key{Name: "the name of a slot, a literal, or a text with {slot}", Form: formLiteral},
		func(r *reader, t Text, n *node, into *Bind) {
			switch {
			case isSlotName(t.Value):
				into.short, into.Value = true, &Expr{Op: "slot", Slot: t, At: t.At}
			case strings.Contains(t.Value, "{"):
				into.Text = Words{{Variants: []Template{r.parseTemplate(t, n)}}}
			default:
				r.report(RuleFlowBind, t.At,
					"write {expr: ...}; a text in it has quotes of its own",
					"%q is not the name of a slot", t.Value)
			}
		})
}

func bindGrammar(noun string, short Key,
	text func(r *reader, t Text, n *node, into *Bind)) *grammar[Bind] {
	from := key[Bind]{Key{Name: "from", doc: "A slot."},
		func(r *reader, info *Key, n *node, into *Bind) {
			if t := r.textOf(info, n); t.Set() {
				into.Value = &Expr{Op: "slot", Slot: t, At: t.At}
			}
		}}
	expr := key[Bind]{Key{Name: "expr", doc: "An expression."},
		func(r *reader, info *Key, n *node, into *Bind) {
			t := r.textOf(info, n)
			switch {
			case !t.Set():
			case into.Value != nil:
				r.report(RuleConflict, t.At, "keep one of them", "a value has from: or expr:")
			default:
				into.Value = r.parseExpr(t, n)
			}
		}}
	return newGrammar(noun, false, from, expr).orShort(short, func(r *reader, n *node, into *Bind) {
		if n.Tag == TagNull && n.Value != "" && short.Form == formLiteralOrNull {
			at := r.span(n)
			into.short, into.Value = true,
				&Expr{Op: "value", Value: Scalar{Value: n.Value, Kind: "null", At: at}, At: at}
			return
		}
		if n.Tag == TagText {
			if t := r.textOf(&Key{}, n); t.Set() {
				text(r, t, n, into)
			}
			return
		}
		into.short, into.Value = true, r.literal(n)
	})
}

// literal reads a number, true or false; nil after a report.
func (r *reader) literal(n *node) *Expr {
	if n.Kind == ScalarNode && n.Tag == TagNull {
		r.report(RuleScalarKind, r.span(n), "write a value", "%s is not a value", nodeNoun(n))
		return nil
	}
	s := r.scalarOf(&Key{Form: formScalar}, n)
	if s == nil {
		return nil
	}
	return &Expr{Op: "value", Value: *s, At: s.At}
}

// literals reads a list of literals; nil after a report.
func (r *reader) literals(n *node) *Expr {
	out := &Expr{Op: "list", At: r.span(n)}
	for i, item := range n.Content {
		r.path = append(r.path, strconv.Itoa(i))
		if v := r.literal(item); v != nil {
			out.Args = append(out.Args, v)
		}
		r.path = r.path[:len(r.path)-1]
	}
	if len(out.Args) < len(n.Content) {
		return nil
	}
	return out
}

// outputsKey is a mapping from outputs to the slots they go to.
func outputsKey() key[Step] {
	info := Key{
		Name: "outputs",
		doc: "action, call: the slot that each output goes to. Outputs of actions that are not " +
			"named go to the slot of their name.",
		Form: FormEntries, keys: classSnake, Of: &Shape{Short: Key{Name: "text"}},
	}
	return key[Step]{info, func(r *reader, info *Key, n *node, into *Step) {
		r.eachEntry(info, n, func(name Text, value *node) {
			if to := r.textOf(&Key{}, value); to.Set() {
				into.Outputs = append(into.Outputs, &Bind{Name: name, To: to})
			}
		})
	}}
}

// keywords are the words of expressions; no slot has such a name.
func keywords() []string { return []string{"and", "or", "not", "in", "true", "false", "filled"} }

// isSlotName reports whether a text has the form of a slot's name.
func isSlotName(text string) bool {
	set, _ := classSnake.charset()
	for i, c := range text {
		if !within(c, set.first) && (i == 0 || !within(c, set.rest)) {
			return false
		}
	}
	return text != "" && !slices.Contains(keywords(), text)
}
