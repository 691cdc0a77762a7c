package sqlite

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// elsewhere are fields that a body does not have, and where they are.
var elsewhere = map[string]string{
	"Thread.ID": "column", "Thread.Fingerprint": "shape", "Thread.Open": "interrupts",
	"Interrupt.ID": "column", "Interrupt.Thread": "column", "Interrupt.Kind": "column",
	"Interrupt.Node": "column",
	"Question.Kind":  "of the interrupt", "Entry.Opened": "interrupts", "Entry.Thread": "column",
	"Entry.Cursor":   "key",
	"Question.Asker": "it is Interrupt.Node",
}

// TestEveryFieldIsStored walks the types that are sealed: a new field must be listed, or its place
// named.
func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice:
			walk(typ.Elem())
			return
		case reflect.Struct:
		case reflect.String, reflect.Int, reflect.Int64, reflect.Bool, reflect.Uint8:
			return
		default:
			assert.Equal(t, reflect.TypeFor[map[string]int](), typ)
			return
		}
		if seen[typ] || typ == reflect.TypeFor[time.Time]() {
			return
		}
		seen[typ] = true
		listed := stored[typ]
		assert.Less(t, len(listed), 128)
		require.NotEmpty(t, listed, "%s is not listed", typ)
		assert.Len(t, slices.Compact(slices.Sorted(slices.Values(listed))), len(listed),
			"%s: a name is wrong, or there twice", typ)
		for i := range typ.NumField() {
			name := typ.Name() + "." + typ.Field(i).Name
			assert.NotEqual(t, slices.Contains(listed, i), elsewhere[name] != "",
				"%s is listed, or has another place", name)
			if elsewhere[name] == "" {
				walk(typ.Field(i).Type)
			}
		}
	}
	for _, typ := range []reflect.Type{typeFor[thread.Thread](), typeFor[thread.Interrupt](),
		typeFor[thread.Entry]()} {
		walk(typ)
	}
	assert.Len(t, slices.Collect(maps.Keys(stored)), len(seen), "a list of a type that nothing has")
}

// grown is how many fields the bodies of each version of the file know.
var grown = []int{145, 146, 148}

// TestALongerListComesWithAMigration is what keeps a file from a program that would find damage in
// it, and reads only what is older.
func TestALongerListComesWithAMigration(t *testing.T) {
	t.Parallel()
	require.Len(t, grown, len(migrations), "a new version: say how many fields it knows")
	known := 0
	for _, list := range stored {
		known += len(list)
	}
	assert.Equal(t, grown[len(grown)-1], known,
		"a list has grown since the last version: add a migration, if only one of the version, "+
			"and its fixture")
}

// draw fills a value; what a body does not have stays zero.
func draw(t *rapid.T, v reflect.Value) {
	pick := func(n int) int { return rapid.IntRange(0, n).Draw(t, "pick") }
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		switch pick(3) {
		case 0:
		case 1:
			*p = time.UnixMilli(rapid.Int64Range(-1e15, 1e15).Draw(t, "ms")).UTC()
		default:
			*p = time.Unix(rapid.Int64Range(-1e12, 1e12).Draw(t, "s"),
				rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
		}
		return
	case *json.RawMessage:
		*p = rapid.SampledFrom([]json.RawMessage{
			nil, {}, json.RawMessage("null"), json.RawMessage("false"), json.RawMessage(`""`),
			json.RawMessage(`{ "a" : "<&>" }`),
		}).Draw(t, "json")
		return
	case *map[string]int:
		*p = rapid.SampledFrom([]map[string]int{nil, {}, {"a": 1, "": -2, "running": 0}}).
			Draw(t, "map")
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, i := range stored[v.Type()] {
			draw(t, v.Field(i))
		}
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.SampledFrom(words), rapid.String(),
			rapid.StringMatching(`[0-9a-fA-F]{15,140}`),
			rapid.Just("\xff\x00")).Draw(t, "text"))
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

func TestABodyComesBackAsItWas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		for _, v := range []any{new(thread.Thread), new(thread.Interrupt), new([]thread.Entry)} {
			draw(t, reflect.ValueOf(v).Elem())
			if e, ok := v.(*[]thread.Entry); ok && *e == nil {
				*e = []thread.Entry{} // no commit without entries is sealed
			}
			data, err := seal(v, "owner", "shape")
			if err != nil {
				t.Fatal(err)
			}
			back := reflect.New(reflect.TypeOf(v).Elem()).Interface()
			if err := unseal(data, back, "owner", "shape"); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(v, back) {
				t.Fatalf("%#v came back as %#v", v, back)
			}
			for _, belongs := range [][]string{{"owner"}, {"owners", "hape"}, {"", "shape"}} {
				if unseal(data, back, belongs...) == nil {
					t.Fatal("the body of another owner is taken")
				}
			}
		}
	})
}

// What is no JSON is refused as a whole, wherever it stands: one such row would make every list
// that holds it unreadable.
func TestOnlyJSONIsStored(t *testing.T) {
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
		"an input":      func(c *thread.Change) { c.Thread.Frames[0].Input = bad },
		"metadata":      func(c *thread.Change) { c.Thread.Metadata = bad },
		"two values":    func(c *thread.Change) { c.Entries[1].Value = json.RawMessage(`1 2`) },
		"only a space":  func(c *thread.Change) { c.Entries[1].Value = json.RawMessage(` `) },
		"not even text": func(c *thread.Change) { c.Entries[1].Value = json.RawMessage{0xff} },
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
	data, err := seal(c.Thread, "t")
	require.NoError(t, err)
	for at := range data {
		for bit := range 8 {
			bad := slices.Clone(data)
			bad[at] ^= 1 << bit
			require.ErrorIs(t, unseal(bad, new(thread.Thread), "t"), errDamaged)
		}
		require.ErrorIs(t, unseal(data[:at], new(thread.Thread), "t"), errDamaged)
	}
	require.NoError(t, unseal(data, new(thread.Thread), "t"))
}

// TestAnyBodyIsReadOrRefused reads bodies whose checksum is right, whatever is in them. It is no
// fuzz target, since those of this room would make all of SQLite again.
func TestAnyBodyIsReadOrRefused(t *testing.T) {
	t.Parallel()
	seed, err := seal(waiting("t", []byte(`{"a":1}`)).Thread)
	require.NoError(t, err)
	seed = seed[:len(seed)-4]
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		if rapid.Bool().Draw(t, "mutate") {
			body = slices.Clone(seed)
			for range rapid.IntRange(1, 4).Draw(t, "times") {
				body[rapid.IntRange(0, len(body)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
			}
		}
		sealed := binary.LittleEndian.AppendUint32(slices.Clone(body), checksum(body, nil))
		for _, v := range []any{new(thread.Thread), new(thread.Interrupt), new([]thread.Entry)} {
			if err := unseal(slices.Clone(sealed), v); err != nil {
				continue
			}
			written, err := seal(v)
			if err != nil { // it had bytes in it that are no JSON
				continue
			}
			again := reflect.New(reflect.TypeOf(v).Elem()).Interface()
			if err := unseal(written, again); err != nil || !reflect.DeepEqual(v, again) {
				t.Fatalf("%#v came back as %#v: %v", v, again, err)
			}
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
