package thread_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

type (
	base  struct{ Ref, Shade string }
	other struct{ Shade string }
	leafs struct {
		base
		*other

		Amount  int8 `json:"amount"`
		Note    string
		When    time.Time       `json:"when"`
		Address netip.Addr      `json:"address"`
		Raw     json.RawMessage `json:"raw"`
		Any     any             `json:"any,omitempty"`
		Number  json.Number     `json:"number"`
		Data    []byte          `json:"data"`
		Tags    []string        `json:"tags"`
		Pair    [2]bool         `json:"pair"`
		Counts  map[string]int  `json:"counts"`
		ByYear  map[int]float64 `json:"byYear"`
		Secret  string          `json:"-"`
		Quoted  int             `json:"quoted,string"`
		Zero    *bool           `json:"zero,omitzero"`
		private int
		Inner   struct {
			Deep *leafs  `json:"deep"`
			List []leafs `json:"list"`
		} `json:"inner"`
	}
	tree struct {
		Name string `json:"name"`
		Kids []tree `json:"kids"`
	}
)

// asksFor is a machine that asks for a T and returns it.
func asksFor[T any]() thread.Machine {
	return thread.Func("asks", func(ctx context.Context, _ any) (T, error) {
		return thread.Ask[T](ctx, "which", thread.Question{})
	})
}

func TestAnswerOfAnotherFormIsRefusedWhileTheQuestionIsOpen(t *testing.T) {
	t.Parallel()
	var whole leafs
	whole.Address, whole.Number, whole.private = netip.MustParseAddr("10.0.0.1"), "1", 1
	whole.Inner.List = []leafs{whole}
	text, err := json.Marshal(whole) //nolint:musttag // fields without a tag are part of the test
	require.NoError(t, err)
	with := func(from, to string) string {
		require.Contains(t, string(text), from)
		return string(bytes.Replace(text, []byte(from), []byte(to), 1))
	}
	for name, tc := range map[string]struct {
		machine thread.Machine
		good    []string
		bad     []string
	}{
		"a struct": {asksFor[leafs](), []string{
			string(text), with(`"amount":0`, `"amount":1.0`), with(`"raw":null`, `"raw":[{}]`),
			with(`"data":null`, `"data":"aGk="`),
			with(`"tags":null,`, ``), with(`"byYear":null`, `"byYear":{"2026":1.5}`),
			with(`"quoted":"0"`, `"quoted":"7"`),
		}, []string{
			`"a text"`, `null`, `{}`, `[]`, `7`, with(`"amount":0`, `"amount":"x"`),
			with(`"amount":0`, `"amount":128`),
			with(`"amount":0`, `"amount":null`), with(`"amount":0`, `"Amount":0`),
			with(`"amount":0,`, ``),
			with(`"0001-01-01T00:00:00Z"`, `"tomorrow"`),
			with(`"pair":[false,false]`, `"pair":[false]`), with(`"tags":null`, `"tags":["a",1]`),
			with(`"counts":null`, `"counts":{"a":"b"}`), with(`"byYear":null`, `"byYear":{"a":1}`),
			with(`"data":null`, `"data":"-"`),
			with(`"number":1`, `"number":"one"`), with(`"address":"10.0.0.1"`, `"address":10`),
			with(`"deep":null`, `"deep":{"amount":1}`),
			with(`"Note":""`, `"Note":"","Shade":""`), with(`"Note":""`, `"Note":"","Secret":""`),
		}},
		"a tree": {asksFor[tree](),
			[]string{`{"name":"a"}`, `{"name":"a","kids":[{"name":"b","kids":null}]}`},
			[]string{`{"name":"a","kids":[{"name":1}]}`,
				`{"name":"a","kids":[{"name":"b","kids":[7]}]}`}},
		"a pointer": {asksFor[*tree](), []string{`null`, `{"name":"a","kids":[{"name":"b"}]}`},
			[]string{`7`, `{}`}},
		"a list": {asksFor[[]tree](), []string{`[]`, `[{"name":"a"}]`},
			[]string{`[{"name":1}]`, `{}`}},
		"a record": {asksFor[letterRecord](), []string{`{"text":"a"}`},
			[]string{`"a"`, `{}`, `{"text":"a","more":1}`}},
		"anything": {asksFor[any](), []string{`7`, `null`, `{"a":[]}`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				r.with(tc.machine)
				for n, good := range tc.good {
					i := r.asked(r.start("asks", nil), "which")
					for _, bad := range tc.bad {
						r.refused(runtime.CodeInvalid,
							thread.Answer{Interrupt: i.ID, Value: value(bad), By: "bob"})
					}
					th := r.say(i, good)
					require.Equal(r, thread.StatusDone, th.Status(), "%d %s", n, good)
					require.Equal(r, thread.InterruptAnswered, r.interrupt(i.ID).State)
				}
			})
		})
	}
}

// letterRecord is a record as the generator writes one.
type letterRecord struct {
	Text string `json:"text"`
}

var letterShape = runtime.Shape{Name: "Letter",
	Fields: []runtime.Field{{Name: "text", Required: true}}}

func (*letterRecord) Shape() *runtime.Shape { return &letterShape }

func (v *letterRecord) UnmarshalJSON(data []byte) error { return runtime.Unmarshal(data, v) }

func TestSchemaOfAnAnswerIsThatOfItsType(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.with(asksFor[tree]())
		i := r.asked(r.start("asks", nil), "which")
		assert.JSONEq(r,
			`{"type":"object","required":["name"],"additionalProperties":false,"properties":{"name":{"type":"string"},
			"kids":{"anyOf":[{"type":"array","items":{"$ref":"#"}},{"type":"null"}]}}}`, string(i.Schema))
		given := json.RawMessage(`{"type":"object"}`)
		r.machines = []thread.Machine{thread.Func("asks",
			func(ctx context.Context, _ any) (tree, error) {
				return thread.Ask[tree](ctx, "which", thread.Question{Schema: given})
			})}
		r.close()
		r.open()
		assert.JSONEq(r, string(given), string(r.asked(r.start("asks", nil), "which").Schema),
			"one that is given counts")
	})
}
