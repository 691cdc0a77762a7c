package tui

import (
	"cmp"
	"encoding/json"
	"fmt"

	"charm.land/lipgloss/v2"
)

// mostWritten is how many lines of what is being written are in sight, and mostOptions how many choices.
const (
	mostWritten = 5
	mostOptions = 9
)

// drawForm draws the question, and what is needed to answer it, in at most so many lines, three of which are left for what stands below.
func (s *state) drawForm(c *screen, room int) {
	f := s.form
	title := s.about(&f.ask)
	switch {
	case f.send:
		title = "Send it elsewhere"
	case f.pause:
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
	if p := planOf(&f.ask); f.pause && p != nil {
		from += p.Done + 1 - lines/2 // what is to come counts
	}
	from = max(0, min(from, len(question)-lines))
	c.lines = append(c.lines, question[from:from+lines]...)
	if hidden := len(question) - lines; hidden > 0 {
		c.add(hintStyle, fmt.Sprintf("(%s more: PgUp/PgDn)", plural(hidden, "line")))
	}
	at := len(c.lines)
	c.lines = append(c.lines, control.lines...)
	c.row, c.column, c.cursor = at+control.row, control.column, control.cursor
}

// question is what is asked, and what it is about.
func (s *state) question(width int) []string {
	f := s.form
	var out []string
	if f.pause {
		p := planOf(&f.ask)
		if p == nil {
			return []string{"No plan available."}
		}
		if s.plan != nil && len(s.plan.Steps) == len(p.Steps) {
			p.Skipped = s.plan.Skipped
		}
		return append([]string{cut(fmt.Sprintf("The plan: %d of %d done", p.Done, len(p.Steps)), width)}, p.lines(width)...)
	}
	if f.send {
		where := "where you say"
		if f.write != writeNone {
			where = "at " + s.teller.names.node(f.chosen.routeTo)
		}
		told := "The node is told to interrupt; when that is settled, the work goes on " + where + "."
		return wrap(shown(told, true), width)
	}
	out = wrap(shown(cmp.Or(askedText(&f.ask), plain(f.ask.Name)), true), width)
	for _, l := range payloadLines(f.ask.Kind, f.ask.Payload) {
		out = append(out, wrap(shown(l, true), width)...)
	}
	for _, l := range s.ordered() {
		out = append(out, wrap(shown(l, true), width)...)
	}
	if f.write == writeJSON && len(f.ask.Schema) > 0 {
		out = append(append(out, "The answer is JSON of this schema:"), wrap(shown(indented(f.ask.Schema), true), width)...)
	}
	return out
}

// ordered is the reroute event that waits for the answer, a line for each thing. It may have come after the form was opened.
func (s *state) ordered() []string {
	var e struct {
		By      string `json:"requestedBy"`
		Reason  string `json:"reason"`
		Context string `json:"contextForDecision"`
		Target  string `json:"rerouteToAgentType"`
		Choices []struct {
			Label       string `json:"label"`
			Value       string `json:"value"`
			Description string `json:"description"`
		} `json:"choices"`
		Confirm []struct {
			Prompt string `json:"prompt"`
		} `json:"confirmationItems"`
	}
	data := s.form.ask.Reroute
	for _, i := range s.waiting() {
		if i.ID == s.form.ask.ID {
			data = i.Reroute
		}
	}
	if json.Unmarshal(data, &e) != nil {
		return nil
	}
	out := []string{colon(person(e.By)+" asked for an interrupt", e.Reason)}
	if e.Context != "" {
		out = append(out, e.Context)
	}
	for _, c := range e.Choices {
		out = append(out, colon("  "+c.Label+" ("+c.Value+")", c.Description))
	}
	for _, c := range e.Confirm {
		out = append(out, "To confirm: "+c.Prompt)
	}
	if e.Target != "" {
		out = append(out, "With an answer the work goes on at "+s.teller.names.node(e.Target)+".")
	}
	return out
}

// control is the choice, or what is being written, with what came of the last try.
func (s *state) control(c *screen) {
	f := s.form
	if f.write == writeNone {
		from, to := window(len(f.options), f.at, mostOptions)
		for n := from; n < to; n++ {
			o := &f.options[n]
			text := fmt.Sprintf("%d %s", n+1, capital(line(o.label)))
			if o.about != "" {
				text += ": " + line(o.about)
			}
			mark, style := "  ", lipgloss.NewStyle()
			if n == f.at {
				mark, style = "> ", chosenStyle
			}
			c.lines = append(c.lines, mark+style.Render(cut(text, c.width-2)))
		}
		if hidden := len(f.options) - (to - from); hidden > 0 {
			c.add(hintStyle, fmt.Sprintf("  and %d more", hidden))
		}
	} else {
		c.add(askStyle, f.prompt())
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
	if gone := s.gone(); gone != "" {
		text := "Closed meanwhile: " + gone + "."
		if f.field.text() != "" {
			text += " Your draft is kept for when it is asked again."
		}
		c.add(alarmStyle, text)
	}
	if f.refused != "" {
		c.add(alarmStyle, "! "+capital(f.refused))
	}
}

// prompt says what to write.
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
		return "Why?"
	default:
		return "Your answer:"
	}
}
