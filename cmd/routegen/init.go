package main

import (
	"bytes"
	"embed"
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
)

// skeletons are the templates of the files that init writes. Their data is a skeleton.
//
//go:embed skeleton/*.tmpl
var skeletons embed.FS

// skeleton is the data of the templates.
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
		Long: "init writes a small, valid routes.yaml, a doc.go with the line that go generate " +
			"runs, a .gitattributes for the generated\n" +
			"files, and a .gitignore for the token and the database of a program that serves. " +
			"The spec has two nodes; with --flow it has\n" +
			"one flow of a conversation and one action in their place. With --ci github init " +
			"also writes .github/workflows/routegen.yml\n" +
			"at the top of the repository, which checks each pull request and posts what it " +
			"changes. Existing files stay as they are,\n" +
			"so a second init changes nothing; a .gitattributes gains the lines that it lacks.",
		Example: "  routegen init\n  routegen init support --flow --package support\n  routegen " +
			"init --ci github",
		Args: cobra.MaximumNArgs(1),
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
	cmd.Flags().StringVar(&with.Package, "package", with.Package,
		"package `name` of the generated code")
	cmd.Flags().BoolVar(&with.Flow, "flow", false,
		"begin with a flow of a conversation, not with nodes")
	cmd.Flags().StringVar(&ci, "ci", ci, "also write a workflow for this service: github or none")
	_ = cmd.RegisterFlagCompletionFunc("ci", cobra.FixedCompletions([]string{"github", "none"},
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// packageName is what --package accepts: lower case letters and digits.
var packageName = regexp.MustCompile(`^[a-z][a-z0-9]{0,63}$`)

func (p *program) runInit(dir string, with skeleton, ci bool) error {
	if name := with.Package; !packageName.MatchString(name) || token.IsKeyword(name) ||
		name == "main" {
		return failf("--package is %q: use a Go package name of lower case letters and digits, "+
			"not main", name)
	}
	with.Folder = folderPackage(dir)
	wrote, err := p.initFolder(dir, with)
	if err != nil {
		return failf("%w", err)
	}
	if ci {
		more, err := p.initCI(dir)
		if err != nil {
			return failf("%w", err)
		}
		wrote = wrote || more
	}
	if !wrote {
		hint := ""
		if with.Flow {
			hint = "; a flow goes into that routes.yaml: routegen add flow --help"
		}
		p.notef("nothing to do: routes.yaml, a go:generate line, .gitignore and .gitattributes "+
			"are there already%s", hint)
		return nil
	}
	p.notef("next: %s (the first run compiles routegen, which may take a minute)", nextStep(dir))
	return nil
}

// nextStep returns the commands to run after init: go generate finds the program only if go.mod
// names it as a tool.
func nextStep(dir string) string {
	step := "go generate ./..."
	abs, err := filepath.Abs(dir)
	if err != nil {
		return step
	}
	if invocation(dir) != "routegen" {
		return step
	}
	step = "go get -tool " + runtimeModule + "/cmd/routegen@latest, then " + step
	if _, module := moduleRoot(abs); !module {
		step = "go mod init, then " + step
	}
	return step
}

// initFolder writes the files that do not exist, and reports whether it wrote anything. Missing
// lines are appended to an existing .gitattributes. No link out of the folder is followed.
func (p *program) initFolder(dir string, with skeleton) (wrote bool, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false, err
	}
	defer root.Close() //nolint:errcheck // what was written is closed
	if wrote, err = p.writeNew(root, defaultSpec, with.spec(), with); err != nil {
		return false, err
	}
	has, pkg, err := generateLine(root)
	if err != nil {
		return false, err
	}
	if !has {
		name := "doc.go"
		if pkg != "" {
			with.Folder = pkg
		}
		if _, err := root.Lstat(name); err == nil {
			name = "routegen.go" // an existing doc.go stays as it is
		}
		more, err := p.writeNew(root, name, "doc.go.tmpl", with)
		if err != nil {
			return false, err
		}
		wrote = wrote || more
	}
	ignored, err := p.initIgnore(root, with)
	if err != nil {
		return false, err
	}
	wrote = wrote || ignored
	lines, err := render("gitattributes.tmpl", with)
	if err != nil {
		return false, err
	}
	const attributes = ".gitattributes"
	old, err := root.ReadFile(attributes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	merged := mergeLines(old, lines)
	if bytes.Equal(merged, old) {
		return wrote, nil
	}
	p.notef("+ %s", attributes)
	return true, root.WriteFile(attributes, merged, 0o644)
}

// initIgnore writes a .gitignore. One that is there stays as it is; what it lacks is told.
func (p *program) initIgnore(root *os.Root, with skeleton) (wrote bool, err error) {
	const name = ".gitignore"
	wrote, err = p.writeNew(root, name, "gitignore.tmpl", with)
	if wrote || err != nil {
		return wrote, err
	}
	lines, err := render("gitignore.tmpl", with)
	if err != nil {
		return false, err
	}
	old, err := root.ReadFile(name)
	if err != nil {
		return false, err
	}
	var lacks []string
	for line := range strings.Lines(string(lines)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "#") &&
			!slices.Contains(strings.Fields(string(old)), line) {
			lacks = append(lacks, line)
		}
	}
	if len(lacks) > 0 {
		p.notef("= %s stays as it is; add to it, so that no secret is committed: %s", name,
			strings.Join(lacks, ", "))
	}
	return false, nil
}

// writeNew writes a file of a folder from a template unless it exists, and reports whether it did.
func (p *program) writeNew(root *os.Root, name, template string, with any) (bool, error) {
	text, err := render(template, with)
	if err != nil {
		return false, err
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return false, err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if _, err = f.Write(text); err == nil {
		p.notef("+ %s", name)
	}
	return err == nil, errors.Join(err, f.Close())
}

// render executes one template.
func render(name string, with any) ([]byte, error) {
	t, err := template.ParseFS(skeletons, "skeleton/"+name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, with)
	return b.Bytes(), err
}

// mergeLines appends the lines of another text that a text lacks.
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

// generateLine reports whether a Go file of a folder already has a go:generate line of routegen,
// and returns the name of the folder's package, "" without a Go file.
func generateLine(root *os.Root) (has bool, pkg string, err error) {
	folder := root.FS()
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return false, "", err
	}
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".go" || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := fs.ReadFile(folder, e.Name())
		if err != nil {
			return false, "", err
		}
		if file, err := parser.ParseFile(token.NewFileSet(), e.Name(), text,
			parser.PackageClauseOnly); err == nil {
			pkg = file.Name.Name
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "//go:generate ") && strings.Contains(line, "routegen") &&
				strings.Contains(line, " generate") {
				has = true
			}
		}
	}
	return has, pkg, nil
}

// folderPackage returns a package name made from a folder's name.
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
