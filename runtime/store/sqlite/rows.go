package sqlite

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
)

// A cursor is the number of a commit and the place of an entry in it.
const (
	placeBits = 20
	places    = 1 << placeBits
)

// threadRow is a change as the file takes it: a row of the tail.
type threadRow struct {
	n             int64 // of the commit; set when it is written
	id            string
	before, fence int64 // that must be stored
	kept
	sealed  []byte          // kept
	thread  *runtime.Thread // as it was given; nil for what was read from the file
	touched []*runtime.Interrupt
}

// kept is what a row of the tail holds, and what its thread, its interrupts and the log are made of later.
type kept struct {
	First                  bool // it made the thread
	Version, Fence, Status int64
	Owner                  string // "" for none
	Wake                   *int64 // nil for never
	Fingerprint            string
	Body                   []byte
	Interrupts             []interruptRow
	Requests               []requestRow
	Seq                    int64 // of the last entry
	Log                    []byte
}

type interruptRow struct {
	ID                       string
	State, Priority, Created int64
	Kind, Node               string
	Who                      string // "" for anybody
	Body                     []byte
}

type requestRow struct {
	ID  string
	Seq int64
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
	*r = threadRow{id: t.ID, before: c.Before, fence: c.Fence, thread: t, touched: c.Interrupts, kept: kept{
		First: c.Before == 0, Version: t.Version, Fence: t.Lease.Fence, Owner: t.Lease.Owner, Fingerprint: t.Fingerprint,
		Status: int64(slices.Index(statuses, t.Status())),
		Body:   seal(t, t.ID, t.Fingerprint),
	}}
	if wake := t.Wake(); !wake.IsZero() {
		ms := wake.UnixMilli()
		r.Wake = &ms
	}
	for _, i := range c.Interrupts {
		state := slices.Index(states, i.State)
		if state < 0 || i.Thread != t.ID {
			return r.refuse(runtime.CodeInvalid, fmt.Errorf("interrupt %.60q of thread %.60q is %q", i.ID, i.Thread, i.State))
		}
		row := interruptRow{
			ID: i.ID, State: int64(state), Priority: int64(i.Priority), Created: i.Created.UnixMilli(), Kind: i.Kind, Node: i.Node,
			Body: seal(i, i.ID, i.Thread, i.Kind, i.Node),
		}
		if who := i.Answerers(); len(who) > 0 {
			row.Who = names(who)
		}
		r.Interrupts = append(r.Interrupts, row)
	}
	if err := r.entries(c); err != nil {
		return err
	}
	r.sealed = seal(&r.kept, r.id)
	return nil
}

func (r *threadRow) entries(c *runtime.Change) error {
	if len(c.Entries) == 0 && c.Before != 0 {
		return nil
	}
	if len(c.Entries) > places {
		return r.refuse(runtime.CodeInvalid, fmt.Errorf("%d entries are too many for one commit", len(c.Entries)))
	}
	for n := range c.Entries {
		e := &c.Entries[n]
		if e.Request == "" {
			continue
		}
		if r.requested(e.Request) {
			return r.refuse(runtime.CodeConflict, fmt.Errorf("request %.60q is there twice", e.Request))
		}
		r.Requests = append(r.Requests, requestRow{ID: e.Request, Seq: e.Seq})
	}
	r.Seq = -1 // of a thread that begins without entries: its row is there for its number
	if n := len(c.Entries); n > 0 {
		r.Seq = c.Entries[n-1].Seq
	}
	r.Log = seal(&c.Entries, r.id)
	return nil
}

// requested reports whether the commit took a request.
func (r *threadRow) requested(id string) bool {
	return slices.ContainsFunc(r.Requests, func(q requestRow) bool { return q.ID == id })
}

// damaged is the row whose bytes cannot be read: its thread is refused from then on, with its log, and no other.
func damaged(n int64, id string) *threadRow {
	return &threadRow{n: n, id: id, before: -1, kept: kept{Version: -1, Body: []byte{}, Seq: math.MaxInt64, Log: []byte{}}}
}

// latest is the last form of a thread in the tail. One whose rows are not all readable is damaged: what is missing of it nobody knows.
func latest(rows []*threadRow) *threadRow {
	for _, r := range rows {
		if r.before < 0 {
			return r
		}
	}
	return rows[len(rows)-1]
}

// rowOf reads a row of the tail.
func rowOf(n int64, id string, body []byte) *threadRow {
	r := &threadRow{n: n, id: id, sealed: body}
	if err := unseal(body, &r.kept, id); err != nil {
		return damaged(n, id)
	}
	return r
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
