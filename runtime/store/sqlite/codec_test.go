package sqlite

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/internal/record"
	"github.com/routegen/routegen/runtime/thread"
)

// draw fills a value with anything that JSON holds; what is not stored stays zero.
func draw(t *rapid.T, v reflect.Value) {
	pick := func(n int) int { return rapid.IntRange(0, n).Draw(t, "pick") }
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		switch pick(3) {
		case 0:
		case 1:
			*p = time.UnixMilli(rapid.Int64Range(0, 1e14).Draw(t, "ms")).UTC()
		default:
			*p = time.Unix(rapid.Int64Range(-6e10, 2e11).Draw(t, "s"),
				rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
		}
		return
	case *json.RawMessage:
		*p = rapid.SampledFrom([]json.RawMessage{
			nil, json.RawMessage("null"), json.RawMessage("false"), json.RawMessage(`""`),
			json.RawMessage(`{"<a>":["&","\u2028","\ufffd","\\ufffd"]}`),
			json.RawMessage(`[90071992547409931,-0,1.0,1e400]`), json.RawMessage("\"\xff\u2028\""),
		}).Draw(t, "json")
		return
	case *map[string]int:
		*p = rapid.SampledFrom([]map[string]int{nil, {}, {"a": 1, "": -2, "running": 0}}).
			Draw(t, "map")
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				draw(t, v.Field(i))
			}
		}
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\x00", "<&>\u2028",
			"\ufffd", `\ufffd`, `\`})).Draw(t, "text"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Pointer:
		if pick(1) == 1 {
			v.Set(reflect.New(v.Type().Elem()))
			draw(t, v.Elem())
		}
	case reflect.Slice:
		if n := pick(3); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for i := range n - 1 {
				draw(t, v.Index(i))
			}
		}
	default:
		t.Fatalf("%s", v.Kind())
	}
}

// plain is what v is after it was encoded and decoded by encoding/json as a whole: an empty list is
// none, and a value that must be there is null.
func plain[T any](t require.TestingT, v *T) *T {
	text, err := runtime.Encode(v)
	require.NoError(t, err)
	out := new(T)
	require.NoError(t, json.Unmarshal(text, out))
	again, err := runtime.Encode(out)
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))
	return out
}

func sealThread(t *thread.Thread) (record.Body, error) {
	return record.Seal(&record.ThreadBody{Thread: t}, t.ID, t.Fingerprint)
}

func sealInterrupt(i *thread.Interrupt) (record.Body, error) {
	return record.Seal(&record.InterruptBody{Interrupt: i}, i.ID, i.Thread, i.Kind, i.Node)
}

func sealEntries(entries []thread.Entry, threadID string) (record.Body, error) {
	return record.Seal(record.EntryBodies(entries), threadID)
}

// encoded is v as encoding/json writes it.
func encoded(t require.TestingT, v any) string {
	text, err := runtime.Encode(v)
	require.NoError(t, err)
	return string(text)
}

func TestABodyComesBackAsItWas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		had, asked, entries := new(thread.Thread), new(thread.Interrupt), new([]thread.Entry)
		for _, v := range []any{had, asked, entries} {
			draw(t, reflect.ValueOf(v).Elem())
		}
		b, err := sealThread(had)
		require.NoError(t, err)
		require.Equal(t, encoded(t, &record.ThreadBody{Thread: had}), b.JSON)
		gotThread, err := record.ThreadOf(had.ID, had.Fingerprint, b)
		require.NoError(t, err)
		require.Equal(t, plain(t, had), gotThread)
		_, err = record.ThreadOf(had.ID+"x", had.Fingerprint, b)
		require.ErrorIs(t, err, record.ErrDamaged, "the body of another thread")

		b, err = sealInterrupt(asked)
		require.NoError(t, err)
		require.Equal(t, encoded(t, &record.InterruptBody{Interrupt: asked}), b.JSON)
		gotAsked, err := record.InterruptOf(asked.ID, asked.Thread, asked.Kind, asked.Node, b)
		require.NoError(t, err)
		require.Equal(t, plain(t, asked), gotAsked)
		_, err = record.InterruptOf(asked.ID, asked.Thread+asked.Kind, "", asked.Node, b)
		if asked.Kind != "" {
			require.ErrorIs(t, err, record.ErrDamaged, "the body of another interrupt")
		}

		b, err = sealEntries(*entries, had.ID)
		require.NoError(t, err)
		require.Equal(t, encoded(t, record.EntryBodies(*entries)), b.JSON)
		gotEntries, err := record.EntriesOf(7<<placeBits, had.ID, b)
		require.NoError(t, err)
		want := *plain(t, entries)
		for n := range want {
			want[n].Thread, want[n].Cursor = had.ID, 7<<placeBits|int64(n)
		}
		require.Equal(t, append([]thread.Entry{}, want...), gotEntries)
		_, err = record.EntriesOf(7<<placeBits, had.ID+"x", b)
		require.ErrorIs(t, err, record.ErrDamaged, "the body of another log")
	})
}

// A field that this program does not know is refused: to store the record again would drop it.
func TestARecordOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"version":1,"since":2}`, `{"version":"1"}`, `[]`} {
		_, err := record.ThreadOf("t", "", record.Body{JSON: text,
			CRC: record.Checksum([]byte(text), []string{"t", ""})})
		assert.Equal(t, runtime.CodeIncompatible, runtime.CodeOf(err), "%s: %v", text, err)
	}
}

// What JSON cannot hold is refused as a whole, wherever it stands: one such row would make every
// list that holds it unreadable, or come back as another one.
func TestOnlyWhatJSONHoldsIsStored(t *testing.T) {
	t.Parallel()
	s := opened(t, file(t))
	bad := json.RawMessage(`{"a":`)
	for name, spoil := range map[string]func(c *thread.Change){
		"a payload": func(c *thread.Change) { c.Interrupts[0].Payload = bad },
		"a schema":  func(c *thread.Change) { c.Interrupts[0].Schema = bad },
		"a choice": func(c *thread.Change) {
			c.Interrupts[0].Choices = []thread.Choice{{Label: "a", Value: bad}}
		},
		"a context": func(c *thread.Change) { c.Interrupts[0].Context = bad },
		"an answer": func(c *thread.Change) { c.Interrupts[0].Answer = bad },
		"a vote": func(c *thread.Change) {
			c.Interrupts[0].Votes = []thread.Vote{{By: "ann", Value: bad}}
		},
		"an entry": func(c *thread.Change) { c.Entries[1].Value = bad },
		"a letter": func(c *thread.Change) {
			c.Thread.EarlyAnswers = []thread.EarlyAnswer{{Name: "x", Value: bad}}
		},
		"an input":           func(c *thread.Change) { c.Thread.Frames[0].Input = bad },
		"metadata":           func(c *thread.Change) { c.Thread.Metadata = bad },
		"two values":         func(c *thread.Change) { c.Entries[1].Value = json.RawMessage(`1 2`) },
		"only a space":       func(c *thread.Change) { c.Entries[1].Value = json.RawMessage(` `) },
		"not even text":      func(c *thread.Change) { c.Entries[1].Value = json.RawMessage{0xff} },
		"no UTF-8 in a text": func(c *thread.Change) { c.Thread.User = "ann\xff" },
		"in a question":      func(c *thread.Change) { c.Interrupts[0].Text = "\xe2\x80" },
		"in an id":           func(c *thread.Change) { c.Interrupts[0].ID = "i\xff" },
		"in a kind":          func(c *thread.Change) { c.Interrupts[0].Kind = "\xff" },
		"in a list": func(c *thread.Change) {
			c.Interrupts[0].Targets = []string{"a", "\xff"}
		},
		"in an entry": func(c *thread.Change) { c.Entries[1].Request = "r\xff\ufffd" },
		"in a key": func(c *thread.Change) {
			c.Thread.Frames[0].Visits = map[string]int{"\xff": 1}
		},
		"a year of five digits": func(c *thread.Change) {
			c.Interrupts[0].Due = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
		},
	} {
		c := waiting("t", []byte(`{"a":1}`))
		spoil(c)
		err := s.Commit(t.Context(), waiting("beside", nil), c)
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err), "%s: %v", name, err)
		_, err = s.Load(t.Context(), "beside")
		assert.Equal(t, runtime.CodeNotFound, runtime.CodeOf(err), name)
	}
	require.NoError(t, s.Commit(t.Context(), waiting("t", []byte(` {"a" : 1} `))))
}

func TestAFlippedBitIsFound(t *testing.T) {
	t.Parallel()
	c := waiting("t", []byte(`{"a":1}`))
	b, err := sealThread(c.Thread)
	require.NoError(t, err)
	for at := range b.JSON {
		for bit := range 8 {
			bad := []byte(b.JSON)
			bad[at] ^= 1 << bit
			_, err = record.ThreadOf("t", fingerprint, record.Body{JSON: string(bad), CRC: b.CRC})
			require.ErrorIs(t, err, record.ErrDamaged)
		}
		_, err = record.ThreadOf("t", fingerprint, record.Body{JSON: b.JSON[:at], CRC: b.CRC})
		require.ErrorIs(t, err, record.ErrDamaged)
	}
	_, err = record.ThreadOf("t", fingerprint, b)
	require.NoError(t, err)
}

// TestAnyBodyIsReadOrRefused reads bodies whose checksum is right, whatever is in them. It is no
// fuzz target, since those of this room would make all of SQLite again.
func TestAnyBodyIsReadOrRefused(t *testing.T) {
	t.Parallel()
	c := filled("t")
	one, err := sealThread(c.Thread)
	require.NoError(t, err)
	many, err := sealEntries(c.Entries, "t")
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.SampledFrom([]string{one.JSON, many.JSON, "[null]", "null"}).
			Draw(t, "seed"))
		for range rapid.IntRange(0, 3).Draw(t, "times") {
			text[rapid.IntRange(0, len(text)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		if had, err := record.ThreadOf("t", "", record.Body{JSON: string(text),
			CRC: record.Checksum(text,
				[]string{"t", ""})}); err == nil {
			_ = plain(t, had)
		}
		if had, err := record.EntriesOf(1, "t", record.Body{JSON: string(text),
			CRC: record.Checksum(text,
				[]string{"t"})}); err == nil {
			_ = plain(t, &had)
		}
	})
}

func TestNamesInAListCannotLookLikeTwo(t *testing.T) {
	t.Parallel()
	for _, list := range [][]string{{"ann"}, {"a", "nn"}, {"a b"}, {"a", "b"}, {""}, {"\xff", "%"},
		{"an"}} {
		for _, name := range []string{"ann", "a", "b", "a b", "", "nn", "\xff", "%", "_", "an"} {
			assert.Equal(t, slices.Contains(list, name),
				strings.Contains(joinNames(list), joinNames([]string{name})),
				fmt.Sprint(list, name))
		}
	}
}
