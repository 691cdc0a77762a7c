package review_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/review"
	"github.com/routegen/routegen/runtime/compat"
)

// TestDeadlineOfANodeIsTold: how long people have, when they are reminded, and that what is open
// keeps its own.
func TestDeadlineOfANodeIsTold(t *testing.T) {
	const ofLead = "    aliases: [BOSS]\n"
	own := edited(t, base, ofLead,
		ofLead+"    deadline: {after: 4h, then: expire, reminder: 1h}\n")
	r := review.Compare(planOf(t, base), planOf(t, own))
	text := r.Text()
	assert.Contains(t, text, "what it asks from now on: unanswered after 4h, the interrupt "+
		"expires, with a reminder 1h before (was: the deadline of agent_question)")
	all, err := r.JSON()
	require.NoError(t, err)
	assert.Contains(t, string(all), "none: an open question keeps the deadline and the reminder "+
		"that it was asked with, and what follows then")

	none := edited(t, base, ofLead, ofLead+"    deadline: none\n")
	text = review.Compare(planOf(t, own), planOf(t, none)).Text()
	assert.Contains(t, text, "what it asks from now on: unanswered, it waits for ever (was: "+
		"unanswered after 4h")

	const kind = "agent_question: {doc: A node wants to know."
	text = review.Compare(planOf(t, own),
		planOf(t, edited(t, own, kind, kind+", deadline: {after: 1h, then: cancel}"))).Text()
	assert.Contains(t, text, "which have a deadline of their own: lead")
}

// TestAssigneesAreTold: who may answer what a node or a kind asks, that open questions keep theirs,
// and which nodes a change of agent_question does not reach.
func TestAssigneesAreTold(t *testing.T) {
	const ofLead, ofKind = `assignees: ["group:leads", ann]`, `assignees: [ann, "group:finance"]`
	old := planOf(t, base)
	r := review.Compare(old, planOf(t, edited(t, base, ofLead, `assignees: [bob]`)))
	assert.Contains(t, r.Text(), "what it asks from now on, bob may answer (was: group:leads, ann)")
	all, err := r.JSON()
	require.NoError(t, err)
	assert.Contains(t, string(all), "none: an open question keeps whom it was asked with")
	text := review.Compare(old, planOf(t, edited(t, base, "    "+ofLead+"\n", ""))).Text()
	assert.Contains(t, text, "those of agent_question may answer (was: group:leads, ann)")

	now := planOf(t, edited(t, base, ", "+ofKind, ""))
	text = review.Compare(old, now).Text()
	assert.Contains(t, text, "what is asked from now on, anybody may answer (was: ann, "+
		"group:finance)")
	assert.Contains(t, text, "which have assignees of their own: lead")
	assert.Equal(t, []string{"KIND_CHANGED"}, rulesOf(review.Breaking(old, now)))
}

// TestARenamedTargetOfADeadlineIsOneFinding: the rename is told, and not each deadline with it.
func TestARenamedTargetOfADeadlineIsOneFinding(t *testing.T) {
	const ofLead = "    aliases: [BOSS]\n"
	from := edited(t, base, ofLead,
		ofLead+"    deadline: {after: 4h, then: reroute, target: helper}\n",
		"deadline: {after: 24h, then: expire}",
		"deadline: {after: 24h, then: reroute, target: helper}")
	to := edited(t, from, "target: helper}\n    request", "target: aid}\n    request",
		"target: helper}}", "target: aid}}", "  helper:\n", "  aid:\n    was: [helper]\n")
	rules := rulesOf(review.Breaking(planOf(t, from), planOf(t, to)))
	assert.NotContains(t, rules, "NODE_POLICY_CHANGED")
	assert.NotContains(t, rules, "KIND_CHANGED")
	assert.Contains(t, rules, "WIRE_VALUE_SAME")
	other := edited(t, from, "target: helper}\n    request", "target: check}\n    request",
		"target: helper}}", "target: check}}")
	rules = rulesOf(review.Breaking(planOf(t, from), planOf(t, other)))
	assert.Contains(t, rules, "NODE_POLICY_CHANGED", "the control: to another node")
	assert.Contains(t, rules, "KIND_CHANGED")
}

// TestTwinsAreToldApart: a second branch with the request of another one is an addition, and its
// rename and another text of when to take it are what they are.
func TestTwinsAreToldApart(t *testing.T) {
	const one = "      check: CheckRequest\n      help: "
	twins := edited(t, base, one, "      check: {type: CheckRequest, doc: All is there.}\n"+
		"      recheck: {type: CheckRequest, doc: Something is odd.}\n      help: ")
	old, now := planOf(t, base), planOf(t, twins)
	findings := review.Breaking(old, now)
	require.Len(t, findings, 2)
	assert.ElementsMatch(t, []string{"PROMPT_TEXT_CHANGED", "BRANCH_ADDED"}, rulesOf(findings))
	all := findings[0].Message + "\n" + findings[1].Message
	assert.Contains(t, all, "the model of lead may choose recheck: goes to ")
	assert.Contains(t, all, ", when: Something is odd.")
	assert.Contains(t, all, "the model of lead is told when to take check: All is there.")

	renamed := planOf(t, edited(t, twins, "      recheck: {type: CheckRequest,",
		"      doubt: {type: CheckRequest, was: [recheck],"))
	text := review.Compare(now, renamed).Text()
	assert.Contains(t, text, "renamed branch LeadRouting.doubt (was LeadRouting.recheck)")
	assert.NotContains(t, text, "BRANCH_NO_DELETE")

	said := planOf(t, edited(t, twins, "Something is odd.", "A number is odd."))
	assert.Equal(t, []string{"PROMPT_TEXT_CHANGED"}, rulesOf(review.Breaking(now, said)))

	assert.Contains(t, rulesOf(review.Breaking(now, planOf(t, edited(t, base, one,
		"      check: {type: CheckRequest, doc: All is there.}\n      help: ")))),
		"BRANCH_NO_DELETE")
}

// TestATwinThatTakesAnothersNameIsABreak: what is stored is still read, as another branch.
func TestATwinThatTakesAnothersNameIsABreak(t *testing.T) {
	const one = "      check: CheckRequest\n      help: "
	twins := func(branches string) string { return edited(t, base, one, branches+"      help: ") }
	from := twins("      check: {type: CheckRequest, doc: All is there.}\n" +
		"      recheck: {type: CheckRequest, doc: Something is odd.}\n")
	for name, to := range map[string]string{
		"swapped": "      check: {type: CheckRequest, json: recheck, doc: All is there.}\n" +
			"      recheck: {type: CheckRequest, json: check, doc: Something is odd.}\n",
		"of a removed one": "      check: {type: CheckRequest, json: recheck}\n",
		"of a removed by new": "      check: {type: CheckRequest, doc: All is there.}\n" +
			"      again: {type: CheckRequest, json: recheck, doc: Something is odd.}\n",
	} {
		t.Run(name, func(t *testing.T) {
			old, now := planOf(t, from), planOf(t, twins(to))
			assert.Contains(t, rulesOf(review.Breaking(old, now)), "FIELD_SAME_JSON_NAME")
			r := review.Compare(old, now)
			v := r.Verdict()
			assert.Equal(t, "after", v.Answer)
			assert.Contains(t, v.Summary(), "let the old program finish the threads that hold")
			assert.Contains(t, v.Order, "each reads as something else what the other stores")
			assert.Contains(t, r.Text(), "read as something else if it holds "+
				"LeadRouting.recheck: it was the branch recheck and is ")
			assert.NotContains(t, r.Text(), "sent data: every unfinished thread goes on")
		})
	}
	kept := twins("      check: {type: CheckRequest, doc: All is there.}\n" +
		"      doubt: {type: CheckRequest, was: [recheck], json: recheck, " +
		"doc: Something is odd.}\n")
	r := review.Compare(planOf(t, from), planOf(t, kept))
	assert.NotContains(t, r.Text(), "something else", "its own name is kept")
	assert.Contains(t, r.Verdict().Order, "side by side")
}

// TestAFieldThatTakesAnothersNameIsABreak: an engine reads what is stored under the name without a
// word, as the other field; a report says so, and does not say that it is refused.
func TestAFieldThatTakesAnothersNameIsABreak(t *testing.T) {
	const text = "      text: {type: string, doc: What it says.}\n"
	from := edited(t, base, text, text+"      title: {type: string, doc: Its title.}\n")
	const stored = `{"text": "a", "title": "b", "size": 1}`
	const titled = text + "      title: {type: string, doc: Its title.}\n"
	for name, to := range map[string]string{
		"swapped": "      text: {type: string, json: title, doc: What it says.}\n" +
			"      title: {type: string, json: text, doc: Its title.}\n",
		"of a renamed one": "      body: {type: string, was: [text], doc: What it says.}\n" +
			"      title: {type: string, json: text, doc: Its title.}\n",
	} {
		t.Run(name, func(t *testing.T) {
			old, now := planOf(t, from), planOf(t, edited(t, from, titled, to))
			r := review.Compare(old, now)
			assert.Contains(t, r.Text(),
				"read as something else if it holds Note.text: it was the field text and is title")
			assert.NotContains(t, r.Text(), "JSON sent with text is refused")
			assert.Contains(t, r.Text(), "text is the name of another field now")
			assert.NotContains(t, r.Text(), "sent data: every unfinished thread goes on")
			assert.Equal(t, "after", r.Verdict().Answer)
			assert.NotContains(t, r.Verdict().Order, "side by side")
			assert.Contains(t, rulesOf(review.Breaking(old, now)), "FIELD_SAME_JSON_NAME")
			if name == "swapped" {
				read := compat.NewReader(plan.Shapes(old), plan.Shapes(now), nil).Begin()
				out := read.Value("Note", []byte(stored))
				require.NoError(t, read.Err(), "it is read, and not refused")
				assert.JSONEq(t, stored, string(out))
			}
		})
	}
	typed := planOf(t, edited(t, from, titled, "      text: {type: int, json: title, doc: A.}\n"+
		"      title: {type: bool, json: text, doc: B.}\n"))
	got := review.Compare(planOf(t, from), typed).Text()
	assert.NotContains(t, got, "something else", "the control: of other types it is refused")
	assert.Contains(t, got, "refused if it holds")
}
