package spec

import (
	"slices"
	"strconv"
	"strings"
)

// wordsKey is a key with a text for the user.
func wordsKey(name, doc string) Key { return Key{Name: name, doc: doc, Form: FormWords} }

// bindsKey is a key with a mapping from names to values.
func bindsKey(name, doc string, of *Shape) Key {
	return Key{Name: name, doc: doc, Form: FormEntries, keys: classSnake, Of: of}
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
	var out []Template
	readOne := func(item *node) {
		if t := r.textOf(&Key{Name: info.Name, class: classWords}, item); t.Set() {
			out = append(out, r.parseTemplate(t, item))
		}
	}
	switch {
	case n.Kind == ScalarNode:
		readOne(n)
	case n.Kind != SequenceNode:
		r.wrongKind(info, n)
	case len(n.Content) == 0:
		r.report(RuleFlowTemplate, r.span(n), "write a text", "there is nothing to say")
	default:
		r.eachItem(info, n, readOne)
	}
	return out
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

// stepsOf reads a list of steps. Which keys each was written with is kept: what a step may have
// depends on its type.
func (r *reader) stepsOf(info *Key, n *node) []*Step {
	if n.Kind == SequenceNode && len(n.Content) == 0 && info.required {
		r.report(RuleFlowEmpty, r.span(n), "write at least one", "there are no steps")
	}
	var out []*Step
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
		r.readMapping(info.Of, item, s)
		out = append(out, s)
	})
	return out
}

// bindsOf reads a mapping from names to values.
func (r *reader) bindsOf(info *Key, n *node) []*Bind {
	var out []*Bind
	r.eachEntry(info, n, func(name Text, value *node) {
		b := &Bind{Name: name}
		if value.Kind == SequenceNode {
			b.short, b.Value = true, r.literals(value)
		} else {
			r.readMapping(info.Of, value, b)
		}
		if value.Kind == MappingNode && b.Value == nil && len(value.Content) == 0 {
			r.report(RuleFlowBind, r.span(value), "write {from: slot} or {expr: ...}",
				"%q is given nothing", name.Value)
		}
		out = append(out, b)
	})
	return out
}

// setShape is a value of a set step: a literal, or null to empty the slot.
func setShape() *Shape {
	return bindShape("value",
		Key{Name: "a literal, a text with {slot}, or null, which empties the slot",
			Form: formLiteralOrNull}, func(r *reader, t Text, n *node, into *Bind) {
			into.Text = Words{{Variants: []Template{r.parseTemplate(t, n)}}}
		})
}

// inputShape is an input of an action or a flow: a word is the name of a slot.
func inputShape() *Shape {
	return bindShape("input",
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

func bindShape(noun string, short Key,
	readText func(r *reader, t Text, n *node, into *Bind)) *Shape {
	from := readBy(text("from", classAny, "A slot."),
		func(r *reader, info *Key, n *node, into *Bind) {
			if t := r.textOf(info, n); t.Set() {
				into.Value = &Expr{Op: "slot", Slot: t, At: t.At}
			}
		})
	expr := readBy(text("expr", classAny, "An expression."),
		func(r *reader, info *Key, n *node, into *Bind) {
			t := r.textOf(info, n)
			switch {
			case !t.Set():
			case into.Value != nil:
				r.report(RuleConflict, t.At, "keep one of them", "a value has from: or expr:")
			default:
				into.Value = r.parseExpr(t, n)
			}
		})
	readShort := func(r *reader, _ *Key, n *node, into *Bind) {
		if n.Tag == TagNull && n.Value != "" && short.Form == formLiteralOrNull {
			at := r.span(n)
			into.short, into.Value = true,
				&Expr{Op: "value", Value: Scalar{Value: n.Value, Kind: "null", At: at}, At: at}
			return
		}
		if n.Tag == TagText {
			if t := r.textOf(&Key{}, n); t.Set() {
				readText(r, t, n, into)
			}
			return
		}
		into.short, into.Value = true, r.literal(n)
	}
	return newShape[Bind](noun, from, expr).orShort(readBy(short, readShort))
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
	r.eachItem(&Key{}, n, func(item *node) {
		if v := r.literal(item); v != nil {
			out.Args = append(out.Args, v)
		}
	})
	if len(out.Args) < len(n.Content) {
		return nil
	}
	return out
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
