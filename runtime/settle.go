package runtime

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// What a person can order where the engine asks, beside what the kinds of the spec name.
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

// order is the answer to a user escape or a system error: the bare word, or an object with what belongs to it.
type order struct {
	Choice string          `json:"choice"`
	Text   string          `json:"text"`   // of modify
	Input  json.RawMessage `json:"input"`  // of edit
	Value  json.RawMessage `json:"value"`  // of skip and done
	Target string          `json:"target"` // of reroute
}

// Shape of the object, for the strict decoder.
func (*order) Shape() *Shape { return orderShape }

var orderShape = &Shape{Name: "order", Fields: []Field{
	{Name: "choice", Required: true}, {Name: "text"}, {Name: "input"}, {Name: "value"}, {Name: "target"},
}}

// DecodeField reads one of them.
func (o *order) DecodeField(d *Decoder, name string) {
	switch name {
	case "choice":
		DecodeString(d, &o.Choice)
	case "text":
		DecodeString(d, &o.Text)
	case "input":
		DecodeJSON(d, &o.Input)
	case "value":
		DecodeJSON(d, &o.Value)
	default:
		DecodeString(d, &o.Target)
	}
}

// ofEngine reports whether a question of that name is the engine's own.
func ofEngine(name string) bool {
	return name == KindUserEscape || name == KindSystemError || strings.HasPrefix(name, doubtPrefix)
}

// engineAsks reports whether the answer is an order to the engine.
func (i *Interrupt) engineAsks() bool { return i.Kind == KindUserEscape || i.Kind == KindSystemError }

// ordered checks an answer to a question of the engine. f is the frame that it is about, if any.
func (i *Interrupt) ordered(op string, f *Frame, value json.RawMessage) error {
	if !i.engineAsks() {
		return nil
	}
	o, err := readOrder(value)
	if err != nil {
		return err
	}
	var offered []string
	for _, c := range i.Choices {
		offered = append(offered, c.Label)
	}
	wrong := func(pointer, reason string) error {
		return refuse(CodeInvalid, op, &InvalidError{Problems: []Problem{{Pointer: pointer, Reason: reason}}})
	}
	switch {
	case !slices.Contains(offered, o.Choice):
		return wrong("/choice", fmt.Sprintf("%q is not offered: use %s", shortened(o.Choice), strings.Join(offered, ", ")))
	case o.Choice == orderEdit && o.Input == nil && (f == nil || f.Input != nil):
		return wrong("/input", "is required: the input to run the step with")
	case o.Choice == orderReroute && !slices.Contains(i.Targets, o.Target):
		return refuse(CodeNoRoute, op, &SelectionError{Routing: orderReroute, Set: []string{o.Target}, Allowed: i.Targets})
	}
	return nil
}

// mends reports whether another try may mend what a question about a failed step is about.
func (i *Interrupt) mends() bool {
	var about struct {
		Recoverable bool `json:"recoverable"`
	}
	return json.Unmarshal(i.Payload, &about) == nil && about.Recoverable
}

func readOrder(value json.RawMessage) (order, error) {
	var o order
	if value = bytes.TrimSpace(value); len(value) > 0 && value[0] == '"' {
		return o, json.Unmarshal(value, &o.Choice) // checked as JSON already
	}
	return o, Unmarshal(value, &o)
}

// settle gives an interrupt its answer, and does what the answer orders.
func (c *Change) settle(i *Interrupt, value json.RawMessage, routeTo, by, request string) {
	if i.engineAsks() {
		o := order{Choice: orderReroute, Target: routeTo}
		if routeTo == "" {
			o, _ = readOrder(value) // checked when it was given
		}
		if o.Choice == orderStatus { // asked for, and given: the interrupt stays open
			c.Add(Entry{Type: EntryMessage, Name: "status", Interrupt: i.ID, Value: i.Context, By: by, Request: request})
			c.note(i)
			return
		}
		c.Add(Entry{Type: EntryAnswered, Interrupt: i.ID, Value: value, RouteTo: routeTo, By: by, Request: request})
		if i.Kind == KindUserEscape {
			c.resume(&o, by)
		} else {
			c.repair(i, &o, by)
		}
	} else {
		c.Add(Entry{Type: EntryAnswered, Interrupt: i.ID, Value: value, RouteTo: routeTo, By: by, Request: request})
	}
	c.promote()
}

// resume ends a pause.
func (c *Change) resume(o *order, by string) {
	switch {
	case o.Choice == orderCancel:
		c.Over(StatusCancelled, nil, nil, by)
	case o.Choice == orderModify && strings.TrimSpace(o.Text) != "":
		c.Add(Entry{Type: EntryResumed, Value: json.RawMessage("true"), Text: o.Text, By: by})
	default: // an empty change is none
		c.Add(Entry{Type: EntryResumed, By: by})
	}
}

// repair does what a person ordered about a failed step, or about an effect in doubt.
func (c *Change) repair(i *Interrupt, o *order, by string) {
	switch o.Choice {
	case orderAbort:
		c.Over(StatusCancelled, nil, nil, by)
	case orderSkip:
		c.end(i.Frame, orNull(o.Value), c.Thread.Frame(i.Frame).lastFailure(), "skipped", by)
	case orderEdit:
		c.Add(Entry{Type: EntryAgain, Frame: i.Frame, Name: o.Choice, Value: orNull(o.Input), By: by})
	case orderReroute:
		c.Add(Entry{Type: EntryAgain, Frame: i.Frame, Name: o.Choice, RouteTo: o.Target, By: by})
	case orderDone, orderRun:
		if e := c.Thread.Frame(i.Frame).Effect(doubted(i.Name)); e == nil || e.State != EffectInDoubt {
			return // it is settled
		}
		if o.Choice == orderRun {
			c.Add(Entry{Type: EntryEffect, Frame: i.Frame, Name: doubted(i.Name), State: EffectFailed, By: by})
			return
		}
		c.Add(Entry{Type: EntryEffect, Frame: i.Frame, Name: doubted(i.Name), State: EffectDone, Value: orNull(o.Value), By: by})
	default:
		c.Add(Entry{Type: EntryAgain, Frame: i.Frame, Name: orderRetry, By: by})
	}
}

// lastFailure is why the step of a child has failed last. A frame without a parent has nobody to tell.
func (f *Frame) lastFailure() *Failure {
	if f == nil || f.Parent == "" || len(f.Attempts) == 0 {
		return nil
	}
	last := f.Attempts[len(f.Attempts)-1]
	return &Failure{Code: last.Code, Text: last.Text}
}

func orNull(value json.RawMessage) json.RawMessage {
	if value == nil {
		return json.RawMessage("null")
	}
	return value
}

// Escape records that a person wants to pause the thread, and returns what the person is told: [AckRequested], or [AckPending] when an
// order is there already. A later order may raise the mode from safe to now, never lower it. A thread without a turn refuses with
// CodeNotWaiting and the reason not_running. The pause itself comes with [Change.Pause], once no step runs.
func (c *Change) Escape(mode, by, reason string) (string, error) {
	switch {
	case mode != EscapeSafe && mode != EscapeNow:
		return "", invalid("escape", "unknown mode %q: use %s or %s", mode, EscapeSafe, EscapeNow)
	case c.Thread.Over != "" || len(c.Thread.Frames) == 0:
		return "", refuse(CodeNotWaiting, "escape thread "+c.Thread.ID, errors.New("not_running"))
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

// What a person is told who asked for a pause.
const (
	AckRequested = "requested"
	AckPending   = "already_pending"
	AckPaused    = "paused"
)

// Pause opens the user_escape interrupt of a requested pause. The engine calls it when no step of the thread runs.
func (c *Change) Pause() { c.PauseWithout() }

// PauseWithout is Pause that does not offer some of the kind's choices: what the machine of the thread could do nothing with.
func (c *Change) PauseWithout(unoffered ...string) {
	control := c.Thread.Control
	if control == nil || control.Paused {
		return
	}
	payload, _ := Encode(struct { // cannot fail: plain strings
		Reason string `json:"reason,omitempty"`
		By     string `json:"by,omitempty"`
		Mode   string `json:"mode"`
	}{control.Reason, control.By, control.Mode})
	row, _ := c.rules.Kind(KindUserEscape)
	choices := row.Choices
	if len(choices) == 0 {
		choices = []string{orderContinue, orderModify, orderCancel, orderStatus}
	}
	choices = slices.DeleteFunc(slices.Clone(choices), func(choice string) bool { return slices.Contains(unoffered, choice) })
	i := c.ask("", KindUserEscape, Question{
		Name: KindUserEscape, Text: "The work is paused. How shall it go on?", Payload: payload, Choices: offers(choices),
	})
	if c.Thread.Interrupt(i.ID) == nil { // a policy answered it, or a kind that the spec holds more urgent: nothing is paused
		if c.Thread.Control != nil {
			c.Add(Entry{Type: EntryResumed, By: "policy"})
		}
		return
	}
	c.Add(Entry{Type: EntryPaused, Interrupt: i.ID, By: control.By})
}

func offers(words []string) []Choice {
	out := make([]Choice, len(words))
	for n, w := range words {
		value, _ := Encode(w) // cannot fail: a string
		out[n] = Choice{Label: w, Value: value}
	}
	return out
}

// Due does what the time demands: reminders, the policies of deadlines, and the next try of failed steps.
func (c *Change) Due() {
	for _, i := range slices.Clone(c.Thread.Open) {
		if c.Thread.Interrupt(i.ID) != i || i.State != InterruptOpen {
			continue // it changed with one before it
		}
		switch {
		case came(i.Due, c.Now):
			policy := i.policy(c.rules)
			if policy == nil {
				policy = &Deadline{Then: "expire"} // its deadline was set by hand
			}
			c.act(i, policy, nil)
		case came(i.RemindAt, c.Now):
			c.Add(Entry{Type: EntryReminded, Interrupt: i.ID})
		}
	}
	for _, f := range c.Thread.Frames {
		if f.State == FrameRetrying && came(f.Until, c.Now) {
			c.Add(Entry{Type: EntryAgain, Frame: f.ID})
		}
	}
}

func came(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

// act does what the policy of a deadline says. What the question does not take, a default that is not legal for it or a target where the
// engine's own question has none, is no answer: it expires. why is the failure of a frame that expires; nil means that the time was over.
func (c *Change) act(i *Interrupt, policy *Deadline, why *Failure) {
	switch policy.Then {
	case "default":
		if c.legal(i, json.RawMessage(policy.Answer)) {
			c.settle(i, json.RawMessage(policy.Answer), "", "deadline", "")
			return
		}
	case "reroute":
		if !i.engineAsks() || slices.Contains(i.Targets, policy.Target) {
			c.settle(i, nil, policy.Target, "deadline", "")
			return
		}
	case "escalate":
		if i.EscalatedTo == "" { // once: the next deadline expires
			c.Add(Entry{Type: EntryEscalated, Interrupt: i.ID, Name: policy.Assignee, Until: c.Now.Add(policy.After)})
			return
		}
	case "cancel":
		c.Over(StatusCancelled, nil, &Failure{Code: CodeExpired, Text: "nobody answered " + i.Name}, "deadline")
		return
	}
	if why == nil {
		why = &Failure{Code: CodeExpired, Text: "nobody answered " + i.Name + " in time"}
	}
	c.Add(Entry{Type: EntryExpired, Interrupt: i.ID, Failure: why})
	if i.Frame == "" { // a pause that nobody ended
		c.Add(Entry{Type: EntryResumed, By: "deadline"})
	}
	c.end(i.Frame, nil, why, "", "")
	c.promote()
}
