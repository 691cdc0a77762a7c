package review

import (
	"slices"

	"github.com/routegen/routegen/generator/plan"
)

// unkept tells of a removed name that is not reserved.
func (c *change) unkept(name string, reserved []string) {
	if !slices.Contains(reserved, name) {
		c.detailf("its name is not in reserved: it may come back with another meaning")
	}
}

// freed reports names that are no longer reserved. One that something has as an earlier name is spoken of there.
func freed[T any](c func() *change, what string, before, after []string, things []T, was func(*T) []string) {
	for _, name := range before {
		known := slices.Contains(after, name)
		for i := range things {
			known = known || slices.Contains(was(&things[i]), name)
		}
		if !known {
			c().hitf("RESERVED_NO_DELETE", "the %s %s may come back with another meaning", what, name)
		}
	}
}

// commonFields are the fields that all interrupt requests carry.
func (w *walker) commonFields() []plan.Field {
	for i := range w.now.Records {
		if r := &w.now.Records[i]; r.Role == plan.RoleInterrupt {
			end := slices.IndexFunc(r.Fields, func(f plan.Field) bool { return !f.Common })
			if end < 0 {
				end = len(r.Fields)
			}
			return r.Fields[:end]
		}
	}
	return nil
}
