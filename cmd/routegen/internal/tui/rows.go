package tui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
)

// plan is the plan of a thread as its messages, or the context of its interrupts, tell it.
type plan struct {
	Steps   []string `json:"plan_steps"`
	Skipped []string `json:"skipped_steps"`
	Done    int      `json:"completed_count"`
	Current []string `json:"current_plan"`    // Steps, in the context of an interrupt
	Past    int      `json:"completed_steps"` // Done, in the context of an interrupt

	running bool // the step after the done ones has begun
}

// task is what a message says of one step, and of a change.
type task struct {
	Task     string `json:"task_description"`
	Number   int    `json:"step_number"`
	Total    int    `json:"total_steps"`
	Done     int    `json:"completed_count"`
	Skipped  bool   `json:"skipped"`
	Result   string `json:"result"`
	Modified string `json:"modification_type"`
	Details  string `json:"details"`
}

// planIn reads the plan out of a row; nil when it tells of none.
func planIn(r *web.Row) *plan {
	var p struct {
		plan

		Past json.RawMessage `json:"completed_steps"` // names here, a number in a context
	}
	if r.Type != runtime.EntryMessage || json.Unmarshal(r.Value, &p) != nil || p.Steps == nil {
		return nil
	}
	p.running = r.Name == "task_started"
	return &p.plan
}

// planOf reads the plan out of the context of an interrupt; nil when there is none.
func planOf(i *web.Interrupt) *plan {
	p := new(plan)
	if json.Unmarshal(i.Context, p) != nil || p.Current == nil {
		return nil
	}
	p.Steps, p.Done = p.Current, p.Past
	return p
}

// lines are the steps with a mark each, for a width.
func (p *plan) lines(width int) []string {
	out := make([]string, len(p.Steps))
	skipped := slices.Clone(p.Skipped)
	for n, step := range p.Steps {
		mark := "[ ]"
		at := slices.Index(skipped, step)
		switch {
		case n < p.Done && at >= 0:
			mark, skipped = "[-]", slices.Delete(skipped, at, at+1)
		case n < p.Done:
			mark = "[x]"
		case n == p.Done && p.running:
			mark = "[>]"
		}
		out[n] = cut(fmt.Sprintf("%s %d %s", mark, n+1, line(step)), width)
	}
	return out
}

// teller puts rows into words. It remembers what the questions were called, and which frame has just said what it came to.
type teller struct {
	names map[string]string
	frame string
}

// tell returns one line for a row, without its time.
func (t *teller) tell(r *web.Row) string {
	if r.Type == runtime.EntryAsked {
		t.names[r.Interrupt] = r.Name
	}
	text := t.words(r)
	if r.Type == runtime.EntryReturned && r.Frame == t.frame && r.State == "" {
		text = "frame " + r.Frame + " ended"
	}
	if r.Name == "task_completed" {
		t.frame = r.Frame
	}
	switch r.Type {
	case runtime.EntryStarted, runtime.EntryPaused, runtime.EntryAnswered, runtime.EntryVoted, runtime.EntryClaimed, runtime.EntryExtended,
		runtime.EntryEscape, runtime.EntryResumed:
		return line(cmp.Or(r.By, "somebody") + " " + text)
	default:
	}
	if r.By != "" {
		text += " (by " + r.By + ")"
	}
	return line(text)
}

func (t *teller) words(r *web.Row) string {
	name := strings.TrimSpace("question " + t.names[r.Interrupt])
	switch r.Type {
	case runtime.EntryMessage:
		return message(r)
	case runtime.EntryStarted:
		return "started the thread"
	case runtime.EntryAsked, runtime.EntryOpened, runtime.EntryPaused:
		return t.asked(r)
	case runtime.EntryAnswered, runtime.EntryVoted:
		if r.RouteTo != "" {
			return "answered " + name + ": go on at " + r.RouteTo
		}
		return "answered " + name + ": " + textOf(r.Value)
	case runtime.EntryReasked:
		return name + " is asked again: " + r.Text
	case runtime.EntryQueued:
		return name + " makes way for a more urgent one"
	case runtime.EntryClaimed:
		if r.Name == "" {
			return "laid down " + name
		}
		return "took on " + name
	case runtime.EntryExtended:
		return "extended " + name + " until " + clock(r.Until)
	case runtime.EntryEscalated:
		return name + " goes to " + r.Name
	case runtime.EntryEscape:
		return strings.TrimSuffix("asks for a pause ("+r.Name+"): "+r.Text, ": ")
	case runtime.EntryResumed:
		if r.Text != "" {
			return "lets it go on with a change: " + r.Text
		}
		return "lets it go on unchanged"
	case runtime.EntryModified:
		return "the change has reached the work"
	case runtime.EntryReroute:
		return strings.Join(strings.Fields("reroute event "+r.Name+" "+r.State+" "+r.RouteTo), " ")
	case runtime.EntryReturned:
		return "frame " + r.Frame + " " + ended(r, cmp.Or(r.State, "ended"))
	case runtime.EntryOver:
		return ended(r, "the thread is "+r.State)
	case runtime.EntrySuperseded, runtime.EntryCancelled, runtime.EntryExpired, runtime.EntryReminded:
		return name + " is " + string(r.Type)
	default:
		return string(r.Type)
	}
}

// ended says with what something ended.
func ended(r *web.Row, how string) string {
	switch {
	case r.Failure != nil:
		return how + ": " + r.Failure.Error()
	case r.Value != nil && string(r.Value) != "null":
		return how + ": " + textOf(r.Value)
	default:
		return how
	}
}

// asked says what is asked.
func (*teller) asked(r *web.Row) string {
	q := r.Question
	switch {
	case q == nil:
		return string(r.Type)
	case r.Type == runtime.EntryPaused:
		return "paused the work"
	case r.State == string(runtime.InterruptSuperseded):
		return "not asked, because something more urgent is open: " + q.Text
	case r.State == string(runtime.InterruptQueued):
		return "will ask, when something more urgent is answered: " + q.Text
	default:
		return "asks (" + q.Kind + "): " + q.Text
	}
}

// message says what a message says.
func message(r *web.Row) string {
	var e task
	if json.Unmarshal(r.Value, &e) != nil {
		return r.Name + ": " + textOf(r.Value)
	}
	of := strconv.Itoa(e.Number) + " of " + strconv.Itoa(e.Total)
	switch r.Name {
	case "plan_created":
		return "the plan is made: " + plural(e.Total, "step")
	case "task_started":
		return "step " + of + " begins: " + e.Task
	case "task_completed":
		if e.Skipped {
			return "step " + of + " is skipped: " + e.Task
		}
		return "step " + of + " is done: " + e.Task + " -> " + e.Result
	case "task_stopped":
		return "step " + of + " stopped, to be planned anew: " + e.Task
	case "plan_updated":
		return fmt.Sprintf("the plan was looked at: %d of %d done", e.Done, e.Total)
	case "plan_modified":
		return strings.TrimSuffix("the plan is changed ("+e.Modified+"): "+e.Details, ": ")
	case "completion_refused", "completion_accepted":
		return strings.ReplaceAll(r.Name, "_", " ") + ": " + e.Details
	default:
		return r.Name + ": " + textOf(r.Value)
	}
}
