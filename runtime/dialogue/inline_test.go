package dialogue

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
)

// TestInlineRunsOnlyCompute tells the runs that only compute from those that somebody else's code
// takes part in, or that may be long.
func TestInlineRunsOnlyCompute(t *testing.T) {
	t.Parallel()
	m, err := New(dialogueOf(banking()), Config{})
	require.NoError(t, err)
	answered := func(flow, step, value string) *thread.Frame {
		return &thread.Frame{Name: flow, PC: step,
			Replies: []thread.Reply{{Value: []byte(`"before"`)}, {Value: []byte(value)}}}
	}
	for name, c := range map[string]struct {
		frame *thread.Frame
		want  bool
	}{
		"a flow begins": {&thread.Frame{Name: "kid"}, true},
		"a called flow has ended": {&thread.Frame{Name: "kid", PC: "k",
			Children: []thread.Child{{Name: "balance"}}}, true},
		"a number":                      {answered("kid", "k", `5`), true},
		"a yes":                         {answered("kid", "c", `true`), true},
		"a list":                        {answered("kid", "k", `["a"]`), true},
		"an object that is no message":  {answered("kid", "k", `{"message":"Bo","and":1}`), true},
		"a text is to be understood":    {answered("kid", "k", `"Bo"`), false},
		"a message is to be understood": {answered("kid", "k", `{"message":"Bo"}`), false},
		"null is an empty text":         {answered("kid", "k", `null`), false},
		"an effect, or a long run":      {&thread.Frame{Name: "balance", PC: "get"}, false},
		"a validator when it begins":    {&thread.Frame{Name: "transfer"}, false},
		"a validator after a called flow": {&thread.Frame{Name: "transfer", PC: "ask_iban",
			Children: []thread.Child{{Name: "kid"}}}, false},
		"a validator and a value": {answered("transfer", "ask_amount", `5`), false},
		"the root frame begins":   {&thread.Frame{}, false},
		"the root frame goes on": {&thread.Frame{PC: pcListen,
			Children: []thread.Child{{Name: "kid"}}}, false},
		"a flow of another program": {&thread.Frame{Name: "fly"}, false},
	} {
		assert.Equal(t, c.want, m.Inline(c.frame), name)
	}
	reply := answered("kid", "k", `"Bo"`)
	reply.Replies[1].Value = []byte(`5`)
	assert.True(t, m.Inline(reply), "the last reply counts")
	reply.Replies[0], reply.Replies[1] = reply.Replies[1], reply.Replies[0]
	assert.False(t, m.Inline(reply), "and no other")
}
