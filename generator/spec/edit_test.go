package spec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

func set(pairs ...string) []spec.KeyValue {
	var out []spec.KeyValue
	for _, p := range pairs {
		key, value, _ := strings.Cut(p, "=")
		out = append(out, spec.KeyValue{Key: key, Value: value})
	}
	return out
}

func TestAdd(t *testing.T) {
	for name, c := range map[string]struct {
		what spec.AddWhat
		swap []string
	}{
		"node": {
			spec.AddWhat{Kind: "node", Name: "report", Set: set("branch.next=LeadRequest", "doc=Writes: the report.", "request.goal=string", "request.goal.doc=The aim, in short.", "prompt.vars=goal", "loop.limit=5")},
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
			spec.AddWhat{Kind: "node", Name: "first", Before: "lead", Set: set("branches.next={type: LeadRequest, doc: Always.}", "route.tag=FirstWay", "tools=[search, {mcp: x}]")},
			[]string{"nodes:\n  lead:", "nodes:\n  first:\n    branches:\n      next: {type: LeadRequest, doc: Always.}\n    route: {tag: FirstWay}\n    tools: [search, {mcp: x}]\n  lead:"},
		},
		"type after":   {spec.AddWhat{Kind: "type", Name: "Note", After: "Key", Set: set("text=[]string", "doc=Said.")}, []string{"min_length: 1}\n", "min_length: 1}\n  Note: {doc: Said., fields: {text: {type: \"[]string\"}}}\n"}},
		"scalar":       {spec.AddWhat{Kind: "type", Name: "Size", Set: set("type=int", "min=1")}, []string{"By question.}}}\n", "By question.}}}\n  Size: {type: int, min: 1}\n"}},
		"result":       {spec.AddWhat{Kind: "result", Name: "Report", Set: set("text=string")}, []string{"doc: In words.}\ni", "doc: In words.}\n  Report:\n    fields:\n      text: {type: string}\ni"}},
		"enum":         {spec.AddWhat{Kind: "enum", Name: "Mode", Set: set("NO=Not now.", "a.b=Half.", "value.doc={doc: D., hidden: true}", "doc=How.")}, []string{"PAUSE: Wait.}}\n", "PAUSE: Wait.}}\n  Mode: {doc: How., values: {\"NO\": Not now., a.b: Half., doc: {doc: D., hidden: true}}}\n"}},
		"field":        {spec.AddWhat{Kind: "field", Name: "Ticket.state", Before: "count", Set: set("type=Decision", "default=GO", "optional=true", "examples=[GO]")}, []string{"      count:", "      state: {type: Decision, optional: true, default: GO, examples: [GO]}\n      count:"}},
		"field inline": {spec.AddWhat{Kind: "field", Name: "spread.note", Set: set("type=string")}, []string{"One per worker.}}", "One per worker.}, note: {type: string}}"}},
		"of an ask":    {spec.AddWhat{Kind: "field", Name: "worker.interrupt.note", Set: set("type=string")}, []string{"    interrupt: {}\n", "    interrupt:\n      fields:\n        note: {type: string}\n"}},
		"common":       {spec.AddWhat{Kind: "field", Name: "interrupts.note", Set: set("type=string")}, []string{"doc: Why.}\n", "doc: Why.}\n    note: {type: string}\n"}},
		"branch":       {spec.AddWhat{Kind: "branch", Name: "spread.again", After: "collectRequest", Set: set("type=LeadRequest")}, []string{"results: Tickets}\n    branches: {collectRequest: CollectRequest}", "results: Tickets}\n    branches: {collectRequest: CollectRequest, again: LeadRequest}"}},
		"value":        {spec.AddWhat{Kind: "value", Name: "Ask.STOP", Before: "Ask.PAUSE", Set: set("doc=No more.", "hidden=true")}, []string{"PAUSE: Wait.", "STOP: {doc: No more., hidden: true}, PAUSE: Wait."}},
		"kind":         {spec.AddWhat{Kind: "kind", Name: "late", Set: set("doc=Too late.", "deadline.after=1h", "deadline.then=expire", "auto={answer: {go: true}}")}, []string{"checks it., deadline: none}\n", "checks it., deadline: none}\n    late: {doc: Too late., deadline: {after: 1h, then: expire}, auto: {answer: {go: true}}}\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, findings := spec.Add("routes.yaml", []byte(base), c.what)
			require.NotNil(t, r, list(findings))
			assert.Empty(t, findings)
			assert.Equal(t, swap(t, c.swap...), string(r.Text))
			soundEdit(t, base, r)
		})
	}
}

const small = "version: 1\r\ngo: {package: a, out: b}\r\n\r\nresults: {End: {fields: {}}} # ends\r\n\r\nnodes:\r\n    a: {entry: true, branches: {done: End}}"

func TestAddMakesSections(t *testing.T) {
	for name, c := range map[string]struct {
		what spec.AddWhat
		swap []string
	}{
		"enums":   {spec.AddWhat{Kind: "enum", Name: "Mode", Set: set("FAST=Quick.")}, []string{"results:", "enums:\r\n    Mode:\r\n        values:\r\n            FAST: Quick.\r\n\r\nresults:"}},
		"request": {spec.AddWhat{Kind: "field", Name: "a.goal", Set: set("type=string")}, []string{"entry: true,", "entry: true, request: {fields: {goal: {type: string}}},"}},
		"fields":  {spec.AddWhat{Kind: "field", Name: "End.text", Set: set("type=string")}, []string{"fields: {}", "fields: {text: {type: string}}"}},
		"node":    {spec.AddWhat{Kind: "node", Name: "b", Set: set("branches.done=End")}, []string{"{done: End}}", "{done: End}}\r\n    b: {branches: {done: End}}"}},
		"shipped kinds": {spec.AddWhat{Kind: "kind", Name: "late", Set: set("doc=Late.")}, []string{"nodes:", `interrupts:
    kinds:
        user_escape: {doc: A person stopped the run., clash: supersede, deadline: none, choices: [continue, modify, cancel, status]}
        agent_question: {doc: A node asks., clash: queue, deadline: none, route_to: true}
        system_error: {doc: A step failed., clash: queue, retry: {attempts: 3, backoff: exponential, first: 1s, max: 1m}, choices: [retry, edit, skip, reroute, abort]}
        late: {doc: Late.}

nodes:`}},
	} {
		t.Run(name, func(t *testing.T) {
			r, findings := spec.Add("routes.yaml", []byte(small), c.what)
			require.NotNil(t, r, list(findings))
			want := strings.Replace(small, c.swap[0], strings.ReplaceAll(strings.ReplaceAll(c.swap[1], "\r\n", "\n"), "\n", "\r\n"), 1)
			assert.Equal(t, want, string(r.Text))
			soundEdit(t, small, r)
		})
	}
}

func TestAddRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		what       spec.AddWhat
		rule, says string
	}{
		"kind":        {spec.AddWhat{Kind: "nodes", Name: "x"}, spec.RuleEditArgument, `did you mean "node"?`},
		"there":       {spec.AddWhat{Kind: "node", Name: "lead"}, spec.RuleEditArgument, "there already"},
		"no owner":    {spec.AddWhat{Kind: "field", Name: "x"}, spec.RuleEditArgument, "TYPE.field"},
		"owner":       {spec.AddWhat{Kind: "field", Name: "Tiket.x"}, spec.RuleEditArgument, "Ticket"},
		"branch of":   {spec.AddWhat{Kind: "branch", Name: "led.x"}, spec.RuleEditArgument, "lead"},
		"key":         {spec.AddWhat{Kind: "node", Name: "x", Set: set("dok=X")}, spec.RuleEditArgument, `did you mean "doc"?`},
		"percent":     {spec.AddWhat{Kind: "node", Name: "x", Set: set("dok=5%d")}, spec.RuleEditArgument, `dok=5%d: there is no key "dok"`},
		"below text":  {spec.AddWhat{Kind: "node", Name: "x", Set: set("doc.x=X")}, spec.RuleEditArgument, "no keys of its own"},
		"not YAML":    {spec.AddWhat{Kind: "node", Name: "x", Set: set("loop={limit: ")}, spec.RuleEditArgument, "not what the key holds"},
		"alias":       {spec.AddWhat{Kind: "field", Name: "Ticket.x", Set: set("default=*a")}, spec.RuleEditArgument, "not what the key holds"},
		"twice":       {spec.AddWhat{Kind: "node", Name: "x", Set: set("doc=X", "doc=Y")}, spec.RuleEditArgument, "once"},
		"neighbour":   {spec.AddWhat{Kind: "node", Name: "x", After: "led"}, spec.RuleEditArgument, "lead"},
		"both":        {spec.AddWhat{Kind: "node", Name: "x", After: "lead", Before: "lead"}, spec.RuleEditArgument, "one of them"},
		"word of Go":  {spec.AddWhat{Kind: "node", Name: "type", Set: set("branches.a=LeadRequest")}, spec.RuleNameReserved, "Go language"},
		"charset":     {spec.AddWhat{Kind: "type", Name: "note", Set: set("a=string")}, spec.RuleNameCharset, "a type name"},
		"clash":       {spec.AddWhat{Kind: "enum", Name: "Ticket", Set: set("A=B")}, spec.RuleNameCollision, "declared twice"},
		"no branch":   {spec.AddWhat{Kind: "node", Name: "x"}, spec.RuleBranchEmpty, "no branch"},
		"not a type":  {spec.AddWhat{Kind: "field", Name: "Ticket.x", Set: set("type=Tiket")}, spec.RuleRefType, "Ticket"},
		"not a flag":  {spec.AddWhat{Kind: "field", Name: "Ticket.x", Set: set("type=string", "hidden=1")}, spec.RuleScalarKind, "true or false"},
		"not reached": {spec.AddWhat{Kind: "node", Name: "x", Set: set("route=none", "branches.a=LeadRequest")}, spec.RuleNodeUnreachable, "leads to"},
	} {
		t.Run(name, func(t *testing.T) {
			r, findings := spec.Add("routes.yaml", []byte(base), c.what)
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
		"node": {"node", "lead", "boss", []string{"  lead:\n    doc: Leads the work.\n", "  boss:\n    doc: Leads the work.\n    was: [lead]\n", "leadRequest: LeadRequest}", "leadRequest: BossRequest}", "escalates: lead\n", "escalates: boss\n"}},
		"node in lists": {"node", "spread", "fan", []string{"  spread:\n    doc: Hands tickets to workers.\n", "  fan:\n    doc: Hands tickets to workers.\n    was: [spread]\n", "spreadRequest: SpreadRequest", "spreadRequest: FanRequest",
			"exempt: [spread]", "exempt: [fan]", "transfer_to: [spread]", "transfer_to: [fan]", "escalates: spread", "escalates: fan"}},
		"type":    {"type", "Ticket", "Job", []string{"  Ticket:\n    doc: One piece of work.\n", "  Job:\n    doc: One piece of work.\n    was: [Ticket]\n", `"[]Ticket"`, `"[]Job"`, "ticket: {type: Ticket,", "ticket: {type: Job,"}},
		"result":  {"type", "PlanResult", "Plan", []string{"  PlanResult:\n    doc: The plan.\n", "  Plan:\n    doc: The plan.\n    was: [PlanResult]\n", "{result: PlanResult, on", "{result: Plan, on", "    result: PlanResult\n", "    result: Plan\n", "planResult: PlanResult,", "planResult: Plan,"}},
		"adapted": {"type", "Extra", "More", []string{"Extra: {doc: Asks for more., fields", "More: {doc: Asks for more., was: [Extra], fields", "from: Extra", "from: More", "returns: Extra", "returns: More"}},
		"answer":  {"type", "Answer", "Reply", []string{"  Answer: {doc: What a person said., fields", "  Reply: {doc: What a person said., was: [Answer], fields", "answer: Answer", "answer: Reply"}},
		"enum":    {"enum", "Decision", "Choice", []string{"Decision: {doc: What comes next., values", "Choice: {doc: What comes next., was: [Decision], values", "{type: Decision,", "{type: Choice,"}},
		"value":   {"value", "Decision.GO", "NO", []string{"GO: Go on.", `"NO": {doc: Go on., was: [GO]}`, "on: {GO:", `on: {"NO":`, "default: GO", `default: "NO"`}},
		"asked":   {"value", "Ask.PAUSE", "Ask.STOP", []string{"PAUSE: Wait.", "STOP: {doc: Wait., was: [PAUSE]}", "when: [PAUSE]", "when: [STOP]"}},
		"field":   {"field", "lead.goal", "aim", []string{"goal: {type: string, doc: The aim.}", "aim: {type: string, doc: The aim., was: [goal]}", "vars: [goal]", "vars: [aim]", "feedback: goal", "feedback: aim", "carry: {goal:", "carry: {aim:"}},
		"by type": {"field", "SpreadRequest.requests", "jobs", []string{"requests: {type: \"[]WorkerRequest\", doc: One per worker.}", "jobs: {type: \"[]WorkerRequest\", doc: One per worker., was: [requests]}", "each: requests", "each: jobs"}},
		"carried": {"field", "PlanResult.text", "words", []string{"text: {type: string, doc: In words.}", "words: {type: string, doc: In words., was: [text]}", "{goal: text}", "{goal: words}"}},
		"branch":  {"branch", "collect.leadRequest", "again", []string{"leadRequest: LeadRequest}", "again: {type: LeadRequest, was: [leadRequest]}}", "{GO: leadRequest,", "{GO: again,"}},
		"unstick": {"branch", "lead.collectRequest", "collect", []string{"      collectRequest: CollectRequest\n    prompt", "      collect: {type: CollectRequest, was: [collectRequest]}\n    prompt", "unstick: [collectRequest]", "unstick: [collect]"}},
		"kind":    {"kind", "audit", "check", []string{"    audit: {doc: Somebody checks it., deadline", "    check: {doc: Somebody checks it., was: [audit], deadline"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, findings := spec.Rename("routes.yaml", []byte(base), c.kind, c.from, c.to)
			require.NotNil(t, r, list(findings))
			assert.Empty(t, findings)
			assert.Equal(t, swap(t, c.swap...), string(r.Text))
			soundEdit(t, base, r)
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
			r, findings := spec.Rename("routes.yaml", []byte(base), c.kind, c.from, c.to)
			assert.Nil(t, r)
			require.NotEmpty(t, findings)
			assert.Equal(t, c.rule, findings[0].Rule, list(findings))
			assert.Contains(t, findings[0].Message+" | "+findings[0].Hint, c.says)
		})
	}
}

// TestRenameReachesAnswers: a policy's answer is data of a record, with its field names and enum values.
func TestRenameReachesAnswers(t *testing.T) {
	text := swap(t, "{answer: {go: true}", "{answer: {text: {a: b}, next: GO}", `doc: By question.}}}`, `doc: By question.}, next: {type: Decision}}}`)
	r, findings := spec.Rename("routes.yaml", []byte(text), "field", "Answer.text", "words")
	require.NotNil(t, r, list(findings))
	assert.Contains(t, string(r.Text), "{answer: {words: {a: b}, next: GO}")
	r, findings = spec.Rename("routes.yaml", []byte(text), "value", "Decision.GO", "ON")
	require.NotNil(t, r, list(findings))
	assert.Contains(t, string(r.Text), `{answer: {text: {a: b}, next: "ON"}`)
}

// TestTextsAreQuotedWhereTheyMustBe reads back what was put in.
func TestTextsAreQuotedWhereTheyMustBe(t *testing.T) {
	for _, doc := range []string{"Plain.", "It's the agent's.", "a: b", "a #b", "#b", "[x", "x]", "a, b", "{", "- x", "? x", "& x", "*x", "!x", "|", ">", "%x", "@x", "`x", "'x'", `"x"`, "x:", "no", "3", "1e3", "~", "2001-01-01", " x ", "a\nb", "é", "a\\b", "=", "<<"} {
		for _, owner := range []string{"Ticket", "Extra"} {
			r, findings := spec.Add("routes.yaml", []byte(base), spec.AddWhat{Kind: "field", Name: owner + ".zebra", Set: []spec.KeyValue{{Key: "type", Value: "string"}, {Key: "doc", Value: doc}}})
			require.NotNil(t, r, "%q %s", doc, list(findings))
			s, _ := spec.Parse("routes.yaml", r.Text)
			for _, typ := range s.Types {
				if typ.Key.Value == owner {
					assert.Equal(t, doc, typ.Fields[len(typ.Fields)-1].Doc.Value)
				}
			}
		}
	}
}

// TestRenamedFieldOfTwoRequestsIsCarriedTwice: one line of a carry table can fill several requests.
func TestRenamedFieldOfTwoRequestsIsCarriedTwice(t *testing.T) {
	text := swap(t, "STOP: end}", "STOP: spreadRequest}", "leadRequest: LeadRequest}", "leadRequest: LeadRequest, spreadRequest: SpreadRequest}",
		"requests: {type: \"[]WorkerRequest\", doc: One per worker.}", "requests: {type: \"[]WorkerRequest\", doc: One per worker.}, goal: {type: string}")
	r, findings := spec.Rename("routes.yaml", []byte(text), "field", "lead.goal", "aim")
	require.NotNil(t, r, list(findings))
	assert.Contains(t, string(r.Text), "carry: {goal: text, aim: text}")
}

func TestRemove(t *testing.T) {
	for name, c := range map[string]struct {
		kind, target string
		swap         []string
	}{
		"node":    {"node", "question", []string{"  question:\n    doc: Asks a person.\n    only: interrupt\n    escalates: lead\n", "reserved: [question]\n"}},
		"type":    {"type", "Key", []string{"  Key: {doc: Names a thing., type: string, min_length: 1}\n", "", "        key: {type: Key, hidden: true}\n", "", "    escalates: lead\n", "    escalates: lead\nreserved: [Key]\n"}},
		"field":   {"field", "Ticket.count", []string{"      count: {type: int, doc: How many there are., min: 1, max: 9, default: 3, optional: true}\n", "", "One piece of work.\n", "One piece of work.\n    reserved: [count]\n"}},
		"inline":  {"field", "Extra.why", []string{"fields: {why: {type: string, doc: The reason.}}", "reserved: [why], fields: {}"}},
		"asked":   {"field", "lead.interrupt.phase", []string{"{fields: {phase: {type: string, doc: Where it stands.}}}", "{fields: {}, reserved: [phase]}"}},
		"branch":  {"branch", "lead.spreadRequest", []string{"      spreadRequest: SpreadRequest\n", "", "    prompt: {template", "    reserved: [spreadRequest]\n    prompt: {template"}},
		"in line": {"branch", "collect.planResult", []string{"branches: {planResult: PlanResult, leadRequest: LeadRequest}\n", "branches: {leadRequest: LeadRequest}\n    reserved: [planResult]\n"}},
		"common":  {"field", "interrupts.reason", []string{"    reason: {type: string, doc: Why.}\n", "  reserved: [reason]\n"}},
		"value":   {"value", "Ask.HUMAN_REVIEW", []string{"values: {HUMAN_REVIEW: A person looks at it., PAUSE", "reserved: [HUMAN_REVIEW], values: {PAUSE"}},
		"kind":    {"kind", "audit", []string{"    audit: {doc: Somebody checks it., deadline: none}\n", "", "nodes:\n", "  reserved_kinds: [audit]\nnodes:\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := base
			if name == "type" {
				text = swap(t, "        key: {type: Key, hidden: true}\n", "")
			}
			r, findings := spec.Remove("routes.yaml", []byte(text), c.kind, c.target)
			require.NotNil(t, r, list(findings))
			assert.Equal(t, swap(t, c.swap...), string(r.Text))
			soundEdit(t, text, r)
		})
	}
}

// TestRemoveWithReferences: branches and arms go with what they are for, and nothing else does.
func TestRemoveWithReferences(t *testing.T) {
	leaf := swap(t, "planResult: PlanResult, leadRequest", "planResult: PlanResult, leafRequest: LeafRequest, leadRequest",
		"  question:\n", "  leaf:\n    doc: Ends it.\n    route: none\n    escalates: lead\n    branches: {planResult: PlanResult}\n  question:\n")
	stopped := swap(t, "default: GO}", "default: STOP}")
	for name, c := range map[string]struct {
		text, kind, target, want string
		places                   []string
	}{
		"leaf": {leaf, "node", "leaf", swap(t, "branches: {planResult: PlanResult, leadRequest: LeadRequest}\n", "branches: {planResult: PlanResult, leadRequest: LeadRequest}\n    reserved: [leafRequest]\n",
			"    only: interrupt\n    escalates: lead\n", "    only: interrupt\n    escalates: lead\nreserved: [leaf]\n"), nil},
		"leaf that is decided for":  {strings.Replace(leaf, "STOP: end", "STOP: leafRequest", 1), "node", "leaf", "", []string{"/nodes/collect/collect/on/STOP"}},
		"value":                     {base, "value", "Decision.STOP", swap(t, "next., values: {GO: Go on., STOP: Stop here.}", "next., reserved: [STOP], values: {GO: Go on.}", "{GO: leadRequest, STOP: end}", "{GO: leadRequest}"), nil},
		"value that is the default": {stopped, "value", "Decision.STOP", "", []string{"/nodes/collect/collect/default"}},
		"what others name":          {base, "node", "spread", "", []string{"/nodes/lead/loop/exempt/0", "/nodes/lead/tools/1/transfer_to/0", "/nodes/worker/escalates"}},
		"no references":             {base, "node", "question", swap(t, "  question:\n    doc: Asks a person.\n    only: interrupt\n    escalates: lead\n", "reserved: [question]\n"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			r, findings := spec.Remove("routes.yaml", []byte(c.text), c.kind, c.target)
			assert.Equal(t, name == "no references", r != nil, "without the references, which are in its way: %s", list(findings))
			r, findings = spec.RemoveWithReferences("routes.yaml", []byte(c.text), c.kind, c.target)
			var places []string
			for _, f := range findings {
				assert.Equal(t, spec.RuleRefInUse, f.Rule, list(findings))
				places = append(places, f.Path)
			}
			assert.Equal(t, c.places, places)
			if c.want == "" {
				assert.Nil(t, r)
				return
			}
			require.NotNil(t, r)
			assert.Equal(t, c.want, string(r.Text))
			soundEdit(t, c.text, r)
		})
	}
	_, findings := spec.Remove("routes.yaml", []byte(leaf), "branch", "collect.leafRequest")
	require.Len(t, findings, 1)
	assert.Equal(t, spec.RuleNodeUnreachable, findings[0].Rule)
	assert.Contains(t, findings[0].Hint, "remove the node with its references")
}

// TestRemovedNamesStayTaken: what was removed cannot be added again, whatever kind of thing it was.
func TestRemovedNamesStayTaken(t *testing.T) {
	for name, c := range map[string]struct {
		text, kind, target string
		set                []spec.KeyValue
	}{
		"node":         {base, spec.EditNode, "question", set("only=interrupt", "escalates=lead")},
		"field":        {base, spec.EditField, "Ticket.count", set("type=int")},
		"common field": {base, spec.EditField, "interrupts.reason", set("type=string")},
		"branch":       {base, spec.EditBranch, "collect.planResult", set("type=PlanResult")},
		"value":        {base, spec.EditValue, "Ask.HUMAN_REVIEW", set("doc=Again.")},
		"kind":         {base, spec.EditKind, "audit", set("doc=Again.")},
	} {
		t.Run(name, func(t *testing.T) {
			removed, findings := spec.Remove("routes.yaml", []byte(c.text), c.kind, c.target)
			require.NotNil(t, removed, list(findings))
			r, findings := spec.Add("routes.yaml", removed.Text, spec.AddWhat{Kind: c.kind, Name: c.target, Set: c.set})
			assert.Nil(t, r)
			require.Len(t, findings, 1, list(findings))
			assert.Equal(t, spec.RuleNameTombstone, findings[0].Rule)
			r, findings = spec.Add("routes.yaml", []byte(strings.NewReplacer("reserved: [", "reserved: [x", "reserved_kinds: [", "reserved_kinds: [x").Replace(string(removed.Text))), spec.AddWhat{Kind: c.kind, Name: c.target, Set: c.set})
			assert.NotNil(t, r, "another name is no hindrance: %s", list(findings))
		})
	}
}

func TestRemoveTakesItsComments(t *testing.T) {
	text := "version: 1\ngo: {package: a, out: b}\nresults: {End: {fields: {}}}\nnodes:\n  # first\n  a: {entry: true, branches: {done: End}}\n\n  # loose\n\n  # about b\n  # and more\n  b: # here\n    branches: {done: End}\n    # deep\n  # about c\n  c: {branches: {done: End}}\n"
	r, findings := spec.Remove("x.yaml", []byte(text), "node", "b")
	require.NotNil(t, r, list(findings))
	assert.Equal(t, "version: 1\ngo: {package: a, out: b}\nresults: {End: {fields: {}}}\nnodes:\n  # first\n  a: {entry: true, branches: {done: End}}\n\n  # loose\n\n  # about c\n  c: {branches: {done: End}}\nreserved: [b]\n", string(r.Text))
	again, findings := spec.Remove("x.yaml", r.Text, "node", "c")
	require.NotNil(t, again, list(findings))
	assert.Equal(t, "version: 1\ngo: {package: a, out: b}\nresults: {End: {fields: {}}}\nnodes:\n  # first\n  a: {entry: true, branches: {done: End}}\n\n  # loose\nreserved: [b, c]\n", string(again.Text))
}

func TestRemoveRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		kind, target, rule string
		places             []string
	}{
		"node":    {"node", "spread", spec.RuleRefInUse, []string{"/nodes/lead/branches/spreadRequest", "/nodes/lead/loop/exempt/0", "/nodes/lead/tools/1/transfer_to/0", "/nodes/worker/escalates"}},
		"type":    {"type", "Ticket", spec.RuleRefInUse, []string{"/types/Tickets/fields/all/type", "/nodes/worker/request/fields/ticket/type"}},
		"enum":    {"enum", "Ask", spec.RuleRefInUse, []string{"/interrupts/fields/type/type"}},
		"field":   {"field", "lead.goal", spec.RuleRefInUse, []string{"/nodes/lead/prompt/vars/0", "/nodes/lead/feedback", "/nodes/collect/collect/carry/goal"}},
		"branch":  {"branch", "lead.collectRequest", spec.RuleRefInUse, []string{"/nodes/lead/unstick/0"}},
		"value":   {"value", "Decision.GO", spec.RuleRefInUse, []string{"/nodes/collect/collect/on/GO", "/nodes/collect/collect/default"}},
		"request": {"type", "LeadRequest", spec.RuleEditArgument, nil},
		"gone":    {"node", "leed", spec.RuleEditArgument, nil},
		"entry":   {"branch", "worker.askRequest", spec.RuleInterruptNoBranch, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r, findings := spec.Remove("routes.yaml", []byte(base), c.kind, c.target)
			assert.Nil(t, r)
			var places []string
			for _, f := range findings {
				require.Equal(t, c.rule, f.Rule, list(findings))
				if f.Rule == spec.RuleRefInUse {
					places = append(places, f.Path)
				}
			}
			assert.Equal(t, c.places, places)
			require.NotEmpty(t, findings)
		})
	}
}

// TestEditsRefuseWhatTheyDoNotUnderstand: a text that does not say clearly what it says is left alone.
func TestEditsRefuseWhatTheyDoNotUnderstand(t *testing.T) {
	for name, c := range map[string]struct{ text, rule string }{
		"empty":        {"", spec.RuleEmpty},
		"syntax":       {"version: [", spec.RuleSyntax},
		"anchor":       {strings.Replace(base, "lead:", "lead: &x", 1), spec.RuleAlias},
		"twice":        {base + "reserved: []\nreserved: []\n", spec.RuleDuplicateKey},
		"explicit key": {strings.Replace(base, "types:\n", "? types\n:\n", 1), spec.RuleEditLayout},
	} {
		t.Run(name, func(t *testing.T) {
			_, added := spec.Add("x", []byte(c.text), spec.AddWhat{Kind: "enum", Name: "A", Set: set("A=B")})
			_, renamed := spec.Rename("x", []byte(c.text), "node", "lead", "boss")
			_, removed := spec.Remove("x", []byte(c.text), "node", "question")
			_, formatted := spec.Format("x", []byte(c.text))
			for _, findings := range [][]spec.Finding{added, renamed, removed, formatted} {
				require.NotEmpty(t, findings)
				assert.Equal(t, c.rule, findings[0].Rule, list(findings))
			}
		})
	}
}

// TestEditsLiveWithErrorsThatWereThere: only what an edit makes worse stands in its way.
func TestEditsLiveWithErrorsThatWereThere(t *testing.T) {
	text := swap(t, "escalates: spread", "escalates: spraed")
	r, findings := spec.Rename("x", []byte(text), "node", "collect", "gather")
	require.NotNil(t, r, list(findings))
	r, findings = spec.Add("x", []byte(text), spec.AddWhat{Kind: "enum", Name: "Mode", Set: set("A=B")})
	require.NotNil(t, r, list(findings))
}
