package generator_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/spec"
)

// TestADeprecatedValidatorIsNamed where it is used, and in the doc of its method, so that removing
// it can be announced.
func TestADeprecatedValidatorIsNamed(t *testing.T) {
	t.Parallel()
	const text = `version: 1
go: {package: bank, out: generated/bank}
validators:
  iban: {doc: A number of an account., type: string, deprecated: Use account.}
flows:
  pay:
    doc: Pays.
    slots: {to: {type: string, doc: Whom.}}
    steps:
      - {step: ask, type: collect, slot: to, message: To whom, validator: iban}
      - {step: done, type: say, message: "Paid {to}."}
`
	r := generator.Generate("routes.yaml", []byte(text))
	require.Len(t, r.Findings, 1, "%+v", r.Findings)
	assert.Equal(t, spec.RuleDeprecatedUsed, r.Findings[0].Rule)
	assert.Equal(t, "Use account.", r.Findings[0].Hint)
	const method = " Deprecated: Use account.\n\tIban(ctx context.Context, value string) (string, "
	assert.Contains(t, string(r.Files["generated/bank/actions_gen.go"]), method)
	fine := generator.Generate("routes.yaml", []byte(strings.Replace(text,
		", deprecated: Use account.", "", 1)))
	assert.Empty(t, fine.Findings)
	assert.NotContains(t, string(fine.Files["generated/bank/actions_gen.go"]), "Deprecated")
}
