package tui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/routegen/routegen/runtime/web"
)

// message says what a message says.
func (t *teller) message(r *web.Row) string {
	members, _ := membersOf(r.Value) // of what is none there are none
	switch r.Name {
	case "status":
		p := planOf(&web.Interrupt{Context: r.Value})
		if p == nil {
			return person(r.By) + " asked how far it is"
		}
		return fmt.Sprintf("%s asked how far it is: %d of %d done", person(r.By), p.Done, len(p.Steps))
	case "interrupt_message":
		return colon("the work is told to stop here", textIn(members, "reason"))
	case "aside":
		return person(r.By) + " said something that is answered beside, in thread " + textIn(members, "thread")
	case "request":
		if textIn(members, "digest") != "" || r.Value == nil {
			return "a call is noted, so that it counts once"
		}
	case "grant":
		return granted(r.Value)
	case "grant_revoked":
		return "a token was revoked"
	}
	if text := planned(r); text != "" {
		return text
	}
	who := plain(r.Name)
	for _, name := range []string{textIn(members, "node"), textIn(members, "flow")} {
		if name != "" {
			who = t.names.node(name)
		}
	}
	return colon(who, short(gist(r.Value)))
}

func granted(value json.RawMessage) string {
	var g web.Grant
	_ = json.Unmarshal(value, &g) // what is no grant is one for nothing
	text := "a token was made"
	if g.By != "" {
		text += " for " + g.By
	}
	return colon(text, strings.Join(g.Actions, ", "))
}

// planned says what an event of a plan says; "" when it is none.
func planned(r *web.Row) string {
	p := planIn(r)
	if p == nil {
		return ""
	}
	var e task
	_ = json.Unmarshal(r.Value, &e) // it was read before
	step := fmt.Sprintf("step %d of %d", e.Number, e.Total)
	switch r.Name {
	case "plan_created":
		return "the plan is made: " + plural(e.Total, "step")
	case "task_started":
		return step + " begins: " + e.Task
	case "task_completed":
		if e.Skipped {
			return step + " is skipped: " + e.Task
		}
		return colon(step+" is done: "+e.Task, e.Result)
	case "task_stopped":
		return step + " stopped, to be planned anew: " + e.Task
	case "plan_updated":
		return fmt.Sprintf("the plan was looked at: %d of %d done", e.Done, e.Total)
	case "plan_modified":
		return colon("the plan is changed", cmp.Or(e.Details, low(e.Modified)))
	case "completion_refused":
		return colon("it goes on, since steps are left", e.Details)
	case "completion_accepted":
		return colon("it ends, though steps are left", e.Details)
	default:
		return ""
	}
}
