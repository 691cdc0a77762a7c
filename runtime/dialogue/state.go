package dialogue

import (
	"encoding/json"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// state is the state of a flow's frame. Slots and steps are known by their numbers here, and by
// their names where it is stored: their order may change.
type state struct {
	flow    *flow
	slots   []slotState       // in the order of the flow
	later   []runtime.Command // flows to start when the time has come, each with its commands
	trail   []segment         // the way that the flow has come
	kept    []done            // of steps before the flow went back; without out: asked
	loops   []loop            // that run
	tries   int               // invalid answers to the open question
	idle    int               // messages in a row that changed nothing
	depth   int               // of the stack, this frame included
	said    bool              // there was a reply since the last message
	failure *thread.Failure
	rescued bool // the flow's on_error was taken: it is not taken twice

	counters
}

// slotState is what a frame knows of a slot.
type slotState struct {
	value       json.RawMessage // nil: it is not filled
	offer       json.RawMessage // a value from before it is asked for
	fromOutside bool            // the value came from outside: no confirm takes it for an answer
	confirmed   bool            // a confirm has set it
}

// loop is a loop that runs.
type loop struct {
	at      int // its step
	rounds  int
	entered int // the questions before its first round
}

func newState(f *flow) state { return state{flow: f, slots: make([]slotState, len(f.slots))} }

// of returns what is known of a slot.
func (s *state) of(slot *slot) *slotState { return &s.slots[slot.number-1] }

// values returns the values of the filled slots by name.
func (s *state) values() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for i := range s.slots {
		if v := s.slots[i].value; v != nil {
			out[s.flow.slots[i].Name] = v
		}
	}
	return out
}

// findKept returns the kept result of a step, or nil.
func (s *state) findKept(step int) *done {
	if i := slices.IndexFunc(s.kept, func(d done) bool { return d.at == step }); i >= 0 {
		return &s.kept[i]
	}
	return nil
}

// keepResult keeps the result of a step, in the place of an earlier one.
func (s *state) keepResult(d done) {
	s.dropKept(d.at)
	s.kept = append(s.kept, d)
}

func (s *state) dropKept(step int) {
	s.kept = slices.DeleteFunc(s.kept, func(d done) bool { return d.at == step })
}

// findLoop returns the loop of a step, a new one if it does not run.
func (s *state) findLoop(step int) *loop {
	for i := range s.loops {
		if s.loops[i].at == step {
			return &s.loops[i]
		}
	}
	s.loops = append(s.loops, loop{at: step, entered: s.Questions})
	return &s.loops[len(s.loops)-1]
}

// counters limit how long flows run. They are passed to a called flow and back.
type counters struct {
	Moves int `json:"moves,omitempty"` // steps since the last question
	Acts  int `json:"acts,omitempty"`  // effects since the last question
	// that had an answer, those of called flows among them
	Questions int `json:"questions,omitempty"`

	Once bool `json:"once,omitempty"` // an action that must not happen twice was done
}

// flowInput is the input of a flow's frame.
type flowInput struct {
	Slots map[string]json.RawMessage `json:"slots,omitempty"` // from a call or link: they fit
	// from a message: they are to be checked
	Offers   map[string]json.RawMessage `json:"offers,omitempty"`
	Commands []runtime.Command          `json:"commands,omitempty"` // that belong to it
	Later    []runtime.Command          `json:"later,omitempty"`
	Depth    int                        `json:"depth"`
	Said     bool                       `json:"said,omitempty"`

	counters
}

// How a flow ends.
const (
	outcomeDone      = "done"
	outcomeCancelled = "cancelled"
	outcomeFailed    = "failed"
)

// flowResult is the result of a flow. Rest are flows that the parent has to start.
type flowResult struct {
	Flow    string                     `json:"flow,omitempty"`
	Outcome string                     `json:"outcome,omitempty"`
	Outputs map[string]json.RawMessage `json:"outputs,omitempty"`
	Failure *thread.Failure            `json:"failure,omitempty"`
	Rest    []runtime.Command          `json:"rest,omitempty"`
	Said    bool                       `json:"said,omitempty"`

	counters
}

// readChild returns the result of a child. A child that was skipped or expired returned no flow
// result, but asked at least one question. The user is told of a child that the engine ended.
func (v *replies) readChild(c *thread.Child) flowResult {
	r := flowResult{Flow: c.Name, Outcome: outcomeDone, counters: counters{Questions: 1}}
	var own flowResult
	switch failed := c.Failure != nil && !c.Skipped; {
	case failed && c.Failure.Code == runtime.CodeExpired:
		v.addResponse("timed_out")
		r.Outcome, r.Failure = outcomeFailed, c.Failure
	case failed:
		v.addResponse("failed", "error", c.Failure.Text, "error_code", string(c.Failure.Code))
		r.Outcome, r.Failure = outcomeFailed, c.Failure
	case json.Unmarshal(c.Value, &own) == nil && own.Outcome != "":
		return own
	}
	return r
}

// firstGroup splits off the first flow to start with its commands.
func firstGroup(list []runtime.Command) (first, rest []runtime.Command) {
	for n := 1; n < len(list); n++ {
		if list[n].Type == runtime.CommandStart {
			return list[:n:n], list[n:]
		}
	}
	return list, nil
}

// setKey sets a key of a map that may be nil.
func setKey[T any](m *map[string]T, key string, v T) {
	if *m == nil {
		*m = map[string]T{}
	}
	(*m)[key] = v
}

// appendFew appends to a list that gets a few elements: it allocates once for four.
func appendFew[T any](list []T, v T) []T {
	if list == nil {
		list = make([]T, 0, 4)
	}
	return append(list, v)
}
