package emit

import (
	"fmt"
	"strings"
	"unicode"
)

// markdown is text that is safe inside a cell of a Markdown table, a list item or a heading.
type markdown string

// mermaid is text that is safe inside a quoted label of a mermaid diagram.
type mermaid string

// mdNone fills a cell that has nothing to say.
const mdNone = markdown("-")

// mdText escapes prose for Markdown: it stays on one line, and no character of it is read as markup
// or HTML.
func mdText(s string) markdown {
	if s = strings.Join(strings.Fields(s), " "); s == "" {
		return mdNone
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("\\`*_[]|$~#", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		default:
			b.WriteRune(r)
		}
	}
	return markdown(b.String())
}

// mdCode shows a name as code. A name that code marks cannot hold is escaped as prose.
func mdCode(s string) markdown {
	if s == "" {
		return mdNone
	}
	if strings.ContainsAny(s, "`|\r\n") {
		return mdText(s)
	}
	return markdown("`" + s + "`")
}

// mdCodes shows the names that are not empty, joined by commas.
func mdCodes(names ...string) markdown {
	var parts []string
	for _, name := range names {
		if name != "" {
			parts = append(parts, string(mdCode(name)))
		}
	}
	if len(parts) == 0 {
		return mdNone
	}
	return markdown(strings.Join(parts, ", "))
}

// mermaidText escapes prose for mermaid: every character that could be syntax, and a mark at the
// start that would be read as a list, becomes a numbered entity.
func mermaidText(s string) mermaid {
	var b strings.Builder
	for i, r := range strings.Join(strings.Fields(s), " ") {
		switch {
		case r == ' ', r > unicode.MaxASCII, unicode.IsLetter(r), unicode.IsDigit(r), i > 0 &&
			(r == '-' || r == '_'):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return mermaid(b.String())
}
