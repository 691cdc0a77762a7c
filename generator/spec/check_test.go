package spec_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
)

func TestBaseHasNoFindings(t *testing.T) {
	_, findings := spec.Parse("routes.yaml", []byte(base))
	assert.Empty(t, list(findings))
}

// oneChange is a change of the base that gives exactly one finding.
type oneChange struct{ rule, from, to, says string }

func (c oneChange) run(t *testing.T) {
	t.Helper()
	text, place := mark(change(t, c.from, c.to))
	s, findings := spec.Parse("routes.yaml", []byte(text))
	require.Len(t, findings, 1, list(findings))
	f := findings[0]
	assert.Equal(t, c.rule, f.Rule, list(findings))
	if place != "" {
		assert.Equal(t, place, fmt.Sprintf("%d:%d", f.At.Start.Line, f.At.Start.Column),
			list(findings))
	}
	assert.Contains(t, f.Message+" | "+f.Hint, c.says)
	rule, _ := spec.FindRule(f.Rule)
	assert.Equal(t, rule.Severity, f.Severity)
	assert.NotNil(t, s)
}

func TestOneMistakeOneFinding(t *testing.T) {
	for _, c := range []oneChange{
		{spec.RuleUnknownKey, "doc: Leads the work.", "doc: Leads.\n    §gruop: x",
			`did you mean "group"?`},
		{spec.RuleTypeSyntax, "ticket: {type: Ticket,",
			"ticket: {type: \"[][][][][][][][][]string\",", "more than 8 deep"},
		{spec.RuleUnknownKey, "doc: Leads the work.", "doc: Leads.\n    §nodez: x",
			`in node "lead"`},
		{spec.RuleUnknownKey, "doc: Leads the work.", "§description: Leads.\n    doc: x",
			`did you mean "doc"?`},
		{spec.RuleDuplicateKey, "  spread:\n    doc", "  §lead: {}\n  spread:\n    doc",
			`"lead" is written twice`},
		{spec.RuleDuplicateKey, "entry: true", "entry: true\n    §entry: true",
			`"entry" is written twice`},
		{spec.RuleDuplicateItem, "[collectRequest]", "[collectRequest, §collectRequest]", "twice"},
		{spec.RuleMissingKey, "why: {type: string, doc: The reason.}", "§why: {doc: The reason.}",
			`has no "type"`},
		{spec.RuleWrongKind, "approval: [search]", "approval: §search", "not a list of"},
		{spec.RuleWrongKind, "request: {fields: {ticket: {type: Ticket, doc: The ticket.}}}",
			"request:", "nothing, not a mapping"},
		{spec.RuleScalarKind, "doc: Leads the work.", "doc: §no",
			"true or false by YAML 1.1 tools"},
		{spec.RuleScalarKind, "doc: Leads the work.", "doc: §2001-01-01", "a date"},
		{spec.RuleScalarKind, "doc: Leads the work.", "doc: §1e3", "the number 1000"},
		{spec.RuleScalarKind, "doc: Leads the work.", "doc: §010", `quote it: "010"`},
		{spec.RuleScalarKind, "doc: Leads the work.", "doc: §~", "leave the key out"},
		{spec.RuleScalarKind, "version: 1\n", "version: §1.10\n", "whole number"},
		{spec.RuleScalarKind, "entry: true", "entry: true\n    group: §off", "YAML 1.1"},
		{spec.RuleScalarKind, "hidden: true", "hidden: §yes", "write true or false"},
		{spec.RuleScalarKind, "{GO: Go on.,", "{GO: Go on., §2024: x,", "the number 2024"},
		{spec.RuleVersion, "version: 1\n", "version: §2\n", "unknown"},
		{spec.RuleValue, "clash: queue", "clash: §que", `did you mean "queue"?`},
		{spec.RuleConflict, "entry: true", "entry: true\n    was: [§worker]", "still there"},
		{spec.RuleConflict, "tools: [search, {transfer_to: [spread]}]",
			"tools: [search, §{transfer_to: [spread], once: true}]",
			"a hand-over is no tool that runs"},
		{spec.RuleConflict, "tools: [search,", "tools: [§{name: search, mcp: web},", "one of them"},
		{spec.RuleConflict, "title: {type: string,", "§title: {type: string, presence: explicit,",
			"optional scalars"},
		{spec.RuleTextComment, "doc: Leads the work.", "doc: §a */ b", "*/"},
		{spec.RuleNameCharset, "  question:", "  §quеstion:", "U+0435"},
		{spec.RuleNameCharset, "  question:", "  §que-stion:", "'-'"},
		{spec.RuleNameCharset, "  question:", "  §Question:", `did you mean "question"?`},
		{spec.RuleNameCharset, "  question:", "  §9question:", "a node key matches"},
		{spec.RuleNameCharset, "  question:", "  §ask-the_User:", `did you mean "ask_the_User"?`},
		{spec.RuleNameCharset, "ticket: {type: Ticket,", "§TICKET_ID: {type: Ticket,",
			`did you mean "ticketId"?`},
		{spec.RuleNameCharset, "  kinds:\n", "  kinds:\n    §lateReply: {doc: Late.}\n",
			`did you mean "late_reply"?`},
		{spec.RuleUnknownKey, "    branches: {collectRequest: CollectRequest}\n",
			"    §branchs: {collectRequest: CollectRequest}\n", `did you mean "branches"?`},
		{spec.RuleWrongKind, "    branches: {collectRequest: CollectRequest}\n",
			"    branches: §[CollectRequest]\n", "a list, not a mapping"},
		{spec.RuleScalarKind, "branches: {collectRequest: CollectRequest}",
			"branches: {collectRequest: §}", `"collectRequest" has no value`},
		{spec.RuleNameCharset, "  question:", "  §_:", "a node key matches"},
		{spec.RuleNameReserved, "tag: CollectRoute", "tag: CollectRoute, field: §route", "wrapper"},
		{spec.RuleNameFileReserved, "  question:", "  §con:", "Windows"},
		{spec.RuleNameCharset, "  question:", "  §ask-linux:", `did you mean "ask_linux"?`},
		{spec.RuleNameCaseCollision, "text: {type: string, doc: In words.}",
			"text: {type: string, doc: In words.}\n      §teXt: {type: string, doc: Again.}",
			"upper and lower case"},
		{spec.RuleNameTombstone, "enums:\n  Decision: {doc",
			"reserved: [Decision]\nenums:\n  §Decision: {doc", "must not come back"},
		{spec.RuleNameTombstone, "values: {GO: Go on.", "reserved: [GO], values: {§GO: Go on.",
			"must not come back"},
		{spec.RuleNameTombstone, "    branches: {planResult:",
			"    reserved: [planResult]\n    branches: {§planResult:", "must not come back"},
		{spec.RuleNameTombstone,
			"  fields:\n    type: {type: Ask, doc: What is asked.}\n    reason:",
			"  reserved: [reason]\n  fields:\n    type: {type: Ask, doc: What is asked.}\n    " +
				"§reason:", "must not come back"},
		{spec.RuleNameTombstone, "interrupts:\n", "interrupts:\n  reserved: [phase]\n",
			"must not come back"},
		{spec.RuleNameTombstone, "    interrupt: {}\n", "    interrupt: {reserved: [reason]}\n",
			"must not come back"},
		{spec.RuleNameTombstone, "  kinds:\n    user_escape: {doc",
			"  reserved_kinds: [user_escape]\n  kinds:\n    §user_escape: {doc",
			"must not come back"},
		{spec.RuleConflict, "    system_error: {doc", "    system_error: {was: [§user_escape], doc",
			"still there"},
		{spec.RuleNameJSON, "title: {type: string,", `title: {type: string, json: §"a,omitempty",`,
			"','"},
		{spec.RuleNameJSON, "title: {type: string,", `title: {type: string, json: §"-",`, "'-'"},
		{spec.RuleNameJSON, "title: {type: string,", `title: {type: string, json: §"",`, "empty"},
		{spec.RuleNameJSON, "title: {type: string,", "title: {type: string, json: §\"a`b\",",
			"'`'"},
		{spec.RuleNameJSON, "title: {type: string,", "title: {type: string, json: Count,", "twice"},
		{spec.RuleTypeSyntax, "why: {type: string,", `why: {type: "§*string",`, "optional: true"},
		{spec.RuleTypeSyntax, "why: {type: string,", "why: {type: §\"\",",
			"the type is empty | write string, []T"},
		{spec.RuleTypeSyntax, "why: {type: string,", `why: {type: "§list<integer>",`,
			`did you mean "[]int"?`},
		{spec.RuleTypeSyntax, "why: {type: string,", `why: {type: "§string[]",`,
			`did you mean "[]string"?`},
		{spec.RuleTypeSyntax, "why: {type: string,", `why: {type: "§Map<string, Ticket>",`,
			`did you mean "map[string]Ticket"?`},
		{spec.RuleTypeSyntax, "why: {type: string,", `why: {type: "§Pair<string, Ticket>",`,
			"write string, []T"},
		{spec.RuleTypeMapKey, `"map[string]string"`, `"§map[int]string"`, "map[string]string"},
		{spec.RuleTypeAny, "why: {type: string,", "why: {type: §any,", "declare a record"},
		{spec.RuleTypeRecursive, "title: {type: string,",
			"self: {type: §Ticket, doc: Itself.}\n      title: {type: string,",
			"Ticket.self -> Ticket"},
		{spec.RuleTypeRecursive, "title: {type: string,",
			"parts: {type: \"§[]Ticket\", min_items: 1, doc: Parts.}\n      title: {type: string,",
			"Ticket.parts -> Ticket | make one of them optional, or take min_items from " +
				"Ticket.parts"},
		{spec.RuleEnumEmpty, "  Ask: {doc: What is asked., values: {HUMAN_REVIEW: A person looks " +
			"at it., PAUSE: Wait.}}", "  §Ask: {doc: What is asked., values: {}}", "no value"},
		{spec.RuleEnumDuplicate,
			"types:\n  Key: {doc: Names a thing., type: string, min_length: 1}\n  Ticket:\n    " +
				"doc: One piece of work.\n    fields:\n",
			"  Mood: {doc: How it is., values: {good: Fine., §GOOD: Very fine.}}\ntypes:\n  Key: " +
				"{doc: Names a thing., type: string, min_length: 1}\n  Ticket:\n    doc: One " +
				"piece of work.\n    fields:\n      mood: {type: Mood, doc: How it is.}\n",
			"upper and lower case"},
		{spec.RuleConstraintKind, "why: {type: string,", "why: {type: string, min: §1,",
			"does not fit"},
		{spec.RuleConstraintRange, "max: 9, default: 3,", "max: §0,", "no value can meet"},
		{spec.RuleConstraintRange, "min_length: 1", "min_length: §-1", "below zero"},
		{spec.RuleConstraintRange, "min_length: 1", "min_length: §9223372036854775808",
			"write 2147483647 or less"},
		{spec.RuleConstraintRange, "min: 1, max: 9, default: 3,", "min: §0.5, max: 0.6,",
			"min is not a whole number | write 1"},
		{spec.RuleConstraintRange, "min: 1, max: 9, default: 3,", "min: -3, max: §-1.5,",
			"max is not a whole number | write -2"},
		{spec.RuleConstraintRange, "min: 1, max: 9, default: 3,", "min: §-1.5,",
			"min is not a whole number | write -1"},
		{spec.RuleConstraintRange, "min: 1, max: 9, default: 3,", "min: §9223372036854775808,",
			"min does not fit into an int of 64 bits"},
		{spec.RuleConstraintRange, "min: 1, max: 9, default: 3,", "max: §1e30,",
			"max does not fit into an int of 64 bits"},
		{spec.RuleConstraintRange, "min: 1, max: 9, default: 3,", "min: §-9223372036854775809,",
			"min does not fit"},
		{spec.RuleConstraintRange, "min: 1, max: 9, default: 3,", "max: §9007199254740993,",
			"max is not exact as a number of JSON | write 9007199254740992"},
		{spec.RuleConstraintRange, "min: 1, max: 9, default: 3,", "max: §9223372036854775806,",
			"write 9223372036854774784"},
		{spec.RuleConstraintRange, "min: 1, max: 9, default: 3,", "min: §-9007199254740993,",
			"write -9007199254740992"},
		{spec.RuleConstraintRange, "min: 1, max: 9, default: 3,",
			"min: 9007199254740994, max: §9007199254740992,",
			"no value can meet min 9007199254740994 and max 9007199254740992"},
		{spec.RuleConstraintPattern, "min_length: 1", "pattern: §\"(?!x)\"", "RE2"},
		{spec.RuleFormatUnknown, "min_length: 1", "format: §emial",
			`nothing checks the format "emial" | did you mean "email"?`},
		{spec.RuleFormatUnknown, "min_length: 1", "format: §iban", "known: date-time, date"},
		{spec.RuleDefaultType, "default: 3", "default: §many", "not of type int"},
		{spec.RuleDefaultType, "default: 3", "default: §10", "outside"},
		{spec.RuleDefaultType, "default: 3", "examples: [4, §x]", "example"},
		{spec.RuleDefaultType, "min: 1, max: 9, default: 3,", "default: §9223372036854775808,",
			"does not fit into an int of 64 bits"},
		{spec.RuleDefaultType, "min: 1, max: 9, default: 3,", "default: §9007199254740993,",
			`default "9007199254740993" is not exact as a number of JSON | write 9007199254740992`},
		{spec.RuleDefaultType, "min: 1, max: 9, default: 3,",
			"examples: [1, §-9223372036854775809],", "does not fit"},
		{spec.RuleDefaultType, "min: 1, max: 9, default: 3,", "default: §2.0,", "not of type int"},
		{spec.RuleDefaultType, "why: {type: string,",
			"why: {type: Decision, optional: true, default: §MAYBE,", "write one of GO, STOP"},
		{spec.RuleDuration, "timeout: 15m", "timeout: §1 day", "24h"},
		{spec.RuleFieldType, `"[]WorkerRequest"`, `"[]Ticket"`, "make it []WorkerRequest"},
		{spec.RuleRefType, "answer: Answer", "answer: §Anwser", `did you mean "Answer"?`},
		{spec.RuleRefType, "why: {type: string,", "why: {type: §strin,", `did you mean "string"?`},
		{spec.RuleRefType, "why: {type: string,", "why: {type: §integer,", `did you mean "int"?`},
		{spec.RuleRefType, `"[]Ticket"`, `"[]§Tiket"`, `did you mean "Ticket"?`},
		{spec.RuleRefType, "branches: {collectRequest: CollectRequest}",
			"branches: {collectRequest: §RemovedRequest}", "add the node that takes it"},
		{spec.RuleRefType, "why: {type: string,", "why: {type: §Elsewhere,",
			"declare it under types:"},
		{spec.RuleRefNode, "escalates: lead", "escalates: §elsewhere", "add it under nodes:"},
		{spec.RuleRefNode, "escalates: lead", "escalates: §laed", `did you mean "lead"?`},
		{spec.RuleRefBranch, "unstick: [collectRequest]", "unstick: [§colectRequest]",
			`did you mean "collectRequest"?`},
		{spec.RuleRefBranch, "unstick: [collectRequest]", "unstick: [§askRequest]", "asks again"},
		{spec.RuleRefField, "feedback: goal", "feedback: §gaol", `did you mean "goal"?`},
		{spec.RuleRefValue, "default: GO", "default: §GOO", `did you mean "GO"?`},
		{spec.RuleRefValue, "when: [PAUSE]", "when: [§PAUS]", `did you mean "PAUSE"?`},
		{spec.RuleRefTool, "approval: [search]", "approval: [§serch]", `did you mean "search"?`},
		{spec.RuleRefOutside, "why: {type: string,", "why: {type: §../../etc/passwd,", "outside"},
		{spec.RuleRefOutside, "why: {type: string,", "why: {type: §\"http://x/y\",", "outside"},
		{spec.RuleRefOutside, "workflow/lead", "§../lead", "relative"},
		{spec.RulePromptVar, "vars: [goal]", "vars: [§key]", "no prompt shows a hidden field"},
		{spec.RulePromptVar, "vars: [goal]", "vars: [§gaol]", `did you mean "goal"?`},
		{spec.RuleEntryCount, "    entry: true\n", "", "entry: true"},
		{spec.RuleNodeUnreachable, "  question:",
			"  §orphan: {doc: Alone., route: none, branches: {x: Tickets}}\n  question:",
			"leads to node"},
		{spec.RuleNodeForm, "only: interrupt", "only: §interrupt\n    request: {}", "has request"},
		{spec.RuleRouteNoRequest, "only: interrupt", "only: interrupt\n    §route: {tag: AskRoute}",
			"no request"},
		{spec.RuleLeafNoEscalates,
			"  worker:\n    doc: Does one ticket.\n    route: none\n    escalates: spread\n",
			"  §worker:\n    doc: Does one ticket.\n    route: none\n", "add escalates"},
		{spec.RuleEscalatesCycle, "escalates: lead", "escalates: §question",
			"question -> question"},
		{spec.RuleEscalatesNoRoute, "escalates: lead\n",
			"escalates: §last\n  last: {doc: Last., route: none, branches: {x: Tickets}}\n  " +
				"user: {doc: Uses it., branches: {y: LastRequest}}\n", "no route"},
		{spec.RuleBranchEmpty, "    branches: {collectRequest: CollectRequest}\n", "", "no branch"},
		{spec.RuleBranchTarget, "branches: {collectRequest: CollectRequest}",
			"branches: {collectRequest: §Ticket}", "no node takes"},
		{spec.RuleBranchDuplicate, "collectRequest: CollectRequest\n",
			"collectRequest: CollectRequest\n      more: §CollectRequest\n", "both carry"},
		{spec.RuleInterruptNoBranch, "    dispatch: {each",
			"    §interrupt: {}\n    dispatch: {each", "no branch raises it"},
		{spec.RuleCollectEnum, "collect: {result: PlanResult,", "collect: {result: §Extra,",
			"no field of an enum"},
		{spec.RuleCollectNotTotal, "on: {GO: leadRequest, STOP: end}", "on: {GO: leadRequest}",
			"no arm for STOP"},
		{spec.RuleInterruptType, "{HUMAN_REVIEW: A person looks", "{§CLARIFICATION: A person looks",
			"use HUMAN_REVIEW, AGENT_REVIEW, PAUSE"},
		{spec.RuleKindPolicy, "then: expire", "then: §reroute", "needs target"},
		{spec.RuleKindPolicy, "max: 1m", "max: §1ms", "longer"},
		{spec.RuleKindPolicy, "attempts: 3", "attempts: §0", "1 to 1000"},
		{spec.RulePackageInvalid, "package: routes", "package: §main", ""},
		{spec.RulePackageInvalid, "package: routes", "package: §func", ""},
		{spec.RuleOutInvalid, "out: generated/routes", "out: §../x", "leaves"},
		{spec.RuleOutInvalid, "out: generated/routes", "out: §/etc", "absolute"},
		{spec.RuleOutInvalid, "out: generated/routes", "out: §C:/x", "drive"},
		{spec.RuleOutInvalid, "out: generated/routes", `out: §a\b`, "backslash"},
		{spec.RuleImportInvalid, "    request:\n      fields:\n        goal",
			"    request:\n      go_type: §C.int\n      fields:\n        goal", "never bound"},
		{spec.RuleImportInvalid, "    request:\n      fields:\n        goal",
			"    request:\n      go_type: §./agents.T\n      fields:\n        goal", "relative"},
		{spec.RuleImportInvalid, "    request:\n      fields:\n        goal",
			"    request:\n      go_type: §a b/c.T\n      fields:\n        goal", ""},
		{spec.RuleImportInvalid, "    request:\n      fields:\n        goal",
			"    request:\n      go_type: §example.com/x.lower\n      fields:\n        goal",
			"exported"},
		{spec.RuleSelfRoute, "planResult: PlanResult, leadRequest",
			"planResult: PlanResult, §again: Extra, leadRequest", "back to itself"},
		{spec.RuleNodeNoEnd, "  question:",
			"  §ping: {doc: Asks., branches: {there: PongRequest}}\n  pong: {doc: Replies., " +
				"branches: {back: PingRequest}}\n  question:", "ping -> pong -> ping"},
		{spec.RuleDocMissing, "goal: {type: string, doc: The aim.}", "§goal: {type: string}",
			"no doc"},
		{spec.RuleDocOptional, "goal: {type: string, doc: The aim.}",
			"§goal: {type: string, optional: true}", "no doc"},
		{spec.RuleDocNearEqual, "doc: Does one ticket.", "doc: §Lead the works!",
			"nearly the same"},
		{spec.RuleTypeUnused, "  Extra: {doc",
			"  §Other: {doc: Nobody., fields: {}}\n  Extra: {doc", "nothing uses"},
		{spec.RuleWireNameLength, "doc: Leads the work.",
			"doc: Leads the work.\n    agent_type: §" + strings.Repeat("A", 65), "65 characters"},
		{spec.RuleDeprecatedUsed, "    doc: Hands tickets to workers.",
			"    doc: Hands tickets to workers.\n    deprecated: Use lead.", "deprecated"},
	} {
		t.Run(c.rule+"/"+strings.TrimSpace(c.to), c.run)
	}
}

// TestShippedKindsDoNotComeBack: a spec without kinds has the shipped ones, so a removed name can
// come back without being written.
func TestShippedKindsDoNotComeBack(t *testing.T) {
	const none = "version: 1\ngo: {package: a, out: b}\ninterrupts: {reserved_kinds: [late, " +
		"§agent_question]}\nresults: {End: {fields: {}}}\nnodes: {a: {entry: true, branches: " +
		"{done: End}}}\n"
	text, place := mark(none)
	tombstones := func(text string) []report.Finding {
		return slices.DeleteFunc(errorsOf(text), func(f report.Finding) bool {
			return f.Rule != spec.RuleNameTombstone
		})
	}
	found := tombstones(text)
	require.Len(t, found, 1)
	assert.Equal(t, place, fmt.Sprintf("%d:%d", found[0].At.Start.Line, found[0].At.Start.Column))
	assert.Empty(t, tombstones(strings.Replace(text, "[late, agent_question]",
		"[late, agent_question], kinds: {own: {doc: Own.}}", 1)))
}

// TestIntsThatAreExact: bounds and literals of int may be anything that an int and a float64 both
// hold, and those of float anything.
func TestIntsThatAreExact(t *testing.T) {
	t.Parallel()
	for _, to := range []string{
		"min: -9223372036854775808, max: 9223372036854774784,", "min: 1e3, max: 9007199254740992,",
		"max: 5.0,", "default: -9223372036854775808,",
		"default: 9007199254740994, examples: [9007199254740992, -1, 0],",
	} {
		_, findings := spec.Parse("routes.yaml",
			[]byte(change(t, "min: 1, max: 9, default: 3,", to)))
		assert.Empty(t, list(findings), to)
	}
	for _, to := range []string{"type: float, min: 0.5, max: 0.6,", "type: float, max: 1e30,",
		"type: float, default: 9007199254740993,"} {
		_, findings := spec.Parse("routes.yaml",
			[]byte(change(t, "type: int, doc: How many there are., min: 1, max: 9, default: 3,",
				"doc: How many there are., "+to)))
		assert.Empty(t, list(findings), to)
	}
}

// TestListsThatMayBeEmptyEndRecursion: a value ends where a list has no item.
func TestListsThatMayBeEmptyEndRecursion(t *testing.T) {
	t.Parallel()
	for _, field := range []string{
		`"[]Ticket", min_items: 0`, `"[]Ticket", max_items: 9`,
		`"[]Ticket", min_items: 1, optional: true`, `"[][]Ticket", min_items: 1`,
		`"map[string]Ticket"`,
	} {
		_, findings := spec.Parse("routes.yaml",
			[]byte(change(t, "title: {type: string,", "parts: {type: "+field+", doc: Parts.}\n   "+
				"   title: {type: string,")))
		assert.Empty(t, list(findings), field)
	}
}

// TestFormatsThatAreKnown: what the decoder checks and what the providers know is not warned of.
func TestFormatsThatAreKnown(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"date-time", "date", "time", "email", "hostname", "ipv4",
		"ipv6", "uuid", "uri", "duration"} {
		_, findings := spec.Parse("routes.yaml",
			[]byte(change(t, "min_length: 1", "format: "+format)))
		assert.Empty(t, list(findings), format)
	}
}

// TestTheTwinWithoutADocIsToldToHaveOne: where only the earlier branch lacks a doc, it is named.
func TestTheTwinWithoutADocIsToldToHaveOne(t *testing.T) {
	t.Parallel()
	const branches = "    branches: {old: HelperRequest, new: {type: HelperRequest, doc: Now.}}\n"
	_, findings := spec.Parse("routes.yaml", []byte("version: 1\n"+
		"go: {package: routes, out: routes}\nresults: {R: {doc: R.}}\nnodes:\n  lead:\n"+
		"    doc: Leads.\n    entry: true\n"+branches+
		"  helper: {doc: Helps., branches: {r: R}}\n"))
	require.Len(t, findings, 1, "%v", findings)
	assert.Equal(t, spec.RuleBranchDuplicate, findings[0].Rule)
	assert.Contains(t, findings[0].Hint, ": old: {type: HelperRequest, doc: ...}")
}
