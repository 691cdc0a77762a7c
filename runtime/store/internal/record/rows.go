package record

import (
	"fmt"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// Row is a change as a store writes it.
type Row struct {
	ID, Tenant    string
	Before, Fence int64 // that must be stored
	Version, Next int64 // Next is the fence afterwards
	Status        int64 // the place in Statuses
	Owner         any   // a string, nil for none
	Wake          any   // an int64 in Unix milliseconds, nil for never
	Fingerprint   string
	Body          Body
	Requests      []Request
	Interrupts    []InterruptRow
	Log           []Log
}

// Request is the id of a request and the number of the entry that it led to.
type Request struct {
	ID  string
	Seq int64
}

// InterruptRow is the row of an interrupt. Its state is the place in States.
type InterruptRow struct {
	ID, Kind, Node           string
	State, Priority, Created int64
	Who                      []string // may answer it; nil for anybody
	Body                     Body
}

// Log is a row of the log: a commit, or 500 of its entries.
type Log struct {
	Last  int64 // the number of its last entry, -1 without any
	Count int
	Body  Body
}

// Statuses and States have each status and state at the number that is stored for it. Both only
// grow.
var (
	Statuses = []thread.Status{
		thread.StatusIdle, thread.StatusRunning, thread.StatusWaiting, thread.StatusDone,
		thread.StatusFailed, thread.StatusCancelled, thread.StatusHandedOff,
	}
	States = []thread.InterruptState{
		thread.InterruptOpen, thread.InterruptQueued, thread.InterruptAnswered,
		thread.InterruptSuperseded, thread.InterruptCancelled, thread.InterruptExpired,
	}
)

// RowsOf encodes changes, before a store takes a lock. What it refuses no store could keep.
func RowsOf(changes []*thread.Change) ([]Row, error) {
	rows := make([]Row, len(changes))
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

func (r *Row) encodeThread(c *thread.Change) error {
	t := c.Thread
	*r = Row{
		ID: t.ID, Before: c.Before, Fence: c.Fence, Version: t.Version, Next: t.Lease.Fence,
		Fingerprint: t.Fingerprint, Status: int64(slices.Index(Statuses, t.Status())),
	}
	r.Tenant, _ = thread.SplitID(t.ID)
	var err error
	if r.Body, err = Seal(&ThreadBody{Thread: t}, t.ID, t.Fingerprint); err != nil {
		return r.Error(runtime.CodeInvalid, err)
	}
	if t.Lease.Owner != "" {
		r.Owner = t.Lease.Owner
	}
	if wake := t.Wake(); !wake.IsZero() {
		r.Wake = wake.UnixMilli()
	}
	for _, i := range c.Interrupts {
		state := slices.Index(States, i.State)
		if state < 0 || i.Thread != t.ID {
			return r.Error(runtime.CodeInvalid,
				fmt.Errorf("interrupt %.60q of thread %.60q is %q",
					i.ID, i.Thread, i.State))
		}
		b, err := Seal(&InterruptBody{Interrupt: i}, i.ID, t.ID, i.Kind, i.Node)
		if err != nil {
			return r.Error(runtime.CodeInvalid, fmt.Errorf("interrupt %.60q: %w", i.ID, err))
		}
		r.Interrupts = append(r.Interrupts, InterruptRow{ID: i.ID, Kind: i.Kind, Node: i.Node,
			State: int64(state), Priority: int64(i.Priority), Created: i.Created.UnixMilli(),
			Who: i.Answerers(), Body: b})
	}
	return r.encodeEntries(c)
}

// inRow is how many entries a row of the log takes: a reader of some of them decodes no more.
const inRow = 500

// encodeEntries encodes the entries of a change. A thread that begins without any has a row for its
// number.
func (r *Row) encodeEntries(c *thread.Change) error {
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
func (r *Row) encodeLog(entries []thread.Entry) error {
	last := int64(-1)
	if n := len(entries); n > 0 {
		last = entries[n-1].Seq
	}
	b, err := Seal(EntryBodies(entries), r.ID)
	if err != nil {
		return r.Error(runtime.CodeInvalid, err)
	}
	r.Log = append(r.Log, Log{Last: last, Count: len(entries), Body: b})
	return nil
}

// addRequest adds the request id of an entry.
func (r *Row) addRequest(e *thread.Entry) error {
	if e.Request == "" {
		return nil
	}
	for _, had := range r.Requests {
		if had.ID == e.Request {
			return r.Error(runtime.CodeConflict,
				fmt.Errorf("request %.60q is there twice", e.Request))
		}
	}
	r.Requests = append(r.Requests, Request{ID: e.Request, Seq: e.Seq})
	return nil
}

// Error returns an error that names the thread.
func (r *Row) Error(code runtime.Code, err error) error {
	return runtime.Errorf(code, fmt.Sprintf("commit thread %.60q", r.ID), "%w", err)
}

// BitsOf returns a list of known texts as a bit set.
func BitsOf[T ~string](list, all []T) (bits int64) {
	for _, v := range list {
		if n := slices.Index(all, v); n >= 0 {
			bits |= 1 << n
		}
	}
	return bits
}
