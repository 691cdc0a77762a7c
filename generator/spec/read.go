package spec

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/generator/report"
)

// nodeNoun says what a value of the document is.
func nodeNoun(n *node) string {
	switch {
	case n.Kind == MappingNode:
		return "a mapping"
	case n.Kind == SequenceNode:
		return "a list"
	case n.Kind == aliasNode:
		return "an alias"
	case n.Tag == TagNull && n.Value == "":
		return "nothing"
	}
	return quoted(n.Value)
}

// Wanted says what a key holds, for messages.
func (k Key) Wanted() string {
	one := [...]string{"text", "true or false", "a whole number", "a number", "a single value",
		"a value", "a mapping", "a mapping of names", "text, a list of texts, or texts by language",
		"a single value or a list"}[k.Form]
	if len(k.values) > 0 {
		one = "one of " + strings.Join(k.values, ", ")
	}
	switch {
	case k.List:
		return "a list of " + strings.TrimPrefix(one, "a ")
	case k.Of != nil && k.Of.Short.Name != "":
		return one + " or " + k.Of.Short.Name
	}
	return one
}

func (r *reader) wrongKind(info *Key, n *node) {
	if n.Kind == aliasNode {
		return // reported once already
	}
	what := "this"
	if len(r.path) > 0 {
		what = quoted(r.path[len(r.path)-1])
	}
	hint := "write " + info.Wanted()
	if info.class == classAssignee && n.Kind == MappingNode && len(n.Content) == 2 {
		hint = "write it without a space: " + n.Content[0].Value + ":" + n.Content[1].Value
	}
	r.report(RuleWrongKind, r.span(n), hint, "%s is %s, not %s", what,
		nodeNoun(n), info.Wanted())
}

// textOf reads one string and checks it by its class.
func (r *reader) textOf(info *Key, n *node) Text {
	at := r.span(n)
	if n.Kind != ScalarNode {
		r.wrongKind(info, n)
		return given(info, n, at)
	}
	if how := misread(n); how != "" && hasTag(n) {
		return given(info, n, at) // the tag was reported
	} else if how != "" {
		f := r.report(RuleScalarKind, at, "", "%s must be text, but it is read as %s", nodeNoun(n),
			how)
		if n.Tag == TagNull {
			if n.Value == "" && len(r.path) > 0 {
				f.Message = quoted(r.path[len(r.path)-1]) + " has no value"
			}
			f.Hint = "write a text, or leave the key out"
		} else {
			f.Hint = "quote it: " + quoted(n.Value)
			f.replace(strconv.Quote(n.Value))
			f.Repairable = true
		}
		return given(info, n, at)
	}
	t := Text{Value: n.Value, At: at}
	// escapes can write characters that the file must not contain
	if c, kind := hiddenIn(n.Value, info.class.isForPeople()); kind != "" {
		r.report(RuleControlChar, at, "leave it out", "%s U+%04X", kind, c)
		return given(info, n, at)
	}
	if len(info.values) > 0 {
		r.oneOfValues(t, info.values)
		return t
	}
	r.checkClass(info.class, t)
	return t
}

// given returns a text for prose that is invalid, so that it is not reported as missing as well.
func given(info *Key, n *node, at report.Span) Text {
	if info.class == classProse || info.class == classLine ||
		info.class == classAssignee {
		return Text{Value: nodeNoun(n), At: at}
	}
	return Text{}
}

func (r *reader) oneOfValues(t Text, values []string) {
	if slices.Contains(values, t.Value) {
		return
	}
	near := r.nearest(t.Value, values)
	f := r.report(RuleValue, t.At, didYouMean(near), "%q is not one of %s", t.Value,
		strings.Join(values, ", "))
	if near != "" {
		f.replace(near)
	}
}

// nameOf reads a key that is a name. It reports an invalid name and returns the zero Text.
func (r *reader) nameOf(c class, n *node) Text {
	if n.Kind == ScalarNode && n.Tag == tagMerge {
		return Text{}
	}
	return r.textOf(&Key{class: c}, n)
}

func (r *reader) textsOf(info *Key, n *node) []Text {
	item := *info
	item.List = false
	out := make([]Text, 0, len(n.Content))
	first := make(map[string]report.Span, min(len(n.Content), 16))
	r.eachItem(info, n, func(child *node) {
		t := r.textOf(&item, child)
		if at, again := first[t.Value]; again && t.Set() {
			r.report(RuleDuplicateItem, t.At, "remove one of them", "%q is in the list twice",
				t.Value).relatedf(at, "%q is first listed here", t.Value)
		} else if t.Set() {
			first[t.Value] = t.At
			out = append(out, t)
		}
	})
	return out
}

func (r *reader) flagOf(info *Key, n *node) bool {
	if n.Kind == ScalarNode && isPlain(n) && (n.Value == "true" || n.Value == "false") {
		return n.Value == "true"
	}
	if n.Kind != ScalarNode {
		r.wrongKind(info, n)
		return false
	}
	r.report(RuleScalarKind, r.span(n), "write true or false", "%s is not true or false",
		nodeNoun(n))
	// so that nothing else is wrong for its sake
	return slices.Contains([]string{"true", "yes", "on"}, strings.ToLower(n.Value))
}

func (r *reader) numberOf(info *Key, n *node) *Number {
	if n.Kind != ScalarNode {
		r.wrongKind(info, n)
		return nil
	}
	whole := n.Tag == tagInt && strings.Trim(n.Value, "+-0123456789") == "" && !leadingZero(n.Value)
	v, err := strconv.ParseFloat(n.Value, 64)
	if err != nil || !whole && (info.Form == formWhole || n.Tag != tagFloat) || math.IsInf(v, 0) ||
		math.IsNaN(v) {
		r.report(RuleScalarKind, r.span(n), "write it in plain digits, without quotes",
			"%s is not %s", nodeNoun(n), info.Wanted())
		return nil
	}
	return &Number{Value: v, At: r.span(n), written: n.Value}
}

// leadingZero reports whether some tools would read the number as octal.
func leadingZero(v string) bool {
	v = strings.TrimLeft(v, "+-")
	return len(v) > 1 && v[0] == '0'
}

// scalarOf reads a literal and remembers how YAML read it.
func (r *reader) scalarOf(info *Key, n *node) *Scalar {
	if n.Kind != ScalarNode {
		r.wrongKind(info, n)
		return nil
	}
	s := &Scalar{Value: n.Value, At: r.span(n)}
	switch n.Tag {
	case tagInt:
		s.Kind = "int"
		if strings.Trim(n.Value, "+-0123456789") != "" || leadingZero(n.Value) {
			r.report(RuleScalarKind, s.At, "write it in plain digits, or quote it",
				"%s is read as %s", nodeNoun(n), misread(n))
			return nil
		}
	case tagFloat:
		s.Kind = "float"
	case tagBool:
		s.Kind = "bool"
		if n.Value != "true" && n.Value != "false" {
			r.report(RuleScalarKind, s.At, "write true or false, or quote it",
				"%s is read as true or false", nodeNoun(n))
			return nil
		}
	case TagNull:
		s.Kind = "null"
	default:
		s.Kind = "string"
		if how := misread(n); how != "" {
			r.report(RuleScalarKind, s.At, "quote it: "+quoted(n.Value), "%s is read as %s",
				nodeNoun(n), how)
			return nil
		}
	}
	return s
}

func (r *reader) scalarsOf(info *Key, n *node) []Scalar {
	if n.Kind != SequenceNode {
		r.wrongKind(info, n)
		return nil
	}
	item := *info
	item.List = false
	var out []Scalar
	for _, child := range n.Content {
		if s := r.scalarOf(&item, child); s != nil {
			out = append(out, *s)
		}
	}
	return out
}

// jsonOf turns any value into JSON text, keys in the order of the file.
func (r *reader) jsonOf(info *Key, n *node) Text {
	var b bytes.Buffer
	if !r.appendJSON(&b, info, n) {
		return Text{}
	}
	return Text{Value: b.String(), At: r.span(n)}
}

func (r *reader) appendJSON(b *bytes.Buffer, info *Key, n *node) bool {
	ok := true
	switch n.Kind {
	case MappingNode:
		b.WriteByte('{')
		seen := map[string]*node{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := r.nameOf(classAny, n.Content[i])
			if !name.Set() {
				return false
			}
			if first := seen[name.Value]; first != nil {
				r.duplicateKey(n.Content[i], first)
			}
			seen[name.Value] = n.Content[i]
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quoteJSON(name.Value) + ":")
			ok = r.appendJSON(b, info, n.Content[i+1]) && ok
		}
		b.WriteByte('}')
	case SequenceNode:
		b.WriteByte('[')
		for i, child := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			ok = r.appendJSON(b, info, child) && ok
		}
		b.WriteByte(']')
	default:
		s := r.scalarOf(info, n)
		if s == nil {
			return false
		}
		b.WriteString(s.JSON())
	}
	return ok
}

// JSON returns the literal as JSON text. A float that JSON cannot say becomes null.
func (s *Scalar) JSON() string {
	switch s.Kind {
	case "bool":
		return s.Value
	case "null":
		return "null"
	case "int":
		// 0x10 and 1_000 are integers in YAML only
		if v, err := strconv.ParseInt(s.Value, 0, 64); err == nil {
			return strconv.FormatInt(v, 10)
		}
		return strings.TrimPrefix(s.Value, "+")
	case "float":
		v, err := strconv.ParseFloat(s.Value, 64)
		if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			return "null"
		}
		text, _ := json.Marshal(v) //nolint:errchkjson // finite
		return string(text)
	}
	return quoteJSON(s.Value)
}

func quoteJSON(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) //nolint:errchkjson // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
