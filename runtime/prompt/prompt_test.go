package prompt_test

import (
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/templates"
)

var update = flag.Bool("update", false, "write the golden texts")

func program() *runtime.Program {
	p := routes.New(routes.UnimplementedHandlers{})
	return &p
}

func prompts(t rapid.TB) *prompt.Prompts {
	t.Helper()
	p, err := prompt.New(program(), templates.Prompts(nil))
	require.NoError(t, err)
	return p
}

// sample writes a record of a type: every field that the schema of the type shows, filled with its
// own name, and every hidden one of the record with a word that no prompt may hold.
func sample(tb testing.TB, record runtime.Record, name string) json.RawMessage {
	tb.Helper()
	out := map[string]any{}
	for name, part := range properties(tb, name) {
		out[name] = fill(tb, name, part, 2)
	}
	for _, f := range record.Shape().Fields {
		if f.Hidden {
			out[f.Name] = map[string]any{"inside": "HIDDEN"}
		}
	}
	raw, err := json.Marshal(out)
	require.NoError(tb, err)
	return raw
}

func member(tb testing.TB, text []byte, key string) map[string]json.RawMessage {
	tb.Helper()
	var whole, part map[string]json.RawMessage
	require.NoError(tb, json.Unmarshal(text, &whole))
	if whole[key] != nil {
		require.NoError(tb, json.Unmarshal(whole[key], &part))
	}
	return part
}

func fill(tb testing.TB, name string, s json.RawMessage, depth int) any {
	tb.Helper()
	var form struct {
		Ref   string          `json:"$ref"`
		Type  string          `json:"type"`
		Enum  []string        `json:"enum"`
		Items json.RawMessage `json:"items"`
	}
	require.NoError(tb, json.Unmarshal(s, &form))
	if to, ok := strings.CutPrefix(form.Ref, "#/$defs/"); ok {
		out := map[string]any{"worktreeContext": "HIDDEN"}
		for key, part := range properties(tb, to) {
			if depth > 0 {
				out[key] = fill(tb, key, part, depth-1)
			}
		}
		return out
	}
	switch {
	case len(form.Enum) > 0:
		return form.Enum[0]
	case form.Type == "array":
		return []any{fill(tb, name, form.Items, depth)}
	case form.Type == "object":
		return map[string]any{"key": name}
	case form.Type == "integer" || form.Type == "number":
		return 7
	case form.Type == "boolean":
		return true
	}
	return "the " + name
}

func request(tb testing.TB, node routes.NodeName) json.RawMessage {
	tb.Helper()
	p := program()
	row := p.Tables.Requests[p.Tables.Nodes[node-1].Request-1]
	return sample(tb, p.Request(row.Name), row.Name)
}

func asked(tb testing.TB, node routes.NodeName) json.RawMessage {
	tb.Helper()
	p := program()
	row := p.Tables.Interrupts[interruptOf(node)-1]
	return sample(tb, p.Interrupt(row.Name), row.Name)
}

func interruptOf(node routes.NodeName) int { return program().Tables.Nodes[node-1].Interrupt }

func visit(node routes.NodeName) prompt.Visit {
	return prompt.Visit{Node: int(node), Request: program().Tables.Nodes[node-1].Request}
}

func interrupted(node routes.NodeName, reason string) prompt.Visit {
	return prompt.Visit{Node: int(node), Interrupt: program().Tables.Nodes[node-1].Interrupt,
		Type: "HUMAN_REVIEW", Reason: reason}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".md")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "write it with -update")
	assert.Equal(t, string(want), got)
	assert.NotContains(t, got, "HIDDEN")
	assert.NotContains(t, got, "<no value>")
}

func TestGoldenTexts(t *testing.T) {
	t.Parallel()
	p, tables := prompts(t), program().Tables
	came := []prompt.Visit{visit(routes.NodeOrchestrator), visit(routes.NodeDiscoveryOrchestrator),
		interrupted(routes.NodeDiscoveryOrchestrator, "two parts overlap")}
	for i, n := range tables.Nodes {
		if n.Request == 0 {
			continue
		}
		node := routes.NodeName(i + 1)
		view := prompt.View{Node: i + 1, Request: request(t, node), History: came}
		text, err := p.Node(view)
		require.NoError(t, err, n.Key)
		golden(t, "node/"+n.Key, text)

		if n.Route == 0 {
			continue
		}
		view.Allowed = []string{tables.Routes[n.Route-1].Field}
		view.Interrupt, view.Asked, view.Answer = n.Interrupt,
			asked(t, node), json.RawMessage(`"take the first way"`)
		text, err = p.Resolution(view)
		require.NoError(t, err, n.Key)
		golden(t, "resolution/"+n.Key, text)
	}
	view := prompt.View{Node: int(routes.NodeMerger), Request: request(t, routes.NodeMerger),
		Interrupt: interruptOf(routes.NodeMerger), Asked: asked(t, routes.NodeMerger)}
	text, err := p.Review(view)
	require.NoError(t, err)
	golden(t, "review", text)
	text, err = p.Repair("{\"goal\": ```",
		&runtime.InvalidError{Problems: []runtime.Problem{{Reason: "it ends early"},
			{Pointer: "/goal", Reason: "is\nempty"}}})
	require.NoError(t, err)
	golden(t, "repair", text)
}

func node(t *testing.T, v prompt.View) string {
	t.Helper()
	if v.Request == nil {
		v.Request = request(t, routes.NodeName(v.Node))
	}
	text, err := prompts(t).Node(v)
	require.NoError(t, err)
	return text
}

func TestPosition(t *testing.T) {
	t.Parallel()
	all := func(yes ...string) []string { return yes }
	for _, c := range []struct {
		name     string
		node     routes.NodeName
		history  []prompt.Visit
		has, not []string
	}{
		{"orchestrator: marker and headings", routes.NodeOrchestrator, nil,
			all(">>> [Orchestrator] <<< YOU ARE HERE", "## Workflow position", "### Workflow graph",
				"### Execution history", "### Available routing options"), all("[visited]")},
		{"orchestrator: options and hint", routes.NodeOrchestrator, nil,
			all("**collectorRequest**", "**discoveryOrchestratorRequest**",
				"Start with discoveryOrchestratorRequest"), nil},
		{"orchestrator: empty history", routes.NodeOrchestrator, nil,
			all("Nothing came before this turn."), all("| # |")},
		{"discovery orchestrator: orchestrator visited", routes.NodeDiscoveryOrchestrator,
			[]prompt.Visit{visit(routes.NodeOrchestrator)},
			all(">>> [Discovery Orchestrator] <<< YOU ARE HERE", "\n[Orchestrator] [visited]",
				"\n    [Ticket Orchestrator]\n"), nil},
		{"discovery orchestrator: options and hint", routes.NodeDiscoveryOrchestrator, nil,
			all("**agentRequests** goes to Discovery Agent Dispatch.", "Set agentRequests first"),
			nil},
		{"history: header and first row", routes.NodeDiscoveryOrchestrator,
			[]prompt.Visit{visit(routes.NodeOrchestrator)},
			all("| # | Action | Input |", "| 1 | coordinateWorkflow | Orchestrator |"), nil},
		{"discovery collector: decisions", routes.NodeDiscoveryCollector, nil,
			all("ROUTE_BACK -> Discovery Orchestrator", "ADVANCE_PHASE -> Planning Orchestrator",
				"STOP -> Orchestrator"), nil},
		{"planning collector: decisions", routes.NodePlanningCollector, nil,
			all("ROUTE_BACK -> Planning Orchestrator", "ADVANCE_PHASE -> Ticket Orchestrator"),
			nil},
		{"ticket collector: decisions", routes.NodeTicketCollector, nil,
			all("ROUTE_BACK -> Ticket Orchestrator", "ADVANCE_PHASE -> Orchestrator Collector"),
			nil},
		{"planning orchestrator: hint", routes.NodePlanningOrchestrator, nil,
			all("one request for each share of the goal"), nil},
		{"ticket orchestrator: hint", routes.NodeTicketOrchestrator, nil,
			all("one request for each ticket that is ready"), nil},
		{"orchestrator collector: completion", routes.NodeOrchestratorCollector, nil,
			all("ROUTE_BACK -> Orchestrator", "ADVANCE_PHASE -> workflow completion"), nil},
		{"review: own result", routes.NodeReview, nil,
			all("### Available routing options", "**reviewResult**"), nil},
		{"merger: own result", routes.NodeMerger, nil,
			all("### Available routing options", "**mergerResult**"), nil},
		{"twice: warning", routes.NodeOrchestrator,
			[]prompt.Visit{visit(routes.NodePlanningOrchestrator),
				visit(routes.NodePlanningOrchestrator)},
			all("**Warning:** Planning Orchestrator was here 2 times."), nil},
		{"once: none", routes.NodeOrchestrator,
			[]prompt.Visit{visit(routes.NodePlanningOrchestrator)}, nil, all("**Warning:**")},
		{"exempted: none", routes.NodeOrchestrator, []prompt.Visit{visit(routes.NodeContextManager),
			visit(routes.NodeContextManager)}, nil, all("**Warning:**")},
		{"history: numbered in order", routes.NodeReview,
			[]prompt.Visit{visit(routes.NodeOrchestrator),
				interrupted(routes.NodeOrchestrator, "r"), visit(routes.NodeMerger)},
			all("| 1 | coordinateWorkflow | Orchestrator |\n| 2 | handleUnifiedInterrupt | "+
				"Orchestrator Interrupt |\n| 3 | performMerge | Merger Agent |",
				"\n[Unified Interrupt Handler] [visited]"), nil},
		{"graph: routings and side nodes", routes.NodeOrchestrator, nil,
			all("DiscoveryCollectorRouting", "PlanningCollectorRouting", "TicketCollectorRouting",
				"OrchestratorCollectorRouting", "[Review Agent]", "[Merger Agent]",
				"[Context Manager]", "    [Unified Interrupt Handler]\n        InterruptRouting"),
			all("Question Answer")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := node(t, prompt.View{Node: int(c.node), History: c.history})
			for _, part := range c.has {
				assert.Contains(t, text, part)
			}
			for _, part := range c.not {
				assert.NotContains(t, text, part)
			}
			assert.Equal(t, 1, strings.Count(text, "YOU ARE HERE"))
			for _, n := range program().Tables.Nodes {
				if n.Request > 0 {
					assert.Contains(t, text, "["+n.DisplayName+"]")
				}
			}
		})
	}
}

func TestLongHistoryShowsItsEnd(t *testing.T) {
	t.Parallel()
	text := node(t, prompt.View{Node: int(routes.NodeOrchestrator),
		History: slices.Repeat([]prompt.Visit{visit(routes.NodeMerger)}, 100)})
	assert.Contains(t, text, "The first 60 rows are left out.")
	assert.NotContains(t, text, "| 60 |")
	assert.Contains(t, text, "| 61 | performMerge | Merger Agent |")
	assert.Contains(t, text, "was here 100 times")
}

// TestHistoryNamesEveryAction: a node whose spec names no action goes by its key.
func TestHistoryNamesEveryAction(t *testing.T) {
	t.Parallel()
	p := *program()
	tables := *p.Tables
	tables.Nodes = slices.Clone(tables.Nodes)
	tables.Nodes[routes.NodeMerger-1].Action = ""
	p.Tables = &tables
	prompts, err := prompt.New(&p, templates.Prompts(nil))
	require.NoError(t, err)
	text, err := prompts.Node(prompt.View{
		Node:    int(routes.NodeOrchestrator),
		Request: json.RawMessage(`{"goal":"g","phase":"DISCOVERY"}`),
		History: []prompt.Visit{visit(routes.NodeMerger)},
	})
	require.NoError(t, err)
	assert.Contains(t, text, "| 1 | merger | Merger Agent |")
}

func TestOptionsAreThoseOfTheNarrowedSchema(t *testing.T) {
	t.Parallel()
	tables := program().Tables
	for i, n := range tables.Nodes {
		if n.Routing == 0 {
			continue
		}
		branches := tables.Routings[n.Routing-1].Branches
		for _, only := range branches {
			text := node(t, prompt.View{Node: i + 1, Allowed: []string{only.Name}})
			_, options, _ := strings.Cut(text, "### Available routing options")
			_, here, _ := strings.Cut(text, ">>> [")
			here, _, _ = strings.Cut(here, "\n    [")
			for _, b := range branches {
				assert.Equal(t, b.Name == only.Name, strings.Contains(options, "**"+b.Name+"**"),
					"%s %s", n.Key, b.Name)
				assert.Equal(t, b.Name == only.Name,
					strings.Contains(here, "\n          "+b.Name+" ->"), "%s %s", n.Key, b.Name)
			}
			assert.Equal(t, only.Kind == runtime.ToInterrupt,
				strings.Contains(text, "## When to interrupt"), "%s %s", n.Key, only.Name)
		}
		assert.Contains(t, node(t, prompt.View{Node: i + 1}), "## When to interrupt")
	}
}

func TestLoopBreaker(t *testing.T) {
	t.Parallel()
	tables := program().Tables
	for i, n := range tables.Nodes {
		if n.Routing == 0 {
			continue
		}
		name := routes.NodeName(i + 1)
		other := routes.NodeOrchestrator
		if name == other {
			other = routes.NodeReview
		}
		history := []prompt.Visit{interrupted(name, "which one"), interrupted(other, "not mine"),
			visit(name)}
		assert.NotContains(t, node(t, prompt.View{Node: i + 1, History: history}),
			"## Loop warning", n.Key)
		text := node(t, prompt.View{Node: i + 1,
			History: append(history, interrupted(name, "which\none again"))})
		assert.Contains(t, text, "## Loop warning", n.Key)
		assert.Contains(t, text, n.DisplayName+" has interrupted 2 times already ("+
			tables.Interrupts[n.Interrupt-1].DisplayName+")")
		assert.Contains(t, text, "1. HUMAN_REVIEW: which one\n2. HUMAN_REVIEW: which one again")
		assert.NotContains(t, text, "not mine")
		assert.Contains(t, text, "Set "+strings.Join(n.Unstick, " or ")+" instead.", n.Key)
		text = node(t, prompt.View{Node: i + 1, Allowed: []string{"interruptRequest"},
			History: append(history, interrupted(name, "again"))})
		assert.Contains(t, text, "Set another branch than the one that interrupts.",
			"advice names only what may be set")
	}
}

func TestAnswerIsNeverLost(t *testing.T) {
	t.Parallel()
	view := prompt.View{Node: int(routes.NodeTicketAgent),
		Request: json.RawMessage(`{"ticketDetails":"t","ticketDetailsFilePath":""}`)}
	assert.NotContains(t, node(t, view), "## The answer")
	for answer, want := range map[string]string{
		`"yes, do"`: "```text\nyes, do\n```", `false`: "```json\nfalse\n```",
		`0`: "```json\n0\n```", `null`: "```json\nnull\n```", `""`: "```json\n\"\"\n```",
		`{}`: "```json\n{}\n```",
		`{"selectedChoices":{"c1":"A"}}`: "```json\n{\n  \"selectedChoices\": {\n    \"c1\": " +
			"\"A\"\n  }\n}\n```",
	} {
		view.Answer = json.RawMessage(answer)
		assert.Contains(t, node(t, view), "This is the answer, and it decides what you asked:\n\n"+
			want, answer)
	}
	assert.Contains(t, node(t, view), "The file that holds the ticket:\n\n(none)\n",
		"an empty variable is said, not left out")
}

func TestResolutionNeedsEverything(t *testing.T) {
	t.Parallel()
	p := prompts(t)
	whole := prompt.View{
		Node: int(routes.NodeOrchestrator), Request: request(t, routes.NodeOrchestrator),
		Allowed: []string{"planningOrchestratorRequest"},
		Answer:  json.RawMessage(`"go"`), Interrupt: interruptOf(routes.NodeOrchestrator),
		Asked: asked(t, routes.NodeOrchestrator)}
	text, err := p.Resolution(whole)
	require.NoError(t, err)
	assert.Contains(t, text,
		"The work goes on at: Planning Orchestrator (`planningOrchestratorRequest`).")
	assert.Contains(t, text, ">>> [Unified Interrupt Handler] <<< YOU ARE HERE")
	_, options, _ := strings.Cut(text, "### Available routing options")
	assert.Equal(t, 1, strings.Count(options, "- **"))
	for want, spoil := range map[string]func(*prompt.View){
		"no request": func(v *prompt.View) { v.Request = nil }, "no answer": func(v *prompt.View) {
			v.Answer = nil
		},
		"no target":             func(v *prompt.View) { v.Allowed = nil },
		"no interrupt":          func(v *prompt.View) { v.Asked = nil },
		"there is no interrupt": func(v *prompt.View) { v.Interrupt = 0 },
		"no node 99":            func(v *prompt.View) { v.Node = 99 },
		"questionAnswer has no request": func(v *prompt.View) {
			v.Node = int(routes.NodeQuestionAnswer)
		},
		"collectorRequest is allowed": func(v *prompt.View) {
			v.Allowed = []string{"collectorRequest"}
		},
		"not a JSON object": func(v *prompt.View) { v.Request = json.RawMessage(`[]`) },
		"is not a JSON object": func(v *prompt.View) {
			v.Asked = json.RawMessage(`{"reason":"`)
		},
		"show the answer": func(v *prompt.View) { v.Answer = json.RawMessage(`{`) },
	} {
		v := whole
		spoil(&v)
		_, err := p.Resolution(v)
		require.ErrorContains(t, err, want)
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	}
	_, err = p.Node(prompt.View{Node: 1, Request: whole.Request, Allowed: []string{}})
	assert.Equal(t, runtime.CodeNoRoute, runtime.CodeOf(err))
	_, err = p.Review(prompt.View{Node: 1, Request: whole.Request})
	assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
}

func TestRepair(t *testing.T) {
	t.Parallel()
	p := prompts(t)
	_, err := program().DecodeReply(1, []byte(`{"collectorRequest":{"goal":1}}`), nil)
	text, repairErr := p.Repair(`{"collectorRequest":{"goal":1}}`, err)
	require.NoError(t, repairErr)
	assert.Contains(t, text, "\n/collectorRequest/goal: ")
	_, err = program().DecodeReply(1, []byte(`{}`), func(name string) bool {
		return name == "collectorRequest"
	})
	text, repairErr = p.Repair(`{}`, err)
	require.NoError(t, repairErr)
	assert.Contains(t, text,
		"OrchestratorRouting has no branch set: set exactly one of collectorRequest")
	_, err = p.Repair("x", os.ErrPermission)
	assert.ErrorIs(t, err, os.ErrPermission, "what is not about the reply goes through")
}

func TestStrictTemplates(t *testing.T) {
	t.Parallel()
	own := func(text string) fs.FS {
		return templates.Prompts(fstest.MapFS{"workflow/orchestrator.tmpl": {Data: []byte(text)}})
	}
	const good = "Goal:\n{{.goal}}\n{{/* a note */}}\n{{.phase}}\n"
	_, err := prompt.New(program(), own(good))
	require.NoError(t, err, "the control")
	_, err = prompt.New(program(), own(strings.ReplaceAll(good, "\n", "\r\n")))
	require.NoError(t, err, "line ends of Windows")
	for text, want := range map[string]string{
		"{{.goal}}\n{{.phase}}\n{{.gaol}}": "{{.gaol}} is not supplied: it may use " +
			"goal, phase",
		"{{.goal}}\n{{.phase}}\n{{.worktreeContext}}": "{{.worktreeContext}} is not supplied",
		"{{.goal}}":                        "{{.phase}} is supplied and not used",
		"Goal: {{.goal}}\n{{.phase}}":      "{{.goal}} needs a line of its own",
		"{{.goal}} .\n{{.phase}}":          "{{.goal}} needs a line of its own",
		"{{.goal}}\n{{if .phase}}x{{end}}": "text and {{.name}} only",
		"{{.goal}}\n{{printf .phase}}":     "text and {{.name}} only",
		"{{.goal}}\n{{.phase.x}}":          "text and {{.name}} only",
		"{{.goal}}\n{{.phase | html}}":     "text and {{.name}} only",
		"{{.goal}}\n{{$x := .phase}}":      "text and {{.name}} only",
		"{{.goal":                          "template workflow/orchestrator",
		"":                                 "{{.goal}} is supplied and not used",
	} {
		_, err := prompt.New(program(), own(text))
		require.ErrorContains(t, err, want, text)
		assert.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	}
	_, err = prompt.New(program(), fstest.MapFS{"workflow/orchestrator.tmpl": {Data: []byte(good)}})
	require.ErrorContains(t, err, "section/head")
	assert.ErrorContains(t, err, "workflow/review", "all that is missing is said at once")

	for v, want := range map[string]string{"contextId": "hidden field",
		"gaol": "not a field of OrchestratorRequest"} {
		p := program()
		tables := *p.Tables
		tables.Nodes = slices.Clone(tables.Nodes)
		tables.Nodes[0].Vars = []string{v}
		p.Tables = &tables
		_, err := prompt.New(p, templates.Prompts(nil))
		assert.ErrorContains(t, err, want)
	}
}

var runtimeInvalid = runtime.InvalidError{Problems: []runtime.Problem{{Pointer: "/goal",
	Reason: "is missing"}}}

func TestHiddenFieldsAreShownNowhere(t *testing.T) {
	t.Parallel()
	merge := json.RawMessage(
		`{"goal":"g","phase":"p","contextId":"ak:SECRET","unknown":"SECRET","mergeDescriptor":{"mergeDirection":"up","successful":true,"SECRET":1}}`)
	text := node(t, prompt.View{Node: int(routes.NodeOrchestratorCollector), Request: merge})
	assert.NotContains(t, text, "SECRET")
	assert.Contains(t, text, "{\n  \"mergeDirection\": \"up\",\n  \"successful\": true\n}",
		"the control: visible fields beside them are there")
}
