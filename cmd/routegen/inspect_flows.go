package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/generator/plan"
)

// flowKinds are the tables of a spec with flows.
func flowKinds() []kind {
	return []kind{
		table("flows", "FLOW\tSTEPS\tSTARTS WITH\tTAKES\tGIVES\tSLOTS",
			func(pl *plan.Plan) []plan.Flow { return talkOf(pl).Flows },
			func(f plan.Flow) string { return f.Key },
			flowRow),
		table("actions", "ACTION\tMETHOD\tONCE\tTAKES\tGIVES",
			func(pl *plan.Plan) []plan.Action { return talkOf(pl).Actions },
			func(a plan.Action) string { return a.Key },
			func(a plan.Action) string {
				return cells(a.Key, a.Method, onceText(a), fieldNames(a.Inputs), fieldNames(a.Outputs))
			}),
		table("validators", "VALIDATOR\tMETHOD\tTYPE",
			func(pl *plan.Plan) []plan.Validator { return talkOf(pl).Validators },
			func(v plan.Validator) string { return v.Key },
			func(v plan.Validator) string { return cells(v.Key, v.Method, typeText(v.Type)) }),
	}
}

func flowRow(f plan.Flow) string {
	var takes, gives, slots []string
	for i := range f.Slots {
		s := &f.Slots[i]
		mark := ""
		if !s.Needed {
			mark = "?"
		}
		if s.Input {
			takes = append(takes, s.Key+mark)
			mark = "" // what is taken and given is marked by how it is taken
		}
		if s.Output {
			gives = append(gives, s.Key+mark)
		}
		slots = append(slots, s.Key+" "+typeText(s.Type))
	}
	return cells(f.Key, strconv.Itoa(len(f.Steps)), startsWith(f), strings.Join(takes, ", "), strings.Join(gives, ", "), strings.Join(slots, ", "))
}

// startsWith says what begins a flow.
func startsWith(f plan.Flow) string {
	text := strings.Join(f.Intents, ", ")
	switch {
	case f.Hidden:
		return "other flows only"
	case f.Trigger != nil && text != "":
		return text + "; only on a condition"
	case f.Trigger != nil:
		return "only on a condition"
	}
	return text
}

func onceText(a plan.Action) string {
	if a.Once {
		return "yes"
	}
	return ""
}

// nothingOf says that a spec has no parts of one kind, and why where that is clear.
func nothingOf(pl *plan.Plan, kind string) string {
	text := "there are no " + kind
	switch {
	case len(pl.Nodes) == 0 && slices.Contains([]string{"nodes", "routes", "routings"}, kind):
		return text + ": " + noNodes + "; routegen inspect flows lists them"
	case pl.Talk == nil && slices.Contains([]string{"flows", "actions", "validators"}, kind):
		return text + ": the spec has nodes and no flows; routegen inspect nodes lists them"
	}
	return text + " in the spec"
}
