package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/runtime/thread"
)

// writeNotices returns the text that a prompt gets in addition: a person's change and the reroute
// event. The model of a node is told to interrupt, that of the handler why the work was
// interrupted. It returns "" if there is neither.
func (s *stepRun) writeNotices(event *thread.Reroute, node bool) (string, error) {
	var parts []string
	if s.pendingChange != "" {
		parts =
			append(parts, "## The work was changed\n\nA person paused the work and changed it. "+
				"Where this differs from the request, do what it says:\n\n"+prompt.Data("text",
				s.pendingChange))
	}
	if event != nil {
		var e Event
		if err := json.Unmarshal(event.Event, &e); err != nil {
			return "", err
		}
		head := "## An interrupt was requested\n\nThis was said when the interrupt was requested " +
			"from outside:"
		if node {
			head = "## An interrupt is requested\n\nThis comes before the request: raise an " +
				"interrupt request of type " +
				prompt.Line(e.InterruptType) + " next, with what is said here:"
		}
		parts = append(parts, head+"\n\n"+prompt.Data("text", describeEvent(&e)))
	}
	return strings.Join(parts, "\n\n"), nil
}

// modelCall is one call of a model, made as an effect.
type modelCall struct {
	model llm.Model
	name  string // of the effect
	// of a node: notices are those pending at the call; false: those that the handler uses
	live         bool
	buildRequest func(news string) (llm.Request, error)
}

var errNewReroute = errors.New("a reroute event came while the model was asked")

// callModel makes the call. With Config.AskAgain it cancels a call in progress when another reroute
// event becomes pending, and calls again with that event.
func (s *stepRun) callModel(ctx context.Context, a *modelCall) (llm.Response, error) {
	called := false
	out, err := thread.Do(ctx, a.name, func(inner context.Context, key string) (llm.Response,
		error) {
		for n := 1; ; n++ {
			event, changed := s.event, (<-chan struct{})(nil)
			if a.live {
				event, changed = thread.PendingReroute(ctx)
			}
			if !s.cfg.AskAgain {
				changed = nil
			}
			news, err := s.writeNotices(event, a.live)
			if err != nil {
				return llm.Response{}, err
			}
			r, err := a.buildRequest(news)
			if err != nil {
				return llm.Response{}, err
			}
			if r.Key = key; n > 1 { // another request needs another key
				r.Key = fmt.Sprintf("%s/%d", key, n)
			}
			out, err := generateUntil(inner, changed, a.model, r)
			if errors.Is(err, errNewReroute) {
				continue
			}
			called = err == nil
			return out, err
		}
	})
	if err == nil && called && a.live {
		err = s.recordInformed(ctx)
	}
	return out, err
}

// generateUntil calls a model. It returns errNewReroute if changed is closed before the reply.
func generateUntil(ctx context.Context, changed <-chan struct{}, m llm.Model, r llm.Request) (
	llm.Response, error) {
	if changed == nil {
		return m.Generate(ctx, r)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-changed:
			cancel(errNewReroute)
		case <-ctx.Done():
		}
	}()
	out, err := m.Generate(ctx, r)
	if cause := context.Cause(ctx); errors.Is(cause, errNewReroute) {
		return llm.Response{}, cause
	}
	return out, err
}

// recordInformed stores that a model of the node has seen the change. It is an effect, so a
// repeated step does not record it again.
func (s *stepRun) recordInformed(ctx context.Context) error {
	if s.pendingChange == "" || s.a.Frame.Parent != "" || s.informed.Swap(true) {
		return nil
	}
	_, err := thread.Do(ctx, s.informedName(), func(context.Context, string) (bool, error) {
		return true, nil
	})
	return err
}

func (s *stepRun) informedName() string {
	return "told/" + s.roundPrefix() + keyDigits(s.pendingChange)
}

// roundPrefix returns the prefix for names of effects that are made again after the node's own
// interrupt: "", then "2~", "3~" and so on.
func (s *stepRun) roundPrefix() string {
	if s.state.Round == 0 {
		return ""
	}
	return fmt.Sprintf("%d~", s.state.Round+1)
}

// keepChange keeps the change for the next node, unless a model of this one has seen it. A child of
// a fan-out does not keep it: the thread does, until its parent continues.
func (s *stepRun) keepChange() {
	s.state.Change = s.pendingChange
	if s.a.Frame.Parent != "" || s.informed.Load() || s.pendingChange != "" &&
		s.a.Frame.Effect(s.informedName()) != nil {
		s.state.Change = ""
	}
}

// currentChange returns the person's changes that no model has seen.
func (s *stepRun) currentChange() string {
	switch {
	case s.a.Modify == nil:
		return s.state.Change
	case s.state.Change == "":
		return *s.a.Modify
	}
	return s.state.Change + "\n" + *s.a.Modify
}
