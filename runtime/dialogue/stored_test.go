package dialogue

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// storedStates are states as the program stored them at 7133707: flow, step, state. The last one
// was composed, and has every member.
func storedStates(t *testing.T) [][3]string {
	t.Helper()
	data, err := os.ReadFile("testdata/states.txt")
	require.NoError(t, err)
	var out [][3]string
	for line := range strings.Lines(string(data)) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		require.Len(t, words, 3)
		out = append(out, [3]string(words))
	}
	require.NotEmpty(t, out)
	return out
}

// storedFlows are the flows of those states.
func storedFlows(t *testing.T) map[string]*flow {
	t.Helper()
	out := map[string]*flow{}
	for _, spec := range []*runtime.FlowTables{banking(), planned(t, fmt.Sprintf(order, false))} {
		m, err := New(dialogueOf(spec), Config{})
		require.NoError(t, err)
		for i := range m.flows {
			out[m.flows[i].Name] = &m.flows[i]
		}
	}
	return out
}

func TestStoredStatesAreReadAndWrittenAsBefore(t *testing.T) {
	t.Parallel()
	flows := storedFlows(t)
	for _, stored := range storedStates(t) {
		s := newState(flows[stored[0]])
		require.NoError(t, s.decode([]byte(stored[2])), stored[2])
		assert.JSONEq(t, stored[2], string(raw(&s)))
	}
}

// TestAStoredFrameGoesOn corrects a value in a frame that was stored before: the step that used it
// runs again, and the one that did not keeps its result.
func TestAStoredFrameGoesOn(t *testing.T) {
	t.Parallel()
	m, err := New(dialogueOf(planned(t, fmt.Sprintf(order, false))), Config{})
	require.NoError(t, err)
	for _, stored := range storedStates(t) {
		if stored[0] != "order" || stored[1] != "sure" {
			continue
		}
		w := &work{m: m, f: &m.flows[0], s: newState(&m.flows[0])}
		w.replies = replies{m: m, language: "en"}
		require.NoError(t, w.s.decode([]byte(stored[2])))
		w.input = stepInput{kind: inputCommands,
			commands: []runtime.Command{corrects("amount", 7)}}
		mv := w.runSteps(w.f.byStep["sure"])
		require.Equal(t, moveEffect, mv.kind)
		assert.Equal(t, "limit", mv.st.ID)
		assert.JSONEq(t, "7", string(w.s.values()["amount"]))
		return
	}
	require.Fail(t, "no such state")
}

// TestStoredNames: an earlier name is the present one, and what is gone is left out. An action
// that is gone and must not happen twice still keeps the flow from going back.
func TestStoredNames(t *testing.T) {
	t.Parallel()
	spec := banking()
	spec.Flows[0].Slots[0].Was = []string{"account"}
	spec.Flows[0].Steps[0].Was = []string{"ask_account"}
	m, err := New(dialogueOf(spec), Config{})
	require.NoError(t, err)
	s := newState(&m.flows[0])
	require.NoError(t, s.decode([]byte(`{"slots":{"account":"NL1","gone":1},
		"trail":[{},{"at":"ask_account","value":"NL1","was":{"account":null,"gone":null},
		"done":[{"at":"gone","once":true},{"at":"gone_too"}]}],
		"kept":{"ask_account":{"at":"ask_account","out":{"account":"NL1"}},"gone":{"at":"gone"}},
		"rounds":{"gone":3},"new_member":{"of":["later"]}}`)))
	assert.JSONEq(t, `{"slots":{"iban":"NL1"},
		"trail":[{},{"at":"ask_iban","value":"NL1","was":{"iban":null},"past":true}],
		"kept":{"ask_iban":{"at":"ask_iban","out":{"iban":"NL1"}}}}`, string(raw(&s)))
}

func TestAnUnreadableStateIsIncompatible(t *testing.T) {
	t.Parallel()
	m, err := New(dialogueOf(banking()), Config{})
	require.NoError(t, err)
	for _, bad := range []string{`[]`, `{"slots":[]}`, `{"slots":{"iban":}}`, `{"depth":"x"}`,
		`{"trail":{}}`, `{"trail":[{"at":1}]}`, `{"later":1}`, `{}{}`, `{"said":tru}`} {
		frame := &thread.Frame{Name: "transfer", PC: "ask_iban", Locals: json.RawMessage(bad)}
		_, err := m.Step(t.Context(), thread.Activation{Frame: frame})
		assert.Equal(t, runtime.CodeIncompatible, runtime.CodeOf(err), bad)
	}
}
