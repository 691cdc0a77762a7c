// Package agents has the nodes of examples/inspection. In each a model leads the conversation.
package agents

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/routegen/routegen/examples/inspection/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/agent"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// NewProgram returns the program whose conversation the model leads, with the tools and the
// guidance of routes.yaml.
func NewProgram(model llm.Model) runtime.Program { return routes.New(agents{model}) }

// BeginTurns returns the Begin of a conversation: a turn begins at general, with what was said in
// the turn before.
func BeginTurns(machine *workflow.Machine) func(chat.Message, json.RawMessage) (thread.Begin,
	error) {
	return func(m chat.Message, last json.RawMessage) (thread.Begin, error) {
		var turn map[string]routes.Reply
		_ = json.Unmarshal(last, &turn) // before the first turn there is nothing
		return machine.BeginTurn(&routes.GeneralRequest{Text: m.Text, Said: turn["Reply"].Said})
	}
}

type agents struct{ model llm.Model }

func (a agents) General(ctx context.Context, call runtime.Call, q *routes.GeneralRequest) (
	*routes.GeneralRouting, error) {
	to, reply, err := a.talk(ctx, call, *q)
	out := &routes.GeneralRouting{Reply: reply}
	switch to {
	case "regulation":
		out.Regulation = (*routes.RegulationRequest)(q)
	case "history":
		out.History = (*routes.HistoryRequest)(q)
	case "reporting":
		out.Reporting = (*routes.ReportingRequest)(q)
	}
	return out, err
}

func (a agents) Regulation(ctx context.Context, call runtime.Call, q *routes.RegulationRequest) (
	*routes.RegulationRouting, error) {
	_, reply, err := a.talk(ctx, call, routes.GeneralRequest(*q))
	return &routes.RegulationRouting{Reply: reply}, err
}

func (a agents) History(ctx context.Context, call runtime.Call, q *routes.HistoryRequest) (
	*routes.HistoryRouting, error) {
	_, reply, err := a.talk(ctx, call, routes.GeneralRequest(*q))
	return &routes.HistoryRouting{Reply: reply}, err
}

func (a agents) Reporting(ctx context.Context, call runtime.Call, q *routes.ReportingRequest) (
	*routes.ReportingRouting, error) {
	_, reply, err := a.talk(ctx, call, routes.GeneralRequest(*q))
	return &routes.ReportingRouting{Reply: reply}, err
}

// talk ends with the node to hand over to, or with a reply.
func (a agents) talk(ctx context.Context, call runtime.Call, q routes.GeneralRequest) (to string,
	reply *routes.Reply, err error) {
	nodes := routes.New(a).Tables.Nodes
	n := nodes[slices.IndexFunc(nodes, func(n runtime.Node) bool { return n.Key == call.Node })]
	t := agent.Talk{Model: a.model, System: "You are the " + n.Key + " agent. " + n.Guidance,
		Text: q.Text}
	for _, line := range q.Said {
		t.Messages = append(t.Messages, llm.Message{Role: llm.Role(line.Role), Text: line.Text})
	}
	out, err := workflow.RunTalk(ctx, t)
	switch {
	case err != nil:
		return "", nil, err
	case out.Transfer != "":
		return out.Transfer, nil, nil
	}
	said := slices.Concat(q.Said,
		[]routes.Line{{Role: "user", Text: q.Text}, {Role: "model", Text: out.Reply}})
	return "", &routes.Reply{Text: out.Reply, Said: said[max(0, len(said)-20):]}, workflow.Reply(
		ctx, "reply", out.Reply)
}
