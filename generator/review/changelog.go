package review

import (
	"fmt"
	"strings"

	"github.com/routegen/routegen/generator/plan"
)

// Changelog returns what changed as Markdown for those who use the generated package: Added, Changed, Removed and Prompt, each only
// where there is something. Names come first, and what breaks says so. Plans that do not differ give "".
func Changelog(old, now *plan.Plan) string {
	r := Compare(old, now)
	sections := map[string][]string{}
	for _, c := range r.Changes {
		section := map[string]string{opAdded: "Added", opRemoved: "Removed"}[c.Op]
		switch {
		case c.Thing == "prompt" || c.Thing == "doc":
			section = "Prompt"
		case section == "":
			section = "Changed"
		}
		sections[section] = append(sections[section], changelogLine(c))
	}
	var b strings.Builder
	for _, name := range []string{"Added", "Changed", "Removed", "Prompt"} {
		if len(sections[name]) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "### %s\n\n%s", name, strings.Join(sections[name], ""))
	}
	return b.String()
}

func changelogLine(c Change) string {
	line := fmt.Sprintf("* %s `%s`", c.Thing, mdCode(c.Name))
	if c.Was != "" {
		line += fmt.Sprintf(", was `%s`", mdCode(c.Was))
	}
	var parts []string
	for _, list := range [][]string{c.Details, c.Callers, c.Models, c.Stored} {
		for _, s := range list {
			if s != "none" && !strings.HasPrefix(s, "none:") {
				parts = append(parts, md(s))
			}
		}
	}
	if c.Severity == "error" {
		line = strings.Replace(line, "* ", "* **Breaking:** ", 1)
	}
	if len(parts) > 0 {
		line += ": " + strings.Join(parts, "; ")
	}
	return line + ".\n"
}
