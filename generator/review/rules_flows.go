package review

import (
	"slices"

	"github.com/routegen/routegen/generator/report"
)

func flowRules() []rule {
	return slices.Concat(
		table(report.Error, CategoryWireJSON,
			entry{"FLOW_NO_DELETE", "A flow is gone.",
				"A stored conversation may be in the middle of it.",
				" flows:\n-  renew_card: {...}",
				" renew_card:\n+  hidden: true   # nobody starts it any more",
				"hide it first, and take it away when no thread is in it"},
			entry{"STEP_NO_DELETE", "A step of a flow is gone.",
				"A stored conversation may stand at it, and has no place to go on.",
				" steps:\n-  - {step: ask_iban, type: collect, slot: iban}",
				" steps:\n   - {step: ask_iban, type: collect, slot: iban}   # that no step " +
					"leads to but an old thread",
				"lead past it first, and take it away when no thread stands at it"},
			entry{"STEP_SAME_KIND", "A step is of another kind.",
				"A stored conversation that waits at it is asked nothing any more, or another " +
					"thing.",
				"-- {step: ask, type: collect, slot: sure}\n" +
					"+- {step: ask, type: confirm, slot: sure}",
				"- {step: ask, type: collect, slot: sure}\n" +
					"- {step: ask_sure, type: confirm, slot: sure}",
				"add a step beside it"},
			entry{"SLOT_NO_DELETE", "A slot of a flow is gone.",
				"A stored conversation may have it filled: what the user said is lost.",
				" slots:\n-  iban: {type: string}",
				" slots:\n   iban: {type: string, deprecated: not asked any more}",
				"keep it unused, or rename it with was:"},
		),
		table(report.Notice, CategoryTopology,
			entry{"FLOW_CHANGED", "A flow or an action is run another way.",
				"What starts it, what interrupts it, how often it is tried and what happens when " +
					"it fails decide what users meet.",
				" renew_card:\n+  interruptible: false",
				"the same edit, after a look at what users do in it", "try the flow as a user"},
			entry{"STEP_CHANGED", "A step does something else, or leads somewhere else.",
				"Conversations that stand at it go on the new way.",
				"-- {step: pay, type: action, call: transfer}\n+- {step: pay, type: action, " +
					"call: transfer, next: sorry}",
				"the same edit, after a look at the chart in ROUTES.md",
				"look at the chart of the flow"},
		),
		table(report.Notice, CategoryPrompt,
			entry{"SAID_TEXT_CHANGED", "Users are told something else.",
				"Texts and help pages that quote it are out of date.",
				"-- {step: ask, type: collect, slot: iban, message: \"Which IBAN?\"}\n+- {step: " +
					"ask, type: collect, slot: iban, message: \"To whom?\"}",
				"the same edit in every language", "check the other languages"},
		),
	)
}
