package emit

import (
	"bytes"
	"cmp"
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

// goFile is one Go file being written, declaration by declaration.
type goFile struct {
	p    *plan.Plan
	name string

	formerly map[string][]string // earlier names that follow from those of nodes

	comments []string          // the package comment, one line each
	aliases  map[string]string // of the packages that records are bound to, by path
	body     [][]byte          // formatted declarations
	imports  []imported
	text     []byte
	err      error
}

func newGoFile(p *plan.Plan, name string) *goFile {
	g := &goFile{p: p, name: name, aliases: map[string]string{}, formerly: plan.Formerly(p)}
	for _, r := range p.Records {
		if at := strings.LastIndex(r.GoType, "."); at >= 0 {
			g.aliases[r.GoType[:at]] = aliasOf(r.GoType[:at])
		}
	}
	return g
}

// imported is one line of the import block; name is "" where the package has its own.
type imported struct{ name, path string }

// group is 0 for the standard library and 1 for the rest, as goimports has it.
func (i imported) group() int {
	if first, _, _ := strings.Cut(i.path, "/"); strings.Contains(first, ".") {
		return 1
	}
	return 0
}

// aliasOf names a package of the user's by its whole path, so that two of one name go together, and
// a new one never renames another.
func aliasOf(path string) string {
	return "of_" + strings.Map(func(r rune) rune {
		if r < '0' || r > 'z' || r > '9' && r < 'A' || r > 'Z' && r < 'a' {
			return '_'
		}
		return r
	}, path)
}

// decl renders, parses, checks and formats one top-level declaration. go/format holds a syntax tree
// of about fifteen times the source: one declaration at a time, the memory needed depends on the
// largest one and not on the spec.
func (g *goFile) decl(code ...jen.Code) {
	g.format(1, code...)
}

// group is decl for functions without comments that belong together: no blank line parts them.
func (g *goFile) group(functions ...jen.Code) {
	if len(functions) > 0 {
		g.format(len(functions), functions...)
	}
}

// format renders code that must be count declarations.
func (g *goFile) format(count int, code ...jen.Code) {
	if g.err != nil {
		return
	}
	piece := jen.NewFilePathName("routegen.invalid/output", g.p.Package)
	piece.ImportName(runtimePath, "runtime")
	for path, alias := range g.aliases {
		piece.ImportAlias(path, alias)
	}
	piece.NoFormat = true
	piece.Add(code...)
	var raw, pretty bytes.Buffer
	if err := piece.Render(&raw); err != nil {
		g.err = fmt.Errorf("render: %w", err)
		return
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, g.name, raw.Bytes(),
		parser.ParseComments|parser.SkipObjectResolution)
	if err == nil {
		err = checkDeclarations(file, count)
	}
	if err == nil {
		err = format.Node(&pretty, fset, file)
	}
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
	g.body = append(g.body, bytes.Clone(withoutHead(pretty.Bytes())))
}

// The directives that generated code has.
const (
	directiveSealed = "//sumtype:decl"
	directiveEmbed  = "//go:embed schemas/plain.json schemas/openai.json " +
		"schemas/anthropic.json schemas/gemini.json"
)

// checkDeclarations refuses a file that does not hold that many declarations beside its imports, or
// that has a comment that a tool would obey: a text of the spec has become code.
func checkDeclarations(file *ast.File, want int) error {
	count := len(file.Decls)
	for _, d := range file.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
			count--
		}
	}
	if count != want {
		return fmt.Errorf("%d declarations were rendered in place of %d", count, want)
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			text := strings.TrimRight(c.Text, " ")
			if isDirective(text) && text != directiveSealed && text != directiveEmbed {
				return fmt.Errorf("the comment %q is a directive", c.Text)
			}
		}
	}
	return nil
}

// isDirective reports whether a tool would obey a comment: a line comment without a space after the
// slashes, and the old build and cgo forms.
func isDirective(comment string) bool {
	text, isLine := strings.CutPrefix(comment, "//")
	trimmed := strings.TrimSpace(text)
	return !isLine || text != "" && text[0] != ' ' && text[0] != '\t' ||
		strings.HasPrefix(trimmed, "+build") || strings.HasPrefix(trimmed, "#cgo")
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

// finish makes the file's text of its declarations.
func (g *goFile) finish() {
	var head []byte
	if g.err == nil {
		head, g.err = g.head()
	}
	g.text = bytes.Join(append([][]byte{head}, g.body...), []byte("\n"))
	g.body = nil
}

// head renders everything above the first declaration. The imports are always a block, one line
// each, so that a package used for the first time adds a line and changes none.
func (g *goFile) head() ([]byte, error) {
	f := jen.NewFilePathName("routegen.invalid/output", g.p.Package)
	f.HeaderComment(header(g.p))
	for _, line := range g.comments {
		f.PackageComment(strings.TrimRight("// "+line, " "))
	}
	slices.SortFunc(g.imports, func(a, b imported) int {
		return cmp.Or(cmp.Compare(a.group(), b.group()), strings.Compare(a.path, b.path))
	})
	var rows []jen.Code
	for n, i := range g.imports {
		row := jen.Id(i.name).Lit(i.path)
		if n > 0 && i.group() != g.imports[n-1].group() {
			row = jen.Line().Add(row)
		}
		rows = append(rows, row)
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

// header is the first line of every Go file: exactly what ast.IsGenerated looks for, and nothing
// that changes with the tool's version or the day.
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
