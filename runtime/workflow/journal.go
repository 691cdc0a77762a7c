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
)

// journal is what a lane of the workflow remembers: the locals of its frame. Its size follows the number of nodes, not the length of the
// history; the whole history is the thread's log.
type journal struct {
	Node    string          `json:"node"`              // key of the node that runs, or raised the interrupt
	Type    string          `json:"type"`              // of its request
	Request json.RawMessage `json:"request"`           // as stored
	Answer  json.RawMessage `json:"answer,omitempty"`  // what a person said, for this activation
	Results json.RawMessage `json:"results,omitempty"` // what the children of a dispatch returned
	Lost    []runtime.Child `json:"lost,omitempty"`    // children of the dispatch that ended without a result
	Raised  *raised         `json:"raised,omitempty"`  // the interrupt that is being handled
	Begun   string          `json:"begun,omitempty"`   // digest of the frame's input: another one is a person's edit

	Last   map[string]stored `json:"last,omitempty"`   // the last request of every node that ran, or was asked to, by its key
	Trail  []visit           `json:"trail,omitempty"`  // the last activations and interrupts
	At     string            `json:"at,omitempty"`     // the last node that is no helper
	Row    int               `json:"row,omitempty"`    // how often it was entered in a row; going on after an interrupt does not count
	Asked  map[string]int    `json:"asked,omitempty"`  // interrupts in a row, by node and type
	Round  int               `json:"round,omitempty"`  // how often the node's own interrupt came back to it on this visit
	Change string            `json:"change,omitempty"` // a person's change of the work that no model was told of
	Home   string            `json:"home,omitempty"`   // of a lane in a fan-out: its dispatch
	Index  int               `json:"index,omitempty"`  // and its place there, counted from 1
}

// stored is a request as it was, hidden fields included.
type stored struct {
	Type    string          `json:"type"`
	Request json.RawMessage `json:"request"`
}

// visit is one activation of a node, or one interrupt of it.
type visit struct {
	Node      string          `json:"node"`
	Type      string          `json:"type"`                // of the request, or HUMAN_REVIEW and so on
	Interrupt string          `json:"interrupt,omitempty"` // type name; "" for an activation
	Reason    string          `json:"reason,omitempty"`
	Answer    json.RawMessage `json:"answer,omitempty"`
}

// raised is an interrupt request on its way through the handler.
type raised struct {
	Name    string          `json:"name"` // type name
	Request json.RawMessage `json:"request"`
	Type    string          `json:"type"` // HUMAN_REVIEW and so on
	Reason  string          `json:"reason,omitempty"`
	Option  json.RawMessage `json:"option,omitempty"`  // of a BRANCH: the one this thread follows
	RouteTo string          `json:"routeTo,omitempty"` // of a BRANCH: where it goes on
}

const remembered = 100 // activations and interrupts

// enter makes a request the one that runs. Visits of helpers do not break a row.
func (j *journal) enter(n *runtime.Node, typeName string, request json.RawMessage, resumed bool) {
	j.Node, j.Type, j.Request = n.Key, typeName, request
	j.Answer, j.Results, j.Lost, j.Raised, j.Round = nil, nil, nil, nil, 0
	j.Last = with(j.Last, n.Key, stored{typeName, request})
	j.note(visit{Node: n.Key, Type: typeName})
	switch {
	case helper(n):
	case j.At != n.Key:
		j.At, j.Row, j.Asked = n.Key, 1, nil
	case !resumed:
		j.Row++
	}
}

// helper reports whether loops look past a node: it works for whoever called it.
func helper(n *runtime.Node) bool { return slices.Contains(n.LoopExempt, n.Key) }

// raise notes an interrupt of the node that runs.
func (j *journal) raise(r *raised) {
	j.Raised = r
	j.Asked = with(j.Asked, j.Node+" "+r.Type, j.Asked[j.Node+" "+r.Type]+1)
	j.note(visit{Node: j.Node, Type: r.Type, Interrupt: r.Name, Reason: r.Reason})
}

func (j *journal) note(v visit) {
	j.Trail = append(slices.Clip(j.Trail), v)
	if len(j.Trail) > remembered {
		j.Trail = slices.Clone(j.Trail[len(j.Trail)-remembered:])
	}
}

// answered notes what was said to the interrupt that is handled.
func (j *journal) answered(answer json.RawMessage) {
	if at := len(j.Trail) - 1; at >= 0 {
		j.Trail = slices.Clone(j.Trail)
		j.Trail[at].Answer = answer
	}
}

func with[V any](m map[string]V, key string, v V) map[string]V {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]V{}
	}
	out[key] = v
	return out
}

// readJournal reads the locals of a frame, or begins a journal with the frame's input. Input that a person edited since takes the place of
// what the step works on.
func (m *Machine) readJournal(f *runtime.Frame) (*journal, error) {
	var input bytes.Buffer
	if json.Compact(&input, f.Input) != nil {
		return nil, invalid("begin workflow", "the input is no JSON")
	}
	sum := sha256.Sum256(input.Bytes()) // of what a store keeps
	begun := hex.EncodeToString(sum[:8])
	var j journal
	var begin opening
	switch {
	case f.Locals != nil:
		if err := json.Unmarshal(f.Locals, &j); err != nil {
			return nil, err
		}
		edited := j.Begun != begun
		j.Begun = begun
		if !edited || f.RouteTo != "" {
			return &j, nil
		}
		return &j, m.edit(&j, f)
	case json.Unmarshal(f.Input, &begin) != nil || begin.Request == nil && begin.Journal == nil:
		return nil, invalid("begin workflow", `the input is not that of a workflow: it is {"request": {"TYPE": {...}}}, with a request type of a node, as Begin makes it`)
	case begin.Journal != nil:
		begin.Journal.Begun = begun
		return begin.Journal, nil
	}
	request, err := runtime.DecodeTagged(begin.Request, m.program.Request)
	if err != nil {
		return nil, runtime.Permanent(err)
	}
	node := m.taker(request.Shape().Name)
	if node == 0 {
		return nil, invalid("begin workflow", "no node takes a %s", request.Shape().Name)
	}
	data, err := runtime.Encode(request)
	if err != nil {
		return nil, err
	}
	j.Begun = begun
	j.enter(m.node(node), request.Shape().Name, data, false)
	return &j, nil
}

// CheckInput refuses an input that no node takes, with the fields that are wrong.
func (m *Machine) CheckInput(_ string, input json.RawMessage) error {
	const op = "begin workflow"
	wrong := func(pointer, reason string) error {
		problems := []runtime.Problem{{Pointer: pointer, Reason: reason}}
		return runtime.Permanent(&runtime.Error{
			Code: runtime.CodeInvalid, Op: op, Err: &runtime.InvalidError{Problems: problems},
		})
	}
	var fields map[string]json.RawMessage
	form := `{"request": {"TYPE": {...}}}, with a request type of a node`
	if json.Unmarshal(input, &fields) != nil {
		return wrong("", "is not the input of a workflow: write "+form)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name != "request" && name != "journal" {
			return wrong("/"+name, "unknown field: write "+form)
		}
	}
	if fields["request"] == nil && fields["journal"] == nil {
		return wrong("/request", "is missing: write "+form)
	}
	_, err := m.readJournal(&runtime.Frame{Input: input})
	if e, is := errors.AsType[*runtime.InvalidError](err); is {
		for i := range e.Problems {
			e.Problems[i].Pointer = "/request" + e.Problems[i].Pointer
		}
	}
	return err
}

// edit takes a person's input for a failed step: the node's request, or the interrupt request that the handler works on. Hidden fields that
// it does not give stay as they are, and a loop begins anew.
func (m *Machine) edit(j *journal, f *runtime.Frame) (err error) {
	j.Row, j.Asked = 0, nil
	switch {
	case f.PC == pcCollect:
	case j.Raised != nil:
		if j.Raised.Request, err = keepHidden(m.program.Interrupt(j.Raised.Name), f.Input, j.Raised.Request, nil); err == nil {
			j.Raised.read()
		}
	default:
		j.Request, err = keepHidden(m.program.Request(j.Type), f.Input, j.Request, nil)
		j.Last = with(j.Last, j.Node, stored{j.Type, j.Request})
	}
	return err
}

// read takes from the request what the handler goes by.
func (r *raised) read() {
	r.Type, _ = textAt(r.Request, "type")
	r.Reason, _ = textAt(r.Request, "reason")
}

// opening is the input of a lane's frame.
type opening struct {
	Request json.RawMessage `json:"request,omitempty"` // tagged: {"TypeName": {...}}
	Journal *journal        `json:"journal,omitempty"` // of a lane that goes on where another one was
}
