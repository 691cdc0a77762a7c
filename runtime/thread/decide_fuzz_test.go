package thread_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// FuzzStoredThread reads any bytes as what a store holds of a thread, its interrupts and its log,
// and decides everything there is to decide on them. Bytes whose checksum is right may still say
// anything, and bytes whose checksum is wrong must be refused; nothing panics, and no decision
// writes into the record it was made on.
func FuzzStoredThread(f *testing.F) {
	for _, seed := range storedThreads(f) {
		f.Add(seed.thread, seed.open, seed.log, "f1", "a", `true`)
		f.Add(seed.thread[:len(seed.thread)/2], seed.open, seed.log, "", "", `"continue"`)
	}
	f.Add([]byte(`{"frames":[{"id":"f1","parent":"f1","state":"calling"}]}`), []byte(`[]`),
		[]byte(`[{"seq":1,"type":"started","value":3}]`), "f1", "a", `{}`)
	f.Add([]byte(`null`), []byte(`[{"id":"i1","state":"queued"}]`),
		[]byte(`[{"seq":1,"type":"asked","interrupt":"i1"}]`), "", "", `null`)
	f.Fuzz(func(t *testing.T, data, open, log []byte, frame, name, value string) {
		record := new(thread.Thread)
		var asked []thread.Interrupt
		if !stored(data, record) || !stored(open, &asked) {
			return
		}
		record.Open = openOf(asked)
		before := sealed(t, record, record.Open)
		for _, decision := range decisions(frame, name, value) {
			_, _, _, _ = record.Status(), record.Wake(), record.Root(), record.Paused()
			decision(thread.NewChange(record, fuzzRules(), time.UnixMilli(1_790_000_000_000)))
			require.Equal(t, before, sealed(t, record, record.Open),
				"a decision wrote into the record it was made on")
		}
		replays(t, log, asked)
	})
}

// stored reads a record as a store gives it. It reports false if the bytes are not one.
func stored(data []byte, into any) bool { return json.Unmarshal(data, into) == nil }

func sealed(t *testing.T, values ...any) string {
	t.Helper()
	var out strings.Builder
	for _, v := range values {
		data, err := runtime.Encode(v)
		if err != nil { // invalid raw JSON cannot come from a store, and is not written back
			t.Skip("not a record that can be stored")
		}
		out.Write(data)
	}
	return out.String()
}

// openOf keeps what a store hands out with a thread: open and queued interrupts, each id once.
func openOf(all []thread.Interrupt) []*thread.Interrupt {
	had := map[string]bool{}
	var out []*thread.Interrupt
	for n := range all {
		if i := &all[n]; !had[i.ID] &&
			(i.State == thread.InterruptOpen || i.State == thread.InterruptQueued) {
			had[i.ID] = true
			out = append(out, i)
		}
	}
	return out
}

func fuzzRules() *thread.Rules {
	ids := 0
	return &thread.Rules{Kinds: thread.DefaultKinds(), HoldEarly: true, NewID: func() string {
		ids++
		return "new" + strconv.Itoa(ids)
	}}
}

// decisions are all there are, each with what the fuzzer made up.
func decisions(frame, name, value string) []func(c *thread.Change) {
	raw := json.RawMessage(value)
	each := func(c *thread.Change, do func(i *thread.Interrupt)) {
		for _, i := range append([]*thread.Interrupt{}, c.Thread.Open...) {
			do(i)
		}
	}
	answers := func(a thread.Answer) func(c *thread.Change) {
		return func(c *thread.Change) {
			each(c, func(i *thread.Interrupt) {
				a.Interrupt = i.ID
				_, _ = c.Answer(a)
				_, _ = thread.Closed(i, &a)
			})
			a.Interrupt, a.Question = "", name
			_, _ = c.Answer(a)
			c.Finish()
		}
	}
	return []func(c *thread.Change){
		func(c *thread.Change) { c.ApplyDue(); c.ApplyDue() },
		answers(thread.Answer{Value: raw, By: name}),
		answers(thread.Answer{Text: value}),
		answers(thread.Answer{RouteTo: name, By: value}),
		func(c *thread.Change) {
			c.Ask(frame, thread.KindAgentQuestion,
				thread.Question{Name: name, Text: value, Plain: thread.PlainYesNo})
			c.Ask(frame, thread.KindSystemError,
				thread.Question{Name: name, Targets: []string{value}})
		},
		func(c *thread.Change) {
			_, _ = c.Escape(thread.EscapeNow, name, value)
			c.Pause()
			c.ApplyDue()
		},
		func(c *thread.Change) {
			c.MarkInDoubt(frame)
			c.StepFailed(frame, errors.New(value), []string{name})
		},
		func(c *thread.Change) { c.Return(frame, json.RawMessage(`1`)) },
		func(c *thread.Change) { c.Fail(frame, &thread.Failure{Text: value}) },
		func(c *thread.Change) {
			c.Replace(frame, thread.Frame{Parent: name})
			c.Enter(thread.Frame{Parent: frame}, name, value)
		},
		func(c *thread.Change) {
			_ = c.Cancel(name, value)
			_ = c.Begin(name, value, nil, "", "")
		},
		func(c *thread.Change) {
			each(c, func(i *thread.Interrupt) {
				_ = c.Claim(i.ID, name, value == "")
				_ = c.Extend(i.ID, c.Now.Add(time.Hour), name)
				_, _ = i.Answerers(), thread.DigestOf(&i.Question)
			})
			c.TakeLease(name, c.Now)
			c.ReleaseLease()
		},
	}
}

// replays adds up any log.
func replays(t *testing.T, log []byte, asked []thread.Interrupt) {
	t.Helper()
	var entries []thread.Entry
	if !stored(log, &entries) {
		return
	}
	find := func(id string) *thread.Interrupt {
		for n := range asked {
			if asked[n].ID == id {
				return &asked[n]
			}
		}
		return nil
	}
	if made, err := thread.Replay("t", entries, find); err != nil {
		require.Equal(t, runtime.CodeInternal, runtime.CodeOf(err))
	} else {
		_, _ = made.Status(), made.Wake()
	}
	source := &thread.Thread{ID: "t"}
	if _, _, err := thread.ForkAt("u", source, walked(entries), find, int64(len(entries)),
		fuzzRules(), "ann", time.UnixMilli(1)); err != nil {
		require.Contains(t, []runtime.Code{runtime.CodeInternal, runtime.CodeInvalid},
			runtime.CodeOf(err))
	}
}

type storedThread struct{ thread, open, log []byte }

// storedThreads are real ones: two children that ask, with an effect in doubt, a failed step, and a
// pause over all.
func storedThreads(f *testing.F) []storedThread {
	f.Helper()
	var out []storedThread
	rules := fuzzRules()
	now := time.UnixMilli(1_789_999_000_000)
	c := thread.Start("t", "ann", "print", rules, now)
	keep := func() {
		var s storedThread
		for into, v := range map[*[]byte]any{&s.thread: c.Thread, &s.open: c.Interrupts,
			&s.log: c.Entries} {
			data, err := json.Marshal(v)
			require.NoError(f, err)
			*into = data
		}
		out = append(out, s)
	}
	require.NoError(f, c.Begin("m", "root", json.RawMessage(`{"n":1}`), "ann", "r1"))
	keep()
	c.Add(thread.Entry{Type: thread.EntryCalling, Frame: "f1", PC: "joined"})
	c.Enter(thread.Frame{Parent: "f1", Machine: "m", Name: "left"}, "", "")
	c.Enter(thread.Frame{Parent: "f1", Machine: "m", Name: "right"}, "", "")
	c.Add(thread.Entry{Type: thread.EntryEffect, Frame: "f2", Name: "pay",
		State: thread.EffectIntended})
	c.Ask("f3", thread.KindAgentQuestion, thread.Question{
		Name: "a", Plain: thread.PlainYesNo, Schema: json.RawMessage(`{"type":"boolean"}`),
		Assignees: []string{"bob", "cy"}, Quorum: 2,
		Deadline: &runtime.Deadline{After: time.Minute, Then: "escalate", Assignee: "boss",
			Reminder: time.Second},
	})
	keep()
	c.MarkInDoubt("f2")
	c.StepFailed("f3", errors.New("it broke"), []string{"left"})
	c.Ask("f3", thread.KindAgentQuestion, thread.Question{Name: "a", Targets: []string{"left"}})
	keep()
	_, err := c.Escape(thread.EscapeSafe, "ann", "look")
	require.NoError(f, err)
	c.Pause()
	c.Finish()
	keep()
	return out
}
