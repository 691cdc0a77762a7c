package spec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/routegen/routegen/generator/spec"
)

// TestWideSpacesAreNamedWhereTheyHurt puts a no-break space or an ideographic one in the place of a
// plain one that YAML needs: the finding points at it, and nothing else is checked before it is
// replaced.
func TestWideSpacesAreNamedWhereTheyHurt(t *testing.T) {
	t.Parallel()
	for from, to := range map[string]string{
		"version: 1\n":                       "version:§\u00a01\n",
		"entry: true":                        "entry:§\u00a0\u00a0true",
		"doc: Leads the work.":               "doc: §\u00a0Leads the work.",
		"    entry: true":                    "§\u00a0\u00a0\u00a0\u00a0entry: true",
		"      spreadRequest: SpreadRequest": " §\u3000\u2003   spreadRequest: SpreadRequest",
		"  lead:\n":                          "§\u00a0\u00a0lead:\n",
		"[collectRequest]":                   "[§\u00a0collectRequest]",
		"template: workflow/lead, vars":      "template:§\u3000workflow/lead, vars",
		"warn: 2, limit":                     "warn: 2,§\u202flimit",
		"{warn: 2":                           "{§\u00a0warn: 2",
	} {
		text, at := mark(change(t, from, to))
		_, findings := spec.Parse("routes.yaml", []byte(text))
		if assert.Len(t, findings, 1, "%q\n%s", to, list(findings)) {
			assert.Equal(t, spec.RuleControlChar, findings[0].Rule)
			assert.Equal(t, at, place(findings[0]), "%q", to)
			assert.Regexp(t, `^(no-break )?space U\+[0-9A-F]{4} where YAML wants a plain one$`,
				findings[0].Message)
			assert.Equal(t, strings.Contains(to, "\u00a0") || strings.Contains(to, "\u202f"),
				strings.HasPrefix(findings[0].Message, "no-break"), "%q", to)
		}
	}
}

// TestWideSpacesAreAtHomeInProse: French and Japanese writers set them on purpose.
func TestWideSpacesAreAtHomeInProse(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		"Attention\u00a0!", "Le prix :\u00a0dix.", "Prix:\u00a0dix.", "Cf.\u00a0-\u00a0x",
		"\"\u3000日本語\"", "|\n      \u3000日本語\u3000:\u3000x", ">-\n      a\n      \u3000b",
		"Erst\n      \u00a0dann", "-\u00a0nur Text", "Der Weg\n      ist:\u00a0weit",
	} {
		_, findings := spec.Parse("routes.yaml",
			[]byte(change(t, "doc: Leads the work.", "doc: "+doc)))
		assert.Empty(t, list(findings), "%q", doc)
	}
	for _, doc := range []string{"Le prix :\u00a0dix.", "Prix:\u00a0dix.", "«\u00a0x\u00a0»",
		"'\u00a0x'"} {
		_, findings := spec.Parse("routes.yaml", []byte(change(t, "doc: The aim.", "doc: "+doc)))
		assert.Empty(t, list(findings), "in braces: %q", doc)
	}
}
