package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/thread"
)

// targetRoute is where an interrupt continues: where the person sent it, else where the pending
// reroute event sends it, else its origin.
func (s *stepRun) targetRoute(origin int, routeTo string) (route int, err error) {
	if routeTo == "" && s.event != nil {
		routeTo = s.event.Target
	}
	if routeTo == "" {
		return origin, nil
	}
	if route = s.node(s.nodeByAgentType(routeTo)).Route; route == 0 {
		return 0, thread.Permanent(runtime.Errorf(runtime.CodeNoRoute, "handle interrupt",
			"%s has no route", routeTo))
	}
	return route, nil
}

// resolveInterrupt finds the request to go on with. With a stored one that may be reused, or
// without a model, none is asked. A frame of a fan-out whose interrupt went back to its dispatch
// runs its own node again, with its share of the request: its siblings keep what they have done.
func (s *stepRun) resolveInterrupt(ctx context.Context, origin, route int, answer json.RawMessage) (
	thread.Transition, error) {
	to := s.tables.Routes[route-1]
	n := s.node(to.Node)
	next := s.ownNode(n)
	last, had := s.state.Last[next.Key]
	switch {
	case had && (n.Reuse || s.cfg.Model == nil):
		return s.continueAt(next, last, answer, n.Key == s.state.Node)
	case s.cfg.Model == nil:
		last, err := s.buildFirstRequest(ctx, n, to.Request)
		if err != nil {
			return thread.Transition{}, err
		}
		return s.continueAt(next, last, answer, false)
	}
	routing, err := s.chooseRoute(ctx, origin, route, answer)
	if err != nil {
		return thread.Transition{}, err
	}
	v := View{Thread: s.a.Thread, Frame: s.a.Frame.ID, Node: n.Key, Handler: true}
	branch, err := s.finishRouting(ctx, v, routing)
	if err != nil {
		return thread.Transition{}, err
	}
	request, err := runtime.Encode(branch.Value)
	if err != nil {
		return thread.Transition{}, err
	}
	typeName := runtime.Row(s.tables.Requests, to.Request).Name
	if next != n {
		typeName = last.Type
		if each, err := dispatchList(n, request); err == nil && len(each) >= s.state.Index {
			request = each[s.state.Index-1] // this frame's
		} else {
			request = last.Request
		}
	}
	if request, err = keepHidden(s.program.Request(typeName), request, last.Request,
		s.childKey); err != nil {
		return thread.Transition{}, err
	}
	return s.continueAt(next, storedRequest{typeName, request}, answer, false)
}

// continueAt continues at a node with a request and the person's answer. done says that what the
// node's children have done is done. The reroute event, if there was one, is used up in this very
// commit.
func (s *stepRun) continueAt(n *runtime.Node, next storedRequest, answer json.RawMessage,
	done bool) (thread.Transition, error) {
	request, err := s.withFeedback(n, next)
	if err != nil {
		return thread.Transition{}, err
	}
	frame, moved, event := s.a.Frame.ID, n.Key != s.state.Node, s.event
	results, lost, round := s.state.Results, s.state.Lost, s.state.Round
	s.state.enterNode(n, next.Type, request, true)
	s.state.Answer = answer
	if done {
		s.state.Results, s.state.Lost = results, lost
	}
	to := thread.Advance
	if !moved { // the same visit: what the node did before it asked is done
		to, s.state.Round = thread.Back, round+1
	}
	return to(n.Key, s.state).Also(func(c *thread.Change) {
		if now := c.Thread.PendingReroute(frame); event != nil && now != nil && now.ID == event.ID {
			c.TakeReroute(frame) // one that came later is for the next interrupt
		}
		if moved {
			c.ExpireReroutes(frame)
		}
	}), nil
}

// keepHidden copies the hidden fields that request lacks from a stored request; fields that a
// decorator has set stay. A required field that was never set has the zero value of its Go type.
// child derives the context id from the stored one; nil keeps it. The result is checked and in the
// order of its type, of which v is a zero value.
func keepHidden(v runtime.Record, request, from json.RawMessage,
	child func(json.RawMessage) json.RawMessage) (json.RawMessage, error) {
	var now, old, unset map[string]json.RawMessage
	if fresh, err := runtime.Encode(v); err != nil || json.Unmarshal(fresh, &unset) != nil {
		return nil, runtime.Errorf(runtime.CodeInvalid, "read request", "it has no JSON form: %v",
			err)
	}
	if err := json.Unmarshal(request, &now); err != nil {
		return nil, runtime.Errorf(runtime.CodeInvalid, "read request",
			"it is not a JSON object: %v", err)
	}
	if from != nil {
		if err := json.Unmarshal(from, &old); err != nil {
			return nil, err
		}
	}
	shape := v.Shape()
	for i := range shape.Fields {
		f := &shape.Fields[i]
		value, had := old[f.Name]
		if given, has := now[f.Name]; !f.Hidden || !had || has &&
			!bytes.Equal(given, unset[f.Name]) {
			continue
		}
		if f.Name == "contextId" && child != nil {
			value = child(value)
		}
		now[f.Name] = value
	}
	return rebuildRecord(v, now)
}

// childKey returns the parent's key, a slash, and 26 digits derived from the step, so that a
// repeated step returns the same key.
func (s *stepRun) childKey(parent json.RawMessage) json.RawMessage {
	var key string
	if json.Unmarshal(parent, &key) != nil || !strings.HasPrefix(key, "ak:") {
		return parent
	}
	child, err := runtime.Encode(
		key + "/" + keyDigits(fmt.Sprintf("%s/%s/%s/%d", s.a.Thread, s.a.Frame.ID, s.a.Frame.PC,
			s.a.Frame.Visit)))
	if err != nil {
		return parent
	}
	return child
}

// withFeedback sets the node's feedback field to the person's answer.
func (s *stepRun) withFeedback(n *runtime.Node, next storedRequest) (json.RawMessage, error) {
	v := s.program.Request(next.Type)
	text, err := s.feedbackText(n, v.Shape())
	if text == nil || err != nil {
		return next.Request, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(next.Request, &fields); err != nil {
		return nil, err
	}
	fields[n.Feedback] = text
	return rebuildRecord(v, fields)
}

// feedbackText returns the person's answer for the node's feedback field, or nil.
func (s *stepRun) feedbackText(n *runtime.Node, shape *runtime.Shape) (json.RawMessage, error) {
	if n.Feedback == "" || s.answer == nil || !hasField(shape, n.Feedback) {
		return nil, nil
	}
	var text string
	if json.Unmarshal(s.answer, &text) != nil {
		text = string(s.answer)
	}
	return runtime.Encode(text)
}

// rebuildRecord encodes fields as a record, checked and in the order of its type.
func rebuildRecord(v runtime.Record, fields map[string]json.RawMessage) (json.RawMessage, error) {
	data, err := runtime.Encode(fields)
	if err != nil {
		return nil, err
	}
	if err := runtime.Unmarshal(data, v); err != nil {
		return nil, thread.Permanent(err)
	}
	return runtime.Encode(v)
}

// chooseRoute lets the model write the request of the one allowed route.
func (s *stepRun) chooseRoute(ctx context.Context, origin, route int, answer json.RawMessage) (
	routing runtime.Routing, err error) {
	row := s.tables.Routes[route-1]
	v := s.raisedView(origin)
	v.Allowed, v.Answer = []string{row.Field}, answer
	text, err := s.cfg.Prompts.Resolution(v)
	if err != nil {
		return nil, err
	}
	words := make([]uint64, (len(s.tables.Routes)+63)/64)
	runtime.SetWith(words, uint32(len(s.tables.Routes)+1), uint32(route))
	err = s.askModel(ctx, &modelCall{model: s.cfg.Model, name: "model/"}, llm.Request{
		Prompt: text, SchemaName: s.tables.Routings[0].Name,
		Schema: func(d runtime.Dialect) string { return s.program.RouteSchema(words, d) },
	}, func(reply []byte) (err error) {
		routing, err = s.program.DecodeReply(0, reply, func(name string) bool {
			return name == row.Field
		})
		return err
	})
	return routing, err
}

// askModel calls a model, as an effect, until read accepts the reply. A rejected reply is sent back
// once with its error. r is the request without notices.
func (s *stepRun) askModel(ctx context.Context, a *modelCall, r llm.Request,
	read func(reply []byte) error) error {
	prefix, wrong := a.name, error(nil)
	var out llm.Response
	a.buildRequest = func(news string) (_ llm.Request, err error) {
		asked := r
		if news != "" {
			asked.Prompt += "\n\n" + news
		}
		if wrong != nil {
			var repair string
			repair, err = s.cfg.Prompts.Repair(string(out.Body()), wrong)
			asked.Prompt += "\n\n" + repair
		}
		return asked, err
	}
	for try := 1; ; try++ {
		a.name = fmt.Sprintf("%s%d", prefix, try)
		next, err := s.callModel(ctx, a)
		if err != nil {
			return err
		}
		out = next
		wrong = read(out.Body())
		switch {
		case wrong == nil:
			return nil
		case try == 2: // both replies are stored and would be found again
			return thread.Permanent(fmt.Errorf("the model's reply was refused twice: %w", wrong))
		}
	}
}

// reviewSchema is the schema of a reviewer's reply.
const reviewSchema = `{"type":"object","properties":{"approved":{"type":"boolean","description":"Whether the work may go on as it is meant to."},` +
	`"feedback":{"type":"string","description":"The decision in words, with all that the next node has to know."}},` +
	`"required":["approved","feedback"],"additionalProperties":false}`

// askReviewer lets the reviewing model answer an interrupt.
func (s *stepRun) askReviewer(ctx context.Context, origin int) (answer json.RawMessage, err error) {
	if s.cfg.Reviewer == nil {
		return nil, runtime.Errorf(runtime.CodeInvalid, "handle interrupt",
			"%s needs a reviewer: set Config.Reviewer",
			agentReview)
	}
	text, err := s.cfg.Prompts.Review(s.raisedView(origin))
	if err != nil {
		return nil, err
	}
	r := llm.Request{Prompt: text, SchemaName: "Review", Schema: func(runtime.Dialect) string {
		return reviewSchema
	}}
	err = s.askModel(ctx, &modelCall{model: s.cfg.Reviewer, name: "review/"}, r,
		func(reply []byte) error {
			var verdict reviewReply
			if err := runtime.DecodeReply(reply, &verdict, nil); err != nil {
				return err
			}
			answer, err = runtime.Encode(verdict)
			return err
		})
	return answer, err
}

// reviewReply is a reviewer's reply.
type reviewReply struct {
	Approved bool   `json:"approved"`
	Feedback string `json:"feedback"`
}

var reviewShape = runtime.Shape{Name: "Review",
	Fields: []runtime.Field{{Name: "approved", Required: true}, {Name: "feedback", Required: true}}}

// Shape returns the two fields.
func (*reviewReply) Shape() *runtime.Shape { return &reviewShape }

// Choose lets the model choose the routing of the node whose handler calls it, from the node's
// prompt and the schema of its routing. A reply that breaks the rules goes back to the model once.
// The prompt has the reroute event that is pending when the model is asked, and a change that a
// person gave after a pause. The call is an effect of [thread.Do]: its reply is stored at most 100
// ms after it came. If the process dies before that, the call is made again; afterwards only if the
// node's own interrupt has come back to it.
func Choose[T any, R interface {
	*T
	runtime.Routing
}](ctx context.Context, call runtime.Call, request runtime.Record) (R, error) {
	p, err := placeOf(ctx, "choose")
	if err != nil {
		return nil, err
	}
	s := p.step
	if s.cfg.Model == nil {
		return nil, runtime.Errorf(runtime.CodeInvalid, "choose",
			"there is no model: set Config.Model")
	}
	text, err := s.nodePrompt(p.node, call, request)
	if err != nil {
		return nil, err
	}
	n := s.node(p.node)
	found := runtime.Row(s.tables.Routings, n.Routing)
	branches := found.Branches
	var allowed func(string) bool
	if call.Allowed != nil {
		allowed = func(name string) bool { return slices.Contains(call.Allowed, name) }
		branches = slices.DeleteFunc(slices.Clone(branches), func(b runtime.BranchRow) bool {
			return !allowed(b.Name)
		})
	}
	var out R
	err = s.askModel(ctx, &modelCall{model: s.cfg.Model, name: "model/" + s.roundPrefix(),
		live: true},
		llm.Request{
			Prompt: text, SchemaName: found.Name,
			Schema: func(d runtime.Dialect) string { return s.program.Schemas.Union(branches, d) },
		}, func(reply []byte) error {
			routing, err := s.program.DecodeReply(p.node, reply, allowed)
			if err != nil {
				return err
			}
			var ok bool
			if out, ok = routing.(R); !ok {
				return runtime.Errorf(runtime.CodeInvalid, "choose", "node %s answers with %s",
					n.Key, found.Name)
			}
			return nil
		})
	return out, err
}

type placeKey struct{}

// place is the value in a handler's context.
type place struct {
	step *stepRun
	node int
}

// placeOf returns the value in a handler's context, or CodeInvalid for any other context.
func placeOf(ctx context.Context, op string) (*place, error) {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok {
		return nil, runtime.Errorf(runtime.CodeInvalid, op,
			"this context is not that of a node: pass on the one the handler got")
	}
	return p, nil
}
