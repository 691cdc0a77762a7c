package thread

import (
	"context"
	"encoding/json"

	"github.com/routegen/routegen/runtime"
)

// Info says for whom and where code runs: a handler, a tool, an action, a validator, an effect.
type Info struct {
	Thread string
	User   string // who started the thread
	Turn   int    // counts from 1
	// of the step, counts from 1; a run after an answer or a pause counts as the same attempt
	Attempt  int
	Language string // of the user, as far as the machine knows it
	Node     string // what the machine runs here: [Frame.Name]
	Step     string
	Metadata json.RawMessage // of the last message
	Previous json.RawMessage // what the turn before has returned; nil in the first
}

type (
	infoKey     struct{}
	languageKey struct{}
)

// InfoOf returns the Info of a context that comes from a step: its own, that of an effect, or of
// what a machine calls with these. It returns CodeInvalid for any other context. The Info does not
// change while the step runs, and is the same when the step runs again, except for Attempt. It may
// be called by several goroutines.
func InfoOf(ctx context.Context) (Info, error) {
	a, ok := ctx.Value(infoKey{}).(*Activation)
	if !ok {
		return Info{}, runtime.Errorf(runtime.CodeInvalid, "info",
			"this context is not that of a step: pass on the one the handler got")
	}
	language, _ := ctx.Value(languageKey{}).(string)
	return Info{
		Thread: a.Thread, User: a.User, Turn: a.Turn, Attempt: len(a.Frame.Attempts) + 1,
		Language: language, Node: a.Frame.Name, Step: a.Frame.PC,
		Metadata: a.Metadata, Previous: a.Previous,
	}, nil
}

// WithLanguage sets [Info.Language] for what a machine calls with the context it returns.
func WithLanguage(ctx context.Context, language string) context.Context {
	return context.WithValue(ctx, languageKey{}, language)
}
