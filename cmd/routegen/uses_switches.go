package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/review"
)

// enumSwitch is a switch over values of a type of the generated package.
type enumSwitch struct {
	at       token.Pos
	enum     string
	lists    map[string]bool // values, as constants write them
	fallback bool            // it has a default
}

// findSwitches remembers the switches of a package over constants of the generated one.
func (u *universe) findSwitches(info *types.Info, files []*ast.File) {
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SwitchStmt)
			if !ok || s.Tag == nil {
				return true
			}
			t, ok := types.Unalias(info.TypeOf(s.Tag)).(*types.Named)
			if !ok || t.Obj().Pkg() == nil || t.Obj().Pkg().Path() != u.m.path {
				return true
			}
			found := enumSwitch{at: s.Pos(), enum: t.Obj().Name(), lists: map[string]bool{}}
			for _, clause := range s.Body.List {
				c, isCase := clause.(*ast.CaseClause)
				if !isCase {
					continue
				}
				found.fallback = found.fallback || c.List == nil
				for _, e := range c.List {
					if v := info.Types[e].Value; v != nil {
						found.lists[v.ExactString()] = true
					}
				}
			}
			u.switches = append(u.switches, found)
			return true
		})
	}
}

// enumValues are the constants of each type of a package, by name.
func enumValues(pkg *types.Package) map[string]map[string]constant.Value {
	out := map[string]map[string]constant.Value{}
	for _, name := range pkg.Scope().Names() {
		c, ok := pkg.Scope().Lookup(name).(*types.Const)
		if !ok || !c.Exported() {
			continue
		}
		if t, ok := types.Unalias(c.Type()).(*types.Named); ok && t.Obj().Pkg() == pkg {
			enum := t.Obj().Name()
			if out[enum] == nil {
				out[enum] = map[string]constant.Value{}
			}
			out[enum][name] = c.Val()
		}
	}
	return out
}

// openSwitches are the switches that do not list a value which the package as it would be has and
// the package as it was had not, of those that listed all it had or have no default.
func (u *universe) openSwitches(was, is *types.Package) []review.GoPlace {
	before, after := enumValues(was), enumValues(is)
	var out []review.GoPlace
	for _, s := range u.switches {
		var fresh []string
		complete := true
		for name, value := range after[s.enum] {
			_, old := before[s.enum][name]
			switch listed := s.lists[value.ExactString()]; {
			case !old && !listed:
				fresh = append(fresh, name)
			case old && !listed:
				complete = false
			}
		}
		if len(fresh) == 0 || s.fallback && !complete {
			continue
		}
		slices.Sort(fresh)
		text := "switch over " + s.enum + " does not list " + strings.Join(fresh, ", ")
		if s.fallback {
			text += ": its default takes it"
		}
		out = append(out, u.m.goPlace(s.at, text))
	}
	slices.SortFunc(out, comparePlaces)
	return slices.Compact(out) // a package and its test have the same files
}
