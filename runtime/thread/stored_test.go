package thread_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

func TestOnlyResultsOfEffectsSurviveAQuestion(t *testing.T) {
	scene(t, func(r *rig) {
		price := 10 // of the outside
		type bill struct {
			Items        []string
			Stored, Seen int
		}
		r.with(thread.Func("cart", func(ctx context.Context, items []string) (bill, error) {
			r.did.add("run", "")
			items[0] += "!" // a variable: each run begins with the stored input again
			items = append(items, "wrapping")
			stored, err := thread.Do(ctx, "price", func(context.Context, string) (int, error) {
				return price, nil
			})
			if err != nil {
				return bill{}, err
			}
			seen := price // not by Do: nothing keeps it
			if _, err := thread.Ask[bool](ctx, "buy", thread.Question{}); err != nil {
				return bill{}, err
			}
			return bill{items, stored, seen}, nil
		}))
		th := r.start("cart", []string{"lamp"})
		price = 20 // while the person thinks
		r.next()
		r.done(r.reply(th.ID, "buy", `true`),
			`{"Items":["lamp!","wrapping"],"Stored":10,"Seen":20}`)
		assert.Equal(r, 2, r.did.of("run"), "the whole function runs again, from its top")
	})
}

// TestAnIDIsNeverUsedAgain: elsewhere a thread was deleted, and another one of its id found the old
// one's question. Here nothing deletes threads, and an id that was used is refused, whatever became
// of its thread.
func TestAnIDIsNeverUsedAgain(t *testing.T) {
	scene(t, func(r *rig) {
		var methods []string
		for method := range reflect.TypeFor[thread.Store]().Methods() {
			methods = append(methods, method.Name)
		}
		assert.Equal(r, []string{"Commit", "Interrupts", "Load", "Log", "Threads"}, methods,
			"one of them deletes?")
		r.with(r.asker(thread.Question{}))
		_, err := r.e.Start(r.ctx, thread.Begin{ID: "job", Machine: "asker", User: "ann"})
		require.NoError(r, err)
		old := r.asked(r.rest("job"), "which")
		_, err = r.e.Cancel(r.ctx, "job", "ann", "enough")
		require.NoError(r, err)
		r.next()
		other := r.start("asker", nil)
		before := r.log("job")
		for _, request := range []string{"", "another one"} {
			_, err = r.e.Start(r.ctx, thread.Begin{ID: "job", Machine: "asker", User: "ann",
				Request: request})
			assert.Equal(r, runtime.CodeConflict, runtime.CodeOf(err))
		}
		_, err = r.e.Fork(r.ctx, other.ID, other.Seq, "job", "ann")
		assert.Equal(r, runtime.CodeConflict, runtime.CodeOf(err))
		_, err = r.e.Deliver(r.ctx, thread.Message{Thread: "job", Machine: "asker", Text: "again"})
		assert.Equal(r, runtime.CodeNotWaiting, runtime.CodeOf(err))
		assert.Equal(r, before, r.log("job"))
		inbox, err := r.e.Inbox(r.ctx, thread.InterruptQuery{})
		require.NoError(r, err)
		require.Len(r, inbox, 1)
		assert.Equal(r, other.ID, inbox[0].Thread)
		assert.Equal(r, thread.InterruptCancelled, r.interrupt(old.ID).State)
		r.refused(runtime.CodeNotWaiting, thread.Answer{Interrupt: old.ID, Value: value(`"late"`),
			By: "bob"})
	})
}

// page is what a reader of a thread sees: the messages so far, and the cards of questions
// to be answered.
type page struct {
	messages []string
	cards    []string
	gone     map[string]bool // cards that were taken away
}

// show puts a row on the page.
func (p *page) show(r *rig, e *thread.Entry) {
	r.Helper()
	switch e.Type { //nolint:exhaustive // the others show nothing here
	case thread.EntryMessage:
		p.messages = append(p.messages, e.Name)
	case thread.EntryAsked:
		assert.False(r, p.gone[e.Interrupt], "a card that was taken away comes back")
		p.cards = append(p.cards, e.Interrupt)
	case thread.EntryAnswered:
		assert.Equal(r, []string{e.Interrupt}, p.cards)
		p.cards, p.gone[e.Interrupt] = nil, true
	}
}

func TestReconnectAfterAnAnswerShowsNoOldQuestion(t *testing.T) {
	scene(t, func(r *rig) {
		r.with(thread.Func("talk", func(ctx context.Context, _ any) (string, error) {
			for _, name := range []string{"a", "b"} {
				if err := thread.Say(ctx, "before "+name, name); err != nil {
					return "", err
				}
				if _, err := thread.Ask[string](ctx, name, thread.Question{}); err != nil {
					return "", err
				}
			}
			return "", nil
		}))
		th := r.start("talk", nil)
		a := r.asked(th, "a")
		r.next()
		th = r.say(a, `"yes"`)
		b := r.asked(th, "b")
		r.next()
		snapshot, err := r.e.Thread(r.ctx, th.ID)
		require.NoError(r, err)
		require.Len(r, snapshot.Open, 1, "the snapshot has the card of b alone")
		assert.Equal(r, b.ID, snapshot.Open[0].ID)
		inbox, err := r.e.Inbox(r.ctx,
			thread.InterruptQuery{Thread: th.ID,
				States: []thread.InterruptState{thread.InterruptOpen}})
		require.NoError(r, err)
		require.Len(r, inbox, 1)
		assert.Equal(r, b.ID, inbox[0].ID)
		rows := r.log(th.ID)
		require.Greater(r, len(rows), 5)
		// the connection is lost after so many rows, and taken up with the cursor of the last one
		for left := range rows {
			shown, cursor := &page{gone: map[string]bool{}}, int64(0)
			for n := range rows[:left] {
				shown.show(r, &rows[n])
				cursor = rows[n].Cursor
			}
			for e, err := range r.e.Subscribe(r.ctx, thread.Filter{Thread: th.ID}, cursor) {
				require.NoError(r, err)
				if shown.show(r, &e); e.Seq == snapshot.Seq {
					break
				}
			}
			assert.Equal(r, []string{b.ID}, shown.cards, "reconnected after %d", left)
			assert.Equal(r, []string{"before a", "before b"}, shown.messages,
				"no message is lost, and none shown twice")
		}
	})
}

// money has its JSON form from methods of its pointer.
type money struct{ cents int }

func (m *money) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"cents":%d}`, m.cents),
		nil
}

func (m *money) UnmarshalJSON(data []byte) error {
	var v struct {
		Cents int `json:"cents"`
	}
	err := json.Unmarshal(data, &v)
	m.cents = v.Cents
	return err
}

// spot has a text form, so it can be the key of a map.
type spot struct{ X, Y int }

func (p spot) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%d/%d", p.X, p.Y), nil }

func (p *spot) UnmarshalText(data []byte) error {
	_, err := fmt.Sscanf(string(data), "%d/%d", &p.X, &p.Y)
	return err
}

type nest struct {
	Name  string             `json:"name"`
	None  []string           `json:"none"`
	Empty []string           `json:"empty"`
	Maps  map[string][]*nest `json:"maps"`
	Up    **nest             `json:"up"`
	Price *money             `json:"price"`
	Raw   json.RawMessage    `json:"raw"`
}

// keeper is a machine through which one value goes by every way that the engine stores values: as
// input, result of an effect, message, and answer. bytes is its stored form, which must never
// change.
type keeper struct {
	thread.Machine
	input any
	bytes string
}

func keeps[T any](r *rig, bytes string, v T) keeper {
	r.Helper()
	same := func(got T, way string) { assert.Equal(r, v, got, "%s: %s", bytes, way) }
	return keeper{input: v, bytes: bytes, Machine: thread.Func(fmt.Sprintf("%T %s", v, bytes),
		func(ctx context.Context, in T) (string, error) {
			same(in, "the input")
			got, err := thread.Do(ctx, "effect", func(context.Context, string) (T, error) {
				return v, nil
			})
			if err != nil {
				return "", err
			}
			same(got, "the result of an effect")
			if err := thread.Say(ctx, "message", v); err != nil {
				return "", err
			}
			answer, err := thread.Ask[T](ctx, "which", thread.Question{})
			if err != nil {
				return "", err
			}
			same(answer, "the answer")
			return "kept", nil
		})}
}

func TestValuesComeBackAsTheyWere(t *testing.T) {
	scene(t, func(r *rig) {
		inner := &nest{Name: "inner", Empty: []string{}, Raw: value(`null`)}
		keepers := []keeper{
			keeps(r, `null`, []string(nil)), keeps(r, `[]`, []string{}),
			keeps(r, `null`, map[string]int(nil)), keeps(r, `{}`, map[string]int{}),
			keeps(r, `null`, (*nest)(nil)), keeps(r, `[null,{}]`, []any{nil, map[string]any{}}),
			keeps(r, `[1,0,3]`, [3]int{1, 0, 3}),
			keeps(r, `[[],[null]]`, [2][]*spot{{}, {nil}}), keeps(r, `false`, false),
			keeps(r, `0`, 0), keeps(r, `""`, ""),
			keeps(r, `"<&>\u2028 ü 🙂 \"\\"`, "<&>\u2028 ü 🙂 \"\\"),
			keeps(r, `"AP8="`, []byte{0, 255}),
			keeps(r, `-9223372036854775808`, int64(math.MinInt64)),
			keeps(r, `18446744073709551615`, uint64(math.MaxUint64)),
			keeps(r, `5e-324`, math.SmallestNonzeroFloat64), keeps(r, `0.1`, 0.1),
			keeps(r, `90000000000`, 90*time.Second),
			keeps(r, `"2026-03-01T12:00:00.000000001Z"`,
				time.Date(2026, 3, 1, 12, 0, 0, 1, time.UTC)),
			keeps(r, `{"b":1,"a":[1.50,null]}`, value(`{"b":1,"a":[1.50,null]}`)),
			keeps(r, `{"1/2":{"X":0,"Y":0}}`, map[spot]struct{ X, Y int }{{1, 2}: {}}),
			keeps(r, `{"cents":5}`, &money{5}), keeps(r, `{"cents":5}`, money{5}),
			keeps(r, `[{"cents":5}]`, [1]money{{5}}), keeps(r, `[{"cents":5}]`, []money{{5}}),
			keeps(r, `{"In":{"cents":5}}`, struct{ In money }{money{5}}),
			keeps(r, `{"a":{"cents":5},"b":null}`, map[string]*money{"a": {5}, "b": nil}),
			keeps(r,
				`{"name":"","none":null,"empty":[],"maps":{"x":[{"name":"inner","none":null,"empty":[],"maps":null,"up":null,"price":null,"raw":null},null]},`+
					`"up":{"name":"inner","none":null,"empty":[],"maps":null,"up":null,"price":null,"raw":null},"price":{"cents":7},"raw":{"z":[]}}`,
				nest{Empty: []string{}, Maps: map[string][]*nest{"x": {inner, nil}}, Up: &inner,
					Price: &money{7}, Raw: value(`{"z":[]}`)}),
		}
		machines := make([]thread.Machine, len(keepers))
		for n := range keepers {
			machines[n] = keepers[n].Machine
		}
		r.with(machines...)
		var begun []*thread.Thread
		for _, k := range keepers {
			begun = append(begun, r.start(k.Name(), k.input))
		}
		r.next()
		for n, k := range keepers {
			th := r.load(begun[n].ID)
			require.Len(r, th.Frames, 1, "%s: %+v", k.bytes, th.Failure)
			f := &th.Frames[0]
			assert.Equal(r, k.bytes, string(f.Input))
			require.NotNil(r, f.Effect("effect"), k.bytes)
			assert.Equal(r, k.bytes, string(f.Effect("effect").Value))
			assert.Equal(r, k.bytes, string(r.log(th.ID, thread.EntryMessage)[0].Value))
			r.done(r.reply(th.ID, "which", k.bytes), `"kept"`)
		}
	})
}
