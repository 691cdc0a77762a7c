package web

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// The rights that a capability token may have, by what they let happen. None implies another,
// except that operate has answer, escape and cancel in it. The package's doc says what each is.
const (
	ActionFollow  = "follow"
	ActionInspect = "inspect"
	ActionAnswer  = "answer"
	ActionDeliver = "deliver"
	ActionEscape  = "escape"
	ActionCancel  = "cancel"
	ActionOperate = "operate"
)

var actions = []string{ActionFollow, ActionInspect, ActionAnswer, ActionDeliver, ActionEscape,
	ActionCancel, ActionOperate}

// operates are the rights that operate has in it.
var operates = []string{ActionAnswer, ActionEscape, ActionCancel}

// oldView is a right that stored tokens have from before rights said what they let happen. It is
// read as follow: history, moments and error texts it showed too, and shows no more.
const oldView = "view"

// readActions returns the rights of a stored token.
func readActions(stored []string) []string {
	out := make([]string, len(stored))
	for n, action := range stored {
		if out[n] = action; action == oldView {
			out[n] = ActionFollow
		}
	}
	return out
}

func (p principal) may(action string) bool {
	return p.grant == nil || slices.Contains(p.grant.Actions, action) ||
		slices.Contains(operates, action) && slices.Contains(p.grant.Actions, ActionOperate)
}

// withhold takes out of a reply what the caller's token does not let them read. Rows lose it where
// they are made, see [Call.rowFor].
func (c *Call) withhold(out any) any {
	switch v := out.(type) {
	case Thread:
		return c.withholdThread(&v)
	case Interrupt:
		return c.WithholdInterrupt(&v)
	case list[Interrupt]:
		for n := range v.Items {
			v.Items[n] = c.WithholdInterrupt(&v.Items[n])
		}
		return v
	case forked:
		v.Thread = c.withholdThread(&v.Thread)
		for n := range v.After {
			if !c.Allows(ActionInspect) {
				v.After[n].Value, v.After[n].Text, v.After[n].Name = nil, "", ""
				v.After[n].Failure = Withheld(v.After[n].Failure, v.After[n].ID)
			}
		}
		return v
	case answered:
		if v.Interrupt != nil {
			i := c.WithholdInterrupt(v.Interrupt)
			v.Interrupt = &i
		}
		return v
	}
	return out
}

// withholdThread leaves a token without follow where the thread stands, and one without inspect no
// error text and no other thread.
func (c *Call) withholdThread(t *Thread) Thread {
	if !c.Allows(ActionFollow) {
		return Thread{ID: t.ID, Version: t.Version, Seq: t.Seq, Status: t.Status,
			Created: t.Created, Turn: t.Turn, Paused: t.Paused, Frames: []Frame{},
			Open: []Interrupt{}}
	}
	if c.Allows(ActionInspect) {
		return *t
	}
	out := *t
	out.Failure, out.ForkedFrom = Withheld(t.Failure, RowID(t.ID, t.Seq)), nil
	out.Open, out.Beside = slices.Clone(t.Open), slices.Clone(t.Beside)
	for n := range out.Open {
		out.Open[n] = c.WithholdInterrupt(&out.Open[n])
	}
	for n := range out.Beside {
		out.Beside[n] = c.WithholdInterrupt(&out.Beside[n])
	}
	return out
}

// Withheld returns a failure without its text, for a caller without the right to inspect: its code,
// and the id under which who operates the thread finds the rest.
func Withheld(f *thread.Failure, id string) *thread.Failure {
	if f == nil {
		return nil
	}
	return &thread.Failure{Code: f.Code, Text: "its text is not shown here: see " + id}
}

// WithholdInterrupt takes out of an interrupt what the caller's token does not let them read: all
// but its state without follow, and without inspect what the engine asks about: error texts,
// effects and what was answered to that.
func (c *Call) WithholdInterrupt(i *Interrupt) Interrupt {
	if !c.Allows(ActionFollow) {
		out := Interrupt{Interrupt: thread.Interrupt{ID: i.ID, Thread: i.Thread, Kind: i.Kind,
			State: i.State, Digest: i.Digest, ClaimedBy: i.ClaimedBy,
			AnsweredBy: i.AnsweredBy}, Created: i.Created, ClosedAt: i.ClosedAt}
		out.Name = i.Kind
		return out
	}
	if c.Allows(ActionInspect) || !i.EngineAsks() {
		return *i
	}
	out := *i
	out.Name, out.Context, out.Answer, out.Reroute = i.Kind, nil, nil, nil
	if i.Kind != thread.KindSystemError {
		return out // a pause: what a person said of it
	}
	var about struct {
		Code runtime.Code `json:"code"`
	}
	_ = json.Unmarshal(i.Payload, &about) // made by the engine
	out.Text = "A step failed (" + string(about.Code) + "). Who operates this finds more under " +
		i.ID + "."
	if about.Code == runtime.CodeInDoubt {
		out.Text = "It is unknown whether a step had its effect. Who operates this finds more " +
			"under " + i.ID + "."
	}
	out.Payload, _ = runtime.Encode(about) // a string
	out.Votes = nil
	return out
}

// spoken are the entries whose value people said, or what is said to them.
var spoken = []thread.EntryType{thread.EntryMessage, thread.EntryAnswered, thread.EntryVoted,
	thread.EntryReasked, thread.EntryOver}

// rowFor returns an entry as it is sent to the caller, with the question it puts to people. A token
// without inspect gets what is said to people and what they said: no results of steps, no
// modifications, no error texts, and nothing of what the engine asked.
func (c *Call) rowFor(ctx context.Context, e *thread.Entry) (Row, error) {
	out := rowOf(e)
	follows := !c.Allows(ActionInspect)
	about := slices.Contains(spoken, e.Type)
	asks := e.Type == thread.EntryAsked || e.Type == thread.EntryOpened ||
		e.Type == thread.EntryPaused
	if follows {
		out.Failure, out.Machine, out.Parent = Withheld(e.Failure, out.ID), "", ""
		if !about {
			out.Value = nil
		}
		if e.Type == thread.EntryReroute {
			out.Name = ""
		}
	}
	if !asks && !(follows && about && e.Interrupt != "") {
		return out, nil
	}
	i, err := c.engine.Interrupt(ctx, e.Interrupt)
	if err != nil {
		return out, err
	}
	if follows && i.EngineAsks() {
		out.Value, out.Text, out.RouteTo = nil, "", ""
		if out.Name != "" {
			out.Name = i.Kind
		}
	}
	if asks {
		q := c.WithholdInterrupt(new(InterruptOf(i)))
		out.Question = &q
	}
	return out, nil
}
