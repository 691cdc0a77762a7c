package workflow

import (
	"encoding/json"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/prompt"
)

// nodePrompt is what the model of a node's turn reads.
func (s *step) nodePrompt(node int, call runtime.Call, request runtime.Record) (string, error) {
	data, err := runtime.Encode(request)
	if err != nil {
		return "", err
	}
	text, err := s.cfg.Prompts.Node(prompt.View{
		Node: node, Request: data, Allowed: call.Allowed, History: s.history(), Answer: call.Answer,
	})
	if err != nil {
		return "", err
	}
	if call.Results != nil {
		text += "\n\n## What the fan-out returned\n\n" + prompt.Data("json", string(call.Results))
	}
	return text, nil
}

// resolutionPrompt is what the model of the unified handler reads.
func (s *step) resolutionPrompt(origin, route int, answer json.RawMessage) (string, error) {
	v := s.raisedView(origin)
	v.Allowed, v.Answer = []string{s.tables.Routes[route-1].Field}, answer
	return s.cfg.Prompts.Resolution(v)
}

// reviewPrompt is what the model reads that judges in place of a person.
func (s *step) reviewPrompt(origin int) (string, error) {
	return s.cfg.Prompts.Review(s.raisedView(origin))
}

func (s *step) raisedView(origin int) prompt.View {
	node := s.tables.Routes[origin-1].Node
	return prompt.View{
		Node: node, Request: s.j.Last[s.node(node).Key].Request, History: s.history(),
		Interrupt: s.interruptRow(s.j.Raised.Name), Asked: s.j.Raised.Request,
	}
}

// repairPrompt is the prompt again, with what was wrong in the reply.
func (s *step) repairPrompt(text, reply string, wrong error) (string, error) {
	more, err := s.cfg.Prompts.Repair(reply, wrong)
	if err != nil {
		return "", err
	}
	return text + "\n\n" + more, nil
}

// history is the trail of the lane, its interrupts included, without the present turn.
func (s *step) history() []prompt.Visit {
	var out []prompt.Visit
	trail := s.j.Trail
	if s.j.Raised == nil && len(trail) > 0 {
		trail = trail[:len(trail)-1]
	}
	for _, v := range trail {
		row := prompt.Visit{Node: s.byKey(v.Node), Request: s.requestRow(v.Type)}
		if v.Interrupt != "" {
			row = prompt.Visit{Node: row.Node, Interrupt: s.interruptRow(v.Interrupt), Type: v.Type, Reason: v.Reason}
		}
		out = append(out, row)
	}
	return out
}

func (s *step) interruptRow(name string) int {
	return slices.IndexFunc(s.tables.Interrupts, func(r runtime.InterruptRow) bool { return r.Name == name }) + 1
}

func (s *step) requestRow(name string) int {
	return slices.IndexFunc(s.tables.Requests, func(r runtime.RequestRow) bool { return r.Name == name }) + 1
}
