package workflow

import (
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
	if routeTo == "" && s.a.Reroute != nil {
		routeTo = s.a.Reroute.Target
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

// resolve finds the request to go on with. With a stored one that may be reused, or without a model, none is asked.
func (s *step) resolve(ctx context.Context, origin, route int, answer json.RawMessage) (thread.Transition, error) {
	to := s.tables.Routes[route-1]
	n := s.node(to.Node)
	last, had := s.j.Last[n.Key]
	if had && (n.Reuse || s.cfg.Model == nil) {
		return s.goOn(n, last.Type, last.Request, answer)
	}
	if s.cfg.Model == nil {
		return thread.Transition{}, s.missing(n, "an interrupt goes on there, and no model can make one")
	}
	routing, err := s.chooseRoute(ctx, origin, route, answer)
	if err != nil {
		return thread.Transition{}, err
	}
	v := View{Thread: s.a.Thread, Frame: s.a.Frame.ID, Node: n.Key, Handler: true}
	for _, finish := range s.cfg.Finish {
		if routing, err = finish(ctx, v, routing); err != nil {
			return thread.Transition{}, err
		}
	}
	branch, err := routing.Selected()
	if err != nil {
		return thread.Transition{}, err
	}
	request, err := runtime.Encode(branch.Value)
	if err != nil {
		return thread.Transition{}, err
	}
	typeName := row(s.tables.Requests, to.Request).Name
	if had && last.Type == typeName {
		if request, err = s.keepHidden(typeName, request, last.Request); err != nil {
			return thread.Transition{}, err
		}
	}
	return s.goOn(n, typeName, request, answer)
}

// goOn continues at a node with a request and the person's answer. A lane of a fan-out whose interrupt went back to its dispatch runs its own
// node again: its siblings keep what they have done. The reroute event, if there was one, is used up in this very commit.
func (s *step) goOn(n *runtime.Node, typeName string, request, answer json.RawMessage) (thread.Transition, error) {
	frame := s.a.Frame.ID
	moved := n.Key != s.j.Node
	if s.j.Index > 0 && n.Dispatch != nil {
		leaf := s.node(s.byKey(s.j.Node))
		own := s.j.Last[leaf.Key]
		if revised := s.share(n, request); revised != nil {
			kept, err := s.keepHidden(own.Type, revised, own.Request)
			if err != nil {
				return thread.Transition{}, err
			}
			own.Request = kept
		}
		n, typeName, request, moved = leaf, own.Type, own.Request, false
	}
	request, err := s.withFeedback(n, typeName, request, answer)
	if err != nil {
		return thread.Transition{}, err
	}
	s.j.enter(n.Key, typeName, request)
	s.j.Answer = answer
	return thread.Advance(n.Key, s.j).Also(func(c *runtime.Change) {
		c.TakeReroute(frame)
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

// keepHidden copies the hidden fields of the stored request into the one that goes on: a model never sets or clears them. A context id
// becomes a new child of the stored one.
func (s *step) keepHidden(typeName string, request, from json.RawMessage) (json.RawMessage, error) {
	v := s.program.Request(typeName)
	if v == nil {
		return request, nil
	}
	var now, old map[string]json.RawMessage
	if err := json.Unmarshal(request, &now); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(from, &old); err != nil {
		return nil, err
	}
	shape := v.Shape()
	for i := range shape.Fields {
		f := &shape.Fields[i]
		if !f.Hidden {
			continue
		}
		delete(now, f.Name)
		if value, ok := old[f.Name]; ok {
			now[f.Name] = value
		}
		if f.Name == "contextId" && now[f.Name] != nil {
			now[f.Name] = s.childKey(now[f.Name])
		}
	}
	return s.rebuild(typeName, now)
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
func (s *step) withFeedback(n *runtime.Node, typeName string, request, answer json.RawMessage) (json.RawMessage, error) {
	if n.Feedback == "" || answer == nil {
		return request, nil
	}
	var text string
	if json.Unmarshal(answer, &text) != nil {
		text = string(answer)
	}
	said, err := runtime.Encode(text)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(request, &fields); err != nil {
		return nil, err
	}
	fields[n.Feedback] = said
	return s.rebuild(typeName, fields)
}

// rebuild makes a request of its fields, checked and in the order of its type.
func (s *step) rebuild(typeName string, fields map[string]json.RawMessage) (json.RawMessage, error) {
	data, err := runtime.Encode(fields)
	if err != nil {
		return nil, err
	}
	v, err := s.program.DecodeRequest(typeName, data)
	if err != nil {
		return nil, runtime.Permanent(err)
	}
	return runtime.Encode(v)
}

// chooseRoute lets the model fill the one route that is legal.
func (s *step) chooseRoute(ctx context.Context, origin, route int, answer json.RawMessage) (runtime.Routing, error) {
	row := s.tables.Routes[route-1]
	text, err := s.resolutionPrompt(origin, route, answer)
	if err != nil {
		return nil, err
	}
	words := routeSet(route, len(s.tables.Routes))
	return s.reply(ctx, s.cfg.Model, llm.Request{
		Prompt: text, SchemaName: "InterruptRouting",
		Schema: func(d runtime.Dialect) string { return s.program.RouteSchema(words, d) },
	}, 0, func(name string) bool { return name == row.Field })
}

// routeSet is the set of one route, as generated code writes it.
func routeSet(route, routes int) []uint64 {
	words := make([]uint64, (routes+63)/64)
	words[(route-1)/64] |= 1 << ((route - 1) % 64)
	return words
}

// reply asks a model for a routing, as an effect. A reply that is refused goes back once, with what is wrong in it.
func (s *step) reply(ctx context.Context, model llm.Model, r llm.Request, node int, allowed func(string) bool) (runtime.Routing, error) {
	prompt := r.Prompt
	var wrong error
	for try := 1; try <= 2; try++ {
		out, err := thread.Do(ctx, fmt.Sprintf("model/%d", try), func(ctx context.Context, key string) (llm.Response, error) {
			r.Key = key
			return model.Generate(ctx, r)
		})
		if err != nil {
			return nil, err
		}
		routing, err := s.program.DecodeReply(node, out.Reply(), allowed)
		if err == nil {
			return routing, nil
		}
		wrong = err
		if r.Prompt, err = s.repairPrompt(prompt, string(out.Reply()), wrong); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("the model's reply was refused twice: %w", wrong)
}

// review lets the reviewer judge an interrupt. It has a schema of its own and takes no reroute event.
func (s *step) review(ctx context.Context, origin int) (json.RawMessage, error) {
	if s.cfg.Reviewer == nil {
		return nil, invalid("handle interrupt", "%s needs a reviewer: set Config.Reviewer", agentReview)
	}
	text, err := s.reviewPrompt(origin)
	if err != nil {
		return nil, err
	}
	out, err := thread.Do(ctx, "review/1", func(ctx context.Context, key string) (llm.Response, error) {
		return s.cfg.Reviewer.Generate(ctx, llm.Request{Prompt: text, Key: key})
	})
	if err != nil {
		return nil, err
	}
	return runtime.Encode(out.Text)
}

// Choose lets the model choose the routing of the node whose handler calls it, from the node's prompt and the schema of its routing. A reply
// that breaks the rules goes back to the model once. The call is an effect: it is made once per visit, whatever happens to the process.
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
	routing, err := s.reply(ctx, s.cfg.Model, llm.Request{
		Prompt: text, SchemaName: found.Name,
		Schema: func(d runtime.Dialect) string { return s.program.Schemas.Union(branches, d) },
	}, p.node, allowed)
	if err != nil {
		return nil, err
	}
	out, ok := routing.(R)
	if !ok {
		return nil, invalid("choose", "node %s answers with %s", n.Key, found.Name)
	}
	return out, nil
}

type placeKey struct{}

// place is what a handler's context knows of where it runs.
type place struct {
	step    *step
	node    int
	request runtime.Record
}
