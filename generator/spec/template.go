package spec

import (
	"strconv"
	"strings"
)

// maxTemplate is the largest number of characters of a text.
const maxTemplate = 4000

// maxDecimals is the largest number of decimals of a place.
const maxDecimals = 9

// parseTemplate reads a text with places such as {amount} and {amount:2}. {{ and }} are braces.
// It reports what it cannot read and returns the rest.
func (r *reader) parseTemplate(t Text, n *node) Template {
	out := Template{Source: t}
	switch {
	case strings.TrimSpace(t.Value) == "":
		r.report(RuleFlowTemplate, t.At, "write a text", "there is nothing to say")
		return out
	case len(t.Value) > maxTemplate:
		r.report(RuleFlowTemplate, t.At, "say it in several steps",
			"a text has at most %d characters", maxTemplate)
		return out
	case !strings.ContainsAny(t.Value, "{}"):
		out.Parts = []Part{{Text: t.Value}}
		return out
	}
	p := r.placerOf(t, n)
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			out.Parts = append(out.Parts, Part{Text: text.String()})
			text.Reset()
		}
	}
	for at := 0; at < len(t.Value); {
		c := t.Value[at]
		switch {
		case c != '{' && c != '}':
			text.WriteByte(c)
			at++
		case at+1 < len(t.Value) && t.Value[at+1] == c:
			text.WriteByte(c)
			at += 2
		case c == '}':
			r.report(RuleFlowTemplate, p.stretch(at, at+1), "write }} for a brace",
				"a brace is closed that was not opened")
			at++
		default:
			flush()
			width := r.readPlaceholder(p, t.Value, at, &out)
			at += width
		}
	}
	flush()
	return out
}

// readPlaceholder reads {name} or {name:2} at an offset and returns how long it is.
func (r *reader) readPlaceholder(p *placer, text string, at int, out *Template) int {
	end := strings.IndexAny(text[at+1:], "{}\n")
	if end < 0 || text[at+1+end] != '}' {
		r.report(RuleFlowTemplate, p.stretch(at, at+1), "close it with }, or write {{ for a brace",
			"a brace is opened and not closed")
		return 1
	}
	width := end + 2
	name, decimals, rounded := strings.Cut(text[at+1:at+1+end], ":")
	part := Part{Name: Text{Value: name, At: p.stretch(at+1, at+1+max(1, len(name)))}}
	if !isSlotName(name) {
		hint := "a place is the name of a slot, as in {amount}, or {amount:2} for two decimals; " +
			"{{ is a brace"
		r.report(RuleFlowTemplate, p.stretch(at, at+width), hint, "%q is not a place for a value",
			text[at:at+width])
		return width
	}
	if rounded {
		n, err := strconv.Atoi(decimals)
		if err != nil || n < 0 || n > maxDecimals || strconv.Itoa(n) != decimals {
			from := at + 2 + len(name)
			r.report(RuleFlowTemplate, p.stretch(from, max(from+1, at+width-1)),
				"write how many decimals, 0 to 9", "%q is not a number of decimals", decimals)
			return width
		}
		part.Decimals = n + 1
	}
	out.Parts = append(out.Parts, part)
	return width
}
