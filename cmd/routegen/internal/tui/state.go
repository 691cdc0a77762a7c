package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

// What can happen, beside keys, pasted text and a new size.
type (
	rowsCame []web.Row
	named    names               // what is called how, as far as it is known now
	rowsEnd  struct{ err error } // the server refuses to go on
	lineCame struct {            // of the connection
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
	answered struct {
		interrupt *web.Interrupt
		err       error
	}
	beat struct{} // every second
)

// What is to be done about it. The state only says so: see [model.do].
type (
	job    interface{ job() }
	load   struct{}
	rest   struct{} // until the next beat
	escape struct{ mode string }
	answer struct{ runtime.Answer }
	leave  struct{}
)

func (load) job()   {}
func (rest) job()   {}
func (escape) job() {}
func (answer) job() {}
func (leave) job()  {}

// pausing is how far a pause is that was asked for here.
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

// state is what is known and what is being done. It decides, and does nothing itself: the same events give the same state and jobs.
type state struct {
	thread        string
	newRequest    func() string // ids of answers
	rights        []string      // what the token may do; nil when the server does not say
	once          bool          // it is for one answer
	operator      bool          // it may do everything
	width, height int

	snap     *web.Thread // as last loaded
	loading  bool
	stale    bool // something came since that load began
	plan     *plan
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

// happened takes an event in that is not a person's.
func (s *state) happened(event any) []job {
	var jobs []job
	switch e := event.(type) {
	case rowsCame:
		for n := range e {
			s.row(&e[n])
		}
		jobs = s.reload()
	case named:
		s.teller.names = names(e)
	case rowsEnd:
		s.end = e.err
	case lineCame:
		if e.up {
			s.down, s.tries = "", 0
			jobs = s.reload()
		} else {
			s.down = e.why
			s.tries++
		}
	case beat: // not all that a thread does is a row: a step that is tried again, say
		if jobs = []job{rest{}}; s.down == "" && !s.over() && !s.loading {
			jobs = append(jobs, s.reload()...)
		}
	case loaded:
		jobs = s.load(&e)
	case acked:
		s.acked(&e)
	case answered:
		jobs = s.answered(&e)
	case rerouted:
		jobs = s.rerouted(&e)
	}
	return append(jobs, s.settle()...)
}

// row takes a row in: into the log, into the plan, and into what is known of questions that are closed.
func (s *state) row(r *web.Row) {
	said := cut(s.teller.tell(r), maxLine)
	if s.log = append(s.log, clock(r.At)+" "+said); len(s.log) > maxLog {
		s.log = slices.Delete(s.log, 0, maxLog/10)
	}
	if s.scroll > 0 {
		s.scroll++ // who reads further up is not moved
	}
	if p := planIn(r); p != nil {
		s.plan = p
	}
	switch r.Type {
	case runtime.EntryAnswered, runtime.EntrySuperseded, runtime.EntryExpired, runtime.EntryCancelled:
		s.closed[r.Interrupt] = said
	case runtime.EntryResumed, runtime.EntryOver:
		if s.pause != pauseNone && s.pauseAck != "" { // one of before the request is in the log only
			s.pause = pauseNone
			s.notice = said
		}
		if s.plan != nil {
			s.plan.running = false
		}
	default:
	}
}

// reload loads the thread, once however much has come.
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
	case e.err != nil && runtime.CodeOf(e.err) == runtime.CodeUnavailable: // the next beat tries again
	case e.err != nil:
		s.notice = "The thread cannot be loaded: " + refusalText(e.err)
	}
	if s.over() && s.pause != pauseNone {
		s.pause, s.notice = pauseNone, "The work ended before the pause came."
	}
	if s.stale {
		return s.reload()
	}
	return nil
}

// over reports whether nothing of the thread can be paused.
func (s *state) over() bool {
	if s.snap == nil {
		return false
	}
	switch s.snap.Status {
	case runtime.StatusRunning, runtime.StatusWaiting:
		return false
	default:
		return true
	}
}

func (s *state) acked(e *acked) {
	if e.err != nil {
		s.pause, s.pauseAck = pauseNone, ""
		if s.notice = "The pause is refused: " + refusalText(e.err); runtime.CodeOf(e.err) == runtime.CodeNotWaiting {
			s.notice = "Nothing runs, so there is nothing to pause."
		}
		return
	}
	s.pauseAck = e.ack
	s.own = s.own || e.ack == runtime.AckRequested
	if s.notice = ""; s.pause == pauseTaken && !s.own {
		s.pause, s.notice = pauseNone, "The pause was asked for elsewhere too, so it is not taken back."
	}
}

// settle does what follows of itself: a pause that has come is shown, or ended when it was taken back.
func (s *state) settle() []job {
	i := s.pausedBy()
	if i == nil || s.form != nil || s.pauseAck == "" {
		return nil
	}
	was := s.pause
	s.pause = pauseNone
	if was != pauseNone && !s.may(mayAnswer) {
		s.notice = "The work is paused. Somebody else says how it goes on."
		return nil
	}
	switch was {
	case pauseAsked:
		s.open(i)
	case pauseTaken:
		s.open(i)
		s.form.field = field{}
		return s.submit()
	case pauseNone:
	}
	return nil
}

// The rights that a key here can take.
const (
	mayAnswer = "answer"
	mayEscape = "escape"
)

// may reports whether the token has a right, as far as that is known.
func (s *state) may(action string) bool { return s.rights == nil || slices.Contains(s.rights, action) }

// barred reports whether the token lacks a right, and says so.
func (s *state) barred(action string) bool {
	if s.may(action) {
		return false
	}
	s.notice = "Your token does not let you " + map[string]string{mayAnswer: "answer.", mayEscape: "pause it."}[action]
	return true
}

// pausedBy returns the open interrupt of a pause.
func (s *state) pausedBy() *web.Interrupt {
	for _, i := range s.waiting() {
		if i.Kind == runtime.KindUserEscape && i.State == runtime.InterruptOpen {
			return i
		}
	}
	return nil
}

// waiting lists the questions of the thread.
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

// open shows the form of an interrupt.
func (s *state) open(i *web.Interrupt) {
	s.form, s.notice = openForm(i, s.drafts[i.Name], s.teller.names), ""
}

// gone says how the question of the form ended without this person; "" while it is open.
func (s *state) gone() string {
	f := s.form
	if f == nil || f.sending || f.send { // the server says so of what was sent too late
		return ""
	}
	if how := s.closed[f.ask.ID]; how != "" {
		return how
	}
	open := func(i *web.Interrupt) bool { return i.ID == f.ask.ID }
	if s.snap != nil && !slices.ContainsFunc(s.waiting(), open) {
		return "it is closed"
	}
	return ""
}

// submit sends the answer of the form. The same answer again is the same request: it is taken once.
func (s *state) submit() []job {
	if s.form.send {
		return s.sendElsewhere()
	}
	a, wrong := s.form.answer()
	if s.form.refused = wrong; wrong != "" {
		return nil
	}
	return s.send(a)
}

func (s *state) send(a runtime.Answer) []job {
	f := s.form
	a.Request = f.sent.Request
	if a.Request == "" || string(a.Value) != string(f.sent.Value) || a.RouteTo != f.sent.RouteTo || a.Text != f.sent.Text {
		a.Request = s.newRequest()
	}
	f.sending, f.sent, f.armed, f.refused = true, a, "", ""
	return []job{answer{a}}
}

func (s *state) answered(e *answered) []job {
	f := s.form
	if e.err == nil && s.once {
		s.rights = slices.DeleteFunc(slices.Clone(s.rights), func(action string) bool { return action == mayAnswer })
	}
	if f == nil || f.send {
		return s.reload()
	}
	f.sending = false
	switch {
	case e.err != nil && runtime.CodeOf(e.err) == runtime.CodeUnavailable:
		f.refused = "the server cannot be reached. Nothing is lost: press the same key again, and it is taken once"
	case e.err != nil:
		f.refused = refusalText(e.err)
	case e.interrupt != nil && e.interrupt.State == runtime.InterruptOpen:
		s.notice = fmt.Sprintf("Your voice counts: %d of %d.", len(e.interrupt.Votes), e.interrupt.Quorum)
		s.done()
	default:
		s.notice = "Your answer is taken."
		if f.pause {
			s.notice = "The work goes on with your change."
			if strings.Contains(string(f.sent.Value), `"continue"`) {
				s.notice = "Nothing is changed: the work goes on."
			}
		}
		s.closed[f.ask.ID] = "you answered it"
		s.done()
	}
	return s.reload()
}

// done leaves a form that has done its work.
func (s *state) done() {
	delete(s.drafts, s.form.ask.Name)
	s.form = nil
}

// keep leaves a form, and keeps what was written in it.
func (s *state) keep() {
	if text := s.form.field.text(); text != "" && !s.form.send {
		s.drafts[s.form.ask.Name] = text
	}
	s.form = nil
}
