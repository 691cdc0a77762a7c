package agui

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// event is an AG-UI event of any type: only the fields of its type are set.
type event struct {
	Type         string            `json:"type"`
	Timestamp    int64             `json:"timestamp"`
	ThreadID     string            `json:"threadId,omitempty"`
	RunID        string            `json:"runId,omitempty"`
	ParentRunID  string            `json:"parentRunId,omitempty"`
	StepName     string            `json:"stepName,omitempty"`
	MessageID    string            `json:"messageId,omitempty"`
	Role         string            `json:"role,omitempty"`
	Delta        string            `json:"delta,omitempty"`
	ToolCallID   string            `json:"toolCallId,omitempty"`
	ToolCallName string            `json:"toolCallName,omitempty"`
	Content      string            `json:"content,omitempty"`
	Snapshot     *runState         `json:"snapshot,omitempty"`
	Messages     []json.RawMessage `json:"messages,omitempty"`
	Outcome      *runOutcome       `json:"outcome,omitempty"`
	Result       json.RawMessage   `json:"result,omitempty"`
	Message      string            `json:"message,omitempty"`
	Code         string            `json:"code,omitempty"`
	Metadata     map[string]any    `json:"metadata,omitempty"`
}

// runState is the snapshot: how the thread is.
type runState struct {
	ThreadID     string `json:"threadId"`
	RunID        string `json:"runId"`
	CurrentAgent string `json:"currentAgent,omitempty"` // key of the node
	// processing, interrupted, completed, or how the thread ended
	Status     string      `json:"status"`
	Interrupts []interrupt `json:"interrupts,omitempty"`
}

type runOutcome struct {
	Type       string      `json:"type"`
	Interrupts []interrupt `json:"interrupts,omitempty"`
}

// What a snapshot says of a thread that is not over.
const (
	stateProcessing  = "processing"
	stateInterrupted = "interrupted"
	stateCompleted   = "completed"
)

// fold turns the rows of a run into events, one row after the other. It calls nothing: the same
// rows give the same events.
type fold struct {
	in    *runInput
	at    int64 // of the last row
	agent string
	other string // the side thread that the rows are of
	steps []openStep
	// by frame and effect: calls that are not shown before they have a result
	held  map[string]llm.ToolCall
	made  []json.RawMessage // messages of this run
	names []string          // ids of made
	ended *thread.Entry     // the frame that ended last: after the run that of the turn
	// what the reader may see of an interrupt; nil: all of it, and tool calls and error texts too
	withhold func(i *web.Interrupt) web.Interrupt
}

// openStep is a step that runs in a frame.
type openStep struct{ frame, name string }

func newFold(in *runInput, now time.Time) *fold {
	return &fold{in: in, at: now.UnixMilli(), held: map[string]llm.ToolCall{}}
}

// stamped gives events the time of the last row.
func (f *fold) stamped(events ...event) []event {
	for n := range events {
		events[n].Timestamp = f.at
	}
	return events
}

// started returns the first event of a run.
func (f *fold) started() []event {
	return f.stamped(event{Type: "RUN_STARTED", ThreadID: f.in.thread, RunID: f.in.run,
		ParentRunID: f.in.parent})
}

// entryEvents returns the events of a row. asked is the interrupt that the row ends, or nil.
func (f *fold) entryEvents(e *thread.Entry, asked *thread.Interrupt) []event {
	if !e.At.IsZero() {
		f.at = e.At.UnixMilli()
	}
	if e.Thread != f.in.thread && e.Thread != "" {
		f.other = e.Thread
	}
	switch e.Type {
	case thread.EntryStepped, thread.EntryCalling:
		return f.enter(e.Frame, e.PC)
	case thread.EntryAnswered, thread.EntryExpired:
		if asked != nil && asked.Frame != "" &&
			!slices.ContainsFunc(f.steps, func(s openStep) bool { return s.frame == asked.Frame }) {
			return f.enter(asked.Frame, asked.Step)
		}
	case thread.EntryReturned:
		f.ended = e
		return f.leave(e.Frame)
	case thread.EntryEffect:
		return f.effect(e)
	case thread.EntryMessage:
		if web.InOutbox(e) {
			var said struct {
				Text string `json:"text"`
			}
			_ = json.Unmarshal(e.Value, &said) // what has no text is nothing to read
			return f.textEvents(e, said.Text)
		}
	case thread.EntryReasked:
		return f.textEvents(e, e.Text)
	default: // rows that front ends do not show
	}
	return nil
}

// enter begins a step. Two frames may be at the same node: the step of the later one gets the frame
// in its name.
func (f *fold) enter(frame, pc string) []event {
	out := f.leave(frame)
	name := strings.TrimPrefix(pc, "!")
	if name == "" {
		return out
	}
	agent := name == pc // a step of the machine's own belongs to no agent
	if slices.ContainsFunc(f.steps, func(s openStep) bool { return s.name == name }) {
		name += " (" + frame + ")"
	}
	f.steps = append(f.steps, openStep{frame, name})
	out = append(out, f.stamped(event{Type: "STEP_STARTED", StepName: name})...)
	if agent && pc != f.agent {
		f.agent = pc
		out = append(out, f.snapshot(stateProcessing, nil)...)
	}
	return out
}

// leave ends the step of a frame.
func (f *fold) leave(frame string) []event {
	at := slices.IndexFunc(f.steps, func(s openStep) bool { return s.frame == frame })
	if at < 0 {
		return nil
	}
	name := f.steps[at].name
	f.steps = slices.Delete(f.steps, at, at+1)
	return f.stamped(event{Type: "STEP_FINISHED", StepName: name})
}

// textEvents returns the events of a text of an agent.
func (f *fold) textEvents(e *thread.Entry, text string) []event {
	if text == "" {
		return nil
	}
	id := web.RowID(e.Thread, e.Seq)
	f.keep(id, map[string]any{"id": id, "role": "assistant", "content": text})
	return f.stamped(event{Type: "TEXT_MESSAGE_START", MessageID: id, Role: "assistant"},
		event{Type: "TEXT_MESSAGE_CONTENT", MessageID: id, Delta: text},
		event{Type: "TEXT_MESSAGE_END", MessageID: id})
}

// effect shows what a talk keeps of the calls of its model, and of their results.
func (f *fold) effect(e *thread.Entry) []event {
	if e.State != thread.EffectDone || f.withhold != nil {
		return nil
	}
	if round, ok := strings.CutPrefix(e.Name, "model/"); ok {
		return f.calls(e, round)
	}
	if strings.HasPrefix(e.Name, "tool/") {
		return f.result(e)
	}
	return nil
}

// calls shows the tool calls of a model's turn. One that hands over to another agent has no result,
// and neither have those beside it: they are shown when a result says that they were tool calls
// after all.
func (f *fold) calls(e *thread.Entry, round string) (out []event) {
	var turn llm.Response
	if json.Unmarshal(e.Value, &turn) != nil {
		return nil
	}
	hold := slices.ContainsFunc(turn.Calls, func(c llm.ToolCall) bool {
		return strings.HasPrefix(c.Name, "transfer_to_")
	})
	for n, c := range turn.Calls {
		effect := fmt.Sprintf("tool/%s.%d/%s", round, n+1, c.Name)
		if c.ID = cmp.Or(c.ID, callID(e, effect)); hold {
			f.held[e.Frame+" "+effect] = c
			continue
		}
		out = append(out, f.call(c)...)
	}
	return out
}

// callID is the id of a call that its model gave none.
func callID(e *thread.Entry, effect string) string { return e.Frame + "/" + effect }

func (f *fold) call(c llm.ToolCall) []event {
	args := cmp.Or(string(c.Args), "{}")
	f.keep(c.ID, map[string]any{"id": c.ID, "role": "assistant", "toolCalls": []any{
		map[string]any{"id": c.ID, "type": "function",
			"function": map[string]string{"name": c.Name, "arguments": args}},
	}})
	return f.stamped(event{Type: "TOOL_CALL_START", ToolCallID: c.ID, ToolCallName: c.Name},
		event{Type: "TOOL_CALL_ARGS", ToolCallID: c.ID, Delta: args},
		event{Type: "TOOL_CALL_END", ToolCallID: c.ID})
}

// result shows the result of a call of this run, or of the run that this one resumes, which has
// shown the call.
func (f *fold) result(e *thread.Entry) (out []event) {
	var result llm.ToolResult
	if json.Unmarshal(e.Value, &result) != nil {
		return nil
	}
	if c, held := f.held[e.Frame+" "+e.Name]; held {
		delete(f.held, e.Frame+" "+e.Name)
		out = f.call(c)
	}
	call := cmp.Or(result.ID, callID(e, e.Name))
	done := event{Type: "TOOL_CALL_RESULT", MessageID: "tool-result-" + call, ToolCallID: call,
		Role: "tool", Content: cmp.Or(result.String(), string(result.Value), "null")}
	kept := map[string]any{"id": done.MessageID, "role": "tool", "toolCallId": call,
		"content": done.Content}
	if result.Failed {
		done.Metadata = map[string]any{"failed": true}
		kept["error"] = done.Content
	}
	f.keep(done.MessageID, kept)
	return append(out, f.stamped(done)...)
}

// keep notes a message of this run.
func (f *fold) keep(id string, message map[string]any) {
	if data, err := runtime.Encode(message); err == nil { // strings
		f.made, f.names = append(f.made, data), append(f.names, id)
	}
}

// beside returns the side thread that took the run's message, or "" if the run's own thread did.
func (f *fold) beside() string { return f.other }

// finished ends a run. t is the thread that has the message; threads are those that may ask
// something now, it among them.
func (f *fold) finished(t *thread.Thread, threads ...*thread.Thread) []event {
	if t.Over == thread.StatusFailed || t.Over == thread.StatusCancelled {
		code, text := string(t.Over), "the thread is "+string(t.Over)+": start another"
		if t.Failure != nil && t.Over == thread.StatusFailed {
			failure := f.failure(t.Failure, web.RowID(t.ID, t.Seq))
			code, text = errorOf(&runtime.Error{Code: failure.Code,
				Err: errors.New(cmp.Or(failure.Text, text))})
		}
		return f.failed(code, text, threads...)
	}
	if e := f.ended; e != nil && t.Status() == thread.StatusIdle &&
		(e.Failure != nil || e.State == string(thread.StatusCancelled)) {
		code, text := string(thread.StatusCancelled), "the turn was cancelled"
		if e.Failure != nil {
			failure := f.failure(e.Failure, web.RowID(e.Thread, e.Seq))
			code, text = errorOf(&runtime.Error{Code: cmp.Or(failure.Code, runtime.Code(code)),
				Err: failure})
		}
		return f.failed(code, text, threads...)
	}
	out := f.close()
	state, asked := f.now(threads)
	out = append(out, f.snapshot(state, asked)...)
	done := event{Type: "RUN_FINISHED", ThreadID: f.in.thread, RunID: f.in.run,
		Outcome: &runOutcome{Type: "success"}}
	switch {
	case len(asked) > 0:
		done.Outcome = &runOutcome{Type: "interrupt", Interrupts: asked}
		out = append(out, f.history(asked)...)
	case state != stateProcessing:
		done.Result = t.Result
	}
	return append(out, f.stamped(done)...)
}

// failure is a failure as the reader may see it: an id of the row in place of its text.
func (f *fold) failure(failure *thread.Failure, id string) *thread.Failure {
	if f.withhold != nil {
		return web.Withheld(failure, id)
	}
	return failure
}

// failed ends a run with an error. threads are those whose state the client may see.
func (f *fold) failed(code, text string, threads ...*thread.Thread) []event {
	out := f.close()
	if len(threads) > 0 {
		out = append(out, f.snapshot(f.now(threads))...)
	}
	return append(out, f.stamped(event{Type: "RUN_ERROR", Code: code,
		Message: cmp.Or(text, code)})...)
}

// close ends the steps that run, the last one first.
func (f *fold) close() (out []event) {
	for _, s := range slices.Backward(slices.Clone(f.steps)) {
		out = append(out, f.leave(s.frame)...)
	}
	return out
}

// now returns the state of a run's threads, the run's own first, and what they ask.
func (f *fold) now(threads []*thread.Thread) (state string, asked []interrupt) {
	own := threads[0]
	if root := own.Root(); root != nil && !strings.HasPrefix(root.PC, "!") {
		f.agent = cmp.Or(root.PC, f.agent)
	}
	for _, t := range threads {
		for _, i := range t.OpenInterrupts() {
			asked = append(asked, f.interruptOf(i))
		}
	}
	switch status := own.Status(); {
	case len(asked) > 0:
		state = stateInterrupted
	case status == thread.StatusIdle || status == thread.StatusDone:
		state = stateCompleted
	case own.Over != "":
		state = string(status)
	default:
		state = stateProcessing
	}
	return state, asked
}

func (f *fold) snapshot(state string, asked []interrupt) []event {
	return f.stamped(event{Type: "STATE_SNAPSHOT", Snapshot: &runState{ThreadID: f.in.thread,
		RunID: f.in.run, CurrentAgent: f.agent, Status: state, Interrupts: asked}})
}

// history is what was said so far, for a front end that keeps it over a pause: what it has, this
// run, and what is asked now. A text that comes with the messages of these questions answers them,
// see [runInput.shows]. To a front end that sent nothing it would say that nothing else was said.
func (f *fold) history(asked []interrupt) []event {
	if len(f.in.messages) == 0 {
		return nil
	}
	for _, i := range asked {
		if i.Metadata.Routegen.Plain != "" && i.ToolCallID == "" {
			f.keep(i.ID, map[string]any{"id": i.ID, "role": "assistant", "content": i.Message})
		}
	}
	e := event{Type: "MESSAGES_SNAPSHOT"}
	for _, m := range f.in.messages {
		var named struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(m, &named) != nil || !slices.Contains(f.names, named.ID) {
			e.Messages = append(e.Messages, m)
		}
	}
	e.Messages = append(e.Messages, f.made...)
	return f.stamped(e)
}
