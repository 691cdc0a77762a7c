package web

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web/internal/input"
)

// Thread is what is sent of a [thread.Thread], most of which only the engine needs. Times are Unix
// milliseconds, here and in every type of this package; 0 is left out and means none.
type Thread struct {
	ID          string        `json:"id"`
	Version     int64         `json:"version"`
	Seq         int64         `json:"seq"` // of its last entry
	Status      thread.Status `json:"status"`
	User        string        `json:"user,omitempty"`
	Fingerprint string        `json:"fingerprint,omitempty"`
	Created     int64         `json:"created"`
	Turn        int           `json:"turn"`
	Paused      bool          `json:"paused,omitempty"`
	Wake        int64         `json:"wake,omitempty"` // the next deadline or reminder
	Frames      []Frame       `json:"frames"`
	// open and queued interrupts, in the order they were asked
	Open       []Interrupt     `json:"open"`
	Result     json.RawMessage `json:"result,omitempty"`
	Failure    *thread.Failure `json:"failure,omitempty"`
	ForkedFrom *thread.Fork    `json:"forkedFrom,omitempty"`
	// to a message: what was said in its turn
	Reply []string `json:"reply,omitempty"`
	// to a message: what is open on a thread beside, which has taken it
	Beside []Interrupt `json:"beside,omitempty"`
}

// Frame is what is sent of a [thread.Frame], an activation on a thread.
type Frame struct {
	ID      string            `json:"id"`
	Parent  string            `json:"parent,omitempty"`
	Machine string            `json:"machine"`
	Name    string            `json:"name,omitempty"`
	PC      string            `json:"pc,omitempty"`
	Visit   int               `json:"visit"`
	State   thread.FrameState `json:"state"`
	Until   int64             `json:"until,omitempty"`
}

// Interrupt is a [thread.Interrupt] as it is sent: its own fields, and what differs. Who may answer
// now stands in Assignees. Made from JSON, the times of the embedded record are zero.
type Interrupt struct {
	thread.Interrupt
	Created  int64 `json:"created"`
	Due      int64 `json:"due,omitempty"`
	ClosedAt int64 `json:"closedAt,omitempty"`
	// when the claim ends
	ClaimedUntil int64  `json:"claimedUntil,omitempty"`
	Votes        []vote `json:"votes,omitempty"`
	// the pending reroute event: where it says the work goes on, unless the answer does. In lists
	// it is left out
	Reroute json.RawMessage `json:"reroute,omitempty"`
}

type vote struct {
	thread.Vote
	At int64 `json:"at"`
}

// Row is a [thread.Entry] as it is sent. With an entry that puts a question to a person comes the
// interrupt, as it is when the row is sent.
type Row struct {
	ID     string `json:"id"` // thread/seq: the cursor
	Thread string `json:"thread"`
	thread.Entry
	At       int64      `json:"at"`
	Until    int64      `json:"until,omitempty"`
	Question *Interrupt `json:"question,omitempty"`
}

// list is a page of anything. Next goes into after; "" is the end.
type list[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func threadOf(t *thread.Thread) Thread {
	out := Thread{
		ID: t.ID, Version: t.Version, Seq: t.Seq, Status: t.Status(), User: t.User,
		Fingerprint: t.Fingerprint, Created: millis(t.Created),
		Turn: t.Turn, Paused: t.Paused(), Wake: millis(t.Wake()), Frames: []Frame{},
		Open: []Interrupt{}, Result: t.Result, Failure: t.Failure,
		ForkedFrom: t.ForkedFrom,
	}
	for i := range t.Frames {
		f := &t.Frames[i]
		out.Frames = append(out.Frames, Frame{
			ID: f.ID, Parent: f.Parent, Machine: f.Machine, Name: f.Name, PC: f.PC, Visit: f.Visit,
			State: f.State, Until: millis(f.Until),
		})
	}
	for _, i := range t.Open {
		out.Open = append(out.Open, awaited(t, i))
	}
	return out
}

// awaited is an open interrupt of a thread, with the reroute event that its answer is taken by.
func awaited(t *thread.Thread, i *thread.Interrupt) Interrupt {
	out := InterruptOf(i)
	if r := t.PendingReroute(i.Frame); r != nil && i.Kind != thread.KindSystemError {
		out.Reroute = r.Event
	}
	return out
}

// InterruptOf returns an interrupt as it is sent: with all its fields but those that only the
// engine needs.
func InterruptOf(i *thread.Interrupt) Interrupt {
	out := Interrupt{Interrupt: *i, Created: millis(i.Created), Due: millis(i.Due),
		ClosedAt: millis(i.ClosedAt), ClaimedUntil: millis(i.ClaimedUntil)}
	for _, v := range i.Votes {
		out.Votes = append(out.Votes, vote{v, millis(v.At)})
	}
	out.Assignees, out.EscalatedTo = i.Answerers(), ""
	out.Deadline, out.RemindAt, out.RemindBefore = nil, time.Time{}, 0
	out.Request, out.Clashes = "", 0
	return out
}

func rowOf(e *thread.Entry) Row {
	out := Row{ID: RowID(e.Thread, e.Seq), Thread: e.Thread, Entry: *e, At: millis(e.At),
		Until: millis(e.Until)}
	out.Rest = e.Rest || e.End
	out.Request = "" // made from the caller's key
	return out
}

// RowID returns the id of a row: the cursor after which a stream goes on.
func RowID(thread string, seq int64) string { return thread + "/" + strconv.FormatInt(seq, 10) }

// parseRowID takes a cursor apart. It is written one way only.
func parseRowID(id string) (thread string, seq int64, ok bool) {
	thread, digits, _ := strings.Cut(id, "/")
	seq, err := strconv.ParseInt(digits, 10, 64)
	return thread, seq, err == nil && seq >= 0 && input.ValidID(thread) && RowID(thread, seq) == id
}
