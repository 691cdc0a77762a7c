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
	"github.com/routegen/routegen/generator/spec"
)

// editFlags are the flags of the commands that edit the spec.
type editFlags struct{ dryRun, noGenerate, noVerify bool }

// add gives a command the flags.
func (f *editFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the patch, and write nothing")
	cmd.Flags().BoolVar(&f.noGenerate, "no-generate", false, "write the spec alone")
	cmd.Flags().BoolVar(&f.noVerify, "no-verify", false, "do not prove that the generated package compiles")
}

// edit changes the spec and generates from it. A change that is refused, or that would put errors into a spec that has none, is
// reported and not written.
func (p *program) edit(ctx context.Context, flags editFlags, change func(name string, src []byte) (*spec.EditResult, []spec.Finding)) error {
	src, err := openSource(p.opts.dir, p.opts.file)
	if err != nil {
		return failf("%w", err)
	}
	result, refused := change(src.shown, src.text)
	if result == nil {
		return p.conclude(src, refused, ending{code: worse(exitFindings, judge(refused, false)), line: verdict(src.shown, refused) + "; nothing was written"})
	}
	before := src.text
	after := *src
	after.text = result.Text
	findings := generator.Decide(src.shown, after.text).Findings
	if flags.dryRun {
		return p.wouldEdit(src, &after, findings)
	}
	if code := judge(findings, false); code != exitFine && judge(generator.Decide(src.shown, before).Findings, false) == exitFine {
		return p.conclude(&after, findings, ending{code: code, line: verdictOn("the edited spec", findings) + "; nothing was written"})
	}
	if string(result.Text) == string(before) {
		p.notef("nothing to do: %s says so already", src.shown)
	} else {
		if err := p.writeSpec(src, result.Text); err != nil {
			return err
		}
		p.notef("~ %s", src.shown)
	}
	if flags.noGenerate || judge(findings, false) != exitFine {
		return p.conclude(&after, findings, ending{code: judge(findings, false), wrote: 1, line: verdict(src.shown, findings)})
	}
	return p.runGenerate(ctx, generateFlags{noVerify: flags.noVerify})
}

// wouldEdit prints the patch of an edit, and on standard error what would be wrong after it.
func (p *program) wouldEdit(src, after *source, findings []spec.Finding) error {
	if err := p.printText(patch(src, after.text)); err != nil {
		return err
	}
	errs := slices.DeleteFunc(slices.Clone(findings), func(f spec.Finding) bool { return f.Severity != spec.Error })
	if len(errs) == 0 {
		p.notef("nothing was written")
		return nil
	}
	if err := spec.WriteText(p.stderr, after.text, errs); err != nil {
		return failf("%w", err)
	}
	return &exitError{exitFindings, fmt.Errorf("%s; nothing was written", verdictOn("the edited spec", errs))}
}

// patch is the unified diff between a spec and its text after an edit; "" where both are equal.
func patch(src *source, text []byte) string { return unified(src.shown, src.text, text) }

// unified is the unified diff between two texts of one file.
func unified(name string, before, after []byte) string {
	return udiff.Unified("a/"+name, "b/"+name, string(before), string(after))
}

// writeSpec replaces the text of the spec in one step. A spec that is a symbolic link stays one: what it leads to is replaced.
// A file that has changed since it was read is not replaced.
func (p *program) writeSpec(src *source, text []byte) error {
	file, err := filepath.EvalSymlinks(src.file)
	if err != nil {
		return failf("%w; nothing was written", err)
	}
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return failf("%w; nothing was written", err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	name := filepath.Base(file)
	info, err := root.Stat(name)
	if err != nil {
		return failf("%w; nothing was written", err)
	}
	now, err := root.ReadFile(name)
	switch {
	case err != nil:
		return failf("%w; nothing was written", err)
	case string(now) != string(src.text):
		return failf("%s has changed meanwhile; nothing was written: run the command again", src.shown)
	}
	if err := write(p.disk(root), &survey{Changes: []change{{Path: name, Status: changed, Old: now, New: text}}}); err != nil {
		return failf("%w; nothing was written", err)
	}
	if mode := info.Mode().Perm(); mode != 0o644 {
		if err := root.Chmod(name, mode); err != nil {
			return failf("%s is written, its mode is not as it was: %w", src.shown, err)
		}
	}
	return nil
}
