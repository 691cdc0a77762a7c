package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/compat"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/runtime/thread"
)

// Name is the name of the machine, which is stored with every frame of it.
const Name = "workflow"

// Config configures a workflow. The zero value works: interrupts are resolved with the stored
// request of the node where they continue.
type Config struct {
	// resolves interrupts, reviews, and chooses routings in [Choose]; nil: stored requests are used
	// unchanged
	Model    llm.Model
	Reviewer llm.Model       // answers AGENT_REVIEW; default: Model
	Prompts  *prompt.Prompts // needed with a Model

	Tools   map[string]llm.Tool  // by the name the spec gives them, for [RunTalk]
	Servers map[string]llm.Tools // by the name of the MCP server

	// Prepare runs on every request before its node, and once on every interrupt request before the
	// handler; what the last one returns is stored and run. It gives hidden fields to a node that
	// never ran. Finish runs on what a node, or the handler's model, has routed, before hidden
	// fields are filled in. Both run inside the step, in this order, and again when the step does:
	// make effects with [thread.Do].
	Prepare []func(ctx context.Context, v View, request runtime.Record) (runtime.Record, error)
	Finish  []func(ctx context.Context, v View, routing runtime.Routing) (runtime.Routing, error)

	// Conversation makes the end of the workflow the end of a turn, also where it failed, expired
	// or was cancelled: the thread is idle then, and the next message starts a new turn.
	Conversation bool

	// AskAgain ends a call of a node's model, in Choose or RunTalk, that is in progress when a
	// reroute event comes, and asks again with the event in the prompt. The cancelled call may
	// still be billed. false: the event is in the next prompt that is written, if there is one
	// before the node ends.
	AskAgain bool

	// Send passes a message to the running node after it is stored, that of a reroute for example.
	// The thread has the id of the store, see [thread.SplitID]. nil: the message is only in the
	// outbox.
	Send func(ctx context.Context, thread, frame, message string)
}

// View describes where a decorator runs.
type View struct {
	Thread  string
	Frame   string
	Node    string // key of the node
	Handler bool   // the unified interrupt handler runs, not the node
}

// Machine runs the nodes of a generated package. It has no state; any number of threads may use it
// at the same time.
type Machine struct {
	program runtime.Program
	tables  *runtime.Tables
	cfg     Config
	answers *answerSchema
}

// New makes the machine of a generated package: workflow.New(routes.New(handlers),
// workflow.Config{...}). A Config with a Model and without Prompts is refused with CodeInvalid.
func New(p runtime.Program, cfg Config) (*Machine, error) {
	if cfg.Reviewer == nil {
		cfg.Reviewer = cfg.Model
	}
	if cfg.Reviewer != nil && cfg.Prompts == nil {
		return nil, runtime.Errorf(runtime.CodeInvalid, "new workflow",
			"a model needs Config.Prompts")
	}
	answers, err := newAnswerSchema(&p)
	if err != nil {
		return nil, runtime.Errorf(runtime.CodeInvalid, "new workflow",
			"the schema of %s cannot be read: %w", p.Tables.Answer, err)
	}
	return &Machine{program: p, tables: p.Tables, cfg: cfg, answers: answers}, nil
}

// Name returns "workflow".
func (*Machine) Name() string { return Name }

// Kinds returns the interrupt kinds of the package.
func (m *Machine) Kinds() []runtime.Kind { return m.tables.Kinds }

// Shapes returns the shapes that stored threads of the package rely on.
func (m *Machine) Shapes() []runtime.StoredShape { return m.program.Shapes }

// Migrations returns the migrations of the program.
func (m *Machine) Migrations() map[string]runtime.Migrate { return m.program.Migrate }

// UpgradeFrame is the function [UpgradeFrame].
func (*Machine) UpgradeFrame(r *compat.Reading, f *thread.Frame) { UpgradeFrame(r, f) }

// Timeout returns the time limit of the running node.
func (m *Machine) Timeout(f *thread.Frame) time.Duration {
	return m.node(m.nodeByKey(f.PC)).Timeout
}

// Changeable reports whether a person's change of the work would reach a model: there is
// Config.Model, or a node whose spec names tools for a Talk. The next prompt that is written for a
// node has the change. A program without either, whose handlers call [thread.Modification], wraps
// the machine in a type whose Changeable returns true.
func (m *Machine) Changeable(*thread.Frame) bool {
	return m.cfg.Model != nil || slices.ContainsFunc(m.tables.Nodes, func(n runtime.Node) bool {
		return len(n.Tools) > 0
	})
}

// Inline reports whether the next run only computes: it begins, it collects the results of a
// fan-out, or it handles an interrupt without a model, a decorator or a branch.
func (m *Machine) Inline(f *thread.Frame) bool {
	switch f.PC {
	case "", pcCollect:
		return true
	case pcHandle:
		return m.cfg.Reviewer == nil && len(m.cfg.Prepare) == 0 && len(m.cfg.Finish) == 0 &&
			!bytes.Contains(f.Locals, []byte(branchType))
	default: // a node runs user code
		return false
	}
}

// Turns reports whether the threads of the machine are conversations.
func (m *Machine) Turns() bool { return m.cfg.Conversation }

// Node returns the key of the node that a frame is at, also for questions of the unified handler or
// a fan-out. It returns "" if the frame cannot be read.
func (m *Machine) Node(f *thread.Frame) string {
	if m.nodeByKey(f.PC) != 0 {
		return f.PC
	}
	if j, _ := m.readFrameState(f); j != nil && j.Node != "" {
		return j.Node
	}
	return m.node(m.nodeForRequest(f.Name)).Key
}

// Targets returns the agent types that a failed step can be sent to: those with a route whose node
// had a request before.
func (m *Machine) Targets(f *thread.Frame) []string {
	j, _ := m.readFrameState(f)
	if j == nil {
		return nil
	}
	return m.routeTargets(func(n *runtime.Node) bool { _, had := j.Last[n.Key]; return had })
}

// routeTargets returns the agent types with a route whose node passes may; nil passes all.
func (m *Machine) routeTargets(may func(n *runtime.Node) bool) []string {
	var out []string
	for i := range m.tables.Routes {
		if may == nil || may(m.node(m.tables.Routes[i].Node)) {
			out = append(out, m.tables.Routes[i].AgentType)
		}
	}
	return out
}

// Begin returns how to start a thread with a request of the generated package, at the node that
// takes it.
func Begin(request runtime.Record) (thread.Begin, error) {
	tagged, err := runtime.EncodeTagged(request)
	if err != nil {
		return thread.Begin{}, err
	}
	return thread.Begin{Machine: Name, Name: request.Shape().Name,
		Input: frameInput{Request: tagged}}, nil
}

// Result decodes the result of a thread: settled, err := workflow.Result[routes.Settlement](t). It
// returns CodeNotFound if the thread has no result, and CodeInvalid for a result of another type.
func Result[T any, R interface {
	*T
	runtime.Record
}](t *thread.Thread) (R, error) {
	if t.Result == nil {
		return nil, runtime.Errorf(runtime.CodeNotFound, "read result",
			"thread %s has none: it is %s", t.ID, t.Status())
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

// Step runs one step of a frame: a node, the collection of a fan-out, or the unified interrupt
// handler.
func (m *Machine) Step(ctx context.Context, a thread.Activation) (thread.Transition, error) {
	j, err := m.readFrameState(a.Frame)
	if err != nil {
		return thread.Transition{}, err
	}
	s := &stepRun{Machine: m, a: a, state: j}
	s.pendingChange = s.currentChange()
	s.keepChange()
	if a.Frame.RouteTo != "" { // a person sent a failed step elsewhere
		return s.sendToNode(a.Frame.RouteTo)
	}
	switch a.Frame.PC {
	case "":
		if j.Raised != nil {
			return thread.Advance(pcHandle, j), nil
		}
		return thread.Advance(j.Node, j), nil
	case pcHandle:
		return s.handleInterrupt(ctx)
	case pcCollect:
		return s.collectResults()
	default:
		return s.runNode(ctx)
	}
}

// The steps that are not nodes. A node's key begins with a letter.
const (
	pcHandle  = "!handle"
	pcCollect = "!collect"
)

// stepRun is the state of one run of a step.
type stepRun struct {
	*Machine
	a     thread.Activation
	state *frameState
	// the answer to the interrupt; if that chose a target, its note or nil
	answer json.RawMessage

	event         *thread.Reroute // used by the unified handler
	pendingChange string          // a person's change, see currentChange
	informed      atomic.Bool     // a model of this node has seen it
}

func (m *Machine) node(i int) *runtime.Node { return runtime.Row(m.tables.Nodes, i) }

func (m *Machine) nodeByKey(key string) int {
	for i := range m.tables.Nodes {
		if m.tables.Nodes[i].Key == key {
			return i + 1
		}
	}
	return 0
}

// nodeForRequest returns the number of the node that takes a type of request, or 0.
func (m *Machine) nodeForRequest(request string) int {
	return runtime.Row(m.tables.Requests, m.requestRow(request)).Node
}

// nodeByAgentType returns the node of an agent type, or of an alias of one.
func (m *Machine) nodeByAgentType(agentType string) int {
	for i := range m.tables.Nodes {
		n := &m.tables.Nodes[i]
		if n.AgentType == agentType || slices.Contains(n.Aliases, agentType) {
			return i + 1
		}
	}
	return 0
}

// sendToNode continues at another node with its last request.
func (s *stepRun) sendToNode(agentType string) (thread.Transition, error) {
	n := s.ownNode(s.node(s.nodeByAgentType(agentType)))
	last, err := s.lastRequest(n, "a failed step was sent there")
	if err != nil {
		return thread.Transition{}, err
	}
	s.state.Repeats, s.state.Asked = 0, nil // a person has decided: reset the loop counts
	return s.advanceTo(n, last), nil
}

// advanceTo continues at a node with a request.
func (s *stepRun) advanceTo(n *runtime.Node, r storedRequest) thread.Transition {
	s.state.enterNode(n, r.Type, r.Request, false)
	return s.expireReroutes(thread.Advance(n.Key, s.state))
}

// ownNode returns n, but for a child of a fan-out that is sent to its dispatch the child's own
// node: its siblings keep their results.
func (s *stepRun) ownNode(n *runtime.Node) *runtime.Node {
	if s.state.Dispatch != "" && s.state.Dispatch == n.Key {
		return s.node(n.Dispatch.To)
	}
	return n
}

// lastRequest returns the last request of a node. It returns CodeNotFound for a node that had none
// on the thread.
func (s *stepRun) lastRequest(n *runtime.Node, reason string) (storedRequest, error) {
	if last, ok := s.state.Last[n.Key]; ok {
		return last, nil
	}
	name := runtime.Row(s.tables.Requests, n.Request).Name
	return storedRequest{}, thread.Permanent(runtime.Errorf(runtime.CodeNotFound,
		"continue workflow", "node %s has no %s on this thread: %s", n.Key, name, reason))
}
