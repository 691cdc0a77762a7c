package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// rows reads the whole log of a thread.
func (d *demo) rows(thread string) []web.Row {
	d.Helper()
	var out []web.Row
	for after := ""; ; {
		page, next, err := d.client.History(d.Context(), thread, after, 500)
		require.NoError(d, err)
		if out, after = append(out, page...), next; after == "" {
			return out
		}
	}
}

// answered returns the last answer that a thread got.
func (d *demo) answered(threadID string) web.Row {
	d.Helper()
	rows := d.rows(threadID)
	slices.Reverse(rows)
	at := slices.IndexFunc(rows, func(row web.Row) bool {
		return row.Type == thread.EntryAnswered
	})
	require.NotEqual(d, -1, at)
	return rows[at]
}

func TestAnswerWithChoicesAndConfirmations(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.open(d.page, "light", 1440, 1000)
	b.sees(".inbox", "How shall the limit work")
	b.shot("inbox")
	b.click(`a.item[data-thread="rate-limits"]`)
	b.sees(".question h2", "How shall the limit work")
	b.sees(".node.here", "Discovery Collector")
	b.shot("thread")

	b.click("form.answer button[type=submit]")
	b.sees(".question .error", "choose one")
	// the confirmation with a default has its answer
	b.wait(`document.querySelectorAll(".question .error:not([hidden])").length === 3`)
	b.click(`.resolution > div:nth-child(1) label:nth-of-type(4)`)
	b.write(".resolution .indent textarea", "Each contract")
	b.click(`.resolution > div:nth-child(2) label:nth-of-type(2)`)
	b.click(`.resolution > fieldset:nth-of-type(2) label:nth-of-type(1)`)
	b.wait(`!document.querySelector(".question .error:not([hidden])")`)
	b.shot("answer")
	b.click("form.answer button[type=submit]")
	b.sees(".question h2", "RATE-2 has to drop the table") // the work went on, to the next question
	b.sees(".node.here", "Ticket Agents")
	b.wait(`!document.querySelector(".question").textContent.includes("How shall the limit work")`)

	answered := d.answered("rate-limits")
	assert.Equal(t, you, answered.By)
	assert.JSONEq(t,
		`{"selectedChoices":{"scope":"CUSTOM","answer":"B"},"customInputs":{"scope":"Each contract"},"confirmations":{"store":true,"plan":true}}`,
		string(answered.Value))
}

func TestRerouteByALitNode(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.open(d.page, "light", 1440, 1000)
	b.visit("t/rate-limits")
	b.sees(".node.here", "Discovery Collector")
	b.wait(`document.querySelectorAll(".node.lit").length > 5`)
	// it has no route
	b.wait(`!document.querySelector('.node[data-key=discoveryAgent]').classList.contains("lit")`)
	assert.Equal(t, 17, eval[int](b, `document.querySelectorAll(".node").length`))
	assert.Zero(t, eval[int](b, `(() => {
		const all = [...document.querySelectorAll(".node > rect")].map((r) => r.getBoundingClientRect());
		return all.filter((a, n) => all.some((c, m) => m > n && a.left < c.right && c.left < a.right && a.top < c.bottom && c.top < a.bottom)).length;
	})()`), "no node stands on another")
	b.click(".node[data-key=discoveryAgent]")
	b.click(".node[data-key=discoveryOrchestrator]")
	b.sees(".node.chosen", "Discovery Orchestrator")
	b.sees(".routed", "Discovery Orchestrator")
	b.wait(`document.querySelector('.node.chosen').getAttribute("aria-pressed") === "true"`)
	assert.True(t, eval[bool](b, `document.querySelector(".node.chosen").matches(":hover")`),
		"the mouse that chose it is still there")
	assert.LessOrEqual(t, eval[float64](b,
		`document.querySelector(".question").getBoundingClientRect().right - document.querySelector(".side").getBoundingClientRect().right`),
		0.5, "the long button fits beside the choice")
	for _, look := range []string{"light", "dark"} {
		eval[string](b, `document.documentElement.dataset.theme = "`+look+`"`)
		assert.GreaterOrEqual(t, b.contrast(".node.chosen > rect", ".node.chosen > text"), 4.5,
			"%s: the title of the chosen node can be read", look)
		assert.GreaterOrEqual(t, b.contrast(".node.here > rect", ".node.here > text"), 4.5, look)
		b.shot("reroute-" + look)
	}
	assert.InDelta(t, 1, b.contrast(".node.chosen > rect", ".node.chosen > rect"), 0.001,
		"the measure can lose")
	b.click("form.answer button[type=submit]")
	// over the discovery orchestrator again, to the next question
	b.sees(".question h2", "RATE-2 has to drop the table")
	b.sees(".node[data-key=discoveryOrchestrator] .times", "2")

	answered := d.answered("rate-limits")
	assert.Equal(t, "DISCOVERY_ORCHESTRATOR", answered.RouteTo)
	assert.Nil(t, answered.Value)

	b.visit("t/rate-limits-2") // with the keyboard alone, there and back
	b.wait(
		`document.querySelector('.thead h1').textContent.includes("rate-limits-2") && document.querySelector(".node.lit")`)
	b.do(chromedp.Focus(chromedp.CSS(".node.lit[data-key=ticketCollector]")),
		chromedp.KeyEvent("\r"))
	b.sees(".routed", "Ticket Collector")
	b.do(chromedp.KeyEvent("\r"))
	b.wait(
		`document.querySelector(".routed").hidden && document.activeElement.dataset.key === "ticketCollector"`)
}

func TestEscapeWithPreview(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.open(d.page, "light", 1440, 1000)
	b.visit("t/offsite-june")
	b.sees(".plan .here", "book the rooms")
	b.shot("plan")
	b.click("[data-act=pause]")
	b.sees("dialog", "Pause this thread")
	b.shot("pause")
	b.do(chromedp.KeyEvent("\x1b")) // closing it does nothing
	b.wait(`!document.querySelector("dialog")`)
	assert.False(t, d.thread("offsite-june").Paused)

	b.click("[data-act=pause]")
	b.click("dialog button[type=submit]")
	b.sees("dialog", "Paused. How shall it go on?")
	b.sees(".log li", "clash “Pay 300 now?” makes way for “The work is paused.")
	assert.True(t, d.thread("offsite-june").Paused)
	b.wait(`document.querySelector("dialog [data-act=preview]").disabled`)
	b.click(".suggested .chip")
	b.wait(`document.querySelector("dialog textarea").value === "skip “book the rooms”"`)
	before := d.thread("offsite-june").Version
	b.click("[data-act=preview]")
	b.sees(".proposal .removed", "book the rooms")
	b.shot("preview-suggested")
	assert.Equal(t, before, d.thread("offsite-june").Version, "a preview changes nothing")
	b.fill("dialog textarea", "add a boat trip") // what is left stays left
	b.click("[data-act=preview]")
	b.sees(".proposal .added", "rent a boat")
	b.shot("preview")
	b.click("[data-act=apply]")
	b.wait(`!document.querySelector("dialog")`)
	b.sees(".plan", "rent a boat")
	b.sees(".question", "Pay 300 now?")
	assert.Equal(t, []string{"book the rooms", "rent a boat", "invite the team"},
		d.steps("offsite-june"))

	b.click("[data-act=pause]")
	b.click("dialog button[type=submit]")
	b.click("[data-act=undo]")
	b.wait(
		`!document.querySelector("dialog") && !document.querySelector(".map-card").textContent.includes("rent a boat")`)
	b.sees(".question", "Pay 300 now?")
	assert.Equal(t, []string{"book the rooms", "invite the team"}, d.steps("offsite-june"))
}

// Escape pauses what works, closes a dialog, leaves a field, and goes back where there is nothing
// to pause.
func TestEscapeKey(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.open(d.page, "light", 1280, 900)
	escape := func() { b.do(chromedp.KeyEvent("\x1b")) }
	b.visit("t/offsite-june")
	b.sees(".plan .here", "book the rooms")
	escape()
	b.sees("dialog h2", "Pause this thread")
	escape()
	b.wait(`!document.querySelector("dialog")`)
	assert.False(t, d.thread("offsite-june").Paused)
	eval[bool](b,
		`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", repeat: true, bubbles: true}))`)
	assert.True(t, eval[bool](b,
		`!document.querySelector("dialog") && location.hash === "#/t/offsite-june"`),
		"a key that is held down does one thing")

	escape()
	b.click("dialog button[type=submit]")
	b.sees("dialog h2", "Paused. How shall it go on?")
	escape()
	b.wait(`!document.querySelector("dialog")`)
	b.sees(".pill", "Paused")
	escape()
	b.sees("dialog h2", "Paused. How shall it go on?")
	b.click("[data-act=cancel]")
	b.sees(".pill", "Cancelled")
	b.wait(`!document.querySelector("dialog")`)
	escape()
	b.wait(`location.hash === "#/inbox"`)

	b.visit("t/offsite")
	b.sees(".question h2", "How many people come?")
	b.write("form.answer textarea", "1")
	escape()
	assert.True(t, eval[bool](b,
		`!document.activeElement.closest("form") && !document.querySelector("dialog") && location.hash === "#/t/offsite"`))
	assert.Equal(t, "1", eval[string](b, `document.querySelector("form.answer textarea").value`))
	escape()
	b.sees("dialog h2", "Pause this thread")
}

// steps are those that are left of a plan.
func (d *demo) steps(threadID string) []string {
	d.Helper()
	var plan struct {
		Steps []string `json:"plan_steps"`
		Done  []string `json:"completed_steps"`
	}
	for _, row := range d.rows(threadID) {
		if row.Type == thread.EntryMessage && strings.HasPrefix(row.Name, "plan_") {
			require.NoError(d, json.Unmarshal(row.Value, &plan))
		}
	}
	return plan.Steps[len(plan.Done):]
}

func (d *demo) thread(id string) *web.Thread {
	d.Helper()
	t, err := d.client.Thread(d.Context(), id)
	require.NoError(d, err)
	return t
}

func TestHistorySliderAndFork(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.open(d.page, "light", 1440, 1000)
	b.visit("t/rate-limits-2")
	b.sees(".node.here", "Ticket Agents")
	asked := 0
	rows := d.rows("rate-limits-2")
	for n, row := range rows {
		if row.Type == thread.EntryAsked {
			asked = n
			break
		}
	}
	eval[bool](b, fmt.Sprintf(
		`(() => { const r = document.querySelector(".slider input"); r.value = %d; return r.dispatchEvent(new Event("input")) })()`, asked))
	b.sees(".moment", fmt.Sprintf("As it was at entry %d", rows[asked].Seq))
	b.sees(".node.here", "Discovery Collector")
	b.sees(".then-detail", "Where it was")
	b.wait(
		`document.querySelector(".then-detail .prompt").textContent.includes(">>> [Discovery Collector] <<< YOU ARE HERE")`)
	b.click(".then-detail details:has(.prompt) summary")
	b.do(scroll(".history"))
	b.shot("history")
	before := len(d.rows("rate-limits-2"))

	b.click("[data-act=fork]")
	b.sees("dialog", "effects have happened since")
	b.sees("dialog .effects", "model/1")
	b.write("dialog input", "another-way")
	b.shot("fork")
	b.click("dialog button[type=submit]")
	b.sees(".thead h1", "another-way")
	b.sees(".question h2", "How shall the limit work")
	b.sees(".thead .meta", "fork of rate-limits-2")
	forked := d.thread("another-way")
	assert.Equal(t, "rate-limits-2", forked.ForkedFrom.Thread)
	assert.Equal(t, rows[asked].Seq, forked.ForkedFrom.Seq)
	assert.Len(t, d.rows("rate-limits-2"), before, "nothing was run, and the original is as it was")
}

func TestFormOfASchema(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.open(d.page, "light", 1440, 1400)
	b.visit("t/supplier")
	b.sees(".question h2", "Northwind")
	b.shot("form")
	b.click("form.answer button[type=submit]")
	b.sees(".error:not([hidden])", "is needed")
	b.write(`[data-key=name] textarea`, "A")
	b.write(`[data-key=email] input`, "ann at example")
	b.click(`[data-key=category] label:nth-of-type(1)`)
	b.click(`[data-key=trusted] label:nth-of-type(2)`)
	b.write(`[data-key=limit] input`, "70000")
	b.click(`[data-key=regions] label:nth-of-type(1)`)
	b.click(`[data-key=regions] label:nth-of-type(3)`)
	b.click(`[data-key=notes] .listing > button`)
	b.write(`[data-key=notes] .rowline input`, "closed on Monday")
	b.click(`[data-key=payment] label:nth-of-type(1)`)
	b.write(`[data-key=days] input`, "30")
	b.click("form.answer button[type=submit]") // the server knows the rules
	b.wait(
		`document.querySelector("[data-key=email] input").getAttribute("aria-invalid") === "true"`)
	b.wait(
		`document.querySelector("[data-key=limit] input").getAttribute("aria-invalid") === "true"`)
	b.shot("form-refused")
	b.write(`[data-key=name] textarea`, "nn")
	for _, fix := range [][2]string{{`[data-key=email] input`, "ann@example.com"},
		{`[data-key=limit] input`, "700"}} {
		b.fill(fix[0], fix[1])
	}
	b.click("form.answer button[type=submit]")
	b.sees(".pill", "Done")
	assert.JSONEq(t,
		`{"contact":{"name":"Ann","email":"ann@example.com"},"category":"food","trusted":false,"limit":700,"regions":["north","east"],
		"notes":["closed on Monday"],"payment":{"days":30}}`, string(d.thread("supplier").Result))
}

func TestApprovalAndConversation(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.client.Base += "/inspection"
	b := d.open(d.base+"inspection/#"+strings.SplitN(d.page, "#", 2)[1], "dark", 1440, 1000)
	b.sees(".inbox", "May generate_final_report be run?")
	b.visit("t/bakery")
	b.sees(".question .about", "kept at 4 degrees")
	b.wait(`document.querySelector("[data-key=args]").hidden`)
	b.click(`[data-key=decision] label:nth-of-type(2)`)
	b.wait(
		`!document.querySelector("[data-key=args]").hidden && document.querySelector("[data-key=company] textarea").value === "Jansen"`)
	b.fill("[data-key=finding] textarea", "kept at 9 degrees")
	b.click(`[data-key=severe] label:nth-of-type(1)`)
	b.shot("dark-approval")
	b.click("form.answer button[type=submit]")
	b.sees(".pill", "Idle")
	answered := d.answered("bakery")
	assert.JSONEq(t,
		`{"decision":"edit","args":{"company":"Jansen","finding":"kept at 9 degrees","severe":true}}`, string(answered.Value))

	b.write(".say textarea", "what is the rule for fish?")
	b.click(".say button")
	b.sees(".node[data-key=regulation]", "Regulation")
	b.sees(".log", "Chilled fish is kept at 4 degrees or less")
	b.shot("dark-idle")
}

func TestFailedStep(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.open(d.page, "light", 1440, 900)
	b.visit("t/kitchen")
	b.sees(".question h2", "busy")
	b.sees(".attempts", "3 times")
	b.shot("failed")
	b.click(".choices label:nth-of-type(3)") // go on without it
	b.write(".question .indent textarea", `"no plumber"`)
	b.click("form.answer button[type=submit]")
	b.sees(".plan .skipped", "call the plumber")
	b.sees(".pill", "Done")
	assert.JSONEq(t, `{"choice":"skip","value":"no plumber"}`, string(d.answered("kitchen").Value))
}

func TestStartAndStats(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.open(d.page, "light", 1280, 800)
	b.visit("stats")
	b.sees(".tile", "asked")
	b.shot("stats")
	b.visit("threads")
	b.sees(".threads", "offsite-june")
	b.shot("threads")
	b.click("[data-act=start]")
	b.wait(`document.querySelector("dialog select").options.length === 3`)
	b.do(chromedp.SetValue(chromedp.CSS("dialog select"), "0"))
	eval[bool](b, `document.querySelector("dialog select").dispatchEvent(new Event("change"))`)
	b.wait(`document.querySelector("dialog textarea").value === "Prepare the offsite in May"`)
	b.shot("start")
	b.click("dialog button[type=submit]")
	b.sees(".question", "How many people come?")
	found, _, err := d.client.Inbox(t.Context(), url.Values{"kind": {"agent_question"}})
	require.NoError(t, err)
	assert.Len(t, found, 6)
}
