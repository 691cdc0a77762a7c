package routegen_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Limits that hold in every package.
const (
	maxMethods = 5
	maxLines   = 500
)

// fault is one place where the module is not built to its plan.
type fault struct{ where, what, why string }

func (f fault) String() string { return f.where + ": " + f.what + "\n    why: " + f.why }

// tree is the module as it lies on the disk.
type tree struct {
	// names at the top level, folders with a slash at the end; what .gitignore names is left out
	top     []string
	files   []goFile
	mdFirst map[string]string // first line of each Markdown file under generated/
}

type goFile struct {
	path      string
	test      bool
	generated bool
	lines     int
	first     string // first line
	ast       *ast.File
}

func (f goFile) pkg() string { return path.Dir(f.path) }

// readTree parses every Go file outside testdata. The error is that of the first file that cannot
// be read or parsed.
func readTree(fsys fs.FS) (*tree, error) {
	t := &tree{mdFirst: map[string]string{}}
	ignored := ignorePatterns(fsys)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if name != "." && path.Dir(name) == "." && base != ".git" && !matches(ignored, base) {
			t.top = append(t.top, topName(d))
		}
		switch {
		case d.IsDir() && name != "." && (base == "testdata" || base[0] == '.' || base[0] == '_' ||
			isModule(fsys, name)):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case path.Ext(base) == ".md" && strings.HasPrefix(name, "generated/"):
			src, err := fs.ReadFile(fsys, name)
			t.mdFirst[name] = firstLine(src)
			return err
		case path.Ext(base) != ".go":
			return nil
		}
		f, err := readFile(fsys, name)
		t.files = append(t.files, f)
		return err
	})
	return t, err
}

// isModule reports whether a folder is a module of its own: it requires what it likes.
func isModule(fsys fs.FS, folder string) bool {
	_, err := fs.Stat(fsys, path.Join(folder, "go.mod"))
	return err == nil
}

func topName(d fs.DirEntry) string {
	if d.IsDir() {
		return d.Name() + "/"
	}
	return d.Name()
}

func readFile(fsys fs.FS, name string) (goFile, error) {
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return goFile{}, err
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), name, src,
		parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return goFile{}, err
	}
	return goFile{
		path: name, test: strings.HasSuffix(name, "_test.go"), generated: ast.IsGenerated(parsed),
		lines: bytes.Count(src, []byte("\n")), first: firstLine(src), ast: parsed,
	}, nil
}

func firstLine(src []byte) string {
	line, _, _ := strings.Cut(string(src), "\n")
	return line
}

// ignorePatterns reads the simple patterns of .gitignore: what git does not keep is no part of the
// module.
func ignorePatterns(fsys fs.FS) []string {
	src, err := fs.ReadFile(fsys, ".gitignore")
	if err != nil {
		return nil
	}
	var patterns []string
	for line := range strings.Lines(string(src)) {
		if line = strings.Trim(strings.TrimSpace(line), "/"); line != "" {
			patterns = append(patterns, line)
		}
	}
	return patterns
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

// check returns every fault of the tree, in the order of the rules.
func check(p *plan, t *tree) []fault {
	rules := []func(*plan, *tree) []fault{
		checkTop, checkRooms, checkImports, checkComments, checkInterfaces, checkLength,
		checkBudgets, checkTypes, checkHeaders,
	}
	var faults []fault
	for _, rule := range rules {
		faults = append(faults, rule(p, t)...)
	}
	return faults
}

// packageOf returns the plan of a folder, or nil.
func (p *plan) packageOf(dir string) *pkg {
	for i, r := range p.packages {
		if r.path == dir || r.deep && strings.HasPrefix(dir, r.path+"/") {
			return &p.packages[i]
		}
	}
	return nil
}

func checkTop(p *plan, t *tree) []fault {
	const why = "a newcomer guesses where a thing is from the first listing; the top level is " +
		"the plan's, nothing more"
	var faults []fault
	for _, name := range p.top {
		if !slices.Contains(t.top, name) {
			faults = append(faults, fault{name, "is missing at the top level", why})
		}
	}
	for _, name := range t.top {
		extra, _ := path.Match("architecture_*_test.go", name)
		folder, isFolder := strings.CutSuffix(name, "/")
		if isFolder && slices.Contains(p.folders, folder) || !isFolder &&
			(extra || slices.Contains(p.top, name)) {
			continue
		}
		faults = append(faults, fault{name, "is not in the plan of the top level", why})
	}
	return faults
}

func checkRooms(p *plan, t *tree) []fault {
	const why = "a package without a word in the plan has no place, no layer and no budget; name " +
		"its word and its layer first"
	var faults []fault
	var seen []string
	for _, f := range t.files {
		if dir := f.pkg(); p.packageOf(dir) == nil && !slices.Contains(seen, dir) {
			seen = append(seen, dir)
			faults = append(faults, fault{dir, "is a package that is not in the plan", why})
		}
	}
	return faults
}

func checkImports(p *plan, t *tree) []fault {
	var faults []fault
	for _, f := range t.files {
		from := p.packageOf(f.pkg())
		if from == nil {
			continue
		}
		for _, spec := range f.ast.Imports {
			target := strings.Trim(spec.Path.Value, `"`)
			if what, why := p.refuse(from, f.test, target); what != "" {
				faults = append(faults, fault{f.path, what, why})
			}
		}
	}
	return faults
}

// refuse says what is wrong with an import, and why; "" when it is legal.
func (p *plan) refuse(from *pkg, test bool, target string) (what, why string) {
	if inner, ok := strings.CutPrefix(target, p.module+"/"); ok {
		to := p.packageOf(inner)
		switch {
		case to == nil:
			return fmt.Sprintf("imports %s, which is not in the plan",
				inner), "every package has its layer in the plan"
		case test && to.layer != open:
			return "", "" // no one depends on a test, so its arrows bend nothing
		case !from.maySee(to):
			return fmt.Sprintf("imports %s, which %s may not see", inner, from.path),
				"an arrow only goes down, and packages on one layer do not know each other: so " +
					"each package can be read, tested and replaced alone"
		}
		return "", ""
	}
	if first, _, _ := strings.Cut(target, "/"); !strings.Contains(first, ".") {
		return "", "" // the standard library
	}
	allowed := from.modules
	if test {
		allowed = slices.Concat(from.modules, from.tests, p.tests)
	}
	for _, module := range allowed {
		if target == module || strings.HasPrefix(target, module+"/") {
			return "", ""
		}
	}
	return fmt.Sprintf("imports %s, which %s may not import", target, from.path),
		"one outside thing has one package that knows it, so that it can be changed in one " +
			"place; runtime and generated code have none"
}

// maySee reports whether handwritten code of one package may import the other.
func (r *pkg) maySee(to *pkg) bool {
	switch r.layer {
	case open:
		return to.layer != open || strings.HasPrefix(to.path, r.path+"/") ||
			strings.HasPrefix(r.path, "cmd/") && strings.HasPrefix(to.path, "cmd/internal/")
	case unlayered:
		return slices.Contains(r.imports, to.path)
	default:
		return to.layer != unlayered && to.layer < r.layer || slices.Contains(r.imports, to.path)
	}
}

func checkComments(_ *plan, t *tree) []fault {
	var order []string
	documented := map[string]bool{}
	for _, f := range t.files {
		dir := f.pkg()
		if f.test && dir != "." {
			continue
		}
		if _, seen := documented[dir]; !seen {
			order = append(order, dir)
		}
		documented[dir] = documented[dir] || strings.TrimSpace(f.ast.Doc.Text()) != ""
	}
	var faults []fault
	for _, dir := range order {
		if !documented[dir] {
			faults = append(faults,
				fault{dir, "has no package comment",
					"a reader who opens a package first wants to " +
						"know what it is for"})
		}
	}
	return faults
}

func checkLength(_ *plan, t *tree) []fault {
	var faults []fault
	for _, f := range t.files {
		if !f.generated && f.lines > maxLines {
			faults = append(faults, fault{
				f.path, fmt.Sprintf("has %d lines, more than %d", f.lines, maxLines),
				"a file that long holds more than one thing; give the second thing its own file " +
					"and word",
			})
		}
	}
	return faults
}

func checkBudgets(p *plan, t *tree) []fault {
	var faults []fault
	for _, b := range p.budgets {
		sum := 0
		for _, f := range t.files {
			dir := f.pkg()
			if !f.test && !f.generated &&
				(dir == b.path || b.deep && strings.HasPrefix(dir, b.path+"/")) {
				sum += f.lines
			}
		}
		if sum > b.lines {
			faults = append(faults, fault{
				b.path, fmt.Sprintf("has %d handwritten lines, its budget is %d", sum, b.lines),
				"small is the promise; what does not fit is simplified first, and the budget is " +
					"raised by decision only",
			})
		}
	}
	return faults
}

func checkHeaders(p *plan, t *tree) []fault {
	const why = "tools, reviewers and the generator itself know generated files by this line alone"
	var faults []fault
	for _, f := range t.files {
		named := strings.HasSuffix(f.path, "_gen.go")
		switch {
		case named && !f.generated:
			faults = append(faults, fault{f.path, "is not seen as generated by ast.IsGenerated",
				why})
		case f.generated && !named:
			faults = append(faults,
				fault{f.path, "is generated but its name does not end in _gen.go", why})
		case named && f.first != p.header:
			faults = append(faults,
				fault{f.path, fmt.Sprintf("begins with %q, not with %q", f.first, p.header), why})
		}
	}
	for _, name := range sortedKeys(t.mdFirst) {
		if t.mdFirst[name] != p.mdHead {
			faults = append(faults,
				fault{name, fmt.Sprintf("begins with %q, not with %q", t.mdFirst[name], p.mdHead),
					why})
		}
	}
	return faults
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
