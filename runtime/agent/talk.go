// Package agent lets a model lead a talk with the user of a step, with tools, approvals and
// transfers. It runs on a step of any machine; workflow.RunTalk runs it for the nodes of a spec.
package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/guard"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/thread"
)

// Talk configures a talk, which a model leads.
type Talk struct {
	Model    llm.Model     // default: that of Setup
	System   string        // who the agent is and what it does; never text of a user
	Messages []llm.Message // earlier messages
	Text     string        // the user's last message; "" if Messages end with it
	Tools    []llm.Tool    // in addition to those that the row of the node names
	Rounds   int           // how often the model may call tools; default 16
	Timeout  time.Duration // of one tool, and of asking a server for its tools; default 30 seconds
	// who may let a tool run that needs an approval; default: the assignees of the node, and where
	// it has none the user of the thread
	Approvers []string
}

// Said is the result of a talk: a reply for the user, or a transfer to another node.
type Said struct {
	Reply    string
	Transfer string          // key of the node; "" when there is a reply
	Note     string          // the model's text about the transfer
	Args     json.RawMessage // of the transfer
	Messages []llm.Message   // the talk, for the next one
}

// Setup is what a machine gives the talk of a node. Only Node is needed.
type Setup struct {
	Node    *runtime.Node        // its tools, and those that need an approval
	Model   llm.Model            // where Talk has none
	Tools   map[string]llm.Tool  // by the names that the node gives them
	Servers map[string]llm.Tools // by the names of the MCP servers
	Round   string               // comes before the number of each round
	// DisplayName returns the name that the model reads for a node it may hand over to.
	// Default: its key.
	DisplayName func(key string) string
	// Say says something to the user. Default: [thread.Say] of the text.
	Say func(ctx context.Context, name, text string) error
	// CallModel calls a model as an effect of a name. request makes the request, with a text as
	// its last turn of the user. Default: one call without such a text.
	CallModel func(ctx context.Context, m llm.Model, name string,
		request func(text string) (llm.Request, error)) (llm.Response, error)
}

// callModel is the default of Setup.CallModel.
func callModel(ctx context.Context, m llm.Model, name string,
	request func(text string) (llm.Request, error)) (llm.Response, error) {
	return thread.Do(ctx, name, func(ctx context.Context, key string) (llm.Response, error) {
		r, err := request("")
		if err != nil {
			return llm.Response{}, err
		}
		r.Key = key
		return m.Generate(ctx, r)
	})
}

// Run lets the model lead the talk in a step, whose context is ctx, with the tools that the row of
// its node names: tools by name from Setup.Tools, servers from Setup.Servers, transfer_to_NODE for
// the nodes it may hand over to, and request_clarification, which asks the user and goes on with
// the answer. A tool named under approval waits for a person before it runs: approved, edited and
// denied are three different outcomes, and the model is told which. All approvals that a reply of
// the model needs are asked together, and none of its tools runs before all are answered. A
// transfer ends the talk: what the model called beside it is not carried out.
//
// Every call of the model and of a tool is an effect of [thread.Do]: what is stored is not done
// again. A tool that must not happen twice, with once in the spec or in [llm.Tool], is one of
// [thread.Once]: where the process died in it, where it took longer than Timeout, or failed with
// CodeInDoubt, a person says whether it happened. A value that comes with that answer is the tool's
// result. The result of each tool call is an effect named tool/ROUND.CALL/NAME, a question's and a
// denied one's too. A tool that fails, or takes longer than Timeout otherwise, is a failed result
// for the model, and the talk goes on.
//
// It refuses with CodeInvalid a context that is not that of a step, a missing model, and a tool or
// server of the row that s lacks; and with CodeLoop, permanently, a model that calls tools
// without an end.
func (t Talk) Run(ctx context.Context, s *Setup) (*Said, error) {
	engine, err := thread.EngineOf(ctx)
	if err != nil {
		return nil, err
	}
	info, err := thread.InfoOf(ctx)
	if err != nil {
		return nil, err
	}
	l := &talkRun{Talk: t, setup: *s, engine: engine, info: info,
		messages: slices.Clone(t.Messages)}
	if l.Model == nil {
		l.Model = s.Model
	}
	if l.Model == nil {
		return nil, runtime.Errorf(runtime.CodeInvalid, "talk",
			"there is no model: set Talk.Model or Config.Model")
	}
	l.Rounds, l.Timeout = cmp.Or(t.Rounds, 16), cmp.Or(t.Timeout, 30*time.Second)
	switch {
	case len(t.Approvers) > 0:
	case len(s.Node.Assignees) > 0:
		l.Approvers = s.Node.Assignees
	case info.User != "":
		l.Approvers = []string{info.User}
	}
	if l.setup.CallModel == nil {
		l.setup.CallModel = callModel
	}
	if l.setup.Say == nil {
		l.setup.Say = func(ctx context.Context, name, text string) error {
			return thread.Say(ctx, name, text)
		}
	}
	if t.Text != "" {
		l.messages = append(l.messages, llm.Message{Role: llm.RoleUser, Text: t.Text})
	}
	if l.tools, err = l.offeredTools(ctx); err != nil {
		return nil, err
	}
	return l.runRounds(ctx)
}

// talkRun is a talk in progress.
type talkRun struct {
	Talk
	setup    Setup
	engine   *thread.Engine
	info     thread.Info
	tools    []llm.Tool
	messages []llm.Message
}

func (l *talkRun) runRounds(ctx context.Context) (*Said, error) {
	for round := 1; round <= l.Rounds; round++ {
		at := fmt.Sprintf("%s%d", l.setup.Round, round)
		out, err := l.setup.CallModel(ctx, l.Model, "model/"+at, l.nextRequest)
		if err != nil {
			return nil, err
		}
		if said := l.findTransfer(&out); said != nil {
			return said, nil
		}
		l.messages = append(l.messages, out.Turn())
		if len(out.Calls) == 0 {
			return &Said{Reply: out.Text, Messages: l.messages}, nil
		}
		calls := make([]toolCall, len(out.Calls))
		for i := range out.Calls {
			calls[i] = toolCall{ToolCall: out.Calls[i], reasoning: out.Text}
			calls[i].name = fmt.Sprintf("tool/%s.%d/%s", at, i+1, calls[i].Name)
		}
		if err := l.askApprovals(ctx, calls); err != nil {
			return nil, err
		}
		results := make([]llm.ToolResult, 0, len(calls))
		for i := range calls {
			result, err := l.callTool(ctx, &calls[i])
			if err != nil {
				return nil, err
			}
			results = append(results, result)
		}
		l.messages = append(l.messages, llm.Message{Role: llm.RoleUser, Results: results})
	}
	return nil, thread.Permanent(runtime.Errorf(runtime.CodeLoop, "talk at "+l.setup.Node.Key,
		"the model called tools %d times without an end", l.Rounds))
}

// nextRequest returns the next request of the talk. A text for its end is the user's turn in this
// request only and is not kept.
func (l *talkRun) nextRequest(text string) (llm.Request, error) {
	return llm.Request{System: l.System, Messages: l.messages, Prompt: text, Tools: l.tools}, nil
}

// findTransfer returns the end of the talk if the model called a transfer, or nil.
func (l *talkRun) findTransfer(out *llm.Response) *Said {
	for _, c := range out.Calls {
		to, ok := strings.CutPrefix(c.Name, transferTool)
		if ok && slices.ContainsFunc(l.setup.Node.Tools, func(t runtime.Tool) bool {
			return slices.Contains(t.TransferTo, to)
		}) {
			return &Said{Transfer: to, Note: out.Text, Args: c.Args, Messages: l.messages}
		}
	}
	return nil
}

// toolCall is one tool call of the model.
type toolCall struct {
	llm.ToolCall
	name      string // of its effect and of its question
	reasoning string // the model's text with the call
	approved  bool   // by a person
	denied    string // what the model is told if a person denied it; "" otherwise
}

// callTool executes a tool call and returns its result.
func (l *talkRun) callTool(ctx context.Context, c *toolCall) (llm.ToolResult, error) {
	at := slices.IndexFunc(l.tools, func(t llm.Tool) bool { return t.Name == c.Name })
	switch {
	case at < 0 || l.tools[at].Call == nil && c.Name != clarifyTool:
		return c.storeResult(ctx, c.failWith(fmt.Sprintf("there is no tool %q", c.Name)))
	case c.Name == clarifyTool:
		result, err := l.askClarification(ctx, c)
		if err != nil {
			return result, err
		}
		return c.storeResult(ctx, result)
	case c.denied != "":
		return c.storeResult(ctx, c.failWith(c.denied))
	}
	tool := &l.tools[at]
	run := func(ctx context.Context, key string) (llm.ToolResult, error) {
		if c.approved { // a step may run on an answer before that is stored; a tool must not
			_, err := l.engine.Change(ctx, l.info.Thread, func(*thread.Change) error { return nil })
			if err != nil {
				return llm.ToolResult{}, err
			}
		}
		return l.runTool(ctx, key, c, tool)
	}
	if !tool.Once {
		return thread.Do(ctx, c.name, run)
	}
	stored, err := thread.Once(ctx, "once/"+c.name,
		func(ctx context.Context, key string) (json.RawMessage, error) {
			result, err := run(ctx, key)
			if err != nil {
				return nil, err
			}
			return runtime.Encode(result)
		})
	if err != nil {
		return llm.ToolResult{}, err
	}
	return c.storeResult(ctx, c.decodeOnceResult(stored))
}

// decodeOnceResult decodes the stored value of a once call: its result, or the value that a person
// gave.
func (c *toolCall) decodeOnceResult(stored json.RawMessage) llm.ToolResult {
	var result llm.ToolResult
	if json.Unmarshal(stored, &result) != nil || result.ID != c.ID || result.Value == nil {
		return llm.ToolResult{ID: c.ID, Value: stored}
	}
	return result
}

// runTool runs a tool with its time limit.
func (l *talkRun) runTool(ctx context.Context, key string, c *toolCall, tool *llm.Tool) (
	llm.ToolResult, error) {
	ctx = context.WithValue(ctx, toolKey{}, key)
	value, err := guard.RunLimited(ctx, "call tool", l.Timeout,
		func(ctx context.Context) (json.RawMessage, error) { return tool.Call(ctx, c.Args) })
	switch {
	case err == nil && value == nil:
		return llm.ToolResult{ID: c.ID, Value: json.RawMessage("null")}, nil
	case err == nil && json.Valid(value):
		return llm.ToolResult{ID: c.ID, Value: value}, nil
	case err == nil:
		return c.failWith("its result is not JSON"), nil
	case ctx.Err() != nil: // the step ends, not the tool
		return llm.ToolResult{}, ctx.Err()
	case tool.Once && (errors.Is(err, guard.ErrLate) || runtime.CodeOf(err) == runtime.CodeInDoubt):
		return llm.ToolResult{}, runtime.Errorf(runtime.CodeInDoubt, "call tool "+tool.Name, "%w",
			err)
	}
	return c.failWith(err.Error()), nil
}

// storeResult stores the result of a call that runs no tool as an effect.
func (c *toolCall) storeResult(ctx context.Context, r llm.ToolResult) (llm.ToolResult, error) {
	return thread.Do(ctx, c.name, func(context.Context, string) (llm.ToolResult, error) {
		return r, nil
	})
}

func (c *toolCall) failWith(text string) llm.ToolResult {
	value, _ := runtime.Encode(text) // cannot fail: a string
	return llm.ToolResult{ID: c.ID, Value: value, Failed: true}
}
