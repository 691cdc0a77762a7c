package main

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lose cuts the connection under the reply of the next call whose address ends so: the server has
// done it then, and the page does not hear of it. What it returns waits until that has happened.
func (b *tab) lose(end string) (lost func()) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	b.Cleanup(cancel)
	replied, cut := make(chan fetch.RequestID, 1), make(chan error, 1)
	require.NoError(b, chromedp.Listen(ctx, func(event any) {
		if e, ok := event.(*fetch.EventRequestPaused); ok {
			select {
			case replied <- e.RequestID:
			default: // the first one is enough
			}
		}
	}))
	_, err := chromedp.Call(ctx, fetch.Enable,
		fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*" + end,
			RequestStage: fetch.RequestStageResponse}}})
	require.NoError(b, err)
	go func() {
		select {
		case id := <-replied:
			_, err := chromedp.Call(ctx, fetch.FailRequest,
				fetch.FailRequestParams{RequestID: id,
					ErrorReason: network.ErrorReasonConnectionClosed})
			if err == nil {
				_, err = chromedp.Call(ctx, fetch.Disable, cdp.Empty{})
			}
			cut <- err
		case <-ctx.Done():
			cut <- ctx.Err()
		}
	}()
	return func() {
		b.Helper()
		require.NoError(b, <-cut)
		cancel()
	}
}

// threads is how many there are.
func (b *tab) threads() int {
	b.Helper()
	return eval[int](b,
		`fetch("v1/threads?limit=500", {headers: {Authorization: "Bearer " + sessionStorage.getItem("routegen.token")}})
		.then((res) => res.json()).then((page) => page.items.length)`)
}

// A reply that was lost is asked for again by the same button: what it is about happens once. What
// was edited meanwhile is something else.
func TestLostReplyOfAStart(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.open(d.page, "light", 1280, 800)
	b.visit("threads")
	b.sees(".threads", "offsite-june")
	before := b.threads()
	fill := func(goal string) {
		b.click("[data-act=start]")
		b.wait(`document.querySelector("dialog textarea").value === "Prepare the offsite in May"`)
		b.fill("dialog textarea", goal)
		lost := b.lose("/v1/threads")
		b.click("dialog button[type=submit]")
		lost()
		b.sees("dialog .refusal", "cannot be reached")
	}
	fill("An offsite in July")
	assert.Equal(t, before+1, b.threads(), "the server has started it")
	b.shot("start-lost")
	b.click("dialog button[type=submit]")
	b.wait(`!document.querySelector("dialog")`)
	b.sees(".goal", "An offsite in July")
	assert.Equal(t, before+1, b.threads(), "and not again")

	b.visit("threads")
	fill("An offsite in August")
	b.fill("dialog textarea", "An offsite in autumn")
	b.click("dialog button[type=submit]")
	b.wait(`!document.querySelector("dialog")`)
	b.sees(".goal", "An offsite in autumn")
	assert.Equal(t, before+3, b.threads(), "another goal is another thread")
}

func TestLostReplyOfAMessage(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.client.Base += "/inspection"
	b := d.open(d.base+"inspection/#"+strings.SplitN(d.page, "#", 2)[1], "light", 1280, 900)
	b.visit("t/rules")
	b.sees(".pill", "Idle")
	turns := d.thread("rules").Turn
	say := func(text string) {
		b.fill(".say textarea", text)
		lost := b.lose("/messages")
		b.click(".say button")
		lost()
		b.told(true, "The server cannot be reached")
	}
	again := func(turn int) {
		b.sees(".pill", "Idle")
		b.click(".say button")
		b.wait(`document.querySelector(".say textarea").value === ""`)
		assert.Equal(t, turn, d.thread("rules").Turn)
		assert.Zero(t, eval[int](b, `window.toasts.filter((said) => said.includes("bad")).length`))
	}
	say("what is the rule for fish?")
	again(turns + 1)
	say("what is the rule for meat?")
	b.sees(".pill", "Idle")
	b.fill(".say textarea", "what is the rule for milk?")
	again(turns + 3)
	b.fill(".say textarea", "what is the rule for milk?") // the same words, said once more
	again(turns + 4)
}

func TestLostRepliesOfDialogs(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.open(d.page, "light", 1280, 900)
	b.visit("t/offsite")
	b.sees(".question h2", "How many people come?")
	before := b.threads()
	b.click("[data-act=fork]")
	lost := b.lose("/fork")
	b.click("dialog button[type=submit]")
	lost()
	b.sees("dialog .refusal", "cannot be reached")
	b.click("dialog button[type=submit]")
	b.sees(".thead .meta", "fork of offsite")
	b.wait(`!document.querySelector("dialog")`)
	assert.Equal(t, before+1, b.threads(), "it was forked once")
	fork := eval[string](b, `location.hash.slice("#/t/".length)`)

	b.click("[data-act=pause]")
	lost = b.lose("/escape")
	b.click("dialog button[type=submit]")
	lost()
	b.sees("dialog .refusal", "cannot be reached")
	// another request: under the key of the first it would be refused
	b.write("dialog textarea", "one more thing")
	b.click("dialog button[type=submit]")
	b.sees("dialog h2", "Paused. How shall it go on?")

	lost = b.lose("/answer")
	b.click("[data-act=continue]")
	lost()
	b.sees("dialog .refusal", "cannot be reached")
	// it went on already: the same answer again is told so, and not that somebody was faster
	b.click("[data-act=continue]")
	b.wait(`!document.querySelector("dialog")`)
	assert.False(t, d.thread(fork).Paused)
}
