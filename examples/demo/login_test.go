package main

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// People sign in at the page with their accounts. What they do stands in the history as theirs, and
// each is offered what their groups allow.
func TestSignInWithAnAccount(t *testing.T) {
	t.Parallel()
	d := start(t, "-login")
	b := d.open(d.page, "light", 1440, 1000)
	// arrives waits for an element of another page: what waits in the one that is left ends with it
	arrives := func(selector string) {
		t.Helper()
		require.Eventually(t, func() bool {
			there, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](
				"document.querySelector(`"+selector+"`) !== null"))
			return err == nil && there
		}, patience, 50*time.Millisecond, selector)
	}
	signIn := func(who string) {
		b.sees(".login", "Sign in with your account")
		b.click(".login a.signin")
		arrives(`button[value="` + who + `"]`)
		b.shot("issuer")
		b.click(`button[value="` + who + `"]`)
		arrives(".top .who:not([hidden])")
		b.sees(".top .who", who)
	}
	b.sees(".login", "Sign in with your account")
	b.shot("sign-in")
	signIn("ben")
	assert.Empty(t, eval[string](b, `document.cookie`), "scripts do not see the session")
	b.shot("signed-in-ben")
	b.click(`a.item[data-thread="offsite"]`)
	b.sees(".question h2", "How many people come?")
	b.shot("thread-ben")
	b.wait(`!document.querySelector(".acts button:not([disabled])")`) // he may answer, and no more
	b.write("form.answer input:not([type=hidden]), form.answer textarea", "14")
	b.click("form.answer button[type=submit]")
	b.wait(`!document.querySelector(".question")?.textContent.includes("How many people come?")`)
	answered := d.answered("offsite")
	assert.Equal(t, []string{"ben", ""}, []string{answered.By, answered.Via})

	// what a group is asked shows whom it is for, and has no form for others
	b.sees(`a.item[data-thread="supplier"] .chip`, "for the group finance")
	b.click(`a.item[data-thread="supplier"]`)
	b.sees(".question .barred", "Only the group finance may answer this.")
	b.wait(`!document.querySelector("form.answer button[type=submit]:not([disabled])")`)
	b.shot("supplier-ben")
	b.wait(`[...document.querySelectorAll(".filters .chip")].some((c) => c.textContent === "Mine" && (c.click(), true))`)
	b.wait(`!document.querySelector('a.item[data-thread="supplier"]')`)

	b.click("[data-do=leave]")
	b.sees(".login", "Sign in with your account")
	assert.Equal(t, 401, eval[int](b, `fetch("v1/token").then((r) => r.status)`), "it is over")
	signIn("anna")
	b.visit("t/offsite")
	b.wait(`document.querySelector(".acts button:not([disabled])")`)
	b.shot("thread-anna")
	b.wait(`[...document.querySelectorAll(".filters .chip")].some((c) => c.textContent === "Mine" && (c.click(), true))`)
	b.click(`a.item[data-thread="supplier"]`) // hers, by her group
	b.sees(".question .for", "for the group finance")
	b.wait(`document.querySelector("form.answer button[type=submit]:not([disabled])")`)
	b.shot("supplier-anna")
}
