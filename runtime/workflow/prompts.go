package workflow

import (
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/prompt"
)

// nodePrompt returns the prompt for the model of a node.
func (s *stepRun) nodePrompt(node int, call runtime.Call, request runtime.Record) (string, error) {
	data, err := runtime.Encode(request)
	if err != nil {
		return "", err
	}
	text, err := s.cfg.Prompts.Node(prompt.View{
		Node: node, Request: data, Allowed: call.Allowed, History: s.visitHistory(),
		Answer: call.Answer,
	})
	if err != nil {
		return "", err
	}
	if call.Results != nil {
		text += "\n\n## What the fan-out returned\n\n" + prompt.Data("json", string(call.Results))
	}
	return text, nil
}

// raisedView is what the models of the unified handler and of reviews read of the interrupt.
func (s *stepRun) raisedView(origin int) prompt.View {
	node := s.tables.Routes[origin-1].Node
	return prompt.View{
		Node: node, Request: s.state.Last[s.node(node).Key].Request, History: s.visitHistory(),
		Interrupt: s.interruptRow(s.state.Raised.Name), Asked: s.state.Raised.Request,
	}
}

// visitHistory returns the trail of the frame with its interrupts, without the current visit.
func (s *stepRun) visitHistory() []prompt.Visit {
	var out []prompt.Visit
	trail := s.state.Trail
	if s.state.Raised == nil && len(trail) > 0 {
		trail = trail[:len(trail)-1]
	}
	for _, v := range trail {
		row := prompt.Visit{Node: s.nodeByKey(v.Node), Request: s.requestRow(v.Type)}
		if v.Interrupt != "" {
			row = prompt.Visit{Node: row.Node, Interrupt: s.interruptRow(v.Interrupt), Type: v.Type,
				Reason: v.Reason}
		}
		out = append(out, row)
	}
	return out
}

func (m *Machine) interruptRow(name string) int {
	return slices.IndexFunc(m.tables.Interrupts, func(r runtime.InterruptRow) bool {
		return r.Name == name
	}) + 1
}

func (m *Machine) requestRow(name string) int {
	return slices.IndexFunc(m.tables.Requests, func(r runtime.RequestRow) bool {
		return r.Name == name
	}) + 1
}
