package routegen_test

import (
	"fmt"
	"go/ast"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// maxPackagesOfAName is in how many packages a name of a function or type may stand: one that
// stands in more says nothing where it is read, and cannot be searched for.
const maxPackagesOfAName = 3

// sharedNames is how many names may stand in more packages than that.
const sharedNames = 0

// methods of interfaces of the standard library and of other modules that packages implement.
var foreignMethods = []string{
	"Close", "Error", "Is", "Kind", "Len", "Less", "MarshalJSON", "Read", "RoundTrip", "ServeHTTP",
	"String",
	"Swap", "UnmarshalJSON", "UnmarshalText", "MarshalText", "Unwrap", "Write",
}

// TestNamesSayWhatTheyAreOf lists the names of functions and types that stand in more than three
// packages. Constructors (New, Open and what begins with them), Config, main, methods of
// interfaces, and Store, as each store is called, are not counted. make words prints the list.
func TestNamesSayWhatTheyAreOf(t *testing.T) {
	t.Parallel()
	tree, err := readTree(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	list := namesInManyPackages(tree)
	if os.Getenv("ROUTEGEN_WORDS") != "" {
		t.Logf("%d names stand in more than %d packages:\n%s", len(list), maxPackagesOfAName,
			strings.Join(list, "\n"))
	}
	if len(list) > sharedNames {
		t.Errorf("%d names stand in more than %d packages, at most %d may: run make words",
			len(list), maxPackagesOfAName, sharedNames)
	}
}

// namesInManyPackages returns a line for each name, the one in most packages first.
func namesInManyPackages(tree *tree) []string {
	packages, promised := map[string]map[string]bool{}, map[string]bool{}
	for _, name := range foreignMethods {
		promised[name] = true
	}
	type method struct{ name, path string }
	var methods []method
	add := func(name, path string) {
		if packages[name] == nil {
			packages[name] = map[string]bool{}
		}
		packages[name][path] = true
	}
	for _, f := range tree.files {
		if f.test || f.generated {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					methods = append(methods, method{d.Name.Name, f.pkg()})
				} else {
					add(d.Name.Name, f.pkg())
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						add(s.Name.Name, f.pkg())
						promise(s.Type, promised)
					}
				}
			}
		}
	}
	for _, m := range methods {
		if !promised[m.name] {
			add(m.name, m.path)
		}
	}
	var list []string
	for name, in := range packages {
		constructor := strings.HasPrefix(name, "New") || strings.HasPrefix(name, "Open")
		if len(in) > maxPackagesOfAName && !constructor && name != "main" && name != "Config" &&
			name != "Store" {
			list = append(list, fmt.Sprintf("%3d %s: %s", len(in), name,
				strings.Join(slices.Sorted(maps.Keys(in)), " ")))
		}
	}
	slices.Sort(list)
	slices.Reverse(list)
	return list
}

// promise adds the methods of an interface.
func promise(of ast.Expr, promised map[string]bool) {
	i, ok := of.(*ast.InterfaceType)
	if !ok {
		return
	}
	for _, m := range i.Methods.List {
		for _, name := range m.Names {
			promised[name.Name] = true
		}
	}
}
