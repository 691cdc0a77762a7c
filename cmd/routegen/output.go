package main

import (
	"errors"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// rulePackageBroken is the rule of handwritten files that do not compile together with the
// generated ones.
const rulePackageBroken = "PACKAGE_BROKEN"

// ruleBindingMismatch is the rule of a bound Go type that differs from the spec.
const ruleBindingMismatch = "BINDING_MISMATCH"

// output is the opened output folder of one spec, and how it differs from the plan.
type output struct {
	src     *source
	root    *os.Root
	planned map[string][]byte // by path relative to the root
	survey  *survey
}

// openOutput opens the root folder and surveys the output in it. A path that cannot be used is
// returned as findings about the spec, an unreadable one as an error. The caller closes the output
// unless there is an error.
func openOutput(src *source, res *generator.Result) (*output, []report.Finding, error) {
	root, err := os.OpenRoot(src.root)
	if err != nil {
		return nil, nil, err
	}
	out := &output{src: src, root: root, planned: map[string][]byte{}}
	for name, text := range res.Files {
		out.planned[src.at(name)] = text
	}
	// The schemas come before the folder that holds them, so that both can become empty.
	folders := []string{src.at(path.Join(res.Plan.Out, "schemas")), src.at(res.Plan.Out)}
	if docs := src.at(res.Plan.Docs); !slices.Contains(folders, docs) {
		folders = append(folders, docs)
	}
	if err = checkModule(root, src.at(res.Plan.Out)); err == nil {
		out.survey, err = surveyor{
			root: root, owner: owner{res.Plan.Source}, planned: out.planned, folders: folders,
		}.survey()
	}
	if err == nil {
		return out, nil, nil
	}
	findings := refusals(src, res, err)
	if findings == nil {
		out.close()
		return nil, nil, err
	}
	return out, findings, nil
}

// checkModule returns an outError where a folder belongs to a module within that of the root: no
// package of this one could import what is generated there.
func checkModule(root *os.Root, dir string) error {
	for _, prefix := range prefixes(dir) {
		if info, err := root.Stat(path.Join(prefix, "go.mod")); err == nil && !info.IsDir() {
			return &outError{spec.RuleOutInvalid, prefix,
				"is another module: it has a go.mod of its own"}
		}
	}
	return nil
}

// close closes the folder.
func (o *output) close() { _ = o.root.Close() }

// refusals returns outErrors as findings at the key that names the folder, nil if the error is of
// another kind.
func refusals(src *source, res *generator.Result, err error) []report.Finding {
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	var out []report.Finding
	for _, e := range list {
		var refused *outError
		if !errors.As(e, &refused) {
			return nil
		}
		written := res.Spec().Go
		key := written.Out
		if docs := src.at(res.Plan.Docs); written.Docs.Set() &&
			(refused.path == docs || within(docs, refused.path)) {
			key = written.Docs
		}
		hint := "move it away, then generate again"
		if refused.rule == spec.RuleOutInvalid {
			hint = "name a folder of the module"
		}
		out = append(out, report.Finding{
			Rule: refused.rule, Severity: report.Error, File: src.shown, At: key.At,
			Path:    "/go/out",
			Message: src.display(refused.path) + " " + refused.reason, Hint: hint,
		})
	}
	return out
}

// binding returns the place of the first go_type that satisfies a condition.
func binding(sp *spec.Spec, is func(goType string) bool) (report.Span, bool) {
	var texts []spec.Text
	for _, list := range [][]*spec.Type{sp.Types, sp.Results} {
		for _, t := range list {
			texts = append(texts, t.GoType)
		}
	}
	for _, n := range sp.Nodes {
		if n.Request != nil {
			texts = append(texts, n.Request.GoType)
		}
	}
	for _, t := range texts {
		if t.Set() && is(t.Value) {
			return t.At, true
		}
	}
	return report.Span{}, false
}

// bindingFindings explains complaints that all come from bound Go types: an assertion that no
// longer holds, or a cycle of imports through a bound package. Nil means that at least one has
// another cause.
//
// The go command reports why a build failed only as text. The text decides which of two findings is
// shown and at which place of the spec, and nothing else: the build has failed, nothing is written,
// and the whole message is shown. A message with other words is shown at the generated file.
func bindingFindings(src *source, sp *spec.Spec, diagnostics []diagnostic) []report.Finding {
	var out []report.Finding
	for _, d := range diagnostics {
		rule, message := ruleBindingMismatch, "the bound Go type differs from the spec: "+
			d.message
		at, ok := binding(sp, func(goType string) bool {
			return strings.Contains(d.message, path.Base(goType))
		})
		if strings.Contains(d.message, "import cycle not allowed") {
			rule, message = spec.RuleBindingCycle,
				"the package of a bound Go type imports the generated package: "+d.message
			at, ok = binding(sp, func(goType string) bool {
				return strings.Contains(d.message, strings.TrimSuffix(goType, path.Ext(goType)))
			})
		}
		if !ok {
			return nil
		}
		out = append(out, report.Finding{Rule: rule, Severity: report.Error, File: src.shown,
			At:      at,
			Message: message})
	}
	return out
}
