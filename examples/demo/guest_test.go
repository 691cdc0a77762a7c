package main

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// guest opens the page with a capability token.
func (d *demo) guest(g web.Grant) *tab {
	d.Helper()
	g.By, g.Expires = cmp.Or(g.By, "guest"), time.Now().Add(time.Hour).UnixMilli()
	made, err := d.client.Grant(d.Context(), g)
	require.NoError(d, err)
	return d.open(d.base+"#token="+made.Token, "light", 1280, 860)
}

// offers returns the labels of what can be pressed now, in the head of the thread and in its
// question.
func (b *tab) offers() []string {
	b.Helper()
	return eval[[]string](b,
		`[...document.querySelectorAll(".acts button, .question button, .say button")]
		.filter((e) => e.checkVisibility() && !e.disabled).map((e) => e.textContent)`)
}

// A guest is offered what the token allows and nothing else; what is not offered says why.
func TestAGuestIsOfferedWhatTheTokenAllows(t *testing.T) {
	t.Parallel()
	d := start(t)
	const thread = "rate-limits-2"
	b := d.guest(web.Grant{Thread: thread, Actions: []string{"follow"}})
	before := d.thread(thread).Version
	b.sees(".question h2", "RATE-2 has to drop the table")
	b.sees(".node.here", "Ticket Agents")
	b.shot("guest-view")
	assert.Empty(t, b.offers())
	assert.Zero(t, eval[int](b,
		`document.querySelectorAll("form.answer :enabled:not(fieldset, option)").length`))
	assert.Zero(t, eval[int](b, `document.querySelectorAll(".node.lit").length`),
		"nowhere to send it to")
	for selector, why := range map[string]string{
		"[data-act=pause]": "pause it", "[data-act=end]": "end it",
		"form.answer [type=submit]": "answer", ".claim": "answer",
	} {
		assert.Equal(t, "Your token does not let you "+why+".",
			eval[string](b, "document.querySelector(`"+selector+"`).title"), selector)
	}
	b.sees(".question .barred", "does not let you answer")
	for _, key := range []string{"\x1b", "p"} {
		b.do(chromedp.KeyEvent(key))
		b.told(false, "Your token does not let you pause it.")
		assert.False(t, eval[bool](b, `Boolean(document.querySelector("dialog"))`))
	}
	b.click(".node[data-key=discoveryOrchestrator]")
	assert.True(t, eval[bool](b, `document.querySelector(".routed").hidden`))
	b.do(chromedp.KeyEvent("?"))
	b.sees("dialog", "a step back and forward in its history")
	assert.NotContains(t, eval[string](b, `document.querySelector("dialog").textContent`),
		"pause the thread")
	assert.Equal(t, before, d.thread(thread).Version)
	b.do(chromedp.KeyEvent("\x1b"), chromedp.EmulateViewport(390, 844))
	// there are no places for a guest, and no room for them
	b.wait(`document.querySelector(".top").offsetHeight === 52`)
	b.shot("guest-phone")

	// the control
	b = d.guest(web.Grant{Thread: thread, Actions: []string{"follow", "answer", "escape", "cancel"}})
	b.sees(".node.lit", "Discovery Orchestrator")
	assert.Equal(t, []string{"Pause…", "End…", "Take on", "Answer"}, b.offers())
	b.wait(
		`document.querySelector(".barred").hidden && !document.querySelector("[data-act=pause]").title`)
	b.do(chromedp.KeyEvent("\x1b"))
	b.sees("dialog", "Pause this thread")
}

// Who may pause and not answer pauses, and leaves it to others how the work goes on.
func TestAGuestWhoMayPauseOnly(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.guest(web.Grant{Thread: "offsite-june", Actions: []string{"follow", "escape"}})
	b.sees(".question h2", "Pay 300 now?")
	assert.Equal(t, []string{"Pause…"}, b.offers())
	b.do(chromedp.KeyEvent("\x1b"))
	b.sees("dialog", "Open questions make way for it, and are asked again")
	b.click("dialog button[type=submit]")
	b.sees("dialog", "Somebody else says how it goes on.")
	b.shot("guest-paused")
	b.click("dialog button")
	b.sees(".question h2", "The work is paused")
	b.sees(".log", "a token was made for guest: view, escape")
	b.sees(".log li[data-type=message]", "a call is noted, so that it counts once")
	assert.NotContains(t, eval[string](b, `document.querySelector(".log").textContent`), "digest",
		"it is for programs")
	assert.Empty(t, b.offers())
	b.do(chromedp.KeyEvent("\x1b"))
	b.told(false, "Your token does not let you answer.")
	proposal, err := d.client.PreviewPlan(t.Context(), "offsite-june", "add a boat trip", you)
	require.NoError(t, err)
	_, err = d.client.ApplyPlan(t.Context(), proposal, you)
	require.NoError(t, err)
	b.sees(".question h2", "Pay 300 now?") // as the dialog said
}

// A token for one answer offers the next question to nobody, and one for a question needs no more
// than itself in the address.
func TestAGuestWithOneAnswer(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.guest(web.Grant{Thread: "offsite-june", Actions: []string{"follow", "answer"}, Once: true})
	b.sees(".question h2", "Pay 300 now?")
	b.click(".choices label:nth-of-type(1)")
	b.click("form.answer button[type=submit]")
	b.sees(".question h2", "What shall the invitation say?")
	b.sees(".question .barred", "does not let you answer")
	assert.Empty(t, b.offers())
	b.do(chromedp.Reload())
	b.sees(".question .barred", "does not let you answer")

	open, _, err := d.client.Inbox(t.Context(), url.Values{"thread": {"offsite"}})
	require.NoError(t, err)
	b = d.guest(web.Grant{Thread: "offsite", Interrupt: open[0].ID, Actions: []string{"follow"}})
	b.sees(".solo .question h2", "How many people come?")
	b.sees(".solo .barred", "does not let you answer")
	assert.Empty(t, b.offers())
}

// Who may not say anything to a thread cannot write anything either.
func TestAGuestWhoMayNotTalk(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.base += "inspection/"
	d.client.Base += "/inspection"
	open, _, err := d.client.Inbox(t.Context(), url.Values{"thread": {"bakery"}})
	require.NoError(t, err)
	_, err = d.client.Answer(t.Context(),
		thread.Answer{Interrupt: open[0].ID, Value: json.RawMessage(`{"decision":"approve"}`),
			By: you})
	require.NoError(t, err)
	b := d.guest(web.Grant{Thread: "bakery", Actions: []string{"follow"}})
	b.sees(".pill", "Idle")
	b.wait(
		`document.querySelector(".say textarea").placeholder === "Your token does not let you say something to it."`)
	assert.Zero(t, eval[int](b, `document.querySelectorAll(".say :enabled").length`))
	b.shot("guest-idle")
	// the conversation is another's, and takes nothing from ann
	b = d.guest(web.Grant{Thread: "bakery", Actions: []string{"follow", "deliver"}, By: "ann"})
	b.sees(".pill", "Idle")
	b.wait(
		`document.querySelector(".say textarea").placeholder === "Your token does not let you say something to it."`)
	assert.Empty(t, b.offers())
	// nor does it from an operator who acts as ann
	b = d.open(d.base+"#"+strings.SplitN(d.as("ann", "t/bakery"), "#", 2)[1], "light", 1280, 860)
	b.wait(`document.querySelector(".say textarea").placeholder === "This conversation is with ` +
		you + `."`)
	assert.Equal(t, []string{"End…"}, b.offers())
	// the control
	b = d.guest(web.Grant{Thread: "bakery", Actions: []string{"follow", "deliver"}, By: you})
	b.wait(`document.querySelector(".say button:enabled")`)
	assert.Equal(t, []string{"Send"}, b.offers())
	b.write(".say textarea", "what is the rule for fish?")
	b.click(".say button")
	b.sees(".log", "Chilled fish is kept at 4 degrees or less")
}

// Where the server does not tell the rights of a token, everything is offered, and refused when it
// is tried.
func TestAGuestOfAServerThatDoesNotSay(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.guest(web.Grant{Thread: "offsite-june", Actions: []string{"follow"}})
	b.sees(".question .barred", "does not let you answer")
	eval[bool](b, `(() => {
		const real = window.fetch;
		window.fetch = (url, how) => String(url).endsWith("/v1/token") ? Promise.resolve(new Response('{"status":404,"code":"not_found"}', {status: 404})) : real(url, how);
		location.hash = "#token=" + sessionStorage.getItem("routegen.token");
		return true;
	})()`)
	b.wait(
		`document.querySelectorAll(".acts button:enabled, .question button:enabled").length === 4 && document.querySelector(".question .barred").hidden`)
	b.click(".choices label:nth-of-type(1)")
	b.click("form.answer button[type=submit]")
	b.sees(".question .refusal", "this token may not do that")
}
