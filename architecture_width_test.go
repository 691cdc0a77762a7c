package routegen_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"
)

// maxColumns is how wide a line of Go may be, with four columns for a tab.
const maxColumns = 100

// TestLinesAreNarrow finds the handwritten lines of Go that are wider than 100 columns. Lines
// inside raw strings are left out, since they cannot be wrapped.
func TestLinesAreNarrow(t *testing.T) {
	t.Parallel()
	wide, err := findWideLines(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if len(wide) > 0 {
		t.Errorf("%d lines are wider than %d columns:\n%s",
			len(wide), maxColumns, strings.Join(wide, "\n"))
	}
}

// TestWideLinesAreFound is the control: a wide line counts, and a wide line of a raw string does
// not.
func TestWideLinesAreFound(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxColumns)
	wide, err := findWideLines(fstest.MapFS{
		"a.go": {Data: []byte("package a\n\n// " + long + "\nvar a = `\n" + long + long + "\n`\n")},
	})
	if err != nil || len(wide) != 1 {
		t.Errorf("found %q, %v, and there is one", wide, err)
	}
}

// TestSharedNamesAreFound is the control of TestNamesSayWhatTheyAreOf.
func TestSharedNamesAreFound(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for _, name := range []string{"a", "b", "c", "d"} {
		files[name+"/x.go"] = &fstest.MapFile{Data: []byte(
			"package " + name + "\n\nfunc run() {}\n")}
	}
	tree, err := readTree(files)
	if err != nil {
		t.Fatal(err)
	}
	if list := namesInManyPackages(tree); len(list) != 1 {
		t.Errorf("found %q, and run stands in four packages", list)
	}
}

// findWideLines returns the place of each.
func findWideLines(fsys fs.FS) (wide []string, err error) {
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || name != "." && d.Name()[0] == '.'):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_gen.go"):
			return nil
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		raw := rawLines(data)
		for n, line := range strings.Split(string(data), "\n") {
			columns := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
			if columns > maxColumns && !raw[n+1] {
				wide = append(wide, token.Position{Filename: name, Line: n + 1}.String())
			}
		}
		return nil
	})
	return wide, err
}

// rawLines returns the lines that a raw string is on.
func rawLines(data []byte) map[int]bool {
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(data))
	var s scanner.Scanner
	s.Init(file, data, nil, 0)
	lines := map[int]bool{}
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return lines
		}
		if tok == token.STRING && lit[0] == '`' {
			first := file.Line(pos)
			for n := range 1 + strings.Count(lit, "\n") {
				lines[first+n] = true
			}
		}
	}
}
