package main

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/examples/inspection/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/workflow"
)

// agents are the handlers of the nodes: in each a model leads the talk, with the tools and the guidance of routes.yaml.
type agents struct{ model llm.Model }

func (a agents) General(ctx context.Context, call runtime.Call, q *routes.GeneralRequest) (*routes.GeneralRouting, error) {
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

func (a agents) Regulation(ctx context.Context, call runtime.Call, q *routes.RegulationRequest) (*routes.RegulationRouting, error) {
	_, reply, err := a.talk(ctx, call, routes.GeneralRequest(*q))
	return &routes.RegulationRouting{Reply: reply}, err
}

func (a agents) History(ctx context.Context, call runtime.Call, q *routes.HistoryRequest) (*routes.HistoryRouting, error) {
	_, reply, err := a.talk(ctx, call, routes.GeneralRequest(*q))
	return &routes.HistoryRouting{Reply: reply}, err
}

func (a agents) Reporting(ctx context.Context, call runtime.Call, q *routes.ReportingRequest) (*routes.ReportingRouting, error) {
	_, reply, err := a.talk(ctx, call, routes.GeneralRequest(*q))
	return &routes.ReportingRouting{Reply: reply}, err
}

// talk ends with the node to hand over to, or with a reply.
func (a agents) talk(ctx context.Context, call runtime.Call, q routes.GeneralRequest) (to string, reply *routes.Reply, err error) {
	nodes := routes.New(a).Tables.Nodes
	n := nodes[slices.IndexFunc(nodes, func(n runtime.Node) bool { return n.Key == call.Node })]
	t := workflow.Talk{Model: a.model, System: "You are the " + n.Key + " agent. " + n.Guidance, Text: q.Text}
	for _, line := range q.Said {
		role := llm.RoleModel
		if line.Agent == "" {
			role = llm.RoleUser
		}
		t.Messages = append(t.Messages, llm.Message{Role: role, Text: line.Text})
	}
	out, err := t.Run(ctx)
	switch {
	case err != nil:
		return "", nil, err
	case out.Transfer != "":
		return out.Transfer, nil, nil
	}
	said := append(q.Said, routes.Line{Text: q.Text}, routes.Line{Agent: n.Key, Text: out.Reply})
	return "", &routes.Reply{Text: out.Reply, Said: said[max(0, len(said)-20):]}, workflow.Reply(ctx, "reply", out.Reply)
}

// verify is the rule of the reporting agent: it asks the inspector where less than 80 % of the data are there, or it is sure by less than 0.7.
func verify(completeness, confidence float64) bool { return completeness < 80 || confidence < 0.7 }

// verified adds the rule's word to what a server extracts: whether to ask is left neither to the server nor to the model.
type verified struct{ from llm.Tools }

// Tools are those of the server.
func (v verified) Tools(ctx context.Context) ([]llm.Tool, error) {
	tools, err := v.from.Tools(ctx)
	for i, t := range tools {
		tools[i].Call = func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
			out, err := t.Call(ctx, args)
			var found struct {
				Completeness *float64 `json:"completeness"` // per cent
				Confidence   float64  `json:"overall_confidence"`
			}
			if err != nil || json.Unmarshal(out, &found) != nil || found.Completeness == nil {
				return out, err
			}
			return json.RawMessage(strings.Replace(string(out), "{", `{"verify":`+strconv.FormatBool(verify(*found.Completeness, found.Confidence))+`,`, 1)), nil
		}
	}
	return tools, err
}
