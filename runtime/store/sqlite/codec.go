package sqlite

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

// body is what a row stores beside its keys: a record as JSON text, and a checksum of the text and
// of what it belongs to.
type body struct {
	json string
	crc  int64
}

// The bodies are the JSON of the records, without the fields that are columns of the row: a field
// of type hidden takes the place of that of the record.
type (
	hidden struct{}

	threadBody struct {
		*thread.Thread
		ID          hidden `json:"id,omitzero"`
		Fingerprint hidden `json:"fingerprint,omitzero"`
	}
	interruptBody struct {
		*thread.Interrupt
		ID     hidden `json:"id,omitzero"`
		Thread hidden `json:"thread,omitzero"`
		Kind   hidden `json:"kind,omitzero"`
		Node   hidden `json:"node,omitzero"`
	}
	entryBody struct {
		thread.Entry
		At *time.Time `json:"at,omitempty"` // nil: that of the entry before
	}
)

var (
	errDamaged = runtime.Errorf(runtime.CodeInternal, "", "the record is damaged")
	errNoText  = errors.New("a text is not UTF-8")
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

func entryBodies(entries []thread.Entry) *[]entryBody {
	list := make([]entryBody, len(entries))
	for n := range entries {
		if list[n].Entry = entries[n]; n == 0 || entries[n].At != entries[n-1].At {
			list[n].At = &entries[n].At
		}
	}
	return &list
}

// seal encodes what v points to. It returns an error for what JSON cannot hold: a value that is not
// JSON, a text that is not UTF-8, a time after the year 9999.
func seal(v any, belongs ...string) (body, error) {
	b, err := encode(v, belongs...)
	if err == nil && !utf8.ValidString(strings.Join(belongs, " ")) {
		err = errNoText
	}
	return b, err
}

// encode is seal, for texts of belongs that were checked before. With errNoText it returns a body
// that has replacements.
func encode(v any, belongs ...string) (body, error) {
	w := recordWriters.Get().(*recordWriter) //nolint:forcetypeassert // the pool holds nothing else
	w.text, w.err = w.text[:0], nil
	recordTypes[reflect.TypeOf(v)].write(w, reflect.ValueOf(v).Elem())
	b, err := body{json: string(w.text), crc: checksum(w.text, belongs)}, w.err
	if cap(w.text) <= 16<<10 { // a larger one is not kept
		recordWriters.Put(w)
	}
	return b, err
}

// unseal decodes into v what seal returned. It returns errDamaged for another text, and for that of
// another owner, and CodeIncompatible for what another version of the program has written.
func unseal(b body, v any, belongs ...string) error {
	if b.crc != checksum([]byte(b.json), belongs) {
		return errDamaged
	}
	r := recordReader{text: b.json}
	recordTypes[reflect.TypeOf(v)].read(&r, reflect.ValueOf(v).Elem())
	if r.err != nil { // an unknown field too: to store the record again would drop it
		return runtime.Errorf(runtime.CodeIncompatible, "",
			"another version of the program wrote the record: %w", r.err)
	}
	return nil
}

func checksum(text []byte, belongs []string) int64 {
	sum := crc32.Checksum(text, castagnoli)
	for _, b := range belongs {
		sum = crc32.Update(sum, castagnoli, binary.AppendUvarint(nil, uint64(len(b))))
		sum = crc32.Update(sum, castagnoli, []byte(b))
	}
	return int64(sum)
}

func threadOf(id, fingerprint string, b body) (*thread.Thread, error) {
	t := new(thread.Thread)
	if err := unseal(b, &threadBody{Thread: t}, id, fingerprint); err != nil {
		return nil, err
	}
	t.ID, t.Fingerprint = id, fingerprint
	return t, nil
}

func interruptOf(id, threadID, kind, node string, b body) (*thread.Interrupt, error) {
	i := new(thread.Interrupt)
	if err := unseal(b, &interruptBody{Interrupt: i}, id, threadID, kind, node); err != nil {
		return nil, err
	}
	i.ID, i.Thread, i.Kind, i.Node = id, threadID, kind, node
	return i, nil
}

func entriesOf(n int64, threadID string, b body) ([]thread.Entry, error) {
	var list []entryBody
	if err := unseal(b, &list, threadID); err != nil {
		return nil, err
	}
	entries := make([]thread.Entry, len(list))
	var last time.Time
	for place := range list {
		e := &list[place]
		last = *cmp.Or(e.At, &last)
		e.Entry.At, e.Thread, e.Cursor = last, threadID, n<<placeBits|int64(place)
		entries[place] = e.Entry
	}
	return entries, nil
}
