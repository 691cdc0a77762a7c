package main

import (
	"encoding/json"
	"slices"

	"github.com/routegen/routegen/examples/planexecute/roles"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/planner"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/runtime/thread"
)

// atNode renders what the model of a frame's node reads, from the frame as it is stored.
func atNode(tables *runtime.Tables, prompts *prompt.Prompts) func(*thread.Thread, *thread.Frame) (
	string, error) {
	node := func(key string) int {
		return slices.IndexFunc(tables.Nodes, func(n runtime.Node) bool { return n.Key == key }) + 1
	}
	return func(_ *thread.Thread, f *thread.Frame) (string, error) {
		var at struct {
			Node    string          `json:"node"`
			Request json.RawMessage `json:"request"`
			Answer  json.RawMessage `json:"answer"`
			Trail   []struct {
				Node      string `json:"node"`
				Type      string `json:"type"`
				Interrupt string `json:"interrupt"`
				Reason    string `json:"reason"`
			} `json:"trail"`
		}
		if f.Locals == nil {
			return "", nil
		}
		if err := json.Unmarshal(f.Locals, &at); err != nil {
			return "", err
		}
		v := prompt.View{Node: node(at.Node), Request: at.Request, Answer: at.Answer}
		for _, past := range at.Trail[:max(0, len(at.Trail)-1)] { // the last one is the turn itself
			visit := prompt.Visit{Node: node(past.Node),
				Request: slices.IndexFunc(tables.Requests, func(r runtime.RequestRow) bool {
					return r.Name == past.Type
				}) + 1}
			if past.Interrupt != "" {
				visit = prompt.Visit{Node: visit.Node, Type: past.Type, Reason: past.Reason,
					Interrupt: slices.IndexFunc(tables.Interrupts,
						func(r runtime.InterruptRow) bool { return r.Name == past.Interrupt }) + 1}
			}
			v.History = append(v.History, visit)
		}
		if v.Node == 0 || tables.Nodes[v.Node-1].Template == "" {
			return "", nil // its handler asks no model
		}
		return prompts.Node(v)
	}
}

// atStep renders what the model of a plan reads for the step that is next.
func atStep(_ *thread.Thread, f *thread.Frame) (string, error) {
	var p planner.Plan
	if f.Locals == nil {
		return "", nil
	}
	if err := json.Unmarshal(f.Locals, &p); err != nil || len(p.Steps) == 0 {
		return "", err
	}
	return roles.StepPrompt(&p, p.Steps[0]), nil
}
