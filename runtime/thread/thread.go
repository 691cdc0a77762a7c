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
	// StatusIdle means that no turn runs. The next message starts one; Failure says why the last
	// one failed, if it did.
	StatusIdle    Status = "idle"
	StatusRunning Status = "running" // some frame can move
	// StatusWaiting means that no frame can move until an answer or a stored time arrives.
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
	ID string `json:"id"`
	// Version is the number of commits so far: 1 after the first.
	Version int64 `json:"version"`
	// Seq is the Seq of the last entry in the thread's log.
	Seq int64 `json:"seq"`
	// User started the thread.
	User string `json:"user,omitempty"`
	// Fingerprint identifies the shapes that the thread's data was written under.
	Fingerprint string `json:"fingerprint,omitempty"`
	// FirstFingerprint identifies the shapes that the thread was started under; "" means
	// Fingerprint.
	FirstFingerprint string    `json:"firstFingerprint,omitempty"`
	Created          time.Time `json:"created"`
	// Turn is the number of turns begun.
	Turn int `json:"turn,omitempty"`
	// Made is the number of frames made, so that no frame id is used twice.
	Made int `json:"made,omitempty"`
	// Frames are in the order they were made; parents come before children.
	Frames []Frame `json:"frames,omitempty"`
	// Control is an order to pause that waits for a safe point, or has paused the thread.
	Control *Control `json:"control,omitempty"`
	// Modify is a person's change of the work, until the next step of the root frame takes it.
	Modify *string `json:"modify,omitempty"`
	// EarlyAnswers came before their question. They are kept until the turn ends.
	EarlyAnswers []EarlyAnswer `json:"mailbox,omitempty"`
	// Metadata came with the last message.
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// Reroutes are the pending and queued reroute events, in the order they came.
	Reroutes []Reroute `json:"reroutes,omitempty"`
	// Lease names the engine that drives the thread.
	Lease Lease `json:"lease,omitzero"`
	// Over is the status with which the thread ended, "" until then.
	Over Status `json:"over,omitempty"`
	// Result is the result of the last turn.
	Result json.RawMessage `json:"result,omitempty"`
	// Failure is why the thread failed, or why its last turn did.
	Failure *Failure `json:"failure,omitempty"`
	// Previous is the result of the turn before, while a turn runs.
	Previous json.RawMessage `json:"previous,omitempty"`
	// ForkedFrom is where the thread was forked from, or nil.
	ForkedFrom *Fork `json:"forkedFrom,omitempty"`
	// Open holds the open and queued interrupts in the order they were asked. Stores keep them
	// apart from the record.
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
	// FrameHeld waits for the end of the interrupt HeldBy, which superseded the frame's own.
	FrameHeld FrameState = "held"
)

// Frame is one activation on a thread. PC names the step, Visit counts how often that step was
// entered, so the third round of a loop has its own effects and questions. What a step kept is
// dropped when the frame goes to another step; the log has it for ever. What was put aside (see
// [StepAside]) stands among Effects and Replies with the step before its name, until the frame goes
// back or on.
type Frame struct {
	ID      string `json:"id"`
	Parent  string `json:"parent,omitempty"`
	Machine string `json:"machine"`
	// Name is what the machine runs here: a node, a flow.
	Name  string `json:"name,omitempty"`
	PC    string `json:"pc,omitempty"`
	Visit int    `json:"visit"`
	// Visits counts the visits of the steps that the frame has left.
	Visits map[string]int  `json:"visits,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`
	Locals json.RawMessage `json:"locals,omitempty"`
	// Context is shown with every interrupt of the thread.
	Context json.RawMessage `json:"shows,omitempty"`
	State   FrameState      `json:"state"`
	Until   time.Time       `json:"until,omitzero"`
	HeldBy  string          `json:"heldBy,omitempty"`
	// Attempts are the failed runs of this step.
	Attempts []Attempt `json:"attempts,omitempty"`
	// Forgiven is the number of Attempts that a person has decided on. The retry policy counts
	// those after them.
	Forgiven int      `json:"forgiven,omitempty"`
	Effects  []Effect `json:"effects,omitempty"`
	Replies  []Reply  `json:"replies,omitempty"`
	// Children are in the order they were spawned, not in that of their ends.
	Children []Child `json:"children,omitempty"`
	// RouteTo is where a person, or a deadline, sent this step to go on.
	RouteTo string `json:"routeTo,omitempty"`
}

// The states of an effect.
const (
	EffectIntended = "intended" // it may have begun
	EffectDone     = "done"     // it ended, and Value is its result
	EffectInDoubt  = "in_doubt" // it began, and its outcome is unknown
	EffectFailed   = "failed"   // it ended without effect and may run again
)

// How a frame goes to a step that it does not enter for good, or comes back from one.
const (
	StepAside = "aside" // effects and answers of the step left are kept for the way back
	StepHold  = "hold"  // as StepAside, and messages too: they are not said again
	StepBack  = "back"  // to the step that was left with StepAside or StepHold, on the same visit
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
	// Digest is that of the question alone: a question with another digest does not take this
	// answer.
	Digest string `json:"digest"`
	// Value is JSON, null included. With RouteTo it is the note to that place, a string, or absent.
	Value json.RawMessage `json:"value,omitempty"`
	// By is who answered.
	By string `json:"by,omitempty"`
	// RouteTo is set if the answer sent the work elsewhere.
	RouteTo string `json:"routeTo,omitempty"`
}

// Child is a frame that its parent waits for, and what it returned.
type Child struct {
	Frame string `json:"frame"`
	Name  string `json:"name,omitempty"`
	Done  bool   `json:"done,omitempty"`
	// Skipped means that the child failed, and a person or a policy chose Value.
	Skipped bool            `json:"skipped,omitempty"`
	Value   json.RawMessage `json:"value,omitempty"`
	// Failure is why there is no value, or why the child was skipped.
	Failure *Failure `json:"failure,omitempty"`
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
	case strings.Contains(f.Text, string(f.Code)): // the text of a runtime.Error has its code
		return f.Text
	}
	return string(f.Code) + ": " + f.Text
}

// The modes of a user escape. A later order may go up from safe to now, never down.
const (
	EscapeSafe = "safe" // at the next safe point: before the next step or effect
	EscapeNow  = "now"  // cancel what runs
)

// Control is an order of a person to pause the thread. Paused is false until no step runs any more.
type Control struct {
	Mode      string    `json:"mode"`
	By        string    `json:"by,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	At        time.Time `json:"at"`
	Paused    bool      `json:"paused,omitempty"`
	Interrupt string    `json:"interrupt,omitempty"` // the user_escape that the pause has opened
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

	// how often it was taken from an engine that no longer renewed it, with nothing recorded in
	// between; counted with [Config.AnswerOnly]
	Takeovers int `json:"takeovers,omitempty"`
}

// Fork says where a thread came from.
type Fork struct {
	Thread string `json:"thread"` // of the same tenant, and without it
	Seq    int64  `json:"seq"`    // the last entry that both share
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
	if len(t.Open) > 0 && t.Open[0].ID == id { // when all are answered, each is the first once
		return t.Open[0]
	}
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
