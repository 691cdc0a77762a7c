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

// addTo adds the flags to a command.
func (f *editFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the patch, and write nothing")
	cmd.Flags().BoolVar(&f.noGenerate, "no-generate", false, "write only the spec")
	cmd.Flags().BoolVar(&f.noVerify, "no-verify", false,
		"do not prove that the generated package compiles")
}

// requireArgs returns an error that names the missing argument if there are fewer arguments than
// names, and with exact also if there are more.
func requireArgs(exact bool, names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch n := len(names); {
		case len(args) < n:
			return fmt.Errorf("%s is missing", names[len(args)])
		case exact && len(args) > n:
			return fmt.Errorf("unexpected argument %q", args[n])
		}
		return nil
	}
}

// howNamed says how parts of a spec that belong to another part are named. Steps are left out,
// since not every command takes them.
const howNamed = "A field is named TYPE.FIELD or NODE.FIELD (of the node's request),\n" +
	"a branch NODE.BRANCH, a value of an enum ENUM.VALUE, a slot FLOW.SLOT."

// kindsOfParts lists the kinds that can be added and removed by name: all but steps.
func kindsOfParts() []string {
	return slices.DeleteFunc(edit.Kinds(), func(kind string) bool {
		return kind == edit.KindStep
	})
}

// completeKinds completes the first argument of a command with kinds of parts.
func completeKinds(kinds []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]string,
		cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return startingWith(typed, kinds), cobra.ShellCompDirectiveNoFileComp
	}
}

// edit changes the spec and generates from it. A change that is refused, or that would add errors
// to a spec without errors, is reported and not written.
func (p *program) edit(ctx context.Context, flags editFlags,
	change func(name string, src []byte) ([]byte, []report.Finding)) error {
	src, err := p.source()
	if err != nil {
		return failf("%w", err)
	}
	result, refused := change(src.shown, src.text)
	if result == nil {
		line := counts(refused) + ": the edit was refused; nothing was written"
		return p.conclude(src, refused, ending{
			code: worse(exitFindings, chooseExitCode(refused, false)), line: line})
	}
	after := *src
	after.text = result
	findings, templates := checkEdited(&after)
	if flags.dryRun {
		return p.wouldEdit(src, &after, append(findings, templates...))
	}
	if code := chooseExitCode(findings, false); code != exitFine &&
		chooseExitCode(generator.Plan(src.shown, src.text).Findings, false) == exitFine {
		return p.conclude(&after, findings,
			ending{code: code, line: describeFindingsIn("the edited spec", findings) +
				"; nothing was written"})
	}
	next := generateFlags{noVerify: flags.noVerify}
	if string(result) == string(src.text) {
		p.notef("nothing to do: %s has this already", src.shown)
	} else {
		if err := p.writeSpec(src, result); err != nil {
			return err
		}
		p.notef("~ %s", src.shown)
		next.edited = src.shown
	}
	if flags.noGenerate || chooseExitCode(findings, false) != exitFine {
		findings = append(findings, templates...)
		return p.conclude(&after, findings, ending{code: chooseExitCode(findings, false), wrote: 1,
			line: describeFindings(src.shown, findings)})
	}
	return p.runGenerate(ctx, next)
}

// checkEdited returns what is wrong with an edited spec, and separately which prompt templates no
// longer fit their nodes. Templates are separate files that follow the spec, so they do not stop an
// edit from being written.
func checkEdited(after *source) (findings, templates []report.Finding) {
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

// wouldEdit prints the patch of an edit, and the findings it would lead to on standard error.
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
		fmt.Errorf("%s; nothing was written", describeFindingsIn("the edited spec", errs))}
}

// patch returns the unified diff between a spec and its text after an edit, "" if they are equal.
func patch(src *source, text []byte) string { return unified(src.shown, src.text, text) }

// unified returns the unified diff between two texts of one file.
func unified(name string, before, after []byte) string {
	return udiff.Unified("a/"+name, "b/"+name, string(before), string(after))
}

// writeSpec replaces the text of the spec in one step. If the spec is a symbolic link, the file it
// leads to is replaced. A file that has changed since it was read is not replaced.
func (p *program) writeSpec(src *source, text []byte) error {
	unwritten := func(err error) error {
		return failf("write %s: %w; nothing was written", src.shown, err)
	}
	if src.piped {
		return failf("the spec is standard input, so there is no file to edit: --dry-run prints " +
			"the patch")
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
		return failf("%s was changed meanwhile; nothing was written: run the command again",
			src.shown)
	}
	changes := []fileChange{{Path: name, Status: changed, Old: now, New: text}}
	if err := write(p.disk(root), &survey{Changes: changes}); err != nil {
		return unwritten(err)
	}
	if mode := info.Mode().Perm(); mode != 0o644 {
		if err := root.Chmod(name, mode); err != nil {
			return failf("%s is written, but its file mode was not restored: %w", src.shown, err)
		}
	}
	return nil
}
