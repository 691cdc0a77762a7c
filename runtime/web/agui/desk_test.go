package agui

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/agent"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/workflow"
)

// deskServer is an MCP server's stand-in.
type deskServer struct {
	tools []llm.Tool
	dead  bool
}

func (s *deskServer) Tools(context.Context) ([]llm.Tool, error) {
	if s.dead {
		return nil, errors.New("connection refused")
	}
	return s.tools, nil
}

// deskNote is the request of every agent, and the result.
type deskNote struct {
	shape *runtime.Shape
	Text  string `json:"text"`
}

func (n *deskNote) Shape() *runtime.Shape { return n.shape }

func deskNoteOf(name string) runtime.Record {
	return &deskNote{shape: &runtime.Shape{Name: name,
		Fields: []runtime.Field{{Name: "text", Required: true}}}}
}

// deskHop is the routing of every agent: to another agent, or to the end.
type deskHop struct {
	shape *runtime.Shape
	name  string
	value *deskNote
}

func (h *deskHop) Shape() *runtime.Shape { return h.shape }

func (h *deskHop) Selected() (runtime.Branch, error) {
	return runtime.Branch{Name: h.name, Value: h.value}, nil
}

// deskTables are the tables of four agents as a generator would write them: general hands over to
// the others, which answer.
func deskTables() *runtime.Tables {
	keys := []string{"general", "regulation", "history", "reporting"}
	t := &runtime.Tables{Routings: []runtime.RoutingRow{{Name: "InterruptRouting"}}}
	for i, key := range keys {
		n := runtime.Node{
			Key: key, AgentType: strings.ToUpper(key), DisplayName: key + "-agent", Entry: i == 0,
			Request: i + 1, Routing: i + 2, Result: "answer",
			Tools: []runtime.Tool{{MCP: key}},
		}
		r := runtime.RoutingRow{Name: key + "Routing", Node: i + 1,
			Branches: []runtime.BranchRow{{Name: "answer", Type: "answer", Kind: runtime.ToEnd}}}
		switch key {
		case "general":
			n.Tools = []runtime.Tool{{TransferTo: keys[1:]}}
			for to, key := range keys[1:] {
				r.Branches = append(r.Branches,
					runtime.BranchRow{Name: key, Type: key, Kind: runtime.ToNode, Node: to + 2})
			}
		case "reporting":
			n.Tools = append(n.Tools, runtime.Tool{Name: "request_clarification"})
			n.Approval = []string{"generate_final_report"}
		}
		t.Nodes = append(t.Nodes, n)
		t.Requests = append(t.Requests, runtime.RequestRow{Name: key, Node: i + 1})
		t.Routings = append(t.Routings, r)
	}
	return t
}

// agent is the handler of every node.
func (d *desk) agent(ctx context.Context, call runtime.Call, request runtime.Record) (
	runtime.Routing, error) {
	if call.Node == "reporting" {
		d.mu.Lock()
		d.seen = append(d.seen, workflow.Metadata(ctx))
		d.mu.Unlock()
	}
	if d.before != nil {
		if err := d.before(ctx); err != nil {
			return nil, err
		}
	}
	said := request.(*deskNote).Text
	out, err := workflow.RunTalk(ctx, agent.Talk{Model: d.model, System: call.Node, Text: said,
		Timeout: d.timeout})
	if err != nil {
		return nil, err
	}
	h := &deskHop{shape: &runtime.Shape{Name: call.Node + "Routing", Kind: runtime.ShapeUnion},
		name: out.Transfer}
	if out.Transfer != "" {
		h.value = deskNoteOf(out.Transfer).(*deskNote)
		h.value.Text = said
		return h, nil
	}
	h.name, h.value = "answer", deskNoteOf("answer").(*deskNote)
	h.value.Text = out.Reply
	return h, workflow.Reply(ctx, "reply", out.Reply)
}

// asksModel matches the requests of an agent's model.
func asksModel(agent string) func(llm.Request) bool {
	return func(r llm.Request) bool { return r.System == agent }
}

// asked counts the requests of the general agent's model.
func (d *desk) asked() int {
	n := 0
	for _, r := range d.model.Asked() {
		if asksModel("general")(r) {
			n++
		}
	}
	return n
}

func deskCalls(agent, id, tool, args string) llmtest.Reply {
	return llmtest.Calls(llm.ToolCall{ID: id, Name: tool, Args: json.RawMessage(args)}).
		For(asksModel(agent))
}

func deskTells(agent, words string) llmtest.Reply {
	return llmtest.Writes(words).For(asksModel(agent))
}

func deskHands(to string) llmtest.Reply {
	return deskCalls("general", "t_"+to, "transfer_to_"+to, `{"reason":"it is theirs"}`)
}

const twoQuestions = `{"questions":[{"question":"Which company?","field":"company_name"},{"question":"How severe?","field":"severity","options":["low","high"]}]}`

const bothQuestions = "1. Which company?\n2. How severe? (low, high)"

// toTheQuestion is the beginning of a report, up to the question.
func toTheQuestion(rest ...llmtest.Reply) []llmtest.Reply {
	return append([]llmtest.Reply{
		deskHands("reporting"), deskCalls("reporting", "x1", "extract_inspection_data", `{}`),
		deskCalls("reporting", "q1", "request_clarification", twoQuestions),
	}, rest...)
}

// toTheReport is a talk that comes to the final report, and goes on.
func toTheReport(rest ...llmtest.Reply) []llmtest.Reply {
	return append([]llmtest.Reply{
		deskHands("reporting"), deskCalls("reporting", "x1", "extract_inspection_data", `{}`),
		deskCalls("reporting", "g1", "generate_final_report", `{"send_email":true,"copies":2}`),
	}, rest...)
}
