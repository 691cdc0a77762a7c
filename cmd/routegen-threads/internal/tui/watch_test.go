package tui

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/routegen/routegen/runtime/thread"
)

// P1: a plan moves on the screen.
func TestPlanMoves(t *testing.T) {
	t.Parallel()
	r, _, s := watchNew(t, "plan", "a,b,c")
	t.Log("\n" + s.sees("Plan: 0 of 3 done", "[>] 1 a", "[ ] 2 b", "running", "Esc pause"))
	r.let("a")
	t.Log("\n" + s.sees("Plan: 1 of 3 done", "[x] 1 a", "[>] 2 b",
		"step 1 of 3 is done: a: a done"))
	r.let("b", "c")
	t.Log("\n" + s.sees("Plan: 3 of 3 done", "[x] 3 c", "the thread is done: all done",
		"done · thread"))
	s.leave()
	assert.False(t, s.paused)
}

// P2 and P3: Esc in a running plan, the acknowledgement, the plan, a change.
func TestChangeOfPlan(t *testing.T) {
	t.Parallel()
	r, id, s := watchNew(t, "plan", "a,b,c")
	r.let("a")
	s.sees("[>] 2 b")
	t.Log("\n" + s.press(escKey, "The pause is requested.", "Esc take the pause back"))
	r.let("b")
	t.Log("\n" + s.sees("The work is paused", "How should it change?", "The plan: 2 of 3 done",
		"[x] 2 b", "[ ] 3 c", "Enter send"))
	t.Log("\n" + s.press("d,e", "> d,e"))
	s.keys(enterKey)
	t.Log("\n" + s.sees("The work goes on with your change.", "Plan: 2 of 4 done", "[>] 3 d",
		"[ ] 4 e"))
	r.let("d", "e")
	s.sees("the thread is done: all done")
	s.leave()
	assert.Equal(t, []string{"d,e"}, r.modifications())
	answers := r.history(id, thread.EntryAnswered)
	assert.Len(t, answers, 1)
	assert.Equal(t, "ann", answers[0].By)
}

// A step that failed and is tried again is no row of the outbox: it is seen all the same.
func TestRetries(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.watch(r.begin("flaky", "x"), 80, 24, true)
	t.Log("\n" + s.sees("Where it is", "Flaky: failed, and is tried again at "))
	s.leave()
}
