package dialogue

import (
	"encoding/json"

	"github.com/routegen/routegen/runtime"
)

// state is what a frame of a flow keeps between its steps. Slots, steps and flows are stored by name, so that their order may change.
type state struct {
	Slots   map[string]json.RawMessage `json:"slots,omitempty"`
	Given   map[string]bool            `json:"given,omitempty"`   // slots whose value came from outside: no confirm takes it for an answer
	Sure    map[string]bool            `json:"sure,omitempty"`    // slots that a confirm has set
	Offers  map[string]json.RawMessage `json:"offers,omitempty"`  // values of slots that are not asked for yet
	Later   []runtime.Command          `json:"later,omitempty"`   // flows to start when the time has come, each with what belongs to it
	Trail   []leg                      `json:"trail,omitempty"`   // the way that the flow has come
	Kept    map[string]done            `json:"kept,omitempty"`    // what steps came to before the flow went back; without Out: asked
	Rounds  map[string]int             `json:"rounds,omitempty"`  // of the loops that run
	Entered map[string]int             `json:"entered,omitempty"` // of the same loops: the questions before the first round
	Tries   int                        `json:"tries,omitempty"`   // answers to the open question that did not do
	Idle    int                        `json:"idle,omitempty"`    // messages in a row that changed nothing
	Depth   int                        `json:"depth,omitempty"`   // of the stack, this frame included
	Said    bool                       `json:"said,omitempty"`    // something, since the last message
	Failure *runtime.Failure           `json:"failure,omitempty"`
	Rescued bool                       `json:"rescued,omitempty"` // the flow's on_error was taken: it is not taken twice

	count
}

// count is what keeps flows from going on for ever. It goes along into a flow that is called, and comes back.
type count struct {
	Moves     int `json:"moves,omitempty"`     // steps since the last question
	Acts      int `json:"acts,omitempty"`      // effects since the last question
	Questions int `json:"questions,omitempty"` // that had an answer, those of called flows among them

	Once bool `json:"once,omitempty"` // an action that must not happen twice was done
}

// opening is the input of a flow's frame.
type opening struct {
	Slots    map[string]json.RawMessage `json:"slots,omitempty"`    // from a call or link: they fit
	Offers   map[string]json.RawMessage `json:"offers,omitempty"`   // from a message: they are to be checked
	Commands []runtime.Command          `json:"commands,omitempty"` // that belong to it
	Later    []runtime.Command          `json:"later,omitempty"`
	Depth    int                        `json:"depth"`
	Said     bool                       `json:"said,omitempty"`

	count
}

// How a flow ends.
const (
	outcomeDone      = "done"
	outcomeCancelled = "cancelled"
	outcomeFailed    = "failed"
)

// result is how a flow ended. Rest are the flows that nobody has started yet: whoever waits for the frame does.
type result struct {
	Flow    string                     `json:"flow,omitempty"`
	Outcome string                     `json:"outcome,omitempty"`
	Outputs map[string]json.RawMessage `json:"outputs,omitempty"`
	Failure *runtime.Failure           `json:"failure,omitempty"`
	Rest    []runtime.Command          `json:"rest,omitempty"`
	Said    bool                       `json:"said,omitempty"`

	count
}

// ended reads what a child returned. One that a person skipped, or that nobody answered in time, has returned no result of a flow; that
// somebody was asked is certain of both.
func ended(c *runtime.Child) result {
	var r result
	if c.Failure != nil && !c.Skipped {
		return result{Flow: c.Name, Outcome: outcomeFailed, Failure: c.Failure, count: count{Questions: 1}}
	}
	if json.Unmarshal(c.Value, &r) != nil || r.Outcome == "" {
		return result{Flow: c.Name, Outcome: outcomeDone, count: count{Questions: 1}}
	}
	return r
}

// group takes the first flow to start, with what belongs to it, off a list.
func group(list []runtime.Command) (first, rest []runtime.Command) {
	for n := 1; n < len(list); n++ {
		if list[n].Type == runtime.CommandStart {
			return list[:n:n], list[n:]
		}
	}
	return list, nil
}

// put sets a key of a map that may be nil.
func put[T any](m *map[string]T, key string, v T) {
	if *m == nil {
		*m = map[string]T{}
	}
	(*m)[key] = v
}
