package prompt_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime/prompt"
)

func BenchmarkResolution(b *testing.B) {
	p := prompts(b)
	v := prompt.View{
		Node: int(routes.NodeOrchestrator), Request: request(b, routes.NodeOrchestrator),
		Allowed:   []string{"orchestratorRequest"},
		Answer:    json.RawMessage(`{"selectedChoices":{"c1":"A"}}`),
		Interrupt: interruptOf(routes.NodeOrchestrator),
		Asked:     asked(b, routes.NodeOrchestrator),
		History: []prompt.Visit{visit(routes.NodeOrchestrator),
			interrupted(routes.NodeOrchestrator, "why")},
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Resolution(v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNode(b *testing.B) {
	p := prompts(b)
	v := prompt.View{Node: int(routes.NodeOrchestrator),
		Request: request(b, routes.NodeOrchestrator),
		History: []prompt.Visit{visit(routes.NodeOrchestrator)}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Node(v); err != nil {
			b.Fatal(err)
		}
	}
}

// A model that asks has to know who gets the request and where the work goes on with the answer.
func TestNodePromptSaysWhereAnInterruptGoesAndReturns(t *testing.T) {
	t.Parallel()
	p, tables := prompts(t), program().Tables
	for i, n := range tables.Nodes {
		if n.Request == 0 {
			continue
		}
		text, err := p.Node(prompt.View{Node: i + 1, Request: request(t, routes.NodeName(i+1))})
		require.NoError(t, err, n.Key)
		_, text, found := strings.Cut(text, "## When to interrupt")
		require.True(t, found, n.Key)
		assert.Contains(t, text, "the request goes to "+tables.Handler.DisplayName, n.Key)
		if n.Route != 0 {
			assert.Contains(t, text, "goes on at "+n.DisplayName+",", n.Key)
		}
	}
}
