package spec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/routegen/routegen/generator/spec"
)

const emptying = `version: 1
go: {package: bank, out: generated/bank}
flows:
  f:
    doc: Asks twice.
    slots: {name: {type: string, doc: Who.}, tags: {type: "[]string", doc: Marks.}}
    OUTPUTS
    steps:
      - {step: ask, type: collect, slot: name, message: Who.}
      - {step: gone, type: set, values: {VALUES}}
      - {step: again, type: while, condition: not filled(name) or filled(tags), do: [{step: more, type: set, values: {LOOP}}]}
`

// TestNullEmptiesASlot: a set step may empty any slot. To empty one is a change of it, and does not
// fill it.
func TestNullEmptiesASlot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ outputs, values, loop, want string }{
		{"outputs: [name]", "name: null, tags: ~", "tags: null",
			`6:46 FLOW_SLOT_UNFILLED slot "tags" is read, and nothing fills it | fill it in a step, or list it in inputs | /flows/f/slots/tags` + "\n"},
		{"outputs: [name]", "tags: [null]", "name: x",
			`10:49 SPEC_SCALAR_KIND "null" is not a value | write a value | /flows/f/steps/1/values/tags/0` + "\n"},
		{"outputs: [name]", "tags: ", "name: x",
			"10:48 SPEC_SCALAR_KIND nothing is not a value | write a value | " +
				"/flows/f/steps/1/values/tags\n"},
		{"outputs: [name]", "tags: {from: null}", "name: x",
			`10:55 SPEC_SCALAR_KIND "null" must be text, but it is read as nothing (null) | write a text, or leave the key out | /flows/f/steps/1/values/tags/from` + "\n"},
		{"outputs: [name, tags]", "tags: null", "tags: null",
			`6:46 FLOW_OUTPUT_UNSET output "tags" is never filled | fill it in a step, or take it from outputs | /flows/f/slots/tags` + "\n"},
	} {
		text := strings.NewReplacer("OUTPUTS", c.outputs, "VALUES", c.values, "LOOP", c.loop).
			Replace(emptying)
		_, findings := spec.Parse("routes.yaml", []byte(text))
		assert.Equal(t, c.want, list(findings), c.values)
	}
}
