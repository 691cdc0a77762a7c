package workflow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// runNode runs the node of the step with its decorators and follows the routing that it returns.
func (s *stepRun) runNode(ctx context.Context) (thread.Transition, error) {
	at := s.nodeByKey(s.a.Frame.PC)
	n := s.node(at)
	if at == 0 {
		return thread.Transition{}, runtime.Errorf(runtime.CodeIncompatible, "run node",
			"the program has no node %q: run the version that stored the thread", s.a.Frame.PC)
	}
	if n.LoopLimit > 0 && !loopExempt(n) && s.state.Repeats >= n.LoopLimit {
		return thread.Transition{}, s.loopError(n, fmt.Sprintf("it was entered %d times in a row",
			s.state.Repeats))
	}
	request, err := s.program.DecodeRequest(s.state.Type, s.state.Request)
	if err != nil {
		return thread.Transition{}, thread.Permanent(err)
	}
	v := View{Thread: s.a.Thread, Frame: s.a.Frame.ID, Node: n.Key}
	if request, s.state.Request,
		err = s.prepareRequest(ctx, v, request, s.state.Request); err != nil {
		return thread.Transition{}, err
	}
	s.state.Last = setKey(s.state.Last, s.state.Node, storedRequest{s.state.Type, s.state.Request})
	if n.Dispatch != nil && s.state.Results == nil {
		return s.startFanOut(n)
	}
	call := runtime.Call{
		Thread: s.a.Thread, Frame: s.a.Frame.ID, Node: n.Key, Visit: s.a.Frame.Visit,
		Answer: s.state.Answer, Results: s.state.Results,
	}
	ctx = context.WithValue(ctx, placeKey{}, &place{step: s, node: at})
	if n.Adapt != 0 && s.state.Type == runtime.Row(s.tables.Requests, n.Adapt).Name {
		if request, err = s.adaptRequest(ctx, call, request); err != nil {
			return thread.Transition{}, err
		}
	}
	routing, err := s.program.Invoke(ctx, call, request)
	s.keepChange()
	if up, ok := errors.AsType[*raiseError](err); ok {
		if err = s.checkRecord(up.name, up.request); err == nil {
			return s.raiseInterrupt(ctx, up.name, up.request)
		}
	}
	if err != nil {
		return thread.Transition{}, err
	}
	branch, err := s.finishRouting(ctx, v, routing)
	if err != nil {
		return thread.Transition{}, err
	}
	return s.followBranch(ctx, n, branch)
}

// finishRouting runs the decorators of a routing and returns its one branch.
func (s *stepRun) finishRouting(ctx context.Context, v View, routing runtime.Routing) (
	runtime.Branch, error) {
	for _, finish := range s.cfg.Finish {
		var err error
		if routing, err = finish(ctx, v, routing); err != nil {
			return runtime.Branch{}, err
		}
	}
	return routing.Selected()
}

// prepareRequest runs the decorators of a request, which was decoded from data, and returns it with
// its JSON.
func (s *stepRun) prepareRequest(ctx context.Context, v View, request runtime.Record,
	data json.RawMessage) (runtime.Record, json.RawMessage, error) {
	name := request.Shape().Name
	for _, prepare := range s.cfg.Prepare {
		out, err := prepare(ctx, v, request)
		if err != nil {
			return nil, nil, err
		}
		if out == nil || out.Shape().Name != name {
			return nil, nil, runtime.Errorf(runtime.CodeInvalid, "prepare "+name,
				"a decorator returned another type, or nothing")
		}
		if data, err = s.encodeRecord(out); err != nil {
			return nil, nil, err
		}
		request = out
	}
	return request, data, nil
}

// adaptRequest turns a request of a node's second type into the node's own, once.
func (s *stepRun) adaptRequest(ctx context.Context, call runtime.Call, request runtime.Record) (
	runtime.Record, error) {
	out, err := s.program.Adapt(ctx, call, request)
	if err != nil {
		return nil, err
	}
	data, err := s.encodeRecord(out)
	if err != nil {
		return nil, err
	}
	s.state.Type, s.state.Request = out.Shape().Name, data
	s.state.Last = setKey(s.state.Last, s.state.Node, storedRequest{s.state.Type, data})
	return out, nil
}

// followBranch continues where the table says that a branch of a node's routing leads.
func (s *stepRun) followBranch(ctx context.Context, n *runtime.Node, b runtime.Branch) (
	thread.Transition, error) {
	row, err := s.findBranch(n, b.Name)
	if err != nil {
		return thread.Transition{}, err
	}
	value, err := runtime.Encode(b.Value)
	if err != nil {
		return thread.Transition{}, err
	}
	if row.Kind == runtime.ToCollect { // a result without a decision has the default one
		if value, err = setDefaultDecision(n, value); err != nil {
			return thread.Transition{}, err
		}
	}
	if err := s.checkRecord(row.Type, value); err != nil {
		return thread.Transition{}, err
	}
	switch row.Kind {
	case runtime.ToNode:
		return s.advanceTo(s.node(row.Node), storedRequest{row.Type, value}), nil
	case runtime.ToResume:
		return s.resumeDispatch(row, value)
	case runtime.ToInterrupt:
		return s.raiseInterrupt(ctx, row.Type, value)
	case runtime.ToCollect:
		return s.followDecision(n, row, value)
	case runtime.ToEnd:
		return s.endWithResult(row.Type, value), nil
	default:
		return thread.Transition{}, runtime.Errorf(runtime.CodeInternal, "route "+n.Key,
			"branch %s has kind %d", b.Name, row.Kind)
	}
}

// encodeRecord encodes a record of a handler or a decorator and checks it with checkRecord.
func (s *stepRun) encodeRecord(v runtime.Record) (json.RawMessage, error) {
	data, err := runtime.Encode(v)
	if err != nil {
		return nil, err
	}
	return data, s.checkRecord(v.Shape().Name, data)
}

// checkRecord returns CodeInvalid for a record that breaks the constraints of its type and could
// not be decoded again.
func (s *stepRun) checkRecord(name string, data json.RawMessage) error {
	for _, fresh := range []func(string) runtime.Record{s.program.Request, s.program.Interrupt,
		s.program.Result} {
		if v := fresh(name); v != nil {
			return runtime.Unmarshal(data, v)
		}
	}
	return nil
}

// findBranch returns the row of a branch of a node's routing, or CodeInternal if there is none.
func (s *stepRun) findBranch(n *runtime.Node, name string) (runtime.BranchRow, error) {
	for _, row := range runtime.Row(s.tables.Routings, n.Routing).Branches {
		if row.Name == name {
			return row, nil
		}
	}
	return runtime.BranchRow{}, runtime.Errorf(runtime.CodeInternal, "route "+n.Key,
		"the tables have no branch %s", name)
}

// expireReroutes drops the pending reroute events of the frame, so that they do not affect its next
// node.
func (s *stepRun) expireReroutes(t thread.Transition) thread.Transition {
	frame := s.a.Frame.ID
	return t.Also(func(c *thread.Change) { c.ExpireReroutes(frame) })
}

// endWithResult ends the frame with a result in its tagged form: {"TypeName": {...}}.
func (s *stepRun) endWithResult(typeName string, value json.RawMessage) thread.Transition {
	result := json.RawMessage(`{"` + typeName + `":` + string(value) + `}`)
	if s.a.Frame.Parent != "" || s.cfg.Conversation {
		return thread.Return(result)
	}
	return thread.Done(result)
}

// loopError returns CodeLoop for a node at its limit. The text names the way out.
func (s *stepRun) loopError(n *runtime.Node, reason string) error {
	way := cmp.Or(strings.Join(n.Unstick, " or "), "none")
	return thread.Permanent(runtime.Errorf(runtime.CodeLoop, "run node "+n.Key,
		"%s, the limit is %d; the way out is %s", reason, n.LoopLimit, way))
}

// Raise returns an error that raises an interrupt when a handler returns it, for types that no
// routing has: return nil, workflow.Raise(&request).
func Raise(request runtime.Record) error {
	data, err := runtime.Encode(request)
	if err != nil {
		return thread.Permanent(err)
	}
	return &raiseError{name: request.Shape().Name, request: data}
}

type raiseError struct {
	name    string
	request json.RawMessage
}

// Error names the request and says how to use the error.
func (r *raiseError) Error() string {
	return "raises " + r.name + ": return it from the handler of a node"
}

// Before returns the last request of the node that called the loop-exempt node of ctx. It returns
// nil if there is none, and for a context that is not that of a node.
func Before(ctx context.Context) runtime.Record {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok {
		return nil
	}
	last, ok := p.step.state.Last[p.step.state.At]
	if !ok {
		return nil
	}
	request, err := p.step.program.DecodeRequest(last.Type, last.Request)
	if err != nil {
		return nil
	}
	return request
}

// Lost returns the children of the dispatch of ctx that ended without a result. Those that were
// stopped, failed or skipped without a value have a failure; those that were pruned have none.
func Lost(ctx context.Context) []thread.Child {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok {
		return nil
	}
	return p.step.state.Lost
}
