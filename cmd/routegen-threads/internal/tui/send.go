package tui

import (
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/workflow"
)

// reroute is a job: it sends work that runs to another node. The same event id is taken once.
type reroute struct{ workflow.Event }

func (reroute) job() {}

// openSendForm opens the form that sends running work to another node, if any work can be sent.
func (s *state) openSendForm() {
	if options := s.sendOptions(); options != nil {
		ask := web.Interrupt{Interrupt: thread.Interrupt{Kind: firstLine(nil, "send")}}
		s.form = &form{ask: ask, options: options, field: fieldOf(s.drafts[""])}
		s.notice = ""
	}
}

// isSend reports whether the form sends work elsewhere, and answers no question.
func (f *form) isSend() bool { return f.ask.ID == "" }

// sendOptions lists where each running node can be sent: to the routes of its program, if the
// server takes reroute events for it and the node can be told to interrupt. Only the operator may.
func (s *state) sendOptions() (out []option) {
	g, names, nodes := s.teller.names.reroutes, s.teller.names, 0
	if !s.operator || g == nil || s.snap == nil || s.snap.Paused ||
		s.snap.Status != thread.StatusRunning {
		return nil
	}
	for i := range s.snap.Frames {
		f := &s.snap.Frames[i]
		source := interruptible(g, f)
		if source == "" {
			continue
		}
		nodes++
		for _, to := range g.Routes {
			event, _ := runtime.Encode(workflow.Event{ // cannot fail: texts
				NodeID: f.ID, SourceAgentType: source, RerouteToAgentType: to.AgentType,
				InterruptType: "HUMAN_REVIEW"})
			out = append(out, option{label: names.nodeName(to.AgentType), routeTo: to.AgentType,
				value: event, word: source, write: writeReason})
		}
	}
	for i := range out {
		if nodes > 1 {
			out[i].label = names.nodeName(out[i].word) + " to " + out[i].label
		}
	}
	return out
}

// interruptible returns the agent type of the node that a frame runs, or "" if the node cannot be
// told to interrupt.
func interruptible(g *web.Graph, f *web.Frame) string {
	if f.Machine != g.Machine || f.State != thread.FrameReady && f.State != thread.FrameRetrying {
		return ""
	}
	for i := range g.Nodes {
		for _, b := range g.Nodes[i].Branches {
			if g.Nodes[i].Key == f.PC && b.Kind == "interrupt" {
				return g.Nodes[i].AgentType
			}
		}
	}
	return ""
}

// sendLine returns a line of the table about the node that the form sends elsewhere, and the one
// where the work goes on.
func (s *state) sendLine(key string) string {
	o, names := &s.form.options[s.form.at], s.teller.names
	return firstLine(func(fact string) string {
		return names.nodeName(map[string]string{"from": o.word, "to": o.routeTo}[fact])
	}, key)
}
