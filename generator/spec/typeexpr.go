package spec

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/routegen/routegen/generator/report"
)

// basicKinds are the types that need no declaration.
func basicKinds() []string {
	return []string{string(String), string(Bool), string(Int), string(Float), string(Time),
		string(Duration), string(JSON)}
}

// maxTypeText bounds the text of a type.
const maxTypeText = 200

// parseType reads a type expression; nil after a report.
func (r *reader) parseType(t Text, n *node) *TypeExpr {
	at := t.At
	if !isPlain(n) {
		at.Start.Column++
	}
	if t.Value == "" {
		r.report(RuleTypeSyntax, t.At, "write string, []T, map[string]T or a name",
			"the type is empty")
		return nil
	}
	if isOutside(t.Value) || strings.ContainsRune(t.Value, '/') || strings.HasPrefix(t.Value, "#") {
		r.report(RuleRefOutside, t.At, "declare the type under types:",
			"%q points outside the spec", t.Value)
		return nil
	}
	if len(t.Value) > maxTypeText {
		r.report(RuleTypeSyntax, t.At, "declare records for the inner types",
			"a type expression has at most %d characters", maxTypeText)
		return nil
	}
	if strings.Count(t.Value, "[") > maxTypeDepth {
		r.report(RuleTypeSyntax, t.At, "declare records for the inner types",
			"lists and maps are nested more than %d deep", maxTypeDepth)
		return nil
	}
	return r.typeAt(t.Value, at.Start)
}

// maxTypeDepth bounds lists of lists. Schemas and decoders nest as deep.
const maxTypeDepth = 8

// typeAt parses the rest of an expression that begins at a position.
func (r *reader) typeAt(text string, start report.Pos) *TypeExpr {
	at := report.Span{Start: start,
		End: report.Pos{Line: start.Line, Column: start.Column + utf8.RuneCountInString(text)}}
	deeper := func(skip int) *TypeExpr {
		return r.typeAt(text[skip:], report.Pos{Line: start.Line, Column: start.Column + skip})
	}
	switch {
	case strings.HasPrefix(text, "[]"):
		if elem := deeper(2); elem != nil {
			return &TypeExpr{Kind: List, Elem: elem, At: at}
		}
		return nil
	case strings.HasPrefix(text, "map["):
		end := strings.IndexByte(text, ']')
		if end < 0 {
			r.report(RuleTypeSyntax, at, "write map[string]T", "%q has no closing ]", text)
			return nil
		}
		if key := text[4:end]; key != "string" {
			r.report(RuleTypeMapKey, at, "write map[string]"+text[end+1:],
				"map keys are strings, not %q", key)
			return nil
		}
		if elem := deeper(end + 1); elem != nil {
			return &TypeExpr{Kind: Map, Elem: elem, At: at}
		}
		return nil
	case text == "any" || text == "object" || text == "interface{}":
		r.report(RuleTypeAny, at, "declare a record under types:, or write json and hide the field",
			"%q says nothing about the value", text)
		return nil
	case strings.HasPrefix(text, "*") || strings.HasSuffix(text, "?"):
		r.report(RuleTypeSyntax, at, "write optional: true beside the type", "%q is not a type",
			text)
		return nil
	case !isWord(text):
		hint := "write string, []T, map[string]T or a name"
		if like := formOfOtherLanguage(text); like != "" {
			hint = didYouMean(like)
		}
		r.report(RuleTypeSyntax, at, hint, "%q is not a type", text)
		return nil
	}
	if slices.Contains(basicKinds(), text) {
		return &TypeExpr{Kind: Kind(text), At: at}
	}
	return &TypeExpr{Kind: Named, Name: text, At: at}
}

func isWord(text string) bool {
	for i := range len(text) {
		if !within(rune(text[i]), alnum+"__") {
			return false
		}
	}
	return text != ""
}

// formOfOtherLanguage writes a list or a map of other languages as this one does: T[], list<T>,
// Array[T], map<string, T>; "" for what is neither.
func formOfOtherLanguage(text string) string {
	if elem, ok := strings.CutSuffix(text, "[]"); ok && isWord(elem) {
		return "[]" + ownType(elem)
	}
	open := strings.IndexAny(text, "<[")
	if open < 0 || !strings.HasSuffix(text, ">") && !strings.HasSuffix(text, "]") {
		return ""
	}
	inner := text[open+1 : len(text)-1]
	switch strings.ToLower(text[:open]) {
	case "list", "array", "set", "seq", "sequence", "vec", "slice":
		if isWord(inner) {
			return "[]" + ownType(inner)
		}
	case "map", "dict", "record", "object", "hashmap":
		if _, elem, ok := strings.Cut(inner, ","); ok && isWord(strings.TrimSpace(elem)) {
			return "map[string]" + ownType(strings.TrimSpace(elem))
		}
	}
	return ""
}

// ownType is the name of a type in this language.
func ownType(name string) string { return cmp.Or(typeOfOtherLanguage(name), name) }

// typeOfOtherLanguage translates the name of a type in other languages, or returns "".
func typeOfOtherLanguage(name string) string {
	switch strings.ToLower(name) {
	case "str", "text", "varchar", "uuid":
		return "string"
	case "integer", "int32", "int64", "long", "uint", "uint64":
		return "int"
	case "number", "double", "float32", "float64", "decimal":
		return "float"
	case "boolean":
		return "bool"
	case "datetime", "date", "timestamp":
		return "time"
	case "rawmessage", "raw":
		return "json"
	}
	return ""
}

// String returns the expression as it is written in a spec.
func (t *TypeExpr) String() string {
	switch {
	case t == nil:
		return ""
	case t.Kind == List:
		return "[]" + t.Elem.String()
	case t.Kind == Map:
		return "map[string]" + t.Elem.String()
	case t.Kind == Named:
		return t.Name
	}
	return string(t.Kind)
}

// Leaf returns the type that lists and maps are finally made of; nil for nil.
func (t *TypeExpr) Leaf() *TypeExpr {
	for t != nil && t.Elem != nil {
		t = t.Elem
	}
	return t
}
