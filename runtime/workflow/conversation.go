package workflow

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// Conversation is a chat over threads of a workflow: a message starts a turn, or answers what the thread asks. A turn starts at the entry node,
// or where Begin says when the spec has turn_start: last. Its fields are not changed after the first message; any number of goroutines may
// use it then, and several conversations the same threads.
type Conversation struct {
	Engine  *thread.Engine
	Machine *Machine // with Config.Conversation

	// Begin makes the request that starts a turn out of a message, and of what the last turn returned: nil in the first one, and after one that
	// was cancelled or failed. It only computes, and may be called several times for one message.
	Begin func(m Message, last json.RawMessage) (runtime.Record, error)

	// Strict refuses plain text on a thread that waits, but for the words below; so does plain_text: strict in the spec. Otherwise the text
	// answers the one open question that takes plain text.
	Strict bool
	Cancel []string // whole messages that end the turn that waits; compared without case and points
	Skip   []string // whole messages that answer the open question with null

	// Digress says whether a message is no answer to the open question but a question of its own. It gets a turn of its own, on a thread beside,
	// and the open one stays open. nil: every message is an answer.
	Digress func(ctx context.Context, m Message, open *runtime.Interrupt) (bool, error)

	Cancelled  string // what the user reads when a turn was cancelled; default: a word in English
	Unreadable string // what the user reads when the thread cannot be read, and is kept as it is; default: a sentence in English
}

// Message is what a user says.
type Message struct {
	Thread   string // its id; the conversation
	ID       string // of the message: the same one again gets the same turn
	User     string // whose thread it is
	Text     string
	Answers  []runtime.Answer  // in place of Text: to open interrupts by their ids, all of them or none. Each names who gives it, or User does
	Cancel   bool              // in place of Text: end the turn that waits, as a cancel word does
	Away     bool              // the user did not see what the thread asks, as in DeliverAll: only Answers answer
	Metadata map[string]string // goes to the handlers, see [Metadata]; a resumed turn sees that of the message that resumed it

	// Open are the ids of what the sender saw open. Answers and Cancel are refused where it lacks some
	// of what is. A Text that would answer a question is refused where Open lacks it and is not nil.
	Open []string
}

// Turn is what a message led to.
type Turn struct {
	Thread    *runtime.Thread      // as it is now: idle with a Failure where the turn failed; nil when it cannot be read
	Reply     []string             // what the agents said, in order
	Questions []*runtime.Interrupt // that are open now, those of a thread beside after the thread's own
}

// Deliver gives a message to its thread, and returns when the turn is done or waits for somebody. A step that is tried again later is waited
// for. It refuses what [runtime.Change.Answer] and [runtime.Closed] refuse of an answer, and what [thread.Engine.Start] does of a new thread; beside
// them:
//
//   - CodeConflict with a [thread.PendingError]: the thread waits, and the message is no answer to what is open, or Open lacks some of that;
//   - CodeAmbiguous: several open questions take plain text;
//   - CodeConflict: the thread works on an earlier message, or the program has it;
//   - CodeNotWaiting: the thread is over, since an operator ended it between two turns, say. A turn that fails, expires or is cancelled ends
//     no thread: the next message begins another turn;
//   - CodeForbidden: the thread is another user's;
//   - CodeInternal or CodeIncompatible with a Turn that has only a reply: the thread cannot be read. Nothing of it is changed.
//
// The run belongs to the engine: when ctx ends first it goes on, and the same message again finds what it did.
func (c *Conversation) Deliver(ctx context.Context, m Message) (*Turn, error) {
	return c.deliver(ctx, m)
}

// DeliverStream is Deliver that yields the rows of the turn as they are committed, also while it runs, and ends after the last one. A refusal
// is yielded as an error; where the thread cannot be read, together with a message row that is stored nowhere.
func (c *Conversation) DeliverStream(ctx context.Context, m Message) iter.Seq2[runtime.Entry, error] {
	return func(yield func(runtime.Entry, error) bool) {
		d, err := c.accept(ctx, m)
		if err != nil {
			var row runtime.Entry
			if text := d.apology(err); text != "" {
				row.Type, row.Name, row.Thread = runtime.EntryMessage, "reply", m.Thread
				row.Value, _ = runtime.Encode(spoken{Text: text}) // cannot fail: strings
			}
			yield(row, err)
			return
		}
		c.Engine.Follow(ctx, d.turnOf())(yield)
	}
}

// Delivered is what became of one message of several.
type Delivered struct {
	Turn *Turn
	Err  error
}

// DeliverAll gives messages that a user wrote while away to their threads, each after the one before it. Nobody saw then what a thread asks: a
// text on a thread that waits is refused as with Strict, whatever it says, and only Answers answer.
func (c *Conversation) DeliverAll(ctx context.Context, messages ...Message) []Delivered {
	out := make([]Delivered, len(messages))
	for i, m := range messages {
		m.Away = true
		out[i].Turn, out[i].Err = c.deliver(ctx, m)
	}
	return out
}

func (c *Conversation) deliver(ctx context.Context, m Message) (*Turn, error) {
	d, err := c.accept(ctx, m)
	if err != nil {
		if text := d.apology(err); text != "" {
			return &Turn{Reply: []string{text}}, err
		}
		return nil, err
	}
	turn := &Turn{}
	f := d.turnOf()
	for row, err := range c.Engine.Follow(ctx, f) {
		if err != nil {
			return nil, err
		}
		turn.hear(&row)
	}
	turn.Thread = f.Thread
	if d.waits != nil {
		turn.Thread = d.waits
		turn.Questions = open(d.waits)
	}
	turn.Questions = append(turn.Questions, open(f.Thread)...)
	return turn, nil
}

// hear takes from a row what the user reads.
func (t *Turn) hear(row *runtime.Entry) {
	switch row.Type {
	case runtime.EntryMessage:
		if text, ok := textAt(row.Value, "text"); ok {
			t.Reply = append(t.Reply, text)
		}
	case runtime.EntryReasked:
		t.Reply = append(t.Reply, row.Text)
	default:
	}
}

// spoken is a message for the user, as it stands in the outbox.
type spoken struct {
	Node string `json:"node,omitempty"`
	Text string `json:"text"`
}

func open(t *runtime.Thread) []*runtime.Interrupt {
	return slices.DeleteFunc(slices.Clone(t.Open), func(i *runtime.Interrupt) bool { return i.State != runtime.InterruptOpen })
}

func ids(open []*runtime.Interrupt) []string {
	out := make([]string, len(open))
	for i := range open {
		out[i] = open[i].ID
	}
	return out
}

// Beside reports whether a thread is one that took a message in place of another, as [Conversation] lets it when somebody digresses.
func Beside(thread, other string) bool { return strings.HasPrefix(other, thread+besideMark) }

// among reports whether a whole message is one of some words.
func among(words []string, text string) bool {
	bare := func(text string) string { return strings.ToLower(strings.Trim(strings.TrimSpace(text), " .!?")) }
	said := bare(text)
	return slices.ContainsFunc(words, func(w string) bool { return bare(w) == said })
}

// Metadata returns what came with the message that runs, or resumed, the node whose handler asks.
func Metadata(ctx context.Context) map[string]string {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok {
		return nil
	}
	var out map[string]string
	if json.Unmarshal(p.step.a.Metadata, &out) != nil {
		return nil
	}
	return out
}

// Reply says something to the user, once per name, step and visit, and anew when the node's own interrupt has come back to it. It refuses a
// context that is not that of a node.
func Reply(ctx context.Context, name, text string) error {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok {
		return invalid("reply", "this context is not that of a node: pass on the one the handler got")
	}
	return thread.Say(ctx, name, spoken{Node: p.step.node(p.node).Key, Text: text})
}
