package spec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/spec"
)

// TestTheGreatestIntIsALegalBound: it is that of the type, so no other number is meant by it in a
// schema; the numbers around it are none that JSON carries.
func TestTheGreatestIntIsALegalBound(t *testing.T) {
	t.Parallel()
	bound := func(text string) []string {
		s, findings := spec.Parse("routes.yaml", []byte(strings.Replace(small,
			"{type: int, doc: A.}", "{type: int, "+text+", doc: A.}", 1)))
		if k := &s.Nodes[1].Request.Fields[0].Constraints; len(findings) == 0 {
			assert.Nil(t, k.Max, "decoders hold it without being told")
		}
		return places(findings)
	}
	assert.Empty(t, bound("max: 9223372036854775807"))
	assert.Empty(t, bound("min: -9223372036854775808, max: 9223372036854775807"))
	assert.Equal(t, []string{"12:44 CONSTRAINT_RANGE"}, bound("max: 9223372036854775806"))
	assert.Equal(t, []string{"12:44 CONSTRAINT_RANGE"}, bound("max: 9223372036854775808"))
	assert.Equal(t, []string{"12:44 CONSTRAINT_RANGE"}, bound("min: 9223372036854775806"))
}

// TestADirectiveOfTheVersionOfYAMLIsRead: %YAML 1.2 says what the language is written in.
func TestADirectiveOfTheVersionOfYAMLIsRead(t *testing.T) {
	t.Parallel()
	for _, head := range []string{"%YAML 1.2\n---\n", "# A comment.\n%YAML 1.2\n\n---\n",
		"%YAML 1.1\n---\n"} {
		s, findings := spec.Parse("routes.yaml", []byte(head+small))
		require.Empty(t, list(findings), head)
		assert.Equal(t, strings.Count(head, "\n")+6, s.Nodes[0].Key.At.Start.Line, head)
	}
	for _, head := range []string{"%YAML 1.2\n", "%YAML 2.0\n---\n", "%TAG ! x\n%YAML 1.2\n"} {
		_, findings := spec.Parse("routes.yaml", []byte(head+small))
		assert.Len(t, findings, 1, head)
	}
}
