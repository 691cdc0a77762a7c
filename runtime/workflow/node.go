package workflow

import (
	"context"
	"encoding/json"
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
	if err := s.looped(n); err != nil {
		return thread.Transition{}, err
	}
	request, err := s.program.DecodeRequest(s.j.Type, s.j.Request)
	if err != nil {
		return thread.Transition{}, runtime.Permanent(err)
	}
	v := View{Thread: s.a.Thread, Frame: s.a.Frame.ID, Node: n.Key}
	if request, err = s.prepare(ctx, v, request); err != nil {
		return thread.Transition{}, err
	}
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
	if err != nil {
		return thread.Transition{}, err
	}
	for _, finish := range s.cfg.Finish {
		if routing, err = finish(ctx, v, routing); err != nil {
			return thread.Transition{}, err
		}
	}
	branch, err := routing.Selected()
	if err != nil {
		return thread.Transition{}, err
	}
	return s.route(n, branch)
}

// prepare runs the decorators; what they return is what the journal stores.
func (s *step) prepare(ctx context.Context, v View, request runtime.Record) (runtime.Record, error) {
	if len(s.cfg.Prepare) == 0 {
		return request, nil
	}
	for _, prepare := range s.cfg.Prepare {
		var err error
		if request, err = prepare(ctx, v, request); err != nil {
			return nil, err
		}
	}
	data, err := runtime.Encode(request)
	if err != nil {
		return nil, err
	}
	s.j.Request = data
	s.j.Last = with(s.j.Last, s.j.Node, stored{s.j.Type, data})
	return request, nil
}

// adapt turns a request of a node's second type into the node's own, once.
func (s *step) adapt(ctx context.Context, call runtime.Call, request runtime.Record) (runtime.Record, error) {
	out, err := s.program.Adapt(ctx, call, request)
	if err != nil {
		return nil, err
	}
	data, err := runtime.Encode(out)
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
	switch row.Kind {
	case runtime.ToNode:
		s.j.enter(s.node(row.Node).Key, row.Type, value)
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

// finish ends the lane with a result.
func (s *step) finish(typeName string, value json.RawMessage) thread.Transition {
	switch {
	case s.a.Frame.Parent != "" || s.cfg.Conversation:
		if s.a.Frame.Parent == "" {
			return thread.Return(tagged(typeName, value))
		}
		return thread.Return(value)
	default:
		return thread.Done(tagged(typeName, value))
	}
}

func tagged(typeName string, value json.RawMessage) json.RawMessage {
	return json.RawMessage(`{"` + typeName + `":` + string(value) + `}`)
}

// looped refuses the activation that goes over the node's limit. The refusal names the way out.
func (s *step) looped(n *runtime.Node) error {
	if n.LoopLimit == 0 {
		return nil
	}
	for _, kind := range s.kindsOf(n.Key) {
		if count := s.j.Asked[n.Key+" "+kind]; count > n.LoopLimit {
			return s.loop(n, fmt.Sprintf("it raised %d interrupts of type %s, the limit is %d", count, kind, n.LoopLimit))
		}
	}
	if slices.Contains(n.LoopExempt, n.Key) {
		return nil
	}
	// Only a lane that goes round without anything else happening is in a loop.
	same := 0
	for i := len(s.j.Trail) - 1; i >= 0 && s.j.Trail[i].Node == n.Key; i-- {
		if s.j.Trail[i].Interrupt == "" {
			same++
		}
	}
	if same > n.LoopLimit {
		return s.loop(n, fmt.Sprintf("it ran %d times in a row, the limit is %d", same, n.LoopLimit))
	}
	return nil
}

func (s *step) kindsOf(node string) []string {
	var kinds []string
	for key := range s.j.Asked {
		if kind, ok := strings.CutPrefix(key, node+" "); ok {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}

func (s *step) loop(n *runtime.Node, reason string) error {
	way := "no branch"
	if len(n.Unstick) > 0 {
		way = strings.Join(n.Unstick, " or ")
	}
	return runtime.Permanent(&runtime.Error{
		Code: runtime.CodeLoop, Op: "run node " + n.Key, Err: fmt.Errorf("%s; the way out is %s", reason, way),
	})
}
