package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/routegen/routegen/runtime/thread"
)

// Moment is a thread as it was after one of its entries. It is computed from the log; no handler
// runs.
type Moment struct {
	Thread Thread        `json:"thread"`
	Row    Row           `json:"row"` // the entry
	Frames []momentFrame `json:"frames"`
	// Plan is what [Door.Plan] says of the thread.
	Plan json.RawMessage `json:"plan,omitempty"`
	// Modify is a person's change of the work that no step has taken yet.
	Modify *string `json:"modify,omitempty"`
}

// momentFrame is what a frame held.
type momentFrame struct {
	ID      string `json:"id"`
	Machine string `json:"machine"`
	Name    string `json:"name,omitempty"`
	Node    string `json:"node,omitempty"` // that ran, or asked: where the thread stood
	// nodes in the order they were entered; Node is the last
	Visited  []string        `json:"visited"`
	Input    json.RawMessage `json:"input,omitempty"`
	Locals   json.RawMessage `json:"locals,omitempty"`
	Shows    json.RawMessage `json:"shows,omitempty"`
	Effects  []thread.Effect `json:"effects,omitempty"`
	Replies  []thread.Reply  `json:"replies,omitempty"`
	Attempts []attempt       `json:"attempts,omitempty"`
	Children []thread.Child  `json:"children,omitempty"`
	Prompt   string          `json:"prompt,omitempty"`
}

type attempt struct {
	thread.Attempt
	At int64 `json:"at"`
}

// maxReplay bounds how many entries one call replays.
const maxReplay = 100_000

// moment replays a thread up to an entry.
func (c *Call) moment() (any, error) {
	id := c.r.PathValue("thread")
	seq, err := whole(c.r.PathValue("seq"), 1, maxReplay)
	if err != nil {
		return nil, BadRequest("the last part of the path is the number of an entry, from 1 to %d",
			maxReplay)
	}
	entries, err := c.entries(c.Context(), id, seq)
	if err != nil {
		return nil, err
	}
	if int64(len(entries)) < seq {
		return nil, BadRequest("the thread has entries 1 to %d", len(entries))
	}
	var refused error // by the store: what the replay says of it is a consequence
	t, err := thread.Replay(id, entries, func(id string) *thread.Interrupt {
		i, err := c.engine.Interrupt(c.Context(), id)
		refused = cmp.Or(refused, err)
		return i
	})
	if err = cmp.Or(refused, err); err != nil {
		return nil, err
	}
	row, err := c.rowFor(c.Context(), &entries[seq-1])
	if err != nil {
		return nil, err
	}
	out := Moment{Thread: threadOf(t), Row: row, Frames: []momentFrame{}, Modify: t.Modify}
	if out.Plan, err = c.s.planOf(t); err != nil {
		return nil, err
	}
	visited := trails(entries)
	for n := range t.Frames {
		f := momentFrameOf(&t.Frames[n], visited[t.Frames[n].ID])
		f.Prompt = c.prompt(t, &t.Frames[n])
		out.Frames = append(out.Frames, f)
	}
	return out, nil
}

// entries reads the log of a thread from its beginning up to an entry, or to its end when that
// comes first.
func (c *Call) entries(ctx context.Context, id string, upTo int64) ([]thread.Entry, error) {
	if _, err := c.engine.Thread(ctx, id); err != nil {
		return nil, err
	}
	const page = 1000
	var out []thread.Entry
	for {
		rows, err := c.engine.History(ctx, id, int64(len(out)),
			int(min(page, upTo-int64(len(out)))))
		if err != nil {
			return nil, err
		}
		if out = append(out, rows...); len(rows) == 0 || int64(len(out)) >= upTo {
			return out, nil
		}
	}
}

// trails are the steps that the frames of a log entered, by frame. The workflow machine's steps are
// its nodes; those with a sign in front are work between nodes.
func trails(entries []thread.Entry) map[string][]string {
	out := map[string][]string{}
	for n := range entries {
		switch e := &entries[n]; e.Type {
		case thread.EntryEntered, thread.EntryStepped, thread.EntryCalling:
			if e.PC != "" && !strings.HasPrefix(e.PC, "!") {
				out[e.Frame] = append(out[e.Frame], e.PC)
			}
		default:
		}
	}
	return out
}

func momentFrameOf(f *thread.Frame, visited []string) momentFrame {
	out := momentFrame{
		ID: f.ID, Machine: f.Machine, Name: f.Name, Visited: []string{}, Input: f.Input,
		Locals: f.Locals, Shows: f.Context,
		Effects: f.Effects, Replies: f.Replies, Children: f.Children,
	}
	if len(visited) > 0 {
		out.Visited, out.Node = visited, visited[len(visited)-1]
	}
	for _, a := range f.Attempts {
		out.Attempts = append(out.Attempts, attempt{a, millis(a.At)})
	}
	return out
}

// prompt renders what the model of a frame's node reads. It is the program's own text, so only the
// operator sees it. If rendering fails, the rest is still sent.
func (c *Call) prompt(t *thread.Thread, f *thread.Frame) string {
	render := c.s.cfg.Programs[f.Machine].Prompt
	if render == nil || c.who.grant != nil {
		return ""
	}
	text, err := render(t, f)
	if err != nil {
		c.s.log.Warn("web prompt", "request", c.id, "machine", f.Machine, "type",
			fmt.Sprintf("%T", innermost(err)))
		return ""
	}
	return text
}
