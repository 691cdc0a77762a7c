// Package record is the stored form of threads that the stores in SQL databases share: a record is
// JSON text with a checksum, and a change is a list of rows.
package record

import (
	"cmp"
	"encoding/binary"
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

// ErrNoText is returned for a text that is not UTF-8.
var ErrNoText = errors.New("a text is not UTF-8")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

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
		err = ErrNoText
	}
	return b, err
}

// Encode is Seal, for texts of belongs that were checked before. With ErrNoText it returns a body
// that has replacements.
func Encode(v any, belongs ...string) (Body, error) {
	w := recordWriters.Get().(*recordWriter) //nolint:forcetypeassert // the pool holds nothing else
	w.text, w.err = w.text[:0], nil
	recordTypes[reflect.TypeOf(v)].write(w, reflect.ValueOf(v).Elem())
	b, err := Body{JSON: string(w.text), CRC: Checksum(w.text, belongs)}, w.err
	if cap(w.text) <= 16<<10 { // a larger one is not kept
		recordWriters.Put(w)
	}
	return b, err
}

// Unseal decodes into v what Seal returned. It returns ErrDamaged for another text, and for that of
// another owner, and CodeIncompatible for what another version of the program has written.
func Unseal(b Body, v any, belongs ...string) error {
	if b.CRC != Checksum([]byte(b.JSON), belongs) {
		return ErrDamaged
	}
	r := recordReader{text: b.JSON}
	recordTypes[reflect.TypeOf(v)].read(&r, reflect.ValueOf(v).Elem())
	if r.err != nil { // an unknown field too: to store the record again would drop it
		return runtime.Errorf(runtime.CodeIncompatible, "",
			"another version of the program wrote the record: %w", r.err)
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
