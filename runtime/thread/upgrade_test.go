package thread_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/compat"
	"github.com/routegen/routegen/runtime/thread"
)

// orders is a machine of a spec: its input is an Order, and it asks which one to ship. What it
// returns is the input that it has then.
type orders struct {
	thread.Machine
	migrate map[string]runtime.Migrate
}

func newOrders() *orders {
	return &orders{Machine: thread.Func("orders",
		func(ctx context.Context, in json.RawMessage) (json.RawMessage, error) {
			_, err := thread.Ask[string](ctx, "which", thread.Question{})
			return in, err
		})}
}

func (*orders) Kinds() []runtime.Kind                    { return nil }
func (*orders) Shapes() []runtime.StoredShape            { return nil }
func (o *orders) Migrations() map[string]runtime.Migrate { return o.migrate }

func (*orders) UpgradeFrame(r *compat.Reading, f *thread.Frame) {
	r.Within(func() { _, f.Input = r.NamedValue(runtime.ShapeRequest, "Order", f.Input) }, "input")
}

// orderOf is the table of a program whose orders have these fields.
func orderOf(fields ...runtime.StoredField) []runtime.StoredShape {
	return []runtime.StoredShape{{Kind: runtime.ShapeRequest, Name: "Order", Fields: fields}}
}

func orderKey(rules ...string) runtime.StoredField {
	return runtime.StoredField{Name: "key", Type: "string", Required: true, Rules: rules}
}

// waitingOrder leaves a thread that waits with an order, stored under the table.
func waitingOrder(r *rig, old []runtime.StoredShape, order string) *thread.Thread {
	r.cfg.Shapes, r.cfg.Kinds = old, aDay()
	r.with(newOrders())
	th := r.start("orders", json.RawMessage(order))
	r.close()
	return r.load(th.ID)
}

func TestThreadIsJudgedByWhatItHolds(t *testing.T) {
	t.Parallel()
	amount := runtime.StoredField{Name: "amount", Type: "int"}
	old := orderOf(orderKey("pattern=^[a-m]+$", "max_length=9"), amount)
	const order = `{"key":"abc","amount":5}`
	for name, c := range map[string]struct {
		now     []runtime.StoredShape
		migrate runtime.Migrate
		refused string // what the error names
		result  string // "" means the order
	}{
		"wider pattern":    {now: orderOf(orderKey("pattern=^[a-z]+$", "max_length=9"), amount)},
		"narrower and met": {now: orderOf(orderKey("pattern=^[a-c]+$", "max_length=3"), amount)},
		"narrower and not met": {now: orderOf(orderKey("pattern=^[x-z]+$"), amount),
			refused: `/frames/0/input/key: it is "abc": does not match the pattern ^[x-z]+$`},
		"other type that reads it": {now: orderOf(orderKey(),
			runtime.StoredField{Name: "amount", Type: "float"})},
		"other type": {now: orderOf(orderKey(),
			runtime.StoredField{Name: "amount", Type: "string"}),
			refused: `/frames/0/input/amount: it is 5: expected a string`},
		"field gone": {now: orderOf(orderKey()),
			refused: "/frames/0/input/amount: it is 5, and Order has no such field"},
		"field renamed": {now: orderOf(orderKey(), runtime.StoredField{Name: "total", Type: "int",
			Was: []string{"amount"}}), result: `{"key":"abc","total":5}`},
		"required and new": {now: orderOf(orderKey(), amount,
			runtime.StoredField{Name: "at", Type: "string", Required: true}),
			refused: "/frames/0/input/at: Order needs it, and it is not there"},
		"required and new with a value for old ones": {now: orderOf(orderKey(), amount,
			runtime.StoredField{Name: "at", Type: "string", Required: true, Default: `"here"`}),
			result: `{"key":"abc","amount":5,"at":"here"}`},
		"migrated": {now: orderOf(orderKey(), runtime.StoredField{Name: "amount", Type: "string"}),
			migrate: func(old json.RawMessage) (json.RawMessage, error) {
				return json.RawMessage(`{"key":"abc","amount":"5 euro"}`), nil
			}, result: `{"key":"abc","amount":"5 euro"}`},
		"migrated into what does not fit": {
			now:     orderOf(orderKey(), runtime.StoredField{Name: "amount", Type: "string"}),
			migrate: func(old json.RawMessage) (json.RawMessage, error) { return old, nil },
			refused: "/frames/0/input/amount: it is 5: expected a string"},
		"a migration that panics": {
			now:     orderOf(orderKey(), runtime.StoredField{Name: "amount", Type: "string"}),
			migrate: func(json.RawMessage) (json.RawMessage, error) { panic("no") },
			refused: "the migration of Order refuses"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(r *rig) {
				stored := waitingOrder(r, old, order)
				r.cfg.Shapes = c.now
				program := newOrders()
				if c.migrate != nil {
					program.migrate = map[string]runtime.Migrate{"Order": c.migrate}
				}
				r.machines = []thread.Machine{program}
				r.open()
				_, err := r.e.Answer(r.ctx, stored.ID,
					thread.Answer{Question: "which", Value: value(`"a"`)})
				if c.refused != "" {
					assert.Equal(r, runtime.CodeIncompatible, runtime.CodeOf(err))
					require.ErrorContains(r, err, c.refused)
					assert.Equal(r, stored, r.load(stored.ID), "it is kept, untouched")
					return
				}
				require.NoError(r, err)
				if c.result == "" {
					c.result = order
				}
				end := r.rest(stored.ID)
				r.done(end, c.result)
				assert.Equal(r, compat.Fingerprint(c.now), end.Fingerprint)
				log := r.log(stored.ID)
				assert.Len(r, r.log(stored.ID, thread.EntryUpgraded), 1, "judged once")
				again, err := thread.Replay(stored.ID, log, func(string) *thread.Interrupt {
					found, err := r.store.Interrupts(r.ctx,
						thread.InterruptQuery{Thread: stored.ID})
					require.NoError(r, err)
					return found[0]
				})
				require.NoError(r, err)
				assert.Equal(r, end.Result, again.Result, "the log adds up to it")
			})
		})
	}
}

func TestThreadOfAnotherProgramIsRefusedByEveryCommand(t *testing.T) {
	onBoth(t, func(r *rig) {
		old := orderOf(orderKey())
		stored := waitingOrder(r, old, `{"key":"abc"}`)
		r.cfg.Shapes = orderOf(orderKey("max_length=2"))
		r.open()
		const want = `/frames/0/input/key: it is "abc": has 3 characters`
		for name, call := range map[string]func() error{
			"answer": func() error {
				_, err := r.e.Answer(r.ctx, stored.ID,
					thread.Answer{Question: "which", Value: value(`"a"`)})
				return err
			},
			"cancel": func() error {
				_, err := r.e.Cancel(r.ctx, stored.ID, "ann", "")
				return err
			},
			"batch": func() error {
				_, err := r.e.AnswerAll(r.ctx,
					thread.Answer{Interrupt: stored.Open[0].ID, Value: value(`"a"`)})
				return err
			},
			"fork": func() error {
				_, err := r.e.Fork(r.ctx, stored.ID, stored.Seq, "", "ann")
				return err
			},
		} {
			err := call()
			assert.Equal(r, runtime.CodeIncompatible, runtime.CodeOf(err), name)
			require.ErrorContains(r, err, want, name)
		}
		r.pass(25 * time.Hour)
		assert.Equal(r, stored, r.load(stored.ID), "it is kept, untouched")
		rows, err := r.e.Threads(r.ctx, thread.Query{Limit: 1})
		require.NoError(r, err)
		require.Len(r, rows, 1, "the tables of shapes are no threads")
		r.close()
		r.cfg.Shapes = old
		r.open()
		r.pass(2 * time.Second)
		assert.Equal(r, thread.StatusFailed, r.rest(stored.ID).Status(),
			"its own program goes on with it: the deadline has come")
	})
}

func TestMachineOfNoSpecIsNeverRefused(t *testing.T) {
	onBoth(t, func(r *rig) {
		r.cfg.Shapes = orderOf(orderKey())
		r.with(r.asker(thread.Question{}))
		th := r.start("asker", nil)
		r.close()
		r.cfg.Shapes = []runtime.StoredShape{{Kind: runtime.ShapeNode, Name: "other"}}
		r.open()
		r.done(r.reply(th.ID, "which", `"a"`), `"a"`)
	})
}

// TestTwoVersionsBesideEachOther: as long as both read what a thread holds, either may go on with
// it, and each brings it to its own shapes.
func TestTwoVersionsBesideEachOther(t *testing.T) {
	onBoth(t, func(r *rig) {
		old := orderOf(orderKey("max_length=9"))
		now := orderOf(orderKey("max_length=5"))
		stored := waitingOrder(r, old, `{"key":"abc"}`)
		r.open()
		cfg := r.cfg
		cfg.Shapes, cfg.Owner = now, "new"
		other := r.engine(r.store, cfg, newOrders())
		_, err := other.Escape(r.ctx, stored.ID, thread.EscapeSafe, "ann", "wait")
		require.NoError(r, err)
		r.pass(2 * time.Second)
		assert.Equal(r, compat.Fingerprint(now), r.load(stored.ID).Fingerprint)
		_, err = r.e.Cancel(r.ctx, stored.ID, "ann", "")
		require.NoError(r, err, "the old one still reads it")
		end := r.load(stored.ID)
		assert.Equal(r, compat.Fingerprint(old), end.Fingerprint)
		assert.Equal(r, compat.Fingerprint(old), end.FirstFingerprint)
	})
}

// TestForkFromBeforeAnUpgrade: it begins under the shapes of that time.
func TestForkFromBeforeAnUpgrade(t *testing.T) {
	onBoth(t, func(r *rig) {
		old := orderOf(orderKey())
		stored := waitingOrder(r, old, `{"key":"abc"}`)
		now := orderOf(runtime.StoredField{Name: "id", Type: "string", Required: true,
			Was: []string{"key"}})
		r.cfg.Shapes = now
		r.open()
		r.done(r.reply(stored.ID, "which", `"a"`), `{"id":"abc"}`)
		fork, err := r.e.Fork(r.ctx, stored.ID, stored.Seq, "", "ann")
		require.NoError(r, err)
		assert.Equal(r, compat.Fingerprint(old), fork.Thread.Fingerprint,
			"as it was committed: the engine drives it at once, and brings it up to date")
		r.done(r.reply(fork.Thread.ID, "which", `"b"`), `{"id":"abc"}`)
		assert.Equal(r, compat.Fingerprint(now), r.load(fork.Thread.ID).Fingerprint)
	})
}

// TestLogNamesThePlacesAndNoValues leaves a question of another spec past its deadline: the log has
// a line a minute that says which values the program cannot read, and not what they are.
func TestLogNamesThePlacesAndNoValues(t *testing.T) {
	onBoth(t, func(r *rig) {
		stored := waitingOrder(r, orderOf(orderKey()), `{"key":"a secret"}`)
		var log bytes.Buffer
		cfg := r.cfg
		cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		cfg.Shapes = orderOf(orderKey("max_length=3"))
		e, err := thread.Open(r.ctx, r.store, cfg, newOrders())
		require.NoError(r, err)
		r.pass(24*time.Hour + 10*time.Minute)
		_, err = e.Answer(r.ctx, stored.ID, thread.Answer{Text: "a", By: "ann"})
		assert.ErrorContains(r, err, "a secret", "the control: the caller is told the value")
		require.NoError(r, e.Close(r.ctx))
		assert.Contains(r, log.String(), "the program cannot read /frames/0/input/key")
		assert.NotContains(r, log.String(), "secret")
		assert.LessOrEqual(r, strings.Count(log.String(), "level=WARN"), 11)
		assert.Equal(r, stored, r.load(stored.ID), "it is untouched")
	})
}
