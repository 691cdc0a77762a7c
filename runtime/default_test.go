package runtime_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// absent has a default of every kind, written as the generator writes it.
type absent struct {
	Text     string           `json:"text"`
	Count    int64            `json:"count"`
	Share    float64          `json:"share"`
	On       bool             `json:"on"`
	Level    level            `json:"level,omitempty"`
	Slug     slug             `json:"slug,omitempty"`
	For      runtime.Duration `json:"for"`
	At       time.Time        `json:"at"`
	Raw      json.RawMessage  `json:"raw,omitempty"`
	Explicit *int64           `json:"explicit,omitempty"`
	Secret   string           `json:"secret"`
	Plain    string           `json:"plain,omitempty"`
	Next     *absent          `json:"next,omitempty"`
}

var absentShape = runtime.Shape{Name: "Absent", Fields: []runtime.Field{
	{Name: "text", Default: `"a \"b\"\n"`},
	{Name: "count", Rule: &runtime.Rule{Max: runtime.Bound(9.0)}, Default: "3"},
	{Name: "share", Default: "0.5"},
	{Name: "on", Default: "true"}, {Name: "level", Default: `"PRUNE"`},
	{Name: "slug", Default: `"ab"`}, {Name: "for", Default: `"1h30m"`},
	{Name: "at", Default: `"2026-01-02T03:04:05Z"`}, {Name: "raw", Default: "1.50"},
	{Name: "explicit", Default: "7"},
	{Name: "secret", Hidden: true, Default: `"s"`}, {Name: "plain"}, {Name: "next"},
}}

func (*absent) Shape() *runtime.Shape { return &absentShape }

// readers are the two ways to read a document.
func readers() map[string]func([]byte, runtime.Record) error {
	return map[string]func([]byte, runtime.Record) error{
		"wire":  runtime.Unmarshal,
		"reply": func(b []byte, v runtime.Record) error { return runtime.DecodeReply(b, v, nil) },
	}
}

func TestAbsentFieldsHaveTheirDefaults(t *testing.T) {
	t.Parallel()
	whole := absent{
		Text: "a \"b\"\n", Count: 3, Share: 0.5, On: true, Level: "PRUNE", Slug: "ab",
		For: runtime.Duration(90 * time.Minute),
		At:  time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Raw: json.RawMessage("1.50"),
		Explicit: runtime.Bound(int64(7)), Secret: "s",
	}
	nested := whole
	nested.Next = &whole
	given := whole
	given.Text, given.Count, given.On, given.Explicit = "", 0, false, runtime.Bound(int64(0))
	for doc, want := range map[string]absent{
		`{}`: whole,
		`{"text":null,"count":null,"share":null,"on":null,"level":null,"for":null,"at":null,"raw":null,"explicit":null,"plain":null}`: whole,
		`{"next":{}}`: nested,
		`{"next":null,"text":"","count":0,"on":false,"explicit":0}`: given,
	} {
		for name, read := range readers() {
			var v absent
			require.NoError(t, read([]byte(doc), &v), "%s %s", name, doc)
			assert.Equal(t, want, v, "%s %s", name, doc)
			text, err := runtime.Encode(&v)
			require.NoError(t, err)
			var back absent
			require.NoError(t, runtime.Unmarshal(text, &back), "%s", text)
			assert.Equal(t, v, back, "what was read is stored and read again as it was: %s", text)
		}
	}
}

// A default is the spec's own word. One that its field refuses is named where the field would
// stand, and nothing after it is misread.
func TestDefaultsThatAreWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`12`:    "/count | is 12: at most 9 is allowed",
		`"3"`:   "/count | expected an integer, found a string",
		`null`:  "/count | is required, found null: give an integer",
		`1 2`:   "/count | expected nothing more after the value at byte 2, found '2'",
		`0x1`:   "/count | expected nothing more after the value at byte 1, found 'x'",
		`x`:     "/count | expected an integer at byte 0, found 'x'",
		` `:     "/count | ends too early: expected an integer",
		`1e999`: "/count | does not fit into an integer of 64 bits",
	} {
		for name, read := range readers() {
			v := &wrongDefault{text: text}
			assert.Equal(t, []string{"/plain | expected a string, found a number", want},
				problems(t, read([]byte(`{"plain":5}`), v)), "%s %s", name, text)
			assert.NoError(t, read([]byte(`{"plain":"","count":1}`), v),
				"what is given needs no default")
		}
	}
}

// wrongDefault has one field with the default of the test.
type wrongDefault struct {
	text  string
	Count int64  `json:"count"`
	Plain string `json:"plain"`
}

// Shape implements runtime.Record.
func (v *wrongDefault) Shape() *runtime.Shape {
	return &runtime.Shape{Name: "Wrong", Fields: []runtime.Field{
		{Name: "plain"}, {Name: "count", Rule: &runtime.Rule{Max: runtime.Bound(9.0)},
			Default: v.text},
	}}
}
