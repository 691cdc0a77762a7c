package record

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/routegen/routegen/runtime"
)

// recordType writes and reads the values of one type as encoding/json does, byte for byte, with
// what that looks up for each value looked up once. It knows the types that records have, and
// panics for another one when the program begins.
type recordType struct {
	write func(w *recordWriter, v reflect.Value)
	read  func(r *recordReader, v reflect.Value)
}

// recordField is a field of a struct, or of one that it embeds.
type recordField struct {
	name, key string // key is the name as it is written, with its colon
	holder    []int  // the index of the struct that has it; empty: the record itself
	moved     bool   // the field before has another holder
	at        int    // its index there
	of        *recordType
	omits     func(v reflect.Value) bool // nil: none
}

// fieldHolder returns the struct in v that has the field.
func fieldHolder(v reflect.Value, f *recordField) reflect.Value {
	for _, n := range f.holder {
		v = reflect.Indirect(v.Field(n))
	}
	return v
}

// recordTypes are those of the bodies. They are made once, when the program begins.
var recordTypes = map[reflect.Type]*recordType{
	reflect.TypeFor[*ThreadBody]():    recordTypeOf(reflect.TypeFor[ThreadBody]()),
	reflect.TypeFor[*InterruptBody](): recordTypeOf(reflect.TypeFor[InterruptBody]()),
	reflect.TypeFor[*[]EntryBody]():   recordTypeOf(reflect.TypeFor[[]EntryBody]()),
}

func recordTypeOf(t reflect.Type) *recordType {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &recordType{(*recordWriter).writeTime, (*recordReader).readTime}
	case reflect.TypeFor[json.RawMessage]():
		return &recordType{(*recordWriter).writeRaw, (*recordReader).readRaw}
	}
	switch t.Kind() {
	case reflect.String:
		return &recordType{func(w *recordWriter, v reflect.Value) { w.writeText(v.String()) },
			func(r *recordReader, v reflect.Value) { v.SetString(r.nextText()) }}
	case reflect.Bool:
		return &recordType{func(w *recordWriter, v reflect.Value) {
			w.text = strconv.AppendBool(w.text, v.Bool())
		}, (*recordReader).readBool}
	case reflect.Int, reflect.Int64:
		return &recordType{func(w *recordWriter, v reflect.Value) {
			w.text = strconv.AppendInt(w.text, v.Int(), 10)
		}, (*recordReader).readInt}
	case reflect.Map:
		return &recordType{(*recordWriter).writeCounts, (*recordReader).readCounts}
	case reflect.Pointer:
		return pointerType(recordTypeOf(t.Elem()))
	case reflect.Slice:
		return listType(recordTypeOf(t.Elem()))
	default: // a struct: package reflect panics for what is none
		return structType(t)
	}
}

func pointerType(of *recordType) *recordType {
	return &recordType{func(w *recordWriter, v reflect.Value) { of.write(w, v.Elem()) },
		func(r *recordReader, v reflect.Value) {
			v.Set(reflect.New(v.Type().Elem()))
			of.read(r, v.Elem())
		}}
}

func listType(of *recordType) *recordType {
	return &recordType{func(w *recordWriter, v reflect.Value) {
		w.text = append(w.text, '[')
		for n := range v.Len() {
			if n > 0 {
				w.text = append(w.text, ',')
			}
			of.write(w, v.Index(n))
		}
		w.text = append(w.text, ']')
	}, func(r *recordReader, v reflect.Value) {
		v.SetLen(0)
		for n := range r.readMembers("[", "]") {
			v.Grow(1)
			v.SetLen(n + 1)
			v.Index(n).SetZero()
			of.read(r, v.Index(n))
		}
	}}
}

// structType is a struct whose fields are written in their order. A field of type hidden is neither
// written nor read.
func structType(t reflect.Type) *recordType {
	var fields []recordField
	byName := map[string]*recordField{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "-" || !f.IsExported() || f.Type == reflect.TypeFor[hidden]() {
			continue
		}
		inner := len(f.Index) - 1
		field := recordField{name: name, key: `"` + name + `":`, holder: f.Index[:inner],
			at: f.Index[inner], of: recordTypeOf(f.Type)}
		field.moved = len(fields) == 0 || !slices.Equal(fields[len(fields)-1].holder, field.holder)
		switch {
		case f.Type.Kind() == reflect.Slice, f.Type.Kind() == reflect.Map:
			if options != "" {
				field.omits = func(v reflect.Value) bool { return v.Len() == 0 }
			}
		case f.Type == reflect.TypeFor[time.Time]() && options != "":
			field.omits = func(v reflect.Value) bool { return timeIn(v).IsZero() }
		case options != "":
			field.omits = reflect.Value.IsZero
		}
		fields = append(fields, field)
	}
	for n := range fields {
		byName[fields[n].name] = &fields[n]
	}
	return &recordType{func(w *recordWriter, v reflect.Value) { w.writeFields(fields, v) },
		func(r *recordReader, v reflect.Value) { r.readFields(fields, byName, v) }}
}

// timeIn returns the time in a field.
func timeIn(v reflect.Value) *time.Time {
	at, _ := reflect.TypeAssert[*time.Time](v.Addr())
	return at
}

// recordWriter holds the text of a record, and why it must not be stored.
type recordWriter struct {
	text []byte
	err  error
}

var recordWriters = sync.Pool{New: func() any { return new(recordWriter) }}

func (w *recordWriter) writeFields(fields []recordField, v reflect.Value) {
	begin := byte('{')
	var holder reflect.Value
	for n := range fields {
		f := &fields[n]
		if f.moved {
			holder = fieldHolder(v, f)
		}
		if member := holder.Field(f.at); f.omits == nil || !f.omits(member) {
			w.text = append(append(w.text, begin), f.key...)
			f.of.write(w, member)
			begin = ','
		}
	}
	if begin == '{' {
		w.text = append(w.text, '{')
	}
	w.text = append(w.text, '}')
}

// checkText refuses what is not UTF-8. It is written with replacements.
func (w *recordWriter) checkText(text string) {
	if !utf8.ValidString(text) && w.err == nil {
		w.err = ErrNoText
	}
}

func (w *recordWriter) writeText(text string) {
	for n := range len(text) {
		if c := text[n]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			w.checkText(text)
			w.writeAny(text)
			return
		}
	}
	w.text = append(append(append(w.text, '"'), text...), '"')
}

// writeAny writes what is rare as encoding/json does.
func (w *recordWriter) writeAny(v any) {
	out, err := runtime.Encode(v)
	if w.text = append(w.text, out...); err != nil {
		w.err = err
	}
}

func (w *recordWriter) writeTime(v reflect.Value) {
	var err error
	if w.text, err = timeIn(v).AppendText(append(w.text, '"')); err != nil {
		w.err = err
	}
	w.text = append(w.text, '"')
}

func (w *recordWriter) writeRaw(v reflect.Value) {
	raw := v.Bytes()
	r := recordReader{text: string(raw)}
	if r.skipValue(); r.err == nil && r.at == len(raw) { // compact already
		w.text = append(w.text, raw...)
		return
	}
	w.writeAny(json.RawMessage(raw))
}

func (w *recordWriter) writeCounts(v reflect.Value) {
	counts, _ := reflect.TypeAssert[map[string]int](v)
	for name := range counts {
		w.checkText(name)
	}
	w.writeAny(counts)
}

// recordReader reads compact JSON. Texts without escapes share the memory of the record.
type recordReader struct {
	text  string
	at    int
	depth int   // of a value of any form
	err   error // the first; nothing is read afterwards
}

func (r *recordReader) setError(why string) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d: %s", r.at, why)
	}
	r.at = len(r.text)
}

// takes consumes a text if it comes next.
func (r *recordReader) takes(text string) bool {
	if !strings.HasPrefix(r.text[r.at:], text) {
		return false
	}
	r.at += len(text)
	return true
}

// readMembers yields the number of each element between brackets, before it is read.
func (r *recordReader) readMembers(open, end string) func(yield func(n int) bool) {
	return func(yield func(n int) bool) {
		if !r.takes(open) {
			r.setError("there is no " + open)
			return
		}
		for n := 0; !r.takes(end); n++ {
			if n > 0 && !r.takes(",") || r.at == len(r.text) {
				r.setError("there is no " + end)
				return
			}
			if !yield(n) {
				return
			}
		}
	}
}

func (r *recordReader) readFields(fields []recordField, byName map[string]*recordField,
	v reflect.Value) {
	next := 0
	for range r.readMembers("{", "}") {
		for next < len(fields) && !r.takes(fields[next].key) {
			if next++; next == len(fields) {
				break
			}
		}
		var f *recordField
		if next < len(fields) {
			f = &fields[next]
			next++
		} else if name := r.nextText(); !r.takes(":") {
			r.setError("there is no :")
			return
		} else if f = byName[name]; f == nil {
			r.setError(fmt.Sprintf("unknown field %.60q", name))
			return
		}
		f.of.read(r, fieldHolder(v, f).Field(f.at))
	}
}

// token consumes a string with its quotes. plain reports that it is ASCII without escapes.
func (r *recordReader) token() (text string, plain bool) {
	begin := r.at
	if !r.takes(`"`) {
		r.setError("there is no string")
		return `""`, true
	}
	plain = true
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			return r.text[begin:r.at], plain
		case c == '\\':
			plain = false
			r.at++
		case c < ' ':
			r.setError("a string has a control character")
			return `""`, true
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	r.setError("a string has no end")
	return `""`, true
}

func (r *recordReader) nextText() string {
	text, plain := r.token()
	if inner := text[1 : len(text)-1]; plain || !strings.Contains(inner, `\`) &&
		utf8.ValidString(inner) {
		return inner
	}
	var out string
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		r.setError(err.Error())
	}
	return out
}

func (r *recordReader) readTime(v reflect.Value) {
	var at encoding.TextUnmarshaler = timeIn(v)
	if err := at.UnmarshalText([]byte(r.nextText())); err != nil {
		r.setError(err.Error())
	}
}

func (r *recordReader) readBool(v reflect.Value) {
	if yes := r.takes("true"); yes || r.takes("false") {
		v.SetBool(yes)
	} else {
		r.setError("neither true nor false")
	}
}

// nextNumber consumes the signs of a number.
func (r *recordReader) nextNumber() string {
	begin := r.at
	for r.at < len(r.text) && strings.IndexByte("+-.0123456789Ee", r.text[r.at]) >= 0 {
		r.at++
	}
	return r.text[begin:r.at]
}

func (r *recordReader) readInt(v reflect.Value) {
	n, err := strconv.ParseInt(r.nextNumber(), 10, 64)
	if err != nil {
		r.setError("no integer")
	}
	v.SetInt(n)
}

func (r *recordReader) readRaw(v reflect.Value) {
	begin := r.at
	r.skipValue()
	v.SetBytes([]byte(r.text[begin:r.at]))
}

func (r *recordReader) readCounts(v reflect.Value) {
	begin := r.at
	r.skipValue()
	err := json.Unmarshal([]byte(r.text[begin:r.at]), v.Addr().Interface())
	if err != nil {
		r.setError(err.Error())
	}
}

// skipValue consumes a value of any form, no deeper than encoding/json allows.
func (r *recordReader) skipValue() {
	const most = 10_000
	if r.depth++; r.depth > most {
		r.setError("it is nested too deep")
	}
	defer func() { r.depth-- }()
	switch rest := r.text[r.at:]; {
	case strings.HasPrefix(rest, "{"):
		for range r.readMembers("{", "}") {
			if r.skipString(); !r.takes(":") {
				r.setError("there is no :")
				return
			}
			r.skipValue()
		}
	case strings.HasPrefix(rest, "["):
		for range r.readMembers("[", "]") {
			r.skipValue()
		}
	case strings.HasPrefix(rest, `"`):
		r.skipString()
	case r.takes("null"), r.takes("true"), r.takes("false"):
	default:
		if n := r.nextNumber(); !json.Valid([]byte(n)) {
			r.setError("no value")
		}
	}
}

func (r *recordReader) skipString() {
	if text, plain := r.token(); !plain && !json.Valid([]byte(text)) {
		r.setError("no string")
	}
}
