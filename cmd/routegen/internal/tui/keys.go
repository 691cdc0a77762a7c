package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

// on takes in whatever the terminal or the server says.
func (s *state) on(msg tea.Msg) []job {
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
			jobs = append(s.key("esc", ""), s.settle()...)
			key = "esc"
		}
		jobs = append(jobs, s.key(key, m.Text)...)
		jobs = append(jobs, s.settle()...)
	default:
		return s.happened(msg)
	}
	return jobs
}

func (s *state) key(key, text string) []job {
	switch {
	case key == "ctrl+c":
		return []job{leave{}}
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

// watchKey is a key while no form is open.
func (s *state) watchKey(key string) []job {
	page := max(s.height/2, 1)
	switch key {
	case "q":
		return []job{leave{}}
	case "esc":
		return s.escape()
	case "n":
		if s.pause == pauseAsked {
			return []job{escape{runtime.EscapeNow}}
		}
	case "tab", "shift+tab":
		s.pick(key == "tab")
	case "s":
		s.elsewhere()
	case "enter":
		if i := s.choice(); i != nil && !s.barred(mayAnswer) {
			s.open(i)
		}
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

// escape asks for a pause, takes that back before it has come, or shows the one that is there.
func (s *state) escape() []job {
	if i := s.pausedBy(); i != nil {
		if s.pause = pauseNone; !s.barred(mayAnswer) {
			s.open(i)
		}
		return nil
	}
	switch s.pause {
	case pauseAsked:
		if s.barred(mayAnswer) { // taking it back is an answer
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
	if s.barred(mayEscape) {
		return nil
	}
	s.pause, s.pauseAck, s.own, s.notice = pauseAsked, "", false, ""
	return []job{escape{runtime.EscapeSafe}}
}

// answerable lists the questions that can be answered now.
func (s *state) answerable() []*web.Interrupt {
	var out []*web.Interrupt
	for _, i := range s.waiting() {
		if i.State == runtime.InterruptOpen {
			out = append(out, i)
		}
	}
	return out
}

// choice is the question that Enter answers; nil when there is none.
func (s *state) choice() *web.Interrupt {
	open := s.answerable()
	for _, i := range open {
		if i.ID == s.picked {
			return i
		}
	}
	if len(open) == 0 {
		return nil
	}
	return open[0]
}

func (s *state) pick(forward bool) {
	open, at := s.answerable(), 0
	if len(open) == 0 {
		return
	}
	for n, i := range open {
		if i == s.choice() {
			at = n + len(open) - 1
			if forward {
				at = n + 1
			}
		}
	}
	s.picked = open[at%len(open)].ID
}

// chooseKey is a key while there is a choice to make.
func (s *state) chooseKey(key string) []job {
	f := s.form
	switch key {
	case "esc":
		s.keep()
	case "up", "shift+tab":
		f.move(-1)
	case "down", "tab":
		f.move(1)
	case "pgup", "pgdown":
		s.page(key)
	case "enter":
		switch {
		case s.gone() != "":
			f.refused = "it cannot be answered any more"
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

// page moves the question up or down.
func (s *state) page(key string) {
	f := s.form
	if f.scroll += 5; key == "pgup" {
		f.scroll -= 10
	}
	most := len(s.question(max(s.width, 1)))
	f.scroll = max(-most, min(f.scroll, most))
}

// writeKey is a key while something is being written.
func (s *state) writeKey(key, text string) []job {
	f := s.form
	armed := f.armed
	f.armed = ""
	switch {
	case key == "esc":
		return s.leaveWriting()
	case key == "pgup", key == "pgdown":
		s.page(key)
	case s.gone() != "" && (key == "enter" || key == "ctrl+x"):
		f.refused = "it cannot be sent any more"
	case key == "enter" && f.write == writeText && f.field.text() == "" && armed != key:
		f.armed, f.refused = key, "nothing is written. Enter again answers with an empty text"
	case key == "enter":
		return s.submit()
	case key == "ctrl+x" && f.pause && armed != key:
		f.armed, f.refused = key, "Ctrl+X again ends the thread for good"
	case key == "ctrl+x" && f.pause:
		return s.send(runtime.Answer{Interrupt: f.ask.ID, Digest: f.ask.Digest, Value: order("cancel", "", nil)})
	case f.field.key(key):
	case text != "" && !strings.HasPrefix(key, "alt+"):
		f.field.insert(text)
	}
	return nil
}

// leaveWriting is Esc. A pause that this form is about ends with it, and nothing is changed; any other form sends nothing.
func (s *state) leaveWriting() []job {
	f := s.form
	switch {
	case s.gone() != "":
		s.keep()
	case f.pause:
		return s.send(runtime.Answer{Interrupt: f.ask.ID, Digest: f.ask.Digest, Value: order("continue", "", nil)})
	case !f.back():
		s.keep()
	}
	return nil
}
