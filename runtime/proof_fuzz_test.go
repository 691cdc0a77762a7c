package runtime_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// FuzzStoredThread reads any bytes as what a store holds of a thread, its interrupts and its log, and decides everything there is to decide on
// them. Bytes whose checksum is right may still say anything, and bytes whose checksum is wrong must be refused; nothing panics, and no
// decision writes into the record it was made on.
func FuzzStoredThread(f *testing.F) {
	for _, seed := range storedThreads(f) {
		f.Add(seed.thread, seed.open, seed.log, "f1", "a", `true`)
		f.Add(seed.thread[:len(seed.thread)/2], seed.open, seed.log, "", "", `"continue"`)
	}
	f.Add([]byte(`{"frames":[{"id":"f1","parent":"f1","state":"calling"}]}`), []byte(`[]`), []byte(`[{"seq":1,"type":"started","value":3}]`), "f1", "a", `{}`)
	f.Add([]byte(`null`), []byte(`[{"id":"i1","state":"queued"}]`), []byte(`[{"seq":1,"type":"asked","interrupt":"i1"}]`), "", "", `null`)
	f.Fuzz(func(t *testing.T, thread, open, log []byte, frame, name, value string) {
		refusesDamage(t, thread)
		record := new(runtime.Thread)
		var asked []runtime.Interrupt
		if !stored(t, thread, record) || !stored(t, open, &asked) {
			return
		}
		record.Open = openOf(asked)
		before := sealed(t, record, record.Open)
		for _, decision := range decisions(frame, name, value) {
			_, _, _, _ = record.Status(), record.Wake(), record.Root(), record.Paused()
			decision(runtime.NewChange(record, fuzzRules(), time.UnixMilli(1_790_000_000_000)))
			require.Equal(t, before, sealed(t, record, record.Open), "a decision wrote into the record it was made on")
		}
		replays(t, log, asked)
	})
}

// refusesDamage reads bytes as they are, with a checksum only by chance.
func refusesDamage(t *testing.T, data []byte) {
	t.Helper()
	var record runtime.Thread
	if err := runtime.Unseal(data, &record); err != nil {
		require.Equal(t, runtime.CodeInternal, runtime.CodeOf(err))
	}
}

// stored reads bytes under a right checksum. It reports false when they are refused.
func stored(t *testing.T, data []byte, into any) bool {
	t.Helper()
	sum := fmt.Appendf(nil, "%08x", crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
	if err := runtime.Unseal(append(slices.Clip(data), sum...), into); err != nil {
		require.Equal(t, runtime.CodeInternal, runtime.CodeOf(err))
		return false
	}
	return true
}

func sealed(t *testing.T, values ...any) string {
	t.Helper()
	var out strings.Builder
	for _, v := range values {
		data, err := runtime.Seal(v)
		if err != nil { // raw JSON that is none cannot come from a store, and is not written back
			t.Skip("not a record that can be stored")
		}
		out.Write(data)
	}
	return out.String()
}

// openOf keeps what a store hands out with a thread: open and queued interrupts, each id once.
func openOf(all []runtime.Interrupt) []*runtime.Interrupt {
	had := map[string]bool{}
	var out []*runtime.Interrupt
	for n := range all {
		if i := &all[n]; !had[i.ID] && (i.State == runtime.InterruptOpen || i.State == runtime.InterruptQueued) {
			had[i.ID] = true
			out = append(out, i)
		}
	}
	return out
}

func fuzzRules() *runtime.Rules {
	ids := 0
	return &runtime.Rules{Kinds: runtime.DefaultKinds(), HoldEarly: true, NewID: func() string {
		ids++
		return "new" + strconv.Itoa(ids)
	}}
}

// decisions are all there are, each with what the fuzzer made up.
func decisions(frame, name, value string) []func(c *runtime.Change) {
	raw := json.RawMessage(value)
	each := func(c *runtime.Change, do func(i *runtime.Interrupt)) {
		for _, i := range append([]*runtime.Interrupt{}, c.Thread.Open...) {
			do(i)
		}
	}
	answers := func(a runtime.Answer) func(c *runtime.Change) {
		return func(c *runtime.Change) {
			each(c, func(i *runtime.Interrupt) {
				a.Interrupt = i.ID
				_, _ = c.Answer(a)
				_, _ = runtime.Closed(i, &a)
			})
			a.Interrupt, a.Question = "", name
			_, _ = c.Answer(a)
			c.Finish()
		}
	}
	return []func(c *runtime.Change){
		func(c *runtime.Change) { c.Due(); c.Due() },
		answers(runtime.Answer{Value: raw, By: name}),
		answers(runtime.Answer{Text: value}),
		answers(runtime.Answer{RouteTo: name, By: value}),
		func(c *runtime.Change) {
			c.Ask(frame, runtime.KindAgentQuestion, runtime.Question{Name: name, Text: value, Plain: runtime.PlainYesNo})
			c.Ask(frame, runtime.KindSystemError, runtime.Question{Name: name, Targets: []string{value}})
		},
		func(c *runtime.Change) { _, _ = c.Escape(runtime.EscapeNow, name, value); c.Pause(); c.Due() },
		func(c *runtime.Change) { c.Doubt(frame); c.StepFailed(frame, errors.New(value), []string{name}) },
		func(c *runtime.Change) { c.Return(frame, json.RawMessage(`1`)) },
		func(c *runtime.Change) { c.Fail(frame, &runtime.Failure{Text: value}) },
		func(c *runtime.Change) {
			c.Replace(frame, runtime.Frame{Parent: name})
			c.Enter(runtime.Frame{Parent: frame}, name, value)
		},
		func(c *runtime.Change) { _ = c.Cancel(name, value); _ = c.Begin(name, value, nil, "", "") },
		func(c *runtime.Change) {
			each(c, func(i *runtime.Interrupt) {
				_ = c.Claim(i.ID, name, value == "")
				_ = c.Extend(i.ID, c.Now.Add(time.Hour), name)
				_, _ = i.Answerers(), runtime.DigestOf(&i.Question)
			})
			c.Drive(name, c.Now)
			c.Rest()
		},
	}
}

// replays adds up any log.
func replays(t *testing.T, log []byte, asked []runtime.Interrupt) {
	t.Helper()
	var entries []runtime.Entry
	if !stored(t, log, &entries) {
		return
	}
	find := func(id string) *runtime.Interrupt {
		for n := range asked {
			if asked[n].ID == id {
				return &asked[n]
			}
		}
		return nil
	}
	if made, err := runtime.Replay("t", entries, find); err != nil {
		require.Equal(t, runtime.CodeInternal, runtime.CodeOf(err))
	} else {
		_, _ = made.Status(), made.Wake()
	}
	source := &runtime.Thread{ID: "t"}
	if _, _, err := runtime.ForkAt("u", source, walked(entries), find, int64(len(entries)), fuzzRules(), "ann", time.UnixMilli(1)); err != nil {
		require.Contains(t, []runtime.Code{runtime.CodeInternal, runtime.CodeInvalid}, runtime.CodeOf(err))
	}
}

type storedThread struct{ thread, open, log []byte }

// storedThreads are real ones: two children that ask, with an effect in doubt, a failed step, and a pause over all.
func storedThreads(f *testing.F) []storedThread {
	f.Helper()
	var out []storedThread
	rules := fuzzRules()
	now := time.UnixMilli(1_789_999_000_000)
	c := runtime.Start("t", "ann", "print", rules, now)
	keep := func() {
		var s storedThread
		for into, v := range map[*[]byte]any{&s.thread: c.Thread, &s.open: c.Interrupts, &s.log: c.Entries} {
			data, err := json.Marshal(v)
			require.NoError(f, err)
			*into = data
		}
		out = append(out, s)
	}
	require.NoError(f, c.Begin("m", "root", json.RawMessage(`{"n":1}`), "ann", "r1"))
	keep()
	c.Add(runtime.Entry{Type: runtime.EntryCalling, Frame: "f1", PC: "joined"})
	c.Enter(runtime.Frame{Parent: "f1", Machine: "m", Name: "left"}, "", "")
	c.Enter(runtime.Frame{Parent: "f1", Machine: "m", Name: "right"}, "", "")
	c.Add(runtime.Entry{Type: runtime.EntryEffect, Frame: "f2", Name: "pay", State: runtime.EffectIntended})
	c.Ask("f3", runtime.KindAgentQuestion, runtime.Question{
		Name: "a", Plain: runtime.PlainYesNo, Schema: json.RawMessage(`{"type":"boolean"}`), Assignees: []string{"bob", "cy"}, Quorum: 2,
		Deadline: &runtime.Deadline{After: time.Minute, Then: "escalate", Assignee: "boss", Reminder: time.Second},
	})
	keep()
	c.Doubt("f2")
	c.StepFailed("f3", errors.New("it broke"), []string{"left"})
	c.Ask("f3", runtime.KindAgentQuestion, runtime.Question{Name: "a", Targets: []string{"left"}})
	keep()
	_, err := c.Escape(runtime.EscapeSafe, "ann", "look")
	require.NoError(f, err)
	c.Pause()
	c.Finish()
	keep()
	return out
}
