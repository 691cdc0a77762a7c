package agui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// line writes an event in a few words.
func (e *event) line() string {
	short := strings.NewReplacer("STATE_SNAPSHOT", "state", "MESSAGES_SNAPSHOT", "messages",
		"TEXT_MESSAGE", "text", "TOOL_CALL", "call", "_", " ").Replace(e.Type)
	words := []string{strings.ToLower(short)}
	for _, word := range []string{e.StepName, e.MessageID, e.ToolCallID, e.ToolCallName, e.Delta,
		e.Content, e.Code, e.Message} {
		if word != "" {
			words = append(words, word)
		}
	}
	if e.Snapshot != nil {
		words = append(words, e.Snapshot.CurrentAgent, e.Snapshot.Status)
	}
	if e.Outcome != nil {
		words = append(words, e.Outcome.Type)
	}
	return strings.Join(words, " ")
}

func modelTurn(round int, calls string) thread.Entry {
	return effectOf(fmt.Sprintf("model/%d", round), `{"calls":[`+calls+`]}`)
}

func effectOf(name, value string) thread.Entry {
	return thread.Entry{Type: thread.EntryEffect, Frame: "f1", Name: name,
		State: thread.EffectDone, Value: json.RawMessage(value)}
}

func steppedTo(frame, pc string) thread.Entry {
	return thread.Entry{Type: thread.EntryStepped, Frame: frame, PC: pc}
}

func saidRow(name, value string) thread.Entry {
	return thread.Entry{Type: thread.EntryMessage, Name: name, Value: json.RawMessage(value)}
}

// foldCases: rows, numbered from 1, and the events between the beginning and the end of the run.
var foldCases = []struct {
	name string
	rows []thread.Entry
	want []string
}{
	{"nothing to see", []thread.Entry{
		{Type: thread.EntryStarted}, {Type: thread.EntryMetadata},
		{Type: thread.EntryEntered, Frame: "f1", Name: "general"}, {Type: thread.EntryShows},
		{Type: thread.EntryHeld}, {Type: thread.EntryReroute}, {Type: thread.EntryClaimed},
		{Type: thread.EntryReturned, Frame: "f1"},
	}, nil},
	{"from one agent to another", []thread.Entry{steppedTo("f1", "a"), steppedTo("f1", "b"),
		{Type: thread.EntryReturned, Frame: "f1"}}, []string{
		"step started a", "state a processing", "step finished a", "step started b",
		"state b processing", "step finished b",
	}},
	{"back to the same agent", []thread.Entry{steppedTo("f1", "a"), steppedTo("f1", "a")},
		[]string{
			"step started a", "state a processing", "step finished a", "step started a",
			"step finished a",
		}},
	{"the machine's own step is no agent",
		[]thread.Entry{steppedTo("f1", "a"), steppedTo("f1", "!handle"), steppedTo("f1", "a")},
		[]string{
			"step started a", "state a processing", "step finished a", "step started handle",
			"step finished handle", "step started a", "step finished a",
		}},
	{"two lanes at one node", []thread.Entry{
		{Type: thread.EntryCalling, Frame: "f1", PC: "!collect"}, steppedTo("f2", "w"),
		steppedTo("f3", "w"), {Type: thread.EntryReturned, Frame: "f2"},
	}, []string{
		"step started collect", "step started w", "state w processing", "step started w (f3)",
		"step finished w", "step finished w (f3)", "step finished collect",
	}},
	{"a text", []thread.Entry{saidRow("reply", `{"node":"a","text":"Dag."}`)},
		[]string{"text start t/1", "text content t/1 Dag.", "text end t/1"}},
	{"a message that is no text", []thread.Entry{
		saidRow("reply", `{"text":""}`), saidRow("aside", `{"thread":"t~aside.1"}`),
		saidRow("reply", `"x"`), saidRow("grant", `{"text":"secret"}`), saidRow("reply", `[1]`),
	}, nil},
	{"asked again", []thread.Entry{{Type: thread.EntryReasked, Text: "yes or no?"}},
		[]string{"text start t/1", "text content t/1 yes or no?", "text end t/1"}},
	{"a tool", []thread.Entry{modelTurn(1, `{"id":"c","name":"x","args":{"a":1}}`),
		effectOf("tool/1.1/x", `{"id":"c","value":{"b":2}}`)}, []string{
		"call start c x", `call args c {"a":1}`, "call end c",
		`call result tool-result-c c {"b":2}`,
	}},
	{"two tools", []thread.Entry{
		modelTurn(1, `{"id":"c","name":"x","args":{}},{"id":"d","name":"y","args":{}}`),
		effectOf("tool/1.1/x", `{"id":"c","value":"1"}`),
		effectOf("tool/1.2/y", `{"id":"d","value":null}`),
	}, []string{
		"call start c x", "call args c {}", "call end c", "call start d y", "call args d {}",
		"call end d", "call result tool-result-c c 1", "call result tool-result-d d null",
	}},
	{"the result of what an earlier run called",
		[]thread.Entry{effectOf("tool/1.1/x", `{"id":"c","value":"late"}`)},
		[]string{"call result tool-result-c c late"}},
	{"a tool whose model gave no id", []thread.Entry{modelTurn(2, `{"name":"x","args":{}}`),
		effectOf("tool/2.1/x", `{"value":"1"}`)}, []string{
		"call start f1/tool/2.1/x x", "call args f1/tool/2.1/x {}", "call end f1/tool/2.1/x",
		"call result tool-result-f1/tool/2.1/x f1/tool/2.1/x 1",
	}},
	{"a hand-over",
		[]thread.Entry{modelTurn(1,
			`{"id":"c","name":"transfer_to_b","args":{}},{"id":"d","name":"x","args":{}}`)}, nil},
	{"a hand-over to nobody", []thread.Entry{
		modelTurn(1,
			`{"id":"c","name":"transfer_to_nobody","args":{}},{"id":"d","name":"x","args":{}}`),
		effectOf("tool/1.1/transfer_to_nobody",
			`{"id":"c","value":"there is no tool","failed":true}`),
		effectOf("tool/1.2/x", `{"id":"d","value":"1"}`),
	}, []string{
		"call start c transfer_to_nobody", "call args c {}", "call end c",
		"call result tool-result-c c there is no tool",
		"call start d x", "call args d {}", "call end d", "call result tool-result-d d 1",
	}},
	{"effects that are no talk", []thread.Entry{
		effectOf("model/1", `{"json":{"a":1}}`), effectOf("model/1", `"x"`),
		effectOf("tool/1.1/x", `"x"`), effectOf("mail", `{"id":"c"}`),
		{Type: thread.EntryEffect, Frame: "f1", Name: "tool/1.1/x", State: thread.EffectIntended,
			Value: json.RawMessage(`{"id":"c"}`)},
	}, nil},
}

func TestFold(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_763_750_000_000)
	for _, tc := range foldCases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			play := func() (lines []string, frames [][]byte) {
				f := newFold(&runInput{thread: "t", run: "r"}, now)
				events := f.started()
				for n := range tc.rows {
					row := tc.rows[n]
					row.Thread, row.Seq, row.At = "t", int64(n+1),
						now.Add(time.Duration(n)*time.Second)
					events = append(events, f.entryEvents(&row, nil)...)
				}
				events = append(events,
					f.finished(&thread.Thread{ID: "t", Result: json.RawMessage("1")},
						&thread.Thread{ID: "t"})...)
				for n := range events {
					data, err := json.Marshal(&events[n])
					require.NoError(t, err)
					frames = append(frames, data)
					lines = append(lines, events[n].line())
				}
				return lines, frames
			}
			lines, frames := play()
			c := &checker{begun: map[string]string{"t c": "earlier"}}
			if tc.name != "the result of what an earlier run called" {
				c = &checker{}
			}
			require.NoError(t, c.check("t", "r", frames))
			again, same := play()
			assert.Equal(t, lines, again)
			assert.Equal(t, frames, same, "the same rows give the same bytes")
			require.Equal(t, "run started", lines[0])
			require.Equal(t, "run finished success", lines[len(lines)-1])
			require.True(t, strings.HasPrefix(lines[len(lines)-2], "state "))
			var between []string
			between = append(between, lines[1:len(lines)-2]...)
			assert.Equal(t, tc.want, between)
		})
	}
}

func TestFoldResumes(t *testing.T) {
	t.Parallel()
	f := newFold(&runInput{thread: "t", run: "r"}, time.UnixMilli(1_763_750_000_000))
	asked := &thread.Interrupt{Frame: "f1", Step: "a", Node: "n"}
	answered := &thread.Entry{Type: thread.EntryAnswered, Thread: "t", Seq: 7}
	var lines []string
	for _, events := range [][]event{f.entryEvents(answered, asked), f.entryEvents(answered, asked),
		f.entryEvents(answered, nil), f.entryEvents(answered, &thread.Interrupt{})} {
		for n := range events {
			lines = append(lines, events[n].line())
		}
	}
	assert.Equal(t, []string{"step started a", "state a processing"}, lines,
		"the step that goes on, once")
}

func TestFoldEnds(t *testing.T) {
	t.Parallel()
	open := &thread.Interrupt{ID: "i", Thread: "t", Kind: thread.KindAgentQuestion,
		State: thread.InterruptOpen, Question: thread.Question{Plain: thread.PlainYesNo}}
	queued := &thread.Interrupt{ID: "q", Thread: "t", State: thread.InterruptQueued}
	root := []thread.Frame{{ID: "f1", PC: "a", State: thread.FrameAsking}}
	for name, tc := range map[string]struct {
		t    thread.Thread
		want []string
	}{
		"idle": {thread.Thread{},
			[]string{"state  completed", "run finished success"}},
		"done": {thread.Thread{Over: thread.StatusDone},
			[]string{"state  completed", "run finished success"}},
		"handed off": {thread.Thread{Over: thread.StatusHandedOff},
			[]string{"state  handed_off", "run finished success"}},
		"waiting": {thread.Thread{Frames: root,
			Open: []*thread.Interrupt{open, queued}},
			[]string{"state a interrupted", "run finished interrupt"}},
		"taken by another run": {thread.Thread{Frames: []thread.Frame{{ID: "f1", PC: "a",
			State: thread.FrameReady}}}, []string{"state a processing", "run finished success"}},
		"cancelled": {thread.Thread{Over: thread.StatusCancelled},
			[]string{"state  cancelled",
				"run error cancelled the thread is cancelled: start another"}},
		"failed": {thread.Thread{Over: thread.StatusFailed,
			Failure: &thread.Failure{Code: runtime.CodeLoop, Text: "round and round"}},
			[]string{"state  failed", "run error loop loop: round and round"}},
		"failed without a word": {thread.Thread{Over: thread.StatusFailed},
			[]string{"state  failed", "run error failed the thread is failed: start another"}},
		"failed by a foreigner": {
			thread.Thread{Over: thread.StatusFailed,
				Failure: &thread.Failure{Code: runtime.CodeInternal, Text: "secret"}},
			[]string{"state  failed",
				"run error internal a defect: the server's log has more under the request's id"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFold(&runInput{thread: "t", run: "r"}, time.UnixMilli(1_763_750_000_000))
			events := append(f.started(), f.finished(&tc.t, &tc.t)...)
			var frames [][]byte
			var lines []string
			for n := range events {
				data, err := json.Marshal(&events[n])
				require.NoError(t, err)
				frames = append(frames, data)
				lines = append(lines, events[n].line())
			}
			require.NoError(t, (&checker{}).check("t", "r", frames))
			assert.Equal(t, tc.want, lines[1:])
		})
	}
}
