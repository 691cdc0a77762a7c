package generator

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
)

// HoldPrompts reads the template of every node, NAME.tmpl of folder, and adds a finding for each that does not use exactly the vars of its
// node, and, where go.prompts names the folder, for each that is not there. With a finding there is no output any more. It does nothing
// where the spec was refused. A plan that stays knows the texts.
func (r *Result) HoldPrompts(folder fs.FS) {
	if r.Plan == nil {
		return
	}
	var wrong []spec.Finding
	for _, n := range r.Plan.Nodes {
		if n.Prompt == nil {
			continue
		}
		name := n.Prompt.Template + ".tmpl"
		text, err := fs.ReadFile(folder, name)
		if err != nil && r.Plan.Prompts == "" && errors.Is(err, fs.ErrNotExist) {
			continue // it stands where only the program knows
		}
		if err == nil {
			n.Prompt.Text = oneLineEnd(string(text))
			_, err = runtime.ParseTemplate(n.Prompt.Template, string(text), n.Prompt.Vars, true)
		}
		if err != nil {
			at := spec.Pos{Line: n.Prompt.Line, Column: n.Prompt.Column}
			wrong = append(wrong, spec.Finding{
				Rule: spec.RulePromptTemplate, Severity: spec.Error, File: r.name, At: spec.Span{Start: at, End: at}, Path: "/nodes/" + n.Key + "/prompt",
				Message: err.Error(), Hint: "looked in " + cmp.Or(r.Plan.Prompts, "the shipped templates; go.prompts names a folder of your own"),
			})
		}
	}
	if len(wrong) == 0 {
		return
	}
	r.Plan, r.Files = nil, nil
	r.Findings = append(slices.Clone(r.Findings), wrong...)
	spec.Sort(r.Findings)
}

// ReadPrompts lets the plan know the text of each template that read has, and holds nothing against it: for a spec as it once was, which is
// compared and not judged.
func (r *Result) ReadPrompts(read func(template string) (text string, ok bool)) {
	if r.Plan == nil {
		return
	}
	for _, n := range r.Plan.Nodes {
		if n.Prompt == nil {
			continue
		}
		if text, ok := read(n.Prompt.Template); ok {
			n.Prompt.Text = oneLineEnd(text)
		}
	}
}

// oneLineEnd makes the line ends of a text alike: a checkout may have changed them.
func oneLineEnd(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
