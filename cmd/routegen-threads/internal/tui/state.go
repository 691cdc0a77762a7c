package tui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/workflow"
)

// Events, beside keys, pasted text and a new size.
type (
	rowsReceived      []web.Row
	named             displayNames        // all names that are known
	streamEnded       struct{ err error } // the server refuses to continue
	connectionChanged struct {            // of the connection
		up  bool
		why string
	}
	loaded struct {
		thread *web.Thread
		err    error
	}
	acked struct { // an escape
		ack string
		err error
	}
	answered struct { // an answer, or a reroute event
		interrupt *web.Interrupt
		ack       string // what became of the event
		err       error
	}
	tick struct{} // every second
)

// Jobs, which the state returns and [model.do] runs.
type (
	job      interface{ job() }
	load     struct{}
	waitTick struct{} // until the next tick
	escape   struct{ mode string }
	answer   struct{ thread.Answer }
	quit     struct{}
)

func (load) job()     {}
func (waitTick) job() {}
func (escape) job()   {}
func (answer) job()   {}
func (quit) job()     {}

// pausing is the progress of a pause that was requested here.
type pausing int

const (
	pauseNone  pausing = iota
	pauseAsked         // the call is on its way, or the server said that it is requested
	pauseTaken         // taken back: when it comes the work goes on unchanged
)

// maxLog and maxLine bound the log on the screen. The history of the thread has all of it.
const (
	maxLog  = 5000
	maxLine = 2000
)

// state is what the program knows and what it is doing. It makes decisions and calls nothing: the
// same events give the same state and jobs.
type state struct {
	thread        string
	newRequest    func() string // ids of answers
	rights        []string      // what the token may do; nil when the server does not say
	once          bool          // it is for one answer
	operator      bool          // it is the operator's
	by            string        // in whose name it acts; "" for the operator's, which acts for all
	groups        []string      // of that person
	width, height int

	snap     *web.Thread // as last loaded
	loading  bool
	stale    bool // something came since that load began
	plan     *planView
	teller   teller
	log      []string
	scroll   int               // lines of the log below the screen
	closed   map[string]string // by interrupt: how it ended
	drafts   map[string]string // by question: what was written when it closed
	picked   string            // the interrupt that Enter answers
	form     *form
	pause    pausing
	pauseAck string // what the server said to that
	own      bool   // it is the pause of this person
	notice   string
	down     string // why there is no connection; "" when there is
	tries    int    // to get one
	end      error  // why the server refuses to go on
}

func newState(thread string, newRequest func() string) *state {
	return &state{
		thread: thread, newRequest: newRequest, teller: newTeller(),
		closed: map[string]string{}, drafts: map[string]string{},
	}
}

// handleEvent takes in an event that is not a key.
func (s *state) handleEvent(event any) []job {
	var jobs []job
	switch e := event.(type) {
	case rowsReceived:
		for n := range e {
			s.addRow(&e[n])
		}
		jobs = s.reload()
	case named:
		s.teller.names = displayNames(e)
	case streamEnded:
		s.end = e.err
	case connectionChanged:
		if e.up {
			s.down, s.tries = "", 0
			jobs = s.reload()
		} else {
			s.down = e.why
			s.tries++
		}
	case tick: // not all that a thread does is a row: a step that is tried again, say
		if jobs = []job{waitTick{}}; s.down == "" && !s.isOver() && !s.loading {
			jobs = append(jobs, s.reload()...)
		}
	case loaded:
		jobs = s.load(&e)
	case acked:
		s.acked(&e)
	case answered:
		jobs = s.answered(&e)
	}
	return append(jobs, s.applyPause()...)
}

// addRow adds a row to the log and to the plan, and notes which question it closes.
func (s *state) addRow(r *web.Row) {
	said := truncate(s.teller.tell(r), maxLine)
	if s.log = append(s.log, formatClock(r.At)+" "+said); len(s.log) > maxLog {
		s.log = slices.Delete(s.log, 0, maxLog/10)
	}
	if s.scroll > 0 {
		s.scroll++ // the lines on a screen that is scrolled up stay in place
	}
	if p := planIn(r); p != nil {
		s.plan = p
	}
	switch r.Type {
	case thread.EntryAnswered, thread.EntrySuperseded, thread.EntryExpired,
		thread.EntryCancelled:
		s.closed[r.Interrupt] = said
	case thread.EntryResumed, thread.EntryOver:
		// a pause from before the request is in the log only
		if s.pause != pauseNone && s.pauseAck != "" {
			s.pause = pauseNone
			s.notice = said
		}
		if s.plan != nil {
			s.plan.running = false
		}
	default:
	}
}

// reload loads the thread. While a load runs, any number of calls cause one more load.
func (s *state) reload() []job {
	if s.loading {
		s.stale = true
		return nil
	}
	s.loading, s.stale = true, false
	return []job{load{}}
}

func (s *state) load(e *loaded) []job {
	s.loading = false
	switch {
	case e.err == nil && (s.snap == nil || e.thread.Version >= s.snap.Version):
		s.snap = e.thread
	case e.err != nil && runtime.CodeOf(e.err) == runtime.CodeUnavailable:
		// the next tick tries again
	case e.err != nil:
		s.notice = "The thread cannot be loaded: " + refusalText(e.err)
	}
	if s.isOver() && s.pause != pauseNone {
		s.pause, s.notice = pauseNone, "The work ended before the pause came."
	}
	if s.stale {
		return s.reload()
	}
	return nil
}

// isOver reports whether the thread has ended.
func (s *state) isOver() bool {
	return s.snap != nil && s.snap.Status != thread.StatusRunning &&
		s.snap.Status != thread.StatusWaiting
}

func (s *state) acked(e *acked) {
	if e.err != nil {
		s.pause, s.pauseAck = pauseNone, ""
		if s.notice = "The pause is refused: " + refusalText(e.err); runtime.CodeOf(
			e.err) == runtime.CodeNotWaiting {
			s.notice = "Nothing runs, so there is nothing to pause."
		}
		return
	}
	s.pauseAck = e.ack
	s.own = s.own || e.ack == thread.AckRequested
	if s.notice = ""; s.pause == pauseTaken && !s.own {
		s.pause, s.notice = pauseNone,
			"The pause was asked for elsewhere too, so it is not taken back."
	}
}

// applyPause opens the form of a pause that has come, or answers it if the request was taken back.
func (s *state) applyPause() []job {
	i := s.pauseQuestion()
	if i == nil || s.form != nil || s.pauseAck == "" {
		return nil
	}
	was := s.pause
	s.pause = pauseNone
	if was != pauseNone && !s.hasRight(mayOperate) {
		s.notice = "The work is paused. Someone else says how it goes on."
		return nil
	}
	switch was {
	case pauseAsked:
		s.openForm(i)
	case pauseTaken:
		s.openForm(i)
		s.form.field = field{}
		return s.submit()
	case pauseNone:
	}
	return nil
}

// The rights that keys need.
const (
	mayAnswer  = "answer"
	mayEscape  = "escape"
	mayOperate = "operate"
)

// rightToAnswer returns the right that an answer to a question needs.
func rightToAnswer(i *web.Interrupt) string {
	if i.EngineAsks() {
		return mayOperate
	}
	return mayAnswer
}

// hasRight reports whether the token has a right. It has every right if the server does not say.
func (s *state) hasRight(action string) bool {
	return s.rights == nil || slices.Contains(s.rights, action)
}

// lacksRight reports whether the token lacks a right, and sets the notice then.
func (s *state) lacksRight(action string) bool {
	if s.hasRight(action) {
		return false
	}
	s.notice = "Your token does not let you " + map[string]string{mayAnswer: "answer.",
		mayEscape: "pause it.", mayOperate: "decide what the engine asks."}[action]
	return true
}

// isFor reports whether a question is for who holds the token, who has the right to answer it.
func (s *state) isFor(i *web.Interrupt) bool {
	return s.by == "" || len(i.Assignees) == 0 ||
		slices.ContainsFunc(i.Assignees, func(who string) bool {
			group, isGroup := strings.CutPrefix(who, runtime.GroupPrefix)
			return !isGroup && who == s.by || isGroup && slices.Contains(s.groups, group)
		})
}

// isBarred reports whether a question is not for who holds the token, and sets the notice then.
func (s *state) isBarred(i *web.Interrupt) bool {
	if s.lacksRight(rightToAnswer(i)) {
		return true
	}
	if s.isFor(i) {
		return false
	}
	s.notice = "Only " + answererNames(i) + " may answer this."
	return true
}

// answererNames returns who may answer a question, in words.
func answererNames(i *web.Interrupt) string {
	names := make([]string, len(i.Assignees))
	for n, who := range i.Assignees {
		names[n] = who
		if group, isGroup := strings.CutPrefix(who, runtime.GroupPrefix); isGroup {
			names[n] = "the group " + group
		}
	}
	return oneLine(strings.Join(names, " or "))
}

// pauseQuestion returns the open question of a pause, or nil.
func (s *state) pauseQuestion() *web.Interrupt {
	for _, i := range s.waiting() {
		if i.Kind == thread.KindUserEscape && i.State == thread.InterruptOpen {
			return i
		}
	}
	return nil
}

// waiting returns the open and queued questions of the thread.
func (s *state) waiting() []*web.Interrupt {
	var out []*web.Interrupt
	if s.snap != nil {
		for n := range s.snap.Open {
			if s.closed[s.snap.Open[n].ID] == "" { // a row may be ahead of the record
				out = append(out, &s.snap.Open[n])
			}
		}
	}
	return out
}

// openForm opens the form of a question.
func (s *state) openForm(i *web.Interrupt) {
	s.form, s.notice = newForm(i, s.drafts[i.Name], s.teller.names), ""
}

// closedReason returns how the question of the form was closed by others, or "" while it is open.
func (s *state) closedReason() string {
	f := s.form
	if f == nil || f.sending || f.isSend() { // the server says so of what was sent too late
		return ""
	}
	gone := s.snap != nil && !slices.ContainsFunc(s.waiting(), func(i *web.Interrupt) bool {
		return i.ID == f.ask.ID
	})
	return cmp.Or(s.closed[f.ask.ID], given(gone, "it is closed"))
}

// submit sends the answer of the form. Sending the same answer again uses the same request id, so
// that it counts once.
func (s *state) submit() []job {
	a, wrong := s.form.chosenAnswer()
	if s.form.refused = wrong; wrong != "" {
		return nil
	}
	return s.send(a)
}

func (s *state) send(a thread.Answer) []job {
	f := s.form
	a.Request = f.sent.Request
	if a.Request == "" || string(a.Value) != string(f.sent.Value) || a.RouteTo != f.sent.RouteTo ||
		a.Text != f.sent.Text {
		a.Request = s.newRequest()
	}
	f.sending, f.sent, f.armed, f.refused = true, a, "", ""
	if f.isSend() {
		var e workflow.Event
		_ = json.Unmarshal(a.Value, &e) // cannot fail: it was encoded here
		e.EventID, e.Reason = a.Request, a.Text
		return []job{reroute{e}}
	}
	return []job{answer{a}}
}

func (s *state) answered(e *answered) []job {
	f := s.form
	if e.err == nil && s.once {
		s.rights = slices.DeleteFunc(slices.Clone(s.rights), func(action string) bool {
			return action == mayAnswer
		})
	}
	if f == nil {
		return s.reload()
	}
	f.sending = false
	switch {
	case e.err != nil && runtime.CodeOf(e.err) == runtime.CodeUnavailable:
		f.refused = "the server cannot be reached. Nothing is lost: press the same key again, " +
			"and it is taken once"
	case e.err != nil:
		f.refused = refusalText(e.err)
	case f.isSend():
		s.notice = s.sendLine("send."+e.ack) + "."
		s.finishForm()
	case e.interrupt != nil && e.interrupt.State == thread.InterruptOpen:
		s.notice = fmt.Sprintf("Your vote counts: %d of %d.", len(e.interrupt.Votes),
			e.interrupt.Quorum)
		s.finishForm()
	default:
		s.notice = "Your answer is taken."
		if f.pause {
			s.notice = "The work goes on with your change."
			if strings.Contains(string(f.sent.Value), `"continue"`) {
				s.notice = "Nothing is changed: the work goes on."
			}
		}
		s.closed[f.ask.ID] = "you answered it"
		s.finishForm()
	}
	return s.reload()
}

// finishForm closes the form and drops its draft.
func (s *state) finishForm() {
	delete(s.drafts, s.form.ask.Name)
	s.form = nil
}

// closeForm closes the form and keeps its draft.
func (s *state) closeForm() {
	if text := s.form.field.content(); text != "" {
		s.drafts[s.form.ask.Name] = text
	}
	s.form = nil
}
