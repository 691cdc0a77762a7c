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

// The interrupt types. A program may declare fewer.
const (
	humanReview = "HUMAN_REVIEW"
	agentReview = "AGENT_REVIEW"
	pause       = "PAUSE"
	stop        = "STOP"
	branchType  = "BRANCH"
	prune       = "PRUNE"
)

// interrupt takes an interrupt request to the unified handler.
func (s *step) interrupt(name string, request json.RawMessage) (thread.Transition, error) {
	r := &raised{Name: name, Request: request}
	r.Type, _ = textAt(request, "type")
	r.Reason, _ = textAt(request, "reason")
	s.j.raise(r)
	return thread.Advance(pcHandle, s.j), nil
}

// handle is the unified interrupt handler: every interrupt request of every node comes here. It works on the tables alone.
func (s *step) handle(ctx context.Context) (thread.Transition, error) {
	r := s.j.Raised
	origin, err := s.origin(r.Name)
	if err != nil {
		return thread.Transition{}, err
	}
	var answer json.RawMessage
	var routeTo string
	switch r.Type {
	case humanReview, pause:
		reply, err := s.ask(ctx)
		if err != nil {
			return thread.Transition{}, err
		}
		answer, routeTo = reply.Value, reply.RouteTo
	case agentReview:
		if answer, err = s.review(ctx, origin); err != nil {
			return thread.Transition{}, err
		}
	case stop, prune:
		return s.leave(s.end(r)), nil
	case branchType:
		return s.fork(ctx, origin)
	default:
		return thread.Transition{}, invalid("handle interrupt", "%s has the type %q, which the handler does not know", r.Name, r.Type)
	}
	target, err := s.target(origin, routeTo)
	if err != nil {
		return thread.Transition{}, err
	}
	return s.resolve(ctx, origin, target, answer)
}

// origin finds the route that an interrupt goes back to: its own; for a type without one the last node of the history that has one and is
// no helper; else the node that the asking node escalates to. It is refused when that node never had a request.
func (s *step) origin(name string) (route int, err error) {
	at := slices.IndexFunc(s.tables.Interrupts, func(r runtime.InterruptRow) bool { return r.Name == name })
	if at < 0 {
		return 0, invalid("handle interrupt", "the program has no interrupt type %q", name)
	}
	row := s.tables.Interrupts[at]
	if route = row.Origin; route == 0 {
		route = s.fromHistory(row.Node)
	}
	if route == 0 {
		route = s.node(s.node(row.Node).Escalates).Route
	}
	if route == 0 {
		return 0, invalid("handle interrupt", "%s has no route back: its node escalates to none", name)
	}
	n := s.node(s.tables.Routes[route-1].Node)
	if _, ok := s.j.Last[n.Key]; !ok {
		return 0, s.missing(n, name+" goes back to it")
	}
	return route, nil
}

// fromHistory returns the route of the last activation that is neither the asking node nor a helper that loops leave out.
func (s *step) fromHistory(asking int) int {
	for i := len(s.j.Trail) - 1; i >= 0; i-- {
		n := s.node(s.byKey(s.j.Trail[i].Node))
		if s.j.Trail[i].Interrupt == "" && n.Route != 0 && n.Key != s.node(asking).Key && !slices.Contains(n.LoopExempt, n.Key) {
			return n.Route
		}
	}
	return 0
}

// ask stops for a person.
func (s *step) ask(ctx context.Context) (*runtime.Reply, error) {
	r := s.j.Raised
	n := s.node(s.byKey(s.j.Node))
	visible, err := s.visible(s.program.Interrupt(r.Name), r.Request)
	if err != nil {
		return nil, err
	}
	payload, err := runtime.Encode(struct {
		Node      string          `json:"node"`
		AgentType string          `json:"agentType"`
		Interrupt string          `json:"interrupt"`
		Request   json.RawMessage `json:"request"`
	}{n.Key, n.AgentType, r.Name, visible})
	if err != nil {
		return nil, err
	}
	var targets []string
	for i := range s.tables.Routes {
		targets = append(targets, s.tables.Routes[i].AgentType)
	}
	replies, err := thread.AskAll(ctx, runtime.Question{
		Name: s.j.Node + "/" + r.Type, Text: r.Reason, Type: r.Type, Payload: payload, Plain: runtime.PlainText, Targets: targets,
	})
	if err != nil {
		return nil, err
	}
	return &replies[0], nil
}

// visible returns a request without its hidden fields: no person and no model is shown them.
func (m *Machine) visible(v runtime.Record, data json.RawMessage) (json.RawMessage, error) {
	if v == nil {
		return data, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteByte('{')
	shape := v.Shape()
	for i := range shape.Fields {
		f := &shape.Fields[i]
		value, ok := fields[f.Name]
		if !ok || f.Hidden {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		name, err := runtime.Encode(f.Name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return json.RawMessage(b.String()), nil
}

// end is STOP, which tells the parent, and PRUNE, which does not. Without a parent the thread ends.
func (s *step) end(r *raised) thread.Transition {
	if r.Type == prune {
		return thread.Return(nil)
	}
	why := &runtime.Error{Code: runtime.CodeConflict, Op: "stop " + s.j.Node, Err: errors.New(r.Reason)}
	if s.a.Frame.Parent == "" {
		return thread.Cancel(why)
	}
	return thread.Fail(why)
}

// fork is BRANCH: the thread follows the first option, and a new thread each of the others.
func (s *step) fork(ctx context.Context, origin int) (thread.Transition, error) {
	options := s.options()
	engine, err := thread.EngineOf(ctx)
	if err != nil {
		return thread.Transition{}, err
	}
	n := s.node(s.tables.Routes[origin-1].Node)
	last := s.j.Last[n.Key]
	for i, option := range options[1:] {
		name := fmt.Sprintf("branch/%d", i+2)
		_, err := thread.Do(ctx, name, func(ctx context.Context, _ string) (string, error) {
			lane := *s.j
			lane.enter(n.Key, last.Type, last.Request)
			lane.Answer = option
			id := fmt.Sprintf("%s~%s.%d.%d", s.a.Thread, s.a.Frame.ID, s.a.Frame.Visit, i+2)
			t, err := engine.Start(ctx, thread.Begin{
				ID: id, Machine: Name, Name: last.Type, Input: opening{Journal: &lane}, User: s.a.User, Request: name,
			})
			if err != nil {
				return "", err
			}
			return t.ID, nil
		})
		if err != nil {
			return thread.Transition{}, err
		}
	}
	return s.goOn(n, last.Type, last.Request, options[0])
}

// options are what a BRANCH offers, by their order; without any, one way stays.
func (s *step) options() []json.RawMessage {
	var request struct {
		Choices []json.RawMessage `json:"choices"`
	}
	_ = json.Unmarshal(s.j.Raised.Request, &request) // checked when it was raised
	if len(request.Choices) == 0 {
		return []json.RawMessage{nil}
	}
	if len(request.Choices) > 1 {
		return request.Choices
	}
	var one struct { // one choice with several options
		Options json.RawMessage `json:"options"`
	}
	var list []json.RawMessage
	if json.Unmarshal(request.Choices[0], &one) == nil && json.Unmarshal(one.Options, &list) == nil && len(list) > 1 {
		return list
	}
	return request.Choices
}
