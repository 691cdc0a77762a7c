package agui

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/internal/input"
)

// runInput holds the parts of a run's input that the server uses.
type runInput struct {
	thread, run, parent string
	messages            []json.RawMessage // as the front end has them
	text                string            // of the user, when it is the last thing that was said
	message             string            // and the id of that message
	resume              []resumption
	by                  string // in whose name the operator runs
	away                bool   // the user wrote without seeing what the thread asks
	context, forwarded  json.RawMessage
	digest              string // of text and resume
}

// resumption is what a person did about one interrupt.
type resumption struct {
	interrupt string
	cancelled bool
	payload   json.RawMessage // nil when there is none; null is one
	digest    string          // of what the person saw
	routeTo   string          // where the work is to go on
}

// What goes to the handlers with a message, see [workflow.Metadata].
const (
	metaRun       = "run"
	metaDigest    = "digest"
	metaContext   = "context"
	metaForwarded = "forwardedProps"
)

func (in *runInput) metadata() map[string]string {
	out := map[string]string{}
	for name, data := range map[string]json.RawMessage{metaContext: in.context,
		metaForwarded: in.forwarded} {
		if text := string(data); text != "" && text != "null" && text != "{}" && text != "[]" {
			out[name] = text
		}
	}
	return out
}

// request returns the id of the request that the run makes: that of the user's message, which a
// front end sends again under a new run id when its connection breaks, or else that of the run.
func (in *runInput) request() string {
	if in.message != "" {
		return "agui.message/" + in.message
	}
	return "agui/" + in.run
}

// shows reports whether the front end has the question: its message, see [fold.history], or the
// tool call that asks.
func (in *runInput) shows(i *thread.Interrupt) bool {
	return slices.ContainsFunc(in.messages, func(data json.RawMessage) bool {
		type named struct {
			ID string `json:"id"`
		}
		var m struct {
			named

			Calls []named `json:"toolCalls"`
		}
		if json.Unmarshal(data, &m) != nil {
			return false
		}
		return m.ID == i.ID || slices.Contains(m.Calls, named{toolCall(i)}) && toolCall(i) != ""
	})
}

// object is a JSON object with a pointer to it. Unknown fields are ignored: the protocol
// grows.
type object struct {
	fields  map[string]json.RawMessage
	pointer string
}

// open reads an object. The letter case of a name counts.
func openObject(data json.RawMessage, pointer string) (object, error) {
	o := object{pointer: pointer}
	if json.Unmarshal(data, &o.fields) != nil || o.fields == nil {
		return o, input.Invalid(pointer, "expected an object")
	}
	return o, nil
}

// decodeField reads a field; null and absent are the zero value.
func decodeField[T any](o object, name, expected string, into *T) error {
	raw := o.fields[name]
	if raw == nil || string(raw) == "null" {
		return nil
	}
	if json.Unmarshal(raw, into) != nil {
		return input.Invalid(o.pointer+"/"+name, "expected "+expected)
	}
	return nil
}

// readRun reads the input of a run. The rules of every body apply, except that unknown names are
// ignored.
func readRun(body []byte) (*runInput, error) {
	o, err := openObject(body, "")
	if err != nil {
		return nil, err
	}
	if err := input.CheckObject(body); err != nil { // repeated keys, nesting, bad text
		return nil, err
	}
	in := &runInput{context: o.fields["context"], forwarded: o.fields["forwardedProps"]}
	var resume []json.RawMessage
	err = errors.Join(
		decodeField(o, "threadId", "a string", &in.thread),
		decodeField(o, "runId", "a string", &in.run),
		decodeField(o, "parentRunId", "a string", &in.parent),
		decodeField(o, "messages", "an array", &in.messages),
		decodeField(o, "resume", "an array", &resume),
	)
	switch {
	case err != nil:
		return nil, err
	case !input.ValidID(in.thread):
		return nil, input.Invalid("/threadId", "is no id: "+input.IDRule)
	case in.run == "" || !plainID(in.run):
		return nil, input.Invalid("/runId", "has 1 to 200 bytes, and no control characters")
	}
	if props, err := openObject(in.forwarded, "/forwardedProps"); err == nil {
		if err := errors.Join(decodeField(props, "by", "a string", &in.by),
			decodeField(props, "away", "a boolean", &in.away)); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(in.readResume(resume), in.readText()); err != nil {
		return nil, err
	}
	return in, in.setDigest(o.fields["resume"])
}

// plainID reports whether an id of the front end can be part of the id of a request.
func plainID(id string) bool {
	return len(id) <= 200 && !strings.ContainsFunc(id, func(r rune) bool { return r < ' ' })
}

// readText finds what the user says: the last message, when it is the user's. With a resumption it
// is an old one.
func (in *runInput) readText() error {
	if len(in.messages) == 0 || len(in.resume) > 0 {
		return nil
	}
	last := len(in.messages) - 1
	o, err := openObject(in.messages[last], "/messages/"+strconv.Itoa(last))
	if err != nil {
		return err
	}
	var role string
	if err := decodeField(o, "role", "a string", &role); err != nil || role != "user" {
		return err
	}
	if err := decodeField(o, "id", "a string", &in.message); err != nil {
		return err
	}
	if !plainID(in.message) {
		return input.Invalid(o.pointer+"/id", "has at most 200 bytes, and no control characters")
	}
	if json.Unmarshal(o.fields["content"], &in.text) != nil {
		var parts []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if json.Unmarshal(o.fields["content"], &parts) != nil {
			return input.Invalid(o.pointer+"/content", "expected a string, or an array of parts")
		}
		texts := make([]string, len(parts))
		for n, part := range parts {
			if texts[n] = part.Text; part.Type != "text" {
				return input.Invalid(o.pointer+"/content/"+strconv.Itoa(n),
					"only text is taken here")
			}
		}
		in.text = strings.Join(texts, "\n")
	}
	if in.text == "" {
		return input.Invalid(o.pointer+"/content", "is empty")
	}
	return nil
}

// maxResumed bounds what one commit holds.
const maxResumed = 100

func (in *runInput) readResume(entries []json.RawMessage) error {
	if len(entries) > maxResumed {
		return input.Invalid("/resume", "has more than "+strconv.Itoa(maxResumed)+" entries")
	}
	for n, entry := range entries {
		o, err := openObject(entry, "/resume/"+strconv.Itoa(n))
		if err != nil {
			return err
		}
		var r resumption
		var status string
		if err := errors.Join(decodeField(o, "interruptId", "a string", &r.interrupt),
			decodeField(o, "status", "a string", &status)); err != nil {
			return err
		}
		if o.fields["metadata"] != nil {
			meta, err := openObject(o.fields["metadata"], o.pointer+"/metadata")
			if err == nil {
				err = errors.Join(decodeField(meta, "digest", "a string", &r.digest),
					decodeField(meta, "routeTo", "a string", &r.routeTo))
			}
			if err != nil {
				return err
			}
		}
		r.payload, r.cancelled = o.fields["payload"], status == "cancelled"
		switch {
		case !input.ValidID(r.interrupt):
			return input.Invalid(o.pointer+"/interruptId", "names no interrupt")
		case status != "resolved" && status != "cancelled":
			return input.Invalid(o.pointer+"/status", "is resolved or cancelled")
		case slices.ContainsFunc(in.resume, func(other resumption) bool {
			return other.interrupt == r.interrupt
		}):
			return input.Invalid(o.pointer+"/interruptId", "is there twice")
		}
		in.resume = append(in.resume, r)
	}
	return nil
}

// setDigest sets the digest by which the same input is recognized.
func (in *runInput) setDigest(resume json.RawMessage) error {
	data := resume
	if len(in.resume) == 0 {
		var err error
		if data, err = runtime.Encode(in.text); err != nil {
			return err
		}
	}
	data, err := thread.CanonicalJSON(data)
	sum := sha256.Sum256(data)
	in.digest = hex.EncodeToString(sum[:16])
	return err
}

// resume makes a message of what a person did about the interrupts of one thread: the run's, or one
// beside it.
func (r *runStream) resume(ctx context.Context, m *chat.Message) error {
	cancelled := 0
	for _, entry := range r.in.resume {
		i, err := r.Engine().Interrupt(ctx, entry.interrupt)
		switch {
		case err != nil:
			return err
		case i.Thread != r.in.thread && !chat.IsSideThread(r.in.thread, i.Thread):
			return web.ErrNotFound
		case len(m.Open) > 0 && i.Thread != m.Thread:
			return web.BadRequest(
				"these interrupts are of several threads: resume one of them at a time")
		}
		m.Thread = i.Thread
		m.Open = append(m.Open, i.ID)
		if entry.cancelled {
			cancelled++
			continue
		}
		a, err := entry.toAnswer(i)
		if err != nil {
			return err
		}
		m.Answers = append(m.Answers, a)
	}
	if cancelled > 0 && len(m.Answers) > 0 {
		return web.BadRequest(
			"a turn is cancelled as a whole: cancel all of its interrupts, or none")
	}
	m.Cancel = cancelled > 0
	return nil
}

// pendingInterrupt is the code of a run that is no answer to what its thread asks.
const pendingInterrupt = "pending_interrupt"

// errorOf is what a RUN_ERROR says of an error.
func errorOf(err error) (code, text string) {
	p := web.ProblemOf(err)
	if _, is := errors.AsType[*thread.PendingError](err); is {
		return pendingInterrupt, p.Detail
	}
	if p.Status == http.StatusServiceUnavailable {
		return string(p.Code), "try again later, with the same message: it shows what came of " +
			"this one"
	}
	return string(p.Code), p.Detail
}
