package review_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/review"
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
