package web

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
)

// fillRecord sets every field below v to a value that is not zero and says where it stands.
func fillRecord(v reflect.Value, path string) {
	number := int64(len(path))
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.UnixMilli(1_700_000_000_000 + number).UTC()))
		return
	case json.RawMessage:
		v.SetBytes(fmt.Appendf(nil, `{"of":%q}`, path))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for field, value := range v.Fields() {
			fillRecord(value, path+"."+field.Name)
		}
	case reflect.Pointer:
		if v.Type() != reflect.TypeFor[*thread.Interrupt]() || path == "Thread.Open" {
			v.Set(reflect.New(v.Type().Elem()))
			fillRecord(v.Elem(), path)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillRecord(v.Index(0), path)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]int{path: 1}))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(path)
	default:
		v.SetInt(number)
	}
}

// filled returns a record all of whose fields are set.
func filled[T any]() *T {
	out := new(T)
	fillRecord(reflect.ValueOf(out).Elem(), reflect.TypeFor[T]().Name())
	return out
}

// wireExamples are full records as they are sent, by the names of their schemas.
func wireExamples() map[string]any {
	t := filled[thread.Thread]()
	t.Open[0].Frame = "f1"
	t.Reroutes[0].Frame, t.Reroutes[0].State = "f1", thread.ReroutePending
	waits := filled[thread.Thread]()
	waits.Over, waits.Open[0].State = "", thread.InterruptOpen
	row := rowOf(filled[thread.Entry]())
	question := InterruptOf(filled[thread.Interrupt]())
	row.Question = &question
	return map[string]any{
		"Interrupt": InterruptOf(filled[thread.Interrupt]()),
		"Thread":    threadOf(t),
		"Row":       row,
		"Waiting":   threadOf(waits),
		// what has no value, and what stands there all the same
		"Interrupt of nothing": InterruptOf(&thread.Interrupt{}),
		"Thread of nothing":    threadOf(&thread.Thread{}),
		"Row of nothing":       rowOf(&thread.Entry{}),
	}
}

func TestTheWireStaysAsItIs(t *testing.T) {
	t.Parallel()
	const path = "testdata/wire.json"
	got, err := json.Marshal(wireExamples())
	require.NoError(t, err)
	if os.Getenv("ROUTEGEN_WRITE_DOCS") == "1" {
		require.NoError(t, os.WriteFile(path, indented(t, got), 0o600))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.JSONEq(t, string(want), string(got), "if that is meant, run this test with "+
		"ROUTEGEN_WRITE_DOCS=1, and say so in the changelog")
}

// indented returns JSON with its keys in order, a line for each.
func indented(t *testing.T, data []byte) []byte {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(data, &v))
	out, err := json.MarshalIndent(v, "", " ")
	require.NoError(t, err)
	return append(out, '\n')
}

// BenchmarkRow makes the rows of a stream: with its question, and a plain one.
func BenchmarkRow(b *testing.B) {
	asked, plain := filled[thread.Entry](), filled[thread.Entry]()
	i := filled[thread.Interrupt]()
	b.Run("with a question", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			row, q := rowOf(asked), InterruptOf(i)
			row.Question = &q
			_, err := json.Marshal(row)
			require.NoError(b, err)
		}
	})
	b.Run("plain", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := json.Marshal(rowOf(plain))
			require.NoError(b, err)
		}
	})
}
