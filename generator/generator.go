// Package generator turns one routes.yaml into files in memory. It does not touch the disk; the
// caller reads, writes and compares.
package generator

import (
	"path"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/emit"
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime/schema"
)

// Result is the output for one spec.
type Result struct {
	// Plan is every name and table; nil if there is an error among the findings.
	Plan *plan.Plan
	// Files are the texts to write, by slash-separated path relative to the spec's folder; nil if
	// there is an error among the findings.
	Files map[string][]byte
	// Findings are all errors, then all warnings, each sorted by position, without those the spec
	// allows.
	Findings []report.Finding
	// Source is the spec's text, and Included are the files that it includes.
	Source   []byte
	Included []report.File

	name string
}

// Spec reads the source again and returns it with every position, or nil if it cannot be read. A
// Result does not keep it: a large spec takes a third of the memory of its output, and only
// explanations need it.
func (r *Result) Spec() *spec.Spec {
	sp, _ := spec.Parse(r.name, r.Source, r.Included...)
	return sp
}

// Generate reads a spec and renders its whole output. Name is the spec's path as findings show it;
// the marker of each file names its last element. Included are the files that the spec includes, as
// [spec.ReadIncluded] returns them. The same bytes always give the same result. Generate is safe
// for concurrent use.
//
// It does not check schemas against the limits of providers; see [Check].
func Generate(name string, src []byte, included ...report.File) *Result {
	r := makePlan(name, src, included, false)
	r.render()
	return r
}

// Check does what Generate does, and warns of every routing whose schema exceeds the limits of a
// provider.
func Check(name string, src []byte, included ...report.File) *Result {
	r := makePlan(name, src, included, true)
	r.render()
	return r
}

// Plan does what Generate does up to the plan and leaves Files nil. A review needs no more than two
// plans.
func Plan(name string, src []byte, included ...report.File) *Result {
	return makePlan(name, src, included, false)
}

// GenerateLenient does what Generate does for an older version of a spec. Errors of style rules do
// not prevent the plan and the files: the spec may have been valid when it was written, it cannot
// be repaired, and it can still be compared.
func GenerateLenient(name string, src []byte, included ...report.File) *Result {
	r := &Result{Source: src, Included: included, name: name}
	r.makePlan(false, func(f report.Finding) bool {
		return isError(f) && !spec.IsStyleRule(f.Rule)
	})
	r.render()
	return r
}

func makePlan(name string, src []byte, included []report.File, limits bool) *Result {
	r := &Result{Source: src, Included: included, name: name}
	r.makePlan(limits, isError)
	return r
}

// makePlan makes the plan, unless a finding prevents it.
func (r *Result) makePlan(limits bool, prevents func(report.Finding) bool) {
	sp, findings := spec.Parse(r.name, r.Source, r.Included...)
	if sp != nil {
		var more []report.Finding
		r.Plan, more = plan.Build(sp)
		findings = merge(findings, more)
		if limits && !hasError(findings) {
			findings = append(findings, emit.Limits(r.Plan, r.name)...)
		}
		findings = spec.Suppress(findings, applicable(sp.Allows, limits))
	}
	if slices.ContainsFunc(findings, prevents) {
		r.Plan = nil
	}
	r.Findings = r.resolve(findings)
}

// resolve moves findings into the files that they are about. A plan has none if the spec cannot be
// read, so the places are asked of the texts.
func (r *Result) resolve(findings []report.Finding) []report.Finding {
	if len(r.Included) > 0 && len(findings) > 0 {
		files := append([]report.File{{Name: r.name, Text: r.Source}}, r.Included...)
		report.JoinFiles(files...).Places.Resolve(r.name, findings)
		report.Sort(findings)
	}
	return findings
}

// render makes the files of the plan, if there is one. If that fails, which is a bug of the
// generator, it adds a finding and removes the plan.
func (r *Result) render() {
	if r.Plan == nil {
		return
	}
	files, err := emit.Files(r.Plan)
	if err == nil {
		files[path.Join(r.Plan.Out, EditorSchemaFile)], err = editorSchema(r.Plan)
	}
	if err != nil {
		r.Findings = append(r.Findings, report.Finding{
			Rule: spec.RuleOutputBroken, Severity: report.Error, File: r.name, Message: err.Error(),
		})
		r.Plan = nil
		return
	}
	r.Files = files
}

// merge adds the name collisions that the plan found. A name that is reported already is not
// reported again, and a name that collides in several ways is reported once.
func merge(findings, more []report.Finding) []report.Finding {
	reported := map[report.Pos]bool{}
	for _, f := range findings {
		if strings.HasPrefix(f.Rule, "NAME_") || f.Rule == spec.RuleEnumDuplicate {
			reported[f.At.Start] = true
		}
	}
	for _, f := range more {
		if !reported[f.At.Start] {
			reported[f.At.Start] = true
			findings = append(findings, f)
		}
	}
	return findings
}

// applicable leaves out the allows of rules that were not checked: whether they are needed is not
// known.
func applicable(allows []*spec.Allow, limits bool) []*spec.Allow {
	return slices.DeleteFunc(slices.Clone(allows), func(a *spec.Allow) bool {
		return !limits && a.Rule == spec.RuleSchemaLimit
	})
}

// EditorSchemaFile is the schema of routes.yaml itself, relative to the output package: what the
// first line of a spec names, so that an editor completes and checks it.
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
	at := slices.IndexFunc(root.Members, func(m schema.Member) bool { return m.Key == "$schema" }) +
		1
	marked := &schema.Value{Kind: schema.Object, Members: slices.Insert(slices.Clone(root.Members),
		at, marker)}
	return append(marked.Indent(), '\n'), nil
}

func isError(f report.Finding) bool { return f.Severity == report.Error }

func hasError(findings []report.Finding) bool { return slices.ContainsFunc(findings, isError) }
