package thread_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

func TestKinds(t *testing.T) {
	t.Parallel()
	for _, given := range [][]runtime.Kind{nil,
		append([]runtime.Kind{{Name: "legal", Clash: "queue"}}, thread.DefaultKinds()...)} {
		engine, err := thread.Open(t.Context(), mem.Open(), thread.Config{Kinds: given})
		require.NoError(t, err)
		want := given
		if given == nil {
			want = thread.DefaultKinds()
		}
		got := engine.Kinds()
		assert.Equal(t, want, got, "in the order of their urgency")
		got[0].Name = "changed"
		assert.Equal(t, want[0].Name, engine.Kinds()[0].Name, "it is a copy")
		require.NoError(t, engine.Close(t.Context()))
	}
}
