package tui

import (
	"cmp"
	"fmt"

	"charm.land/lipgloss/v2"
)

// mostWritten and mostOptions are how many lines of a text and how many options are visible.
const (
	mostWritten = 5
	mostOptions = 9
)

// drawForm draws the question and its input in at most that many lines, less three for what is
// below.
func (s *state) drawForm(c *screen, room int) {
	f := s.form
	title := s.about(&f.ask)
	if f.pause {
		title = "The work is paused"
	}
	c.rule(title)
	question := s.question(c.width)
	control := &screen{width: c.width, height: c.height}
	s.control(control)
	lines := max(room-len(control.lines)-len(c.lines)-3, 1)
	if f.pause {
		lines = min(lines, max(len(question), 1))
	} else {
		lines = min(lines, max(len(question), 1), max(room/2, 3))
	}
	from := f.scroll
	if p := planOf(f.ask.Context); f.pause && p != nil {
		from += p.Done + 1 - lines/2 // shows the steps that follow
	}
	from = max(0, min(from, len(question)-lines))
	c.lines = append(c.lines, question[from:from+lines]...)
	if hidden := len(question) - lines; hidden > 0 {
		c.addText(hintStyle, fmt.Sprintf("(%s more: PgUp/PgDn)", plural(hidden, "line")))
	}
	at := len(c.lines)
	c.lines = append(c.lines, control.lines...)
	c.row, c.column, c.cursor = at+control.row, control.column, control.cursor
}

// question returns what is asked, and what it is about.
func (s *state) question(width int) []string {
	f := s.form
	var out []string
	if f.pause {
		p := planOf(f.ask.Context)
		if p == nil {
			return []string{"No plan available."}
		}
		if s.plan != nil && len(s.plan.Steps) == len(p.Steps) {
			p.Skipped = s.plan.Skipped
		}
		return append(
			[]string{truncate(fmt.Sprintf("The plan: %d of %d done", p.Done, len(p.Steps)),
				width)}, p.lines(width)...)
	}
	if f.isSend() {
		return wrap(oneLine(s.sendLine("send.to")+" "+s.sendLine("send.how")), width)
	}
	out = wrap(sanitize(cmp.Or(askedText(&f.ask), humanize(f.ask.Name)), true), width)
	for _, l := range payloadLines(f.ask.Kind, f.ask.Payload) {
		out = append(out, wrap(sanitize(l, true), width)...)
	}
	for _, l := range s.ordered() {
		out = append(out, wrap(sanitize(l, true), width)...)
	}
	if f.write == writeJSON && len(f.ask.Schema) > 0 {
		out = append(append(out, "The answer is JSON of this schema:"),
			wrap(sanitize(indentJSON(f.ask.Schema), true), width)...)
	}
	return out
}

// ordered lists the reroute event that waits for the answer, a line for each member. It may have
// come after the form was opened.
func (s *state) ordered() []string {
	data := s.form.ask.Reroute
	for _, i := range s.waiting() {
		if i.ID == s.form.ask.ID {
			data = i.Reroute
		}
	}
	if len(data) == 0 {
		return nil
	}
	return append([]string{joinDetail("An interrupt was ordered", memberText(data, "reason"))},
		payloadLines("", data)...)
}

// control draws the options or the text, and the result of the last try.
func (s *state) control(c *screen) {
	f := s.form
	if f.write == writeNone {
		from, to := visibleRange(len(f.options), f.at, mostOptions)
		for n := from; n < to; n++ {
			o := &f.options[n]
			text := fmt.Sprintf("%d %s", n+1, capitalize(oneLine(o.label)))
			if o.about != "" {
				text += ": " + oneLine(o.about)
			}
			mark, style := "  ", lipgloss.NewStyle()
			if n == f.at {
				mark, style = "> ", chosenStyle
			}
			c.lines = append(c.lines, mark+style.Render(truncate(text, c.width-2)))
		}
		if hidden := len(f.options) - (to - from); hidden > 0 {
			c.addText(hintStyle, fmt.Sprintf("  and %d more", hidden))
		}
	} else {
		c.addText(askStyle, f.prompt())
		lines, row, column := f.field.draw(c.width-2, mostWritten)
		c.row, c.column, c.cursor = len(c.lines)+row, column+2, !f.sending
		for n, l := range lines {
			mark := "  "
			if n == 0 {
				mark = "> "
			}
			c.lines = append(c.lines, mark+l)
		}
	}
	if gone := s.closedReason(); gone != "" {
		text := "Closed meanwhile: " + gone + "."
		if f.field.content() != "" {
			text += " Your draft is kept for when it is asked again."
		}
		c.addText(alarmStyle, text)
	}
	if f.refused != "" {
		c.addText(alarmStyle, "! "+capitalize(f.refused))
	}
}

// prompt returns the label of the text that is written.
func (f *form) prompt() string {
	switch f.write {
	case writeChange:
		return "How should it change?"
	case writeInput:
		return "The input to run the step with, as JSON:"
	case writeValue:
		return "The result to take, as JSON; empty for none:"
	case writeNote:
		return "A note to it; empty for none:"
	case writeJSON:
		return "Your answer, as JSON:"
	case writeReason:
		return firstLine(nil, "send.why") + "?"
	default:
		return "Your answer:"
	}
}
