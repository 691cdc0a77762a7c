package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/edit"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// editFlags are the flags of the commands that edit the spec.
type editFlags struct{ dryRun, noGenerate, noVerify bool }

// addTo gives a command the flags.
func (f *editFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the patch, and write nothing")
	cmd.Flags().BoolVar(&f.noGenerate, "no-generate", false, "write the spec alone")
	cmd.Flags().BoolVar(&f.noVerify, "no-verify", false,
		"do not prove that the generated package compiles")
}

// wants refuses a command line with fewer words than these, and says which is missing; with more,
// where the last is the last.
func wants(exact bool, names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch n := len(names); {
		case len(args) < n:
			return fmt.Errorf("%s is missing", names[len(args)])
		case exact && len(args) > n:
			return fmt.Errorf("%q is one word too many", args[n])
		}
		return nil
	}
}

// howNamed says how the parts of a spec are named that belong to something else; steps apart, which
// not every command knows.
const howNamed = "A field is named TYPE.FIELD or NODE.FIELD (of the node's request),\n" +
	"a branch NODE.BRANCH, a value of an enum ENUM.VALUE, a slot FLOW.SLOT."

// kindsOfParts lists the kinds that can be added and removed by name: all but steps.
func kindsOfParts() []string {
	return slices.DeleteFunc(edit.Kinds(), func(kind string) bool {
		return kind == edit.KindStep
	})
}

// completeKinds offers kinds of parts as the first word of a command.
func completeKinds(kinds []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]string,
		cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return startingWith(typed, kinds), cobra.ShellCompDirectiveNoFileComp
	}
}

// edit changes the spec and generates from it. A change that is refused, or that would put errors
// into a spec that has none, is reported and not written.
func (p *program) edit(ctx context.Context, flags editFlags,
	change func(name string, src []byte) ([]byte, []report.Finding)) error {
	src, err := openSource(p.opts.dir, p.opts.file)
	if err != nil {
		return failf("%w", err)
	}
	result, refused := change(src.shown, src.text)
	if result == nil {
		line := counts(refused) + ": the edit is refused; nothing was written"
		return p.conclude(src, refused, ending{code: worse(exitFindings, judge(refused, false)),
			line: line})
	}
	after := *src
	after.text = result
	findings, templates := consider(&after)
	if flags.dryRun {
		return p.wouldEdit(src, &after, append(findings, templates...))
	}
	if code := judge(findings, false); code != exitFine &&
		judge(generator.Plan(src.shown, src.text).Findings, false) == exitFine {
		return p.conclude(&after, findings,
			ending{code: code, line: verdictOn("the edited spec", findings) +
				"; nothing was written"})
	}
	next := generateFlags{noVerify: flags.noVerify}
	if string(result) == string(src.text) {
		p.notef("nothing to do: %s says so already", src.shown)
	} else {
		if err := p.writeSpec(src, result); err != nil {
			return err
		}
		p.notef("~ %s", src.shown)
		next.edited = src.shown
	}
	if flags.noGenerate || judge(findings, false) != exitFine {
		findings = append(findings, templates...)
		return p.conclude(&after, findings, ending{code: judge(findings, false), wrote: 1,
			line: verdict(src.shown, findings)})
	}
	return p.runGenerate(ctx, next)
}

// consider says what is wrong with an edited spec, and apart from it which prompt templates no
// longer fit their nodes. Templates are files of their own that follow the spec: they keep no edit
// from being written.
func consider(after *source) (findings, templates []report.Finding) {
	res := generator.Plan(after.shown, after.text)
	findings = slices.Clone(res.Findings)
	res.CheckPrompts(after.prompts(res.Plan))
	for _, f := range res.Findings {
		if f.Rule == spec.RulePromptTemplate {
			templates = append(templates, f)
		}
	}
	return findings, templates
}

// wouldEdit prints the patch of an edit, and on standard error what would be wrong after it.
func (p *program) wouldEdit(src, after *source, findings []report.Finding) error {
	if err := p.printText(patch(src, after.text)); err != nil {
		return err
	}
	errs := slices.DeleteFunc(findings, func(f report.Finding) bool {
		return f.Severity != report.Error
	})
	if len(errs) == 0 {
		p.notef("nothing was written")
		return nil
	}
	if err := report.WriteText(p.stderr, after.text, errs); err != nil {
		return failf("%w", err)
	}
	return &exitError{exitFindings,
		fmt.Errorf("%s; nothing was written", verdictOn("the edited spec", errs))}
}

// patch is the unified diff between a spec and its text after an edit; "" where both are equal.
func patch(src *source, text []byte) string { return unified(src.shown, src.text, text) }

// unified is the unified diff between two texts of one file.
func unified(name string, before, after []byte) string {
	return udiff.Unified("a/"+name, "b/"+name, string(before), string(after))
}

// writeSpec replaces the text of the spec in one step. A spec that is a symbolic link stays one:
// what it leads to is replaced. A file that has changed since it was read is not replaced.
func (p *program) writeSpec(src *source, text []byte) error {
	unwritten := func(err error) error {
		return failf("write %s: %w; nothing was written", src.shown, err)
	}
	file, err := filepath.EvalSymlinks(src.file)
	if err != nil {
		return unwritten(err)
	}
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return unwritten(err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	name := filepath.Base(file)
	info, err := root.Stat(name)
	if err != nil {
		return unwritten(err)
	}
	now, err := root.ReadFile(name)
	switch {
	case err != nil:
		return unwritten(err)
	case string(now) != string(src.text):
		return failf("%s has changed meanwhile; nothing was written: run the command again",
			src.shown)
	}
	changes := []fileChange{{Path: name, Status: changed, Old: now, New: text}}
	if err := write(p.disk(root), &survey{Changes: changes}); err != nil {
		return unwritten(err)
	}
	if mode := info.Mode().Perm(); mode != 0o644 {
		if err := root.Chmod(name, mode); err != nil {
			return failf("%s is written, its mode is not as it was: %w", src.shown, err)
		}
	}
	return nil
}
