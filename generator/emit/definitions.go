package emit

import "github.com/routegen/routegen/generator/plan"

// Definitions returns every record of a plan as an entry of $defs, sorted by name: those of the generated package, and
// those that no schema of it needs.
func Definitions(p *plan.Plan) []Definition {
	out := make([]Definition, 0, len(p.Records))
	for _, i := range byName(p) {
		def, _ := define(p, &p.Records[i])
		out = append(out, def)
	}
	return out
}
