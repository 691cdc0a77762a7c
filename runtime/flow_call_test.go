package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// orderInput and emptyOutput are what generated code makes of an action.
type (
	orderInput struct {
		Amount int64 `json:"amount"`
	}
	orderOutput struct {
		Number float64 `json:"number"`
	}
	emptyOutput struct{}
)

var (
	orderInputShape = runtime.Shape{Name: "OrderInput",
		Fields: []runtime.Field{{Name: "amount", Required: true,
			Rule: &runtime.Rule{Min: runtime.Bound(1.0)}}}}
	orderOutputShape = runtime.Shape{Name: "OrderOutput",
		Fields: []runtime.Field{{Name: "number", Required: true}}}
	emptyOutputShape = runtime.Shape{Name: "EmptyOutput"}
)

func (*orderInput) Shape() *runtime.Shape  { return &orderInputShape }
func (*orderOutput) Shape() *runtime.Shape { return &orderOutputShape }
func (*emptyOutput) Shape() *runtime.Shape { return &emptyOutputShape }

func TestRunAction(t *testing.T) {
	t.Parallel()
	order := func(_ context.Context, key string, in *orderInput) (*orderOutput, error) {
		switch in.Amount {
		case 2:
			return nil, nil //nolint:nilnil // the defect that is refused
		case 3:
			return &orderOutput{Number: 7}, errors.New(key + " is sold out")
		case 4:
			return &orderOutput{Number: math.NaN()}, nil
		}
		return &orderOutput{Number: float64(in.Amount) / 2}, nil
	}
	for _, c := range []struct {
		input, want string
		code        runtime.Code
		says        string
	}{
		{`{"amount":1}`, `{"number":0.5}`, "", ""},
		{`{"amount":2}`, "", runtime.CodeInternal, "neither a OrderOutput nor an error"},
		{`{"amount":3}`, "", runtime.CodeInternal, "key is sold out"},
		{`{"amount":4}`, "", runtime.CodeInvalid, "NaN"},
		{`{"amount":0}`, "", runtime.CodeInvalid, "/amount"},
		{`{"amount":1,"more":1}`, "", runtime.CodeInvalid, "/more"},
		{`[1]`, "", runtime.CodeInvalid, ""},
		{``, "", runtime.CodeInvalid, "/amount: is required"},
	} {
		out, err := runtime.RunAction(t.Context(), "key", json.RawMessage(c.input), order)
		assert.Equal(t, c.want, string(out), "%s", c.input)
		assert.Equal(t, c.code, runtime.CodeOf(err), "%s: %v", c.input, err)
		if c.says != "" {
			assert.ErrorContains(t, err, c.says, "%s", c.input)
		}
	}
	//nolint:nilnil // it has nothing to say
	out, err := runtime.RunAction(t.Context(), "key", nil,
		func(context.Context, string, *emptyOutput) (*emptyOutput, error) { return nil, nil })
	require.NoError(t, err)
	assert.Equal(t, "{}", string(out), "what gives nothing may return nothing")
}

func TestRunValidator(t *testing.T) {
	t.Parallel()
	lower := func(_ context.Context, v string) (string, error) {
		if v == "no" {
			return "", errors.New("not this one")
		}
		return v + "!", nil
	}
	for _, c := range []struct {
		value, want string
		code        runtime.Code
		says        string
	}{
		{`"yes"`, `"yes!"`, "", ""},
		{`"no"`, "", runtime.CodeInternal, "not this one"},
		{`1`, "", runtime.CodeInvalid, "expected a string, found a number"},
		{`"a" "b"`, "", runtime.CodeInvalid, "nothing more"},
		{``, "", runtime.CodeInvalid, ""},
		{`null`, "", runtime.CodeInvalid, ""},
		{"\"\xff\"", "", runtime.CodeInvalid, "UTF-8"},
	} {
		out, err := runtime.RunValidator(t.Context(), json.RawMessage(c.value), lower)
		assert.Equal(t, c.want, string(out), "%s", c.value)
		assert.Equal(t, c.code, runtime.CodeOf(err), "%s: %v", c.value, err)
		if c.says != "" {
			assert.ErrorContains(t, err, c.says, "%s", c.value)
		}
	}
}

func TestRowsThatAreNone(t *testing.T) {
	t.Parallel()
	assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(runtime.NoAction(3)))
	require.ErrorContains(t, runtime.NoAction(3), "no action 3")
	assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(runtime.NoValidator(0)))
	require.ErrorContains(t, runtime.NoValidator(0), "no validator 0")
}

type affirm struct{ value any }

func (a affirm) Command() runtime.Command {
	return runtime.Command{Type: runtime.CommandSet, Slot: "s", Value: runtime.EncodeSlot(a.value)}
}

func TestCommandsOfProgram(t *testing.T) {
	t.Parallel()
	type name string
	assert.Nil(t, runtime.EncodeSlots[name](nil))
	assert.Equal(t, map[string]json.RawMessage{"a": json.RawMessage(`"<x>"`),
		"b": json.RawMessage("null")},
		runtime.EncodeSlots(map[name]any{"a": "<x>", "b": math.Inf(1)}),
		"what JSON cannot hold is no value")
	list := runtime.ListCommands([]affirm{{1}, {nil}, {func() {}}})
	require.Len(t, list, 3)
	assert.Equal(t, "1", string(list[0].Value))
	assert.Equal(t, "null", string(list[1].Value))
	assert.Equal(t, "null", string(list[2].Value))
	assert.Empty(t, runtime.ListCommands[affirm](nil))
}
