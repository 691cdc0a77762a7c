package tui

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// colours are the codes that set one.
var colours = regexp.MustCompile(`\x1b\[[0-9;]*\b(3[0-8]|4[0-8]|9[0-7]|10[0-7])\b[0-9;]*m`)

// Without colour the same words are on the screen; with it there is some, or the check could not
// fail.
func TestColour(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("sure", "x")
	for _, color := range []bool{true, false} {
		s := r.watch(id, 80, 24, color)
		s.sees("  Question", "Delete all of it?", "Esc pause", "waiting")
		s.leave()
		assert.Equal(t, color, colours.MatchString(s.bytes()), "%q", s.bytes())
	}
}

// It works in a narrow and low terminal, and in one that changes.
func TestNarrow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("plan", "a,b,c,d,e,f,g,h")
	s := r.watch(id, 30, 12, true)
	r.let("a", "b", "c")
	t.Log("\n" + s.sees("[>] 4 d", "Esc pause"))
	s.press(escKey, "The pause is requested.")
	r.let("d")
	t.Log("\n" + s.sees("How should it change?", "Esc go on unchanged", "[ ] 5 e",
		"paused · thread"))
	t.Log("\n" + s.press("a change that is longer than the line", "longer than the line"))
	s.press(escKey, "[>] 5 e")
	s.leave()
}

// full is a state with much to show.
func full(form bool) *state {
	s := newState("thread-0123456789-0123456789-0123456789-0123456789", func() string {
		return "r"
	})
	steps := make([]string, 40)
	for n := range steps {
		steps[n] = fmt.Sprintf("step %d 漢字 with a long name, a very long one that goes on and on",
			n)
	}
	value, _ := runtime.Encode(map[string]any{"plan_steps": steps, "completed_count": 20,
		"skipped_steps": []string{steps[3]}})
	for n := range 60 {
		s.handle(rowsReceived{{Entry: thread.Entry{Seq: int64(n), Type: thread.EntryMessage,
			Name: "task_started", Value: value}}})
	}
	questions := make([]web.Interrupt, 12)
	for n := range questions {
		questions[n] = *question(strconv.Itoa(n), thread.Question{Kind: "agent_question",
			Text: strings.Repeat("why? ", 100), Name: "q", Plain: thread.PlainText, Payload: value})
		for o := range n {
			questions[n].Choices = append(questions[n].Choices,
				thread.Choice{Label: strings.Repeat(strconv.Itoa(o), 50)})
		}
	}
	s.handle(loaded{thread: &web.Thread{ID: s.thread, Version: 1, Status: thread.StatusWaiting,
		Open: questions}})
	s.handle(connectionChanged{why: strings.Repeat("no route to host ", 10)})
	if form {
		s.openForm(s.choice())
	}
	return s
}

// Whatever there is to show and however small the terminal is, it fits.
func TestEverythingFits(t *testing.T) {
	t.Parallel()
	context := json.RawMessage(
		`{"current_plan":["a","b","c","d","e","f","g","h","i","j","k"],"completed_steps":9,"total_steps":11}`)
	states := map[string]*state{
		"empty": newState("t", nil), "much": full(false), "text": full(true), "list": full(false),
		"pause": full(false), "gone": full(true),
	}
	states["list"].picked = "11"
	states["list"].openForm(states["list"].choice())
	pause := question("5", thread.Question{Kind: thread.KindUserEscape, Name: "p",
		Choices: []thread.Choice{{Label: "modify"}}})
	pause.Context = context
	states["pause"].openForm(pause)
	states["pause"].form.field = fieldOf(strings.Repeat("漢字 a\nb", 30))
	states["send"] = full(false)
	send := web.Interrupt{Interrupt: thread.Interrupt{Kind: "Send elsewhere"}}
	states["send"].form = &form{ask: send, options: []option{
		{label: strings.Repeat("漢字 ", 30), word: "A", routeTo: "B", write: writeReason},
	}}
	states["gone"].form.field = fieldOf("draft")
	states["gone"].closed["0"] = strings.Repeat("bob answered ", 20)
	for name, s := range states {
		for width := 12; width < 130; width += 13 {
			for height := 4; height < 50; height += 6 {
				s.width, s.height = width, height
				v := s.view()
				lines := strings.Split(v.Content, "\n")
				require.LessOrEqual(t, len(lines), height, "%s %dx%d", name, width, height)
				for _, l := range lines {
					require.LessOrEqual(t, ansi.StringWidth(l), width, "%s %dx%d: %q", name, width,
						height, l)
				}
				if v.Cursor != nil {
					require.Less(t, v.Cursor.Y, len(lines), "%s %dx%d", name, width, height)
					require.Less(t, v.Cursor.X, width, "%s %dx%d", name, width, height)
				}
			}
		}
	}
}

// A terminal of no use at all is at least no end of the program.
func TestTiny(t *testing.T) {
	t.Parallel()
	for _, s := range []*state{newState("t", nil), full(false), full(true)} {
		for s.width = range 12 {
			for s.height = range 5 {
				assert.NotPanics(t, func() { s.view() }, "%dx%d", s.width, s.height)
			}
		}
	}
}

// What is being written is in sight in every terminal of a usable size, with the cursor on it.
func TestWritingIsInSight(t *testing.T) {
	t.Parallel()
	s := full(true)
	s.form.field = fieldOf("abc")
	for height := 8; height < 40; height++ {
		s.width, s.height = 40, height
		v := s.view()
		require.NotNil(t, v.Cursor, height)
		assert.Equal(t, "> abc",
			strings.TrimSpace(strings.Split(ansi.Strip(v.Content), "\n")[v.Cursor.Y]), height)
		assert.Equal(t, 5, v.Cursor.X)
	}
}

// whole is how much of what came ends with a whole letter: a terminal gives what it has, and the
// rest of a letter with what comes next.
func whole(came []byte) int {
	for n := 1; n <= min(utf8.UTFMax, len(came)); n++ {
		if last := came[len(came)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return len(came) - n
			}
			break
		}
	}
	return len(came)
}

func TestWhole(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "a": 1, "a─": 4, "a─"[:3]: 1, "a─"[:2]: 1,
		"─\x1b[": 5, "😀"[:3]: 0, "\x80\x80\x80\x80\x80": 5} {
		require.Equal(t, want, whole([]byte(text)), "%q", text)
	}
}
