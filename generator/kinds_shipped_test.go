package generator_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime/thread"
)

// Nothing that is shipped ends a program's work when an answer does not come: neither the default
// kinds nor a spec that people copy.
func TestNoShippedKindEndsWorkThatNobodyAnswers(t *testing.T) {
	t.Parallel()
	ends := regexp.MustCompile(`deadline:.*then: *(expire|cancel)`)
	var files []string
	for _, pattern := range []string{"../routes.yaml", "../examples/*/routes.yaml",
		"../cmd/routegen/skeleton/*.tmpl"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		files = append(files, found...)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.NotRegexp(t, ends, string(data), name)
	}
	for _, k := range spec.DefaultKinds() {
		assert.True(t, k.Deadline == nil || k.Deadline.None, k.Key.Value)
	}
	for _, k := range thread.DefaultKinds() {
		assert.Nil(t, k.Deadline, k.Name)
	}
}
