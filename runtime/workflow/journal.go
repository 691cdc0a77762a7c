package workflow

import (
	"encoding/json"
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
	Raised  *raised         `json:"raised,omitempty"`  // the interrupt that is being handled

	Last  map[string]stored `json:"last,omitempty"`  // the last request of every node that ran, or was asked to, by its key
	Trail []visit           `json:"trail,omitempty"` // the last activations and interrupts
	Runs  map[string]int    `json:"runs,omitempty"`  // activations by node
	Asked map[string]int    `json:"asked,omitempty"` // interrupts by node and type
	Index int               `json:"index,omitempty"` // of a lane in its fan-out, counted from 1; 0 for the first lane
}

// stored is a request as it was, hidden fields included.
type stored struct {
	Type    string          `json:"type"`
	Request json.RawMessage `json:"request"`
}

// visit is one activation, or one interrupt.
type visit struct {
	Node      string `json:"node"`
	Type      string `json:"type"`                // of the request, or HUMAN_REVIEW and so on
	Interrupt string `json:"interrupt,omitempty"` // type name; "" for an activation
	Reason    string `json:"reason,omitempty"`
}

// raised is an interrupt request on its way through the handler.
type raised struct {
	Name    string          `json:"name"` // type name
	Request json.RawMessage `json:"request"`
	Type    string          `json:"type"` // HUMAN_REVIEW and so on
	Reason  string          `json:"reason,omitempty"`
}

const remembered = 100 // activations and interrupts

// enter makes a request the one that runs.
func (j *journal) enter(node, typeName string, request json.RawMessage) {
	j.Node, j.Type, j.Request = node, typeName, request
	j.Answer, j.Results, j.Raised = nil, nil, nil
	j.Last = with(j.Last, node, stored{typeName, request})
	j.Runs = with(j.Runs, node, j.Runs[node]+1)
	j.walk(visit{Node: node, Type: typeName})
}

func (j *journal) walk(v visit) {
	j.Trail = append(slices.Clip(j.Trail), v)
	if len(j.Trail) > remembered {
		j.Trail = slices.Clone(j.Trail[len(j.Trail)-remembered:])
	}
}

// raise notes an interrupt of the node that runs.
func (j *journal) raise(r *raised) {
	j.Raised = r
	j.Asked = with(j.Asked, j.Node+" "+r.Type, j.Asked[j.Node+" "+r.Type]+1)
	j.walk(visit{Node: j.Node, Type: r.Type, Interrupt: r.Name, Reason: r.Reason})
}

// asked counts the interrupts of a node, of all types.
func (j *journal) asked(node string) int {
	n := 0
	for _, key := range slices.Sorted(maps.Keys(j.Asked)) {
		if len(key) > len(node) && key[:len(node)+1] == node+" " {
			n += j.Asked[key]
		}
	}
	return n
}

func with[V any](m map[string]V, key string, v V) map[string]V {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]V{}
	}
	out[key] = v
	return out
}

// readJournal reads the locals of a frame, or begins a journal with the frame's input: a request in its tagged form.
func (m *Machine) readJournal(f *runtime.Frame) (*journal, error) {
	var j journal
	if f.Locals != nil {
		return &j, json.Unmarshal(f.Locals, &j)
	}
	var begin opening
	if err := json.Unmarshal(f.Input, &begin); err != nil {
		return nil, invalid("begin workflow", "the input is not that of a workflow: %v", err)
	}
	if begin.Journal != nil {
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
	j.enter(m.node(node).Key, request.Shape().Name, data)
	return &j, nil
}

// opening is the input of a lane's frame.
type opening struct {
	Request json.RawMessage `json:"request,omitempty"` // tagged: {"OrchestratorRequest": {...}}
	Journal *journal        `json:"journal,omitempty"` // of a lane that goes on where another one was
}
