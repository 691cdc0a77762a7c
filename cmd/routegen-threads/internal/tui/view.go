package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// Colours and weights only stress what the words say.
var (
	titleStyle  = lipgloss.NewStyle().Bold(true)
	hintStyle   = lipgloss.NewStyle().Faint(true)
	askStyle    = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Yellow)
	alarmStyle  = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red)
	chosenStyle = lipgloss.NewStyle().Reverse(true)
)

// screen is the part below the log, with the cursor of the text that is written.
type screen struct {
	width, height int
	lines         []string
	row, column   int
	cursor        bool
}

func (c *screen) addText(style lipgloss.Style, text string) {
	for _, l := range wrap(text, c.width) {
		c.lines = append(c.lines, style.Render(l))
	}
}

func (c *screen) rule(title string) {
	bar := truncate("── "+title+" ", c.width)
	c.lines = append(c.lines,
		titleStyle.Render(bar+strings.Repeat("─", max(0, c.width-ansi.StringWidth(bar)))))
}

// view draws the screen for any size. If space is short it shortens the log first, then the plan.
func (s *state) view() tea.View {
	width, height := s.width, s.height
	if width <= 0 || height <= 0 {
		width, height = 80, 24
	}
	top := &screen{width: width, height: height}
	s.header(top)
	top.lines = top.lines[:min(len(top.lines), max(height/3, 1))]
	below := &screen{width: width, height: height}
	switch {
	case s.form != nil:
		s.drawForm(below, height-len(top.lines))
	default:
		s.drawWaiting(below)
	}
	s.drawNotice(below)
	s.drawHelp(below)
	room := height - len(top.lines)
	if extra := len(below.lines) - room; extra > 0 { // the keys and what is written stay
		below.lines, below.row = below.lines[extra:], below.row-extra
	}
	middle := s.middle(width, room-len(below.lines))
	all := append(append(top.lines, middle...), below.lines...)
	all = all[:min(len(all), height)]
	v := tea.NewView(strings.Join(all, "\n"))
	v.AltScreen = true
	if row := below.row + len(top.lines) + len(middle); below.cursor && below.row >= 0 {
		v.Cursor = tea.NewCursor(below.column, row)
	}
	return v
}

// statuses are the words for the states of a thread.
var statuses = map[thread.Status]string{
	thread.StatusIdle: "between turns", thread.StatusRunning: "running",
	thread.StatusWaiting: "waiting",
	thread.StatusDone:    "done", thread.StatusFailed: "failed",
	thread.StatusCancelled: "cancelled", thread.StatusHandedOff: "handed off",
}

func (s *state) header(c *screen) {
	status := "loading"
	if s.snap != nil {
		if status = cmp.Or(statuses[s.snap.Status],
			humanizeLower(string(s.snap.Status))); s.snap.Paused {
			status = "paused"
		}
		status = oneLine(joinDetail(status, failureText(s.snap.Failure)))
	}
	c.lines = append(c.lines, titleStyle.Render(truncate(status+" · thread "+s.thread, c.width)))
	switch {
	case s.end != nil:
		c.addText(alarmStyle, "The server refuses to go on: "+refusalText(s.end)+
			". What you see is what it last said.")
	case s.down != "":
		c.addText(alarmStyle, fmt.Sprintf("No connection (%s), try %d: it is tried again by "+
			"itself, "+
			"and no row is lost.", oneLine(s.down), s.tries))
	}
}

// middle returns the plan and the log in exactly that many lines.
func (s *state) middle(width, room int) []string {
	if room <= 0 {
		return nil
	}
	var out []string
	// a pause shows the plan itself
	if lines := s.planLines(width); len(lines) > 1 && room > 2 && (s.form == nil || !s.form.pause) {
		out = append(out, titleStyle.Render(truncate(lines[0], width)))
		at := 0
		if s.plan != nil {
			at = s.plan.Done
		}
		from, to := visibleRange(len(lines)-1, at, min(len(lines)-1, max(room/2, 1)))
		out = append(out, lines[1+from:1+to]...)
	}
	left := room - len(out)
	if left > 1 {
		title := "Log"
		if s.scroll > 0 {
			title += fmt.Sprintf(" (%d newer below: End)", s.scroll)
		}
		c := &screen{width: width}
		c.rule(title)
		out, left = append(out, c.lines...), left-1
	}
	var log []string // the newest that fit
	for n := len(s.log) - 1 - s.scroll; n >= 0 && len(log) < left; n-- {
		log = append(wrapHung(s.log[n], width), log...)
	}
	log = log[max(0, len(log)-left):]
	for len(log) < left {
		log = append(log, "")
	}
	return append(out, log...)
}

// wrapHung wraps a line of the log and indents its text behind the time.
func wrapHung(text string, width int) []string {
	const indent = 9
	if width < 3*indent {
		return wrap(text, width)
	}
	lines := wrap(text[indent:], width-indent)
	for n := 1; n < len(lines); n++ {
		lines[n] = strings.Repeat(" ", indent) + lines[n]
	}
	lines[0] = text[:indent] + lines[0]
	return lines
}

// frameStates are the words for the states of a frame.
var frameStates = map[thread.FrameState]string{
	thread.FrameReady: "at work", thread.FrameAsking: "waits for an answer",
	thread.FrameCalling:  "waits for its parts",
	thread.FrameRetrying: "failed, and is tried again",
	thread.FrameHeld:     "waits for something more urgent",
}

// frameLine returns where a part of the work is, and what it does.
func (s *state) frameLine(f *web.Frame) string {
	names := s.teller.names
	where := names.programName(f.Machine)
	if f.Parent != "" {
		where = "  " + names.nodeName(cmp.Or(f.Name, f.Machine))
	}
	if node := names.nodes[f.PC]; node != "" && node != strings.TrimSpace(where) {
		where += ", at " + node
	}
	text := where + ": " + cmp.Or(frameStates[f.State], humanizeLower(string(f.State)))
	if f.Until != 0 {
		text += " at " + formatClock(f.Until)
	}
	return sanitize(text, false)
}

// planLines returns a title and the steps of the plan, or the frames of the thread if there is no
// plan.
func (s *state) planLines(width int) []string {
	out, again := []string{"Where it is"}, ""
	if s.snap != nil {
		for n := range s.snap.Frames {
			f := &s.snap.Frames[n]
			if f.Until != 0 {
				again = ", a step has failed and is tried again at " + formatClock(f.Until)
			}
			out = append(out, truncate(s.frameLine(f), width))
		}
	}
	if s.plan != nil {
		out = append([]string{fmt.Sprintf("Plan: %d of %d done", s.plan.Done, len(s.plan.Steps)) +
			again}, s.plan.lines(width)...)
	}
	return out
}

func (s *state) drawWaiting(c *screen) {
	waiting := s.waiting()
	if len(waiting) == 0 {
		return
	}
	c.rule("Waits for an answer")
	chosen := s.choice()
	from, to := visibleRange(len(waiting), max(slices.Index(waiting, chosen), 0), 4)
	for _, i := range waiting[from:to] {
		text := oneLine(cmp.Or(askedText(i), humanize(i.Name)))
		if i != chosen {
			c.lines = append(c.lines, truncate("  "+text, c.width))
			continue
		}
		c.lines = append(c.lines, askStyle.Render(truncate("> "+text, c.width)),
			hintStyle.Render(truncate("  "+s.about(i), c.width)))
	}
	if hidden := len(waiting) - (to - from); hidden > 0 {
		c.addText(hintStyle, fmt.Sprintf("  and %d more", hidden))
	}
}

// about returns the kind of a question, and its limits.
func (s *state) about(i *web.Interrupt) string {
	first := kindOf(i.Kind)
	// what a plan asks is about its step
	if names := s.teller.names; i.Node != "" && (s.plan == nil || names.nodes[i.Node] != "") {
		first += " of " + names.nodeName(i.Node)
	}
	parts := []string{oneLine(first)}
	if i.State == thread.InterruptQueued {
		parts = append(parts, "waits for a more urgent one")
	}
	if i.Due != 0 {
		parts = append(parts, "until "+formatDay(i.Due))
	}
	if len(i.Assignees) > 0 {
		parts = append(parts, "for "+answererNames(i))
	}
	if i.ClaimedBy != "" {
		parts = append(parts, "taken on by "+oneLine(i.ClaimedBy))
	}
	if i.Quorum > 1 {
		parts = append(parts, fmt.Sprintf("%d of %d votes", len(i.Votes), i.Quorum))
	}
	return strings.Join(parts, ", ")
}

// acks are the words for the acknowledgement of a pause.
var acks = map[string]string{
	thread.AckRequested: "The pause is requested. It comes when the running step is at a safe " +
		"point.",
	thread.AckPending: "A pause was requested before. It comes when the running step is at a " +
		"safe point.",
	thread.AckPaused: "The work is paused already.",
}

func (s *state) drawNotice(c *screen) {
	pause := ""
	switch {
	case s.pause == pauseAsked && s.pauseAck == "":
		pause = "Asking for a pause..."
	case s.pause == pauseAsked:
		pause = cmp.Or(acks[s.pauseAck], oneLine(s.pauseAck))
	case s.pause == pauseTaken:
		pause = "The pause is taken back: when it comes, the work goes on unchanged."
	}
	if pause != "" {
		c.addText(askStyle, pause)
	}
	if s.notice != "" {
		c.addText(titleStyle, s.notice)
	}
}

func (s *state) drawHelp(c *screen) {
	var keys []string
	f := s.form
	switch {
	case f != nil && f.sending:
		keys = []string{"Sending..."}
	case f != nil && s.closedReason() != "":
		keys = []string{"Esc close"}
	case f != nil && f.pause:
		keys = []string{"Enter send", "Esc go on unchanged", "Alt+Enter new line", "PgUp/PgDn plan",
			"Ctrl+X end the thread"}
	case f != nil && f.write != writeNone:
		keys = []string{"Enter send", "Esc back", "Alt+Enter new line"}
	case f != nil && f.isSend():
		keys = []string{"Enter choose", "Up/Down or a number move", "Esc back"}
	case f != nil:
		keys = []string{"Enter answer", "Up/Down or a number choose", "Esc back"}
	default:
		keys = s.watchKeys()
	}
	c.hints(keys)
}

// watchKeys lists the keys that do something while no form is open and that the token allows.
func (s *state) watchKeys() (keys []string) {
	switch decides := s.hasRight(mayOperate); {
	case s.isOver(): // nothing runs
	case s.pauseQuestion() != nil && decides && offersChange(s.pauseQuestion()):
		keys = []string{"Esc change the plan"}
	case s.pauseQuestion() != nil && decides:
		keys = []string{"Esc say how it goes on"}
	case s.pauseQuestion() != nil: // others say how it goes on
	case s.pause == pauseAsked && decides:
		keys = []string{"Esc take the pause back", "n pause now"}
	case s.pause == pauseAsked:
		keys = []string{"n pause now"}
	case s.pause == pauseTaken:
		keys = []string{"Esc pause after all"}
	case s.hasRight(mayEscape):
		keys = []string{"Esc pause"}
	}
	if open := s.answerable(); len(open) > 0 {
		if i := s.choice(); s.hasRight(rightToAnswer(i)) && s.isFor(i) {
			keys = append(keys, "Enter answer")
		}
		if len(open) > 1 {
			keys = append(keys, "Tab next question")
		}
	}
	if s.sendOptions() != nil {
		keys = append(keys, "s "+humanizeLower(firstLine(nil, "send")))
	}
	return append(keys, "Up/Down log", "q leave")
}

// hints adds the keys, each on one line. A low terminal shows the first ones.
func (c *screen) hints(keys []string) {
	text, before := "", len(c.lines)
	for _, key := range keys {
		switch longer := text + " · " + key; {
		case text == "":
			text = key
		case ansi.StringWidth(longer) > c.width:
			c.addText(hintStyle, text)
			text = key
		default:
			text = longer
		}
	}
	c.addText(hintStyle, text)
	c.lines = c.lines[:min(len(c.lines), before+max(c.height/6, 1))]
}
