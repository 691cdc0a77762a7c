package sqlite

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// stored are the fields of a sealed body, by type. A field is known by its place in the list,
// counted from 1. Lists are part of the stored form: they only grow, at their end, and with a
// migration, if only one of the version, so that no older program misreads a file. What stands in
// columns is not repeated.
var stored = map[reflect.Type][]int{
	typeFor[thread.Thread](): fieldIndexes[thread.Thread](
		"Version Seq User Created Turn Made Frames Control Modify EarlyAnswers Lease Over Result " +
			"Failure ForkedFrom Reroutes Metadata Previous"),
	typeFor[thread.Frame](): fieldIndexes[thread.Frame](
		"ID Parent Machine Name PC Visit Visits Input Locals Context State Until HeldBy Attempts " +
			"Forgiven Effects Replies Children RouteTo"),
	typeFor[thread.Effect](): fieldIndexes[thread.Effect]("Name State Value"),
	typeFor[thread.Reply](): fieldIndexes[thread.Reply](
		"Name Interrupt Digest Value By RouteTo"),
	typeFor[thread.Child](): fieldIndexes[thread.Child](
		"Frame Name Done Skipped Value Failure"),
	typeFor[thread.Attempt](): fieldIndexes[thread.Attempt]("At Code Text"),
	typeFor[thread.Failure](): fieldIndexes[thread.Failure]("Code Text"),
	typeFor[thread.Control](): fieldIndexes[thread.Control](
		"Mode By Reason At Paused Interrupt"),
	typeFor[thread.EarlyAnswer](): fieldIndexes[thread.EarlyAnswer]("Name Value By Request"),
	typeFor[thread.Reroute]():     fieldIndexes[thread.Reroute]("ID Frame Target State Event By"),
	typeFor[thread.Lease]():       fieldIndexes[thread.Lease]("Owner Fence Until"),
	typeFor[thread.Fork]():        fieldIndexes[thread.Fork]("Thread Seq"),
	typeFor[thread.Choice]():      fieldIndexes[thread.Choice]("Label Value Description"),
	typeFor[thread.Vote]():        fieldIndexes[thread.Vote]("By Value At"),
	typeFor[runtime.Deadline](): fieldIndexes[runtime.Deadline](
		"After Then Answer Assignee Target Reminder"),
	typeFor[thread.Question](): fieldIndexes[thread.Question](
		"Name Text Type Payload Schema Choices Plain Language Targets Assignees NotOwn Quorum " +
			"Deadline"),
	typeFor[thread.Interrupt](): fieldIndexes[thread.Interrupt](
		"Frame Step Visit Priority State Question Digest Context Created Due RemindAt " +
			"RemindBefore EscalatedTo Asks " +
			"AskedFor ClaimedBy Votes Answer RouteTo AnsweredBy Request ClosedAt SupersededBy Clashes"),
	typeFor[thread.Entry](): fieldIndexes[thread.Entry](
		"Seq At Type By Frame Parent Machine Name PC State Kind Interrupt Other RouteTo Text " +
			"Request Until Value Failure End Rest"),
}

func typeFor[T any]() reflect.Type { return reflect.TypeFor[T]() }

func fieldIndexes[T any](names string) (at []int) {
	for name := range strings.FieldsSeq(names) {
		f, _ := typeFor[T]().FieldByName(name) // a test holds the lists to the types
		at = append(at, f.Index[0])
	}
	return at
}

// words are texts that a body says in one byte. The list only grows, at its end.
var words = strings.Fields(
	"started entered effect stepped shows calling returned failed again asked opened queued " +
		"superseded answered voted " +
		"reasked expired cancelled claimed extended reminded escalated escape paused resumed " +
		"modified held taken over message idle running waiting " +
		"done handed_off ready asking retrying open intended in_doubt safe now user_escape " +
		"agent_question system_error text yes_no choice skipped " +
		"workflow dialogue policy expire default escalate reroute cancel f1 f2 f3 f4 metadata")

var wordAt = func() map[string]uint64 {
	at := make(map[string]uint64, len(words))
	for n, w := range words {
		at[w] = uint64(n)
	}
	return at
}()

var (
	errDamaged = runtime.Errorf(runtime.CodeInternal, "", "the record is damaged")
	errNoJSON  = errors.New("a value is not JSON")
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// seal encodes what v points to, with a checksum over it and what it belongs to. v is only read. It
// returns errNoJSON for invalid JSON, since a list with it could not be encoded.
func seal(v any, belongs ...string) ([]byte, error) {
	c := codec{buf: make([]byte, 0, 512)}
	c.codeValue(reflect.ValueOf(v).Elem())
	if c.bad {
		return nil, errNoJSON
	}
	return binary.LittleEndian.AppendUint32(c.buf, checksum(c.buf, belongs)), nil
}

// unseal decodes into v what seal returned, and keeps references to data. It returns errDamaged for
// other bytes, and for those of another owner.
func unseal(data []byte, v any, belongs ...string) error {
	end := len(data) - 4
	if end < 0 || binary.LittleEndian.Uint32(data[end:]) != checksum(data[:end], belongs) {
		return errDamaged
	}
	c := codec{reading: true, buf: data[:end], text: string(data[:end])}
	c.codeValue(reflect.ValueOf(v).Elem())
	if c.bad || len(c.buf) > 0 {
		return errDamaged
	}
	return nil
}

func checksum(body []byte, belongs []string) uint32 {
	sum := crc32.Checksum(body, castagnoli)
	for _, b := range belongs {
		sum = crc32.Update(sum, castagnoli, binary.AppendUvarint(nil, uint64(len(b))))
		sum = crc32.Update(sum, castagnoli, []byte(b))
	}
	return sum
}

// codec writes a value, or reads one; both use the same walk, so that they cannot differ. A struct
// is written as its fields that are not zero, each with its number, and a 0. JSON is copied byte
// for byte.
type codec struct {
	reading, bad bool
	buf          []byte // what is written, or still to be read
	text         string // all that was to be read: strings are cut out of it without a copy each
	last         int64  // the time before: a time is the way from there, in milliseconds
}

func (c *codec) codeValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if at, ok := reflect.TypeAssert[*time.Time](v.Addr()); ok {
			c.codeTime(at)
		} else {
			c.codeFields(v, stored[v.Type()])
		}
	case reflect.String:
		if w := c.codeText(v.String()); c.reading {
			v.SetString(w)
		}
	case reflect.Int, reflect.Int64:
		if n := c.codeVarint(v.Int()); c.reading {
			v.SetInt(n)
		}
	case reflect.Bool: // it is there, so it is true
		if c.reading {
			v.SetBool(true)
		}
	case reflect.Pointer:
		if c.reading {
			v.Set(reflect.New(v.Type().Elem()))
		}
		c.codeValue(v.Elem())
	case reflect.Slice:
		c.codeSlice(v)
	default:
		c.codeVisits(v.Addr().Interface())
	}
}

func (c *codec) codeFields(v reflect.Value, at []int) {
	for n, i := range at {
		f := v.Field(i)
		switch {
		case c.reading:
			if len(c.buf) == 0 || c.buf[0] != byte(n+1) {
				continue
			}
			c.buf = c.buf[1:]
		case f.IsZero():
			continue
		default:
			c.buf = append(c.buf, byte(n+1))
		}
		c.codeValue(f)
	}
	if c.codeUvarint(0) != 0 { // a field that is not known
		c.bad, c.buf = true, nil
	}
}

func (c *codec) codeSlice(v reflect.Value) {
	n := c.codeUvarint(uint64(v.Len()))
	switch bytes := v.Type().Elem().Kind() == reflect.Uint8; {
	case bytes && c.reading:
		v.SetBytes(c.takeBytes(n))
		return
	case bytes:
		// every []byte of a record is JSON, and an empty one is absent
		c.bad = c.bad || n > 0 && !json.Valid(v.Bytes())
		c.buf = append(c.buf, v.Bytes()...)
		return
	case c.reading:
		n = min(n, uint64(len(c.buf))) // no item takes nothing
		v.Set(reflect.MakeSlice(v.Type(), int(n), int(n)))
	}
	for i := range int(n) {
		c.codeValue(v.Index(i))
	}
}

func (c *codec) codeVisits(v any) {
	m, ok := v.(*map[string]int)
	if !ok {
		c.bad = true
		return
	}
	keys := slices.Sorted(maps.Keys(*m))
	n := c.codeUvarint(uint64(len(keys)))
	if c.reading {
		*m = map[string]int{}
		keys = make([]string, min(n, uint64(len(c.buf))))
	}
	for _, k := range keys {
		k = c.codeText(k)
		if times := c.codeVarint(int64((*m)[k])); c.reading {
			(*m)[k] = int(times)
		}
	}
}

// codeTime codes t as the difference to the previous time in milliseconds, followed by the
// nanoseconds if there are any. Times round-trip exactly.
func (c *codec) codeTime(t *time.Time) {
	ms := t.UnixMilli()
	fine := t.Sub(time.UnixMilli(ms))
	way := (ms - c.last) << 1
	if fine != 0 {
		way |= 1
	}
	if way = c.codeVarint(way); way&1 != 0 {
		fine = time.Duration(c.codeUvarint(uint64(fine)))
	}
	c.last += way >> 1
	if c.reading {
		*t = time.UnixMilli(c.last).UTC()
		if way&1 != 0 {
			*t = t.Add(fine)
		}
	}
}

// codeText codes a text as an index into words, as the bytes of a hexadecimal text, or as it is.
func (c *codec) codeText(v string) string {
	const plain, known, hexed, kinds = 0, 1, 2, 3
	if c.reading {
		n := c.codeUvarint(0)
		switch {
		case n%kinds == plain:
			from := len(c.text) - len(c.buf)
			return c.text[from : from+len(c.takeBytes(n/kinds))]
		case n%kinds == hexed:
			return hex.EncodeToString(c.takeBytes(n / kinds))
		case n/kinds < uint64(len(words)):
			return words[n/kinds]
		}
		c.bad = true
		return ""
	}
	if len(v) < 15 {
		if n, ok := wordAt[v]; ok {
			c.codeUvarint(n*kinds + known)
			return v
		}
	} else if raw, err := hex.DecodeString(v[:min(len(v), 128)]); err == nil &&
		hex.EncodeToString(raw) == v {
		c.codeUvarint(uint64(len(raw))*kinds + hexed)
		c.buf = append(c.buf, raw...)
		return v
	}
	c.codeUvarint(uint64(len(v)) * kinds)
	c.buf = append(c.buf, v...)
	return v
}

func (c *codec) codeVarint(v int64) int64 {
	u := c.codeUvarint(uint64(v)<<1 ^ uint64(v>>63))
	return int64(u>>1) ^ -int64(u&1)
}

func (c *codec) codeUvarint(v uint64) uint64 {
	if !c.reading {
		c.buf = binary.AppendUvarint(c.buf, v)
		return v
	}
	v, n := binary.Uvarint(c.buf)
	c.takeBytes(uint64(max(n, 0)))
	c.bad = c.bad || n <= 0
	return v
}

// takeBytes removes n bytes from what is left to read.
func (c *codec) takeBytes(n uint64) []byte {
	if n > uint64(len(c.buf)) {
		c.bad, n = true, uint64(len(c.buf))
	}
	out := c.buf[:n:n]
	c.buf = c.buf[n:]
	return out
}
