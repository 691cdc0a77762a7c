package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/examples/banking/bank"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/dialogue"
	"github.com/routegen/routegen/runtime/thread"
)

// shapesWith returns the stored shapes of the bank, with a field of a flow changed; nil leaves the
// field out, and field "" is the flow itself.
func shapesWith(t *testing.T, flow, field string, change func(*runtime.StoredField),
) []runtime.StoredShape {
	t.Helper()
	out := slices.Clone(bank.StoredShapes())
	at := slices.IndexFunc(out, func(s runtime.StoredShape) bool {
		return s.Kind == runtime.ShapeFlow && s.Name == flow
	})
	require.GreaterOrEqual(t, at, 0)
	if field == "" {
		return slices.Delete(out, at, at+1)
	}
	fields := slices.Clone(out[at].Fields)
	n := slices.IndexFunc(fields, func(f runtime.StoredField) bool { return f.Name == field })
	require.GreaterOrEqual(t, n, 0, "%v", fields)
	if change == nil {
		fields = slices.Delete(fields, n, n+1)
	} else {
		change(&fields[n])
	}
	out[at].Fields = fields
	return out
}

// TestConversationsOfAnotherSpec leaves a customer at a confirm of block_card, with card and digits
// given, and comes back with a program that stores other shapes: what this conversation holds
// decides. Where it cannot be read the message is refused, the value is named, and the program from
// before goes on with it.
func TestConversationsOfAnotherSpec(t *testing.T) {
	t.Parallel()
	rule := func(pattern string) func(*runtime.StoredField) {
		return func(f *runtime.StoredField) { f.Rules = []string{"pattern=" + pattern} }
	}
	kind := func(of string) func(*runtime.StoredField) {
		return func(f *runtime.StoredField) { f.Type = of }
	}
	for title, c := range map[string]struct {
		shapes  []runtime.StoredShape
		refused string
	}{
		"a pattern that its value meets": {shapesWith(t, "block_card", "slot digits",
			rule("^[0-9]{4}$")), ""},
		"a pattern that it does not meet": {shapesWith(t, "block_card", "slot digits",
			rule("^9")), `/frames/1/locals/slots/digits: it is "1234"`},
		"a slot of another type": {shapesWith(t, "block_card", "slot digits", kind("int")),
			`/frames/1/locals/slots/digits: it is "1234"`},
		"a slot that is not filled": {shapesWith(t, "block_card", "slot reference", kind("int")),
			""},
		"a slot that is gone": {shapesWith(t, "block_card", "slot digits", nil),
			"/frames/1/locals/slots/digits"},
		"its step is gone": {shapesWith(t, "block_card", "step sure", nil),
			`/frames/1/pc: it is "sure", and the flow block_card has no such step`},
		"another step is gone": {shapesWith(t, "block_card", "step done", nil), ""},
		"its step is of another kind": {shapesWith(t, "block_card", "step sure",
			kind("step collect")),
			`/frames/1/pc: it is "sure", which was a confirm and is a collect`},
		"its flow is gone": {shapesWith(t, "block_card", "", nil),
			`/frames/1/name: it is "block_card", and the program has no such flow`},
		"another flow is gone": {shapesWith(t, "quick_transfer", "", nil), ""},
	} {
		for where, on := range stores {
			t.Run(title+"/"+where, func(t *testing.T) {
				t.Parallel()
				s := serve(t, on)
				assert.Contains(t, s.sayAll("block my card", "credit", "1234"), "ends in 1234?")
				before, err := s.talk.Engine.Thread(t.Context(), "desk")
				require.NoError(t, err)
				s.stop()
				s.store, s.close = s.open()
				other, err := dialogue.New(bank.NewDialogue(s.bank, rules{}), dialogue.Config{})
				require.NoError(t, err)
				engine, err := thread.Open(t.Context(), s.store,
					thread.Config{Owner: "banking", Shapes: c.shapes}, other)
				require.NoError(t, err)
				s.talk = &chat.Conversation{Engine: engine, Machine: other}
				_, err = s.turn("yes")
				after, failed := engine.Thread(t.Context(), before.ID)
				require.NoError(t, failed)
				if c.refused == "" {
					require.NoError(t, err)
					assert.Equal(t, 1, s.bank.times("block_card"))
					return
				}
				assert.Equal(t, runtime.CodeIncompatible, runtime.CodeOf(err))
				require.ErrorContains(t, err, c.refused)
				assert.Equal(t, before, after, "it is untouched")
				s.again()
				assert.Contains(t, s.sayAll("yes"), "Your card is blocked")
			})
		}
	}
}
