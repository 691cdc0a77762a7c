package tui

import (
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/workflow"
)

// writeReason is why running work is sent elsewhere.
const writeReason = "reason"

// reroute is a job: the event goes to the thread. The same event again is taken once.
type (
	reroute  struct{ workflow.Event }
	rerouted struct { // what became of it
		event workflow.Event
		ack   string
		err   error
	}
)

func (reroute) job() {}

// sources are the frames that run a node which can be told to interrupt. A token for the thread alone
// may not tell it: the server takes events from the operator.
func (s *state) sources() []*web.Frame {
	if !s.operator || s.snap == nil || s.snap.Paused || s.snap.Status != runtime.StatusRunning {
		return nil
	}
	var out []*web.Frame
	for n := range s.snap.Frames {
		f := &s.snap.Frames[n]
		if f.State == runtime.FrameReady && s.teller.names.sources[f.PC] != "" {
			out = append(out, f)
		}
	}
	return out
}

// elsewhere opens the form that sends running work to another node.
func (s *state) elsewhere() {
	called, sources := s.teller.names, s.sources()
	f := &form{send: true}
	for _, from := range sources {
		for _, to := range called.targets {
			label := called.node(to)
			if len(sources) > 1 {
				label = called.node(from.PC) + " to " + label
			}
			f.options = append(f.options, option{
				label: label, routeTo: to, frame: from.ID, word: called.sources[from.PC], write: writeReason,
			})
		}
	}
	if len(f.options) > 0 {
		s.form, s.notice = f, ""
	}
}

// sendElsewhere sends the event of the form.
func (s *state) sendElsewhere() []job {
	f := s.form
	reason := strings.TrimSpace(f.field.text())
	if f.refused = ""; reason == "" {
		f.refused = "say why"
		return nil
	}
	event := workflow.Event{
		EventID: f.event.EventID, NodeID: f.chosen.frame, SourceAgentType: f.chosen.word,
		RerouteToAgentType: f.chosen.routeTo, InterruptType: "HUMAN_REVIEW", Reason: reason,
	}
	if event.EventID == "" || event.NodeID != f.event.NodeID ||
		event.RerouteToAgentType != f.event.RerouteToAgentType || reason != f.event.Reason {
		event.EventID = s.newRequest()
	}
	f.event, f.sending = event, true
	return []job{reroute{event}}
}

// rerouted takes in what became of an event.
func (s *state) rerouted(e *rerouted) []job {
	f := s.form
	if f == nil || !f.send {
		return s.reload()
	}
	f.sending = false
	switch to := s.teller.names.node(e.event.RerouteToAgentType); {
	case e.err != nil && runtime.CodeOf(e.err) == runtime.CodeUnavailable:
		f.refused = "the server cannot be reached. Press the same key again: it is taken once"
		return nil
	case e.err != nil:
		f.refused = refusalText(e.err)
		return nil
	case e.ack == workflow.IgnoredTargetNotActive:
		s.notice = "That node is no longer running: nothing was sent."
	case e.ack == workflow.Queued:
		s.notice = "Sent to " + to + ", after the order that came before."
	default:
		s.notice = "The node is told to interrupt; then the work goes on at " + to + "."
	}
	s.form = nil
	return s.reload()
}
