//go:build unix

package killloop

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// story is what happened to a thread, from the log, the ledger and the parent, in the order of
// time.
func (a *audit) story(id string) string {
	type event struct {
		at   int64
		text string
	}
	var all []event
	add := func(at int64, format string, args ...any) {
		all = append(all, event{at, fmt.Sprintf(format, args...)})
	}
	f := a.files[id]
	if f == nil {
		return id + " is not stored"
	}
	for n := range f.entries {
		e := &f.entries[n]
		const form = "%4d %s frame=%s name=%s pc=%s state=%s by=%s interrupt=%s value=%.80s " +
			"failure=%v end=%t"
		add(micros(e.At), form, e.Seq, e.Type, e.Frame, e.Name, e.PC, e.State, e.By, e.Interrupt,
			e.Value, e.Failure, e.End)
	}
	for _, rows := range []map[string][]line{a.begins, a.intends, a.leases, a.pauses} {
		for key, found := range rows {
			if key != id && !strings.HasPrefix(key, id+"/") {
				continue
			}
			for _, row := range found {
				add(row.At, "     %s %s %s told=%q mark=%s fence=%d version=%d", row.Proc, row.What,
					key,
					row.Told, row.Mark, row.Fence, row.Version)
			}
		}
	}
	for _, at := range a.attempts[id] {
		add(at.from, "     call to %s, until %s", at.proc, clock(at.to))
	}
	for _, w := range a.windows {
		add(w.from, "     %s is away, dead: %t, until %s", w.proc, w.dead, clock(w.to))
	}
	slices.SortStableFunc(all, func(x, y event) int { return int(x.at - y.at) })
	var out strings.Builder
	for _, e := range all {
		fmt.Fprintf(&out, "%s %s\n", clock(e.at), e.text)
	}
	return out.String()
}

func clock(at int64) string { return time.UnixMicro(at).Format("05.000000") }
