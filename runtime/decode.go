package runtime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Decoder reads one JSON document in one pass. Generated code gets it in DecodeField and hands it to one Decode function, which consumes
// exactly one value; it must not keep it. A wrong value is noted and skipped, so that one run finds all problems; only a syntax error ends it.
type Decoder struct {
	data  []byte
	pos   int
	depth int
	reply bool // read as DecodeReply does

	root    Record                 // the document's record
	allowed func(name string) bool // which of its branches may be set; nil means all

	broken    bool // syntax error: nothing can be read any more
	malformed bool // the keys are wrong: judged before anything else
	problems  []Problem

	path   []step
	seen   []uint64 // stack of bit sets, one per open record: fields found
	picked []int    // stack of indexes: branches set in the open unions
	text   []byte   // the last string with escapes

	rule  *Rule // of the field whose value comes next
	inner *Rule // of the named scalar whose value comes next
}

// step is one token of a JSON pointer: a name, or an index when that is not negative.
type step struct {
	name  string
	index int
}

const (
	maxProblems = 20
	twiceReason = "is there twice: keep one"
)

var decoders = sync.Pool{New: func() any { return new(Decoder) }}

func borrow(data []byte) *Decoder {
	d, _ := decoders.Get().(*Decoder) // the pool holds nothing else
	d.data = data
	return d
}

// giveBack clears what belongs to the document and keeps the memory, unless the document was of unusual size.
func (d *Decoder) giveBack() {
	const usual = 1 << 16
	if cap(d.text) > usual || cap(d.seen) > usual {
		return
	}
	*d = Decoder{path: d.path[:0], seen: d.seen[:0], picked: d.picked[:0], text: d.text[:0]}
	decoders.Put(d)
}

// verdict returns what the noted problems amount to.
func (d *Decoder) verdict(op string) error {
	if len(d.problems) == 0 {
		return nil
	}
	return refuse(CodeInvalid, op, &InvalidError{Problems: d.problems})
}

// problem notes something wrong with the value at the path.
func (d *Decoder) problem(reason string) {
	if !d.broken && len(d.problems) < maxProblems {
		d.problems = append(d.problems, Problem{Pointer: d.pointer(), Reason: reason})
	}
}

// badKey notes something wrong with a key of the object at the path, and that the document is malformed.
func (d *Decoder) badKey(name, reason string) {
	d.malformed = true
	d.path = append(d.path, step{name: shortened(name), index: -1})
	d.problem(reason)
	d.path = d.path[:len(d.path)-1]
}

// fail notes a problem after which nothing can be read any more.
func (d *Decoder) fail(reason string) {
	d.problem(reason)
	d.broken, d.malformed, d.pos = true, true, len(d.data)
}

// syntax fails with what was expected at this byte.
func (d *Decoder) syntax(want string) {
	if d.pos >= len(d.data) {
		d.fail("ends too early: expected " + want)
		return
	}
	d.fail(fmt.Sprintf("expected %s at byte %d, found %q", want, d.pos, d.data[d.pos]))
}

// mismatch notes a value of the wrong type and skips it.
func (d *Decoder) mismatch(want string) {
	var found string
	switch c := d.peek(); c {
	case '"':
		found = "a string"
	case '{':
		found = "an object"
	case '[':
		found = "an array"
	case 't', 'f':
		found = "a boolean"
	case 'n':
		d.problem("is required, found null: give " + want)
		d.skip()
		return
	default:
		if found = "a number"; c != '-' && (c < '0' || c > '9') {
			d.syntax(want)
			return
		}
	}
	d.problem("expected " + want + ", found " + found)
	d.skip()
}

var escapeToken = strings.NewReplacer("~", "~0", "/", "~1")

// pointer returns the path as a JSON pointer.
func (d *Decoder) pointer() string {
	var b strings.Builder
	for _, s := range d.path {
		b.WriteByte('/')
		if s.index >= 0 {
			b.WriteString(strconv.Itoa(s.index))
		} else {
			b.WriteString(escapeToken.Replace(s.name))
		}
	}
	return b.String()
}

// rules hands out the rules that wait for the next value, so that no value inside it takes them.
func (d *Decoder) rules() (field, named *Rule) {
	field, named = d.rule, d.inner
	d.rule, d.inner = nil, nil
	return field, named
}

// chars consumes a string and returns its bytes, good until the next string is read.
func (d *Decoder) chars(want string) ([]byte, bool) {
	if d.peek() != '"' {
		d.mismatch(want)
		return nil, false
	}
	text, reason := d.quoted()
	if reason != "" {
		d.problem(reason)
		return nil, false
	}
	return text, !d.broken
}

// DecodeString reads a string.
func DecodeString[T ~string](d *Decoder, v *T) {
	field, named := d.rules()
	text, ok := d.chars("a string")
	if !ok {
		return
	}
	s := string(text)
	*v = T(s)
	if field != nil {
		field.checkText(d, s)
	}
	if named != nil {
		named.checkText(d, s)
	}
}

// DecodeBool reads true or false.
func DecodeBool[T ~bool](d *Decoder, v *T) {
	d.rules()
	switch d.peek() {
	case 't':
		*v = T(d.literal("true"))
	case 'f':
		d.literal("false")
		*v = false
	default:
		d.mismatch("true or false")
	}
}

// DecodeInt reads an integer of 64 bits. 1.0 and 1e2 are integers; 1.5 and what does not fit are refused.
func DecodeInt[T ~int64](d *Decoder, v *T) {
	field, named := d.rules()
	if c := d.peek(); c != '-' && (c < '0' || c > '9') {
		d.mismatch("an integer")
		return
	}
	text := d.number()
	if text == nil {
		return
	}
	n, reason := integer(text)
	if reason != "" {
		d.problem(reason)
		return
	}
	*v = T(n)
	if field != nil {
		field.checkNumber(d, float64(n))
	}
	if named != nil {
		named.checkNumber(d, float64(n))
	}
}

// DecodeFloat reads a number that a float64 can hold.
func DecodeFloat[T ~float64](d *Decoder, v *T) {
	field, named := d.rules()
	if c := d.peek(); c != '-' && (c < '0' || c > '9') {
		d.mismatch("a number")
		return
	}
	text := d.number()
	if text == nil {
		return
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		d.problem("is too large for a number of 64 bits")
		return
	}
	*v = T(f)
	if field != nil {
		field.checkNumber(d, f)
	}
	if named != nil {
		named.checkNumber(d, f)
	}
}

// DecodeTime reads a time as RFC 3339 text, with date, time and offset; t and z may be small letters. A leap second is refused.
func DecodeTime(d *Decoder, v *time.Time) {
	d.rules()
	const want = "a time like 2006-01-02T15:04:05Z"
	if text, ok := d.chars(want); ok && v.UnmarshalText(text) != nil && v.UnmarshalText(bytes.ToUpper(text)) != nil {
		d.problem("is not a time: write it like 2006-01-02T15:04:05Z")
	}
}

// DecodeDuration reads a duration as text like 1h30m.
func DecodeDuration(d *Decoder, v *Duration) {
	d.rules()
	if text, ok := d.chars("a duration like 1h30m"); ok && v.UnmarshalText(text) != nil {
		d.problem("is not a duration: write it like 1h30m")
	}
}

// DecodeJSON reads any value and keeps its bytes, copied. Its keys and strings are checked like all others; null is a value like any other.
func DecodeJSON(d *Decoder, v *json.RawMessage) {
	d.rules()
	d.peek()
	start := d.pos
	if d.skip(); !d.broken {
		*v = append(json.RawMessage{}, d.data[start:d.pos]...)
	}
}

// DecodeEnum reads one of values. On the wire the text must be exact and may be hidden; from a model a hidden one is refused, and one in
// another letter case is taken as declared.
func DecodeEnum[T ~string](d *Decoder, v *T, values []EnumValue) {
	d.rules()
	text, ok := d.chars("a string")
	if !ok {
		return
	}
	for i := range values {
		if values[i].Value == string(text) && !(d.reply && values[i].Hidden) {
			*v = T(values[i].Value)
			return
		}
	}
	var legal []string
	for i := range values {
		if d.reply && values[i].Hidden {
			continue
		}
		if d.reply && strings.EqualFold(values[i].Value, string(text)) {
			*v = T(values[i].Value)
			return
		}
		legal = append(legal, values[i].Value)
	}
	if len(d.problems) == maxProblems {
		return // a hint costs time, and nobody would read it
	}
	hint := didYouMean(nearest(string(text), legal))
	if hint == "" {
		hint = ": use one of " + listed(legal)
	}
	d.problem(fmt.Sprintf("unknown value %q%s", shortened(string(text)), hint))
}

// DecodeRuled reads a value with elem and holds it to rule, beside the rule of its field. It is how named scalars carry their constraints.
func DecodeRuled[T any](d *Decoder, v *T, rule *Rule, elem func(*Decoder, *T)) {
	d.inner = rule
	elem(d, v)
}
