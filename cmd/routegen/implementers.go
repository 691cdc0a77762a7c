package main

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// wantedInterface is a generated interface that has gained a method.
type wantedInterface struct {
	Name    string   // Handlers
	Methods []string // those it had before
}

// implementer is a handwritten type that has to follow an interface.
type implementer struct {
	Interface string
	Type      string
	File      string // relative to the module, slash-separated
	Line      int
}

// seeker looks through a module for the types that implement generated interfaces. It parses and does not compile: right
// after a change nothing compiles.
type seeker struct {
	root    string // absolute folder of the module
	pkg     string // folder of the generated package, relative to root
	imports string // its import path; "" where there is no module
	wanted  []wantedInterface
}

// candidate is one named type of one package folder.
type candidate struct {
	folder, name string
}

// facts are what parsing has shown of the types of a module.
type facts struct {
	fset     *token.FileSet
	declared map[candidate]token.Position
	methods  map[candidate]map[string]bool
	asserted map[candidate]map[string]bool // interfaces named in `var _ routes.Handlers = T{}`
	embeds   map[candidate]map[string]bool // names of the generated package that the type embeds
}

// find returns the implementers, sorted by interface, file and line. A type is one when an assertion names it, or when it has
// at least half of the methods the interface had. A type that embeds the generated type with all methods goes on compiling,
// and is left out. Files that do not parse are passed over.
func (s *seeker) find() ([]implementer, error) {
	f := &facts{
		fset: token.NewFileSet(), declared: map[candidate]token.Position{}, methods: map[candidate]map[string]bool{},
		asserted: map[candidate]map[string]bool{}, embeds: map[candidate]map[string]bool{},
	}
	if err := s.walk(f); err != nil {
		return nil, err
	}
	var out []implementer
	for c, at := range f.declared {
		for _, w := range s.wanted {
			if s.implements(f, c, w) {
				out = append(out, implementer{Interface: w.Name, Type: c.name, File: filepath.ToSlash(at.Filename), Line: at.Line})
			}
		}
	}
	slices.SortFunc(out, func(a, b implementer) int {
		return cmp.Or(strings.Compare(a.Interface, b.Interface), strings.Compare(a.File, b.File), a.Line-b.Line, strings.Compare(a.Type, b.Type))
	})
	return out, nil
}

// implements judges one type by what is known of it.
func (s *seeker) implements(f *facts, c candidate, w wantedInterface) bool {
	if f.embeds[c]["Unimplemented"+w.Name] || f.embeds[c][w.Name] {
		return false
	}
	if f.asserted[c][w.Name] {
		return true
	}
	has := 0
	for _, m := range w.Methods {
		if f.methods[c][m] {
			has++
		}
	}
	return has > 0 && 2*has >= len(w.Methods)
}

// walk parses every Go file of the module that can know the generated package. Folders that the go command passes over, and
// modules within the module, are left out.
func (s *seeker) walk(f *facts) error {
	return filepath.WalkDir(s.root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := e.Name()
		if e.IsDir() {
			if name == s.root {
				return nil
			}
			if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "vendor" || base == "node_modules" {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(base) != ".go" || !e.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(s.root, name)
		if err != nil {
			return err
		}
		return s.read(f, name, filepath.ToSlash(rel))
	})
}

// read parses one file where it can know the generated package: because it imports it, or is part of it.
func (s *seeker) read(f *facts, name, rel string) error {
	inside := path.Dir(rel) == s.pkg
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if !inside && (s.imports == "" || !bytes.Contains(text, []byte(`"`+s.imports+`"`))) {
		return nil
	}
	file, err := parser.ParseFile(f.fset, filepath.FromSlash(rel), text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil || inside && ast.IsGenerated(file) {
		return nil //nolint:nilerr // a file that does not parse is the compiler's to report
	}
	s.collect(f, path.Dir(rel), file, s.nameIn(file, inside))
	return nil
}

// nameIn returns the name by which a file calls the generated package; "" inside of it, and where it is imported with a dot.
func (s *seeker) nameIn(file *ast.File, inside bool) string {
	if inside {
		return ""
	}
	for _, i := range file.Imports {
		if strings.Trim(i.Path.Value, "`\"") == s.imports && i.Name != nil {
			return strings.TrimPrefix(i.Name.Name, ".")
		}
	}
	return path.Base(s.imports)
}

// collect notes the types, methods and assertions of one file.
func (s *seeker) collect(f *facts, folder string, file *ast.File, pkg string) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && len(d.Recv.List) == 1 {
				c := candidate{folder, typeName(d.Recv.List[0].Type)}
				note(f.methods, c, d.Name.Name)
				if _, known := f.declared[c]; !known {
					f.declared[c] = f.fset.Position(d.Pos()) // until the type itself is seen
				}
			}
		case *ast.GenDecl:
			for _, sp := range d.Specs {
				switch sp := sp.(type) {
				case *ast.TypeSpec:
					c := candidate{folder, sp.Name.Name}
					f.declared[c] = f.fset.Position(sp.Pos())
					s.embedded(f, c, sp, pkg)
				case *ast.ValueSpec:
					s.asserts(f, folder, sp, pkg)
				}
			}
		}
	}
}

// embedded notes what a struct embeds of the generated package.
func (s *seeker) embedded(f *facts, c candidate, sp *ast.TypeSpec, pkg string) {
	st, ok := sp.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range st.Fields.List {
		if len(field.Names) == 0 {
			if name, ok := qualified(field.Type, pkg); ok {
				note(f.embeds, c, name)
			}
		}
	}
}

// asserts notes `var _ routes.Handlers = T{}`, with (*T)(nil), &T{} and new(T).
func (s *seeker) asserts(f *facts, folder string, sp *ast.ValueSpec, pkg string) {
	if sp.Type == nil || len(sp.Names) != 1 || sp.Names[0].Name != "_" || len(sp.Values) != 1 {
		return
	}
	if name, ok := qualified(sp.Type, pkg); ok {
		if t := typeName(valueType(sp.Values[0])); t != "" {
			note(f.asserted, candidate{folder, t}, name)
		}
	}
}

// note adds a name to a set.
func note(sets map[candidate]map[string]bool, c candidate, name string) {
	if sets[c] == nil {
		sets[c] = map[string]bool{}
	}
	sets[c][name] = true
}

// qualified returns the name of a type of a package, however it is pointed to.
func qualified(e ast.Expr, pkg string) (string, bool) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return qualified(e.X, pkg)
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		return e.Sel.Name, ok && x.Name == pkg && pkg != ""
	case *ast.Ident:
		return e.Name, pkg == ""
	}
	return "", false
}

// valueType returns the type expression that a value of an assertion names.
func valueType(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.CompositeLit:
		return e.Type
	case *ast.UnaryExpr:
		return valueType(e.X)
	case *ast.CallExpr: // (*T)(nil), T(nil), new(T)
		if id, ok := e.Fun.(*ast.Ident); ok && id.Name == "new" && len(e.Args) == 1 {
			return e.Args[0]
		}
		return e.Fun
	}
	return nil
}

// typeName returns the name of a type of the file's own package, however it is pointed to, wrapped or instantiated.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.ParenExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	}
	return ""
}

// importPath returns the import path of a folder of a spec's module; "" where there is no module.
func importPath(src *source, folder string) string {
	if !src.module {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(src.root, "go.mod"))
	if err != nil {
		return ""
	}
	return path.Join(modfile.ModulePath(text), folder)
}
