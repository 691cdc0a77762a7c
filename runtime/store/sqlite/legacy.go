package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/routegen/routegen/runtime/store/internal/record"
	"github.com/routegen/routegen/runtime/thread"
)

// lastBinary is the last version of the file that has the records in a binary form, in columns
// named body. What is here reads it, for the migration to the next one.
const lastBinary = 3

// legacyRows are, by the table, the query for the row after a number: its number, its body, and
// what the body belongs to.
var legacyRows = []struct {
	table, next string
	convert     func(data []byte, belongs []string) (record.Body, error)
}{
	{"thread", `SELECT n, body, id, coalesce((SELECT fingerprint FROM shape WHERE n = shape), '')
		FROM thread WHERE n > ? ORDER BY n LIMIT 1`,
		converter(func(t *thread.Thread) any { return &record.ThreadBody{Thread: t} })},
	{"interrupt", `SELECT i.n, i.body, i.id, t.id, i.kind, i.node FROM interrupt i
		CROSS JOIN thread t ON t.n = i.thread WHERE i.n > ? ORDER BY i.n LIMIT 1`,
		converter(func(i *thread.Interrupt) any { return &record.InterruptBody{Interrupt: i} })},
	{"log", `SELECT l.n, l.body, t.id FROM log l
		CROSS JOIN thread t ON t.n = l.thread WHERE l.n > ? ORDER BY l.n LIMIT 1`,
		converter(func(list *[]thread.Entry) any { return record.EntryBodies(*list) })},
}

func converter[T any](stored func(*T) any) func([]byte, []string) (record.Body, error) {
	return func(data []byte, belongs []string) (record.Body, error) {
		v := new(T)
		if err := unsealLegacy(data, v, belongs...); err != nil {
			return record.Body{}, err
		}
		b, err := record.Encode(stored(v), belongs...)
		if errors.Is(err, record.ErrNoText) { // it was stored with replacements
			err = nil
		}
		return b, err
	}
}

// migrateBodies writes each record again, with one row at a time in memory. A damaged one keeps its
// bytes, and is refused as before.
func (s *Store) migrateBodies(ctx context.Context) error {
	for _, q := range legacyRows {
		err := s.runQuery(ctx, "ALTER TABLE "+q.table+" ADD COLUMN json TEXT NOT NULL DEFAULT '';"+
			"ALTER TABLE "+q.table+" ADD COLUMN crc INTEGER NOT NULL DEFAULT 0")
		for row := []driver.Value{int64(0)}; err == nil && row != nil; {
			if row, err = s.writer.queryRow(ctx, q.next, row[0]); row != nil && err == nil {
				err = s.migrateBody(ctx, q.table, row, q.convert)
			}
		}
		if err == nil { // from here on an older program that has the file open gets errors
			err = s.runQuery(ctx, "ALTER TABLE "+q.table+" DROP COLUMN body")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) migrateBody(ctx context.Context, table string, row []driver.Value,
	convert func([]byte, []string) (record.Body, error)) error {
	data, _ := row[1].([]byte)
	var belongs []string
	for _, v := range row[2:] {
		belongs = append(belongs, textValue(v))
	}
	b, err := convert(data, belongs)
	var text any = b.JSON
	if err != nil {
		s.log.ErrorContext(ctx, "a record is damaged and stays as it is", "table", table, "row",
			row[0], "of", belongs[0], "error", err)
		text, b.CRC = data, -1 // no text has that
	}
	_, _, err = s.writer.exec(ctx, "UPDATE "+table+" SET json = ?, crc = ?, body = '' WHERE n = ?",
		text, b.CRC, row[0])
	return err
}

// legacyFields are the fields of a body, by the name of its type, in the order of their numbers,
// which begin with 1.
var legacyFields = sync.OnceValue(func() map[string][]string {
	fields := map[string][]string{}
	for list := range strings.SplitSeq("Thread Version Seq User Created Turn Made Frames Control "+
		"Modify EarlyAnswers Lease Over Result Failure ForkedFrom Reroutes Metadata Previous;"+
		"Frame ID Parent Machine Name PC Visit Visits Input Locals Context State Until HeldBy "+
		"Attempts Forgiven Effects Replies Children RouteTo;Effect Name State Value;"+
		"Reply Name Interrupt Digest Value By RouteTo;Attempt At Code Text;Failure Code Text;"+
		"Child Frame Name Done Skipped Value Failure;Control Mode By Reason At Paused Interrupt;"+
		"EarlyAnswer Name Value By Request;Reroute ID Frame Target State Event By;"+
		"Lease Owner Fence Until;Fork Thread Seq;Choice Label Value Description;Vote By Value At;"+
		"Deadline After Then Answer Assignee Target Reminder;Question Name Text Type Payload "+
		"Schema Choices Plain Language Targets Assignees NotOwn Quorum Deadline;Interrupt Frame "+
		"Step Visit Priority State Question Digest Context Created Due RemindAt RemindBefore "+
		"EscalatedTo Asks AskedFor ClaimedBy Votes Answer RouteTo AnsweredBy Request ClosedAt "+
		"SupersededBy Clashes;Entry Seq At Type By Frame Parent Machine Name PC State Kind "+
		"Interrupt Other RouteTo Text Request Until Value Failure End Rest", ";") {
		names := strings.Fields(list)
		fields[names[0]] = names[1:]
	}
	return fields
})

// legacyWords are texts that a body says in one byte.
var legacyWords = strings.Fields("started entered effect stepped shows calling returned failed " +
	"again asked opened queued superseded answered voted reasked expired cancelled claimed " +
	"extended reminded escalated escape paused resumed modified held taken over message idle " +
	"running waiting done handed_off ready asking retrying open intended in_doubt safe now " +
	"user_escape agent_question system_error text yes_no choice skipped workflow dialogue policy " +
	"expire default escalate reroute cancel f1 f2 f3 f4 metadata")

// unsealLegacy decodes a body into v. It returns ErrDamaged for other bytes, and for those of
// another owner.
func unsealLegacy(data []byte, v any, belongs ...string) error {
	end := len(data) - 4
	if end < 0 ||
		int64(binary.LittleEndian.Uint32(data[end:])) != record.Checksum(data[:end], belongs) {
		return record.ErrDamaged
	}
	r := legacyReader{buf: data[:end]}
	r.unpackValue(reflect.ValueOf(v).Elem())
	if r.bad || len(r.buf) > 0 {
		return record.ErrDamaged
	}
	return nil
}

// legacyReader reads a value. A struct is its fields but zero ones, each with its number, and a 0.
type legacyReader struct {
	bad  bool
	buf  []byte // what is still to be read
	last int64  // the time before: a time is the way from there, in milliseconds
}

func (r *legacyReader) unpackValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if at, ok := reflect.TypeAssert[*time.Time](v.Addr()); ok {
			*at = r.unpackTime()
		} else {
			r.unpackFields(v)
		}
	case reflect.String:
		v.SetString(r.unpackText())
	case reflect.Int, reflect.Int64:
		v.SetInt(r.unpackVarint())
	case reflect.Bool: // it is there, so it is true
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.unpackValue(v.Elem())
	case reflect.Slice:
		n := r.unpackUvarint()
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes(r.takeBytes(n))
			return
		}
		n = min(n, uint64(len(r.buf))) // no item takes nothing
		v.Set(reflect.MakeSlice(v.Type(), int(n), int(n)))
		for i := range int(n) {
			r.unpackValue(v.Index(i))
		}
	case reflect.Map:
		visits := map[string]int{}
		for range min(r.unpackUvarint(), uint64(len(r.buf))) {
			name := r.unpackText()
			visits[name] = int(r.unpackVarint())
		}
		v.Set(reflect.ValueOf(visits))
	default:
		r.bad = true
	}
}

func (r *legacyReader) unpackFields(v reflect.Value) {
	for n, name := range legacyFields()[v.Type().Name()] {
		if len(r.buf) > 0 && r.buf[0] == byte(n+1) {
			r.buf = r.buf[1:]
			r.unpackValue(v.FieldByName(name)) // a file in testdata has every field
		}
	}
	r.bad = r.unpackUvarint() != 0 || r.bad // a field that is not known
}

// unpackTime reads a time: the way from the time before, and nanoseconds if there are any.
func (r *legacyReader) unpackTime() time.Time {
	way := r.unpackVarint()
	r.last += way >> 1
	t := time.UnixMilli(r.last).UTC()
	if way&1 != 0 {
		t = t.Add(time.Duration(r.unpackUvarint()))
	}
	return t
}

// unpackText reads a text: as it is, as an index into legacyWords, or as the bytes of a hexadecimal
// one.
func (r *legacyReader) unpackText() string {
	const kinds = 3
	n := r.unpackUvarint()
	switch n % kinds {
	case 0:
		return string(r.takeBytes(n / kinds))
	case 2:
		return hex.EncodeToString(r.takeBytes(n / kinds))
	}
	if n /= kinds; n < uint64(len(legacyWords)) {
		return legacyWords[n]
	}
	r.bad = true
	return ""
}

func (r *legacyReader) unpackVarint() int64 {
	u := r.unpackUvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (r *legacyReader) unpackUvarint() uint64 {
	v, n := binary.Uvarint(r.buf)
	r.takeBytes(uint64(max(n, 0)))
	r.bad = r.bad || n <= 0
	return v
}

// takeBytes removes n bytes from what is left to read.
func (r *legacyReader) takeBytes(n uint64) []byte {
	if n > uint64(len(r.buf)) {
		r.bad, n = true, uint64(len(r.buf))
	}
	out := r.buf[:n:n]
	r.buf = r.buf[n:]
	return out
}
