package review

import (
	"fmt"
	"strings"
)

// maxRows bounds each list, maxText each text, and fullAt is from where on nothing more is begun,
// so that a comment on a pull request holds the whole: GitHub takes 65,536 characters.
const (
	maxRows = 40
	maxText = 600
	fullAt  = 50_000
)

// Markdown returns the report fit to be posted on a pull request. It cuts long lists, and says so.
// Nothing in it mentions anybody or links anywhere.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n", md(r.title()))
	for _, s := range r.sections() {
		fmt.Fprintf(&b, "\n**%s:** %s.\n", s.title, md(s.lead))
		if len(s.rows) > 0 {
			b.WriteString("\n| who | where | before | now |\n|---|---|---|---|\n")
		}
		for i, row := range s.rows {
			if r.cut(&b, i, len(s.rows)) {
				break
			}
			for _, cell := range row {
				b.WriteString("| " + md(shorten(cell)) + " ")
			}
			b.WriteString("|\n")
		}
		if len(s.items)+len(s.diffs) > 0 {
			b.WriteByte('\n')
		}
		for i, item := range s.items {
			if r.cut(&b, i, len(s.items)) {
				break
			}
			fmt.Fprintf(&b, "* %s\n", md(shorten(item)))
		}
		for i, d := range s.diffs {
			if r.cut(&b, i, len(s.diffs)) {
				break
			}
			fmt.Fprintf(&b, "* %s: %s\n", md(d.name), md(shorten(oneLine(d.text))))
		}
	}
	return b.String()
}

// cut reports whether a list ends before its row i, and says how many are left out.
func (r *Report) cut(b *strings.Builder, i, all int) bool {
	if i < maxRows && b.Len() <= fullAt {
		return false
	}
	fmt.Fprintf(b, "\n…and %d more: `routegen diff --against %s --format json` lists all.\n", all-i,
		strings.NewReplacer("`", "'", "\n", " ").Replace(r.Base))
	return true
}

func shorten(s string) string {
	if len(s) <= maxText {
		return s
	}
	runes := []rune(s)
	return string(runes[:min(len(runes), maxText)]) + " …"
}

// md writes text so that Markdown, HTML and GitHub's mentions read nothing into it.
func md(s string) string {
	return strings.NewReplacer(
		"\\", "\\\\", "|", "\\|", "`", "\\`", "*", "\\*", "[", "\\[", "]", "\\]", "<", "&lt;", ">",
		"&gt;", "~", "\\~",
		// an invisible space keeps a mention, an issue's number and a bare address from being one
		"@", "@\u200b", "#", "#\u200b", "://", ":\u200b//", "www.", "www\u200b.",
		"\r", " ", "\n", " ", "_", "\\_",
	).Replace(s)
}
