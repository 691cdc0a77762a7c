package thread

import (
	"encoding/json"
	"slices"
)

// The states of a reroute event. It is stored pending or queued; the others stand in the log only.
const (
	ReroutePending = "pending" // the next interrupt of the frame takes it
	RerouteQueued  = "queued"  // another one is before it
	RerouteUsed    = "used"
	RerouteExpired = "expired" // the work that it was for has ended
)

// Reroute is a stored reroute event: an outside order to interrupt what a frame does, and to
// continue at Target.
type Reroute struct {
	ID    string `json:"id"`
	Frame string `json:"frame"`
	// Target is an agent type; "" means back to where the interrupt came from.
	Target string `json:"target,omitempty"`
	State  string `json:"state"`
	// Event is the event as it arrived, with who asked for it.
	Event json.RawMessage `json:"event"`
	By    string          `json:"by,omitempty"`
}

// PendingReroute returns the event that the next interrupt of a frame takes, or nil.
func (t *Thread) PendingReroute(frame string) *Reroute {
	for i := range t.Reroutes {
		if r := &t.Reroutes[i]; r.Frame == frame && r.State == ReroutePending {
			return r
		}
	}
	return nil
}

// Reroute stores an event: pending, or queued behind the one its frame has already. It returns the
// state. The message to the frame comes after it in the same commit.
func (c *Change) Reroute(r Reroute, message json.RawMessage) (state string) {
	state = ReroutePending
	if c.Thread.PendingReroute(r.Frame) != nil {
		state = RerouteQueued
	}
	c.Add(Entry{
		Type: EntryReroute, Frame: r.Frame, Name: r.ID, State: state, RouteTo: r.Target,
		Value: r.Event, By: r.By, Request: RerouteRequest(r.ID),
	})
	c.Add(Entry{Type: EntryMessage, Frame: r.Frame, Name: "interrupt_message", Value: message,
		By: r.By})
	return state
}

// RerouteRequest is the request id under which an event is stored, so that the same event is stored
// once.
func RerouteRequest(event string) string { return "reroute/" + event }

// TakeReroute uses the pending event of a frame up, in the change that resolves the interrupt. The
// next queued one becomes pending.
func (c *Change) TakeReroute(frame string) {
	r := c.Thread.PendingReroute(frame)
	if r == nil {
		return
	}
	c.Add(Entry{Type: EntryReroute, Frame: frame, Name: r.ID, State: RerouteUsed})
	for _, next := range c.Thread.Reroutes {
		if next.Frame == frame {
			c.Add(Entry{Type: EntryReroute, Frame: frame, Name: next.ID, State: ReroutePending})
			return
		}
	}
}

// ExpireReroutes drops the events of a frame: what they were for has ended.
func (c *Change) ExpireReroutes(frame string) {
	for _, r := range slices.Clone(c.Thread.Reroutes) {
		if r.Frame == frame {
			c.Add(Entry{Type: EntryReroute, Frame: frame, Name: r.ID, State: RerouteExpired})
		}
	}
}

// applyReroute applies an entry.
func (t *Thread) applyReroute(e *Entry) {
	at := slices.IndexFunc(t.Reroutes, func(r Reroute) bool { return r.ID == e.Name })
	switch {
	case e.State == RerouteUsed || e.State == RerouteExpired:
		if at >= 0 {
			t.Reroutes = slices.Delete(slices.Clone(t.Reroutes), at, at+1)
		}
	case at >= 0:
		t.Reroutes = slices.Clone(t.Reroutes)
		t.Reroutes[at].State = e.State
	default:
		t.Reroutes = append(slices.Clip(t.Reroutes), Reroute{
			ID: e.Name, Frame: e.Frame, Target: e.RouteTo, State: e.State, Event: e.Value, By: e.By,
		})
	}
}
