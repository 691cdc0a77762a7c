package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// Lint checks a composed document (a root and its $defs) against the rules and limits of d.
// Findings are in document order, limits last; those with Notice set break no published rule. The
// error is that of Parse.
func Lint(d runtime.Dialect, document []byte) ([]Finding, error) {
	root, err := Parse(document)
	if err != nil {
		return nil, err
	}
	l := newLinter(root, dialectOf(d))
	rules, sums := append([]string{"dangling_ref", "unused_def"}, l.rules...), make([]int,
		len(l.limits))
	var out []Finding
	for _, n := range l.nodes {
		for _, r := range rules {
			if what, broken := l.breaks(r, n); broken {
				out = append(out, Finding{Rule: r, Pointer: n.at,
					Message: fmt.Sprintf(advice[r], what, l.name)})
			}
		}
		for i, m := range l.limits {
			sums[i] += l.amount(m.rule, n)
		}
	}
	for i, m := range l.limits {
		if sums[i] > m.most {
			out = append(out, Finding{Rule: m.rule, Message: fmt.Sprintf(advice[m.rule], sums[i],
				m.most),
				Count: sums[i], Limit: m.most, Notice: m.most == 0})
		}
	}
	return out, nil
}

// linter holds the parts of a document.
type linter struct {
	dialect
	nodes []lintNode        // every schema, in document order
	defs  map[string]*Value // "" is the root
	all   refWalk           // along every reference, from the root
	// along those in properties that must be filled, from every definition
	forced refWalk
}

// lintNode is one schema and its position.
type lintNode struct {
	*Value
	at       string // JSON pointer, "" for the root
	def      string // the definition that it is, or ""
	optional bool   // it is a property that its object does not require
}

// refWalk records a walk along references.
type refWalk struct {
	// objects on the deepest path from a definition; -1 while the walk is inside it
	depths map[string]int
	back   map[*Value]bool // references that close a cycle
	forced bool            // pass no property that may be left out
}

func newLinter(root *Value, d dialect) *linter {
	l := &linter{dialect: d, defs: map[string]*Value{"": root}}
	l.all, l.forced = refWalk{map[string]int{}, map[*Value]bool{}, false},
		refWalk{map[string]int{}, map[*Value]bool{}, true}
	l.addNodes(lintNode{Value: root})
	// "" is the root
	defs := slices.DeleteFunc(slices.Clone(root.Get("$defs").memberList()), func(m Member) bool {
		return m.Key == ""
	})
	for _, m := range defs {
		l.defs[m.Key] = m.Value
		l.addNodes(lintNode{Value: m.Value, at: "/$defs/" + escapePointer(m.Key), def: m.Key})
	}
	l.depthOf(&l.all, "")
	for _, m := range append([]Member{{}}, defs...) {
		l.depthOf(&l.forced, m.Key)
	}
	return l
}

func (l *linter) addNodes(n lintNode) {
	l.nodes = append(l.nodes, n)
	visitParts(n.Value, func(at string, part *Value, optional bool) {
		l.addNodes(lintNode{Value: part, at: n.at + at, optional: optional})
	})
}

// depthOf walks from a definition and returns how deep objects nest from there.
func (l *linter) depthOf(w *refWalk, def string) int {
	if _, met := w.depths[def]; !met {
		w.depths[def] = -1
		w.depths[def] = l.depth(w, l.defs[def])
	}
	return w.depths[def]
}

func (l *linter) depth(w *refWalk, v *Value) int {
	if to, ok := l.refTarget(v); ok {
		below := l.depthOf(w, to)
		w.back[v] = below < 0
		return max(below, 0) // going back adds nothing
	}
	deepest := 0
	visitParts(v, func(_ string, part *Value, optional bool) {
		if !optional || !w.forced {
			deepest = max(deepest, l.depth(w, part))
		}
	})
	if isObject(v) {
		deepest++
	}
	return deepest
}

// refTarget returns the name of the definition that v refers to, and false where v refers to none.
func (l *linter) refTarget(v *Value) (string, bool) {
	ref := v.Get("$ref")
	if ref == nil || ref.Text == "#" {
		return "", ref != nil
	}
	name, local := strings.CutPrefix(ref.Text, "#/$defs/")
	return name, local && name != "" && l.defs[name] != nil
}

// visitParts calls visit for each schema directly inside v. It goes by the place of a keyword,
// never by a name alone: a property may be called "$ref" or "items", and enum, const, default and
// examples hold data.
func visitParts(v *Value, visit func(at string, part *Value, optional bool)) {
	required := itemTexts(v.Get("required"))
	for _, m := range v.memberList() {
		at := "/" + escapePointer(m.Key)
		switch m.Key {
		case "properties", "patternProperties":
			for _, p := range m.Value.Members {
				visit(at+"/"+escapePointer(p.Key), p.Value, !slices.Contains(required, p.Key))
			}
		case "items", "additionalProperties", "not":
			if m.Value.Kind == Object {
				visit(at, m.Value, false)
			}
		case "prefixItems", "anyOf", "oneOf", "allOf":
			for i, item := range m.Value.Members {
				visit(fmt.Sprint(at, "/", i), item.Value, false)
			}
		}
	}
}
