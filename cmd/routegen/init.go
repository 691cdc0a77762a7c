package main

import (
	"bytes"
	"embed"
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
)

// skeletons are the files that init writes, as templates over skeleton.
//
//go:embed skeleton/*.tmpl
var skeletons embed.FS

// skeleton is what the templates are filled with.
type skeleton struct {
	Package string // of the generated code
	Folder  string // package name of the spec's folder
	Flow    bool   // the spec begins with a flow, not with nodes
}

// spec is the template of the spec.
func (s skeleton) spec() string {
	if s.Flow {
		return "flow.yaml.tmpl"
	}
	return "routes.yaml.tmpl"
}

func (p *program) initCommand() *cobra.Command {
	ci := "none"
	with := skeleton{Package: "routes"}
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a first routes.yaml, the generate line and .gitattributes; never overwrite",
		Long: "init writes a small, valid routes.yaml, a doc.go with the line that go generate runs, and a .gitattributes for the\n" +
			"generated files. The spec has two nodes; with --flow it has one flow of a conversation and one action in their place. With\n" +
			"--ci github init also writes .github/workflows/routegen.yml at the top of the repository, which checks each pull request\n" +
			"and posts what it changes. What is there already stays as it is, so a second init changes nothing.",
		Example: "  routegen init\n  routegen init support --flow --package support\n  routegen init --ci github",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := p.opts.dir
			if len(args) == 1 {
				dir = filepath.Join(dir, args[0])
				if filepath.IsAbs(args[0]) {
					dir = args[0]
				}
			}
			if err := oneOf("--ci", ci, "none", "github"); err != nil {
				return err
			}
			return p.runInit(dir, with, ci == "github")
		},
	}
	cmd.Flags().StringVar(&with.Package, "package", with.Package, "package `name` of the generated code")
	cmd.Flags().BoolVar(&with.Flow, "flow", false, "begin with a flow of a conversation, not with nodes")
	cmd.Flags().StringVar(&ci, "ci", ci, "also write a workflow for this service: github or none")
	_ = cmd.RegisterFlagCompletionFunc("ci", cobra.FixedCompletions([]string{"github", "none"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// packageName is what --package accepts: a name that needs no second thought in Go.
var packageName = regexp.MustCompile(`^[a-z][a-z0-9]{0,63}$`)

func (p *program) runInit(dir string, with skeleton, ci bool) error {
	if name := with.Package; !packageName.MatchString(name) || token.IsKeyword(name) || name == "main" {
		return failf("--package is %q: use a Go package name of lower case letters and digits, not main", name)
	}
	with.Folder = folderPackage(dir)
	root, missing, err := openFolder(dir)
	if err != nil {
		return failf("%w", err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	changes, err := stageInit(root, missing, with)
	if err != nil {
		return failf("%w", err)
	}
	s := &survey{Changes: changes}
	if missing != "." {
		s.missing = prefixes(missing)
	}
	if err := write(p.disk(root), s); err != nil {
		return failf("%w", err)
	}
	for _, c := range changes {
		sign := "+"
		if c.Status == changed {
			sign = "~"
		}
		p.notef("%s %s", sign, c.Path)
	}
	wrote := len(changes) > 0
	if ci {
		more, err := p.initCI(dir)
		if err != nil {
			return err
		}
		wrote = wrote || more
	}
	if !wrote {
		hint := ""
		if with.Flow {
			hint = "; a flow goes into that routes.yaml: routegen add flow --help"
		}
		p.notef("nothing to do: routes.yaml, a go:generate line and .gitattributes are there already%s", hint)
		return nil
	}
	p.notef("next: %s", nextStep(dir))
	return nil
}

// nextStep says what is left to do after init: go generate finds the program only where go.mod names it.
func nextStep(dir string) string {
	step := "go generate ./..."
	abs, err := filepath.Abs(dir)
	if err != nil {
		return step
	}
	tool := runtimeModule + "/cmd/routegen"
	root, module := moduleRoot(abs)
	if text, err := os.ReadFile(filepath.Join(root, "go.mod")); module && err == nil && bytes.Contains(text, []byte(tool)) {
		return step
	}
	step = "go get -tool " + tool + "@latest, then " + step
	if !module {
		step = "go mod init, then " + step
	}
	return step
}

// openFolder opens the nearest folder that exists, and returns what is missing below it, slash-separated; "." is nothing.
func openFolder(dir string) (*os.Root, string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		root, err := os.OpenRoot(at)
		if err == nil {
			rel, err := filepath.Rel(at, dir)
			return root, filepath.ToSlash(rel), err
		}
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return nil, "", err
		}
	}
}

// stageInit renders what is not there yet. An existing .gitattributes keeps its lines and gains the missing ones.
func stageInit(root *os.Root, folder string, with skeleton) ([]change, error) {
	var out []change
	add := func(name, template string) error {
		file := filepath.ToSlash(filepath.Join(folder, name))
		old, err := root.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		text, failed := render(template, with)
		switch {
		case failed != nil:
			return failed
		case err != nil:
			out = append(out, change{Path: file, Status: created, New: text})
		case name == ".gitattributes":
			if merged := mergeLines(old, text); !bytes.Equal(merged, old) {
				out = append(out, change{Path: file, Status: changed, Old: old, New: merged})
			}
		}
		return nil
	}
	if err := add(defaultSpec, with.spec()); err != nil {
		return nil, err
	}
	has, pkg, err := generateLine(root, folder)
	if err != nil {
		return nil, err
	}
	if pkg != "" {
		with.Folder = pkg
	}
	if !has {
		name := "doc.go"
		if _, err := root.Stat(filepath.ToSlash(filepath.Join(folder, name))); err == nil {
			name = "routegen.go" // a doc.go of the user's own stays as it is
		}
		if err := add(name, "doc.go.tmpl"); err != nil {
			return nil, err
		}
	}
	return out, add(".gitattributes", "gitattributes.tmpl")
}

// render fills one template.
func render(name string, with any) ([]byte, error) {
	t, err := template.ParseFS(skeletons, "skeleton/"+name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, with)
	return b.Bytes(), err
}

// mergeLines appends to a text the lines of another that it lacks.
func mergeLines(old, more []byte) []byte {
	have := map[string]bool{}
	for line := range strings.Lines(string(old)) {
		have[strings.TrimSpace(line)] = true
	}
	out := string(old)
	for line := range strings.Lines(string(more)) {
		if have[strings.TrimSpace(line)] {
			continue
		}
		if out != "" && !strings.HasSuffix(out, "\n") {
			out += "\n"
		}
		out += line
	}
	return []byte(out)
}

// generateLine reports whether some Go file of a folder already runs routegen, and the name of the folder's package;
// "" where it holds no Go file.
func generateLine(root *os.Root, folder string) (has bool, pkg string, err error) {
	entries, err := fs.ReadDir(root.FS(), folder)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, "", err
	}
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".go" || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := root.ReadFile(folder + "/" + e.Name())
		if err != nil {
			return false, "", err
		}
		if file, err := parser.ParseFile(token.NewFileSet(), e.Name(), text, parser.PackageClauseOnly); err == nil {
			pkg = file.Name.Name
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "//go:generate ") && strings.Contains(line, "routegen") && strings.Contains(line, " generate") {
				has = true
			}
		}
	}
	return has, pkg, nil
}

// folderPackage makes a package name of a folder's name.
func folderPackage(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	var b strings.Builder
	for _, r := range strings.ToLower(filepath.Base(dir)) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' && b.Len() > 0 {
			b.WriteRune(r)
		}
	}
	if name := b.String(); packageName.MatchString(name) && !token.IsKeyword(name) {
		return name
	}
	return "app"
}
