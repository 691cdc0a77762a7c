package workflow

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/compat"
	"github.com/routegen/routegen/runtime/internal/brief"
	"github.com/routegen/routegen/runtime/thread"
)

// UpgradeFrame reads what a frame of a workflow still needs, with nothing but the shapes of a
// program: its place, the request that runs and the interrupt that is handled, the last request of
// each node that is still there, what children returned, and where a person sent it. What it keeps
// of nodes that are gone is left as it is, since nothing goes back to them. A model's stored reply
// is not judged: one that is no longer accepted goes back to the model when the node runs.
func UpgradeFrame(r *compat.Reading, f *thread.Frame) {
	if f.PC != "" && f.PC != pcHandle && f.PC != pcCollect {
		r.Within(func() { checkNode(r, f.PC) }, "pc")
	}
	switch {
	case f.Locals != nil:
		r.Within(func() { f.Locals = upgradeState(r, f, f.Locals) }, "locals")
	default:
		r.Within(func() { f.Input = upgradeInput(r, f) }, "input")
	}
	r.Within(func() { checkAgent(r, f.RouteTo) }, "routeTo")
	for n := range f.Replies {
		r.Within(func() { checkAgent(r, f.Replies[n].RouteTo) }, "replies", strconv.Itoa(n),
			"routeTo")
	}
	for n := range f.Children {
		c := &f.Children[n]
		if c.Failure != nil || c.Skipped || len(c.Value) == 0 || string(c.Value) == "null" {
			continue
		}
		r.Within(func() { c.Value = r.Tagged(runtime.ShapeResult, c.Value) }, "children",
			strconv.Itoa(n), "value")
	}
}

// checkNode refuses a place that is gone, and one that has another name: a frame that stands there
// has effects and questions under the old one.
func checkNode(r *compat.Reading, key string) {
	switch n := r.Now(runtime.ShapeNode, key); {
	case n == nil:
		r.Refusef("", "it is %q, and the program has no such node", brief.Shorten(key))
	case n.Name != key:
		r.Refusef("", "it is %q, which is %q now: a frame that stands at a node is not renamed",
			brief.Shorten(key), n.Name)
	}
}

// checkAgent refuses an agent type to go on at that is gone.
func checkAgent(r *compat.Reading, agentType string) {
	agents := r.Now(runtime.ShapeEnum, runtime.ShapeAgentType)
	if agentType != "" && agents != nil && compat.Member(agents, agentType) == "" {
		r.Refusef("", "it is %q, and the program has no such agent type", brief.Shorten(agentType))
	}
}

func upgradeInput(r *compat.Reading, f *thread.Frame) json.RawMessage {
	var begin frameInput
	if json.Unmarshal(f.Input, &begin) != nil {
		return f.Input // the step reports it
	}
	before := begin.Request
	var state json.RawMessage
	if begin.Request != nil {
		r.Within(func() { begin.Request = r.Tagged(runtime.ShapeRequest, before) }, "request")
	}
	if begin.State != nil {
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(f.Input, &fields) // it was read above
		state = fields["journal"]
		var now json.RawMessage
		r.Within(func() { now = upgradeState(r, f, state) }, "journal")
		if !bytes.Equal(state, now) {
			begin.State = new(frameState)
			_ = json.Unmarshal(now, begin.State) // it was just written
			state = nil
		}
	}
	if bytes.Equal(before, begin.Request) && (begin.State == nil || state != nil) {
		return f.Input
	}
	out, _ := runtime.Encode(begin) // cannot fail: it was JSON before
	return out
}

// upgradeState reads the state of a frame.
func upgradeState(r *compat.Reading, f *thread.Frame, data json.RawMessage) json.RawMessage {
	var j frameState
	if err := json.Unmarshal(data, &j); err != nil {
		r.Refusef("", "it is %s: %v", brief.Shorten(string(data)), err)
		return data
	}
	u := &stateUpgrade{Reading: r, state: &j}
	if f.PC == "" || f.PC == pcHandle || f.PC == pcCollect {
		r.Within(func() { checkNode(r, j.Node) }, "node")
	}
	stored := storedRequest{j.Type, j.Request}
	u.message(runtime.ShapeRequest, &j.Type, &j.Request, "request")
	u.readResults(f.PC == pcCollect)
	if j.Raised != nil {
		up := *j.Raised
		u.message(runtime.ShapeInterrupt, &up.Name, &up.Request, "raised", "request")
		r.Within(func() { checkAgent(r, up.RouteTo) }, "raised", "routeTo")
		j.Raised = &up
	}
	if j.Dispatch != "" {
		r.Within(func() { checkNode(r, j.Dispatch) }, "home")
	}
	u.readLast(stored)
	if !u.changed {
		return data
	}
	out, _ := runtime.Encode(&j) // cannot fail: it was JSON before
	return out
}

// stateUpgrade is the reading of one state.
type stateUpgrade struct {
	*compat.Reading

	state   *frameState
	changed bool
}

// message reads a message with its type, at a place.
func (u *stateUpgrade) message(kind string, name *string, data *json.RawMessage, at ...string) {
	if *name == "" && len(*data) == 0 {
		return
	}
	u.Within(func() {
		is, now := u.NamedValue(kind, *name, *data)
		u.changed = u.changed || is != *name || !bytes.Equal(now, *data)
		*name, *data = is, now
	}, at...)
}

// readResults reads what the children of a dispatch returned. collects: the frame waits for them.
func (u *stateUpgrade) readResults(collects bool) {
	if !collects && len(u.state.Results) == 0 {
		return
	}
	n := u.Now(runtime.ShapeNode, u.state.Node)
	if n == nil {
		return // checkNode reports it
	}
	at := slices.IndexFunc(n.Fields, func(f runtime.StoredField) bool {
		return f.Name == "results"
	})
	u.Within(func() {
		switch {
		case at < 0:
			u.Refusef("", "the node %s no longer has a dispatch to take them", n.Name)
		case len(u.state.Results) > 0:
			now := u.Value(n.Fields[at].Type, u.state.Results)
			u.changed = u.changed || !bytes.Equal(now, u.state.Results)
			u.state.Results = now
		}
	}, "results")
}

// readLast reads the last requests of the nodes that are still there. The request that runs, as it
// was stored, has been read before.
func (u *stateUpgrade) readLast(running storedRequest) {
	last := map[string]storedRequest{}
	for _, key := range slices.Sorted(maps.Keys(u.state.Last)) {
		one := u.state.Last[key]
		n := u.Now(runtime.ShapeNode, key)
		if n == nil {
			last[key] = one
			continue
		}
		u.changed = u.changed || n.Name != key
		if one.Type == running.Type && bytes.Equal(one.Request, running.Request) {
			one = storedRequest{u.state.Type, u.state.Request}
		} else {
			u.message(runtime.ShapeRequest, &one.Type, &one.Request, "last", key, "request")
		}
		last[n.Name] = one
	}
	if len(last) > 0 {
		u.state.Last = last
	}
	for i := range u.state.Trail {
		v := &u.state.Trail[i]
		if n := u.Now(runtime.ShapeNode, v.Node); n != nil && n.Name != v.Node {
			v.Node, u.changed = n.Name, true
		}
	}
}
