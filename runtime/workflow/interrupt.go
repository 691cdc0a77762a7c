package workflow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// The interrupt types. A program may declare fewer; the generator refuses others, see
// spec.InterruptTypes.
const (
	humanReview = "HUMAN_REVIEW"
	agentReview = "AGENT_REVIEW"
	pause       = "PAUSE"
	stop        = "STOP"
	branchType  = "BRANCH"
	prune       = "PRUNE"
)

// raiseInterrupt passes an interrupt request to the unified handler, which goes on with the answer:
// a question for a person is asked in the commit that ends the node's step. Only where decorators
// have to see the request first, or where it cannot be asked, the handler runs without an answer.
// raiseInterrupt returns CodeLoop if the node has raised too many of its type in a row.
func (s *stepRun) raiseInterrupt(ctx context.Context, name string, request json.RawMessage) (
	thread.Transition, error) {
	r := &raisedInterrupt{Name: name, Request: request}
	r.readTypeAndReason()
	n := s.node(s.nodeByKey(s.state.Node))
	s.state.recordInterrupt(r)
	if count := s.state.Asked[n.Key+" "+r.Type]; n.LoopLimit > 0 && count >= n.LoopLimit &&
		!slices.Contains(n.LoopExempt, r.Type) {
		return thread.Transition{}, s.loopError(n,
			fmt.Sprintf("it raised %d interrupts of type %s in a row", count, r.Type))
	}
	if (r.Type == humanReview || r.Type == pause) && len(s.cfg.Prepare) == 0 {
		if _, err := s.interruptOrigin(r.Name); err == nil {
			if q, err := s.buildQuestion(ctx); err == nil {
				return thread.Aside(pcHandle, s.state, s.roundPrefix(), q), nil
			}
		}
	}
	return thread.Aside(pcHandle, s.state, s.roundPrefix()), nil
}

// handleInterrupt is the unified interrupt handler for every interrupt request of every node. It
// returns where the work continues, or asks the question if it has no answer yet.
func (s *stepRun) handleInterrupt(ctx context.Context) (thread.Transition, error) {
	r := s.state.Raised
	s.event, _ = thread.PendingReroute(ctx)
	origin, err := s.interruptOrigin(r.Name)
	if err != nil {
		return thread.Transition{}, err
	}
	if err := s.prepareInterrupt(ctx, r); err != nil {
		return thread.Transition{}, err
	}
	answer, routeTo := r.Option, r.RouteTo
	switch r.Type {
	case humanReview, pause:
		reply := s.a.Frame.Reply(s.questionName())
		if reply == nil {
			q, err := s.buildQuestion(ctx)
			return thread.Asks(pcHandle, s.state, q), err
		}
		if answer, routeTo, err = s.readReply(reply); err != nil {
			return thread.Transition{}, err
		}
	case agentReview:
		if answer, err = s.askReviewer(ctx, origin); err != nil {
			return thread.Transition{}, err
		}
	case stop, prune:
		return s.expireReroutes(s.endFrame(r)), nil
	case branchType:
		if answer == nil {
			if answer, err = s.forkThread(ctx); err != nil {
				return thread.Transition{}, err
			}
		}
	default:
		return thread.Transition{}, runtime.Errorf(runtime.CodeInvalid, "handle interrupt",
			"%s has the type %q, which the handler does not know", r.Name, r.Type)
	}
	if routeTo == "" || r.RouteTo != "" {
		s.answer = answer
	}
	s.state.recordAnswer(answer)
	s.event, _ = thread.PendingReroute(ctx) // also one that came since the question was answered
	target, err := s.targetRoute(origin, routeTo)
	if err != nil {
		return thread.Transition{}, err
	}
	return s.resolveInterrupt(ctx, origin, target, answer)
}

// prepareInterrupt runs the decorators of the interrupt request, once.
func (s *stepRun) prepareInterrupt(ctx context.Context, r *raisedInterrupt) error {
	if r.Prepared || len(s.cfg.Prepare) == 0 {
		return nil
	}
	request, err := s.program.DecodeInterrupt(r.Name, r.Request)
	if err != nil {
		return thread.Permanent(err)
	}
	v := View{Thread: s.a.Thread, Frame: s.a.Frame.ID, Node: s.state.Node, Handler: true}
	if _, r.Request, err = s.prepareRequest(ctx, v, request, r.Request); err != nil {
		return err
	}
	r.Prepared = true
	r.readTypeAndReason()
	return nil
}

// interruptOrigin returns the route that an interrupt goes back to: that of the interrupt's node,
// else that of the last node that is not loop-exempt, else in a fan-out that of the dispatch, else
// that of the node which the type escalates to. It returns CodeNotFound if that node never had a
// request.
func (s *stepRun) interruptOrigin(name string) (route int, err error) {
	at := s.interruptRow(name)
	if at == 0 {
		return 0, runtime.Errorf(runtime.CodeInvalid, "handle interrupt",
			"the program has no interrupt type %q", name)
	}
	row := s.tables.Interrupts[at-1]
	route = cmp.Or(s.node(row.Node).Route, s.node(s.nodeByKey(s.state.At)).Route,
		s.node(s.nodeByKey(s.state.Dispatch)).Route, row.Origin)
	if route == 0 {
		return 0, runtime.Errorf(runtime.CodeInvalid, "handle interrupt",
			"%s has no route back: set escalates on its node", name)
	}
	_, err = s.lastRequest(s.node(s.tables.Routes[route-1].Node), name+" goes back to it")
	return route, err
}

// questionName is the name of the question of the interrupt that is handled.
func (s *stepRun) questionName() string { return s.state.Node + "/" + s.state.Raised.Type }

// buildQuestion returns the question that asks a person about the interrupt.
func (s *stepRun) buildQuestion(ctx context.Context) (thread.Question, error) {
	r := s.state.Raised
	q := thread.Question{
		Asker: s.state.Node, Name: s.questionName(), Text: r.Reason, Type: r.Type,
		Plain: thread.PlainText,
	}
	n := s.node(s.nodeByKey(s.state.Node))
	q.Deadline, q.Assignees = n.Deadline, n.Assignees
	visible, err := visibleFields(s.program.Interrupt(r.Name), r.Request)
	if err != nil {
		return q, err
	}
	if q.Payload, err = runtime.Encode(struct {
		Node      string          `json:"node"`
		AgentType string          `json:"agentType"`
		Interrupt string          `json:"interrupt"`
		Request   json.RawMessage `json:"request"`
	}{n.Key, n.AgentType, r.Name, visible}); err != nil {
		return q, err
	}
	if q.Targets, err = s.offeredTargets(ctx); err != nil {
		return q, err
	}
	q.Schema, err = s.answers.schemaFor(r.Request)
	return q, err
}

// readReply returns the answer of a person, or the target that the person chose.
func (s *stepRun) readReply(reply *thread.Reply) (answer json.RawMessage, routeTo string,
	err error) {
	if s.answer = reply.Value; reply.RouteTo == "" {
		return s.answer, "", nil
	}
	answer, err = runtime.Encode(struct {
		RouteTo string          `json:"route_to"`
		Note    json.RawMessage `json:"note,omitempty"`
	}{reply.RouteTo, s.answer})
	return answer, reply.RouteTo, err
}

// offeredTargets returns the agent types that the person may choose as the target: none if the kind
// of the question has no route_to.
func (s *stepRun) offeredTargets(ctx context.Context) ([]string, error) {
	asks := func(k runtime.Kind) bool { return k.Name == thread.KindAgentQuestion && k.RouteTo }
	engine, err := thread.EngineOf(ctx)
	if err != nil || !slices.ContainsFunc(engine.Kinds(), asks) {
		return nil, err
	}
	return s.routeTargets(nil), nil
}

// visibleFields returns a request without its hidden fields.
func visibleFields(v runtime.Record, data json.RawMessage) (json.RawMessage, error) {
	if v == nil {
		return data, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	var names []string
	shape := v.Shape()
	for i := range shape.Fields {
		if f := &shape.Fields[i]; fields[f.Name] != nil && !f.Hidden {
			names = append(names, f.Name)
		}
	}
	return encodeFields(names, fields)
}

// encodeFields encodes some fields as an object, in the order of their names.
func encodeFields(names []string, fields map[string]json.RawMessage) (json.RawMessage, error) {
	out := []byte{'{'}
	for i, name := range names {
		key, err := runtime.Encode(name)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), fields[name]...)
	}
	return append(out, '}'), nil
}

// endFrame ends the frame for STOP, with a failure for the parent, or for PRUNE, without one. A
// root frame ends the thread.
func (s *stepRun) endFrame(r *raisedInterrupt) thread.Transition {
	root := s.a.Frame.Parent == ""
	why := runtime.Errorf(runtime.CodeConflict, "stop "+s.state.Node, "%s", r.Reason)
	switch {
	case r.Type == prune && root && !s.cfg.Conversation:
		return thread.Done(nil)
	case r.Type == prune:
		return thread.Return(nil)
	case root:
		return thread.Cancel(why)
	default:
		return thread.Fail(why)
	}
}

// forkThread implements BRANCH: it starts a thread for each option but the first, which this thread
// follows. All continue as after an answer.
func (s *stepRun) forkThread(ctx context.Context) (first json.RawMessage, err error) {
	options, err := branchOptions(s.state.Raised.Request)
	if err != nil {
		return nil, err
	}
	engine, err := thread.EngineOf(ctx)
	if err != nil {
		return nil, err
	}
	for i, option := range options[1:] {
		name := fmt.Sprintf("branch/%d", i+2)
		_, err := thread.Do(ctx, name, func(ctx context.Context, _ string) (string, error) {
			up, next := *s.state.Raised, *s.state
			up.Option, next.Raised = option, &up
			if s.event != nil {
				up.RouteTo = s.event.Target
			}
			_, own := thread.SplitID(s.a.Thread)
			id := fmt.Sprintf("%s~%s.%d.%d", own, s.a.Frame.ID, s.a.Frame.Visit, i+2)
			_, err := engine.Start(ctx, thread.Begin{
				ID: id, Machine: Name, Name: next.Type,
				Input: frameInput{State: &next}, User: s.a.User, Request: name,
				Metadata: s.a.Metadata, Unchecked: true,
			})
			// begun before a crash, and a reroute event has come since
			if errors.Is(err, thread.ErrRequestUsed) {
				return id, nil
			}
			return id, err
		})
		if err != nil {
			return nil, err
		}
	}
	return options[0], nil
}

// branchOptions returns the options of a BRANCH, each in the form of an answer: the options of the
// first choice that has several, in the order of their keys; or else the choices themselves; or
// null alone if there are none.
func branchOptions(request json.RawMessage) ([]json.RawMessage, error) {
	var asked struct {
		Choices []json.RawMessage `json:"choices"`
	}
	_ = json.Unmarshal(request, &asked) // checked when it was raised
	for _, data := range asked.Choices {
		var choice struct {
			ID      string            `json:"choiceId"`
			Options map[string]string `json:"options"`
		}
		if json.Unmarshal(data, &choice) != nil || len(choice.Options) < 2 {
			continue
		}
		var out []json.RawMessage
		for _, key := range slices.Sorted(maps.Keys(choice.Options)) {
			answer, err := runtime.Encode(
				map[string]map[string]string{"selectedChoices": {choice.ID: key}})
			if err != nil {
				return nil, err
			}
			out = append(out, answer)
		}
		return out, nil
	}
	if len(asked.Choices) == 0 {
		return []json.RawMessage{json.RawMessage("null")}, nil
	}
	return asked.Choices, nil
}
