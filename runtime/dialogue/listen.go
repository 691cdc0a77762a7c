package dialogue

import (
	"context"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// pcListen is the step of the root frame that goes on when a flow has ended.
const pcListen = "listen"

// lobby is what the root frame keeps: it stands below all flows, from the message that begins a turn until no flow is left.
type lobby struct {
	Later []runtime.Command `json:"later,omitempty"`
	Last  result            `json:"last,omitzero"`
	Said  bool              `json:"said,omitempty"`

	handed *handed
}

// listen runs the root frame.
func (m *Machine) listen(ctx context.Context, a *thread.Activation, v *voice) (thread.Transition, error) {
	var l lobby
	switch a.Frame.PC {
	case "":
		text, _ := message(a.Frame.Input)
		if v.tooLong(text, a.Frame.Input) {
			return v.spoken(a, thread.Return(&l.Last)), nil
		}
		q := m.query(ctx, a, v.language, text)
		got, err := m.understand(ctx, &q)
		if err != nil {
			return thread.Transition{}, err
		}
		l.hear(v, &got, a.Turn == 1)
	default:
		if err := stored(a, a.Frame.Locals, &l); err != nil {
			return thread.Transition{}, err
		}
		if len(a.Frame.Children) > 0 {
			l.back(v, &a.Frame.Children[0])
		}
	}
	l.Said = l.Said || len(v.said) > 0
	switch {
	case l.handed != nil:
		return v.spoken(a, thread.HandOff(l.handed)), nil
	case len(l.Later) > 0:
		first, rest := group(l.Later)
		l.Later = rest
		return v.spoken(a, thread.Call(pcListen, &l, m.begin(first, 1, l.Said))), nil
	case !l.Said:
		v.respond("anything_else")
	}
	return v.spoken(a, thread.Return(&l.Last)), nil
}

// back takes what a flow has left to do.
func (l *lobby) back(v *voice, c *runtime.Child) {
	r := ended(c)
	l.Later, l.Said = append(r.Rest, l.Later...), r.Said
	if c.Failure != nil && !c.Skipped { // the engine ended it, and nobody has heard of that
		v.lost(c.Failure)
	}
	l.Last = result{Flow: r.Flow, Outcome: r.Outcome, Outputs: r.Outputs, Failure: r.Failure}
}

// hear takes a message while no flow is active: it starts flows, one after the other. first: it begins the thread.
func (l *lobby) hear(v *voice, got *heard, first bool) {
	m := v.m
	own, starts, _ := v.apart(got.Commands, nil)
	lost := len(got.Commands) == 0 && got.Failed == ""
	var early []runtime.Command
	for _, c := range own {
		switch c.Type {
		case runtime.CommandSet, runtime.CommandCorrect: // it came before the flow that it belongs to
			early = append(early, c)
		case runtime.CommandCancel:
			v.respond("nothing_to_cancel")
		case runtime.CommandAffirm, runtime.CommandDeny:
			v.respond("nothing_to_confirm")
		case runtime.CommandClarify:
			f := m.byName[c.Text]
			if f == nil || f.Hidden {
				f = nil
			}
			v.clarify(c.Text, f, nil)
		case runtime.CommandChitchat:
			v.chat(c.Text)
		case runtime.CommandHandoff:
			v.respond("handoff")
			l.handed = &handed{Reason: c.Text}
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
		v.fails(got.failure())
	case lost && first && len(own)+len(starts) == 0:
		v.respond("welcome")
	case lost:
		v.respond("not_understood")
	}
}
