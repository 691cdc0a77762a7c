package main

import (
	"context"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
	"github.com/routegen/routegen/runtime/workflow"
)

// as returns the page for another person, at a view.
func (d *demo) as(by, view string) string {
	return strings.Replace(d.page, "&by="+you, "&by="+by+"&at="+view, 1)
}

// holdAnswers sends the form of a page, whose request goes out when window.go is called.
const holdAnswers = `(() => {
	const real = window.fetch, gate = new Promise((open) => { window.go = open });
	window.fetch = async (...args) => {
		if (String(args[0]).endsWith("/answer")) await gate;
		return real(...args);
	};
	document.querySelector("form.answer").requestSubmit();
	return true;
})()`

func TestTwoTabsRaceForOneAnswer(t *testing.T) {
	t.Parallel()
	d := start(t)
	ann, bob := d.open(d.as("ann", "t/offsite"), "light", 1280, 800), d.open(
		d.as("bob", "t/offsite"), "light", 1280, 800)
	for said, b := range map[string]*tab{"12": ann, "15": bob} {
		b.sees(".question h2", "How many people come?")
		b.write("form.answer textarea", said)
		// Both have pressed the button before either request goes out: otherwise the stream would
		// close the form of the slower one.
		eval[bool](b, holdAnswers)
	}
	released := make(chan error, 2)
	for _, b := range []*tab{ann, bob} {
		go func() {
			_, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`window.go() || true`))
			released <- err
		}()
	}
	require.NoError(t, <-released)
	require.NoError(t, <-released)
	ann.sees(".plan .done", "find a date")
	bob.sees(".plan .done", "find a date")
	answered := d.answered("offsite")
	winner, loser, draft := ann, bob, "15"
	if answered.By == "bob" {
		winner, loser, draft = bob, ann, "12"
	}
	loser.sees(".question", "was faster")
	loser.sees(".question .ended", answered.By+" answered")
	assert.Equal(t, draft, eval[string](loser,
		`document.querySelector(".question textarea").value`), "what was typed is still there")
	loser.shot("race-lost")
	winner.sees(".question h2", "The mill or the lake?")
	loser.sees(".question h2", "The mill or the lake?")
	n := 0
	for _, row := range d.rows("offsite") {
		if row.Type == thread.EntryAnswered {
			n++
		}
	}
	assert.Equal(t, 1, n)
}

// TestARefusalAfterTheStream holds an answer back until the stream has closed its question. The
// refusal that comes then is shown all the same, beside what was typed.
func TestARefusalAfterTheStream(t *testing.T) {
	t.Parallel()
	d := start(t)
	bob := d.open(d.as("bob", "t/offsite"), "light", 1280, 800)
	bob.sees(".question h2", "How many people come?")
	bob.write("form.answer textarea", "15")
	eval[bool](bob, holdAnswers)
	ann := d.open(d.as("ann", "t/offsite"), "light", 1280, 800)
	ann.write("form.answer textarea", "12")
	ann.click("form.answer button[type=submit]")
	bob.sees(".question .ended", "ann answered")
	eval[bool](bob, `window.go() || true`)
	bob.sees(".question", "ann was faster")
	assert.Equal(t, "15", eval[string](bob,
		`document.querySelector(".question textarea").value`), "what was typed is still there")
}

func TestReloadWhileWaiting(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.open(d.page, "light", 1280, 800)
	b.visit("t/offsite")
	b.sees(".question h2", "How many people come?")
	b.do(chromedp.Reload())
	b.sees(".question h2", "How many people come?")
	assert.NotContains(t, eval[string](b, "location.href"), "token", "the token left the address")
	assert.Zero(t, eval[int](b, `localStorage.length - Number("routegen.theme" in localStorage)`),
		"and stays in this tab")
	b.write("form.answer textarea", "12")
	b.click("form.answer button[type=submit]")
	b.sees(".question h2", "The mill or the lake?")
	assert.JSONEq(t, `"12"`, string(d.answered("offsite").Value))
}

// What others do is there by itself, is said to those who listen, and leaves what somebody types
// alone.
func TestWhatOthersDoAppears(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.open(d.page, "light", 1280, 800)
	b.visit("t/offsite")
	b.sees(".question h2", "How many people come?")
	b.write("form.answer textarea", "about a")
	made, err := d.client.Start(t.Context(), "supplier", "", "Blue Bakery", "ann", "")
	require.NoError(t, err)
	b.sees(".inbox .item.new", "Blue Bakery")
	b.sees("[aria-live=polite]", "Blue Bakery")
	b.sees("[data-count=inbox]", "7")
	assert.Equal(t, "about a",
		eval[string](b, `document.querySelector("form.answer textarea").value`))
	_, err = d.client.Cancel(t.Context(), made.ID, "ann", "")
	require.NoError(t, err)
	b.wait(`!document.querySelector(".inbox").textContent.includes("Blue Bakery")`)

	open, _, err := d.client.Inbox(t.Context(), url.Values{"thread": {"offsite"}})
	require.NoError(t, err)
	_, err = d.client.Claim(t.Context(), open[0].ID, "ann", false)
	require.NoError(t, err)
	b.sees(".question .claim", "Take over from ann")
	_, err = d.client.Answer(t.Context(), thread.Answer{Interrupt: open[0].ID, Text: "9",
		By: "ann"})
	require.NoError(t, err)
	b.sees(".question .ended", "ann answered")
	b.sees(".question h2", "The mill or the lake?")
	assert.Equal(t, "about a",
		eval[string](b, `document.querySelector(".question textarea").value`), "a draft is kept")
	b.shot("overtaken")
}

// A thread that runs moves over the map by itself, can be paused on its way, and says what it heard
// and when. The work waits for no browser: where that was too slow to see it move, the work is done
// once more by models that take longer.
func TestJourneyMovesAndPauses(t *testing.T) {
	t.Parallel()
	var seen []string
	for _, pace := range []string{"900ms", "4s", "15s"} {
		if seen = journey(t, pace); len(seen) >= 3 {
			break
		}
	}
	assert.GreaterOrEqual(t, len(seen), 3, "%v", seen)
	assert.Contains(t, seen, "discoveryCollector")
}

// journey pauses a thread on its way, lets it go on, and returns where the page saw it.
func journey(t *testing.T, pace string) (seen []string) {
	t.Helper()
	d := startAt(t, pace)
	b := d.open(d.page, "light", 1440, 1000)
	b.wait(`document.querySelector(".link").dataset.state === "live"`)
	begin, err := workflow.Begin(
		&routes.OrchestratorRequest{Goal: "Add rate limiting to the public API",
			Phase: "DISCOVERY"})
	require.NoError(t, err)
	made, err := d.client.Start(t.Context(), begin.Machine, begin.Name, begin.Input, you, "")
	require.NoError(t, err)
	b.visit("t/" + made.ID)
	b.wait(`document.querySelector(".node.here")`)
	eval[bool](b, `(() => {
		window.seen = [];
		const note = () => document.querySelectorAll(".node.here").forEach((n) => { if (!seen.includes(n.dataset.key)) seen.push(n.dataset.key) });
		note();
		window.heard = "";
		new MutationObserver(() => { heard += document.querySelector("dialog .progress")?.textContent ?? "" }).observe(document.body, {subtree: true, childList: true});
		new MutationObserver(note).observe(document.querySelector(".map-card"), {subtree: true, attributes: true, childList: true});
		return true;
	})()`)
	b.wait(`window.seen.length >= 2 || document.querySelector(".question h2")`)
	b.click("[data-act=pause]")
	b.click("dialog button[type=submit]")
	b.wait(`window.heard.includes("Requested")`)
	b.shot("requested")
	b.sees("dialog h2", "Paused. How shall it go on?")
	b.sees(".pill", "Paused")
	b.write("dialog textarea", "keep it small")
	b.shot("paused-workflow")
	b.click("[data-act=continue]")
	b.sees(".question h2", "How shall the limit work")
	for _, row := range d.rows(made.ID) {
		assert.NotContains(t, string(row.Value)+row.Text, "keep it small",
			"continue sends no change")
	}
	return eval[[]string](b, "window.seen")
}

// door is an address that stays: a server behind it may go away and another one come. While there
// is none, who knocks is turned away.
type door struct {
	net.Listener
	mu sync.Mutex
	to string // where the server is; "" is nowhere
}

func newDoor(t *testing.T) *door {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	d := &door{Listener: l}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go d.pass(t.Context(), in)
		}
	}()
	return d
}

func (d *door) lead(to string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.to = to
}

// pass carries a connection to the server and back, until one of the two ends it.
func (d *door) pass(ctx context.Context, in net.Conn) {
	defer func() { _ = in.Close() }()
	d.mu.Lock()
	to := d.to
	d.mu.Unlock()
	out, err := (&net.Dialer{}).DialContext(ctx, "tcp", to)
	if err != nil {
		return
	}
	defer func() { _ = out.Close() }()
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		go func() {
			_, _ = io.Copy(way[0], way[1]) // either end may go away at any time
			ended <- struct{}{}
		}()
	}
	<-ended
}

// The server goes away and comes back: the page says so, goes on by itself, and has what happened
// meanwhile.
func TestServerGoesAndComesBack(t *testing.T) {
	t.Parallel()
	folder, front := t.TempDir(), newDoor(t)
	serve := func() (stop func(), page string) {
		ctx, cancel := context.WithCancel(context.Background())
		ended, pages := make(chan error, 1), make(chan string, 1)
		go func() {
			ended <- runDemo(ctx, []string{"-open=false", "-pace=0s", "-folder", folder},
				io.Discard,
				func(page string) { pages <- page })
		}()
		page = <-pages
		at, err := url.Parse(page)
		require.NoError(t, err)
		front.lead(at.Host)
		return func() { front.lead(""); cancel(); require.NoError(t, <-ended) }, strings.Replace(
			page, at.Host, front.Addr().String(), 1)
	}
	stop, address := serve()
	base, rest, _ := strings.Cut(address, "#token=")
	token, _, _ := strings.Cut(rest, "&")
	d := &demo{T: t, page: address, base: base,
		client: &client.Client{Base: strings.TrimSuffix(base, "/"), Token: token}}
	b := d.open(d.page, "light", 1280, 800)
	b.visit("t/offsite")
	b.sees(".question h2", "How many people come?")
	b.wait(`document.querySelector(".link").dataset.state === "live"`)
	b.write("form.answer textarea", "12")
	stop()
	b.wait(`document.querySelector(".link").dataset.state === "lost"`)
	b.click("form.answer button[type=submit]")
	b.sees(".question .refusal", "cannot be reached")
	b.shot("lost")
	stop, _ = serve()
	defer stop()
	_, err := d.client.Start(t.Context(), "supplier", "", "Green Grocer", "ann", "")
	require.NoError(t, err)
	// the browser hears it from the network; otherwise the page tries in a while
	eval[bool](b, `dispatchEvent(new Event("online"))`)
	b.wait(`document.querySelector(".link").dataset.state === "live"`)
	b.sees(".inbox", "Green Grocer")
	assert.Equal(t, "12", eval[string](b, `document.querySelector("form.answer textarea").value`))
	b.click("form.answer button[type=submit]")
	b.sees(".question h2", "The mill or the lake?")
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := d.open(d.base, "light", 1280, 800)
	b.sees("form.login", "Sign in")
	b.shot("login")
	b.write("form.login input[type=password]", "not-the-token-not-the-token-not-the-token")
	b.click("form.login button")
	b.sees("form.login .refusal", "not valid")
	assert.Empty(t, eval[string](b, `sessionStorage.getItem("routegen.token") ?? ""`))
	b.write("form.login input[type=password]", d.client.Token)
	b.write("form.login input[type=text]", "ann")
	b.click("form.login button")
	b.sees(".inbox", "How many people come?")
	b.sees(".who", "ann")
	b.click(".who")
	b.sees("form.login", "Sign in")
	assert.Empty(t, eval[string](b, `sessionStorage.getItem("routegen.token") ?? ""`))
}

// A capability token shows its thread, or its question, and nothing else.
func TestCapabilityTokens(t *testing.T) {
	t.Parallel()
	d := start(t)
	open, _, err := d.client.Inbox(t.Context(), url.Values{"thread": {"offsite"}})
	require.NoError(t, err)
	hour := time.Now().Add(time.Hour).UnixMilli()
	whole, err := d.client.Grant(t.Context(),
		web.Grant{Thread: "offsite-june",
			Actions: []string{"follow", "inspect", "answer"}, By: "guest",
			Expires: hour})
	require.NoError(t, err)
	one, err := d.client.Grant(t.Context(), web.Grant{Thread: "offsite", Interrupt: open[0].ID,
		Actions: []string{"follow", "answer"}, By: "guest", Expires: hour, Once: true})
	require.NoError(t, err)

	b := d.open(d.base+"#token="+whole.Token, "light", 1280, 800)
	b.sees(".question h2", "Pay 300 now?")
	b.wait(
		`document.querySelector(".link").dataset.state === "live" && !document.querySelector(".inbox") && document.querySelector(".tabs a").hidden`)
	b.click(".choices label:nth-of-type(1)")
	b.click("form.answer button[type=submit]")
	b.sees(".question h2", "What shall the invitation say?")
	assert.Equal(t, "guest", d.answered("offsite-june").By)

	b = d.open(d.base+"#token="+one.Token+"&interrupt="+open[0].ID, "light", 1280, 800)
	b.sees(".solo .question h2", "How many people come?")
	b.shot("single")
	b.write("form.answer textarea", "7")
	b.click("form.answer button[type=submit]")
	b.sees(".solo .ended", "guest answered")
	assert.JSONEq(t, `"7"`, string(d.answered("offsite").Value))
}

// Texts of people and models are texts, whatever they hold; and the policy would stop what slipped
// through.
func TestTextIsNeverMarkup(t *testing.T) {
	t.Parallel()
	d := start(t)
	evil := `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`
	made, err := d.client.Start(t.Context(), "supplier", "", evil, evil, "")
	require.NoError(t, err)
	b := d.open(d.page, "light", 1280, 800)
	b.sees(".inbox", evil)
	b.visit("t/" + made.ID)
	b.sees(".question h2", evil)
	b.sees(".log", "<img src=x")
	assert.Zero(t, eval[int](b,
		`document.querySelectorAll("main img, main script, .list img").length`))
	assert.NotContains(t, eval[string](b, "document.title"), "owned")
	b.mu.Lock()
	assert.Empty(t, b.faults)
	b.mu.Unlock()

	for _, way := range []string{
		`(() => { try { document.body.insertAdjacentHTML("beforeend", "<b></b>"); return false } catch { return true } })()`,
		`fetch("http://127.0.0.1:1/").then(() => false, () => true)`,
		`new Promise((done) => { const s = document.createElement("style"); s.textContent = "body{outline:9px solid}"; document.head.append(s); done(getComputedStyle(document.body).outlineWidth !== "9px") })`,
	} {
		assert.True(t, eval[bool](b, way), way)
	}
	b.mu.Lock()
	assert.NotEmpty(t, b.faults,
		"the browser tells when the policy is broken: the check of every other test can lose")
	b.faults = nil
	b.mu.Unlock()
}

const (
	mostBytes = 150_000
	quickly   = 200 // milliseconds; reported, since a machine may be busy
)
