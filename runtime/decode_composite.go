package runtime

import "fmt"

// DecodeRecord reads an object into the fields of v. A union inside another record must have exactly one branch set.
func DecodeRecord[T any, P interface {
	*T
	Record
}](d *Decoder, v *T) {
	d.record(P(v))
}

// DecodeNew reads an object into a new T. Null never reaches it for an optional field, which then stays nil; for a required one it is
// refused. It is DecodePointer for records, in one instance a type instead of two: generated code holds one for every record.
func DecodeNew[T any, P interface {
	*T
	Record
}](d *Decoder, v *P) {
	p := P(new(T))
	d.record(p)
	*v = p
}

// DecodePointer reads a value with elem into a new T. Null never reaches it for an optional field, which then stays nil; for a required one
// elem refuses it.
func DecodePointer[T any](d *Decoder, v **T, elem func(*Decoder, *T)) {
	p := new(T)
	elem(d, p)
	*v = p
}

// DecodeList reads an array, each element with elem. The list is never nil, but for null on the wire.
func DecodeList[T any](d *Decoder, v *[]T, elem func(*Decoder, *T)) {
	field, named := d.rules()
	if d.null() || !d.enter('[', "an array") {
		return
	}
	list := []T{}
	for d.more(']', len(list) == 0) {
		if len(list) == cap(list) {
			list = append(make([]T, 0, max(4, 2*len(list))), list...)
		}
		n := len(list)
		list = list[:n+1]
		d.path = append(d.path, step{index: n})
		elem(d, &list[n])
		d.path = d.path[:len(d.path)-1]
	}
	d.depth--
	*v = list
	d.checkItems(field, named, len(list))
}

// DecodeMap reads an object, each value with elem; from a model also an array of {"key": ..., "value": ...} objects, which is how a map is
// written for providers that accept no free keys. A key that is there twice is refused. The map is never nil, but for null on the wire.
func DecodeMap[T any](d *Decoder, v *map[string]T, elem func(*Decoder, *T)) {
	field, named := d.rules()
	if d.null() {
		return
	}
	m := map[string]T{}
	put := func(key string, value T) {
		if _, twice := m[key]; twice {
			d.badKey(key, twiceReason)
		}
		m[key] = value
	}
	if d.reply && d.peek() == '[' {
		d.enter('[', "an array")
		for n := 0; d.more(']', n == 0); n++ {
			var value T
			d.path = append(d.path, step{index: n})
			key, ok := d.entry(func() { elem(d, &value) })
			d.path = d.path[:len(d.path)-1]
			if ok {
				put(key, value)
			}
		}
	} else {
		if !d.enter('{', "an object") {
			return
		}
		for first := true; d.more('}', first); first = false {
			key, ok := d.key()
			if !ok {
				break
			}
			name := string(key)
			var value T
			d.path = append(d.path, step{name: name, index: -1})
			elem(d, &value)
			d.path = d.path[:len(d.path)-1]
			put(name, value)
		}
	}
	d.depth--
	*v = m
	d.checkItems(field, named, len(m))
}

var entryShape = Shape{Name: "entry", Fields: []Field{{Name: "key", Required: true}, {Name: "value", Required: true}}}

// entry is one {"key": ..., "value": ...} object of a map.
type entry struct {
	key   string
	value func()
}

// Shape implements Record.
func (*entry) Shape() *Shape { return &entryShape }

// DecodeField implements Record.
func (e *entry) DecodeField(d *Decoder, name string) {
	if name == "key" {
		DecodeString(d, &e.key)
		return
	}
	e.value()
}

// entry reads one entry of a map. It reports whether the entry can be used.
func (d *Decoder) entry(value func()) (key string, ok bool) {
	e, before := entry{value: value}, len(d.problems)
	d.object(&e)
	return e.key, len(d.problems) == before
}

// null consumes a null that stands for an empty list or map, which only the wire may have.
func (d *Decoder) null() bool {
	return !d.reply && d.peek() == 'n' && d.literal("null")
}

// record reads an object that is no whole document: the verdict on a union is a problem like any other.
func (d *Decoder) record(v Record) {
	base := len(d.picked)
	if d.object(v) && !d.broken {
		if s := v.Shape(); s.Union && len(d.picked) != base+1 {
			e := SelectionError{Routing: s.Name, Set: s.picked(d.picked[base:]), Allowed: s.names()}
			d.problem(e.Error())
		}
	}
	d.picked = d.picked[:base]
}

// object reads an object into v. It reports whether there was one.
func (d *Decoder) object(v Record) bool {
	d.rules()
	if !d.enter('{', "an object") {
		return false
	}
	s, base, next := v.Shape(), len(d.seen), 0
	for range (len(s.Fields) + 63) / 64 {
		d.seen = append(d.seen, 0)
	}
	for first := true; d.more('}', first); first = false {
		key, ok := d.key()
		if !ok {
			break
		}
		i := s.find(key, next)
		if i < 0 {
			d.unknown(v, string(key))
			continue
		}
		next = i + 1
		d.path = append(d.path, step{name: s.Fields[i].Name, index: -1})
		d.field(v, s, i, &d.seen[base+i/64])
		d.path = d.path[:len(d.path)-1]
	}
	if !s.Union && !d.broken {
		d.missing(v, s, base)
	}
	d.seen = d.seen[:base]
	d.depth--
	return true
}

// field reads the value of field i. seen is the word that holds its bit; it may move once the value is read.
func (d *Decoder) field(v Record, s *Shape, i int, seen *uint64) {
	f, bit := &s.Fields[i], uint64(1)<<(i%64)
	if *seen&bit != 0 {
		d.malformed = true
		d.problem(twiceReason)
		d.skip()
		return
	}
	*seen |= bit
	if f.Hidden && d.reply {
		d.problem("must not be given here: leave it out")
		d.skip()
		return
	}
	if !f.Required && d.peek() == 'n' {
		if d.literal("null") && f.Default != "" {
			d.absent(v, f)
		}
		return
	}
	if s.Union {
		d.picked = append(d.picked, i)
	}
	d.rule = f.Rule
	v.DecodeField(d, f.Name)
	d.rule, d.inner = nil, nil
}

// unknown notes a key that the shape has not, with the key that was probably meant, and skips its value.
func (d *Decoder) unknown(v Record, key string) {
	if len(d.problems) == maxProblems { // a hint costs time, and nobody would read it
		d.malformed = true
		d.skip()
		return
	}
	s, names := v.Shape(), d.offered(v)
	near := nearest(key, names)
	reason := "unknown key of " + s.Name + didYouMean(near)
	switch {
	case near == "" && s.Union && key == wrapper && d.reply && len(d.path) == 0:
		reason = `"` + wrapper + `" wraps a whole reply and must be its only key`
	case near == "" && s.Union && key == wrapper: // on the wire, or wrapped already
		reason = `"` + wrapper + `" is the wrapper of models' replies: write the branch without it`
	case near == "":
		reason += ": use " + listed(names)
	}
	d.badKey(key, reason)
	d.skip()
}

// missing notes the required fields that were not found, and gives the optional ones their defaults. A model is never asked for a
// hidden one.
func (d *Decoder) missing(v Record, s *Shape, base int) {
	for i := range s.Fields {
		f := &s.Fields[i]
		if !f.Required && f.Default == "" || d.seen[base+i/64]&(1<<(i%64)) != 0 || f.Required && f.Hidden && d.reply {
			continue
		}
		d.path = append(d.path, step{name: f.Name, index: -1})
		if f.Required {
			d.problem("is required and missing")
		} else {
			d.absent(v, f)
		}
		d.path = d.path[:len(d.path)-1]
	}
}

// absent reads the default of the field at the path in place of a value. It is the spec's word and no model's, so it is read as on the
// wire. A default that the field refuses is a problem like a wrong value; one that is no JSON breaks the document, so that it is seen.
func (d *Decoder) absent(v Record, f *Field) {
	if d.broken {
		return
	}
	data, pos, reply := d.data, d.pos, d.reply
	d.data, d.pos, d.reply = []byte(f.Default), 0, false
	d.rule = f.Rule
	v.DecodeField(d, f.Name)
	d.rule, d.inner = nil, nil
	d.end()
	d.data, d.pos, d.reply = data, pos, reply
	if d.broken {
		d.pos = len(d.data)
	}
}

// checkItems holds the number of elements to the rules.
func (d *Decoder) checkItems(field, named *Rule, n int) {
	for _, r := range [...]*Rule{field, named} {
		switch {
		case r == nil:
		case r.MinItems != nil && n < *r.MinItems:
			d.problem(fmt.Sprintf("has %d elements: at least %d are needed", n, *r.MinItems))
		case r.MaxItems != nil && n > *r.MaxItems:
			d.problem(fmt.Sprintf("has %d elements: at most %d are allowed", n, *r.MaxItems))
		}
	}
}
