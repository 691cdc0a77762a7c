package review_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/review"
)

// told gives the template of every node of a plan a text.
func told(tb testing.TB, text string) *plan.Plan {
	tb.Helper()
	p := planOf(tb, base)
	for _, n := range p.Nodes {
		if n.Prompt != nil {
			n.Prompt.Text = text
		}
	}
	return p
}

// TestTemplatesAreCompared: the text of a template is what a model is told, and stands in no spec.
func TestTemplatesAreCompared(t *testing.T) {
	t.Parallel()
	before, after := "Reach this:\n{{.goal}}\nThen stop.\n", "Reach this:\n{{.goal}}\nCheck "+
		"it.\nThen stop.\n"
	r := review.Compare(told(t, before), told(t, after))
	require.NotEmpty(t, r.Changes)
	require.Len(t, r.Texts, 1, "one template, whatever number of nodes")
	assert.Empty(t, r.Texts[0].Before)
	assert.Equal(t, "Check it.\n", r.Texts[0].After, "the lines around it are left out")
	for _, c := range r.Changes {
		assert.Equal(t, "PROMPT_TEXT_CHANGED", c.Rule)
		assert.Contains(t, c.Models[0], "says something else (+2 −0 words)")
	}
	assert.Contains(t, r.Text(), "{+Check it.+}")
	assert.True(t, review.Compare(told(t, before), told(t, before)).Empty())
	assert.True(t, review.Compare(told(t, ""), told(t, after)).Empty(),
		"a text that nobody has read is no change")
	for _, f := range review.Breaking(told(t, before), told(t, after)) {
		assert.Equal(t, "PROMPT_TEXT_CHANGED", f.Rule)
	}
}

// TestOrderOfFlowsIsTold: the first of two flows that a text would start is taken, and models are
// offered them in this order. A hidden one is neither.
func TestOrderOfFlowsIsTold(t *testing.T) {
	t.Parallel()
	greet := "  greet:\n    doc: Says hello.\n    reserved: [late]\n    steps:\n      - {step: " +
		"hello, type: say, message: Hello.}\n"
	end := "message: \"{tip} {number}\"}\n"
	moved := edited(t, flowBase, greet, "", end, end+greet)
	r := review.Compare(planOf(t, flowBase), planOf(t, moved))
	require.Len(t, r.Changes, 1, r.Text())
	assert.Equal(t, "setting", r.Changes[0].Thing)
	assert.Contains(t, r.Changes[0].Models[0], "in another order")
	assert.Empty(t, review.Breaking(planOf(t, flowBase), planOf(t, moved)))

	hidden := edited(t, flowBase, greet, "", "  send:\n    doc", greet+"  send:\n    doc")
	assert.True(t, review.Compare(planOf(t, flowBase), planOf(t, hidden)).Empty(),
		"only the hidden flow changed its place")
}

// TestWasOfNothingIsSaid: an earlier name that nothing had is a slip, most of the time, and does
// nothing.
func TestWasOfNothingIsSaid(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string][]string{
		"field": {"      size: {type: int,", "      length: {type: int, was: [sise],"},
		"value": {"      WORK: Working.",
			"      WORK: Working.\n      WAIT: {doc: Waiting., was: [sise]}", "SECRET: end}",
			"SECRET: end, WAIT: end}"},
		"kind": {"    failure: {doc: A step failed., clash: queue}\n",
			"    failure: {doc: A step failed., clash: queue}\n    late: {doc: Too late., clash: " +
				"queue, was: [sise]}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := planOf(t, edited(t, base, edit...))
			said := "its was: [sise] names nothing that was there"
			assert.Contains(t, review.Compare(planOf(t, base), now).Text(), said)
			var messages []string
			for _, f := range review.Breaking(planOf(t, base), now) {
				messages = append(messages, f.Message)
			}
			assert.Contains(t, strings.Join(messages, "\n"), "("+said+")")
			empty := &plan.Plan{Version: now.Version, Source: now.Source, Package: now.Package,
				Out: now.Out, Docs: now.Docs}
			empty.Index()
			assert.NotContains(t, review.Compare(empty, now).Text(), said,
				"where all is new, it is no slip")
		})
	}
}
