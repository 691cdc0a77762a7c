package spec_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

// TestRoutesOfThisRepository reads the repository's own spec.
func TestRoutesOfThisRepository(t *testing.T) {
	src, err := os.ReadFile("../../routes.yaml")
	require.NoError(t, err)
	s, findings := spec.Parse("routes.yaml", src)
	var b strings.Builder
	require.NoError(t, report.WriteText(&b, src, findings))
	for _, f := range spec.Suppress(findings, s.Allows) {
		assert.NotEqual(t, report.Error, f.Severity, "%d:%d %s %s", f.At.Start.Line,
			f.At.Start.Column, f.Rule, f.Message)
	}
	if t.Failed() || testing.Verbose() {
		t.Log(b.String())
	}
}
