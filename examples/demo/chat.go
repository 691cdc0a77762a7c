package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/examples/inspection/agents"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/agent"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/agui"
	"github.com/routegen/routegen/runtime/web/control"
	"github.com/routegen/routegen/runtime/web/socket"
	"github.com/routegen/routegen/runtime/workflow"
)

// openInspection opens the conversation of inspection, with tools in memory: general hands over,
// reporting asks what it does not know, and a person approves the final report.
func openInspection(ctx context.Context, p *place, slow func(llm.Model) llm.Model) (web.Config,
	error) {
	model := slow(llmtest.NewModel(llmtest.Reply{Give: inspectionScript, Ever: true}))
	program := agents.NewProgram(model)
	machine, err := workflow.New(program,
		workflow.Config{Conversation: true, Servers: inspectionTools()})
	if err != nil {
		return web.Config{}, err
	}
	if p.engine, err = thread.Open(ctx, p.store, thread.Config{Owner: "demo"},
		machine); err != nil {
		return web.Config{}, err
	}
	talk := &chat.Conversation{
		Engine: p.engine, Machine: machine, Cancel: []string{"cancel"}, Skip: []string{"skip"},
		Cancelled: "Cancelled.",
		Begin:     agents.BeginTurns(machine),
	}
	for _, said := range [][]string{{"fish-stall", "a report on the fish stall"},
		{"bakery", "a report on the bakery", "Jansen, kept at 4 degrees"},
		{"rules", "what is the rule for fish?"}} {
		p.seeds = append(p.seeds, func(ctx context.Context) error {
			for _, text := range said[1:] {
				if _, err := talk.Deliver(ctx, chat.Message{Thread: said[0], User: you,
					Text: text}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return web.Config{
		Conversation: talk,
		//nolint:contextcheck // calls have their own
		Doors: []web.Door{socket.Door(), agui.Door(), control.Reroutes(machine)},
		Programs: map[string]web.Program{workflow.Name: {Title: "Inspection",
			Generated: program}},
	}, nil
}

// tools is a fixed list.
type tools []llm.Tool

// Tools returns the list.
func (t tools) Tools(context.Context) ([]llm.Tool, error) { return t, nil }

type report struct {
	Company string `json:"company"`
	Finding string `json:"finding"`
	Severe  bool   `json:"severe"`
}

func inspectionTools() map[string]llm.Tools {
	fixed := func(text string) func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return runtime.Encode(text)
		}
	}
	return map[string]llm.Tools{
		"regulation": tools{{Name: "search_regulations", Description: "Finds rules.",
			Call: fixed("Chilled fish is kept at 4 degrees or less (article 4).")}},
		"history": tools{{Name: "get_inspection_history",
			Description: "Finds earlier inspections.", Call: fixed("Two visits: March 12, fine; " +
				"June 3, a warning.")}},
		"reporting": tools{{
			Name: "generate_final_report", Description: "Writes the final report and mails it.",
			Schema: json.RawMessage(
				`{"type":"object","properties":{"company":{"type":"string","title":"Company"},"finding":{"type":"string","title":"Finding"},` +
					`"severe":{"type":"boolean","title":"Severe"}},"required":["company","finding","severe"],"additionalProperties":false}`),
			Call: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
				return runtime.Encode(fmt.Sprintf("Report R-%.3x is written and mailed.",
					sha256.Sum256([]byte(agent.ToolKey(ctx)))))
			},
		}},
	}
}

// inspectionScript is the model: a few words, and which tool follows which.
func inspectionScript(_ context.Context, r llm.Request) (llm.Response, error) {
	turns := r.Turns()
	last := turns[len(turns)-1]
	has := func(tool string) bool {
		return slices.ContainsFunc(r.Tools, func(t llm.Tool) bool {
			return strings.HasPrefix(t.Name, tool)
		})
	}
	call := func(tool string, args any) (llm.Response, error) {
		data, err := runtime.Encode(args)
		return llm.Response{Calls: []llm.ToolCall{{ID: fmt.Sprintf("call-%d", len(turns)),
			Name: tool, Args: data}}}, err
	}
	switch {
	case has("transfer_to_"):
		for word, to := range map[string]string{"report": "reporting", "rule": "regulation",
			"earlier": "history"} {
			if strings.Contains(last.Text, word) {
				return call("transfer_to_"+to, map[string]string{"reason": "it is about a " + word})
			}
		}
		return llm.Response{Text: "Ask me for a report, a rule or an earlier visit."}, nil
	case len(last.Results) == 0 && has("request_clarification"):
		return call("request_clarification", map[string]any{"questions": []map[string]any{
			{"question": "Which company is it?"},
			{"question": "How was the food kept?", "options": []string{"chilled", "not chilled"}},
		}})
	case len(last.Results) == 0:
		return call(r.Tools[0].Name, struct{}{})
	case turns[len(turns)-2].Calls[0].Name == "request_clarification":
		return call("generate_final_report",
			report{Company: "Jansen", Finding: last.Results[0].String()})
	}
	return llm.Response{Text: last.Results[0].String()}, nil
}
