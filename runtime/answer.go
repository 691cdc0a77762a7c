package runtime

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Answer is what a caller gives to an interrupt. It names the interrupt, or the question, or neither when only one is open; and it gives a
// value, or plain text, or a place to go on at, where a text is a note to it.
type Answer struct {
	Interrupt string          // id
	Question  string          // or its name
	Value     json.RawMessage // JSON; null, false, 0, "" and {} are answers like any other, only nil is none
	Text      string          // or plain text, read as the question says; with RouteTo the note
	RouteTo   string          // or where the work goes on, one of the question's targets
	By        string          // who answers
	Digest    string          // of what the person saw; "" does not check it
	Request   string          // id of this request: the same one again gets the same result
	Spend     bool            // Request is used up by what counts: after an answer that was unclear the next one may bear it again
}

// AnsweredError is the data of [CodeAlreadyAnswered].
type AnsweredError struct {
	Interrupt string
	By        string
	At        time.Time
}

// Error says who answered, and when.
func (e *AnsweredError) Error() string {
	by := e.By
	if by == "" {
		by = "somebody"
	}
	return fmt.Sprintf("interrupt %s was answered by %s at %s", e.Interrupt, by, e.At.Format(time.RFC3339))
}

// AmbiguousError is the data of [CodeAmbiguous]: the ids one of which must be named.
type AmbiguousError struct {
	Open []string
}

// Error lists the ids.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%d interrupts are open, name one: %s", len(e.Open), listed(e.Open))
}

// UnclearError is the data of CodeInvalid for plain text that cannot be read as an answer. The interrupt counts it and stays open, so the
// change it comes with is committed; Left is how often it is asked again before its deadline's policy acts. A question of the engine is asked
// again for as long as it takes, and Left is -1: nobody ends a pause, or gives up a step, by words that mean nothing.
type UnclearError struct {
	Reason string
	Left   int
}

// Error says what was unclear.
func (e *UnclearError) Error() string { return e.Reason }

// Answer settles an open interrupt and returns it. It checks in this order: that there is one, its state, its deadline, who answers, what
// was shown, and the value. It refuses with CodeNotWaiting, CodeNotFound or CodeAmbiguous (which is meant?), CodeConflict (queued),
// CodeExpired, CodeForbidden, CodeConflict (something else was shown), CodeNoRoute, or CodeInvalid; the interrupt stays as it was, but for
// unclear plain text, see [UnclearError]. What to say of an interrupt that is closed, [Closed] knows.
//
// Where a quorum is needed the answer is a vote, and the interrupt returned may still be open.
func (c *Change) Answer(a Answer) (*Interrupt, error) {
	i, err := c.addressed(&a)
	if err != nil || i == nil {
		return nil, err
	}
	op := "answer interrupt " + i.ID
	if err := c.standing(op, i); err != nil {
		return nil, err
	}
	if err := i.mayAnswer(op, a.By); err != nil {
		return nil, err
	}
	if a.Digest != "" && a.Digest != i.Digest {
		return nil, refuse(CodeConflict, op, errors.New("something else is asked than what was shown: load it again"))
	}
	switch {
	case a.forms() > 1:
		return nil, invalid(op, "it has more than one answer: give a value, a text, or a target with a text as its note")
	case a.RouteTo != "":
		if err = c.mayRoute(op, i, a.RouteTo); err == nil {
			a.Value, err = a.note()
		}
	default:
		a.Value, err = c.value(op, i, &a)
	}
	if err != nil {
		return nil, err
	}
	if i.Quorum > 1 && i.EscalatedTo == "" { // the one it was escalated to decides alone
		return c.vote(op, i, &a)
	}
	c.settle(i, a.Value, a.RouteTo, a.By, a.Request)
	return c.changed(i.ID), nil
}

// forms counts the ways in which the answer is given. A text beside a target is no answer of its own.
func (a *Answer) forms() int {
	n := 0
	for _, given := range []bool{a.Value != nil, a.Text != "" && a.RouteTo == "", a.RouteTo != ""} {
		if given {
			n++
		}
	}
	return n
}

// note is what goes along with a target, as it is stored; nil without one.
func (a *Answer) note() (json.RawMessage, error) {
	if a.Text == "" {
		return nil, nil
	}
	return Encode(a.Text)
}

// standing refuses what nobody can do to an interrupt now: it is queued, or its time is over.
func (c *Change) standing(op string, i *Interrupt) error {
	switch {
	case i.State == InterruptQueued:
		return refuse(CodeConflict, op, errors.New("a more urgent interrupt is open: answer that first"))
	case came(i.Due, c.Now):
		return refuse(CodeExpired, op, fmt.Errorf("its deadline was %s", i.Due.Format(time.RFC3339)))
	}
	return nil
}

// addressed returns the interrupt that an answer is for. It returns nil and no error when the answer was kept for a later question.
func (c *Change) addressed(a *Answer) (*Interrupt, error) {
	op := "answer thread " + c.Thread.ID
	if a.Interrupt != "" {
		if i := c.Thread.Interrupt(a.Interrupt); i != nil {
			return i, nil
		}
		return nil, refuse(CodeNotFound, op, fmt.Errorf("no interrupt %s is open on it", a.Interrupt))
	}
	var open []string
	var found, queued *Interrupt
	for _, i := range c.Thread.Open {
		switch {
		case a.Question != "" && i.Name != a.Question:
		case i.State == InterruptOpen:
			open = append(open, i.ID)
			found = i
		default:
			queued = i
		}
	}
	switch {
	case len(open) == 1:
		return found, nil
	case len(open) > 1:
		return nil, refuse(CodeAmbiguous, op, &AmbiguousError{Open: open})
	case queued != nil: // asked already: not early
		return queued, nil
	case a.Question == "":
		return nil, refuse(CodeNotWaiting, op, errors.New("it asks nothing"))
	case !c.rules.HoldEarly || c.Thread.Over != "" || a.Value == nil || a.forms() > 1 || ofEngine(a.Question):
		return nil, refuse(CodeNotFound, op, fmt.Errorf("it does not ask %q", a.Question))
	}
	return nil, c.hold(op, a)
}

// hold keeps an early answer. All of them travel with every commit of the thread, so they have a bound.
func (c *Change) hold(op string, a *Answer) error {
	const most, mostBytes = 64, 64 << 10
	if err := checkJSON(op, a.Value); err != nil {
		return err
	}
	count, size := 1, len(a.Question)+len(a.Value)+len(a.By)+len(a.Request)
	for _, l := range c.Thread.Mailbox {
		if l.Name != a.Question || l.By != a.By { // or else it gives way
			count, size = count+1, size+len(l.Name)+len(l.Value)+len(l.By)+len(l.Request)
		}
	}
	if count > most || size > mostBytes {
		return refuse(CodeConflict, op, fmt.Errorf("a thread keeps %d early answers at most, and %d bytes of them: answer %q when it is asked",
			most, mostBytes, shortened(a.Question)))
	}
	c.Add(Entry{Type: EntryHeld, Name: a.Question, Value: a.Value, By: a.By, Request: a.Request})
	return nil
}

// open returns an open interrupt that by may act on.
func (c *Change) open(verb, id, by string) (*Interrupt, error) {
	op := verb + " interrupt " + id
	i := c.Thread.Interrupt(id)
	if i == nil {
		return nil, refuse(CodeNotFound, op, errors.New("no such interrupt is open on thread "+c.Thread.ID))
	}
	if err := c.standing(op, i); err != nil {
		return nil, err
	}
	if err := i.among(op, by); err != nil {
		return nil, err
	}
	if i.ClaimedBy != "" && i.ClaimedBy != by {
		return nil, refuse(CodeConflict, op, fmt.Errorf("%s has it", i.ClaimedBy))
	}
	return i, nil
}

// mayAnswer is the identity rule.
func (i *Interrupt) mayAnswer(op, by string) error {
	if err := i.among(op, by); err != nil {
		return err
	}
	if i.ClaimedBy != "" && i.ClaimedBy != by {
		return refuse(CodeForbidden, op, fmt.Errorf("%s has it", i.ClaimedBy))
	}
	return nil
}

// among refuses who is not one of those that are asked.
func (i *Interrupt) among(op, by string) error {
	answerers := i.Answerers()
	switch {
	case by == "" && (len(answerers) > 0 || i.NotOwn || i.Quorum > 1):
		return refuse(CodeForbidden, op, errors.New("say who answers: not everybody may"))
	case len(answerers) > 0 && !slices.Contains(answerers, by):
		return refuse(CodeForbidden, op, fmt.Errorf("%s is not among those who are asked", by))
	case i.NotOwn && by == i.AskedFor:
		return refuse(CodeForbidden, op, errors.New("nobody may approve his own request"))
	}
	return nil
}

func (c *Change) mayRoute(op string, i *Interrupt, target string) error {
	row, _ := c.rules.Kind(i.Kind)
	switch {
	case !row.RouteTo && i.Kind == KindSystemError:
		return refuse(CodeNoRoute, op, errors.New(`a failed step takes no route_to: answer {"choice": "reroute", "target": ...}`))
	case !row.RouteTo:
		return refuse(CodeNoRoute, op, fmt.Errorf("questions of kind %s take no route_to: answer with a value or a text", i.Kind))
	case !slices.Contains(i.Targets, target):
		return refuse(CodeNoRoute, op, &SelectionError{Routing: "route_to", Set: []string{target}, Allowed: i.Targets})
	}
	return nil
}

// value returns the JSON of an answer, read from plain text where that was given, and held to the schema.
func (c *Change) value(op string, i *Interrupt, a *Answer) (json.RawMessage, error) {
	if a.Value == nil && a.Text == "" {
		return nil, invalid(op, "there is no answer: give a value, a text or a target")
	}
	if a.Value == nil {
		if i.Plain == "" && !i.engineAsks() { // nobody tried to answer: it does not count as unclear
			return nil, invalid(op, "this question takes no plain text: answer with a value")
		}
		value, reason := i.read(a.Text)
		if reason != "" {
			return nil, c.unclear(op, i, a, reason)
		}
		a.Value = value
	}
	return a.Value, c.fits(op, i, a.Value)
}

// fits holds a value to what the question allows.
func (c *Change) fits(op string, i *Interrupt, value json.RawMessage) error {
	if err := checkJSON(op, value); err != nil {
		return err
	}
	if c.rules.Check != nil && i.Schema != nil {
		if err := c.rules.Check(i.Schema, value); err != nil {
			return err
		}
	}
	return i.ordered(op, c.Thread.Frame(i.Frame), value)
}

// legal reports whether a policy may give this answer: it fits, it ends the interrupt, and it does not
// run a step again that failed for good.
func (c *Change) legal(i *Interrupt, value json.RawMessage) bool {
	if c.fits("", i, value) != nil {
		return false
	}
	o := order{}
	if i.engineAsks() {
		o, _ = readOrder(value) // it fits
	}
	return o.Choice != orderStatus && (o.Choice != orderRetry || i.mends())
}

// try is the value of a reasked entry: what was said, and how many tries are left.
type try struct {
	Said string `json:"said"`
	Left int    `json:"left"`
}

// Unclear is the refusal that a reasked entry of the log tells of, for the same request when it comes again. It refuses another answer under its
// id with [CodeConflict].
func (a *Answer) Unclear(e *Entry) error {
	op := "answer interrupt " + e.Interrupt
	var t try
	if json.Unmarshal(e.Value, &t) != nil || t.Said != a.Text {
		return refuse(CodeConflict, op, errors.New("the request id was used for something else: take a new one"))
	}
	return refuse(CodeInvalid, op, &UnclearError{Reason: e.Text, Left: t.Left})
}

// unclear counts an answer that could not be read. After the third the deadline's policy acts, but on a question of the engine.
func (c *Change) unclear(op string, i *Interrupt, a *Answer, reason string) error {
	const tries = 3
	left := max(tries-i.Asks-1, 0)
	if i.engineAsks() {
		left = -1
	}
	value, err := Encode(try{a.Text, left})
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
			policy = &Deadline{Then: "expire"}
		}
		c.act(i, policy, &Failure{Code: CodeInvalid, Text: "no clear answer to " + i.Name + " in three tries: " + reason})
	}
	return refuse(CodeInvalid, op, &UnclearError{Reason: reason, Left: left})
}

// vote counts an answer where several are needed. The interrupt is answered by the value that enough people gave, and expires when no value
// can get there any more.
func (c *Change) vote(op string, i *Interrupt, a *Answer) (*Interrupt, error) {
	if a.RouteTo != "" {
		return nil, refuse(CodeNoRoute, op, errors.New("several must agree on an answer: a target is none"))
	}
	for _, v := range i.Votes {
		switch {
		case v.By != a.By:
		case SameJSON(v.Value, a.Value):
			return i, nil
		default:
			return nil, refuse(CodeAlreadyAnswered, op, &AnsweredError{Interrupt: i.ID, By: v.By, At: v.At})
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
		c.settle(i, a.Value, "", a.By, "")
	case most+i.undecided() < i.Quorum:
		c.act(i, &Deadline{Then: "expire"}, &Failure{Code: CodeConflict, Text: "those who were asked about " + i.Name + " do not agree"})
	}
	return c.changed(i.ID), nil
}

// undecided is how many votes may still come.
func (i *Interrupt) undecided() int {
	if len(i.Assignees) == 0 {
		return i.Quorum // of an open circle anybody
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

// changed returns the latest form of an interrupt that this change touched.
func (c *Change) changed(id string) *Interrupt {
	at := slices.IndexFunc(c.Interrupts, func(i *Interrupt) bool { return i.ID == id })
	return c.Interrupts[at]
}

// Closed says what an answer to a closed interrupt gets: the interrupt, when it is the same answer or the same request again, and otherwise
// CodeAlreadyAnswered, CodeSuperseded, CodeExpired or CodeNotWaiting.
func Closed(i *Interrupt, a *Answer) (*Interrupt, error) {
	op := "answer interrupt " + i.ID
	switch i.State {
	case InterruptAnswered:
		if a.Request != "" && a.Request == i.Request || i.gave(a) {
			return i, nil
		}
		return nil, refuse(CodeAlreadyAnswered, op, &AnsweredError{Interrupt: i.ID, By: i.AnsweredBy, At: i.ClosedAt})
	case InterruptSuperseded:
		return nil, refuse(CodeSuperseded, op, errors.New("a more urgent one took its place: "+i.SupersededBy))
	case InterruptExpired:
		return nil, refuse(CodeExpired, op, fmt.Errorf("it expired at %s", i.ClosedAt.Format(time.RFC3339)))
	default:
		return nil, refuse(CodeNotWaiting, op, fmt.Errorf("it is %s", i.State))
	}
}

// gave reports whether the answer is the one that its giver gave already, alone or as one of several.
func (i *Interrupt) gave(a *Answer) bool {
	value := a.Value
	if value == nil && a.Text != "" {
		value, _ = i.read(a.Text)
	}
	if a.RouteTo != "" || i.RouteTo != "" {
		note, err := a.note()
		return err == nil && a.By == i.AnsweredBy && a.RouteTo == i.RouteTo && SameJSON(note, i.Answer)
	}
	voted := slices.ContainsFunc(i.Votes, func(v Vote) bool { return v.By == a.By && SameJSON(v.Value, value) })
	return SameJSON(value, i.Answer) && (voted || a.By == i.AnsweredBy)
}

// SameJSON reports whether two documents say the same, without regard to spaces and the order of keys. Numbers are the same as they are
// written. One that is absent, nil, is the same as another that is absent, and as nothing else.
func SameJSON(a, b json.RawMessage) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if bytes.Equal(a, b) {
		return true
	}
	one, err1 := canonical(a)
	two, err2 := canonical(b)
	return err1 == nil && err2 == nil && bytes.Equal(one, two)
}

func canonical(data []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return json.Marshal(v)
}

// checkJSON refuses what is not exactly one JSON value, or one with double keys, with CodeInvalid and the pointers.
func checkJSON(op string, data []byte) error {
	d := borrow(data)
	if d.start() {
		d.skip()
		d.end()
	}
	var err error
	if len(d.problems) > 0 {
		err = d.verdict(op)
	}
	d.giveBack()
	return err
}

// trimmed is plain text as it is compared: without spaces and points around it, in lower case.
func trimmed(text string) string {
	return strings.ToLower(strings.Trim(strings.TrimSpace(text), " .!,;"))
}
