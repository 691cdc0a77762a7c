package sqlite

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// A cursor is the number of a commit and the place of an entry in it.
const placeBits = 20

// threadRow is a change as it is written to the file.
type threadRow struct {
	id            string
	before, fence int64 // that must be stored
	version, next int64 // next is the fence afterwards
	status        int64
	owner, wake   any // nil for none
	fingerprint   string
	body          body
	requests      []requestRow
	interrupts    [][]any // the arguments of writeInterrupt
	log           [][]any // those of insertLog
}

type requestRow struct {
	id  string
	seq int64
}

// rowsOf encodes changes, before the writer is asked for. What it refuses no store could keep.
func rowsOf(changes []*thread.Change) ([]threadRow, error) {
	rows := make([]threadRow, len(changes))
	for n, c := range changes {
		for _, d := range changes[:n] {
			if d.Thread.ID == c.Thread.ID {
				return nil, runtime.Errorf(runtime.CodeInvalid, "commit",
					"thread %.60q is changed twice", c.Thread.ID)
			}
		}
		if err := rows[n].encodeThread(c); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (r *threadRow) encodeThread(c *thread.Change) error {
	t := c.Thread
	*r = threadRow{
		id: t.ID, before: c.Before, fence: c.Fence, version: t.Version, next: t.Lease.Fence,
		fingerprint: t.Fingerprint,
		status:      int64(slices.Index(statuses, t.Status())),
	}
	var err error
	if r.body, err = seal(&threadBody{Thread: t}, t.ID, t.Fingerprint); err != nil {
		return r.rowError(runtime.CodeInvalid, err)
	}
	if t.Lease.Owner != "" {
		r.owner = t.Lease.Owner
	}
	if wake := t.Wake(); !wake.IsZero() {
		r.wake = wake.UnixMilli()
	}
	for _, i := range c.Interrupts {
		state := slices.Index(states, i.State)
		if state < 0 || i.Thread != t.ID {
			return r.rowError(runtime.CodeInvalid,
				fmt.Errorf("interrupt %.60q of thread %.60q is %q",
					i.ID, i.Thread, i.State))
		}
		b, err := seal(&interruptBody{Interrupt: i}, i.ID, t.ID, i.Kind, i.Node)
		if err != nil {
			return r.rowError(runtime.CodeInvalid, fmt.Errorf("interrupt %.60q: %w", i.ID, err))
		}
		var who any
		if names := i.Answerers(); len(names) > 0 {
			who = joinNames(names)
		}
		r.interrupts = append(r.interrupts, []any{i.ID, t.ID, int64(state), int64(i.Priority),
			i.Created.UnixMilli(), i.Kind, i.Node, who, b.json, b.crc})
	}
	return r.encodeEntries(c)
}

// inRow is how many entries a row of the log takes: a reader of some of them decodes no more.
const inRow = 500

// encodeEntries encodes the entries of a change. A thread that begins without any has a row for its
// number.
func (r *threadRow) encodeEntries(c *thread.Change) error {
	var row []thread.Entry
	if c.Copied != nil {
		for e, err := range c.Copied {
			if err == nil && len(row) == inRow {
				err = r.encodeLog(row)
				row = row[:0]
			}
			if err == nil {
				err = r.addRequest(&e)
			}
			if err != nil {
				return err
			}
			row = append(row, e)
		}
	}
	for n := range c.Entries {
		if err := r.addRequest(&c.Entries[n]); err != nil {
			return err
		}
	}
	switch {
	case c.Copied != nil:
		row = append(row, c.Entries...)
	case len(c.Entries) == 0 && c.Before != 0:
		return nil
	default:
		row = c.Entries
	}
	for len(row) > inRow {
		if err := r.encodeLog(row[:inRow]); err != nil {
			return err
		}
		row = row[inRow:]
	}
	return r.encodeLog(row)
}

// encodeLog adds a row for entries.
func (r *threadRow) encodeLog(entries []thread.Entry) error {
	last := int64(-1)
	if n := len(entries); n > 0 {
		last = entries[n-1].Seq
	}
	b, err := seal(entryBodies(entries), r.id)
	if err != nil {
		return r.rowError(runtime.CodeInvalid, err)
	}
	r.log = append(r.log, []any{r.id, last, b.json, b.crc})
	return nil
}

// addRequest adds the request id of an entry.
func (r *threadRow) addRequest(e *thread.Entry) error {
	if e.Request == "" {
		return nil
	}
	for _, had := range r.requests {
		if had.id == e.Request {
			return r.rowError(runtime.CodeConflict,
				fmt.Errorf("request %.60q is there twice", e.Request))
		}
	}
	r.requests = append(r.requests, requestRow{id: e.Request, seq: e.Seq})
	return nil
}

func (r *threadRow) rowError(code runtime.Code, err error) error {
	return runtime.Errorf(code, fmt.Sprintf("commit thread %.60q", r.id), "%w", err)
}

// joinNames writes a list of texts so that one of them can be looked for: whatever is in it, it
// cannot look like two.
func joinNames(list []string) string {
	var b strings.Builder
	for _, name := range list {
		b.WriteByte(' ')
		b.WriteString(strings.ToUpper(hex.EncodeToString([]byte(name))))
	}
	b.WriteByte(' ')
	return b.String()
}

// bitsOf returns a list of known texts as a bit set.
func bitsOf[T ~string](list, all []T) (bits int64) {
	for _, v := range list {
		if n := slices.Index(all, v); n >= 0 {
			bits |= 1 << n
		}
	}
	return bits
}
