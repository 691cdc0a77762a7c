package thread

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/brief"
)

// Answer is an answer to an interrupt. It names the interrupt or the question, or neither if only
// one is open, and it has a value, plain text, or a target to continue at, with a text as its note.
type Answer struct {
	Interrupt string // id
	Question  string // or its name
	// JSON; null, false, 0, "" and {} are answers; nil means there is none
	Value   json.RawMessage
	Text    string // or plain text, read as the question says; with RouteTo the note
	RouteTo string // or where the work goes on, one of the question's targets
	By      string // who answers
	Digest  string // of what the person saw; "" does not check it
	Request string // id of this request: the same one again gets the same result
	// Only an answer that counts uses the request id: after an unclear answer the next one may have
	// the same
	Spend bool
	// NoOrders has a question of the engine refused with CodeForbidden, see [Interrupt.EngineAsks]:
	// this answerer may settle what handlers ask, and no more.
	NoOrders bool
}

// AnsweredError is the data of [runtime.CodeAlreadyAnswered].
type AnsweredError struct {
	Interrupt string
	By        string
	At        time.Time
}

// Error says who answered, and when.
func (e *AnsweredError) Error() string {
	by := e.By
	if by == "" {
		by = "an unnamed caller"
	}
	return fmt.Sprintf("interrupt %s was answered by %s at %s", e.Interrupt, by,
		e.At.Format(time.RFC3339))
}

// AmbiguousError is the data of [runtime.CodeAmbiguous]: the ids one of which must be named.
type AmbiguousError struct {
	Open []string
}

// Error lists the ids.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%d interrupts are open, name one: %s", len(e.Open), brief.JoinNames(e.Open))
}

// UnclearError is the data of CodeInvalid for plain text that cannot be read as an answer. The
// interrupt counts it and stays open, so the change it comes with is committed; Left is how often
// it is asked again before its deadline's policy acts. A question of the engine is asked again for
// as long as it takes, and Left is -1: a pause is not ended, and a step not given up, by unclear
// words.
type UnclearError struct {
	Reason string
	Left   int
}

// Error says what was unclear.
func (e *UnclearError) Error() string { return e.Reason }

// Answer answers an open interrupt and returns it. It checks, in this order, that there is one, its
// state, its deadline, who answers, what was shown, and the value. It returns CodeNotWaiting if
// nothing is asked, CodeNotFound, CodeAmbiguous if several are open, CodeConflict if it is queued,
// CodeExpired, CodeForbidden, CodeConflict if something else was shown, CodeNoRoute, or
// CodeInvalid. The interrupt then stays as it was, except that unclear plain text is counted, see
// [UnclearError]. For an interrupt that is closed, see [Closed].
//
// If a quorum is needed the answer is a vote, and the returned interrupt may still be open.
func (c *Change) Answer(a Answer) (*Interrupt, error) {
	i, err := c.findAddressed(&a)
	if err != nil || i == nil {
		return nil, err
	}
	op := "answer interrupt " + i.ID
	if err := c.checkOpen(op, i); err != nil {
		return nil, err
	}
	if a.NoOrders && i.EngineAsks() {
		return nil, runtime.Errorf(runtime.CodeForbidden, op,
			"the engine asks this: it takes the right to operate the thread")
	}
	if err := c.mayAnswer(op, i, a.By); err != nil {
		return nil, err
	}
	if a.Digest != "" && a.Digest != i.Digest {
		return nil, runtime.Errorf(runtime.CodeConflict, op,
			"something else is asked than what was shown: load it again")
	}
	switch {
	case a.countForms() > 1:
		return nil, runtime.Errorf(runtime.CodeInvalid, op,
			"it has more than one answer: give a value, a text, or a target with a text "+
				"as its note")
	case a.RouteTo != "":
		if err = c.mayRoute(op, i, a.RouteTo); err == nil {
			a.Value, err = a.encodeNote()
		}
	default:
		a.Value, err = c.readValue(op, i, &a)
	}
	if err != nil {
		return nil, err
	}
	if i.Quorum > 1 && i.EscalatedTo == "" { // the one it was escalated to decides alone
		return c.countVote(op, i, &a)
	}
	c.applyAnswer(i, a.Value, a.RouteTo, a.By, a.Request)
	return c.latestOf(i.ID), nil
}

// countForms counts the forms in which the answer is given. A text with a target is a note, and no
// form.
func (a *Answer) countForms() int {
	n := 0
	for _, given := range []bool{a.Value != nil, a.Text != "" && a.RouteTo == "", a.RouteTo != ""} {
		if given {
			n++
		}
	}
	return n
}

// encodeNote is what goes along with a target, as it is stored; nil without one.
func (a *Answer) encodeNote() (json.RawMessage, error) {
	if a.Text == "" {
		return nil, nil
	}
	return runtime.Encode(a.Text)
}

// checkOpen returns an error if the interrupt is queued or its deadline has come.
func (c *Change) checkOpen(op string, i *Interrupt) error {
	switch {
	case i.State == InterruptQueued:
		return runtime.Errorf(runtime.CodeConflict, op,
			"a more urgent interrupt is open: answer that first")
	case isPast(i.Due, c.Now):
		return runtime.Errorf(runtime.CodeExpired, op,
			"its deadline was %s", i.Due.Format(time.RFC3339))
	}
	return nil
}

// findAddressed returns the interrupt that an answer is for. It returns nil and no error when the
// answer was kept for a later question.
func (c *Change) findAddressed(a *Answer) (*Interrupt, error) {
	if a.Interrupt != "" {
		if i := c.Thread.Interrupt(a.Interrupt); i != nil {
			return i, nil
		}
		return nil, runtime.Errorf(runtime.CodeNotFound, "answer thread "+c.Thread.ID,
			"no interrupt %s is open on it", a.Interrupt)
	}
	var open []string // but the first
	var found, queued *Interrupt
	for _, i := range c.Thread.Open {
		switch {
		case a.Question != "" && i.Name != a.Question:
		case i.State != InterruptOpen:
			queued = i
		case found == nil:
			found = i
		default:
			open = append(open, i.ID)
		}
	}
	if found != nil && open == nil {
		return found, nil
	}
	op := "answer thread " + c.Thread.ID
	switch {
	case found != nil:
		open = slices.Insert(open, 0, found.ID)
		return nil, runtime.Errorf(runtime.CodeAmbiguous, op, "%w", &AmbiguousError{Open: open})
	case queued != nil: // asked already: not early
		return queued, nil
	case a.Question == "":
		return nil, runtime.Errorf(runtime.CodeNotWaiting, op, "no question is open")
	case !c.rules.HoldEarly || c.Thread.Over != "" || a.Value == nil || a.countForms() > 1 ||
		isEngineQuestion(a.Question):
		return nil, runtime.Errorf(runtime.CodeNotFound, op, "it does not ask %q", a.Question)
	}
	return nil, c.holdEarly(op, a)
}

// holdEarly keeps an early answer. All of them travel with every commit of the thread, so they have
// a bound.
func (c *Change) holdEarly(op string, a *Answer) error {
	const most, mostBytes = 64, 64 << 10
	if err := runtime.CheckJSON(op, a.Value); err != nil {
		return err
	}
	count, size := 1, len(a.Question)+len(a.Value)+len(a.By)+len(a.Request)
	for _, l := range c.Thread.EarlyAnswers {
		if l.Name != a.Question || l.By != a.By { // otherwise it is replaced
			count, size = count+1, size+len(l.Name)+len(l.Value)+len(l.By)+len(l.Request)
		}
	}
	if count > most || size > mostBytes {
		return runtime.Errorf(runtime.CodeConflict, op,
			"a thread keeps %d early answers at most, and %d bytes of them: answer %q "+
				"when it is asked",
			most, mostBytes, brief.Shorten(a.Question))
	}
	c.Add(Entry{Type: EntryHeld, Name: a.Question, Value: a.Value, By: a.By, Request: a.Request})
	return nil
}

// openInterrupt returns an open interrupt that by may act on.
func (c *Change) openInterrupt(verb, id, by string) (*Interrupt, error) {
	i, err := c.actionable(verb, id, by)
	if err == nil {
		err = i.checkUnclaimed(runtime.CodeConflict, verb+" interrupt "+id, by, c.Now)
	}
	return i, err
}

// actionable is openInterrupt for one that another person may have claimed.
func (c *Change) actionable(verb, id, by string) (*Interrupt, error) {
	op := verb + " interrupt " + id
	i := c.Thread.Interrupt(id)
	if i == nil {
		return nil, runtime.Errorf(runtime.CodeNotFound, op,
			"%s", "no such interrupt is open on thread "+c.Thread.ID)
	}
	if err := c.checkOpen(op, i); err != nil {
		return nil, err
	}
	if err := c.checkAnswerer(op, i, by); err != nil {
		return nil, err
	}
	return i, nil
}

// mayAnswer returns CodeForbidden if by may not answer, or another person has claimed the
// interrupt.
func (c *Change) mayAnswer(op string, i *Interrupt, by string) error {
	if err := c.checkAnswerer(op, i, by); err != nil {
		return err
	}
	return i.checkUnclaimed(runtime.CodeForbidden, op, by, c.Now)
}

// checkUnclaimed returns an error of the code if another person has the interrupt.
func (i *Interrupt) checkUnclaimed(code runtime.Code, op, by string, now time.Time) error {
	switch who := i.ClaimedAt(now); {
	case who == "" || who == by:
		return nil
	case i.ClaimedUntil.IsZero():
		return runtime.Errorf(code, op,
			"it is claimed by %s: ask them to release it, or take it over", who)
	default:
		return runtime.Errorf(code, op, "it is claimed by %s until %s: ask them to release it, "+
			"or take it over", who, i.ClaimedUntil.Format(time.RFC3339))
	}
}

// checkAnswerer returns CodeForbidden if by is not one of those who may answer.
func (c *Change) checkAnswerer(op string, i *Interrupt, by string) error {
	answerers := i.Answerers()
	switch {
	case by == "" && (len(answerers) > 0 || i.NotOwn || i.Quorum > 1):
		return runtime.Errorf(runtime.CodeForbidden, op, "say who answers: only some people may")
	case len(answerers) > 0 && !slices.ContainsFunc(answerers, func(who string) bool {
		return c.caller.is(by, who)
	}):
		return runtime.Errorf(runtime.CodeForbidden, op,
			"%s is not one of those who may answer, and in no group that may", by)
	case i.NotOwn && by == i.AskedFor:
		return runtime.Errorf(runtime.CodeForbidden, op,
			"the user of the thread may not approve their own request: another person must")
	}
	return nil
}

func (c *Change) mayRoute(op string, i *Interrupt, target string) error {
	row, _ := c.rules.Kind(i.Kind)
	switch {
	case !row.RouteTo && i.Kind == KindSystemError:
		return runtime.Errorf(runtime.CodeNoRoute, op,
			`a failed step takes no route_to: answer {"choice": "reroute", "target": ...}`)
	case !row.RouteTo:
		return runtime.Errorf(runtime.CodeNoRoute, op,
			"questions of kind %s take no route_to: answer with a value or a text",
			i.Kind)
	case !slices.Contains(i.Targets, target):
		return runtime.Errorf(runtime.CodeNoRoute, op, "%w",
			&runtime.SelectionError{Routing: "route_to", Set: []string{target},
				Allowed: i.Targets})
	}
	return nil
}

// readValue returns the JSON of an answer, read from plain text if it is one, and validated against
// the schema.
func (c *Change) readValue(op string, i *Interrupt, a *Answer) (json.RawMessage, error) {
	if a.Value == nil && a.Text == "" {
		return nil, runtime.Errorf(runtime.CodeInvalid, op,
			"the answer is empty: give a value, a text or a target")
	}
	if a.Value == nil {
		// it does not count as unclear
		if i.Plain == "" && !i.EngineAsks() {
			return nil, runtime.Errorf(runtime.CodeInvalid, op,
				"this question takes no plain text: answer with a value")
		}
		value, reason := i.parseText(a.Text)
		if reason != "" {
			return nil, c.countUnclear(op, i, a, reason)
		}
		a.Value = value
	}
	return a.Value, c.checkFits(op, i, a.Value)
}

// checkFits validates a value against what the question allows.
func (c *Change) checkFits(op string, i *Interrupt, value json.RawMessage) error {
	if err := runtime.CheckJSON(op, value); err != nil {
		return err
	}
	if c.rules.Check != nil && i.Schema != nil {
		if err := c.rules.Check(i.Schema, value); err != nil {
			return err
		}
	}
	return i.checkOrder(op, c.Thread.Frame(i.Frame), value)
}

// isLegal reports whether a policy may give this answer: it fits, it ends the interrupt, and it
// does not run a step again that failed permanently.
func (c *Change) isLegal(i *Interrupt, value json.RawMessage) bool {
	if c.checkFits("", i, value) != nil {
		return false
	}
	o := engineOrder{}
	if i.EngineAsks() {
		o, _ = parseOrder(value) // it fits
	}
	return o.Choice != orderStatus && (o.Choice != orderRetry || i.isRecoverable())
}

// unclearAnswer is the value of a reasked entry: what was said, and how many tries are left.
type unclearAnswer struct {
	Said string `json:"said"`
	Left int    `json:"left"`
}

// Unclear returns the refusal that a reasked entry of the log records, for the same request when it
// is repeated. For another answer with that request id it returns [runtime.CodeConflict].
func (a *Answer) Unclear(e *Entry) error {
	op := "answer interrupt " + e.Interrupt
	var t unclearAnswer
	if json.Unmarshal(e.Value, &t) != nil || t.Said != a.Text {
		return requestUsed(op)
	}
	return runtime.Errorf(runtime.CodeInvalid, op, "%w",
		&UnclearError{Reason: e.Text, Left: t.Left})
}

// countUnclear counts an answer that could not be read. After the third the deadline's policy acts,
// but on a question of the engine.
func (c *Change) countUnclear(op string, i *Interrupt, a *Answer, reason string) error {
	const tries = 3
	left := max(tries-i.Asks-1, 0)
	if i.EngineAsks() {
		left = -1
	}
	value, err := runtime.Encode(unclearAnswer{a.Text, left})
	if err != nil {
		return err
	}
	e := Entry{Type: EntryReasked, Interrupt: i.ID, Text: reason, Value: value, By: a.By}
	if !a.Spend {
		e.Request = a.Request
	}
	c.Add(e)
	if left == 0 {
		policy := i.policy(c.rules)
		if policy == nil || policy.Then != "default" {
			policy = &runtime.Deadline{Then: "expire"}
		}
		c.applyPolicy(i, policy,
			&Failure{Code: runtime.CodeInvalid, Text: "no clear answer to " + i.Name +
				" in three tries: " + reason})
	}
	return runtime.Errorf(runtime.CodeInvalid, op, "%w", &UnclearError{Reason: reason, Left: left})
}

// countVote counts an answer where several are needed. The interrupt is answered by the value that
// enough people gave, and expires when no value can reach that number.
func (c *Change) countVote(op string, i *Interrupt, a *Answer) (*Interrupt, error) {
	if a.RouteTo != "" {
		return nil, runtime.Errorf(runtime.CodeNoRoute, op,
			"several people must agree on an answer: give a value, not a target")
	}
	for _, v := range i.Votes {
		switch {
		case v.By != a.By:
		case SameJSON(v.Value, a.Value):
			return i, nil
		default:
			return nil, runtime.Errorf(runtime.CodeAlreadyAnswered, op,
				"%w", &AnsweredError{Interrupt: i.ID, By: v.By, At: v.At})
		}
	}
	c.Add(Entry{Type: EntryVoted, Interrupt: i.ID, Value: a.Value, By: a.By, Request: a.Request})
	i = c.Thread.Interrupt(i.ID)
	most := 0
	for _, v := range i.Votes {
		same := 0
		for _, other := range i.Votes {
			if SameJSON(v.Value, other.Value) {
				same++
			}
		}
		most = max(most, same)
	}
	switch {
	case most >= i.Quorum:
		c.applyAnswer(i, a.Value, "", a.By, "")
	case most+i.undecided() < i.Quorum:
		c.applyPolicy(i, &runtime.Deadline{Then: "expire"},
			&Failure{Code: runtime.CodeConflict, Text: "those who were asked about " + i.Name +
				" do not agree"})
	}
	return c.latestOf(i.ID), nil
}

// undecided returns how many votes are still possible.
func (i *Interrupt) undecided() int {
	if len(i.Assignees) == 0 || i.asksGroup() {
		return i.Quorum // nobody knows how many may vote
	}
	left := 0
	for n, who := range i.Assignees {
		voted := slices.ContainsFunc(i.Votes, func(v Vote) bool { return v.By == who })
		if !voted && !(i.NotOwn && who == i.AskedFor) && !slices.Contains(i.Assignees[:n], who) {
			left++
		}
	}
	return left
}

// latestOf returns the latest form of an interrupt that this change touched.
func (c *Change) latestOf(id string) *Interrupt {
	return c.Interrupts[c.placeOf(id)]
}

// Closed returns the outcome of an answer to a closed interrupt: the interrupt if it is the same
// answer or the same request again, and otherwise CodeAlreadyAnswered, CodeSuperseded, CodeExpired
// or CodeNotWaiting.
func Closed(i *Interrupt, a *Answer) (*Interrupt, error) {
	op := "answer interrupt " + i.ID
	switch i.State {
	case InterruptAnswered:
		if a.Request != "" && a.Request == i.Request || i.matchesAnswer(a) {
			return i, nil
		}
		return nil, runtime.Errorf(runtime.CodeAlreadyAnswered, op,
			"%w", &AnsweredError{Interrupt: i.ID, By: i.AnsweredBy, At: i.ClosedAt})
	case InterruptSuperseded:
		return nil, runtime.Errorf(runtime.CodeSuperseded, op,
			"%s", "a more urgent one took its place: "+i.SupersededBy)
	case InterruptExpired:
		return nil, runtime.Errorf(runtime.CodeExpired, op,
			"it expired at %s", i.ClosedAt.Format(time.RFC3339))
	default:
		return nil, runtime.Errorf(runtime.CodeNotWaiting, op, "it is %s", i.State)
	}
}

// matchesAnswer reports whether the answer is the one that its giver gave already, alone or as one
// of several.
func (i *Interrupt) matchesAnswer(a *Answer) bool {
	value := a.Value
	if value == nil && a.Text != "" {
		value, _ = i.parseText(a.Text)
	}
	if a.RouteTo != "" || i.RouteTo != "" {
		note, err := a.encodeNote()
		return err == nil && a.By == i.AnsweredBy && a.RouteTo == i.RouteTo &&
			SameJSON(note, i.Answer)
	}
	voted := slices.ContainsFunc(i.Votes, func(v Vote) bool {
		return v.By == a.By && SameJSON(v.Value, value)
	})
	return SameJSON(value, i.Answer) && (voted || a.By == i.AnsweredBy)
}
