package spec

import "github.com/routegen/routegen/generator/report"

func editRules() []report.Rule {
	return []report.Rule{
		{ID: RuleRefInUse, Summary: "Something that is to be removed is still referred to.",
			Why:  "What refers to it would break. Each place is named, to be changed first.",
			Bad:  "planner: {branches: {next: ReviewRequest}}   # routegen remove node review",
			Good: "planner: {branches: {done: PlanResult}}   # routegen remove node review"},
		{ID: RuleEditArgument, Summary: "An edit that cannot be understood.",
			Why:  "A wrong kind, name, key or value is refused before anything is written.",
			Bad:  "routegen add feild Ticket.title type=string",
			Good: "routegen add field Ticket.title type=string"},
		{ID: RuleEditLayout, Summary: "A layout in which an edit would change more than it should.",
			Why: "An edit keeps every byte that it does not speak of; where the text does not " +
				"let it, a person has to make the change.",
			Bad:  "nodes:\n  ? planner\n  : {doc: Plans.}",
			Good: "nodes:\n  planner: {doc: Plans.}"},
	}
}
