package dialogue

import (
	"encoding/json"
	"strconv"

	"github.com/routegen/routegen/runtime"
)

// messageHandler handles the commands of one message in their order, each once.
type messageHandler struct {
	*work

	st *step // the question; nil: the frame begins

	changed           bool            // the message had an effect
	answer            json.RawMessage // fills the slot of a collect
	yes, no           bool            // at a confirm
	unexpectedVerdict bool            // a yes or a no without a question
	refused           bool            // the value for the slot of a collect is invalid
	corrected         bool            // a value was changed, or was to be
	explained         bool            // the user asked or chatted: not counted as an attempt
	notUnderstood     bool            // a command was not understood
	rejected          bool            // a command was understood but rejected
	corrections       []correction    // values that were changed
	reasked           []correction    // slots to ask for again
	out               move            // set if the frame continues elsewhere
	starts            []runtime.Command
}

// correction is a slot that the user has changed.
type correction struct {
	slot  *slot
	value json.RawMessage
	from  origin
}

// handleAnswer handles the answer to a question. A command that ends the frame comes first, then a
// value to ask for again, then the answer.
func (w *work) handleAnswer(st *step) move {
	h := &messageHandler{work: w, st: st}
	own, starts, unknown := w.splitByFlow(w.input.commands, w.f)
	h.starts, h.rejected = starts, unknown
	for i := range own {
		h.handleCommand(&own[i])
		if h.out.kind != moveNone {
			if i < len(own)-1 {
				w.addResponse("not_understood")
			}
			break
		}
	}
	h.reportUnused()
	return h.decideMove()
}

// splitByFlow splits commands into those for the asking flow, here, and the flows to start, each
// with its commands. here is nil if no flow asks. unknown reports a flow that cannot be started.
func (v *replies) splitByFlow(all []runtime.Command, here *flow) (own, starts []runtime.Command,
	unknown bool) {
	// the flow of the following commands; lost: it cannot be started
	into, lost := here, false
	for i, c := range all {
		if c.Type != runtime.CommandStart {
			switch {
			case lost:
			case into != here && (here == nil || c.Slot == "" || into.findSlot(c.Slot) != nil ||
				here.findSlot(c.Slot) == nil):
				starts = append(starts, c)
			default:
				own = append(own, c)
			}
			continue
		}
		f := v.m.startableFlow(all[i:])
		switch lost = f == nil; {
		case lost:
			v.addResponse("unknown_flow", "flow", spacedName(c.Flow))
			into, unknown = here, true
			continue
		case f == here: // it is active: the values are for it
			own = append(append(own, f.setCommands(c.Slots)...), runtime.Command{Type: commandHere})
		case f == into: // named twice
			starts = append(starts, f.setCommands(c.Slots)...)
		default:
			starts = append(starts, c)
		}
		into = f
	}
	return own, starts, unknown
}

// setCommands returns a set command for each value, in the order of the slots.
func (f *flow) setCommands(values map[string]json.RawMessage) []runtime.Command {
	var out []runtime.Command
	for i := range f.slots {
		if v, ok := values[f.slots[i].Name]; ok {
			out = append(out, runtime.Command{Type: runtime.CommandSet, Slot: f.slots[i].Name,
				Value: v})
		}
	}
	return out
}

// commandHere replaces the start of the active flow: the question is asked again.
const commandHere runtime.CommandType = "here"

// startableFlow returns the flow that the first command may start, or nil. Its trigger sees the
// values of the following commands.
func (m *Machine) startableFlow(from []runtime.Command) *flow {
	f := m.byName[from[0].Flow]
	if f == nil || f.Hidden {
		return nil
	}
	if f.Trigger == nil {
		return f
	}
	s := newState(f)
	take := func(slot *slot, raw json.RawMessage) {
		if v, wrong := slot.parse(raw, m.defaultLanguage()); wrong == "" {
			s.of(slot).value = v
		}
	}
	for i := range f.slots {
		if d := f.slots[i].Default; d != "" {
			s.slots[i].value = json.RawMessage(d)
		}
		take(&f.slots[i], from[0].Slots[f.slots[i].Name])
	}
	first, _ := firstGroup(from)
	for _, c := range first[1:] {
		if slot := f.findSlot(c.Slot); slot != nil &&
			(c.Type == runtime.CommandSet || c.Type == runtime.CommandCorrect) {
			take(slot, c.Value)
		}
	}
	if !s.isTrue(f.Trigger) {
		return nil
	}
	return f
}

// isSettable reports whether users may set a slot: one that is asked for, or an input of a flow
// that users may start.
func (f *flow) isSettable(s *slot) bool { return s.collect > 0 || s.Input && !f.Hidden }

// handleCommand handles one command. A start is not among them: it is not for the active frame.
func (h *messageHandler) handleCommand(c *runtime.Command) {
	h.explained = h.explained || c.Type == commandHere || c.Type == runtime.CommandClarify ||
		c.Type == runtime.CommandChitchat
	switch {
	case c.Type == commandHere:
	case c.Type == runtime.CommandSet, c.Type == runtime.CommandCorrect:
		h.handleSet(c)
	case c.Type == runtime.CommandClear, c.Type == runtime.CommandDeny && c.Slot != "":
		h.reaskSlot(c.Slot)
	case c.Type == runtime.CommandAffirm, c.Type == runtime.CommandDeny:
		h.handleVerdict(c.Type == runtime.CommandAffirm)
	case c.Type == runtime.CommandCancel && h.st != nil:
		h.out = move{kind: moveGoTo, to: h.st.OnCancel}
	case c.Type == runtime.CommandClarify:
		h.explainTopic(c.Text, h.f, h.expectedSlot())
	case c.Type == runtime.CommandChitchat:
		h.replyChitchat(c.Text)
	case c.Type == runtime.CommandHandoff:
		h.addResponse("handoff")
		h.out = move{kind: moveHandoff, note: handoffNote{Flow: h.f.Name, Reason: c.Text}}
		if h.st != nil {
			h.out.note = handoffNote{Flow: h.f.Name, Step: h.st.ID, Reason: c.Text}
		}
	default:
		h.notUnderstood = true
	}
}

// reportUnused replies to commands that could not be used.
func (h *messageHandler) reportUnused() {
	if h.unexpectedVerdict && !h.corrected && len(h.reasked) == 0 {
		h.addResponse("nothing_to_confirm")
	}
	if h.notUnderstood {
		h.addResponse("not_understood")
	}
}

// expectedSlot returns the slot that is asked for, or nil.
func (h *messageHandler) expectedSlot() *slot {
	if h.st == nil {
		return nil
	}
	return &h.f.slots[h.st.Slot-1]
}

// handleSet handles a value for a slot: the answer, an offer for later, or a correction.
func (h *messageHandler) handleSet(c *runtime.Command) {
	s := h.f.findSlot(c.Slot)
	if c.Slot == "" {
		s = h.expectedSlot()
	}
	switch {
	case s == nil:
		h.rejectUnknownSlot(c.Slot)
	case s == h.expectedSlot() && h.st.Kind == "confirm":
		if v, wrong := s.parse(c.Value, h.language); wrong == "" {
			h.handleVerdict(string(v) == "true")
		} else {
			h.notUnderstood = true
		}
	case s == h.expectedSlot():
		v := h.acceptAnswer(h.st, s, c.Value)
		if h.refused = v == nil; !h.refused {
			h.answer = v
		}
	case s.confirm:
		h.unexpectedVerdict, h.rejected = true, true
	case h.st != nil && h.isFilled(s):
		h.correctSlot(s, c.Value)
	default:
		h.offerValue(s, c.Value)
	}
}

func (h *messageHandler) isFilled(s *slot) bool {
	return h.s.of(s).value != nil
}

// offerValue keeps a value until it is asked for. A slot that is never asked for but may be set is
// set at once.
func (h *messageHandler) offerValue(s *slot, v json.RawMessage) {
	switch {
	case s.confirm:
		h.unexpectedVerdict = true
	case s.collect > 0:
		if h.st == nil { // a value at the start replaces the default
			*h.s.of(s) = slotState{}
		}
		h.s.of(s).offer = v
		if v == nil {
			h.s.of(s).offer = json.RawMessage("null")
		}
		h.changed = true
	case h.f.isSettable(s):
		h.changeSlot(s, v)
	default:
		h.rejectUnknownSlot(s.Name)
	}
}

// rejectUnknownSlot replies that the flow has no such slot.
func (h *messageHandler) rejectUnknownSlot(name string) {
	h.rejected = true
	h.addResponse("unknown_slot", "slot", spacedName(name))
}

// refuseChange replies why a slot stays as it is.
func (h *messageHandler) refuseChange(s *slot, raw json.RawMessage, reason string) {
	h.rejected = true
	h.addResponse("refused", "slot", spacedName(s.Name), "value", displayValue(raw, s, 0), "reason",
		reason)
}

// handleVerdict handles a yes or a no.
func (h *messageHandler) handleVerdict(yes bool) {
	s := h.expectedSlot()
	switch {
	case s == nil || h.st.Kind != "confirm" && s.Type != (runtime.SlotType{Kind: runtime.SlotBool}):
		h.unexpectedVerdict = true
	case h.st.Kind == "confirm" && h.yes == h.no:
		h.yes, h.no = yes, !yes
	case h.st.Kind == "confirm" && h.yes != yes: // yes and no at once
		h.notUnderstood = true
	case h.st.Kind == "confirm", h.answer != nil: // only the first answers
		h.unexpectedVerdict = true
	default:
		h.handleSet(&runtime.Command{Slot: s.Name, Value: json.RawMessage(strconv.FormatBool(yes))})
	}
}

// explainTopic replies with the description of a slot, the expected one, or a flow.
func (v *replies) explainTopic(topic string, f *flow, expected *slot) {
	doc := ""
	if f != nil {
		if s := f.findSlot(topic); s != nil {
			expected = s
		}
		doc = f.Doc
	}
	if expected != nil && expected.Doc != "" {
		doc = expected.Doc
	}
	if doc == "" {
		doc = "I need this to go on."
	}
	v.addResponse("clarify", "topic", spacedName(topic), "doc", doc)
}

func (v *replies) replyChitchat(text string) {
	if text == "" {
		v.addResponse("chitchat")
		return
	}
	v.addLine("chitchat", text)
}

// decideMove returns the move for the whole message.
func (h *messageHandler) decideMove() move {
	w, st := h.work, h.st
	if w.input.failure != nil { // a failed understanding is not counted
		w.reportNotUnderstood(w.input.failure)
		return w.askQuestion(st)
	}
	w.queueFlows(h.starts, h.out.kind != moveNone)
	if h.out.kind == moveGoTo {
		return w.goToOrCancel(h.out.to, "cancelled")
	}
	if h.out.kind != moveNone {
		return h.out
	}
	goesBack := len(h.corrections)+len(h.reasked) > 0
	verdict := (h.yes && !h.rejected || h.no) && !h.corrected && !goesBack && !h.notUnderstood
	if verdict || h.answer != nil || h.changed || len(h.starts) > 0 {
		w.s.idle = 0
	} else if mv, stop := w.countIdleMessage(); stop {
		return mv
	}
	switch {
	case len(h.corrections) > 0 && len(h.reasked) == 0 && st.Kind == "confirm" &&
		st.OnChange != runtime.NoTarget:
		for _, x := range h.corrections {
			w.reviseValue(x.slot, x.from, x.value)
		}
		w.clearConfirmed()
		return w.goTo(st.OnChange)
	case goesBack:
		return h.applyChanges()
	case h.answer != nil:
		w.s.tries = 0
		w.storeAnswer(st, h.answer)
		return w.goTo(st.Next)
	case verdict:
		return w.storeVerdict(st, h.yes)
	case !h.refused && (h.corrected || h.changed || h.explained || len(h.starts) > 0):
		return w.askQuestion(st)
	}
	if len(w.said) == 0 {
		w.addResponse("not_understood")
	}
	return w.askAgain(st)
}

// queueFlows keeps flows to start at the next question, or after this flow.
func (w *work) queueFlows(starts []runtime.Command, leaving bool) {
	if !w.f.Interruptible && !leaving {
		for i := range starts {
			if starts[i].Type == runtime.CommandStart {
				w.addResponse("busy", "flow", w.m.byName[starts[i].Flow].title())
			}
		}
	}
	w.s.later = append(w.s.later, starts...)
}

// countIdleMessage counts a message without effect. At the limit it does what the spec says and
// reports true if the frame leaves.
func (w *work) countIdleMessage() (move, bool) {
	w.s.idle++
	if w.m.tables.NoProgress == 0 || w.s.idle < w.m.tables.NoProgress {
		return move{}, false
	}
	w.s.idle = 0
	w.addResponse("no_progress")
	switch w.m.tables.NoProgThen {
	case "handoff":
		w.addResponse("handoff")
		return move{kind: moveHandoff,
			note: handoffNote{Flow: w.f.Name, Reason: "no_progress"}}, true
	case "fallback":
		if n := w.m.tables.Fallback; n > 0 && w.f.number != n {
			w.s.later = append([]runtime.Command{{Type: runtime.CommandStart,
				Flow: w.m.flows[n-1].Name}}, w.s.later...)
			return move{}, false
		}
	}
	return w.endFrame(runtime.TargetCancel), true
}
