package dialogue

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/compat"
	"github.com/routegen/routegen/runtime/internal/brief"
	"github.com/routegen/routegen/runtime/thread"
)

// UpgradeFrame reads what a frame of a conversation still needs, with nothing but the shapes of a
// program: its flow, the step at which it stands, the values of its slots, those that they had
// before among them, the flows that are to start, and what a called flow returned. Values that are
// still to be checked, as those of a message are, are not judged.
func UpgradeFrame(r *compat.Reading, f *thread.Frame) {
	u := &frameUpgrade{Reading: r}
	if f.Name != "" {
		if u.flow = r.Now(runtime.ShapeFlow, f.Name); u.flow == nil {
			r.Within(func() { u.refuseFlow(f.Name) }, "name")
			return
		}
		r.Within(func() { u.checkPlace(f) }, "pc")
	}
	part := &f.Input
	name := "input"
	if f.PC != "" {
		part, name = &f.Locals, "locals"
	}
	r.Within(func() { *part = u.readState(*part) }, name)
	for n := range f.Children {
		c := &f.Children[n]
		r.Within(func() { c.Value = u.readChild(c.Value) }, "children", strconv.Itoa(n), "value")
	}
}

// frameUpgrade is the reading of one frame.
type frameUpgrade struct {
	*compat.Reading

	flow *runtime.StoredShape // nil for the root frame
}

func (u *frameUpgrade) refuseFlow(name string) {
	u.Refusef("", "it is %q, and the program has no such flow", brief.Shorten(name))
}

// checkPlace refuses a step that is gone, or is of another kind than the one that was stored: what
// it waits for would be taken for something else.
func (u *frameUpgrade) checkPlace(f *thread.Frame) {
	if f.PC == "" {
		return
	}
	const mark = "step "
	is := typeOfField(u.flow, compat.Member(u.flow, mark+f.PC))
	switch was := typeOfField(u.Was(runtime.ShapeFlow, f.Name), mark+f.PC); {
	case is == "":
		u.Refusef("", "it is %q, and the flow %s has no such step", brief.Shorten(f.PC),
			u.flow.Name)
	case was != "" && was != is:
		u.Refusef("", "it is %q, which was a %s and is a %s", brief.Shorten(f.PC),
			strings.TrimPrefix(was, mark), strings.TrimPrefix(is, mark))
	}
}

func typeOfField(s *runtime.StoredShape, name string) string {
	if s == nil {
		return ""
	}
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return s.Fields[i].Type
		}
	}
	return ""
}

// members reads the members of an object, each by its reader, and leaves the others as they are.
func (u *frameUpgrade) members(data json.RawMessage,
	readers map[string]func(json.RawMessage) json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return data // another form: the step reports it
	}
	changed := false
	for _, name := range slices.Sorted(maps.Keys(readers)) {
		if v := all[name]; v != nil {
			u.Within(func() { all[name] = readers[name](v) }, name)
			changed = changed || !bytes.Equal(v, all[name])
		}
	}
	if !changed {
		return data
	}
	out, _ := runtime.Encode(all) // cannot fail: it was JSON before
	return out
}

// each reads the elements of a list.
func (u *frameUpgrade) each(read func(json.RawMessage) json.RawMessage) func(
	json.RawMessage) json.RawMessage {
	return func(data json.RawMessage) json.RawMessage {
		var list []json.RawMessage
		if json.Unmarshal(data, &list) != nil {
			return data
		}
		changed := false
		for n, v := range list {
			u.Within(func() { list[n] = read(v) }, strconv.Itoa(n))
			changed = changed || !bytes.Equal(v, list[n])
		}
		if !changed {
			return data
		}
		out, _ := runtime.Encode(list) // cannot fail: it was JSON before
		return out
	}
}

// readState reads the input of a frame, or its state. The input of the root frame is a message.
func (u *frameUpgrade) readState(data json.RawMessage) json.RawMessage {
	readers := map[string]func(json.RawMessage) json.RawMessage{
		"later": u.each(u.readCommand), "commands": u.each(u.readCommand),
	}
	if u.flow != nil {
		values := func(v json.RawMessage) json.RawMessage { return u.readSlots(u.flow, v, true) }
		earlier := func(v json.RawMessage) json.RawMessage { return u.readSlots(u.flow, v, false) }
		done := func(v json.RawMessage) json.RawMessage {
			return u.members(v, map[string]func(json.RawMessage) json.RawMessage{"out": earlier})
		}
		readers["slots"] = values
		readers["trail"] = u.each(func(v json.RawMessage) json.RawMessage {
			return u.members(v, map[string]func(json.RawMessage) json.RawMessage{"was": earlier,
				"done": u.each(done)})
		})
		readers["kept"] = func(v json.RawMessage) json.RawMessage {
			var steps map[string]json.RawMessage
			_ = json.Unmarshal(v, &steps) // another form is left as it is
			each := map[string]func(json.RawMessage) json.RawMessage{}
			for name := range steps {
				each[name] = done
			}
			return u.members(v, each)
		}
	}
	return u.members(data, readers)
}

// readSlots reads values by the names of slots. A value of a slot that is gone is refused where it
// is the slot's own, and left as it is, to be left out, where the slot had it before.
func (u *frameUpgrade) readSlots(flow *runtime.StoredShape, data json.RawMessage,
	own bool) json.RawMessage {
	var values map[string]json.RawMessage
	if json.Unmarshal(data, &values) != nil {
		return data
	}
	changed := false
	out := map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := values[name]
		if string(v) == "null" || !own && compat.Member(flow, "slot "+name) == "" {
			out[name] = v
			continue
		}
		u.Within(func() {
			is, now := u.Slot(flow, name, v)
			out[is] = now
			changed = changed || is != name || !bytes.Equal(now, v)
		}, name)
	}
	if !changed {
		return data
	}
	text, _ := runtime.Encode(out) // cannot fail: it was JSON before
	return text
}

// readCommand reads a command that waits for its time: the flow that it starts has to be there.
func (u *frameUpgrade) readCommand(data json.RawMessage) json.RawMessage {
	var c runtime.Command
	if json.Unmarshal(data, &c) == nil && c.Type == runtime.CommandStart &&
		u.Now(runtime.ShapeFlow, c.Flow) == nil {
		u.Within(func() { u.refuseFlow(c.Flow) }, "flow")
	}
	return data
}

// readChild reads what a called flow has returned.
func (u *frameUpgrade) readChild(data json.RawMessage) json.RawMessage {
	var r flowResult
	if json.Unmarshal(data, &r) != nil {
		return data
	}
	readers := map[string]func(json.RawMessage) json.RawMessage{"rest": u.each(u.readCommand)}
	if flow := u.Now(runtime.ShapeFlow, r.Flow); flow != nil {
		readers["outputs"] = func(v json.RawMessage) json.RawMessage {
			return u.readSlots(flow, v, false)
		}
	}
	return u.members(data, readers)
}
