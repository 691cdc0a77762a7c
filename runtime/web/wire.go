package web

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web/internal/input"
)

// Thread is a thread on the wire. Times are Unix milliseconds, here and in every type of this
// package; 0 is left out and means none.
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

// Frame is one activation on a thread.
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

// Interrupt is a stored interrupt on the wire.
type Interrupt struct {
	ID       string                `json:"id"`
	Thread   string                `json:"thread"`
	Frame    string                `json:"frame,omitempty"`
	Node     string                `json:"node,omitempty"`
	Step     string                `json:"step,omitempty"`
	Visit    int                   `json:"visit,omitempty"`
	Kind     string                `json:"kind"`
	Priority int                   `json:"priority"`
	State    thread.InterruptState `json:"state"`
	Name     string                `json:"name"`
	Text     string                `json:"text,omitempty"`
	Type     string                `json:"type,omitempty"`
	Payload  json.RawMessage       `json:"payload,omitempty"`
	Schema   json.RawMessage       `json:"schema,omitempty"`
	Choices  []thread.Choice       `json:"choices,omitempty"`
	Plain    string                `json:"plain,omitempty"`
	Language string                `json:"language,omitempty"`
	Targets  []string              `json:"targets,omitempty"`
	// who may answer now; empty means anybody
	Assignees []string `json:"assignees,omitempty"`
	NotOwn    bool     `json:"notOwn,omitempty"`
	Quorum    int      `json:"quorum,omitempty"`
	// send it back with the answer, and only what was shown is answered
	Digest  string          `json:"digest"`
	Context json.RawMessage `json:"context,omitempty"`
	// the pending reroute event: where it says the work goes on, unless the answer does. In lists
	// it is left out
	Reroute      json.RawMessage `json:"reroute,omitempty"`
	Created      int64           `json:"created"`
	Due          int64           `json:"due,omitempty"`
	Asks         int             `json:"asks,omitempty"`
	AskedFor     string          `json:"askedFor,omitempty"`
	ClaimedBy    string          `json:"claimedBy,omitempty"`
	Votes        []vote          `json:"votes,omitempty"`
	Answer       json.RawMessage `json:"answer,omitempty"`
	RouteTo      string          `json:"routeTo,omitempty"`
	AnsweredBy   string          `json:"answeredBy,omitempty"`
	ClosedAt     int64           `json:"closedAt,omitempty"`
	SupersededBy string          `json:"supersededBy,omitempty"`
}

type vote struct {
	By    string          `json:"by"`
	Value json.RawMessage `json:"value,omitempty"`
	At    int64           `json:"at"`
}

// Row is one entry of a thread's log. With an entry that puts a question to a person comes the
// interrupt, as it is when the row is sent.
type Row struct {
	ID        string           `json:"id"` // thread/seq: the cursor
	Thread    string           `json:"thread"`
	Seq       int64            `json:"seq"`
	At        int64            `json:"at"`
	Type      thread.EntryType `json:"type"`
	By        string           `json:"by,omitempty"`
	Frame     string           `json:"frame,omitempty"`
	Parent    string           `json:"parent,omitempty"`
	Machine   string           `json:"machine,omitempty"`
	Name      string           `json:"name,omitempty"`
	PC        string           `json:"pc,omitempty"`
	State     string           `json:"state,omitempty"`
	Kind      string           `json:"kind,omitempty"`
	Interrupt string           `json:"interrupt,omitempty"`
	Other     string           `json:"other,omitempty"`
	RouteTo   string           `json:"routeTo,omitempty"`
	Text      string           `json:"text,omitempty"`
	Until     int64            `json:"until,omitempty"`
	Value     json.RawMessage  `json:"value,omitempty"`
	Failure   *thread.Failure  `json:"failure,omitempty"`
	End       bool             `json:"end,omitempty"` // the last of its commit
	// the thread was at rest after it: a fork may begin here
	Rest     bool       `json:"rest,omitempty"`
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

// InterruptOf returns an interrupt as it is sent.
func InterruptOf(i *thread.Interrupt) Interrupt {
	out := Interrupt{
		ID: i.ID, Thread: i.Thread, Frame: i.Frame, Node: i.Node, Step: i.Step, Visit: i.Visit,
		Kind: i.Kind, Priority: i.Priority,
		State: i.State, Name: i.Name, Text: i.Text, Type: i.Type, Payload: i.Payload,
		Schema: i.Schema, Choices: i.Choices, Plain: i.Plain,
		Language: i.Language, Targets: i.Targets, Assignees: i.Answerers(), NotOwn: i.NotOwn,
		Quorum: i.Quorum, Digest: i.Digest,
		Context: i.Context, Created: millis(i.Created), Due: millis(i.Due), Asks: i.Asks,
		AskedFor: i.AskedFor, ClaimedBy: i.ClaimedBy,
		Answer: i.Answer, RouteTo: i.RouteTo, AnsweredBy: i.AnsweredBy,
		ClosedAt: millis(i.ClosedAt), SupersededBy: i.SupersededBy,
	}
	for _, v := range i.Votes {
		out.Votes = append(out.Votes, vote{By: v.By, Value: v.Value, At: millis(v.At)})
	}
	return out
}

func rowOf(e *thread.Entry) Row {
	return Row{
		ID: RowID(e.Thread, e.Seq), Thread: e.Thread, Seq: e.Seq, At: millis(e.At), Type: e.Type,
		By: e.By, Frame: e.Frame, Parent: e.Parent,
		Machine: e.Machine, Name: e.Name, PC: e.PC, State: e.State, Kind: e.Kind,
		Interrupt: e.Interrupt, Other: e.Other, RouteTo: e.RouteTo,
		Text: e.Text, Until: millis(e.Until), Value: e.Value, Failure: e.Failure, End: e.End,
		Rest: e.Rest || e.End,
	}
}

// RowID returns the id of a row: the cursor after which a stream goes on.
func RowID(thread string, seq int64) string { return thread + "/" + strconv.FormatInt(seq, 10) }

// parseRowID takes a cursor apart. It is written one way only.
func parseRowID(id string) (thread string, seq int64, ok bool) {
	thread, digits, _ := strings.Cut(id, "/")
	seq, err := strconv.ParseInt(digits, 10, 64)
	return thread, seq, err == nil && seq >= 0 && input.ValidID(thread) && RowID(thread, seq) == id
}
