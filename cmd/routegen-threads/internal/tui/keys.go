package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// handle takes in an event of the terminal or the server and returns what is to be done.
func (s *state) handle(msg tea.Msg) []job {
	var jobs []job
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = m.Width, m.Height
	case tea.PasteMsg:
		if s.form != nil && s.form.write != writeNone && !s.form.sending {
			s.form.field.insert(m.Content)
			s.form.armed = ""
		}
	case tea.KeyPressMsg:
		key := m.String()
		if key == "alt+esc" { // two that came together
			jobs = append(s.key("esc", ""), s.applyPause()...)
			key = "esc"
		}
		jobs = append(jobs, s.key(key, m.Text)...)
		jobs = append(jobs, s.applyPause()...)
	default:
		return s.handleEvent(msg)
	}
	return jobs
}

func (s *state) key(key, text string) []job {
	switch {
	case key == "ctrl+c":
		return []job{quit{}}
	case s.form == nil:
		return s.watchKey(key)
	case s.form.sending:
		return nil
	case s.form.write != writeNone:
		return s.writeKey(key, text)
	default:
		return s.chooseKey(key)
	}
}

// watchKey handles a key while no form is open.
func (s *state) watchKey(key string) []job {
	page := max(s.height/2, 1)
	switch key {
	case "q":
		return []job{quit{}}
	case "esc":
		return s.escape()
	case "n":
		if s.pause == pauseAsked {
			return []job{escape{thread.EscapeNow}}
		}
	case "tab":
		s.pickNext(1)
	case "shift+tab":
		s.pickNext(-1)
	case "enter":
		if i := s.choice(); i != nil && !s.isBarred(i) {
			s.openForm(i)
		}
	case "s":
		s.openSendForm()
	case "up":
		s.scroll++
	case "down":
		s.scroll--
	case "pgup":
		s.scroll += page
	case "pgdown":
		s.scroll -= page
	case "home":
		s.scroll = len(s.log)
	case "end":
		s.scroll = 0
	}
	s.scroll = max(0, min(s.scroll, len(s.log)-1))
	return nil
}

// escape requests a pause, takes a request back before the pause has come, or opens the form of the
// pause that has.
func (s *state) escape() []job {
	if i := s.pauseQuestion(); i != nil {
		if s.pause = pauseNone; !s.lacksRight(mayOperate) {
			s.openForm(i)
		}
		return nil
	}
	switch s.pause {
	case pauseAsked:
		if s.lacksRight(mayOperate) { // taking it back is an answer to the engine
			return nil
		}
		if s.pauseAck != "" && !s.own {
			s.notice = "This pause was asked for elsewhere, so it is not taken back."
			return nil
		}
		s.pause = pauseTaken
		return nil
	case pauseTaken:
		s.pause = pauseAsked
		return nil
	case pauseNone:
	}
	if s.lacksRight(mayEscape) {
		return nil
	}
	s.pause, s.pauseAck, s.own, s.notice = pauseAsked, "", false, ""
	return []job{escape{thread.EscapeSafe}}
}

// answerable returns the questions that can be answered now.
func (s *state) answerable() []*web.Interrupt {
	return slices.DeleteFunc(s.waiting(), func(i *web.Interrupt) bool {
		return i.State != thread.InterruptOpen
	})
}

// choice returns the question that Enter answers, or nil.
func (s *state) choice() *web.Interrupt {
	open := s.answerable()
	at := slices.IndexFunc(open, func(i *web.Interrupt) bool { return i.ID == s.picked })
	if len(open) == 0 {
		return nil
	}
	return open[max(at, 0)]
}

func (s *state) pickNext(by int) {
	if open := s.answerable(); len(open) > 0 {
		s.picked = open[(slices.Index(open, s.choice())+by+len(open))%len(open)].ID
	}
}

// chooseKey handles a key while the form shows options.
func (s *state) chooseKey(key string) []job {
	f := s.form
	switch key {
	case "esc":
		s.closeForm()
	case "up", "shift+tab":
		f.move(-1)
	case "down", "tab":
		f.move(1)
	case "pgup", "pgdown":
		s.page(key)
	case "enter":
		switch {
		case s.closedReason() != "":
			f.refused = "it can no longer be answered"
		case f.choose():
			return s.submit()
		}
	default:
		if len(key) == 1 && key[0] >= '1' && int(key[0]-'1') < len(f.options) {
			f.at = int(key[0] - '1')
		}
	}
	return nil
}

// page scrolls the question.
func (s *state) page(key string) {
	f := s.form
	if f.scroll += 5; key == "pgup" {
		f.scroll -= 10
	}
	most := len(s.question(max(s.width, 1)))
	f.scroll = max(-most, min(f.scroll, most))
}

// writeKey handles a key while a text is written.
func (s *state) writeKey(key, text string) []job {
	f := s.form
	armed := f.armed
	f.armed = ""
	switch {
	case key == "esc":
		return s.leaveWriting()
	case key == "pgup", key == "pgdown":
		s.page(key)
	case s.closedReason() != "" && (key == "enter" || key == "ctrl+x"):
		f.refused = "it can no longer be sent"
	case key == "enter" && f.write == writeText && f.field.content() == "" && armed != key:
		f.armed, f.refused = key, "nothing is written. Enter again answers with an empty text"
	case key == "enter":
		return s.submit()
	case key == "ctrl+x" && f.pause && armed != key:
		f.armed, f.refused = key, "Ctrl+X again ends the thread for good"
	case key == "ctrl+x" && f.pause:
		return s.send(thread.Answer{Interrupt: f.ask.ID, Digest: f.ask.Digest,
			Value: encodeOrder("cancel", "", nil)})
	case f.field.key(key):
	case text != "" && !strings.HasPrefix(key, "alt+"):
		f.field.insert(text)
	}
	return nil
}

// leaveWriting handles Esc in a text. In the form of a pause it lets the work go on unchanged; in
// any other form it sends nothing.
func (s *state) leaveWriting() []job {
	f := s.form
	switch {
	case s.closedReason() != "":
		s.closeForm()
	case f.pause:
		return s.send(thread.Answer{Interrupt: f.ask.ID, Digest: f.ask.Digest,
			Value: encodeOrder("continue", "", nil)})
	case !f.back():
		s.closeForm()
	}
	return nil
}
