package generator

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime/prompt"
)

// CheckPrompts reads the template of every node, NAME.tmpl in folder, and puts its text into the
// plan. It adds a finding for each template that does not use exactly the vars of its node, and, if
// go.prompts names the folder, for each that does not exist. With such a finding, Plan and Files
// become nil. It does nothing without a plan.
func (r *Result) CheckPrompts(folder fs.FS) {
	if r.Plan == nil {
		return
	}
	var bad []report.Finding
	for _, n := range r.Plan.Nodes {
		if n.Prompt == nil {
			continue
		}
		name := n.Template + ".tmpl"
		text, err := fs.ReadFile(folder, name)
		if err != nil && r.Plan.Prompts == "" && errors.Is(err, fs.ErrNotExist) {
			continue // only the program knows its folder
		}
		if err == nil {
			n.Prompt.Text = oneLineEnd(string(text))
			err = prompt.CheckTemplate(n.Template, string(text), n.Vars)
		}
		if err != nil {
			at := n.Prompt.Pos
			bad = append(bad, report.Finding{
				Rule: spec.RulePromptTemplate, Severity: report.Error, File: r.name,
				At: report.Span{Start: at, End: at}, Path: "/nodes/" + n.Key + "/prompt",
				Message: err.Error(), Hint: "looked in " + cmp.Or(r.Plan.Prompts,
					"the shipped templates; go.prompts names a folder of your own"),
			})
		}
	}
	if len(bad) == 0 {
		return
	}
	r.Plan, r.Files = nil, nil
	r.Findings = append(slices.Clone(r.Findings), r.resolve(bad)...)
	report.Sort(r.Findings)
}

// ReadPrompts puts the text of each template that read returns into the plan, without checks. It is
// for older versions of a spec, which are compared only.
func (r *Result) ReadPrompts(read func(template string) (text string, ok bool)) {
	if r.Plan == nil {
		return
	}
	for _, n := range r.Plan.Nodes {
		if n.Prompt == nil {
			continue
		}
		if text, ok := read(n.Template); ok {
			n.Prompt.Text = oneLineEnd(text)
		}
	}
}

// oneLineEnd makes the line ends of a text alike: a checkout may have changed them.
func oneLineEnd(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
