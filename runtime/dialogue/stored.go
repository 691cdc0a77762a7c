package dialogue

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/jsonscan"
)

var errUnreadable = errors.New("its state is not as this version stores it")

// AppendJSON appends the state as it is stored. Zero members are left out.
func (s *state) AppendJSON(b []byte) []byte {
	c := codec{flow: s.flow, out: slices.Grow(b, 512)}
	c.visitState(s)
	return c.out
}

// decode reads a stored state into s, which is empty. Values of slots and steps that the flow no
// longer has are left out, and earlier names are replaced.
func (s *state) decode(data json.RawMessage) error {
	if len(data) == 0 {
		return nil
	}
	// the limit of 64 is for what comes from outside: here values stand deeper than they came
	in := jsonscan.Scanner{Data: data, Depth: -10_000}
	c := codec{flow: s.flow, in: &in}
	c.visitState(s)
	in.CheckEnd()
	if in.Broken || c.failed || len(in.Problems) > 0 {
		return errUnreadable
	}
	return nil
}

// codec writes a state, or reads one: both visit the same members. Reflection takes five times as
// long, and every turn writes and reads a state.
type codec struct {
	flow   *flow
	out    []byte            // what is written
	in     *jsonscan.Scanner // what is read; nil: it writes
	key    []byte            // of the member to read
	found  bool              // that member was visited
	failed bool              // a value was not as expected
}

func (c *codec) visitState(s *state) {
	c.visitObject(func() {
		c.visitSlots("slots", s, func(at string, v *slotState) { c.visitValue(at, &v.value) })
		c.visitSlots("given", s, func(at string, v *slotState) { c.visitFlag(at, &v.fromOutside) })
		c.visitSlots("sure", s, func(at string, v *slotState) { c.visitFlag(at, &v.confirmed) })
		c.visitSlots("offers", s, func(at string, v *slotState) { c.visitValue(at, &v.offer) })
		c.visitReflected("later", &s.later, len(s.later) > 0)
		visitList(c, "trail", &s.trail, c.visitSegment)
		c.visitRows("kept", c.flow.byStep, func() {
			for i := range s.kept {
				c.beginMember(c.flow.steps[s.kept[i].at-1].ID, true)
				c.visitDone(&s.kept[i])
			}
		}, func(int) {
			var d done
			c.visitDone(&d)
			s.keepResult(d)
		})
		c.visitLoops("rounds", s, func(at string, l *loop) { c.visitNumber(at, &l.rounds) })
		c.visitLoops("entered", s, func(at string, l *loop) { c.visitNumber(at, &l.entered) })
		c.visitNumber("tries", &s.tries)
		c.visitNumber("idle", &s.idle)
		c.visitNumber("depth", &s.depth)
		c.visitFlag("said", &s.said)
		c.visitReflected("failure", &s.failure, s.failure != nil)
		c.visitFlag("rescued", &s.rescued)
		c.visitNumber("moves", &s.Moves)
		c.visitNumber("acts", &s.Acts)
		c.visitNumber("questions", &s.Questions)
		c.visitFlag("once", &s.Once)
	})
}

func (c *codec) visitSegment(l *segment) {
	c.visitObject(func() {
		c.visitStep("at", &l.at)
		c.visitValue("value", &l.value)
		c.visitValues("was", &l.was)
		visitList(c, "done", &l.done, c.visitDone)
		c.visitFlag("past", &l.past)
	})
	if c.in != nil {
		l.past = l.past || slices.ContainsFunc(l.done, func(d done) bool {
			return d.at == 0 && d.once
		})
		l.done = slices.DeleteFunc(l.done, func(d done) bool { return d.at == 0 })
	}
}

func (c *codec) visitDone(d *done) {
	c.visitObject(func() {
		c.visitStep("at", &d.at)
		c.visitText("in", &d.in)
		c.visitValues("out", &d.out)
		c.visitFlag("once", &d.once)
	})
}

// visitObject visits the members of an object. When it is read, each member is looked for in turn.
func (c *codec) visitObject(members func()) {
	if c.in == nil {
		c.out = append(c.out, '{')
		members()
		c.out = append(c.out, '}')
		return
	}
	c.eachKey(func(key []byte) {
		c.key, c.found = key, false
		if members(); !c.found {
			c.in.SkipValue()
		}
	})
	c.found = true
}

// anyKey is the name of a member whose key was read.
const anyKey = ""

// beginMember reports whether a member is to be written or read now. has: it is not zero.
func (c *codec) beginMember(name string, has bool) bool {
	switch {
	case c.in != nil:
		has = name == anyKey || !c.found && string(c.key) == name
		c.found = c.found || has
	case has:
		if c.out[len(c.out)-1] != '{' {
			c.out = append(c.out, ',')
		}
		c.writeName(name)
		c.out = append(c.out, ':')
	}
	return has
}

// writeName writes a name or a digest, which have no characters that JSON escapes.
func (c *codec) writeName(text string) {
	c.out = append(append(append(c.out, '"'), text...), '"')
}

func (c *codec) visitNumber(name string, n *int) {
	switch {
	case !c.beginMember(name, *n != 0):
	case c.in == nil:
		c.out = strconv.AppendInt(c.out, int64(*n), 10)
	default:
		*n = c.readNumber()
	}
}

func (c *codec) visitFlag(name string, set *bool) {
	switch {
	case !c.beginMember(name, *set):
	case c.in == nil:
		c.out = append(c.out, "true"...)
	default:
		*set = string(c.readRaw()) == "true"
	}
}

func (c *codec) visitValue(name string, v *json.RawMessage) {
	switch {
	case !c.beginMember(name, *v != nil):
	case c.in == nil:
		c.out = append(c.out, *v...)
	default:
		*v = c.readRaw()
	}
}

func (c *codec) visitText(name string, text *string) {
	switch {
	case !c.beginMember(name, *text != ""):
	case c.in == nil:
		c.writeName(*text)
	default:
		*text = string(c.readName())
	}
}

// visitStep visits the number of a step, 0 for none; its id is stored.
func (c *codec) visitStep(name string, n *int) {
	switch {
	case !c.beginMember(name, *n > 0):
	case c.in == nil:
		c.writeName(c.flow.steps[*n-1].ID)
	default:
		*n = c.flow.byStep[string(c.readName())]
	}
}

// visitReflected visits a member by reflection. It is for members that are rarely set.
func (c *codec) visitReflected(name string, v any, has bool) {
	switch {
	case !c.beginMember(name, has):
	case c.in == nil:
		text, _ := runtime.Encode(v) // cannot fail: it was JSON before
		c.out = append(c.out, text...)
	default:
		c.failed = json.Unmarshal(c.readRaw(), v) != nil || c.failed
	}
}

// visitList visits a list, if it is not empty.
func visitList[T any](c *codec, name string, list *[]T, element func(*T)) {
	switch {
	case !c.beginMember(name, len(*list) > 0):
	case c.in == nil:
		c.out = append(c.out, '[')
		for i := range *list {
			if i > 0 {
				c.out = append(c.out, ',')
			}
			element(&(*list)[i])
		}
		c.out = append(c.out, ']')
	case c.in.EnterBracket('[', "a list"):
		for first := true; c.in.NextElement(']', first); first = false {
			var zero T
			*list = appendFew(*list, zero)
			element(&(*list)[len(*list)-1])
		}
		c.in.Depth--
		c.found = true
	}
}

// visitRows visits an object whose members are named for slots or steps, if it is not empty.
func (c *codec) visitRows(name string, rows map[string]int, write func(), read func(n int)) {
	at := len(c.out)
	switch {
	case !c.beginMember(name, true):
	case c.in == nil:
		c.out = append(c.out, '{')
		if write(); c.out[len(c.out)-1] == '{' {
			c.out = c.out[:at]
			return
		}
		c.out = append(c.out, '}')
	default:
		c.eachKey(func(key []byte) {
			if n := rows[string(key)]; n > 0 {
				read(n)
			} else {
				c.in.SkipValue()
			}
		})
		c.found = true
	}
}

func (c *codec) visitSlots(name string, s *state, visit func(at string, v *slotState)) {
	c.visitRows(name, c.flow.bySlot, func() {
		for i := range s.slots {
			visit(c.flow.slots[i].Name, &s.slots[i])
		}
	}, func(n int) { visit(anyKey, &s.slots[n-1]) })
}

func (c *codec) visitLoops(name string, s *state, visit func(at string, l *loop)) {
	c.visitRows(name, c.flow.byStep, func() {
		for i := range s.loops {
			visit(c.flow.steps[s.loops[i].at-1].ID, &s.loops[i])
		}
	}, func(n int) { visit(anyKey, s.findLoop(n)) })
}

// visitValues visits values of slots; nil is null.
func (c *codec) visitValues(name string, list *[]slotValue) {
	c.visitRows(name, c.flow.bySlot, func() {
		for _, v := range *list {
			if c.beginMember(c.flow.slots[v.slot-1].Name, true); v.value == nil {
				v.value = json.RawMessage("null")
			}
			c.out = append(c.out, v.value...)
		}
	}, func(n int) {
		v := slotValue{n, c.readRaw()}
		if string(v.value) == "null" {
			v.value = nil
		}
		*list = appendFew(*list, v)
	})
}

// eachKey reads an object. member reads the value of a key.
func (c *codec) eachKey(member func(key []byte)) {
	if !c.in.EnterBracket('{', "an object") {
		return
	}
	for first := true; c.in.NextElement('}', first); first = false {
		key, ok := c.in.ReadKey()
		if !ok {
			return
		}
		c.in.Peek()
		member(key)
	}
	c.in.Depth--
}

// readRaw reads a value, which is a part of the data.
func (c *codec) readRaw() json.RawMessage {
	at := c.in.Pos
	c.in.SkipValue()
	return json.RawMessage(c.in.Data[at:c.in.Pos:c.in.Pos])
}

func (c *codec) readName() []byte {
	if c.in.Peek() != '"' {
		c.in.WrongType("a string")
		return nil
	}
	text, _ := c.in.ReadString()
	return text
}

func (c *codec) readNumber() int {
	n, err := strconv.Atoi(string(c.readRaw()))
	c.failed = c.failed || err != nil
	return n
}
