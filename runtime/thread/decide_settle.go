package thread

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/brief"
)

// The orders that a person can give to the engine, in addition to those that the kinds of the spec
// name.
const (
	orderContinue = "continue"
	orderModify   = "modify"
	orderCancel   = "cancel"
	orderStatus   = "status"
	orderRetry    = "retry"
	orderEdit     = "edit"
	orderSkip     = "skip"
	orderReroute  = "reroute"
	orderAbort    = "abort"
	orderDone     = "done" // of an effect in doubt: it happened, with this value
	orderRun      = "run"  // of an effect in doubt: it did not, run it
)

// engineOrder is the answer to a user escape or a system error: the bare word, or an object with
// what belongs to it.
type engineOrder struct {
	Choice string          `json:"choice"`
	Text   string          `json:"text"`   // of modify
	Input  json.RawMessage `json:"input"`  // of edit
	Value  json.RawMessage `json:"value"`  // of skip and done
	Target string          `json:"target"` // of reroute
}

// Shape of the object, for the strict decoder.
func (*engineOrder) Shape() *runtime.Shape { return orderShape }

var orderShape = &runtime.Shape{Name: "order", Fields: []runtime.Field{
	{Name: "choice", Required: true}, {Name: "text"}, {Name: "input"}, {Name: "value"},
	{Name: "target"},
}}

// isEngineQuestion reports whether a question of that name is the engine's own.
func isEngineQuestion(name string) bool {
	return name == KindUserEscape || name == KindSystemError || strings.HasPrefix(name, doubtPrefix)
}

// checkOrder checks an answer to a question of the engine. f is the frame that it is about, if any.
func (i *Interrupt) checkOrder(op string, f *Frame, value json.RawMessage) error {
	if !i.EngineAsks() {
		return nil
	}
	o, err := parseOrder(value)
	if err != nil {
		return err
	}
	var offered []string
	for _, c := range i.Choices {
		offered = append(offered, c.Label)
	}
	wrong := func(pointer, reason string) error {
		return runtime.Errorf(runtime.CodeInvalid, op, "%w",
			&runtime.InvalidError{Problems: []runtime.Problem{{Pointer: pointer, Reason: reason}}})
	}
	switch {
	case !slices.Contains(offered, o.Choice):
		return wrong("/choice", fmt.Sprintf("%q is not offered: use %s", brief.Shorten(o.Choice),
			strings.Join(offered, ", ")))
	case o.Choice == orderEdit && o.Input == nil && (f == nil || f.Input != nil):
		return wrong("/input", "is required: the input to run the step with")
	case o.Choice == orderReroute && !slices.Contains(i.Targets, o.Target):
		return runtime.Errorf(runtime.CodeNoRoute, op,
			"%w", &runtime.SelectionError{Routing: orderReroute, Set: []string{o.Target},
				Allowed: i.Targets})
	}
	return nil
}

// isRecoverable reports whether another try may repair the failed step that a question is about.
func (i *Interrupt) isRecoverable() bool {
	var about struct {
		Recoverable bool `json:"recoverable"`
	}
	return json.Unmarshal(i.Payload, &about) == nil && about.Recoverable
}

func parseOrder(value json.RawMessage) (engineOrder, error) {
	var o engineOrder
	if value = bytes.TrimSpace(value); len(value) > 0 && value[0] == '"' {
		return o, json.Unmarshal(value, &o.Choice) // checked as JSON already
	}
	return o, runtime.Unmarshal(value, &o)
}

// applyAnswer gives an interrupt its answer, and does what the answer orders.
func (c *Change) applyAnswer(i *Interrupt, value json.RawMessage, routeTo, by, request string) {
	if i.EngineAsks() {
		o := engineOrder{Choice: orderReroute, Target: routeTo}
		if routeTo == "" {
			o, _ = parseOrder(value) // checked when it was given
		}
		if o.Choice == orderStatus { // asked for, and given: the interrupt stays open
			c.Add(Entry{Type: EntryMessage, Name: "status", Interrupt: i.ID, Value: i.Context,
				By: by, Request: request})
			c.noteInterrupt(i)
			return
		}
		c.Add(Entry{Type: EntryAnswered, Interrupt: i.ID, Value: value, RouteTo: routeTo, By: by,
			Request: request})
		if i.Kind == KindUserEscape {
			c.endPause(&o, by)
		} else {
			c.applyRepair(i, &o, by)
		}
	} else {
		c.Add(Entry{Type: EntryAnswered, Interrupt: i.ID, Value: value, RouteTo: routeTo, By: by,
			Request: request})
	}
	c.openQueued()
}

// endPause ends a pause.
func (c *Change) endPause(o *engineOrder, by string) {
	switch {
	case o.Choice == orderCancel:
		c.Over(StatusCancelled, nil, nil, by)
	case o.Choice == orderModify && strings.TrimSpace(o.Text) != "":
		c.Add(Entry{Type: EntryResumed, Value: json.RawMessage("true"), Text: o.Text, By: by})
	default: // an empty text is no change
		c.Add(Entry{Type: EntryResumed, By: by})
	}
}

// applyRepair does what a person ordered about a failed step, or about an effect in doubt.
func (c *Change) applyRepair(i *Interrupt, o *engineOrder, by string) {
	switch o.Choice {
	case orderAbort:
		c.Over(StatusCancelled, nil, nil, by)
	case orderSkip:
		c.endFrame(i.Frame, valueOrNull(o.Value), c.Thread.Frame(i.Frame).lastFailure(), "skipped",
			by)
	case orderEdit:
		c.Add(Entry{Type: EntryAgain, Frame: i.Frame, Name: o.Choice, Value: valueOrNull(o.Input),
			By: by})
	case orderReroute:
		c.Add(Entry{Type: EntryAgain, Frame: i.Frame, Name: o.Choice, RouteTo: o.Target, By: by})
	case orderDone, orderRun:
		if e := c.Thread.Frame(i.Frame).Effect(effectOfQuestion(i.Name)); e == nil ||
			e.State != EffectInDoubt {
			return // it is known already
		}
		if o.Choice == orderRun {
			c.Add(Entry{Type: EntryEffect, Frame: i.Frame, Name: effectOfQuestion(i.Name),
				State: EffectFailed, By: by})
			return
		}
		c.Add(Entry{Type: EntryEffect, Frame: i.Frame, Name: effectOfQuestion(i.Name),
			State: EffectDone,
			Value: valueOrNull(o.Value), By: by})
	default:
		c.Add(Entry{Type: EntryAgain, Frame: i.Frame, Name: orderRetry, By: by})
	}
}

// lastFailure is why the step of a child has failed last. It is nil for a frame without a parent.
func (f *Frame) lastFailure() *Failure {
	if f == nil || f.Parent == "" || len(f.Attempts) == 0 {
		return nil
	}
	last := f.Attempts[len(f.Attempts)-1]
	return &Failure{Code: last.Code, Text: last.Text}
}

func valueOrNull(value json.RawMessage) json.RawMessage {
	if value == nil {
		return json.RawMessage("null")
	}
	return value
}

// Escape records a request to pause the thread and returns [AckRequested], or [AckPending] if there
// is one already. A later request may raise the mode from safe to now, never lower it. Escape
// returns CodeInvalid for an unknown mode, and CodeNotWaiting with the reason not_running for a
// thread without a turn. [Change.Pause] completes the pause once no step runs.
func (c *Change) Escape(mode, by, reason string) (string, error) {
	switch {
	case mode != EscapeSafe && mode != EscapeNow:
		return "", runtime.Errorf(runtime.CodeInvalid, "escape", "unknown mode %q: use %s or %s",
			mode, EscapeSafe, EscapeNow)
	case c.Thread.Over != "" || len(c.Thread.Frames) == 0:
		return "", runtime.Errorf(runtime.CodeNotWaiting, "escape thread "+c.Thread.ID,
			"not_running")
	}
	if had := c.Thread.Control; had != nil {
		if mode == EscapeNow && had.Mode == EscapeSafe && !had.Paused {
			c.Add(Entry{Type: EntryEscape, Name: mode, By: by, Text: reason})
		}
		return AckPending, nil
	}
	c.Add(Entry{Type: EntryEscape, Name: mode, By: by, Text: reason})
	return AckRequested, nil
}

// The acknowledgements of a request to pause.
const (
	AckRequested = "requested"
	AckPending   = "already_pending"
	AckPaused    = "paused"
)

// Pause opens the user_escape interrupt of a requested pause, without the choices that the machine
// of the thread cannot act on. The engine calls it when no step of the thread runs.
func (c *Change) Pause(unoffered ...string) {
	control := c.Thread.Control
	if control == nil || control.Paused {
		return
	}
	payload, _ := runtime.Encode(struct { // cannot fail: plain strings
		Reason string `json:"reason,omitempty"`
		By     string `json:"by,omitempty"`
		Mode   string `json:"mode"`
	}{control.Reason, control.By, control.Mode})
	row, _ := c.rules.Kind(KindUserEscape)
	choices := row.Choices
	if len(choices) == 0 {
		choices = []string{orderContinue, orderModify, orderCancel, orderStatus}
	}
	choices = slices.DeleteFunc(slices.Clone(choices), func(choice string) bool {
		return slices.Contains(unoffered, choice)
	})
	i := c.addQuestion("", KindUserEscape, Question{
		Name: KindUserEscape, Text: "The work is paused. How shall it go on?", Payload: payload,
		Choices: choicesOf(choices),
	})
	// a policy answered it, or a kind that the spec holds more urgent: nothing is paused
	if c.Thread.Interrupt(i.ID) == nil {
		if c.Thread.Control != nil {
			c.Add(Entry{Type: EntryResumed, By: "policy"})
		}
		return
	}
	c.Add(Entry{Type: EntryPaused, Interrupt: i.ID, By: control.By})
}

func choicesOf(words []string) []Choice {
	out := make([]Choice, len(words))
	for n, w := range words {
		value, _ := runtime.Encode(w) // cannot fail: a string
		out[n] = Choice{Label: w, Value: value}
	}
	return out
}

// ApplyDue does what is due at c.Now: reminders, the policies of deadlines, and the next try of
// failed steps.
func (c *Change) ApplyDue() {
	for _, i := range slices.Clone(c.Thread.Open) {
		if c.Thread.Interrupt(i.ID) != i || i.State != InterruptOpen {
			continue // it changed with an earlier one
		}
		switch {
		case isPast(i.Due, c.Now):
			policy := i.policy(c.rules)
			if policy == nil {
				policy = &runtime.Deadline{Then: "expire"} // its deadline was set by hand
			}
			c.applyPolicy(i, policy, nil)
		case isPast(i.RemindAt, c.Now):
			c.Add(Entry{Type: EntryReminded, Interrupt: i.ID})
		}
	}
	for _, f := range c.Thread.Frames {
		if f.State == FrameRetrying && isPast(f.Until, c.Now) {
			c.Add(Entry{Type: EntryAgain, Frame: f.ID})
		}
	}
}

func isPast(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

// applyPolicy does what the policy of a deadline says. If the question does not take the policy's
// answer or target, the interrupt expires. why is the failure of the frame then; nil means that the
// time was over.
func (c *Change) applyPolicy(i *Interrupt, policy *runtime.Deadline, why *Failure) {
	switch policy.Then {
	case "default":
		if c.isLegal(i, json.RawMessage(policy.Answer)) {
			c.applyAnswer(i, json.RawMessage(policy.Answer), "", "deadline", "")
			return
		}
	case "reroute":
		if !i.EngineAsks() || slices.Contains(i.Targets, policy.Target) {
			c.applyAnswer(i, nil, policy.Target, "deadline", "")
			return
		}
	case "escalate":
		if i.EscalatedTo == "" { // once: the next deadline expires
			c.Add(Entry{Type: EntryEscalated, Interrupt: i.ID, Name: policy.Assignee,
				Until: c.Now.Add(policy.After)})
			return
		}
	case "cancel":
		c.Over(StatusCancelled, nil,
			&Failure{Code: runtime.CodeExpired, Text: "no answer to " + i.Name + " in time"},
			"deadline")
		return
	}
	if why == nil {
		why = &Failure{Code: runtime.CodeExpired, Text: "no answer to " + i.Name + " in time"}
	}
	c.Add(Entry{Type: EntryExpired, Interrupt: i.ID, Failure: why})
	if i.Frame == "" { // a pause that was not answered
		c.Add(Entry{Type: EntryResumed, By: "deadline"})
	}
	c.endFrame(i.Frame, nil, why, "", "")
	c.openQueued()
}
