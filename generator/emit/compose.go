package emit

import (
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// Composer puts schemas of a plan together from the same files, and by the same code, as the
// generated package. It also knows the records that no file of that package has. A Composer may be
// used by many goroutines at once.
type Composer struct {
	plan    *plan.Plan
	schemas *runtime.Schemas
}

// NewComposer prepares every definition of a plan.
func NewComposer(p *plan.Plan) *Composer {
	files, err := schemaFiles(p, nil)
	read := func(name string) ([]byte, error) { return files[name], err }
	return &Composer{p, runtime.NewSchemas(read, branchRows(p.Routings[0]))}
}

func branchRows(r plan.Routing) []runtime.BranchRow {
	out := make([]runtime.BranchRow, 0, len(r.Branches))
	for _, b := range r.Branches {
		out = append(out, b.BranchRow)
	}
	return out
}

// Routes returns the schema of the interrupt routing narrowed to routes of the plan, counted from
// 0. It returns "" for no route, and where a record has no form in the dialect.
func (c *Composer) Routes(d runtime.Dialect, routes ...int) string {
	words := make([]uint64, (len(c.plan.Routes)+63)/64)
	for _, r := range routes {
		// a plan has fewer routes than fit
		runtime.SetWith(words, uint32(len(c.plan.Routes)+1), uint32(r+1))
	}
	return c.schemas.Set(words, d)
}

// Routing returns the schema of a whole routing, or "" where a record has no form in the dialect.
func (c *Composer) Routing(d runtime.Dialect, r plan.Routing) string {
	return c.schemas.Union(branchRows(r), d)
}

// Record returns the schema of one record, or "" where it has no form in the dialect. It reports
// whether there is such a record.
func (c *Composer) Record(d runtime.Dialect, name string) (text string, known bool) {
	if c.plan.Record(name) == nil {
		return "", false
	}
	return c.schemas.Def(name, d), true
}
