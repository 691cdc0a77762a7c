package main

import (
	"encoding/json"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/workflow"
)

// Work that runs is sent to another node by choosing that on the map, with a reason; whoever has a
// token for the thread only is not offered it. The model of the node takes far longer than the
// test.
func TestRunningWorkIsSentElsewhere(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	stop, caller := serve(t, folder)
	settled(t, caller)
	stop()
	d := startIn(t, folder, "1h")
	begin, err := workflow.Begin(&routes.OrchestratorRequest{Goal: "Add rate limiting",
		Phase: "DISCOVERY"})
	require.NoError(t, err)
	made, err := d.client.Start(t.Context(), begin.Machine, begin.Name, begin.Input, you, "")
	require.NoError(t, err)
	events := func() (found []web.Row) {
		for _, row := range d.rows(made.ID) {
			if row.Type == thread.EntryReroute {
				found = append(found, row)
			}
		}
		return found
	}

	b := d.open(d.page, "light", 1440, 1000)
	b.visit("t/" + made.ID)
	b.sees(".node.here", "Orchestrator")
	b.wait(`document.querySelectorAll(".node.send").length > 5`)
	// no route
	b.wait(`!document.querySelector('.node[data-key=discoveryAgent]').classList.contains("send")`)
	b.do(chromedp.Focus(chromedp.CSS(".node[data-key=planningOrchestrator]")),
		chromedp.KeyEvent("\r"))
	b.sees("dialog h2", "Send the work to Planning Orchestrator?")
	b.do(chromedp.KeyEvent("\x1b")) // closing it does nothing
	b.wait(`!document.querySelector("dialog")`)
	b.click(".node[data-key=planningOrchestrator]")
	b.sees("dialog h2", "Send the work to Planning Orchestrator?")
	b.click("dialog [data-act=send]") // a reason is needed
	assert.True(t, eval[bool](b, `document.querySelector("dialog textarea").matches(":invalid")`))
	assert.Empty(t, events())
	b.write("dialog textarea", "The discovery is done already")
	b.shot("send")
	b.click("dialog [data-act=send]")
	b.wait(`!document.querySelector("dialog")`)
	require.Len(t, events(), 1)
	sent := events()[0]
	assert.Equal(t, thread.ReroutePending, sent.State)
	assert.Equal(t, you, sent.By)
	var event workflow.Event
	require.NoError(t, json.Unmarshal(sent.Value, &event))
	assert.Equal(t, "ORCHESTRATOR", event.SourceAgentType)
	assert.Equal(t, "PLANNING_ORCHESTRATOR", event.RerouteToAgentType)
	assert.Equal(t, "The discovery is done already", event.Reason)
	b.shot("sent")

	guest := d.guest(web.Grant{Thread: made.ID,
		Actions: []string{"follow", "inspect", "answer", "escape", "cancel"}})
	guest.sees(".node.here", "Orchestrator")
	guest.wait(`document.querySelector(".pill").textContent.includes("Running")`)
	assert.Zero(t, eval[int](guest, `document.querySelectorAll(".node.send").length`))
}
