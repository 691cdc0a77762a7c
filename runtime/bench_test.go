package runtime_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// reply is what a model may answer: one branch of a union of fourteen, all checks on.
const reply = `{"discoveryAgentRequests":{"requests":[{"goal":"Find where routes are read","scope":"generator/spec","level":"HIGH"},` +
	`{"goal":"Find who writes tables","scope":"generator/emit","level":"LOW"}],"goal":"Understand how a route set is narrowed","delegationRationale":` +
	`"One reader and one writer of the same tables","metadata":{"phase":"DISCOVERY"}}}`

type task struct {
	ContextID string `json:"contextId"`
	Goal      string `json:"goal"`
	Scope     string `json:"scope"`
	Level     level  `json:"level"`
}

var taskShape = runtime.Shape{Name: "Task", Fields: []runtime.Field{
	{Name: "contextId", Hidden: true},
	{Name: "goal", Required: true, Rule: &runtime.Rule{MinLength: runtime.Bound(1)}},
	{Name: "scope", Required: true}, {Name: "level", Required: true},
}}

func (*task) Shape() *runtime.Shape { return &taskShape }

type tasks struct {
	Requests  []task            `json:"requests"`
	ContextID string            `json:"contextId"`
	Worktree  string            `json:"worktreeContext"`
	Goal      string            `json:"goal"`
	Rationale string            `json:"delegationRationale"`
	Metadata  map[string]string `json:"metadata"`
}

var tasksShape = runtime.Shape{Name: "Tasks", Fields: []runtime.Field{
	{Name: "requests", Required: true, Rule: &runtime.Rule{MinItems: runtime.Bound(1)}},
	{Name: "contextId", Hidden: true}, {Name: "worktreeContext", Hidden: true},
	{Name: "goal", Required: true}, {Name: "delegationRationale", Required: true},
	{Name: "metadata"},
}}

func (*tasks) Shape() *runtime.Shape { return &tasksShape }

type fourteen struct {
	OrchestratorRequest          *tasks `json:"orchestratorRequest"`
	DiscoveryOrchestratorRequest *tasks `json:"discoveryOrchestratorRequest"`
	PlanningOrchestratorRequest  *tasks `json:"planningOrchestratorRequest"`
	TicketOrchestratorRequest    *tasks `json:"ticketOrchestratorRequest"`
	ReviewRequest                *tasks `json:"reviewRequest"`
	MergerRequest                *tasks `json:"mergerRequest"`
	ContextManagerRequest        *tasks `json:"contextManagerRequest"`
	OrchestratorCollectorRequest *tasks `json:"orchestratorCollectorRequest"`
	DiscoveryCollectorRequest    *tasks `json:"discoveryCollectorRequest"`
	PlanningCollectorRequest     *tasks `json:"planningCollectorRequest"`
	TicketCollectorRequest       *tasks `json:"ticketCollectorRequest"`
	DiscoveryAgentRequests       *tasks `json:"discoveryAgentRequests"`
	PlanningAgentRequests        *tasks `json:"planningAgentRequests"`
	TicketAgentRequests          *tasks `json:"ticketAgentRequests"`
}

var fourteenShape = runtime.Shape{Name: "InterruptRouting", Kind: runtime.ShapeUnion,
	Fields: []runtime.Field{
		{Name: "orchestratorRequest"}, {Name: "discoveryOrchestratorRequest"},
		{Name: "planningOrchestratorRequest"}, {Name: "ticketOrchestratorRequest"},
		{Name: "reviewRequest"}, {Name: "mergerRequest"}, {Name: "contextManagerRequest"},
		{Name: "orchestratorCollectorRequest"},
		{Name: "discoveryCollectorRequest"}, {Name: "planningCollectorRequest"},
		{Name: "ticketCollectorRequest"}, {Name: "discoveryAgentRequests"},
		{Name: "planningAgentRequests"}, {Name: "ticketAgentRequests"},
	}}

func (*fourteen) Shape() *runtime.Shape { return &fourteenShape }

func BenchmarkDecodeReply(b *testing.B) {
	data := []byte(reply)
	allowed := func(name string) bool { return name == "discoveryAgentRequests" }
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var v fourteen
		if err := runtime.DecodeReply(data, &v, allowed); err != nil {
			b.Fatal(err)
		}
	}
}

// fourteenRoutes has definitions of the size of the real ones: 36 of 600 bytes.
func fourteenRoutes(b *testing.B) *runtime.Schemas {
	b.Helper()
	name := func(i int) string { return fmt.Sprintf("Record%02dRequest", i) }
	var defs []definition
	var branches []runtime.BranchRow
	for i := range 36 {
		var refs []string
		if i < 14 {
			refs = []string{name(14 + i), name(15 + i), name(16 + i)}
			branches = append(branches, runtime.BranchRow{Name: fmt.Sprintf("record%02dRequest", i),
				Type: name(i)})
		} else if i < 35 {
			refs = []string{name(i + 1)}
		}
		text := object(fmt.Sprintf("Record%02d, which has a description of its own that is as "+
			"long as they mostly are, so that copying it costs something", i), refs...)
		if short := 600 - len(text); short > 0 {
			text = strings.Replace(text, "Record", strings.Repeat("x", short)+"Record", 1)
		}
		defs = append(defs, definition{name: name(i), plain: text})
	}
	s := runtime.NewSchemas(filesOf(defs), branches)
	require.NotEmpty(b, s.Set([]uint64{1<<14 - 1}, runtime.Plain))
	return s
}

func BenchmarkSchemaOfOneRoute(b *testing.B) {
	s, words := fourteenRoutes(b), [1]uint64{1 << 11}
	b.ReportAllocs()
	for b.Loop() {
		if s.Set(words[:], runtime.Anthropic) == "" {
			b.Fatal("no schema")
		}
	}
}

func BenchmarkSchemaOfARouteSet(b *testing.B) {
	s, words := fourteenRoutes(b), [1]uint64{1<<14 - 1}
	b.ReportAllocs()
	b.SetBytes(int64(len(s.Set(words[:], runtime.Anthropic))))
	for b.Loop() {
		if s.Set(words[:], runtime.Anthropic) == "" {
			b.Fatal("no schema")
		}
	}
}

// BenchmarkSchemaOfANewSet asks for set after set, so that none is remembered: seven routes of
// fourteen on the average.
func BenchmarkSchemaOfANewSet(b *testing.B) {
	s, words := fourteenRoutes(b), [1]uint64{}
	b.ReportAllocs()
	for b.Loop() {
		words[0] = words[0]%(1<<14-1) + 1
		if s.Set(words[:], runtime.Anthropic) == "" {
			b.Fatal("no schema")
		}
	}
}
