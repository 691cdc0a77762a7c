package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime"
)

// small is a spec with one of each: an entry, a leaf that escalates, a dispatch node, a collector,
// an adapting node.
const small = `version: 1
go: {package: routes, out: internal/gen/routes}
enums:
  Decision: {doc: Where to., values: {BACK: Again., FORTH: Further., HALT: No further.}}
types:
  Key: {doc: A key., type: string, pattern: "^k"}
  Verdict: {doc: A decision with reasons., fields: {decision: {type: Decision}, reason: {type: string}}}
  Page: {doc: A part., fields: {text: {type: string}, next: {type: Page, optional: true}}}
  WorkerResults: {doc: All answers., display_name: Worker Answers, fields: {all: {type: "[]WorkerResult"}}}
  HelpNeeded: {doc: Somebody is stuck., fields: {why: {type: string}}}
results:
  WorkerResult: {doc: One answer., fields: {page: {type: Page}}}
  FinalResult: {doc: The end., fields: {verdict: {type: Verdict}, text: {type: string}}}
interrupts:
  answer: Verdict
  fields: {reason: {type: string}}
nodes:
  lead:
    doc: Leads.
    entry: true
    request: {fields: {goal: {type: string}, urlIds: {type: "[]Key", hidden: true, optional: true}}}
    branches: {interruptRequest: interrupt, workerDispatchRequest: WorkerRequests, collectRequest: CollectRequest, helpNeeded: HelpNeeded}
    unstick: [collectRequest]
  workerDispatch:
    doc: Sends workers out.
    agent_type: DISPATCH
    aliases: [OLD_DISPATCH]
    request: {name: WorkerRequests, fields: {requests: {type: "[]WorkerRequest"}}}
    route: {field: workerRequests, tag: WorkersRoute}
    dispatch: {each: requests, to: worker, results: WorkerResults}
    branches: {interruptRequest: interrupt, collectRequest: CollectRequest}
    resolve: reuse
  worker:
    doc: Works.
    request: {fields: {page: {type: Page}, mark: {type: bool, optional: true, presence: explicit}}}
    route: none
    escalates: workerDispatch
    result: WorkerResult
    branches: {interruptRequest: interrupt, agentResult: WorkerResult}
  collect:
    doc: Collects.
    request: {fields: {goal: {type: string}}}
    collect: {result: FinalResult, on: {HALT: end, BACK: leadRequest, FORTH: end}, carry: {goal: text}, default: FORTH}
    branches: {collectorResult: FinalResult, leadRequest: LeadRequest, helper: HelpNeeded}
  helper:
    doc: Helps.
    request: {fields: {about: {type: string}}}
    adapt: {from: HelpNeeded}
    route: {returns: HelpNeeded}
    branches: {leadRequest: LeadRequest, workerResults: WorkerResults}
  asker:
    only: interrupt
    escalates: worker
    interrupt: {fields: {own: {type: int}}}
`

func build(t *testing.T, text string) (*plan.Plan, []report.Finding) {
	t.Helper()
	sp, findings := spec.Parse("dir/routes.yaml", []byte(text))
	for _, f := range findings {
		require.NotEqual(t, report.Error, f.Severity, "%d: %s %s", f.At.Start.Line, f.Rule,
			f.Message)
	}
	return plan.Build(sp)
}

func TestBuildDerivesNames(t *testing.T) {
	p, findings := build(t, small)
	require.Empty(t, findings)
	assert.Equal(t, "routes.yaml", p.Source)
	assert.Equal(t, "internal/gen/docs", p.Docs)

	lead := p.Node("lead")
	assert.Equal(t, []string{"LEAD", "Lead", "LeadRequest", "LeadRouting", "LeadInterruptRequest",
		"RouteLead", "Lead"},
		[]string{lead.AgentType, lead.DisplayName, lead.Request, lead.Routing, lead.Interrupt,
			lead.Route, lead.Method})
	dispatch := p.Node("workerDispatch")
	assert.Equal(t, "DISPATCH", dispatch.AgentType)
	assert.Equal(t, "WorkerRequests", dispatch.Request)
	assert.True(t, dispatch.Reuse)
	asker := p.Node("asker")
	assert.Empty(t, asker.Method, "no request reaches it")
	assert.Equal(t, "AskerInterruptRequest", asker.Interrupt)

	fields := p.Record("LeadRequest").Fields
	assert.Equal(t, "URLIDs", fields[1].Go)
	assert.Equal(t, "urlIds", fields[1].JSON)
	assert.True(t, p.Record("WorkerRequest").Fields[1].Pointer,
		"an optional scalar with explicit presence")
	assert.True(t, p.Record("Page").Fields[1].Pointer, "an optional record")
	assert.False(t, p.Record("WorkerRequest").Fields[0].Pointer, "a required record")
}

func TestBuildRoutes(t *testing.T) {
	p, _ := build(t, small)
	var fields []string
	for _, r := range p.Routes {
		fields = append(fields, r.Field+" "+r.Tag+" "+r.Request)
	}
	assert.Equal(t, []string{
		"leadRequest LeadRoute LeadRequest", "workerRequests WorkersRoute WorkerRequests",
		"collectRequest CollectRoute CollectRequest", "helperRequest HelperRoute HelpNeeded",
	}, fields)
	assert.Equal(t, "RouteWorkerDispatch", p.Node("worker").Origin,
		"a leaf goes back to where it escalates")
	assert.Equal(t, "RouteWorkerDispatch", p.Node("asker").Origin,
		"by way of the leaf it escalates to")
	assert.Empty(t, p.Node("worker").Route)
}

func TestBuildBranches(t *testing.T) {
	p, _ := build(t, small)
	kinds := map[string]runtime.BranchKind{}
	to := map[string]string{}
	for _, r := range p.Routings[1:] {
		for _, b := range r.Branches {
			kinds[r.Name+"."+b.Key], to[r.Name+"."+b.Key] = b.Kind, b.Node
		}
	}
	assert.Equal(t, runtime.ToInterrupt, kinds["LeadRouting.interruptRequest"])
	assert.Equal(t, runtime.ToNode, kinds["LeadRouting.helpNeeded"])
	assert.Equal(t, "helper", to["LeadRouting.helpNeeded"], "the node that adapts the type")
	assert.Equal(t, runtime.ToEnd, kinds["WorkerRouting.agentResult"])
	assert.Equal(t, runtime.ToCollect, kinds["CollectRouting.collectorResult"])
	assert.Equal(t, runtime.ToResume, kinds["HelperRouting.workerResults"])
	assert.Equal(t, "workerDispatch", to["HelperRouting.workerResults"])
}

func TestBuildCollector(t *testing.T) {
	p, _ := build(t, small)
	c := p.Node("collect").Collect
	require.NotNil(t, c)
	assert.Equal(t, "verdict.decision", c.Field)
	assert.Equal(t, []runtime.Arm{{Decision: "BACK", To: "leadRequest"},
		{Decision: "FORTH", To: "end"}, {Decision: "HALT", To: "end"}}, c.Arms,
		"in the order of the enum")
}

// The engine reads requests as JSON, so the tables have the JSON names of the fields they point at.
func TestTablesNameFieldsAsTheWireDoes(t *testing.T) {
	p, _ := build(t, strings.NewReplacer(
		`requests: {type: "[]WorkerRequest"}`, `requests: {type: "[]WorkerRequest", json: parts}`,
		`request: {fields: {goal: {type: string}, urlIds`,
		`request: {fields: {goal: {type: string, json: aim}, urlIds`,
	).Replace(small))
	assert.Equal(t, "parts", p.Node("workerDispatch").Dispatch.Each)
	assert.Equal(t, []runtime.Carry{{Field: "aim", From: "text"}}, p.Node("collect").Collect.Carry)
}

func TestBuildReach(t *testing.T) {
	p, _ := build(t, small)
	assert.Equal(t, []string{"Page"}, p.Record("Page").Refs)
	assert.True(t, p.Record("Verdict").Schema, "a person's answer is one")
	roles := map[string]plan.Role{}
	for _, r := range p.Records {
		roles[r.Name] = r.Role
	}
	assert.Equal(t, plan.RoleRequest, roles["HelpNeeded"])
	assert.Equal(t, plan.RoleRequest, roles["WorkerResults"])
	assert.Equal(t, plan.RoleNested, roles["Page"])
	hidden, _ := build(t, strings.Replace(small, "page: {type: Page}, mark",
		"page: {type: Page, hidden: true, optional: true}, mark", 1))
	assert.Empty(t, hidden.Record("WorkerRequest").Refs, "a hidden field is in no schema")
}

// The plan is a contract for other tools: rows and what the plan adds to them are one object, what
// is referred to has its name, and a duration is a text.
func TestPlanJSON(t *testing.T) {
	p, _ := build(t, strings.Replace(small, "    resolve: reuse\n",
		"    resolve: reuse\n    timeout: 90m\n", 1))
	text, err := json.Marshal(p)
	require.NoError(t, err)
	var got struct {
		Nodes []struct {
			Key        string `json:"key"`
			AgentConst string `json:"agentConst"`
			Request    string `json:"request"`
			Timeout    string `json:"timeout"`
			Dispatch   struct {
				Each string `json:"each"`
			} `json:"dispatch"`
		} `json:"nodes"`
		Routings []struct {
			Name     string `json:"name"`
			Node     string `json:"node"`
			Branches []struct {
				Kind string `json:"kind"`
				Node string `json:"node"`
			} `json:"branches"`
		} `json:"routings"`
	}
	require.NoError(t, json.Unmarshal(text, &got))
	require.Len(t, got.Nodes, len(p.Nodes))
	assert.Equal(t, []string{"workerDispatch", "AgentTypeWorkerDispatch", "WorkerRequests", "1h30m",
		"requests"}, []string{got.Nodes[1].Key, got.Nodes[1].AgentConst, got.Nodes[1].Request,
		got.Nodes[1].Timeout, got.Nodes[1].Dispatch.Each})
	assert.Equal(t, []string{"LeadRouting", "lead"},
		[]string{got.Routings[1].Name, got.Routings[1].Node})
	assert.Equal(t, "interrupt", got.Routings[1].Branches[0].Kind)
	assert.Equal(t, "workerDispatch", got.Routings[1].Branches[1].Node)
	assert.NotContains(t, string(text), `"Line"`)
}

func TestCollisions(t *testing.T) {
	tests := []struct{ name, from, to, want string }{
		{"two fields", "goal: {type: string}, urlIds", "urlIDs: {type: string}, urlIds",
			`field "urlIDs" and field "urlIds" both become the Go field URLIDs`},
		{"a field and a generated method", "about: {type: string}", "shape: {type: string}",
			`field "shape" becomes the name Shape, which belongs to a generated method`},
		{"a type and a fixed name",
			"  Page: {doc: A part., fields: {text: {type: string}, next: {type: Page",
			"  Route: {doc: A part., fields: {text: {type: string}, next: {type: Route",
			`type "Route" becomes the name Route, which belongs to the generated package itself`},
		{"a request and a type", "request: {fields: {about:",
			"request: {name: Verdicts, fields: {about:", ""},
		{"two agent types", "aliases: [OLD_DISPATCH]", "aliases: [LEAD]",
			`share the agent type LEAD`},
		{"two route fields", "route: {field: workerRequests, tag: WorkersRoute}",
			"route: {field: leadRequest, tag: WorkersRoute}", `share the route field leadRequest`},
		{"two tags", "route: {field: workerRequests, tag: WorkersRoute}",
			"route: {field: workerRequests, tag: LeadRoute}", `share the route tag LeadRoute`},
		{"an enum constant and a type", "HALT: No further.", "halt: No further.", ""},
		{"two files", "request: {name: WorkerRequests,", "request: {name: Workerresult,",
			"differ only in letter case"},
		{"a branch and a method", "helper: HelpNeeded", "selected: HelpNeeded",
			`branch "selected" becomes the name Selected`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(small, tt.from, tt.to, 1)
			require.NotEqual(t, small, text, "the case changes nothing")
			if tt.name == "a type and a fixed name" {
				text = strings.ReplaceAll(text, "{type: Page}", "{type: Route}")
			}
			if tt.name == "two files" {
				text = strings.ReplaceAll(text, ": WorkerRequests,", ": Workerresult,")
			}
			sp, _ := spec.Parse("routes.yaml", []byte(text))
			_, findings := plan.Build(sp)
			if tt.want == "" {
				assert.Empty(t, findings)
				return
			}
			require.NotEmpty(t, findings)
			var all []string
			for _, f := range findings {
				assert.Equal(t, report.Error, f.Severity)
				assert.False(t, f.At.Start.IsZero())
				assert.NotEmpty(t, f.Hint)
				all = append(all, f.Message)
			}
			assert.Contains(t, strings.Join(all, "\n"), tt.want)
		})
	}
}

// Build is asked about broken specs too, so that collisions are in the same list as every other
// mistake.
func TestBuildNeverPanics(t *testing.T) {
	lines := strings.SplitAfter(small, "\n")
	for i := range lines {
		text := strings.Join(append(append([]string{}, lines[:i]...), lines[i+1:]...), "")
		if sp, _ := spec.Parse("routes.yaml", []byte(text)); sp != nil {
			assert.NotPanics(t, func() { _, _ = plan.Build(sp) }, "without line %d: %s", i+1,
				lines[i])
		}
	}
}

// TestNodeWithoutRequestBlock: what activates a node has a type, also one without fields.
func TestNodeWithoutRequestBlock(t *testing.T) {
	p, _ := build(t, "version: 1\ngo: {package: a, out: b}\nresults: {End: {fields: "+
		"{}}}\nnodes:\n  a: {entry: true, branches: {next: BRequest}}\n"+
		"  b: {branches: {done: End}}\n")
	for _, name := range []string{"ARequest", "BRequest"} {
		r := p.Record(name)
		require.NotNil(t, r, name)
		assert.Equal(t, plan.RoleRequest, r.Role)
		assert.Empty(t, r.Fields)
	}
	assert.Equal(t, "BRequest", p.Routings[1].Branches[0].Type)
	assert.Len(t, p.Routes, 2)
}

// TestNamesOfBeforeAreKept: earlier names and removed ones stand beside what they belong to.
func TestNamesOfBeforeAreKept(t *testing.T) {
	p, _ := build(t, `version: 1
go: {package: a, out: b}
reserved: [gone]
enums: {Mood: {reserved: [SAD], values: {GOOD: {was: [FINE]}}}}
results: {End: {fields: {mood: {type: Mood}}}}
interrupts: {fields: {reason: {type: string, was: [why]}}, reserved: [phase], kinds: {late: {was: [slow]}, user_escape: {}, agent_question: {}, system_error: {}}, reserved_kinds: [never]}
nodes: {a: {entry: true, request: {reserved: [aim]}, branches: {done: {type: End, was: [ended]}, ask: interrupt}, reserved: [next]}}
`)
	assert.Equal(t, []string{"gone"}, p.Reserved)
	assert.Equal(t, []string{"SAD"}, p.Enum("Mood").Reserved)
	assert.Equal(t, []string{"FINE"}, p.Enum("Mood").Values[0].Was)
	assert.Equal(t, []string{"phase"}, p.Interrupt.Reserved)
	assert.Equal(t, []string{"slow"}, p.Interrupt.Kinds[0].Was)
	assert.Equal(t, []string{"never"}, p.Interrupt.ReservedKinds)
	assert.Equal(t, []string{"aim"}, p.Record("ARequest").Reserved)
	assert.Equal(t, []string{"next"}, p.Node("a").Reserved)
	assert.Equal(t, []string{"ended"}, p.Routings[1].Branches[0].Was)
}
