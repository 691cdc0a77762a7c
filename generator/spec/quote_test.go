package spec_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/spec"
)

// TestLongValuesAreShortened: whatever is quoted, and however long it is, a finding can be read.
// Short ones stay whole.
func TestLongValuesAreShortened(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 10_000)
	for name, text := range map[string]string{
		"document": "\"" + long + "\"",
		"plain":    long,
		"key":      strings.Repeat("k", 500) + ": 1\n" + base,
		"anchor": strings.Replace(base, "doc: Leads the work.",
			"doc: &"+strings.Repeat("a", 10_000)+" x", 1),
		"number": strings.Replace(base, "doc: Leads the work.", "doc: "+strings.Repeat("1", 200),
			1),
		"type":    strings.Replace(base, "why: {type: string,", "why: {type: ../"+long+",", 1),
		"name":    strings.Replace(base, "escalates: lead", "escalates: "+long, 1),
		"word":    strings.Replace(base, "clash: queue", "clash: "+long, 1),
		"default": strings.Replace(base, "default: 3", "default: "+long, 1),
		"json": strings.Replace(base, "title: {type: string,",
			"title: {type: string, json: "+long+",", 1),
	} {
		_, findings := spec.Parse("routes.yaml", []byte(text))
		require.NotEmpty(t, findings, name)
		for i := range findings {
			f := &findings[i]
			assert.Less(t, utf8.RuneCountInString(f.Message), 500, name)
			assert.Less(t, utf8.RuneCountInString(f.Hint), 300, name)
			for _, fix := range f.Fixes {
				assert.Less(t, utf8.RuneCountInString(fix.Title), 100, name)
			}
		}
		assert.Contains(t, list(findings), "...", name)
	}
	_, findings := spec.Parse("routes.yaml", []byte("\""+long+"\""))
	assert.Equal(t, `the document is "`+strings.Repeat("é", 60)+`...", not a mapping`,
		findings[0].Message)
	sixty := strings.Repeat("é", 60)
	_, findings = spec.Parse("routes.yaml", []byte(sixty))
	assert.Equal(t, `the document is "`+sixty+`", not a mapping`, findings[0].Message)
}

// TestAFixStaysWhole: what a repair writes is never shortened.
func TestAFixStaysWhole(t *testing.T) {
	t.Parallel()
	digits := strings.Repeat("1", 200)
	_, findings := spec.Parse("routes.yaml",
		[]byte(strings.Replace(base, "doc: Leads the work.", "doc: "+digits, 1)))
	require.Len(t, findings, 1)
	assert.Equal(t, `"`+digits+`"`, findings[0].Fixes[0].Edits[0].Text)
}
