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
	b := d.guest(web.Grant{Thread: thread, Actions: []string{"follow", "inspect"}})
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
	b = d.guest(web.Grant{Thread: thread,
		Actions: []string{"follow", "inspect", "answer", "escape", "cancel"}})
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
	b := d.guest(web.Grant{Thread: "offsite-june",
		Actions: []string{"follow", "inspect", "escape"}})
	b.sees(".question h2", "Pay 300 now?")
	assert.Equal(t, []string{"Pause…"}, b.offers())
	b.do(chromedp.KeyEvent("\x1b"))
	b.sees("dialog", "Open questions make way for it, and are asked again")
	b.click("dialog button[type=submit]")
	b.sees("dialog", "Somebody else says how it goes on.")
	b.shot("guest-paused")
	b.click("dialog button")
	b.sees(".question h2", "The work is paused")
	b.sees(".log", "a token was made for guest: follow, inspect, escape")
	b.sees(".log li[data-type=message]", "a call is noted, so that it counts once")
	assert.NotContains(t, eval[string](b, `document.querySelector(".log").textContent`), "digest",
		"it is for programs")
	assert.Empty(t, b.offers())
	b.do(chromedp.KeyEvent("\x1b"))
	b.told(false, "Your token does not let you decide what the engine asks.")
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
	b := d.guest(web.Grant{Thread: "offsite-june",
		Actions: []string{"follow", "answer"}, Once: true})
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
	b := d.guest(web.Grant{Thread: "bakery", Actions: []string{"follow", "inspect"}})
	b.sees(".pill", "Idle")
	b.wait(
		`document.querySelector(".say textarea").placeholder === "Your token does not let you say something to it."`)
	assert.Zero(t, eval[int](b, `document.querySelectorAll(".say :enabled").length`))
	b.shot("guest-idle")
	// the conversation is another's, and takes nothing from ann
	b = d.guest(web.Grant{Thread: "bakery",
		Actions: []string{"follow", "inspect", "deliver"}, By: "ann"})
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
	b = d.guest(web.Grant{Thread: "bakery",
		Actions: []string{"follow", "inspect", "deliver"}, By: you})
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
	b := d.guest(web.Grant{Thread: "offsite-june", Actions: []string{"follow", "inspect"}})
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

// A guest who follows sees what is asked and what was said, and nothing of the inside: no map, no
// moments, no tokens, no error texts.
func TestAGuestWhoFollows(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.guest(web.Grant{Thread: "rate-limits-2", Actions: []string{"follow", "answer"}})
	b.sees(".question h2", "RATE-2 has to drop the table")
	b.wait(`document.querySelectorAll(".log li").length > 0`)
	b.shot("guest-follows")
	text := eval[string](b, `document.querySelector(".detail").textContent`)
	assert.NotContains(t, text, "a token was made")
	assert.Zero(t, eval[int](b, `document.querySelectorAll(".node").length`))
	assert.False(t, eval[bool](b, `document.querySelector(".slider").checkVisibility()`))
	assert.Contains(t, b.offers(), "Answer")
}

// Links of strangers do nothing to an operator who is signed in: what is no id leads to no call,
// and another token is taken only when its person says so.
func TestLinksOfStrangers(t *testing.T) {
	t.Parallel()
	d := start(t)
	made, err := d.client.Grant(t.Context(), web.Grant{Thread: "offsite",
		Actions: []string{"follow"}, By: "mallory", Expires: time.Now().Add(time.Hour).UnixMilli()})
	require.NoError(t, err)
	b := d.open(d.as(you, "inbox"), "light", 1280, 860)
	b.sees(".item", "?")
	eval[bool](b, `(() => {
		window.wrong = []; window.asked = []; window.paths = [];
		addEventListener("error", (e) => wrong.push(e.message));
		addEventListener("unhandledrejection", (e) => wrong.push(String(e.reason)));
		window.confirm = (text) => { asked.push(text); return window.yes === true; };
		const real = window.fetch;
		window.fetch = (url, how) => { paths.push(String(url)); return real(url, how); };
		return true;
	})()`)
	for _, hash := range []string{"#/t/%", "#/t/..%2Fstats", "#/t/%2e%2e%2fstats", "#/t/a%2Fb",
		"#/t/" + strings.Repeat("x", 300), "#/%/%"} {
		eval[bool](b, `(() => { location.hash = `+jsText(hash)+`; return true; })()`)
		b.wait(`document.querySelector(".shell").dataset.view === "inbox"`)
	}
	token := `sessionStorage.getItem("routegen.token")`
	before := eval[string](b, token)
	eval[bool](b, `(() => { location.hash = "#token=`+made.Token+`&by=mallory"; return true; })()`)
	b.wait(`window.asked.length === 1`)
	assert.Contains(t, eval[string](b, `window.asked[0]`), "You are signed in as "+you)
	assert.Equal(t, before, eval[string](b, token), "it was not taken")
	assert.NotContains(t, eval[string](b, `location.hash`), "token")
	assert.Empty(t, eval[[]string](b, `window.wrong`), "no uncaught error")
	assert.Empty(t, eval[[]string](b, `window.paths.filter((p) => p.includes("stats"))`))
	eval[bool](b, `(() => { window.yes = true; location.hash = "#token=`+made.Token+`"; return true; })()`)
	b.wait(token + ` === "` + made.Token + `"`) // the control: who says yes follows it
}

// jsText is a text as JavaScript writes it.
func jsText(text string) string {
	data, _ := json.Marshal(text) //nolint:errchkjson // a text
	return string(data)
}
