package edit_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/edit"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// target is something of a spec that an edit can name.
type target struct{ kind, name string }

// targets lists everything that a spec declares.
func targets(s *spec.Spec) []target {
	var out []target
	fields := func(owner string, list []*spec.Field) {
		for _, f := range list {
			out = append(out, target{edit.KindField, owner + "." + f.Key.Value})
		}
	}
	for _, e := range s.Enums {
		out = append(out, target{edit.KindEnum, e.Key.Value})
		for _, v := range e.Values {
			out = append(out, target{edit.KindValue, e.Key.Value + "." + v.Key.Value})
		}
	}
	for _, t := range slices.Concat(s.Types, s.Results) {
		out = append(out, target{edit.KindType, t.Key.Value})
		fields(t.Key.Value, t.Fields)
	}
	for _, n := range s.Nodes {
		out = append(out, target{edit.KindNode, n.Key.Value})
		if n.Request != nil {
			fields(n.Key.Value, n.Request.Fields)
		}
		if n.Interrupt != nil {
			fields(n.Key.Value+".interrupt", n.Interrupt.Fields)
		}
		for _, b := range n.Branches {
			out = append(out, target{edit.KindBranch, n.Key.Value + "." + b.Key.Value})
		}
	}
	for _, a := range s.Actions {
		out = append(out, target{edit.KindAction, a.Key.Value})
	}
	for _, v := range s.Validators {
		out = append(out, target{edit.KindValidator, v.Key.Value})
	}
	for _, f := range s.Flows {
		out = append(out, target{edit.KindFlow, f.Key.Value})
		for _, slot := range f.Slots {
			out = append(out, target{edit.KindSlot, f.Key.Value + "." + slot.Key.Value})
		}
		for _, step := range f.Steps {
			out = append(out, target{edit.KindStep, f.Key.Value + "." + step.ID.Value})
		}
	}
	if s.Interrupts != nil {
		fields("interrupts", s.Interrupts.Fields)
		for _, k := range s.Interrupts.Kinds {
			out = append(out, target{edit.KindKind, k.Key.Value})
		}
	}
	return out
}

// another is a legal new name for something of a kind.
func another(kind string) string {
	if kind == edit.KindType || kind == edit.KindEnum {
		return "Zebra"
	}
	return "zebra"
}

// FuzzSplice: whatever the bytes and the edit, either there are findings or a text in which no byte
// outside the edits is lost.
func FuzzSplice(f *testing.F) {
	for _, seed := range []string{base, small, strings.ReplaceAll(base, "\n", "\r\n"),
		"", "? a\n: b\n", "version: 1\nnodes: {a: , b}\n",
		"nodes:\n- a\n", "enums: {A: {values: {x, y: |\n z\n}}}",
		"nodes:\n  a: # x\n\n  # y\n  b:\n    branches: {x: A, # c\n      y: B}\n",
		"types:\n  A:\n    doc: >-\n      x\n\n      y\n    fields: {}\n"} {
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
		at := target{edit.KindNode, "a"}
		if s != nil {
			if all := targets(s); len(all) > 0 {
				at = all[int(pick)%len(all)]
			}
		}
		var r []byte
		var findings []report.Finding
		switch op % 4 {
		case 0:
			r, findings = edit.Format("x", src)
		case 1:
			r, findings = edit.Rename("x", src, at.kind, at.name, another(at.kind))
		case 2:
			r, findings = edit.Remove("x", src, at.kind, at.name)
		default:
			owner, _, dotted := strings.Cut(at.name, ".")
			name := another(at.kind)
			if dotted {
				name = owner + "." + name
			}
			r, findings = edit.Add("x", src,
				edit.Addition{Kind: at.kind, Name: name, Set: additions[at.kind], Before: at.name})
		}
		if (r == nil) != (len(findings) > 0) {
			t.Fatalf("a result and findings, or neither: %s", list(findings))
		}
		if r != nil {
			if lost := lostBytes(op%4, src, r); lost != "" {
				t.Fatalf("%v of %v lost %q of %q", op%4, at, lost, src)
			}
		}
		edit.Fix("x", src, findings)
	})
}

// lostBytes returns what an edit should not have taken away, or "".
func lostBytes(op uint8, src, r []byte) string {
	switch {
	case op == 0 && counts(string(src)) != counts(string(r)):
		return string(r)
	case op == 1 && bytes.Count(r, []byte("#")) < bytes.Count(src, []byte("#")):
		return "a comment"
	case op == 3: // an empty mapping may be filled
		rest := string(r)
		for _, c := range strings.NewReplacer("null", "", "Null", "", "NULL", "").
			Replace(string(src)) {
			if strings.ContainsRune(" ~{}\r\n", c) {
				continue
			}
			at := strings.IndexRune(rest, c)
			if at < 0 {
				return string(c)
			}
			rest = rest[at+len(string(c)):]
		}
	}
	return ""
}

// TestEditsOfThisRepository renames many things of the repository's own spec, there and back, and
// tries to remove it.
func TestEditsOfThisRepository(t *testing.T) {
	src, err := os.ReadFile("../../routes.yaml")
	require.NoError(t, err)
	text := string(src)
	s, _ := spec.Parse("routes.yaml", src)
	all, removed := targets(s), 0
	for i, at := range all {
		if i%43 > 0 && (at.kind == edit.KindField || i%17 > 0) { // there are hundreds, all alike
			continue
		}
		r, findings := edit.Rename("routes.yaml", src, at.kind, at.name, another(at.kind))
		if at.name == "interrupts.type" || at.kind == edit.KindKind {
			continue // the language, or the engine, knows it by this name
		}
		require.NotNil(t, r, "%v %s", at, list(findings))
		owner, old, dotted := strings.Cut(at.name, ".")
		from := another(at.kind)
		if at.kind == edit.KindField {
			owner, old = at.name[:strings.LastIndex(at.name, ".")],
				at.name[strings.LastIndex(at.name, ".")+1:]
		}
		if dotted {
			from = owner + "." + from
		} else {
			old = at.name
		}
		back, findings := edit.Rename("routes.yaml", r, at.kind, from, old)
		require.NotNil(t, back, "%v %s", at, list(findings))
		assert.True(t, restored(string(back), another(at.kind), text), at)
		r, findings = edit.Remove("routes.yaml", src, at.kind, at.name)
		if r == nil {
			assert.NotEqual(t, spec.RuleEditLayout, findings[0].Rule, "%v %s", at, list(findings))
			continue
		}
		removed++
		assert.Empty(t, errorsOf(string(r)))
	}
	assert.Positive(t, removed)
}
