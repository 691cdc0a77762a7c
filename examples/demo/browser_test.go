package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
)

// patience is how long a test waits for what has to come. It is no measure of anything: on a
// machine that has little time for the browser only a test that fails takes so long.
const patience = 3 * time.Minute

// chromium finds a browser. Where there is none the test is skipped, but fails where
// ROUTEGEN_BROWSER says that there has to be one, as .ci/run does.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome",
		"google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const nobody = "there is no Chromium here, so nobody looked at the page. .ci/chromium " +
		"installs it on Debian."
	if os.Getenv("ROUTEGEN_BROWSER") == "required" {
		t.Fatal("ROUTEGEN_BROWSER=required, but " + nobody)
	}
	t.Skip("SKIPPED: " + nobody)
	return ""
}

// browser is one Chromium for all tests of this package, started when the first asks for it.
var browser struct {
	sync.Mutex
	//nolint:containedctx // chromedp's handle of a browser; it ends when that is gone
	ctx   context.Context
	close func()
}

// started returns the browser. Chromium crashes now and then, at its start above all: then it is
// started again.
func started(t *testing.T) context.Context {
	t.Helper()
	path := chromium(t)
	browser.Lock()
	defer browser.Unlock()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.Flag("hide-scrollbars", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	var err error
	for tries := 0; browser.ctx == nil || browser.ctx.Err() != nil; tries++ {
		require.Less(t, tries, 5, "Chromium does not start: %v", err)
		if browser.close != nil {
			browser.close()
		}
		allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, leave := chromedp.NewContext(allocated)
		//nolint:fatcontext // the last one is used
		browser.ctx, browser.close = ctx, func() { leave(); stop() }
		if err = chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
			leave()
		}
	}
	return browser.ctx
}

func TestMain(m *testing.M) {
	code := m.Run()
	if browser.close != nil {
		browser.close()
	}
	os.Exit(code)
}

// demo is a running program.
type demo struct {
	*testing.T
	page   string // its address, with the token
	base   string
	client *client.Client // of the first place
}

// start runs the program, with models that need no time to think, until the test ends. All its
// threads wait when it returns.
func start(t *testing.T, args ...string) *demo {
	t.Helper()
	d := startIn(t, t.TempDir(), "0s", args...)
	settled(t, d.client)
	return d
}

// startAt is start with models that need some time.
func startAt(t *testing.T, pace string) *demo {
	t.Helper()
	return startIn(t, t.TempDir(), pace)
}

// startIn is startAt with the threads of a folder, which is removed after the program has ended.
func startIn(t *testing.T, folder, pace string, args ...string) *demo {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	pages, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- runDemo(ctx, append(args, "-open=false", "-pace", pace, "-folder", folder),
			io.Discard, func(page string) { pages <- page })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case found := <-pages:
		base, _, _ := strings.Cut(found, "#")
		token, err := web.OpenToken(filepath.Join(folder, "token"))
		require.NoError(t, err)
		return &demo{T: t, page: found, base: base,
			client: &client.Client{Base: strings.TrimSuffix(base, "/"), Token: token}}
	case err := <-ended:
		ended <- err
		require.NoError(t, err)
		return nil
	}
}

// tab is a tab of the browser. Each has its own session, as two people have.
type tab struct {
	*testing.T
	ctx    context.Context //nolint:containedctx // chromedp's handle of a tab
	mu     sync.Mutex
	faults []string
	bytes  float64
}

// open opens an address in a new tab of some size, light or dark.
func (d *demo) open(address, look string, wide, high int64) *tab {
	d.Helper()
	ctx, cancel := chromedp.NewContext(started(d.T), chromedp.WithNewBrowserContext())
	d.Cleanup(cancel)
	b := &tab{T: d.T, ctx: ctx}
	require.NoError(d, chromedp.Listen(ctx, b.hear))
	_, err1 := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	_, err2 := chromedp.Call(ctx, cdplog.Enable, cdp.Empty{})
	scheme := &emulation.MediaFeature{Name: "prefers-color-scheme", Value: look}
	_, err3 := chromedp.Call(ctx, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{scheme}})
	_, err4 := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: toasts})
	require.NoError(d, errors.Join(err1, err2, err3, err4))
	var options []chromedp.EmulateViewportOption
	if wide < 600 {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	b.do(chromedp.EmulateViewport(wide, high, options...), chromedp.Navigate(address))
	d.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		assert.Empty(d.T, b.faults, "the page must not fail, nor break its own policy")
	})
	return b
}

// toasts keeps what the page said for a moment: who looks later than that finds it there.
const toasts = `window.toasts = [];
	new MutationObserver((all) => all.forEach((change) => change.addedNodes.forEach((e) => { if (e.matches?.(".toast")) window.toasts.push(e.className + ": " + e.textContent) })))
		.observe(document, {subtree: true, childList: true});`

// told waits until the page has said a text for a moment, and forgets it then. bad is for what went
// wrong.
func (b *tab) told(bad bool, text string) {
	b.Helper()
	class := "toast: "
	if bad {
		class = "toast bad: "
	}
	quoted, err := json.Marshal(class + text)
	require.NoError(b, err)
	b.wait(`window.toasts.some((said) => said.startsWith(` + string(quoted) + `))`)
	eval[bool](b,
		`document.querySelectorAll(".toast").forEach((t) => t.remove()) || window.toasts.splice(0).length > 0`)
}

// hear notes what goes wrong in the page, and how much it loads.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, fmt.Sprintf("%s %+v", e.ExceptionDetails.Text,
			e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			b.faults = append(b.faults, fmt.Sprintf("console: %+v", e.Args))
		}
	case *cdplog.EventEntryAdded:
		if e.Entry.Source == cdplog.EntrySourceSecurity ||
			e.Entry.Source == cdplog.EntrySourceJavascript {
			b.faults = append(b.faults, e.Entry.Text)
		}
	case *network.EventLoadingFinished:
		b.bytes += e.EncodedDataLength
	}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	require.NoError(b, chromedp.Do(ctx, actions...))
}

// eval runs an expression in the page.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(b, err, expression)
	return out
}

// wait returns when an expression is true. It looks whenever the page changes, and now and then,
// since not everything that changes tells.
func (b *tab) wait(expression string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`new Promise((done) => {
		const look = () => { try { return Boolean(`+expression+`) } catch { return false } };
		if (look()) { done(true); return }
		const all = {subtree: true, childList: true, attributes: true, characterData: true};
		const again = () => { if (look()) { eyes.disconnect(); clearInterval(clock); done(true) } };
		const eyes = new MutationObserver(again), clock = setInterval(again, 250);
		eyes.observe(document, all);
	})`, chromedp.EvalAwaitPromise))
	if err != nil {
		text, _ := chromedp.Run(b.ctx,
			chromedp.Evaluate[string](
				`location.href.replace(/token=[^&]*/, "") + "\n" + document.querySelector("dialog, main").innerText`))
		b.mu.Lock()
		defer b.mu.Unlock()
		require.NoError(b, err, "waiting for %s\n%.900s\n%v", expression, text, b.faults)
	}
}

// sees waits until an element of a selector has a text.
func (b *tab) sees(selector, text string) {
	b.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(b, err)
	b.wait(`[...document.querySelectorAll(` + "`" + selector + "`" +
		`)].some((e) => e.textContent.includes(` + string(quoted) + `))`)
}

// click clicks an element as a person does, when it is there and moves no more.
func (b *tab) click(selector string) {
	b.Helper()
	b.wait("document.querySelector(`" + selector + "`)")
	b.do(chromedp.ScrollIntoView(chromedp.CSS(selector)))
	eval[bool](b, "new Promise((done) => { const look = (was) => { const r = "+
		"document.querySelector(`"+selector+"`)?.getBoundingClientRect(), "+
		`now = JSON.stringify(r ?? ""); if (now === was) done(true); else setTimeout(look, 30, now) }; look() })`)
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

func (b *tab) write(selector, text string) {
	b.Helper()
	b.wait("document.querySelector(`" + selector + "`)")
	b.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// shot writes what is to be seen into the folder that DEMO_SHOTS names, for people to look at.
func (b *tab) shot(name string) {
	b.Helper()
	folder := os.Getenv("DEMO_SHOTS")
	if folder == "" {
		return
	}
	eval[bool](b,
		`document.querySelectorAll(".toast").forEach((t) => t.remove()) || document.fonts.ready.then(() => true)`)
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	require.NoError(b, err)
	require.NoError(b, os.MkdirAll(folder, 0o755))
	require.NoError(b, os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600))
}

// visit goes to a view of the page.
func (b *tab) visit(view string) {
	b.Helper()
	eval[string](b, `location.hash = "#/`+view+`"`)
}

func scroll(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.ScrollIntoView(chromedp.CSS(selector))
}

// fill writes a text in place of what stands in a field.
func (b *tab) fill(selector, text string) {
	b.Helper()
	b.wait("document.querySelector(`" + selector + "`)")
	eval[bool](b, "(() => { const e = document.querySelector(`"+selector+
		"`); e.value = ''; return e.dispatchEvent(new Event('input', {bubbles: true})) })()")
	b.write(selector, text)
}

// contrast is how well a colour can be told from another, as WCAG counts: 1 for none, 21 at most.
// The colours are what two shapes are filled with.
func (b *tab) contrast(one, two string) float64 {
	b.Helper()
	return eval[float64](b, "(() => { const [a, b] = [`"+one+"`, `"+two+"`].map((selector) => {"+`
		const pen = Object.assign(document.createElement("canvas"), {width: 1, height: 1}).getContext("2d");
		pen.fillStyle = getComputedStyle(document.querySelector(selector)).fill;
		pen.fillRect(0, 0, 1, 1);
		const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
	}); return Math.max(a / b, b / a) })()`)
}
