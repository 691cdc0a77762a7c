package main

import (
	"slices"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/review"
	"github.com/routegen/routegen/generator/spec"
)

// allRules lists the rules of the spec, of writing, and of comparing two specs.
func allRules() []report.Rule {
	return slices.Concat(spec.Rules(), writingRules(), review.Catalogue())
}

// writingRules lists the rules that are checked when files are written.
func writingRules() []report.Rule {
	return []report.Rule{
		{
			ID: rulePackageBroken, Severity: report.Error, Category: report.CategoryError,
			Summary: "Handwritten files of the generated package do not compile with the " +
				"generated ones.",
			Why: "A package compiles as a whole, so nothing is written until the handwritten " +
				"file is corrected or moved to a package " +
				"of its own. The generated files alone compile.",
			Bad: "// generated/routes/extra.go\npackage routes\n\n" +
				"type Route int // generated, too",
			Good: "// labels/labels.go\npackage labels\n\ntype Route int",
		},
		{
			ID: ruleBindingMismatch, Severity: report.Error, Category: report.CategoryError,
			Summary: "A Go type named by go_type differs from the spec.",
			Why: "The generated package does not compile if they differ: correct the one " +
				"that is wrong.",
			Bad: "request:\n  go_type: example.com/app/agents.TicketRequest   # its field is " +
				"ID\n  fields:\n    ticketKey: {type: string, doc: Key of the ticket.}",
			Good: "request:\n  go_type: example.com/app/agents.TicketRequest\n  fields:\n    " +
				"id: {type: string, doc: Key of the ticket.}",
		},
	}
}
