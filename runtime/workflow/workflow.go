package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/runtime/thread"
)

// Name of the machine; it stands in every stored frame.
const Name = "workflow"

// Config is what a workflow can be told. The zero value works: interrupts are resolved with the stored request of the node they go on at.
type Config struct {
	Model    llm.Model       // resolves interrupts, reviews, and chooses routings in [Choose]; nil: stored requests go on as they were
	Reviewer llm.Model       // answers AGENT_REVIEW; default: Model
	Prompts  *prompt.Prompts // needed with a Model

	Tools   map[string]llm.Tool  // by the name the spec gives them, for [Talk]
	Servers map[string]llm.Tools // by the name of the MCP server

	// Prepare runs on every request before its node, and on every interrupt request before the handler; what the last one returns is stored
	// and run. It gives hidden fields to a node that never ran. Finish runs on what a node, or the handler's model, has routed, before hidden
	// fields are filled in. Both run inside the step, in this order, and again when the step does: effects belong into [thread.Do].
	Prepare []func(ctx context.Context, v View, request runtime.Record) (runtime.Record, error)
	Finish  []func(ctx context.Context, v View, routing runtime.Routing) (runtime.Routing, error)

	// Conversation makes the end of the workflow the end of a turn, also where it failed, expired or was cancelled: the thread is idle
	// then, and the next message starts anew.
	Conversation bool

	// AskAgain ends a call of a node's model, in Choose or Talk, that is in progress when a reroute
	// event comes, and asks again with the event in the prompt. The call that was ended costs what it
	// costs. false: the event is in the next prompt that is written, if there is one before the node
	// ends.
	AskAgain bool

	// Send hands a message to the node that runs, a reroute's for one, after it is stored. nil: the outbox has it.
	Send func(ctx context.Context, thread, frame, message string)
}

// View says where a decorator runs.
type View struct {
	Thread  string
	Frame   string
	Node    string // key of the node
	Handler bool   // the unified interrupt handler runs, not the node
}

// Machine runs the nodes of a generated package. It has no state; any number of threads may use it at the same time.
type Machine struct {
	program runtime.Program
	tables  *runtime.Tables
	cfg     Config
	answers *answerForm
}

// New makes the machine of a generated package: workflow.New(routes.New(handlers), workflow.Config{...}). A Config with a Model and without
// Prompts is refused with CodeInvalid.
func New(p runtime.Program, cfg Config) (*Machine, error) {
	if cfg.Reviewer == nil {
		cfg.Reviewer = cfg.Model
	}
	if cfg.Reviewer != nil && cfg.Prompts == nil {
		return nil, invalid("new workflow", "a model needs Config.Prompts")
	}
	answers, err := newAnswerForm(&p)
	if err != nil {
		return nil, invalid("new workflow", "the schema of %s cannot be read: %w", p.Tables.Answer, err)
	}
	return &Machine{program: p, tables: p.Tables, cfg: cfg, answers: answers}, nil
}

// Name returns "workflow".
func (*Machine) Name() string { return Name }

// Kinds are the interrupt kinds of the package.
func (m *Machine) Kinds() []runtime.Kind { return m.tables.Kinds }

// Shapes are what stored threads of the package rely on.
func (m *Machine) Shapes() []runtime.StoredShape { return m.program.Shapes }

// Timeout is the limit of the node that runs.
func (m *Machine) Timeout(f *runtime.Frame) time.Duration { return m.node(m.byKey(f.PC)).Timeout }

// Changeable reports whether a person's change of the work would reach a model: there is Config.Model, or a node whose spec names tools for a
// Talk. The next prompt that is written for a node has the change. A program without either, whose handlers call [thread.Modification], wraps
// the machine in a type that says yes.
func (m *Machine) Changeable(*runtime.Frame) bool {
	return m.cfg.Model != nil || slices.ContainsFunc(m.tables.Nodes, func(n runtime.Node) bool { return len(n.Tools) > 0 })
}

// Quick reports whether the next run only computes: it begins, it collects what a fan-out brought, or it handles an interrupt for which no model
// and no decorator is asked. A branch starts another thread.
func (m *Machine) Quick(f *runtime.Frame) bool {
	switch f.PC {
	case "", pcCollect:
		return true
	case pcHandle:
		return m.cfg.Reviewer == nil && len(m.cfg.Prepare) == 0 && len(m.cfg.Finish) == 0 && !bytes.Contains(f.Locals, []byte(branchType))
	default: // a node: somebody else's code
		return false
	}
}

// Turns reports whether the threads of the machine are conversations.
func (m *Machine) Turns() bool { return m.cfg.Conversation }

// Node returns the key of the node that a frame is at, "" where it cannot be read. What the unified handler or a fan-out asks is the
// node's, too.
func (m *Machine) Node(f *runtime.Frame) string {
	if m.byKey(f.PC) != 0 {
		return f.PC
	}
	if j, _ := m.readJournal(f); j != nil && j.Node != "" {
		return j.Node
	}
	return m.node(m.taker(f.Name)).Key
}

// Targets are the nodes a failed step can be sent to: those with a route that had a request before.
func (m *Machine) Targets(f *runtime.Frame) []string {
	j, err := m.readJournal(f)
	if j == nil || err != nil && len(j.Last) == 0 {
		return nil
	}
	return m.routes(func(n *runtime.Node) bool { _, had := j.Last[n.Key]; return had })
}

// routes returns the agent types of the nodes with a route that a test lets through.
func (m *Machine) routes(may func(n *runtime.Node) bool) []string {
	var out []string
	for i := range m.tables.Routes {
		if may == nil || may(m.node(m.tables.Routes[i].Node)) {
			out = append(out, m.tables.Routes[i].AgentType)
		}
	}
	return out
}

// Begin is how a thread of the workflow starts: with a request of the generated package, at the node that takes it.
func Begin(request runtime.Record) (thread.Begin, error) {
	tagged, err := runtime.EncodeTagged(request)
	if err != nil {
		return thread.Begin{}, err
	}
	return thread.Begin{Machine: Name, Name: request.Shape().Name, Input: opening{Request: tagged}}, nil
}

// Result reads what a thread of the workflow has ended with: settled, err := workflow.Result[routes.Settlement](t). A thread that has no result
// is refused with CodeNotFound, a result of another type with CodeInvalid.
func Result[T any, R interface {
	*T
	runtime.Record
}](t *runtime.Thread) (R, error) {
	if t.Result == nil {
		return nil, refuse(runtime.CodeNotFound, "read result", fmt.Sprintf("thread %s has none: it is %s", t.ID, t.Status()))
	}
	record, err := runtime.DecodeTagged(t.Result, func(name string) runtime.Record {
		if out := R(new(T)); name == out.Shape().Name {
			return out
		}
		return nil
	})
	out, _ := record.(R)
	return out, err
}

// Step runs one step of a lane: a node, the collection of a fan-out, or the unified interrupt handler.
func (m *Machine) Step(ctx context.Context, a thread.Activation) (thread.Transition, error) {
	j, err := m.readJournal(a.Frame)
	if err != nil {
		return thread.Transition{}, err
	}
	s := &step{Machine: m, a: a, j: j}
	s.change = s.changed()
	s.carry()
	if a.Frame.RouteTo != "" { // a person sent a failed step elsewhere
		return s.sendTo(a.Frame.RouteTo)
	}
	switch a.Frame.PC {
	case "":
		if j.Raised != nil {
			return thread.Advance(pcHandle, j), nil
		}
		return thread.Advance(j.Node, j), nil
	case pcHandle:
		return s.handle(ctx)
	case pcCollect:
		return s.collect()
	default:
		return s.runNode(ctx)
	}
}

// The steps beside the nodes. A node's key begins with a letter, so these are none.
const (
	pcHandle  = "!handle"
	pcCollect = "!collect"
)

// step is one run of a step.
type step struct {
	*Machine
	a    thread.Activation
	j    *journal
	said json.RawMessage // the answer to the interrupt; where that sent the work elsewhere its note, or nil

	event  *runtime.Reroute // that the unified handler goes by
	change string           // a person's change of the work, see [step.changed]
	told   atomic.Bool      // a model of this node was told of it
}

// row returns a row by its number; 0 is none.
func row[T any](rows []T, i int) T {
	if i < 1 || i > len(rows) {
		var none T
		return none
	}
	return rows[i-1]
}

func (m *Machine) node(i int) *runtime.Node {
	if i < 1 || i > len(m.tables.Nodes) {
		return &runtime.Node{}
	}
	return &m.tables.Nodes[i-1]
}

func (m *Machine) byKey(key string) int {
	for i := range m.tables.Nodes {
		if m.tables.Nodes[i].Key == key {
			return i + 1
		}
	}
	return 0
}

// taker returns the node that takes a type of request.
func (m *Machine) taker(request string) int {
	for i := range m.tables.Requests {
		if m.tables.Requests[i].Name == request {
			return m.tables.Requests[i].Node
		}
	}
	return 0
}

// byAgentType returns the node of an agent type, or of an alias of one.
func (m *Machine) byAgentType(agentType string) int {
	for i := range m.tables.Nodes {
		n := &m.tables.Nodes[i]
		if n.AgentType == agentType || slices.Contains(n.Aliases, agentType) {
			return i + 1
		}
	}
	return 0
}

// sendTo goes on at another node, with the last request it had.
func (s *step) sendTo(agentType string) (thread.Transition, error) {
	n := s.lane(s.node(s.byAgentType(agentType)))
	last, ok := s.j.Last[n.Key]
	if !ok {
		return thread.Transition{}, s.missing(n, "a failed step was sent there")
	}
	s.j.Row, s.j.Asked = 0, nil // a person has decided: a loop begins anew
	s.j.enter(n, last.Type, last.Request, false)
	return s.leave(thread.Advance(n.Key, s.j)), nil
}

// lane returns where a lane of a fan-out goes that is sent to its dispatch: to its own node, since its siblings keep what they have done.
func (s *step) lane(n *runtime.Node) *runtime.Node {
	if s.j.Home != "" && s.j.Home == n.Key {
		return s.node(n.Dispatch.To)
	}
	return n
}

// MissingRequestError says that a node cannot go on because it never had a request on this thread. It is a matter of how the program is put
// together, and no loop.
type MissingRequestError struct {
	Node    string // key
	Request string // the type it takes
	Reason  string
}

// Error names node and type.
func (e *MissingRequestError) Error() string {
	return fmt.Sprintf("node %s has no %s on this thread: %s", e.Node, e.Request, e.Reason)
}

func (m *Machine) missing(n *runtime.Node, reason string) error {
	name := row(m.tables.Requests, n.Request).Name
	return runtime.Permanent(&runtime.Error{
		Code: runtime.CodeNotFound, Op: "continue workflow", Err: &MissingRequestError{Node: n.Key, Request: name, Reason: reason},
	})
}

func invalid(op, format string, args ...any) error {
	return runtime.Permanent(&runtime.Error{Code: runtime.CodeInvalid, Op: op, Err: fmt.Errorf(format, args...)})
}

func refuse(code runtime.Code, op, reason string) error {
	return &runtime.Error{Code: code, Op: op, Err: errors.New(reason)}
}
