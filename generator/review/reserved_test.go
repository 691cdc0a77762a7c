package review_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/edit"
	"github.com/routegen/routegen/generator/review"
)

// keptNames are edits of base: each keeps one removed name, in each place that can; then the same
// name as an earlier one of something that is there.
var keptNames = map[string]struct{ kept, moved []string }{
	"top": {[]string{"reserved: [former]", "reserved: [former, late]"}, nil},
	"type": {
		[]string{"reserved: [colour]", "reserved: [colour, late]"},
		[]string{"size: {type: int,", "size: {was: [late], type: int,"},
	},
	"value": {
		[]string{"    doc: How far it is.\n    values:",
			"    doc: How far it is.\n    reserved: [LATE]\n    values:"},
		[]string{"WORK: Working.", "WORK: {doc: Working., was: [LATE]}"},
	},
	"branch": {
		[]string{"      done: Summary\n    prompt",
			"      done: Summary\n    reserved: [late]\n    prompt"},
		[]string{"      done: Summary\n    prompt",
			"      done: {type: Summary, was: [late]}\n    prompt"},
	},
	"common field": {
		[]string{"interrupts:\n", "interrupts:\n  reserved: [late]\n"},
		[]string{"    reason: {type: string,", "    reason: {was: [late], type: string,"},
	},
	"kind": {
		[]string{"interrupts:\n", "interrupts:\n  reserved_kinds: [late]\n"},
		[]string{"    failure: {doc", "    failure: {was: [late], doc"},
	},
}

// TestReservedNamesStayReserved: a list may grow, and lose a name only to something that had it
// before.
func TestReservedNamesStayReserved(t *testing.T) {
	for name, c := range keptNames {
		t.Run(name, func(t *testing.T) {
			bare, kept := planOf(t, base), planOf(t, edited(t, base, c.kept...))
			assert.Empty(t, review.Breaking(bare, kept))
			findings := review.Breaking(kept, bare)
			require.Len(t, findings, 1)
			assert.Equal(t, "RESERVED_NO_DELETE", findings[0].Rule)
			if c.moved != nil {
				assert.NotContains(t,
					rulesOf(review.Breaking(kept, planOf(t, edited(t, base, c.moved...)))),
					"RESERVED_NO_DELETE")
			}
		})
	}
}

// TestRemovalsSayWhetherTheNameIsKept: by hand it is easily forgotten.
func TestRemovalsSayWhetherTheNameIsKept(t *testing.T) {
	const forgotten = "its name is not in reserved"
	for name, c := range map[string]struct{ kind, target string }{
		"field":        {edit.KindField, "Note.size"},
		"common field": {edit.KindField, "interrupts.reason"},
		"branch":       {edit.KindBranch, "lead.help"},
		"value":        {edit.KindValue, "Phase.SECRET"},
		"kind":         {edit.KindKind, "failure"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(base, ", SECRET: end", "", 1) // the arm of the value
			if c.kind != edit.KindValue {
				text = base
			}
			removed, findings := edit.Remove("routes.yaml", []byte(text), c.kind, c.target)
			require.NotNil(t, removed, "%v", findings)
			r := review.Compare(planOf(t, base), planOf(t, string(removed)))
			require.Len(t, r.Changes, 1, r.Text())
			assert.Equal(t, "removed", r.Changes[0].Op)
			assert.NotContains(t, r.Text(), forgotten)
			bare := planOf(t, string(removed))
			for i := range bare.Records {
				bare.Records[i].Reserved = nil
			}
			for i := range bare.Enums {
				bare.Enums[i].Reserved = nil
			}
			for i := range bare.Nodes {
				bare.Nodes[i].Reserved = nil
			}
			bare.Interrupt.Reserved, bare.Interrupt.ReservedKinds = nil, nil
			assert.Contains(t, review.Compare(planOf(t, base), bare).Text(), forgotten)
		})
	}
}

// TestEveryRenameIsOneChange: whatever rename gives another name, a review sees what became of it.
func TestEveryRenameIsOneChange(t *testing.T) {
	for name, c := range map[string]struct{ kind, from, to, rule string }{
		"node":         {edit.KindNode, "helper", "aid", "WIRE_VALUE_SAME"},
		"type":         {edit.KindType, "Note", "Remark", "GO_NAME_SAME"},
		"result":       {edit.KindType, "Summary", "Outcome", "WIRE_VALUE_SAME"},
		"enum":         {edit.KindEnum, "Phase", "Stage", "GO_NAME_SAME"},
		"field":        {edit.KindField, "Note.size", "length", "FIELD_SAME_JSON_NAME"},
		"common field": {edit.KindField, "interrupts.reason", "why", "FIELD_SAME_JSON_NAME"},
		"branch":       {edit.KindBranch, "lead.help", "assist", "FIELD_SAME_JSON_NAME"},
		"value":        {edit.KindValue, "Phase.WORK", "JOB", "WIRE_VALUE_SAME"},
		"kind":         {edit.KindKind, "failure", "fault", "WIRE_VALUE_SAME"},
	} {
		t.Run(name, func(t *testing.T) {
			renamed, findings := edit.Rename("routes.yaml", []byte(base), c.kind, c.from, c.to)
			require.NotNil(t, renamed, "%v", findings)
			old, now := planOf(t, base), planOf(t, string(renamed))
			breaking := review.Breaking(old, now)
			require.Len(t, breaking, 1)
			assert.Equal(t, c.rule, breaking[0].Rule)
			assert.Contains(t, breaking[0].Message, "renamed")
			r := review.Compare(old, now)
			require.Len(t, r.Changes, 1, r.Text())
			assert.Equal(t, "renamed", r.Changes[0].Op)
		})
	}
}
