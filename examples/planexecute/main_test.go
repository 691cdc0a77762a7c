package main

import (
	"context"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/examples/internal/scripted"
	"github.com/routegen/routegen/runtime/llm"
)

// heard is a model that notes what it is asked.
type heard struct {
	llm.Model
	mu      sync.Mutex
	keys    map[string]int
	prompts []string
}

func (h *heard) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	h.mu.Lock()
	h.keys[r.Key]++
	h.prompts = append(h.prompts, r.Prompt)
	h.mu.Unlock()
	return h.Model.Generate(ctx, r)
}

// with counts the prompts that hold a text.
func (h *heard) with(text string) int {
	n := 0
	for _, p := range h.prompts {
		n += strings.Count(p, text)
	}
	return n
}

// play runs the program with the lines of a person and returns what it prints, without the ids that
// no two runs share.
func play(t *testing.T, lines string) (string, *heard) {
	t.Helper()
	model, err := scripted.Model("", script)
	require.NoError(t, err)
	h := &heard{Model: model, keys: map[string]int{}}
	var out strings.Builder
	require.NoError(t, run(t.Context(), strings.NewReader(lines), &out,
		"Prepare the offsite in May", h))
	return regexp.MustCompile(`interrupt [0-9a-z]{26}`).
		ReplaceAllString(out.String(), "interrupt ID"), h
}

func TestScriptedAnswers(t *testing.T) {
	t.Parallel()
	lines, err := os.ReadFile("answers.txt")
	require.NoError(t, err)
	want, err := os.ReadFile("testdata/transcript.txt")
	require.NoError(t, err)
	got, model := play(t, string(lines))
	assert.Equal(t, string(want), got)
	for key, n := range model.keys {
		assert.Equal(t, 1, n, "what the model has said is asked once: %s", key)
	}
	assert.Equal(t, 1, model.with("A person wants: add a boat trip"),
		"by the preview; what is applied is not asked again")
	assert.Equal(t, 1, model.with("A person wants: write on Monday"),
		"a change reaches the replanner once")
	assert.Equal(t, 1, model.with("How many people come? 12"))
	assert.Equal(t, 1, model.with("Pay 300 now? true"), "a typed answer")
	assert.Zero(t, model.with("rent a boat? "), "the step that was taken back is not done")
}

func TestNoIsAnAnswer(t *testing.T) {
	t.Parallel()
	got, _ := play(t, "12\nthe mill\nno\n")
	assert.Contains(t, got, "task_completed  book the rooms: 12 rooms are reserved, not paid\n")
	assert.True(t, strings.HasSuffix(got, "? What shall the invitation say?\n"),
		"nobody answers any more")
}

func TestWhatCannotBeDone(t *testing.T) {
	t.Parallel()
	got, model := play(t, "undo\npreview a boat\npause\napply\nundo\ncontinue\n12\npause\ncancel\n")
	for _, refusal := range []string{
		"it is not a plan that a person has paused",
		"the proposal leaves no step: cancel the thread",
		"there is no other version of it",
	} {
		assert.Contains(t, got, refusal)
	}
	assert.Contains(t, got, "\ncancelled ")
	assert.Zero(t, model.with("Do this step: book the rooms"))
}
