package thread_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/compat"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// specMachine is a machine of a spec that asks one question.
type specMachine struct {
	thread.Machine
	kinds  []runtime.Kind
	shapes []runtime.StoredShape
}

func (s specMachine) Kinds() []runtime.Kind         { return s.kinds }
func (s specMachine) Shapes() []runtime.StoredShape { return s.shapes }

func asking(name string, kinds []runtime.Kind, shapes ...runtime.StoredShape) specMachine {
	return specMachine{kinds: kinds, shapes: shapes,
		Machine: thread.Func(name, func(ctx context.Context, _ any) (string, error) {
			return thread.Ask[string](ctx, "q", thread.Question{Kind: "review", Text: "Well?"})
		})}
}

func TestOpenTakesTheSpecFromItsMachines(t *testing.T) {
	t.Parallel()
	review := append([]runtime.Kind{{Name: "review", Clash: "queue", AutoAnswer: `"fine"`}},
		thread.DefaultKinds()...)
	shape := runtime.StoredShape{Kind: runtime.ShapeNode, Name: "desk"}
	open := func(cfg thread.Config, machines ...thread.Machine) (*thread.Thread, error) {
		e, err := thread.Open(t.Context(), mem.Open(), cfg, machines...)
		if err != nil {
			return nil, err
		}
		defer e.Close(context.WithoutCancel(t.Context()))
		th, err := e.Start(t.Context(), thread.Begin{Machine: "a"})
		require.NoError(t, err)
		th, err = e.Wait(t.Context(), th.ID)
		require.NoError(t, err)
		return th, nil
	}

	th, err := open(thread.Config{}, asking("a", review, shape))
	require.NoError(t, err)
	assert.Equal(t, `"fine"`, string(th.Result), "the policy of the spec answers")
	assert.Equal(t, compat.Fingerprint([]runtime.StoredShape{shape}), th.Fingerprint)

	th, err = open(thread.Config{}, asking("a", review, shape), asking("b", review, shape),
		thread.Func("c", func(context.Context, any) (string, error) { return "", nil }))
	require.NoError(t, err)
	assert.Equal(t, `"fine"`, string(th.Result),
		"two machines of one spec agree, and others say nothing")

	own := append([]runtime.Kind{{Name: "review", Clash: "queue", AutoAnswer: `"own"`}},
		thread.DefaultKinds()...)
	th, err = open(thread.Config{Kinds: own, Shapes: []runtime.StoredShape{}},
		asking("a", review, shape))
	require.NoError(t, err)
	assert.Equal(t, `"own"`, string(th.Result), "Config holds where it says something")
	assert.Empty(t, th.Fingerprint, "an empty table compares nothing")

	_, err = open(thread.Config{}, asking("a", review), asking("b", own))
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	require.ErrorContains(t, err,
		`the machines "a" and "b" come from specs with different Kinds: set Config.Kinds`)
	_, err = open(thread.Config{}, asking("a", review, shape), asking("b", review))
	require.NoError(t, err, "one that relies on nothing says nothing")
	_, err = open(thread.Config{}, asking("a", nil, shape),
		asking("b", nil, runtime.StoredShape{Kind: runtime.ShapeNode, Name: "b"}))
	require.ErrorContains(t, err, "set Config.Shapes")

	_, err = open(thread.Config{}, asking("a", review[:1]))
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err), "%v", err)
	require.ErrorContains(t, err, `no kind "user_escape"`)
}
