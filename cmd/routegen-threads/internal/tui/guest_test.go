package tui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
)

// What the token does not allow is not done, and the screen says so; a server that does not tell is
// left to refuse it.
func TestRights(t *testing.T) {
	t.Parallel()
	const mute, still, guest = "Your token does not let you answer.",
		"Your token does not let you pause it.",
		"Your token does not let you decide what the engine asks."
	requested := acked{ack: thread.AckRequested}
	for name, c := range map[string]struct {
		rights []string
		by     string
		groups []string
		events []tea.Msg
		jobs   []job
		form   bool
		notice string
	}{
		"a pause that is not allowed": {rights: []string{"follow", "answer"},
			events: []tea.Msg{escPress}, notice: still},
		"one that is": {rights: []string{"follow", "escape"},
			events: []tea.Msg{escPress}, jobs: []job{escape{"safe"}}},
		"the server does not say": {events: []tea.Msg{escPress},
			jobs: []job{escape{"safe"}}},
		"an answer that is not allowed": {rights: []string{"follow", "escape"},
			events: []tea.Msg{with(1, asks("q")), enterPress}, notice: mute},
		"one that is allowed": {rights: []string{"follow", "answer"},
			events: []tea.Msg{with(1, asks("q")), enterPress}, form: true},
		"a question for others": {rights: []string{"answer"}, by: "ann",
			events: []tea.Msg{with(1, asksOnly("group:ops", "bob")), enterPress},
			notice: "Only the group ops or bob may answer this."},
		"one called like a group": {rights: []string{"answer"}, by: "group:ops",
			events: []tea.Msg{with(1, asksOnly("group:ops")), enterPress},
			notice: "Only the group ops may answer this."},
		"a question for a group of theirs": {rights: []string{"answer"}, by: "ann",
			groups: []string{"ops"},
			events: []tea.Msg{with(1, asksOnly("group:ops", "bob")), enterPress}, form: true},
		"a question for them": {rights: []string{"answer"}, by: "bob",
			events: []tea.Msg{with(1, asksOnly("group:ops", "bob")), enterPress}, form: true},
		"the operator acts for others": {
			events: []tea.Msg{with(1, asksOnly("group:ops")), enterPress}, form: true},
		"no right at all": {rights: []string{},
			events: []tea.Msg{with(1, asks("q")), enterPress}, notice: mute},
		"a pause that others decide": {rights: []string{"follow", "escape"},
			events: []tea.Msg{with(1, paused()), escPress}, notice: guest},
		"answers are for other questions": {rights: []string{"follow", "answer"},
			events: []tea.Msg{with(1, paused()), escPress}, notice: guest},
		"taking back is a decision": {rights: []string{"follow", "escape"},
			events: []tea.Msg{escPress, requested, escPress}, notice: guest},
		"the pause comes, for others": {rights: []string{"follow", "escape"},
			events: []tea.Msg{escPress, requested, with(1, paused())},
			notice: "The work is paused. Someone else says how it goes on."},
		"a pause that is there may be asked": {rights: []string{"follow", "operate"},
			events: []tea.Msg{with(1, paused()), escPress}, form: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := told()
			s.rights, s.by, s.groups = c.rights, c.by, c.groups
			var jobs []job
			for _, e := range c.events {
				jobs = s.handle(e)
			}
			assert.Equal(t, c.jobs, jobs)
			assert.Equal(t, c.form, s.form != nil)
			assert.Equal(t, c.notice, s.notice)
		})
	}
}

// A guest's screen offers the keys that the token allows.
func TestAGuest(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.begin("name", "")
	r.question(id)
	guest := func(once bool, actions ...string) client.Client {
		g, err := r.client.Grant(t.Context(), web.Grant{Thread: id, Actions: actions, By: "ann",
			Expires: time.Now().Add(time.Hour).UnixMilli(), Once: once})
		require.NoError(t, err)
		return client.Client{Base: r.client.Base, Token: g.Token}
	}
	s := r.watchWith(guest(false, "follow"), id, 80, 24, true)
	screen := s.sees("What is it called?", "Up/Down log · q leave")
	assert.NotContains(t, screen, "Esc pause")
	assert.NotContains(t, screen, "Enter answer")
	s.press(enterKey, "Your token does not let you answer.")
	t.Log("\n" + s.press(escKey, "Your token does not let you pause it."))
	s.leave()
	assert.Empty(t, r.history(id, thread.EntryEscape))

	_, err := r.client.Escape(t.Context(), id, thread.EscapeSafe, "ann", "")
	require.NoError(t, err)
	s = r.watchWith(guest(false, "follow", "answer"), id, 80, 24, true)
	screen = s.sees("How shall it go on?", "Up/Down log · q leave")
	assert.NotContains(t, screen, "Esc change the plan")
	s.press(escKey, "Your token does not let you decide what the engine asks.")
	s.leave()
	s = r.watchWith(guest(false, "follow", "operate"), id, 80, 24, true)
	s.sees("Esc change the plan · Enter answer")
	s.press(escKey, "How should it change?")
	s.keys(escKey)
	s.sees("What is it called?", "Nothing is changed: the work goes on.")
	s.leave()
	s = r.watchWith(guest(true, "follow", "answer"), id, 80, 24, true)
	s.press(enterKey, "What is it called?")
	s.keys("box" + enterKey) // its one answer
	s.loses("Enter answer")
	s.leave()
}
