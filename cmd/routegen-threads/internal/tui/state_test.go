package tui

import (
	"encoding/json"
	"errors"
	"strconv"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// press is a key.
func press(code rune, text string) tea.KeyPressMsg {
	return tea.KeyPressMsg{Code: code, Text: text}
}

var (
	escPress   = press(tea.KeyEscape, "")
	enterPress = press(tea.KeyEnter, "")
)

// told makes a state that numbers its requests, and lets events happen. The jobs are those of the
// last one.
func told(events ...tea.Msg) (*state, []job) {
	n := 0
	s := newState("t", func() string { n++; return "request " + strconv.Itoa(n) })
	var jobs []job
	for _, e := range events {
		jobs = s.handle(e)
	}
	return s, jobs
}

// with is the record of a thread with these interrupts.
func with(version int64, open ...web.Interrupt) loaded {
	return loaded{thread: &web.Thread{ID: "t", Version: version, Status: thread.StatusWaiting,
		Open: open}}
}

func paused() web.Interrupt {
	return *question("i", thread.Question{Kind: thread.KindUserEscape, Name: thread.KindUserEscape,
		Choices: []thread.Choice{{Label: "continue"}, {Label: "modify"}}})
}

func asks(id string) web.Interrupt {
	return *question(id, thread.Question{Kind: thread.KindAgentQuestion, Name: "q",
		Plain: thread.PlainText})
}

// asksOnly is a question that only these may answer.
func asksOnly(who ...string) web.Interrupt {
	i := asks("q")
	i.Assignees = who
	return i
}

func continued() answer {
	return answer{thread.Answer{Interrupt: "i", Digest: "d",
		Value: json.RawMessage(`{"choice":"continue"}`), Request: "request 1"}}
}

func TestPauses(t *testing.T) {
	t.Parallel()
	row := func(of thread.EntryType, interrupt string) rowsReceived {
		return rowsReceived{{Entry: thread.Entry{Type: of, Interrupt: interrupt, By: "bob"}}}
	}
	refused := &web.Problem{Code: runtime.CodeNotWaiting, Detail: "not_running"}
	requested, pending := acked{ack: thread.AckRequested}, acked{ack: thread.AckPending}
	for name, c := range map[string]struct {
		events []tea.Msg
		jobs   []job
		pause  pausing
		form   bool
		notice string
	}{
		"Esc asks": {events: []tea.Msg{escPress},
			jobs: []job{escape{"safe"}}, pause: pauseAsked},
		"the record alone opens nothing": {events: []tea.Msg{with(1, paused())}},
		"the pause before the ack waits": {events: []tea.Msg{escPress, with(1, paused())},
			pause: pauseAsked},
		"and the ack shows it": {events: []tea.Msg{escPress, with(1, paused()),
			requested}, form: true},
		"the ack, then the pause": {events: []tea.Msg{escPress, requested,
			with(1, paused())}, form: true},
		"Esc on a pause shows it": {events: []tea.Msg{with(1, paused()), escPress},
			form: true},
		"n before the pause": {events: []tea.Msg{escPress, requested,
			press('n', "n")}, jobs: []job{escape{"now"}}, pause: pauseAsked},
		"n without a pause": {events: []tea.Msg{press('n', "n")}},
		"taken back": {events: []tea.Msg{escPress, requested, escPress},
			pause: pauseTaken},
		"taken back before the ack": {events: []tea.Msg{escPress, escPress, requested},
			pause: pauseTaken},
		"and wanted again": {events: []tea.Msg{escPress, requested, escPress,
			escPress}, pause: pauseAsked},
		"taken back, and it comes": {events: []tea.Msg{escPress, requested, escPress,
			with(1, paused())}, jobs: []job{continued()}, form: true},
		"somebody else's is not taken back": {events: []tea.Msg{escPress, pending, escPress},
			pause:  pauseAsked,
			notice: "This pause was asked for elsewhere, so it is not taken back."},
		"nor one that turns out to be": {events: []tea.Msg{escPress, escPress, pending},
			notice: "The pause was asked for elsewhere too, so it is not taken back."},
		"refused": {events: []tea.Msg{escPress, acked{err: refused}},
			notice: "Nothing runs, so there is nothing to pause."},
		"refused for another reason": {events: []tea.Msg{escPress,
			acked{err: errors.New("x\x1b")}}, notice: `The pause is refused: x\u001b`},
		"somebody else lets it go on": {events: []tea.Msg{escPress, requested,
			row(thread.EntryResumed, "")}, jobs: []job{load{}},
			notice: "bob let the work go on unchanged"},
		"a row of before the request": {events: []tea.Msg{escPress,
			row(thread.EntryResumed, "")}, jobs: []job{load{}}, pause: pauseAsked},
		"the thread ends first": {events: []tea.Msg{escPress, requested,
			loaded{thread: &web.Thread{Status: thread.StatusDone}}},
			notice: "The work ended before the pause came."},
		"a row is ahead of the record": {events: []tea.Msg{escPress, requested,
			row(thread.EntryAnswered, "i"), with(1, paused())}, pause: pauseAsked},
		"Esc in the form goes on unchanged": {events: []tea.Msg{with(1, paused()), escPress,
			press('x', "x"), escPress}, jobs: []job{continued()}, form: true},
		"Enter of blanks too": {events: []tea.Msg{with(1, paused()), escPress,
			press(' ', " "), enterPress}, jobs: []job{continued()}, form: true},
		"once": {events: []tea.Msg{with(1, paused()), escPress,
			escPress, escPress, enterPress}, form: true},
		"Esc of one that is gone is nothing": {events: []tea.Msg{with(1, paused()), escPress,
			with(2), escPress}},
		"Enter of one that is gone neither": {events: []tea.Msg{with(1, paused()), escPress,
			with(2), enterPress}, form: true},
		"Ctrl+C leaves": {events: []tea.Msg{with(1, paused()), escPress,
			tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}}, jobs: []job{quit{}}, form: true},
		"q in a text is a letter": {events: []tea.Msg{with(1, paused()), escPress,
			press('q', "q")}, form: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, jobs := told(c.events...)
			assert.Equal(t, c.pause, s.pause, "pause")
			assert.Equal(t, c.form, s.form != nil, "form")
			assert.Equal(t, c.notice, s.notice)
			assert.Equal(t, c.jobs, jobs)
		})
	}
}

func TestLoads(t *testing.T) {
	t.Parallel()
	row := rowsReceived{{Entry: thread.Entry{Type: thread.EntryStarted}}}
	unavailable := loaded{err: &runtime.Error{Code: runtime.CodeUnavailable}}
	for name, c := range map[string]struct {
		events []tea.Msg
		jobs   []job
	}{
		"a row loads":        {events: []tea.Msg{row}, jobs: []job{load{}}},
		"one load at a time": {events: []tea.Msg{row, row}},
		"and one more for what came": {events: []tea.Msg{row, row, row, with(1)},
			jobs: []job{load{}}},
		"none for nothing":  {events: []tea.Msg{row, with(1)}},
		"a load that fails": {events: []tea.Msg{row, unavailable}},
		"comes again": {events: []tea.Msg{row, unavailable, tick{}},
			jobs: []job{waitTick{}, load{}}},
		"a beat waits for a load": {events: []tea.Msg{row, tick{}}, jobs: []job{waitTick{}}},
		"and for a connection": {events: []tea.Msg{connectionChanged{why: "x"}, tick{}},
			jobs: []job{waitTick{}}},
		"none for what is over": {
			events: []tea.Msg{loaded{thread: &web.Thread{Status: thread.StatusFailed}}, tick{}},
			jobs:   []job{waitTick{}}},
		"a connection loads": {events: []tea.Msg{connectionChanged{up: true}},
			jobs: []job{load{}}},
		"one that is lost does not": {events: []tea.Msg{connectionChanged{why: "x"}}},
		"a refusal is not asked again": {events: []tea.Msg{row,
			loaded{err: &web.Problem{Code: runtime.CodeForbidden}}}},
		"the end of the rows asks no question": {events: []tea.Msg{streamEnded{errors.New("x")}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, jobs := told(c.events...)
			assert.Equal(t, c.jobs, jobs)
		})
	}
}

// An older record than the one that is known, of a call that was overtaken, changes nothing.
func TestOldRecord(t *testing.T) {
	t.Parallel()
	s, _ := told(with(5, asks("i")), with(4))
	assert.Len(t, s.waiting(), 1)
}

// The same answer again is the same request; another one is a new request.
func TestRequests(t *testing.T) {
	t.Parallel()
	gone := answered{err: &runtime.Error{Code: runtime.CodeUnavailable}}
	s, jobs := told(with(1, asks("i")), enterPress, press('a', "a"), enterPress)
	sent := func(value string, request int) []job {
		return []job{answer{thread.Answer{Interrupt: "i", Digest: "d",
			Value: json.RawMessage(value), Request: "request " + strconv.Itoa(request)}}}
	}
	require.Equal(t, sent(`"a"`, 1), jobs)
	assert.Empty(t, s.handle(press('b', "b")), "what is sent is not written on")
	assert.Equal(t, []job{load{}}, s.handle(gone))
	assert.Contains(t, s.form.refused, "press the same key again")
	assert.Equal(t, sent(`"a"`, 1), s.handle(enterPress))
	s.handle(gone)
	s.handle(press('b', "b"))
	assert.Equal(t, sent(`"ab"`, 2), s.handle(enterPress))
	s.handle(answered{interrupt: &web.Interrupt{
		Interrupt: thread.Interrupt{State: thread.InterruptAnswered}}})
	assert.Nil(t, s.form)
	assert.Empty(t, s.drafts)
	assert.Empty(t, s.waiting(), "not offered again, though the record is not loaded yet")
}

func TestVotes(t *testing.T) {
	t.Parallel()
	i := asks("i")
	s, _ := told(with(1, i), enterPress, press('a', "a"), enterPress)
	i.Quorum = 2
	require.NoError(t, json.Unmarshal([]byte(`{"votes":[{"by":"ann"}]}`), &i))
	s.handle(answered{interrupt: &i})
	assert.Equal(t, "Your vote counts: 1 of 2.", s.notice)
	assert.Len(t, s.waiting(), 1)
}

func TestPicks(t *testing.T) {
	t.Parallel()
	queued := asks("q")
	queued.State = thread.InterruptQueued
	s, _ := told(with(1, asks("a"), queued, asks("b"), asks("c")))
	tab, back := press(tea.KeyTab, ""), tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	for _, c := range []struct {
		key  tea.KeyPressMsg
		want string
	}{{tab, "b"}, {tab, "c"}, {tab, "a"}, {back, "c"}, {back, "b"}} {
		s.handle(c.key)
		assert.Equal(t, c.want, s.choice().ID)
	}
	s.handle(with(2, queued, asks("c")))
	assert.Equal(t, "c", s.choice().ID, "what is closed is not chosen")
	s.handle(with(3, queued))
	assert.Nil(t, s.choice())
	assert.Empty(t, s.handle(enterPress))
	assert.Empty(t, s.handle(tab))
}

// Who reads further up in the log is not moved by what comes.
func TestScroll(t *testing.T) {
	t.Parallel()
	s, _ := told()
	up := press(tea.KeyUp, "")
	said := func(n int) rowsReceived {
		return rowsReceived{{Entry: thread.Entry{Type: thread.EntryMessage, Name: "said",
			Value: json.RawMessage(strconv.Itoa(n))}}}
	}
	bottom := func() string {
		return s.log[len(s.log)-1-s.scroll][9:]
	}
	for n := range maxLog + 10 {
		s.handle(said(n))
	}
	assert.Less(t, len(s.log), maxLog, "it is bounded")
	assert.Equal(t, "Said: 5009", bottom())
	s.handle(up)
	s.handle(up)
	s.handle(said(6000))
	assert.Equal(t, "Said: 5007", bottom())
	s.handle(press(tea.KeyEnd, ""))
	assert.Equal(t, "Said: 6000", bottom())
	s.handle(press(tea.KeyDown, ""))
	assert.Zero(t, s.scroll)
	s.handle(press(tea.KeyHome, ""))
	s.handle(up)
	assert.Equal(t, s.log[0][9:], bottom())
}
