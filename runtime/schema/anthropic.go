package schema

import (
	"regexp"
	"slices"
	"strings"
)

// anthropicDialect leaves optional properties out of required: of null unions it allows even fewer.
// Keywords and limits are those of the page "Structured outputs" of platform.claude.com; the limits
// hold for all strict schemas of a request together, so one document must stay within them.
func anthropicDialect() dialect {
	return dialect{
		name: "anthropic", takes: anthropicTakes, strict: true,
		rules:  []string{"keyword", "closed_object", "recursion", "enum_case"},
		limits: []limit{{"optional_total", 24}, {"union_total", 16}},
	}
}

func anthropicTakes(keyword string, v *Value) bool {
	switch keyword {
	case "$ref", "$defs", "type", "title", "description", "const", "anyOf", "items", "properties",
		"required":
		return true
	case "enum":
		return !slices.ContainsFunc(v.Members, func(m Member) bool { return m.Value.Kind > String })
	case "allOf":
		return !slices.ContainsFunc(v.Members, func(m Member) bool {
			return m.Value.Get("$ref") != nil
		})
	case "additionalProperties":
		return v.Text == "false"
	case "minItems":
		return v.Text == "0" || v.Text == "1"
	case "format":
		return slices.Contains([]string{"date-time", "time", "date", "duration", "email",
			"hostname", "uri", "ipv4", "ipv6", "uuid"}, v.Text)
	case "pattern":
		return plainTakes(keyword, v) &&
			!slices.ContainsFunc(patternPiece.FindAllString(v.Text, -1), irregular)
	}
	return false
}

// patternPiece eats an escape whole, so that an escaped backslash or bracket starts nothing.
var patternPiece = regexp.MustCompile(`\\.|\(\?[^:]`)

// irregular reports whether a piece is a word boundary, a back-reference, or a group with a
// question mark other than (?:...): look-around, and forms whose meaning differs between engines.
func irregular(piece string) bool {
	return piece[0] == '(' || strings.ContainsAny(piece[1:], "bBk123456789")
}
