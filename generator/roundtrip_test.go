package generator_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
)

// filler fills records by reflection with legal values.
type filler struct {
	t *rapid.T
	// leave hidden fields and hidden values out, and no required list or map nil: what a model
	// could have sent
	shown bool
}

func (f filler) record(v reflect.Value, depth int) {
	record := v.Addr().Interface().(runtime.Record)
	shape, one := record.Shape(), -1
	union := shape.Kind == runtime.ShapeUnion
	if union {
		one = rapid.IntRange(0, len(shape.Fields)-1).Draw(f.t, "branch")
	}
	for i, field := range shape.Fields {
		tag, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		require.Equal(f.t, field.Name, tag, "%s: the shape and the struct have the same order",
			shape.Name)
		switch {
		case union && i != one, f.shown && field.Hidden:
			continue
		case !union && option != "" &&
			(depth > deep || rapid.Bool().Draw(f.t, "absent "+tag)):
			continue
		}
		f.value(v.Field(i), depth, option != "")
	}
}

// value fills one value; optional says that an empty list or map would not come back from JSON.
func (f filler) value(v reflect.Value, depth int, optional bool) {
	switch v.Interface().(type) {
	case time.Time:
		at := time.Unix(rapid.Int64Range(-1e9, 1e10).Draw(f.t, "time"),
			rapid.Int64Range(0, 999999999).Draw(f.t, "ns")).UTC()
		v.Set(reflect.ValueOf(at))
		return
	case json.RawMessage:
		v.SetBytes([]byte(rapid.SampledFrom([]string{`{}`, `"<&>"`, `[1,{"a":null}]`, `1.50`,
			`true`}).Draw(f.t, "json")))
		return
	case routes.ArtifactKey:
		v.SetString(rapid.StringMatching(`ak:[0-9A-HJKMNP-TV-Z]{26}(/[0-9A-HJKMNP-TV-Z]{26})?`).
			Draw(f.t, "key"))
		return
	}
	switch v.Kind() {
	case reflect.String:
		legal, isEnum := enumValues()[v.Type().Name()]
		switch {
		case isEnum && f.shown:
			legal = slices.DeleteFunc(slices.Clone(legal), func(s string) bool {
				return slices.Contains(hiddenValues, s)
			})
			fallthrough
		case isEnum:
			v.SetString(rapid.SampledFrom(legal).Draw(f.t, "enum"))
		default:
			v.SetString(text().Draw(f.t, "text"))
		}
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(f.t, "bool"))
	case reflect.Int64:
		v.SetInt(rapid.Int64().Draw(f.t, "int"))
	case reflect.Float64:
		v.SetFloat(rapid.Float64Range(-1e300, 1e300).Draw(f.t, "float"))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.value(v.Elem(), depth+1, false)
	case reflect.Struct:
		f.record(v, depth+1)
	case reflect.Slice:
		if n, some := f.count(depth, optional); some {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				f.value(v.Index(i), depth+1, false)
			}
		}
	case reflect.Map:
		if n, some := f.count(depth, optional); some {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				item := reflect.New(v.Type().Elem()).Elem()
				f.value(item, depth+1, false)
				v.SetMapIndex(reflect.ValueOf(text().Draw(f.t, "key")), item)
			}
		}
	default:
		f.t.Fatalf("no way to fill a %s", v.Type())
	}
}

// count draws the length of a list or map, false for nil.
func (f filler) count(depth int, optional bool) (int, bool) {
	if depth > deep {
		return 0, f.shown && !optional
	}
	n := rapid.IntRange(-1, 2).Draw(f.t, "count")
	switch {
	case optional:
		return n, n > 0
	case n < 0 && f.shown:
		return 0, true
	}
	return n, n >= 0
}

// filled draws a value of a record type; the same seed gives the same value.
func filled(of reflect.Type, shown bool, seed int) runtime.Record {
	return rapid.Custom(func(t *rapid.T) runtime.Record {
		v := reflect.New(of)
		filler{t, shown}.record(v.Elem(), 0)
		return v.Interface().(runtime.Record)
	}).Example(seed)
}

// TestEveryRecordComesBack encodes and decodes values of all generated records, hidden fields too.
func TestEveryRecordComesBack(t *testing.T) {
	t.Parallel()
	var planned []string
	for _, r := range ownResult(t).Plan.Records {
		planned = append(planned, r.Name)
	}
	for _, r := range ownResult(t).Plan.Routings {
		planned = append(planned, r.Name)
	}
	names := slices.Sorted(maps.Keys(recordTypes()))
	assert.ElementsMatch(t, planned, names,
		"every planned record is generated, and reached by the test")
	for _, name := range names {
		for seed := range 12 {
			v := filled(recordTypes()[name], false, seed)
			text, err := runtime.Encode(v)
			require.NoError(t, err)
			back := fresh(recordTypes()[name])
			require.NoError(t, runtime.Unmarshal(text, back), "%s", text)
			require.Equal(t, v, back, "%s", text)
			again, err := runtime.Encode(back)
			require.NoError(t, err)
			require.Equal(t, string(text), string(again))
			through := fresh(recordTypes()[name])
			require.NoError(t, json.Unmarshal(text, through), "encoding/json takes the same way")
			require.Equal(t, v, through)
		}
	}
}

// TestEncodedRecordsFitTheirSchemas lets the validator judge what Go writes: a value without hidden
// fields is valid for the schema of its type, and a model could have sent it.
func TestEncodedRecordsFitTheirSchemas(t *testing.T) {
	t.Parallel()
	for name, source := range everySchema(t) {
		validator := mustCompile(t, source)
		for seed := range 6 {
			text, err := runtime.Encode(filled(recordTypes()[name], true, seed))
			require.NoError(t, err)
			require.NoError(t, validator.Validate(parsed(t, text)), "%s: %s", name, text)
			require.NoError(t, runtime.DecodeReply(text, fresh(recordTypes()[name]), nil), "%s: %s",
				name, text)
		}
	}
}

// TestHiddenFieldsTravelTheWire fills every hidden field of every record, and sees each in the
// text.
func TestHiddenFieldsTravelTheWire(t *testing.T) {
	t.Parallel()
	hidden := 0
	for name, of := range recordTypes() {
		for i, f := range fresh(of).Shape().Fields {
			if !f.Hidden {
				continue
			}
			hidden++
			draw := rapid.Custom(func(t *rapid.T) runtime.Record {
				v := reflect.New(of)
				filler{t, true}.record(v.Elem(), 0)
				filler{t, false}.value(v.Elem().Field(i), deep, true)
				return v.Interface().(runtime.Record)
			})
			v := draw.Example(1)
			text, err := runtime.Encode(v)
			require.NoError(t, err)
			back := fresh(of)
			require.NoError(t, runtime.Unmarshal(text, back), "%s: %s", name, text)
			assert.Equal(t, v, back)
			err = runtime.DecodeReply(text, fresh(of), nil)
			assert.Equal(t, []string{"/" + f.Name}, pointers(t, err), "%s: %s", name, text)
		}
	}
	assert.Greater(t, hidden, 70)
}

// TestSealedSetsOnTheWire sends a value of every request and every interrupt request through its
// tagged form.
func TestSealedSetsOnTheWire(t *testing.T) {
	t.Parallel()
	draw := func(name string) runtime.Record { return filled(recordTypes()[name], false, 3) }
	for _, row := range program.Tables.Requests {
		v := draw(row.Name).(routes.Request)
		text, err := routes.EncodeRequest(v)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(string(text), `{"`+row.Name+`":{`), "%s", text)
		back, err := routes.DecodeRequest(text)
		require.NoError(t, err)
		assert.Equal(t, v, back)
		assert.Equal(t, routes.NodeName(row.Node), back.RequestNode())
	}
	for _, row := range program.Tables.Interrupts {
		v := draw(row.Name).(routes.InterruptRequest)
		text, err := routes.EncodeInterrupt(v)
		require.NoError(t, err)
		back, err := routes.DecodeInterrupt(text)
		require.NoError(t, err)
		assert.Equal(t, v, back)
		assert.Equal(t, routes.NodeName(row.Node), back.InterruptNode())
		assert.Equal(t, v.Common(), back.Common())
	}
	for _, text := range []string{`{}`, `{"ReviewRequest":{}}`, `{"Nobody":{}}`,
		`{"QuestionAnswerInterruptRequest":{"type":"STOP","reason":"r"},"x":{}}`, `[]`, ``} {
		got, err := routes.DecodeInterrupt([]byte(text))
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err), "%s", text)
		assert.Nil(t, got)
	}
}

// TestEncodeKeepsText checks that nothing is escaped for HTML, whichever way a text goes out.
func TestEncodeKeepsText(t *testing.T) {
	t.Parallel()
	r :=
		&routes.InterruptRouting{TicketOrchestratorRequest: &routes.TicketOrchestratorRequest{Goal: `<b>&'é"`}}
	text, err := runtime.Encode(r)
	require.NoError(t, err)
	assert.Equal(t, `{"ticketOrchestratorRequest":{"goal":"<b>&'é\""}}`, string(text))
	text, err = routes.EncodeRequest(r.TicketOrchestratorRequest)
	require.NoError(t, err)
	assert.Equal(t, `{"TicketOrchestratorRequest":{"goal":"<b>&'é\""}}`, string(text))
}
