package main

import (
	"os"
	"path/filepath"
)

// workflowFile is where GitHub looks for a workflow, from the top of the repository.
const workflowFile = ".github/workflows/routegen.yml"

// workflow is the data of the workflow's template. Paths are slash-separated, from the top of the
// repository.
type workflow struct {
	Spec string // the spec
	Sub  string // its folder; "" for the top
	Mod  string // go.mod
}

// initCI writes a workflow at the top of the repository that dir is in, or in dir if there is no
// repository. It reports whether it wrote one: an existing workflow is kept.
func (p *program) initCI(dir string) (wrote bool, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return false, err
	}
	top := repositoryTop(dir)
	sub, err := filepath.Rel(top, dir)
	if err != nil {
		return false, err
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
		return false, err
	}
	defer root.Close() //nolint:errcheck // what was written is closed
	return p.writeNew(root, workflowFile, "github.yml.tmpl", with)
}

// repositoryTop returns the nearest folder with a .git, from dir upward, or dir if there is none.
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
