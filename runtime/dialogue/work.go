package dialogue

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// work is one run of a flow's frame. It decides: it does nothing but change its own state and note what is to be said.
type work struct {
	voice

	m      *Machine
	f      *flow
	s      state
	came   came // for the step that runs next
	first  move // what the opening decided before the first step
	passed int  // steps of this run, or of it since its effect

	// check asks a validator. Its error is that of the run: nothing that is decided after it counts.
	check func(validator int, v json.RawMessage) (verdict, error)
	err   error
}

// came is what a step goes on with.
type came struct {
	kind     cameKind
	commands []runtime.Command
	deaf     *runtime.Failure // understanding failed
	child    result
	effect   effect
}

type cameKind uint8

const (
	cameNothing cameKind = iota // the step is entered
	cameCommands
	cameTimeout
	cameChild
	cameEffect
)

// effect is what an action, or a model, has done.
type effect struct {
	output  json.RawMessage
	failure *runtime.Failure
	in      string // a digest of what it was given
}

// move says where a frame goes.
type move struct {
	verb  verb
	to    runtime.Target // goes
	st    *step          // asks, calls, does, stores
	text  string         // asks
	child thread.Spawned // calls, jumps
	do    func(ctx context.Context) (came, error)
	note  any
	end   result
}

type verb uint8

const (
	none   verb = iota
	goes        // to a target
	asks        // the user
	calls       // a child
	jumps       // to another flow, for good
	does        // an effect
	stores      // its place before a step: the next run begins there
	hands       // over to a person
	ends
)

// What comes to more between two questions does not end.
const (
	most    = 100_000    // steps
	mostDo  = 100        // effects
	heavy   = most / 100 // steps that a link counts for, and a loop that was stopped
	longest = 1 << 20    // bytes of a text that a flow makes
)

// A run that comes to more stores its place, and another goes on there: that one holds no caller, has a time limit, and can be stopped.
const (
	stretch = 1000    // steps
	written = longest // bytes of texts
)

// run runs steps from one on, until one asks, calls, does something or ends the frame.
func (w *work) run(at int) move {
	if w.first.verb != none {
		return w.first
	}
	for {
		st := &w.f.steps[at-1]
		if w.came.kind == cameNothing && (w.passed >= stretch || w.passed > 0 && w.wrote >= written) {
			w.s.Said = w.s.Said || len(w.said) > 0
			return move{verb: stores, st: st}
		}
		w.passed++
		if w.s.Moves++; w.s.Moves > most {
			return w.looped()
		}
		if w.came.kind == cameEffect {
			w.s.Acts++
		}
		var mv move
		before := len(w.said)
		if w.came.kind == cameNothing && st.when != nil && !w.s.holds(st.when) {
			mv = w.next(st)
		} else {
			mv = w.m.steps[st.Kind](w, st)
		}
		if w.came = (came{}); w.err != nil {
			return mv
		}
		if mv.verb == does && w.s.Acts >= mostDo {
			return w.looped()
		}
		if mv.verb == goes && mv.to <= 0 {
			w.end(&mv, len(w.said) > before)
		}
		if mv.verb != goes {
			w.s.Said = w.s.Said || len(w.said) > 0
			mv.end.Said = w.s.Said
			return mv
		}
		at = int(mv.to)
		w.leave(at)
	}
}

// leave forgets the rounds of the loops that do not hold a step, if the user was asked since they began. Others go on where they were when the
// flow comes back to them: nothing but their rounds would end a circle that leads out and in again.
func (w *work) leave(at int) {
	for id := range w.s.Rounds { // each is judged by itself
		n := w.f.byStep[id]
		if n == 0 || n != at && !w.f.within(at, n) && w.s.Questions > w.s.Entered[id] {
			w.forget(id)
		}
	}
}

// forget has a loop begin with its first round when it is entered again.
func (w *work) forget(id string) {
	delete(w.s.Rounds, id)
	delete(w.s.Entered, id)
}

// counts notes questions that had an answer, at a step of the frame.
func (w *work) counts(questions, at int) {
	w.s.Questions += questions
	w.leave(at)
}

func (w *work) next(st *step) move {
	return w.leads(st.Next)
}

func (w *work) leads(to runtime.Target) move { return move{verb: goes, to: to} }

// or goes to a target, or cancels the flow where there is none. When that is no step, the user hears why.
func (w *work) or(to runtime.Target, response string) move {
	if to == runtime.NoTarget {
		to = runtime.TargetCancel
	}
	if to > 0 {
		return w.leads(to)
	}
	w.respond(response)
	return w.finish(to)
}

// end makes of a target that is no step the end of the frame. told: the step that leads there has said something itself.
func (w *work) end(mv *move, told bool) {
	if mv.to == runtime.TargetError && w.s.Failure == nil {
		w.s.Failure = &runtime.Failure{Code: runtime.CodeInternal, Text: "the flow ended in an error"}
	}
	switch {
	case told:
	case mv.to == runtime.TargetCancel:
		w.respond("cancelled")
	case mv.to == runtime.TargetError:
		w.respond("failed", w.broken()...)
	}
	*mv = w.finish(mv.to)
}

// finish ends the frame, without a word.
func (w *work) finish(to runtime.Target) move {
	r := result{Flow: w.f.Name, Outcome: outcomeDone, Rest: w.s.Later, count: w.s.count}
	switch to {
	case runtime.TargetCancel:
		r.Outcome = outcomeCancelled
	case runtime.TargetError:
		r.Outcome, r.Failure = outcomeFailed, w.s.Failure
	default:
		for i := range w.f.slots {
			if s := &w.f.slots[i]; s.Output && w.s.Slots[s.Name] != nil {
				put(&r.Outputs, s.Name, w.s.Slots[s.Name])
			}
		}
	}
	return move{verb: ends, end: r}
}

// fail goes on after a failure: where the step says, or once where the flow says, or else the flow fails. told: the user has heard of it.
func (w *work) fail(to runtime.Target, failure *runtime.Failure, told bool) move {
	w.s.Failure = failure
	if to == runtime.NoTarget && !w.s.Rescued && w.f.OnError != runtime.NoTarget {
		to, w.s.Rescued = w.f.OnError, true
	}
	if to > 0 {
		return w.leads(to)
	}
	if to == runtime.NoTarget {
		to = runtime.TargetError
	}
	if !told {
		w.respond("failed", w.broken()...)
	}
	return w.finish(to)
}

// looped fails a flow that does not end by itself. No target is taken: it could be part of the circle.
func (w *work) looped() move {
	w.s.Failure = &runtime.Failure{Code: runtime.CodeLoop, Text: "it went round in circles"}
	w.respond("looped")
	mv := w.finish(runtime.TargetError)
	mv.end.Said = true
	return mv
}

// broken are the variables of the failure that led here.
func (w *work) broken() vars {
	if w.s.Failure == nil {
		return nil
	}
	return vars{"error", w.s.Failure.Text, "error_code", string(w.s.Failure.Code)}
}

// text writes a text of the flow.
func (w *work) text(t runtime.Texts, with ...string) string {
	return w.render(t, func(n int) (json.RawMessage, *slot) {
		s := &w.f.slots[n-1]
		return w.s.Slots[s.Name], s
	}, append(vars(with), w.broken()...))
}

// ask asks the question of a step, unless a flow waits that is to be run before.
func (w *work) ask(st *step) move {
	w.s.Moves, w.s.Acts = 0, 0
	for len(w.s.Later) > 0 && w.f.Interruptible {
		first, rest := group(w.s.Later)
		w.s.Later = rest
		if w.s.Depth >= w.m.depth() {
			w.respond("too_deep")
			continue
		}
		return move{verb: calls, st: st, child: w.m.begin(first, w.s.Depth+1, w.s.Said || len(w.said) > 0)}
	}
	return move{verb: asks, st: st, text: w.text(st.Text)}
}

// begin is the frame of the flow that a group of commands starts.
func (m *Machine) begin(group []runtime.Command, depth int, said bool) thread.Spawned {
	name := group[0].Flow
	if f := m.byName[name]; f != nil {
		name = f.Name
	}
	return m.spawn(name, &opening{Offers: group[0].Slots, Commands: group[1:], Depth: depth, Said: said})
}

func (m *Machine) spawn(flow string, o *opening) thread.Spawned {
	return thread.Spawned{Machine: Name, Name: flow, Input: o}
}

// put fills a slot.
func (w *work) put(s *slot, v json.RawMessage) {
	w.note(s)
	w.fill(s, v)
}

// fill fills a slot with what the user changes it to.
func (w *work) fill(s *slot, v json.RawMessage) {
	delete(w.s.Given, s.Name)
	delete(w.s.Sure, s.Name)
	delete(w.s.Offers, s.Name)
	put(&w.s.Slots, s.Name, v)
}

// clear empties a slot.
func (w *work) clear(s *slot) {
	w.note(s)
	delete(w.s.Slots, s.Name)
	delete(w.s.Given, s.Name)
	delete(w.s.Sure, s.Name)
	delete(w.s.Offers, s.Name)
}

// unsure takes back what the user confirmed: something has changed since.
func (w *work) unsure() {
	for name := range w.s.Sure { // each by itself
		delete(w.s.Slots, name)
	}
	w.s.Sure = nil
}

// open begins a frame.
func (w *work) open(o *opening) {
	w.s = state{Later: o.Later, Depth: o.Depth, Said: o.Said, count: o.count}
	for i := range w.f.slots {
		s := &w.f.slots[i]
		if given := o.Slots[s.Name]; given != nil {
			put(&w.s.Slots, s.Name, given)
			put(&w.s.Given, s.Name, true)
		} else if s.Default != "" {
			put(&w.s.Slots, s.Name, json.RawMessage(s.Default))
			put(&w.s.Given, s.Name, true)
		}
	}
	h := &hearing{work: w}
	for i := range w.f.slots { // in the order of the flow
		if v, ok := o.Offers[w.f.slots[i].Name]; ok {
			h.offer(&w.f.slots[i], v)
		}
	}
	h.strangers(o.Offers)
	for i := range o.Commands {
		h.take(&o.Commands[i])
	}
	h.close()
	w.first = h.out
}

// back goes on with the end of a child, at a step.
func (w *work) back(c *runtime.Child, at int) {
	r := ended(c)
	w.came = came{kind: cameChild, child: r}
	w.s.Moves, w.s.Acts = r.Moves, r.Acts
	w.counts(r.Questions, at)
	w.s.Later = append(r.Rest, w.s.Later...)
	w.s.Said = r.Said
	if c.Failure != nil && !c.Skipped { // the engine ended it, and nobody has heard of that
		w.lost(c.Failure)
	}
}

// lost tells the user of a flow that nobody ended: its question was open too long, say.
func (v *voice) lost(f *runtime.Failure) {
	if f.Code == runtime.CodeExpired {
		v.respond("timed_out")
		return
	}
	v.respond("failed", "error", f.Text, "error_code", string(f.Code))
}

// bind computes the values of binds. Names without a value are left out.
func (w *work) bind(binds []runtime.Bind, exprs []*expr) (map[string]json.RawMessage, *runtime.Failure) {
	out := map[string]json.RawMessage{}
	for i := range binds {
		v, failure := w.value(&binds[i], exprs[i])
		if failure != nil {
			return nil, failure
		}
		if v != nil {
			out[binds[i].Name] = v
		}
	}
	return out, nil
}

// value computes one bind; nil means that it has no value. A text may hold slots that hold texts: one that grows with every round is refused.
func (w *work) value(b *runtime.Bind, e *expr) (json.RawMessage, *runtime.Failure) {
	if e != nil {
		return w.s.json(e), nil
	}
	text := w.text(b.Text)
	if len(text) > longest {
		return nil, &runtime.Failure{Code: runtime.CodeInvalid, Text: fmt.Sprintf("%s: the text is longer than %d bytes", words(b.Name), longest)}
	}
	v, _ := runtime.Encode(text) // cannot fail: a string
	return v, nil
}
