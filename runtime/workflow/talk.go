package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/foreign"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/thread"
)

// Talk is what a model is told that leads the talk of a node.
type Talk struct {
	Model     llm.Model     // default: Config.Model
	System    string        // who the agent is and what it does; nothing that a user said
	Messages  []llm.Message // what was said before
	Text      string        // the user's last words; "" when Messages end with them
	Tools     []llm.Tool    // beside those that the node's spec names
	Rounds    int           // how often the model may call tools; default 16
	Timeout   time.Duration // of one tool, and of asking a server for its tools; default 30 seconds
	Approvers []string      // who may let a tool run that needs an approval; default: the user of the thread
}

// Said is how a talk ended: with a reply for the user, or with another node to go on at.
type Said struct {
	Reply    string
	Transfer string          // key of the node; "" when there is a reply
	Note     string          // what the model said about the transfer
	Args     json.RawMessage // of the transfer
	Messages []llm.Message   // the talk, for the next one
}

// Run lets the model lead the talk of the node whose handler calls it, with the tools that the node's spec names: tools by name from
// Config.Tools, servers from Config.Servers, transfer_to_NODE for the nodes it may hand over to, and request_clarification, which asks the
// user and goes on with the answer. A tool named under approval waits for a person before it runs: approved, edited and denied are three
// different outcomes, and the model is told which. All approvals that a reply of the model needs are asked together, and none of its tools
// runs before all are answered. A transfer ends the talk: what the model called beside it is not carried out.
//
// Each call of the model has the reroute event that is pending then, and a change that a person gave
// after a pause, as a last turn of the user.
//
// Every call of the model and of a tool is an effect of [thread.Do]: what is stored is not done again. A tool that must not happen twice,
// with once in the spec or in [llm.Tool], is one of [thread.Once]: where the process died in it, where it took longer than Timeout, or
// failed with CodeInDoubt, a person says whether it happened. A value that comes with that answer is the tool's result. The result of each
// tool call is an effect named tool/ROUND.CALL/NAME, a question's and a denied one's too; when the node's own interrupt has come back to it
// the talk is led anew, and ROUND has the number of that time before it: 2~1. A tool that fails, or takes longer than Timeout
// otherwise, is a failed result for the model, and the talk goes on.
//
// It refuses with CodeInvalid a context that is not that of a node, a missing model, and a tool or server of the spec that Config lacks; and
// with CodeLoop, permanently, a model that calls tools without an end.
func (t Talk) Run(ctx context.Context) (*Said, error) {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok {
		return nil, invalid("talk", "this context is not that of a node: pass on the one the handler got")
	}
	if t.Model == nil {
		t.Model = p.step.cfg.Model
	}
	if t.Model == nil {
		return nil, invalid("talk", "there is no model: set Talk.Model or Config.Model")
	}
	if t.Rounds == 0 {
		t.Rounds = 16
	}
	if t.Timeout == 0 {
		t.Timeout = 30 * time.Second
	}
	if user := p.step.a.User; len(t.Approvers) == 0 && user != "" {
		t.Approvers = []string{user}
	}
	l := &talk{Talk: t, step: p.step, thread: p.step.a.Thread, user: p.step.a.User, node: p.step.node(p.node), messages: slices.Clone(t.Messages)}
	if t.Text != "" {
		l.messages = append(l.messages, llm.Message{Role: llm.RoleUser, Text: t.Text})
	}
	var err error
	if l.engine, err = thread.EngineOf(ctx); err != nil {
		return nil, err
	}
	if l.tools, err = l.offers(ctx, p.step); err != nil {
		return nil, err
	}
	return l.run(ctx)
}

// talk is one that goes on.
type talk struct {
	Talk
	step     *step
	engine   *thread.Engine
	thread   string
	user     string
	node     *runtime.Node
	tools    []llm.Tool
	messages []llm.Message
}

func (l *talk) run(ctx context.Context) (*Said, error) {
	for round := 1; round <= l.Rounds; round++ {
		at := fmt.Sprintf("%s%d", l.step.round(), round)
		out, err := l.step.generate(ctx, &asking{model: l.Model, name: "model/" + at, live: true, write: l.request})
		if err != nil {
			return nil, err
		}
		if said := l.transfer(&out); said != nil {
			return said, nil
		}
		l.messages = append(l.messages, out.Turn())
		if len(out.Calls) == 0 {
			return &Said{Reply: out.Text, Messages: l.messages}, nil
		}
		calls := make([]call, len(out.Calls))
		for i := range out.Calls {
			calls[i] = call{ToolCall: out.Calls[i], reasoning: out.Text}
			calls[i].name = fmt.Sprintf("tool/%s.%d/%s", at, i+1, calls[i].Name)
		}
		if err := l.approve(ctx, calls); err != nil {
			return nil, err
		}
		results := make([]llm.ToolResult, 0, len(calls))
		for i := range calls {
			result, err := l.call(ctx, &calls[i])
			if err != nil {
				return nil, err
			}
			results = append(results, result)
		}
		l.messages = append(l.messages, llm.Message{Role: llm.RoleUser, Results: results})
	}
	return nil, runtime.Permanent(&runtime.Error{
		Code: runtime.CodeLoop, Op: "talk at " + l.node.Key, Err: fmt.Errorf("the model called tools %d times without an end", l.Rounds),
	})
}

// request is the next one of the talk. The news are the user's turn in this request alone: they are
// no part of the talk, and the next request has them as they are then.
func (l *talk) request(news string) (llm.Request, error) {
	return llm.Request{System: l.System, Messages: l.messages, Prompt: news, Tools: l.tools}, nil
}

// transfer returns the end of a talk whose model hands over to another node.
func (l *talk) transfer(out *llm.Response) *Said {
	for _, c := range out.Calls {
		to, ok := strings.CutPrefix(c.Name, transferTool)
		if ok && slices.ContainsFunc(l.node.Tools, func(t runtime.Tool) bool { return slices.Contains(t.TransferTo, to) }) {
			return &Said{Transfer: to, Note: out.Text, Args: c.Args, Messages: l.messages}
		}
	}
	return nil
}

// call is one tool call of the model.
type call struct {
	llm.ToolCall
	name      string // of its effect and of the question about it
	reasoning string // what the model said beside it
	approved  bool   // a person did
	denied    string // what the model is told where a person did not; "" otherwise
}

// call carries out a tool call.
func (l *talk) call(ctx context.Context, c *call) (llm.ToolResult, error) {
	at := slices.IndexFunc(l.tools, func(t llm.Tool) bool { return t.Name == c.Name })
	switch {
	case at < 0 || l.tools[at].Call == nil && c.Name != clarifyTool:
		return c.keep(ctx, c.failed(fmt.Sprintf("there is no tool %q", c.Name)))
	case c.Name == clarifyTool:
		result, err := l.clarify(ctx, c)
		if err != nil {
			return result, err
		}
		return c.keep(ctx, result)
	case c.denied != "":
		return c.keep(ctx, c.failed(c.denied))
	}
	tool := &l.tools[at]
	run := func(ctx context.Context, key string) (llm.ToolResult, error) {
		// A step may run on an answer before that is stored. Here it must be: nobody may deny afterwards what has happened.
		if c.approved {
			if err := l.store(ctx); err != nil {
				return llm.ToolResult{}, err
			}
		}
		return l.execute(ctx, key, c, tool)
	}
	if !tool.Once {
		return thread.Do(ctx, c.name, run)
	}
	stored, err := thread.Once(ctx, "once/"+c.name, func(ctx context.Context, key string) (json.RawMessage, error) {
		result, err := run(ctx, key)
		if err != nil {
			return nil, err
		}
		return runtime.Encode(result)
	})
	if err != nil {
		return llm.ToolResult{}, err
	}
	return c.keep(ctx, c.result(stored))
}

// result reads what is stored of a call that happened once: its result, or what a person said came of it.
func (c *call) result(stored json.RawMessage) llm.ToolResult {
	var result llm.ToolResult
	if json.Unmarshal(stored, &result) != nil || result.ID != c.ID || result.Value == nil {
		return llm.ToolResult{ID: c.ID, Value: stored}
	}
	return result
}

// slow is when somebody who follows the talk wants to see which tool it waits for.
const slow = 200 * time.Millisecond

// store commits what the talk has done so far.
func (l *talk) store(ctx context.Context) error {
	_, err := l.engine.Change(ctx, l.thread, func(*runtime.Change) error { return nil })
	return err
}

// execute runs a tool within its time. What was done before a slow one is stored while that runs: the call among it.
func (l *talk) execute(ctx context.Context, key string, c *call, tool *llm.Tool) (llm.ToolResult, error) {
	ctx = context.WithValue(ctx, toolKey{}, key)
	waits := time.AfterFunc(slow, func() { _ = l.store(ctx) }) // at the latest it is stored with the step
	defer waits.Stop()
	value, err := foreign.Call(ctx, "call tool", l.Timeout, func(ctx context.Context) (json.RawMessage, error) { return tool.Call(ctx, c.Args) })
	switch {
	case err == nil && value == nil:
		return llm.ToolResult{ID: c.ID, Value: json.RawMessage("null")}, nil
	case err == nil && json.Valid(value):
		return llm.ToolResult{ID: c.ID, Value: value}, nil
	case err == nil:
		return c.failed("its result is not JSON"), nil
	case ctx.Err() != nil: // the step ends, not the tool
		return llm.ToolResult{}, ctx.Err()
	case tool.Once && (errors.Is(err, foreign.ErrLate) || runtime.CodeOf(err) == runtime.CodeInDoubt):
		return llm.ToolResult{}, &runtime.Error{Code: runtime.CodeInDoubt, Op: "call tool " + tool.Name, Err: err}
	}
	return c.failed(err.Error()), nil
}

// keep stores the result of a call that runs no tool, as that of any other.
func (c *call) keep(ctx context.Context, result llm.ToolResult) (llm.ToolResult, error) {
	return thread.Do(ctx, c.name, func(context.Context, string) (llm.ToolResult, error) { return result, nil })
}

func (c *call) failed(text string) llm.ToolResult { return failedResult(c.ID, text) }

func failedResult(id, text string) llm.ToolResult {
	value, _ := runtime.Encode(text) // cannot fail: a string
	return llm.ToolResult{ID: id, Value: value, Failed: true}
}
