package runtime

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/routegen/routegen/runtime/internal/brief"
	"github.com/routegen/routegen/runtime/internal/format"
	"github.com/routegen/routegen/runtime/internal/jsonscan"
)

// Decoder reads one JSON document in one pass. A [FieldDecoder] gets it and must not keep it. A
// wrong value is reported and skipped, so that one pass finds all problems; only a syntax error
// ends it.
type Decoder struct {
	scan  jsonscan.Scanner
	reply bool // read as DecodeReply does

	root    Record                 // the document's record
	allowed func(name string) bool // which of its branches may be set; nil means all

	seen   []uint64 // stack of bit sets, one per open record: fields found
	picked []int    // stack of indexes: branches set in the open unions

	rule *Rule // of the field whose value comes next
}

var decoders = sync.Pool{New: func() any { return new(Decoder) }}

func newDecoder(data []byte) *Decoder {
	d, _ := decoders.Get().(*Decoder) // the pool holds nothing else
	d.scan.Data = data
	return d
}

// release returns the decoder to the pool, unless the document was large.
func (d *Decoder) release() {
	const usual = 1 << 16
	if !d.scan.Reset() || cap(d.seen) > usual {
		return
	}
	*d = Decoder{scan: d.scan, seen: d.seen[:0], picked: d.picked[:0]}
	decoders.Put(d)
}

// problemsError returns the problems as an error, nil for none.
func (d *Decoder) problemsError(op string) error {
	if len(d.scan.Problems) == 0 {
		return nil
	}
	e := &InvalidError{}
	for _, p := range d.scan.Problems {
		e.Problems = append(e.Problems, Problem(p))
	}
	return Errorf(CodeInvalid, op, "%w", e)
}

// takeRule hands out the rule that waits for the next value, so that no value inside it takes it.
func (d *Decoder) takeRule() *Rule {
	rule := d.rule
	d.rule = nil
	return rule
}

// Decode reads one value into v, a non-nil pointer to a type that a field may have. of is the shape
// of an enum or a named scalar that v, or each element of the list v, is a value of; nil means that
// the type of v says it.
func (d *Decoder) Decode(v any, of *Shape) {
	value := reflect.ValueOf(v).Elem()
	if of == nil {
		readerOf(value.Type())(d, value)
		return
	}
	newReader(value.Type(), of)(d, value)
}

// readText consumes a string and returns its bytes, good until the next string is read.
func (d *Decoder) readText(want string) ([]byte, bool) {
	if d.scan.Peek() != '"' {
		d.scan.WrongType(want)
		return nil, false
	}
	text, reason := d.scan.ReadString()
	if reason != "" {
		d.scan.AddProblem(reason)
		return nil, false
	}
	return text, !d.scan.Broken
}

// readString reads a string, bounded by the rules of the field and of its type.
func readString(named *Rule) reader {
	return func(d *Decoder, v reflect.Value) {
		field := d.takeRule()
		text, ok := d.readText("a string")
		if !ok {
			return
		}
		s := string(text)
		v.SetString(s)
		field.checkText(d, s)
		named.checkText(d, s)
	}
}

// readBool reads true or false.
func readBool(d *Decoder, v reflect.Value) {
	d.takeRule()
	switch d.scan.Peek() {
	case 't':
		v.SetBool(d.scan.ReadLiteral("true"))
	case 'f':
		d.scan.ReadLiteral("false")
		v.SetBool(false)
	default:
		d.scan.WrongType("true or false")
	}
}

// readNumber consumes a number and returns its text, nil if there is none.
func (d *Decoder) readNumber(want string) []byte {
	if c := d.scan.Peek(); c != '-' && (c < '0' || c > '9') {
		d.scan.WrongType(want)
		return nil
	}
	return d.scan.ReadNumber()
}

// readInt reads an integer of 64 bits. 1.0 and 1e2 are integers; 1.5 and what does not fit are
// refused.
func readInt(named *Rule) reader {
	return func(d *Decoder, v reflect.Value) {
		field := d.takeRule()
		text := d.readNumber("an integer")
		if text == nil {
			return
		}
		n, reason := jsonscan.ParseInteger(text)
		if reason != "" {
			d.scan.AddProblem(reason)
			return
		}
		v.SetInt(n)
		field.checkNumber(d, float64(n))
		named.checkNumber(d, float64(n))
	}
}

// readFloat reads a number that a float64 can hold.
func readFloat(named *Rule) reader {
	return func(d *Decoder, v reflect.Value) {
		field := d.takeRule()
		text := d.readNumber("a number")
		if text == nil {
			return
		}
		f, err := strconv.ParseFloat(string(text), 64)
		if err != nil {
			d.scan.AddProblem("is too large for a number of 64 bits")
			return
		}
		v.SetFloat(f)
		field.checkNumber(d, f)
		named.checkNumber(d, f)
	}
}

// readTime reads a time as [format.ParseTime] does.
func readTime(d *Decoder, v reflect.Value) {
	d.takeRule()
	const want = "a time like 2006-01-02T15:04:05Z"
	text, ok := d.readText(want)
	if !ok {
		return
	}
	at, ok := format.ParseTime(string(text))
	if !ok {
		d.scan.AddProblem("is not a time: write it like 2006-01-02T15:04:05Z")
		return
	}
	v.Set(reflect.ValueOf(at).Convert(v.Type()))
}

// readDuration reads a duration as text like 1h30m.
func readDuration(d *Decoder, v reflect.Value) {
	d.takeRule()
	var length Duration
	text, ok := d.readText("a duration like 1h30m")
	switch {
	case !ok:
	case length.UnmarshalText(text) != nil:
		d.scan.AddProblem("is not a duration: write it like 1h30m")
	default:
		v.SetInt(int64(length))
	}
}

// readJSON reads any value and keeps its bytes, copied. Its keys and strings are checked like all
// others; null is a value like any other.
func readJSON(d *Decoder, v reflect.Value) {
	d.takeRule()
	d.scan.Peek()
	start := d.scan.Pos
	if d.scan.SkipValue(); !d.scan.Broken {
		v.SetBytes(append([]byte{}, d.scan.Data[start:d.scan.Pos]...))
	}
}

// readEnum reads one of the values. On the wire the text must be exact and may be hidden; from a
// model a hidden one is refused, and one in another letter case is taken as declared.
func readEnum(values []Field) reader {
	return func(d *Decoder, v reflect.Value) {
		d.takeRule()
		text, ok := d.readText("a string")
		if !ok {
			return
		}
		for i := range values {
			if values[i].Name == string(text) && !(d.reply && values[i].Hidden) {
				v.SetString(values[i].Name)
				return
			}
		}
		var legal []string
		for i := range values {
			if d.reply && values[i].Hidden {
				continue
			}
			if d.reply && strings.EqualFold(values[i].Name, string(text)) {
				v.SetString(values[i].Name)
				return
			}
			legal = append(legal, values[i].Name)
		}
		if len(d.scan.Problems) == jsonscan.MaxProblems {
			return // no further problem is reported
		}
		d.scan.AddProblem(fmt.Sprintf("unknown value %q%s", brief.Shorten(string(text)),
			brief.Suggest(string(text), legal)))
	}
}

// CheckJSON returns [CodeInvalid], with the place of each problem, if data is not exactly one JSON
// value or has an object with the same key twice. The op is that of the error.
func CheckJSON(op string, data []byte) error {
	d := newDecoder(data)
	if d.scan.CheckStart() {
		d.scan.SkipValue()
		d.scan.CheckEnd()
	}
	err := d.problemsError(op)
	d.release()
	return err
}
