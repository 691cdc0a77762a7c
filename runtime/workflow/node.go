package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// runNode activates the node of the step: its decorators, its handler, and where its routing leads.
func (s *step) runNode(ctx context.Context) (thread.Transition, error) {
	at := s.byKey(s.a.Frame.PC)
	n := s.node(at)
	if at == 0 {
		return thread.Transition{}, &runtime.Error{
			Code: runtime.CodeIncompatible, Op: "run node", Err: fmt.Errorf("the program has no node %q any more", s.a.Frame.PC),
		}
	}
	if n.LoopLimit > 0 && !helper(n) && s.j.Row >= n.LoopLimit {
		return thread.Transition{}, s.loop(n, fmt.Sprintf("it was entered %d times in a row", s.j.Row))
	}
	request, err := s.program.DecodeRequest(s.j.Type, s.j.Request)
	if err != nil {
		return thread.Transition{}, runtime.Permanent(err)
	}
	v := View{Thread: s.a.Thread, Frame: s.a.Frame.ID, Node: n.Key}
	if request, s.j.Request, err = s.prepare(ctx, v, request, s.j.Request); err != nil {
		return thread.Transition{}, err
	}
	s.j.Last = with(s.j.Last, s.j.Node, stored{s.j.Type, s.j.Request})
	if n.Dispatch != nil && s.j.Results == nil {
		return s.fanOut(n, request)
	}
	call := runtime.Call{
		Thread: s.a.Thread, Frame: s.a.Frame.ID, Node: n.Key, Visit: s.a.Frame.Visit, Answer: s.j.Answer, Results: s.j.Results,
	}
	ctx = context.WithValue(ctx, placeKey{}, &place{step: s, node: at, request: request})
	if n.Adapt != 0 && s.j.Type == row(s.tables.Requests, n.Adapt).Name {
		if request, err = s.adapt(ctx, call, request); err != nil {
			return thread.Transition{}, err
		}
	}
	routing, err := s.program.Invoke(ctx, call, request)
	s.carry()
	if up, ok := errors.AsType[*raising](err); ok {
		if err = s.holds(up.name, up.request); err == nil {
			return s.interrupt(up.name, up.request)
		}
	}
	if err != nil {
		return thread.Transition{}, err
	}
	branch, err := s.finished(ctx, v, routing)
	if err != nil {
		return thread.Transition{}, err
	}
	return s.route(n, branch)
}

// finished runs the decorators of a routing and returns its one branch.
func (s *step) finished(ctx context.Context, v View, routing runtime.Routing) (runtime.Branch, error) {
	for _, finish := range s.cfg.Finish {
		var err error
		if routing, err = finish(ctx, v, routing); err != nil {
			return runtime.Branch{}, err
		}
	}
	return routing.Selected()
}

// prepare runs the decorators of a request, which was decoded from data, and returns it with how it is to be stored.
func (s *step) prepare(ctx context.Context, v View, request runtime.Record, data json.RawMessage) (runtime.Record, json.RawMessage, error) {
	name := request.Shape().Name
	for _, prepare := range s.cfg.Prepare {
		out, err := prepare(ctx, v, request)
		if err != nil {
			return nil, nil, err
		}
		if out == nil || out.Shape().Name != name {
			return nil, nil, invalid("prepare "+name, "a decorator returned another type, or nothing")
		}
		if data, err = s.written(out); err != nil {
			return nil, nil, err
		}
		request = out
	}
	return request, data, nil
}

// adapt turns a request of a node's second type into the node's own, once.
func (s *step) adapt(ctx context.Context, call runtime.Call, request runtime.Record) (runtime.Record, error) {
	out, err := s.program.Adapt(ctx, call, request)
	if err != nil {
		return nil, err
	}
	data, err := s.written(out)
	if err != nil {
		return nil, err
	}
	s.j.Type, s.j.Request = out.Shape().Name, data
	s.j.Last = with(s.j.Last, s.j.Node, stored{s.j.Type, data})
	return out, nil
}

// route goes where a branch of a node's routing leads. The table says what a branch does; nothing here knows a node.
func (s *step) route(n *runtime.Node, b runtime.Branch) (thread.Transition, error) {
	row, ok := s.branch(n, b.Name)
	if !ok {
		return thread.Transition{}, refuse(runtime.CodeInternal, "route "+n.Key, "the tables have no branch "+b.Name)
	}
	value, err := runtime.Encode(b.Value)
	if err != nil {
		return thread.Transition{}, err
	}
	if row.Kind == runtime.ToCollect { // a result without a decision has the default one
		if value, err = decided(n, value); err != nil {
			return thread.Transition{}, err
		}
	}
	if err := s.holds(row.Type, value); err != nil {
		return thread.Transition{}, err
	}
	switch row.Kind {
	case runtime.ToNode:
		s.j.enter(s.node(row.Node), row.Type, value, false)
		return s.leave(thread.Advance(s.j.Node, s.j)), nil
	case runtime.ToResume:
		return s.resume(row, value)
	case runtime.ToInterrupt:
		return s.interrupt(row.Type, value)
	case runtime.ToCollect:
		return s.decide(n, row, value)
	case runtime.ToEnd:
		return s.finish(row.Type, value), nil
	default:
		return thread.Transition{}, refuse(runtime.CodeInternal, "route "+n.Key, fmt.Sprintf("branch %s has kind %d", b.Name, row.Kind))
	}
}

// written encodes what a handler or a decorator has made, and refuses it as holds does.
func (s *step) written(v runtime.Record) (json.RawMessage, error) {
	data, err := runtime.Encode(v)
	if err != nil {
		return nil, err
	}
	return data, s.holds(v.Shape().Name, data)
}

// holds refuses a record that breaks the constraints of its type, with CodeInvalid: nobody could read it
// again.
func (s *step) holds(name string, data json.RawMessage) error {
	for _, fresh := range []func(string) runtime.Record{s.program.Request, s.program.Interrupt, s.program.Result} {
		if v := fresh(name); v != nil {
			return runtime.Unmarshal(data, v)
		}
	}
	return nil
}

func (s *step) branch(n *runtime.Node, name string) (runtime.BranchRow, bool) {
	rows := row(s.tables.Routings, n.Routing).Branches
	at := slices.IndexFunc(rows, func(r runtime.BranchRow) bool { return r.Name == name })
	if at < 0 {
		return runtime.BranchRow{}, false
	}
	return rows[at], true
}

// leave drops the reroute events of a node that ends: a later node of the same name is not rerouted.
func (s *step) leave(t thread.Transition) thread.Transition {
	frame := s.a.Frame.ID
	return t.Also(func(c *runtime.Change) { c.ExpireReroutes(frame) })
}

// finish ends the lane with a result, in its tagged form: {"TypeName": {...}}.
func (s *step) finish(typeName string, value json.RawMessage) thread.Transition {
	result := json.RawMessage(`{"` + typeName + `":` + string(value) + `}`)
	if s.a.Frame.Parent != "" || s.cfg.Conversation {
		return thread.Return(result)
	}
	return thread.Done(result)
}

// loop is the refusal at a node's limit. It names the way out.
func (s *step) loop(n *runtime.Node, reason string) error {
	way := "none"
	if len(n.Unstick) > 0 {
		way = strings.Join(n.Unstick, " or ")
	}
	return runtime.Permanent(&runtime.Error{
		Code: runtime.CodeLoop, Op: "run node " + n.Key, Err: fmt.Errorf("%s, the limit is %d; the way out is %s", reason, n.LoopLimit, way),
	})
}

// Raise makes an interrupt of what a handler returns as its error, for types that no routing carries: return nil, workflow.Raise(&request).
func Raise(request runtime.Record) error {
	data, err := runtime.Encode(request)
	if err != nil {
		return runtime.Permanent(err)
	}
	return &raising{name: request.Shape().Name, request: data}
}

type raising struct {
	name    string
	request json.RawMessage
}

// Error says what is on its way.
func (r *raising) Error() string {
	return "raises " + r.name + ": return it from the handler of a node"
}

// Before returns the request that ran before the helper whose handler asks: what is waiting for it. It returns nil where there is none, and for a
// context that is not that of a node.
func Before(ctx context.Context) runtime.Record {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok {
		return nil
	}
	last, ok := p.step.j.Last[p.step.j.At]
	if !ok {
		return nil
	}
	request, err := p.step.program.DecodeRequest(last.Type, last.Request)
	if err != nil {
		return nil
	}
	return request
}

// Lost returns the children of the dispatch whose handler asks that ended without a result: those that were stopped,
// failed or were skipped without a value have a failure, those that were pruned have none.
func Lost(ctx context.Context) []runtime.Child {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok {
		return nil
	}
	return p.step.j.Lost
}
