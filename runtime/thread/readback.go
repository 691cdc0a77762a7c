package thread

import (
	"bytes"
	"slices"
	"time"

	"github.com/routegen/routegen/runtime"
)

// landed resolves an unknown outcome by reading back: a store that became unavailable may have committed before. Where it cannot be read
// either, the change is kept until it can.
func (d *driver) landed(c *runtime.Change, err error) bool {
	if runtime.CodeOf(err) != runtime.CodeUnavailable || c.Empty() {
		return false
	}
	landed, known := d.stored(c)
	if !known {
		d.unsure, d.part = c, map[*deed]bool{}
		for _, x := range d.pending {
			d.part[x] = true
		}
	}
	return landed
}

// stored reports whether the log holds the entries of a change, and whether that could be found out.
func (d *driver) stored(c *runtime.Change) (landed, known bool) {
	rows, err := d.engine.store.Log(d.engine.ctx, runtime.LogQuery{Thread: d.id, AfterSeq: c.Entries[0].Seq - 1, Limit: len(c.Entries)})
	if err != nil {
		return false, false
	}
	return slices.EqualFunc(rows, c.Entries, func(a, b runtime.Entry) bool {
		one, err1 := runtime.Encode(a)
		two, err2 := runtime.Encode(b)
		return err1 == nil && err2 == nil && bytes.Equal(one, two)
	}), true
}

// readBack settles a change whose outcome was unknown: what landed is not decided again. It reports false when the store still cannot say.
func (d *driver) readBack() bool {
	landed, known := d.stored(d.unsure)
	if !known {
		d.refuse(&runtime.Error{Code: runtime.CodeUnavailable, Op: "read back thread " + d.id})
		return false
	}
	part := d.part
	d.unsure, d.part = nil, nil
	if !landed {
		return true
	}
	d.pending = slices.DeleteFunc(d.pending, func(x *deed) bool { return part[x] })
	if err := d.load(); err != nil {
		d.refuse(err)
		return false
	}
	d.flushAt = time.Time{}
	d.again(nil)
	return true
}
