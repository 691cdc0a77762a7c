package workflow

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/runtime/thread"
)

// Event is a reroute event: a request from outside to interrupt a node and to continue at another.
// Its JSON is that of the contract.
type Event struct {
	EventID   string    `json:"eventId,omitempty"`  // over HTTP: "" makes a new one
	Timestamp time.Time `json:"timestamp,omitzero"` // zero: when it came
	// the frame that runs, see [runtime.Call.Frame]
	NodeID          string `json:"nodeId"`
	SourceAgentType string `json:"sourceAgentType"`
	// "": back to where the interrupt came from
	RerouteToAgentType string         `json:"rerouteToAgentType,omitempty"`
	InterruptType      string         `json:"interruptType"`
	Reason             string         `json:"reason"`
	Choices            []Choice       `json:"choices,omitzero"`
	ConfirmationItems  []Confirmation `json:"confirmationItems,omitzero"`
	ContextForDecision string         `json:"contextForDecision,omitempty"`
	// a person, or the key of a node
	RequestedBy string `json:"requestedBy,omitempty"`
}

// Choice is one option of an event.
type Choice struct {
	Label       string `json:"label"`
	Value       string `json:"value"`
	Description string `json:"description,omitempty"`
}

// Confirmation is one statement to answer with yes or no.
type Confirmation struct {
	ID     string `json:"id"`
	Prompt string `json:"prompt"`
}

// The statuses of an event.
const (
	Requested              = "REQUESTED" // stored, and the message is out
	Queued                 = "QUEUED"    // stored behind the one that is pending
	IgnoredTargetNotActive = "IGNORED_TARGET_NOT_ACTIVE"
)

// Reroute stores an event. In one commit, in this order, the event is stored, the running agent
// gets its message, and the event is announced in the outbox. The next interrupt of that node
// continues at the event's target; the event is used up in the commit that resolves it.
//
// Refused before anything is stored, with CodeInvalid or CodeNoRoute: an unknown agent type, a
// target without a route, an interrupt type that is unknown or hidden, a source whose node has no
// interrupt; and with CodeConflict a frame that never ran the source. A node that has ended is no
// error: the outbox gets [IgnoredTargetNotActive], and the event is not stored. The same event id
// again is the same event.
func (m *Machine) Reroute(ctx context.Context, e *thread.Engine, threadID string, event Event) (
	status string, err error) {
	if err := m.checkEvent(&event); err != nil {
		return "", err
	}
	text := Compose(&event)
	message, err := runtime.Encode(text)
	if err != nil {
		return "", err
	}
	switch served, err := e.ByRequest(ctx, threadID, thread.RerouteRequest(event.EventID)); {
	case err != nil:
		return "", err
	case served != nil:
		return statusOf(served.State), nil
	}
	var now string // written by the decision, which may still run after an error
	var taken bool
	var stored string // the id with the tenant
	_, err = e.Change(ctx, threadID, func(c *thread.Change) (err error) {
		stored = c.Thread.ID
		now, taken, err = m.storeEvent(c, event, message)
		return err
	})
	if err != nil {
		return "", err
	}
	if taken && m.cfg.Send != nil {
		m.cfg.Send(ctx, stored, event.NodeID, text)
	}
	return now, nil
}

// storeEvent stores an event with its message and its announcement, or announces that its node is
// not active. It reports whether the event was stored.
func (m *Machine) storeEvent(c *thread.Change, event Event, message json.RawMessage) (status string,
	taken bool, err error) {
	for _, r := range c.Thread.Reroutes {
		if r.ID == event.EventID { // it came twice at once
			return statusOf(r.State), false, nil
		}
	}
	f := c.Thread.Frame(event.NodeID)
	now, ever := m.runsAgent(f, event.SourceAgentType)
	switch {
	case f == nil || ever && !now:
		status = IgnoredTargetNotActive
	case !now:
		return "", false, runtime.Errorf(runtime.CodeConflict, "reroute event "+event.EventID,
			"frame %s does not run %s", f.ID, event.SourceAgentType)
	default:
		if event.Timestamp.IsZero() {
			event.Timestamp = c.Now
		}
		data, err := runtime.Encode(event)
		if err != nil {
			return "", false, err
		}
		taken = true
		status = statusOf(c.Reroute(thread.Reroute{
			ID: event.EventID, Frame: f.ID, Target: event.RerouteToAgentType, Event: data,
			By: event.RequestedBy,
		}, message))
	}
	c.Add(thread.Entry{
		Type: thread.EntryMessage, Frame: event.NodeID, Name: "interrupt_status", State: status,
		Text: event.EventID, By: event.RequestedBy,
	})
	return status, taken, nil
}

func statusOf(state string) string {
	if state == thread.RerouteQueued {
		return Queued
	}
	return Requested
}

// runsAgent reports whether a frame runs a node of an agent type now, its interrupt and its
// children included, and whether it ever did.
func (m *Machine) runsAgent(f *thread.Frame, agentType string) (now, ever bool) {
	if f == nil || f.Machine != Name {
		return false, false
	}
	j, err := m.readFrameState(f)
	if err != nil {
		return false, false
	}
	n := m.node(m.nodeByAgentType(agentType))
	_, ever = j.Last[n.Key]
	return n.Key == j.Node, ever && j.Dispatch != n.Key
}

// Publish is Reroute for a node's own handler: the event names the node in RequestedBy.
func Publish(ctx context.Context, event Event) (status string, err error) {
	p, err := placeOf(ctx, "publish event")
	if err != nil {
		return "", err
	}
	engine, err := thread.EngineOf(ctx)
	if err != nil {
		return "", err
	}
	event.RequestedBy = p.step.node(p.node).Key
	return thread.Do(ctx, "publish/"+event.EventID,
		func(ctx context.Context, _ string) (string, error) {
			return p.step.Reroute(ctx, engine, p.step.a.Thread, event)
		})
}

func (m *Machine) checkEvent(e *Event) error {
	op := "reroute event " + e.EventID
	source := m.nodeByAgentType(e.SourceAgentType)
	switch {
	case e.EventID == "":
		return runtime.Errorf(runtime.CodeInvalid, op, "it has no eventId")
	case source == 0:
		return runtime.Errorf(runtime.CodeInvalid, op, "there is no agent type %q: use %s",
			e.SourceAgentType, strings.Join(m.agentTypes(), ", "))
	case m.node(source).Interrupt == 0:
		return runtime.Errorf(runtime.CodeInvalid, op, "%s raises no interrupt", e.SourceAgentType)
	case e.RerouteToAgentType != "" && m.node(m.nodeByAgentType(e.RerouteToAgentType)).Route == 0:
		return thread.Permanent(runtime.Errorf(runtime.CodeNoRoute, op, "%w",
			&runtime.SelectionError{Routing: m.tables.Routings[0].Name,
				Set: []string{e.RerouteToAgentType}, Allowed: m.routeTargets(nil)}))
	}
	return m.checkType(op, source, e.InterruptType)
}

// checkType refuses an interrupt type that a model may not use: one that the node's interrupt does
// not accept in a reply.
func (m *Machine) checkType(op string, source int, interruptType string) error {
	row := m.tables.Interrupts[m.node(source).Interrupt-1]
	probe, err := runtime.Encode(map[string]string{"type": interruptType})
	if err != nil {
		return err
	}
	if wrong, ok := errors.AsType[*runtime.InvalidError](
		runtime.DecodeReply(probe, m.program.Interrupt(row.Name), nil)); ok {
		at := slices.IndexFunc(wrong.Problems, func(p runtime.Problem) bool {
			return p.Pointer == "/type"
		})
		if at >= 0 {
			return runtime.Errorf(runtime.CodeInvalid, op, "interruptType: %s",
				wrong.Problems[at].Reason)
		}
	}
	return nil
}

func (m *Machine) agentTypes() []string {
	var out []string
	for i := range m.tables.Nodes {
		out = append(out, m.tables.Nodes[i].AgentType)
	}
	return out
}

// Compose returns what the running agent reads of an event: its reason, context, choices,
// confirmations and target. Each text of the event is a part of one line, as [prompt.Line] makes
// it, so none can look like another.
func Compose(e *Event) string {
	return "An interrupt is requested. Raise an interrupt request of type " +
		prompt.Line(e.InterruptType) + " next.\n\n" + describeEvent(e)
}

// describeEvent returns what an event says, without the order to interrupt.
func describeEvent(e *Event) string {
	var b strings.Builder
	reason := e.Reason
	if strings.TrimSpace(reason) == "" {
		reason = "A person or program outside the workflow asks for an interrupt."
	}
	line := prompt.Line
	fmt.Fprintf(&b, "Reason: %s\n", line(reason))
	if e.ContextForDecision != "" {
		fmt.Fprintf(&b, "\nContext: %s\n", line(e.ContextForDecision))
	}
	if len(e.Choices) > 0 {
		b.WriteString("\nChoices:\n")
		for _, c := range e.Choices {
			fmt.Fprintf(&b, "- %s (%s)", line(c.Label), line(c.Value))
			if c.Description != "" {
				b.WriteString(": " + line(c.Description))
			}
			b.WriteByte('\n')
		}
	}
	if len(e.ConfirmationItems) > 0 {
		b.WriteString("\nTo confirm:\n")
		for _, c := range e.ConfirmationItems {
			fmt.Fprintf(&b, "- %s: %s\n", line(c.ID), line(c.Prompt))
		}
	}
	if e.RerouteToAgentType != "" {
		fmt.Fprintf(&b, "\nThe work goes on at: %s\n", line(e.RerouteToAgentType))
	}
	return b.String()
}

// keyDigits turns a text into 26 digits of Crockford's base 32, the first at most 7, as in a ULID.
func keyDigits(text string) string {
	const set = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	sum := sha256.Sum256([]byte(text))
	out := make([]byte, 26)
	for i := range out {
		out[i] = set[sum[i]&31]
	}
	out[0] = set[sum[0]&7]
	return string(out)
}
