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

// unsent are the fields of the records that are not sent, by schema and by their names in JSON,
// with the reason.
func unsent() map[string]map[string]string {
	const engine, elsewhere = "only the engine needs it", "the Frame has it"
	return map[string]map[string]string{
		"Interrupt": {
			"policy": "due says when it acts", "remindAt": engine, "remindBefore": engine,
			"escalatedTo": "assignees has who may answer now", "clashes": "Stats counts them",
			"request": "made from a caller's key",
		},
		"Row": {"request": "made from a caller's key"},
		"Thread": {
			"made": engine, "control": "paused says what came of it", "modify": "Moment has it",
			"mailbox": "an answer is shown with its question", "metadata": "for handlers",
			"reroutes": "the interrupt has its own", "lease": engine, "over": "status has it",
			"previous": "for handlers", "firstFingerprint": engine,
		},
		"Frame": {
			"visits": engine, "input": "Moment has it", "locals": "Moment has it",
			"shows": "the interrupt has it", "heldBy": engine, "attempts": "Moment has them",
			"forgiven": engine, "effects": "Moment has them", "replies": "Moment has them",
			"children": "Moment has them", "routeTo": engine,
		},
		"MomentFrame": {
			"parent": elsewhere, "pc": elsewhere, "visit": elsewhere, "state": elsewhere,
			"until": elsewhere, "visits": "visited has them in their order", "heldBy": engine,
			"forgiven": engine, "routeTo": engine,
		},
	}
}

// A field that is added to a record is sent, and described in schemas.json, or stands in unsent.
func TestEveryFieldOfARecordIsSent(t *testing.T) {
	t.Parallel()
	var described map[string]struct {
		Properties map[string]any `json:"properties"`
	}
	require.NoError(t, json.Unmarshal(schemas, &described))
	i, e, th, f := filled[thread.Interrupt](), filled[thread.Entry](), filled[thread.Thread](),
		filled[thread.Frame]()
	i.Assignees = i.Answerers()
	th.Frames = []thread.Frame{*f}
	sentThread := threadOf(th)
	for schema, c := range map[string]struct{ record, sent any }{
		"Interrupt":   {i, InterruptOf(i)},
		"Row":         {e, rowOf(e)},
		"Thread":      {th, sentThread},
		"Frame":       {f, sentThread.Frames[0]},
		"MomentFrame": {f, momentFrameOf(f, nil)},
	} {
		record, sent, hidden := membersOf(t, c.record), membersOf(t, c.sent), unsent()[schema]
		if schema == "Thread" { // they have a row of their own
			delete(record, "frames")
		}
		for name := range hidden {
			assert.NotNil(t, record[name], "%s: %s is in unsent, and no field", schema, name)
			assert.Nil(t, sent[name], "%s: %s is in unsent, and sent", schema, name)
			delete(record, name)
		}
		for name, value := range record {
			assert.Equal(t, inMillis(value), sent[name],
				"%s: %s is not sent like that, nor in unsent",
				schema, name)
		}
		for name := range sent {
			assert.NotNil(t, described[schema].Properties[name], "%s: %s is not in schemas.json",
				schema, name)
		}
	}
}

// membersOf returns the members of what is an object in JSON.
func membersOf(t *testing.T, v any) (out map[string]any) {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}

// inMillis returns a JSON value with its times as they are sent.
func inMillis(v any) any {
	switch v := v.(type) {
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return float64(at.UnixMilli())
		}
	case []any:
		for n := range v {
			v[n] = inMillis(v[n])
		}
	case map[string]any:
		for name := range v {
			v[name] = inMillis(v[name])
		}
	}
	return v
}
