package web

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
)

// Thread is a thread on the wire. Times are Unix milliseconds, here and in every type of this package; 0 is left out and means none.
type Thread struct {
	ID          string           `json:"id"`
	Version     int64            `json:"version"`
	Seq         int64            `json:"seq"` // of its last entry
	Status      runtime.Status   `json:"status"`
	User        string           `json:"user,omitempty"`
	Fingerprint string           `json:"fingerprint,omitempty"`
	Created     int64            `json:"created"`
	Turn        int              `json:"turn"`
	Paused      bool             `json:"paused,omitempty"`
	Wake        int64            `json:"wake,omitempty"` // when somebody must look at it
	Frames      []Frame          `json:"frames"`
	Open        []Interrupt      `json:"open"` // open and queued interrupts, in the order they were asked
	Result      json.RawMessage  `json:"result,omitempty"`
	Failure     *runtime.Failure `json:"failure,omitempty"`
	ForkedFrom  *runtime.Fork    `json:"forkedFrom,omitempty"`
	Reply       []string         `json:"reply,omitempty"`  // to a message: what was said in its turn
	Beside      []Interrupt      `json:"beside,omitempty"` // to a message: what is open on a thread beside, which has taken it
}

// Frame is one activation on a thread.
type Frame struct {
	ID      string             `json:"id"`
	Parent  string             `json:"parent,omitempty"`
	Machine string             `json:"machine"`
	Name    string             `json:"name,omitempty"`
	PC      string             `json:"pc,omitempty"`
	Visit   int                `json:"visit"`
	State   runtime.FrameState `json:"state"`
	Until   int64              `json:"until,omitempty"`
}

// Interrupt is a stored interrupt on the wire.
type Interrupt struct {
	ID           string                 `json:"id"`
	Thread       string                 `json:"thread"`
	Frame        string                 `json:"frame,omitempty"`
	Node         string                 `json:"node,omitempty"`
	Step         string                 `json:"step,omitempty"`
	Visit        int                    `json:"visit,omitempty"`
	Kind         string                 `json:"kind"`
	Priority     int                    `json:"priority"`
	State        runtime.InterruptState `json:"state"`
	Name         string                 `json:"name"`
	Text         string                 `json:"text,omitempty"`
	Type         string                 `json:"type,omitempty"`
	Payload      json.RawMessage        `json:"payload,omitempty"`
	Schema       json.RawMessage        `json:"schema,omitempty"`
	Choices      []runtime.Choice       `json:"choices,omitempty"`
	Plain        string                 `json:"plain,omitempty"`
	Language     string                 `json:"language,omitempty"`
	Targets      []string               `json:"targets,omitempty"`
	Assignees    []string               `json:"assignees,omitempty"` // who may answer now; empty means anybody
	NotOwn       bool                   `json:"notOwn,omitempty"`
	Quorum       int                    `json:"quorum,omitempty"`
	Digest       string                 `json:"digest"` // send it back with the answer, and only what was shown is answered
	Context      json.RawMessage        `json:"context,omitempty"`
	Reroute      json.RawMessage        `json:"reroute,omitempty"` // the pending reroute event: where it says the work goes on, unless the answer does. In lists it is left out
	Created      int64                  `json:"created"`
	Due          int64                  `json:"due,omitempty"`
	Asks         int                    `json:"asks,omitempty"`
	AskedFor     string                 `json:"askedFor,omitempty"`
	ClaimedBy    string                 `json:"claimedBy,omitempty"`
	Votes        []vote                 `json:"votes,omitempty"`
	Answer       json.RawMessage        `json:"answer,omitempty"`
	RouteTo      string                 `json:"routeTo,omitempty"`
	AnsweredBy   string                 `json:"answeredBy,omitempty"`
	ClosedAt     int64                  `json:"closedAt,omitempty"`
	SupersededBy string                 `json:"supersededBy,omitempty"`
}

type vote struct {
	By    string          `json:"by"`
	Value json.RawMessage `json:"value,omitempty"`
	At    int64           `json:"at"`
}

// Row is one entry of a thread's log. With an entry that puts a question to a person comes the interrupt, as it is when the row is sent.
type Row struct {
	ID        string            `json:"id"` // thread/seq: the cursor
	Thread    string            `json:"thread"`
	Seq       int64             `json:"seq"`
	At        int64             `json:"at"`
	Type      runtime.EntryType `json:"type"`
	By        string            `json:"by,omitempty"`
	Frame     string            `json:"frame,omitempty"`
	Parent    string            `json:"parent,omitempty"`
	Machine   string            `json:"machine,omitempty"`
	Name      string            `json:"name,omitempty"`
	PC        string            `json:"pc,omitempty"`
	State     string            `json:"state,omitempty"`
	Kind      string            `json:"kind,omitempty"`
	Interrupt string            `json:"interrupt,omitempty"`
	Other     string            `json:"other,omitempty"`
	RouteTo   string            `json:"routeTo,omitempty"`
	Text      string            `json:"text,omitempty"`
	Until     int64             `json:"until,omitempty"`
	Value     json.RawMessage   `json:"value,omitempty"`
	Failure   *runtime.Failure  `json:"failure,omitempty"`
	End       bool              `json:"end,omitempty"`  // the last of its commit
	Rest      bool              `json:"rest,omitempty"` // the thread was at rest after it: a fork may begin here
	Question  *Interrupt        `json:"question,omitempty"`
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

func threadOf(t *runtime.Thread) Thread {
	out := Thread{
		ID: t.ID, Version: t.Version, Seq: t.Seq, Status: t.Status(), User: t.User, Fingerprint: t.Fingerprint, Created: millis(t.Created),
		Turn: t.Turn, Paused: t.Paused(), Wake: millis(t.Wake()), Frames: []Frame{}, Open: []Interrupt{}, Result: t.Result, Failure: t.Failure,
		ForkedFrom: t.ForkedFrom,
	}
	for i := range t.Frames {
		f := &t.Frames[i]
		out.Frames = append(out.Frames, Frame{
			ID: f.ID, Parent: f.Parent, Machine: f.Machine, Name: f.Name, PC: f.PC, Visit: f.Visit, State: f.State, Until: millis(f.Until),
		})
	}
	for _, i := range t.Open {
		out.Open = append(out.Open, awaited(t, i))
	}
	return out
}

// awaited is an open interrupt of a thread, with the reroute event that its answer is taken by.
func awaited(t *runtime.Thread, i *runtime.Interrupt) Interrupt {
	out := interruptOf(i)
	if r := t.PendingReroute(i.Frame); r != nil && i.Kind != runtime.KindSystemError {
		out.Reroute = r.Event
	}
	return out
}

func interruptOf(i *runtime.Interrupt) Interrupt {
	out := Interrupt{
		ID: i.ID, Thread: i.Thread, Frame: i.Frame, Node: i.Node, Step: i.Step, Visit: i.Visit, Kind: i.Kind, Priority: i.Priority,
		State: i.State, Name: i.Name, Text: i.Text, Type: i.Type, Payload: i.Payload, Schema: i.Schema, Choices: i.Choices, Plain: i.Plain,
		Language: i.Language, Targets: i.Targets, Assignees: i.Answerers(), NotOwn: i.NotOwn, Quorum: i.Quorum, Digest: i.Digest,
		Context: i.Context, Created: millis(i.Created), Due: millis(i.Due), Asks: i.Asks, AskedFor: i.AskedFor, ClaimedBy: i.ClaimedBy,
		Answer: i.Answer, RouteTo: i.RouteTo, AnsweredBy: i.AnsweredBy, ClosedAt: millis(i.ClosedAt), SupersededBy: i.SupersededBy,
	}
	for _, v := range i.Votes {
		out.Votes = append(out.Votes, vote{By: v.By, Value: v.Value, At: millis(v.At)})
	}
	return out
}

func rowOf(e *runtime.Entry) Row {
	return Row{
		ID: rowID(e.Thread, e.Seq), Thread: e.Thread, Seq: e.Seq, At: millis(e.At), Type: e.Type, By: e.By, Frame: e.Frame, Parent: e.Parent,
		Machine: e.Machine, Name: e.Name, PC: e.PC, State: e.State, Kind: e.Kind, Interrupt: e.Interrupt, Other: e.Other, RouteTo: e.RouteTo,
		Text: e.Text, Until: millis(e.Until), Value: e.Value, Failure: e.Failure, End: e.End, Rest: e.Rest || e.End,
	}
}

func rowID(thread string, seq int64) string { return thread + "/" + strconv.FormatInt(seq, 10) }

// parseRowID takes a cursor apart. It is written one way only.
func parseRowID(id string) (thread string, seq int64, ok bool) {
	thread, digits, _ := strings.Cut(id, "/")
	seq, err := strconv.ParseInt(digits, 10, 64)
	return thread, seq, err == nil && seq >= 0 && legalID(thread) && rowID(thread, seq) == id
}

// legalID reports whether a text can be the id of a thread or an interrupt on the wire. It stands in paths and in tokens, so it is narrower
// than what the engine takes.
func legalID(id string) bool {
	const most = 200
	if id == "" || len(id) > most || id[0] == '.' {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == '~':
		default:
			return false
		}
	}
	return true
}
