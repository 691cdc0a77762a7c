package dialogue

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// at is a frame of banking's transfer at one of its questions, with these values: name, value,
// name, value.
func at(t *testing.T, values ...any) *work {
	t.Helper()
	m, err := New(dialogueOf(banking()), Config{})
	require.NoError(t, err)
	w := &work{m: m, f: &m.flows[0], replies: replies{m: m, language: "en"}}
	w.s = newState(w.f)
	w.check = func(_ int, v json.RawMessage) (validation, error) {
		if string(v) == `"XX"` {
			return validation{Reason: "it is wrong"}, nil
		}
		return validation{Value: v}, nil
	}
	for i := 0; i+1 < len(values); i += 2 {
		w.s.of(w.f.findSlot(values[i].(string))).value = raw(values[i+1])
	}
	return w
}

// TestDecide is what a frame makes of commands: tables, a state and commands in; a state, words and
// a move out.
func TestDecide(t *testing.T) {
	t.Parallel()
	filled := []any{"iban", "NL1", "amount", 5}
	for name, c := range map[string]struct {
		step     string
		values   []any
		commands []runtime.Command
		verb     moveKind
		at       string // of asks and does
		said     []string
		slots    string
		later    int
	}{
		"a value": {step: "ask_iban", commands: []runtime.Command{sets("iban", "NL1")},
			verb: moveAsk,
			at:   "ask_amount", slots: `{"iban":"NL1"}`},
		"a value and one for later": {
			step: "ask_iban", commands: []runtime.Command{sets("amount", 7), sets("iban", "NL1")},
			verb: moveAsk, at: "ask_sure", slots: `{"iban":"NL1","amount":7}`,
		},
		"a value that is refused": {step: "ask_iban",
			commands: []runtime.Command{sets("iban", "XX")}, verb: moveAsk, at: "ask_iban",
			said: []string{"That does not do: it is wrong."}},
		"a number as text": {step: "ask_amount", values: filled[:2],
			commands: []runtime.Command{sets("amount", " 7 ")}, verb: moveAsk, at: "ask_sure",
			slots: `{"iban":"NL1","amount":7}`},
		"no number": {step: "ask_amount", values: filled[:2],
			commands: []runtime.Command{sets("amount", "lots")}, verb: moveAsk, at: "ask_amount",
			said: []string{`That does not do: "lots" is not a number.`}},
		"yes": {step: "ask_sure", values: filled,
			commands: []runtime.Command{yes}, verb: moveEffect, at: "pay",
			slots: `{"iban":"NL1","amount":5,"sure":true}`},
		"a true for the slot": {step: "ask_sure", values: filled,
			commands: []runtime.Command{sets("sure", true)}, verb: moveEffect, at: "pay"},
		"no": {step: "ask_sure", values: filled,
			commands: []runtime.Command{no}, verb: moveEnd, said: []string{"Cancelled."}},
		"yes and no": {step: "ask_sure", values: filled,
			commands: []runtime.Command{yes, no}, verb: moveAsk, at: "ask_sure",
			said: []string{"I did not understand that."}},
		"yes and something unknown": {
			step: "ask_sure", values: filled, commands: []runtime.Command{yes, {Type: "dance"}},
			verb: moveAsk, at: "ask_sure", said: []string{"I did not understand that."},
		},
		"yes and a correction": {
			step: "ask_sure", values: filled,
			commands: []runtime.Command{yes, corrects("amount", 6)}, verb: moveAsk, at: "ask_sure",
			said:  []string{"amount is now 6."},
			slots: `{"iban":"NL1","amount":6}`,
		},
		"yes and a correction that is refused": {
			step: "ask_sure", values: filled, commands: []runtime.Command{corrects("amount", -6),
				yes}, verb: moveAsk, at: "ask_sure",
			said:  []string{"amount stays as it is: it is -6: at least 0.01 is needed."},
			slots: `{"iban":"NL1","amount":5}`,
		},
		"yes and another flow": {step: "ask_sure", values: filled,
			commands: []runtime.Command{yes, starts("balance")}, verb: moveEffect, at: "pay",
			later: 1},
		"another flow": {step: "ask_sure", values: filled,
			commands: []runtime.Command{starts("balance"), sets("note", "x")}, verb: moveCall,
			at: "ask_sure", said: []string{"I do not need note here."}},
		"yes and a slot that is none": {
			step: "ask_sure", values: filled,
			commands: []runtime.Command{yes, sets("delivery", "express")}, verb: moveAsk,
			at:   "ask_sure",
			said: []string{"I do not need delivery here."},
		},
		"a correction of a slot that is none, and yes": {
			step: "ask_sure", values: filled,
			commands: []runtime.Command{corrects("delivery", "express"), yes}, verb: moveAsk,
			at:   "ask_sure",
			said: []string{"I do not need delivery here."},
		},
		"yes and no slot to clear": {
			step: "ask_sure", values: filled, commands: []runtime.Command{yes, clears("delivery")},
			verb: moveAsk, at: "ask_sure",
			said: []string{"I do not need delivery here."},
		},
		"yes and another value for what is none": {
			step: "ask_sure", values: filled, commands: []runtime.Command{yes, denies("delivery")},
			verb: moveAsk, at: "ask_sure",
			said: []string{"I do not need delivery here."},
		},
		"yes and a slot that the flow fills": {
			step: "ask_sure", values: filled, commands: []runtime.Command{yes, sets("note", "x")},
			verb: moveAsk, at: "ask_sure",
			said: []string{"I do not need note here."},
		},
		"yes and a flow that is none": {
			step: "ask_sure", values: filled, commands: []runtime.Command{yes, starts("fly")},
			verb: moveAsk, at: "ask_sure", said: []string{"I cannot do that."},
		},
		"no and a slot that is none": {
			step: "ask_sure", values: filled,
			commands: []runtime.Command{no, sets("delivery", "express")}, verb: moveEnd,
			said: []string{"I do not need delivery here.", "Cancelled."},
		},
		"cancel and another flow": {
			step: "ask_sure", values: filled,
			commands: []runtime.Command{cancels, starts("balance")}, verb: moveEnd,
			said: []string{"Cancelled."}, later: 1,
		},
		"cancel and more": {step: "ask_iban",
			commands: []runtime.Command{cancels, sets("iban", "NL1")}, verb: moveEnd,
			said: []string{"I did not understand that.", "Cancelled."}},
		"nothing": {step: "ask_iban", verb: moveAsk, at: "ask_iban",
			said: []string{"I did not understand that."}},
		"a slot of the flow's": {step: "ask_sure", values: append(filled, "tid", "T1"),
			commands: []runtime.Command{corrects("tid", "T2")}, verb: moveAsk, at: "ask_sure",
			said: []string{"tid stays as it is: it cannot be changed."}},
		"clear what is filled": {step: "ask_sure", values: filled,
			commands: []runtime.Command{clears("iban")}, verb: moveAsk, at: "ask_iban",
			slots: `{"amount":5}`},
		"a person": {step: "ask_sure", values: filled,
			commands: []runtime.Command{says(runtime.CommandHandoff, "why")}, verb: moveHandoff,
			said: []string{"I pass you on to a colleague."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := at(t, c.values...)
			w.input = stepInput{kind: inputCommands, commands: c.commands}
			mv := w.runSteps(w.f.byStep[c.step])
			require.Equal(t, c.verb, mv.kind)
			if c.at != "" {
				assert.Equal(t, c.at, mv.st.ID)
			}
			var said []string
			for _, l := range w.said {
				said = append(said, l.Text)
			}
			assert.Equal(t, c.said, said)
			if c.slots != "" {
				assert.JSONEq(t, c.slots, string(raw(w.s.values())))
			}
			assert.Len(t, w.s.later, c.later)
		})
	}
}

// TestUnknownValidatorFailsTheRun ends the run: nothing of it counts.
func TestUnknownValidatorFailsTheRun(t *testing.T) {
	t.Parallel()
	w := at(t)
	w.check = func(int, json.RawMessage) (validation, error) {
		return validation{}, errors.New("no such row")
	}
	w.input = stepInput{kind: inputCommands, commands: []runtime.Command{sets("iban", "NL1")}}
	w.runSteps(1)
	require.Error(t, w.err)
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	spec := tables(nil, nil, f{name: "e", slots: []string{
		"n int", "x float", "s string", "on bool", "at time", "d duration", "kind enum values=a|b",
		"list []string", "j json", "none string", "big int",
		"far time", "old time", "first time", "edge time", "nano time",
	}, steps: []p{{id: "a", kind: "say"}}})
	m, err := New(dialogueOf(spec), Config{})
	require.NoError(t, err)
	s := newState(&m.flows[0])
	for name, v := range map[string]json.RawMessage{
		"n": []byte("0"), "x": []byte("1.5"), "s": []byte(`""`), "on": []byte("false"),
		"at": []byte(`"2026-01-02T00:00:00Z"`), "d": []byte(`"90m"`),
		"kind": []byte(`"a"`), "list": []byte(`["x","y"]`), "j": []byte(`{"a":1}`),
		"big": []byte("9007199254740993"),
		"far": []byte(`"9999-12-31T23:59:59Z"`), "old": []byte(`"1600-01-01T00:00:00Z"`),
		"first": []byte(`"0001-01-01T00:00:00Z"`),
		"edge":  []byte(`"2262-04-12T00:00:00Z"`),
		"nano":  []byte(`"2026-01-02T00:00:00.000000001Z"`),
	} { // each by itself
		s.of(s.flow.findSlot(name)).value = v
	}
	either := func(args ...x) x { return x{op: runtime.OpOr, args: args} }
	not := func(a x) x { return x{op: runtime.OpNot, args: []x{a}} }
	for name, c := range map[string]struct {
		e    x
		want bool
	}{
		"zero is filled":          {filledX("n"), true},
		"empty text is filled":    {filledX("s"), true},
		"false is filled":         {filledX("on"), true},
		"not filled":              {filledX("none"), false},
		"false":                   {slotX("on"), false},
		"not false":               {not(slotX("on")), true},
		"equal":                   {compares("n", "==", "0"), true},
		"int and float":           {compares("x", "<", "2"), true},
		"float and int":           {compares("n", ">=", "-0.5"), true},
		"large integers":          {compares("big", "==", "9007199254740992"), false},
		"unfilled equals nothing": {compares("none", "==", `""`), false},
		"unfilled is unlike all":  {compares("none", "!=", `"x"`), true},
		"unfilled is not less":    {compares("none", "<", `"x"`), false},
		"unfilled is not more":    {compares("none", ">=", `"x"`), false},
		"time":                    {compares("at", "<", `"2026-01-02T02:00:00+01:00"`), true},
		"a time far ahead":        {compares("far", ">", `"2026-01-01T00:00:00Z"`), true},
		"a time long ago":         {compares("old", "<", `"2026-01-01T00:00:00Z"`), true},
		"the first time":          {compares("first", "<", `"1600-01-01T00:00:00Z"`), true},
		"past 2262":               {compares("edge", ">", `"2262-04-11T23:59:59Z"`), true},
		"past 2262, at once":      {compares("edge", "==", `"2262-04-12T02:00:00+02:00"`), true},
		"past 2262, not before":   {compares("edge", "<=", `"1677-09-21T00:12:43Z"`), false},
		"a nanosecond later":      {compares("nano", ">", `"2026-01-02T00:00:00Z"`), true},
		"two slots of times": {x{op: runtime.OpLt, args: []x{slotX("old"), slotX("far")}},
			true},
		"times in a list": {compares("edge", "in",
			`["1600-01-01T00:00:00Z","2262-04-12T00:00:00Z"]`), true},
		"a time is no number": {compares("at", ">", "0"), false},
		"no time":             {compares("at", "!=", `"soon"`), true},
		"duration":            {compares("d", "==", `"1h30m"`), true},
		"enum":                {compares("kind", "in", `["b","a"]`), true},
		"enum not in":         {not(compares("kind", "in", `["b"]`)), true},
		"in a list slot": {x{op: runtime.OpIn, args: []x{lit(`"y"`), slotX("list")}},
			true},
		"text order":        {compares("kind", "<", `"b"`), true},
		"text is no number": {compares("kind", "<", "5"), false},
		"json has no order": {compares("j", "==", "1"), false},
		"and":               {both(filledX("n"), slotX("on")), false},
		"or":                {either(slotX("on"), filledX("n")), true},
		"a comparison as a value": {x{op: runtime.OpEq,
			args: []x{compares("n", "==", "0"), lit("true")}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := builder{slots: spec.Flows[0].Slots}
			assert.Equal(t, c.want, s.isTrue(b.expr(&c.e)))
		})
	}
}

func TestValuesThatUsersName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ slot, said, want, wrong string }{
		{"n int", `"50"`, `50`, ""},
		{"n int", `50.0`, `50`, ""},
		{"n int", `"fifty"`, "", `"fifty" is not a number`},
		{"n int", `1.5`, "", "expected an integer, found 1.5"},
		{"n int min=5", `"4"`, "", "it is 4: at least 5 is needed"},
		{"n float", `"1e3"`, `1000`, ""},
		{"b bool", `"Yes."`, `true`, ""},
		{"b bool", `"not really"`, `false`, ""},
		{"b bool", `"perhaps"`, "", `"perhaps" is neither a clear yes nor a clear no`},
		{"s string", `" a b "`, `"a b"`, ""},
		{"s string", `5`, "", "expected a string, found a number"},
		{"s string", `null`, "", "there is no value"},
		{"k enum values=big_one|small", `"Big one"`, `"big_one"`, ""},
		{"k enum values=big_one|small", `"smal"`, "",
			`unknown value "smal": did you mean "small"?`},
		{"d duration", `"90m"`, `"1h30m"`, ""},
		{"t time", `"2026-02-03"`, `"2026-02-03T00:00:00Z"`, ""},
		{"t time", `"tomorrow"`, "", "it is not a time: write it like 2006-01-02T15:04:05Z"},
		{"l []int", `"1, 2"`, `[1,2]`, ""},
		{"l []int", `["a"]`, "", "expected an integer, found a string"},
		{"j json", `{"a": [1]}`, `{"a":[1]}`, ""},
	} {
		t.Run(c.slot+" "+c.said, func(t *testing.T) {
			t.Parallel()
			b := builder{flow: &f{}}
			row := b.slot(c.slot)
			s := slot{FlowSlot: &row}
			got, wrong := s.parse(json.RawMessage(c.said), "en")
			assert.Equal(t, c.wrong, wrong)
			assert.Equal(t, c.want, string(got))
		})
	}
}

func TestTextsAreNeverTemplates(t *testing.T) {
	t.Parallel()
	w := at(t, "iban", "{amount} {{", "amount", 1.005)
	assert.Equal(t, "Send 1.00 to {amount} {{?", w.flowText(w.f.steps[2].Text))
	assert.Equal(t, "1.005", displayValue([]byte("1.005"), nil, 0))
	assert.Equal(t, "a, 2", displayValue([]byte(`["a",2]`), nil, 0))
	assert.Empty(t, displayValue([]byte(`null`), nil, 0))
}

func TestNewRefusesWhatItCannotRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(t *runtime.FlowTables)
		want   string
	}{
		"a target": {func(t *runtime.FlowTables) { t.Flows[0].Steps[0].Next = 99 },
			"there is no target 99: there are 5 steps"},
		"a slot": {func(t *runtime.FlowTables) { t.Flows[0].Steps[0].Slot = 9 },
			"there is no slot 9: there are 5"},
		"an action": {func(t *runtime.FlowTables) { t.Flows[0].Steps[3].Action = 0 },
			"there is no action 0: there are 2"},
		"a kind": {func(t *runtime.FlowTables) { t.Flows[0].Steps[0].Kind = "dance" },
			`there is no kind of step "dance"`},
		"a model": {func(t *runtime.FlowTables) { t.Flows[0].Steps[4].Kind = "generate" },
			"there is no model"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := banking()
			c.change(spec)
			_, err := New(dialogueOf(spec), Config{})
			assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := New(runtime.Dialogue{}, Config{})
	require.Error(t, err)
	_, err = New(runtime.Dialogue{Tables: banking()}, Config{})
	require.Error(t, err)
}
