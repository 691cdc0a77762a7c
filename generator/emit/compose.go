package emit

import (
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// Composer puts schemas of a plan together from the same fragments, and by the same code, as the generated package. It also
// knows the records that no schema of that package needs. A Composer may be used by many goroutines at once.
type Composer struct {
	plan    *plan.Plan
	schemas *runtime.Schemas
	index   map[string]int // row of a definition, counted from 1
}

// NewComposer prepares every definition of a plan.
func NewComposer(p *plan.Plan) *Composer {
	c := &Composer{plan: p, index: map[string]int{}}
	order := byName(p)
	for row, i := range order {
		c.index[p.Records[i].Name] = row + 1
	}
	rows := make([]runtime.Definition, 0, len(order))
	for _, i := range order {
		def, _ := define(p, &p.Records[i])
		row := runtime.Definition{Name: def.Name, Plain: def.Plain, OpenAI: def.OpenAI, Anthropic: def.Anthropic, Gemini: def.Gemini}
		for _, ref := range def.Refs {
			row.Refs = append(row.Refs, c.index[ref])
		}
		rows = append(rows, row)
	}
	c.schemas = runtime.NewSchemas(rows, c.branches(p.Routings[0]))
	return c
}

func (c *Composer) branches(r plan.Routing) []runtime.BranchRow {
	out := make([]runtime.BranchRow, 0, len(r.Branches))
	for _, b := range r.Branches {
		out = append(out, runtime.BranchRow{Name: b.JSON, Type: b.Type, Def: c.index[b.Type]})
	}
	return out
}

// Routes returns the schema of the interrupt routing narrowed to routes of the plan, counted from 0. It returns "" for no
// route, and where a record has no form in the dialect.
func (c *Composer) Routes(d runtime.Dialect, routes ...int) string {
	words := make([]uint64, (len(c.plan.Routes)+63)/64)
	for _, r := range routes {
		runtime.SetWith(words, uint32(len(c.plan.Routes)+1), uint32(r+1)) // a plan has fewer routes than fit
	}
	return c.schemas.Set(words, d)
}

// Routing returns the schema of a whole routing, or "" where a record has no form in the dialect.
func (c *Composer) Routing(d runtime.Dialect, r plan.Routing) string {
	return c.schemas.Union(c.branches(r), d)
}

// Record returns the schema of one record, or "" where it has no form in the dialect. It reports whether there is such a
// record.
func (c *Composer) Record(d runtime.Dialect, name string) (text string, known bool) {
	i, known := c.index[name]
	if !known {
		return "", false
	}
	return c.schemas.Def(i, d), true
}
