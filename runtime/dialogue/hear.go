package dialogue

import (
	"encoding/json"

	"github.com/routegen/routegen/runtime"
)

// hearing is how one message is taken: its commands in their order, each used once.
type hearing struct {
	*work

	st *step // the question; nil where none is open: the frame begins

	changed   bool            // something came of it
	answer    json.RawMessage // fills the slot of a collect
	yes, no   bool            // at a confirm
	stray     bool            // a yes or a no that nothing asks for
	refused   bool            // the value for the slot of a collect does not do
	corrected bool            // a value was changed, or was to be
	explained bool            // the user asked, or chatted: that is no try
	lost      bool            // something was not understood
	untaken   bool            // something was, and the flow does not take it
	back      origin
	fixed     []fix // values that were changed
	asked     []fix // slots that are to be asked for again
	out       move  // the frame goes elsewhere
	starts    []runtime.Command
}

// fix is a slot that the user has changed.
type fix struct {
	slot  *slot
	value json.RawMessage
	from  origin
}

// heeds are the kinds of commands. Starting a flow is not among them: it is not for the frame that hears it.
var heeds = map[runtime.CommandType]func(h *hearing, c *runtime.Command){
	runtime.CommandSet:      (*hearing).set,
	runtime.CommandCorrect:  (*hearing).set,
	runtime.CommandClear:    func(h *hearing, c *runtime.Command) { h.reask(c.Slot) },
	runtime.CommandAffirm:   func(h *hearing, _ *runtime.Command) { h.verdict(true) },
	runtime.CommandDeny:     (*hearing).deny,
	runtime.CommandCancel:   (*hearing).cancel,
	runtime.CommandClarify:  func(h *hearing, c *runtime.Command) { h.explained = true; h.clarify(c.Text, h.f, h.expected()) },
	runtime.CommandChitchat: func(h *hearing, c *runtime.Command) { h.explained = true; h.chat(c.Text) },
	runtime.CommandHandoff:  (*hearing).handoff,
}

// hear takes the answer to a question. What is decided first: what ends the frame; then a value that is asked for again, since an answer to
// what has changed counts no more; then the answer.
func (w *work) hear(st *step) move {
	h := &hearing{work: w, st: st}
	own, starts, unknown := w.apart(w.came.commands, w.f)
	h.starts, h.untaken = starts, unknown
	for i := range own {
		h.take(&own[i])
		if h.out.verb != none {
			if i < len(own)-1 {
				w.respond("not_understood")
			}
			break
		}
	}
	h.close()
	return h.decide()
}

// apart tells what a message says to the flow that asks from the flows it starts, each with what belongs to it. here is nil where none asks.
// unknown: it names a flow that cannot be started.
func (v *voice) apart(all []runtime.Command, here *flow) (own, starts []runtime.Command, unknown bool) {
	into, lost := here, false // the flow that commands belong to; lost: to one that cannot be started
	for i, c := range all {
		if c.Type != runtime.CommandStart {
			switch {
			case lost:
			case into != here && (here == nil || c.Slot == "" || into.slot(c.Slot) != nil || here.slot(c.Slot) == nil):
				starts = append(starts, c)
			default:
				own = append(own, c)
			}
			continue
		}
		f := v.m.offered(all[i:])
		switch lost = f == nil; {
		case lost:
			v.respond("unknown_flow", "flow", words(c.Flow))
			into, unknown = here, true
			continue
		case f == here: // it is here already: what came with it belongs here
			own = append(append(own, f.sets(c.Slots)...), runtime.Command{Type: commandHere})
		case f == into: // named twice
			starts = append(starts, f.sets(c.Slots)...)
		default:
			starts = append(starts, c)
		}
		into = f
	}
	return own, starts, unknown
}

// sets makes commands of values, in the order of the slots.
func (f *flow) sets(values map[string]json.RawMessage) []runtime.Command {
	var out []runtime.Command
	for i := range f.slots {
		if v, ok := values[f.slots[i].Name]; ok {
			out = append(out, runtime.Command{Type: runtime.CommandSet, Slot: f.slots[i].Name, Value: v})
		}
	}
	return out
}

// commandHere stands for the start of the flow that is on top already: the question is asked again, and nothing else happens.
const commandHere runtime.CommandType = "here"

// offered returns the flow that the first of some commands may start, or nil. Its trigger sees the values that come with it.
func (m *Machine) offered(from []runtime.Command) *flow {
	f := m.byName[from[0].Flow]
	if f == nil || f.Hidden {
		return nil
	}
	if f.trigger == nil {
		return f
	}
	var s state
	take := func(slot *slot, raw json.RawMessage) {
		if v, wrong := slot.said(raw, m.language()); wrong == "" {
			put(&s.Slots, slot.Name, v)
		}
	}
	for i := range f.slots {
		if d := f.slots[i].Default; d != "" {
			put(&s.Slots, f.slots[i].Name, json.RawMessage(d))
		}
		take(&f.slots[i], from[0].Slots[f.slots[i].Name])
	}
	first, _ := group(from)
	for _, c := range first[1:] {
		if slot := f.slot(c.Slot); slot != nil && (c.Type == runtime.CommandSet || c.Type == runtime.CommandCorrect) {
			take(slot, c.Value)
		}
	}
	if !s.holds(f.trigger) {
		return nil
	}
	return f
}

// open reports whether users may set a slot: one that they are asked for, or may give when they start the flow. Others are the flow's own.
func (f *flow) open(s *slot) bool { return s.collect > 0 || s.Input && !f.Hidden }

func (h *hearing) take(c *runtime.Command) {
	switch heed := heeds[c.Type]; {
	case heed != nil:
		heed(h, c)
	case c.Type == commandHere:
		h.explained = true
	default:
		h.lost = true
	}
}

// close says what came of the commands that could not be placed.
func (h *hearing) close() {
	if h.stray && !h.corrected && len(h.asked) == 0 {
		h.respond("nothing_to_confirm")
	}
	if h.lost {
		h.respond("not_understood")
	}
}

// expected is the slot that is asked for.
func (h *hearing) expected() *slot {
	if h.st == nil {
		return nil
	}
	return &h.f.slots[h.st.Slot-1]
}

// set is a value for a slot: the answer, an offer for later, or a correction.
func (h *hearing) set(c *runtime.Command) {
	s := h.f.slot(c.Slot)
	if c.Slot == "" {
		s = h.expected()
	}
	switch {
	case s == nil:
		h.unknown(c.Slot)
	case s == h.expected() && h.st.Kind == "confirm":
		if v, wrong := s.said(c.Value, h.language); wrong == "" {
			h.verdict(string(v) == "true")
		} else {
			h.lost = true
		}
	case s == h.expected():
		v := h.fits(h.st, s, c.Value)
		if h.refused = v == nil; !h.refused {
			h.answer = v
		}
	case s.confirm:
		h.stray, h.untaken = true, true
	case h.st != nil && h.filled(s):
		h.correct(s, c.Value)
	default:
		h.offer(s, c.Value)
	}
}

func (h *hearing) filled(s *slot) bool {
	_, filled := h.s.Slots[s.Name]
	return filled
}

// offer keeps a value until it is asked for. What is never asked for, but may be given, is taken at once.
func (h *hearing) offer(s *slot, v json.RawMessage) {
	switch {
	case s.confirm:
		h.stray = true
	case s.collect > 0:
		if h.st == nil { // what begins with a value is not held to a default
			delete(h.s.Slots, s.Name)
			delete(h.s.Given, s.Name)
		}
		put(&h.s.Offers, s.Name, v)
		h.changed = true
	case h.f.open(s):
		h.change(s, v)
	default:
		h.unknown(s.Name)
	}
}

// unknown says that the flow does not take a slot.
func (h *hearing) unknown(name string) {
	h.untaken = true
	h.respond("unknown_slot", "slot", words(name))
}

// refuse says why a slot stays as it is.
func (h *hearing) refuse(s *slot, raw json.RawMessage, reason string) {
	h.untaken = true
	h.respond("refused", "slot", words(s.Name), "value", shown(raw, s, 0), "reason", reason)
}

// verdict is a yes or a no.
func (h *hearing) verdict(yes bool) {
	s := h.expected()
	switch {
	case s == nil || h.st.Kind != "confirm" && s.Type != (runtime.SlotType{Kind: runtime.SlotBool}):
		h.stray = true
	case h.st.Kind == "confirm" && h.yes == h.no:
		h.yes, h.no = yes, !yes
	case h.st.Kind == "confirm" && h.yes != yes: // yes and no at once
		h.lost = true
	case h.st.Kind == "confirm", h.answer != nil: // one answers, and no other
		h.stray = true
	default:
		h.set(&runtime.Command{Slot: s.Name, Value: json.RawMessage(boolean[yes])})
	}
}

var boolean = map[bool]string{true: "true", false: "false"}

func (h *hearing) deny(c *runtime.Command) {
	if c.Slot != "" {
		h.reask(c.Slot)
		return
	}
	h.verdict(false)
}

// cancel ends the frame, or goes where the question says.
func (h *hearing) cancel(*runtime.Command) {
	if h.st == nil {
		h.lost = true
		return
	}
	h.out = move{verb: goes, to: h.st.OnCancel}
}

func (h *hearing) handoff(c *runtime.Command) {
	h.respond("handoff")
	h.out = move{verb: hands, note: handed{Flow: h.f.Name, Reason: c.Text}}
	if h.st != nil {
		h.out.note = handed{Flow: h.f.Name, Step: h.st.ID, Reason: c.Text}
	}
}

// clarify explains a slot, the one that is asked for, or a flow.
func (v *voice) clarify(topic string, f *flow, expected *slot) {
	doc := ""
	if f != nil {
		if s := f.slot(topic); s != nil {
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
	v.respond("clarify", "topic", words(topic), "doc", doc)
}

func (v *voice) chat(text string) {
	if text == "" {
		v.respond("chitchat")
		return
	}
	v.say("chitchat", text)
}

// decide is what comes of the whole message.
func (h *hearing) decide() move {
	w, st := h.work, h.st
	if w.came.deaf != nil { // no word of the user's was heard, so none is held against them
		w.fails(w.came.deaf)
		return w.ask(st)
	}
	w.later(h.starts, h.out.verb != none)
	if h.out.verb == goes {
		return w.or(h.out.to, "cancelled")
	}
	if h.out.verb != none {
		return h.out
	}
	verdict := (h.yes && !h.untaken || h.no) && !h.corrected && h.back.to == runtime.NoTarget && !h.lost
	if verdict || h.answer != nil || h.changed || len(h.starts) > 0 {
		w.s.Idle = 0
	} else if mv, stop := w.stuck(); stop {
		return mv
	}
	switch {
	case len(h.fixed) > 0 && len(h.asked) == 0 && st.Kind == "confirm" && st.OnChange != runtime.NoTarget:
		for _, x := range h.fixed {
			w.revise(x.slot, x.from, x.value)
		}
		w.unsure()
		return w.leads(st.OnChange)
	case h.back.to != runtime.NoTarget:
		return h.goesBack()
	case h.answer != nil:
		w.s.Tries = 0
		w.collected(st, h.answer)
		return w.next(st)
	case verdict:
		return w.decided(st, h.yes)
	case !h.refused && (h.corrected || h.changed || h.explained || len(h.starts) > 0):
		return w.ask(st)
	}
	if len(w.said) == 0 {
		w.respond("not_understood")
	}
	if w.s.Tries++; w.s.Tries >= st.asks.attempts {
		return w.or(st.OnInvalid, "given_up")
	}
	return w.ask(st)
}

// later keeps flows to start for the time when that may be: at the next question, or after this flow.
func (w *work) later(starts []runtime.Command, leaving bool) {
	if !w.f.Interruptible && !leaving {
		for i := range starts {
			if starts[i].Type == runtime.CommandStart {
				w.respond("busy", "flow", w.m.byName[starts[i].Flow].title())
			}
		}
	}
	w.s.Later = append(w.s.Later, starts...)
}

// stuck counts a message that changed nothing, and does what the spec says of too many.
func (w *work) stuck() (move, bool) {
	w.s.Idle++
	if w.m.tables.NoProgress == 0 || w.s.Idle < w.m.tables.NoProgress {
		return move{}, false
	}
	w.s.Idle = 0
	w.respond("no_progress")
	switch w.m.tables.NoProgThen {
	case "handoff":
		w.respond("handoff")
		return move{verb: hands, note: handed{Flow: w.f.Name, Reason: "no_progress"}}, true
	case "fallback":
		if n := w.m.tables.Fallback; n > 0 && w.f.number != n {
			w.s.Later = append([]runtime.Command{{Type: runtime.CommandStart, Flow: w.m.flows[n-1].Name}}, w.s.Later...)
			return move{}, false
		}
	}
	return w.finish(runtime.TargetCancel), true
}
