package emit

import (
	"fmt"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/schema"
)

// maxLinted is how many branches a routing may have for its schema to be read in full. No provider
// takes a tenth of that.
const maxLinted = 2000

// Limits compares the schema of every whole routing with what each provider accepts. The findings
// are warnings: a thread that asks only for narrowed schemas is not affected. File is the name of
// the spec in the findings.
func Limits(p *plan.Plan, file string) []report.Finding {
	c := NewComposer(p)
	var out []report.Finding
	for _, r := range p.Routings {
		at := p.Interrupt.Pos
		if n := p.Node(r.Node); n != nil {
			at = n.Pos
		}
		for _, d := range runtime.Dialects() {
			if d == runtime.Plain {
				continue
			}
			for _, message := range c.limits(d, r) {
				out = append(out, report.Finding{
					Rule: spec.RuleSchemaLimit, Severity: report.Warning, File: file,
					At:      report.Span{Start: at, End: at},
					Message: fmt.Sprintf("the %s schema of %s: %s", d, r.Name, message),
				})
			}
		}
	}
	return out
}

// limits returns the limits of a provider that the schema of a routing exceeds. A routing that has
// no form in the dialect exceeds none.
func (c *Composer) limits(d runtime.Dialect, r plan.Routing) []string {
	if len(r.Branches) > maxLinted {
		return []string{fmt.Sprintf("%d branches, more than any provider takes: narrow it before "+
			"you send it", len(r.Branches))}
	}
	text := c.Routing(d, r)
	if text == "" {
		return nil
	}
	findings, err := schema.Lint(d, []byte(text))
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, f := range findings {
		switch {
		case f.Notice:
		case f.Pointer == "":
			out = append(out, f.Message)
		default:
			out = append(out, f.Pointer+": "+f.Message)
		}
	}
	return out
}
