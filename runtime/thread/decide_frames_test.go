package thread_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
)

// TestFramesEndInAnyOrder ends the frames of a tree in random orders, some with others below them,
// and replaces some. What is left stands in the order it was made, every frame is found, and a
// parent goes on when its last child has returned.
func TestFramesEndInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		c := thread.Start("t", "ann", "", &thread.Rules{Kinds: thread.DefaultKinds()}, noon)
		require.NoError(t, c.Begin("m", "", nil, "ann", ""))
		call := func(frame string, children int) {
			c.Add(thread.Entry{Type: thread.EntryCalling, Frame: frame, PC: "collect"})
			for range children {
				c.Enter(thread.Frame{Machine: "m", Parent: frame}, "", "")
			}
		}
		call("f1", 12)
		call("f5", 3)
		for len(c.Thread.Frames) > 1 {
			was := slices.Clone(c.Thread.Frames)
			at := 1 + random.IntN(len(was)-1)
			end := was[at]
			if random.IntN(4) == 0 && end.Children == nil {
				made := c.Replace(end.ID, thread.Frame{Machine: "m", Parent: end.Parent})
				was = append(slices.DeleteFunc(was, func(f thread.Frame) bool {
					return f.ID == end.ID
				}), *c.Thread.Frame(made))
			} else {
				c.Return(end.ID, raw(`1`))
				was = slices.DeleteFunc(was, func(f thread.Frame) bool {
					return f.ID == end.ID || f.Parent == end.ID
				})
			}
			ids := func(frames []thread.Frame) (out []string) {
				for _, f := range frames {
					out = append(out, f.ID)
				}
				return out
			}
			require.Equal(t, ids(was), ids(c.Thread.Frames))
			for n := range c.Thread.Frames {
				f := &c.Thread.Frames[n]
				require.Same(t, f, c.Thread.Frame(f.ID))
				open := slices.ContainsFunc(f.Children, func(c thread.Child) bool {
					return !c.Done
				})
				require.Equal(t, open, f.State == thread.FrameCalling, f.ID)
			}
			require.Nil(t, c.Thread.Frame(end.ID))
		}
	}
}
