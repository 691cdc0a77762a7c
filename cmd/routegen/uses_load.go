package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/review"
)

// module is what of a module has to do with its generated package.
type module struct {
	root, dir, path string // of the module; of the generated package, and its import path
	fset            *token.FileSet
	listed          map[string]*listedPackage
	from            map[string]bool   // packages that are checked from their source
	exports         map[string]string // files of compiled packages, by import path
	compiled        types.Importer
}

// listedPackage is what go list says of a package.
type listedPackage struct {
	ImportPath, Dir, ForTest, Export string
	GoFiles, CgoFiles, Imports, Deps []string
	Standard                         bool
	ImportMap                        map[string]string
	Module                           *struct{ Main bool }
}

// plainPath is an import path without the test that a package is compiled for.
func plainPath(id string) string {
	path, _, _ := strings.Cut(id, " [")
	return path
}

// textsOf are the files that generating would create, change and remove, by absolute path; nil for
// one that is removed.
func textsOf(src *source, res *generator.Result) (map[string][]byte, error) {
	out, refused, err := openOutput(src, res)
	if err != nil {
		return nil, err
	}
	if len(refused) > 0 {
		return nil, errors.New("the output folder cannot be used: routegen check says why")
	}
	defer out.close()
	texts := map[string][]byte{}
	for _, c := range out.survey.Changes {
		texts[filepath.Join(src.root, filepath.FromSlash(c.Path))] = c.New
	}
	return texts, nil
}

// loadModule lists the packages of a module, with the generated package in the text that it would
// have, and has compiled what the others import.
func loadModule(ctx context.Context, src *source, out string, before,
	after map[string][]byte) (*module, error) {
	m := &module{root: src.root, fset: token.NewFileSet(), listed: map[string]*listedPackage{},
		from: map[string]bool{}, exports: map[string]string{},
		dir: filepath.Join(src.root, filepath.FromSlash(src.at(out)))}
	temp, err := os.MkdirTemp("", "routegen-uses-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // temporary
	overlay, err := writeOverlay(temp, after)
	if err != nil {
		return nil, err
	}
	if err := m.goList(ctx, overlay, []string{"-test", "-deps"}, []string{"./..."},
		func(l *listedPackage) { m.listed[l.ImportPath] = l }); err != nil {
		return nil, err
	}
	for _, l := range m.listed {
		if l.Dir == m.dir && l.ForTest == "" {
			m.path = l.ImportPath
		}
	}
	if m.path == "" {
		return nil, fmt.Errorf("go list does not know the package in %s", m.dir)
	}
	if len(m.readers()) == 0 {
		return m, nil
	}
	return m, m.export(ctx, overlay, before)
}

// writeOverlay tells the go command to read texts in place of files.
func writeOverlay(temp string, texts map[string][]byte) (string, error) {
	replace := map[string]string{}
	for name, text := range texts {
		replace[name] = ""
		if text != nil {
			file := filepath.Join(temp, fmt.Sprintf("%d%s", len(replace), filepath.Ext(name)))
			if err := os.WriteFile(file, text, 0o600); err != nil {
				return "", err
			}
			replace[name] = file
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(temp, "overlay.json")
	return file, os.WriteFile(file, data, 0o600)
}

// goList runs go list and hands each package over.
func (m *module) goList(ctx context.Context, overlay string, flags, what []string,
	take func(*listedPackage)) error {
	args := slices.Concat([]string{"list", "-e", "-overlay", overlay, "-json=ImportPath,Dir," +
		"ForTest,GoFiles,CgoFiles,Standard,ImportMap,Module,Imports,Deps,Export"}, flags,
		[]string{"--"}, what)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = m.root
	var text, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go list: %w: %s", err, said.String())
	}
	for dec := json.NewDecoder(&text); ; {
		l := &listedPackage{}
		//nolint:musttag // go list has the names of the fields
		if err := dec.Decode(l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		if l.Export != "" {
			m.exports[l.ImportPath] = l.Export
		}
		take(l)
	}
}

// reads reports whether a package depends on the generated one and is the module's own.
func (m *module) reads(id string) bool {
	l := m.listed[id]
	return l != nil && !l.Standard && l.Module != nil && l.Module.Main &&
		!strings.HasSuffix(plainPath(id), ".test") && plainPath(id) != m.path && m.depends(id)
}

// readers are the packages of the module that depend on the generated one, each once.
func (m *module) readers() []string {
	found := map[string]bool{}
	for id := range m.listed {
		if m.reads(id) {
			found[strings.TrimSuffix(plainPath(id), "_test")] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// export finds what is checked from its source, and has the rest compiled.
func (m *module) export(ctx context.Context, overlay string, before map[string][]byte) error {
	needed := map[string]bool{}
	var visit func(id string)
	visit = func(id string) {
		l := m.listed[id]
		if m.from[id] || l == nil {
			return
		}
		if !strings.Contains(id, " [") && plainPath(id) != m.path && !m.depends(id) {
			if id != "unsafe" && id != "C" {
				needed[id] = true
			}
			return
		}
		m.from[id] = true
		for _, path := range l.Imports {
			visit(path)
		}
	}
	for id := range m.listed {
		if m.reads(id) {
			visit(id)
		}
	}
	for _, path := range importsOf(before) {
		needed[path] = needed[path] || m.listed[path] != nil && !m.from[path]
	}
	delete(needed, "unsafe")
	err := m.goList(ctx, overlay, []string{"-export"}, slices.Sorted(maps.Keys(needed)),
		func(*listedPackage) {})
	m.compiled = importer.ForCompiler(m.fset, "gc", func(path string) (io.ReadCloser, error) {
		if m.exports[path] == "" {
			return nil, fmt.Errorf("%s does not compile", path)
		}
		return os.Open(m.exports[path])
	})
	return err
}

func (m *module) depends(id string) bool {
	return slices.ContainsFunc(m.listed[id].Deps, func(d string) bool {
		return plainPath(d) == m.path
	})
}

// importsOf are the packages that Go files import.
func importsOf(texts map[string][]byte) []string {
	var out []string
	for name, text := range texts {
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil || filepath.Ext(name) != ".go" {
			continue
		}
		for _, i := range f.Imports {
			out = append(out, strings.Trim(i.Path.Value, `"`))
		}
	}
	return out
}

// universe is the module, checked with one text of the generated files.
type universe struct {
	m        *module
	texts    map[string][]byte
	packages map[string]*types.Package
	faults   []review.GoPlace
	uses     map[token.Pos]use       // names of the generated package, where they are used
	named    map[token.Position]bool // declarations that something in the module names
	switches []enumSwitch
}

// check type-checks every package that depends on the generated one.
func (m *module) check(texts map[string][]byte) *universe {
	u := &universe{m: m, texts: texts, packages: map[string]*types.Package{},
		uses: map[token.Pos]use{}, named: map[token.Position]bool{}}
	for _, id := range slices.Sorted(maps.Keys(m.from)) {
		u.load(id)
	}
	return u
}

// generatedFor is the generated package as a package sees it: compiled for its test, where there is
// such a form.
func (u *universe) generatedFor(m *module, id string) *types.Package {
	for _, d := range m.listed[id].Deps {
		if plainPath(d) == m.path {
			return u.packages[d]
		}
	}
	return nil
}

func (u *universe) load(id string) *types.Package {
	if pkg, seen := u.packages[id]; seen {
		return pkg
	}
	u.packages[id] = nil
	l := u.m.listed[id]
	files := u.parseFiles(l)
	reads := u.m.reads(id)
	conf := types.Config{
		FakeImportC: true, IgnoreFuncBodies: !reads && plainPath(id) != u.m.path,
		Importer: importerFunc(func(path string) (*types.Package, error) {
			if to := l.ImportMap[path]; to != "" {
				path = to
			}
			if path == "unsafe" {
				return types.Unsafe, nil
			}
			if u.m.from[path] {
				if pkg := u.load(path); pkg != nil {
					return pkg, nil
				}
				return nil, fmt.Errorf("%s does not compile", path)
			}
			return u.m.compiled.Import(path)
		}),
		Error: func(err error) {
			var fault types.Error
			if errors.As(err, &fault) && reads {
				u.faults = append(u.faults, u.m.goPlace(fault.Pos, fault.Msg))
			}
		},
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{},
		Types:      map[ast.Expr]types.TypeAndValue{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}}
	pkg, _ := conf.Check(plainPath(id), u.m.fset, files, info) // each fault was handed over
	u.packages[id] = pkg
	if reads {
		u.note(info)
		u.findSwitches(info, files)
	}
	return pkg
}

// note remembers which names are used where.
func (u *universe) note(info *types.Info) {
	for ident, obj := range info.Uses {
		u.named[u.m.fset.Position(obj.Pos())] = true
		if obj.Pkg() == nil || obj.Pkg().Path() != u.m.path || !obj.Exported() {
			continue
		}
		switch obj := obj.(type) {
		case *types.TypeName, *types.PkgName:
		case *types.Var:
			if !obj.IsField() {
				u.uses[ident.Pos()] = use{obj.Name(), goTypeOf(obj)}
			} else if owner := ownerOf(obj); owner != "" {
				u.uses[ident.Pos()] = use{owner + "." + obj.Name(), goTypeOf(obj)}
			}
		default:
			if obj.Parent() == obj.Pkg().Scope() {
				u.uses[ident.Pos()] = use{obj.Name(), goTypeOf(obj)}
			}
		}
	}
}

// ownerOf is the struct of a package that a field belongs to, or "".
func ownerOf(field *types.Var) string {
	for _, name := range field.Pkg().Scope().Names() {
		s, ok := field.Pkg().Scope().Lookup(name).Type().Underlying().(*types.Struct)
		for i := 0; ok && i < s.NumFields(); i++ {
			if s.Field(i) == field {
				return name
			}
		}
	}
	return ""
}

type importerFunc func(path string) (*types.Package, error)

// Import returns the package of a path.
func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

// parseFiles reads the files of a package, those of the generated one in the text that is checked.
func (u *universe) parseFiles(l *listedPackage) []*ast.File {
	names := slices.Concat(l.GoFiles, l.CgoFiles)
	if l.Dir == u.m.dir { // the files differ between the two texts
		for name := range u.texts {
			base := filepath.Base(name)
			if filepath.Dir(name) == l.Dir && filepath.Ext(name) == ".go" &&
				!slices.Contains(names, base) {
				names = append(names, base)
			}
		}
	}
	var out []*ast.File
	for _, name := range names {
		if !filepath.IsAbs(name) {
			name = filepath.Join(l.Dir, name)
		}
		text, replaced := u.texts[name]
		switch {
		case replaced && text == nil: // it is not there
			continue
		case !replaced:
			read, err := os.ReadFile(name)
			if err != nil {
				continue
			}
			text = read
		}
		f, err := parser.ParseFile(u.m.fset, name, text, parser.SkipObjectResolution)
		if err != nil && u.m.reads(l.ImportPath) {
			u.faults = append(u.faults, u.m.goPlace(token.NoPos, err.Error()))
		}
		if f != nil {
			out = append(out, f)
		}
	}
	return out
}
