package review

import (
	"slices"
	"strings"
	"unicode"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
)

// allRoutings compares what nodes may answer with. The branches of the interrupt routing are routes.
func (w *walker) allRoutings() {
	for i := range w.now.Routings {
		n := &w.now.Routings[i]
		if o := w.routings.prev[n.Name]; o != nil && n.Node != "" {
			w.branches(o, n)
		}
	}
}

func (w *walker) branches(o, n *plan.Routing) {
	var before, after []string
	both := follow(o.Branches, n.Branches, func(b *plan.Branch) string { return b.Key }, branchWas)
	for i := range n.Branches {
		b := &n.Branches[i]
		was := both.prev[b.Key]
		if was == nil {
			c := w.branchChange(n, nil, b)
			w.formerly(c, b.Was)
			c.hitf("BRANCH_ADDED", "the model of %s may choose %s: %s", n.Node, b.JSON, leads(b))
			c.notef(callers, "Go field %s.%s *%s is new", n.Name, b.Go, b.Type)
			c.notef(stored, "none: nothing stored has it")
			continue
		}
		after = append(after, b.Key)
		w.branch(n, was, b)
	}
	for i := range o.Branches {
		if b := both.next[o.Branches[i].Key]; b != nil {
			before = append(before, b.Key)
		}
	}
	from, to := w.old.Node(o.Node), w.now.Node(n.Node)
	node := func() *change { return w.nodeChange(from, to) }
	freed(node, "branch name", from.Reserved, to.Reserved, n.Branches, branchWas)
	order(node, before, after, models, "the branches stand in another order in the schema")
	for i := range o.Branches {
		if b := &o.Branches[i]; both.next[b.Key] == nil {
			c := w.branchChange(n, b, nil)
			c.hitf("BRANCH_NO_DELETE", "the model of %s can no longer choose %s: %s", n.Node, b.JSON, leads(b))
			c.hitf("GO_API_NO_DELETE", "Go field %s.%s is gone", n.Name, b.Go)
			if c.thing == "branch" {
				c.unkept(b.Key, to.Reserved)
			}
			w.stale(c, n.Node, b.JSON)
		}
	}
}

// stale warns of guidance that still names what a model can no longer set.
func (w *walker) stale(c *change, node, name string) {
	n := w.now.Node(node)
	if n == nil || n.Prompt == nil {
		return
	}
	words := strings.FieldsFunc(n.Prompt.Guidance, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if slices.Contains(words, name) {
		c.notef(models, "the guidance of %s still says %s", node, name)
	}
}

// leads says what taking a branch does.
func leads(b *plan.Branch) string {
	switch b.Kind {
	case plan.ToNode:
		return "goes to " + b.To
	case plan.ToResume:
		return "resumes " + b.To
	case plan.ToInterrupt:
		return "asks for a decision"
	case plan.ToCollect:
		return "goes where the decision says"
	case plan.ToEnd:
	}
	return "ends the frame"
}

func (w *walker) branch(r *plan.Routing, o, n *plan.Branch) {
	c := func() *change { return w.branchChange(r, o, n) }
	if o.JSON != n.JSON {
		c().notef(models, "the model of %s is offered %s in place of %s", r.Node, n.JSON, o.JSON)
		w.stale(c(), r.Node, o.JSON)
	} else if o.Key != n.Key {
		c().notef(stored, "none: the JSON name is still %s", n.JSON)
	}
	if o.Go != n.Go {
		c().hitf("FIELD_SAME_GO_NAME", "Go field %s.%s is %s now", r.Name, o.Go, n.Go)
	}
	if w.became(o.Type) != n.Type {
		c().detailf("%s → %s", o.Type, n.Type)
		c().tellf("BRANCH_SAME_TYPE", callers, "Go field %s.%s carries %s in place of %s", r.Name, n.Go, n.Type, o.Type)
		c().notef(models, "the model of %s has to write %s in place of %s", r.Node, n.Type, o.Type)
	}
	to := ""
	if node := w.nodes.next[o.To]; node != nil {
		to = node.Key
	}
	if to != n.To || o.Kind != n.Kind {
		c().hitf("BRANCH_SAME_TARGET", "it %s, and now %s", leads(o), leads(n))
	}
	w.goDoc(r.Name+"."+n.Key, spec.Pos{Line: n.Line, Column: max(n.Column, 1)}, o.Doc, n.Doc)
}
