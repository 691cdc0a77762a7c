package main

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// workflowFile is where GitHub looks for a workflow, from the top of the repository.
const workflowFile = ".github/workflows/routegen.yml"

// workflow is what the template of the workflow is filled with. Paths are slash-separated, from the top of the repository.
type workflow struct {
	Spec string // the spec
	Sub  string // its folder; "" for the top
	Mod  string // go.mod
}

// initCI writes a workflow at the top of the repository that the folder is in, unless one is there. Without a repository, the
// folder itself is taken as its top. It returns whether it has written one.
func (p *program) initCI(dir string) (wrote bool, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return false, failf("%w", err)
	}
	top := repositoryTop(dir)
	sub, err := filepath.Rel(top, dir)
	if err != nil {
		return false, failf("%w", err)
	}
	with := workflow{Spec: filepath.ToSlash(filepath.Join(sub, defaultSpec)), Mod: "go.mod"}
	if sub != "." {
		with.Sub = filepath.ToSlash(sub)
	}
	if module, ok := moduleRoot(dir); ok {
		if rel, err := filepath.Rel(top, module); err == nil && filepath.IsLocal(rel) {
			with.Mod = filepath.ToSlash(filepath.Join(rel, "go.mod"))
		}
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return false, failf("%w", err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	if _, err := root.Lstat(workflowFile); err == nil {
		return false, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, failf("%w", err)
	}
	text, err := render("github.yml.tmpl", with)
	if err != nil {
		return false, failf("%w", err)
	}
	s := &survey{Changes: []change{{Path: workflowFile, Status: created, New: text}}, missing: prefixes(path.Dir(workflowFile))}
	if err := write(p.disk(root), s); err != nil {
		return false, failf("%w", err)
	}
	p.notef("+ %s", shown(dir, filepath.Join(top, filepath.FromSlash(workflowFile))))
	return true, nil
}

// repositoryTop returns the nearest folder with a .git, from dir upward; dir itself where there is none.
func repositoryTop(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
