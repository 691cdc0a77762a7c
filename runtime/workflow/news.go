package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/runtime/thread"
)

// news is what a prompt says beside its own text: what a person changed while the work was paused,
// and the reroute event. The model of a node is told to interrupt, that of the handler why the work
// was interrupted. It is "" when there is neither.
func (s *step) news(event *runtime.Reroute, node bool) (string, error) {
	var parts []string
	if s.change != "" {
		parts = append(parts, "## The work was changed\n\nA person paused the work and changed it. "+
			"Where this differs from the request, do what it says:\n\n"+prompt.Data("text", s.change))
	}
	if event != nil {
		var e Event
		if err := json.Unmarshal(event.Event, &e); err != nil {
			return "", err
		}
		head := "## An interrupt was requested\n\nThis was said when the interrupt was requested from outside:"
		if node {
			head = "## An interrupt is requested\n\nThis comes before the request: raise an interrupt request of type " +
				prompt.Line(e.InterruptType) + " next, with what is said here:"
		}
		parts = append(parts, head+"\n\n"+prompt.Data("text", about(&e)))
	}
	return strings.Join(parts, "\n\n"), nil
}

// asking is one call of a model, which is an effect.
type asking struct {
	model llm.Model
	name  string // of the effect
	live  bool   // a node's: the news are those of the moment of the call; false: those that the handler goes by
	write func(news string) (llm.Request, error)
}

var errNews = errors.New("a reroute event came while the model was asked")

// generate makes the call. With Config.AskAgain it ends one that is in progress when another
// reroute event becomes the pending one, and makes it anew with that.
func (s *step) generate(ctx context.Context, a *asking) (llm.Response, error) {
	called := false
	out, err := thread.Do(ctx, a.name, func(inner context.Context, key string) (llm.Response, error) {
		for n := 1; ; n++ {
			event, changed := s.event, (<-chan struct{})(nil)
			if a.live {
				event, changed = thread.PendingReroute(ctx)
			}
			if !s.cfg.AskAgain {
				changed = nil
			}
			news, err := s.news(event, a.live)
			if err != nil {
				return llm.Response{}, err
			}
			r, err := a.write(news)
			if err != nil {
				return llm.Response{}, err
			}
			if r.Key = key; n > 1 { // another question: it must not count as the same call
				r.Key = fmt.Sprintf("%s/%d", key, n)
			}
			out, err := until(inner, changed, a.model, r)
			if errors.Is(err, errNews) {
				continue
			}
			called = err == nil
			return out, err
		}
	})
	if err == nil && called && a.live {
		err = s.tell(ctx)
	}
	return out, err
}

// until asks a model and returns errNews when changed is closed before it has answered.
func until(ctx context.Context, changed <-chan struct{}, m llm.Model, r llm.Request) (llm.Response, error) {
	if changed == nil {
		return m.Generate(ctx, r)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-changed:
			cancel(errNews)
		case <-ctx.Done():
		}
	}()
	out, err := m.Generate(ctx, r)
	if cause := context.Cause(ctx); errors.Is(cause, errNews) {
		return llm.Response{}, cause
	}
	return out, err
}

// tell notes that the model of a node was told of the change. It is an effect: when the step runs
// again, the call that told it is not made again.
func (s *step) tell(ctx context.Context) error {
	if s.change == "" || s.a.Frame.Parent != "" || s.told.Swap(true) {
		return nil
	}
	_, err := thread.Do(ctx, s.tells(), func(context.Context, string) (bool, error) { return true, nil })
	return err
}

func (s *step) tells() string { return "told/" + s.round() + digits(s.change) }

// round stands in the names of what a node does anew after its own interrupt: calls of models and
// tools, above all. It is "" before the first one, and "2~" and so on after it.
func (s *step) round() string {
	if s.j.Round == 0 {
		return ""
	}
	return fmt.Sprintf("%d~", s.j.Round+1)
}

// carry keeps the change for the next node, unless a model of this one was told of it. A child of a
// fan-out keeps none: the thread does, until its parent goes on.
func (s *step) carry() {
	s.j.Change = s.change
	if s.a.Frame.Parent != "" || s.told.Load() || s.change != "" && s.a.Frame.Effect(s.tells()) != nil {
		s.j.Change = ""
	}
}

// changed is what a person has changed and no model was told of.
func (s *step) changed() string {
	var parts []string
	if s.j.Change != "" {
		parts = append(parts, s.j.Change)
	}
	if s.a.Modify != nil {
		parts = append(parts, *s.a.Modify)
	}
	return strings.Join(parts, "\n")
}
