package generator_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/compat"
)

// fingerprint is that of the stored shapes in testdata: engines wrote it beside their threads.
const fingerprint = "1de6d8e17b06c88c1f4733c6790b317bd0090b3bf482ca5c62df96e22ee0ae6e"

// TestStoredShapesAreThoseOfBefore compares the stored shapes with a table that an earlier version
// of the generated code gave. An engine compares them when it reads a thread.
func TestStoredShapesAreThoseOfBefore(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/stored/shapes.json")
	require.NoError(t, err)
	var before []runtime.StoredShape
	require.NoError(t, json.Unmarshal(text, &before))
	now := slices.Clone(routes.StoredShapes())
	require.Empty(t, compat.Compare(before, now), "every thread of before goes on")
	for i := range now { // results of a dispatch are judged too since
		if now[i].Kind == runtime.ShapeNode {
			now[i].Fields = slices.DeleteFunc(slices.Clone(now[i].Fields),
				func(f runtime.StoredField) bool { return f.Name == "results" })
		}
	}
	require.Len(t, now, len(before))
	for i := range before {
		assert.Equal(t, before[i], now[i])
	}
	assert.Equal(t, fingerprint, compat.Fingerprint(now))
	again, err := runtime.Encode(now)
	require.NoError(t, err)
	assert.Equal(t, string(bytes.TrimSpace(text)), string(again), "it is stored in the same bytes")
	now = slices.Clone(now)
	now[0].Fields = now[0].Fields[:1]
	assert.NotEqual(t, fingerprint, compat.Fingerprint(now))
}

// TestStoredRecordsOfBeforeAreRead reads one document of every record type, as an earlier version
// of the generated code wrote it, and writes the same bytes.
func TestStoredRecordsOfBeforeAreRead(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/stored/records.jsonl")
	require.NoError(t, err)
	defer func() { assert.NoError(t, file.Close()) }()
	types, read := recordTypes(), 0
	for lines := bufio.NewScanner(file); lines.Scan(); read++ {
		v, err := runtime.DecodeTagged(lines.Bytes(), func(name string) runtime.Record {
			require.Contains(t, types, name)
			return fresh(types[name])
		})
		require.NoError(t, err, "%s", lines.Text())
		again, err := runtime.EncodeTagged(v)
		require.NoError(t, err)
		assert.Equal(t, lines.Text(), string(again))
	}
	assert.Equal(t, len(types), read)
}
