package thread

import (
	"encoding/json"
	"time"
)

// EntryType says what happened. The set is closed; texts are part of the stored form and never
// change.
type EntryType string

// What can happen to a thread. Each comment names the fields that matter beside Seq, At and By.
const (
	// EntryStarted: the thread was made. Value, Name: its origin and who forked it, when it was
	EntryStarted EntryType = "started"
	// EntryEntered: a frame was made. Frame, Parent, Machine, Name, PC, Value: input, Request;
	// Other: the frame whose place it takes
	EntryEntered EntryType = "entered"
	// EntryEffect: an effect changed its state. Frame, Name, State, Value
	EntryEffect EntryType = "effect"
	// EntryStepped: a frame went to another step. Frame, PC, Value: locals, State: a Step constant,
	// Name: what is not put aside
	EntryStepped EntryType = "stepped"
	EntryShows   EntryType = "shows" // what goes out with interrupts changed. Frame, Value
	// EntryCalling: a frame waits for its children from here on. Frame, PC, Value: locals
	EntryCalling EntryType = "calling"
	// EntryReturned: a frame ended. Frame, Value, Failure, State: "skipped" when a person or a
	// policy chose the value, "cancelled" or "failed" of a turn that was ended
	EntryReturned EntryType = "returned"
	// EntryFailed: a run of a step failed. Frame, Failure, Until: time of the next try, zero when
	// there is none
	EntryFailed EntryType = "failed"
	// EntryAgain: a step may run again. Frame, Name: what was ordered, "" when its time came,
	// RouteTo, Value: new input
	EntryAgain EntryType = "again"
	// EntryAsked: an interrupt was made. Frame, Interrupt, Kind, Name, State
	EntryAsked EntryType = "asked"
	// EntryOpened: a queued interrupt had its turn. Interrupt, Until: its deadline
	EntryOpened EntryType = "opened"
	// EntryQueued: an open interrupt made way for a more urgent one. Interrupt, Other
	EntryQueued EntryType = "queued"
	// EntrySuperseded: a more urgent interrupt took its place; without Other the step that asked
	// failed. Interrupt, Other
	EntrySuperseded EntryType = "superseded"
	// EntryAnswered: an interrupt has its answer. Interrupt, Value, RouteTo (Value is its note
	// then), Request
	EntryAnswered EntryType = "answered"
	// EntryVoted: one of several needed answers came. Interrupt, Value, Request
	EntryVoted EntryType = "voted"
	// EntryReasked: a plain answer was unclear. Interrupt, Text: why, Value: what was said and how
	// many tries are left, Request
	EntryReasked EntryType = "reasked"
	// EntryExpired: the deadline came without an answer. Interrupt, Failure
	EntryExpired   EntryType = "expired"
	EntryCancelled EntryType = "cancelled" // an interrupt was taken back. Interrupt
	// EntryClaimed: a person claimed an interrupt, or released it. Interrupt, Name: who, "" if
	// released; Until: when the claim ends; Other: from whom it was taken over, or had lapsed
	EntryClaimed  EntryType = "claimed"
	EntryExtended EntryType = "extended" // the deadline moved. Interrupt, Until
	EntryReminded EntryType = "reminded" // the deadline comes near. Interrupt
	// EntryEscalated: the deadline came; others are asked now. Interrupt, Name: who, Until
	EntryEscalated EntryType = "escalated"
	EntryEscape    EntryType = "escape" // a person wants to pause. Name: mode, Text: reason
	EntryPaused    EntryType = "paused" // no step runs. Interrupt
	// EntryResumed: the pause is over. Value: the modification, nil when there is none
	EntryResumed  EntryType = "resumed"
	EntryModified EntryType = "modified" // the work took the modification. Frame
	// EntryHeld: an answer came before its question, and takes the place of an earlier one of its
	// giver. Name, Value, Request
	EntryHeld EntryType = "held"
	// EntryTaken: the early answers met their question, which tries this one. Name
	EntryTaken EntryType = "taken"
	// EntryReroute: a reroute event came, or changed its state. Frame, Name: id, State, RouteTo,
	// Value, Request
	EntryReroute EntryType = "reroute"
	// EntryUpgraded: another version of the program took the thread up. Name: the fingerprint of
	// its shapes, Other: the one before, Value: what reads differently since, by frame
	EntryUpgraded EntryType = "upgraded"
	EntryMetadata EntryType = "metadata" // what came with the last message. Value
	EntryOver     EntryType = "over"     // the thread ended. State, Value, Failure
	// EntryMessage: something to show or send. Frame, Name, Value; Failure: that it tells of
	EntryMessage EntryType = "message"
)

// Entry is one row of a thread's log: its history and its outbox. The record of a thread is what
// its entries add up to: nothing changes a thread that is not an entry. Only the fields its type
// names are set.
type Entry struct {
	Seq       int64           `json:"seq"` // counts from 1, without gaps
	At        time.Time       `json:"at"`
	Type      EntryType       `json:"type"`
	By        string          `json:"by,omitempty"`
	Via       string          `json:"via,omitempty"` // who acted for By, see [ActFor]
	Frame     string          `json:"frame,omitempty"`
	Parent    string          `json:"parent,omitempty"`
	Machine   string          `json:"machine,omitempty"`
	Name      string          `json:"name,omitempty"`
	PC        string          `json:"pc,omitempty"`
	State     string          `json:"state,omitempty"`
	Kind      string          `json:"kind,omitempty"`
	Interrupt string          `json:"interrupt,omitempty"`
	Other     string          `json:"other,omitempty"`
	RouteTo   string          `json:"routeTo,omitempty"`
	Text      string          `json:"text,omitempty"`
	Request   string          `json:"request,omitempty"`
	Until     time.Time       `json:"until,omitzero"`
	Value     json.RawMessage `json:"value,omitempty"`
	Failure   *Failure        `json:"failure,omitempty"`
	// End marks the last entry of its commit.
	End bool `json:"end,omitempty"`
	// Rest means that the thread was at rest after this entry: a fork may begin here. Logs written
	// by older versions do not set it.
	Rest bool `json:"rest,omitempty"`

	// Opened is the interrupt of an asked entry, as it was asked. It travels with a Change and
	// stands in no log: the store has it by its id.
	Opened *Interrupt `json:"-"`

	// Thread is set by the store that returns the entry.
	Thread string `json:"-"`
	// Cursor is the place among the entries of all threads, set by the store that returns the
	// entry.
	Cursor int64 `json:"-"`
}
