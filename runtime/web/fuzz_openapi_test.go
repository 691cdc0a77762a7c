package web_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/agui"
	"github.com/routegen/routegen/runtime/web/control"
	"github.com/routegen/routegen/runtime/web/socket"
	"github.com/routegen/routegen/runtime/workflow"
)

// foreign stands in all that a thread says and asks which no guest has a token for.
const foreign = "FOREIGN-CANARY-of-another-thread"

// fuzzed is an operation of the document.
type fuzzed struct {
	id, method, path string
	row              map[string]any
}

// tried is a caller, and what they may not see.
type tried struct {
	name, token  string
	headers      []string
	guest, reads bool // holds a capability token; has inspect
}

// fuzz sends requests that it makes from the document of a server, and writes down what is wrong
// with the replies.
type fuzz struct {
	*rig
	maker
	base    string // of the server that is tried
	ops     []fuzzed
	callers []tried
	mine    map[string][]string // values of path parameters
	other   map[string][]string // of the thread that no guest has a token for
	before  int64               // its version
	sent    map[string]int      // by operation, those that it took
	faults  []string
}

func newFuzz(t *testing.T, seed uint64) *fuzz {
	t.Helper()
	m, err := workflow.New(routes.New(routes.UnimplementedHandlers{}), workflow.Config{})
	require.NoError(t, err)
	talk, tokens := leaky("leaky"), userTokens(t)
	secret := thread.Func("secret", func(ctx context.Context, _ string) (string, error) {
		if err := thread.Say(ctx, foreign, foreign); err != nil {
			return "", err
		}
		if _, err := thread.Do(ctx, "do", func(context.Context, string) (string, error) {
			return canary, nil
		}); err != nil {
			return "", err
		}
		return thread.Ask[string](ctx, "q", thread.Question{Text: foreign, Plain: thread.PlainText})
	})
	r := newRig(t, "sqlite", web.Config{
		Programs:     map[string]web.Program{"ask": {}, "leaky": {}},
		Authenticate: web.FirstOf(tokens.Authenticate, people(t)), Timeout: 20 * time.Second,
		Conversation: &chat.Conversation{Machine: talk},
		Doors: []web.Door{socket.Door(), agui.Door(), control.Plans(), control.Reroutes(m),
			tokens.Operations()},
	}, talk, secret, forFinance())
	r.users = tokens
	f := &fuzz{rig: r, base: r.http.URL, sent: map[string]int{}, maker: maker{
		rng: rand.New(rand.NewPCG(seed, seed))}}
	f.schemas = r.contract.doc["components"].(map[string]any)["schemas"].(map[string]any)
	for path, item := range r.contract.paths {
		for method, row := range item {
			op := row.(map[string]any)
			f.ops = append(f.ops, fuzzed{op["operationId"].(string), strings.ToUpper(method), path,
				op})
		}
	}
	slices.SortFunc(f.ops, func(a, b fuzzed) int { return cmp.Compare(a.id, b.id) })
	return f
}

// prepare makes threads and every kind of caller anew.
func (f *fuzz) prepare(n int) {
	f.Helper()
	machine := []string{"leaky", "leaky", "leaky", "paid", "pair"}[n%5]
	input := []string{`"fail"`, `"ask"`, `"fail"`, `""`, `""`}[n%5]
	th, other := f.start(machine, input), f.start("secret", `""`)
	open := func(t web.Thread) (ids []string) {
		for _, i := range t.Open {
			ids = append(ids, i.ID)
		}
		return ids
	}
	all := jsonOf(everyRight)
	grant := func(id, more, actions string) web.Grant {
		return f.grant(id, fmt.Sprintf(`{"actions":%s,"by":"ann","expires":%d%s}`, actions,
			f.soon(), more))
	}
	spare := func(id string) []string { return []string{grant(id, "", all).ID} }
	f.mine = map[string][]string{"thread": {th.ID}, "interrupt": open(th), "grant": spare(th.ID),
		"machine": {"ask", "leaky"}, "seq": {"1", "2", "3"}}
	f.other = map[string][]string{"thread": {other.ID}, "interrupt": open(other),
		"grant": spare(other.ID)}
	f.before = f.settled(other.ID).Version
	f.callers = []tried{{name: "operator", token: operator, reads: true}, {name: "none"},
		{name: "wrong", token: "rg_eA.wrong"}, {name: "user token", reads: true,
			token: f.userToken(everyRight...).Token}}
	guest := func(name, token string, reads bool) {
		f.callers = append(f.callers, tried{name: "guest " + name, token: token, guest: true,
			reads: reads})
	}
	for _, right := range append([]string{"none", "all", "finance", "follow,answer"},
		everyRight...) {
		f.callers = append(f.callers, tried{name: "person " + right, headers: as("mia", right),
			reads: right == "all" || right == "inspect"})
	}
	for _, right := range everyRight {
		guest(right, grant(th.ID, "", jsonOf([]string{right})).Token, right == "inspect")
	}
	guest("all", grant(th.ID, "", all).Token, true)
	guest("chats", grant(th.ID, "", `["follow","deliver"]`).Token, false)
	guest("once", grant(th.ID, `,"once":true`, `["follow","answer"]`).Token, false)
	if ids := open(th); len(ids) > 0 {
		guest("bound", grant(th.ID, `,"interrupt":"`+ids[0]+`"`, `["follow","answer"]`).Token, false)
	}
}

// run sends requests.
func (f *fuzz) run(requests int) []string {
	f.Helper()
	const each = 60 // with the same threads
	for n := range requests {
		if n%each == 0 {
			f.prepare(n / each)
		}
		who := pick(&f.maker, f.callers)
		if f.chance(20) {
			who = f.callers[0] // the operator, who may do the most
		}
		f.send(n, &f.ops[(n+f.rng.IntN(2))%len(f.ops)], &who)
		if len(f.faults) > 4 {
			break
		}
	}
	return f.faults
}

// parameter is a value for a parameter of a path or a query: one that means something to the
// caller, another's, or an odd one. Only guests are given what belongs to the thread that no guest
// may change.
func (f *fuzz) parameter(name string, who *tried) string {
	switch known := f.mine[name]; {
	case who.guest && len(f.other[name]) > 0 && f.chance(30):
		return pick(&f.maker, f.other[name])
	case len(known) > 0 && f.chance(85):
		return pick(&f.maker, known)
	case f.chance(50):
		return pick(&f.maker, f.words)
	}
	return pick(&f.maker, odd)
}

// request makes one for an operation.
func (f *fuzz) request(ctx context.Context, op *fuzzed, who *tried) (*http.Request, string) {
	f.words = slices.Concat([]string{"ann", "mia", "follow", "x", "group:finance", "operator",
		"ask", "leaky", "yes", "modify", "retry", "skip", "abort"}, f.mine["thread"],
		f.mine["interrupt"])
	if who.guest {
		f.words = slices.Concat(f.words, f.other["thread"], f.other["interrupt"])
	}
	path, query, key := op.path, url.Values{}, ""
	parameters, _ := op.row["parameters"].([]any)
	for _, p := range parameters {
		p := p.(map[string]any)
		name := p["name"].(string)
		switch {
		case p["in"] == "path":
			value := url.PathEscape(f.parameter(name, who))
			path = strings.Replace(path, "{"+name+"}", cmp.Or(strings.ReplaceAll(value, ".", "%2E"),
				"%20"), 1)
		case p["in"] == "header" && f.chance(40):
			key = pick(&f.maker, []string{"k1", "k2", "k3", "key " + who.name})
		case p["in"] == "query" && (p["required"] == true || f.chance(35)):
			value := f.parameter(name, who)
			if example, is := p["example"]; is && f.chance(40) {
				value = strings.Trim(fmt.Sprint(example), "[]")
			}
			query.Set(name, value)
		}
	}
	if f.chance(3) {
		query.Set("more", "1")
	}
	body := ""
	if form, _ := op.row["requestBody"].(map[string]any); form != nil {
		content := form["content"].(map[string]any)["application/json"].(map[string]any)
		body = f.body(content["schema"].(map[string]any))
	}
	target := f.base + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, op.method, target, strings.NewReader(body))
	require.NoError(f, err)
	if who.token != "" {
		req.Header.Set("Authorization", "Bearer "+who.token)
	}
	for n := 0; n < len(who.headers); n += 2 {
		req.Header.Set(who.headers[n], who.headers[n+1])
	}
	if body != "" && !f.chance(2) {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return req, body
}

// send sends one request and judges what comes of it.
func (f *fuzz) send(n int, op *fuzzed, who *tried) {
	f.Helper()
	responses := op.row["responses"].(map[string]any)
	streams := strings.Contains(jsonOf(responses), "text/event-stream")
	patience := time.Minute
	if streams {
		patience = 200 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(f.Context(), patience)
	defer cancel()
	req, sent := f.request(ctx, op, who)
	fault := func(format string, args ...any) {
		f.faults = append(f.faults, fmt.Sprintf("request %d, %s by %s: %s %s %.300q: ", n, op.id,
			who.name, req.Method, req.URL.RequestURI(), sent)+fmt.Sprintf(format, args...))
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		if !streams || ctx.Err() == nil {
			fault("no reply: %v", err)
		}
		return
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil && !streams {
		fault("half a reply: %v", err)
	}
	if why := f.judge(responses, res, body); why != "" {
		fault("%d %.300q: %s", res.StatusCode, body, why)
	}
	if res.StatusCode < http.StatusBadRequest {
		f.sent[op.id]++
	}
	if !who.reads && bytes.Contains(body, []byte(canary)) {
		fault("it tells the canary: %s", body)
	}
	if !who.guest {
		return
	}
	if bytes.Contains(body, []byte(foreign)) {
		fault("it tells of another thread: %s", body)
	}
	th, err := f.engine.Thread(f.Context(), f.other["thread"][0])
	require.NoError(f, err)
	if th.Version != f.before {
		fault("another thread is changed")
		f.before = th.Version
	}
}

// judge returns what the document does not allow in a reply, or "".
func (f *fuzz) judge(responses map[string]any, res *http.Response, body []byte) string {
	status := strconv.Itoa(res.StatusCode)
	if res.StatusCode >= http.StatusInternalServerError {
		return "the server failed"
	}
	row, known := responses[status].(map[string]any)
	if !known {
		row, known = responses[status[:1]+"XX"].(map[string]any)
	}
	if !known {
		return "the document has no such status"
	}
	if ref, is := row["$ref"].(string); is {
		all := f.contract.doc["components"].(map[string]any)["responses"].(map[string]any)
		row, _ = all[ref[strings.LastIndexByte(ref, '/')+1:]].(map[string]any)
	}
	content, _ := row["content"].(map[string]any)
	media, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	form, known := content[media].(map[string]any)
	switch {
	case content == nil && len(body) == 0:
		return ""
	case content == nil:
		return "the document has no body there"
	case !known:
		return "the document has no body of type " + strconv.Quote(media)
	}
	texts := [][]byte{body}
	if media == "text/event-stream" {
		texts = nil
		events := strings.Split(string(body), "\n\n")
		for _, event := range events[:len(events)-1] { // the last is not there as a whole
			for line := range strings.SplitSeq(event, "\n") {
				if data, is := strings.CutPrefix(line, "data: "); is {
					texts = append(texts, []byte(data))
				}
			}
		}
	}
	ref, _ := form["schema"].(map[string]any)["$ref"].(string)
	schema, err := f.contract.c.Compile("openapi.json" + ref)
	require.NoError(f, err)
	for _, text := range texts {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = schema.Validate(v)
		}
		if err != nil {
			return err.Error()
		}
	}
	return ""
}

// fuzzSeed is that of ROUTEGEN_SEED, or 1: the same requests each time, but for ids and times.
func fuzzSeed(t *testing.T) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("ROUTEGEN_SEED"), "1"), 10, 64)
	require.NoError(t, err)
	return seed
}

// The server keeps its document whatever it is sent and by whom: it never fails, tells no guest of
// what is not theirs, lets them change nothing of it, and works as before afterwards.
func TestServerKeepsItsDocument(t *testing.T) {
	t.Parallel()
	seed := fuzzSeed(t)
	t.Logf("ROUTEGEN_SEED=%d, %d requests", seed, fuzzRequests)
	f := newFuzz(t, seed)
	assert.Empty(t, f.run(fuzzRequests), "ROUTEGEN_SEED=%d", seed)
	assert.NotContains(t, f.logs.String(), "web defect")
	assert.NotContains(t, f.logs.String(), "panic")
	assert.Greater(t, len(f.sent), len(f.ops)/2, "too few operations took a request: %v",
		slices.Sorted(maps.Keys(f.sent)))
	th := f.start("ask", `"x"`)
	f.rig.try(operator, http.MethodPost, "/v1/threads/"+th.ID+"/answer", `{"value":{"ok":true}}`).
		is(200)
	assert.Equal(t, thread.StatusDone, f.settled(th.ID).Status)
}

// The control: what a broken server does is found.
func TestFuzzFindsABrokenServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		breaks func(f *fuzz, w http.ResponseWriter, r *http.Request, next http.Handler)
		says   string
	}{
		"a status": {func(_ *fuzz, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodDelete {
				w.WriteHeader(http.StatusAccepted)
				return
			}
			next.ServeHTTP(w, r)
		}, "no such status"},
		"a failure": {func(_ *fuzz, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if strings.HasSuffix(r.URL.Path, "/claim") {
				http.Error(w, "x", http.StatusBadGateway)
				return
			}
			next.ServeHTTP(w, r)
		}, "the server failed"},
		"a field": {func(_ *fuzz, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.URL.Path == "/v1/token" {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"id":"","thread":"","actions":[],"expires":0,"more":1}`)
				return
			}
			next.ServeHTTP(w, r)
		}, "additional properties 'more' not allowed"},
		"a canary": {func(f *fuzz, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodGet && strings.Contains(r.URL.Path, f.mine["thread"][0]) {
				r.Header.Set("Authorization", "Bearer "+operator)
			}
			next.ServeHTTP(w, r)
		}, "it tells the canary"},
		"another thread": {func(f *fuzz, w http.ResponseWriter, r *http.Request,
			next http.Handler) {
			if r.Method == http.MethodGet && strings.Contains(r.URL.Path, f.other["thread"][0]) {
				r.Header.Set("Authorization", "Bearer "+operator)
			}
			next.ServeHTTP(w, r)
		}, "it tells of another thread"},
		"a change": {func(f *fuzz, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if strings.HasSuffix(r.URL.Path, "/escape") {
				_, _ = f.engine.Change(r.Context(), f.other["thread"][0],
					func(c *thread.Change) error {
						c.Add(thread.Entry{Type: thread.EntryMessage, Name: "x",
							Value: []byte(`1`)})
						return nil
					})
			}
			next.ServeHTTP(w, r)
		}, "another thread is changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFuzz(t, 1)
			broken := httptest.NewServer(http.HandlerFunc(
				func(w http.ResponseWriter, r *http.Request) { c.breaks(f, w, r, f.server) }))
			t.Cleanup(broken.Close)
			f.base = broken.URL
			assert.Contains(t, strings.Join(f.run(1000), "\n"), c.says)
		})
	}
}
