package thread

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// Permanent marks an error as one that another try cannot repair: the step is not run again
// automatically, nor by a policy that answers retry. A person is asked at once, and may order
// retry: the program may have been repaired since. The codes invalid, forbidden and incompatible
// are permanent without it. nil stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanent{err}
}

type permanent struct{ error }

// Unwrap returns the marked error.
func (p *permanent) Unwrap() error { return p.error }

// Recoverable reports whether another try of the same program may succeed after an error.
func Recoverable(err error) bool {
	if _, marked := errors.AsType[*permanent](err); marked {
		return false
	}
	switch failureCode(err) {
	case runtime.CodeInvalid, runtime.CodeForbidden, runtime.CodeIncompatible:
		return false
	default:
		return true
	}
}

// StepFailed records that a run of a frame's step failed. A question of that run is superseded. By
// the retry policy of system_error the step is tried again later; where it has no try left, or the
// error is permanent, a system_error interrupt asks a person.
//
// targets are the places where the machine can reroute the step to; without one reroute is not
// offered.
func (c *Change) StepFailed(frame string, err error, targets []string) {
	f := c.Thread.Frame(frame)
	if f == nil {
		return
	}
	c.dropQuestions(frame)
	failure := FailureOf(err)
	row, _ := c.rules.Kind(KindSystemError)
	tries := len(f.Attempts) - f.Forgiven + 1
	recoverable := Recoverable(err)
	if recoverable && row.Retry != nil && tries < row.Retry.Attempts {
		c.Add(Entry{Type: EntryFailed, Frame: frame, Failure: failure,
			Until: c.Now.Add(row.Retry.Wait(tries))})
		return
	}
	c.Add(Entry{Type: EntryFailed, Frame: frame, Failure: failure})
	f = c.Thread.Frame(frame)
	c.addQuestion(frame, KindSystemError,
		failureQuestion(f, c.rules.nodeOf(f), failure, recoverable, row.Choices,
			targets))
}

// failureCode is CodeOf, but for the failure of a child that travels as an error: that keeps the
// code it has.
func failureCode(err error) runtime.Code {
	code := runtime.CodeOf(err)
	if f, ok := errors.AsType[*Failure](err); ok && code == runtime.CodeInternal && f.Code != "" {
		return f.Code
	}
	return code
}

// FailureOf returns what is stored of an error that ends a frame, or a run of its step: the code,
// also that of a failure which travels as an error, and the text, which a person reads. It has a
// bound, and is UTF-8.
func FailureOf(err error) *Failure {
	const most = 2000
	text := err.Error()
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return &Failure{Code: failureCode(err), Text: strings.ToValidUTF8(text, "\uFFFD")}
}

// dropQuestions supersedes what a frame asked. The interrupts queued behind it open before anything
// else is asked.
func (c *Change) dropQuestions(frame string) {
	for _, i := range slices.Clone(c.Thread.Open) {
		if i.Frame == frame {
			c.Add(Entry{Type: EntrySuperseded, Interrupt: i.ID})
		}
	}
	c.openQueued()
}

// failureQuestion is the question about a failed step.
func failureQuestion(f *Frame, node string, failure *Failure, recoverable bool, choices,
	targets []string) Question {
	if len(choices) == 0 {
		choices = []string{orderRetry, orderEdit, orderSkip, orderReroute, orderAbort}
	}
	var offered []string
	for _, choice := range choices {
		if choice != orderReroute || len(targets) > 0 {
			offered = append(offered, choice)
		}
	}
	sum := sha256.Sum256(f.Input)
	payload, _ := runtime.Encode(struct { // cannot fail: strings and times
		Code        runtime.Code `json:"code"`
		Text        string       `json:"text,omitempty"`
		Recoverable bool         `json:"recoverable"`
		Node        string       `json:"node,omitempty"`
		Step        string       `json:"step,omitempty"`
		Attempts    []Attempt    `json:"attempts"`
		InputDigest string       `json:"input_digest"`
	}{failure.Code, failure.Text, recoverable, node, f.PC, f.Attempts,
		hex.EncodeToString(sum[:16])})
	return Question{
		Name: KindSystemError, Text: "A step failed: " + failure.Error(), Payload: payload,
		Choices: choicesOf(offered), Targets: targets,
	}
}

const doubtPrefix = "in_doubt/"

func effectOfQuestion(question string) string { return strings.TrimPrefix(question, doubtPrefix) }

// MarkInDoubt asks a person about every effect of a frame that was begun and whose outcome is
// unknown, because its process ended or its call was cancelled. It asks again if a more urgent
// interrupt superseded the question. The interrupts are of kind system_error, with the choices done
// (with a value), run and abort. It reports whether there are such effects; the step must not run
// before it reports false.
func (c *Change) MarkInDoubt(frame string) bool {
	f := c.Thread.Frame(frame)
	if f == nil {
		return false
	}
	var names []string
	for _, e := range f.Effects {
		if e.State == EffectIntended || e.State == EffectInDoubt {
			names = append(names, e.Name)
		}
	}
	for _, name := range names {
		asked := slices.ContainsFunc(c.Thread.Open, func(i *Interrupt) bool {
			return i.Frame == frame && i.Name == doubtPrefix+name
		})
		if f = c.Thread.Frame(frame); asked || f == nil { // nil: a policy has ended the frame
			continue
		}
		if f.Effect(name).State == EffectIntended {
			c.Add(Entry{Type: EntryEffect, Frame: frame, Name: name, State: EffectInDoubt})
		}
		payload, _ := runtime.Encode(struct {
			Code   runtime.Code `json:"code"`
			Effect string       `json:"effect"`
			Key    string       `json:"key"`
			Node   string       `json:"node,omitempty"`
			Step   string       `json:"step,omitempty"`
		}{runtime.CodeInDoubt, name, EffectKey(c.Thread.ID, f, name), c.rules.nodeOf(f), f.PC})
		c.addQuestion(frame, KindSystemError, Question{
			Name: doubtPrefix + name, Text: "It is unknown whether " + name +
				" happened. Check, and answer.", Payload: payload,
			Choices: choicesOf([]string{orderDone, orderRun, orderAbort}),
		})
	}
	return len(names) > 0
}

// EffectKey is the key of an effect: thread, frame, step, visit and name. The same effect has the
// same key however often its step runs, so it serves as the idempotency key of what the effect
// calls. Slashes and percent signs inside a part are percent-encoded.
func EffectKey(thread string, f *Frame, name string) string {
	esc := func(part string) string {
		if !strings.ContainsAny(part, "%/") {
			return part
		}
		return strings.NewReplacer("%", "%25", "/", "%2F").Replace(part)
	}
	return esc(thread) + "/" + f.ID + "/" + esc(f.PC) + "/" + strconv.Itoa(f.Visit) + "/" +
		esc(name)
}
