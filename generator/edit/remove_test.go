package edit_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/edit"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

func TestRemove(t *testing.T) {
	for name, c := range map[string]struct {
		kind, target string
		swap         []string
	}{
		"node": {"node", "question",
			[]string{"  question:\n    doc: Asks a person.\n    only: interrupt\n" +
				"    escalates: lead\n",
				"reserved: [question]\n"}},
		"type": {"type", "Key",
			[]string{"  Key: {doc: Names a thing., type: string, min_length: 1}\n", "",
				"        key: {type: Key, hidden: true, optional: true}\n", "",
				"    escalates: lead\n",
				"    escalates: lead\nreserved: [Key]\n"}},
		"field": {"field", "Ticket.count",
			[]string{"      count: {type: int, doc: How many there are., min: 1, max: 9, " +
				"default: 3, optional: true}\n", "", "One piece of work.\n",
				"One piece of work.\n    reserved: [count]\n"}},
		"inline": {"field", "Extra.why",
			[]string{"fields: {why: {type: string, doc: The reason.}}",
				"reserved: [why], fields: {}"}},
		"asked": {"field", "lead.interrupt.phase",
			[]string{"{fields: {phase: {type: string, doc: Where it stands.}}}",
				"{fields: {}, reserved: [phase]}"}},
		"branch": {"branch", "lead.spreadRequest", []string{"      spreadRequest: SpreadRequest\n",
			"", "    prompt: {template", "    reserved: [spreadRequest]\n    prompt: {template"}},
		"in line": {"branch", "collect.planResult",
			[]string{"branches: {planResult: PlanResult, leadRequest: LeadRequest}\n",
				"branches: {leadRequest: LeadRequest}\n    reserved: [planResult]\n"}},
		"common": {"field", "interrupts.reason",
			[]string{"    reason: {type: string, doc: Why.}\n", "  reserved: [reason]\n"}},
		"value": {"value", "Ask.HUMAN_REVIEW",
			[]string{"values: {HUMAN_REVIEW: A person looks at it., PAUSE",
				"reserved: [HUMAN_REVIEW], values: {PAUSE"}},
		"kind": {"kind", "audit",
			[]string{"    audit: {doc: Somebody checks it., deadline: none}\n", "", "nodes:\n",
				"  reserved_kinds: [audit]\nnodes:\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := base
			if name == "type" {
				text = swap(t, "        key: {type: Key, hidden: true, optional: true}\n", "")
			}
			r, findings := edit.Remove("routes.yaml", []byte(text), c.kind, c.target)
			require.NotNil(t, r, list(findings))
			assert.Equal(t, swap(t, c.swap...), string(r))
		})
	}
}

// TestRemoveNeedsTheOnlyWayIn: a node and the one branch that leads to it each keep the other.
func TestRemoveNeedsTheOnlyWayIn(t *testing.T) {
	leaf := swap(t, "planResult: PlanResult, leadRequest",
		"planResult: PlanResult, leafRequest: LeafRequest, leadRequest",
		"  question:\n", "  leaf:\n    doc: Ends it.\n    route: none\n    escalates: lead\n    "+
			"branches: {planResult: PlanResult}\n  question:\n")
	for _, c := range []struct{ kind, target, rule string }{
		{edit.KindNode, "leaf", spec.RuleRefInUse},
		{edit.KindBranch, "collect.leafRequest", spec.RuleNodeUnreachable},
	} {
		r, findings := edit.Remove("routes.yaml", []byte(leaf), c.kind, c.target)
		assert.Nil(t, r)
		require.Len(t, findings, 1, list(findings))
		assert.Equal(t, c.rule, findings[0].Rule)
		assert.Contains(t, findings[0].Hint, "by hand")
	}
}

// TestRemovedNamesStayTaken: what was removed cannot be added again, whatever kind of thing it was.
func TestRemovedNamesStayTaken(t *testing.T) {
	for name, c := range map[string]struct {
		text, kind, target string
		set                []edit.KeyValue
	}{
		"node":         {base, edit.KindNode, "question", set("only=interrupt", "escalates=lead")},
		"field":        {base, edit.KindField, "Ticket.count", set("type=int")},
		"common field": {base, edit.KindField, "interrupts.reason", set("type=string")},
		"branch":       {base, edit.KindBranch, "collect.planResult", set("type=PlanResult")},
		"value":        {base, edit.KindValue, "Ask.HUMAN_REVIEW", set("doc=Again.")},
		"kind":         {base, edit.KindKind, "audit", set("doc=Again.")},
	} {
		t.Run(name, func(t *testing.T) {
			removed, findings := edit.Remove("routes.yaml", []byte(c.text), c.kind, c.target)
			require.NotNil(t, removed, list(findings))
			r, findings := edit.Add("routes.yaml", removed,
				edit.Addition{Kind: c.kind, Name: c.target, Set: c.set})
			assert.Nil(t, r)
			require.Len(t, findings, 1, list(findings))
			assert.Equal(t, spec.RuleNameTombstone, findings[0].Rule)
			r, findings = edit.Add("routes.yaml",
				[]byte(strings.NewReplacer("reserved: [", "reserved: [x", "reserved_kinds: [",
					"reserved_kinds: [x").Replace(string(removed))),
				edit.Addition{Kind: c.kind, Name: c.target, Set: c.set})
			assert.NotNil(t, r, "another name is no hindrance: %s", list(findings))
		})
	}
}

func TestRemoveTakesItsComments(t *testing.T) {
	text := "version: 1\ngo: {package: a, out: b}\nresults: {End: {fields: {}}}\nnodes:\n  # " +
		"first\n  a: {entry: true, branches: {done: End}}\n\n  # loose\n\n  # about b\n  # and " +
		"more\n  b: # here\n    branches: {done: End}\n    # deep\n  # about c\n  c: {branches: " +
		"{done: End}}\n"
	r, findings := edit.Remove("x.yaml", []byte(text), "node", "b")
	require.NotNil(t, r, list(findings))
	assert.Equal(t, "version: 1\ngo: {package: a, out: b}\nresults: {End: {fields: "+
		"{}}}\nnodes:\n  # first\n  a: {entry: true, branches: {done: End}}\n\n  # loose\n\n  # "+
		"about c\n  c: {branches: {done: End}}\nreserved: [b]\n", string(r))
	again, findings := edit.Remove("x.yaml", r, "node", "c")
	require.NotNil(t, again, list(findings))
	assert.Equal(t, "version: 1\ngo: {package: a, out: b}\nresults: {End: {fields: "+
		"{}}}\nnodes:\n  # first\n  a: {entry: true, branches: {done: End}}\n\n  # "+
		"loose\nreserved: [b, c]\n", string(again))
}

func TestRemoveRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		kind, target, rule string
		places             []string
	}{
		"node": {"node", "spread", spec.RuleRefInUse,
			[]string{"/nodes/lead/branches/spreadRequest", "/nodes/lead/loop/exempt/0",
				"/nodes/lead/tools/1/transfer_to/0", "/nodes/worker/escalates"}},
		"type": {"type", "Ticket", spec.RuleRefInUse,
			[]string{"/types/Tickets/fields/all/type", "/nodes/worker/request/fields/ticket/type"}},
		"enum": {"enum", "Ask", spec.RuleRefInUse, []string{"/interrupts/fields/type/type"}},
		"field": {"field", "lead.goal", spec.RuleRefInUse,
			[]string{"/nodes/lead/prompt/vars/0", "/nodes/lead/feedback",
				"/nodes/collect/collect/carry/goal"}},
		"branch": {"branch", "lead.collectRequest", spec.RuleRefInUse,
			[]string{"/nodes/lead/unstick/0"}},
		"value": {"value", "Decision.GO", spec.RuleRefInUse,
			[]string{"/nodes/collect/collect/on/GO", "/nodes/collect/collect/default"}},
		"request": {"type", "LeadRequest", spec.RuleEditArgument, nil},
		"gone":    {"node", "leed", spec.RuleEditArgument, nil},
		"entry":   {"branch", "worker.askRequest", spec.RuleInterruptNoBranch, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r, findings := edit.Remove("routes.yaml", []byte(base), c.kind, c.target)
			assert.Nil(t, r)
			var places []string
			for _, f := range findings {
				require.Equal(t, c.rule, f.Rule, list(findings))
				if f.Rule == spec.RuleRefInUse {
					places = append(places, f.Path)
				}
			}
			assert.Equal(t, c.places, places)
			require.NotEmpty(t, findings)
		})
	}
}

// TestEditsRefuseWhatTheyDoNotUnderstand: a text that does not say clearly what it says is left
// alone.
func TestEditsRefuseWhatTheyDoNotUnderstand(t *testing.T) {
	for name, c := range map[string]struct{ text, rule string }{
		"empty":        {"", spec.RuleEmpty},
		"syntax":       {"version: [", spec.RuleSyntax},
		"anchor":       {strings.Replace(base, "lead:", "lead: &x", 1), spec.RuleAlias},
		"twice":        {base + "reserved: []\nreserved: []\n", spec.RuleDuplicateKey},
		"explicit key": {strings.Replace(base, "types:\n", "? types\n:\n", 1), spec.RuleEditLayout},
	} {
		t.Run(name, func(t *testing.T) {
			_, added := edit.Add("x", []byte(c.text),
				edit.Addition{Kind: "enum", Name: "A", Set: set("A=B")})
			_, renamed := edit.Rename("x", []byte(c.text), "node", "lead", "boss")
			_, removed := edit.Remove("x", []byte(c.text), "node", "question")
			_, formatted := edit.Format("x", []byte(c.text))
			for _, findings := range [][]report.Finding{added, renamed, removed, formatted} {
				require.NotEmpty(t, findings)
				assert.Equal(t, c.rule, findings[0].Rule, list(findings))
			}
		})
	}
}

// TestEditsLiveWithErrorsThatWereThere: only what an edit makes worse stands in its way.
func TestEditsLiveWithErrorsThatWereThere(t *testing.T) {
	text := swap(t, "escalates: spread", "escalates: spraed")
	r, findings := edit.Rename("x", []byte(text), "node", "collect", "gather")
	require.NotNil(t, r, list(findings))
	r, findings = edit.Add("x", []byte(text),
		edit.Addition{Kind: "enum", Name: "Mode", Set: set("A=B")})
	require.NotNil(t, r, list(findings))
}

// TestEditsKeepTheKindsOfTheEngine: what would leave the engine without a rule is refused, with the
// line that says why.
func TestEditsKeepTheKindsOfTheEngine(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"user_escape", "agent_question", "system_error"} {
		r, findings := edit.Remove("routes.yaml", []byte(base), edit.KindKind, name)
		assert.Nil(t, r, name)
		require.NotEmpty(t, findings, name)
		assert.Equal(t, spec.RuleKindMissing, findings[0].Rule, list(findings))
		r, findings = edit.Rename("routes.yaml", []byte(base), edit.KindKind, name, "other")
		assert.Nil(t, r, name)
		require.NotEmpty(t, findings, name)
		assert.Contains(t, list(findings), `leaves out "`+name+`"`)
		assert.Contains(t, list(findings), `keep the name "`+name+`"`)
	}
	r, findings := edit.Remove("routes.yaml", []byte(base), edit.KindKind, "audit")
	assert.NotNil(t, r, list(findings))
}
