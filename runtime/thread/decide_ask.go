package thread

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/routegen/routegen/runtime"
)

// Ask opens the questions of a frame's step as interrupts of one kind, and settles the clash with
// what is open already:
//
//   - an open interrupt of a more urgent kind wins. By the clash rule of its kind the new one is
//     queued, or superseded when it opens;
//   - a less urgent one loses. By the clash rule of the new one's kind it is queued, or superseded;
//   - interrupts of one kind are open together: siblings ask at the same time.
//
// A question that a policy answers, or whose answer came early, is answered in the change in which
// it opens, and displaces nothing: here, or when its turn in the queue comes. A policy's answer
// that the question does not take is ignored; and an early answer is one to a question of the work,
// never to one of the engine.
func (c *Change) Ask(frame, kind string, questions ...Question) {
	for n := range questions {
		c.addQuestion(frame, kind, questions[n])
	}
}

func (c *Change) addQuestion(frame, kind string, q Question) *Interrupt {
	_, priority := c.rules.Kind(kind)
	q.compact()
	i := &Interrupt{
		ID: c.rules.NewID(), Thread: c.Thread.ID, Frame: frame, Kind: kind, Priority: priority,
		State:    InterruptOpen,
		Question: q, Created: c.Now, AskedFor: c.Thread.User,
	}
	if f := c.Thread.Frame(frame); f != nil {
		i.Node, i.Step, i.Visit = c.rules.nodeOf(f), f.PC, f.Visit
	}
	if q.Asker != "" {
		i.Node = q.Asker
	}
	if root := c.Thread.Root(); root != nil {
		i.Context = root.Context
	}
	i.assign(c.rules)
	i.Digest = DigestOf(&i.Question)
	policy := i.policy(c.rules)
	if policy != nil {
		i.RemindBefore = policy.Reminder
	}
	winner := c.winner(kind)
	switch {
	case winner == nil:
		i.Due = c.dueOf(i)
		i.RemindAt = i.reminder(i.Due)
	case c.supersedes(winner.Kind):
		i.State, i.SupersededBy, i.ClosedAt, i.Clashes = InterruptSuperseded, winner.ID, c.Now, 1
	default:
		i.State, i.Clashes = InterruptQueued, 1
	}
	c.Add(Entry{
		Type: EntryAsked, Frame: frame, Interrupt: i.ID, Kind: kind, Name: q.Name,
		State: string(i.State), Other: i.SupersededBy,
		Until: i.Due, Opened: i,
	})
	if i.State == InterruptOpen {
		c.settleOpened(i)
	}
	return i
}

// settleOpened answers an interrupt that has just opened if its answer exists already; otherwise it
// supersedes or queues less urgent ones.
func (c *Change) settleOpened(i *Interrupt) {
	c.answerAtOnce(i)
	if now := c.Thread.Interrupt(i.ID); now != nil && now.State == InterruptOpen {
		c.yieldTo(now)
	}
}

// priorityOf is the place of a kind in the table as it is now: the number an interrupt stores is of
// the program that asked, and orders the inbox.
func (c *Change) priorityOf(kind string) int {
	_, place := c.rules.Kind(kind)
	return place
}

// winner returns the most urgent open interrupt that is more urgent than the kind, or nil.
func (c *Change) winner(kind string) *Interrupt {
	if !c.open.hasOtherKind(c.Thread, kind) {
		return nil
	}
	var won *Interrupt
	best := c.priorityOf(kind)
	for _, i := range c.Thread.Open {
		if i.Kind == kind || i.State != InterruptOpen {
			continue
		}
		if urgency := c.priorityOf(i.Kind); urgency < best {
			won, best = i, urgency
		}
	}
	return won
}

func (c *Change) supersedes(kind string) bool {
	row, _ := c.rules.Kind(kind)
	return row.Clash == "supersede"
}

// yieldTo supersedes or queues the interrupts that are less urgent than a new one.
func (c *Change) yieldTo(by *Interrupt) {
	if !c.open.hasOtherKind(c.Thread, by.Kind) {
		return
	}
	supersede, urgency := c.supersedes(by.Kind), c.priorityOf(by.Kind)
	for _, i := range slices.Clone(c.Thread.Open) {
		switch {
		case c.priorityOf(i.Kind) <= urgency:
		case supersede:
			c.Add(Entry{Type: EntrySuperseded, Interrupt: i.ID, Other: by.ID})
		case i.State == InterruptOpen:
			c.Add(Entry{Type: EntryQueued, Interrupt: i.ID, Other: by.ID})
		}
	}
}

// openQueued opens the queued interrupts whose turn it is, in the order they were asked.
func (c *Change) openQueued() {
	for c.open.mayHaveQueued() {
		var next *Interrupt
		for _, i := range c.Thread.Open {
			if i.State == InterruptQueued &&
				(next == nil || c.priorityOf(i.Kind) < c.priorityOf(next.Kind)) {
				next = i
			}
		}
		if next == nil || c.winner(next.Kind) != nil {
			return
		}
		c.Add(Entry{Type: EntryOpened, Interrupt: next.ID, Until: c.dueOf(next)})
		// only kinds that changed places since can give way to it
		c.settleOpened(c.Thread.Interrupt(next.ID))
	}
}

// answerAtOnce gives the answer of a policy, or one that came early.
func (c *Change) answerAtOnce(i *Interrupt) {
	row, _ := c.rules.Kind(i.Kind)
	if auto := json.RawMessage(row.AutoAnswer); len(auto) > 0 &&
		(len(row.AutoWhen) == 0 || slices.Contains(row.AutoWhen, i.Type)) && c.isLegal(i, auto) {
		c.applyAnswer(i, auto, "", "policy", "")
		return
	}
	// The first early answer that the question takes is its answer. All are used up, and the log
	// shows which were tried: they were for this question, and must not answer a later one of that
	// name.
	for _, early := range slices.Clone(c.Thread.EarlyAnswers) {
		if now := c.Thread.Interrupt(i.ID); early.Name == i.Name && now != nil &&
			now.State == InterruptOpen {
			c.Add(Entry{Type: EntryTaken, Name: early.Name, By: early.By})
			_, _ = c.Answer(Answer{Interrupt: i.ID, Value: early.Value, By: early.By})
		}
	}
}

// dueOf returns the deadline of an interrupt that begins to wait now: what its policy gives, so
// that the time in the queue does not count, or what it has already, where that is later: a person
// extended it, or set it by hand. A time that has passed while the interrupt could not be answered
// does not count, so no question expires before it could be seen.
func (c *Change) dueOf(i *Interrupt) time.Time {
	due := i.Due
	if policy := i.policy(c.rules); policy != nil && policy.After > 0 && c.Now.Add(policy.After).
		After(due) {
		due = c.Now.Add(policy.After)
	}
	if isPast(due, c.Now) {
		return time.Time{}
	}
	return due
}

// policy returns what happens at the deadline: the question's own, or the kind's; nil means that
// there is none.
func (i *Interrupt) policy(rules *Rules) *runtime.Deadline {
	if i.Deadline != nil {
		return i.Deadline
	}
	row, _ := rules.Kind(i.Kind)
	return row.Deadline
}

// Extend moves the deadline of an open interrupt, or sets one. A deadline that comes while the
// interrupt is queued no longer applies. It refuses with CodeNotFound, with CodeInvalid for a time
// that is over, with CodeForbidden for one who may not answer, with CodeConflict for one that is
// queued or that another person has claimed, and with CodeExpired once the deadline has come.
func (c *Change) Extend(interrupt string, until time.Time, by string) error {
	i, err := c.openInterrupt("extend", interrupt, by)
	if err != nil {
		return err
	}
	until = until.UTC().Truncate(time.Millisecond)
	if !until.After(c.Now) {
		return runtime.Errorf(runtime.CodeInvalid, "extend interrupt "+i.ID,
			"%s is not in the future",
			until.Format(time.RFC3339))
	}
	c.Add(Entry{Type: EntryExtended, Interrupt: i.ID, Until: until, By: by})
	return nil
}

// ClaimFor is how long a claim lasts. Claiming again in its second half makes it last as long anew.
const ClaimFor = time.Hour

// Claim marks an open interrupt as claimed by a person for [ClaimFor]: only that person can answer
// it then. With release the claim ends. It returns the errors of Extend, and CodeInvalid if by is
// empty. A claim that has ended stops nobody.
func (c *Change) Claim(interrupt, by string, release bool) error {
	if by == "" {
		return runtime.Errorf(runtime.CodeInvalid, "claim interrupt "+interrupt,
			"say who claims it")
	}
	i, err := c.openInterrupt("claim", interrupt, by)
	if err != nil {
		return err
	}
	switch has := i.ClaimedAt(c.Now); {
	case release && has == "":
		return nil
	case release:
		c.Add(Entry{Type: EntryClaimed, Interrupt: i.ID, By: by})
	case has != by || !i.ClaimedUntil.IsZero() && i.ClaimedUntil.Sub(c.Now) < ClaimFor/2:
		c.claimFor(i, by)
	}
	return nil
}

// TakeOver is Claim of an interrupt that another person may have claimed: the claim is by's from
// now on, and its entry says whose it was. Whether by may do that to others is the caller's to
// decide.
func (c *Change) TakeOver(interrupt, by string) error {
	if by == "" {
		return c.Claim(interrupt, by, false)
	}
	i, err := c.actionable("take over", interrupt, by)
	if err != nil {
		return err
	}
	if has := i.ClaimedAt(c.Now); has == "" || has == by {
		return c.Claim(interrupt, by, false)
	}
	c.claimFor(i, by)
	return nil
}

// claimFor adds the entry of a claim.
func (c *Change) claimFor(i *Interrupt, by string) {
	e := Entry{Type: EntryClaimed, Interrupt: i.ID, Name: by, By: by, Until: c.Now.Add(ClaimFor).
		UTC().Truncate(time.Millisecond)}
	if i.ClaimedBy != by {
		e.Other = i.ClaimedBy
	}
	c.Add(e)
}
