package main

import (
	"strconv"
	"strings"

	"github.com/routegen/routegen/generator/plan"
)

// flowKinds are the tables of a spec with flows.
func flowKinds() []kind {
	return []kind{
		table("flows", "FLOW\tSTEPS\tSTARTS WITH\tTAKES\tGIVES\tSLOTS",
			func(pl *plan.Plan) []plan.Flow { return talkOf(pl).Flows },
			flowCells),
		table("actions", "ACTION\tMETHOD\tONCE\tTAKES\tGIVES",
			func(pl *plan.Plan) []plan.Action { return talkOf(pl).Actions },
			func(a plan.Action) []string {
				once := ""
				if a.Once {
					once = "yes"
				}
				return []string{a.Name, a.Method, once, fieldNames(a.Inputs), fieldNames(a.Outputs)}
			}),
		table("validators", "VALIDATOR\tMETHOD\tTYPE",
			func(pl *plan.Plan) []plan.Validator { return talkOf(pl).Validators },
			func(v plan.Validator) []string {
				return []string{v.Key, v.Method, typeText(v.Type)}
			}),
	}
}

// talkOf returns the flows of a plan with their actions and validators, empty if it has none.
func talkOf(pl *plan.Plan) *plan.Talk {
	if pl.Talk == nil {
		return &plan.Talk{}
	}
	return pl.Talk
}

func flowCells(f plan.Flow) []string {
	var takes, gives, slots []string
	for i := range f.Slots {
		s := &f.Slots[i]
		mark := ""
		if !s.Needed {
			mark = "?"
		}
		if s.Input {
			takes = append(takes, s.Key+mark)
			mark = "" // an output that is an input too is marked only there
		}
		if s.Output {
			gives = append(gives, s.Key+mark)
		}
		slots = append(slots, s.Key+" "+typeText(s.Type))
	}
	return []string{f.Name, strconv.Itoa(len(f.Steps)), startsWith(f), strings.Join(takes, ", "),
		strings.Join(gives, ", "), strings.Join(slots, ", ")}
}

// startsWith returns what starts a flow.
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
