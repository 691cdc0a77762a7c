package review

import (
	"slices"

	"github.com/routegen/routegen/generator/report"
)

func typeRules() []rule {
	return slices.Concat(
		table(report.Error, CategorySource,
			entry{"TYPE_NO_DELETE", "A type is gone.",
				"Go that names it does not compile.",
				" types:\n-  Note: {fields: {text: {type: string}}}",
				" types:\n   Note: {fields: {text: {type: string}}}   # no longer used",
				"change the code that names it first"},
			entry{"ENUM_NO_DELETE", "An enum is gone.",
				"Go that names it or its constants does not compile.",
				" enums:\n-  Mood: {values: {GOOD: Good.}}",
				" enums:\n   Mood: {values: {GOOD: Good.}}   # no longer used",
				"change the code that names it first"},
			entry{"ROUTING_NO_DELETE", "A node no longer answers with a routing.",
				"Its handler, and Go that names the routing, do not compile.",
				" audit:\n-  request: {...}\n+  only: interrupt", "audit: {request: {...}}",
				"keep the request, or remove the node"},
			entry{"GO_NAME_SAME", "A type, method or constant has another name in Go.",
				"Go that names it does not compile.",
				"-  planner: {...}\n+  planning: {was: [planner]}", "planner: {go_name: Planner}",
				"go_name keeps the Go name"},
			entry{"BINDING_SAME", "A record is bound to another Go type.",
				"The assertion in the generated package compares another type, and converting " +
					"code does not compile.",
				"-go_type: example.com/app.Ticket\n+go_type: example.com/app/v2.Ticket",
				"go_type: example.com/app.Ticket", "change both sides in one step"},
			entry{"GO_API_NO_DELETE", "Names of the generated package are gone.",
				"Go that names them does not compile.",
				" fields:\n-  notes: {type: string}",
				" fields:\n   notes: {type: string, optional: true, deprecated: never set}",
				"deprecate it first, so that users of the package see it coming"},
		),
		table(report.Error, CategorySchema,
			entry{"DEF_SAME_NAME", "A definition or property has another name in schemas.",
				"References from outside, cached prompts and examples in prompts name the old one.",
				"-  Note: {...}\n+  Remark: {was: [Note]}",
				"Note: {go_name: Note, display_name: Remark}",
				"keep the name, or change what refers to it in the same step"},
		),
		table(report.Expected, CategorySource,
			entry{"ENUM_VALUE_ADDED", "An enum has one more value.",
				"A switch over the enum that lists its values meets one that it does not know.",
				" values:\n+  HOLD: Wait.   # and no case",
				" values:\n+  HOLD: Wait.   # and a case in every switch",
				"add a case to each switch over the enum"},
		),
	)
}
