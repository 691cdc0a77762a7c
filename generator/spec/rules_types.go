package spec

import "github.com/routegen/routegen/generator/report"

//
//nolint:funlen // a table
func typeRules() []report.Rule {
	return []report.Rule{
		{ID: RuleTypeSyntax, Summary: "Something that is not a type.",
			Why: "Types are string, bool, int, float, time, duration, json, []T, map[string]T " +
				"and names.", Bad: `type: "*Ticket"`, Good: "type: Ticket\noptional: true"},
		{ID: RuleTypeMapKey, Summary: "A map whose keys are not strings.",
			Why: "JSON has no other keys.", Bad: `type: "map[int]string"`,
			Good: `type: "map[string]string"`},
		{ID: RuleTypeAny, Summary: "A type that says nothing.",
			Why: "No strict schema can describe it to a model.", Bad: "type: any",
			Good: "type: Ticket"},
		{ID: RuleTypeRecursive, Summary: "A record that must hold itself.",
			Why: "No value could ever end.", Bad: "Task: {fields: {next: {type: Task}}}",
			Good: "Task: {fields: {next: {type: Task, optional: true}}}"},
		{ID: RuleTypeTooDeep, Summary: "A record that nests deeper than decoders read.",
			Why:  "Decoders stop at 64 objects and lists in each other, so no value could arrive.",
			Bad:  "R1: {fields: {next: {type: R2}}}\n# and so on to R65",
			Good: "R1: {fields: {next: {type: R2, optional: true}}}\n# and so on to R65"},
		{ID: RuleEnumEmpty, Summary: "An enum without values.", Why: "No value could be legal.",
			Bad: "Mode: {values: {}}", Good: "Mode: {values: {FAST: Quick.}}"},
		{ID: RuleEnumDuplicate, Summary: "An enum value twice, or two that differ only in case.",
			Why: "Some providers do not keep the case of enum values.",
			Bad: "values: {Fast: F, FAST: F}", Good: "values: {FAST: F, SLOW: S}"},
		{ID: RuleEnumHidden, Summary: "A field that a model fills, of an enum whose values are " +
			"all hidden.",
			Why:  "Its schema would be any text, and every text would be refused.",
			Bad:  "Mode: {doc: How., values: {FAST: {doc: Quick., hidden: true}}}",
			Good: "Mode: {doc: How., values: {FAST: {doc: Quick.}}}"},
		{ID: RuleConstraintKind, Summary: "A constraint that does not fit the type.",
			Why: "It would never be checked.", Bad: "count: {type: int, pattern: x}",
			Good: "count: {type: int, min: 1}"},
		{ID: RuleConstraintRange,
			Summary: "Bounds that no value can meet, alone or beside those of its named scalar, " +
				"or that no value of the type is.",
			Why: "Every value would be refused, or another bound would hold than the one " +
				"that is read.", Bad: "count: {type: int, min: 5, max: 1}",
			Good: "count: {type: int, min: 1, max: 5}"},
		{ID: RuleConstraintPattern, Summary: "A pattern that does not compile.",
			Why: "Patterns are Go's RE2, without look-around and back-references.",
			Bad: `pattern: "(?!x)"`, Good: `pattern: "^[a-z]+$"`},
		{ID: RuleDefaultType, Summary: "A default or an example that the field, or the named " +
			"scalar that it is of, would refuse.",
			Why:  "It would break the first caller that relies on it.",
			Bad:  "count: {type: int, optional: true, default: many}",
			Good: "count: {type: int, optional: true, default: 3}"},
		{ID: RuleDefaultRequired, Summary: "A default of a field that is required.",
			Why: "Decoders never use it, and a schema that names it invites a model to leave the " +
				"field out.", Bad: "count: {type: int, default: 3}",
			Good: "count: {type: int, optional: true, default: 3}"},
		{ID: RuleDefaultHidden,
			Summary: "A default or an example that is a hidden value, of a field that is not.",
			Why:     "The schema would tell a model of it, and the decoder of replies refuses it.",
			Bad:     "mode: {type: Mode, optional: true, default: SLOW, doc: M.}",
			Good:    "mode: {type: Mode, optional: true, default: FAST, doc: M.}"},
		{ID: RuleOldValues, Summary: "accepts_old without another pattern beside it, or " +
			"default_old of a field that is not required.",
			Why: "accepts_old says that the present pattern takes the values of earlier ones, " +
				"and default_old is what a stored thread gets for a required field that it " +
				"lacks: here they say nothing.",
			Bad:  `key: {type: string, accepts_old: ["^a"]}`,
			Good: `key: {type: string, pattern: "^[ab]", accepts_old: ["^a"]}`},
		{ID: RuleDuration, Summary: "Something that is not a duration.",
			Why: "Durations are Go's: a number and a unit.", Bad: "timeout: 1 day",
			Good: "timeout: 24h"},
		{ID: RuleFieldType, Summary: "A field of the wrong type for its use.",
			Why: "What is stored in it would not fit.", Bad: "feedback: count   # an int",
			Good: "feedback: notes   # a string"},
		{ID: RuleRefType, Summary: "A type that is not declared.",
			Why: "There is nothing to refer to.", Bad: "type: Tiket", Good: "type: Ticket"},
		{ID: RuleRefNode, Summary: "A node that is not declared.",
			Why: "There is nothing to go to.", Bad: "escalates: dispach",
			Good: "escalates: dispatch"},
		{ID: RuleRefBranch, Summary: "A branch that the node does not have, or that asks where " +
			"it should go on.", Why: "There is nothing to set.", Bad: "unstick: [colector]",
			Good: "unstick: [collector]"},
		{ID: RuleRefField, Summary: "A field that the record does not have.",
			Why: "There is nothing to read or fill.", Bad: "feedback: note",
			Good: "feedback: notes"},
		{ID: RuleRefValue, Summary: "A value that the enum does not have.",
			Why: "It could never occur.", Bad: "default: ADVANCE", Good: "default: ADVANCE_PHASE"},
		{ID: RuleRefTool, Summary: "An approval of a tool that is not offered.",
			Why: "It would protect nothing.", Bad: "tools: [search]\napproval: [serch]",
			Good: "tools: [search]\napproval: [search]"},
		{ID: RuleRefOutside, Summary: "A reference that leaves the spec.",
			Why: "The output depends on this file alone; no path and no URL is ever followed.",
			Bad: "type: ../../etc/passwd", Good: "type: Ticket"},
		{ID: RulePromptVar, Summary: "A prompt variable that the request lacks.",
			Why: "The prompt could not be rendered.", Bad: "vars: [gaol]", Good: "vars: [goal]"},
	}
}

//
//nolint:funlen // a table
func graphRules() []report.Rule {
	return []report.Rule{
		{ID: RuleEntryCount, Summary: "No entry node, or more than one.",
			Why: "Work must begin at one place.", Bad: "nodes: {a: {doc: A}}",
			Good: "nodes: {a: {doc: A, entry: true}}"},
		{ID: RuleNodeUnreachable, Summary: "A node that nothing leads to.",
			Why: "It would never run.", Bad: "orphan: {route: none}",
			Good: "branches: {orphan: OrphanRequest}"},
		{ID: RuleNodeForm, Summary: "Keys of a node that do not go together.",
			Why: "The node could not work as declared.", Bad: "only: interrupt\nrequest: {}",
			Good: "only: interrupt"},
		{ID: RuleRouteNoRequest, Summary: "A route to a node that takes no request.",
			Why: "A route carries the request of its node.",
			Bad: "only: interrupt\nroute: {tag: AskRoute}", Good: "only: interrupt"},
		{ID: RuleLeafNoEscalates, Summary: "A leaf that asks, without a node to ask at.",
			Why:  "After the answer no branch could route back to it.",
			Bad:  "route: none\ninterrupt: {}",
			Good: "route: none\ninterrupt: {}\nescalates: dispatch"},
		{ID: RuleEscalatesCycle, Summary: "Leaves that escalate to each other.",
			Why: "A question would never be raised.", Bad: "a: {escalates: b}\nb: {escalates: a}",
			Good: "a: {escalates: b}\nb: {escalates: dispatch}"},
		{ID: RuleEscalatesNoRoute, Summary: "An escalation to a node without a route.",
			Why: "Nothing could be routed back there.", Bad: "escalates: leaf",
			Good: "escalates: dispatch"},
		{ID: RuleBranchEmpty, Summary: "A node without a branch.", Why: "It could never answer.",
			Bad: "branches: {}", Good: "branches: {done: PlanResult}"},
		{ID: RuleBranchTarget, Summary: "A type that no node takes or returns.",
			Why: "Work would stop there without an end.", Bad: "branches: {next: Ticket}",
			Good: "branches: {next: TicketRequest}"},
		{ID: RuleBranchDuplicate, Summary: "Two branches with one type that nothing tells apart.",
			Why: "Two branches may go to one node with the same request when their docs say when " +
				"to take which. Of two that end with one result, or ask with one interrupt " +
				"request, the receiver could not tell which was taken.",
			Bad: "branches: {retry: FixerRequest, escalate: FixerRequest}",
			Good: "branches:\n  retry: {type: FixerRequest, doc: A test failed.}\n  escalate: " +
				"{type: FixerRequest, doc: The plan itself is wrong.}"},
		{ID: RuleInterruptNoBranch, Summary: "An interrupt that no branch raises.",
			Why:  "The node could never ask.",
			Bad:  "interrupt: {fields: {}}\nbranches: {next: PlanRequest}",
			Good: "branches: {interruptRequest: interrupt, next: PlanRequest}"},
		{ID: RuleCollectEnum, Summary: "A collector's result without a decision.",
			Why:  "The table needs an enum to be total over.",
			Bad:  "collect: {result: TextOnly, on: {}}",
			Good: "collect: {result: PhaseResult, on: {STOP: end}}"},
		{ID: RuleCollectNotTotal, Summary: "A decision without an arm.",
			Why: "Work would stop on that decision.", Bad: "on: {STOP: end}",
			Good: "on: {STOP: end, GO: planRequest}"},
		{ID: RuleInterruptType, Summary: "An interrupt type that the handler does not know.",
			Why: "The schema offers every value to a model, and the unified handler refuses a " +
				"request of a type that it has no meaning for.",
			Bad:  "InterruptType: {values: {CLARIFICATION: A person answers a question.}}",
			Good: "InterruptType: {values: {HUMAN_REVIEW: A person looks at the work.}}"},
		{ID: RuleKindMissing, Summary: "A kinds: block without a kind that the engine raises.",
			Why: "The engine raises user_escape, agent_question and system_error whatever the " +
				"spec says. One without a row would be the least urgent of all, without deadline " +
				"and retry.",
			Bad: "kinds:\n  agent_question: {doc: A node asks.}",
			Good: "kinds:\n  user_escape: {doc: A person stopped the run.}\n  agent_question: " +
				"{doc: A node asks.}\n  system_error: {doc: A step failed.}"},
		{ID: RuleKindChoices, Summary: "A choice that the engine does not know, or choices with " +
			"which a person could be stuck.",
			Why: "Only the questions of user_escape and system_error have choices of their kind. " +
				"The engine obeys its own words alone; reroute is not offered for every failure, " +
				"and a step that nothing can repair must have an end.",
			Bad:  "system_error: {choices: [retry, reroute]}",
			Good: "system_error: {choices: [retry, reroute, abort]}"},
		{ID: RuleKindPolicy, Summary: "A policy that cannot work on its interrupt kind, or has " +
			"no effect there.", Why: "It would be found when a person waits.",
			Bad:  "deadline: {after: 1h, then: reroute}",
			Good: "deadline: {after: 1h, then: reroute, target: planning}"},
		{ID: RuleNodeDeadline, Summary: "A deadline of a node that cannot work.",
			Why: "It stands in place of that of agent_question, so it says all of it: when, and " +
				"what happens then.",
			Bad:  "planner: {deadline: {after: 4h, reminder: 5h}}",
			Good: "planner: {deadline: {after: 4h, then: expire, reminder: 1h}}"},
		{ID: RuleAssignee, Summary: "An assignee that could never answer.",
			Why: "A person is named as they sign in, a group as the issuer of accounts names it, " +
				"with group: and no space before it. No one but those who are named may answer.",
			Bad:  `planner: {assignees: ["Group: finance"]}`,
			Good: `planner: {assignees: ["group:finance", ann]}`},
	}
}

func outputRules() []report.Rule {
	return []report.Rule{
		{ID: RulePackageInvalid, Summary: "A package name that Go or a reader would trip over.",
			Why: "Generated code must compile and be importable.", Bad: "package: main",
			Good: "package: routes"},
		{ID: RuleImportInvalid, Summary: "A go_type that cannot be imported.",
			Why: "The binding is checked by the compiler; it needs a real import path.",
			Bad: "go_type: ./agents.Ticket", Good: "go_type: example.com/app/agents.Ticket"},
		{ID: RuleBindingCycle, Summary: "A go_type in a package that imports the output.",
			Why:  "Go has no import cycles.",
			Bad:  "go_type: example.com/app/engine.Ticket   # engine imports routes",
			Good: "go_type: example.com/app/agents.Ticket"},
		{ID: RuleOutInvalid, Summary: "An output folder that cannot be written.",
			Why: "Output stays inside the module, in a folder of its own.",
			Bad: "out: ../../elsewhere", Good: "out: generated/routes"},
		{ID: RuleOutForeign, Summary: "A file in the way that is not ours.",
			Why:  "A handwritten file is never overwritten: move the file.",
			Bad:  "# generated/routes/routes_gen.go, written by hand",
			Good: "# generated/routes/routes_gen.go not there, or with our first line"},
		{ID: RuleOutChanged, Summary: "A generated file differs from what the spec gives.",
			Why:  "It was edited by hand, or the spec changed: run routegen generate.",
			Bad:  "# routes.yaml edited, generated/ not committed with it",
			Good: "# both in one commit"},
		{ID: RuleOutMissing, Summary: "A generated file is missing.",
			Why:  "It was deleted or never written: run routegen generate.",
			Bad:  "# a clone without generated/routes/routes_gen.go",
			Good: "# every generated file is committed"},
		{ID: RuleOutLeftover, Summary: "A generated file that the spec no longer gives.",
			Why:  "It would be compiled in: run routegen generate.",
			Bad:  "# schemas/GoneRequest.json after node gone was removed",
			Good: "# removed in the same commit as the node"},
		{ID: RuleOutputBroken, Summary: "The output does not compile.",
			Why: "Either a handwritten file of the package is at fault, or the generator: the " +
				"message says which.",
			Bad:  "# generated/routes/mine.go declares a type of the spec again",
			Good: "# mine.go stands in a package of its own"},
		{ID: RulePromptTemplate,
			Summary: "A prompt template that is not there, or does not use exactly the vars of " +
				"its node.",
			Why: "A model would be asked with a hole in the prompt, or without what the node " +
				"gives it.", Bad: "vars: [goal]   # and {{.gaol}} in the template",
			Good: "vars: [goal]   # and {{.goal}} on a line of its own"},
		{ID: RuleSchemaNoStrictForm,
			Summary: "A schema that a provider's strict mode cannot express.",
			Why:     "The call would be refused at run time.", Bad: "payload: {type: json}",
			Good: "payload: {type: json, hidden: true}"},
	}
}

// lintRules are the warnings about what a spec says that nothing needs, or that leads nowhere.
func lintRules() []report.Rule {
	return []report.Rule{
		{ID: RuleAllowUnused, Severity: report.Warning, Category: report.CategoryMinimal,
			Summary: "An allow that silences nothing.",
			Why:     "It would hide the next real warning there.",
			Bad:     "# routegen:allow SELF_ROUTE no longer true", Good: "(the comment removed)"},
		{ID: RuleTypeUnused, Severity: report.Warning, Category: report.CategoryBasic,
			Summary: "A type that nothing reaches.",
			Why:     "Readers take it for part of the contract.",
			Bad:     "types: {Old: {fields: {}}}", Good: "types: {}"},
		{ID: RuleFormatUnknown, Severity: report.Warning, Category: report.CategoryBasic,
			Summary: "A format that nothing checks.",
			Why:     "Every text would pass, and models would not be told.",
			Bad:     "mail: {type: string, format: emial}",
			Good:    "mail: {type: string, format: email}"},
		{ID: RuleDeprecatedUsed, Severity: report.Warning, Category: report.CategoryBasic,
			Summary: "A branch to a deprecated node, or a step with a deprecated validator.",
			Why:     "It is in use as long as something names it.",
			Bad:     "branches: {old: OldRequest}", Good: "branches: {next: NewRequest}"},
		{ID: RuleSelfRoute, Severity: report.Warning, Category: report.CategoryStandard,
			Summary: "A branch that leads a node back to itself.",
			Why:     "A model that takes it goes in circles until a limit stops it.",
			Bad:     "planner: {branches: {again: PlannerRequest}}",
			Good:    "planner: {branches: {next: BuildRequest}}"},
		{ID: RuleNodeNoEnd, Severity: report.Warning, Category: report.CategoryStandard,
			Summary: "A node from which no work ends.",
			Why:     "Only a limit or a person can stop what has no way to a result.",
			Bad: "planner: {branches: {review: ReviewRequest}}\nreview: {branches: {plan: " +
				"PlannerRequest}}",
			Good: "review: {branches: {plan: PlannerRequest, done: Report}}"},
		{ID: RuleHiddenZero, Severity: report.Warning, Category: report.CategoryStandard,
			Summary: "A hidden field that must be filled, and that no model can fill.",
			Why: "What a model sends is taken, and the next node cannot read it: the empty value " +
				"of the field is not legal.",
			Bad:  "tenant: {type: Tenant, hidden: true}",
			Good: "tenant: {type: Tenant, hidden: true, optional: true}"},
	}
}

// modelLintRules are the warnings about what models read, and providers take.
func modelLintRules() []report.Rule {
	return []report.Rule{
		{ID: RulePatternGo, Severity: report.Warning, Category: report.CategoryLLM,
			Summary: "A pattern in a form that only Go reads.",
			Why: "JSON Schema has the patterns of JavaScript. A schema with another one is " +
				"refused as a whole, so it is said in words there, and only decoders check it.",
			Bad:  `code: {type: string, pattern: "(?i)^[a-z]+$", doc: C.}`,
			Good: `code: {type: string, pattern: "^[a-zA-Z]+$", doc: C.}`},
		{ID: RuleDocMissing, Severity: report.Warning, Category: report.CategoryDocs,
			Summary: "A node, type, value or field without doc.",
			Why:     "A model reads the doc and guesses without it.",
			Bad:     "goal: {type: string}",
			Good:    "goal: {type: string, doc: The aim of the work.}"},
		{ID: RuleDocOptional, Severity: report.Warning, Category: report.CategoryDocs,
			Summary: "An optional field without doc.", Why: "It is not clear when to give it.",
			Bad:  "phase: {type: string, optional: true}",
			Good: "phase: {type: string, optional: true, doc: Given after discovery.}"},
		{ID: RuleDocNearEqual, Severity: report.Warning, Category: report.CategoryLLM,
			Summary: "Two nodes with nearly the same doc.",
			Why:     "A model that chooses between them has nothing to go by.",
			Bad:     "a: {doc: Plans the work.}\nb: {doc: Plan the works.}",
			Good:    "a: {doc: Plans the work.}\nb: {doc: Cuts tickets.}"},
		{ID: RuleWireNameLength, Severity: report.Warning, Category: report.CategoryLLM,
			Summary: "A wire name of more than 64 characters.",
			Why:     "Large providers refuse longer names of functions and properties.",
			Bad:     "json: aVeryLongName...", Good: "json: shortName"},
		{ID: RuleSchemaLimit, Severity: report.Warning, Category: report.CategoryLLM,
			Summary: "A schema over a provider's limits.",
			Why:     "The provider would refuse every call that carries it.",
			Bad: "notes: {type: string, optional: true}   # the 25th of one routing, and " +
				"anthropic takes 24", Good: "notes: {type: string}   # required, or hidden: true"},
	}
}
