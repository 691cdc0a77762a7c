package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/planner"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/control"
)

// works is a rig with plan threads. The goal is the plan: steps between commas. A step "hold x"
// waits until it is released, "ask x" and "late x" put a question, "bad x" fails the first time.
type works struct {
	*rig
	mu       sync.Mutex
	did      map[string]int // effects, answers and modifications by their text
	reached  chan string
	released chan struct{}
}

// planning plays a scenario with plan threads on every store.
func planning(t *testing.T, play func(w *works)) {
	t.Helper()
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			play(newWorks(t, store, web.Config{}))
		})
	}
}

func newWorks(t *testing.T, store string, cfg web.Config) *works {
	t.Helper()
	w := &works{did: map[string]int{}, reached: make(chan string, 10),
		released: make(chan struct{})}
	m, err := planner.New(planner.Config{
		Plan: func(_ context.Context, goal string) ([]string, error) {
			return strings.Split(goal, ","), nil
		},
		Execute: func(ctx context.Context, _ *planner.Plan, step string) (string, error) {
			return w.execute(ctx, step)
		},
		Replan: w.replan,
	})
	require.NoError(t, err)
	w.rig = newRig(t, store, cfg, m)
	return w
}

func (w *works) note(what string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.did[what]++
	return w.did[what]
}

func (w *works) times(what string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.did[what]
}

func (w *works) execute(ctx context.Context, step string) (string, error) {
	kind, _, _ := strings.Cut(step, " ")
	if _, err := thread.Do(ctx, "before", func(context.Context, string) (int, error) {
		return w.note("before " + step), nil
	}); err != nil {
		return "", err
	}
	switch kind {
	case "hold":
		w.reached <- step
		select {
		case <-w.released:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	case "holdask":
		w.reached <- step
		<-w.released
		fallthrough
	case "ask":
		answer, err := thread.Ask[string](ctx, "which",
			thread.Question{Text: "Which?", Payload: json.RawMessage(`{"step":"` + step + `"}`),
				Choices: []thread.Choice{
					{Label: "left", Value: json.RawMessage(`"left"`)},
					{Label: "right", Value: json.RawMessage(`"right"`)},
				}, Schema: json.RawMessage(`{"enum":["left","right"]}`)})
		if err != nil {
			return "", err
		}
		w.note("answer " + answer)
	case "late", "default":
		then := map[string]runtime.Deadline{"late": {Then: "expire"},
			"default": {Then: "default", Answer: `"right"`}}[kind]
		then.After = 300 * time.Second
		answer, err := thread.Ask[string](ctx, "when",
			thread.Question{Text: "When?", Deadline: &then})
		if err != nil {
			return "", err
		}
		w.note("answer " + answer)
	case "bad":
		if w.note("tried "+step) == 1 {
			return "", errors.New("it broke")
		}
	}
	return thread.Do(ctx, "do", func(context.Context, string) (string, error) {
		return step + " done " + strconv.Itoa(w.note(step)), nil
	})
}

// replan takes what a person asks for as the steps that are left, and is content otherwise.
func (w *works) replan(ctx context.Context, p *planner.Plan, modification string) (
	planner.Replanned, error) {
	return thread.Do(ctx, "replan", func(context.Context, string) (planner.Replanned, error) {
		if modification != "" {
			w.note("modify " + modification)
			return planner.Replanned{Steps: strings.Split(strings.TrimPrefix(modification, "do "),
				",")}, nil
		}
		if len(p.Steps) > 0 {
			return planner.Replanned{Steps: p.Steps}, nil
		}
		results := make([]string, len(p.Done))
		for i, d := range p.Done {
			results[i] = d.Result
		}
		return planner.Replanned{Done: true, Answer: strings.Join(results, ", ")}, nil
	})
}

// begin starts a plan thread over HTTP, and a socket that follows it.
func (w *works) begin(goal string) (id string, c *socketClient) {
	w.Helper()
	body := fmt.Sprintf(`{"machine":"plan","input":%q,"by":"ann"}`, goal)
	id = decode[web.Thread](w.post("/v1/threads", body).is(201)).ID
	c = w.socket(operator)
	require.Contains(w, c.ask(context0(id, "")).raw, `"success":true`)
	return id, c
}

// until reads rows of a socket up to the first of a type.
func (c *socketClient) until(last thread.EntryType) (rows []web.Row) {
	c.r.Helper()
	for {
		row := c.row()
		if rows = append(rows, *row); row.Type == last {
			return rows
		}
	}
}

// pausedAt holds a plan "a,hold b,c" in its second step, escapes over the socket, and returns the
// interrupt row's question.
func (w *works) pausedAt() (id string, c *socketClient, escape *web.Interrupt) {
	w.Helper()
	id, c = w.begin("a,hold b,c")
	<-w.reached
	c.send(`{"type":"interrupt","payload":{"thread_id":"` + id +
		`","reason":"user_escape"},"id":"esc"}`)
	require.Contains(w, c.next().raw, `"message":"requested"`)
	require.Equal(w, thread.StatusRunning, decode[web.Thread](w.get("/v1/threads/"+id)).Status,
		"requested is not yet paused")
	close(w.released)
	rows := c.until(thread.EntryPaused)
	return id, c, rows[len(rows)-1].Question
}

// events are the names of the plan's messages, those of tasks with their number.
func (w *works) events(id string) (names []string) {
	w.Helper()
	for _, row := range decode[struct{ Items []web.Row }](
		w.get("/v1/threads/" + id + "/outbox?limit=1000").is(200)).Items {
		if row.Type != thread.EntryMessage {
			continue
		}
		var e struct {
			Number int `json:"step_number"`
		}
		require.NoError(w, json.Unmarshal(row.Value, &e))
		if name := row.Name; e.Number > 0 {
			names = append(names, name+" "+strconv.Itoa(e.Number))
		} else {
			names = append(names, name)
		}
	}
	return names
}

// answered expects the end of a plan.
func (w *works) answered(id, want string) {
	w.Helper()
	th := w.settled(id)
	require.Equal(w, thread.StatusDone, th.Status, "%v %v", th.Failure, th.Open)
	require.JSONEq(w, strconv.Quote(want), string(th.Result))
}

// planIn is the plan that a moment shows.
func planIn(t require.TestingT, m *web.Moment) (plan control.PlanState) {
	require.NoError(t, json.Unmarshal(m.Plan, &plan))
	return plan
}
