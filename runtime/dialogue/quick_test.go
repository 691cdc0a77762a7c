package dialogue

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// TestQuick tells the runs that only compute from those that somebody else's code takes part in, or that may be long.
func TestQuick(t *testing.T) {
	t.Parallel()
	m, err := New(dialogueOf(banking()), Config{})
	require.NoError(t, err)
	answered := func(flow, step, value string) *runtime.Frame {
		return &runtime.Frame{Name: flow, PC: step, Replies: []runtime.Reply{{Value: []byte(`"before"`)}, {Value: []byte(value)}}}
	}
	for name, c := range map[string]struct {
		frame *runtime.Frame
		want  bool
	}{
		"a flow begins":                   {&runtime.Frame{Name: "kid"}, true},
		"a called flow has ended":         {&runtime.Frame{Name: "kid", PC: "k", Children: []runtime.Child{{Name: "balance"}}}, true},
		"a number":                        {answered("kid", "k", `5`), true},
		"a yes":                           {answered("kid", "c", `true`), true},
		"a list":                          {answered("kid", "k", `["a"]`), true},
		"an object that is no message":    {answered("kid", "k", `{"message":"Bo","and":1}`), true},
		"a text is to be understood":      {answered("kid", "k", `"Bo"`), false},
		"a message is to be understood":   {answered("kid", "k", `{"message":"Bo"}`), false},
		"null is an empty text":           {answered("kid", "k", `null`), false},
		"an effect, or a long run":        {&runtime.Frame{Name: "balance", PC: "get"}, false},
		"a validator when it begins":      {&runtime.Frame{Name: "transfer"}, false},
		"a validator after a called flow": {&runtime.Frame{Name: "transfer", PC: "ask_iban", Children: []runtime.Child{{Name: "kid"}}}, false},
		"a validator and a value":         {answered("transfer", "ask_amount", `5`), false},
		"the root frame begins":           {&runtime.Frame{}, false},
		"the root frame goes on":          {&runtime.Frame{PC: pcListen, Children: []runtime.Child{{Name: "kid"}}}, false},
		"a flow of another program":       {&runtime.Frame{Name: "fly"}, false},
	} {
		assert.Equal(t, c.want, m.Quick(c.frame), name)
	}
	reply := answered("kid", "k", `"Bo"`)
	reply.Replies[1].Value = []byte(`5`)
	assert.True(t, m.Quick(reply), "the last reply counts")
	reply.Replies[0], reply.Replies[1] = reply.Replies[1], reply.Replies[0]
	assert.False(t, m.Quick(reply), "and no other")
}
