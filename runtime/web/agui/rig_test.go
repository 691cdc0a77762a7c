package agui

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/internal/threadtest"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/workflow"
)

const deskToken = "desk-operator-0123456789abcdef0123456789abcdef"

// desk is a server with the conversation of four agents, on SQLite and a real socket. Their model
// follows a script.
type desk struct {
	*testing.T
	checker
	mu      sync.Mutex // of the checker, and of did
	file    string
	tables  *runtime.Tables
	c       *chat.Conversation
	machine *workflow.Machine
	engine  *thread.Engine
	server  *web.Server
	http    *httptest.Server
	serving atomic.Int64 // calls
	schemas func() map[string]*jsonschema.Schema
	disk    *sqlite.Store
	memory  thread.Store // in place of disk; it outlives an engine
	cut     *atomic.Bool // the store of this engine takes nothing any more
	broken  *atomic.Bool // nor gives anything
	cfg     web.Config
	model   *llmtest.ScriptedModel
	servers map[string]*deskServer
	timeout time.Duration                   // of a tool
	before  func(ctx context.Context) error // what an agent does first
	did     map[string]int
	seen    []map[string]string // what came with the messages that the reporting agent ran on
	logs    threadtest.Written  // by calls that go on while it is read
}

// newDesk makes a desk that is not open yet.
func newDesk(t *testing.T, script ...llmtest.Reply) *desk {
	t.Helper()
	d := &desk{
		T: t, file: filepath.Join(t.TempDir(), "threads.db"), tables: deskTables(),
		model: llmtest.NewModel(script...), did: map[string]int{},
		cfg: web.Config{Beat: time.Hour, Doors: []web.Door{Door()}}, timeout: time.Minute,
	}
	tool := func(name string) llm.Tool {
		return llm.Tool{Name: name, Call: func(_ context.Context, args json.RawMessage) (
			json.RawMessage, error) {
			d.do(name + " " + string(args))
			return runtime.Encode(name + " " + strconv.Itoa(d.do(name)))
		}}
	}
	d.servers = map[string]*deskServer{
		"regulation": {tools: []llm.Tool{tool("search_regulations")}},
		"history":    {tools: []llm.Tool{tool("get_inspection_history")}},
		"reporting": {tools: []llm.Tool{tool("extract_inspection_data"),
			tool("submit_verification_answers"), tool("generate_final_report")}},
	}
	d.c = &chat.Conversation{
		Begin: func(m chat.Message, _ json.RawMessage) (thread.Begin, error) {
			n := deskNoteOf("general")
			n.(*deskNote).Text = m.Text
			return d.machine.BeginTurn(n)
		},
		Cancel: []string{"annuleer"}, Skip: []string{"sla over"}, Cancelled: "Geannuleerd.",
	}
	d.schemas = sync.OnceValue(d.compile)
	t.Cleanup(d.close)
	return d
}

func (d *desk) do(what string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.did[what]++
	return d.did[what]
}

func (d *desk) done(what string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.did[what]
}

// open opens store, engine and server.
func (d *desk) open() *desk {
	d.Helper()
	d.cut, d.broken = &atomic.Bool{}, &atomic.Bool{}
	store := &deskStore{d.memory, d.cut, d.broken}
	if d.memory == nil {
		disk, err := sqlite.Open(d.Context(), d.file, sqlite.Config{})
		require.NoError(d, err)
		d.disk, store.Store = disk, disk
	}
	cfg := workflow.Config{Conversation: true, Servers: map[string]llm.Tools{}}
	for name, server := range d.servers {
		cfg.Servers[name] = server
	}
	m, err := workflow.New(runtime.Program{
		Tables: d.tables, Request: deskNoteOf, Interrupt: deskNoteOf, Result: deskNoteOf,
		Invoke: d.agent,
		Routing: func(name string) runtime.Routing {
			return &deskHop{shape: &runtime.Shape{Name: name, Kind: runtime.ShapeUnion}}
		},
	}, cfg)
	require.NoError(d, err)
	d.engine, err = thread.Open(d.Context(), store, thread.Config{Owner: "desk"}, m,
		thread.Func("job", func(ctx context.Context, text string) (string, error) {
			return thread.Ask[string](ctx, "q", thread.Question{Text: text, NotOwn: true})
		}))
	require.NoError(d, err)
	c := *d.c // each engine has its own
	d.machine, c.Machine, c.Engine = m, m, d.engine
	d.cfg.Conversation = &c
	d.cfg.Log = slog.New(slog.NewTextHandler(&d.logs, nil))
	d.server, err = web.New(d.engine, deskToken, d.cfg)
	require.NoError(d, err)
	d.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.serving.Add(1)
		defer d.serving.Add(-1)
		d.server.ServeHTTP(w, r)
	}))
	return d
}

func (d *desk) close() {
	if d.http == nil {
		return
	}
	d.http.CloseClientConnections()
	d.http.Close()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	assert.NoError(d, d.engine.Close(over))
	if d.disk != nil {
		assert.NoError(d, d.disk.Close())
	}
	d.http = nil
}

// restart ends the process, as far as the store is concerned: nothing of the old engine reaches it
// any more.
func (d *desk) restart() {
	d.Helper()
	d.cut.Store(true)
	d.close()
	d.open()
}

// deskStore is the store of one engine.
type deskStore struct {
	thread.Store

	cut, broken *atomic.Bool
}

func (s *deskStore) Commit(ctx context.Context, changes ...*thread.Change) error {
	if s.cut.Load() {
		return &runtime.Error{Code: runtime.CodeUnavailable, Op: "commit",
			Err: errors.New("it is cut off")}
	}
	return s.Store.Commit(ctx, changes...)
}

func (s *deskStore) Load(ctx context.Context, id string) (*thread.Thread, error) {
	if s.broken.Load() {
		return nil, &runtime.Error{Code: runtime.CodeInternal, Op: "load",
			Err: errors.New("canary of a damaged record")}
	}
	return s.Store.Load(ctx, id)
}

// atDesks runs a test at a desk on every store.
func atDesks(t *testing.T, play func(d *desk), script ...llmtest.Reply) {
	t.Helper()
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, script...)
			if store == "mem" {
				d.memory = mem.Open()
			}
			play(d)
		})
	}
}

// input writes the input of a run of the thread room. extra are more fields, as JSON.
func inputOf(run, said string, extra ...string) string {
	return inputIn("room", run, said, extra...)
}

func inputIn(room, run, said string, extra ...string) string {
	messages := "[]"
	if said != "" {
		messages = fmt.Sprintf(`[{"id":"u-%s","role":"user","content":%q}]`, run, said)
	}
	fields :=
		append(
			[]string{fmt.Sprintf(
				`"threadId":%q,"runId":%q,"state":{},"messages":%s,"tools":[],"context":[]`, room,
				run, messages)}, extra...)
	if !strings.Contains(strings.Join(extra, ""), `"forwardedProps"`) {
		fields = append(fields, `"forwardedProps":{"by":"ann"}`)
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// showing puts a question into the messages of an input, as a front end has it that saw the
// question.
func showing(i interrupt, body string) string {
	question := fmt.Sprintf(`{"id":%q,"role":"assistant","content":%q}`, i.ID, i.Message)
	if i.ToolCallID != "" {
		call := `{"id":"call","role":"assistant","toolCalls":[{"id":%q,"type":"function",
			"function":{"name":"ask","arguments":"{}"}}]}`
		question = fmt.Sprintf(call, i.ToolCallID)
	}
	return strings.Replace(body, `"messages":[`, `"messages":[`+question+",", 1)
}

// resumes is the field of a resumption with payloads, one for each interrupt.
func resumes(pairs ...string) string {
	var entries []string
	for n := 0; n < len(pairs); n += 2 {
		entries = append(entries, fmt.Sprintf(`{"interruptId":%q,"status":"resolved","payload":%s}`,
			pairs[n], pairs[n+1]))
	}
	return `"resume":[` + strings.Join(entries, ",") + "]"
}

func cancels(ids ...string) string {
	entries := make([]string, len(ids))
	for n, id := range ids {
		entries[n] = fmt.Sprintf(`{"interruptId":%q,"status":"cancelled"}`, id)
	}
	return `"resume":[` + strings.Join(entries, ",") + "]"
}

// post sends an input and returns the answer. The caller closes its body.
func (d *desk) post(ctx context.Context, token, body string) *http.Response {
	d.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.http.URL+"/v1/agui/workflow",
		strings.NewReader(body))
	require.NoError(d, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	res, err := d.http.Client().Do(req)
	require.NoError(d, err)
	return res
}

// stream is what came of a run.
type stream struct {
	*testing.T
	frames [][]byte
	events []event
}

// run sends an input, reads its stream to the end, and holds it to the rules and to the document.
func (d *desk) run(body string) *stream {
	d.Helper()
	return d.runAs(deskToken, body)
}

func (d *desk) runAs(token, body string) *stream {
	d.Helper()
	res := d.post(d.Context(), token, body)
	defer func() { _ = res.Body.Close() }()
	require.Equal(d, http.StatusOK, res.StatusCode)
	assert.Equal(d, "text/event-stream", res.Header.Get("Content-Type"))
	s := &stream{T: d.T}
	for frame := range framesIn(res) {
		s.frames = append(s.frames, frame)
	}
	return d.judged(s, body)
}

// judged holds a stream to every rule.
func (d *desk) judged(s *stream, body string) *stream {
	d.Helper()
	var in struct {
		ThreadID string `json:"threadId"`
		RunID    string `json:"runId"`
		Resume   []any  `json:"resume"`
		Messages []struct {
			ID   string `json:"id"`
			Role string `json:"role"`
		} `json:"messages"`
	}
	require.NoError(d, json.Unmarshal([]byte(body), &in))
	d.mu.Lock()
	d.turn = ""
	last := len(in.Messages) - 1
	if last >= 0 && in.Messages[last].Role == "user" && len(in.Resume) == 0 {
		d.turn = "message " + in.Messages[last].ID
	}
	err := d.check(in.ThreadID, in.RunID, s.frames)
	d.mu.Unlock()
	require.NoError(d, err, "%s", bytes.Join(s.frames, []byte("\n")))
	for _, read := range otherReaders {
		require.NoError(d, read(s.frames), "%s", bytes.Join(s.frames, []byte("\n")))
	}
	schema := d.schemas()
	given, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	require.NoError(d, err)
	require.NoError(d, schema["RunAgentInput"].Validate(given), body)
	for _, frame := range s.frames {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(frame))
		require.NoError(d, err)
		require.NoError(d, schema["RunEvent"].Validate(v), "%s", frame)
		var e event
		require.NoError(d, json.Unmarshal(frame, &e))
		s.events = append(s.events, e)
	}
	return s
}

// otherReaders read every stream too, and refuse what they cannot take.
var otherReaders []func(frames [][]byte) error

// framesIn reads the data lines of a stream until it ends.
func framesIn(res *http.Response) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			if data, is := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); is &&
				!yield(bytes.Clone(data)) {
				return
			}
		}
	}
}

// document is the OpenAPI document of the server.
func (d *desk) document() string {
	d.Helper()
	get := httptest.NewRequestWithContext(d.Context(), http.MethodGet,
		"http://localhost/v1/openapi.json", nil)
	get.Header.Set("Authorization", "Bearer "+deskToken)
	w := httptest.NewRecorder()
	d.server.ServeHTTP(w, get)
	require.Equal(d, http.StatusOK, w.Code)
	return w.Body.String()
}

// compile compiles the schemas of AG-UI in the document.
func (d *desk) compile() map[string]*jsonschema.Schema {
	d.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(d.document()))
	require.NoError(d, err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	require.NoError(d, c.AddResource("doc.json", doc))
	out := map[string]*jsonschema.Schema{}
	for _, name := range []string{"RunEvent", "RunAgentInput"} {
		out[name], err = c.Compile("doc.json#/components/schemas/" + name)
		require.NoError(d, err)
	}
	return out
}

// of returns the events of a type.
func (s *stream) of(typ string) (out []event) {
	for _, e := range s.events {
		if e.Type == typ {
			out = append(out, e)
		}
	}
	return out
}

func (s *stream) last() event { return s.events[len(s.events)-1] }

// texts are what the user reads.
func (s *stream) texts() (out []string) {
	for _, e := range s.of("TEXT_MESSAGE_CONTENT") {
		out = append(out, e.Delta)
	}
	return out
}

// asks expects a run that ends with one interrupt, and returns that.
func (s *stream) asks() interrupt {
	s.Helper()
	all := s.asksAll()
	require.Len(s, all, 1)
	return all[0]
}

func (s *stream) asksAll() []interrupt {
	s.Helper()
	require.Equal(s, "RUN_FINISHED", s.last().Type, "%s", bytes.Join(s.frames, []byte("\n")))
	require.Equal(s, "interrupt", s.last().Outcome.Type)
	return s.last().Outcome.Interrupts
}

// succeeds expects a run that ends with success and says these things.
func (s *stream) succeeds(texts ...string) *stream {
	s.Helper()
	require.Equal(s, "RUN_FINISHED", s.last().Type, "%s", bytes.Join(s.frames, []byte("\n")))
	require.Equal(s, "success", s.last().Outcome.Type)
	require.Equal(s, texts, s.texts())
	return s
}

// refuses expects a run that ends with an error of this code.
func (s *stream) refuses(code string) event {
	s.Helper()
	require.Equal(s, "RUN_ERROR", s.last().Type, "%s", bytes.Join(s.frames, []byte("\n")))
	require.Equal(s, code, s.last().Code, s.last().Message)
	return s.last()
}

// state is the last snapshot.
func (s *stream) state() runState {
	s.Helper()
	all := s.of("STATE_SNAPSHOT")
	require.NotEmpty(s, all)
	return *all[len(all)-1].Snapshot
}

// result is that of a tool call, which is there once.
func (s *stream) result(id string) event {
	s.Helper()
	for _, e := range s.of("TOOL_CALL_RESULT") {
		if e.ToolCallID == id {
			return e
		}
	}
	require.Fail(s, "no result", id)
	return event{}
}

// started are the tool calls that the stream shows from their beginning.
func (s *stream) started() (ids []string) {
	for _, e := range s.of("TOOL_CALL_START") {
		ids = append(ids, e.ToolCallID)
	}
	return ids
}

// settled waits until the thread room does not run.
func (d *desk) settled() *thread.Thread {
	d.Helper()
	t, err := d.engine.Wait(d.Context(), "room")
	require.NoError(d, err)
	return t
}
