package runtime_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// sum hides what it holds, and only its pointer can say it.
type sum struct{ cents int }

func (s *sum) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"cents":%d}`, s.cents),
		nil
}

// sums is a list whose pointer writes it in a way of its own.
type sums []int

func (s *sums) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `"%d of them"`, len(*s)),
		nil
}

// What a pointer can say of a value is said of the value too: else a result would be stored as the
// fields that JSON sees of it, which are none.
func TestAValueIsEncodedAsItsPointerIs(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]any{
		`{"cents":1}`:                         sum{1},
		`{"cents":2}`:                         &sum{2},
		`{"In":{"cents":3},"To":{"cents":4}}`: struct{ In, To sum }{sum{3}, sum{4}},
		`[{"cents":5}]`:                       [1]sum{{5}},
		`[{"cents":6}]`:                       []sum{{6}},
		`{"a":{"cents":7},"b":null}`:          map[string]*sum{"a": {7}, "b": nil},
		`"2 of them"`:                         sums{1, 1},
		`null`:                                (*sum)(nil),
		`"2026-03-01T12:00:00Z"`:              time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		`60000000000`:                         time.Minute,
		`{"b":1,"a":2}`:                       json.RawMessage(`{"b":1,"a":2}`),
		`["<a>",null,true,1.5,{"x":[]}]`: []any{"<a>", nil, true, 1.5,
			map[string]any{"x": []any{}}},
		`{"path":"p","line":0}`: &leaf{Path: "p"},
		`{"A":{"B":{"cents":8}},"C":[[{"cents":9}]]}`: struct {
			A struct{ B sum }
			C [1][1]sum
		}{A: struct{ B sum }{sum{8}}, C: [1][1]sum{{{9}}}},
	} {
		got, err := runtime.Encode(v)
		require.NoError(t, err, want)
		assert.Equal(t, want, string(got))
	}
	got, err := runtime.Encode(nil)
	require.NoError(t, err)
	assert.Equal(t, "null", string(got))
	for _, bad := range []any{math.NaN(), func() {}, struct{ C chan int }{}} {
		_, err = runtime.Encode(bad)
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err), "%T", bad)
	}
	given := sum{1}
	_, err = runtime.Encode(given)
	require.NoError(t, err)
	assert.Equal(t, sum{1}, given)
}

// appended writes its own JSON.
type appended struct{}

// AppendJSON appends its JSON.
func (*appended) AppendJSON(b []byte) []byte { return append(b, `{"own":1}`...) }

func TestAValueThatAppendsItsJSONIsEncodedByIt(t *testing.T) {
	t.Parallel()
	text, err := runtime.Encode(&appended{})
	require.NoError(t, err)
	assert.Equal(t, `{"own":1}`, string(text))
}
