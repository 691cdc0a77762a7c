package thread_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// TestAnyDecisionsAddUp draws kinds and decisions at random. The desk holds each commit to what all
// commits promise.
func TestAnyDecisionsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := newDesk(t, drawKinds(t)...)
		d.rules.HoldEarly = rapid.Bool().Draw(t, "hold early")
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			d.now = d.now.Add(time.Duration(rapid.IntRange(0, 3).
				Draw(t, "pass")) * 20 * time.Minute)
			decide(t, d)
			if d.thread.Over != "" {
				return
			}
		}
	})
}

func drawKinds(t *rapid.T) []runtime.Kind {
	rule := func(name string) string {
		return rapid.SampledFrom([]string{"queue", "supersede"}).
			Draw(t, name)
	}
	table := append([]runtime.Kind{{Name: "alarm", Clash: rule("alarm")}},
		kinds(rule("escape"), rule("question"), rule("error"))...)
	if rapid.Bool().Draw(t, "escape comes first") {
		table[0], table[1] = table[1], table[0]
	}
	for n := range table {
		switch rapid.IntRange(0, 5).Draw(t, "policy") {
		case 0:
			table[n].AutoAnswer = rapid.SampledFrom([]string{"1", `"continue"`, `"retry"`, `"skip"`,
				`"abort"`}).Draw(t, "auto")
		case 1:
			table[n].AutoAnswer, table[n].AutoWhen = "2", []string{"A"}
		}
		table[n].Deadline = drawPolicy(t)
	}
	return table
}

func drawPolicy(t *rapid.T) *runtime.Deadline {
	then := rapid.SampledFrom([]string{"", "expire", "default", "escalate", "reroute", "cancel"}).
		Draw(t, "then")
	if then == "" {
		return nil
	}
	return &runtime.Deadline{
		After: time.Hour, Then: then, Assignee: "dora", Target: "plan", Reminder: 20 * time.Minute,
		Answer: rapid.SampledFrom([]string{"1", `"continue"`, `"status"`, `"retry"`, `"run"`, "{"}).
			Draw(t, "default"),
	}
}

func drawQuestion(t *rapid.T) thread.Question {
	return thread.Question{
		Name:      rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "name"),
		Type:      rapid.SampledFrom([]string{"A", "B"}).Draw(t, "type"),
		Plain:     rapid.SampledFrom([]string{"", "text", "yes_no", "choice"}).Draw(t, "plain"),
		Quorum:    rapid.IntRange(0, 2).Draw(t, "quorum"),
		NotOwn:    rapid.Bool().Draw(t, "not own"),
		Assignees: rapid.SampledFrom([][]string{nil, {"ann", "bob", "cid"}}).Draw(t, "assignees"),
		Targets:   []string{"plan"}, Deadline: drawPolicy(t),
	}
}

// decide does one thing that an engine or a person could do now. A refusal is fine: the desk looks
// that it changed nothing.
func decide(t *rapid.T, d *desk) {
	if len(d.thread.Frames) == 0 {
		_ = d.try(func(c *thread.Change) error {
			return c.Begin("m", "root", raw("1"), "ann", "")
		})
		return
	}
	var ready []string
	for _, f := range d.thread.Frames {
		if f.State == thread.FrameReady && !d.thread.Paused() {
			ready = append(ready, f.ID)
		}
	}
	if d.thread.Control != nil && rapid.Bool().Draw(t, "pause") {
		d.do(pauseThread)
		return
	}
	if len(ready) > 0 && rapid.IntRange(0, 2).Draw(t, "step") > 0 {
		d.do(func(c *thread.Change) { step(t, c, rapid.SampledFrom(ready).Draw(t, "frame")) })
		return
	}
	person(t, d)
}

// step is what an engine makes of the run of a step.
func step(t *rapid.T, c *thread.Change, frame string) {
	if c.MarkInDoubt(frame) {
		return
	}
	switch rapid.IntRange(0, 9).Draw(t, "what the step does") {
	case 0, 1, 2:
		for range rapid.IntRange(1, 2).Draw(t, "questions") {
			c.Ask(frame, rapid.SampledFrom([]string{"agent_question", "alarm", "unheard of"}).
				Draw(t, "kind"), drawQuestion(t))
			if f := c.Thread.Frame(frame); f == nil {
				return
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "and fails") == 0 {
			c.StepFailed(frame, errDown, []string{"plan"})
		}
	case 3:
		err := rapid.SampledFrom([]error{errDown, thread.Permanent(errDown), errors.New("x")}).
			Draw(t, "error")
		c.StepFailed(frame, err, []string{"plan"})
	case 4:
		c.Add(thread.Entry{Type: thread.EntryCalling, Frame: frame, PC: "join", Value: raw("1")})
		for range rapid.IntRange(1, 3).Draw(t, "children") {
			c.Enter(thread.Frame{Parent: frame, Machine: "m", Name: "child"}, "", "")
		}
	case 5:
		c.Return(frame, raw("1"))
	case 6:
		c.Fail(frame, &thread.Failure{Code: runtime.CodeLoop})
	case 7:
		c.Add(thread.Entry{Type: thread.EntryEffect, Frame: frame, Name: "e",
			State: thread.EffectIntended})
	case 8:
		c.Replace(frame, thread.Frame{Parent: c.Thread.Frame(frame).Parent, Machine: "m",
			Name: "other"})
	default:
		if frame == c.Thread.Root().ID && c.Thread.Modify != nil {
			c.Add(thread.Entry{Type: thread.EntryModified, Frame: frame})
		}
		c.Add(thread.Entry{Type: thread.EntryShows, Frame: frame, Value: raw(`"shown"`)})
		c.Add(thread.Entry{Type: thread.EntryStepped, Frame: frame,
			PC: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "pc"), Value: raw("2")})
	}
}

// person is what people, and the clock, do to a thread.
func person(t *rapid.T, d *desk) {
	by := rapid.SampledFrom([]string{"", "ann", "bob", "cid", "dora"}).Draw(t, "by")
	id := "i1"
	if n := len(d.thread.Open); n > 0 {
		id = d.thread.Open[rapid.IntRange(0, n-1).Draw(t, "interrupt")].ID
	}
	_ = d.try(func(c *thread.Change) error {
		switch rapid.IntRange(0, 8).Draw(t, "what people do") {
		case 0:
			_, err := c.Escape(rapid.SampledFrom([]string{"safe", "now"}).Draw(t, "mode"), by, "")
			return err
		case 1:
			return c.Claim(id, by, rapid.Bool().Draw(t, "release"))
		case 2:
			return c.Extend(id, c.Now.Add(time.Hour), by)
		case 3, 4:
			c.ApplyDue()
			return nil
		case 5:
			_, err := c.Answer(thread.Answer{Interrupt: id, By: by,
				Text: rapid.SampledFrom([]string{"yes", "well", "continue", "retry"}).
					Draw(t, "text")})
			return err
		case 6:
			_, err := c.Answer(thread.Answer{Question: rapid.SampledFrom([]string{"x", "y", "z"}).
				Draw(t, "name"), By: by, Value: raw("1")})
			return err
		default:
			a := thread.Answer{Interrupt: id, By: by, Request: fmt.Sprint("r", c.Thread.Seq)}
			a.Value = raw(rapid.SampledFrom([]string{
				"1", "2", "null", `"continue"`, `"status"`, `{"choice":"modify","text":"m"}`,
				`"retry"`, `"skip"`, `{"choice":"edit","input":3}`,
				`{"choice":"reroute","target":"plan"}`, `"done"`, `"run"`, "{",
			}).Draw(t, "value"))
			if rapid.IntRange(0, 5).Draw(t, "route") == 0 {
				a.Value, a.RouteTo = nil, "plan"
			}
			_, err := c.Answer(a)
			return err
		}
	})
}
