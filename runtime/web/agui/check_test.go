package agui

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// checker holds streams to the rules of AG-UI. Every stream of every test goes through one. It
// reads the bytes, and nothing of the code that wrote them.
type checker struct {
	begun map[string]string // thread and tool call -> the turn that showed how it began
	turn  string            // what the next run brought; "" is the run itself
}

// walk is a checker on its way through one stream.
type walk struct {
	*checker
	thread, run         string
	steps, texts, calls map[string]string // what is open, with what came so far
	seen                map[string]bool   // messages and calls of the stream, results too
	asked               []any             // of the last snapshot
	state               string
	over                bool
}

var camel = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)

// check refuses a stream that breaks a rule.
func (c *checker) check(thread, run string, frames [][]byte) error {
	if c.begun == nil {
		c.begun = map[string]string{}
	}
	w := &walk{
		checker: c, thread: thread, run: run, steps: map[string]string{},
		texts: map[string]string{}, calls: map[string]string{}, seen: map[string]bool{},
	}
	for n, frame := range frames {
		if err := w.take(n, frame); err != nil {
			return fmt.Errorf("event %d %s: %w", n+1, frame, err)
		}
	}
	if !w.over {
		return fmt.Errorf("the run has no end: %d events", len(frames))
	}
	return nil
}

func (w *walk) take(n int, frame []byte) error {
	d := json.NewDecoder(bytes.NewReader(frame))
	d.UseNumber()
	var e map[string]any
	if err := d.Decode(&e); err != nil || bytes.ContainsAny(frame, "\n\r") {
		return fmt.Errorf("it is no JSON object on one line: %w", err)
	}
	if err := cased(e, "event"); err != nil {
		return err
	}
	at, _ := e["timestamp"].(json.Number)
	if ms, err := at.Int64(); err != nil || ms < 1_500_000_000_000 || ms > 9_999_999_999_999 {
		return fmt.Errorf("its timestamp %q is no integer of milliseconds", at)
	}
	typ, _ := e["type"].(string)
	switch {
	case w.over:
		return errors.New("it comes after the end")
	case (n == 0) != (typ == "RUN_STARTED"):
		return errors.New("a run begins with RUN_STARTED, once")
	}
	for _, name := range []string{"threadId", "runId"} {
		id, there := e[name]
		switch has := typ == "RUN_STARTED" || typ == "RUN_FINISHED"; {
		case there && !has:
			return fmt.Errorf("the protocol has no %s in it", name)
		case there && id != map[string]string{"threadId": w.thread, "runId": w.run}[name]:
			return fmt.Errorf("its %s is not the run's", name)
		}
	}
	rules := map[string]func(map[string]any) error{
		"RUN_STARTED": func(map[string]any) error {
			return nil
		}, "RUN_FINISHED": w.finished, "RUN_ERROR": w.failed,
		"STEP_STARTED": w.step, "STEP_FINISHED": w.step, "STATE_SNAPSHOT": w.snapshot,
		"MESSAGES_SNAPSHOT":  func(map[string]any) error { return nil },
		"TEXT_MESSAGE_START": w.text, "TEXT_MESSAGE_CONTENT": w.text, "TEXT_MESSAGE_END": w.text,
		"TOOL_CALL_START": w.call, "TOOL_CALL_ARGS": w.call, "TOOL_CALL_END": w.call,
		"TOOL_CALL_RESULT": w.result,
	}
	rule := rules[typ]
	if rule == nil {
		return errors.New("there is no such event here")
	}
	return rule(e)
}

// cased refuses names that are not camelCase; what people and models wrote inside is theirs.
func cased(v any, under string) error {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if !camel.MatchString(name) {
				return fmt.Errorf("%s has the name %q", under, name)
			}
			if !slices.Contains([]string{"result", "messages", "payload", "schema",
				"responseSchema", "context", "answer", "value"}, name) {
				if err := cased(inner, name); err != nil {
					return err
				}
			}
		}
	case []any:
		for _, inner := range v {
			if err := cased(inner, under); err != nil {
				return err
			}
		}
	}
	return nil
}

func fieldOf(e map[string]any, name string) string {
	s, _ := e[name].(string)
	return s
}

func (w *walk) step(e map[string]any) error {
	name := fieldOf(e, "stepName")
	_, open := w.steps[name]
	switch begins := e["type"] == "STEP_STARTED"; {
	case name == "":
		return errors.New("the step has no name")
	case begins == open:
		return errors.New("the step is begun twice, or ends before it began")
	case begins:
		w.steps[name] = name
	default:
		delete(w.steps, name)
	}
	return nil
}

// part follows what has a start, pieces and an end.
func (w *walk) part(open map[string]string, e map[string]any, id, kind string) (whole string,
	err error) {
	had, is := open[id]
	switch typ, delta := fieldOf(e, "type"), fieldOf(e, "delta"); {
	case id == "":
		return "", errors.New("it has no id")
	case strings.HasSuffix(typ, "_START"):
		if is || w.seen[kind+id] {
			return "", fmt.Errorf("%s is begun twice", id)
		}
		open[id], w.seen[kind+id] = "", true
	case !is:
		return "", fmt.Errorf("%s was not begun, or is over", id)
	case strings.HasSuffix(typ, "_END"):
		if had == "" {
			return "", fmt.Errorf("%s is empty", id)
		}
		delete(open, id)
		return had, nil
	case delta == "":
		return "", errors.New("its delta is empty")
	default:
		open[id] = had + delta
	}
	return "", nil
}

func (w *walk) text(e map[string]any) error {
	_, err := w.part(w.texts, e, fieldOf(e, "messageId"), "text ")
	return err
}

func (w *walk) call(e map[string]any) error {
	id := fieldOf(e, "toolCallId")
	if e["type"] == "TOOL_CALL_START" {
		if fieldOf(e, "toolCallName") == "" {
			return errors.New("the tool has no name")
		}
		if by := w.begun[w.thread+" "+id]; by != "" && by != cmp.Or(w.turn, w.run) {
			return fmt.Errorf("%s was begun in the turn %s: this one has only its result", id, by)
		}
		w.begun[w.thread+" "+id] = cmp.Or(w.turn, w.run)
	}
	args, err := w.part(w.calls, e, id, "call ")
	if err == nil && args != "" && !json.Valid([]byte(args)) {
		err = fmt.Errorf("the arguments %q are no JSON", args)
	}
	return err
}

func (w *walk) result(e map[string]any) error {
	id := fieldOf(e, "toolCallId")
	_, open := w.calls[id]
	switch {
	case id == "" || fieldOf(e, "messageId") == "" || fieldOf(e, "content") == "" ||
		e["role"] != "tool":
		return errors.New("a result has messageId, toolCallId, content, and the role tool")
	case open || w.begun[w.thread+" "+id] == "":
		return fmt.Errorf("%s has a result before it was called", id)
	case w.seen["result "+id]:
		return fmt.Errorf("%s has two results", id)
	}
	w.seen["result "+id] = true
	return nil
}

func (w *walk) snapshot(e map[string]any) error {
	s, _ := e["snapshot"].(map[string]any)
	if s["threadId"] != w.thread || s["runId"] != w.run || fieldOf(s, "status") == "" {
		return errors.New("the snapshot is not of this run")
	}
	w.state = fieldOf(s, "status")
	w.asked, _ = s["interrupts"].([]any)
	if (w.state == "interrupted") != (len(w.asked) > 0) {
		return fmt.Errorf("the state %s has %d interrupts", w.state, len(w.asked))
	}
	return nil
}

func (w *walk) closed() error {
	w.over = true
	if n := len(w.steps) + len(w.texts) + len(w.calls); n > 0 {
		return fmt.Errorf("%d are open at the end: %v %v %v", n, w.steps, w.texts, w.calls)
	}
	return nil
}

func (w *walk) failed(e map[string]any) error {
	if fieldOf(e, "code") == "" || fieldOf(e, "message") == "" {
		return errors.New("an error has a code and a message")
	}
	return w.closed()
}

func (w *walk) finished(e map[string]any) error {
	outcome, _ := e["outcome"].(map[string]any)
	asked, _ := outcome["interrupts"].([]any)
	switch {
	case e["threadId"] == nil || e["runId"] == nil:
		return errors.New("the end names thread and run")
	case outcome["type"] == "success" && len(asked) == 0 && w.state != "interrupted":
		return w.closed()
	case outcome["type"] != "interrupt" || len(asked) == 0:
		return errors.New("its outcome is neither success nor interrupt")
	case w.state != "interrupted" || fmt.Sprint(asked) != fmt.Sprint(w.asked):
		return errors.New("no snapshot before it shows the same interrupts")
	}
	ids := map[string]bool{}
	for _, i := range asked {
		i, _ := i.(map[string]any)
		id, reason := fieldOf(i, "id"), fieldOf(i, "reason")
		core := slices.Contains([]string{"tool_call", "input_required", "confirmation"}, reason)
		switch {
		case id == "" || ids[id]:
			return errors.New("an interrupt has no id of its own")
		case !core && !strings.Contains(reason, ":"):
			return fmt.Errorf("the reason %q is none", reason)
		case reason == "tool_call" && w.begun[w.thread+" "+fieldOf(i, "toolCallId")] == "":
			return errors.New("the interrupt names no tool call that was shown")
		case reason == "input_required" && i["responseSchema"] == nil:
			return errors.New("nothing says what input is required")
		}
		ids[id] = true
	}
	return w.closed()
}

// ev writes an event of the thread t and the run r, as a good server would, with these fields.
func ev(typ string, fields ...string) string {
	var out strings.Builder
	out.WriteString(`{"type":"` + typ + `","timestamp":1763750000000`)
	for n := 0; n < len(fields); n += 2 {
		value := fields[n+1]
		if !strings.ContainsAny(value[:1], `{["0123456789`) {
			value = `"` + value + `"`
		}
		out.WriteString(`,"` + fields[n] + `":` + value)
	}
	return out.String() + "}"
}

var (
	goodBegins = ev("RUN_STARTED", "threadId", "t", "runId", "r")
	goodEnds   = ev("RUN_FINISHED", "threadId", "t", "runId", "r", "outcome", `{"type":"success"}`)
	goodFails  = ev("RUN_ERROR", "code", "conflict", "message", "no")
	goodAsks   = `[{"id":"i","reason":"confirmation"}]`
	goodWaits  = ev("STATE_SNAPSHOT", "snapshot",
		`{"threadId":"t","runId":"r","status":"interrupted","interrupts":`+goodAsks+`}`)
	goodPauses = ev("RUN_FINISHED", "threadId", "t", "runId", "r", "outcome",
		`{"type":"interrupt","interrupts":`+goodAsks+`}`)
	goodCalled = []string{ev("TOOL_CALL_START", "toolCallId", "c", "toolCallName", "n"),
		ev("TOOL_CALL_ARGS", "toolCallId", "c", "delta", `"{}"`),
		ev("TOOL_CALL_END", "toolCallId", "c")}
	goodResult = ev("TOOL_CALL_RESULT", "toolCallId", "c", "messageId", "m", "content", "x",
		"role", "tool")
	goodSpoken = []string{ev("TEXT_MESSAGE_START", "messageId", "m", "role", "assistant"),
		ev("TEXT_MESSAGE_CONTENT", "messageId", "m", "delta", "x"),
		ev("TEXT_MESSAGE_END", "messageId", "m")}
	goodStepped = []string{ev("STEP_STARTED", "stepName", "s"),
		ev("STEP_FINISHED", "stepName", "s")}
)

func framesOf(lines ...any) (out [][]byte) {
	for _, line := range lines {
		switch line := line.(type) {
		case string:
			out = append(out, []byte(line))
		case []string:
			for _, l := range line {
				out = append(out, []byte(l))
			}
		}
	}
	return out
}

func TestCheckerTakesGoodStreams(t *testing.T) {
	t.Parallel()
	for name, frames := range map[string][][]byte{
		"nothing": framesOf(goodBegins, goodEnds),
		"refused": framesOf(goodBegins, goodFails),
		"everything": framesOf(goodBegins, goodStepped, goodCalled, goodResult, goodSpoken,
			goodEnds),
		"interleaved": framesOf(goodBegins, goodStepped[0], goodSpoken[0], goodCalled[0],
			goodSpoken[1], goodCalled[1], goodCalled[2], goodSpoken[2], goodStepped[1], goodResult,
			goodEnds),
		"a step again": framesOf(goodBegins, goodStepped, goodStepped, goodEnds),
		"a pause":      framesOf(goodBegins, goodCalled, goodWaits, goodPauses),
	} {
		require.NoError(t, (&checker{}).check("t", "r", frames), name)
	}
	c := &checker{}
	require.NoError(t, c.check("t", "r", framesOf(goodBegins, goodCalled, goodWaits, goodPauses)))
	require.NoError(t, c.check("t", "r", framesOf(goodBegins, goodCalled, goodWaits, goodPauses)),
		"the same run again")
	other := func(line string) string { return strings.ReplaceAll(line, `"r"`, `"r2"`) }
	require.NoError(t, c.check("t", "r2", framesOf(other(goodBegins), goodResult, other(goodEnds))),
		"only the result of what was called before")
	require.Error(t, c.check("t", "r2", framesOf(other(goodBegins), goodCalled, goodResult,
		other(goodEnds))), "called again by the run that resumes")
}

func TestCheckerRefusesBadStreams(t *testing.T) {
	t.Parallel()
	swap := func(line, old, with string) string {
		require.Contains(t, line, old)
		return strings.ReplaceAll(line, old, with)
	}
	tool := `[{"id":"i","reason":"tool_call","toolCallId":"gone"}]`
	for name, frames := range map[string][][]byte{
		"nothing at all":          nil,
		"no beginning":            framesOf(goodEnds),
		"two beginnings":          framesOf(goodBegins, goodBegins, goodEnds),
		"no end":                  framesOf(goodBegins, goodSpoken),
		"two ends":                framesOf(goodBegins, goodEnds, goodEnds),
		"an end after an error":   framesOf(goodBegins, goodFails, goodEnds),
		"an error after the end":  framesOf(goodBegins, goodEnds, goodFails),
		"something after the end": framesOf(goodBegins, goodEnds, goodSpoken),
		"a step left open":        framesOf(goodBegins, goodStepped[0], goodEnds),
		"a step left by an error": framesOf(goodBegins, goodStepped[0], goodFails),
		"a step begun twice": framesOf(goodBegins, goodStepped[0], goodStepped[0],
			goodStepped[1], goodEnds),
		"a step that never began": framesOf(goodBegins, goodStepped[1], goodEnds),
		"a step without a name":   framesOf(goodBegins, ev("STEP_STARTED"), goodEnds),
		"a text left open":        framesOf(goodBegins, goodSpoken[:2], goodEnds),
		"a text that never began": framesOf(goodBegins, goodSpoken[1:], goodEnds),
		"a text without words":    framesOf(goodBegins, goodSpoken[0], goodSpoken[2], goodEnds),
		"an empty delta": framesOf(goodBegins, goodSpoken[0],
			swap(goodSpoken[1], `"x"`, `""`), goodSpoken[2], goodEnds),
		"a text twice":             framesOf(goodBegins, goodSpoken, goodSpoken, goodEnds),
		"a call left open":         framesOf(goodBegins, goodCalled[:2], goodEnds),
		"a call that never began":  framesOf(goodBegins, goodCalled[1:], goodEnds),
		"a call without arguments": framesOf(goodBegins, goodCalled[0], goodCalled[2], goodEnds),
		"arguments that are cut": framesOf(goodBegins, goodCalled[0],
			swap(goodCalled[1], `"{}"`, `"{"`), goodCalled[2], goodEnds),
		"a call without a name": framesOf(goodBegins, swap(goodCalled[0], `"n"`, `""`),
			goodCalled[1:], goodEnds),
		"a call twice":            framesOf(goodBegins, goodCalled, goodCalled, goodEnds),
		"a result without a call": framesOf(goodBegins, goodResult, goodEnds),
		"a result before the end": framesOf(goodBegins, goodCalled[:2], goodResult, goodCalled[2],
			goodEnds),
		"two results": framesOf(goodBegins, goodCalled, goodResult, goodResult,
			goodEnds),
		"an empty result": framesOf(goodBegins, goodCalled, swap(goodResult, `"x"`, `""`),
			goodEnds),
		"another thread": framesOf(swap(goodBegins, `"t"`, `"u"`), goodEnds),
		"an error with a run id": framesOf(goodBegins,
			swap(goodFails, `"code"`, `"runId":"r","code"`)),
		"a step with a thread id": framesOf(goodBegins,
			swap(goodStepped[0], `"stepName"`, `"threadId":"t","stepName"`), goodStepped[1],
			goodEnds),
		"another run": framesOf(goodBegins, swap(goodEnds, `"r"`, `"q"`)),
		"snake case":  framesOf(swap(goodBegins, "runId", "run_id"), goodEnds),
		"snake case in a snapshot": framesOf(goodBegins,
			swap(goodWaits, `"status"`, `"current_agent":"a","status"`), goodPauses),
		"a time as text": framesOf(
			swap(goodBegins, "1763750000000", `"2025-11-21T18:33:20Z"`), goodEnds),
		"a time with a fraction": framesOf(swap(goodBegins, "1763750000000", "1763750000000.5"),
			goodEnds),
		"a time in seconds": framesOf(swap(goodBegins, "1763750000000", "1763750000"),
			goodEnds),
		"no time": framesOf(swap(goodBegins, `"timestamp":1763750000000,`, ""),
			goodEnds),
		"no outcome": framesOf(goodBegins,
			swap(goodEnds, `,"outcome":{"type":"success"}`, "")),
		"another outcome": framesOf(goodBegins, swap(goodEnds, "success", "error")),
		"a pause without a reason": framesOf(goodBegins, goodWaits,
			swap(goodPauses, goodAsks, "[]")),
		"a pause without snapshot": framesOf(goodBegins, goodPauses),
		"a pause after another": framesOf(goodBegins, swap(goodWaits, `"i"`, `"j"`),
			goodPauses),
		"success while it waits": framesOf(goodBegins, goodWaits, goodEnds),
		"a waiting state, no asks": framesOf(goodBegins,
			swap(goodWaits, `,"interrupts":`+goodAsks, ""), goodEnds),
		"an unknown reason": framesOf(goodBegins,
			swap(goodWaits, "confirmation", "because"),
			swap(goodPauses, "confirmation", "because")),
		"input without a schema": framesOf(goodBegins,
			swap(goodWaits, "confirmation", "input_required"),
			swap(goodPauses, "confirmation", "input_required")),
		"a tool call nobody saw": framesOf(goodBegins, swap(goodWaits, goodAsks, tool),
			swap(goodPauses, goodAsks, tool)),
		"two interrupts of one id": framesOf(goodBegins,
			swap(goodWaits, goodAsks, goodAsks[:len(goodAsks)-1]+","+goodAsks[1:]),
			swap(goodPauses, goodAsks, goodAsks[:len(goodAsks)-1]+","+goodAsks[1:])),
		"an error without a code":   framesOf(goodBegins, swap(goodFails, `"conflict"`, `""`)),
		"an error without a reason": framesOf(goodBegins, swap(goodFails, `"no"`, `""`)),
		"an unknown event":          framesOf(goodBegins, ev("THINKING"), goodEnds),
		"no JSON":                   framesOf(goodBegins, "{", goodEnds),
		"two lines":                 framesOf(goodBegins, strings.Replace(goodEnds, ",", ",\n", 1)),
	} {
		assert.Error(t, (&checker{}).check("t", "r", frames), name)
	}
}
