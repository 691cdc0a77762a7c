package edit_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/edit"
	"github.com/routegen/routegen/generator/spec"
)

// swap is base with texts replaced, each of which stands there once: what an edit should give.
func swap(t *testing.T, pairs ...string) string {
	t.Helper()
	text := base
	for i := 0; i < len(pairs); i += 2 {
		require.Equal(t, 1, strings.Count(text, pairs[i]), pairs[i])
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func set(pairs ...string) []edit.KeyValue {
	var out []edit.KeyValue
	for _, p := range pairs {
		key, value, _ := strings.Cut(p, "=")
		out = append(out, edit.KeyValue{Key: key, Value: value})
	}
	return out
}

func TestAdd(t *testing.T) {
	for name, c := range map[string]struct {
		what edit.Addition
		swap []string
	}{
		"node": {
			edit.Addition{Kind: "node", Name: "report",
				Set: set("branch.next=LeadRequest", "doc=Writes: the report.",
					"request.goal=string", "request.goal.doc=The aim, in short.",
					"prompt.vars=goal", "loop.limit=5")},
			[]string{"    escalates: lead\n", `    escalates: lead
  report:
    doc: "Writes: the report."
    request:
      fields:
        goal: {type: string, doc: "The aim, in short."}
    branches:
      next: LeadRequest
    prompt:
      vars: [goal]
    loop: {limit: 5}
`},
		},
		"node before": {
			edit.Addition{Kind: "node", Name: "first", Before: "lead",
				Set: set("branches.next={type: LeadRequest, doc: Always.}", "route.tag=FirstWay",
					"tools=[search, {mcp: x}]")},
			[]string{"nodes:\n  lead:",
				"nodes:\n  first:\n    branches:\n      next: {type: LeadRequest, doc: " +
					"Always.}\n    route: {tag: FirstWay}\n    tools: [search, {mcp: x}]\n  lead:"},
		},
		"type after": {edit.Addition{Kind: "type", Name: "Note", After: "Key",
			Set: set("text=[]string", "doc=Said.")},
			[]string{"min_length: 1}\n", "min_length: 1}\n  Note: {doc: Said., fields: {text: " +
				"{type: \"[]string\"}}}\n"}},
		"scalar": {edit.Addition{Kind: "type", Name: "Size", Set: set("type=int", "min=1")},
			[]string{"By question.}}}\n", "By question.}}}\n  Size: {type: int, min: 1}\n"}},
		"result": {edit.Addition{Kind: "result", Name: "Report", Set: set("text=string")},
			[]string{"doc: In words.}\ni", "doc: In words.}\n  Report:\n    fields:\n      text: " +
				"{type: string}\ni"}},
		"enum": {edit.Addition{Kind: "enum", Name: "Mode",
			Set: set("NO=Not now.", "a.b=Half.", "value.doc={doc: D., hidden: true}", "doc=How.")},
			[]string{"PAUSE: Wait.}}\n", "PAUSE: Wait.}}\n  Mode: {doc: How., values: {\"NO\": " +
				"Not now., a.b: Half., doc: {doc: D., hidden: true}}}\n"}},
		"field": {edit.Addition{Kind: "field", Name: "Ticket.state", Before: "count",
			Set: set("type=Decision", "default=GO", "optional=true", "examples=[GO]")},
			[]string{"      count:", "      state: {type: Decision, optional: true, default: GO, " +
				"examples: [GO]}\n      count:"}},
		"field inline": {edit.Addition{Kind: "field", Name: "spread.note", Set: set("type=string")},
			[]string{"One per worker.}}", "One per worker.}, note: {type: string}}"}},
		"of an ask": {edit.Addition{Kind: "field", Name: "worker.interrupt.note",
			Set: set("type=string")},
			[]string{"    interrupt: {}\n", "    interrupt:\n      fields:\n        note: {type: " +
				"string}\n"}},
		"common": {edit.Addition{Kind: "field", Name: "interrupts.note",
			Set: set("type=string")},
			[]string{"doc: Why.}\n", "doc: Why.}\n    note: {type: string}\n"}},
		"branch": {edit.Addition{Kind: "branch", Name: "spread.again", After: "collectRequest",
			Set: set("type=LeadRequest")},
			[]string{"results: Tickets}\n    branches: {collectRequest: CollectRequest}",
				"results: Tickets}\n    branches: {collectRequest: CollectRequest, again: " +
					"LeadRequest}"}},
		"value": {edit.Addition{Kind: "value", Name: "Ask.STOP", Before: "Ask.PAUSE",
			Set: set("doc=No more.", "hidden=true")},
			[]string{"PAUSE: Wait.", "STOP: {doc: No more., hidden: true}, PAUSE: Wait."}},
		"kind": {edit.Addition{Kind: "kind", Name: "late",
			Set: set("doc=Too late.", "deadline.after=1h", "deadline.then=expire",
				"auto={answer: {go: true}}")}, []string{"checks it., deadline: none}\n",
			"checks it., deadline: none}\n    late: {doc: Too late., deadline: {after: 1h, then: " +
				"expire}, auto: {answer: {go: true}}}\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, findings := edit.Add("routes.yaml", []byte(base), c.what)
			require.NotNil(t, r, list(findings))
			assert.Empty(t, findings)
			assert.Equal(t, swap(t, c.swap...), string(r))
		})
	}
}

const small = "version: 1\r\ngo: {package: a, out: b}\r\n\r\nresults: {End: {fields: {}}} # " +
	"ends\r\n\r\nnodes:\r\n    a: {entry: true, branches: {done: End}}"

func TestAddMakesSections(t *testing.T) {
	for name, c := range map[string]struct {
		what edit.Addition
		swap []string
	}{
		"enums": {edit.Addition{Kind: "enum", Name: "Mode", Set: set("FAST=Quick.")},
			[]string{"results:", "enums:\r\n    Mode:\r\n        values:\r\n            FAST: " +
				"Quick.\r\n\r\nresults:"}},
		"request": {edit.Addition{Kind: "field", Name: "a.goal", Set: set("type=string")},
			[]string{"entry: true,", "entry: true, request: {fields: {goal: {type: string}}},"}},
		"fields": {edit.Addition{Kind: "field", Name: "End.text", Set: set("type=string")},
			[]string{"fields: {}", "fields: {text: {type: string}}"}},
		"node": {edit.Addition{Kind: "node", Name: "b", Set: set("branches.done=End")},
			[]string{"{done: End}}", "{done: End}}\r\n    b: {branches: {done: End}}"}},
		"shipped kinds": {edit.Addition{Kind: "kind", Name: "late", Set: set("doc=Late.")},
			[]string{"nodes:", `interrupts:
    kinds:
        user_escape: {doc: A person stopped the run., clash: supersede, deadline: none, choices: [continue, modify, cancel, status]}
        agent_question: {doc: A node asks., clash: queue, deadline: none, route_to: true}
        system_error: {doc: A step failed., clash: queue, retry: {attempts: 3, backoff: exponential, first: 1s, max: 1m}, choices: [retry, edit, skip, reroute, abort]}
        late: {doc: Late.}

nodes:`}},
	} {
		t.Run(name, func(t *testing.T) {
			r, findings := edit.Add("routes.yaml", []byte(small), c.what)
			require.NotNil(t, r, list(findings))
			want := strings.Replace(small, c.swap[0],
				strings.ReplaceAll(strings.ReplaceAll(c.swap[1], "\r\n", "\n"), "\n", "\r\n"), 1)
			assert.Equal(t, want, string(r))
		})
	}
}

func TestAddRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		what       edit.Addition
		rule, says string
	}{
		"kind": {edit.Addition{Kind: "nodes", Name: "x"}, spec.RuleEditArgument,
			`did you mean "node"?`},
		"there": {edit.Addition{Kind: "node", Name: "lead"}, spec.RuleEditArgument,
			"there already"},
		"no owner": {edit.Addition{Kind: "field", Name: "x"}, spec.RuleEditArgument,
			"TYPE.field"},
		"owner": {edit.Addition{Kind: "field", Name: "Tiket.x"}, spec.RuleEditArgument,
			"Ticket"},
		"branch of": {edit.Addition{Kind: "branch", Name: "led.x"}, spec.RuleEditArgument, "lead"},
		"key": {edit.Addition{Kind: "node", Name: "x", Set: set("dok=X")},
			spec.RuleEditArgument, `did you mean "doc"?`},
		"percent": {edit.Addition{Kind: "node", Name: "x", Set: set("dok=5%d")},
			spec.RuleEditArgument, `dok=5%d: there is no key "dok"`},
		"below text": {edit.Addition{Kind: "node", Name: "x", Set: set("doc.x=X")},
			spec.RuleEditArgument, "no keys of its own"},
		"not YAML": {edit.Addition{Kind: "node", Name: "x", Set: set("loop={limit: ")},
			spec.RuleEditArgument, "not what the key holds"},
		"alias": {edit.Addition{Kind: "field", Name: "Ticket.x", Set: set("default=*a")},
			spec.RuleEditArgument, "not what the key holds"},
		"twice": {edit.Addition{Kind: "node", Name: "x", Set: set("doc=X", "doc=Y")},
			spec.RuleEditArgument, "once"},
		"neighbour": {edit.Addition{Kind: "node", Name: "x", After: "led"}, spec.RuleEditArgument,
			"lead"},
		"both": {edit.Addition{Kind: "node", Name: "x", After: "lead", Before: "lead"},
			spec.RuleEditArgument, "one of them"},
		"word of collect": {edit.Addition{Kind: "node", Name: "x",
			Set: set("branches.end=LeadRequest")}, spec.RuleNameReserved, "collect"},
		"charset": {edit.Addition{Kind: "type", Name: "note", Set: set("a=string")},
			spec.RuleNameCharset, "a type name"},
		"clash": {edit.Addition{Kind: "enum", Name: "Ticket", Set: set("A=B")},
			spec.RuleNameCollision, "declared twice"},
		"no branch": {edit.Addition{Kind: "node", Name: "x"}, spec.RuleBranchEmpty, "no branch"},
		"not a type": {edit.Addition{Kind: "field", Name: "Ticket.x", Set: set("type=Tiket")},
			spec.RuleRefType, "Ticket"},
		"not a flag": {edit.Addition{Kind: "field", Name: "Ticket.x",
			Set: set("type=string", "hidden=1")}, spec.RuleScalarKind, "true or false"},
		"not reached": {edit.Addition{Kind: "node", Name: "x",
			Set: set("route=none", "branches.a=LeadRequest")}, spec.RuleNodeUnreachable,
			"leads to"},
	} {
		t.Run(name, func(t *testing.T) {
			r, findings := edit.Add("routes.yaml", []byte(base), c.what)
			assert.Nil(t, r)
			require.NotEmpty(t, findings)
			assert.Equal(t, c.rule, findings[0].Rule, list(findings))
			assert.Contains(t, findings[0].Message+" | "+findings[0].Hint, c.says)
			assert.LessOrEqual(t, findings[0].At.Start.Line, strings.Count(base, "\n")+1)
		})
	}
}

func TestRename(t *testing.T) {
	for name, c := range map[string]struct {
		kind, from, to string
		swap           []string
	}{
		"node": {"node", "lead", "boss", []string{"  lead:\n    doc: Leads the work.\n",
			"  boss:\n    doc: Leads the work.\n    was: [lead]\n", "leadRequest: LeadRequest}",
			"leadRequest: BossRequest}", "escalates: lead\n", "escalates: boss\n"}},
		"node in lists": {"node", "spread", "fan",
			[]string{"  spread:\n    doc: Hands tickets to workers.\n",
				"  fan:\n    doc: Hands tickets to workers.\n    was: [spread]\n",
				"spreadRequest: SpreadRequest", "spreadRequest: FanRequest",
				"exempt: [spread]", "exempt: [fan]", "transfer_to: [spread]", "transfer_to: [fan]",
				"escalates: spread", "escalates: fan"}},
		"type": {"type", "Ticket", "Job", []string{"  Ticket:\n    doc: One piece of work.\n",
			"  Job:\n    doc: One piece of work.\n    was: [Ticket]\n", `"[]Ticket"`, `"[]Job"`,
			"ticket: {type: Ticket,", "ticket: {type: Job,"}},
		"result": {"type", "PlanResult", "Plan", []string{"  PlanResult:\n    doc: The plan.\n",
			"  Plan:\n    doc: The plan.\n    was: [PlanResult]\n", "{result: PlanResult, on",
			"{result: Plan, on", "    result: PlanResult\n", "    result: Plan\n",
			"planResult: PlanResult,", "planResult: Plan,"}},
		"adapted": {"type", "Extra", "More", []string{"Extra: {doc: Asks for more., fields",
			"More: {doc: Asks for more., was: [Extra], fields", "from: Extra", "from: More",
			"returns: Extra", "returns: More"}},
		"answer": {"type", "Answer", "Reply",
			[]string{"  Answer: {doc: What a person said., fields",
				"  Reply: {doc: What a person said., was: [Answer], fields", "answer: Answer",
				"answer: Reply"}},
		"enum": {"enum", "Decision", "Choice",
			[]string{"Decision: {doc: What comes next., values",
				"Choice: {doc: What comes next., was: [Decision], values", "{type: Decision,",
				"{type: Choice,"}},
		"value": {"value", "Decision.GO", "NO",
			[]string{"GO: Go on.", `"NO": {doc: Go on., was: [GO]}`, "on: {GO:", `on: {"NO":`,
				"default: GO", `default: "NO"`}},
		"asked": {"value", "Ask.PAUSE", "Ask.STOP",
			[]string{"PAUSE: Wait.", "STOP: {doc: Wait., was: [PAUSE]}", "when: [PAUSE]",
				"when: [STOP]"}},
		"field": {"field", "lead.goal", "aim", []string{"goal: {type: string, doc: The aim.}",
			"aim: {type: string, doc: The aim., was: [goal]}", "vars: [goal]", "vars: [aim]",
			"feedback: goal", "feedback: aim", "carry: {goal:", "carry: {aim:"}},
		"by type": {"field", "SpreadRequest.requests", "jobs",
			[]string{"requests: {type: \"[]WorkerRequest\", doc: One per worker.}",
				"jobs: {type: \"[]WorkerRequest\", doc: One per worker., was: [requests]}",
				"each: requests", "each: jobs"}},
		"carried": {"field", "PlanResult.text", "words",
			[]string{"text: {type: string, doc: In words.}",
				"words: {type: string, doc: In words., was: [text]}", "{goal: text}",
				"{goal: words}"}},
		"branch": {"branch", "collect.leadRequest", "again",
			[]string{"leadRequest: LeadRequest}", "again: {type: LeadRequest, was: [leadRequest]}}",
				"{GO: leadRequest,", "{GO: again,"}},
		"unstick": {"branch", "lead.collectRequest", "collect",
			[]string{"      collectRequest: CollectRequest\n    prompt",
				"      collect: {type: CollectRequest, was: [collectRequest]}\n    prompt",
				"unstick: [collectRequest]", "unstick: [collect]"}},
		"kind": {"kind", "audit", "check",
			[]string{"    audit: {doc: Somebody checks it., deadline",
				"    check: {doc: Somebody checks it., was: [audit], deadline"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, findings := edit.Rename("routes.yaml", []byte(base), c.kind, c.from, c.to)
			require.NotNil(t, r, list(findings))
			assert.Empty(t, findings)
			assert.Equal(t, swap(t, c.swap...), string(r))
		})
	}
}

func TestRenameRefuses(t *testing.T) {
	for name, c := range map[string]struct{ kind, from, to, rule, says string }{
		"not there":  {"node", "led", "x", spec.RuleEditArgument, `did you mean "lead"?`},
		"same":       {"node", "lead", "lead", spec.RuleEditArgument, "already"},
		"request":    {"type", "LeadRequest", "X", spec.RuleEditArgument, `request of node "lead"`},
		"taken":      {"node", "lead", "spread", spec.RuleDuplicateKey, "twice"},
		"by derived": {"type", "Extra", "LeadRequest", spec.RuleNameCollision, "declared twice"},
		"charset":    {"field", "lead.goal", "Goal!", spec.RuleNameCharset, "a field key"},
		"YAML":       {"node", "lead", "a: {b", spec.RuleNameCharset, "a node key"},
		"value":      {"value", "Decision.NOPE", "X", spec.RuleEditArgument, "Decision.NOPE"},
		"kind":       {"thing", "a", "b", spec.RuleEditArgument, "there is node"},
	} {
		t.Run(name, func(t *testing.T) {
			r, findings := edit.Rename("routes.yaml", []byte(base), c.kind, c.from, c.to)
			assert.Nil(t, r)
			require.NotEmpty(t, findings)
			assert.Equal(t, c.rule, findings[0].Rule, list(findings))
			assert.Contains(t, findings[0].Message+" | "+findings[0].Hint, c.says)
		})
	}
}

// TestRenameReachesAnswers: a policy's answer is data of a record, with its field names and enum
// values.
func TestRenameReachesAnswers(t *testing.T) {
	text := swap(t, "{answer: {go: true}", "{answer: {text: {a: b}, next: GO}",
		`doc: By question.}}}`, `doc: By question.}, next: {type: Decision}}}`)
	r, findings := edit.Rename("routes.yaml", []byte(text), "field", "Answer.text", "words")
	require.NotNil(t, r, list(findings))
	assert.Contains(t, string(r), "{answer: {words: {a: b}, next: GO}")
	r, findings = edit.Rename("routes.yaml", []byte(text), "value", "Decision.GO", "ON")
	require.NotNil(t, r, list(findings))
	assert.Contains(t, string(r), `{answer: {text: {a: b}, next: "ON"}`)
}

// TestTextsAreQuotedWhereTheyMustBe reads back what was put in.
func TestTextsAreQuotedWhereTheyMustBe(t *testing.T) {
	for _, doc := range []string{"Plain.", "It's the agent's.", "a: b", "a #b", "#b", "[x", "x]",
		"a, b", "{", "- x", "? x", "& x", "*x", "!x", "|", ">", "%x", "@x", "`x", "'x'", `"x"`,
		"x:", "no", "3", "1e3", "~", "2001-01-01", " x ", "a\nb", "é", "a\\b", "=", "<<"} {
		for _, owner := range []string{"Ticket", "Extra"} {
			r, findings := edit.Add("routes.yaml", []byte(base),
				edit.Addition{Kind: "field", Name: owner + ".zebra",
					Set: []edit.KeyValue{{Key: "type", Value: "string"}, {Key: "doc", Value: doc}}})
			require.NotNil(t, r, "%q %s", doc, list(findings))
			s, _ := spec.Parse("routes.yaml", r)
			for _, typ := range s.Types {
				if typ.Key.Value == owner {
					assert.Equal(t, doc, typ.Fields[len(typ.Fields)-1].Doc.Value)
				}
			}
		}
	}
}

// TestRenameRefusesToSplitACarry: one line of a carry table can fill several requests.
func TestRenameRefusesToSplitACarry(t *testing.T) {
	text := swap(t, "STOP: end}", "STOP: spreadRequest}", "leadRequest: LeadRequest}",
		"leadRequest: LeadRequest, spreadRequest: SpreadRequest}",
		"requests: {type: \"[]WorkerRequest\", doc: One per worker.}",
		"requests: {type: \"[]WorkerRequest\", doc: One per worker.}, goal: {type: string}")
	r, findings := edit.Rename("routes.yaml", []byte(text), "field", "lead.goal", "aim")
	assert.Nil(t, r)
	require.NotEmpty(t, findings)
	assert.Contains(t, findings[0].Message, "another request")
}
