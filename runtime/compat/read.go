package compat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/brief"
)

// Reader reads values that a program of other shapes stored. It is never changed after [NewReader]
// and safe for concurrent use if the migrations are.
type Reader struct {
	old, now map[string]*runtime.StoredShape
	next     map[string]*runtime.StoredShape // what an old name became
	migrate  map[string]runtime.Migrate
	rules    map[*runtime.StoredField]*runtime.Rule
}

// NewReader returns what reads values stored under old as a program of now does. old may be nil
// where it is not known: then no place is refused for having become another kind of place. migrate
// are the migrations of the program by the name of their type.
func NewReader(old, now []runtime.StoredShape, migrate map[string]runtime.Migrate) *Reader {
	r := &Reader{old: byKey(old), now: byKey(now), next: successors(now, byKey(now)),
		migrate: migrate, rules: map[*runtime.StoredField]*runtime.Rule{}}
	for _, s := range r.now {
		for i := range s.Fields {
			r.rules[&s.Fields[i]] = ruleOf(s.Fields[i].Rules)
		}
	}
	return r
}

// successors returns what earlier names became, but for those that something has now.
func successors(shapes []runtime.StoredShape,
	now map[string]*runtime.StoredShape) map[string]*runtime.StoredShape {
	out := map[string]*runtime.StoredShape{}
	for i := range shapes {
		for _, was := range slices.Concat(shapes[i].Was, shapes[i].Accepts) {
			if key := nameSpace(shapes[i].Kind) + was; now[key] == nil {
				out[key] = &shapes[i]
			}
		}
	}
	return out
}

// ruleOf is the opposite of [runtime.Rule.Texts]; nil for no bound.
func ruleOf(texts []string) *runtime.Rule {
	if len(texts) == 0 {
		return nil
	}
	out := &runtime.Rule{}
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		number, _ := strconv.ParseFloat(value, 64)
		count := int(number)
		switch name {
		case "min":
			out.Min = &number
		case "max":
			out.Max = &number
		case "min_length":
			out.MinLength = &count
		case "max_length":
			out.MaxLength = &count
		case "min_items":
			out.MinItems = &count
		case "max_items":
			out.MaxItems = &count
		case "pattern":
			out.Pattern = value
		case "format":
			out.Format = value
		}
	}
	return out
}

// Reading is one pass over what a thread holds: it returns each value as the program reads it, with
// earlier names replaced, and collects what the program does not read. At is the place of the next
// value. A Reading belongs to one goroutine.
type Reading struct {
	*Reader

	At       string // JSON pointer
	problems []runtime.Problem
	migrates bool // a migration has made the value: it is not migrated again
}

// Begin returns a new pass.
func (r *Reader) Begin() *Reading { return &Reading{Reader: r} }

// Err returns everything the program does not read, an [runtime.InvalidError] with each value
// named; nil where it reads all.
func (r *Reading) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return &runtime.InvalidError{Problems: r.problems}
}

// Refusef records that the value at a place below At cannot be read. The reason is half a sentence.
func (r *Reading) Refusef(below, format string, args ...any) {
	const most = 20
	if len(r.problems) < most {
		r.problems = append(r.problems, runtime.Problem{Pointer: r.At + below,
			Reason: fmt.Sprintf(format, args...)})
	}
}

// in runs read with At one name deeper.
func (r *Reading) in(name string, read func()) {
	before := r.At
	r.At += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	read()
	r.At = before
}

// Within runs read with At below the names.
func (r *Reading) Within(read func(), names ...string) {
	if len(names) == 0 {
		read()
		return
	}
	r.in(names[0], func() { r.Within(read, names[1:]...) })
}

// Was returns the old shape of a kind and name; nil where the old shapes are not known.
func (r *Reader) Was(kind, name string) *runtime.StoredShape { return r.old[nameSpace(kind)+name] }

// Now returns what a shape of a kind and an old name is now, or nil.
func (r *Reader) Now(kind, name string) *runtime.StoredShape {
	key := nameSpace(kind) + name
	if s := r.now[key]; s != nil {
		return s
	}
	return r.next[key]
}

// NamedValue reads a request, an interrupt request or a result by its kind and its stored name, and
// returns both as the program has them.
func (r *Reading) NamedValue(kind, name string, data json.RawMessage) (string, json.RawMessage) {
	s := r.Now(kind, name)
	switch {
	case s == nil:
		r.Refusef("", "it is a %s, and the program has no type of that name", brief.Shorten(name))
		return name, data
	case s.Kind != kind:
		r.Refusef("", "it is the %s %s, which is a %s now", kind, s.Name, s.Kind)
		return name, data
	}
	return s.Name, r.readNamed(s, nil, data)
}

// Tagged is NamedValue for {"NAME": value}.
func (r *Reading) Tagged(kind string, data json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil || len(members) != 1 {
		r.Refusef("", "it is %s, and has to be an object with a type name as its one key",
			brief.Shorten(string(data)))
		return data
	}
	for name, value := range members {
		r.in(name, func() {
			is, now := r.NamedValue(kind, name, value)
			if is != name || !bytes.Equal(now, value) {
				data = encode(map[string]json.RawMessage{is: now})
			}
		})
	}
	return data
}

// Slot reads a value of a flow's slot and returns the slot's name and the value as the program has
// them.
func (r *Reading) Slot(flow *runtime.StoredShape, name string, data json.RawMessage) (string,
	json.RawMessage) {
	f := fieldNamed(flow, "slot "+name)
	if f == nil {
		r.Refusef("", "it is %s, and the flow %s has no slot %s", brief.Shorten(string(data)),
			flow.Name, brief.Shorten(name))
		return name, data
	}
	is := strings.TrimPrefix(f.Name, "slot ")
	return is, r.migrated(flow.Name+"."+is, data, func(v json.RawMessage) json.RawMessage {
		return r.readValue(f.Type, r.rules[f], v)
	})
}

// fieldNamed returns the field of a stored name, or that which had it.
func fieldNamed(s *runtime.StoredShape, name string) *runtime.StoredField {
	var was *runtime.StoredField
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Name == name {
			return f
		}
		if slices.Contains(f.Was, name) || slices.Contains(f.Accepts, name) {
			was = f
		}
	}
	return was
}

// Member returns the present name of a field, branch, enum value or step of a shape; "" where there
// is none.
func Member(s *runtime.StoredShape, name string) string {
	if f := fieldNamed(s, name); f != nil {
		return f.Name
	}
	return ""
}

// migrated reads a value, and hands it to its migration where it cannot be read.
func (r *Reading) migrated(name string, data json.RawMessage,
	read func(json.RawMessage) json.RawMessage) json.RawMessage {
	before := len(r.problems)
	out := read(data)
	migrate := r.migrate[name]
	if len(r.problems) == before || migrate == nil || r.migrates {
		return out
	}
	r.problems = r.problems[:before]
	now, err := runMigration(migrate, data)
	if err == nil && !json.Valid(now) {
		err = fmt.Errorf("it returned %s, which is not JSON", brief.Shorten(string(now)))
	}
	if err != nil {
		r.Refusef("", "the migration of %s refuses %s: %v", name, brief.Shorten(string(data)), err)
		return data
	}
	r.migrates = true
	out = read(now)
	r.migrates = false
	return out
}

// runMigration runs a function of a program; a panic is its refusal.
func runMigration(migrate runtime.Migrate, data json.RawMessage) (now json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	return migrate(slices.Clone(data))
}

// Value reads a value of a type of the program, written as in [runtime.StoredField].
func (r *Reading) Value(typ string, data json.RawMessage) json.RawMessage {
	return r.readValue(typ, nil, data)
}

// readValue reads a value of a type expression, under the rule of its field.
func (r *Reading) readValue(typ string, rule *runtime.Rule, data json.RawMessage) json.RawMessage {
	elem, isList := strings.CutPrefix(typ, "[]")
	if isList {
		return r.readList(elem, rule, data)
	}
	if elem, isMap := strings.CutPrefix(typ, "map[string]"); isMap {
		return r.readMap(elem, rule, data)
	}
	if s := r.now[typ]; s != nil {
		return r.readNamed(s, rule, data)
	}
	r.readPlain(typ, nil, rule, data)
	return data
}

// readPlain reads a value without parts as decoders do. of is its named scalar, or nil.
func (r *Reading) readPlain(typ string, of *runtime.Shape, rule *runtime.Rule,
	data json.RawMessage) {
	var v any
	switch typ {
	case "string":
		v = new(string)
	case "bool":
		v = new(bool)
	case "int":
		v = new(int64)
	case "float":
		v = new(float64)
	case "time":
		v = newTime()
	case "duration":
		v = new(runtime.Duration)
	default: // json
		v = new(json.RawMessage)
	}
	r.refuseWith(data, runtime.DecodeValue(data, v, of, rule))
}

// refuseWith records the refusal of a decoder.
func (r *Reading) refuseWith(data json.RawMessage, err error) {
	for _, p := range problemsOf(err) {
		r.Refusef(p.Pointer, "it is %s: %s", brief.Shorten(string(data)), p.Reason)
	}
}

func (r *Reading) readList(elem string, rule *runtime.Rule, data json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if err := runtime.DecodeValue(data, &list, nil, rule); err != nil {
		r.refuseWith(data, err)
		return data
	}
	changed := false
	for i, v := range list {
		r.in(strconv.Itoa(i), func() { list[i] = r.readValue(elem, nil, v) })
		changed = changed || !bytes.Equal(list[i], v)
	}
	if !changed {
		return data
	}
	return encode(list)
}

func (r *Reading) readMap(elem string, rule *runtime.Rule, data json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if err := runtime.DecodeValue(data, &members, nil, rule); err != nil {
		r.refuseWith(data, err)
		return data
	}
	changed := false
	for _, key := range slices.Sorted(maps.Keys(members)) {
		v := members[key]
		r.in(key, func() { members[key] = r.readValue(elem, nil, v) })
		changed = changed || !bytes.Equal(members[key], v)
	}
	if !changed {
		return data
	}
	return encode(members)
}

// readNamed reads a value of a type of the program.
func (r *Reading) readNamed(s *runtime.StoredShape, rule *runtime.Rule,
	data json.RawMessage) json.RawMessage {
	return r.migrated(s.Name, data, func(v json.RawMessage) json.RawMessage {
		switch s.Kind {
		case runtime.ShapeEnum:
			return r.readEnum(s, v)
		case runtime.ShapeScalar:
			of := &runtime.Shape{Kind: s.Kind,
				Fields: []runtime.Field{{Rule: r.rules[&s.Fields[0]]}}}
			r.readPlain(s.Fields[0].Type, of, rule, v)
			return v
		}
		return r.readRecord(s, v)
	})
}

func (r *Reading) readEnum(s *runtime.StoredShape, data json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(data, &text) != nil || len(data) == 0 || data[0] != '"' {
		r.Refusef("", "it is %s, and has to be a value of %s", brief.Shorten(string(data)), s.Name)
		return data
	}
	switch is := Member(s, text); is {
	case "":
		r.Refusef("", "it is %s, which is no value of %s", brief.Shorten(string(data)), s.Name)
	case text:
	default:
		return encode(is)
	}
	return data
}

// readRecord reads the fields of a record, or the one branch of a union.
func (r *Reading) readRecord(s *runtime.StoredShape, data json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil || members == nil {
		r.Refusef("", "it is %s, and has to be a %s", brief.Shorten(string(data)), s.Name)
		return data
	}
	changed := false
	out := map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		v, f := members[key], fieldNamed(s, key)
		switch {
		case f != nil && f.Name != key && members[f.Name] != nil:
			f = nil // the field has a value of its own
			fallthrough
		case f == nil:
			r.in(key, func() {
				r.Refusef("", "it is %s, and %s has no such field", brief.Shorten(string(v)),
					s.Name)
			})
			continue
		case string(v) == "null" && !f.Required:
			out[f.Name] = v
		default:
			r.in(key, func() { out[f.Name] = r.readValue(f.Type, r.rules[f], v) })
		}
		changed = changed || f.Name != key || !bytes.Equal(out[f.Name], v)
	}
	if s.Kind == runtime.ShapeUnion && len(out) != 1 {
		r.Refusef("", "it has %d branches of %s, and has to have one", len(out), s.Name)
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if !f.Required || out[f.Name] != nil {
			continue
		}
		if f.Default != "" {
			out[f.Name], changed = json.RawMessage(f.Default), true
			continue
		}
		r.in(f.Name, func() { r.Refusef("", "%s needs it, and it is not there", s.Name) })
	}
	if !changed {
		return data
	}
	return encodeInOrder(s, out)
}
