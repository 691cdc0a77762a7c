package runtime

import (
	"fmt"
	"reflect"

	"github.com/routegen/routegen/runtime/internal/brief"
	"github.com/routegen/routegen/runtime/internal/jsonscan"
)

// readPointer reads a value into a new one. Null never reaches it for an optional field, which then
// stays nil; for a required one elem refuses it.
func readPointer(t reflect.Type, elem reader) reader {
	return func(d *Decoder, v reflect.Value) {
		p := reflect.New(t)
		elem(d, p.Elem())
		v.Set(p)
	}
}

// readStruct reads an object into a record. A union inside another record must have exactly one
// branch set.
func readStruct(d *Decoder, v reflect.Value) {
	record, _ := reflect.TypeAssert[Record](v.Addr()) // newReader has seen that it is one
	d.readRecord(record, v)
}

// readList reads an array. The list is never nil, but for null on the wire.
func readList(t reflect.Type, elem reader) reader {
	empty := reflect.MakeSlice(t, 0, 0)
	return func(d *Decoder, v reflect.Value) {
		field := d.takeRule()
		if d.readNull() || !d.scan.EnterBracket('[', "an array") {
			return
		}
		v.Set(empty)
		n := 0
		for ; d.scan.NextElement(']', n == 0); n++ {
			if n == v.Cap() {
				v.Grow(max(4, n))
			}
			v.SetLen(n + 1)
			d.scan.PushIndex(n)
			elem(d, v.Index(n))
			d.scan.Pop()
		}
		d.scan.Depth--
		d.checkItems(field, n)
	}
}

// readMap reads an object; from a model also an array of {"key": ..., "value": ...} objects, which
// is how a map is written for providers that accept no free keys. A key that is there twice is
// refused. The map is never nil, but for null on the wire.
func readMap(t reflect.Type, elem reader) reader {
	return func(d *Decoder, v reflect.Value) {
		field := d.takeRule()
		if d.readNull() {
			return
		}
		m := reflect.MakeMap(t)
		put := func(key string, value reflect.Value) {
			k := reflect.ValueOf(key)
			if m.MapIndex(k).IsValid() {
				d.scan.AddKeyProblem(key, jsonscan.TwiceReason)
			}
			m.SetMapIndex(k, value)
		}
		if d.reply && d.scan.Peek() == '[' {
			d.readEntries(t.Elem(), elem, put)
		} else if !d.readMembers(t.Elem(), elem, put) {
			return
		}
		d.scan.Depth--
		v.Set(m)
		d.checkItems(field, m.Len())
	}
}

// readMembers reads the members of an object. It reports whether there was one.
func (d *Decoder) readMembers(t reflect.Type, elem reader,
	put func(key string, value reflect.Value)) bool {
	if !d.scan.EnterBracket('{', "an object") {
		return false
	}
	for first := true; d.scan.NextElement('}', first); first = false {
		key, ok := d.scan.ReadKey()
		if !ok {
			break
		}
		name, value := string(key), reflect.New(t).Elem()
		d.scan.PushName(name)
		elem(d, value)
		d.scan.Pop()
		put(name, value)
	}
	return true
}

var entryShape = Shape{Name: "entry",
	Fields: []Field{{Name: "key", Required: true}, {Name: "value", Required: true}}}

// mapEntry is one {"key": ..., "value": ...} object of a map.
type mapEntry struct {
	key   string
	value func()
}

// Shape implements Record.
func (*mapEntry) Shape() *Shape { return &entryShape }

// DecodeField implements FieldDecoder.
func (e *mapEntry) DecodeField(d *Decoder, name string) {
	if name == "key" {
		d.Decode(&e.key, nil)
		return
	}
	e.value()
}

// readEntries reads the elements of an array as members of a map. An entry with a problem is left
// out.
func (d *Decoder) readEntries(t reflect.Type, elem reader,
	put func(key string, value reflect.Value)) {
	d.scan.EnterBracket('[', "an array")
	for n := 0; d.scan.NextElement(']', n == 0); n++ {
		value, before := reflect.New(t).Elem(), len(d.scan.Problems)
		e := mapEntry{value: func() { elem(d, value) }}
		d.scan.PushIndex(n)
		d.readObject(&e, reflect.ValueOf(&e).Elem())
		d.scan.Pop()
		if len(d.scan.Problems) == before {
			put(e.key, value)
		}
	}
}

// readNull consumes a null that stands for an empty list or map, which only the wire may have.
func (d *Decoder) readNull() bool {
	return !d.reply && d.scan.Peek() == 'n' && d.scan.ReadLiteral("null")
}

// readRecord reads an object inside a document. A union without exactly one branch is a problem
// like any other.
func (d *Decoder) readRecord(v Record, value reflect.Value) {
	base := len(d.picked)
	if d.readObject(v, value) && !d.scan.Broken {
		if s := v.Shape(); s.isUnion() && len(d.picked) != base+1 {
			e := SelectionError{Routing: s.Name, Set: s.branchNames(d.picked[base:]),
				Allowed: s.fieldNames()}
			d.scan.AddProblem(e.Error())
		}
	}
	d.picked = d.picked[:base]
}

// readObject reads an object into v, whose struct is value. It reports whether there was one.
func (d *Decoder) readObject(v Record, value reflect.Value) bool {
	d.takeRule()
	if !d.scan.EnterBracket('{', "an object") {
		return false
	}
	o, base, next := newObject(v, value), len(d.seen), 0
	s := o.shape
	for range (len(s.Fields) + 63) / 64 {
		d.seen = append(d.seen, 0)
	}
	for first := true; d.scan.NextElement('}', first); first = false {
		key, ok := d.scan.ReadKey()
		if !ok {
			break
		}
		i := s.indexOf(key, next)
		if i < 0 {
			d.reportUnknownKey(v, string(key))
			continue
		}
		next = i + 1
		d.scan.PushName(s.Fields[i].Name)
		d.readField(&o, i, &d.seen[base+i/64])
		d.scan.Pop()
	}
	if !s.isUnion() && !d.scan.Broken {
		d.fillMissing(&o, base)
	}
	d.seen = d.seen[:base]
	d.scan.Depth--
	return true
}

// readField reads the value of field i. seen is the word that holds its bit; it may move once the
// value is read.
func (d *Decoder) readField(o *object, i int, seen *uint64) {
	f, bit := &o.shape.Fields[i], uint64(1)<<(i%64)
	if *seen&bit != 0 {
		d.scan.Malformed = true
		d.scan.AddProblem(jsonscan.TwiceReason)
		d.scan.SkipValue()
		return
	}
	*seen |= bit
	if f.Hidden && d.reply {
		d.scan.AddProblem("must not be given here: leave it out")
		d.scan.SkipValue()
		return
	}
	if !f.Required && d.scan.Peek() == 'n' {
		if d.scan.ReadLiteral("null") && f.Default != "" {
			d.readDefault(o, i)
		}
		return
	}
	if o.shape.isUnion() {
		d.picked = append(d.picked, i)
	}
	o.readField(d, i)
}

// reportUnknownKey reports a key that the shape lacks, with the key that was probably meant, and
// skips its value.
func (d *Decoder) reportUnknownKey(v Record, key string) {
	if len(d.scan.Problems) == jsonscan.MaxProblems { // no further problem is reported
		d.scan.Malformed = true
		d.scan.SkipValue()
		return
	}
	s, names := v.Shape(), d.namesOffered(v)
	near := brief.Nearest(key, names)
	reason := "unknown key of " + s.Name
	switch {
	case near == "" && s.isUnion() && key == wrapper && d.reply && len(d.scan.Path) == 0:
		reason = `"` + wrapper + `" wraps a whole reply and must be its only key`
	case near == "" && s.isUnion() && key == wrapper: // on the wire, or wrapped already
		reason = `"` + wrapper + `" is the wrapper of models' replies: write the branch without it`
	case near == "":
		reason += ": use " + brief.JoinNames(names)
	default:
		reason += brief.Suggest(key, names)
	}
	d.scan.AddKeyProblem(key, reason)
	d.scan.SkipValue()
}

// fillMissing reports the required fields that were not found, and sets the optional ones to their
// defaults. Hidden fields are not required from a model.
func (d *Decoder) fillMissing(o *object, base int) {
	for i := range o.shape.Fields {
		f := &o.shape.Fields[i]
		if !f.Required && f.Default == "" || d.seen[base+i/64]&(1<<(i%64)) != 0 || f.Required &&
			f.Hidden && d.reply {
			continue
		}
		d.scan.PushName(f.Name)
		if f.Required {
			d.scan.AddProblem("is required and missing")
		} else {
			d.readDefault(o, i)
		}
		d.scan.Pop()
	}
}

// readDefault reads the default of the field at the path in place of a value. It comes from the
// spec, so it is read as on the wire. A default that the field refuses is a problem like a wrong
// value; one that is not JSON ends the pass.
func (d *Decoder) readDefault(o *object, i int) {
	if d.scan.Broken {
		return
	}
	data, pos, reply := d.scan.Data, d.scan.Pos, d.reply
	d.scan.Data, d.scan.Pos, d.reply = []byte(o.shape.Fields[i].Default), 0, false
	o.readField(d, i)
	d.scan.CheckEnd()
	d.scan.Data, d.scan.Pos, d.reply = data, pos, reply
	if d.scan.Broken {
		d.scan.Pos = len(d.scan.Data)
	}
}

// checkItems checks the number of elements.
func (d *Decoder) checkItems(r *Rule, n int) {
	switch {
	case r == nil:
	case r.MinItems != nil && n < *r.MinItems:
		d.scan.AddProblem(fmt.Sprintf("has %d elements: at least %d are needed", n, *r.MinItems))
	case r.MaxItems != nil && n > *r.MaxItems:
		d.scan.AddProblem(fmt.Sprintf("has %d elements: at most %d are allowed", n, *r.MaxItems))
	}
}
