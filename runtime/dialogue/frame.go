package dialogue

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// work is one run of a flow's frame. It only changes its own state and collects replies.
type work struct {
	replies

	m         *Machine
	f         *flow
	s         state
	input     stepInput // for the step that runs next
	firstMove move      // what the opening decided before the first step
	passed    int       // steps of this run, or of it since its effect

	// check calls a validator. Its error ends the run: later decisions are dropped.
	check func(validator int, v json.RawMessage) (validation, error)
	err   error
}

// stepInput is the input that a step continues with.
type stepInput struct {
	kind     inputKind
	commands []runtime.Command
	failure  *thread.Failure // understanding failed
	child    flowResult
	effect   effectResult
}

type inputKind uint8

const (
	inputNone inputKind = iota // the step is entered
	inputCommands
	inputTimeout
	inputChild
	inputEffect
)

// effectResult is the result of an action or a model.
type effectResult struct {
	output  json.RawMessage
	failure *thread.Failure
	in      string // a digest of what it was given
}

// move is the decision where a frame continues.
type move struct {
	kind  moveKind
	to    runtime.Target // goes
	st    *step          // asks, calls, does, stores
	text  string         // asks
	child thread.Spawned // calls, jumps
	do    func(ctx context.Context) (stepInput, error)
	note  any
	end   flowResult
}

type moveKind uint8

const (
	moveNone    moveKind = iota
	moveGoTo             // to a target
	moveAsk              // the user
	moveCall             // a child
	moveJump             // to another flow, for good
	moveEffect           // an effect
	moveStore            // its place before a step: the next run begins there
	moveHandoff          // over to a person
	moveEnd
)

// Limits between two questions.
const (
	maxSteps   = 100_000        // steps
	maxEffects = 100            // effects
	linkCost   = maxSteps / 100 // steps that a link counts for, and a loop that was stopped
	maxText    = 1 << 20        // bytes of a text that a flow makes
)

// A run that reaches a limit stores its position, and another run continues there, which blocks no
// caller, has a time limit and can be stopped.
const (
	stepsPerRun = 1000    // steps
	bytesPerRun = maxText // bytes of texts
)

// runSteps runs steps from at until one asks, calls, has an effect or ends the frame.
func (w *work) runSteps(at int) move {
	if w.firstMove.kind != moveNone {
		return w.firstMove
	}
	for {
		st := &w.f.steps[at-1]
		if w.input.kind == inputNone &&
			(w.passed >= stepsPerRun || w.passed > 0 && w.textBytes >= bytesPerRun) {
			return move{kind: moveStore, st: st}
		}
		w.passed++
		if w.s.Moves++; w.s.Moves > maxSteps {
			return w.endLooping()
		}
		if w.input.kind == inputEffect {
			w.s.Acts++
		}
		var mv move
		before := len(w.said)
		if w.input.kind == inputNone && st.When != nil && !w.s.isTrue(st.When) {
			mv = w.goTo(st.Next)
		} else {
			mv = w.m.steps[st.Kind](w, st)
		}
		if w.input = (stepInput{}); w.err != nil {
			return mv
		}
		if mv.kind == moveEffect && w.s.Acts >= maxEffects {
			return w.endLooping()
		}
		if mv.kind == moveGoTo && mv.to <= 0 {
			w.endAtTarget(&mv, len(w.said) > before)
		}
		if mv.kind != moveGoTo {
			return mv
		}
		at = int(mv.to)
		w.leaveLoops(at)
	}
}

// leaveLoops resets the rounds of the loops that do not contain a step, if the user was asked since
// they began. Others keep their rounds, which end a circle that leaves a loop and comes back.
func (w *work) leaveLoops(at int) {
	w.s.loops = slices.DeleteFunc(w.s.loops, func(l loop) bool {
		return l.at != at && !w.f.isInside(at, l.at) && w.s.Questions > l.entered
	})
}

func (w *work) goTo(to runtime.Target) move { return move{kind: moveGoTo, to: to} }

// goToOrCancel continues at a target, or cancels the flow if there is none. If the frame ends, the
// user gets the response.
func (w *work) goToOrCancel(to runtime.Target, response string) move {
	if to == runtime.NoTarget {
		to = runtime.TargetCancel
	}
	if to > 0 {
		return w.goTo(to)
	}
	w.addResponse(response)
	return w.endFrame(to)
}

// endAtTarget ends the frame for a target that is not a step. told: the step itself has replied.
func (w *work) endAtTarget(mv *move, told bool) {
	if mv.to == runtime.TargetError && w.s.failure == nil {
		w.s.failure = &thread.Failure{Code: runtime.CodeInternal,
			Text: "the flow ended in an error"}
	}
	switch {
	case told:
	case mv.to == runtime.TargetCancel:
		w.addResponse("cancelled")
	case mv.to == runtime.TargetError:
		w.addResponse("failed", w.failureVars()...)
	}
	*mv = w.endFrame(mv.to)
}

// endFrame ends the frame without a reply.
func (w *work) endFrame(to runtime.Target) move {
	r := flowResult{Flow: w.f.Name, Outcome: outcomeDone, Rest: w.s.later, Said: w.hasReplied(),
		counters: w.s.counters}
	switch to {
	case runtime.TargetCancel:
		r.Outcome = outcomeCancelled
	case runtime.TargetError:
		r.Outcome, r.Failure = outcomeFailed, w.s.failure
	default:
		for i := range w.f.slots {
			if s := &w.f.slots[i]; s.Output && w.s.slots[i].value != nil {
				setKey(&r.Outputs, s.Name, w.s.slots[i].value)
			}
		}
	}
	return move{kind: moveEnd, end: r}
}

// handleFailure continues after a failure: where the step says, or once where the flow says, or
// else the flow fails. told: the user has a reply about it.
func (w *work) handleFailure(to runtime.Target, failure *thread.Failure, told bool) move {
	w.s.failure = failure
	if to == runtime.NoTarget && !w.s.rescued && w.f.OnError != runtime.NoTarget {
		to, w.s.rescued = w.f.OnError, true
	}
	if to > 0 {
		return w.goTo(to)
	}
	if to == runtime.NoTarget {
		to = runtime.TargetError
	}
	if !told {
		w.addResponse("failed", w.failureVars()...)
	}
	return w.endFrame(to)
}

// endLooping fails a flow that does not end by itself. It ignores on_error, which could be part of
// the circle.
func (w *work) endLooping() move {
	w.s.failure = &thread.Failure{Code: runtime.CodeLoop, Text: "it went round in circles"}
	w.addResponse("looped")
	return w.endFrame(runtime.TargetError)
}

// hasReplied reports whether there was a reply since the last message.
func (w *work) hasReplied() bool { return w.s.said || len(w.said) > 0 }

// failureVars returns the template variables of the current failure.
func (w *work) failureVars() vars {
	if w.s.failure == nil {
		return nil
	}
	return vars{"error", w.s.failure.Text, "error_code", string(w.s.failure.Code)}
}

// flowText renders a text of the flow.
func (w *work) flowText(t runtime.Texts, with ...string) string {
	return w.renderText(t, func(n int) (json.RawMessage, *slot) {
		return w.s.slots[n-1].value, &w.f.slots[n-1]
	}, append(vars(with), w.failureVars()...))
}

// askQuestion asks the question of a step, unless a queued flow runs first.
func (w *work) askQuestion(st *step) move {
	w.s.Moves, w.s.Acts = 0, 0
	for len(w.s.later) > 0 && w.f.Interruptible {
		first, rest := firstGroup(w.s.later)
		w.s.later = rest
		if w.s.depth >= w.m.maxDepth() {
			w.addResponse("too_deep")
			continue
		}
		return move{kind: moveCall, st: st, child: w.m.beginFlow(first, w.s.depth+1,
			w.hasReplied())}
	}
	return move{kind: moveAsk, st: st, text: w.flowText(st.Text)}
}

// beginFlow returns the frame of the flow that a group of commands starts.
func (m *Machine) beginFlow(group []runtime.Command, depth int, said bool) thread.Spawned {
	name := group[0].Flow
	if f := m.byName[name]; f != nil {
		name = f.Name
	}
	return thread.Spawned{Machine: Name, Name: name, Input: &flowInput{Offers: group[0].Slots,
		Commands: group[1:], Depth: depth, Said: said}}
}

// writeSlot records the earlier value and fills a slot; nil empties it.
func (w *work) writeSlot(s *slot, v json.RawMessage) {
	if l := w.currentSegment(); l != nil {
		l.noteValue(slotValue{s.number, w.s.of(s).value})
	}
	*w.s.of(s) = slotState{value: v}
}

// clearConfirmed clears confirmed slots after a change.
func (w *work) clearConfirmed() {
	for i := range w.s.slots {
		if now := &w.s.slots[i]; now.confirmed {
			now.value, now.confirmed = nil, false
		}
	}
}

// initFrame sets up a new frame.
func (w *work) initFrame(o *flowInput) {
	w.s.later, w.s.depth, w.s.said, w.s.counters = o.Later, o.Depth, o.Said, o.counters
	for i := range w.f.slots {
		s := &w.f.slots[i]
		if given := o.Slots[s.Name]; given != nil {
			w.s.slots[i] = slotState{value: given, fromOutside: true}
		} else if s.Default != "" {
			w.s.slots[i] = slotState{value: json.RawMessage(s.Default), fromOutside: true}
		}
	}
	h := &messageHandler{work: w}
	for _, name := range slices.Sorted(maps.Keys(o.Offers)) {
		if s := w.f.findSlot(name); s != nil {
			h.offerValue(s, o.Offers[name])
		} else {
			h.rejectUnknownSlot(name)
		}
	}
	for i := range o.Commands {
		h.handleCommand(&o.Commands[i])
	}
	h.reportUnused()
	w.firstMove = h.out
}

// resumeAfterChild continues with the result of a child, at a step.
func (w *work) resumeAfterChild(c *thread.Child, at int) {
	r := w.readChild(c)
	w.input = stepInput{kind: inputChild, child: r}
	w.s.Moves, w.s.Acts = r.Moves, r.Acts
	w.s.Questions += r.Questions
	w.leaveLoops(at)
	w.s.later = append(r.Rest, w.s.later...)
	w.s.said = r.Said
}

// evalBinds evaluates binds. Names without a value are left out.
func (w *work) evalBinds(binds []runtime.Bind) (map[string]json.RawMessage, *thread.Failure) {
	out := map[string]json.RawMessage{}
	for i := range binds {
		v, failure := w.evalBind(&binds[i])
		if failure != nil {
			return nil, failure
		}
		if v != nil {
			out[binds[i].Name] = v
		}
	}
	return out, nil
}

// encodeBinds evaluates binds and returns them as an object.
func (w *work) encodeBinds(binds []runtime.Bind) (json.RawMessage, *thread.Failure) {
	values, failure := w.evalBinds(binds)
	if failure != nil {
		return nil, failure
	}
	out, _ := runtime.Encode(values) // cannot fail: they are JSON
	return out, nil
}

// invalid returns the failure of a value that is not valid.
func invalid(format string, args ...any) *thread.Failure {
	return &thread.Failure{Code: runtime.CodeInvalid, Text: fmt.Sprintf(format, args...)}
}

// evalBind evaluates one bind; nil means no value. It refuses a text above maxText, which may grow
// with every round.
func (w *work) evalBind(b *runtime.Bind) (json.RawMessage, *thread.Failure) {
	if b.Value != nil {
		return w.s.evalJSON(b.Value), nil
	}
	text := w.flowText(b.Text)
	if len(text) > maxText {
		return nil, invalid("%s: the text is longer than %d bytes", spacedName(b.Name), maxText)
	}
	v, _ := runtime.Encode(text) // cannot fail: a string
	return v, nil
}
