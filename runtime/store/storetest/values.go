package storetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// jsons are values of which a careless store makes one another.
var jsons = []string{
	`null`, `false`, `true`, `0`, `-0`, `1.0`, `1e400`, `123456789012345678901234567890`, `""`,
	`"null"`, `{}`, `[]`, `[null]`, `{"a":null}`,
	`{"b":1,"a":2}`, `{"a":1,"a":2}`, `"\u0000"`, `"é"`, `"é🙂\u2028"`, `"<script>&amp;"`,
	`"'\"\\%_"`, `[[[[[[[["deep"]]]]]]]]`, `"2026-01-01"`,
}

func valueGen() *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		return raw(rapid.SampledFrom(jsons).Draw(t, "json"))
	})
}

func maybeValueGen() *rapid.Generator[json.RawMessage] {
	return rapid.OneOf(rapid.Just(json.RawMessage(nil)), valueGen())
}

func timeGen() *rapid.Generator[time.Time] {
	return rapid.OneOf(rapid.Just(time.Time{}),
		rapid.Map(rapid.Int64Range(-62_135_596_799_000, 253_402_300_799_999),
			func(ms int64) time.Time {
				return time.UnixMilli(ms).UTC()
			}))
}

func stringGen() *rapid.Generator[string] {
	return rapid.OneOf(rapid.Just(""), rapid.SampledFrom(odd), rapid.String().
		Filter(func(s string) bool { return !strings.ContainsRune(s, 0) }))
}

// everyField makes values of a type with every field set, or not, at random.
func everyField[T any]() *rapid.Generator[T] {
	none := rapid.Just[any]
	return rapid.MakeCustom[T](rapid.MakeConfig{
		Types: map[reflect.Type]*rapid.Generator[any]{
			reflect.TypeFor[json.RawMessage](): maybeValueGen().AsAny(),
			reflect.TypeFor[time.Time]():       timeGen().AsAny(),
		},
		Kinds: map[reflect.Kind]*rapid.Generator[any]{reflect.String: stringGen().AsAny()},
		Fields: map[reflect.Type]map[string]*rapid.Generator[any]{
			reflect.TypeFor[thread.Thread](): {"Open": none([]*thread.Interrupt(nil))},
			reflect.TypeFor[thread.Choice](): {"Value": valueGen().AsAny()},
			reflect.TypeFor[thread.Vote]():   {"Value": valueGen().AsAny()},
			reflect.TypeFor[thread.Entry](): {
				"Opened": none((*thread.Interrupt)(nil)), "Thread": none(""),
				"Cursor": none(int64(0)), "Request": none(""),
			},
		},
	})
}

// commitRecord is a change that makes a thread of just these parts. What ties them together is set
// right.
func (tr *trial) commitRecord(t thread.Thread, interrupts []*thread.Interrupt,
	entries []thread.Entry) *thread.Change {
	tr.ids++
	t.ID, t.Version, t.Seq, t.Open = fmt.Sprintf("brought-%d", tr.ids), 1, int64(len(entries)), nil
	for n, i := range interrupts {
		i.ID, i.Thread = tr.newID(), t.ID
		i.State = []thread.InterruptState{
			thread.InterruptOpen, thread.InterruptQueued, thread.InterruptAnswered,
			thread.InterruptExpired, thread.InterruptSuperseded,
		}[n%5]
		if n%5 < 2 {
			t.Open = append(t.Open, i)
		}
	}
	for n := range entries {
		entries[n].Seq = int64(n) + 1
		if n%2 == 0 {
			entries[n].Request = fmt.Sprintf("r%d", n)
		}
	}
	return &thread.Change{Thread: &t, Interrupts: interrupts, Entries: entries}
}

// requireReturned compares all that came back with what a change brought.
func (tr *trial) requireReturned(c *thread.Change) {
	tr.Helper()
	tr.requireSame(recordText(c.Thread), recordText(tr.mustLoad(c.Thread.ID)))
	for _, i := range c.Interrupts {
		found := tr.mustInterrupts(thread.InterruptQuery{ID: i.ID})
		tr.requireSame(jsonText([]*thread.Interrupt{i}), jsonText(found))
	}
	got := tr.mustLog(thread.LogQuery{Thread: c.Thread.ID, Limit: len(c.Entries) + 1})
	require.Len(tr, got, len(c.Entries))
	for n := range got {
		tr.requireSame(jsonText(c.Entries[n]), jsonText(got[n]))
	}
}

// valuesRoundTrip brings records of any shape.
func valuesRoundTrip(tr *trial) {
	threads, asked, entries :=
		everyField[thread.Thread](), everyField[thread.Interrupt](), everyField[thread.Entry]()
	rapid.Check(tr.TB, func(t *rapid.T) {
		part := tr.forPart(t)
		part.ids = tr.ids + 10
		interrupts := rapid.SliceOfN(asked, 0, 5).Draw(t, "interrupts")
		of := make([]*thread.Interrupt, len(interrupts))
		for n := range interrupts {
			of[n] = &interrupts[n]
		}
		c := part.commitRecord(threads.Draw(t, "thread"), of, rapid.SliceOfN(entries, 1, 4).
			Draw(t, "entries"))
		tr.ids = part.ids + 10
		part.mustCommit(c)
		part.requireReturned(c)
	})
}

// valuesAllSet brings one record in which no field is zero, so that none is ever left out by
// chance.
func valuesAllSet(tr *trial) {
	var t thread.Thread
	var i thread.Interrupt
	var e thread.Entry
	n := 0
	for _, v := range []any{&t, &i, &e} {
		fillValue(reflect.ValueOf(v).Elem(), &n)
	}
	c := tr.commitRecord(t, []*thread.Interrupt{&i}, []thread.Entry{e})
	tr.mustCommit(c)
	tr.requireReturned(c)
	loaded := tr.mustLoad(c.Thread.ID)
	assert.Equal(tr, c.Thread, loaded)
	assert.Equal(tr, &i, loaded.Open[0])
	got := tr.mustLog(thread.LogQuery{Thread: c.Thread.ID})[0]
	c.Entries[0].Thread, c.Entries[0].Cursor = c.Thread.ID, got.Cursor
	assert.Equal(tr, c.Entries[0], got)
}

// fillValue sets everything below v that is stored to a value that is not zero.
func fillValue(v reflect.Value, n *int) {
	*n++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.UnixMilli(int64(1_700_000_000_000 + *n)).UTC()))
		return
	case json.RawMessage:
		v.SetBytes(fmt.Appendf(nil, `{"n":%d}`, *n))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for k := range v.NumField() {
			if v.Type().Field(k).Tag.Get("json") != "-" { // those are not stored
				fillValue(v.Field(k), n)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fillValue(v.Index(0), n)
		fillValue(v.Index(1), n)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]int{"first": *n, "second": *n + 1}))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	default:
		v.SetInt(int64(*n))
	}
}

// valuesPresence has each value where an answer, an input and a result stand. Absent stays absent,
// and null stays null.
func valuesPresence(tr *trial) {
	for n, value := range append([]string{""}, jsons...) {
		var v json.RawMessage
		if value != "" {
			v = raw(value)
		}
		id := fmt.Sprintf("t%d", n)
		c := tr.nextChange(id)
		c.Enter(thread.Frame{Input: v}, "", "")
		c.Interrupts = append(c.Interrupts, &thread.Interrupt{
			ID: "i" + id, Thread: id, State: thread.InterruptAnswered, Answer: v,
			Question: thread.Question{Payload: v},
		})
		c.Thread.Result = v
		tr.mustCommit(c)
		t := tr.mustLoad(id)
		i := tr.mustInterrupts(thread.InterruptQuery{ID: "i" + id})
		e := tr.mustLog(thread.LogQuery{Thread: id})
		require.Len(tr, i, 1)
		require.Len(tr, e, 2)
		for where, got := range map[string]json.RawMessage{
			"input": t.Frames[0].Input, "result": t.Result, "answer": i[0].Answer,
			"payload": i[0].Payload, "value": e[1].Value,
		} {
			assert.Equal(tr, v == nil, got == nil, "%s of %q is absent", where, value)
			assert.Equal(tr, jsonText(v), jsonText(got), where)
		}
	}
}

// valuesKeepTheirDigest has payloads that a decoder into any, or an encoder for HTML, would make
// others.
func valuesKeepTheirDigest(tr *trial) {
	c, frame := tr.startTurn("a")
	c.Add(thread.Entry{Type: thread.EntryShows, Frame: frame,
		Value: raw(`{"html":"<b>&</b>","line":"\u2028"}`)})
	for n, value := range jsons {
		c.Ask(frame, thread.KindAgentQuestion, thread.Question{
			Name: strconv.Itoa(n), Text: "<" + odd[n], Payload: raw(value),
			Schema: raw(`{"const":"<&>"}`), Targets: []string{"<"},
			Choices: []thread.Choice{{Label: ">", Value: raw(value)}},
		})
	}
	tr.mustCommit(c)
	for _, found := range [][]*thread.Interrupt{tr.mustLoad("a").Open,
		tr.mustInterrupts(thread.InterruptQuery{})} {
		require.Len(tr, found, len(jsons))
		for _, i := range found {
			assert.Equal(tr, i.Digest, thread.DigestOf(&i.Question), "%s", i.Payload)
		}
	}
}

// valuesRefused brings what would be lost, or would come back as another value, beside a change
// that could be stored. Neither is.
func valuesRefused(tr *trial) {
	far := time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, spoil := range map[string]func(c *thread.Change){
		"a value that is not JSON": func(c *thread.Change) { c.Thread.Result = raw(`{"a":`) },
		"two values":               func(c *thread.Change) { c.Entries[0].Value = raw(`1 2`) },
		"a payload":                func(c *thread.Change) { c.Interrupts[0].Payload = raw(`a`) },
		"a text that is not UTF-8": func(c *thread.Change) { c.Thread.User = "ann\xff" },
		"one of an entry":          func(c *thread.Change) { c.Entries[0].Text = "\xe2\x82" },
		"one of a question":        func(c *thread.Change) { c.Interrupts[0].Text = "\xff" },
		"an id that is not UTF-8":  func(c *thread.Change) { c.Interrupts[0].ID = "i\xff" },
		"a time of the year 10000": func(c *thread.Change) { c.Thread.Created = far },
		"one of an interrupt":      func(c *thread.Change) { c.Interrupts[0].Due = far },
	} {
		c, frame := tr.startTurn("bad")
		c.Ask(frame, thread.KindAgentQuestion, thread.Question{Name: "q"})
		spoil(c)
		good, _ := tr.startTurn("good")
		err := tr.Store.Commit(tr.ctx, good, c)
		assert.Equal(tr, runtime.CodeInvalid, runtime.CodeOf(err), "%s: %v", name, err)
		for _, id := range []string{"good", "bad"} {
			_, err := tr.Store.Load(tr.ctx, id)
			assert.Equal(tr, runtime.CodeNotFound, runtime.CodeOf(err), "%s: %v", name, err)
		}
	}
}

// valuesLarge brings a mebibyte to each place that a caller fills, and a log of many entries in one
// commit.
func valuesLarge(tr *trial) {
	large := raw(`"` + strings.Repeat("0123456789abcdef", 1<<16) + `"`)
	c := tr.nextChange("large")
	frame := c.Enter(thread.Frame{Machine: "workflow", Input: large}, "ann", "")
	c.Ask(frame, thread.KindAgentQuestion, thread.Question{Name: "q", Payload: large})
	for range 2000 {
		c.Add(thread.Entry{Type: thread.EntryMessage, Name: "many"})
	}
	tr.mustCommit(c)
	tr.requireReturned(c)
	tr.mustCommit(tr.answerChange("large", "q", string(large)))
	tr.holdsAsCommitted("large")
}

// valuesOddIDs brings ids that mean something elsewhere. Each is its own thread, with its own
// interrupt, request and log.
func valuesOddIDs(tr *trial) {
	ids := append([]string{strings.Repeat("long/", 2048), strings.Repeat("long/", 2047) + "long:"},
		odd...)
	for n, id := range ids {
		c := tr.requestChange(id, "r")
		c.Interrupts = []*thread.Interrupt{{ID: "i" + id, Thread: id, State: thread.InterruptOpen,
			Node: strconv.Itoa(n)}}
		c.Thread.Open = c.Interrupts
		tr.mustCommit(c)
	}
	for _, id := range ids {
		c := tr.sayChange(id, "again")
		c.Thread.Open = tr.mustLoad(id).Open
		tr.mustCommit(c)
	}
	for n, id := range ids {
		tr.holdsAsCommitted(id)
		found := tr.mustInterrupts(thread.InterruptQuery{ID: "i" + id})
		require.Len(tr, found, 1, "%.40q", id)
		assert.Equal(tr, strconv.Itoa(n), found[0].Node)
		assert.Equal(tr, []int64{1, 2, 3}, seqsOf(tr.mustLog(thread.LogQuery{Thread: id})), "%.40q",
			id)
		assert.Len(tr, tr.mustLog(thread.LogQuery{Thread: id, Request: "r"}), 1)
		tr.mustConflict(tr.requestChange(id, "r"))
	}
	assert.Len(tr, tr.mustThreads(thread.Query{Limit: 1000}), len(ids))
}
