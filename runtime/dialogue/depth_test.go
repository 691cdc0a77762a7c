package dialogue

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// TestAValueThatNestsDeepIsReadAgain: what a slot accepts can be read from the stored state, where
// it stands deeper.
func TestAValueThatNestsDeepIsReadAgain(t *testing.T) {
	t.Parallel()
	m, err := New(dialogueOf(tables(nil, nil, f{name: "keep", slots: []string{"j json", "k json"},
		steps: []p{{id: "ask", kind: "collect", slot: "j", text: "J?"},
			{id: "copy", kind: "set", set: []b{{name: "k", text: "{j}"}}}}})), Config{})
	require.NoError(t, err)
	fl := &m.flows[0]
	deep := json.RawMessage(strings.Repeat("[", 64) + strings.Repeat("]", 64))
	v, wrong := fl.slots[0].normalize(deep)
	require.Empty(t, wrong)
	s := newState(fl)
	s.slots[0].value = v
	s.trail = []segment{{}, {at: 1, value: v, done: []done{{at: 2, out: []slotValue{{2, v}}}}}}
	data, err := runtime.Encode(&s)
	require.NoError(t, err)
	again := newState(fl)
	require.NoError(t, again.decode(data))
	assert.Equal(t, string(deep), string(again.slots[0].value))
	_, wrong = fl.slots[0].normalize(json.RawMessage("[" + string(deep) + "]"))
	assert.NotEmpty(t, wrong)
}
