package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// The interrupt types. A program may declare fewer; the generator refuses others, see spec.InterruptTypes.
const (
	humanReview = "HUMAN_REVIEW"
	agentReview = "AGENT_REVIEW"
	pause       = "PAUSE"
	stop        = "STOP"
	branchType  = "BRANCH"
	prune       = "PRUNE"
)

// interrupt takes an interrupt request to the unified handler, unless the node has raised too many of its type in a row.
func (s *step) interrupt(name string, request json.RawMessage) (thread.Transition, error) {
	r := &raised{Name: name, Request: request}
	r.read()
	n := s.node(s.byKey(s.j.Node))
	s.j.raise(r)
	if count := s.j.Asked[n.Key+" "+r.Type]; n.LoopLimit > 0 && count >= n.LoopLimit && !slices.Contains(n.LoopExempt, r.Type) {
		return thread.Transition{}, s.loop(n, fmt.Sprintf("it raised %d interrupts of type %s in a row", count, r.Type))
	}
	return thread.Aside(pcHandle, s.j, s.round()), nil
}

// handle is the unified interrupt handler: every interrupt request of every node comes here. It works on the tables alone.
func (s *step) handle(ctx context.Context) (thread.Transition, error) {
	r := s.j.Raised
	s.event, _ = thread.PendingReroute(ctx)
	origin, err := s.origin(r.Name)
	if err != nil {
		return thread.Transition{}, err
	}
	if err := s.prepareInterrupt(ctx, r); err != nil {
		return thread.Transition{}, err
	}
	answer, routeTo := r.Option, r.RouteTo
	switch r.Type {
	case humanReview, pause:
		if answer, routeTo, err = s.ask(ctx); err != nil {
			return thread.Transition{}, err
		}
	case agentReview:
		if answer, err = s.review(ctx, origin); err != nil {
			return thread.Transition{}, err
		}
	case stop, prune:
		return s.leave(s.end(r)), nil
	case branchType:
		if answer == nil {
			if answer, err = s.fork(ctx); err != nil {
				return thread.Transition{}, err
			}
		}
	default:
		return thread.Transition{}, invalid("handle interrupt", "%s has the type %q, which the handler does not know", r.Name, r.Type)
	}
	if routeTo == "" || r.RouteTo != "" {
		s.said = answer
	}
	s.j.answered(answer)
	s.event, _ = thread.PendingReroute(ctx) // also one that came since the question was answered
	target, err := s.target(origin, routeTo)
	if err != nil {
		return thread.Transition{}, err
	}
	return s.resolve(ctx, origin, target, answer)
}

// prepareInterrupt runs the decorators of the interrupt request.
func (s *step) prepareInterrupt(ctx context.Context, r *raised) error {
	request, err := s.program.DecodeInterrupt(r.Name, r.Request)
	if err != nil {
		return runtime.Permanent(err)
	}
	v := View{Thread: s.a.Thread, Frame: s.a.Frame.ID, Node: s.j.Node, Handler: true}
	if _, r.Request, err = s.prepare(ctx, v, request, r.Request); err != nil {
		return err
	}
	r.read()
	return nil
}

// origin finds the route that an interrupt goes back to: its own. For a type without one the last node of the history that is no helper
// decides, if it has one; else it is that of the node which the type escalates to, and in a fan-out that of the dispatch. It is refused when
// that node never had a request.
func (s *step) origin(name string) (route int, err error) {
	at := slices.IndexFunc(s.tables.Interrupts, func(r runtime.InterruptRow) bool { return r.Name == name })
	if at < 0 {
		return 0, invalid("handle interrupt", "the program has no interrupt type %q", name)
	}
	row := s.tables.Interrupts[at]
	for _, route = range []int{
		s.node(row.Node).Route, s.node(s.byKey(s.j.At)).Route, s.node(s.byKey(s.j.Home)).Route, row.Origin,
	} {
		if route != 0 {
			break
		}
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

// ask stops for a person and returns the answer, or where the person sends the work.
func (s *step) ask(ctx context.Context) (answer json.RawMessage, routeTo string, err error) {
	r := s.j.Raised
	n := s.node(s.byKey(s.j.Node))
	visible, err := visible(s.program.Interrupt(r.Name), r.Request)
	if err != nil {
		return nil, "", err
	}
	payload, err := runtime.Encode(struct {
		Node      string          `json:"node"`
		AgentType string          `json:"agentType"`
		Interrupt string          `json:"interrupt"`
		Request   json.RawMessage `json:"request"`
	}{n.Key, n.AgentType, r.Name, visible})
	if err != nil {
		return nil, "", err
	}
	targets, err := s.offered(ctx)
	if err != nil {
		return nil, "", err
	}
	schema, err := s.answers.of(r.Request)
	if err != nil {
		return nil, "", err
	}
	replies, err := thread.AskAll(ctx, runtime.Question{
		Asker: s.j.Node, Name: s.j.Node + "/" + r.Type, Text: r.Reason, Type: r.Type, Payload: payload, Plain: runtime.PlainText,
		Schema: schema, Targets: targets,
	})
	if err != nil {
		return nil, "", err
	}
	s.said = replies[0].Value
	if routeTo = replies[0].RouteTo; routeTo == "" {
		return s.said, "", nil
	}
	answer, err = runtime.Encode(struct {
		RouteTo string          `json:"route_to"`
		Note    json.RawMessage `json:"note,omitempty"`
	}{routeTo, s.said})
	return answer, routeTo, err
}

// offered are the places that the person may send the work to: none where the kind of the question has no route_to, since an answer that names
// one would be refused.
func (s *step) offered(ctx context.Context) ([]string, error) {
	asks := func(k runtime.Kind) bool { return k.Name == runtime.KindAgentQuestion && k.RouteTo }
	engine, err := thread.EngineOf(ctx)
	if err != nil || !slices.ContainsFunc(engine.Kinds(), asks) {
		return nil, err
	}
	return s.routes(nil), nil
}

// visible returns a request without its hidden fields: no person and no model is shown them.
func visible(v runtime.Record, data json.RawMessage) (json.RawMessage, error) {
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
	root := s.a.Frame.Parent == ""
	why := &runtime.Error{Code: runtime.CodeConflict, Op: "stop " + s.j.Node, Err: errors.New(r.Reason)}
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

// fork is BRANCH: this thread follows the first option, and a new thread each of the others. All of them go on as after an answer.
func (s *step) fork(ctx context.Context) (first json.RawMessage, err error) {
	options, err := options(s.j.Raised.Request)
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
			up, lane := *s.j.Raised, *s.j
			up.Option, lane.Raised = option, &up
			if s.event != nil {
				up.RouteTo = s.event.Target
			}
			id := fmt.Sprintf("%s~%s.%d.%d", s.a.Thread, s.a.Frame.ID, s.a.Frame.Visit, i+2)
			_, err := engine.Start(ctx, thread.Begin{
				ID: id, Machine: Name, Name: lane.Type,
				Input: opening{Journal: &lane}, User: s.a.User, Request: name, Metadata: s.a.Metadata,
			})
			if errors.Is(err, thread.ErrRequestUsed) { // begun before a crash, and a reroute event has come since
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

// options are the ways of a BRANCH, each in the form of an answer: those of the first choice that has several, in the order of their keys; or
// else the choices themselves. Without any, one way stays.
func options(request json.RawMessage) ([]json.RawMessage, error) {
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
			answer, err := runtime.Encode(map[string]map[string]string{"selectedChoices": {choice.ID: key}})
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
