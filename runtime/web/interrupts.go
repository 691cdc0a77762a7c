package web

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web/internal/input"
)

func (c *Call) inbox() (any, error) {
	query := c.r.URL.Query()
	q := thread.InterruptQuery{Thread: query.Get("thread"), Limit: c.limit}
	var err error
	if q.Assignees, err = c.assignees(); err != nil {
		return nil, err
	}
	if q.States, err = chosen("state", query.Get("state"), interruptStates); err != nil {
		return nil, err
	}
	if q.States == nil {
		q.States = []thread.InterruptState{thread.InterruptOpen}
	}
	if q.Kinds, err = c.kinds(query.Get("kind")); err != nil {
		return nil, err
	}
	q.Nodes = split(query.Get("node"))
	before, err := c.numberParam("before", 1<<53)
	if err != nil {
		return nil, err
	}
	if before > 0 {
		q.Before = time.UnixMilli(before).UTC()
	}
	if after := query.Get("after"); after != "" {
		if q.After, err = parseMark(after); err != nil {
			return nil, err
		}
	}
	found, err := c.engine.Inbox(c.Context(), q)
	if err != nil {
		return nil, err
	}
	out := list[Interrupt]{Items: []Interrupt{}}
	for _, i := range found {
		out.Items = append(out.Items, InterruptOf(i))
	}
	if len(found) == c.limit {
		last := found[c.limit-1]
		out.Next = mark{last.Priority, last.Created.UnixMilli(), last.ID}.String()
	}
	return out, nil
}

// assignees reads the filters of who may answer: one name, or the caller with their groups.
func (c *Call) assignees() ([]string, error) {
	query := c.r.URL.Query()
	name, mine := query.Get("assignee"), query.Get("mine")
	switch who := c.Identity(); {
	case mine == "" && name == "":
		return nil, nil
	case mine == "":
		return []string{name}, nil
	case mine != "true":
		return nil, BadRequest("%q is no value of mine: use true, or leave it out", mine)
	case name != "":
		return nil, BadRequest("mine and assignee exclude each other: send one of them")
	case who == nil:
		return nil, BadRequest("mine is for people who have signed in: name a person, or a group " +
			"like group:finance, with assignee")
	default:
		names := []string{who.User}
		for _, group := range who.Groups {
			names = append(names, runtime.GroupPrefix+group)
		}
		return names, nil
	}
}

// kinds reads the filter of kinds: those of the engine, and those that a stored interrupt has,
// which may be an older program's.
func (c *Call) kinds(text string) ([]string, error) {
	there := kindNames(c.engine)
	for _, kind := range split(text) {
		if slices.Contains(there, kind) {
			continue
		}
		found, err := c.engine.Inbox(c.Context(),
			thread.InterruptQuery{Kinds: []string{kind}, States: interruptStates, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			break
		}
		there = append(there, kind)
	}
	return chosen("kind", text, there)
}

func kindNames(e *thread.Engine) (names []string) {
	for _, kind := range e.Kinds() {
		names = append(names, kind.Name)
	}
	return names
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// The values that a filter can have.
var (
	interruptStates = []thread.InterruptState{
		thread.InterruptOpen, thread.InterruptQueued, thread.InterruptAnswered,
		thread.InterruptSuperseded, thread.InterruptCancelled,
		thread.InterruptExpired,
	}
	threadStatuses = []thread.Status{
		thread.StatusIdle, thread.StatusRunning, thread.StatusWaiting, thread.StatusDone,
		thread.StatusFailed, thread.StatusCancelled,
		thread.StatusHandedOff,
	}
)

// chosen reads a filter. What there is not is refused: it would find nothing, and look like an
// answer.
func chosen[T ~string](name, text string, there []T) (out []T, err error) {
	for _, part := range split(text) {
		if !slices.Contains(there, T(part)) {
			return nil, BadRequest("%q is no %s: use %v, several with commas between", part, name,
				there)
		}
		out = append(out, T(part))
	}
	return out, nil
}

func (c *Call) getInterrupt() (any, error) {
	if c.asked.State != thread.InterruptOpen {
		return InterruptOf(c.asked), nil
	}
	t, err := c.engine.Thread(c.Context(), c.asked.Thread)
	if err != nil {
		return nil, err
	}
	return awaited(t, c.asked), nil
}

// answerForm is one of value, text and routeTo; with routeTo the text is its note. A value of null
// is an answer.
type answerForm struct {
	Interrupt string          `json:"interrupt,omitempty"`
	Question  string          `json:"question,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
	Text      string          `json:"text,omitempty"`
	RouteTo   string          `json:"routeTo,omitempty"`
	Digest    string          `json:"digest,omitempty"`
	By        string          `json:"by,omitempty"`
}

// answered is what an answer leads to: the interrupt as it is then, or nothing yet when the answer
// came before its question.
type answered struct {
	Held      bool       `json:"held,omitempty"`
	Interrupt *Interrupt `json:"interrupt,omitempty"`
}

func (f *answerForm) toAnswer(request string) thread.Answer {
	return thread.Answer{
		Interrupt: f.Interrupt, Question: f.Question, Value: f.Value, Text: f.Text,
		RouteTo: f.RouteTo, Digest: f.Digest, By: f.By, Request: request,
	}
}

func (c *Call) answerInterrupt(f *answerForm) (any, error) {
	if f.Question != "" || f.Interrupt != "" && f.Interrupt != c.asked.ID {
		return nil, BadRequest("the path names the interrupt already")
	}
	f.Interrupt = c.asked.ID
	return c.recordAnswer(c.asked.Thread, f)
}

func (c *Call) answerThread(f *answerForm) (any, error) {
	return c.recordAnswer(c.r.PathValue("thread"), f)
}

func (c *Call) recordAnswer(thread string, f *answerForm) (any, error) {
	request, err := c.RequestID()
	if err != nil {
		return nil, err
	}
	i, err := c.Answer(c.Context(), thread, f.toAnswer(request))
	if err != nil {
		return nil, err
	}
	if i == nil {
		return answered{Held: true}, nil
	}
	c.about = i.Thread + " " + i.ID
	out := InterruptOf(i)
	return answered{Interrupt: &out}, nil
}

// gave reports whether an interrupt has this answer, by its content. The request id alone does not
// say so: it may be an earlier body's.
func gave(i *thread.Interrupt, a thread.Answer) bool {
	a.Request = ""
	if i.State == thread.InterruptAnswered {
		_, err := thread.Closed(i, &a)
		return err == nil
	}
	for _, v := range i.Votes {
		if v.By == a.By {
			return thread.SameJSON(v.Value, a.Value)
		}
	}
	return true // still open: a look at the state, or a plain answer that was unclear
}

type answersForm struct {
	Answers []answerForm `json:"answers"`
}

// maxBatch bounds what one commit holds.
const maxBatch = 100

func (c *Call) answerAll(f *answersForm) (any, error) {
	if len(f.Answers) == 0 || len(f.Answers) > maxBatch {
		return nil, input.Invalid("/answers", "has 1 to "+strconv.Itoa(maxBatch)+" answers")
	}
	request, err := c.RequestID()
	if err != nil {
		return nil, err
	}
	answers := make([]thread.Answer, len(f.Answers))
	for n := range f.Answers {
		part := &f.Answers[n]
		if !input.ValidID(part.Interrupt) {
			return nil, input.Invalid("/answers/"+strconv.Itoa(n)+"/interrupt",
				"each answer of a batch names its interrupt")
		}
		if part.By, err = c.By(part.By); err != nil {
			return nil, err
		}
		answers[n] = part.toAnswer(request)
		answers[n].NoOrders = !c.Allows(ActionOperate)
		if request != "" {
			answers[n].Request += "/" + strconv.Itoa(n)
		}
	}
	found, err := c.engine.AnswerAll(c.Context(), answers...)
	if err != nil {
		return nil, err
	}
	out := list[Interrupt]{Items: []Interrupt{}}
	for n, i := range found {
		if answers[n].Request != "" && (i == nil || !gave(i, answers[n])) {
			return nil, ErrOtherBody
		}
		out.Items = append(out.Items, InterruptOf(i))
	}
	return out, nil
}

type claimForm struct {
	By      string `json:"by,omitempty"`
	Release bool   `json:"release,omitempty"`
	// although another person has it
	TakeOver bool `json:"takeOver,omitempty"`
}

// claim takes an interrupt on, or lays it down. A token whose one answer is given takes nothing on,
// and what the engine asks is for those who operate the thread.
func (c *Call) claim(f *claimForm) (any, error) {
	operates := c.Allows(ActionOperate)
	if c.asked.EngineAsks() && !operates || f.TakeOver && !operates {
		return nil, ErrForbidden
	}
	if f.TakeOver && f.Release {
		return nil, BadRequest("takeOver and release exclude each other: send one of them")
	}
	return c.onAsked(func(ch *thread.Change) error {
		if g := c.who.grant; g != nil && g.Once && !f.Release {
			row, err := c.engine.FindRequest(c.Context(), ch, spentRequest(g.ID))
			if err != nil {
				return err
			}
			if row != nil {
				return ErrForbidden
			}
		}
		if f.TakeOver {
			return ch.TakeOver(c.asked.ID, f.By)
		}
		return ch.Claim(c.asked.ID, f.By, f.Release)
	})
}

type extendForm struct {
	Until int64  `json:"until"`
	By    string `json:"by,omitempty"`
}

func (c *Call) extend(f *extendForm) (any, error) {
	return c.onAsked(func(ch *thread.Change) error {
		return ch.Extend(c.asked.ID, time.UnixMilli(f.Until).UTC(), f.By)
	})
}

// onAsked changes the interrupt of the path, and returns it as it is now.
func (c *Call) onAsked(do func(ch *thread.Change) error) (any, error) {
	t, _, err := c.commitOnce(c.asked.Thread, func(ch *thread.Change) (string, error) {
		return "", do(ch)
	})
	if err != nil {
		return nil, err
	}
	if i := t.Interrupt(c.asked.ID); i != nil {
		return InterruptOf(i), nil
	}
	i, err := c.engine.Interrupt(c.Context(), c.asked.ID)
	return sent(InterruptOf, i, err)
}

func (c *Call) stats() (any, error) {
	since, err := c.numberParam("since", 1<<53)
	if err != nil {
		return nil, err
	}
	found, err := c.engine.Stats(c.Context(), time.UnixMilli(since).UTC())
	if err != nil {
		return nil, err
	}
	for n := range found { // sent in milliseconds
		found[n].Median /= time.Millisecond
		found[n].P95 /= time.Millisecond
	}
	return list[thread.Stat]{Items: found}, nil
}
