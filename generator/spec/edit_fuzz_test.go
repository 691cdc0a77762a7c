package spec_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/spec"
)

// target is something of a spec that an edit can name.
type target struct{ kind, name string }

// targets lists everything that a spec declares.
func targets(s *spec.Spec) []target {
	var out []target
	fields := func(owner string, list []*spec.Field) {
		for _, f := range list {
			out = append(out, target{spec.EditField, owner + "." + f.Key.Value})
		}
	}
	for _, e := range s.Enums {
		out = append(out, target{spec.EditEnum, e.Key.Value})
		for _, v := range e.Values {
			out = append(out, target{spec.EditValue, e.Key.Value + "." + v.Key.Value})
		}
	}
	for _, t := range slices.Concat(s.Types, s.Results) {
		out = append(out, target{spec.EditType, t.Key.Value})
		fields(t.Key.Value, t.Fields)
	}
	for _, n := range s.Nodes {
		out = append(out, target{spec.EditNode, n.Key.Value})
		if n.Request != nil {
			fields(n.Key.Value, n.Request.Fields)
		}
		if n.Interrupt != nil {
			fields(n.Key.Value+".interrupt", n.Interrupt.Fields)
		}
		for _, b := range n.Branches {
			out = append(out, target{spec.EditBranch, n.Key.Value + "." + b.Key.Value})
		}
	}
	for _, a := range s.Actions {
		out = append(out, target{spec.EditAction, a.Key.Value})
	}
	for _, v := range s.Validators {
		out = append(out, target{spec.EditValidator, v.Key.Value})
	}
	for _, f := range s.Flows {
		out = append(out, target{spec.EditFlow, f.Key.Value})
		for _, slot := range f.Slots {
			out = append(out, target{spec.EditSlot, f.Key.Value + "." + slot.Key.Value})
		}
		for _, step := range f.Steps {
			out = append(out, target{spec.EditStep, f.Key.Value + "." + step.ID.Value})
		}
	}
	if s.Interrupts != nil {
		fields("interrupts", s.Interrupts.Fields)
		for _, k := range s.Interrupts.Kinds {
			out = append(out, target{spec.EditKind, k.Key.Value})
		}
	}
	return out
}

// another is a legal new name for something of a kind.
func another(kind string) string {
	if kind == spec.EditType || kind == spec.EditEnum {
		return "Zebra"
	}
	return "zebra"
}

// FuzzSplice: whatever the bytes and the edit, either there are findings or a text in which no byte outside the edits is lost.
func FuzzSplice(f *testing.F) {
	for _, seed := range []string{base, small, strings.ReplaceAll(base, "\n", "\r\n"), twoMistakes, "", "? a\n: b\n", "version: 1\nnodes: {a: , b}\n",
		"nodes:\n- a\n", "enums: {A: {values: {x, y: |\n z\n}}}", "nodes:\n  a: # x\n\n  # y\n  b:\n    branches: {x: A, # c\n      y: B}\n", "types:\n  A:\n    doc: >-\n      x\n\n      y\n    fields: {}\n"} {
		f.Add([]byte(seed), uint8(0), uint16(0))
		f.Add([]byte(seed), uint8(1), uint16(7))
		f.Add([]byte(seed), uint8(2), uint16(3))
		f.Add([]byte(seed), uint8(3), uint16(1))
		f.Add([]byte(seed), uint8(6), uint16(3))
	}
	for pick := range uint16(80) {
		f.Add([]byte(flowsSpec(f)), uint8(pick%4), pick)
	}
	f.Fuzz(func(t *testing.T, src []byte, op uint8, pick uint16) {
		if len(src) > 1<<16 {
			return
		}
		s, _ := spec.Parse("x", src)
		at := target{spec.EditNode, "a"}
		if s != nil {
			if all := targets(s); len(all) > 0 {
				at = all[int(pick)%len(all)]
			}
		}
		var r *spec.EditResult
		var findings []spec.Finding
		switch op % 4 {
		case 0:
			r, findings = spec.Format("x", src)
		case 1:
			r, findings = spec.Rename("x", src, at.kind, at.name, another(at.kind))
		case 2:
			if op&4 > 0 {
				r, findings = spec.RemoveWithReferences("x", src, at.kind, at.name)
			} else {
				r, findings = spec.Remove("x", src, at.kind, at.name)
			}
		default:
			owner, _, dotted := strings.Cut(at.name, ".")
			name := another(at.kind)
			if dotted {
				name = owner + "." + name
			}
			r, findings = spec.Add("x", src, spec.AddWhat{Kind: at.kind, Name: name, Set: additions[at.kind], Before: at.name})
		}
		if (r == nil) != (len(findings) > 0) {
			t.Fatalf("a result and findings, or neither: %s", list(findings))
		}
		if r != nil {
			soundEdit(t, string(src), r)
			if lost := lostBytes(op%4, src, r, at); lost != "" {
				t.Fatalf("%v of %v lost %q of %q", op%4, at, lost, src)
			}
		}
		if fixed := spec.ApplyFixes("x", src, findings); fixed != nil {
			soundEdit(t, string(src), fixed)
		}
	})
}

// lostBytes returns what an edit should not have taken away.
func lostBytes(op uint8, src []byte, r *spec.EditResult, at target) string {
	var texts []string
	for _, e := range spec.Invert(src, r).Edits {
		texts = append(texts, e.Text)
	}
	gone := strings.Join(texts, "")
	bare := at.name[strings.LastIndexByte(at.name, '.')+1:]
	switch {
	case op == 0 && counts(string(src)) != counts(string(r.Text)):
		return gone
	case op == 1 && bytes.Count(r.Text, []byte("#")) < bytes.Count(src, []byte("#")): // comments stay
		return gone
	case op == 2 && !strings.Contains(folded(gone), folded(bare)) && !strings.Contains(gone, `\`): // a name may stand on two lines, or escaped
		return gone
	case op == 3:
		return strings.Trim(strings.ReplaceAll(strings.ToLower(gone), "null", ""), " ~{}\r\n")
	}
	return ""
}

// folded is a text on one line.
func folded(text string) string { return strings.Join(strings.Fields(text), " ") }

// TestEditsOfThisRepository renames many things of the repository's own spec, there and back, and tries to remove it.
func TestEditsOfThisRepository(t *testing.T) {
	src, err := os.ReadFile("../../routes.yaml")
	require.NoError(t, err)
	text := string(src)
	s, _ := spec.Parse("routes.yaml", src)
	all, removed := targets(s), 0
	for i, at := range all {
		if i%43 > 0 && (at.kind == spec.EditField || i%17 > 0) { // there are hundreds, all alike
			continue
		}
		r, findings := spec.Rename("routes.yaml", src, at.kind, at.name, another(at.kind))
		if at.name == "interrupts.type" || at.kind == spec.EditKind {
			continue // the language, or the engine, knows it by this name
		}
		require.NotNil(t, r, "%v %s", at, list(findings))
		soundEdit(t, text, r)
		owner, old, dotted := strings.Cut(at.name, ".")
		from := another(at.kind)
		if at.kind == spec.EditField {
			owner, old = at.name[:strings.LastIndex(at.name, ".")], at.name[strings.LastIndex(at.name, ".")+1:]
		}
		if dotted {
			from = owner + "." + from
		} else {
			old = at.name
		}
		back, findings := spec.Rename("routes.yaml", r.Text, at.kind, from, old)
		require.NotNil(t, back, "%v %s", at, list(findings))
		assert.True(t, restored(string(back.Text), another(at.kind), text), at)
		r, findings = spec.Remove("routes.yaml", src, at.kind, at.name)
		if r == nil {
			assert.NotEqual(t, spec.RuleEditLayout, findings[0].Rule, "%v %s", at, list(findings))
			continue
		}
		removed++
		soundEdit(t, text, r)
		assert.Empty(t, errorsOf(string(r.Text)))
	}
	assert.Positive(t, removed)
}
