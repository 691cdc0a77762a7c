package emit

import (
	"strings"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
)

// docWidth is where comments wrap: characters of text, without the slashes.
const docWidth = 100

// doc renders sentences as a comment above a declaration. Each line stands behind "// ", so no text
// can end the comment or become a directive.
func doc(sentences ...string) *jen.Statement {
	s := &jen.Statement{}
	for _, line := range wrap(strings.Join(nonEmpty(sentences), " ")) {
		s.Comment(strings.TrimRight("// "+line, " ")).Line()
	}
	return s
}

// docWith is doc followed by a blank comment line and a directive.
func docWith(directive string, sentences ...string) *jen.Statement {
	s := doc(sentences...)
	if len(sentences) > 0 {
		s.Comment("//").Line()
	}
	return s.Comment(directive).Line()
}

func nonEmpty(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// wrap folds white space and breaks lines. A word that an old tool would obey at the start of a
// line is escaped.
func wrap(text string) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = inert(word)
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > docWidth:
			lines = append(lines, line)
			line = inert(word)
		default:
			line += " " + word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

func inert(word string) string {
	if strings.HasPrefix(word, "+build") || strings.HasPrefix(word, "#cgo") {
		return `\` + word
	}
	return word
}
