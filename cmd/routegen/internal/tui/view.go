package tui

import (
	"cmp"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

// Colours and weights stress what the words say; none of them says anything alone.
var (
	titleStyle  = lipgloss.NewStyle().Bold(true)
	hintStyle   = lipgloss.NewStyle().Faint(true)
	askStyle    = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Yellow)
	alarmStyle  = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red)
	chosenStyle = lipgloss.NewStyle().Reverse(true)
)

// screen is what stands below the log, with the cursor of the text that is being written.
type screen struct {
	width, height int
	lines         []string
	row, column   int
	cursor        bool
}

func (c *screen) add(style lipgloss.Style, text string) {
	for _, l := range wrap(text, c.width) {
		c.lines = append(c.lines, style.Render(l))
	}
}

func (c *screen) rule(title string) {
	bar := cut("── "+title+" ", c.width)
	c.lines = append(c.lines, titleStyle.Render(bar+strings.Repeat("─", max(0, c.width-ansi.StringWidth(bar)))))
}

// view draws everything. It fits any width and height that is not absurd; what is short of room is the log, then the plan.
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

// statuses are the words for what a thread does.
var statuses = map[runtime.Status]string{
	runtime.StatusIdle: "between turns", runtime.StatusRunning: "running", runtime.StatusWaiting: "waiting",
	runtime.StatusDone: "done", runtime.StatusFailed: "failed", runtime.StatusCancelled: "cancelled", runtime.StatusHandedOff: "handed off",
}

func (s *state) header(c *screen) {
	status := "loading"
	if s.snap != nil {
		if status = cmp.Or(statuses[s.snap.Status], low(string(s.snap.Status))); s.snap.Paused {
			status = "paused"
		}
		status = line(colon(status, why(s.snap.Failure)))
	}
	c.lines = append(c.lines, titleStyle.Render(cut(status+" · thread "+s.thread, c.width)))
	switch {
	case s.end != nil:
		c.add(alarmStyle, "The server refuses to go on: "+refusalText(s.end)+". What you see is what it last said.")
	case s.down != "":
		c.add(alarmStyle, fmt.Sprintf("No connection (%s), try %d: it is tried again by itself, and no row is lost.", line(s.down), s.tries))
	}
}

// middle is the plan and the log, in exactly so many lines.
func (s *state) middle(width, room int) []string {
	if room <= 0 {
		return nil
	}
	var out []string
	if lines := s.planLines(width); len(lines) > 1 && room > 2 && (s.form == nil || !s.form.pause) { // a pause shows the plan itself
		out = append(out, titleStyle.Render(cut(lines[0], width)))
		at := 0
		if s.plan != nil {
			at = s.plan.Done
		}
		from, to := window(len(lines)-1, at, min(len(lines)-1, max(room/2, 1)))
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

// wrapHung wraps a line of the log so that what it says stands beside its time.
func wrapHung(text string, width int) []string {
	const indent = 9
	if width < 3*indent {
		return wrap(text, width)
	}
	lines := wrap(text[indent:], width-indent)
	for n := range lines {
		if n == 0 {
			lines[n] = text[:indent] + lines[n]
			continue
		}
		lines[n] = strings.Repeat(" ", indent) + lines[n]
	}
	return lines
}

// frameStates are the words for what a part of the work does.
var frameStates = map[runtime.FrameState]string{
	runtime.FrameReady: "at work", runtime.FrameAsking: "waits for an answer", runtime.FrameCalling: "waits for its parts",
	runtime.FrameRetrying: "failed, and is tried again", runtime.FrameHeld: "waits for something more urgent",
}

// frameLine says where a part of the work is, and what it does.
func (s *state) frameLine(f *web.Frame) string {
	names := s.teller.names
	where := names.program(f.Machine)
	if f.Parent != "" {
		where = "  " + names.node(cmp.Or(f.Name, f.Machine))
	}
	if node := names.nodes[f.PC]; node != "" && node != strings.TrimSpace(where) {
		where += ", at " + node
	}
	text := where + ": " + cmp.Or(frameStates[f.State], low(string(f.State)))
	if f.Until != 0 {
		text += " at " + clock(f.Until)
	}
	return shown(text, false)
}

// planLines is a title and the steps; where there is no plan, the parts of the work.
func (s *state) planLines(width int) []string {
	out, again := []string{"Where it is"}, ""
	if s.snap != nil {
		for n := range s.snap.Frames {
			f := &s.snap.Frames[n]
			if f.Until != 0 {
				again = ", a step has failed and is tried again at " + clock(f.Until)
			}
			out = append(out, cut(s.frameLine(f), width))
		}
	}
	if s.plan != nil {
		out = append([]string{fmt.Sprintf("Plan: %d of %d done", s.plan.Done, len(s.plan.Steps)) + again}, s.plan.lines(width)...)
	}
	return out
}

func (s *state) drawWaiting(c *screen) {
	waiting := s.waiting()
	if len(waiting) == 0 {
		return
	}
	c.rule("Waits for an answer")
	chosen, at := s.choice(), 0
	for n, i := range waiting {
		if i == chosen {
			at = n
		}
	}
	from, to := window(len(waiting), at, 4)
	for _, i := range waiting[from:to] {
		text := line(cmp.Or(askedText(i), plain(i.Name)))
		if i != chosen {
			c.lines = append(c.lines, cut("  "+text, c.width))
			continue
		}
		c.lines = append(c.lines, askStyle.Render(cut("> "+text, c.width)), hintStyle.Render(cut("  "+s.about(i), c.width)))
	}
	if hidden := len(waiting) - (to - from); hidden > 0 {
		c.add(hintStyle, fmt.Sprintf("  and %d more", hidden))
	}
}

// about says what kind of question it is, and what binds it.
func (s *state) about(i *web.Interrupt) string {
	first := kindOf(i.Kind)
	if names := s.teller.names; i.Node != "" && (s.plan == nil || names.nodes[i.Node] != "") { // what a plan asks is about its step
		first += " of " + names.node(i.Node)
	}
	parts := []string{line(first)}
	if i.State == runtime.InterruptQueued {
		parts = append(parts, "waits for a more urgent one")
	}
	if i.Due != 0 {
		parts = append(parts, "until "+moment(i.Due))
	}
	if len(i.Assignees) > 0 {
		parts = append(parts, "for "+line(strings.Join(i.Assignees, ", ")))
	}
	if i.ClaimedBy != "" {
		parts = append(parts, "taken on by "+line(i.ClaimedBy))
	}
	if i.Quorum > 1 {
		parts = append(parts, fmt.Sprintf("%d of %d voices", len(i.Votes), i.Quorum))
	}
	return strings.Join(parts, ", ")
}

// acks are the words for what the server says to a pause that was asked for.
var acks = map[string]string{
	runtime.AckRequested: "The pause is requested. It comes when the running step is at a safe point.",
	runtime.AckPending:   "A pause was requested before. It comes when the running step is at a safe point.",
	runtime.AckPaused:    "The work is paused already.",
}

func (s *state) drawNotice(c *screen) {
	pause := ""
	switch {
	case s.pause == pauseAsked && s.pauseAck == "":
		pause = "Asking for a pause..."
	case s.pause == pauseAsked:
		pause = cmp.Or(acks[s.pauseAck], line(s.pauseAck))
	case s.pause == pauseTaken:
		pause = "The pause is taken back: when it comes, the work goes on unchanged."
	}
	if pause != "" {
		c.add(askStyle, pause)
	}
	if s.notice != "" {
		c.add(titleStyle, s.notice)
	}
}

func (s *state) drawHelp(c *screen) {
	var keys []string
	f := s.form
	switch {
	case f != nil && f.sending:
		keys = []string{"Sending..."}
	case f != nil && s.gone() != "":
		keys = []string{"Esc close"}
	case f != nil && f.pause:
		keys = []string{"Enter send", "Esc go on unchanged", "Alt+Enter new line", "PgUp/PgDn plan", "Ctrl+X end the thread"}
	case f != nil && f.write != writeNone:
		keys = []string{"Enter send", "Esc back", "Alt+Enter new line"}
	case f != nil && f.send:
		keys = []string{"Enter choose", "Up/Down or a number choose", "Esc back"}
	case f != nil:
		keys = []string{"Enter answer", "Up/Down or a number choose", "Esc back"}
	default:
		keys = s.watchKeys()
	}
	c.hints(keys)
}

// watchKeys are the keys while no form is open: those that do something, and that the token allows.
func (s *state) watchKeys() (keys []string) {
	switch answers := s.may(mayAnswer); {
	case s.over(): // nothing runs
	case s.pausedBy() != nil && answers && changes(s.pausedBy()):
		keys = []string{"Esc change the plan"}
	case s.pausedBy() != nil && answers:
		keys = []string{"Esc say how it goes on"}
	case s.pausedBy() != nil: // others say how it goes on
	case s.pause == pauseAsked && answers:
		keys = []string{"Esc take the pause back", "n pause now"}
	case s.pause == pauseAsked:
		keys = []string{"n pause now"}
	case s.pause == pauseTaken:
		keys = []string{"Esc pause after all"}
	case s.may(mayEscape):
		keys = []string{"Esc pause"}
	}
	if open := s.answerable(); len(open) > 0 && s.may(mayAnswer) {
		keys = append(keys, "Enter answer")
		if len(open) > 1 {
			keys = append(keys, "Tab next question")
		}
	}
	if len(s.sources()) > 0 {
		keys = append(keys, "s send it elsewhere")
	}
	return append(keys, "Up/Down log", "q leave")
}

// hints adds the keys, none of them broken over two lines. In a low terminal there is room for the first ones only.
func (c *screen) hints(keys []string) {
	text, before := "", len(c.lines)
	for _, key := range keys {
		switch longer := text + " · " + key; {
		case text == "":
			text = key
		case ansi.StringWidth(longer) > c.width:
			c.add(hintStyle, text)
			text = key
		default:
			text = longer
		}
	}
	c.add(hintStyle, text)
	c.lines = c.lines[:min(len(c.lines), before+max(c.height/6, 1))]
}
