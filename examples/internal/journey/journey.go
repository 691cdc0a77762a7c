// Package journey lists what happened on a thread of a workflow: the nodes in their order, what was
// asked and answered, and where the work was rerouted.
package journey

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// Journey is made of the rows of a thread's log, in their order. The zero value is ready. It is not
// safe for concurrent use.
type Journey struct {
	rows []*row
	last map[string]*row // by frame; and by interrupt, for its answer
	over thread.Status
}

type row struct {
	node  string
	lane  bool // of a fan-out
	notes []string
}

// Add takes a row of the log, and the interrupt that it is about; nil if it is about none.
func (j *Journey) Add(e *thread.Entry, about *thread.Interrupt) {
	switch e.Type { //nolint:exhaustive // the others are not listed
	case thread.EntryEntered: // a lane of a fan-out begins; the first frame is at no node yet
		if e.Parent != "" {
			j.enter(e.Frame, &row{node: e.Name, lane: true})
		}
	case thread.EntryStepped: // to a node, or to something between two nodes
		if !strings.HasPrefix(e.PC, "!") && j.Node(e.Frame) != e.PC {
			j.enter(e.Frame, &row{node: e.PC, lane: j.last[e.Frame] != nil && j.last[e.Frame].lane})
		}
	case thread.EntryAsked:
		if at := j.last[e.Frame]; at != nil {
			j.last[e.Interrupt] = at
		}
		j.note(e.Frame, "asks: "+about.Text)
	case thread.EntryAnswered:
		j.note(e.Interrupt, fmt.Sprintf("%s: %s%s", e.By, e.Value, e.RouteTo))
	case thread.EntryReroute:
		j.reroute(e)
	case thread.EntryOver:
		j.over = thread.Status(e.State)
	}
}

func (j *Journey) reroute(e *thread.Entry) {
	var event workflow.Event
	switch {
	case e.State == thread.RerouteUsed: // the frame has gone there, in the same commit
		j.note(e.Frame, "rerouted here")
	case json.Unmarshal(e.Value, &event) == nil:
		j.note(e.Frame, fmt.Sprintf("%s: go on at %s, %s", event.RequestedBy,
			event.RerouteToAgentType, event.Reason))
	}
}

func (j *Journey) enter(frame string, r *row) {
	if j.last == nil {
		j.last = map[string]*row{}
	}
	j.last[frame], j.rows = r, append(j.rows, r)
}

func (j *Journey) note(at, text string) {
	if r := j.last[at]; r != nil {
		r.notes = append(r.notes, text)
	}
}

// Node returns the node at which a frame is.
func (j *Journey) Node(frame string) string {
	if r := j.last[frame]; r != nil {
		return r.node
	}
	return ""
}

// String returns the journey as a table.
func (j *Journey) String() string {
	var b strings.Builder
	b.WriteString("  #  node                    what happened there\n")
	for i, r := range j.rows {
		node := r.node
		if r.lane {
			node = "  " + node
		}
		line := fmt.Sprintf("%3d  %-22s  %s", i+1, node,
			strings.Join(r.notes, "\n"+strings.Repeat(" ", 29)))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if j.over != "" {
		b.WriteString("     " + string(j.over) + "\n")
	}
	return b.String()
}
