package dialogue

import (
	"context"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// pcListen is the step of the root frame that goes on when a flow has ended.
const pcListen = "listen"

// rootState is the state of the root frame, which is below all flows from the first message of a
// turn until no flow is left.
type rootState struct {
	Later []runtime.Command `json:"later,omitempty"`
	Last  flowResult        `json:"last,omitzero"`
	Said  bool              `json:"said,omitempty"`

	handed *handoffNote
}

// runRoot runs the root frame.
func (m *Machine) runRoot(ctx context.Context, a *thread.Activation, v *replies) (thread.Transition,
	error) {
	var l rootState
	switch a.Frame.PC {
	case "":
		text, _ := messageText(a.Frame.Input)
		if v.rejectTooLong(text, a.Frame.Input) {
			return v.addReplies(a, thread.Return(&l.Last)), nil
		}
		q := m.newQuery(ctx, a, v.language, text)
		got, err := m.understand(ctx, &q)
		if err != nil {
			return thread.Transition{}, err
		}
		l.handleMessage(v, &got, a.Turn == 1)
	default:
		if err := decodeStored(a, a.Frame.Locals, &l); err != nil {
			return thread.Transition{}, err
		}
		if len(a.Frame.Children) > 0 {
			l.resumeAfterFlow(v, &a.Frame.Children[0])
		}
	}
	l.Said = l.Said || len(v.said) > 0
	switch {
	case l.handed != nil:
		return v.addReplies(a, thread.HandOff(l.handed)), nil
	case len(l.Later) > 0:
		first, rest := firstGroup(l.Later)
		l.Later = rest
		return v.addReplies(a, thread.Call(pcListen, &l, m.beginFlow(first, 1, l.Said))), nil
	case !l.Said:
		v.addResponse("anything_else")
	}
	return v.addReplies(a, thread.Return(&l.Last)), nil
}

// resumeAfterFlow adds the pending flows of a flow that has ended.
func (l *rootState) resumeAfterFlow(v *replies, c *thread.Child) {
	r := v.readChild(c)
	l.Later, l.Said = append(r.Rest, l.Later...), r.Said
	l.Last = flowResult{Flow: r.Flow, Outcome: r.Outcome, Outputs: r.Outputs, Failure: r.Failure}
}

// handleMessage handles a message while no flow is active: it queues the flows to start. first: it
// begins the thread.
func (l *rootState) handleMessage(v *replies, got *understanding, first bool) {
	m := v.m
	own, starts, _ := v.splitByFlow(got.Commands, nil)
	lost := len(got.Commands) == 0 && got.Failed == ""
	var early []runtime.Command
	for _, c := range own {
		switch c.Type {
		case runtime.CommandSet, runtime.CommandCorrect:
			// it came before the flow that it belongs to
			early = append(early, c)
		case runtime.CommandCancel:
			v.addResponse("nothing_to_cancel")
		case runtime.CommandAffirm, runtime.CommandDeny:
			v.addResponse("nothing_to_confirm")
		case runtime.CommandClarify:
			f := m.byName[c.Text]
			if f == nil || f.Hidden {
				f = nil
			}
			v.explainTopic(c.Text, f, nil)
		case runtime.CommandChitchat:
			v.replyChitchat(c.Text)
		case runtime.CommandHandoff:
			v.addResponse("handoff")
			l.handed = &handoffNote{Reason: c.Text}
			return
		default:
			lost = true
		}
	}
	if len(starts) > 0 {
		starts = slices.Insert(starts, 1, early...)
	} else {
		lost = lost || len(early) > 0
	}
	l.Later = starts
	otherwise := 0
	switch {
	case len(starts) > 0 || got.Failed != "":
	case first:
		otherwise = m.tables.Welcome
	case lost:
		otherwise = m.tables.Fallback
	}
	switch {
	case otherwise > 0:
		l.Later = []runtime.Command{{Type: runtime.CommandStart, Flow: m.flows[otherwise-1].Name}}
	case got.Failed != "":
		v.reportNotUnderstood(got.failure())
	case lost && first && len(own)+len(starts) == 0:
		v.addResponse("welcome")
	case lost:
		v.addResponse("not_understood")
	}
}
