package routegen_test

import (
	"fmt"
	"go/ast"
	"go/token"
)

// typeSpecs calls f for every type declared at the top of a handwritten file outside tests.
func typeSpecs(t *tree, f func(file goFile, spec *ast.TypeSpec)) {
	for _, file := range t.files {
		if file.test || file.generated {
			continue
		}
		for _, decl := range file.ast.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					f(file, spec)
				}
			}
		}
	}
}

func checkTypes(p *plan, t *tree) []fault {
	count := map[string]int{}
	var order []string
	typeSpecs(t, func(file goFile, spec *ast.TypeSpec) {
		if !spec.Name.IsExported() {
			return
		}
		if count[file.pkg()] == 0 {
			order = append(order, file.pkg())
		}
		count[file.pkg()]++
	})
	var faults []fault
	for _, dir := range order {
		limit := p.types
		if r := p.packageOf(dir); r != nil && r.types != 0 {
			limit = r.types
		}
		if count[dir] > limit {
			faults = append(faults, fault{
				dir, fmt.Sprintf("has %d exported types, its limit is %d", count[dir], limit),
				"every exported type is a word that a user must learn and that no one may change " +
					"later",
			})
		}
	}
	return faults
}

func checkInterfaces(_ *plan, t *tree) []fault {
	declared := map[string]*ast.InterfaceType{} // package and name
	typeSpecs(t, func(file goFile, spec *ast.TypeSpec) {
		if iface, ok := spec.Type.(*ast.InterfaceType); ok {
			declared[file.pkg()+"."+spec.Name.Name] = iface
		}
	})
	var faults []fault
	typeSpecs(t, func(file goFile, spec *ast.TypeSpec) {
		iface, ok := spec.Type.(*ast.InterfaceType)
		if !ok || !spec.Name.IsExported() {
			return
		}
		if n := methods(declared, file.pkg(), iface,
			map[*ast.InterfaceType]bool{}); n > maxMethods {
			faults = append(faults, fault{
				file.path, fmt.Sprintf("interface %s has %d methods, more than %d", spec.Name.Name,
					n, maxMethods),
				"a port that small has second implementations and honest fakes; more abilities " +
					"are more interfaces",
			})
		}
	})
	return faults
}

// methods counts the methods of an interface with those it embeds. An embedded interface of another
// package counts as one: it cannot be read here.
func methods(declared map[string]*ast.InterfaceType, dir string, iface *ast.InterfaceType,
	seen map[*ast.InterfaceType]bool) int {
	if seen[iface] {
		return 0
	}
	seen[iface] = true
	n := 0
	for _, field := range iface.Methods.List {
		switch embedded := field.Type.(type) {
		case *ast.FuncType:
			n += len(field.Names)
		case *ast.Ident:
			if inner := declared[dir+"."+embedded.Name]; inner != nil {
				n += methods(declared, dir, inner, seen)
			}
		case *ast.SelectorExpr:
			n++
		}
	}
	return n
}
