package review

import (
	"fmt"
	"strings"
)

// maxRows bounds each table, maxText each text, and fullAt is from where on nothing more is begun,
// so that a comment on a pull request holds the whole: GitHub takes 65,536 characters.
const (
	maxRows = 40
	maxText = 600
	fullAt  = 50_000
)

// Markdown returns the report fit to be posted on a pull request. It cuts long tables, and
// says so.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n", md(r.title()))
	if r.Empty() {
		return b.String()
	}
	fmt.Fprintf(&b, "\n**Breaking:** %s. Stored threads: %s.\n", r.verdict(), r.storedVerdict())
	r.mdChanges(&b)
	r.mdAccess(&b)
	r.mdModels(&b)
	r.mdGo(&b)
	return b.String()
}

// storedVerdict says in half a sentence what becomes of stored threads.
func (r *Report) storedVerdict() string {
	n := 0
	for _, c := range r.Changes {
		for _, s := range c.Stored {
			if !strings.HasPrefix(s, "none") {
				n++
				break
			}
		}
	}
	if n == 0 {
		return "all of them can go on, as no change breaks what they rely on"
	}
	return counted(n, "change") + ifElse(n == 1, " below breaks", " below break") +
		" what they rely on: a thread that holds such data is refused (incompatible) with the " +
		"value named, and kept untouched; the others go on"
}

func (r *Report) mdChanges(b *strings.Builder) {
	if len(r.Changes) == 0 {
		return
	}
	b.WriteString("\n| change | Go code and callers | models | stored threads " +
		"|\n|---|---|---|---|\n")
	for i, c := range r.worstFirst() {
		if i == maxRows || b.Len() > fullAt {
			r.cut(b, len(r.Changes)-i, "change")
			break
		}
		first := []string{fmt.Sprintf("**%s** %s `%s`%s", c.Op, c.Thing, mdCode(c.Name),
			ifElse(c.Was != "", ", was `"+mdCode(c.Was)+"`", ""))}
		first = append(first, fmt.Sprintf("%s:%d", md(r.Source), max(c.Line, 1)))
		if c.Rule != "" {
			first = append(first, fmt.Sprintf("%s `%s`", c.Severity, c.Rule))
		}
		for _, d := range c.Details {
			first = append(first, md(shorten(d)))
		}
		if c.Severity == "error" {
			first = append(first, "*"+md(c.Advice)+"*")
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", strings.Join(first, "<br>"), mdCell(c.Callers),
			mdCell(c.Models), mdCell(c.Stored))
	}
}

func mdCell(list []string) string {
	out := make([]string, 0, len(list))
	for _, s := range stands(list) {
		out = append(out, md(shorten(s)))
	}
	return strings.Join(out, "<br>")
}

func (r *Report) cut(b *strings.Builder, n int, noun string) {
	// the text form leaves the names of the Go API out
	form := ifElse(noun == "name", " --format json", "")
	fmt.Fprintf(b, "\n…and %s: `routegen diff --against %s%s` lists all.\n",
		plural(n, "more "+noun), mdCode(r.Base), form)
}

func (r *Report) mdAccess(b *strings.Builder) {
	if len(r.Access) == 0 {
		return
	}
	b.WriteString("\n#### Who can now go where\n\nOnly what changed.\n\n| who | where | before | " +
		"after |\n|---|---|---|---|\n")
	for i, c := range r.Access {
		if i == maxRows || b.Len() > fullAt {
			r.cut(b, len(r.Access)-i, "row")
			break
		}
		who, where, before, after := c.way()
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", md(who), md(where), md(shorten(before)),
			md(shorten(after)))
	}
}

func (r *Report) mdModels(b *strings.Builder) {
	if len(r.Schemas)+len(r.Texts) == 0 {
		return
	}
	b.WriteString("\n#### What models now see\n")
	if len(r.Schemas) > 0 {
		b.WriteString("\nSchemas whose text changed, in the plain dialect; those that changed " +
			"most first.\n\n| schema | before | after | |\n|---|---|---|---|\n")
		shown, small := r.largeSchemas()
		for i, s := range shown {
			if i == maxRows || b.Len() > fullAt {
				r.cut(b, len(shown)-i, "schema")
				break
			}
			fmt.Fprintf(b, "| %s | %s | %s | %+d |\n", md(s.Name), bytesText(s.Before),
				bytesText(s.After), s.After-s.Before)
		}
		if small > 0 {
			fmt.Fprintf(b, "\n%s changed by less than %d bytes: what is in them is listed above.\n",
				counted(small, "more schema"), smallChange)
		}
	}
	for i, t := range r.Texts {
		if i == maxRows/2 || b.Len() > fullAt {
			r.cut(b, len(r.Texts)-i, "text")
			break
		}
		fmt.Fprintf(b, "\n%s of `%s` (%s:%d), %s:\n\n", ifElse(t.Prompt, "Prompt", "Doc"),
			mdCode(t.Name), md(r.Source), max(t.Line, 1), wordDelta(t.Before, t.After))
		fence := "```"
		for strings.Contains(t.Before+t.After, fence) {
			fence += "`"
		}
		fmt.Fprintf(b, "%sdiff\n%s%s%s\n", fence, diffLines("- ", t.Before),
			diffLines("+ ", t.After), fence)
	}
}

// diffLines marks every line of a text.
func diffLines(mark, text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(shorten(text)) {
		b.WriteString(mark + strings.TrimRight(line, "\r\n") + "\n")
	}
	return b.String()
}

func (r *Report) mdGo(b *strings.Builder) {
	if len(r.Interfaces)+len(r.API.Added)+len(r.API.Changed)+len(r.API.Removed) == 0 {
		return
	}
	b.WriteString("\n#### Whose Go stops compiling\n\n")
	for _, i := range r.Interfaces {
		fmt.Fprintf(b, "* `%s`%s", i.Name, md(i.summary()))
		b.WriteString(ifElse(i.stops(), ". `go build ./...` names the implementers.\n",
			": implementers go on compiling.\n"))
	}
	if len(r.API.Removed)+len(r.API.Changed) > 0 {
		b.WriteString("* Code that names what was removed or changed: see the list below.\n")
	} else if len(r.Interfaces) == 0 {
		b.WriteString("* Nobody's: names were only added.\n")
	}
	fmt.Fprintf(b, "\n<details><summary>Go API: %d added, %d changed, %d removed</summary>\n\n",
		len(r.API.Added), len(r.API.Changed), len(r.API.Removed))
	for _, part := range []struct {
		name string
		list []string
	}{{"removed", r.API.Removed}, {"changed", r.API.Changed}, {"added", r.API.Added}} {
		for i, s := range part.list {
			if i == maxRows || b.Len() > fullAt {
				r.cut(b, len(part.list)-i, "name")
				break
			}
			fmt.Fprintf(b, "* %s %s\n", part.name, md(s))
		}
	}
	b.WriteString("\n</details>\n")
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
		"&gt;", "@", "&#64;", "#", "&#35;", "~", "\\~",
		"\r", " ", "\n", " ", "_", "\\_",
	).Replace(s)
}

// mdCode writes what stands in a code span: only names come here, and a table's bar is the one sign
// to mind.
func mdCode(s string) string {
	return strings.NewReplacer("`", "'", "|", "\\|", "\n", " ").
		Replace(s)
}
