package runtime_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

func TestFormats(t *testing.T) {
	for format, c := range map[string]struct{ good, bad []string }{
		"date-time": {[]string{"2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123+01:00"},
			[]string{"2026-01-02", "2026-01-02 03:04:05Z", "2026-02-30T03:04:05Z"}},
		"date": {[]string{"2024-02-29"}, []string{"2026-02-29", "26-02-28", ""}},
		"time": {[]string{"03:04:05Z", "23:59:59.5-07:00"},
			[]string{"24:00:00Z", "03:04:05", ""}},
		"email": {[]string{"a@b.example"}, []string{"a", "A <a@b.example>", "a@b@c", ""}},
		"hostname": {[]string{"a", "a-b.example", "1.2"},
			[]string{"", "-a", "a..b", "a_b", strings.Repeat("a", 64),
				strings.Repeat("a.", 127) + "a"}},
		"ipv4": {[]string{"127.0.0.1"}, []string{"127.0.0.256", "::1", "127.1"}},
		"ipv6": {[]string{"::1", "fe80::1"}, []string{"127.0.0.1", "fe80::1%eth0", ":"}},
		"uuid": {[]string{"123e4567-e89b-12d3-a456-42661417400A"},
			[]string{"123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g",
				"123e4567-e89b-12d3-a456_426614174000"}},
		"uri":     {[]string{"https://a.example/b?c#d", "urn:x:y"}, []string{"/b", "a b", "%"}},
		"unheard": {[]string{"anything"}, nil},
	} {
		shape := &runtime.Shape{Name: "T",
			Fields: []runtime.Field{{Name: "v", Rule: &runtime.Rule{Format: format}}}}
		for _, text := range c.good {
			assert.NoError(t, runtime.Unmarshal(quoted(t, text), &text1{shape: shape}), "%s %q",
				format, text)
		}
		for _, text := range c.bad {
			assert.Error(t, runtime.Unmarshal(quoted(t, text), &text1{shape: shape}), "%s %q",
				format, text)
		}
	}
}

// text1 is a record of one string.
type text1 struct {
	shape *runtime.Shape
	Text  string `json:"v"`
}

func (v *text1) Shape() *runtime.Shape { return v.shape }

func quoted(t *testing.T, text string) []byte {
	t.Helper()
	b, err := runtime.Encode(map[string]string{"v": text})
	require.NoError(t, err)
	return b
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{least(""),
		least(`,"raw":[1e3,"\ud83d\ude00",{"a":null}],"inner":{"leaf":{"path":"x"}}`),
		`{"route":{"leaf":{"path":"x"}}}`,
		`{"work":` + least(`,"meta":[{"key":"a","value":"b"}]`) + `}`, `{"leaf":{"path":"\u0000"}}`,
		"[[[[", `{"a":01}`, ""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, v := range []runtime.Record{new(work), new(choice)} {
			wire := runtime.Unmarshal(data, v)
			fresh := runtime.Record(new(work))
			if v.Shape().Kind == runtime.ShapeUnion {
				fresh = new(choice)
			}
			reply := runtime.DecodeReply(data, fresh, nil)
			for _, err := range []error{wire, reply} {
				if err == nil && !json.Valid(data) {
					t.Fatalf("accepted what is not JSON: %q", data)
				}
				var e *runtime.Error
				if err != nil && !errors.As(err, &e) {
					t.Fatalf("foreign error %v", err)
				}
			}
			if wire != nil {
				continue
			}
			out, err := runtime.Encode(v)
			if err != nil {
				t.Fatalf("read %q and cannot write it: %v", data, err)
			}
			if err := runtime.Unmarshal(out,
				map[bool]runtime.Record{true: new(choice), false: new(work)}[v.Shape().Kind ==
					runtime.ShapeUnion]); err != nil {
				t.Fatalf("wrote %s and cannot read it: %v", out, err)
			}
		}
	})
}

// timed is a record of one time.
type timed struct {
	At time.Time `json:"at"`
}

func (v *timed) Shape() *runtime.Shape {
	return &runtime.Shape{Name: "Timed", Fields: []runtime.Field{{Name: "at", Required: true}}}
}

// TestTimesThatCannotBeWrittenAgainAreRefused: what is read can be encoded, and is a date-time of
// JSON Schema.
func TestTimesThatCannotBeWrittenAgainAreRefused(t *testing.T) {
	t.Parallel()
	read := func(text string) (*timed, error) {
		var v timed
		return &v, runtime.Unmarshal([]byte(`{"at":"`+text+`"}`), &v)
	}
	for _, text := range []string{"2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00-99:00",
		"2026-01-01T00:00:00+00:60", "2026-01-01T00:00:00,5Z", "2026-01-01T3:04:05Z"} {
		_, err := read(text)
		assert.ErrorContains(t, err, "/at: is not a time: write it like 2006-01-02T15:04:05Z", text)
	}
	for _, text := range []string{"2026-01-01T00:00:00+23:59", "2026-01-01t00:00:00z",
		"2026-01-01T00:00:00.5-00:00", "0000-01-01T00:00:00Z"} {
		v, err := read(text)
		require.NoError(t, err, text)
		again, err := runtime.Encode(v)
		require.NoError(t, err, text)
		assert.NoError(t, runtime.Unmarshal(again, new(timed)), text)
	}
}
