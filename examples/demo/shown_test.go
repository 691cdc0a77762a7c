package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hiding are signs that nobody sees, and that make a text look like another one.
const hiding = "pay\u202Egnp.\u202C \u2066a\u2069 \u200Eb\u200Fc \x1b[31md\x07 \u009be " +
	"\u200Bf\uFEFFg \u00ADh\u2028i\U000E0041"

// shownAs is what the page makes of them.
const shownAs = `pay\u202egnp.\u202c \u2066a\u2069 \u200eb\u200fc \u001b[31md\u0007 \u009be \u200bf\ufeffg \u00adh\u2028i\u{e0041}`

// plain is a text that stays as it is: its joiners hold letters and pictures together.
const plain = "\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645 \U0001F469\u200D\U0001F680"

// raw returns the texts and attributes of the page that have such signs in them.
func (b *tab) raw() []string {
	b.Helper()
	return eval[[]string](b, `(() => {
		const hides = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\udb40/, out = [document.title];
		const all = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
		for (let at = all.currentNode; at; at = all.nextNode()) {
			if (at.nodeType === Node.TEXT_NODE) out.push(at.data); else for (const {value} of at.attributes) out.push(value);
		}
		return out.filter((text) => hides.test(text));
	})()`)
}

// What turns letters around, steers a terminal or hides is shown as its escape, wherever a text
// comes from; what somebody types stays as typed.
func TestHidingSignsAreShown(t *testing.T) {
	t.Parallel()
	d := start(t)
	made, err := d.client.Start(t.Context(), "supplier", "", plain+" "+hiding, "anna", "")
	require.NoError(t, err)
	b := d.open(d.page, "light", 1280, 900)
	b.sees(".inbox", plain+" "+shownAs)
	assert.Empty(t, b.raw())
	b.visit("t/" + made.ID)
	b.sees(".question h2", plain+" "+shownAs)
	b.sees(".thead .meta", "anna")
	b.wait(
		`document.querySelector("article.question").getAttribute("aria-label").includes("\\u202e")`)
	b.sees(".log", shownAs[:20])
	b.click(`.log li[data-type=entered] button`)
	b.sees(".then-detail pre", `\u202e`)
	b.shot("hiding")
	assert.Empty(t, b.raw())

	_, err = d.client.Escape(t.Context(), made.ID, "now", "anna", hiding)
	require.NoError(t, err)
	b.sees(".pill", "Paused")
	b.do(chromedp.KeyEvent("p"))
	b.sees("dialog", "anna: "+shownAs)
	assert.Empty(t, b.raw())
	b.visit("threads")
	b.do(chromedp.KeyEvent("\x1b"))
	b.sees(".threads", made.ID)
	assert.Empty(t, b.raw())

	b.visit("t/offsite")
	b.sees(".question h2", "How many people come?")
	typed := plain + " a\u202Eb\n\tc\x1b[m"
	quoted, err := json.Marshal(typed)
	require.NoError(t, err)
	eval[bool](b, `(() => { const e = document.querySelector("form.answer textarea"); e.value = `+
		string(quoted)+`; return e.dispatchEvent(new Event("input", {bubbles: true})) })()`)
	assert.Equal(t, typed, eval[string](b, `document.querySelector("form.answer textarea").value`))
	b.click("form.answer button[type=submit]")
	b.sees(".log", `“How many people come?”: `+plain+" a\\u202eb  c\\u001b[m")
	assert.Empty(t, b.raw())
	var sent string
	require.NoError(t, json.Unmarshal(d.answered("offsite").Value, &sent))
	assert.Equal(t, typed, strings.TrimSpace(sent))

	eval[string](b, `document.querySelector("main").title = "a\u202Eb"`)
	assert.Equal(t, []string{"a\u202Eb"}, b.raw(), "the check can lose")
}
