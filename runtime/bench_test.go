package runtime_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
)

// reply is what a model may answer: one branch of a union of fourteen, all checks on.
const reply = `{"discoveryAgentRequests":{"requests":[{"goal":"Find where routes are read","scope":"generator/spec","level":"HIGH"},` +
	`{"goal":"Find who writes tables","scope":"generator/emit","level":"LOW"}],"goal":"Understand how a route set is narrowed","delegationRationale":` +
	`"One reader and one writer of the same tables","metadata":{"phase":"DISCOVERY"}}}`

type task struct {
	Goal, Scope string
	Level       level
}

var taskShape = runtime.Shape{Name: "Task", Fields: []runtime.Field{
	{Name: "contextId", Hidden: true}, {Name: "goal", Required: true, Rule: &runtime.Rule{MinLength: runtime.Bound(1)}},
	{Name: "scope", Required: true}, {Name: "level", Required: true},
}}

func (*task) Shape() *runtime.Shape { return &taskShape }

func (v *task) DecodeField(d *runtime.Decoder, name string) {
	switch name {
	case "goal":
		runtime.DecodeString(d, &v.Goal)
	case "scope":
		runtime.DecodeString(d, &v.Scope)
	case "level":
		decodeLevel(d, &v.Level)
	}
}

type tasks struct {
	Requests        []task
	Goal, Rationale string
	Metadata        map[string]string
}

var tasksShape = runtime.Shape{Name: "Tasks", Fields: []runtime.Field{
	{Name: "requests", Required: true, Rule: &runtime.Rule{MinItems: runtime.Bound(1)}}, {Name: "contextId", Hidden: true}, {Name: "worktreeContext", Hidden: true},
	{Name: "goal", Required: true}, {Name: "delegationRationale", Required: true}, {Name: "metadata"},
}}

func (*tasks) Shape() *runtime.Shape { return &tasksShape }

func (v *tasks) DecodeField(d *runtime.Decoder, name string) {
	switch name {
	case "requests":
		runtime.DecodeList(d, &v.Requests, runtime.DecodeRecord[task])
	case "goal":
		runtime.DecodeString(d, &v.Goal)
	case "delegationRationale":
		runtime.DecodeString(d, &v.Rationale)
	case "metadata":
		runtime.DecodeMap(d, &v.Metadata, runtime.DecodeString[string])
	}
}

type fourteen struct{ branches [14]*tasks }

var fourteenShape = runtime.Shape{Name: "InterruptRouting", Union: true, Fields: []runtime.Field{
	{Name: "orchestratorRequest"}, {Name: "discoveryOrchestratorRequest"}, {Name: "planningOrchestratorRequest"}, {Name: "ticketOrchestratorRequest"},
	{Name: "reviewRequest"}, {Name: "mergerRequest"}, {Name: "contextManagerRequest"}, {Name: "orchestratorCollectorRequest"},
	{Name: "discoveryCollectorRequest"}, {Name: "planningCollectorRequest"}, {Name: "ticketCollectorRequest"}, {Name: "discoveryAgentRequests"},
	{Name: "planningAgentRequests"}, {Name: "ticketAgentRequests"},
}}

func (*fourteen) Shape() *runtime.Shape { return &fourteenShape }

func (v *fourteen) DecodeField(d *runtime.Decoder, name string) {
	switch name {
	case "orchestratorRequest":
		runtime.DecodePointer(d, &v.branches[0], runtime.DecodeRecord[tasks])
	case "discoveryAgentRequests":
		runtime.DecodePointer(d, &v.branches[11], runtime.DecodeRecord[tasks])
	}
}

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
	var defs []runtime.Definition
	var branches []runtime.BranchRow
	for i := range 36 {
		text := object(fmt.Sprintf("Record%02d, which has a description of its own that is as long as they mostly are, so that copying it costs something", i))
		for len(text) < 600 {
			text = text[:len(text)-1] + `,"description":"What this field carries and why somebody needs it."}`
		}
		def := runtime.Definition{Name: fmt.Sprintf("Record%02dRequest", i), Plain: text}
		if i < 14 {
			def.Refs = []int{15 + i, 16 + i, 17 + i}
			branches = append(branches, runtime.BranchRow{Name: fmt.Sprintf("record%02dRequest", i), Def: i + 1})
		} else if i < 35 {
			def.Refs = []int{i + 2}
		}
		defs = append(defs, def)
	}
	s := runtime.NewSchemas(defs, branches)
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

// BenchmarkSchemaOfANewSet asks for set after set, so that none is remembered: seven routes of fourteen on the average.
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
