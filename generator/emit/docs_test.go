package emit

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime"
)

// The flag is named apart from other tests' flags of this package.
var updateDocs = flag.Bool("update-docs", false, "write testdata/ROUTES.md")

// docsPlan is a small plan with every kind of row: branches, a dispatch, its results, a decision,
// an end, a leaf.
func docsPlan() *plan.Plan {
	hidden := plan.Field{JSON: "contextId", Common: true, Hidden: true}
	reason := plan.Field{JSON: "reason", Common: true}
	branch := func(key, typ string, kind runtime.BranchKind, node string) plan.Branch {
		return plan.Branch{BranchRow: runtime.BranchRow{Name: key, Type: typ, Kind: kind}, Key: key,
			Node: node}
	}
	routing := func(name, node string, branches ...plan.Branch) plan.Routing {
		return plan.Routing{RoutingRow: runtime.RoutingRow{Name: name}, Node: node,
			Branches: branches}
	}
	back := branch("back", "LeadRequest", runtime.ToNode, "lead")
	done := branch("done", "Report", runtime.ToEnd, "")
	interrupt := branch("interruptRequest", "", runtime.ToInterrupt, "")
	p := &plan.Plan{
		Source: "routes.yaml", Package: "routes",
		Records: []plan.Record{
			{Name: "LeadInterrupt", Role: plan.RoleInterrupt,
				Fields: []plan.Field{hidden, reason, {JSON: "phase"}, {JSON: "goal"}}},
			{Name: "LeafInterrupt", Role: plan.RoleInterrupt, Fields: []plan.Field{hidden, reason}},
		},
		Nodes: []plan.Node{
			{Node: runtime.Node{Key: "lead", AgentType: "LEAD", DisplayName: "Lead", Entry: true},
				Doc: "Leads.", Request: "LeadRequest", Interrupt: "LeadInterrupt",
				Routing: "LeadRouting", Origin: "RouteLead"},
			{Node: runtime.Node{Key: "spread", AgentType: "SPREAD", DisplayName: "Spread",
				Dispatch: &runtime.Dispatch{Each: "requests", To: 3, Results: "LeafResults"}},
				Request: "SpreadRequests", Routing: "SpreadRouting"},
			{Node: runtime.Node{Key: "leaf", AgentType: "LEAF", DisplayName: "Leaf"},
				Request: "LeafRequest", Interrupt: "LeafInterrupt", Routing: "LeafRouting",
				Origin: "RouteLead"},
			{Node: runtime.Node{Key: "judge", AgentType: "JUDGE", DisplayName: "Judge",
				Collect: &runtime.Collect{Result: "Verdict", Field: "decision.type",
					Default: "ADVANCE",
					Arms: []runtime.Arm{{Decision: "ROUTE_BACK", To: "back"},
						{Decision: "ADVANCE", To: "done"}, {Decision: "STOP", To: "end"}},
					Carry: []runtime.Carry{{Field: "goal", From: "summary"}}}},
				Request: "JudgeRequest", Adapt: "JudgeAsk", Routing: "JudgeRouting",
				Decides: "Decision"},
		},
		Routes: []plan.Route{{Route: runtime.Route{Field: "leadRequest", Tag: "LeadRoute"},
			Const: "RouteLead", Node: "lead", Request: "LeadRequest"}},
		Routings: []plan.Routing{
			routing("InterruptRouting", "", back),
			routing("LeadRouting", "lead", interrupt,
				branch("spreadRequests", "", runtime.ToNode, "spread")),
			routing("SpreadRouting", "spread", branch("judgeRequest", "", runtime.ToNode, "judge")),
			routing("LeafRouting", "leaf", interrupt,
				branch("leafResults", "", runtime.ToResume, "spread")),
			routing("JudgeRouting", "judge", back, done,
				branch("verdict", "", runtime.ToCollect, "")),
		},
		Interrupt: plan.Interrupts{
			Handler: runtime.Handler{Name: "handle", DisplayName: "Interrupt Handler"},
			Kinds: []plan.InterruptKind{
				{Kind: runtime.Kind{Name: "user_escape", Clash: "supersede"},
					Doc: "A person stopped the run."},
				{Kind: runtime.Kind{Name: "agent_question", Clash: "queue", RouteTo: true,
					Deadline: &runtime.Deadline{After: 24 * time.Hour, Then: "default",
						Answer: `{"approved":false}`, Reminder: time.Hour},
					AutoAnswer: "true", AutoWhen: []string{"PAUSE"}}},
				{Kind: runtime.Kind{Name: "system_error", Clash: "queue",
					Choices: []string{"retry", "abort"},
					Retry: &runtime.Retry{Attempts: 3, Backoff: "exponential", First: time.Second,
						Max: time.Minute}}},
			},
		},
	}
	p.Index()
	return p
}

func TestRoutesDocIsTheGolden(t *testing.T) {
	t.Parallel()
	got, err := routesDoc(docsPlan())
	require.NoError(t, err)
	golden := filepath.Join("testdata", "ROUTES.md")
	if *updateDocs {
		require.NoError(t, os.WriteFile(golden, got, 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
}

func TestRoutesDocIsPure(t *testing.T) {
	t.Parallel()
	first, err := routesDoc(docsPlan())
	require.NoError(t, err)
	for range 20 {
		again, err := routesDoc(docsPlan())
		require.NoError(t, err)
		require.Equal(t, string(first), string(again))
	}
}

// ring is a plan of n nodes, each leading to the next.
func ring(n int) *plan.Plan {
	p := &plan.Plan{Source: "routes.yaml", Package: "routes"}
	for i := range n {
		key, routing := fmt.Sprintf("node%d", i), fmt.Sprintf("Node%dRouting", i)
		p.Nodes = append(p.Nodes, plan.Node{
			Node: runtime.Node{Key: key, DisplayName: key}, Routing: routing})
		p.Routings = append(p.Routings, plan.Routing{
			RoutingRow: runtime.RoutingRow{Name: routing}, Branches: []plan.Branch{{
				BranchRow: runtime.BranchRow{Name: "next", Kind: runtime.ToNode},
				Key:       "next", Node: fmt.Sprintf("node%d", (i+1)%n)}}})
	}
	p.Index()
	return p
}

func TestGraphAndMatrixEndAtSixtyNodes(t *testing.T) {
	t.Parallel()
	tests := map[int]struct{ has, hasNot []string }{
		60: {[]string{"## Graph", "## Who can go where", "n_node59 --> n_node0"},
			[]string{"## Edges"}},
		61: {[]string{"## Edges", "- `node60` to `node0`: branch `next`\n"},
			[]string{"## Graph", "## Who can go where", "mermaid"}},
	}
	for n, tt := range tests {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			doc, err := routesDoc(ring(n))
			require.NoError(t, err)
			for _, part := range tt.has {
				assert.Contains(t, string(doc), part)
			}
			for _, part := range tt.hasNot {
				assert.NotContains(t, string(doc), part)
			}
		})
	}
}

func TestRoutesDocGrowsWithTheNodes(t *testing.T) {
	t.Parallel()
	small, err := routesDoc(ring(1000))
	require.NoError(t, err)
	large, err := routesDoc(ring(2000))
	require.NoError(t, err)
	assert.Less(t, float64(len(large))/float64(len(small)), 2.2)
}

// TestTextOfASpecIsNeverMarkup gives every free text the worst of both languages.
func TestTextOfASpecIsNeverMarkup(t *testing.T) {
	t.Parallel()
	const evil = "a | b\n\n```\n<script>x</script> \"q\" [l](u) `c` {d} *e* #9; --> %%"
	p := docsPlan()
	p.Nodes[0].DisplayName, p.Nodes[0].Doc, p.Nodes[0].AgentType = evil, evil, evil
	p.Nodes[3].DisplayName = evil
	p.Interrupt.Handler.DisplayName = evil
	p.Interrupt.Kinds[0].Doc = evil
	p.Interrupt.Kinds[1].AutoAnswer = evil
	doc, err := routesDoc(p)
	require.NoError(t, err)
	plain, err := routesDoc(docsPlan())
	require.NoError(t, err)

	assert.Equal(t, strings.Count(string(plain), "\n"), strings.Count(string(doc), "\n"),
		"a text ends its line")
	assert.Equal(t, strings.Count(string(plain), "```"), strings.Count(string(doc), "```"),
		"a text opens a fence")
	assert.NotContains(t, string(doc), "<script")
	assert.NotContains(t, string(doc), "[l](u)")
	for i, line := range strings.Split(string(doc), "\n") {
		was := strings.Split(string(plain), "\n")[i]
		assert.Equal(t, bars(was), bars(line), "cells of line %d: %s", i+1, line)
		if strings.HasPrefix(line, "    n_lead([") {
			assert.Equal(t, 2, strings.Count(line, `"`), line)
		}
	}
}

// bars counts the signs that end a cell.
func bars(line string) int {
	return strings.Count(line, "|") - strings.Count(line, `\|`)
}

func TestEscapes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in      string
		text    markdown
		code    markdown
		mermaid mermaid
	}{
		{"", "-", "-", ""},
		{"plain words", "plain words", "`plain words`", "plain words"},
		{"a_b", `a\_b`, "`a_b`", "a_b"},
		{"a|b", `a\|b`, `a\|b`, "a#124;b"},
		{"a`b", "a\\`b", "a\\`b", "a#96;b"},
		{"<b>&", "&lt;b&gt;&amp;", "`<b>&`", "#60;b#62;#38;"},
		{"x\r\ny\tz", "x y z", "x y z", "x y z"},
		{"- item", "- item", "`- item`", "#45; item"},
		{"1. item", "1. item", "`1. item`", "1#46; item"},
		{`say "hi"`, `say "hi"`, "`say \"hi\"`", "say #34;hi#34;"},
		{"größer 大", "größer 大", "`größer 大`", "größer 大"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.text, mdText(tt.in))
			assert.Equal(t, tt.code, mdCode(tt.in))
			assert.Equal(t, tt.mermaid, mermaidText(tt.in))
		})
	}
}
