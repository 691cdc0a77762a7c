package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
)

// Reply is one line of a script.
type Reply struct {
	// for messages; may be empty
	Name string
	// which requests it is for; nil: any
	When func(r llm.Request) bool
	Give func(ctx context.Context, r llm.Request) (resp llm.Response, err error) // the reply
	// it may be given any number of times
	Ever bool
}

// JSON replies with a JSON text.
func JSON(text string) Reply {
	return replyWith("json", llm.Response{JSON: json.RawMessage(text)})
}

// Writes replies with free text, also where a schema was asked for.
func Writes(text string) Reply { return replyWith("text", llm.Response{Text: text}) }

// Calls replies with calls of tools. Ids that are missing are filled in.
func Calls(calls ...llm.ToolCall) Reply {
	return replyWith("calls", llm.Response{Calls: fillCalls("call", calls)})
}

// Fails replies with an error.
func Fails(err error) Reply {
	return Reply{Name: "fails", Give: func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{}, err
	}}
}

// Refuses replies with a refusal, as an adapter reports it.
func Refuses(text string) Reply {
	r := Fails(llm.Fail("ask scripted model", &llm.RefusalError{Provider: "scripted", Text: text}))
	r.Name = "refuses"
	return r
}

// Hangs replies when the context of the call ends, with what ended it.
func Hangs() Reply {
	return Reply{Name: "hangs", Give: func(ctx context.Context, _ llm.Request) (llm.Response,
		error) {
		<-ctx.Done()
		return llm.Response{}, contextError(ctx)
	}}
}

func replyWith(name string, resp llm.Response) Reply {
	return Reply{Name: name, Give: func(context.Context, llm.Request) (llm.Response, error) {
		return resp, nil
	}}
}

// fillCalls gives ids to calls that have none, and an empty object to those without arguments.
func fillCalls(prefix string, calls []llm.ToolCall) []llm.ToolCall {
	calls = slices.Clone(calls)
	for i := range calls {
		if calls[i].ID == "" {
			calls[i].ID = fmt.Sprintf("%s_%d", prefix, i+1)
		}
		if calls[i].Args == nil {
			calls[i].Args = json.RawMessage(`{}`)
		}
	}
	return calls
}

// For narrows a reply to the requests that all of these match.
func (r Reply) For(when ...func(llm.Request) bool) Reply {
	all := slices.Clone(when)
	if r.When != nil {
		all = append(all, r.When)
	}
	r.When = func(q llm.Request) bool {
		return !slices.ContainsFunc(all, func(match func(llm.Request) bool) bool {
			return !match(q)
		})
	}
	return r
}

// Always makes a reply one that may be given any number of times.
func (r Reply) Always() Reply {
	r.Ever = true
	return r
}

// Said matches requests in whose system prompt or turns a text occurs.
func Said(text string) func(llm.Request) bool {
	return func(r llm.Request) bool {
		return strings.Contains(r.System, text) ||
			slices.ContainsFunc(r.Turns(), func(m llm.Message) bool {
				return strings.Contains(m.Text, text) ||
					slices.ContainsFunc(m.Results, func(t llm.ToolResult) bool {
						return strings.Contains(t.String(), text)
					})
			})
	}
}

// Wants matches requests for a schema of this name.
func Wants(name string) func(llm.Request) bool {
	return func(r llm.Request) bool { return r.Schema != nil && r.Name() == name }
}

// Shows matches requests whose schema, in the plain dialect, holds a text.
func Shows(text string) func(llm.Request) bool {
	return func(r llm.Request) bool {
		return r.Schema != nil && strings.Contains(r.Schema(runtime.Plain), text)
	}
}

// ScriptedModel is an [llm.Model] that follows a script. A request gets the first reply that is
// left and matches; so replies without a match are given in their order, and concurrent callers are
// told apart by matches. Safe for concurrent use.
type ScriptedModel struct {
	mu    sync.Mutex
	left  []Reply
	asked []llm.Request
}

var _ llm.Model = (*ScriptedModel)(nil)

// NewModel returns a model with a script.
func NewModel(script ...Reply) *ScriptedModel { return &ScriptedModel{left: slices.Clone(script)} }

// AddReplies puts replies at the end of the script.
func (m *ScriptedModel) AddReplies(script ...Reply) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left = append(m.left, script...)
}

// Asked returns the requests so far, in the order they came.
func (m *ScriptedModel) Asked() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

// Left returns an error that names the replies that were not asked for, nil if all were. Replies
// that are given always do not count.
func (m *ScriptedModel) Left() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	once := slices.DeleteFunc(slices.Clone(m.left), func(r Reply) bool { return r.Ever })
	if len(once) == 0 {
		return nil
	}
	return fmt.Errorf("%d replies of the script were not asked for: %s", len(once),
		replyNames(once))
}

// Generate returns the next reply. It refuses what every model refuses, and returns CodeInvalid for
// a request without a matching reply; that error quotes the request, to help correct the script.
func (m *ScriptedModel) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	if err := r.Check(); err != nil {
		return llm.Response{}, err
	}
	if _, err := r.Form(runtime.Plain); err != nil {
		return llm.Response{}, err
	}
	if ctx.Err() != nil {
		return llm.Response{}, contextError(ctx)
	}
	reply, err := m.nextReply(r)
	if err != nil {
		return llm.Response{}, runtime.Errorf(runtime.CodeInvalid, "ask scripted model", "%w", err)
	}
	resp, err := reply.Give(ctx, r)
	if err == nil && resp.Model == "" {
		resp.Model = "scripted"
	}
	return resp, err
}

// nextReply takes a reply out of the script; giving it may block, and the lock is not held then.
func (m *ScriptedModel) nextReply(r llm.Request) (Reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, r)
	for i, reply := range m.left {
		if reply.When != nil && !reply.When(r) {
			continue
		}
		if !reply.Ever {
			m.left = slices.Delete(m.left, i, i+1)
		}
		return reply, nil
	}
	left := "the script is over"
	if len(m.left) > 0 {
		left = "no reply matches of those left: " + replyNames(m.left)
	}
	return Reply{}, fmt.Errorf("request %d: %s\n%s", len(m.asked), left, describeRequest(&r))
}

func replyNames(replies []Reply) string {
	out := make([]string, len(replies))
	for i := range replies {
		out[i] = replies[i].Name
	}
	return strings.Join(out, ", ")
}

// describeRequest shows what was asked, each part cut at 600 characters.
func describeRequest(r *llm.Request) string {
	var b strings.Builder
	part := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %s: %.600q\n", name, text)
		}
	}
	if r.Schema != nil {
		part("schema "+r.Name(), r.Schema(runtime.Plain))
	}
	for _, t := range r.Tools {
		part("tool "+t.Name, t.Description)
	}
	part("system", r.System)
	for _, turn := range r.Turns() {
		part(string(turn.Role), turn.Text)
		for _, c := range turn.Calls {
			part("call "+c.Name, string(c.Args))
		}
		for _, t := range turn.Results {
			part("result "+t.ID, t.String())
		}
	}
	return b.String()
}

func contextError(ctx context.Context) error {
	return llm.Fail("ask scripted model", llm.Unanswered(ctx, "scripted", true, ctx.Err()))
}
