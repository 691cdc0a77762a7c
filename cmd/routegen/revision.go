package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
)

// againstHelp is the text of every flag that names an earlier spec.
const againstHelp = "the earlier spec: any git `revision`, REV:path, a file, " +
	"or - for standard input"

// againstFlag gives a command the flag that names an earlier spec.
func againstFlag(cmd *cobra.Command, name string, ref *string) {
	cmd.Flags().StringVar(ref, name, "", againstHelp)
}

// errNoSpec says that a revision is there and holds no spec at the path.
var errNoSpec = errors.New("it holds no such file")

// loadEarlier returns the plan of an earlier spec. Where the revision has none, the plan is that of
// a spec with the settings of the present one and nothing in it: everything is new then. A spec
// that was wrong is an error, because nothing can be compared with it; one that is only unwise by
// the rules of today is compared as it stands.
func (p *program) loadEarlier(ctx context.Context, src *source, now *plan.Plan, ref string) (
	*generator.Result, error) {
	was := *src
	var err error
	was.text, err = p.revisionText(ctx, src, ref)
	if errors.Is(err, errNoSpec) {
		p.notef("%s has no %s: everything is new; where it stood elsewhere, name it as %s:path",
			ref, src.shown, ref)
		empty := &plan.Plan{
			Version: now.Version, Source: now.Source, Package: now.Package, Out: now.Out,
			Docs:      now.Docs,
			Interrupt: now.Interrupt, Convo: now.Convo,
		}
		empty.Index()
		return &generator.Result{Plan: empty, Files: map[string][]byte{}}, nil
	} else if err != nil {
		return nil, failf("%w", err)
	}
	was.include(p.openEarlier(ctx, src, ref))
	p.detailf("read %s of %s (%d bytes)", src.base, ref, len(was.text))
	res := was.makeWith(generator.Plan)
	if res.Plan == nil {
		past := was.makeWith(generator.GenerateLenient)
		if past.Plan == nil {
			f := res.Findings[0]
			line := fmt.Sprintf("line %d", f.At.Start.Line)
			if f.File != src.shown {
				line += " of " + f.File
			}
			return nil, failf("%s at %s is wrong, so nothing can be compared with it: %s; %s: %s",
				src.shown, ref, describeFindingsIn("it", res.Findings), line, f.Message)
		}
		p.notef("%s at %s is compared as it stands, with what this version refuses in it: %s",
			src.shown, ref, strings.Join(errorRules(past.Findings), ", "))
		res = past
	}
	if p.isFile(ref) {
		return res, nil // what its templates said is not known
	}
	texts, err := gitPrompts(ctx, src.home(), ref, res.Plan)
	if err != nil {
		return nil, failf("read the prompt templates of %s: %w", ref, err)
	}
	res.ReadPrompts(func(name string) (string, bool) {
		text, ok := texts[name]
		return text, ok
	})
	return res, nil
}

// errorRules are the rules of errors, each once.
func errorRules(findings []report.Finding) []string {
	var rules []string
	for _, f := range findings {
		if f.Severity == report.Error && !slices.Contains(rules, f.Rule) {
			rules = append(rules, f.Rule)
		}
	}
	return rules
}

// revisionText reads the spec as it was: from standard input for "-", from a file of that name, or
// from git. Git is asked for the one blob, so a shallow clone that has the commit is enough.
func (p *program) revisionText(ctx context.Context, src *source, ref string) ([]byte, error) {
	switch {
	case ref == "":
		return nil, errors.New("no earlier spec is named")
	case ref == "-" && src.piped:
		return nil, errors.New("standard input cannot be both specs: name a file for one of them")
	case ref == "-":
		text, err := io.ReadAll(io.LimitReader(p.stdin, maxRead))
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return text, nil
	case strings.HasPrefix(ref, "-"):
		return nil, fmt.Errorf("%q is neither a revision nor a file", ref)
	}
	if p.isFile(ref) {
		return readSpec(p.fileOf(ref))
	}
	return gitShow(ctx, src.home(), ref, src.base)
}

// openEarlier reads the files that an earlier spec includes: from the folder of its file, or from
// the same revision.
func (p *program) openEarlier(ctx context.Context, src *source, ref string) func(name string) (
	[]byte, error) {
	switch {
	case ref == "-":
		return func(string) ([]byte, error) {
			return nil, errors.New("an earlier spec on standard input comes alone: name its " +
				"revision or file")
		}
	case p.isFile(ref):
		return openBeside(filepath.Dir(p.fileOf(ref)))
	}
	folder := src.home()
	beside := besideSpec(ref, namesFile(ctx, folder, ref))
	return func(name string) ([]byte, error) {
		// a link is followed inside the repository, as it is in the folder
		out, _, err := git(ctx, folder, strings.NewReader(beside(name)+"\n"), "cat-file", "--batch",
			"--follow-symlinks")
		header, _, _ := strings.Cut(string(out), "\n")
		text, ok, broken := nextBlob(bufio.NewReader(bytes.NewReader(out)))
		switch {
		case err == nil && broken == nil && ok:
			return []byte(text), nil
		case err == nil && strings.Contains(header, " tree "):
			return nil, errors.New("it is no file in " + ref)
		case err == nil && strings.HasPrefix(header, "symlink "):
			return nil, errors.New("in " + ref + " it is a link out of the repository")
		}
		return nil, fs.ErrNotExist
	}
}

// isFile reports whether an earlier spec is read from a file or standard input, and not from git. A
// pipe will do, as <(git show ...) gives.
func (p *program) isFile(ref string) bool {
	info, err := os.Stat(p.fileOf(ref))
	return ref == "-" || err == nil && !info.IsDir()
}

// fileOf is the path that an earlier spec has if it is a file.
func (p *program) fileOf(ref string) string {
	if filepath.IsAbs(ref) {
		return ref
	}
	return filepath.Join(p.opts.dir, ref)
}

// namesFile reports whether a revision names the file itself, as REV:path does. A colon may also
// stand in what finds a commit, as in HEAD^{/fix: the loop} and main@{12:00}.
func namesFile(ctx context.Context, folder, ref string) bool {
	if !strings.Contains(ref, ":") {
		return false
	}
	_, _, err := git(ctx, folder, nil, "rev-parse", "--verify", "--quiet", "--end-of-options",
		ref+"^{commit}")
	return err != nil
}

// gitShow returns a file of a folder as it is in a revision. A revision that says REV:path names
// the file itself.
func gitShow(ctx context.Context, folder, ref, name string) ([]byte, error) {
	object, named := ref, namesFile(ctx, folder, ref)
	if !named {
		object = ref + ":./" + name
	}
	text, said, err := git(ctx, folder, nil, "show", "--no-textconv", object)
	switch {
	case err == nil:
		return text, nil
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf(
			"the git command was not found, so %q cannot be read: put it on the PATH, "+
				"or name a file", ref)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case strings.Contains(said, "not a git repository"):
		return nil, fmt.Errorf("%q is no file, and %s is in no git repository: name a file", ref,
			folder)
	case strings.Contains(said, "dubious ownership"):
		return nil, fmt.Errorf(
			"git does not trust %s, because somebody else owns it: git config --global --add "+
				"safe.directory %s", folder, folder)
	}
	commit := ref
	if named {
		commit, _, _ = strings.Cut(ref, ":")
	}
	if _, _, err := git(ctx, folder, nil, "rev-parse", "--verify", "--quiet",
		commit+"^{commit}"); err == nil {
		if !named {
			return nil, fmt.Errorf("%s: %w: %s", ref, errNoSpec, name)
		}
		return nil, fmt.Errorf(
			"%s: there is no such file; a path behind the colon counts from the top of the "+
				"repository", ref)
	}
	advice := "git rev-parse --verify " + commit + " says more"
	shallow, _, _ := git(ctx, folder, nil, "rev-parse", "--is-shallow-repository")
	if strings.TrimSpace(string(shallow)) == "true" {
		branch := commit[strings.LastIndex(commit, "/")+1:]
		advice = "this clone is shallow and may lack it: git fetch --depth=1 origin " + branch +
			", then --against FETCH_HEAD, or name a file"
	}
	return nil, fmt.Errorf("%q is neither a file nor a revision of this repository; %s", ref,
		advice)
}

// git runs one git command that only reads, and returns both of its outputs.
func git(ctx context.Context, folder string, stdin io.Reader, args ...string) (out []byte,
	said string, err error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = folder
	cmd.Stdin, cmd.Env = stdin, gitEnviron()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	return stdout.Bytes(), stderr.String(), err
}

// gitEnviron lets git answer in one language, and write nothing.
func gitEnviron() []string { return append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0") }
