package sqlite

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
)

// A cursor is the number of a commit and the place of an entry in it.
const placeBits = 20

// threadRow is a change as the file takes it.
type threadRow struct {
	id            string
	before, fence int64 // that must be stored
	version, next int64 // next is the fence afterwards
	status        int64
	owner, wake   any // nil for none
	fingerprint   string
	body          []byte
	interrupts    []interruptRow
	requests      []requestRow
	log           []logRow
}

type logRow struct {
	seq  int64 // of the last entry
	body []byte
}

type interruptRow struct {
	id                       string
	state, priority, created int64
	kind, node               string
	who                      any // nil for anybody
	body                     []byte
}

type requestRow struct {
	id  string
	seq int64
}

// rowsOf encodes changes, before the writer is asked for. What it refuses no store could keep.
func rowsOf(changes []*runtime.Change) ([]threadRow, error) {
	rows := make([]threadRow, len(changes))
	for n, c := range changes {
		for _, d := range changes[:n] {
			if d.Thread.ID == c.Thread.ID {
				return nil, refuse(runtime.CodeInvalid, "commit", fmt.Errorf("thread %.60q is changed twice", c.Thread.ID))
			}
		}
		if err := rows[n].fill(c); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (r *threadRow) fill(c *runtime.Change) error {
	t := c.Thread
	*r = threadRow{
		id: t.ID, before: c.Before, fence: c.Fence, version: t.Version, next: t.Lease.Fence, fingerprint: t.Fingerprint,
		status: int64(slices.Index(statuses, t.Status())),
	}
	var err error
	if r.body, err = seal(t, t.ID, t.Fingerprint); err != nil {
		return r.refuse(runtime.CodeInvalid, err)
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
			return r.refuse(runtime.CodeInvalid, fmt.Errorf("interrupt %.60q of thread %.60q is %q", i.ID, i.Thread, i.State))
		}
		row := interruptRow{
			id: i.ID, state: int64(state), priority: int64(i.Priority), created: i.Created.UnixMilli(), kind: i.Kind, node: i.Node,
		}
		if row.body, err = seal(i, i.ID, i.Thread, i.Kind, i.Node); err != nil {
			return r.refuse(runtime.CodeInvalid, fmt.Errorf("interrupt %.60q: %w", i.ID, err))
		}
		if who := i.Answerers(); len(who) > 0 {
			row.who = names(who)
		}
		r.interrupts = append(r.interrupts, row)
	}
	return r.entries(c)
}

// inRow is how many entries a row of the log takes: a reader of some of them decodes no more.
const inRow = 500

// entries encodes the entries of a change. A thread that begins without any has a row for its number.
func (r *threadRow) entries(c *runtime.Change) error {
	var row []runtime.Entry
	if c.Copied != nil {
		for e, err := range c.Copied {
			if err == nil && len(row) == inRow {
				err = r.logged(row)
				row = row[:0]
			}
			if err == nil {
				err = r.requested(&e)
			}
			if err != nil {
				return err
			}
			row = append(row, e)
		}
	}
	for n := range c.Entries {
		if err := r.requested(&c.Entries[n]); err != nil {
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
		if err := r.logged(row[:inRow]); err != nil {
			return err
		}
		row = row[inRow:]
	}
	return r.logged(row)
}

// logged makes a row of entries.
func (r *threadRow) logged(entries []runtime.Entry) error {
	row := logRow{seq: -1}
	if n := len(entries); n > 0 {
		row.seq = entries[n-1].Seq
	}
	var err error
	if row.body, err = seal(&entries, r.id); err != nil {
		return r.refuse(runtime.CodeInvalid, err)
	}
	r.log = append(r.log, row)
	return nil
}

// requested notes the request id of an entry.
func (r *threadRow) requested(e *runtime.Entry) error {
	if e.Request == "" {
		return nil
	}
	for _, had := range r.requests {
		if had.id == e.Request {
			return r.refuse(runtime.CodeConflict, fmt.Errorf("request %.60q is there twice", e.Request))
		}
	}
	r.requests = append(r.requests, requestRow{id: e.Request, seq: e.Seq})
	return nil
}

func (r *threadRow) refuse(code runtime.Code, err error) error {
	return refuse(code, fmt.Sprintf("commit thread %.60q", r.id), err)
}

// names writes a list of texts so that one of them can be looked for: whatever is in it, it cannot look like two.
func names(list []string) string {
	var b strings.Builder
	for _, name := range list {
		b.WriteByte(' ')
		b.WriteString(strings.ToUpper(hex.EncodeToString([]byte(name))))
	}
	b.WriteByte(' ')
	return b.String()
}

// set is a list of closed texts as bits.
func set[T ~string](list, all []T) (bits int64) {
	for _, v := range list {
		if n := slices.Index(all, v); n >= 0 {
			bits |= 1 << n
		}
	}
	return bits
}

func threadOf(id, fingerprint string, body []byte) (*runtime.Thread, error) {
	t := new(runtime.Thread)
	if err := unseal(body, t, id, fingerprint); err != nil {
		return nil, err
	}
	t.ID, t.Fingerprint = id, fingerprint
	return t, nil
}

func interruptOf(id, thread, kind, node string, body []byte) (*runtime.Interrupt, error) {
	i := new(runtime.Interrupt)
	if err := unseal(body, i, id, thread, kind, node); err != nil {
		return nil, err
	}
	i.ID, i.Thread, i.Kind, i.Node = id, thread, kind, node
	return i, nil
}

func entriesOf(n int64, thread string, body []byte) ([]runtime.Entry, error) {
	var entries []runtime.Entry
	if err := unseal(body, &entries, thread); err != nil {
		return nil, err
	}
	for at := range entries {
		entries[at].Thread, entries[at].Cursor = thread, n<<placeBits|int64(at)
	}
	return entries, nil
}

// ceil is the first millisecond that is not before a time.
func ceil(t time.Time) int64 {
	ms := t.UnixMilli()
	if t.After(time.UnixMilli(ms)) {
		ms++
	}
	return ms
}

var errMissing = errors.New("there is no such thread")
