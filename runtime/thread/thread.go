package thread

import (
	"cmp"
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
)

// Status says what a thread does. It is computed from the record by [Thread.Status] and never
// stored beside it.
type Status string

// What a thread does.
const (
	// StatusIdle: no turn runs: the next message starts one; Failure says why the last one failed
	StatusIdle    Status = "idle"
	StatusRunning Status = "running" // some frame can move
	// StatusWaiting: no frame can move until an answer or a stored time arrives
	StatusWaiting   Status = "waiting"
	StatusDone      Status = "done"       // over, with a result
	StatusFailed    Status = "failed"     // over, with a failure
	StatusCancelled Status = "cancelled"  // over, by order
	StatusHandedOff Status = "handed_off" // over here: another system goes on
)

// Thread is the one record of a durable run. It is changed through a [Change] only, and committed
// with it as a whole or not at all. A Thread that was committed or loaded is never changed again,
// so any number of goroutines may read it. Times are UTC, in milliseconds.
type Thread struct {
	ID      string `json:"id"`
	Version int64  `json:"version"`        // of the last commit; the first is 1
	Seq     int64  `json:"seq"`            // of the last entry in its log
	User    string `json:"user,omitempty"` // who started it
	// of the shapes its data was written under
	Fingerprint string `json:"fingerprint,omitempty"`
	// that it was started under, where it was brought to others since; "" means Fingerprint
	FirstFingerprint string    `json:"firstFingerprint,omitempty"`
	Created          time.Time `json:"created"`
	Turn             int       `json:"turn,omitempty"` // turns begun
	// frames made, so that a frame id is never used twice
	Made int `json:"made,omitempty"`
	// in the order they were made; parents come before children
	Frames []Frame `json:"frames,omitempty"`
	// an order to pause that waits for a safe point, or has paused the thread
	Control *Control `json:"control,omitempty"`
	// a person's change of the work, until the next step of the root frame took it
	Modify *string `json:"modify,omitempty"`
	// answers that came before their question, until the turn ends
	EarlyAnswers []EarlyAnswer `json:"mailbox,omitempty"`
	// of the last message
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// pending and queued, in the order they came
	Reroutes []Reroute       `json:"reroutes,omitempty"`
	Lease    Lease           `json:"lease,omitzero"`   // who drives it
	Over     Status          `json:"over,omitempty"`   // how it ended; "" while it has not
	Result   json.RawMessage `json:"result,omitempty"` // of the last turn
	// why it failed, or why the last turn did
	Failure *Failure `json:"failure,omitempty"`
	// while a turn runs: what the one before returned
	Previous   json.RawMessage `json:"previous,omitempty"`
	ForkedFrom *Fork           `json:"forkedFrom,omitempty"`
	// open and queued interrupts, in the order they were asked; a store keeps them on their own
	Open []*Interrupt `json:"-"`
}

// FrameState says what a frame waits for.
type FrameState string

// What a frame waits for.
const (
	FrameReady    FrameState = "ready"    // nothing: its step can run
	FrameAsking   FrameState = "asking"   // answers
	FrameCalling  FrameState = "calling"  // its children
	FrameRetrying FrameState = "retrying" // the time in Until
	// FrameHeld: the end of the interrupt in HeldBy, which superseded its own
	FrameHeld FrameState = "held"
)

// Frame is one activation on a thread. PC names the step, Visit counts how often that step was
// entered, so the third round of a loop has its own effects and questions. What a step kept is
// dropped when the frame goes to another step; the log has it for ever. What was put aside (see
// [StepAside]) stands among Effects and Replies with the step before its name, until the frame goes
// back or on.
type Frame struct {
	ID      string          `json:"id"`
	Parent  string          `json:"parent,omitempty"`
	Machine string          `json:"machine"`
	Name    string          `json:"name,omitempty"` // what the machine runs here: a node, a flow
	PC      string          `json:"pc,omitempty"`
	Visit   int             `json:"visit"`
	Visits  map[string]int  `json:"visits,omitempty"` // of the steps left behind
	Input   json.RawMessage `json:"input,omitempty"`
	Locals  json.RawMessage `json:"locals,omitempty"`
	// goes out with every interrupt of the thread
	Context  json.RawMessage `json:"shows,omitempty"`
	State    FrameState      `json:"state"`
	Until    time.Time       `json:"until,omitzero"`
	HeldBy   string          `json:"heldBy,omitempty"`
	Attempts []Attempt       `json:"attempts,omitempty"` // failed runs of this step
	// of Attempts: a person decided on them, and the policy counts from 0 again
	Forgiven int      `json:"forgiven,omitempty"`
	Effects  []Effect `json:"effects,omitempty"`
	Replies  []Reply  `json:"replies,omitempty"`
	// in the order they were spawned, whatever order they ended in
	Children []Child `json:"children,omitempty"`
	// a person, or a deadline, chose where this step goes on
	RouteTo string `json:"routeTo,omitempty"`
}

// The states of an effect.
const (
	EffectIntended = "intended" // it may have begun
	EffectDone     = "done"     // it ended, and Value is its result
	EffectInDoubt  = "in_doubt" // it began, and its outcome is unknown
	EffectFailed   = "failed"   // it ended without effect and may run again
)

// How a frame goes to another step, where that is not to leave its own one for good.
const (
	StepAside = "aside" // what the step did is put aside
	StepHold  = "hold"  // as StepAside, its messages too: they are not said again
	StepBack  = "back"  // to the step that went aside, on the same visit
)

// Effect is one side effect of a step, with the result it had.
type Effect struct {
	Name  string          `json:"name"`
	State string          `json:"state"`
	Value json.RawMessage `json:"value,omitempty"`
}

// Reply is an answer that a step has got, under the name of its question.
type Reply struct {
	Name      string `json:"name"`
	Interrupt string `json:"interrupt"`
	// of the question alone: another one must not take this answer
	Digest string `json:"digest"`
	// JSON, null included; with RouteTo the note to that place, a string, if there is one
	Value   json.RawMessage `json:"value,omitempty"`
	By      string          `json:"by,omitempty"`      // who answered
	RouteTo string          `json:"routeTo,omitempty"` // the answer was: go on over there
}

// Child is a frame that its parent waits for, and what it returned.
type Child struct {
	Frame string `json:"frame"`
	Name  string `json:"name,omitempty"`
	Done  bool   `json:"done,omitempty"`
	// it failed, and a person or a policy chose the value
	Skipped bool            `json:"skipped,omitempty"`
	Value   json.RawMessage `json:"value,omitempty"`
	Failure *Failure        `json:"failure,omitempty"` // why it has no value, or why it was skipped
}

// Attempt is one failed run of a step.
type Attempt struct {
	At   time.Time    `json:"at"`
	Code runtime.Code `json:"code"`
	Text string       `json:"text,omitempty"`
}

// Failure says why something ended without a result.
//
//nolint:errname // a record has it as data; it is an error only on its way to the store
type Failure struct {
	Code runtime.Code `json:"code"`
	Text string       `json:"text,omitempty"`
}

// Error gives code and text, the code once, so that a failure can travel as an error.
func (f *Failure) Error() string {
	switch {
	case f.Text == "":
		return string(f.Code)
	case strings.Contains(f.Text, string(f.Code)): // that of an Error says it already
		return f.Text
	}
	return string(f.Code) + ": " + f.Text
}

// The modes of a user escape. A later order may go up from safe to now, never down.
const (
	EscapeSafe = "safe" // at the next safe point: before the next step or effect
	EscapeNow  = "now"  // cancel what runs
)

// Control is an order of a person to pause the thread. Paused stays false until no step runs any
// more.
type Control struct {
	Mode      string    `json:"mode"`
	By        string    `json:"by,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	At        time.Time `json:"at"`
	Paused    bool      `json:"paused,omitempty"`
	Interrupt string    `json:"interrupt,omitempty"` // the user_escape that is open since
}

// EarlyAnswer is an answer that came before its question.
type EarlyAnswer struct {
	Name    string          `json:"name"`
	Value   json.RawMessage `json:"value"`
	By      string          `json:"by,omitempty"`
	Request string          `json:"request,omitempty"`
}

// Lease says which engine drives a running thread, and until when the others leave it alone. Fence
// goes up with every new owner: what an earlier one still tries to commit is refused.
type Lease struct {
	Owner string    `json:"owner,omitempty"`
	Fence int64     `json:"fence,omitempty"`
	Until time.Time `json:"until,omitzero"`
}

// Fork says where a thread came from.
type Fork struct {
	Thread string `json:"thread"`
	Seq    int64  `json:"seq"` // the last entry that both share
}

// Status says what the thread does. A thread whose steps are stopped by a user escape is waiting,
// and so is one that waits for the time of its next try.
func (t *Thread) Status() Status {
	switch {
	case t.Over != "":
		return t.Over
	case len(t.Frames) == 0:
		return StatusIdle
	case t.Paused():
		return StatusWaiting
	case t.Control != nil:
		return StatusRunning // the pause is still to be announced
	}
	for i := range t.Frames {
		if t.Frames[i].State == FrameReady {
			return StatusRunning
		}
	}
	return StatusWaiting
}

// Rests reports whether nothing happens to the thread until a person acts: it is idle, over, or
// waits for an answer. A thread that waits for the next try of a step goes on by itself.
func (t *Thread) Rests() bool {
	switch t.Status() {
	case StatusRunning:
		return false
	case StatusWaiting:
		return slices.ContainsFunc(t.Open, func(i *Interrupt) bool {
			return i.State == InterruptOpen
		})
	default:
		return true
	}
}

// Paused reports whether a user escape holds every frame.
func (t *Thread) Paused() bool { return t.Control != nil && t.Control.Paused }

// OpenInterrupts returns the interrupts that can be answered now, in the order of Open. They belong
// to the record and are only read.
func (t *Thread) OpenInterrupts() []*Interrupt {
	return slices.DeleteFunc(slices.Clone(t.Open), func(i *Interrupt) bool {
		return i.State != InterruptOpen
	})
}

// Frame returns the frame of that id, or nil. The result belongs to the record and is only read. Of
// the Thread of a [Change] it is good until something is added to that.
func (t *Thread) Frame(id string) *Frame {
	if at := t.frameAt(id); at >= 0 {
		return &t.Frames[at]
	}
	return nil
}

// frameAt returns the index of a frame, or -1. Frames stand in the order they were made, which is
// that of their ids where a [Change] made them.
func (t *Thread) frameAt(id string) int {
	at, found := sort.Find(len(t.Frames), func(n int) int { return compareIDs(id, t.Frames[n].ID) })
	if !found {
		at = slices.IndexFunc(t.Frames, func(f Frame) bool { return f.ID == id })
	}
	return at
}

// compareIDs compares ids that are a letter and a number: the smaller number comes first.
func compareIDs(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// Root returns the frame of the turn, or nil between turns.
func (t *Thread) Root() *Frame {
	if len(t.Frames) == 0 {
		return nil
	}
	return &t.Frames[0]
}

// Interrupt returns the open or queued interrupt of that id, or nil.
func (t *Thread) Interrupt(id string) *Interrupt {
	for _, i := range slices.Backward(t.Open) { // the latest is asked for most
		if i.ID == id {
			return i
		}
	}
	return nil
}

// Wake returns the earliest time at which an engine must look at the thread: a deadline, a
// reminder, the next try of a step, or the end of the lease of a running thread. Zero means never.
func (t *Thread) Wake() time.Time {
	var wake time.Time
	earlier := func(at time.Time) {
		if !at.IsZero() && (wake.IsZero() || at.Before(wake)) {
			wake = at
		}
	}
	if t.Over == "" {
		for _, i := range t.Open {
			if i.State == InterruptOpen {
				earlier(i.Due)
				earlier(i.RemindAt)
			}
		}
		if !t.Paused() {
			for i := range t.Frames {
				earlier(t.Frames[i].Until)
			}
		}
		if t.Status() == StatusRunning {
			earlier(t.Lease.Until)
		}
	}
	return wake
}

// visitsTo returns how often the frame has entered a step.
func (f *Frame) visitsTo(pc string) int {
	if f.PC == pc {
		return f.Visit
	}
	return f.Visits[pc]
}

// Effect returns the effect of that name in the current step, or nil.
func (f *Frame) Effect(name string) *Effect {
	for i := range f.Effects {
		if f.Effects[i].Name == name {
			return &f.Effects[i]
		}
	}
	return nil
}

// Reply returns the answer to the question of that name in the current step, or nil.
func (f *Frame) Reply(name string) *Reply {
	for i := range f.Replies {
		if f.Replies[i].Name == name {
			return &f.Replies[i]
		}
	}
	return nil
}

// cloneRecord returns a copy that can be changed without changing t. Values are shared and must not
// be written to.
func (t *Thread) cloneRecord() *Thread {
	out := *t
	out.Frames = slices.Clone(t.Frames)
	out.Open = slices.Clone(t.Open)
	out.EarlyAnswers = slices.Clone(t.EarlyAnswers)
	for i := range out.Frames {
		f := &out.Frames[i]
		f.Attempts = slices.Clip(f.Attempts) // an append must copy
		f.Effects = slices.Clone(f.Effects)
		f.Replies = slices.Clip(f.Replies)
		f.Children = slices.Clone(f.Children)
	}
	return &out
}
