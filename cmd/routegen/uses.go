package main

import (
	"cmp"
	"context"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/review"
)

// usesLimit bounds how long the packages of a module are read.
const usesLimit = 2 * time.Minute

// readUses type-checks what depends on the generated package in its module, against the package as
// it was and as it would be generated, and returns where they differ. Nothing is written. Where it
// cannot tell, Note of the answer says why.
func (p *program) readUses(ctx context.Context, src *source, old,
	now *generator.Result) *review.GoUses {
	ctx, stop := context.WithTimeout(ctx, usesLimit)
	defer stop()
	uses, err := readUses(ctx, src, filled(src, old), filled(src, now))
	switch {
	case ctx.Err() != nil:
		return &review.GoUses{Note: "the module's packages were not read: it took longer than " +
			usesLimit.String() + "; go vet ./... names the places after generating"}
	case err != nil:
		return &review.GoUses{Note: "the module's packages were not read: " + oneLine(err.Error())}
	}
	return uses
}

// filled is the output of a plan that was made without files. That of an absent spec has none.
func filled(src *source, res *generator.Result) *generator.Result {
	if res.Files != nil {
		return res
	}
	out := generator.GenerateLenient(src.shown, res.Source, res.Included...)
	if out.Plan == nil { // it cannot be: the plan was made of this text
		return res
	}
	return out
}

func readUses(ctx context.Context, src *source, old, now *generator.Result) (*review.GoUses,
	error) {
	if !src.module {
		return nil, errNoModule
	}
	if old.Plan.Out != now.Plan.Out {
		return &review.GoUses{Note: "the package moves from " + old.Plan.Out + " to " +
			now.Plan.Out + ": each file that imports it has to be edited"}, nil
	}
	after, err := textsOf(src, now)
	if err != nil {
		return nil, err
	}
	before, err := textsOf(src, old)
	if err != nil {
		return nil, err
	}
	m, err := loadModule(ctx, src, now.Plan.Out, before, after)
	if err != nil {
		return nil, err
	}
	return m.differ(m.check(before), m.check(after)), ctx.Err()
}

// differ returns what is different for the packages that depend on the generated one.
func (m *module) differ(before, after *universe) *review.GoUses {
	out := &review.GoUses{Packages: len(m.readers())}
	for _, f := range after.faults {
		if slices.Contains(before.faults, f) {
			out.Broken = append(out.Broken, f)
		} else {
			out.Stops = append(out.Stops, f)
		}
	}
	out.Stops, out.Broken = onePerLine(out.Stops), onePerLine(out.Broken)
	if is := after.packages[m.path]; is != nil && before.packages[m.path] != nil {
		out.Lost = m.lostImplementers(before, after)
		out.Dead = m.deadMethods(before, after)
		out.Changed = m.changedUses(before, is)
		out.Switches = after.openSwitches(before.packages[m.path], is)
	}
	return out
}

// onePerLine keeps the first of the places of a line, and sorts them.
func onePerLine(places []review.GoPlace) []review.GoPlace {
	slices.SortStableFunc(places, func(a, b review.GoPlace) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return slices.CompactFunc(places, func(a, b review.GoPlace) bool {
		return a.File == b.File && a.Line == b.Line
	})
}

// goPlace is a place of the module, with its path from the folder of the spec's module.
func (m *module) goPlace(at token.Pos, text string) review.GoPlace {
	pos := m.fset.Position(at)
	file := pos.Filename
	if rel, err := filepath.Rel(m.root, file); err == nil && filepath.IsLocal(rel) {
		file = filepath.ToSlash(rel)
	}
	if i := strings.Index(text, " does not implement "); i > 0 { // without where it is assigned
		text = text[strings.LastIndex(text[:i], ": ")+1:]
	}
	return review.GoPlace{File: file, Line: pos.Line, Text: oneLine(text)}
}

// declaredTypes returns the types that a package declares, without generic ones.
func declaredTypes(pkg *types.Package) []*types.TypeName {
	var out []*types.TypeName
	for _, name := range pkg.Scope().Names() {
		t, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || t.IsAlias() || types.IsInterface(t.Type()) {
			continue
		}
		if n, ok := t.Type().(*types.Named); ok && n.TypeParams().Len() == 0 {
			out = append(out, t)
		}
	}
	return out
}

// interfacesOf returns the interfaces with methods that a generated package exports.
func interfacesOf(pkg *types.Package) map[string]*types.Interface {
	out := map[string]*types.Interface{}
	for _, name := range pkg.Scope().Names() {
		if i, ok := pkg.Scope().Lookup(name).Type().Underlying().(*types.Interface); ok &&
			ast.IsExported(name) && i.NumMethods() > 0 && sealed(i) == "" {
			out[name] = i
		}
	}
	return out
}

// sealed returns the unexported method of an interface that no other package can implement, or "".
func sealed(i *types.Interface) string {
	for m := range i.Methods() {
		if !m.Exported() {
			return m.Name()
		}
	}
	return ""
}

// lostImplementers are the types that implement an interface of the package as it was, and not that
// of the package as it would be.
func (m *module) lostImplementers(before, after *universe) []review.GoPlace {
	var out []review.GoPlace
	for id, was := range before.packages {
		is, pkg := after.packages[id], before.generatedFor(m, id)
		if is == nil || pkg == nil || !m.reads(id) {
			continue
		}
		now := interfacesOf(after.generatedFor(m, id))
		for name, i := range interfacesOf(pkg) {
			if now[name] == nil {
				continue
			}
			for _, t := range declaredTypes(was) {
				next := is.Scope().Lookup(t.Name())
				if next == nil || !types.Implements(types.NewPointer(t.Type()), i) {
					continue
				}
				gone, wrong := types.MissingMethod(types.NewPointer(next.Type()), now[name], true)
				if gone == nil {
					continue
				}
				text := "*" + t.Name() + " no longer implements " + name + ": it has no " +
					gone.Name()
				if wrong {
					text = "*" + t.Name() + " no longer implements " + name + ": its " +
						gone.Name() + " has another signature"
				}
				out = append(out, m.goPlace(next.Pos(), text))
			}
		}
	}
	slices.SortFunc(out, comparePlaces)
	return slices.Compact(out)
}

func comparePlaces(a, b review.GoPlace) int {
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
		strings.Compare(a.Text, b.Text))
}

// deadMethods are the methods that a type has for an interface that no longer asks for them, and
// that nothing else in the module names.
func (m *module) deadMethods(before, after *universe) []review.GoPlace {
	var out []review.GoPlace
	for id, pkg := range after.packages {
		was, is := before.generatedFor(m, id), after.generatedFor(m, id)
		if was == nil || is == nil || !m.reads(id) || before.packages[id] == nil {
			continue
		}
		now := interfacesOf(is)
		for name, i := range interfacesOf(was) {
			for method := range i.Methods() {
				if now[name] != nil && hasMethod(now[name], method.Name()) {
					continue
				}
				for _, t := range declaredTypes(pkg) {
					old := before.packages[id].Scope().Lookup(t.Name())
					if old == nil || !types.Implements(types.NewPointer(old.Type()), i) {
						continue
					}
					obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(t.Type()), false, pkg,
						method.Name())
					if f, ok := obj.(*types.Func); ok && f.Pkg() == pkg &&
						!after.named[m.fset.Position(f.Pos())] {
						out = append(out, m.goPlace(f.Pos(), "*"+t.Name()+"."+f.Name()+
							" is dead: "+name+" no longer calls it"))
					}
				}
			}
		}
	}
	slices.SortFunc(out, comparePlaces)
	return slices.Compact(out)
}

func hasMethod(i *types.Interface, name string) bool {
	for m := range i.Methods() {
		if m.Name() == name {
			return true
		}
	}
	return false
}

// changedUses are the places that name what has another type in the package as it would be.
func (m *module) changedUses(before *universe, now *types.Package) []review.GoPlace {
	is := typesOfNames(now)
	var out []review.GoPlace
	for at, name := range before.uses {
		if text, there := is[name.name]; there && text != name.typ {
			out = append(out, m.goPlace(at, "uses "+name.name+", which was "+name.typ+" and is "+
				text))
		}
	}
	slices.SortFunc(out, comparePlaces)
	return slices.Compact(out)
}

// use is a name of the generated package with its type.
type use struct{ name, typ string }

// typesOfNames returns the type of each exported name and field of a package.
func typesOfNames(pkg *types.Package) map[string]string {
	out := map[string]string{}
	for _, name := range pkg.Scope().Names() {
		obj := pkg.Scope().Lookup(name)
		if !obj.Exported() {
			continue
		}
		if t, ok := obj.(*types.TypeName); ok {
			if s, ok := t.Type().Underlying().(*types.Struct); ok {
				for f := range s.Fields() {
					out[name+"."+f.Name()] = goTypeOf(f)
				}
			}
			continue
		}
		out[name] = goTypeOf(obj)
	}
	return out
}

func goTypeOf(obj types.Object) string {
	return types.TypeString(obj.Type(), func(p *types.Package) string { return p.Name() })
}
