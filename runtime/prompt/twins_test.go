package prompt_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/templates"
)

// TestTwoBranchesToOneNodeAreToldApart: by their names and by when to take them, with one request.
func TestTwoBranchesToOneNodeAreToldApart(t *testing.T) {
	p := program()
	tables := *p.Tables
	tables.Routings = slices.Clone(tables.Routings)
	p.Tables = &tables
	row := &tables.Routings[tables.Nodes[routes.NodeOrchestrator-1].Routing-1]
	row.Branches = slices.Clone(row.Branches)
	at := slices.IndexFunc(row.Branches, func(b runtime.BranchRow) bool {
		return b.Name == "collectorRequest"
	})
	require.GreaterOrEqual(t, at, 0)
	again := row.Branches[at]
	again.Name, again.When = "retry", "A test failed."
	row.Branches[at].When = "All is done."
	row.Branches = append(row.Branches, again)
	made, err := prompt.New(p, templates.Prompts(nil))
	require.NoError(t, err)
	text, err := made.Node(prompt.View{Node: int(routes.NodeOrchestrator),
		Request: request(t, routes.NodeOrchestrator)})
	require.NoError(t, err)
	assert.Contains(t, text, "- **collectorRequest** goes to Orchestrator Collector. All is done.")
	assert.Contains(t, text, "- **retry** goes to Orchestrator Collector. A test failed.")
	assert.Contains(t, text, "\n          retry -> Orchestrator Collector")
}
