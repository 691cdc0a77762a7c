package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

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
	change func(files edit.Files) (edit.Files, []report.Finding)) error {
	src, err := p.source()
	if err != nil {
		return failf("%w", err)
	}
	result, refused := edit.Files(nil), src.refused
	if len(refused) == 0 {
		result, refused = change(src.files())
	}
	if result == nil {
		line := counts(refused) + ": the edit was refused; nothing was written"
		return p.conclude(src, refused, ending{
			code: worse(exitFindings, chooseExitCode(refused, false)), line: line})
	}
	after := src.withFiles(result)
	findings, templates := checkEdited(after)
	if flags.dryRun {
		return p.wouldEdit(src, after, append(findings, templates...))
	}
	if code := chooseExitCode(findings, false); code != exitFine &&
		chooseExitCode(src.makeWith(generator.Plan).Findings, false) == exitFine {
		return p.conclude(after, findings,
			ending{code: code, line: describeFindingsIn("the edited spec", findings) +
				"; nothing was written"})
	}
	next := generateFlags{noVerify: flags.noVerify}
	if next.edited, err = p.writeFiles(src, after); err != nil {
		return err
	}
	if next.edited == "" {
		p.notef("nothing to do: %s has this already", src.shown)
	}
	if flags.noGenerate || chooseExitCode(findings, false) != exitFine {
		findings = append(findings, templates...)
		return p.conclude(after, findings, ending{code: chooseExitCode(findings, false), wrote: 1,
			line: describeFindings(src.shown, findings)})
	}
	return p.runGenerate(ctx, next)
}

// checkEdited returns what is wrong with an edited spec, and separately which prompt templates no
// longer fit their nodes. Templates are separate files that follow the spec, so they do not stop an
// edit from being written.
func checkEdited(after *source) (findings, templates []report.Finding) {
	res := after.makeWith(generator.Plan)
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
	if err := p.printText(patch(src, after)); err != nil {
		return err
	}
	errs := slices.DeleteFunc(findings, func(f report.Finding) bool {
		return f.Severity != report.Error
	})
	if len(errs) == 0 {
		p.notef("nothing was written")
		return nil
	}
	text, err := p.renderText(after, errs)
	if err == nil {
		_, err = p.stderr.Write(text)
	}
	if err != nil {
		return failf("%w", err)
	}
	return &exitError{exitFindings,
		fmt.Errorf("%s; nothing was written", describeFindingsIn("the edited spec", errs))}
}

// patch returns the unified diff between a spec and its files after an edit, "" if they are equal.
func patch(src, after *source) string {
	var text strings.Builder
	before := src.files()
	for i, f := range after.files() {
		text.WriteString(unified(f.Name, before[i].Text, f.Text))
	}
	return text.String()
}

// unified returns the unified diff between two texts of one file.
func unified(name string, before, after []byte) string {
	return udiff.Unified("a/"+name, "b/"+name, string(before), string(after))
}

// writeFiles writes the files of a spec that an edit has changed, and returns their names, joined;
// "" for none. No text is replaced before all are ready. If one of the files has changed since it
// was read, none is replaced.
func (p *program) writeFiles(src, after *source) (names string, err error) {
	var changes []fileChange
	var written []string
	before := src.files()
	for i, f := range after.files() {
		if string(f.Text) == string(before[i].Text) {
			continue
		}
		name, err := filepath.Rel(path.Dir(src.shown), f.Name)
		if err != nil {
			return "", failf("%w", err)
		}
		changes = append(changes, fileChange{Path: filepath.ToSlash(name), Status: changed,
			Old: before[i].Text, New: f.Text})
		written = append(written, f.Name)
	}
	if len(changes) == 0 {
		return "", nil
	}
	names = strings.Join(written, " and ")
	if err := p.writeTexts(src, names, changes); err != nil {
		return "", err
	}
	for _, name := range written {
		p.notef("~ %s", name)
	}
	return names, nil
}

// writeTexts makes changes in the folder of the spec. If the main file is a symbolic link, the file
// it leads to is replaced, in whatever folder that is.
func (p *program) writeTexts(src *source, names string, changes []fileChange) error {
	unwritten := func(err error) error {
		return failf("write %s: %w; nothing was written", names, err)
	}
	if src.piped {
		return failf("the spec is standard input, so there is no file to edit: --dry-run prints " +
			"the patch")
	}
	folder, err := followMain(src, changes)
	if err != nil {
		return unwritten(err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return unwritten(err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	modes := make([]os.FileMode, len(changes))
	for i, c := range changes {
		info, err := root.Lstat(c.Path)
		if err != nil {
			return unwritten(err)
		}
		modes[i] = info.Mode()
		now, err := root.ReadFile(c.Path)
		switch {
		case err != nil:
			return unwritten(err)
		case !info.Mode().IsRegular():
			return unwritten(fmt.Errorf("%s is a link; include the file that it leads to", c.Path))
		case string(now) != string(c.Old):
			return failf("%s was changed meanwhile; nothing was written: run the command again",
				names)
		}
	}
	if err := write(p.disk(root), &survey{Changes: changes}); err != nil {
		if _, part := errors.AsType[*partError](err); part {
			return failf("write %s: %w", names, err)
		}
		return unwritten(err)
	}
	for i, c := range changes {
		if mode := modes[i].Perm(); mode != 0o644 {
			if err := root.Chmod(c.Path, mode); err != nil {
				return failf("%s is written, but the file mode of %s was not restored: %w", names,
					c.Path, err)
			}
		}
	}
	return nil
}

// followMain puts the file that the main file leads to in its place, if that one changes. It
// returns the folder that all paths then count from: the nearest that holds the changed files.
func followMain(src *source, changes []fileChange) (folder string, err error) {
	home := src.home()
	main := slices.IndexFunc(changes, func(c fileChange) bool { return c.Path == src.base })
	if main < 0 {
		return home, nil
	}
	file, err := filepath.EvalSymlinks(src.file)
	if err != nil {
		return "", err
	}
	folder = filepath.Dir(file)
	for len(changes) > 1 && !isBelow(folder, home) && folder != filepath.Dir(folder) {
		folder = filepath.Dir(folder)
	}
	for i := range changes {
		to := filepath.Join(home, filepath.FromSlash(changes[i].Path))
		if i == main {
			to = file
		}
		rel, err := filepath.Rel(folder, to)
		if err != nil {
			return "", err
		}
		changes[i].Path = filepath.ToSlash(rel)
	}
	return folder, nil
}

// isBelow reports whether a path is a folder or leads to something below it.
func isBelow(folder, name string) bool {
	rel, err := filepath.Rel(folder, name)
	return err == nil && filepath.IsLocal(rel)
}
