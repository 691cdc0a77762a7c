package web_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/control"
	"github.com/routegen/routegen/runtime/web/socket"
	"github.com/routegen/routegen/runtime/web/usertoken"
	"github.com/routegen/routegen/runtime/workflow"
)

const operator = "operator-canary-0123456789abcdef0123456789"

// onBoth runs a test over a server on every store.
func onBoth(t *testing.T, play func(r *rig)) {
	t.Helper()
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			play(newRig(t, store, web.Config{}))
		})
	}
}

// rig is a server with an engine, and a caller that holds every answer to the OpenAPI document.
type rig struct {
	*testing.T
	store    *faulty
	engine   *thread.Engine
	server   *web.Server
	http     *httptest.Server
	logs     *buffer
	contract *contract
	clock    *clock            // of the server: the time of its tokens
	time     *clock            // of the engine
	users    *usertoken.Tokens // of people, where a test has them
	calls    map[string]int
	mu       sync.Mutex
}

// clock is a time that a test can move.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

// Now makes it the clock of an engine.
func (c *clock) Now() time.Time { return c.now() }

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// faulty is a store that can be told to refuse commits.
type faulty struct {
	thread.Store
	mu   sync.Mutex
	full error // of a commit that is not done
	lies error // of a commit that is done
	bad  error // of a load
	// commits wait until it is closed, as on a disk that stands still; nil: they do not
	thaw chan struct{}
}

// freeze makes commits wait until the returned function is called.
func (f *faulty) freeze() (thaw func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	stands := make(chan struct{})
	f.thaw = stands
	return sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.thaw = nil
		close(stands)
	})
}

// spoil makes every load fail.
func (f *faulty) spoil(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bad = err
}

// lie makes every commit say that it failed.
func (f *faulty) lie(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lies = err
}

func (f *faulty) Load(ctx context.Context, id string) (*thread.Thread, error) {
	f.mu.Lock()
	err := f.bad
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return f.Store.Load(ctx, id)
}

func (f *faulty) refuse(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full = err
}

func (f *faulty) Commit(ctx context.Context, changes ...*thread.Change) error {
	f.mu.Lock()
	full, lies, thaw := f.full, f.lies, f.thaw
	f.mu.Unlock()
	if thaw != nil {
		<-thaw
	}
	if full != nil {
		return full
	}
	return cmp.Or(f.Store.Commit(ctx, changes...), lies)
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// askTwo asks two questions at once.
func askTwo(ctx context.Context, _ string) ([]thread.Reply, error) {
	return thread.AskAll(ctx, thread.Question{Name: "one", Plain: thread.PlainText},
		thread.Question{Name: "two", Plain: thread.PlainText})
}

// newRig makes one with [machines], and with others that a test brings.
func newRig(t *testing.T, store string, cfg web.Config, more ...thread.Machine) *rig {
	t.Helper()
	r := &rig{T: t, store: &faulty{Store: mem.Open()}, logs: &buffer{}, clock: &clock{},
		time: &clock{}, calls: map[string]int{}}
	if store == "sqlite" {
		disk, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "threads.db"),
			sqlite.Config{})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, disk.Close()) })
		r.store.Store = disk
	}
	log := slog.New(slog.NewTextHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var err error
	r.engine, err = thread.Open(t.Context(), r.store,
		thread.Config{Log: log, Kinds: kinds(), Clock: r.time}, append(machines(), more...)...)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		assert.NoError(t, r.engine.Close(ctx))
	})
	cfg.Log, cfg.Now = log, r.clock.now
	// who looks again and again until something is there is not refused
	cfg.Rate, cfg.Burst = cmp.Or(cfg.Rate, 1e6), cmp.Or(cfg.Burst, 1e6)
	if cfg.Doors == nil {
		nodes, err := workflow.New(routes.New(routes.UnimplementedHandlers{}), workflow.Config{})
		require.NoError(t, err)
		cfg.Doors = doors(nodes)
	}
	if cfg.Conversation != nil {
		cfg.Conversation.Engine = r.engine
	}
	r.server, err = web.New(r.engine, operator, cfg)
	require.NoError(t, err)
	r.http = httptest.NewServer(r.server)
	t.Cleanup(r.http.Close)
	r.contract = newContract(r)
	return r
}

// doors are all but that of AG-UI, which needs a conversation.
func doors(m *workflow.Machine) []web.Door {
	return []web.Door{socket.Door(), control.Plans(), control.Reroutes(m)}
}

func kinds() []runtime.Kind {
	kinds := thread.DefaultKinds()
	for i := range kinds {
		if kinds[i].Name == thread.KindSystemError {
			kinds[i].Retry = nil
		}
		if kinds[i].Name == thread.KindAgentQuestion {
			kinds[i].Deadline = &runtime.Deadline{After: 24 * time.Hour, Then: "expire"}
		}
	}
	return kinds
}

// machines: ask puts one question, pair two at once, route offers a target, votes needs two voices,
// talk is a conversation, long runs until it is cut or released, bad fails.
func machines() []thread.Machine {
	approve := json.RawMessage(
		`{"type":"object","properties":{"ok":{"type":"boolean"},"n":{"type":"integer"}},"required":["ok"],"additionalProperties":false}`)
	return []thread.Machine{
		thread.Func("ask", func(ctx context.Context, in string) (json.RawMessage, error) {
			if err := thread.Say(ctx, "hello", in); err != nil {
				return nil, err
			}
			return thread.Ask[json.RawMessage](ctx, "ok",
				thread.Question{Text: "Go on?", Schema: approve,
					Payload: json.RawMessage(`{"in":"` + in + `"}`)})
		}),
		thread.Func("pair", askTwo),
		thread.Func("route", func(ctx context.Context, _ string) ([]thread.Reply, error) {
			return thread.AskAll(ctx, thread.Question{Name: "where", Targets: []string{"HERE"}})
		}),
		thread.Func("votes", func(ctx context.Context, _ string) ([]thread.Reply, error) {
			return thread.AskAll(ctx,
				thread.Question{Name: "sure", Quorum: 2, Assignees: []string{"ann", "bob", "cy"}})
		}),
		thread.Func("yes", func(ctx context.Context, _ string) (bool, error) {
			return thread.Ask[bool](ctx, "yes",
				thread.Question{Text: "Yes?", Plain: thread.PlainYesNo})
		}),
		thread.Turns("talk", func(ctx context.Context, in string) (string, error) {
			return in, thread.Say(ctx, "echo", in)
		}),
		thread.Func("many", func(ctx context.Context, n int) (int, error) {
			for i := range n {
				if err := thread.Say(ctx, fmt.Sprintf("m%d", i),
					strings.Repeat("x", 20_000_000/n)); err != nil {
					return 0, err
				}
			}
			return n, nil
		}),
		thread.TakesChanges(thread.Func("long",
			func(ctx context.Context, _ string) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			})),
		thread.Func("bad", func(context.Context, string) (string, error) {
			return "", thread.Permanent(errors.New("bad"))
		}),
	}
}

// reply is an answer of the server.
type reply struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

// problem reads a refusal.
func (a *reply) problem() web.Problem { return decode[web.Problem](a) }

func decode[T any](a *reply) T {
	a.t.Helper()
	var v T
	require.NoError(a.t, json.Unmarshal(a.body, &v), string(a.body))
	return v
}

// is asserts a status, and a code where one is given.
func (a *reply) is(status int, code ...runtime.Code) *reply {
	a.t.Helper()
	require.Equal(a.t, status, a.status, string(a.body))
	if len(code) > 0 {
		assert.Equal(a.t, code[0], a.problem().Code, string(a.body))
	}
	return a
}

// try is one request; headers are pairs.
func (r *rig) try(token, method, path, body string, headers ...string) *reply {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), method, r.http.URL+path,
		strings.NewReader(body))
	require.NoError(r, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(r, err)
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	require.NoError(r, err)
	out := &reply{t: r.T, status: res.StatusCode, header: res.Header, body: data}
	operation := r.contract.check(out, method, path)
	r.mu.Lock()
	r.calls[operation]++
	r.mu.Unlock()
	return out
}

func (r *rig) get(path string) *reply {
	r.Helper()
	return r.try(operator, http.MethodGet, path, "")
}

func (r *rig) post(path, body string, headers ...string) *reply {
	r.Helper()
	return r.try(operator, http.MethodPost, path, body, headers...)
}

// start begins a thread of a machine and returns it when it does not run.
func (r *rig) start(machine, input string) web.Thread {
	r.Helper()
	t := decode[web.Thread](
		r.post("/v1/threads", fmt.Sprintf(`{"machine":%q,"input":%s}`, machine, input)).is(201))
	return r.settled(t.ID)
}

func (r *rig) settled(id string) web.Thread {
	r.Helper()
	_, err := r.engine.Wait(r.Context(), id)
	require.NoError(r, err)
	return decode[web.Thread](r.get("/v1/threads/" + id).is(200))
}

// flood starts a thread with 20 MB in its outbox, and returns how many messages that are.
func (r *rig) flood() (id string, messages int) {
	r.Helper()
	if messages = 10_000; testing.Short() {
		messages = 2_000
	}
	return decode[web.Thread](
			r.post("/v1/threads", fmt.Sprintf(`{"machine":"many","input":%d}`, messages)).is(201)).
			ID,
		messages
}

// grant makes a capability token.
func (r *rig) grant(thread, form string) web.Grant {
	r.Helper()
	return decode[web.Grant](r.post("/v1/threads/"+thread+"/tokens", form).is(201))
}

func (r *rig) soon() int64 { return r.clock.now().Add(time.Hour).UnixMilli() }

// forAll is a token of a thread for some actions.
func (r *rig) forAll(thread string, actions ...string) string {
	r.Helper()
	list, err := json.Marshal(actions)
	require.NoError(r, err)
	return r.grant(thread, fmt.Sprintf(`{"actions":%s,"by":"ann","expires":%d}`, list, r.soon())).
		Token
}

// contract is the OpenAPI document, and a check that answers keep to it.
type contract struct {
	r     *rig
	doc   map[string]any
	paths map[string]map[string]any
	c     *jsonschema.Compiler
	off   bool
}

func newContract(r *rig) *contract {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet,
		r.http.URL+"/v1/openapi.json", nil)
	require.NoError(r, err)
	req.Header.Set("Authorization", "Bearer "+operator)
	res, err := http.DefaultClient.Do(req)
	require.NoError(r, err)
	defer func() { _ = res.Body.Close() }()
	doc, err := jsonschema.UnmarshalJSON(res.Body)
	require.NoError(r, err)
	c := &contract{r: r, c: jsonschema.NewCompiler(), paths: map[string]map[string]any{}}
	c.doc, _ = doc.(map[string]any)
	c.c.DefaultDraft(jsonschema.Draft2020)
	require.NoError(r, c.c.AddResource("openapi.json", doc))
	for path, item := range c.doc["paths"].(map[string]any) {
		c.paths[path] = item.(map[string]any)
	}
	return c
}

// check holds an answer to the document and returns its operation, "" for a path that has none.
func (c *contract) check(a *reply, method, path string) string {
	c.r.Helper()
	path, _, _ = strings.Cut(path, "?")
	schema, operation := "#/components/schemas/Problem", ""
	if op, at := c.operation(method, path); op != nil {
		operation, _ = op["operationId"].(string)
		if done := op["responses"].(map[string]any)[strconv.Itoa(a.status)]; done != nil {
			if schema = ""; done.(map[string]any)["content"] != nil {
				schema = fmt.Sprintf("#/paths/%s/%s/responses/%d/content/application~1json/schema",
					strings.ReplaceAll(at, "/", "~1"), strings.ToLower(method), a.status)
			}
		}
	}
	switch {
	case schema == "":
		assert.Empty(c.r, a.body)
		return operation
	case strings.HasSuffix(schema, "Problem"):
		assert.Equal(c.r, "application/problem+json", a.header.Get("Content-Type"))
	default:
		assert.Equal(c.r, "application/json", a.header.Get("Content-Type"))
	}
	c.holds(schema, a.body)
	return operation
}

func (c *contract) holds(schema string, data []byte) {
	if c.r.Helper(); c.off {
		return
	}
	c.r.mu.Lock()
	compiled, err := c.c.Compile("openapi.json" + strings.NewReplacer("{", "%7B", "}", "%7D").
		Replace(schema))
	c.r.mu.Unlock()
	require.NoError(c.r, err)
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(c.r, err, string(data))
	assert.NoError(c.r, compiled.Validate(v), string(data))
}

// operation finds the row of a request in the document.
func (c *contract) operation(method, path string) (op map[string]any, at string) {
	parts := strings.Split(path, "/")
	for candidate, item := range c.paths {
		want := strings.Split(candidate, "/")
		fits := len(want) == len(parts) && !slices.ContainsFunc(want, func(w string) bool {
			n := slices.Index(want, w)
			return !strings.HasPrefix(w, "{") && w != parts[n]
		})
		if op, ok := item[strings.ToLower(method)].(map[string]any); ok && fits {
			return op, candidate
		}
	}
	return nil, ""
}
