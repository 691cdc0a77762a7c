package dialogue

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/guard"
	"github.com/routegen/routegen/runtime/thread"
)

// Understander makes commands of what a user said. It is asked once for each message, as an effect
// of its own: a message that was understood is not understood again. What it returns is checked
// against the flows, so it may be wrong. If it fails, the user gets the response unavailable, and
// the failure is in the turn, the log and the metrics; the question stays open, no attempt of the
// user is counted, and the message has no later effect. Implementations are safe for concurrent
// use.
type Understander interface {
	// Understand returns the commands of a message in the order in which they were said, and none
	// if it does not understand the message. key is the idempotency key of the effect.
	Understand(ctx context.Context, key string, q Query) ([]runtime.Command, error)
}

// Query is one message with its context. Its pointers are read-only.
type Query struct {
	Thread   string
	User     string
	Text     string // of the message; data, whatever it says
	Language string
	Question string                     // the open question as the user read it; "": none
	Active   *runtime.Flow              // that asks it; nil: no flow is active
	Step     *runtime.FlowStep          // that asks it
	Expect   *runtime.FlowSlot          // the slot it asks for
	Confirm  bool                       // it wants a yes or a no
	Values   map[string]json.RawMessage // filled slots of Active
	Flows    []*runtime.Flow            // that may be started now, in the order of the spec

	// History returns earlier messages, the oldest first: the last 10 messages at most, and no more
	// bytes than Config.MaxHistory; of one that does not fit, the beginning. It reads the store.
	History func(ctx context.Context) ([]Line, error)
}

// Line is one message of a conversation.
type Line struct {
	User bool // the user's
	Text string
}

func (m *Machine) newQuery(ctx context.Context, a *thread.Activation, language, text string) Query {
	q := Query{Thread: a.Thread, User: a.User, Text: text, Language: language}
	for i := range m.flows {
		if f := &m.flows[i]; f.isStartable() {
			q.Flows = append(q.Flows, f.Flow)
		}
	}
	q.History = func(c context.Context) ([]Line, error) {
		return readHistory(c, ctx, a, m.cfg.MaxHistory)
	}
	return q
}

// isStartable reports whether users may start the flow. A trigger that depends on slots is asked
// when they are known.
func (f *flow) isStartable() bool {
	return !f.Hidden && (f.Trigger == nil || readsSlot(f.Trigger, 0) ||
		(&state{flow: f}).isTrue(f.Trigger))
}

// understanding is the stored result of understanding a message.
type understanding struct {
	Commands []runtime.Command `json:"commands,omitempty"`
	Failed   string            `json:"failed,omitempty"`
	Code     runtime.Code      `json:"code,omitempty"`
}

// failure returns why a message could not be understood, or nil.
func (h *understanding) failure() *thread.Failure {
	if h.Failed == "" {
		return nil
	}
	return &thread.Failure{Code: cmp.Or(h.Code, runtime.CodeInternal), Text: h.Failed}
}

// understand calls the Understander once for a message.
func (m *Machine) understand(ctx context.Context, q *Query) (understanding, error) {
	if strings.TrimSpace(q.Text) == "" {
		return understanding{}, nil
	}
	return thread.Do(ctx, "understand", func(ctx context.Context, key string) (understanding,
		error) {
		commands, err := guard.RunLimited(ctx, "dialogue", m.cfg.Timeout,
			func(ctx context.Context) ([]runtime.Command, error) {
				return m.cfg.Understand.Understand(ctx, key, *q)
			})
		if ctx.Err() != nil { // the step ends, not the understanding
			return understanding{}, ctx.Err()
		}
		if err == nil {
			_, err = runtime.Encode(commands) // a value must be JSON
		}
		if err != nil {
			return understanding{Failed: cmp.Or(innermostText(err), "it says nothing"),
				Code: runtime.CodeOf(err)}, nil
		}
		return understanding{Commands: commands}, nil
	})
}

// readHistory reads messages, questions and users' texts from the log. step is the context of the
// step.
func readHistory(ctx, step context.Context, a *thread.Activation, room int) ([]Line, error) {
	const rows, most = 80, 10
	e, err := thread.EngineOf(step)
	if err != nil {
		return nil, err
	}
	t, err := e.Thread(ctx, a.Thread)
	if err != nil {
		if runtime.CodeOf(err) == runtime.CodeNotFound { // its first message is not stored yet
			return nil, nil
		}
		return nil, err
	}
	log, err := e.History(ctx, a.Thread, max(0, t.Seq-rows), rows)
	if err != nil {
		return nil, err
	}
	var out []Line
	// the last ones; questions are looked up one by one
	for i := len(log) - 1; i >= 0 && len(out) < most && room > 0; i-- {
		said, err := lineOf(ctx, e, a, &log[i])
		if err != nil {
			return nil, err
		}
		if said.Text != "" {
			if len(said.Text) > room {
				said.Text = strings.ToValidUTF8(said.Text[:room], "")
			}
			room -= max(len(said.Text), 1)
			out = append(out, said)
		}
	}
	slices.Reverse(out)
	return out, nil
}

func lineOf(ctx context.Context, e *thread.Engine, a *thread.Activation, row *thread.Entry) (Line,
	error) {
	switch row.Type {
	case thread.EntryMessage:
		var said line
		if json.Unmarshal(row.Value, &said) == nil {
			return Line{Text: said.Text}, nil
		}
	case thread.EntryAsked:
		i, err := e.Interrupt(ctx, row.Interrupt)
		if err == nil && i.Kind == thread.KindAgentQuestion {
			return Line{Text: i.Text}, nil
		}
		if err != nil && runtime.CodeOf(err) != runtime.CodeNotFound {
			return Line{}, err
		}
	case thread.EntryAnswered:
		current := slices.ContainsFunc(a.Frame.Replies, func(r thread.Reply) bool {
			return r.Interrupt == row.Interrupt
		})
		if text, typed := messageText(row.Value); !typed && !current {
			return Line{User: true, Text: text}, nil
		}
	case thread.EntryEntered:
		if text, typed := messageText(row.Value); row.Parent == "" && row.Frame != a.Frame.ID &&
			!typed {
			return Line{User: true, Text: text}, nil
		}
	default:
	}
	return Line{}, nil
}

// Scripted maps whole messages to commands: for tests, and for programs whose users press buttons.
// Other messages are not understood.
type Scripted map[string][]runtime.Command

// Understand looks the text up.
func (s Scripted) Understand(_ context.Context, _ string, q Query) ([]runtime.Command, error) {
	return s[q.Text], nil
}

// Literal understands exact messages. A message that is the name or an intent of a flow starts it,
// a word of Cancel cancels, a yes or a no answers a confirm, and any other message is the value of
// the slot that is asked for.
type Literal struct {
	Cancel []string // default: cancel, stop, abort, never mind
}

// Understand never fails.
func (l Literal) Understand(_ context.Context, _ string, q Query) ([]runtime.Command, error) {
	said := normalizeText(q.Text)
	cancels := l.Cancel
	if cancels == nil {
		cancels = []string{"cancel", "stop", "abort", "never mind"}
	}
	if slices.ContainsFunc(cancels, func(w string) bool { return normalizeText(w) == said }) {
		return []runtime.Command{{Type: runtime.CommandCancel}}, nil
	}
	for _, f := range q.Flows {
		if normalizeText(spacedName(f.Name)) == said || normalizeText(f.DisplayName) == said ||
			slices.ContainsFunc(f.Intents, func(w string) bool {
				return normalizeText(w) == said
			}) {
			return []runtime.Command{{Type: runtime.CommandStart, Flow: f.Name}}, nil
		}
	}
	switch {
	case q.Confirm:
		yes, known := thread.YesNo(q.Text, q.Language)
		switch {
		case !known:
			return nil, nil
		case yes:
			return []runtime.Command{{Type: runtime.CommandAffirm}}, nil
		}
		return []runtime.Command{{Type: runtime.CommandDeny}}, nil
	case q.Expect != nil:
		value, _ := runtime.Encode(strings.TrimSpace(q.Text)) // cannot fail: a string
		return []runtime.Command{{Type: runtime.CommandSet, Slot: q.Expect.Name, Value: value}}, nil
	}
	return nil, nil
}

// normalizeText returns a text in lower case without surrounding spaces and punctuation.
func normalizeText(text string) string {
	return strings.ToLower(strings.Trim(strings.TrimSpace(text), " .!?"))
}
