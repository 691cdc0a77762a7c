package mem

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

var (
	rawType = reflect.TypeFor[json.RawMessage]()
	atType  = reflect.TypeFor[time.Time]()
)

// A copy is what unsealing a sealed record gives, for records with anything in any field, and
// shares no memory with its source.
func TestACopyIsTheSealedRecord(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		same(t, r, func(by *copier, v *thread.Thread) *thread.Thread { return by.copyThread(v) })
		same(t, r, func(by *copier, v []thread.Entry) []thread.Entry {
			return copyList(v, by.copyEntry)
		})
		same(t, r, (*copier).copyInterrupts)
	}
}

func same[T any](t *testing.T, r *rand.Rand, copied func(*copier, T) T) {
	t.Helper()
	var v T
	for at := reflect.ValueOf(&v).Elem(); at.IsZero() || at.Kind() == reflect.Slice &&
		at.Len() == 0; {
		fill(r, at, 4)
	}
	data, err := runtime.Encode(v)
	require.NoError(t, err)
	var want T
	require.NoError(t, json.Unmarshal(data, &want))
	takes, gives := copier{normalizes: true}, copier{}
	got := copied(&takes, v)
	require.NoError(t, takes.err)
	require.Equal(t, want, got)
	spoil(reflect.ValueOf(&v).Elem())
	require.Equal(t, want, got, "what happens to the source is not seen")
	again := copied(&gives, got)
	require.Equal(t, want, again)
	spoil(reflect.ValueOf(&got).Elem())
	assert.Equal(t, want, again, "nor to what was given")
}

// fill puts anything into a value.
func fill(r *rand.Rand, v reflect.Value, deep int) {
	some := func(most int) int {
		if deep <= 0 {
			return 0
		}
		return r.IntN(most)
	}
	switch {
	case v.Type() == rawType:
		texts := []string{`{"a": [1, 2]}`, `null`, `"x<y>"`, ` 7 `, `{}`, `[ ]`}
		if n := r.IntN(len(texts) + 1); n < len(texts) {
			v.Set(reflect.ValueOf(json.RawMessage(texts[n])))
		}
		return
	case v.Type() == atType:
		if r.IntN(3) > 0 {
			// times of records are UTC
			v.Set(reflect.ValueOf(time.Unix(r.Int64N(1<<31), r.Int64N(1_000)*1_000_000).UTC()))
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString([]string{"", "a", "é<&>\"", "\ufffd", "\u2028"}[r.IntN(5)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) > 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(r.Int64N(5))
	case reflect.Pointer:
		if some(2) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), deep-1)
		}
	case reflect.Slice:
		if n := some(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for i := range n - 1 {
				fill(r, v.Index(i), deep-1)
				if v.Index(i).Kind() == reflect.Pointer && v.Index(i).IsNil() {
					v.Index(i).Set(reflect.New(v.Type().Elem().Elem()))
				}
			}
		}
	case reflect.Map:
		if n := some(4); n > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for i := range n - 1 {
				elem := reflect.New(v.Type().Elem()).Elem()
				fill(r, elem, deep-1)
				v.SetMapIndex(reflect.ValueOf(string(rune('a'+i))), elem)
			}
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(r, field, deep)
		}
	default:
		panic("records have got a " + v.Type().String() + ": fill and copy it")
	}
}

// spoil changes everything that a value refers to.
func spoil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			spoil(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			if v.Type().Elem().Kind() == reflect.Uint8 {
				v.Index(i).SetUint('!')
			} else {
				spoil(v.Index(i))
			}
		}
	case reflect.Map:
		v.Clear()
	case reflect.Struct:
		if v.Type() == atType {
			return
		}
		for _, field := range v.Fields() {
			spoil(field)
		}
	case reflect.String:
		v.SetString("spoilt")
	default:
	}
}

func TestACopyRefusesWhatIsNoJSON(t *testing.T) {
	t.Parallel()
	err := copyChange(&thread.Change{Thread: &thread.Thread{Result: []byte("{")}},
		new(thread.Change))
	require.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	err = copyChange(&thread.Change{Thread: new(thread.Thread),
		Entries: []thread.Entry{{Value: []byte(`{"a":}`)}}}, new(thread.Change))
	require.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
}
