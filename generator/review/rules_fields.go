package review

import (
	"slices"

	"github.com/routegen/routegen/generator/report"
)

//
//nolint:funlen // a table
func fieldRules() []rule {
	return slices.Concat(
		table(report.Error, CategoryWireJSON,
			entry{"FIELD_NO_DELETE", "A field is gone.",
				"Decoding is strict: a stored message that has the field is refused.",
				" fields:\n-  notes: {type: string}",
				" fields:\n   notes: {type: string, optional: true, hidden: true, deprecated: " +
					"never set}", "make it optional and hidden: nobody sees it, and stored data " +
					"is still read"},
			entry{"FIELD_SAME_JSON_NAME", "A field or branch has another JSON name.",
				"Stored and sent messages have the old name, which is refused, or read as " +
					"the branch or field that has it now: was: tells what became of it and does " +
					"not make it readable.",
				"-  notes: {type: string}\n+  remarks: {type: string, was: [notes]}",
				"remarks: {type: string, was: [notes], json: notes}",
				"json: keeps the name on the wire"},
			entry{"FIELD_SAME_TYPE", "A field has another type.",
				"A stored value of the old type is refused. An int may become a float, and an " +
					"enum, time or duration a string: those read what was stored.",
				"-count: {type: int}\n+count: {type: string}",
				"count: {type: int}\ncountText: {type: string, optional: true}",
				"add an optional field beside it"},
			entry{"FIELD_SAME_CARDINALITY",
				"A field holds many where it held one, or one where it held many.",
				"A stored value of the old form is refused.",
				"-ticket: {type: Ticket}\n+ticket: {type: \"[]Ticket\"}",
				"ticket: {type: Ticket}\ntickets: {type: \"[]Ticket\", optional: true}",
				"add an optional field beside it"},
			entry{"FIELD_SAME_REQUIRED",
				"A field is required that was not, or is new and required.",
				"Stored messages may lack it.",
				"+limit: {type: int}", "+limit: {type: int, optional: true}", "make it optional"},
			entry{"CONSTRAINT_NO_TIGHTEN", "A constraint is tighter, or a pattern changed.",
				"Stored values may be outside of it. Patterns are not compared: accepts_old says " +
					"that the new one takes every value of the old one.",
				"-notes: {type: string, max_length: 4000}\n" +
					"+notes: {type: string, max_length: 1000}",
				"notes: {type: string, max_length: 4000}   # and a shorter wish in its doc",
				"name the old pattern in accepts_old if the new one takes its values; else keep " +
					"the bound, and ask for less in the doc"},
		),
		table(report.Error, CategorySource,
			entry{"FIELD_SAME_GO_NAME", "A field has another name in Go.",
				"Go that names it does not compile.",
				"-  notes: {type: string}\n+  remarks: {type: string, was: [notes]}",
				"remarks: {type: string, was: [notes], go_name: Notes}",
				"go_name keeps the Go name"},
			entry{"FIELD_SAME_GO_TYPE", "A field has another type in Go.",
				"Go that reads or sets it does not compile.",
				"-limit: {type: int}\n+limit: {type: int, optional: true, presence: explicit}   " +
					"# int64 → *int64", "limit: {type: int, optional: true}   # still int64",
				"keep the Go type, or change the code in the same step"},
		),
		table(report.Error, CategorySchema,
			entry{"SCHEMA_NO_TIGHTEN",
				"Who starts a run, or answers an interrupt, is refused where it was accepted.",
				"Models are sent the schema of the day; people and other programs hold on to the " +
					"one they know.",
				" answer record:\n-  comment: {type: string, optional: true}\n" +
					"+  comment: {type: string}",
				"comment: {type: string, optional: true}",
				"keep what callers send as wide as it was"},
			entry{"SCHEMA_SAME_TYPE",
				"A property that models and callers send has another type in schemas.",
				"Examples in prompts, and programs that send it, are of the old type.",
				"-count: {type: int}\n+count: {type: string}", "count: {type: int}",
				"change prompts and callers in the same step"},
		),
		table(report.Expected, CategorySchema,
			entry{"SCHEMA_NO_LOOSEN", "Models may send what they could not.",
				"A bound that is gone, or a field that may be left out, lets replies in that " +
					"handlers never met.",
				"-score: {type: float, min: 0, max: 1}\n+score: {type: float}",
				"the same edit, and handlers that check the score",
				"make handlers ready for the new replies"},
			entry{"FIELD_SAME_DEFAULT", "The default of a field changed.",
				"Documents that lack the field, stored ones too, are read with another value, " +
					"and models are told of another one.",
				"-depth: {type: int, optional: true, default: 3}\n+depth: {type: int, optional: " +
					"true, default: 9}", "the same edit, and a look at what follows from it",
				"look at what models and stored documents leave out"},
			entry{"VISIBILITY_SAME", "A field or value was hidden, or no longer is.",
				"What is hidden is refused from models; what is not is asked of them.",
				"-contextId: {type: string, hidden: true}\n+contextId: {type: string}",
				"contextId: {type: string, hidden: true}",
				"check that no model can set what the program relies on"},
		),
		table(report.Notice, CategorySchema,
			entry{"FIELD_ADDED", "A record that models write has one more field.",
				"Models see it at once, and spend words on it.",
				"+mood: {type: string, optional: true}   # without doc",
				"+mood: {type: string, optional: true, doc: How the user sounds.}",
				"give it a doc: models read nothing else"},
		),
	)
}

func settingRules() []rule {
	return slices.Concat(
		table(report.Error, CategorySource,
			entry{"SPEC_VERSION_SAME", "The version of the language changed.",
				"Names are derived by rules that belong to a version, so any Go or wire name may " +
					"be another.",
				"-version: 1\n+version: 2", "version: 1",
				"change the version alone, and read the whole diff"},
			entry{"GO_PACKAGE_SAME", "The Go package has another name or folder.",
				"Every import of it has to be edited.",
				"-go: {package: routes, out: generated/routes}\n+go: {package: agents, out: " +
					"generated/agents}", "go: {package: routes, out: generated/routes}",
				"keep it, or edit all imports in the same step"},
		),
		table(report.Error, CategorySchema,
			entry{"ANSWER_SAME_TYPE", "People answer interrupts with another record.",
				"Forms and programs that answer send the old one, and answers to open interrupts " +
					"are refused.",
				"-answer: Resolution\n+answer: Decision",
				"answer: Resolution   # with more optional fields",
				"add optional fields to the record"},
		),
		table(report.Error, CategoryWireJSON,
			entry{"RESERVED_NO_DELETE", "A reserved name is no longer reserved.",
				"Stored data may still have the old thing of that name; a new thing of it would " +
					"be taken for the old.",
				"-reserved: [planner]", "reserved: [planner]", "keep the name reserved"},
		),
	)
}

func promptRules() []rule {
	return slices.Concat(
		table(report.Notice, CategoryPrompt,
			entry{"PROMPT_TEXT_CHANGED", "A model is told something else.",
				"Behaviour changes without a type that changes.",
				"-guidance: Start with discovery.\n+guidance: Start with planning.",
				"the same edit, with an evaluation run", "ask for an evaluation run"},
			entry{"DOC_CHANGED", "A description that models read changed.",
				"Descriptions stand in schemas: a model chooses by them.",
				"-goal: {type: string, doc: The aim.}\n" +
					"+goal: {type: string, doc: The aim in one line.}",
				"the same edit, with an evaluation run", "ask for an evaluation run"},
			entry{"TOOLS_CHANGED", "A model is offered other tools.",
				"It can do what it could not, or no longer what it did.",
				"+tools: [delete_branch]", "+tools: [delete_branch]\n+approval: [delete_branch]",
				"check which of them need an approval"},
			entry{"DISPLAY_NAME_CHANGED", "A display name changed.",
				"People and prompts see another word for the same thing.",
				"-display_name: Planning\n+display_name: Planner",
				"the same edit, where nothing searches for the old words",
				"look for texts that quote the old words"},
		),
	)
}
