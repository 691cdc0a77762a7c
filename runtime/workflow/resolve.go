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

// target is where an interrupt continues: where the person sent it, else where the pending reroute event sends it, else its origin.
func (s *step) target(origin int, routeTo string) (route int, err error) {
	if routeTo == "" && s.event != nil {
		routeTo = s.event.Target
	}
	if routeTo == "" {
		return origin, nil
	}
	if route = s.node(s.byAgentType(routeTo)).Route; route == 0 {
		return 0, runtime.Permanent(&runtime.Error{
			Code: runtime.CodeNoRoute, Op: "handle interrupt", Err: fmt.Errorf("%s has no route", routeTo),
		})
	}
	return route, nil
}

// resolve finds the request to go on with. With a stored one that may be reused, or without a model, none is asked. A lane of a fan-out whose
// interrupt went back to its dispatch runs its own node again, with its share of the request: its siblings keep what they have done.
func (s *step) resolve(ctx context.Context, origin, route int, answer json.RawMessage) (thread.Transition, error) {
	to := s.tables.Routes[route-1]
	n := s.node(to.Node)
	next := s.lane(n)
	last, had := s.j.Last[next.Key]
	switch {
	case had && (n.Reuse || s.cfg.Model == nil):
		return s.goOn(next, last, answer, n.Key == s.j.Node)
	case s.cfg.Model == nil:
		last, err := s.filled(ctx, n, to.Request)
		if err != nil {
			return thread.Transition{}, err
		}
		return s.goOn(next, last, answer, false)
	}
	routing, err := s.chooseRoute(ctx, origin, route, answer)
	if err != nil {
		return thread.Transition{}, err
	}
	v := View{Thread: s.a.Thread, Frame: s.a.Frame.ID, Node: n.Key, Handler: true}
	branch, err := s.finished(ctx, v, routing)
	if err != nil {
		return thread.Transition{}, err
	}
	request, err := runtime.Encode(branch.Value)
	if err != nil {
		return thread.Transition{}, err
	}
	typeName := row(s.tables.Requests, to.Request).Name
	if next != n {
		typeName = last.Type
		if request = s.share(n, request); request == nil {
			request = last.Request
		}
	}
	if request, err = keepHidden(s.program.Request(typeName), request, last.Request, s.childKey); err != nil {
		return thread.Transition{}, err
	}
	return s.goOn(next, stored{typeName, request}, answer, false)
}

// goOn continues at a node with a request and the person's answer. done says that what the node's children have done is done. The reroute
// event, if there was one, is used up in this very commit.
func (s *step) goOn(n *runtime.Node, next stored, answer json.RawMessage, done bool) (thread.Transition, error) {
	request, err := s.withFeedback(n, next)
	if err != nil {
		return thread.Transition{}, err
	}
	frame, moved, event := s.a.Frame.ID, n.Key != s.j.Node, s.event
	results, lost, round := s.j.Results, s.j.Lost, s.j.Round
	s.j.enter(n, next.Type, request, true)
	s.j.Answer = answer
	if done {
		s.j.Results, s.j.Lost = results, lost
	}
	to := thread.Advance
	if !moved { // the same visit: what the node did before it asked is done
		to, s.j.Round = thread.Back, round+1
	}
	return to(n.Key, s.j).Also(func(c *runtime.Change) {
		if now := c.Thread.PendingReroute(frame); event != nil && now != nil && now.ID == event.ID {
			c.TakeReroute(frame) // one that came later is for the next interrupt
		}
		if moved {
			c.ExpireReroutes(frame)
		}
	}), nil
}

// share is the request of this lane within that of its dispatch.
func (s *step) share(dispatch *runtime.Node, request json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	var each []json.RawMessage
	if json.Unmarshal(request, &fields) != nil || json.Unmarshal(fields[dispatch.Dispatch.Each], &each) != nil || len(each) < s.j.Index {
		return nil
	}
	return each[s.j.Index-1]
}

// keepHidden fills the hidden fields that a request lacks from a stored one: a model never sets or clears them, and what a decorator has set
// stays. A required one that nobody has set is there all the same, with the zero value of its Go field. child makes the context id that goes on
// out of the stored one; nil keeps it. The result is checked, and in the order of its type, of which v is a fresh value.
func keepHidden(v runtime.Record, request, from json.RawMessage, child func(json.RawMessage) json.RawMessage) (json.RawMessage, error) {
	var now, old, unset map[string]json.RawMessage
	if fresh, err := runtime.Encode(v); err != nil || json.Unmarshal(fresh, &unset) != nil {
		return nil, invalid("read request", "it has no JSON form: %v", err)
	}
	if err := json.Unmarshal(request, &now); err != nil {
		return nil, invalid("read request", "it is no object: %v", err)
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
		if given, has := now[f.Name]; !f.Hidden || !had || has && !bytes.Equal(given, unset[f.Name]) {
			continue
		}
		if f.Name == "contextId" && child != nil {
			value = child(value)
		}
		now[f.Name] = value
	}
	return rebuild(v, now)
}

// childKey makes a key below another one: the parent's, a slash, and the 26 digits of an id made from the step, so that a repeated step makes
// the same.
func (s *step) childKey(parent json.RawMessage) json.RawMessage {
	var key string
	if json.Unmarshal(parent, &key) != nil || !strings.HasPrefix(key, "ak:") {
		return parent
	}
	child, err := runtime.Encode(key + "/" + digits(fmt.Sprintf("%s/%s/%s/%d", s.a.Thread, s.a.Frame.ID, s.a.Frame.PC, s.a.Frame.Visit)))
	if err != nil {
		return parent
	}
	return child
}

// withFeedback puts what a person said into the field that the node names for it.
func (s *step) withFeedback(n *runtime.Node, next stored) (json.RawMessage, error) {
	if n.Feedback == "" || s.said == nil {
		return next.Request, nil
	}
	var text string
	if json.Unmarshal(s.said, &text) != nil {
		text = string(s.said)
	}
	said, err := runtime.Encode(text)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(next.Request, &fields); err != nil {
		return nil, err
	}
	v := s.program.Request(next.Type)
	if !hasField(v.Shape(), n.Feedback) {
		return next.Request, nil
	}
	fields[n.Feedback] = said
	return rebuild(v, fields)
}

// rebuild makes a record of its fields, checked and in the order of its type.
func rebuild(v runtime.Record, fields map[string]json.RawMessage) (json.RawMessage, error) {
	data, err := runtime.Encode(fields)
	if err != nil {
		return nil, err
	}
	if err := runtime.Unmarshal(data, v); err != nil {
		return nil, runtime.Permanent(err)
	}
	return runtime.Encode(v)
}

// chooseRoute lets the model fill the one route that is legal.
func (s *step) chooseRoute(ctx context.Context, origin, route int, answer json.RawMessage) (routing runtime.Routing, err error) {
	row := s.tables.Routes[route-1]
	text, err := s.resolutionPrompt(origin, route, answer)
	if err != nil {
		return nil, err
	}
	words := routeSet(route, len(s.tables.Routes))
	err = s.reply(ctx, &asking{model: s.cfg.Model, name: "model/"}, llm.Request{
		Prompt: text, SchemaName: s.tables.Routings[0].Name,
		Schema: func(d runtime.Dialect) string { return s.program.RouteSchema(words, d) },
	}, func(reply []byte) (err error) {
		routing, err = s.program.DecodeReply(0, reply, func(name string) bool { return name == row.Field })
		return err
	})
	return routing, err
}

// routeSet is the set of one route, as generated code writes it.
func routeSet(route, routes int) []uint64 {
	words := make([]uint64, (routes+63)/64)
	words[(route-1)/64] |= 1 << ((route - 1) % 64)
	return words
}

// reply asks a model, as an effect, until read takes what it says. A reply that is refused goes back
// once, with what is wrong in it. r is the request without the news.
func (s *step) reply(ctx context.Context, a *asking, r llm.Request, read func(reply []byte) error) error {
	prefix, wrong := a.name, error(nil)
	var out llm.Response
	a.write = func(news string) (_ llm.Request, err error) {
		asked := r
		if news != "" {
			asked.Prompt += "\n\n" + news
		}
		if wrong != nil {
			asked.Prompt, err = s.repairPrompt(asked.Prompt, string(out.Reply()), wrong)
		}
		return asked, err
	}
	for try := 1; ; try++ {
		a.name = fmt.Sprintf("%s%d", prefix, try)
		next, err := s.generate(ctx, a)
		if err != nil {
			return err
		}
		out = next
		wrong = read(out.Reply())
		switch {
		case wrong == nil:
			return nil
		case try == 2: // both replies are stored: another try would find them again
			return runtime.Permanent(fmt.Errorf("the model's reply was refused twice: %w", wrong))
		}
	}
}

// reviewed is what a reviewer answers.
const reviewed = `{"type":"object","properties":{"approved":{"type":"boolean","description":"Whether the work may go on as it is meant to."},` +
	`"feedback":{"type":"string","description":"The decision in words, with all that whoever goes on has to know."}},` +
	`"required":["approved","feedback"],"additionalProperties":false}`

// review lets the reviewer judge an interrupt. It has a schema of its own.
func (s *step) review(ctx context.Context, origin int) (answer json.RawMessage, err error) {
	if s.cfg.Reviewer == nil {
		return nil, invalid("handle interrupt", "%s needs a reviewer: set Config.Reviewer", agentReview)
	}
	text, err := s.reviewPrompt(origin)
	if err != nil {
		return nil, err
	}
	r := llm.Request{Prompt: text, SchemaName: "Review", Schema: func(runtime.Dialect) string { return reviewed }}
	err = s.reply(ctx, &asking{model: s.cfg.Reviewer, name: "review/"}, r, func(reply []byte) error {
		var verdict review
		if err := runtime.DecodeReply(reply, &verdict, nil); err != nil {
			return err
		}
		answer, err = runtime.Encode(verdict)
		return err
	})
	return answer, err
}

// review is what a reviewer answers.
type review struct {
	Approved bool   `json:"approved"`
	Feedback string `json:"feedback"`
}

var reviewShape = runtime.Shape{Name: "Review", Fields: []runtime.Field{{Name: "approved", Required: true}, {Name: "feedback", Required: true}}}

// Shape returns the two fields.
func (*review) Shape() *runtime.Shape { return &reviewShape }

// DecodeField reads one of them.
func (r *review) DecodeField(d *runtime.Decoder, name string) {
	if name == "approved" {
		runtime.DecodeBool(d, &r.Approved)
	} else {
		runtime.DecodeString(d, &r.Feedback)
	}
}

// Choose lets the model choose the routing of the node whose handler calls it, from the node's prompt and the schema of its routing. A reply
// that breaks the rules goes back to the model once. The prompt has the reroute event that is pending when the model is asked, and a change that
// a person gave after a pause. The call is an effect of [thread.Do]: its reply is stored at most 100 ms after it came. Until then a process that
// dies lets the call be made again; afterwards it is made anew only when the node's own interrupt has come back to it.
func Choose[T any, R interface {
	*T
	runtime.Routing
}](ctx context.Context, call runtime.Call, request runtime.Record) (R, error) {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok {
		return nil, invalid("choose", "this context is not that of a node: pass on the one the handler got")
	}
	s := p.step
	if s.cfg.Model == nil {
		return nil, invalid("choose", "there is no model: set Config.Model")
	}
	text, err := s.nodePrompt(p.node, call, request)
	if err != nil {
		return nil, err
	}
	n := s.node(p.node)
	found := row(s.tables.Routings, n.Routing)
	branches := found.Branches
	var allowed func(string) bool
	if call.Allowed != nil {
		allowed = func(name string) bool { return slices.Contains(call.Allowed, name) }
		branches = slices.DeleteFunc(slices.Clone(branches), func(b runtime.BranchRow) bool { return !allowed(b.Name) })
	}
	var out R
	err = s.reply(ctx, &asking{model: s.cfg.Model, name: "model/" + s.round(), live: true}, llm.Request{
		Prompt: text, SchemaName: found.Name,
		Schema: func(d runtime.Dialect) string { return s.program.Schemas.Union(branches, d) },
	}, func(reply []byte) error {
		routing, err := s.program.DecodeReply(p.node, reply, allowed)
		if err != nil {
			return err
		}
		if out, ok = routing.(R); !ok {
			return invalid("choose", "node %s answers with %s", n.Key, found.Name)
		}
		return nil
	})
	return out, err
}

type placeKey struct{}

// place is what a handler's context knows of where it runs.
type place struct {
	step    *step
	node    int
	request runtime.Record
}
