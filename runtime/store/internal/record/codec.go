// Package record is the stored form of threads that the stores in SQL databases share: a record is
// JSON text with a checksum, and a change is a list of rows.
package record

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// Body is what a row stores beside its keys: a record as JSON text, and a checksum of the text and
// of what it belongs to.
type Body struct {
	JSON string
	CRC  int64
}

// The bodies are the JSON of the records, without the fields that are columns of the row: a field
// of type hidden takes the place of that of the record.
type (
	hidden struct{}

	// ThreadBody is what the row of a thread keeps as JSON.
	ThreadBody struct {
		*thread.Thread
		ID          hidden `json:"id,omitzero"`
		Fingerprint hidden `json:"fingerprint,omitzero"`
	}
	// InterruptBody is what the row of an interrupt keeps as JSON.
	InterruptBody struct {
		*thread.Interrupt
		ID     hidden `json:"id,omitzero"`
		Thread hidden `json:"thread,omitzero"`
		Kind   hidden `json:"kind,omitzero"`
		Node   hidden `json:"node,omitzero"`
	}
	// EntryBody is an entry in the JSON of a row of the log.
	EntryBody struct {
		thread.Entry
		At *time.Time `json:"at,omitempty"` // nil: that of the entry before
	}
)

// ErrDamaged is returned for a record whose checksum is wrong.
var ErrDamaged = runtime.Errorf(runtime.CodeInternal, "", "the record is damaged")

var (
	errNoText  = errors.New("a text is not UTF-8")
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// EntryBodies returns what a row of the log keeps of entries.
func EntryBodies(entries []thread.Entry) *[]EntryBody {
	list := make([]EntryBody, len(entries))
	for n := range entries {
		if list[n].Entry = entries[n]; n == 0 || entries[n].At != entries[n-1].At {
			list[n].At = &entries[n].At
		}
	}
	return &list
}

// Seal encodes what v points to. It returns an error for what JSON cannot hold: a value that is not
// JSON, a text that is not UTF-8, a time after the year 9999.
func Seal(v any, belongs ...string) (Body, error) {
	b, err := Encode(v, belongs...)
	if err == nil && !utf8.ValidString(strings.Join(belongs, " ")) {
		err = errNoText
	}
	if err != nil || !strings.Contains(b.JSON, `\ufffd`) {
		return b, err
	}
	// either a value says so, or a byte was replaced that is no UTF-8: decoded and encoded again,
	// that is the character itself
	back := reflect.New(reflect.TypeOf(v).Elem()).Interface()
	if err = Unseal(b, back, belongs...); err == nil {
		if again, _ := Encode(back, belongs...); again != b {
			err = errNoText
		}
	}
	return b, err
}

// Encode is Seal, but it replaces what is not UTF-8.
func Encode(v any, belongs ...string) (Body, error) {
	text, err := runtime.Encode(v)
	return Body{JSON: string(text), CRC: Checksum(text, belongs)}, err
}

// Unseal decodes into v what Seal returned. It returns ErrDamaged for another text, and for that of
// another owner, and CodeIncompatible for what another version of the program has written.
func Unseal(b Body, v any, belongs ...string) error {
	if b.CRC != Checksum([]byte(b.JSON), belongs) {
		return ErrDamaged
	}
	d := json.NewDecoder(strings.NewReader(b.JSON))
	d.DisallowUnknownFields() // to store the record again would drop them
	if err := d.Decode(v); err != nil {
		return runtime.Errorf(runtime.CodeIncompatible, "",
			"another version of the program wrote the record: %w", err)
	}
	return nil
}

// Checksum is the sum of a text and of the ids that it belongs to.
func Checksum(text []byte, belongs []string) int64 {
	sum := crc32.Checksum(text, castagnoli)
	for _, b := range belongs {
		sum = crc32.Update(sum, castagnoli, binary.AppendUvarint(nil, uint64(len(b))))
		sum = crc32.Update(sum, castagnoli, []byte(b))
	}
	return int64(sum)
}

// ThreadOf returns the thread that a row has.
func ThreadOf(id, fingerprint string, b Body) (*thread.Thread, error) {
	t := new(thread.Thread)
	if err := Unseal(b, &ThreadBody{Thread: t}, id, fingerprint); err != nil {
		return nil, err
	}
	t.ID, t.Fingerprint = id, fingerprint
	return t, nil
}

// InterruptOf returns the interrupt that a row has.
func InterruptOf(id, threadID, kind, node string, b Body) (*thread.Interrupt, error) {
	i := new(thread.Interrupt)
	if err := Unseal(b, &InterruptBody{Interrupt: i}, id, threadID, kind, node); err != nil {
		return nil, err
	}
	i.ID, i.Thread, i.Kind, i.Node = id, threadID, kind, node
	return i, nil
}

// EntriesOf returns the entries of a row of the log, whose first has that cursor.
func EntriesOf(first int64, threadID string, b Body) ([]thread.Entry, error) {
	var list []EntryBody
	if err := Unseal(b, &list, threadID); err != nil {
		return nil, err
	}
	entries := make([]thread.Entry, len(list))
	var last time.Time
	for place := range list {
		e := &list[place]
		last = *cmp.Or(e.At, &last)
		e.Entry.At, e.Thread, e.Cursor = last, threadID, first+int64(place)
		entries[place] = e.Entry
	}
	return entries, nil
}
