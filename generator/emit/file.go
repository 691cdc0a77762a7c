package emit

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
)

// runtimePath is the one package outside the standard library that generated code imports.
const runtimePath = "github.com/routegen/routegen/runtime"

// pieceSize is how many rendered bytes are formatted at a time. go/format holds a syntax tree of about fifteen times
// the source: in pieces, the memory needed depends on the largest declaration and not on the spec.
const pieceSize = 64 << 10

// goFile is one Go file being written, declaration by declaration.
type goFile struct {
	p    *plan.Plan
	name string

	comments  []string // the package comment, one line each
	piece     *jen.File
	size      int
	body      [][]byte // formatted pieces
	imports   []imported
	declared  []string // what was asked for
	found     []string // what the parser saw
	wanted    []string // directives asked for
	directive []string // directives seen
	text      []byte
	err       error
}

func newGoFile(p *plan.Plan, name string) *goFile {
	g := &goFile{p: p, name: name}
	g.open()
	return g
}

func (g *goFile) open() {
	g.piece = jen.NewFilePathName("routegen.invalid/output", g.p.Package)
	g.piece.ImportName(runtimePath, "runtime")
	for _, r := range g.p.Records {
		if at := strings.LastIndex(r.GoType, "."); at >= 0 {
			g.piece.ImportAlias(r.GoType[:at], aliasOf(r.GoType[:at]))
		}
	}
	g.piece.NoFormat = true
	g.size = 0
}

// imported is one line of the import block; name is "" where the package has its own.
type imported struct{ name, path string }

// aliasOf names a package of the user's by its whole path, so that two of one name go together, and a new one never
// renames another.
func aliasOf(path string) string {
	return "of_" + strings.Map(func(r rune) rune {
		if r < '0' || r > 'z' || r > '9' && r < 'A' || r > 'Z' && r < 'a' {
			return '_'
		}
		return r
	}, path)
}

// decl adds one top-level declaration that introduces the given names. A method is named "Type.Method".
func (g *goFile) decl(weight int, names []string, code ...jen.Code) {
	g.declared = append(g.declared, names...)
	g.piece.Add(code...)
	g.piece.Line()
	g.size += weight
	if g.size >= pieceSize {
		g.flush()
	}
}

// flush renders, parses, checks and formats what was added since the last flush.
func (g *goFile) flush() {
	if g.size == 0 || g.err != nil {
		return
	}
	var raw bytes.Buffer
	if err := g.piece.Render(&raw); err != nil {
		g.err = fmt.Errorf("render: %w", err)
		return
	}
	g.open()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, g.name, raw.Bytes(), parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		g.err = &BrokenError{File: g.name, Source: raw.Bytes(), Err: err}
		return
	}
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value) // the parser has seen that it is a string
		i := imported{path: path}
		if spec.Name != nil {
			i.name = spec.Name.Name
		}
		if !slices.Contains(g.imports, i) {
			g.imports = append(g.imports, i)
		}
	}
	g.found = append(g.found, declarations(file)...)
	g.directive = append(g.directive, directives(file)...)
	var pretty bytes.Buffer
	if err := format.Node(&pretty, fset, file); err != nil {
		g.err = &BrokenError{File: g.name, Source: raw.Bytes(), Err: err}
		return
	}
	g.body = append(g.body, bytes.Clone(withoutHead(pretty.Bytes())))
}

// withoutHead cuts the package clause and the import declaration off a formatted file.
func withoutHead(src []byte) []byte {
	_, src, _ = bytes.Cut(src, []byte("\n"))
	src = bytes.TrimLeft(src, "\n")
	switch {
	case bytes.HasPrefix(src, []byte("import (")):
		_, src, _ = bytes.Cut(src, []byte("\n)\n"))
	case bytes.HasPrefix(src, []byte("import ")):
		_, src, _ = bytes.Cut(src, []byte("\n"))
	}
	return append(bytes.Trim(src, "\n"), '\n')
}

// into puts the finished file into the output, or returns the first thing that went wrong with it.
func (g *goFile) into(files map[string][]byte) error {
	if g.err != nil {
		return fmt.Errorf("%s: %w", g.name, g.err)
	}
	files[path.Join(g.p.Out, g.name)] = g.text
	return nil
}

// finish makes the file's text of its pieces, once they have been held against what was asked for.
func (g *goFile) finish() {
	g.flush()
	if g.err == nil {
		g.err = errors.Join(sameNames("declarations", g.declared, g.found), sameNames("directives", g.wanted, g.directive))
	}
	var head []byte
	if g.err == nil {
		head, g.err = g.head()
	}
	g.text = bytes.Join(append([][]byte{head}, g.body...), []byte("\n"))
	g.body = nil
}

// head renders everything above the first declaration. The imports are always a block, one line each, so that a package
// used for the first time adds a line and changes none.
func (g *goFile) head() ([]byte, error) {
	f := jen.NewFilePathName("routegen.invalid/output", g.p.Package)
	f.HeaderComment(header(g.p))
	for _, line := range g.comments {
		f.PackageComment(strings.TrimRight("// "+line, " "))
	}
	slices.SortFunc(g.imports, func(a, b imported) int { return strings.Compare(a.path, b.path) })
	var rows []jen.Code
	for _, i := range g.imports {
		rows = append(rows, jen.Id(i.name).Lit(i.path))
	}
	if len(rows) > 0 {
		f.Id("import").Custom(jen.Options{Open: "(", Close: ")", Multi: true}, rows...)
	}
	var raw bytes.Buffer
	if err := f.Render(&raw); err != nil {
		return nil, fmt.Errorf("render the head: %w", err)
	}
	return append(bytes.TrimRight(raw.Bytes(), "\n"), '\n'), nil
}

// header is the first line of every Go file: exactly what ast.IsGenerated looks for, and nothing that changes with the
// tool's version or the day.
func header(p *plan.Plan) string {
	return "// Code generated by routegen from " + p.Source + "; DO NOT EDIT."
}

// BrokenError says that rendered code is not Go: a defect of the generator.
type BrokenError struct {
	File   string
	Source []byte
	Err    error
}

// Error names the file and the parser's complaint.
func (e *BrokenError) Error() string {
	return fmt.Sprintf("%s: the generated code does not parse: %v", e.File, e.Err)
}

// Unwrap returns the parser's error.
func (e *BrokenError) Unwrap() error { return e.Err }

// declarations lists the names a file declares at top level, methods as "Type.Method", blank names left out.
func declarations(file *ast.File) []string {
	var out []string
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			out = append(out, receiver(d)+d.Name.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					out = append(out, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						out = append(out, n.Name)
					}
				}
			}
		}
	}
	return slices.DeleteFunc(out, func(name string) bool { return name == "_" })
}

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "."
	}
	return "?."
}

// directives lists every comment that a tool would obey: a line comment without a space after the slashes, and the old
// build and cgo forms.
func directives(file *ast.File) []string {
	var out []string
	for _, group := range file.Comments {
		for _, c := range group.List {
			text, line := strings.CutPrefix(c.Text, "//")
			whole := strings.TrimRight(c.Text, " \t")
			switch {
			case !line, text != "" && text[0] != ' ' && text[0] != '\t':
				out = append(out, whole)
			case strings.HasPrefix(strings.TrimSpace(text), "+build"), strings.HasPrefix(strings.TrimSpace(text), "#cgo"):
				out = append(out, whole)
			}
		}
	}
	return out
}

func sameNames(what string, want, got []string) error {
	if slices.Equal(want, got) {
		return nil
	}
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			return fmt.Errorf("the %s are not the planned ones: %q is missing", what, want[i])
		case i >= len(want):
			return fmt.Errorf("the %s are not the planned ones: %q was not planned", what, got[i])
		case want[i] != got[i]:
			return fmt.Errorf("the %s are not the planned ones: found %q where %q was planned", what, got[i], want[i])
		}
	}
	return nil
}
