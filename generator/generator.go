// Package generator turns one routes.yaml into files in memory. It never touches the disk: reading, writing and comparing
// are the caller's.
package generator

import (
	"path"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/emit"
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime/schema"
)

// Result is everything one spec gives.
type Result struct {
	// Plan is every name and table, decided; nil when there is an error among the findings.
	Plan *plan.Plan
	// Files are the texts to be written, by slash-separated path relative to the spec's folder; nil when there is an error
	// among the findings.
	Files map[string][]byte
	// Findings are all errors and warnings, sorted by position, those the spec allows left out.
	Findings []spec.Finding
	// Source is the spec's text as it was given.
	Source []byte

	name string
}

// Spec reads the source again and returns it with every position; nil when it cannot be read. A huge spec takes as much
// memory as a third of its output, and only who explains needs it, so a Result does not hold on to it.
func (r *Result) Spec() *spec.Spec {
	sp, _ := spec.Parse(r.name, r.Source)
	return sp
}

// Generate reads a spec and renders its whole output. Name is the spec's path as findings shall show it; its last element
// is what the marker of each file names. The same bytes always give the same result. Generate is safe for concurrent use.
//
// Schemas are not held against the limits of providers: see [Check].
func Generate(name string, src []byte) *Result {
	r := decide(name, src, false)
	r.render()
	return r
}

// Check does what Generate does, and warns of every routing whose schema is more than some provider takes.
func Check(name string, src []byte) *Result {
	r := decide(name, src, true)
	r.render()
	return r
}

// Decide does what Generate does up to the plan, and leaves Files nil: two plans are all that a review needs.
func Decide(name string, src []byte) *Result { return decide(name, src, false) }

// Past does what Generate does for a spec as it once was. Errors that only say that the spec is unwise leave the plan and the files: it may have been
// sound by the rules of its day, nobody can repair it any more, and what has changed since can be told.
func Past(name string, src []byte) *Result {
	r := &Result{Source: src, name: name}
	r.decide(false, func(f spec.Finding) bool { return isError(f) && !spec.Judges(f.Rule) })
	r.render()
	return r
}

func decide(name string, src []byte, limits bool) *Result {
	r := &Result{Source: src, name: name}
	r.decide(limits, isError)
	return r
}

// decide makes the plan, unless a finding hinders it.
func (r *Result) decide(limits bool, hinders func(spec.Finding) bool) {
	name, src := r.name, r.Source
	sp, findings := spec.Parse(name, src)
	if sp != nil {
		var more []spec.Finding
		r.Plan, more = plan.Build(sp)
		findings = merge(findings, more)
		if limits && !hasError(findings) {
			findings = append(findings, emit.Limits(r.Plan, name)...)
		}
		findings = spec.Suppress(findings, judged(sp.Allows, limits))
	}
	if slices.ContainsFunc(findings, hinders) {
		r.Plan = nil
	}
	r.Findings = findings
}

// render makes the files of the plan, if there is one. A defect of this program is a finding, and leaves no plan.
func (r *Result) render() {
	if r.Plan == nil {
		return
	}
	files, err := emit.Files(r.Plan)
	if err == nil {
		files[path.Join(r.Plan.Out, EditorSchemaFile)], err = editorSchema(r.Plan)
	}
	if err != nil {
		r.Findings = append(r.Findings, spec.Finding{
			Rule: spec.RuleOutputBroken, Severity: spec.Error, File: r.name, Message: err.Error(),
		})
		r.Plan = nil
		return
	}
	r.Files = files
}

// merge adds the names that the plan found to clash. A name that the spec refuses already, in the words of the file, is
// not refused again, and one that clashes in several ways is refused once: the others go away with the first.
func merge(findings, more []spec.Finding) []spec.Finding {
	refused := map[spec.Pos]bool{}
	for _, f := range findings {
		if strings.HasPrefix(f.Rule, "NAME_") || f.Rule == spec.RuleEnumDuplicate {
			refused[f.At.Start] = true
		}
	}
	for _, f := range more {
		if !refused[f.At.Start] {
			refused[f.At.Start] = true
			findings = append(findings, f)
		}
	}
	return findings
}

// judged leaves out the allows of a rule that was not asked: nothing can be said of whether they are needed.
func judged(allows []*spec.Allow, limits bool) []*spec.Allow {
	return slices.DeleteFunc(slices.Clone(allows), func(a *spec.Allow) bool { return !limits && a.Rule == spec.RuleSchemaLimit })
}

// EditorSchemaFile is the schema of routes.yaml itself, relative to the output package: what the first line of a spec names,
// so that an editor completes and checks it.
const EditorSchemaFile = "schemas/routes.schema.json"

// editorSchema returns the schema of routes.yaml, marked as generated like every other file.
func editorSchema(p *plan.Plan) ([]byte, error) {
	root, err := schema.Parse(spec.EditorSchema())
	if err != nil {
		return nil, err
	}
	marker := schema.Member{Key: "$comment", Value: &schema.Value{
		Kind: schema.String, Text: "Code generated by routegen from " + p.Source + "; DO NOT EDIT.",
	}}
	at := slices.IndexFunc(root.Members, func(m schema.Member) bool { return m.Key == "$schema" }) + 1
	marked := &schema.Value{Kind: schema.Object, Members: slices.Insert(slices.Clone(root.Members), at, marker)}
	return append(marked.Indent(), '\n'), nil
}

func isError(f spec.Finding) bool { return f.Severity == spec.Error }

func hasError(findings []spec.Finding) bool { return slices.ContainsFunc(findings, isError) }
