package workflow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// frameState is the state of a frame, stored as its locals. Its size depends on the number of
// nodes, not on the length of the history, which is the thread's log.
type frameState struct {
	// key of the node that runs, or raised the interrupt
	Node    string          `json:"node"`
	Type    string          `json:"type"`              // of its request
	Request json.RawMessage `json:"request"`           // as stored
	Answer  json.RawMessage `json:"answer,omitempty"`  // the person's answer, for this activation
	Results json.RawMessage `json:"results,omitempty"` // what the children of a dispatch returned
	// children of the dispatch that ended without a result
	Lost   []thread.Child   `json:"lost,omitempty"`
	Raised *raisedInterrupt `json:"raised,omitempty"` // the interrupt that is being handled
	// digest of the frame's input; it differs after a person edited the input
	InputDigest string `json:"begun,omitempty"`

	// the last request of every node that ran, or was asked to, by its key
	Last  map[string]storedRequest `json:"last,omitempty"`
	Trail []visit                  `json:"trail,omitempty"` // the last activations and interrupts
	At    string                   `json:"at,omitempty"`    // the last node that is not loop-exempt
	// how often it was entered in a row; continuing after an interrupt does not count
	Repeats int            `json:"row,omitempty"`
	Asked   map[string]int `json:"asked,omitempty"` // interrupts in a row, by node and type
	// how often the node's own interrupt came back to it on this visit
	Round int `json:"round,omitempty"`
	// a person's change that was in no prompt of a node
	Change   string `json:"change,omitempty"`
	Dispatch string `json:"home,omitempty"`  // in a fan-out: the key of its dispatch
	Index    int    `json:"index,omitempty"` // in a fan-out: the position of its request, from 1
}

// storedRequest is a request with its hidden fields.
type storedRequest struct {
	Type    string          `json:"type"`
	Request json.RawMessage `json:"request"`
}

// visit is one activation of a node, or one interrupt of it.
type visit struct {
	Node string `json:"node"`
	// of the request, or HUMAN_REVIEW and so on
	Type      string          `json:"type"`
	Interrupt string          `json:"interrupt,omitempty"` // type name; "" for an activation
	Reason    string          `json:"reason,omitempty"`
	Answer    json.RawMessage `json:"answer,omitempty"`
}

// raisedInterrupt is an interrupt request on its way through the handler.
type raisedInterrupt struct {
	Name     string          `json:"name"` // type name
	Request  json.RawMessage `json:"request"`
	Type     string          `json:"type"` // HUMAN_REVIEW and so on
	Reason   string          `json:"reason,omitempty"`
	Option   json.RawMessage `json:"option,omitempty"`   // of a BRANCH: the one this thread follows
	RouteTo  string          `json:"routeTo,omitempty"`  // of a BRANCH: where it continues
	Prepared bool            `json:"prepared,omitempty"` // the decorators have seen the request
}

const maxTrail = 100 // activations and interrupts

// enterNode makes request the current one. Visits of loop-exempt nodes do not reset Repeats.
func (j *frameState) enterNode(n *runtime.Node, typeName string, request json.RawMessage,
	resumed bool) {
	j.Node, j.Type, j.Request = n.Key, typeName, request
	j.Answer, j.Results, j.Lost, j.Raised, j.Round = nil, nil, nil, nil, 0
	j.Last = setKey(j.Last, n.Key, storedRequest{typeName, request})
	j.appendVisit(visit{Node: n.Key, Type: typeName})
	switch {
	case loopExempt(n):
	case j.At != n.Key:
		j.At, j.Repeats, j.Asked = n.Key, 1, nil
	case !resumed:
		j.Repeats++
	}
}

// loopExempt reports whether n is ignored when repeated visits are counted.
func loopExempt(n *runtime.Node) bool { return slices.Contains(n.LoopExempt, n.Key) }

// recordInterrupt makes r the interrupt that is handled and counts it.
func (j *frameState) recordInterrupt(r *raisedInterrupt) {
	j.Raised = r
	j.Asked = setKey(j.Asked, j.Node+" "+r.Type, j.Asked[j.Node+" "+r.Type]+1)
	j.appendVisit(visit{Node: j.Node, Type: r.Type, Interrupt: r.Name, Reason: r.Reason})
}

func (j *frameState) appendVisit(v visit) {
	j.Trail = append(slices.Clip(j.Trail), v)
	if len(j.Trail) > maxTrail {
		j.Trail = slices.Clone(j.Trail[len(j.Trail)-maxTrail:])
	}
}

// recordAnswer adds the answer to the visit of the interrupt that is handled.
func (j *frameState) recordAnswer(answer json.RawMessage) {
	if at := len(j.Trail) - 1; at >= 0 {
		j.Trail = slices.Clone(j.Trail)
		j.Trail[at].Answer = answer
	}
}

func setKey[V any](m map[string]V, key string, v V) map[string]V {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]V{}
	}
	out[key] = v
	return out
}

// readFrameState decodes the locals of a frame, or makes the first state from the frame's input.
// Input that a person has edited since replaces what the step works on.
func (m *Machine) readFrameState(f *thread.Frame) (*frameState, error) {
	var input bytes.Buffer
	if json.Compact(&input, f.Input) != nil {
		return nil, runtime.Errorf(runtime.CodeInvalid, "begin workflow", "the input is not JSON")
	}
	sum := sha256.Sum256(input.Bytes()) // of what a store keeps
	begun := hex.EncodeToString(sum[:8])
	var j frameState
	var begin frameInput
	switch {
	case f.Locals != nil:
		if err := json.Unmarshal(f.Locals, &j); err != nil {
			return nil, err
		}
		edited := j.InputDigest != begun
		j.InputDigest = begun
		if !edited || f.RouteTo != "" {
			return &j, nil
		}
		return &j, m.applyEditedInput(&j, f)
	case json.Unmarshal(f.Input, &begin) != nil || begin.Request == nil && begin.State == nil:
		return nil, runtime.Errorf(runtime.CodeInvalid, "begin workflow",
			`the input is not that of a workflow: it is {"request": {"TYPE": {...}}}, with a request type of a node, as Begin makes it`)
	case begin.State != nil:
		begin.State.InputDigest = begun
		return begin.State, nil
	}
	request, err := runtime.DecodeTagged(begin.Request, m.program.Request)
	if err != nil {
		return nil, thread.Permanent(err)
	}
	node := m.nodeForRequest(request.Shape().Name)
	if node == 0 {
		return nil, runtime.Errorf(runtime.CodeInvalid, "begin workflow", "no node takes a %s",
			request.Shape().Name)
	}
	data, err := runtime.Encode(request)
	if err != nil {
		return nil, err
	}
	j.InputDigest = begun
	j.enterNode(m.node(node), request.Shape().Name, data, false)
	return &j, nil
}

// CheckInput returns CodeInvalid, with the invalid fields, for an input that no node takes. What a
// frame keeps of itself, its journal, is no input: [Machine] alone begins with one.
func (m *Machine) CheckInput(_ string, input json.RawMessage) error {
	const form = `{"request": {"TYPE": {...}}}, with a request type of a node`
	problem := runtime.Problem{Pointer: "/request", Reason: "is missing: write " + form}
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		problem = runtime.Problem{Reason: "is not the input of a workflow: write " + form}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name != "request" {
			problem = runtime.Problem{Pointer: "/" + name, Reason: "unknown field: write " + form}
			fields = nil
			break
		}
	}
	if fields["request"] == nil {
		return thread.Permanent(runtime.Errorf(runtime.CodeInvalid, "begin workflow", "%w",
			&runtime.InvalidError{Problems: []runtime.Problem{problem}}))
	}
	_, err := m.readFrameState(&thread.Frame{Input: input})
	if e, is := errors.AsType[*runtime.InvalidError](err); is {
		for i := range e.Problems {
			e.Problems[i].Pointer = "/request" + e.Problems[i].Pointer
		}
	}
	return err
}

// applyEditedInput uses a person's input for a failed step: it replaces the node's request, or the
// interrupt request that is handled. Hidden fields that it lacks stay as they are, and loop counts
// are reset.
func (m *Machine) applyEditedInput(j *frameState, f *thread.Frame) (err error) {
	j.Repeats, j.Asked = 0, nil
	switch {
	case f.PC == pcCollect:
	case j.Raised != nil:
		if j.Raised.Request, err = keepHidden(m.program.Interrupt(j.Raised.Name), f.Input,
			j.Raised.Request, nil); err == nil {
			j.Raised.Prepared = false
			j.Raised.readTypeAndReason()
		}
	default:
		j.Request, err = keepHidden(m.program.Request(j.Type), f.Input, j.Request, nil)
		j.Last = setKey(j.Last, j.Node, storedRequest{j.Type, j.Request})
	}
	return err
}

// readTypeAndReason sets Type and Reason from the request.
func (r *raisedInterrupt) readTypeAndReason() {
	r.Type = textAt(r.Request, "type")
	r.Reason = textAt(r.Request, "reason")
}

// frameInput is the input of a frame.
type frameInput struct {
	Request json.RawMessage `json:"request,omitempty"` // tagged: {"TypeName": {...}}
	// the state to start with: a child of a fan-out or a branch
	State *frameState `json:"journal,omitempty"`
}
