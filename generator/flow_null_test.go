package generator_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNullInASetStepIsALiteral: the table says null where a step empties a slot, and the package
// still compiles.
func TestNullInASetStepIsALiteral(t *testing.T) {
	t.Parallel()
	const row = `Value: &runtime.Expr{Op: runtime.OpValue, Value: "null"}`
	sound := generated(t, flowSpec(t))
	emptied := generated(t, put(t, flowSpec(t), "          wait: 48h\n", "          wait: null\n"))
	rows := func(files map[string][]byte) (n int) {
		for _, text := range files {
			n += bytes.Count(text, []byte(row))
		}
		return n
	}
	assert.Zero(t, rows(sound))
	assert.Equal(t, 1, rows(emptied))
	_, err := newCompiler(t).check(consumed, emptied)
	require.NoError(t, err)
}
