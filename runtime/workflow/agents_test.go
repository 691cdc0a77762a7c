package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/agent"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/internal/threadtest"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// note is the request of every agent, and the result.
type note struct {
	shape *runtime.Shape
	Text  string `json:"text"`
}

func (n *note) Shape() *runtime.Shape { return n.shape }

func noteNamed(name string) *note {
	return &note{shape: &runtime.Shape{Name: name,
		Fields: []runtime.Field{{Name: "text", Required: true}}}}
}

// hop is the routing of every agent: to another agent, or to the end.
type hop struct {
	shape *runtime.Shape
	name  string
	value *note
}

func (h *hop) Shape() *runtime.Shape { return h.shape }

func (h *hop) Selected() (runtime.Branch, error) {
	return runtime.Branch{Name: h.name, Value: h.value}, nil
}

var agentKeys = []string{"general", "regulation", "history", "reporting"}

// agentTables are the tables of four agents as a generator would write them: general hands over to
// the others, which answer.
func agentTables() *runtime.Tables {
	t := &runtime.Tables{Routings: []runtime.RoutingRow{{Name: "InterruptRouting"}}}
	for i, key := range agentKeys {
		n := runtime.Node{
			Key: key, AgentType: strings.ToUpper(key), DisplayName: key + "-agent", Entry: i == 0,
			Request: i + 1, Routing: i + 2, Result: "answer",
		}
		r := runtime.RoutingRow{Name: key + "Routing", Node: i + 1,
			Branches: []runtime.BranchRow{{Name: "answer", Type: "answer", Kind: runtime.ToEnd}}}
		switch key {
		case "general":
			n.Tools = []runtime.Tool{{TransferTo: []string{"regulation", "history", "reporting"}}}
			for to := 2; to <= 4; to++ {
				r.Branches = append(r.Branches,
					runtime.BranchRow{Name: agentKeys[to-1], Type: agentKeys[to-1],
						Kind: runtime.ToNode, Node: to})
			}
		case "reporting":
			n.Tools = []runtime.Tool{{Name: "request_clarification"}, {MCP: "reporting"}}
			n.Approval = []string{"generate_final_report"}
		default:
			n.Tools = []runtime.Tool{{MCP: key}}
		}
		t.Nodes = append(t.Nodes, n)
		t.Requests = append(t.Requests, runtime.RequestRow{Name: key, Node: i + 1})
		t.Routings = append(t.Routings, r)
	}
	return t
}

// chatStage is a stage with a conversation of the four agents. Their model follows a script, their
// servers are in memory.
type chatStage struct {
	*threadtest.Stage
	mu        sync.Mutex
	c         *chat.Conversation
	machine   *workflow.Machine
	tables    *runtime.Tables
	cfg       workflow.Config
	model     *llmtest.ScriptedModel
	servers   map[string]*server
	timeout   time.Duration // of a tool
	approvers []string
	before    func(ctx context.Context) error // what an agent does first
	seen      []string                        // metadata "who" of each run of an agent
}

// server is an MCP server's stand-in.
type server struct {
	tools []llm.Tool
	dead  bool // does not answer
	hangs bool // nor refuses
}

func (s *server) Tools(ctx context.Context) ([]llm.Tool, error) {
	switch {
	case s.hangs:
		<-ctx.Done()
		return nil, ctx.Err()
	case s.dead:
		return nil, errors.New("connection refused")
	}
	return s.tools, nil
}

func chatting(s *threadtest.Stage, script ...llmtest.Reply) *chatStage {
	s.Helper()
	c := &chatStage{Stage: s, tables: agentTables(), model: llmtest.NewModel(script...)}
	tool := func(name string) llm.Tool {
		return llm.Tool{Name: name, Call: func(_ context.Context, args json.RawMessage) (
			json.RawMessage, error) {
			s.Do(name + " " + string(args))
			return runtime.Encode(name + " " + strconv.Itoa(s.Do(name)))
		}}
	}
	c.servers = map[string]*server{
		"regulation": {tools: []llm.Tool{tool("search_regulations")}},
		"history":    {tools: []llm.Tool{tool("get_inspection_history")}},
		"reporting": {tools: []llm.Tool{tool("extract_inspection_data"),
			tool("submit_verification_answers"), tool("generate_final_report")}},
	}
	c.c = &chat.Conversation{
		Begin: func(m chat.Message, _ json.RawMessage) (thread.Begin, error) {
			n := noteNamed("general")
			n.Text = m.Text
			return c.machine.BeginTurn(n)
		},
		Cancel: []string{"annuleer"}, Skip: []string{"sla over", "skip", "geen vragen"},
	}
	c.cfg = workflow.Config{Conversation: true, Servers: map[string]llm.Tools{}}
	for name, server := range c.servers {
		c.cfg.Servers[name] = server
	}
	return c
}

// run opens the engine.
func (c *chatStage) run() *chatStage {
	c.Helper()
	fresh := func(name string) runtime.Record { return noteNamed(name) }
	m, err := workflow.New(runtime.Program{
		Tables: c.tables, Request: fresh, Interrupt: fresh, Result: fresh, Invoke: c.agent,
		Routing: func(name string) runtime.Routing {
			return &hop{shape: &runtime.Shape{Name: name, Kind: runtime.ShapeUnion}}
		},
	}, c.cfg)
	require.NoError(c, err)
	c.c.Machine, c.machine = m, m
	c.Opened = func() { c.c.Engine = c.Engine }
	c.With(m)
	return c
}

// agent is the handler of every node.
func (c *chatStage) agent(ctx context.Context, call runtime.Call, request runtime.Record) (
	runtime.Routing, error) {
	if call.Node == "reporting" {
		c.mu.Lock()
		c.seen = append(c.seen, workflow.Metadata(ctx)["who"])
		c.mu.Unlock()
	}
	if c.before != nil {
		if err := c.before(ctx); err != nil {
			return nil, err
		}
	}
	text := request.(*note).Text
	said, err := workflow.RunTalk(ctx, agent.Talk{Model: c.model,
		System: "You are " + call.Node + "-agent.", Text: text, Timeout: c.timeout,
		Approvers: c.approvers})
	if err != nil {
		return nil, err
	}
	shape := &runtime.Shape{Name: call.Node + "Routing", Kind: runtime.ShapeUnion}
	h := &hop{shape: shape, name: said.Transfer}
	if said.Transfer != "" {
		h.value = noteNamed(said.Transfer)
		h.value.Text = text
		return h, nil
	}
	h.name, h.value = "answer", noteNamed("answer")
	h.value.Text = said.Reply
	return h, workflow.Reply(ctx, "reply", said.Reply)
}

// is matches the requests of an agent's model.
func is(agent string) func(llm.Request) bool {
	return func(r llm.Request) bool { return r.System == "You are "+agent+"-agent." }
}

// calls is a model's turn that calls a tool, with an id of its own.
func calls(agent, id, tool, args string) llmtest.Reply {
	return llmtest.Calls(llm.ToolCall{ID: id, Name: tool, Args: json.RawMessage(args)}).
		For(is(agent))
}

func tells(agent, text string) llmtest.Reply { return llmtest.Writes(text).For(is(agent)) }

// hands over from the general agent.
func hands(to string) llmtest.Reply {
	return calls("general", "t_"+to, "transfer_to_"+to, `{"reason":"it is theirs"}`)
}

const twoQuestions = `{"questions":[{"question":"Which company?","field":"company_name","importance":"critical"},{"question":"How severe?","field":"severity","importance":"high","options":["low","high"]}]}`

const asText = "1. Which company?\n2. How severe? (low, high)"

// reporting is the beginning of a report, up to the question.
func reporting(rest ...llmtest.Reply) []llmtest.Reply {
	return append([]llmtest.Reply{
		hands("reporting"), calls("reporting", "x1", "extract_inspection_data", `{}`),
		calls("reporting", "q1", "request_clarification", twoQuestions),
	}, rest...)
}

// say delivers a text and expects no refusal. A break comes first.
func (c *chatStage) say(id, text string) *chat.Turn {
	c.Helper()
	c.Next()
	turn, err := c.c.Deliver(c.Context(), chat.Message{Thread: "room", ID: id, User: "ann",
		Text: text, Metadata: map[string]string{"who": id}})
	require.NoError(c, err)
	return turn
}

// question returns the one open question of a turn.
func (c *chatStage) question(turn *chat.Turn) *thread.Interrupt {
	c.Helper()
	require.Len(c, turn.Questions, 1, "%q", turn.Reply)
	require.Equal(c, thread.StatusWaiting, turn.Thread.Status())
	return turn.Questions[0]
}

// free expects a thread that takes the next message as a new turn.
func (c *chatStage) free(turn *chat.Turn) {
	c.Helper()
	for _, i := range turn.Questions {
		c.Logf("open: %s %s", i.Text, i.Payload)
	}
	require.Equal(c, thread.StatusIdle, turn.Thread.Status())
	require.Empty(c, turn.Questions)
}

// asked counts the requests of an agent's model.
func (c *chatStage) asked(agent string) int {
	n := 0
	for _, r := range c.model.Asked() {
		if is(agent)(r) {
			n++
		}
	}
	return n
}

// results are the stored results of tool calls, by the call's id.
func (c *chatStage) results(id string) map[string][]llm.ToolResult {
	c.Helper()
	out := map[string][]llm.ToolResult{}
	for _, e := range c.Log(id, thread.EntryEffect) {
		var r llm.ToolResult
		if strings.HasPrefix(e.Name, "tool/") && e.State == thread.EffectDone {
			require.NoError(c, json.Unmarshal(e.Value, &r))
			out[r.ID] = append(out[r.ID], r)
		}
	}
	return out
}

// told is what a tool call's result was, which is there once.
func (c *chatStage) told(id string) llm.ToolResult {
	c.Helper()
	r := c.results("room")[id]
	require.Len(c, r, 1, "result of %s", id)
	return r[0]
}

// pending expects the refusal of a message that is no answer.
func (c *chatStage) pending(err error, ids ...string) {
	c.Helper()
	c.Code(runtime.CodeConflict, err)
	var open *thread.PendingError
	require.ErrorAs(c, err, &open)
	require.Equal(c, ids, open.Open)
}
