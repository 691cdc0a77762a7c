package main

import (
	"slices"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFirstVisitIsSmallAndQuick(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.open(d.page, "light", 1280, 800)
	b.sees(".inbox", "How many people come?")
	b.wait(`document.querySelector(".link").dataset.state === "live"`)
	b.mu.Lock()
	loaded := b.bytes
	b.mu.Unlock()
	assert.Greater(t, loaded, 10_000.0, "it was counted")
	assert.Less(t, loaded, float64(mostBytes),
		"bytes for the page, its modules and the calls of the inbox")

	_, err := chromedp.Call(b.ctx, network.SetCacheDisabled,
		network.SetCacheDisabledParams{CacheDisabled: true})
	require.NoError(t, err)
	var paints []float64
	for range 7 { // everything is loaded anew each time
		b.do(chromedp.Reload())
		b.sees(".inbox", "How many people come?")
		paints = append(paints, eval[float64](b, `new Promise((done) => {
			const note = (all) => all.getEntriesByName("first-contentful-paint").forEach((paint) => done(paint.startTime));
			new PerformanceObserver(note).observe({type: "paint", buffered: true}); // a busy machine may have painted nothing yet
		})`))
	}
	slices.Sort(paints)
	assert.Positive(t, paints[0])
	t.Logf("first paint after %.0f ms at best, %.0f in the middle, %.0f at worst of %d visits "+
		"without a cache (aim: below %d); %.0f bytes with the inbox",
		paints[0], paints[len(paints)/2], paints[len(paints)-1], len(paints), quickly, loaded)
}

// At the width of a phone nothing is wider than it, in light and dark, and everything that can be
// pressed has a name.
func TestPhoneAndNames(t *testing.T) {
	t.Parallel()
	d := start(t)
	for look, threads := range map[string][]string{"light": {"rate-limits", "supplier"},
		"dark": {"offsite-june", "kitchen"}} {
		b := d.open(d.page, look, 390, 844)
		b.sees(".inbox", "How many people come?")
		b.fits("phone-" + look + "-inbox")
		for _, view := range []string{"threads", "stats"} {
			b.visit(view)
			b.wait(`document.querySelector(".threads .item, .tile")`)
			b.fits("phone-" + look + "-" + view)
		}
		for _, thread := range threads {
			b.visit("t/" + thread)
			b.wait(`document.querySelector(".thead h1").textContent.includes("` + thread +
				`") && document.querySelector(".question h2, .calm") && document.querySelector(".log li")`)
			b.fits("phone-" + look + "-" + thread)
			b.do(scroll(".map-card"))
			b.shot("phone-" + look + "-" + thread + "-map")
			b.do(scroll(".history"))
			b.shot("phone-" + look + "-" + thread + "-history")
		}
		b.click(".back")
		b.sees(".inbox", "How many people come?")
	}
}

// fits asserts what holds for every view.
func (b *tab) fits(name string) {
	b.Helper()
	b.shot(name)
	assert.LessOrEqual(b, eval[int](b, "document.documentElement.scrollWidth"), 390, name)
	nameless := eval[[]string](b,
		`[...document.querySelectorAll("button, a[href], input, select, textarea, [role=button]")]
		.filter((e) => e.checkVisibility() && !(e.getAttribute("aria-label") || e.labels?.length > 0 || e.textContent.trim() || e.title))
		.map((e) => e.outerHTML)`)
	assert.Empty(b, nameless, name)
	assert.Equal(b, 1, eval[int](b, `document.querySelectorAll("main").length`))
}

func TestKeyboard(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.open(d.page, "light", 1280, 800)
	b.sees(".inbox", "How many people come?")
	press := func(keys string) { b.do(chromedp.KeyEvent(keys)) }
	press("j")
	press("j")
	b.wait(`document.activeElement === document.querySelectorAll("a.item")[1]`)
	press("k")
	b.wait(`document.activeElement === document.querySelectorAll("a.item")[0]`)
	press("\r")
	b.wait(`location.hash.startsWith("#/t/") && document.querySelector(".question h2")`)
	press("?")
	b.sees("dialog", "Keyboard")
	b.shot("keys")
	press("\x1b")
	b.wait(`!document.querySelector("dialog")`)
	// g has to be followed soon, however slow this machine is
	eval[bool](b, `(() => { const now = Date.now(); Date.now = () => now; return true })()`)
	press("gs")
	b.sees(".stats", "answered")
	press("gt")
	b.sees(".threads", "offsite-june")
	b.sees(".threads", "wakes in") // for a reminder, say, which is no deadline
	press("gi")
	b.visit("t/offsite")
	b.sees(".question h2", "How many people come?")
	press("[")
	b.sees(".moment", "As it was at entry")
	press("]")
	b.wait(`document.querySelector(".moment").hidden`)
	press("p")
	b.sees("dialog", "Pause this thread")
	press("\x1b")
	b.wait(`!document.querySelector("dialog")`)
	press("a")
	b.wait(`document.activeElement.matches("form.answer textarea")`)
	b.fill("form.answer textarea", "12gs?") // text, where somebody types
	b.wait(
		`document.querySelector("form.answer textarea").value === "12gs?" && location.hash === "#/t/offsite"`)
	b.do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(2))) // with Ctrl
	b.sees(".question h2", "The mill or the lake?")
	press("t")
	b.wait(`document.documentElement.dataset.theme === "light"`)
	press("t")
	b.wait(`document.documentElement.dataset.theme === "dark"`)
	b.shot("dark-chosen")
}
